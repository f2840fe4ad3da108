// SPDX-License-Identifier: MIT
// The module weft: a function for every name of the command's table, array(), evaluate(), exceptions, the context.
// A function's self is a capsule with its row, so that one C function serves them all.
#include "module.h"

#include <stdlib.h>
#include <string.h>

struct host *the_host, *first_host;
PyObject *error_expression, *error_name;
static PyObject *error_base, *errors[WEFT_STATUS__N];

// ---- errors -----------------------------------------------------------------------------------
void *raise_status(weft_status st, const char *text) {
    PyObject *class = st > WEFT_OK && st < WEFT_STATUS__N && errors[st] ? errors[st] : error_base;
    PyErr_SetString(class, text && *text ? text : weft_status_text(st));
    return NULL;
}

void *raise_parser(const struct parser *p) {
    const weft_status st = weft_graph_status(p->graph);
    if (st) return raise_status(st, weft_graph_error(p->graph));
    PyErr_SetString(error_expression, p->fail);
    return NULL;
}

bool run_handlers(void *ud, uint64_t done, uint64_t total) {
    PyThreadState **released = ud;
    if (done == total) return true; // a short evaluation comes here once, at its end
    PyEval_RestoreThread(*released);
    const bool go = PyErr_CheckSignals() == 0;
    *released = PyEval_SaveThread();
    return go;
}

bool evaluation_ended(weft_status st, const char *text) {
    if (PyErr_Occurred()) return false; // also when the evaluation was quicker than its end
    return st ? raise_status(st, text) != NULL : true;
}

// An exception that is a weft.Error and also what Python would raise; its status is the library's number.
static PyObject *error_new(PyObject *m, const char *name, PyObject *kin, int status) {
    char full[64];
    snprintf(full, sizeof full, "weft.%s", name);
    PyObject *bases = PyTuple_Pack(2, error_base, kin), *dict = Py_BuildValue("{si}", "status", status);
    PyObject *e = bases && dict ? PyErr_NewException(full, bases, dict) : NULL;
    Py_XDECREF(bases);
    Py_XDECREF(dict);
    if (e && PyModule_AddObjectRef(m, name, e)) Py_CLEAR(e);
    return e;
}

static bool errors_make(PyObject *m) {
    const struct {
        weft_status st;
        const char *name;
        PyObject *kin;
    } rows[] = {
        {WEFT_ENOMEM, "NoMemory", PyExc_MemoryError},    {WEFT_EINVAL, "InvalidError", PyExc_ValueError},
        {WEFT_ESHAPE, "ShapeError", PyExc_ValueError},   {WEFT_EDTYPE, "DTypeError", PyExc_TypeError},
        {WEFT_EALIAS, "AliasError", PyExc_ValueError},   {WEFT_EINDEX, "IndexOutOfRange", PyExc_IndexError},
        {WEFT_ENAN, "NaNError", PyExc_ArithmeticError},  {WEFT_ELIMIT, "LimitError", PyExc_RuntimeError},
        {WEFT_EUNSUPPORTED, "UnsupportedError", PyExc_RuntimeError}, {WEFT_ESYS, "SystemFault", PyExc_RuntimeError},
        {WEFT_ECANCELED, "Cancelled", PyExc_RuntimeError}};
    error_base = PyErr_NewExceptionWithDoc("weft.Error", "What weft refuses. status: the library's number, 0 when the "
                                           "text of an expression is at fault.", NULL, NULL);
    if (!error_base || PyModule_AddObjectRef(m, "Error", error_base)) return false;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (!(errors[rows[i].st] = error_new(m, rows[i].name, rows[i].kin, (int)rows[i].st))) return false;
    error_expression = error_new(m, "ExpressionError", PyExc_ValueError, 0);
    error_name = error_new(m, "UnknownName", PyExc_KeyError, 0);
    return error_expression && error_name;
}

