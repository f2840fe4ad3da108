// SPDX-License-Identifier: MIT
// The type Array: operators and methods make nodes, everything that wants numbers computes once and keeps them. Nodes
// are freed by a loop, not by recursion, so that a chain of any length goes without a deep stack.
#include "module.h"

#include <string.h>

PyTypeObject *array_type;

PyObject *shape_tuple(int rank, const int64_t *dims) {
    PyObject *t = PyTuple_New(rank);
    for (int i = 0; t && i < rank; i++)
        PyTuple_SetItem(t, i, PyLong_FromLongLong(dims[i]));
    return t;
}

// ---- life -------------------------------------------------------------------------------------
PyObject *array_from_memory(struct memory *m) {
    PyObject *(*make)(PyTypeObject *, Py_ssize_t) = (PyObject * (*)(PyTypeObject *, Py_ssize_t)) PyType_GetSlot(array_type, Py_tp_alloc);
    struct array *a = m ? (struct array *)make(array_type, 0) : NULL;
    if (!a) {
        memory_drop(m);
        return NULL;
    }
    a->memory = m;
    a->pick = -1;
    a->dtype = m->array.dtype;
    a->rank = m->array.rank;
    memcpy(a->dims, m->array.dims, sizeof a->dims);
    return (PyObject *)a;
}

PyObject *array_from_object(PyObject *o) {
    if (IS_ARRAY(o)) return Py_NewRef(o);
    if (PyObject_CheckBuffer(o)) {
        struct memory *m = memory_from_buffer(o);
        if (m || PyErr_ExceptionMatches(PyExc_TypeError) || !PyObject_HasAttrString(o, "__dlpack__")) return array_from_memory(m);
        PyErr_Clear();
    }
    if (PyObject_HasAttrString(o, "__dlpack__")) return array_from_memory(memory_from_dlpack(o));
    if (PyList_Check(o) || PyTuple_Check(o) || PyBool_Check(o) || PyLong_Check(o) || PyFloat_Check(o) || PyComplex_Check(o))
        return array_from_memory(memory_from_sequence(o));
    return PyErr_Format(PyExc_TypeError, "an object of type %R is no array: it has neither a buffer nor __dlpack__", Py_TYPE(o));
}

static void array_dealloc(PyObject *self) {
    static struct array *waiting;
    static bool at_work;
    struct array *a = (struct array *)self;
    a->next = waiting;
    waiting = a;
    if (at_work) return;
    at_work = true;
    while ((a = waiting)) {
        waiting = a->next;
        PyTypeObject *type = Py_TYPE((PyObject *)a);
        PyObject *args = a->args, *kw = a->kw;
        struct memory *m = a->memory;
        freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
        release(a);
        Py_DECREF(type);
        Py_XDECREF(args); // comes back here for operands that nobody else has
        Py_XDECREF(kw);
        memory_drop(m);
    }
    at_work = false;
}

// ---- operators --------------------------------------------------------------------------------
// Operands that are no numbers or arrays leave the operator to the other side.
static bool operand(PyObject *o) {
    return IS_ARRAY(o) || PyLong_Check(o) || PyFloat_Check(o) || PyComplex_Check(o) || PyObject_CheckBuffer(o) || PyList_Check(o) ||
           PyObject_HasAttrString(o, "__dlpack__");
}
static PyObject *call_by_name(const char *name, PyObject *a, PyObject *b) {
    if (!operand(a) || (b && !operand(b))) return Py_NewRef(Py_NotImplemented);
    // a list is an array here, where a function's argument might mean axes or extents
    PyObject *x = PyList_Check(a) ? array_from_object(a) : Py_NewRef(a);
    PyObject *y = b && PyList_Check(b) ? array_from_object(b) : Py_XNewRef(b);
    PyObject *args = !x || (b && !y) ? NULL : b ? PyTuple_Pack(2, x, y) : PyTuple_Pack(1, x);
    PyObject *z = args ? node_call(call_row(name, strlen(name)), args, NULL) : NULL;
    Py_XDECREF(x);
    Py_XDECREF(y);
    Py_XDECREF(args);
    return z;
}
#define BINARY(slot, name)                                                                         \
    static PyObject *slot(PyObject *a, PyObject *b) { return call_by_name(name, a, b); }
