// SPDX-License-Identifier: MIT
// What the parser hands around: an expression, a literal not yet in the graph (so that axes,
// extents and slice bounds can be read as numbers), a type, None, a tuple of integers.
#include "lang.h"

#include <stdlib.h>
#include <string.h>

bool value_number(const struct token *t, struct value *out) {
    *out = (struct value){.kind = t->kind == T_INT ? V_INT : t->kind == T_FLOAT ? V_FLOAT : V_IMAGINARY, .at = t->at};
    if (t->kind == T_INT)
        out->u = t->u;
    else
        out->f = t->f;
    return true;
}

static const char *kind_text(enum value_kind k) {
    switch (k) {
    case V_NONE: return "None";
    case V_DTYPE: return "a type";
    case V_TUPLE: return "a tuple";
    case V_ELLIPSIS: return "...";
    case V_EXPR: return "an array";
    case V_TEXT: return "a text";
    case V_MANY: return "several arrays, one of which [0], [1], ... chooses,";
    default: return "a number";
    }
}

static weft_expr *literal(struct parser *p, const struct value *v) {
    if (v->kind == V_FLOAT) return weft_float(p->graph, v->f);
    if (v->kind == V_IMAGINARY) return weft_imaginary(p->graph, v->f);
    if (v->kind == V_BOOL) return weft_truth(p->graph, v->truth);
    if (!v->negative) return weft_uint(p->graph, v->u);
    // the magnitude of a negative literal is at most 2^63, see parse.c
    return weft_int(p->graph, (int64_t)(0 - v->u));
}

weft_expr *value_expr(struct parser *p, const struct value *v) {
    weft_expr *x = NULL;
    switch (v->kind) {
    case V_EXPR: return v->expr;
    case V_INT:
    case V_FLOAT:
    case V_IMAGINARY:
    case V_BOOL: x = literal(p, v); break;
    default:
        parse_fail(p, v->at, "%s is not a value to compute with", kind_text(v->kind));
        return NULL;
    }
    if (!x) parse_fail(p, v->at, "%s", weft_graph_error(p->graph));
    return x;
}

bool value_int(struct parser *p, const struct value *v, const char *what, int64_t *out) {
    if (v->kind != V_INT)
        return parse_fail(p, v->at, "%s must be an integer, not %s", what, kind_text(v->kind));
    if (v->u > (uint64_t)INT64_MAX) return parse_fail(p, v->at, "%s is out of range", what);
    *out = v->negative ? -(int64_t)v->u : (int64_t)v->u;
    return true;
}

bool value_index(struct parser *p, const struct value *v, const char *what, int *out) {
    int64_t i = 0;
    if (!value_int(p, v, what, &i)) return false;
    if (i < -1000 || i > 1000) return parse_fail(p, v->at, "%s is out of range", what);
    *out = (int)i;
    return true;
}

bool value_built(struct parser *p, size_t at, weft_expr *x, struct value *out) {
    if (!x) return parse_fail(p, at, "%s", weft_graph_error(p->graph));
    size_t begin = out->at;
    *out = (struct value){.kind = V_EXPR, .at = begin, .expr = x};
    return true;
}

bool tuple_new(struct parser *p, struct tuple **out) {
    struct tuple *t = malloc(sizeof *t);
    if (!t) return parse_fail(p, p->tok.at, "no memory");
    t->n = 0;
    t->next = p->tuples;
    p->tuples = t;
    *out = t;
    return true;
}

bool dtype_by_name(const char *s, size_t len, weft_dtype *out) {
    static const struct {
        const char *name;
        weft_dtype t;
    } numpys[] = {{"bool_", WEFT_BOOL},  {"int8", WEFT_I8},     {"int16", WEFT_I16},
                  {"int32", WEFT_I32},   {"int64", WEFT_I64},   {"uint8", WEFT_U8},
                  {"uint16", WEFT_U16},  {"uint32", WEFT_U32},  {"uint64", WEFT_U64},
                  {"float32", WEFT_F32}, {"float64", WEFT_F64}, {"int", WEFT_I64},
                  {"float", WEFT_F64},
                  {"float16", WEFT_F16}, {"bfloat16", WEFT_BF16}, {"complex64", WEFT_C64},
                  {"complex128", WEFT_C128}};
    for (int t = 0; t < WEFT_DTYPE__N; t++) {
        const char *name = weft_dtype_name((weft_dtype)t);
        if (strlen(name) != len || memcmp(name, s, len) != 0) continue;
        *out = (weft_dtype)t;
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(numpys); i++) {
        if (strlen(numpys[i].name) != len || memcmp(numpys[i].name, s, len) != 0) continue;
        *out = numpys[i].t;
        return true;
    }
    return false;
}
