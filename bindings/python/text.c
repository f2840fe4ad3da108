// SPDX-License-Identifier: MIT
// Texts of evaluate. A text is read by the command's parser once for each set of operand types, shapes and numbers;
// what that gives is a compiled program, kept with the text (most recent first, bounded), so that a call again costs
// dictionary look-ups, buffers and the run. Programs and texts are counted: another thread may run one while it is
// thrown out.
#include "evaluate.h"

#include <stdlib.h>
#include <string.h>

static PyObject *texts; // str to capsule

// ---- entries and texts ------------------------------------------------------------------------
void entry_drop(struct entry *e) {
    if (!e || --e->refs) return;
    weft_program_free(e->program);
    host_drop(e->host);
    for (int i = 0; i < e->nform; i++)
        free(e->form[i].dims);
    for (int i = 0; i < MAX_RESULTS; i++) {
        Py_XDECREF(e->shape[i]);
        Py_XDECREF(e->type[i]);
    }
    free(e->form);
    free(e);
}
void text_drop(struct text *t) {
    if (--t->refs) return;
    for (struct entry *e = t->entries, *next; e; e = next) {
        next = e->next;
        entry_drop(e);
    }
    for (int i = 0; i < t->n; i++)
        Py_DECREF(t->name[i]);
    free(t->utf8);
    free(t);
}
static void text_free(PyObject *capsule) { text_drop(PyCapsule_GetPointer(capsule, NULL)); }
void evaluate_forget(void) { Py_CLEAR(texts); }

struct text *text_of(PyObject *ex) {
    if (!texts && !(texts = PyDict_New())) return NULL;
    PyObject *found = PyDict_GetItemWithError(texts, ex);
    if (found) return PyCapsule_GetPointer(found, NULL);
    Py_ssize_t n = 0;
    const char *s = PyUnicode_AsUTF8AndSize(ex, &n);
    if (!s) return NULL;
    if (strlen(s) != (size_t)n) return PyErr_SetString(PyExc_ValueError, "a null character in an expression"), NULL;
    if (PyDict_Size(texts) >= MAX_TEXTS) PyDict_Clear(texts);
    struct text *t = calloc(1, sizeof *t);
    char *copy = malloc((size_t)n + 1);
    if (!t || !copy) {
        free(t);
        free(copy);
        return no_memory();
    }
    memcpy(copy, s, (size_t)n + 1);
    t->utf8 = copy;
    t->refs = 1;
    PyObject *capsule = PyCapsule_New(t, NULL, text_free);
    if (!capsule) text_drop(t);
    const bool kept = capsule && PyDict_SetItem(texts, ex, capsule) == 0;
    Py_XDECREF(capsule);
    return kept ? t : NULL;
}

// ---- operands ---------------------------------------------------------------------------------
void operand_release(struct operand *o) {
    if (o->kind == BUFFER) PyBuffer_Release(&o->view);
    if (o->kind == MEMORY) memory_drop(o->memory);
    o->kind = ABSENT;
}

static void literal_operand(PyObject *v, struct operand *o) {
    double d = PyFloat_CheckExact(v) ? PyFloat_AsDouble(v) : 0;
    o->kind = LITERAL_FLOAT;
    memcpy(&o->bits[0], &d, sizeof d);
    o->bits[1] = 0;
}

static bool memory_operand(PyObject *v, struct operand *o) {
    PyObject *a = array_from_object(v);
    struct array *x = (struct array *)a;
    if (!a || !array_settle(x)) {
        Py_XDECREF(a);
        return false;
    }
    o->kind = MEMORY;
    o->memory = memory_keep(x->memory);
    o->array = x->memory->array;
    Py_DECREF(a);
    return true;
}

static bool integer_operand(PyObject *v, struct operand *o) {
    int over = 0;
    const long long i = PyLong_AsLongLongAndOverflow(v, &over);
    o->kind = LITERAL_INT;
    o->bits[0] = over ? PyLong_AsUnsignedLongLong(v) : i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    o->bits[1] = !over && i < 0;
    return !PyErr_Occurred();
}

// false with an exception. What is no operand (a function, a module) is ABSENT: the language may know its name.
static bool operand_fetch(PyObject *v, struct operand *o) {
    if (PyFloat_CheckExact(v)) return literal_operand(v, o), true;
    if (PyBool_Check(v)) {
        o->kind = LITERAL_BOOL;
        o->bits[0] = v == Py_True;
        o->bits[1] = 0;
        return true;
    }
    if (PyLong_CheckExact(v)) return integer_operand(v, o);
    if (PyComplex_CheckExact(v)) {
        const double c[2] = {PyComplex_RealAsDouble(v), PyComplex_ImagAsDouble(v)};
        o->kind = LITERAL_COMPLEX;
        memcpy(o->bits, c, sizeof c);
        return true;
    }
    if (IS_ARRAY(v)) return memory_operand(v, o);
    if (!PyObject_CheckBuffer(v) || PyObject_GetBuffer(v, &o->view, PyBUF_RECORDS_RO)) {
        PyErr_Clear();
        if (!PyList_Check(v) && !PyTuple_Check(v) && (PyType_Check(v) || !PyObject_HasAttrString(v, "__dlpack__"))) return true;
        return memory_operand(v, o);
    }
    o->kind = BUFFER;
    if (view_array(&o->view, &o->array)) return true;
    operand_release(o);
    return false;
}