#define UNARY(slot, name)                                                                          \
    static PyObject *slot(PyObject *a) { return call_by_name(name, a, NULL); }
BINARY(nb_add, "add")
BINARY(nb_sub, "sub")
BINARY(nb_mul, "mul")
BINARY(nb_div, "true_divide")
BINARY(nb_floordiv, "floor_divide")
BINARY(nb_mod, "remainder")
BINARY(nb_divmod, "divmod")
BINARY(nb_and, "bitwise_and")
BINARY(nb_or, "bitwise_or")
BINARY(nb_xor, "bitwise_xor")
BINARY(nb_shl, "left_shift")
BINARY(nb_shr, "right_shift")
BINARY(nb_matmul, "matmul")
UNARY(nb_neg, "neg")
UNARY(nb_abs, "abs")
UNARY(nb_invert, "bitwise_not")
UNARY(nb_pos, "positive")

static PyObject *nb_pow(PyObject *a, PyObject *b, PyObject *modulus) {
    return modulus == Py_None ? call_by_name("pow", a, b) : Py_NewRef(Py_NotImplemented);
}
static PyObject *compare(PyObject *a, PyObject *b, int op) {
    static const char *const names[] = {
        [Py_LT] = "less", [Py_LE] = "less_equal", [Py_EQ] = "equal", [Py_NE] = "not_equal", [Py_GT] = "greater", [Py_GE] = "greater_equal"};
    return call_by_name(names[op], a, b);
}

// ---- numbers of arrays with one element -------------------------------------------------------
static PyObject *item(PyObject *self) {
    struct array *a = (struct array *)self;
    if (!array_settle(a)) return NULL;
    const weft_array *m = &a->memory->array;
    if (weft_array_count(m) != 1)
        return PyErr_Format(PyExc_ValueError, "an array of %lld elements is no single number", (long long)weft_array_count(m));
    double c[2] = {0, 0};
    float s[2] = {0, 0};
    int64_t i = 0;
    uint64_t u = 0;
    switch (m->dtype) {
    case WEFT_BOOL: return PyBool_FromLong(*(const unsigned char *)m->data);
    case WEFT_C128: memcpy(c, m->data, sizeof c); return PyComplex_FromDoubles(c[0], c[1]);
    case WEFT_C64: memcpy(s, m->data, sizeof s); return PyComplex_FromDoubles((double)s[0], (double)s[1]);
    case WEFT_F64: memcpy(c, m->data, sizeof *c); return PyFloat_FromDouble(c[0]);
    case WEFT_F32: memcpy(s, m->data, sizeof *s); return PyFloat_FromDouble((double)s[0]);
    case WEFT_I64: memcpy(&i, m->data, sizeof i); return PyLong_FromLongLong(i);
    case WEFT_U64: memcpy(&u, m->data, sizeof u); return PyLong_FromUnsignedLongLong(u);
    default: break;
    }
    PyObject *args = Py_BuildValue("(Os)", self, m->dtype == WEFT_F16 || m->dtype == WEFT_BF16 ? "f64" : "i64");
    PyObject *wide = args ? node_call(call_row("cast", 4), args, NULL) : NULL;
    PyObject *y = wide ? item(wide) : NULL;
    Py_XDECREF(args);
    Py_XDECREF(wide);
    return y;
}
static int nb_bool(PyObject *self) {
    PyObject *v = item(self);
    const int truth = v ? PyObject_IsTrue(v) : -1;
    Py_XDECREF(v);
    return truth;
}
#define CONVERT(slot, call)                                                                        \
    static PyObject *slot(PyObject *self) {                                                        \
        PyObject *v = item(self), *y = v ? call(v) : NULL;                                         \
        Py_XDECREF(v);                                                                             \
        return y;                                                                                  \
    }
