// SPDX-License-Identifier: MIT
// Builders of arrays made of parts: stacks, rolls, pads, tiles. In: expressions and counts; out: slices, flips
// and repetitions joined, each of which is stored straight into its place, so that none of them is an
// operation of its own. What is cut by extents is fixed to them (ir_fixed): a program refuses others.
#include <stdio.h>

#include "api.h"

static weft_expr *fixed(const char *name, weft_expr *x) {
    return x ? graph_wrap(x->g, ir_fixed(x->g->ir, name, x->ref)) : NULL;
}

static int64_t extent(weft_expr *x, int axis) {
    return weft_expr_dims(x)[axis];
}

weft_expr *weft_stack(int n, weft_expr *const *x, int axis) {
    if (n < 1 || !x || !x[0]) return NULL;
    const int rank = weft_expr_rank(x[0]);
    if (axis < 0) axis += rank + 1;
    const weft_dtype t = api_meet(n, x);
    weft_expr *all = NULL;
    for (int i = 0; i < n && t != WEFT_DTYPE__N; i++) {
        bool same = weft_expr_rank(x[i]) == rank;
        for (int d = 0; same && d < rank; d++)
            same = extent(x[i], d) == extent(x[0], d);
        if (!same) return graph_fail(x[0]->g, WEFT_ESHAPE, "stack: shapes differ");
        weft_expr *part = weft_expand_dims(n == 1 ? x[i] : weft_cast(x[i], t), axis);
        all = all ? weft_concat(2, (weft_expr *[]){all, part}, axis) : part;
        if (!all) return NULL;
    }
    return all;
}

weft_expr *weft_split(weft_expr *x, int axis, int64_t n, int64_t k) {
    if (!x || (axis = api_axis("split", x, axis)) < 0) return NULL;
    if (n < 1 || k < 0 || k >= n)
        return graph_fail(x->g, WEFT_EINVAL, "split: no such part");
    const int64_t each = extent(x, axis) / n, longer = extent(x, axis) % n;
    const int64_t from = k * each + (k < longer ? k : longer), to = from + each + (k < longer);
    return weft_slice(fixed("split", x), axis, from, to, 1);
}

weft_expr *weft_moveaxis(weft_expr *x, int from, int to) {
    int perm[WEFT_MAX_RANK], n = 0;
    if (!x || (from = api_axis("moveaxis", x, from)) < 0 || (to = api_axis("moveaxis", x, to)) < 0)
        return NULL;
    for (int i = 0, k = 0; i < weft_expr_rank(x); i++) {
        if (k == from) k++;
        perm[n++] = i == to ? from : k++;
    }
    return weft_transpose(x, perm);
}

weft_expr *weft_roll(weft_expr *x, int64_t shift, int axis) {
    if (!x || (axis = api_axis("roll", x, axis)) < 0) return NULL;
    const int64_t n = extent(x, axis);
    shift = n ? shift % n : 0;
    if (shift < 0) shift += n;
    if (!shift) return x;
    x = fixed("roll", x);
    weft_expr *part[2] = {weft_slice(x, axis, n - shift, n, 1), weft_slice(x, axis, 0, n - shift, 1)};
    return weft_concat(2, part, axis);
}

// ---- pad ----------------------------------------------------------------------------------------------------
// One value as far as x goes, count deep along axis.
static weft_expr *filled(weft_expr *x, weft_expr *value, int axis, int64_t count) {
    int64_t dims[WEFT_MAX_RANK];
    const int rank = weft_expr_rank(x);
    for (int i = 0; i < rank; i++)
        dims[i] = i == axis ? count : extent(x, i);
    return weft_broadcast_to(weft_cast(value, weft_expr_dtype(x)), rank, dims);
}

static weft_expr *edge(weft_expr *x, int axis, int64_t at, int64_t count) {
    int64_t dims[WEFT_MAX_RANK];
    const int rank = weft_expr_rank(x);
    for (int i = 0; i < rank; i++)
        dims[i] = i == axis ? count : extent(x, i);
    return weft_broadcast_to(weft_slice(x, axis, at, at + 1, 1), rank, dims);
}

