// SPDX-License-Identifier: MIT
// x[1:-1, ::2, ..., None, 3]: NumPy's basic indexing as slices, indices and new axes, applied from
// left to right; and with arrays: integers take along their axis, a bool mask selects over its axes.
#include "lang.h"

static bool ends_bound(const struct parser *p) {
    return p->tok.kind == T_COLON || p->tok.kind == T_COMMA || p->tok.kind == T_RBRACKET;
}

// A bound of a slice, or nothing.
static bool read_bound(struct parser *p, int64_t *out) {
    struct value v;
    *out = WEFT_NONE;
    if (ends_bound(p)) return true;
    if (!parse_expr(p, 0, &v)) return false;
    return v.kind == V_NONE || value_int(p, &v, "a bound of a slice", out);
}

static bool read_slice(struct parser *p, struct item *it) {
    it->kind = ITEM_SLICE;
    it->stop = it->step = WEFT_NONE;
    if (!expect(p, T_COLON, "':'") || !read_bound(p, &it->stop)) return false;
    if (p->tok.kind == T_COLON && (!next_token(p) || !read_bound(p, &it->step))) return false;
    if (it->step == WEFT_NONE) it->step = 1;
    return true;
}

static bool read_item(struct parser *p, struct item *it) {
    struct value v;
    *it = (struct item){.at = p->tok.at, .start = WEFT_NONE};
    if (p->tok.kind == T_COLON) return read_slice(p, it);
    if (!parse_expr(p, 0, &v)) return false;
    if (v.kind == V_ELLIPSIS || (v.kind == V_NONE && p->tok.kind != T_COLON)) {
        it->kind = v.kind == V_NONE ? ITEM_NEW : ITEM_REST;
        return true;
    }
    if (v.kind == V_EXPR) {
        it->kind = weft_expr_dtype(v.expr) == WEFT_BOOL ? ITEM_MASK : ITEM_TAKE;
        it->array = v.expr;
        return true;
    }
    if (v.kind == V_BOOL) return parse_fail(p, v.at, "an index must be an integer, a slice or an array");
    if (v.kind != V_NONE && !value_int(p, &v, "an index", &it->start)) return false;
    return p->tok.kind != T_COLON || read_slice(p, it);
}

// A mask over the axes from *axis on: they become one.
static weft_expr *select_at(weft_expr *x, weft_expr *mask, int axis) {
    int perm[WEFT_MAX_RANK], n = 0;
    const int k = weft_expr_rank(mask), rank = weft_expr_rank(x);
    for (int i = 0; i < k; i++)
        perm[n++] = axis + i;
    for (int i = 0; i < rank; i++)
        if (i < axis || i >= axis + k) perm[n++] = i;
    if (axis == 0) return weft_select(x, mask);
    return weft_moveaxis(weft_select(weft_transpose(x, perm), mask), 0, axis);
}

// Axes of x that an item stands for.
static int axes_of(const struct item *it) {
    if (it->kind == ITEM_MASK) return weft_expr_rank(it->array);
    return it->kind == ITEM_INDEX || it->kind == ITEM_SLICE || it->kind == ITEM_TAKE;
}

static bool apply(struct parser *p, const struct item *it, int rest, weft_expr **x, int *axis) {
    weft_expr *y = *x;
    int rank = weft_expr_rank(y);
    if (*axis + axes_of(it) > rank)
        return parse_fail(p, it->at, "more indices than axes");
    switch (it->kind) {
    case ITEM_INDEX: y = weft_index(y, *axis, it->start); break;
    case ITEM_SLICE: y = weft_slice(y, (*axis)++, it->start, it->stop, it->step); break;
    case ITEM_TAKE:
        y = weft_take(y, it->array, *axis, WEFT_INDEX_RAISE);
        *axis += weft_expr_rank(it->array);
        break;
    case ITEM_MASK: y = select_at(y, it->array, (*axis)++); break;
    case ITEM_NEW: y = weft_expand_dims(y, (*axis)++); break;
    default: *axis += rest; break;
    }
    *x = y;
    return y || parse_fail(p, it->at, "%s", weft_graph_error(p->graph));
}

// One of several results.
static bool choose(struct parser *p, struct value *out) {
    struct value v;
    int i = 0;
    const int n = out->many.nitem;
    if (!parse_expr(p, 0, &v) || !value_index(p, &v, "the number of a result", &i)) return false;
    if (i < 0) i += n;
    if (i < 0 || i >= n) return parse_fail(p, v.at, "there are %d results", n);
    weft_expr *x = out->many.item[i];
    return expect(p, T_RBRACKET, "']'") && value_built(p, out->at, x, out);
}

bool subscript_apply(struct parser *p, const struct item *items, int n, weft_expr **x) {
    int used = 0, dots = 0, arrays = 0, axis = 0;
    for (int i = 0; i < n; i++) {
        used += axes_of(&items[i]);
        dots += items[i].kind == ITEM_REST;
        arrays += items[i].kind == ITEM_TAKE || items[i].kind == ITEM_MASK;
        if (arrays > 1) return parse_fail(p, items[i].at, "a second index array");
        if (dots > 1) return parse_fail(p, items[i].at, "a second '...'");
    }
    const int rest = weft_expr_rank(*x) - used;
    if (rest < 0)
        return parse_fail(p, items[0].at, "%d indices for %d axes", used, weft_expr_rank(*x));
    for (int i = 0; i < n; i++)
        if (!apply(p, &items[i], rest, x, &axis)) return false;
    return true;
}

bool parse_subscript(struct parser *p, struct value *out) {
    struct item items[MAX_ITEMS];
    int n = 0;
    if (out->kind == V_MANY) return choose(p, out);
    weft_expr *x = value_expr(p, out);
    if (!x) return false;
    while (p->tok.kind != T_RBRACKET) {
        if (n == MAX_ITEMS) return parse_fail(p, p->tok.at, "too many indices");
        if (!read_item(p, &items[n])) return false;
        n++;
        if (p->tok.kind != T_COMMA) break;
        if (!next_token(p)) return false;
    }
    if (n == 0) return parse_fail(p, p->tok.at, "an index should be here");
    if (!expect(p, T_RBRACKET, "',' or ']'") || !subscript_apply(p, items, n, &x)) return false;
    out->kind = V_EXPR;
    out->expr = x;
    return true;
}
