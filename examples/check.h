// SPDX-License-Identifier: MIT
// What the examples share: stop with a sentence when a call fails, and a clock.
#ifndef EXAMPLES_CHECK_H
#define EXAMPLES_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "weft/weft.h"

static inline void must(weft_status st, const weft_graph *g) {
    if (st) {
        fprintf(stderr, "weft: %s\n", g ? weft_graph_error(g) : weft_status_text(st));
        exit(1);
    }
}
static inline void expect(bool ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "not as expected: %s\n", what);
        exit(1);
    }
}
static inline double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// A context that compiles before it runs (where LLVM is), so that what is timed is compiled code.
static inline weft_ctx *compiling(void) {
    weft_ctx *ctx = NULL;
    must(weft_ctx_new(&ctx, &(weft_ctx_opts){.size = sizeof(weft_ctx_opts), .backend = WEFT_BACKEND_JIT}), NULL);
    return ctx;
}
// A run that must succeed, in a workspace of its own or (NULL) of the context.
static inline void go(const weft_program *p, weft_workspace *ws, const weft_array *in, const weft_array *out) {
    char why[256];
    if (weft_run(p, ws, in, out, why, sizeof why)) {
        fprintf(stderr, "weft: %s\n", why);
        exit(1);
    }
}
static inline weft_program *compiled(weft_graph *g, int n, weft_expr *const *roots) {
    weft_program *p = NULL;
    must(weft_compile(n, roots, &p), g);
    return p;
}
// The least time of a few tries of statement, in seconds.
#define LEAST_TIME(out, tries, statement)                                                          \
    do {                                                                                           \
        *(out) = 1e9;                                                                              \
        for (int try_ = 0; try_ < (tries); try_++) {                                               \
            const double start_ = seconds();                                                       \
            statement;                                                                             \
            const double spent_ = seconds() - start_;                                              \
            if (spent_ < *(out)) *(out) = spent_;                                                  \
        }                                                                                          \
    } while (0)
static inline void speed(const char *what, double with_weft, double plain) {
    printf("%s: weft %.3f ms, the plain C loop (one thread, -O3 -march=native) %.3f ms: %.1f times\n", what, 1e3 * with_weft,
           1e3 * plain, plain / with_weft);
}

#endif