// The part of length count that goes before (or behind) x, count being at most what one turn gives.
static weft_expr *one_turn(weft_expr *x, int axis, int64_t count, bool before, weft_pad_mode mode) {
    const int64_t n = extent(x, axis), skip = mode == WEFT_PAD_REFLECT;
    if (mode == WEFT_PAD_WRAP)
        return before ? weft_slice(x, axis, n - count, n, 1) : weft_slice(x, axis, 0, count, 1);
    weft_expr *part = before ? weft_slice(x, axis, skip, skip + count, 1)
                             : weft_slice(x, axis, n - skip - count, n - skip, 1);
    return weft_flip(part, axis);
}

// Pads both sides turn by turn, as NumPy does: what has been padded is mirrored in its turn, except that a
// wrap goes on with the array it began with.
static weft_expr *pad_turns(weft_expr *x, int axis, int64_t before, int64_t after,
                            weft_pad_mode mode) {
    const int64_t n = extent(x, axis), most = mode == WEFT_PAD_REFLECT ? n - 1 : n;
    if (most < 1) // a line of one element reflects as its edge
        return weft_concat(3, (weft_expr *[]){edge(x, axis, 0, before), x, edge(x, axis, 0, after)},
                           axis);
    // Element i of the result is element (i - before) of the array continued for ever: period by period.
    const int64_t period = mode == WEFT_PAD_WRAP ? n : 2 * most;
    weft_expr *turn = x;
    if (mode != WEFT_PAD_WRAP) {
        weft_expr *back = weft_flip(
            mode == WEFT_PAD_REFLECT ? weft_slice(x, axis, 1, n - 1, 1) : x, axis);
        turn = weft_concat(2, (weft_expr *[]){x, back}, axis);
    }
    const int64_t at = (period - before % period) % period;
    const int64_t end = at + before + n + after; // fits, as pad_axis has seen
    int64_t times[WEFT_MAX_RANK];
    for (int i = 0; i < weft_expr_rank(x); i++)
        times[i] = i == axis ? (end - 1) / period + 1 : 1;
    return weft_slice(weft_tile(turn, weft_expr_rank(x), times), axis, at, end, 1);
}

static weft_expr *pad_axis(weft_expr *x, int axis, const weft_padding *p, weft_expr *value) {
    const int64_t before = p->before[axis], after = p->after[axis], n = extent(x, axis);
    weft_expr *part[3] = {NULL, x, NULL};
    int64_t most, all;
    if (!before && !after) return x;
    if (__builtin_add_overflow(before, after, &all) || __builtin_mul_overflow(n, (int64_t)4, &most) ||
        __builtin_add_overflow(all, most, &all))
        return graph_fail(x->g, WEFT_ESHAPE, "pad: the size overflows");
    if (p->mode != WEFT_PAD_CONSTANT && n == 0)
        return graph_fail(x->g, WEFT_ESHAPE, "pad: an empty axis has no edge");
    most = p->mode == WEFT_PAD_REFLECT ? n - 1 : n;
    if (p->mode == WEFT_PAD_CONSTANT) {
        part[0] = filled(x, value, axis, before);
        part[2] = filled(x, value, axis, after);
    } else if (p->mode == WEFT_PAD_EDGE) {
        part[0] = edge(x, axis, 0, before);
        part[2] = edge(x, axis, n - 1, after);
    } else if (before > most || after > most) {
        return pad_turns(x, axis, before, after, p->mode);
    } else {
        part[0] = one_turn(x, axis, before, true, p->mode);
        part[2] = one_turn(x, axis, after, false, p->mode);
    }
    return weft_concat(3, part, axis);
}

