// SPDX-License-Identifier: MIT
// Hand-made programs for the tests of the runtime: a plain C body per mode in place of compiled
// code, a reference that walks the nest one element at a time, and memory with strides of every
// kind.
#ifndef WEFT_TESTS_RT_FAKE_H
#define WEFT_TESTS_RT_FAKE_H

#include "runtime/runtime.h"

enum { FAKE_OPERANDS = 12, FAKE_ARRAYS = 12 };

// v = sum over inputs (not late, not ROWTMP) of (k + 1) * in[k], in double.
// MAP: every output gets v * (its number + 1).
// INNER, OUTER: reductions of v; SCALAR (INNER) or late (OUTER) outputs get result[number %
// nreduce] plus the late inputs (OUTER) ; other outputs get v. A guard gets v > 1e6. whole: INNER
// with two sections: sum of v, then UNIT outputs get v - sum, by way of a ROWTMP.
struct fake {
    enum nest_mode mode;
    bool whole;
    int noperand, nreduce;
    struct nest_operand operand[FAKE_OPERANDS];
    struct rt_reduce reduce[4];
};
tile_fn fake_tile;

// One program of one step, everything it needs inside.
struct fake_program {
    struct fake body;
    struct rt_code code;
    struct rt_step step;
    struct rt_program program;
    weft_array leaf[FAKE_ARRAYS], out[FAKE_ARRAYS];
    void *leaf_data[FAKE_ARRAYS], *out_data[FAKE_ARRAYS];
    uint64_t constant[FAKE_ARRAYS];
    int64_t offset[4], bytes[4];
    struct base_err err;
};
void fake_init(struct fake_program *f, enum nest_mode mode, int nouter, int nrow, int ncol,
               const int64_t *dim);
struct nest_operand *fake_operand(struct fake_program *f, weft_dtype t, enum nest_class cls,
                                  enum nest_buffer b, bool out);
// An array as the next leaf or output, walked by strides (of a's axes are the nest dims with
// axis[d] >= 0).
struct nest_operand *fake_array(struct fake_program *f, const weft_array *a, const int *axis,
                                enum nest_class cls, bool out);
void fake_reduce(struct fake_program *f, enum kern_red r, weft_dtype t);
weft_status fake_finish(struct fake_program *f, const struct rt_env *env, int cost);
weft_status fake_run(struct fake_program *f, struct rt_env *env, struct rt_workspace *ws,
                     int threads);
void fake_free(struct fake_program *f);
// The same by definition, writing to out_data[i] + shift[i].
void fake_reference(const struct fake_program *f, const int64_t *shift);

double fake_load(weft_dtype t, const void *p);
void fake_store(weft_dtype t, void *p, double v);

uint64_t fake_random(uint64_t *seed);
static inline int64_t fake_below(uint64_t *seed, int64_t n) {
    return (int64_t)(fake_random(seed) % (uint64_t)n);
}
void fake_env(struct rt_env *env, int threads); // with a pool
void fake_env_free(struct rt_env *env);

#endif
