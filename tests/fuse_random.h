// SPDX-License-Identifier: MIT
// Random graphs for tests of planning: leaves of every layout, maps, views, reductions, products.
#ifndef FUSE_RANDOM_H
#define FUSE_RANDOM_H

#include "fuse/plan.h"

enum { RANDOM_LEAVES = 8, RANDOM_BYTES = 1 << 14, RANDOM_ROOTS = 4 };
struct random_graph {
    uint64_t state;
    struct ir_graph *g;
    int ninput;
    weft_array input[RANDOM_LEAVES];
    int64_t instride[RANDOM_LEAVES][WEFT_MAX_RANK];
    const int64_t *in_strides[RANDOM_LEAVES];
    int nbuffer;
    char *buffer[2 * RANDOM_LEAVES];
    int nroot;
    ir_ref root[RANDOM_ROOTS];
};
uint32_t random_below(struct random_graph *r, uint32_t n);
// Builds into r->g (made here). ops: about how many nodes.
void random_build(struct random_graph *r, uint64_t seed, int ops);
void random_free(struct random_graph *r);
// An array of this type and shape in fresh memory, of a random layout; overlap allowed only for
// leaves. base receives the block to free.
weft_array random_array(struct random_graph *r, weft_dtype t, int rank, const int64_t *dims,
                        bool leaf, char **base);

#endif