CONVERT(nb_float, PyNumber_Float)
CONVERT(nb_int, PyNumber_Long)
CONVERT(nb_index, PyNumber_Index)

static Py_ssize_t length(PyObject *self) {
    const struct array *a = (struct array *)self;
    if (a->rank) return (Py_ssize_t)a->dims[0];
    PyErr_SetString(PyExc_TypeError, "an array without axes has no length");
    return -1;
}
static PyObject *element(PyObject *self, Py_ssize_t i) { // for iteration
    const struct array *a = (struct array *)self;
    if (a->rank && (i < 0 || i >= a->dims[0])) return PyErr_Format(PyExc_IndexError, "index %zd of %lld", i, (long long)a->dims[0]);
    PyObject *k = PyLong_FromSsize_t(i), *y = k ? node_subscript(self, k) : NULL;
    Py_XDECREF(k);
    return y;
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags) {
    struct array *a = (struct array *)self;
    view->obj = NULL;
    return array_settle(a) ? memory_export(self, a->memory, view, flags) : -1;
}

// ---- methods ----------------------------------------------------------------------------------
// eval(): computes and keeps; eval(out=o): computes into o.
static PyObject *eval(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    static const char *const known[] = {"out", NULL};
    PyObject *out = NULL;
    struct array *a = (struct array *)self;
    if (!read_arguments(&(struct signature){"eval", known, 0}, args, n, names, &out)) return NULL;
    if (!out || out == Py_None) return array_settle(a) ? Py_NewRef(self) : NULL;
    PyObject *target = array_from_object(out);
    struct memory *m = target ? ((struct array *)target)->memory : NULL;
    bool ok = m && !m->read_only;
    if (target && !ok) PyErr_SetString(PyExc_ValueError, "out cannot be written: it is read-only, or lazy");
    if (ok) ok = array_into(a, &m->array);
    Py_XDECREF(target);
    return ok ? Py_NewRef(out) : NULL;
}

static PyObject *explain(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    static const char *const known[] = {"what", NULL}, *const kinds[] = {"ir", "dot", "plan", "llvm", "asm"};
    PyObject *what = NULL;
    if (!read_arguments(&(struct signature){"explain", known, 0}, args, n, names, &what)) return NULL;
    const char *s = what ? PyUnicode_AsUTF8AndSize(what, NULL) : "plan";
    if (!s) return NULL;
    if (strcmp(s, "json") == 0) return array_text((struct array *)self, -1);
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (strcmp(s, kinds[i]) == 0) return array_text((struct array *)self, (int)i);
    return PyErr_Format(PyExc_ValueError, "'%s' is none of ir, dot, plan, llvm, asm, json", s);
}

static PyObject *item_method(PyObject *self, PyObject *unused) {
    (void)unused;
    return item(self);
}
static PyObject *view_method(PyObject *self, const char *name) {
    PyObject *y = NULL, *wide = NULL;
    struct array *a = (struct array *)self;
    if (a->dtype == WEFT_F16 || a->dtype == WEFT_BF16) { // memoryview cannot unpack halves
        PyObject *args = Py_BuildValue("(Os)", self, "f64");
        wide = args ? node_call(call_row("cast", 4), args, NULL) : NULL;
        Py_XDECREF(args);
    } else {
        wide = Py_NewRef(self);
    }
    PyObject *view = wide ? PyMemoryView_FromObject(wide) : NULL;
    PyObject *method = view ? PyObject_GetAttrString(view, name) : NULL;
    if (method) y = PyObject_CallNoArgs(method);
    Py_XDECREF(method);
    Py_XDECREF(view);
    Py_XDECREF(wide);
    return y;
}
static PyObject *complex_list(PyObject *self) {
    struct array *a = (struct array *)self;
    if (a->rank == 0) return item(self);
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list && i < (Py_ssize_t)a->dims[0]; i++) {
        PyObject *row = element(self, i), *part = row ? complex_list(row) : NULL;
        if (!part || PyList_Append(list, part)) Py_CLEAR(list);
        Py_XDECREF(row);
        Py_XDECREF(part);
    }
    return list;
}
static PyObject *tolist(PyObject *self, PyObject *unused) {
    (void)unused;
    const weft_dtype t = ((struct array *)self)->dtype;
    return t == WEFT_C64 || t == WEFT_C128 ? complex_list(self) : view_method(self, "tolist");
}

