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
    { &kern_gemm_##t##_base, &kern_gemm_##t##_avx2, &kern_gemm_##t##_avx512_asm }
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
    if (p->k == 1) p->a_cs = p->b_rs = size;
}

// A column group's share of B takes about half of L2 in whole panels; groups are even in size, and
// at least two a thread when there are columns for that.
static void cut_columns(struct gemm_plan *p, int threads, size_t l2) {
    const int64_t panel = (int64_t)p->ops->lanes * p->ops->nv, kc = MIN_OF(p->k, KERN_GEMM_KC);
    const int64_t fit = MAX_OF((int64_t)(l2 / 2) / (kc * p->ops->size * panel), 1) * panel;
    int64_t count = parts(p->n, fit);
    if (threads > 1) count = MIN_OF(up(count, threads), parts(p->n, panel));
    p->group_cols = up(parts(p->n, count), panel);
    p->col_chunk = MIN_OF(p->n, p->group_cols * GEMM_GROUPS);
    p->groups = parts(p->col_chunk, p->group_cols);
    p->col_chunks = parts(p->n, p->col_chunk);
    p->b_bytes =
        p->pack_b
            ? up64((size_t)(MIN_OF(p->group_cols, up(p->n, p->ops->lanes)) * kc * p->ops->size))
            : 0;
}

static void cut_rows(struct gemm_plan *p, int threads) {
    const int64_t mr = p->ops->mr, kc = MIN_OF(p->k, KERN_GEMM_KC), budget = 4 << 20;
    const int64_t fit = p->pack_a ? MAX_OF(budget / (kc * p->ops->size) / mr, 1) * mr : INT64_MAX;
    p->row_chunk = fit < p->m ? up(parts(p->m, parts(p->m, fit)), mr) : p->m;
    p->row_chunks = parts(p->m, p->row_chunk);
    p->a_bytes = p->pack_a ? up64((size_t)(up(p->row_chunk, mr) * kc * p->ops->size)) : 0;
    p->range_rows = p->row_chunk;
    if (threads > 1) {
        const int64_t want = parts(8 * threads, p->groups);
        p->range_rows = up(MAX_OF(parts(p->row_chunk, want), 4 * mr), mr);
    }
    p->ranges = parts(p->row_chunk, p->range_rows);
}

static void make_plan(struct gemm_plan *p, const struct kern_gemm *g, int threads) {
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
    };
    if (g->m == 0 || g->n == 0 || g->k == 0) return;
    orient(p);
    const size_t l2 = 1 << 20;
    const int64_t size = p->ops->size;
    const double b_all = (double)p->n * (double)p->k * (double)size; // cannot overflow
    const bool small = p->m <= 4 * p->ops->mr || b_all <= (double)l2 / 8;
    p->pack_b = !(p->ops->direct && p->b_cs == size && small);
    p->pack_a = !(p->n <= 4 * p->ops->lanes * p->ops->nv || b_all <= (double)l2 / 8);
    cut_columns(p, threads, l2);
    cut_rows(p, threads);
    p->k_blocks = parts(p->k, KERN_GEMM_KC);
}

static size_t plan_bytes(const struct gemm_plan *p, int threads) {
    return threads == 1 ? p->a_bytes + p->b_bytes : 2 * p->a_bytes + (size_t)threads * p->b_bytes;
}

static bool empty(const struct kern_gemm *g) {
    return g->m == 0 || g->n == 0 || g->k == 0;
}
static int64_t batches(const struct kern_gemm *g) {
    return MAX_OF(g->batch, 1);
}

// m * n * k * batch, saturating.
static double work(const struct kern_gemm *g) {
    return (double)g->m * (double)g->n * (double)g->k * (double)batches(g);
}

int kern_gemm_threads(const struct kern_gemm *g, int max) {
    const double each = 64.0 * 64.0 * 64.0; // below this a hand-off costs more than it gains
    const double want = work(g) / each;
    return want >= max ? MAX_OF(max, 1) : MAX_OF((int)want, 1);
}

// A batch is shared out whole products at a time when there are enough of them.
static bool by_product(const struct kern_gemm *g, int threads) {
    return threads > 1 && batches(g) >= 4 * (int64_t)threads;
}

size_t kern_gemm_scratch(const struct kern_gemm *g, int threads) {
    if (empty(g)) return 0;
    struct gemm_plan p;
    const bool whole = by_product(g, threads);
    make_plan(&p, g, whole ? 1 : threads);
    return whole ? (size_t)threads * plan_bytes(&p, 1) : plan_bytes(&p, threads);
}

// k = 0, or nothing to write.
static void zero_c(const struct kern_gemm *g, int64_t batch) {
    const size_t size = dtype_size(g->dtype);
    unsigned char *c = (unsigned char *)g->c + batch * g->c_bs;
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++)
            memset(c + i * g->c_rs + j * g->c_cs, 0, size);
    const struct kern_gemm_part all = {batch, 0, g->m, 0, g->n};
    if (g->done && g->m && g->n) g->done(g->done_ud, &all);
}

// The plan of product number batch.
static struct gemm_plan product(const struct gemm_plan *p, const struct kern_gemm *g,
                                int64_t batch) {
    struct gemm_plan q = *p;
    const int64_t a_bs = q.swapped ? g->b_bs : g->a_bs, b_bs = q.swapped ? g->a_bs : g->b_bs;
    q.a += batch * a_bs;
    q.b += batch * b_bs;
    q.c += batch * g->c_bs;
    q.batch = batch;
    return q;
}

static void run_products(const struct kern_gemm *g, const struct gemm_plan *p, int64_t first,
                         int64_t last, unsigned char *scratch) {
    for (int64_t i = first; i < last; i++) {
        const struct gemm_plan q = product(p, g, i);
        kern_gemm_walk(&q, scratch);
    }
}

void kern_gemm_run(const struct kern_gemm *g) {
    if (empty(g)) {
        for (int64_t i = 0; i < batches(g); i++)
            zero_c(g, i);
        return;
    }
    struct gemm_plan p;
    make_plan(&p, g, 1);
    run_products(g, &p, 0, batches(g), g->scratch);
}

// Products shared out in runs, by whoever comes next.
struct batch_team {
    const struct kern_gemm *g;
    const struct gemm_plan *p;
    int64_t run;
    atomic_int_fast64_t next;
};

static void batch_body(void *arg, int64_t id) {
    struct batch_team *t = arg;
    const int64_t count = batches(t->g);
    unsigned char *scratch = (unsigned char *)t->g->scratch + (size_t)id * plan_bytes(t->p, 1);
    for (int64_t at = 0; (at = atomic_fetch_add(&t->next, t->run)) < count;)
        run_products(t->g, t->p, at, MIN_OF(at + t->run, count), scratch);
}

void kern_gemm_parallel(const struct kern_gemm *g, int threads, kern_gemm_for *run, void *ud) {
    if (threads <= 1 || empty(g)) {
        kern_gemm_run(g);
        return;
    }
    struct gemm_plan p;
    if (by_product(g, threads)) {
        make_plan(&p, g, 1);
        struct batch_team t = {.g = g, .p = &p, .run = MAX_OF(batches(g) / (8 * threads), 1)};
        run(ud, threads, batch_body, &t);
        return;
    }
    make_plan(&p, g, threads);
    const struct gemm_crew crew = {threads, run, ud};
    for (int64_t i = 0; i < batches(g); i++) {
        const struct gemm_plan q = product(&p, g, i);
        kern_gemm_walk_parallel(&q, g->scratch, &crew);
    }
}
