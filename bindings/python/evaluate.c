// SPDX-License-Identifier: MIT
// evaluate(text): names are looked up in the frame that calls, operands are used where they lie, the text's program
// (text.c) is run into arrays that are given or new.
#include "evaluate.h"

#include <stdlib.h>
#include <string.h>

static PyObject *last[4]; // text, out, order, casting for re_evaluate

// ---- results ----------------------------------------------------------------------------------
static bool fortran(const weft_array *a) {
    int64_t stride = (int64_t)weft_dtype_size(a->dtype);
    for (int i = 0; i < a->rank; i++) {
        if (a->dims[i] > 1 && a->strides[i] != stride) return false;
        stride *= a->dims[i];
    }
    return true;
}

// Whether results are laid out first axis fastest: asked for, or all operands of full rank are.
static bool wants_fortran(const struct job *j, const struct entry *e, int rank) {
    bool any = false;
    if (j->order == 'F' || j->order == 'C' || rank < 2) return j->order == 'F';
    for (int i = 0; i < e->ninput; i++) {
        const weft_array *a = &j->operand[e->input[i]].array;
        if (a->rank != rank) continue;
        if (!fortran(a)) return false;
        any = true;
    }
    return any;
}

struct outputs {
    PyObject *object[MAX_RESULTS];
    Py_buffer view[MAX_RESULTS];
    bool viewed[MAX_RESULTS];
    weft_array array[MAX_RESULTS];
};

static bool own_result(struct outputs *o, int i, const weft_array *form, bool f) {
    struct memory *m = memory_new(form->dtype, form->rank, form->dims, f);
    if (!m) return false;
    o->array[i] = m->array;
    o->object[i] = array_from_memory(m);
    return o->object[i] != NULL;
}

static bool new_result(struct outputs *o, struct entry *e, int i, bool f) {
    PyObject *empty = numpy_empty();
    const weft_array *form = &e->result[i];
    if (!empty || form->dtype == WEFT_BF16) return own_result(o, i, form, f);
    if (!e->shape[i]) e->shape[i] = shape_tuple(form->rank, form->dims);
    if (!e->type[i]) {
        PyObject *numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
        PyObject *dtype = numpy ? PyObject_GetAttrString(numpy, "dtype") : NULL, *name = PyUnicode_FromString(dtype_numpy_name(form->dtype));
        if (dtype && name) e->type[i] = PyObject_CallFunctionObjArgs(dtype, name, NULL);
        Py_XDECREF(dtype);
        Py_XDECREF(name);
    }
    if (!e->shape[i] || !e->type[i]) return false;
    PyObject *order = f ? PyUnicode_FromString("F") : NULL;
    o->object[i] = PyObject_CallFunctionObjArgs(empty, e->shape[i], e->type[i], order, NULL);
    Py_XDECREF(order);
    if (!o->object[i] || PyObject_GetBuffer(o->object[i], &o->view[i], PyBUF_RECORDS)) return false;
    o->viewed[i] = true;
    return view_array(&o->view[i], &o->array[i]);
}

static bool given_outputs(struct job *j, struct outputs *o) {
    for (int i = 0; i < j->nout; i++) {
        PyObject *x = j->out[i];
        if (IS_ARRAY(x) && !((struct array *)x)->memory) return PyErr_Format(PyExc_ValueError, "out is lazy: it has no memory");
        o->object[i] = Py_NewRef(x);
        if (IS_ARRAY(x) && !((struct array *)x)->memory->read_only) {
            o->array[i] = ((struct array *)x)->memory->array;
            continue;
        }
        if (PyObject_GetBuffer(x, &o->view[i], PyBUF_RECORDS)) return false;
        o->viewed[i] = true;
        if (!view_array(&o->view[i], &o->array[i])) return false;
    }
    return true;
}

static bool check_shapes(const struct job *j, const struct entry *e, const struct outputs *o) {
    for (int i = 0; i < j->nout; i++) {
        const weft_array *a = &o->array[i], *b = &e->result[i];
        bool same = a->rank == b->rank;
        for (int k = 0; same && k < a->rank; k++)
            same = a->dims[k] == b->dims[k];
        if (same) continue;
        PyObject *is = shape_tuple(b->rank, b->dims), *given = shape_tuple(a->rank, a->dims);
        if (is && given) PyErr_Format(PyExc_ValueError, "the result has shape %S and out has %S", is, given);
        Py_XDECREF(is);
        Py_XDECREF(given);
        return false;
    }
    return true;
}

static PyObject *outputs_end(struct outputs *o, int n, bool ok) {
    PyObject *result = NULL;
    for (int i = 0; i < MAX_RESULTS; i++)
        if (o->viewed[i]) PyBuffer_Release(&o->view[i]);
    if (ok) result = n == 1 ? Py_NewRef(o->object[0]) : PyTuple_New(n);
    for (int i = 0; i < MAX_RESULTS; i++) {
        if (ok && n > 1 && i < n && result)
            PyTuple_SetItem(result, i, o->object[i]);
        else
            Py_XDECREF(o->object[i]);
    }
    return result;
}

// ---- the call ---------------------------------------------------------------------------------
static bool execute(struct job *j, struct entry *e, struct outputs *o) {
    char why[400] = "";
    weft_array in[MAX_NAMES];
    weft_status st;
    for (int i = 0; i < e->ninput; i++)
        in[i] = j->operand[e->input[i]].array;
    PyThreadState *released = PyEval_SaveThread();
    st = weft_run_with(e->program, in, o->array,
                       &(weft_run_opts){.size = sizeof(weft_run_opts), .progress = run_handlers, .progress_ud = &released, .err = why,
                                        .err_size = sizeof why});
    PyEval_RestoreThread(released);
    return evaluation_ended(st, why);
}

