// SPDX-License-Identifier: MIT
// Reading through an index array, and arrays put side by side. In: operands, an axis, a mode; out:
// one node whose shape follows from its operands, so that a replay with other extents is the same
// call. What an index out of range means is settled here as an attribute; whether there is one is
// known only when the values are, so the runtime looks.
#include "pair.h"

static bool check_index(struct ir_graph *g, const char *name, ir_ref x, ir_ref index, int mode) {
    const ir_ref in[2] = {x, index};
    const struct ir_blame who = {name, 2, in};
    if ((unsigned)mode > WEFT_INDEX_WRAP)
        return ir_fail_at(g, WEFT_EINVAL, &who, "no such mode (%d)", mode);
    if (!dtype_is_int((weft_dtype)ir_at(g, index)->dtype))
        return ir_fail_at(g, WEFT_EDTYPE, &who, "an index is an integer");
    return true;
}

static bool check_not_empty(struct ir_graph *g, const ir_ref *in, const struct ir_draft *d,
                            int axis) {
    for (int i = 0; i < d->rank; i++)
        if (!d->dims[i]) return true;
    if (ir_dims(g, in[0])[axis]) return true;
    return ir_fail_at(g, WEFT_ESHAPE, &(struct ir_blame){ir_ops[d->op].name, 2, in},
                      "axis %d is empty: there is nothing to take", axis);
}

static struct ir_draft draft_of(enum ir_op op, weft_dtype t, const ir_ref *in) {
    struct ir_draft d;
    ir_draft_begin(&d, op, t);
    d.in[0] = in[0];
    d.in[1] = in[1];
    return d;
}

ir_ref ir_take(struct ir_graph *g, ir_ref x, ir_ref index, int axis, int mode) {
    IR_BY_PARTS(g, x, ir_take(g, x, index, axis, mode));
    if (!x || !index || !(x = ir_strong(g, x)) || !(index = ir_strong(g, index))) return IR_NONE;
    const ir_ref in[2] = {x, index};
    if ((axis = ir_axis(g, "take", x, axis)) < 0 || !check_index(g, "take", x, index, mode))
        return IR_NONE;
    const struct ir_node *n = ir_at(g, x), *k = ir_at(g, index);
    struct ir_draft d = draft_of(IR_take, (weft_dtype)n->dtype, in);
    if (n->rank + k->rank - 1 > WEFT_MAX_RANK)
        return ir_fail_at(g, WEFT_ESHAPE, &(struct ir_blame){"take", 2, in},
                          "the result has more than %d axes", WEFT_MAX_RANK);
    for (int i = 0; i < n->rank; i++) {
        if (i != axis) d.dims[d.rank++] = ir_dims(g, x)[i];
        for (int j = 0; i == axis && j < k->rank; j++)
            d.dims[d.rank++] = ir_dims(g, index)[j];
    }
    d.attr[d.nattr++] = axis;
    d.attr[d.nattr++] = mode;
    return check_not_empty(g, in, &d, axis) ? ir_put(g, &d) : IR_NONE;
}

ir_ref ir_take_along(struct ir_graph *g, ir_ref x, ir_ref index, int axis, int mode) {
    IR_BY_PARTS(g, x, ir_take_along(g, x, index, axis, mode));
    if (!x || !index || !(x = ir_strong(g, x)) || !(index = ir_strong(g, index))) return IR_NONE;
    const ir_ref in[2] = {x, index};
    const struct ir_blame who = {"take_along_axis", 2, in};
    axis = ir_axis(g, who.name, x, axis);
    if (axis < 0 || !check_index(g, who.name, x, index, mode)) return IR_NONE;
    const int rank = ir_at(g, x)->rank;
    const int64_t *dx = ir_dims(g, x), *di = ir_dims(g, index);
    if (ir_at(g, index)->rank != rank)
        return ir_fail_at(g, WEFT_ESHAPE, &who, "the ranks differ");
    struct ir_draft d = draft_of(IR_take_along_axis, (weft_dtype)ir_at(g, x)->dtype, in);
    d.rank = rank;
    for (int i = 0; i < rank; i++) {
        d.dims[i] = i == axis || dx[i] == 1 ? di[i] : dx[i];
        if (i != axis && di[i] != 1 && di[i] != d.dims[i])
            return ir_fail_at(g, WEFT_ESHAPE, &who, "axis %d is %lld and %lld", i, (long long)dx[i],
                              (long long)di[i]);
    }
    d.attr[d.nattr++] = axis;
    d.attr[d.nattr++] = mode;
    return check_not_empty(g, in, &d, axis) ? ir_put(g, &d) : IR_NONE;
}

// ---- side by side -----------------------------------------------------------------------------
ir_ref ir_join(struct ir_graph *g, ir_ref a, ir_ref b, int axis) {
    if (!a || !b) return IR_NONE;
    const ir_ref given[2] = {a, b};
    const struct ir_blame who = {"concat", 2, given};
    const weft_dtype t = ir_promote((weft_dtype)ir_at(g, a)->dtype, (weft_dtype)ir_at(g, b)->dtype);
    if ((axis = ir_axis(g, "concat", a, axis)) < 0) return IR_NONE;
    const int rank = ir_at(g, a)->rank;
    if (ir_at(g, b)->rank != rank) return ir_fail_at(g, WEFT_ESHAPE, &who, "the ranks differ");
    for (int i = 0; i < rank; i++)
        if (i != axis && ir_dims(g, a)[i] != ir_dims(g, b)[i])
            return ir_fail_at(g, WEFT_ESHAPE, &who, "axis %d is %lld and %lld", i,
                              (long long)ir_dims(g, a)[i], (long long)ir_dims(g, b)[i]);
    if (!(a = ir_cast(g, ir_strong(g, a), t)) || !(b = ir_cast(g, ir_strong(g, b), t)))
        return IR_NONE;
    if (dtype_is_complex(t)) {
        const struct ir_pair p = ir_pair_whole(g, a), q = ir_pair_whole(g, b);
        return ir_pair_join(
            g, (struct ir_pair){ir_join(g, p.re, q.re, axis), ir_join(g, p.im, q.im, axis)});
    }
    // an empty part says nothing, whatever the other extents turn out to be
    if (!ir_dims(g, a)[axis] && !(ir_at(g, a)->flags & IR_DYN)) return b;
    if (!ir_dims(g, b)[axis] && !(ir_at(g, b)->flags & IR_DYN)) return a;
    const ir_ref in[2] = {a, b};
    struct ir_draft d = draft_of(IR_join, t, in);
    d.rank = rank;
    memcpy(d.dims, ir_dims(g, a), (size_t)rank * sizeof *d.dims);
    if (__builtin_add_overflow(d.dims[axis], ir_dims(g, b)[axis], &d.dims[axis]))
        return ir_fail_at(g, WEFT_ESHAPE, &who, "axis %d overflows", axis);
    d.attr[d.nattr++] = axis;
    return ir_put(g, &d);
}
