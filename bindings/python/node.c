// SPDX-License-Identifier: MIT
// Lazy arrays as nodes of Python: a row of the command's table of functions with its arguments, or a subscript. A node
// is checked when it is made, in a scratch graph whose operands are inputs, which gives its type and shape or the
// exception. Computing builds the nodes below it into a fresh graph (a loop with a stack of its own, so that depth is
// no limit) and evaluates with the GIL released. The graph shares equal nodes; here a mark per building is enough.
#include "module.h"

#include <stdlib.h>
#include <string.h>

static uint64_t buildings; // how many there were

// ---- objects to values ------------------------------------------------------------------------
static weft_expr *leaf(struct building *b, struct array *a) {
    if (b->scratch) return weft_input(b->p.graph, "x", a->dtype, a->rank, a->dims);
    if (!a->memory) return NULL; // not reached: nodes are built before those that use them
    if (b->nheld == b->cap) {
        const int cap = b->cap ? b->cap * 2 : 16;
        struct memory **grown = realloc(b->held, (size_t)cap * sizeof(struct memory *));
        if (!grown) return NULL;
        b->held = grown;
        b->cap = cap;
    }
    b->held[b->nheld++] = memory_keep(a->memory);
    return weft_from(b->p.graph, &a->memory->array);
}

static bool array_value(struct building *b, struct array *a, struct value *out) {
    if (a->stamp != b->stamp) {
        a->built = leaf(b, a);
        a->stamp = b->stamp;
    }
    if (!a->built) return parse_fail(&b->p, 0, "no memory");
    out->kind = V_EXPR;
    out->expr = a->built;
    return true;
}

static bool integer_value(struct building *b, PyObject *o, struct value *out) {
    PyObject *zero = PyLong_FromLong(0), *size = NULL;
    out->kind = V_INT;
    out->negative = zero && PyObject_RichCompareBool(o, zero, Py_LT) == 1;
    size = out->negative ? PyNumber_Negative(o) : Py_NewRef(o);
    out->u = size ? PyLong_AsUnsignedLongLong(size) : 0;
    Py_XDECREF(zero);
    Py_XDECREF(size);
    const bool fits = !PyErr_Occurred() && (!out->negative || out->u <= (uint64_t)1 << 63);
    PyErr_Clear();
    return fits || parse_fail(&b->p, 0, "an integer that no type of 64 bits holds");
}

static bool tuple_value(struct building *b, PyObject *o, struct value *out) {
    const Py_ssize_t n = PyTuple_Size(o);
    out->kind = V_TUPLE;
    if (n > WEFT_MAX_RANK) return parse_fail(&b->p, 0, "more than %d in a tuple", WEFT_MAX_RANK);
    if (!tuple_new(&b->p, &out->tuple)) return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        const long long v = PyLong_AsLongLong(PyTuple_GetItem(o, i));
        if (v == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return parse_fail(&b->p, 0, "a tuple holds integers");
        }
        out->tuple->item[out->tuple->n++] = v;
    }
    return true;
}

static bool text_value(struct building *b, PyObject *o, struct value *out) {
    Py_ssize_t n = 0;
    const char *s = PyUnicode_AsUTF8AndSize(o, &n);
    if (!s) {
        PyErr_Clear();
        return parse_fail(&b->p, 0, "a text that is not Unicode");
    }
    out->kind = V_DTYPE;
    if (dtype_by_name(s, (size_t)n, &out->dtype)) return true;
    *out = (struct value){.kind = V_TEXT, .at = (size_t)-1, .len = (size_t)n}; // the text begins at at + 1
    b->p.text = s;
    return true;
}

bool building_value(struct building *b, PyObject *o, struct value *out) {
    *out = (struct value){.kind = V_NONE};
    if (IS_ARRAY(o)) return array_value(b, (struct array *)o, out);
    if (o == Py_None) return true;
    if (PyBool_Check(o)) {
        out->kind = V_BOOL;
        out->truth = o == Py_True;
        return true;
    }
    if (PyLong_Check(o)) return integer_value(b, o, out);
    if (PyTuple_Check(o)) return tuple_value(b, o, out);
    if (PyUnicode_Check(o)) return text_value(b, o, out);
    if (PyFloat_Check(o)) {
        out->kind = V_FLOAT;
        out->f = PyFloat_AsDouble(o);
        return true;
    }
    out->kind = V_EXPR; // a complex number
    weft_graph *g = b->p.graph;
    out->expr = weft_add(weft_float(g, PyComplex_RealAsDouble(o)), weft_imaginary(g, PyComplex_ImagAsDouble(o)));
    return out->expr || parse_fail(&b->p, 0, "%s", weft_graph_error(g));
}