// ---- the context ------------------------------------------------------------------------------
struct host *host_keep(struct host *h) {
    h->refs++;
    return h;
}
void host_drop(struct host *h) {
    if (--h->refs) return;
    weft_graph_free(h->scratch);
    weft_ctx_free(h->ctx);
    free(h);
}
static struct host *host_new(int threads) {
    struct host *h = calloc(1, sizeof *h);
    if (!h) return no_memory();
    weft_ctx_opts o = {.size = sizeof o, .threads = threads};
    weft_status st = weft_ctx_new(&h->ctx, &o);
    h->scratch = st ? NULL : weft_graph_new(h->ctx);
    h->refs = 1;
    if (h->scratch) return h;
    weft_ctx_free(h->ctx);
    free(h);
    return raise_status(st ? st : WEFT_ENOMEM, "");
}

static int threads_now(void) {
    weft_stats s;
    weft_ctx_stats(the_host->ctx, &s, sizeof s);
    return s.threads;
}
static PyObject *set_num_threads(PyObject *m, PyObject *number) {
    (void)m;
    const long n = PyLong_AsLong(number);
    const int before = threads_now();
    if (n == -1 && PyErr_Occurred()) return NULL;
    if (n < 1 || n > 4096) return PyErr_Format(PyExc_ValueError, "a number of threads is 1 to 4096");
    struct host *h = host_new((int)n);
    if (!h) return NULL;
    struct host *old = the_host;
    the_host = h;
    evaluate_forget();
    host_drop(old);
    return PyLong_FromLong(before);
}
static PyObject *get_num_threads(PyObject *m, PyObject *unused) {
    (void)m, (void)unused;
    return PyLong_FromLong(threads_now());
}
static PyObject *stats(PyObject *m, PyObject *unused) {
    (void)m, (void)unused;
    weft_stats s;
    weft_ctx_stats(the_host->ctx, &s, sizeof s);
    return Py_BuildValue("{sKsKsKsKsKsKsisi}", "compiles", s.compiles, "plans", s.plans, "plan_hits", s.plan_hits, "runs_jit",
                         s.runs_jit, "runs_interp", s.runs_interp, "code_bytes", s.code_bytes, "threads", s.threads, "llvm_major",
                         s.llvm_major);
}
static PyObject *cancel(PyObject *m, PyObject *unused) {
    (void)m, (void)unused;
    weft_cancel(the_host->ctx);
    Py_RETURN_NONE;
}
static PyObject *wait_compiled(PyObject *m, PyObject *unused) {
    (void)m, (void)unused;
    struct host *h = host_keep(the_host);
    Py_BEGIN_ALLOW_THREADS
    weft_ctx_wait(h->ctx);
    Py_END_ALLOW_THREADS
    host_drop(h);
    Py_RETURN_NONE;
}

// ---- types and arguments ----------------------------------------------------------------------
const char *dtype_numpy_name(weft_dtype t) {
    static const char *const names[WEFT_DTYPE__N] = {
        [WEFT_BOOL] = "bool",  [WEFT_I8] = "int8",     [WEFT_I16] = "int16",   [WEFT_I32] = "int32",     [WEFT_I64] = "int64",
        [WEFT_U8] = "uint8",   [WEFT_U16] = "uint16",  [WEFT_U32] = "uint32",  [WEFT_U64] = "uint64",    [WEFT_F16] = "float16",
        [WEFT_F32] = "float32", [WEFT_F64] = "float64", [WEFT_BF16] = "bfloat16", [WEFT_C64] = "complex64", [WEFT_C128] = "complex128"};
    return t >= 0 && t < WEFT_DTYPE__N ? names[t] : "?";
}

