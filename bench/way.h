// SPDX-License-Identifier: MIT
// One expression, ready to run in one way: fused, unfused or interpreted, through weft_run or
// weft_eval.
#ifndef WEFT_BENCH_WAY_H
#define WEFT_BENCH_WAY_H

#include "bench.h"

enum { WAY_INPUTS = 4, WAY_ROOTS = 8 };

// Makes the roots from the inputs, returns how many.
typedef int way_build(weft_graph *g, weft_expr *const *in, weft_expr **roots);

struct way_spec {
    way_build *build;
    int inputs;
    const weft_array *in; // data, shapes, strides
    weft_backend backend;
    bool unfused;
    int threads;
    weft_alloc_fn *alloc; // NULL: the usual one
    void *alloc_ud;
};
struct way {
    struct way_spec spec;
    weft_ctx *ctx;
    weft_graph *g;
    weft_program *program;
    weft_workspace *ws;
    int roots;
    weft_expr *root[WAY_ROOTS];
    weft_array out[WAY_ROOTS];
};

bool way_open(struct way *w, const struct bench *b, const struct way_spec *s);
void way_close(struct way *w);
bench_fn way_run;   // ud: struct way
bench_fn way_cycle; // builds the graph anew, then evaluates: the whole lazy cycle

#endif
