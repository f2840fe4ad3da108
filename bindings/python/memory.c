// SPDX-License-Identifier: MIT
// What the elements of an array lie in: our own block, a result of the library, another object's buffer (PEP 3118) or a
// DLPack tensor. Counted; the last reference lets the memory go the way it came. Buffers are described by struct's
// format letters in native order; other formats are a TypeError that shows the format.
#include "module.h"

#include <stdlib.h>
#include <string.h>

struct memory *memory_keep(struct memory *m) {
    m->refs++;
    return m;
}

void memory_drop(struct memory *m) {
    if (!m || --m->refs) return;
    switch (m->kind) {
    case MEMORY_OWN: free(m->array.data); break;
    case MEMORY_CTX: weft_array_free(m->host->ctx, &m->array); break;
    case MEMORY_VIEW: PyBuffer_Release(&m->view); break;
    default: tensor_drop(m); break;
    }
    if (m->host) host_drop(m->host);
    free(m);
}

struct memory *memory_blank(enum memory_kind kind) {
    struct memory *m = calloc(1, sizeof *m);
    if (!m) return no_memory();
    m->refs = 1;
    m->kind = kind;
    return m;
}

struct memory *memory_new(weft_dtype t, int rank, const int64_t *dims, bool fortran) {
    struct memory *m = memory_blank(MEMORY_OWN);
    if (!m) return NULL;
    m->array = weft_dense(t, NULL, rank, dims);
    const int64_t count = weft_array_count(&m->array);
    int64_t stride = (int64_t)weft_dtype_size(t);
    for (int i = 0; fortran && i < rank; i++) {
        m->array.strides[i] = stride;
        stride *= dims[i] > 0 ? dims[i] : 1;
    }
    const size_t bytes = count < 0 ? 0 : (size_t)count * weft_dtype_size(t);
    m->array.data = count < 0 ? NULL : aligned_alloc(64, (bytes + 64) & ~(size_t)63);
    if (m->array.data) return m;
    memory_drop(m);
    return no_memory();
}

// ---- buffers ----------------------------------------------------------------------------------
static const char *const formats[WEFT_DTYPE__N] = {
    [WEFT_BOOL] = "?", [WEFT_I8] = "b",  [WEFT_I16] = "h", [WEFT_I32] = "i",  [WEFT_I64] = "l",
    [WEFT_U8] = "B",   [WEFT_U16] = "H", [WEFT_U32] = "I", [WEFT_U64] = "L",  [WEFT_F16] = "e",
    [WEFT_F32] = "f",  [WEFT_F64] = "d", [WEFT_C64] = "Zf", [WEFT_C128] = "Zd"};

static bool integer_type(bool is_signed, Py_ssize_t size, weft_dtype *t) {
    const weft_dtype plain[] = {WEFT_I8, WEFT_I16, WEFT_I32, WEFT_I64};
    const weft_dtype positive[] = {WEFT_U8, WEFT_U16, WEFT_U32, WEFT_U64};
    int k = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;
    if (k < 0) return false;
    *t = is_signed ? plain[k] : positive[k];
    return true;
}

static bool format_type(const char *f, Py_ssize_t size, weft_dtype *t) {
    if (!f) f = "B";
    if (*f == '@' || *f == '=' || *f == '<') f++; // native order is little-endian here
    if (strlen(f) == 1 && strchr("bhilqn", *f)) return integer_type(true, size, t);
    if (strlen(f) == 1 && strchr("BHILQN", *f)) return integer_type(false, size, t);
    for (int i = 0; i < WEFT_DTYPE__N; i++) {
        if (!formats[i] || strcmp(formats[i], f) != 0) continue;
        *t = (weft_dtype)i;
        return (size_t)size == weft_dtype_size(*t);
    }
    return false;
}

bool view_array(const Py_buffer *v, weft_array *out) {
    weft_dtype t = WEFT_F64;
    if (!format_type(v->format, v->itemsize, &t)) {
        PyErr_Format(PyExc_TypeError, "elements of format '%s' and %zd bytes are not numbers that weft knows",
                     v->format ? v->format : "B", v->itemsize);
        return false;
    }
    if (v->ndim > WEFT_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "%d axes; there can be %d", v->ndim, WEFT_MAX_RANK);
        return false;
    }
    out->dtype = t;
    out->rank = v->ndim;
    out->data = v->buf;
    for (int i = 0; i < v->ndim; i++) {
        out->dims[i] = v->shape ? v->shape[i] : v->len / v->itemsize;
        out->strides[i] = v->strides ? v->strides[i] : v->itemsize;
    }
    return true;
}

struct memory *memory_from_buffer(PyObject *o) {
    struct memory *m = memory_blank(MEMORY_VIEW);
    if (!m) return NULL;
    if (PyObject_GetBuffer(o, &m->view, PyBUF_RECORDS_RO)) {
        free(m);
        return NULL;
    }
    m->read_only = m->view.readonly;
    if (view_array(&m->view, &m->array)) return m;
    memory_drop(m);
    return NULL;
}

