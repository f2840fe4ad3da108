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

#endif
