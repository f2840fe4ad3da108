// SPDX-License-Identifier: MIT
// The Python module: what its files share. Everything here is called with the GIL held unless it says otherwise; the
// GIL is what guards reference counts of memory and of hosts, the caches, and the marks that building leaves in nodes.
#ifndef WEFT_PYTHON_MODULE_H
#define WEFT_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "call.h"

// ---- the context (module.c) -------------------------------------------------------------------
// One context for all; weft.set_num_threads makes a new one, and the old one goes with the last array in its memory.
struct host {
    weft_ctx *ctx;
    weft_graph *scratch; // types and shapes are found here
    Py_ssize_t refs;
};
extern struct host *the_host;   // never NULL after the module's start
extern struct host *first_host; // stays: tensors that went out refer to its context
struct host *host_keep(struct host *h);
void host_drop(struct host *h);
static inline void *no_memory(void) {
    PyErr_NoMemory();
    return NULL;
}
// A failed status as an exception of its class; text may be "". Returns NULL.
void *raise_status(weft_status st, const char *text);
extern PyObject *error_expression, *error_name; // what the language says of a text
// The parser's sentence, or the graph's status when the library refused. Returns NULL.
void *raise_parser(const struct parser *p);
bool dtype_of_object(PyObject *o, weft_dtype *out); // "f32", "float32", float, numpy.float32, a numpy.dtype
const char *dtype_numpy_name(weft_dtype t);
// weft_progress_fn of every evaluation, ud being where the state of the thread is kept that let go of the GIL: handlers
// of signals run as between two lines of Python, and the evaluation stops when one raises (Ctrl-C).
bool run_handlers(void *ud, uint64_t done, uint64_t total);
// How an evaluation that run_handlers watched ended: false with its exception or a handler's.
bool evaluation_ended(weft_status st, const char *text);
// Whether NumPy has been imported by the program: then results of evaluate are its arrays. Borrowed.
PyObject *numpy_empty(void);

// ---- memory (memory.c) ------------------------------------------------------------------------
enum memory_kind { MEMORY_OWN, MEMORY_CTX, MEMORY_VIEW, MEMORY_TENSOR, MEMORY_TENSOR_OLD };
struct memory {
    Py_ssize_t refs;
    enum memory_kind kind;
    weft_array array;
    bool read_only;
    struct host *host; // CTX
    Py_buffer view;    // VIEW
    void *tensor;      // TENSOR: DLManagedTensorVersioned, TENSOR_OLD: DLManagedTensor
};
struct memory *memory_keep(struct memory *m);
void memory_drop(struct memory *m);
struct memory *memory_blank(enum memory_kind kind); // one reference; NULL with MemoryError
// Uninitialised; fortran: first axis fastest. NULL with an exception.
struct memory *memory_new(weft_dtype t, int rank, const int64_t *dims, bool fortran);
// A filled view as an array. false with TypeError or ValueError; the view stays the caller's.
bool view_array(const Py_buffer *v, weft_array *out);
struct memory *memory_from_buffer(PyObject *o);      // refers to o's memory; NULL with an exception
struct memory *memory_from_sequence(PyObject *list); // nested lists of numbers, copied
int memory_export(PyObject *self, struct memory *m, Py_buffer *view, int flags);

// ---- DLPack (dlpack.c) ------------------------------------------------------------------------
struct memory *memory_from_dlpack(PyObject *o); // by its __dlpack__
void tensor_drop(struct memory *m);
PyObject *array_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);
PyObject *array_dlpack_device(PyObject *self, PyObject *unused);

// ---- lazy arrays (array.c, node.c) ------------------------------------------------------------
struct array {
    PyObject_HEAD
    struct memory *memory;  // a leaf, or computed; else NULL and
    const struct row *row;  // what makes it: a call, or (NULL) a subscript
    PyObject *args, *kw;    // its arguments: arrays and immutable objects
    int pick;               // which of several results; -1: the only one
    bool literal;           // no array among the arguments
    bool counted;           // it is computed before anybody sees it
    weft_dtype dtype;
    int rank;
    int64_t dims[WEFT_MAX_RANK];
    weft_expr *built;       // in the graph of the building that has this number
    uint64_t stamp;
    struct array *next;     // waiting to be freed
};
extern PyTypeObject *array_type;
bool array_type_make(PyObject *module);
#define IS_ARRAY(o) (Py_TYPE(o) == array_type)
PyObject *array_from_memory(struct memory *m); // takes the reference, also when it fails
PyObject *array_from_object(PyObject *o);      // an Array as it is; buffers, DLPack, numbers, lists
// name(args, ...): an Array, or a tuple of them. args is a tuple of any objects; kw a dict or NULL.
PyObject *node_call(const struct row *row, PyObject *args, PyObject *kw);
PyObject *node_subscript(PyObject *x, PyObject *key);
// Computes what is not computed yet, the GIL released meanwhile, and keeps it. false with an exception.
bool array_settle(struct array *a);
bool array_into(struct array *a, const weft_array *out);
PyObject *array_text(struct array *a, int kind); // weft_dump, or weft_explain for -1
PyObject *shape_tuple(int rank, const int64_t *dims);

// Everything an evaluation needs while the GIL is released stays alive through this.
struct building {
    struct parser p;
    uint64_t stamp;
    bool scratch;          // operands are inputs: only types and shapes are wanted
    struct memory **held;
    int nheld, cap;
};
bool building_value(struct building *b, PyObject *o, struct value *out);

// ---- evaluate (evaluate.c) --------------------------------------------------------------------
PyObject *py_evaluate(PyObject *m, PyObject *const *args, Py_ssize_t n, PyObject *names);
PyObject *py_re_evaluate(PyObject *m, PyObject *const *args, Py_ssize_t n, PyObject *names);
void evaluate_forget(void); // programs of an old context
// Arguments by place and by name into slots, borrowed. false with TypeError.
struct signature {
    const char *function;
    const char *const *names; // ends with NULL
    int least;
};
bool read_arguments(const struct signature *s, PyObject *const *args, Py_ssize_t n, PyObject *names, PyObject **out);

#endif