// C-contiguous, or when fortran: F-contiguous.
static bool contiguous(const weft_array *a, bool fortran) {
    int64_t stride = (int64_t)weft_dtype_size(a->dtype);
    for (int k = 0; k < a->rank; k++) {
        const int i = fortran ? k : a->rank - 1 - k;
        if (a->dims[i] > 1 && a->strides[i] != stride) return false;
        stride *= a->dims[i];
    }
    return true;
}

int memory_export(PyObject *self, struct memory *m, Py_buffer *view, int flags) {
    const weft_array *a = &m->array;
    const char *wrong = NULL;
    view->obj = NULL;
    if (!formats[a->dtype])
        wrong = "bfloat16 has no buffer format; use weft.cast(x, 'f32') or __dlpack__";
    else if ((flags & PyBUF_WRITABLE) && m->read_only)
        wrong = "this array is read-only";
    else if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !contiguous(a, true))
        wrong = "this array is not Fortran-contiguous";
    else if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !contiguous(a, false))
        wrong = "this array is not C-contiguous";
    else if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !contiguous(a, false))
        wrong = "this array is not contiguous";
    if (wrong) {
        PyErr_SetString(PyExc_BufferError, wrong);
        return -1;
    }
    const Py_ssize_t size = (Py_ssize_t)weft_dtype_size(a->dtype);
    *view = (Py_buffer){.buf = a->data,
                        .len = (Py_ssize_t)weft_array_count(a) * size,
                        .itemsize = size,
                        .readonly = m->read_only,
                        .ndim = a->rank,
                        .format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)formats[a->dtype] : NULL};
    _Static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "extents are handed out as they are");
    if (flags & PyBUF_ND) view->shape = (Py_ssize_t *)m->array.dims;
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES) view->strides = (Py_ssize_t *)m->array.strides;
    view->obj = Py_NewRef(self);
    return 0;
}

// ---- nested lists -----------------------------------------------------------------------------
struct shape_of {
    int rank, level; // level: 0 bool, 1 integers, 2 floats, 3 complex
    int64_t dims[WEFT_MAX_RANK];
};

static bool uneven(void) {
    PyErr_SetString(PyExc_ValueError, "nested lists of different lengths");
    return false;
}

static bool measure(PyObject *o, int depth, struct shape_of *s, bool first) {
    if (!PyList_Check(o) && !PyTuple_Check(o)) {
        int level = PyBool_Check(o) ? 0 : PyLong_Check(o) ? 1 : PyFloat_Check(o) ? 2 : PyComplex_Check(o) ? 3 : -1;
        if (level < 0) {
            PyErr_Format(PyExc_TypeError, "%R is not a number", o);
            return false;
        }
        if (first && s->rank < 0) s->rank = depth;
        if (s->rank != depth) return uneven();
        if (level > s->level) s->level = level;
        return true;
    }
    const Py_ssize_t n = PySequence_Size(o);
    if (depth == WEFT_MAX_RANK) return uneven();
    if (first) s->dims[depth] = n;
    if (s->dims[depth] != n || (s->rank >= 0 && depth >= s->rank)) return uneven();
    if (n == 0 && s->rank < 0) s->rank = depth + 1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(o, i);
        const bool ok = item && measure(item, depth + 1, s, first && i == 0);
        Py_XDECREF(item);
        if (!ok) return false;
    }
    return true;
}

static bool put(PyObject *o, weft_dtype t, void *at) {
    switch (t) {
    case WEFT_BOOL: *(unsigned char *)at = o == Py_True; return true;
    case WEFT_I64: *(int64_t *)at = PyLong_AsLongLong(o); break;
    case WEFT_F64: *(double *)at = PyFloat_AsDouble(o); break;
    default:
        ((double *)at)[0] = PyComplex_RealAsDouble(o);
        ((double *)at)[1] = PyComplex_ImagAsDouble(o);
    }
    return !PyErr_Occurred();
}

static bool fill(PyObject *o, weft_dtype t, char **at) {
    if (!PyList_Check(o) && !PyTuple_Check(o)) {
        const bool ok = put(o, t, *at);
        *at += weft_dtype_size(t);
        return ok;
    }
    const Py_ssize_t n = PySequence_Size(o);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(o, i);
        const bool ok = item && fill(item, t, at);
        Py_XDECREF(item);
        if (!ok) return false;
    }
    return true;
}

struct memory *memory_from_sequence(PyObject *list) {
    const weft_dtype types[] = {WEFT_BOOL, WEFT_I64, WEFT_F64, WEFT_C128};
    struct shape_of s = {.rank = -1};
    if (!measure(list, 0, &s, true)) return NULL;
    for (int i = 0; i < s.rank; i++)
        if (s.dims[i] == 0) s.level = 2;
    struct memory *m = memory_new(types[s.level], s.rank, s.dims, false);
    char *at = m ? m->array.data : NULL;
    if (!m || fill(list, types[s.level], &at)) return m;
    memory_drop(m);
    return NULL;
}
