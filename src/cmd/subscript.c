// SPDX-License-Identifier: MIT
// x[1:-1, ::2, ..., None, 3]: NumPy's basic indexing as slices, indices and new axes, applied from
// left to right; and with arrays: an integer array takes along its axis, several gather, a bool mask selects over its
// axes. Beside arrays an integer is an array, too: what that is for is where NumPy puts the axes of the result.
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

// A mask over the axes from axis on: they become one, there or in front. It comes last, since views of what it
// selects would not know how many there are.
static weft_expr *select_at(weft_expr *x, weft_expr *mask, int axis, bool front) {
    int perm[WEFT_MAX_RANK], n = 0;
    int64_t dims[WEFT_MAX_RANK + 1];
    const int k = weft_expr_rank(mask), rank = weft_expr_rank(x);
    for (int i = 0; i < k && front; i++)
        perm[n++] = axis + i;
    for (int i = 0; i < rank; i++)
        if (!front || i < axis || i >= axis + k) perm[n++] = i;
    if (front) x = weft_transpose(x, perm), axis = 0;
    if (axis == 0 || !x) return weft_select(x, mask);
    n = 0;
    for (int i = 0; i < rank; i++) {
        const int64_t have = weft_expr_dims(x)[i];
        if (i > axis && i < axis + k)
            dims[n - 1] *= have;
        else
            dims[n++] = have;
    }
    return weft_compress(weft_ravel(mask), weft_reshape(x, n, dims), axis);
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
    case ITEM_MASK: *axis += weft_expr_rank(it->array); break; // subscript_apply selects at the end
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

// Several index arrays: the rest of the items is applied first, so that neighbours are what NumPy takes for such.
static bool gather_items(struct parser *p, const struct item *items, int n, int rest, weft_expr **x) {
    weft_expr *at[WEFT_MAX_RANK];
    int axes[WEFT_MAX_RANK], axis = 0;
    weft_places g = {.size = sizeof g, .index = at, .axes = axes};
    for (int i = 0; i < n; i++) {
        const struct item *it = &items[i];
        if (it->kind != ITEM_INDEX && it->kind != ITEM_TAKE) {
            if (!apply(p, it, rest, x, &axis)) return false;
            continue;
        }
        if (axis >= weft_expr_rank(*x)) return parse_fail(p, it->at, "more indices than axes");
        at[g.n] = it->kind == ITEM_TAKE ? it->array : weft_scalar(p->graph, WEFT_I64, &it->start);
        axes[g.n++] = axis++;
    }
    *x = weft_gather(*x, &g);
    return *x || parse_fail(p, items[0].at, "%s", weft_graph_error(p->graph));
}

// Whether something other than an index or an array stands between the first and the last of these.
static bool are_apart(const struct item *items, int n) {
    int first = n, last = 0, count = 0;
    for (int i = 0; i < n; i++) {
        if (items[i].kind == ITEM_SLICE || items[i].kind == ITEM_NEW || items[i].kind == ITEM_REST) continue;
        if (first == n) first = i;
        last = i;
        count++;
    }
    return last - first + 1 > count;
}

bool subscript_apply(struct parser *p, const struct item *items, int n, weft_expr **x) {
    int used = 0, dots = 0, takes = 0, masks = 0, numbers = 0, axis = 0, at_mask = 0;
    for (int i = 0; i < n; i++) {
        used += axes_of(&items[i]);
        dots += items[i].kind == ITEM_REST;
        takes += items[i].kind == ITEM_TAKE;
        masks += items[i].kind == ITEM_MASK;
        numbers += items[i].kind == ITEM_INDEX;
        if (masks && masks + takes > 1) return parse_fail(p, items[i].at, "an array beside a mask; use nonzero(mask, axis) in its place");
        if (dots > 1) return parse_fail(p, items[i].at, "a second '...'");
    }
    const int rest = weft_expr_rank(*x) - used;
    if (rest < 0)
        return parse_fail(p, items[0].at, "%d indices for %d axes", used, weft_expr_rank(*x));
    if (takes && takes + numbers > 1) return gather_items(p, items, n, rest, x);
    weft_expr *mask = NULL;
    for (int i = 0; i < n; i++) {
        if (items[i].kind == ITEM_MASK) mask = items[i].array, at_mask = axis;
        if (!apply(p, &items[i], rest, x, &axis)) return false;
    }
    for (int i = 0; mask && i < weft_expr_rank(mask); i++)
        if (weft_expr_dims(mask)[i] != weft_expr_dims(*x)[at_mask + i])
            return parse_fail(p, items[0].at, "axis %d is %lld, of the mask %lld", at_mask + i,
                              (long long)weft_expr_dims(*x)[at_mask + i], (long long)weft_expr_dims(mask)[i]);
    if (mask) *x = select_at(*x, mask, at_mask, are_apart(items, n));
    return *x || parse_fail(p, items[0].at, "%s", weft_graph_error(p->graph));
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
