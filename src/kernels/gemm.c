// SPDX-License-Identifier: MIT
// The door of the matrix product: empty sizes, one or many products, one or many threads. A batch
// is shared out whole products at a time when it has enough of them; otherwise a team works on one
// after the other.
#include "gemm/plan.h"

#include <stdatomic.h>

enum { STOP_CYCLES = 256 << 10 }; // between looks at the watch

static bool empty(const struct kern_gemm *g) {
    return g->m == 0 || g->n == 0 || g->k == 0;
}
static int64_t batches(const struct kern_gemm *g) {
    return MAX_OF(g->batch, 1);
}

int kern_gemm_threads(const struct kern_gemm *g, int max) {
    const double each = 48.0 * 48.0 * 48.0; // below this a hand-off costs more than it gains
    const double want = (double)g->m * (double)g->n * (double)g->k * (double)batches(g) / each;
    return want >= max ? MAX_OF(max, 1) : MAX_OF((int)want, 1);
}

static bool by_product(const struct kern_gemm *g, int threads) {
    return threads > 1 && batches(g) >= 4 * (int64_t)threads;
}

size_t kern_gemm_scratch(const struct kern_gemm *g, int threads) {
    struct gemm_plan p;
    if (empty(g)) return 0;
    if (!by_product(g, threads)) {
        kern_gemm_plan(&p, g, threads);
        return kern_gemm_plan_bytes(&p, threads);
    }
    kern_gemm_plan(&p, g, 1);
    return (size_t)threads * kern_gemm_plan_bytes(&p, 1);
}

// From the product that a plan is at to one further on in the batch.
static void advance(struct gemm_plan *p, const struct kern_gemm *g, int64_t steps) {
    p->a += steps * (p->swapped ? g->b_bs : g->a_bs);
    p->b += steps * (p->swapped ? g->a_bs : g->b_bs);
    p->c += steps * g->c_bs;
    p->batch += steps;
}

// Products first .. last - 1, one after the other, on this thread.
struct run {
    int64_t first, last;
    bool small;
    unsigned char *scratch;
    int64_t body;
};

static void run_products(const struct kern_gemm *g, const struct gemm_plan *p,
                         const struct run *r) {
    struct gemm_plan q = *p;
    q.body = r->body;
    advance(&q, g, r->first);
    const double each = (double)g->m * (double)g->n * (double)g->k / 8;
    double since = 0;
    for (int64_t i = r->first; i < r->last; i++, advance(&q, g, 1)) {
        if (q.vector)
            kern_gemm_walk_vector(&q, 0, q.m);
        else if (r->small)
            kern_gemm_walk_small(&q);
        else
            kern_gemm_walk(&q, r->scratch);
        if ((since += each + 16) < STOP_CYCLES) continue; // small ones count as they are, many at once
        since = 0;
        if (kern_tick(&g->watch, each < STOP_CYCLES ? STOP_CYCLES : 0)) return;
    }
}

// k = 0, or nothing to write.
static void zero_c(const struct kern_gemm *g, int64_t batch) {
    const size_t size = dtype_size(g->dtype);
    unsigned char *c = (unsigned char *)g->c + batch * g->c_bs;
    for (int64_t i = 0, since = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            memset(c + i * g->c_rs + j * g->c_cs, 0, size);
            if (++since < STOP_CYCLES) continue;
            since = 0;
            if (kern_tick(&g->watch, STOP_CYCLES)) return;
        }
    const struct kern_gemm_part all = {batch, 0, g->m, 0, g->n, 0};
    if (g->done && g->m && g->n) g->done(g->done_ud, &all);
}

void kern_gemm_run(const struct kern_gemm *g) {
    struct gemm_plan p;
    struct run all = {0, batches(g), true, g->scratch, 0};
    if (empty(g)) {
        for (int64_t i = 0; i < all.last && !kern_tick(&g->watch, 1); i++)
            zero_c(g, i);
        return;
    }
    all.small = kern_gemm_plan_small(&p, g);
    if (all.small && all.last == 1) {
        kern_gemm_walk_small(&p);
        return;
    }
    if (!all.small) kern_gemm_plan(&p, g, 1);
    run_products(g, &p, &all);
}

// Products shared out in runs, to whoever comes next.
struct batch_team {
    const struct kern_gemm *g;
    struct gemm_plan p;
    bool small;
    size_t own; // scratch of one body
    int64_t run;
    atomic_int_fast64_t next;
};

static void batch_body(void *arg, int64_t id) {
    struct batch_team *t = arg;
    const int64_t count = batches(t->g);
    struct run r = {.small = t->small, .scratch = t->g->scratch, .body = id};
    if (t->own) r.scratch += (size_t)id * t->own;
    while ((r.first = atomic_fetch_add(&t->next, t->run)) < count) {
        r.last = MIN_OF(r.first + t->run, count);
        run_products(t->g, &t->p, &r);
    }
}

static void share_batch(const struct kern_gemm *g, const struct gemm_crew *crew) {
    struct batch_team t = {.g = g, .run = MAX_OF(batches(g) / (8 * crew->threads), 1)};
    t.small = kern_gemm_plan_small(&t.p, g);
    if (!t.small) {
        kern_gemm_plan(&t.p, g, 1);
        t.own = kern_gemm_plan_bytes(&t.p, 1);
    }
    crew->run(crew->ud, crew->threads, batch_body, &t);
}

void kern_gemm_parallel(const struct kern_gemm *g, int threads, kern_gemm_for *run, void *ud) {
    const struct gemm_crew crew = {threads, run, ud};
    if (threads <= 1 || empty(g)) {
        kern_gemm_run(g);
    } else if (by_product(g, threads)) {
        share_batch(g, &crew);
    } else {
        struct gemm_plan p;
        kern_gemm_plan(&p, g, threads);
        for (int64_t i = 0; i < batches(g) && !kern_tick(&g->watch, 0); i++, advance(&p, g, 1))
            if (p.vector)
                kern_gemm_vector_parallel(&p, &crew);
            else
                kern_gemm_walk_parallel(&p, g->scratch, &crew);
    }
}