bool dtype_of_object(PyObject *o, weft_dtype *out) {
    if (o == (PyObject *)&PyComplex_Type) {
        *out = WEFT_C128;
        return true;
    }
    PyObject *name = PyUnicode_Check(o) ? Py_NewRef(o) : PyObject_GetAttrString(o, PyType_Check(o) ? "__name__" : "name");
    Py_ssize_t n = 0;
    const char *s = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &n) : NULL;
    const bool ok = s && dtype_by_name(s, (size_t)n, out);
    Py_XDECREF(name);
    PyErr_Clear();
    return ok;
}

PyObject *numpy_empty(void) {
    static PyObject *empty;
    if (empty) return empty;
    PyObject *numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
    if (numpy) empty = PyObject_GetAttrString(numpy, "empty");
    PyErr_Clear();
    return empty;
}

bool read_arguments(const struct signature *s, PyObject *const *args, Py_ssize_t n, PyObject *names, PyObject **out) {
    Py_ssize_t most = 0;
    while (s->names[most])
        most++;
    if (n > most || n < s->least)
        return PyErr_Format(PyExc_TypeError, "%s() takes %d to %zd arguments by place, not %zd", s->function, s->least, most, n);
    for (Py_ssize_t i = 0; i < n; i++)
        out[i] = args[i];
    const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        Py_ssize_t k = 0;
        while (k < most && PyUnicode_CompareWithASCIIString(name, s->names[k]) != 0)
            k++;
        if (k == most) return PyErr_Format(PyExc_TypeError, "%s() has no argument '%U'", s->function, name);
        if (out[k]) return PyErr_Format(PyExc_TypeError, "%s(): '%U' is given twice", s->function, name);
        out[k] = args[n + i];
    }
    return true;
}