// ---- nodes into a graph -----------------------------------------------------------------------
static bool keyword_value(struct building *b, struct call *c, PyObject *name, PyObject *o) {
    Py_ssize_t n = 0, len = 0;
    const char *s = PyUnicode_AsUTF8AndSize(name, &n), *word = NULL;
    const enum keyword k = s ? call_keyword(c->row, s, (size_t)n) : K__N;
    if (k == K__N) return parse_fail(&b->p, 0, "%s has no argument '%s'", c->row->name, s ? s : "?");
    c->have |= (uint64_t)1 << k;
    const char *const *words = call_words(c->row, k);
    if (!words || !PyUnicode_Check(o)) return building_value(b, o, &c->kw[k]);
    word = PyUnicode_AsUTF8AndSize(o, &len);
    for (unsigned i = 0; word && words[i]; i++) {
        if (strcmp(words[i], word) != 0) continue;
        c->kw[k] = (struct value){.kind = V_INT, .u = i};
        return true;
    }
    PyErr_Clear();
    return parse_fail(&b->p, 0, "%s: '%s' is none of the words for %s", c->row->name, word ? word : "?", s);
}

static bool build_call(struct building *b, const struct array *a, struct value *out) {
    const struct callee who = {a->row->name, strlen(a->row->name), 0, NULL};
    struct call c = {.row = a->row, .who = &who};
    c.n = (int)PyTuple_Size(a->args);
    if (c.n > CALL_ARGS) return parse_fail(&b->p, 0, "too many arguments");
    for (int i = 0; i < c.n; i++)
        if (!building_value(b, PyTuple_GetItem(a->args, i), &c.arg[i])) return false;
    PyObject *name, *o;
    Py_ssize_t at = 0;
    while (a->kw && PyDict_Next(a->kw, &at, &name, &o))
        if (!keyword_value(b, &c, name, o)) return false;
    return call_run(&b->p, &c, out);
}

static bool bound_of(struct building *b, PyObject *slice, const char *name, int64_t *out) {
    PyObject *o = PyObject_GetAttrString(slice, name);
    *out = WEFT_NONE;
    if (!o || o == Py_None) {
        Py_XDECREF(o);
        return o || parse_fail(&b->p, 0, "a slice without %s", name);
    }
    PyObject *i = PyNumber_Index(o);
    Py_DECREF(o);
    // beyond 64 bits a bound is as good as the last one
    if (i) *out = PyNumber_AsSsize_t(i, NULL);
    Py_XDECREF(i);
    if (*out == WEFT_NONE) (*out)++;
    if (!i) PyErr_Clear();
    return i || parse_fail(&b->p, 0, "a bound of a slice must be an integer");
}

static bool item_of(struct building *b, PyObject *o, struct item *it) {
    struct value v;
    *it = (struct item){.kind = ITEM_SLICE, .step = 1};
    if (PySlice_Check(o)) {
        if (!bound_of(b, o, "start", &it->start) || !bound_of(b, o, "stop", &it->stop) || !bound_of(b, o, "step", &it->step))
            return false;
        if (it->step == WEFT_NONE) it->step = 1;
        return true;
    }
    it->kind = o == Py_None ? ITEM_NEW : ITEM_REST;
    if (o == Py_None || o == Py_Ellipsis) return true;
    if (!building_value(b, o, &v)) return false;
    it->array = v.kind == V_EXPR ? v.expr : NULL;
    it->kind = !it->array ? ITEM_INDEX : weft_expr_dtype(v.expr) == WEFT_BOOL ? ITEM_MASK : ITEM_TAKE;
    if (it->array) return true;
    if (v.kind != V_INT) return parse_fail(&b->p, 0, "an index must be an integer, a slice, '...', None or an array");
    return value_int(&b->p, &v, "an index", &it->start);
}

static bool build_subscript(struct building *b, const struct array *a, struct value *out) {
    struct item items[MAX_ITEMS];
    const Py_ssize_t n = PyTuple_Size(a->args) - 1;
    if (n > MAX_ITEMS) return parse_fail(&b->p, 0, "too many indices");
    if (!building_value(b, PyTuple_GetItem(a->args, 0), out)) return false;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!item_of(b, PyTuple_GetItem(a->args, i + 1), &items[i])) return false;
    return subscript_apply(&b->p, items, (int)n, &out->expr);
}

