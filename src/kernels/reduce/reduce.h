// SPDX-License-Identifier: MIT
// What a reduction over one dtype consists of, and where the tables of each instruction set are.
// Inside the kernels room only; kern.h is the door.
#ifndef WEFT_KERN_REDUCE_H
#define WEFT_KERN_REDUCE_H

#include "../kern.h"

struct red_kind {
    // as leaf on the identity, for at least as many elements as lanes; NULL: there is none
    void (*begin)(void *lanes, const void *x, int64_t count);
    void (*leaf)(void *lanes, const void *x, int64_t count, int64_t first);
    void (*row)(void *state, const void *x, int64_t n, int64_t e);
    // n columns of two leaves of rows, rs bytes apart: state = leaf OP leaf; NULL for arg-reductions
    void (*pair)(void *state, const void *x, int64_t rs, int64_t n);
    void (*combine)(void *older, const void *newer, int64_t n);
    void (*fold)(const void *lanes, void *out);
    // scan.inc; NULL for arg-reductions
    void (*scan)(void *out, const void *x, int64_t n, const void *before, void *total);
    void (*scan_total)(const void *x, void *total);
    // arg-reductions only
    void (*take)(void *lanes, const void *best, const void *x, int64_t count, int64_t first);
};
// The row of a reduction and dtype: ints (bool and integers), floats, and args (all dtypes).
typedef const struct red_kind *red_find(enum kern_red r, weft_dtype t);
// the best of them for the machine
red_find kern_red_kind;
extern red_find kern_red_ints_base, kern_red_floats_base, kern_red_args_base;
extern red_find kern_red_ints_avx2, kern_red_floats_avx2, kern_red_args_avx2;
extern red_find kern_red_ints_avx512, kern_red_floats_avx512, kern_red_args_avx512;

#define RED_JOIN3_(a, b, c) a##_##b##_##c
#define RED_JOIN3(a, b, c) RED_JOIN3_(a, b, c)
#define RED_JOIN2_(a, b) a##_##b
#define RED_JOIN2(a, b) RED_JOIN2_(a, b)
// the functions of reduction name on the type spelled t
#define RED_KIND(name, t)                                                                          \
    { name##_begin_##t, name##_leaf_##t, name##_row_##t, name##_pair_##t, \
      name##_combine_##t, name##_fold_##t, name##_scan_##t, name##_scan_total_##t, NULL }
#define RED_ARG_KIND(name, t)                                                                      \
    { NULL, name##_leaf_##t, name##_row_##t, NULL, name##_combine_##t, name##_fold_##t, NULL, \
      NULL, name##_take_##t }

#define RED_ARG_LANES 32
static inline int64_t red_padded(int64_t bytes) {
    return (bytes + 63) & ~(int64_t)63;
}

// Elements in memory of any alignment.
#define RED_ANY_ALIGN __attribute__((aligned(1), may_alias))

#endif
