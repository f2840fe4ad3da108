// SPDX-License-Identifier: MIT
// Matrix products to check: operands in any layout between guard pages, the triple loop they are
// compared with, and a comparison of every byte of C's memory, gaps included.
#ifndef TESTS_GEMM_CASE_H
#define TESTS_GEMM_CASE_H

#include "kernels/kern.h"

enum layout {
    ROW_MAJOR = 0,
    COL_MAJOR = 1,
    FLIP_ROWS = 2,
    FLIP_COLS = 4,
    GAPS = 8,       // unused elements between rows and between columns
    ODD = 16,       // no element is aligned
    SAME_ROWS = 32, // stride 0: A and B only
    SAME_COLS = 64,
    LAYOUTS = 128,
    C_LAYOUTS = 32
};

enum filling { SMALL_INTEGERS, ANY_BITS, FRACTIONS };

struct view {
    unsigned char *map; // guard page, memory, guard page
    size_t map_bytes;
    unsigned char *low; // first byte of the operand, extent bytes in all
    size_t extent;
    unsigned char *origin;
    int64_t rows, cols, rs, cs;
    weft_dtype dtype;
};

struct gemm_case {
    weft_dtype dtype;
    int64_t m, n, k;
    int a_layout, b_layout, c_layout;
    enum filling filling;
};

struct gemm_operands {
    struct view a, b, c;
    unsigned char *image; // what the bytes of C must be
};

uint32_t test_random(void); // a fixed sequence for each test
int64_t test_pick(const int64_t *list, size_t count);

void view_make(struct view *v, weft_dtype t, int64_t rows, int64_t cols, int layout);
void view_fill(struct view *v, enum filling f);
void view_free(struct view *v);
double view_get(const struct view *v, int64_t i, int64_t j); // floats

// Operands filled, C's memory all ones (NaN), image computed by the triple loop.
void operands_make(struct gemm_operands *o, const struct gemm_case *c);
void operands_specify(
    struct gemm_operands *o); // computes the image again, after a change of A or B
void operands_free(struct gemm_operands *o);
struct kern_gemm operands_gemm(const struct gemm_operands *o, enum kern_isa isa);

// Runs g with threads 1.. on an executor; scratch lies between guard pages. run NULL:
// kern_gemm_run.
void gemm_execute(struct kern_gemm *g, int threads, kern_gemm_for *run);
void executor_serial(void *ud, int64_t n, void (*body)(void *arg, int64_t i), void *arg);
void executor_reversed(void *ud, int64_t n, void (*body)(void *arg, int64_t i), void *arg);
void executor_threads(void *ud, int64_t n, void (*body)(void *arg, int64_t i), void *arg);

// Empty when C's memory is as the image says, else a sentence.
const char *operands_differ(const struct gemm_operands *o, const struct kern_gemm *g);
// C's memory back to all ones.
void operands_reset(struct gemm_operands *o);
// make, run on every instruction set this machine has, compare, free: "" or a sentence.
const char *case_check(const struct gemm_case *c, int threads);

#endif