static bool build_node(struct building *b, const struct array *a, struct value *out) {
    if (!(a->row ? build_call(b, a, out) : build_subscript(b, a, out))) return false;
    if (out->kind == V_MANY && a->pick >= 0) *out = (struct value){.kind = V_EXPR, .expr = out->many.item[a->pick]};
    if (out->kind == V_EXPR && !out->expr) return parse_fail(&b->p, 0, "%s", weft_graph_error(b->p.graph));
    return true;
}

// ---- making -----------------------------------------------------------------------------------
static PyObject *node_new(const struct row *row, PyObject *args, PyObject *kw, weft_expr *x) {
    PyObject *(*make)(PyTypeObject *, Py_ssize_t) = (PyObject * (*)(PyTypeObject *, Py_ssize_t)) PyType_GetSlot(array_type, Py_tp_alloc);
    struct array *a = (struct array *)make(array_type, 0);
    if (!a) return NULL;
    a->row = row;
    a->args = Py_NewRef(args);
    a->kw = Py_XNewRef(kw);
    a->pick = -1;
    a->dtype = weft_expr_dtype(x);
    a->rank = weft_expr_rank(x);
    for (int i = 0; i < a->rank; i++)
        a->dims[i] = weft_expr_dims(x)[i];
    return (PyObject *)a;
}

static PyObject *finished(const struct array *form, weft_expr *x, int pick) {
    struct array *a = (struct array *)node_new(form->row, form->args, form->kw, x);
    if (!a) return NULL;
    a->pick = pick;
    a->literal = form->literal;
    // a number computed from literals is no literal: it keeps its type from here on
    a->counted = weft_count_of(x) != NULL || (form->literal && a->rank == 0);
    return (PyObject *)a;
}

// Results whose extent depends on values are computed at once, after the last look at the scratch graph, which other
// threads may use meanwhile.
static PyObject *counted(PyObject *result) {
    const Py_ssize_t n = result && PyTuple_Check(result) ? PyTuple_Size(result) : 1;
    for (Py_ssize_t i = 0; result && i < n; i++) {
        struct array *a = (struct array *)(PyTuple_Check(result) ? PyTuple_GetItem(result, i) : result);
        if (a->counted && !array_settle(a)) Py_CLEAR(result);
    }
    return result;
}

static PyObject *make(const struct array *form) {
    struct host *h = host_keep(the_host);
    struct building b = {.p = {.text = "", .graph = h->scratch}, .stamp = ++buildings, .scratch = true};
    struct value v = {.kind = V_NONE};
    PyObject *result = NULL;
    weft_graph_reset(h->scratch);
    if (!build_node(&b, form, &v) || !(v.kind == V_MANY || value_expr(&b.p, &v))) {
        result = raise_parser(&b.p);
    } else if (v.kind == V_EXPR) {
        result = finished(form, v.expr, -1);
    } else if (v.kind == V_MANY) {
        result = PyTuple_New(v.many.nitem);
        for (int i = 0; result && i < v.many.nitem; i++) {
            PyObject *one = finished(form, v.many.item[i], i);
            if (one) PyTuple_SetItem(result, i, one);
            if (!one) Py_CLEAR(result);
        }
    } else {
        PyErr_SetString(PyExc_TypeError, "the result is no array");
    }
    parser_free(&b.p);
    host_drop(h);
    return counted(result);
}

static bool is_sequence(PyObject *o) { return PyList_Check(o) || PyTuple_Check(o); }

// Objects as nodes keep them. index: integers of other libraries become int.
static PyObject *canonical(PyObject *o, bool index) {
    weft_dtype t;
    if (IS_ARRAY(o) || o == Py_None || o == Py_Ellipsis || PyBool_Check(o) || PyLong_CheckExact(o) || PyFloat_CheckExact(o) ||
        PyComplex_CheckExact(o) || PyUnicode_Check(o) || PySlice_Check(o))
        return Py_NewRef(o);
    if (index && PyIndex_Check(o) && !PyObject_HasAttrString(o, "__len__")) return PyNumber_Index(o);
    if (is_sequence(o)) {
        PyObject *list = PySequence_Tuple(o);
        const Py_ssize_t n = list ? PyTuple_Size(list) : 0;
        PyObject *out = list ? PyTuple_New(n) : NULL;
        for (Py_ssize_t i = 0; out && i < n; i++) {
            PyObject *item = PyNumber_Index(PyTuple_GetItem(list, i));
            if (item) PyTuple_SetItem(out, i, item);
            if (!item) Py_CLEAR(out);
        }
        Py_XDECREF(list);
        if (out) return out;
        PyErr_Clear(); // not integers: an array
    }
    if (!PyObject_CheckBuffer(o) && dtype_of_object(o, &t)) return PyUnicode_FromString(weft_dtype_name(t));
    return array_from_object(o);
}

