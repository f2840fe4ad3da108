// SPDX-License-Identifier: MIT
// Products of complex numbers along axes. A product of pairs is no reduction of real numbers, so it is a tree of
// elementwise products: a run is cut in two halves that are multiplied with each other until one element is
// left; odd ones are multiplied apart, in the order they are met. The order depends on the extents alone, and so
// does the number of nodes: extents that may change after building are refused.
#include "pair.h"

static ir_ref times(struct ir_graph *g, ir_ref a, ir_ref b) {
    return !a ? b : ir_map(g, IR_mul, (ir_ref[]){a, b});
}

static ir_ref one_of_shape(struct ir_graph *g, ir_ref like, int rank, const int64_t *dims) {
    ir_ref one = ir_cast(g, ir_constant_of(g, WEFT_BOOL, 1, IR_STRONG), (weft_dtype)ir_at(g, like)->dtype);
    return ir_broadcast_to(g, one, rank, dims);
}

// Axes [first, last) as one.
static ir_ref flatten(struct ir_graph *g, ir_ref x, int first, int last) {
    int64_t dims[WEFT_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < ir_at(g, x)->rank; i++) {
        int64_t e = ir_dims(g, x)[i];
        if (i <= first || i >= last)
            dims[rank++] = e;
        else
            dims[rank - 1] *= e;
    }
    return ir_reshape(g, x, rank, dims);
}

static ir_ref product_of_run(struct ir_graph *g, ir_ref x, int axis) {
    ir_ref odd = IR_NONE;
    int64_t n = ir_dims(g, x)[axis];
    if (n == 0) {
        int64_t dims[WEFT_MAX_RANK];
        int rank = ir_at(g, x)->rank;
        memcpy(dims, ir_dims(g, x), (size_t)rank * sizeof *dims);
        dims[axis] = 1;
        x = one_of_shape(g, x, rank, dims);
    }
    for (; x && n > 1; n /= 2) {
        int64_t half = n / 2;
        if (n % 2) odd = times(g, odd, ir_slice(g, x, axis, n - 1, n, 1));
        ir_ref second = ir_slice(g, x, axis, half, 2 * half, 1);
        x = times(g, ir_slice(g, x, axis, 0, half, 1), second);
    }
    return x ? ir_squeeze(g, odd ? times(g, x, odd) : x, axis) : IR_NONE;
}

ir_ref ir_pair_product(struct ir_graph *g, ir_ref x, uint64_t mask) {
    if (x && mask && ir_at(g, x)->flags & IR_DYN)
        return ir_fail_at(g, WEFT_EUNSUPPORTED, &(struct ir_blame){"prod", 1, &x},
                          "a product of complex numbers needs extents that do not change");
    while (x && mask) {
        int last = 64 - __builtin_clzll(mask), first = last - 1;
        while (first > 0 && mask >> (first - 1) & 1)
            first--;
        x = flatten(g, x, first, last);
        if (x) x = product_of_run(g, x, first);
        mask &= ((uint64_t)1 << first) - 1;
    }
    return x;
}