// ---- functions --------------------------------------------------------------------------------
static PyObject *py_array(PyObject *m, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    static const char *const known[] = {"obj", "dtype", NULL};
    PyObject *a[2] = {NULL};
    weft_dtype t;
    (void)m;
    if (!read_arguments(&(struct signature){"array", known, 1}, args, n, names, a)) return NULL;
    if (!a[0]) return PyErr_Format(PyExc_TypeError, "array() wants an object");
    PyObject *x = array_from_object(a[0]);
    if (!x || !a[1] || a[1] == Py_None) return x;
    if (!dtype_of_object(a[1], &t)) {
        Py_DECREF(x);
        return PyErr_Format(PyExc_TypeError, "%R is no type that weft has", a[1]);
    }
    PyObject *cast = Py_BuildValue("(Ns)", x, weft_dtype_name(t)), *y = cast ? node_call(call_row("cast", 4), cast, NULL) : NULL;
    Py_XDECREF(cast);
    return y;
}
static PyObject *from_dlpack(PyObject *m, PyObject *o) {
    (void)m;
    return array_from_memory(memory_from_dlpack(o));
}
static PyObject *call_function(PyObject *self, PyObject *args, PyObject *kw) {
    return node_call(PyCapsule_GetPointer(self, NULL), args, kw);
}
static PyObject *operations(PyObject *m, PyObject *unused) {
    (void)m, (void)unused;
    PyObject *list = PyList_New(0);
    const weft_op_info *op;
    for (int i = 0; list && (op = weft_op_at(i)); i++) {
        PyObject *row = Py_BuildValue("(siss)", op->name, op->arity, op->kind, op->doc);
        if (!row || PyList_Append(list, row)) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static const char *doc_of(const char *name) {
    const weft_op_info *op;
    for (int i = 0; (op = weft_op_at(i)); i++)
        if (strcmp(op->name, name) == 0) return op->doc;
    return "As the function of this name in the command's language; see docs/python.md.";
}

static bool functions_make(PyObject *m) {
    size_t n = 0;
    while (function_at(n))
        n++;
    PyMethodDef *defs = calloc(n + 1, sizeof *defs); // stays: function objects refer to it
    PyObject *module_name = PyUnicode_FromString("weft");
    bool ok = defs && module_name;
    for (size_t i = 0; ok && i < n; i++) {
        const char *name = function_at(i);
        defs[i] = (PyMethodDef){name, (PyCFunction)(void (*)(void))call_function, METH_VARARGS | METH_KEYWORDS, doc_of(name)};
        PyObject *capsule = PyCapsule_New((void *)(uintptr_t)call_row(name, strlen(name)), NULL, NULL);
        PyObject *f = capsule ? PyCFunction_NewEx(&defs[i], capsule, module_name) : NULL;
        ok = f && PyModule_AddObjectRef(m, name, f) == 0;
        Py_XDECREF(capsule);
        Py_XDECREF(f);
    }
    Py_XDECREF(module_name);
    if (!defs) PyErr_NoMemory();
    return ok;
}

static bool constants_make(PyObject *m) {
    bool ok = PyModule_AddObjectRef(m, "newaxis", Py_None) == 0 && PyModule_AddStringConstant(m, "__version__", weft_version()) == 0;
    for (int t = 0; ok && t < WEFT_DTYPE__N; t++)
        if (t != WEFT_BOOL) ok = PyModule_AddStringConstant(m, weft_dtype_name((weft_dtype)t), weft_dtype_name((weft_dtype)t)) == 0;
    const struct {
        const char *name;
        double v;
    } numbers[] = {{"pi", 3.14159265358979323846}, {"e", 2.71828182845904523536}, {"inf", Py_HUGE_VAL}, {"nan", Py_HUGE_VAL * 0}};
    for (size_t i = 0; ok && i < COUNT_OF(numbers); i++) {
        PyObject *v = PyFloat_FromDouble(numbers[i].v);
        ok = v && PyModule_AddObjectRef(m, numbers[i].name, v) == 0;
        Py_XDECREF(v);
    }
    return ok;
}

#define FAST(f) (PyCFunction)(void (*)(void))f, METH_FASTCALL | METH_KEYWORDS
static PyMethodDef functions[] = {
    {"array", FAST(py_array), "array(obj, dtype=None): a lazy array over obj's memory (buffer or DLPack), or over a copy of nested lists."},
    {"asarray", FAST(py_array), "As array."},
    {"from_dlpack", from_dlpack, METH_O, "An array over the memory that obj.__dlpack__() gives."},
    {"evaluate", FAST(py_evaluate),
     "evaluate(ex, local_dict=None, global_dict=None, out=None, order='K', casting='safe', sanitize=None, optimization=None, "
     "truediv='auto'): computes the text ex over the arrays and numbers that its names are in the calling frame. A NumPy array "
     "when the program uses NumPy, else an Array; a tuple of them for several expressions."},
    {"re_evaluate", FAST(py_re_evaluate), "re_evaluate(local_dict=None, global_dict=None): the last evaluate() again, with new operands."},
    {"set_num_threads", set_num_threads, METH_O, "Threads that computing may use from now on; returns the number before."},
    {"get_num_threads", get_num_threads, METH_NOARGS, "Threads that computing may use."},
    {"operations", operations, METH_NOARGS, "The library's table: (name, operands, kind, text) for each operation."},
    {"stats", stats, METH_NOARGS, "Counters of the context."},
    {"cancel", cancel, METH_NOARGS, "Stops every evaluation under way: it raises Cancelled. Those that begin later are not concerned."},
    {"wait", wait_compiled, METH_NOARGS, "Returns when nothing is being compiled."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "weft",
                                        "Lazy array expressions, fused into single passes and compiled for this machine.", -1, functions,
                                        NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_weft(void);
PyMODINIT_FUNC PyInit_weft(void) {
    PyObject *m = PyModule_Create(&definition);
    if (!m) return NULL;
    if (!the_host && errors_make(m)) {
        the_host = host_new(0);
        first_host = the_host ? host_keep(the_host) : NULL;
    }
    if (the_host && functions_make(m) && PyModule_AddFunctions(m, functions) == 0 && constants_make(m) && array_type_make(m)) return m;
    Py_DECREF(m);
    return NULL;
}