static bool any_array(PyObject *sequence) {
    bool any = false;
    const Py_ssize_t n = PySequence_Size(sequence);
    for (Py_ssize_t i = 0; i < n && !any; i++) {
        PyObject *o = PySequence_GetItem(sequence, i);
        any = o && (IS_ARRAY(o) || (PyObject_CheckBuffer(o) && PyObject_HasAttrString(o, "__len__")));
        Py_XDECREF(o);
    }
    return any;
}

// concat([a, b], axis=0) is concat(a, b, axis=0)
static PyObject *spread(PyObject *args) {
    PyObject *first = PyTuple_Size(args) ? PyTuple_GetItem(args, 0) : NULL;
    if (!first || !is_sequence(first) || !any_array(first)) return Py_NewRef(args);
    PyObject *head = PySequence_Tuple(first), *tail = PyTuple_GetSlice(args, 1, PyTuple_Size(args));
    PyObject *all = head && tail ? PySequence_Concat(head, tail) : NULL;
    Py_XDECREF(head);
    Py_XDECREF(tail);
    return all;
}

static PyObject *canonical_tuple(PyObject *args, bool *arrays) {
    const Py_ssize_t n = PyTuple_Size(args);
    PyObject *out = PyTuple_New(n);
    for (Py_ssize_t i = 0; out && i < n; i++) {
        PyObject *o = canonical(PyTuple_GetItem(args, i), false);
        if (o) {
            *arrays |= IS_ARRAY(o);
            PyTuple_SetItem(out, i, o);
        } else {
            Py_CLEAR(out);
        }
    }
    return out;
}

static PyObject *canonical_dict(PyObject *kw) {
    PyObject *out = PyDict_New(), *name, *o;
    Py_ssize_t at = 0;
    while (out && PyDict_Next(kw, &at, &name, &o)) {
        PyObject *v = canonical(o, true);
        if (!v || PyDict_SetItem(out, name, v)) Py_CLEAR(out);
        Py_XDECREF(v);
    }
    return out;
}

PyObject *node_call(const struct row *row, PyObject *args, PyObject *kw) {
    bool arrays = false;
    struct array form = {.row = row, .pick = -1};
    PyObject *flat = spread(args);
    form.args = flat ? canonical_tuple(flat, &arrays) : NULL;
    const bool named = kw && PyDict_Size(kw) > 0;
    form.kw = named && form.args ? canonical_dict(kw) : NULL;
    form.literal = !arrays;
    PyObject *result = form.args && (!named || form.kw) ? make(&form) : NULL;
    Py_XDECREF(flat);
    Py_XDECREF(form.args);
    Py_XDECREF(form.kw);
    return result;
}

PyObject *node_subscript(PyObject *x, PyObject *key) {
    PyObject *items = PyTuple_Check(key) ? Py_NewRef(key) : PyTuple_Pack(1, key);
    const Py_ssize_t n = items ? PyTuple_Size(items) : 0;
    struct array form = {.pick = -1, .args = PyTuple_New(n + 1)};
    if (form.args) PyTuple_SetItem(form.args, 0, Py_NewRef(x));
    for (Py_ssize_t i = 0; form.args && i < n; i++) {
        PyObject *given = PyTuple_GetItem(items, i);
        PyObject *o = is_sequence(given) ? array_from_object(given) : canonical(given, true);
        if (o) PyTuple_SetItem(form.args, i + 1, o);
        if (!o) Py_CLEAR(form.args);
    }
    PyObject *result = form.args ? make(&form) : NULL;
    Py_XDECREF(form.args);
    Py_XDECREF(items);
    return result;
}

// ---- computing --------------------------------------------------------------------------------
struct stack {
    struct array **at;
    size_t n, cap;
};
static bool push(struct stack *s, struct array *a) {
    if (s->n == s->cap) {
        const size_t cap = s->cap ? s->cap * 2 : 64;
        struct array **grown = realloc(s->at, cap * sizeof *grown);
        if (!grown) return false;
        s->at = grown;
        s->cap = cap;
    }
    s->at[s->n++] = a;
    return true;
}

