// SPDX-License-Identifier: MIT
// Views and index arrays in calls: axes, permutations and extents, as arguments, one tuple or by
// name.
#include "call.h"

#include <string.h>

static bool run_shape(struct parser *p, struct call *c, struct value *out) {
    int64_t dims[CALL_ARGS];
    weft_expr *x = call_expr(p, c, 0);
    int rank = x ? call_list(p, c, dims) : -1;
    if (rank < 0) return false;
    bool repeat = strcmp(c->row->name, "broadcast_to") == 0;
    return call_built(p, c, repeat ? weft_broadcast_to(x, rank, dims) : weft_reshape(x, rank, dims),
                      out);
}

static bool run_transpose(struct parser *p, struct call *c, struct value *out) {
    int64_t list[CALL_ARGS];
    int perm[CALL_ARGS];
    weft_expr *x = call_expr(p, c, 0);
    int n = x ? call_list(p, c, list) : -1;
    if (n < 0) return false;
    bool all = n == 0 || (c->n == 2 && c->arg[1].kind == V_NONE);
    if (!all && n != weft_expr_rank(x))
        return parse_fail(p, c->who->at, "transpose names %d axes of %d", n, weft_expr_rank(x));
    for (int i = 0; i < n; i++)
        perm[i] = list[i] < -1000 || list[i] > 1000 ? 1000 : (int)list[i];
    return call_built(p, c, weft_transpose(x, all ? NULL : perm), out);
}

static bool run_swap(struct parser *p, struct call *c, struct value *out) {
    int a, b;
    weft_expr *x = call_expr(p, c, 0);
    return x && value_index(p, &c->arg[1], "an axis", &a) &&
           value_index(p, &c->arg[2], "an axis", &b) &&
           call_built(p, c, weft_swap_axes(x, a, b), out);
}

// flip and squeeze: one axis, or all that can be
static bool run_axis(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x = call_expr(p, c, 0);
    bool flip = c->row->name[0] == 'f', all = c->n == 1 && !call_given(c, K_AXIS);
    int axis = 0;
    if (!x || (!all && !call_axis(p, c, 1, K_AXIS, &axis))) return false;
    if (!all) return call_built(p, c, flip ? weft_flip(x, axis) : weft_squeeze(x, axis), out);
    for (int i = weft_expr_rank(x) - 1; x && i >= 0; i--) {
        if (flip)
            x = weft_flip(x, i);
        else if (weft_expr_dims(x)[i] == 1)
            x = weft_squeeze(x, i);
    }
    return call_built(p, c, x, out);
}

static bool run_expand(struct parser *p, struct call *c, struct value *out) {
    int axis = 0;
    weft_expr *x = call_expr(p, c, 0);
    if (c->n == 1 && !call_given(c, K_AXIS))
        return parse_fail(p, c->who->at, "expand_dims wants an axis");
    return x && call_axis(p, c, 1, K_AXIS, &axis) &&
           call_built(p, c, weft_expand_dims(x, axis), out);
}

static bool run_diagonal(struct parser *p, struct call *c, struct value *out) {
    int offset = 0, axis1 = 0, axis2 = 1;
    weft_expr *x = call_expr(p, c, 0);
    return x && call_axis(p, c, 1, K_OFFSET, &offset) && call_axis(p, c, 2, K_AXIS1, &axis1) &&
           call_axis(p, c, 3, K_AXIS2, &axis2) &&
           call_built(p, c, weft_diagonal(x, offset, axis1, axis2), out);
}

// iota(i64, (2, 3), 1)
static bool run_iota(struct parser *p, struct call *c, struct value *out) {
    weft_dtype t = WEFT_F64;
    int axis = 0;
    int64_t n = 0, *dims = &n;
    int rank = 1;
    if (!call_dtype(p, &c->arg[0], &t)) return false;
    if (c->arg[1].kind == V_TUPLE) {
        dims = c->arg[1].tuple->item;
        rank = c->arg[1].tuple->n;
    } else if (!value_int(p, &c->arg[1], "an extent", &n)) {
        return false;
    }
    return call_axis(p, c, 2, K_AXIS, &axis) &&
           call_built(p, c, weft_iota(p->graph, t, rank, dims, axis), out);
}

// ---- names ------------------------------------------------------------------------------------
static const struct row rows[] = {
    CALL(reshape, run_shape, 1, CALL_ARGS, KW(SHAPE)),
    CALL(broadcast_to, run_shape, 1, CALL_ARGS, KW(SHAPE)),
    ONE(ravel, ravel),
    ONE(flatten, ravel),
    CALL(transpose, run_transpose, 1, CALL_ARGS, 0),
    CALL(permute, run_transpose, 2, CALL_ARGS, 0),
    CALL(permute_dims, run_transpose, 2, CALL_ARGS, 0),
    CALL(swap_axes, run_swap, 3, 3, 0),
    CALL(swapaxes, run_swap, 3, 3, 0),
    CALL(flip, run_axis, 1, 2, KW(AXIS)),
    CALL(squeeze, run_axis, 1, 2, KW(AXIS)),
    CALL(expand_dims, run_expand, 1, 2, KW(AXIS)),
    CALL(diagonal, run_diagonal, 1, 4, KW(OFFSET) | KW(AXIS1) | KW(AXIS2)),
    CALL(iota, run_iota, 2, 3, KW(AXIS)),
};
const struct rows call_views = {rows, COUNT_OF(rows)};
