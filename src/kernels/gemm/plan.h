// SPDX-License-Identifier: MIT
// How one matrix product is cut up: made by ../gemm_plan.c, walked by ../gemm_walk.c.
#ifndef KERN_GEMM_PLAN_H
#define KERN_GEMM_PLAN_H

#include "gemm.h"

enum {
    GEMM_GROUPS = 64,      // column groups of a phase, at most
    GEMM_PACK_SLIVERS = 4, // slivers of A packed at a time
    GEMM_BAND = 16         // steps of k of B packed at a time
};

// The product in row form (columns of C are its fastest axis; when C is column-major, A and B have
// changed roles) and its blocks, from the outside in:
//   column chunk > row chunk > k block  = one phase, in which A's rows are packed into slivers of
//   mr rows; group of columns (its part of B packed into panels, held by one thread) > range of
//   rows = one item of work; sliver > panel = one tile.
struct gemm_plan {
    const struct gemm_ops *ops;
    int64_t m, n, k;
    const unsigned char *a, *b;
    unsigned char *c;
    int64_t a_rs, a_cs, b_rs, b_cs, c_rs, c_cs;
    bool swapped;        // row form is the transposed product
    bool unit_c;         // rows of C are contiguous
    bool vector;         // one column, floats: A x; nothing else below matters
    bool pack_a, pack_b; // otherwise read where they are
    int64_t col_chunk, group_cols, groups;
    int64_t row_chunk, range_rows, ranges;
    int64_t col_chunks, row_chunks, k_blocks;
    size_t a_bytes, b_bytes; // one packed row chunk, one packed group
    void (*done)(void *ud, const struct kern_gemm_part *part);
    void *done_ud;
    const struct kern_watch *watch;
    int64_t batch, body; // of the product under way, for done
};

// The plan of g's first product (sizes not 0) for a team of threads.
void kern_gemm_plan(struct gemm_plan *p, const struct kern_gemm *g, int threads);
// The same without blocks, when nothing is packed, C has contiguous rows and k is one block; else false.
bool kern_gemm_plan_small(struct gemm_plan *p, const struct kern_gemm *g);
size_t kern_gemm_plan_bytes(const struct gemm_plan *p, int threads); // of scratch

// Runs a small plan.
void kern_gemm_walk_small(const struct gemm_plan *p);
// Runs a plan on this thread.
void kern_gemm_walk(const struct gemm_plan *p, unsigned char *scratch);
// Runs a plan with a team.
struct gemm_crew {
    int threads;
    kern_gemm_for *run;
    void *ud;
};
// A vector plan: rows row .. end - 1; all of it with a team.
void kern_gemm_walk_vector(const struct gemm_plan *p, int64_t row, int64_t end);
void kern_gemm_vector_parallel(const struct gemm_plan *p, const struct gemm_crew *crew);
void kern_gemm_walk_parallel(const struct gemm_plan *p, unsigned char *scratch,
                             const struct gemm_crew *crew);

#endif