// x.name(...) for every function of the table
static PyObject *call_method(PyObject *bound, PyObject *args, PyObject *kw) {
    PyObject *head = PyTuple_GetSlice(bound, 1, 2), *all = head ? PySequence_Concat(head, args) : NULL;
    PyObject *y = all ? node_call(PyCapsule_GetPointer(PyTuple_GetItem(bound, 0), NULL), all, kw) : NULL;
    Py_XDECREF(head);
    Py_XDECREF(all);
    return y;
}
static PyMethodDef method_def = {"method", (PyCFunction)(void (*)(void))call_method, METH_VARARGS | METH_KEYWORDS,
                                 "The function of this name with the array as its first argument."};
static PyObject *get_attribute(PyObject *self, PyObject *name) {
    PyObject *y = PyObject_GenericGetAttr(self, name);
    if (y || !PyErr_ExceptionMatches(PyExc_AttributeError)) return y;
    Py_ssize_t n = 0;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    const char *s = PyUnicode_AsUTF8AndSize(name, &n);
    const struct row *row = s ? call_row(s, (size_t)n) : NULL;
    if (!row) {
        PyErr_Restore(type, value, trace);
        return NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    PyObject *capsule = PyCapsule_New((void *)(uintptr_t)row, NULL, NULL), *bound = capsule ? PyTuple_Pack(2, capsule, self) : NULL;
    y = bound ? PyCFunction_NewEx(&method_def, bound, NULL) : NULL;
    Py_XDECREF(capsule);
    Py_XDECREF(bound);
    return y;
}

// ---- attributes and text ----------------------------------------------------------------------
static int64_t count(const struct array *a) {
    const weft_array form = weft_dense(a->dtype, NULL, a->rank, a->dims);
    return weft_array_count(&form);
}
static PyObject *get_dtype(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(dtype_numpy_name(((struct array *)self)->dtype));
}
static PyObject *get_shape(PyObject *self, void *unused) {
    (void)unused;
    return shape_tuple(((struct array *)self)->rank, ((struct array *)self)->dims);
}
static PyObject *get_number(PyObject *self, void *which) {
    const struct array *a = (struct array *)self;
    const int64_t bytes = (int64_t)weft_dtype_size(a->dtype);
    const char k = *(const char *)which;
    return PyLong_FromLongLong(k == 'd' ? a->rank : k == 's' ? count(a) : k == 'b' ? bytes * count(a) : bytes);
}
static PyObject *get_transposed(PyObject *self, void *unused) {
    (void)unused;
    return call_by_name("transpose", self, NULL);
}
static PyObject *get_lazy(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(!((struct array *)self)->memory);
}

static PyObject *repr(PyObject *self) {
    struct array *a = (struct array *)self;
    PyObject *shape = get_shape(self, NULL), *y = NULL;
    if (!shape) return NULL;
    const char *name = dtype_numpy_name(a->dtype);
    if (!a->memory) {
        y = PyUnicode_FromFormat("<weft.Array %s %S, lazy: %s>", name, shape, a->row ? a->row->name : "subscript");
    } else if (count(a) > 64) {
        y = PyUnicode_FromFormat("<weft.Array %s %S>", name, shape);
    } else {
        PyObject *list = tolist(self, NULL);
        if (list) y = PyUnicode_FromFormat("weft.array(%R, dtype='%s')", list, name);
        Py_XDECREF(list);
    }
    Py_DECREF(shape);
    return y;
}

#define FAST(f) (PyCFunction)(void (*)(void))f, METH_FASTCALL | METH_KEYWORDS
static PyMethodDef methods[] = {
    {"eval", FAST(eval), "eval(out=None): computes now. Without out the array keeps its numbers and is returned; with out, a "
                         "writable array of the same type and shape, they go there and out is returned."},
    {"explain", FAST(explain), "explain(what='plan'): how it would be computed, as text: ir, dot, plan, llvm, asm or json."},
    {"item", item_method, METH_NOARGS, "The number in an array of one element."},
    {"tolist", tolist, METH_NOARGS, "Nested lists of Python's numbers."},
    {"__dlpack__", FAST(array_dlpack), "A DLPack capsule; versioned when max_version is (1, 0) or more."},
    {"__dlpack_device__", array_dlpack_device, METH_NOARGS, "(1, 0): the memory of the CPU."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef attributes[] = {
    {"dtype", get_dtype, NULL, "The name NumPy has for the type, or 'bfloat16'.", NULL},
    {"shape", get_shape, NULL, "Extents.", NULL},
    {"ndim", get_number, NULL, "Number of axes.", "d"},
    {"size", get_number, NULL, "Number of elements.", "s"},
    {"nbytes", get_number, NULL, "Bytes of all elements.", "b"},
    {"itemsize", get_number, NULL, "Bytes of one element.", "i"},
    {"T", get_transposed, NULL, "Axes in reverse order.", NULL},
    {"lazy", get_lazy, NULL, "Whether it is not computed yet.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
#define SLOT(id, f)                                                                                \
    { Py_##id, (void *)f }
bool array_type_make(PyObject *module) {
    static PyType_Slot slots[] = {
        SLOT(tp_dealloc, array_dealloc), SLOT(tp_repr, repr), SLOT(tp_getattro, get_attribute), SLOT(tp_methods, methods),
        SLOT(tp_getset, attributes), SLOT(tp_richcompare, compare), SLOT(tp_hash, PyObject_HashNotImplemented),
        SLOT(tp_doc, "A lazy array: made by weft.array and by operations; computed once, when its numbers are wanted."),
        SLOT(bf_getbuffer, get_buffer), SLOT(mp_length, length), SLOT(mp_subscript, node_subscript), SLOT(sq_item, element),
        SLOT(sq_length, length), SLOT(nb_add, nb_add), SLOT(nb_subtract, nb_sub), SLOT(nb_multiply, nb_mul),
        SLOT(nb_true_divide, nb_div), SLOT(nb_floor_divide, nb_floordiv), SLOT(nb_remainder, nb_mod), SLOT(nb_divmod, nb_divmod),
        SLOT(nb_power, nb_pow), SLOT(nb_and, nb_and), SLOT(nb_or, nb_or), SLOT(nb_xor, nb_xor), SLOT(nb_lshift, nb_shl),
        SLOT(nb_rshift, nb_shr), SLOT(nb_matrix_multiply, nb_matmul), SLOT(nb_negative, nb_neg), SLOT(nb_positive, nb_pos),
        SLOT(nb_absolute, nb_abs), SLOT(nb_invert, nb_invert), SLOT(nb_bool, nb_bool), SLOT(nb_float, nb_float),
        SLOT(nb_int, nb_int), SLOT(nb_index, nb_index), {0, NULL}};
    PyType_Spec spec = {"weft.Array", (int)sizeof(struct array), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    array_type = (PyTypeObject *)PyType_FromSpec(&spec);
    // so that numpy_array * lazy asks the lazy side
    return array_type && PyObject_SetAttrString((PyObject *)array_type, "__array_ufunc__", Py_None) == 0 &&
           PyModule_AddObjectRef(module, "Array", (PyObject *)array_type) == 0;
}