// The operands that are not built yet, onto the stack; *ready when there are none.
static bool push_operands(struct building *b, struct stack *s, const struct array *a, bool *ready) {
    const Py_ssize_t n = PyTuple_Size(a->args);
    *ready = true;
    for (Py_ssize_t i = n - 1; i >= 0; i--) {
        struct array *o = (struct array *)PyTuple_GetItem(a->args, i);
        if (!IS_ARRAY((PyObject *)o) || o->stamp == b->stamp) continue;
        *ready = false;
        if (!push(s, o)) return false;
    }
    PyObject *name, *o;
    Py_ssize_t at = 0;
    while (a->kw && PyDict_Next(a->kw, &at, &name, &o)) {
        if (!IS_ARRAY(o) || ((struct array *)o)->stamp == b->stamp) continue;
        *ready = false;
        if (!push(s, (struct array *)o)) return false;
    }
    return true;
}

static bool build_all(struct building *b, struct array *root) {
    struct stack s = {NULL, 0, 0};
    struct value v;
    bool ok = push(&s, root);
    while (ok && s.n) {
        struct array *a = s.at[s.n - 1];
        bool ready = true;
        if (a->stamp != b->stamp && !a->memory) ok = push_operands(b, &s, a, &ready);
        if (!ok || !ready) continue;
        s.n--;
        if (a->stamp == b->stamp) continue;
        ok = a->memory ? array_value(b, a, &v) : build_node(b, a, &v) && (v.expr = value_expr(&b->p, &v));
        a->built = v.expr;
        a->stamp = b->stamp;
    }
    if (!ok) parse_fail(&b->p, 0, "no memory");
    free(s.at);
    return ok;
}

static void building_end(struct building *b, struct host *h) {
    weft_graph_free(b->p.graph);
    parser_free(&b->p);
    for (int i = 0; i < b->nheld; i++)
        memory_drop(b->held[i]);
    free(b->held);
    host_drop(h);
}

static bool begin(struct building *b, struct host *h, struct array *a) {
    *b = (struct building){.p = {.text = "", .graph = weft_graph_new(h->ctx)}, .stamp = ++buildings};
    if (!b->p.graph) return no_memory();
    return build_all(b, a) || raise_parser(&b->p);
}

#define watched(released)                                                                          \
    (weft_eval_opts) { .size = sizeof(weft_eval_opts), .progress = run_handlers, .progress_ud = (released) }

bool array_into(struct array *a, const weft_array *out) {
    struct host *h = host_keep(the_host);
    struct building b;
    bool ok = begin(&b, h, a);
    weft_status st;
    if (ok) {
        weft_expr *x = a->built;
        PyThreadState *released = PyEval_SaveThread();
        st = weft_eval(x, out, &watched(&released));
        PyEval_RestoreThread(released);
        ok = evaluation_ended(st, weft_graph_error(b.p.graph));
    }
    building_end(&b, h);
    return ok;
}

bool array_settle(struct array *a) {
    if (a->memory) return true;
    struct memory *m = memory_blank(MEMORY_CTX);
    if (!m) return false;
    struct host *h = host_keep(the_host);
    struct building b;
    weft_status st;
    bool ok = begin(&b, h, a), computed = false;
    if (ok) {
        weft_expr *x = a->built;
        PyThreadState *released = PyEval_SaveThread();
        st = weft_eval_new(x, &m->array, &watched(&released));
        PyEval_RestoreThread(released);
        ok = evaluation_ended(st, weft_graph_error(b.p.graph));
        computed = !st;
    }
    if (computed) m->host = host_keep(h);
    if (!computed) { // with nothing in it
        m->kind = MEMORY_OWN;
        m->array.data = NULL;
    }
    if (!computed || a->memory) { // or another thread was quicker
        memory_drop(m);
    } else {
        a->memory = m;
        for (int i = 0; i < a->rank; i++)
            a->dims[i] = m->array.dims[i];
        Py_CLEAR(a->args); // what it was made of is not needed any more
        Py_CLEAR(a->kw);
    }
    building_end(&b, h);
    return ok;
}

PyObject *array_text(struct array *a, int kind) {
    struct host *h = host_keep(the_host);
    struct building b;
    char *text = NULL;
    PyObject *result = NULL;
    if (begin(&b, h, a)) {
        weft_status st = kind < 0 ? weft_explain(1, &a->built, &text)
                                  : weft_dump(1, &a->built, (weft_dump_kind)kind, WEFT_ISA_BEST, &text);
        result = st ? raise_status(st, weft_graph_error(b.p.graph)) : PyUnicode_FromString(text);
        weft_text_free(h->ctx, text);
    }
    building_end(&b, h);
    return result;
}
