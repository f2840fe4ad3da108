// SPDX-License-Identifier: MIT
// A matrix-product step. In: operands with batch strides, perhaps a map to follow; out: every product
// of the batch, through the kernels, and the map on each part as soon as the kernels have finished it,
// by the thread that did, in the first or second cache. Batch dims that all three operands step through with one stride become one, which
// the kernels take as a whole and share among threads; dims beyond that are looped over here. The
// bits of a product depend on k alone (kern.h), so neither the cut nor the number of threads shows.
#include <assert.h>

#include "walk.h"

struct batches {
    int n;
    int64_t dim[WEFT_MAX_RANK], a[WEFT_MAX_RANK], b[WEFT_MAX_RANK], c[WEFT_MAX_RANK];
};

static void join_batches(const struct rt_matmul *m, struct batches *x) {
    x->n = 0;
    for (int d = 0; d < m->nbatch; d++) {
        if (m->batch[d] == 1) continue;
        const int64_t e = m->batch[d];
        const int l = x->n - 1;
        if (l >= 0 && x->a[l] == m->a.stride[d] * e && x->b[l] == m->b.stride[d] * e &&
            x->c[l] == m->c.stride[d] * e) {
            x->dim[l] *= e;
        } else {
            x->dim[x->n++] = e;
        }
        const int at = x->n - 1;
        x->a[at] = m->a.stride[d];
        x->b[at] = m->b.stride[d];
        x->c[at] = m->c.stride[d];
    }
}

// The product of the last batch dim, without addresses.
static struct kern_gemm describe(const struct rt_matmul *m, const struct batches *x,
                                 enum kern_isa isa) {
    const int d = m->nbatch, l = x->n - 1;
    struct kern_gemm g = {.dtype = m->dtype,
                          .isa = isa,
                          .m = m->m,
                          .n = m->n,
                          .k = m->k,
                          .a_rs = m->a.stride[d],
                          .a_cs = m->a.stride[d + 1],
                          .b_rs = m->b.stride[d],
                          .b_cs = m->b.stride[d + 1],
                          .c_rs = m->c.stride[d],
                          .c_cs = m->c.stride[d + 1],
                          .batch = 1};
    if (l >= 0) {
        g.batch = x->dim[l];
        g.a_bs = x->a[l];
        g.b_bs = x->b[l];
        g.c_bs = x->c[l];
    }
    return g;
}

static int threads_for(const struct kern_gemm *g, int most) {
    return MIN_OF(kern_gemm_threads(g, most), most);
}

int rt_matmul_threads(const struct rt_matmul *m, const struct rt_env *env, int most) {
    struct batches x;
    join_batches(m, &x);
    const struct kern_gemm g = describe(m, &x, env->isa);
    return threads_for(&g, most);
}

// Scratch of a run with at most so many threads; -1 when it cannot be expressed.
int64_t rt_matmul_bytes(const struct rt_matmul *m, const struct rt_env *env, int threads) {
    struct batches x;
    join_batches(m, &x);
    const struct kern_gemm g = describe(m, &x, env->isa);
    const size_t bytes = kern_gemm_scratch(&g, threads_for(&g, threads));
    return bytes > (size_t)BASE_MAX_BYTES ? -1 : (int64_t)bytes;
}

struct lender {
    const struct rt_run *run;
    int threads;
    void (*body)(void *arg, int64_t i);
    void *arg;
};
static void call_body(void *arg, int64_t i, int worker) {
    (void)worker;
    struct lender *l = arg;
    l->body(l->arg, i);
}
static void lend(void *ud, int64_t n, void (*body)(void *arg, int64_t i), void *arg) {
    struct lender l = *(struct lender *)ud;
    l.body = body;
    l.arg = arg;
    rt_parallel(l.run->env, l.threads, n, call_body, &l);
}

static char *operand_at(const struct rt_run *run, const struct nest_operand *o) {
    assert(o->buffer == NEST_LEAF || o->buffer == NEST_OUT || o->buffer == NEST_TEMP ||
           o->buffer == NEST_CONST);
    const int64_t offset = o->buffer == NEST_CONST ? 0 : o->offset;
    return (char *)((uintptr_t)rt_operand_base(run, o->buffer, o->buf) + (uintptr_t)offset);
}

// ---- the map that follows -----------------------------------------------------------------------
struct follower {
    struct step_run step;
    int64_t first; // product of the batch that the kernels' first one is
    bool turned;
};

static struct walker *walker_of(const struct step_run *s, int64_t body) {
    uint8_t *scratch = s->run->scratch + s->run->scratch_bytes * body;
    return (struct walker *)(void *)(scratch + s->walk->walker_place);
}

static void follow(void *ud, const struct kern_gemm_part *p) {
    const struct follower *f = ud;
    struct walker *k = walker_of(&f->step, p->body);
    struct block b = {p->row, p->rows, p->col, p->cols};
    if (f->turned) b = (struct block){p->col, p->cols, p->row, p->rows};
    rt_walker_seek(k, f->first + p->batch);
    (void)rt_walker_block(k, &b); // the kernels ask by themselves
}

static void open_follower(const struct rt_run *run, const struct rt_step *t, int threads,
                          struct follower *f) {
    *f = (struct follower){.step = rt_step_open(run, t), .turned = t->matmul.turned};
    for (int i = 0; i < threads; i++)
        rt_walker_open(walker_of(&f->step, i), &f->step, i);
}

void rt_matmul_run(const struct rt_run *run, const struct rt_step *t) {
    const struct rt_matmul *m = &t->matmul;
    struct batches x;
    join_batches(m, &x);
    struct kern_gemm g = describe(m, &x, run->env->isa);
    struct lender l = {.run = run, .threads = threads_for(&g, run->threads)};
    g.scratch = run->shared;
    g.watch = rt_watch(run);
    int64_t loops = 1;
    for (int d = 0; d < x.n; d++)
        loops *= x.dim[d];
    if (loops == 0) return;
    loops /= g.batch;
    struct follower f;
    if (t->walk) {
        open_follower(run, t, l.threads, &f);
        g.done = follow;
        g.done_ud = &f;
    }
    for (int64_t i = 0; i < loops && !rt_tick(run, 0); i++) {
        int64_t rest = i, a = 0, b = 0, c = 0;
        for (int d = x.n - 2; d >= 0; d--) {
            const int64_t at = rest % x.dim[d];
            rest /= x.dim[d];
            a += at * x.a[d];
            b += at * x.b[d];
            c += at * x.c[d];
        }
        g.a = operand_at(run, &m->a) + a;
        g.b = operand_at(run, &m->b) + b;
        g.c = operand_at(run, &m->c) + c;
        f.first = i * g.batch;
        if (l.threads > 1)
            kern_gemm_parallel(&g, l.threads, lend, &l);
        else
            kern_gemm_run(&g);
    }
}