bool operand_by_name(struct job *j, int i) {
    PyObject *v = j->locals ? PyObject_GetItem(j->locals, j->text->name[i]) : NULL;
    if (!v && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_KeyError)) return false;
        PyErr_Clear();
    }
    if (!v && j->globals) {
        v = PyDict_GetItemWithError(j->globals, j->text->name[i]);
        if (!v && PyErr_Occurred()) return false;
        Py_XINCREF(v);
    }
    const bool ok = !v || operand_fetch(v, &j->operand[i]);
    Py_XDECREF(v);
    return ok;
}

// ---- reading a text ---------------------------------------------------------------------------
static weft_expr *literal(weft_graph *g, const struct operand *o) {
    double d[2];
    memcpy(d, o->bits, sizeof d);
    switch (o->kind) {
    case LITERAL_FLOAT: return weft_float(g, d[0]);
    case LITERAL_BOOL: return weft_truth(g, o->bits[0] != 0);
    case LITERAL_COMPLEX: return weft_add(weft_float(g, d[0]), weft_imaginary(g, d[1]));
    default: return o->bits[1] ? weft_int(g, (int64_t)(0 - o->bits[0])) : weft_uint(g, o->bits[0]);
    }
}

static int name_index(struct job *j, const char *s, size_t len) {
    struct text *t = j->text;
    for (int i = 0; i < t->n; i++) {
        Py_ssize_t n = 0;
        const char *name = PyUnicode_AsUTF8AndSize(t->name[i], &n);
        if (name && (size_t)n == len && memcmp(name, s, len) == 0) return i;
    }
    if (t->n == MAX_NAMES) return -1;
    PyObject *name = PyUnicode_FromStringAndSize(s, (Py_ssize_t)len);
    if (!name) return -1;
    PyUnicode_InternInPlace(&name);
    t->name[t->n] = name;
    return operand_by_name(j, t->n++) ? t->n - 1 : -1;
}

static int find(struct parser *p, const struct token *t, bool final, struct value *out) {
    struct job *j = p->names.ud;
    const int i = final ? 0 : name_index(j, p->text + t->at, t->len);
    if (i < 0) return parse_fail(p, t->at, "more than %d names", MAX_NAMES), -1;
    if (final) {
        Py_XDECREF(j->unknown);
        j->unknown = PyUnicode_FromStringAndSize(p->text + t->at, (Py_ssize_t)t->len);
        return 0;
    }
    const struct operand *o = &j->operand[i];
    if (o->kind == ABSENT) return 0;
    if (o->kind >= BUFFER) {
        const weft_array *a = &o->array;
        j->entry->input[j->entry->ninput++] = i;
        return value_built(p, t->at, weft_input(p->graph, "operand", a->dtype, a->rank, a->dims), out) ? 1 : -1;
    }
    if (o->kind == LITERAL_INT) { // stays a number that axes and extents can be read from
        *out = (struct value){.kind = V_INT, .u = o->bits[0], .negative = o->bits[1] != 0};
        return 1;
    }
    return value_built(p, t->at, literal(p->graph, o), out) ? 1 : -1;
}

static bool fill_forms(struct job *j, struct entry *e) {
    e->form = calloc((size_t)j->text->n + 1, sizeof *e->form);
    if (!e->form) return no_memory();
    e->nform = j->text->n;
    for (int i = 0; i < e->nform; i++) {
        const struct operand *o = &j->operand[i];
        struct form *f = &e->form[i];
        *f = (struct form){.kind = o->kind >= BUFFER ? BUFFER : o->kind};
        if (o->kind < BUFFER) memcpy(f->bits, o->bits, sizeof f->bits);
        if (o->kind < BUFFER) continue;
        f->dtype = o->array.dtype;
        f->rank = o->array.rank;
        f->dims = malloc(sizeof *f->dims * (size_t)(f->rank + 1));
        if (!f->dims) return no_memory();
        memcpy(f->dims, o->array.dims, sizeof *f->dims * (size_t)f->rank);
    }
    return true;
}

