// SPDX-License-Identifier: MIT
// Leaves: arrays of the caller, inputs bound later, iota. Everything a later room relies on about
// memory is checked here: ranks, extents, and that no byte offset inside the array overflows.
#include "pair.h"

bool ir_dtype_valid(weft_dtype t) { return (unsigned)t < WEFT_DTYPE__N; }

static bool check_shape(struct ir_graph *g, const char *name, int rank, const int64_t *dims) {
    if (rank < 0 || rank > WEFT_MAX_RANK)
        return ir_fail(g, WEFT_EINVAL, "%s: rank %d is not in 0..%d", name, rank, WEFT_MAX_RANK);
    if (rank && !dims) return ir_fail(g, WEFT_EINVAL, "%s: no extents", name);
    for (int i = 0; i < rank; i++)
        if (dims[i] < 0)
            return ir_fail(g, WEFT_ESHAPE, "%s: axis %d has extent %lld", name, i,
                           (long long)dims[i]);
    return true;
}

static bool check_type(struct ir_graph *g, const char *name, weft_dtype t) {
    if (ir_dtype_valid(t)) return true;
    return ir_fail(g, WEFT_EINVAL, "%s: no such dtype (%d)", name, (int)t);
}

// The distance from the first byte to the furthest, both ways, must be a number.
static bool check_strides(struct ir_graph *g, const weft_array *a) {
    int64_t up = (int64_t)dtype_size(a->dtype), down = 0, step;
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] == 0) return true;
    for (int i = 0; i < a->rank; i++) {
        if (__builtin_mul_overflow(a->strides[i], a->dims[i] - 1, &step) ||
            __builtin_add_overflow(step > 0 ? up : down, step, step > 0 ? &up : &down))
            return ir_fail(g, WEFT_ESHAPE, "from: the strides of axis %d reach too far", i);
    }
    return true;
}

// So that a saved graph asks for one complex array, not for two.
static void mark_leaf(struct ir_graph *g, ir_ref r, ir_ref other, int part) {
    if (!r || !other || r == other) return;
    struct ir_leaf *l = ir_pool_at(&g->leaves, (uint32_t)*ir_attr(g, r));
    l->other = other;
    l->part = part;
}

// A complex array is two real ones with its strides; leaves are what they were checked to be.
static ir_ref from_complex(struct ir_graph *g, const weft_array *a) {
    weft_array part = *a;
    struct ir_pair p;
    part.dtype = dtype_real_of(a->dtype);
    p.re = ir_from(g, &part);
    if (a->data) part.data = (char *)a->data + dtype_size(part.dtype);
    p.im = ir_from(g, &part);
    mark_leaf(g, p.re, p.im, 1);
    mark_leaf(g, p.im, p.re, 2);
    return ir_pair_join(g, p);
}

ir_ref ir_from(struct ir_graph *g, const weft_array *a) {
    if (!a) return ir_fail(g, WEFT_EINVAL, "from: no array");
    if (!check_type(g, "from", a->dtype) || !check_shape(g, "from", a->rank, a->dims))
        return IR_NONE;
    if (!check_strides(g, a)) return IR_NONE;
    if (dtype_is_complex(a->dtype)) return from_complex(g, a);
    struct ir_draft d;
    ir_draft_begin(&d, IR_from, a->dtype);
    d.rank = a->rank;
    d.leaf = a;
    bool empty = false;
    for (int i = 0; i < a->rank; i++) {
        d.dims[i] = a->dims[i];
        empty |= a->dims[i] == 0;
    }
    if (!a->data && !empty) return ir_fail(g, WEFT_EINVAL, "from: data is NULL");
    return ir_put(g, &d);
}

ir_ref ir_mark_part(struct ir_graph *g, ir_ref input, int part) {
    if (!input) return IR_NONE;
    struct ir_input *in = ir_pool_at(&g->inputs, (uint32_t)*ir_attr(g, input));
    in->part = part;
    return input;
}

ir_ref ir_input(struct ir_graph *g, const char *name, weft_dtype t, int rank, const int64_t *dims) {
    if (!check_type(g, "input", t) || !check_shape(g, "input", rank, dims)) return IR_NONE;
    if (dtype_is_complex(t)) {
        weft_dtype real = dtype_real_of(t);
        ir_ref re = ir_mark_part(g, ir_input(g, name, real, rank, dims), 1);
        return ir_pair_join(g, (struct ir_pair){re, ir_mark_part(g, ir_input(g, name, real, rank, dims), 2)});
    }
    char *copy = arena_copy(&g->names, name ? name : "", name ? strlen(name) + 1 : 1);
    if (!copy) return ir_fail(g, WEFT_ENOMEM, "input: no memory for the name");
    struct ir_draft d = {.op = IR_input, .dtype = t, .rank = rank, .nattr = 1, .flags = IR_DYN};
    d.attr[0] = g->inputs.count;
    if (rank) memcpy(d.dims, dims, (size_t)rank * sizeof *dims);
    uint32_t at;
    if (!ir_pool_room(&g->inputs, &g->alloc, 1, &at))
        return ir_fail(g, WEFT_ENOMEM, "input: no memory for the graph");
    ir_ref r = ir_put(g, &d);
    if (!r) return IR_NONE;
    *(struct ir_input *)ir_pool_at(&g->inputs, at) = (struct ir_input){copy, r, 0};
    g->inputs.count = at + 1;
    return r;
}

ir_ref ir_iota(struct ir_graph *g, weft_dtype t, int rank, const int64_t *dims, int axis) {
    if (!check_type(g, "iota", t) || !check_shape(g, "iota", rank, dims)) return IR_NONE;
    if (t == WEFT_BOOL) return ir_fail(g, WEFT_EDTYPE, "iota: bool has no indices");
    if (axis < -rank || axis >= rank)
        return ir_fail(g, WEFT_EINVAL, "iota: axis %d is out of range for rank %d", axis, rank);
    if (dtype_is_half(t)) return ir_cast(g, ir_iota(g, WEFT_I64, rank, dims, axis), t);
    if (dtype_is_complex(t)) return ir_cast(g, ir_iota(g, dtype_real_of(t), rank, dims, axis), t);
    struct ir_draft d = {.op = IR_iota, .dtype = t, .rank = rank, .nattr = 1};
    d.attr[0] = axis < 0 ? axis + rank : axis;
    memcpy(d.dims, dims, (size_t)rank * sizeof *dims);
    return ir_put(g, &d);
}
