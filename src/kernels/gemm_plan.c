// SPDX-License-Identifier: MIT
// The matrix product, from a description to a plan. In: any strides, sizes and element type. Out:
// the leaves for the instruction set, the product in row form, and block sizes. Blocks decide speed
// only: each element of C has its own fixed chain of operations over k, so no cut through m or n
// can change a bit.
#include "gemm/plan.h"

#include <stdatomic.h>

#if defined(__x86_64__)
#define LEVELS(t)                                                                                  \
    { &kern_gemm_##t##_base, &kern_gemm_##t##_avx2, &kern_gemm_##t##_avx512 }
#define FLOATS(t)                                                                                  \
    { &kern_gemm_##t##_base, &kern_gemm_##t##_avx2_asm, &kern_gemm_##t##_avx512_asm }
#else
#define LEVELS(t)                                                                                  \
    { &kern_gemm_##t##_base, &kern_gemm_##t##_base, &kern_gemm_##t##_base }
#define FLOATS(t) LEVELS(t)
#endif
static const struct gemm_ops *const leaves[WEFT_DTYPE__N][KERN_ISA__N] = {
    [WEFT_BOOL] = LEVELS(bool), [WEFT_I8] = LEVELS(u8),   [WEFT_U8] = LEVELS(u8),
    [WEFT_I16] = LEVELS(u16),   [WEFT_U16] = LEVELS(u16), [WEFT_I32] = LEVELS(u32),
    [WEFT_U32] = LEVELS(u32),   [WEFT_I64] = LEVELS(u64), [WEFT_U64] = LEVELS(u64),
    [WEFT_F32] = FLOATS(f32),   [WEFT_F64] = FLOATS(f64),
};

enum { PACKED_A_BYTES = 4 << 20 };

// Asked of the system once; threads that ask at the same time get the same answer.
static int64_t l2_bytes(void) {
    static atomic_int_fast64_t known;
    int64_t bytes = atomic_load_explicit(&known, memory_order_relaxed);
    if (bytes == 0) {
        bytes = (int64_t)MAX_OF(kern_cache_sizes().l2, (size_t)128 << 10);
        atomic_store_explicit(&known, bytes, memory_order_relaxed);
    }
    return bytes;
}

static int64_t up(int64_t x, int64_t to) {
    return (x + to - 1) / to * to;
}
static int64_t parts(int64_t x, int64_t of) {
    return (x + of - 1) / of;
}
static size_t up64(size_t x) {
    return (x + 63) / 64 * 64;
}

// Exchange the roles of A and B: C' = B' A'.
static void swap_roles(struct gemm_plan *p) {
    const struct gemm_plan o = *p;
    p->m = o.n, p->n = o.m;
    p->a = o.b, p->a_rs = o.b_cs, p->a_cs = o.b_rs;
    p->b = o.a, p->b_rs = o.a_cs, p->b_cs = o.a_rs;
    p->c_rs = o.c_cs, p->c_cs = o.c_rs;
    p->swapped = !o.swapped;
}

// Row form: C's columns contiguous when either axis is; among equals, B's rows contiguous.
static void orient(struct gemm_plan *p) {
    const int64_t size = p->ops->size;
    if (p->n == 1) p->c_cs = size; // the stride of an axis of one element is free
    if (p->m == 1) p->c_rs = size;
    const bool rows = p->c_cs == size, cols = p->c_rs == size;
    if (cols && (!rows || (p->b_cs != size && p->a_rs == size && p->n <= p->m))) swap_roles(p);
    p->unit_c = p->c_cs == size;
}

static void start(struct gemm_plan *p, const struct kern_gemm *g) {
    *p = (struct gemm_plan){
        .ops = leaves[g->dtype][g->isa],
        .m = g->m,
        .n = g->n,
        .k = g->k,
        .a = g->a,
        .b = g->b,
        .c = g->c,
        .a_rs = g->a_rs,
        .a_cs = g->a_cs,
        .b_rs = g->b_rs,
        .b_cs = g->b_cs,
        .c_rs = g->c_rs,
        .c_cs = g->c_cs,
        .done = g->done,
        .done_ud = g->done_ud,
        .watch = &g->watch,
    };
    p->vector = p->ops->gemv && (p->m == 1 || p->n == 1);
    if (p->vector) {
        if (p->n != 1) swap_roles(p);
        return;
    }
    orient(p);
    // A B that takes up to half of L2 is read where it is; so is an operand that is used a few times
    // only.
    const struct gemm_ops *ops = p->ops;
    const int64_t limit = l2_bytes() / 2 / ops->size;
    const bool b_small = p->n <= limit && p->k <= limit && p->n * p->k <= limit;
    p->pack_b = !(ops->direct && p->b_cs == ops->size && (b_small || p->m <= 4 * ops->mr));
    p->pack_a = !(b_small || p->n <= 4 * ops->lanes * ops->nv);
}

// A column group's share of B takes about three eighths of L2 in whole panels, which leaves room for the
// next one's source; groups are even in size, and at least one a thread when there are columns for that.
static void cut_columns(struct gemm_plan *p, int threads) {
    const int64_t panel = (int64_t)p->ops->lanes * p->ops->nv, size = p->ops->size;
    const int64_t kc = MIN_OF(p->k, KERN_GEMM_KC);
    const int64_t fit = MAX_OF(l2_bytes() * 3 / 8 / (kc * size * panel), 1) * panel;
    int64_t count = parts(p->n, fit);
    if (threads > 1) count = MIN_OF(up(count, threads), parts(p->n, panel));
    p->group_cols = up(parts(p->n, count), panel);
    p->col_chunk = MIN_OF(p->n, p->group_cols * GEMM_GROUPS);
    p->groups = parts(p->col_chunk, p->group_cols);
    p->col_chunks = parts(p->n, p->col_chunk);
    const int64_t widest = MIN_OF(p->group_cols, up(p->n, p->ops->lanes));
    p->b_bytes = p->pack_b ? up64((size_t)(widest * kc * size)) : 0;
}

static void cut_rows(struct gemm_plan *p, int threads) {
    const int64_t mr = p->ops->mr, sliver = MIN_OF(p->k, KERN_GEMM_KC) * p->ops->size * mr;
    const int64_t fit = p->pack_a ? MAX_OF(PACKED_A_BYTES / sliver, 1) * mr : INT64_MAX;
    p->row_chunk = fit < p->m ? up(parts(p->m, parts(p->m, fit)), mr) : p->m;
    p->row_chunks = parts(p->m, p->row_chunk);
    p->a_bytes = p->pack_a ? up64((size_t)(parts(p->row_chunk, mr) * sliver)) : 0;
    p->range_rows = p->row_chunk;
    if (threads > 1) { // items for all, several each, of a few slivers at least
        const int64_t want = parts(8 * threads, p->groups);
        p->range_rows = up(MAX_OF(parts(p->row_chunk, want), 4 * mr), mr);
    }
    p->ranges = parts(p->row_chunk, p->range_rows);
}

void kern_gemm_plan(struct gemm_plan *p, const struct kern_gemm *g, int threads) {
    start(p, g);
    if (p->vector) return;
    cut_columns(p, threads);
    cut_rows(p, threads);
    p->k_blocks = parts(p->k, KERN_GEMM_KC);
}

bool kern_gemm_plan_small(struct gemm_plan *p, const struct kern_gemm *g) {
    start(p, g);
    return !p->vector && !p->pack_a && !p->pack_b && p->unit_c && p->k <= KERN_GEMM_KC;
}

size_t kern_gemm_plan_bytes(const struct gemm_plan *p, int threads) {
    return threads == 1 ? p->a_bytes + p->b_bytes : 2 * p->a_bytes + (size_t)threads * p->b_bytes;
}