static bool same_forms(const struct job *j, const struct entry *e) {
    if (e->nform != j->text->n || e->casting != j->casting) return false;
    for (int i = 0; i < e->nform; i++) {
        const struct operand *o = &j->operand[i];
        const struct form *f = &e->form[i];
        if (f->kind != (o->kind >= BUFFER ? BUFFER : o->kind)) return false;
        if (f->kind != BUFFER && memcmp(f->bits, o->bits, sizeof f->bits) != 0 && f->kind != ABSENT) return false;
        if (f->kind != BUFFER) continue;
        if (f->dtype != o->array.dtype || f->rank != o->array.rank) return false;
        for (int k = 0; k < f->rank; k++)
            if (f->dims[k] != o->array.dims[k]) return false;
    }
    return true;
}

// The roots, cast to the types of out. false with an exception.
static bool roots_for(struct job *j, struct entry *e, struct results *r, const weft_array *outs) {
    if (r->n > MAX_RESULTS) return PyErr_Format(PyExc_ValueError, "more than %d results", MAX_RESULTS);
    if (j->nout && j->nout != r->n) return PyErr_Format(PyExc_ValueError, "%d outputs for %d results", j->nout, r->n);
    e->nresult = r->n;
    for (int i = 0; i < r->n; i++) {
        const weft_dtype t = weft_expr_dtype(r->at[i]);
        e->cast[i] = j->nout ? (int)outs[i].dtype : -1;
        if (j->nout && !weft_can_cast(t, outs[i].dtype, j->casting))
            return PyErr_Format(PyExc_TypeError, "the result is %s and out is %s: this casting does not allow it",
                                dtype_numpy_name(t), dtype_numpy_name(outs[i].dtype));
        if (j->nout && t != outs[i].dtype) r->at[i] = weft_cast(r->at[i], outs[i].dtype);
        e->result[i] = weft_dense(weft_expr_dtype(r->at[i]), NULL, weft_expr_rank(r->at[i]), weft_expr_dims(r->at[i]));
    }
    return true;
}

static bool any_counted(const struct results *r) {
    for (int i = 0; i < r->n; i++)
        if (weft_count_of(r->at[i])) return true;
    return false;
}

static void *raise_text(struct job *j) {
    if (PyErr_Occurred()) return NULL;
    if (weft_graph_status(j->parser.graph)) return raise_parser(&j->parser);
    const bool name = j->unknown && strncmp(j->parser.fail, "unknown name", 12) == 0;
    return PyErr_Format(name ? error_name : error_expression, "%s (column %zu of '%s')", j->parser.fail, j->parser.fail_at + 1,
                        j->text->utf8);
}

static struct entry *entry_new(struct job *j) {
    struct entry *e = calloc(1, sizeof *e);
    if (!e) return no_memory();
    e->refs = 1;
    e->host = host_keep(the_host);
    e->casting = j->casting;
    return e;
}

static void entry_insert(struct text *t, struct entry *e) {
    e->next = t->entries;
    e->refs++;
    t->entries = e;
    int n = 1;
    for (struct entry *at = e; at; at = at->next, n++)
        if (n == MAX_ENTRIES && at->next) {
            struct entry *old = at->next;
            at->next = old->next;
            entry_drop(old);
            return;
        }
}

// Reads the text with these operands into a program. NULL with an exception.
static struct entry *compile(struct job *j, const weft_array *outs) {
    struct entry *e = j->entry = entry_new(j);
    if (!e) return NULL;
    struct results r = {NULL, 0};
    weft_graph *g = weft_graph_new(e->host->ctx);
    j->parser = (struct parser){.text = j->text->utf8, .graph = g, .names = {find, NULL, j}};
    bool ok = g != NULL;
    if (!ok) no_memory();
    if (ok && !(ok = parse_program(&j->parser, &r))) raise_text(j);
    ok = ok && roots_for(j, e, &r, outs) && fill_forms(j, e);
    if (ok && any_counted(&r)) {
        PyErr_SetString(error_expression, "the extent of a result depends on values: use lazy arrays, weft.array(x)[mask]");
        ok = false;
    }
    if (ok) {
        weft_status st = weft_compile(r.n, r.at, &e->program);
        if (st) raise_status(st, weft_graph_error(g));
        ok = !st;
    }
    free(r.at);
    parser_free(&j->parser);
    weft_graph_free(g);
    Py_CLEAR(j->unknown);
    if (ok) entry_insert(j->text, e);
    if (ok) return e;
    entry_drop(e);
    return NULL;
}

static bool same_casts(const struct job *j, const struct entry *e, const weft_array *outs) {
    if (j->nout && j->nout != e->nresult) return false;
    for (int i = 0; i < e->nresult; i++)
        if (e->cast[i] != (j->nout ? (int)outs[i].dtype : -1)) return false;
    return true;
}

struct entry *entry_for(struct job *j, const weft_array *outs) {
    struct entry *e = j->text->entries;
    while (e && !(same_forms(j, e) && same_casts(j, e, outs)))
        e = e->next;
    if (!e) return compile(j, outs);
    e->refs++;
    return e;
}
