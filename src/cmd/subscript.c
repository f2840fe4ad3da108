// SPDX-License-Identifier: MIT
// x[1:-1, ::2, ..., None, 3]: NumPy's basic indexing as slices, indices and new axes, applied from
// left to right. Indexing with arrays is not a view and is refused.
#include "cmd.h"

enum { MAX_ITEMS = 2 * WEFT_MAX_RANK };
enum item_kind { ITEM_INDEX, ITEM_SLICE, ITEM_NEW, ITEM_REST };
struct item {
    enum item_kind kind;
    size_t at;
    int64_t start, stop, step; // INDEX: start
};

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
    if (v.kind == V_EXPR || v.kind == V_BOOL)
        return parse_fail(
            p, v.at, "an index must be an integer or a slice; use where() to choose by a mask");
    if (v.kind != V_NONE && !value_int(p, &v, "an index", &it->start)) return false;
    return p->tok.kind != T_COLON || read_slice(p, it);
}

static bool apply(struct parser *p, const struct item *it, int rest, weft_expr **x, int *axis) {
    weft_expr *y = *x;
    int rank = weft_expr_rank(y);
    if ((it->kind == ITEM_INDEX || it->kind == ITEM_SLICE) && *axis >= rank)
        return parse_fail(p, it->at, "more indices than axes");
    switch (it->kind) {
    case ITEM_INDEX: y = weft_index(y, *axis, it->start); break;
    case ITEM_SLICE: y = weft_slice(y, (*axis)++, it->start, it->stop, it->step); break;
    case ITEM_NEW: y = weft_expand_dims(y, (*axis)++); break;
    default: *axis += rest; break;
    }
    *x = y;
    return y || parse_fail(p, it->at, "%s", weft_graph_error(p->graph));
}

bool parse_subscript(struct parser *p, struct value *out) {
    struct item items[MAX_ITEMS];
    int n = 0, used = 0, dots = 0, axis = 0;
    weft_expr *x = value_expr(p, out);
    if (!x) return false;
    while (p->tok.kind != T_RBRACKET) {
        if (n == MAX_ITEMS) return parse_fail(p, p->tok.at, "too many indices");
        if (!read_item(p, &items[n])) return false;
        used += items[n].kind == ITEM_INDEX || items[n].kind == ITEM_SLICE;
        dots += items[n].kind == ITEM_REST;
        if (dots > 1) return parse_fail(p, items[n].at, "a second '...'");
        n++;
        if (p->tok.kind != T_COMMA) break;
        if (!next_token(p)) return false;
    }
    if (n == 0) return parse_fail(p, p->tok.at, "an index should be here");
    if (!expect(p, T_RBRACKET, "',' or ']'")) return false;
    int rest = weft_expr_rank(x) - used;
    if (rest < 0)
        return parse_fail(p, items[0].at, "%d indices for %d axes", used, weft_expr_rank(x));
    for (int i = 0; i < n; i++)
        if (!apply(p, &items[i], rest, &x, &axis)) return false;
    out->kind = V_EXPR;
    out->expr = x;
    return true;
}
