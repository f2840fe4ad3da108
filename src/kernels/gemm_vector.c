// SPDX-License-Identifier: MIT
// A matrix times a vector. In: a plan in which C has one column; out: C, in blocks of rows that are
// reported when final. Bound by reading the matrix once, so nothing is packed or blocked but k, which
// is cut where the order of the sum says so; threads take blocks of rows.
#include "gemm/plan.h"

#include <stdatomic.h>

enum { ROWS_AT_ONCE = 256, LEAST_ROWS = 16, STOP_WORK = 64 << 10 };

void kern_gemm_walk_vector(const struct gemm_plan *p, int64_t row, int64_t end) {
    for (int64_t rows; row < end; row += rows) {
        rows = MIN_OF(end - row, ROWS_AT_ONCE);
        for (int64_t k0 = 0; k0 < p->k; k0 += KERN_GEMV_KC) {
            const struct gemm_vector v = {
                .rows = rows,
                .k = MIN_OF(p->k - k0, KERN_GEMV_KC),
                .a = p->a + row * p->a_rs + k0 * p->a_cs,
                .a_rs = p->a_rs,
                .a_cs = p->a_cs,
                .x = p->b + k0 * p->b_rs,
                .x_s = p->b_rs,
                .y = p->c + row * p->c_rs,
                .y_s = p->c_rs,
                .add = k0 > 0,
            };
            p->ops->gemv(&v);
            if (rows * v.k > STOP_WORK && kern_tick(p->watch, 0)) return;
        }
        if (kern_tick(p->watch, rows * p->k / 4)) return;
        if (!p->done) continue;
        struct kern_gemm_part part = {p->batch, row, rows, 0, 1, p->body};
        if (p->swapped) part = (struct kern_gemm_part){p->batch, 0, 1, row, rows, p->body};
        p->done(p->done_ud, &part);
    }
}

struct vector_team {
    const struct gemm_plan *p;
    int64_t rows; // at a time
    atomic_int_fast64_t next;
};

static void body(void *arg, int64_t id) {
    struct vector_team *t = arg;
    struct gemm_plan own = *t->p;
    own.body = id;
    for (int64_t row; (row = atomic_fetch_add(&t->next, t->rows)) < own.m && !kern_tick(own.watch, 0);)
        kern_gemm_walk_vector(&own, row, MIN_OF(row + t->rows, own.m));
}

void kern_gemm_vector_parallel(const struct gemm_plan *p, const struct gemm_crew *crew) {
    const int64_t each = p->m / (8 * crew->threads);
    struct vector_team t = {.p = p};
    t.rows = MIN_OF(MAX_OF(each / LEAST_ROWS * LEAST_ROWS, LEAST_ROWS), ROWS_AT_ONCE);
    crew->run(crew->ud, crew->threads, body, &t);
}