static PyObject *run_job(struct job *j) {
    struct outputs o;
    memset(o.object, 0, sizeof o.object);
    memset(o.viewed, 0, sizeof o.viewed);
    bool ok = given_outputs(j, &o);
    for (int i = 0; ok && i < j->text->n; i++)
        ok = operand_by_name(j, i);
    struct entry *e = ok ? entry_for(j, o.array) : NULL;
    ok = ok && e && check_shapes(j, e, &o);
    for (int i = 0; ok && !j->nout && i < e->nresult; i++)
        ok = new_result(&o, e, i, wants_fortran(j, e, e->result[i].rank));
    ok = ok && execute(j, e, &o);
    PyObject *result = outputs_end(&o, e ? e->nresult : 0, ok);
    entry_drop(e);
    return result;
}

static bool read_outs(struct job *j, PyObject *out) {
    if (!out || out == Py_None) return true;
    if (!PyTuple_Check(out)) {
        j->out[j->nout++] = out;
        return true;
    }
    if (PyTuple_Size(out) > MAX_RESULTS) return PyErr_Format(PyExc_ValueError, "more than %d outputs", MAX_RESULTS);
    for (Py_ssize_t i = 0; i < PyTuple_Size(out); i++)
        j->out[j->nout++] = PyTuple_GetItem(out, i);
    return true;
}

static bool read_words(struct job *j, PyObject *order, PyObject *casting) {
    static const char *const castings[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
    j->order = 'K';
    j->casting = WEFT_CAST_SAFE;
    if (order && order != Py_None) {
        const char *s = PyUnicode_AsUTF8AndSize(order, NULL);
        if (!s) return false;
        if (strlen(s) != 1 || !strchr("CFAK", *s)) return PyErr_Format(PyExc_ValueError, "order is one of 'C', 'F', 'A', 'K'");
        j->order = *s;
    }
    if (!casting || casting == Py_None) return true;
    const char *s = PyUnicode_AsUTF8AndSize(casting, NULL);
    for (size_t i = 0; s && i < COUNT_OF(castings); i++) {
        if (strcmp(s, castings[i]) != 0) continue;
        j->casting = (weft_casting)i;
        return true;
    }
    return s ? PyErr_Format(PyExc_ValueError, "casting is one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe'") : false;
}

static PyObject *evaluate(struct job *j, PyObject *ex, PyObject *locals, PyObject *globals) {
    struct operand operands[MAX_NAMES];
    j->locals = locals && locals != Py_None ? locals : PyEval_GetLocals();
    j->globals = globals && globals != Py_None ? globals : PyEval_GetGlobals();
    if (j->globals && !PyDict_Check(j->globals)) return PyErr_Format(PyExc_TypeError, "global_dict must be a dict");
    j->text = text_of(ex);
    if (!j->text) return NULL;
    j->text->refs++;
    for (int i = 0; i < MAX_NAMES; i++)
        operands[i].kind = ABSENT;
    j->operand = operands;
    PyObject *result = run_job(j);
    for (int i = 0; i < j->text->n; i++)
        operand_release(&operands[i]);
    text_drop(j->text);
    return result;
}

static void remember(PyObject *const *values) {
    for (int i = 0; i < 4; i++)
        if (last[i] != values[i]) {
            PyObject *old = last[i];
            last[i] = Py_XNewRef(values[i]);
            Py_XDECREF(old);
        }
}

PyObject *py_evaluate(PyObject *m, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    static const char *const known[] = {"ex",       "local_dict",   "global_dict", "out",          "order", "casting",
                                        "sanitize", "optimization", "truediv",     "_frame_depth", NULL};
    PyObject *a[10] = {NULL};
    struct job j;
    (void)m;
    j.nout = 0;
    j.unknown = NULL;
    if (!read_arguments(&(struct signature){"evaluate", known, 1}, args, n, names, a)) return NULL;
    if (!a[0] || !PyUnicode_Check(a[0])) return PyErr_Format(PyExc_ValueError, "must specify expression as a string");
    if (a[8] == Py_False) return PyErr_Format(PyExc_ValueError, "truediv=False: '/' is a true division here, '//' floors");
    if (!read_outs(&j, a[3]) || !read_words(&j, a[4], a[5])) return NULL;
    PyObject *result = evaluate(&j, a[0], a[1], a[2]);
    if (result) remember((PyObject *[]){a[0], a[3], a[4], a[5]});
    return result;
}

PyObject *py_re_evaluate(PyObject *m, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    static const char *const known[] = {"local_dict", "global_dict", "_frame_depth", NULL};
    PyObject *a[3] = {NULL}, *keep[4];
    struct job j;
    (void)m;
    j.nout = 0;
    j.unknown = NULL;
    if (!last[0]) return PyErr_Format(PyExc_RuntimeError, "not a previous evaluate() execution found");
    if (!read_arguments(&(struct signature){"re_evaluate", known, 0}, args, n, names, a)) return NULL;
    for (int i = 0; i < 4; i++)
        keep[i] = Py_XNewRef(last[i]);
    PyObject *result = read_outs(&j, keep[1]) && read_words(&j, keep[2], keep[3]) ? evaluate(&j, keep[0], a[0], a[1]) : NULL;
    for (int i = 0; i < 4; i++)
        Py_XDECREF(keep[i]);
    return result;
}