weft_expr *weft_pad(weft_expr *x, const weft_padding *p) {
    if (!x) return NULL;
    const int rank = weft_expr_rank(x);
    if (!p || p->size != sizeof *p || (unsigned)p->mode > WEFT_PAD_WRAP ||
        (rank && (!p->before || !p->after)))
        return graph_fail(x->g, WEFT_EINVAL, "pad: not a weft_padding");
    weft_expr *value = p->value ? p->value : weft_int(x->g, 0);
    if (value->g != x->g || weft_expr_rank(value))
        return graph_fail(x->g, WEFT_EINVAL, "pad: the value is one number");
    for (int i = 0; i < rank; i++)
        if (p->before[i] < 0 || p->after[i] < 0)
            return graph_fail(x->g, WEFT_EINVAL, "pad: a negative width");
    x = fixed("pad", x);
    for (int i = 0; x && i < rank; i++)
        x = pad_axis(x, i, p, value);
    return x;
}

// ---- repetition ------------------------------------------------------------------------------------------------
// Axes of x with an axis of times[i] before (tile) or behind (repeat) each, seen as one.
static weft_expr *repeated(weft_expr *x, const int64_t *times, bool behind) {
    const int rank = weft_expr_rank(x);
    int64_t wide[WEFT_MAX_RANK], dims[WEFT_MAX_RANK];
    int n = 0;
    weft_expr *y = x;
    for (int i = 0; i < rank; i++) {
        dims[i] = extent(x, i);
        if (__builtin_mul_overflow(dims[i], times[i], &dims[i]))
            return graph_fail(x->g, WEFT_ESHAPE, "repeat: the size overflows");
        if (times[i] != 1 && !behind) {
            y = weft_expand_dims(y, n);
            wide[n++] = times[i];
        }
        wide[n++] = extent(x, i);
        if (times[i] != 1 && behind) {
            y = weft_expand_dims(y, n);
            wide[n++] = times[i];
        }
    }
    return weft_reshape(weft_broadcast_to(y, n, wide), rank, dims);
}

weft_expr *weft_tile(weft_expr *x, int n, const int64_t *times) {
    int64_t all[WEFT_MAX_RANK];
    if (!x) return NULL;
    if (n < 0 || n > WEFT_MAX_RANK || (n && !times))
        return graph_fail(x->g, WEFT_EINVAL, "tile: bad number of axes");
    while (x && weft_expr_rank(x) < n)
        x = weft_expand_dims(x, 0);
    if (!x) return NULL;
    const int rank = weft_expr_rank(x);
    int more = 0;
    for (int i = 0; i < rank; i++) {
        all[i] = i < rank - n ? 1 : times[i - (rank - n)];
        if (all[i] < 0) return graph_fail(x->g, WEFT_EINVAL, "tile: a negative number of times");
        more += all[i] != 1;
    }
    if (rank + more > WEFT_MAX_RANK)
        return graph_fail(x->g, WEFT_ESHAPE, "tile: too many axes for one expression");
    return repeated(fixed("tile", x), all, false);
}

weft_expr *weft_repeat(weft_expr *x, int64_t times, int axis) {
    int64_t all[WEFT_MAX_RANK];
    if (!x || (axis = api_axis("repeat", x, axis)) < 0) return NULL;
    if (times < 0) return graph_fail(x->g, WEFT_EINVAL, "repeat: a negative number of times");
    if (weft_expr_rank(x) == WEFT_MAX_RANK)
        return graph_fail(x->g, WEFT_ESHAPE, "repeat: too many axes for one expression");
    for (int i = 0; i < weft_expr_rank(x); i++)
        all[i] = i == axis ? times : 1;
    return repeated(fixed("repeat", x), all, true);
}

weft_expr *weft_one_hot(weft_expr *x, int64_t depth, weft_dtype t) {
    if (!x) return NULL;
    if (depth < 0) return graph_fail(x->g, WEFT_EINVAL, "one_hot: a negative depth");
    if (!dtype_is_int(weft_expr_dtype(x)))
        return graph_fail(x->g, WEFT_EDTYPE, "one_hot: an index is an integer");
    weft_expr *place = weft_iota(x->g, WEFT_I64, 1, &depth, 0);
    return weft_cast(weft_equal(weft_expand_dims(x, -1), place), t);
}
