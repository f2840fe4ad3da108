// SPDX-License-Identifier: MIT
// A plan made to be looked at: what look.c and report.c share.
#ifndef WEFT_API_LOOK_H
#define WEFT_API_LOOK_H

#include "api.h"

struct look {
    weft_graph *g;
    ir_ref *roots;
    struct pairs real;
    weft_array *arrays; // of inputs, and their strides
    const int64_t **strides;
    struct fuse_plan *plan;
    struct base_vec text;
};
weft_status look_begin(int n, weft_expr *const *x, struct look *l);
// Frees all of it. Hands the text over (text NULL: there is none), or the failure.
weft_status look_end(int n, struct look *l, weft_status st, char **text);

#endif
