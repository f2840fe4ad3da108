// SPDX-License-Identifier: MIT
// The expression run a few times on generated values, for the time of each step; and what this machine moves when it
// does nothing else: 64 MiB read (their maximum) and 64 MiB stored (filled), by the same library, threads and
// minute. Inputs that the command line only describes are made here, if all of it fits into 1 GiB.
#include "draw.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, LIMIT_BYTES = 64 << 20 };
static const int64_t most_bytes = (int64_t)1 << 30;

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// ---- the limits ---------------------------------------------------------------------------------------------
// GB/s at which x is evaluated into out, moving LIMIT_BYTES; 0: it failed.
static double rate_of(weft_expr *x, const weft_array *out) {
    int64_t best = INT64_MAX;
    for (int i = 0; i < ROUNDS; i++) {
        const int64_t begin = now_ns();
        if (weft_eval(x, out, NULL)) return 0;
        const int64_t spent = now_ns() - begin;
        if (spent < best) best = spent;
    }
    return (double)LIMIT_BYTES / (double)(best ? best : 1);
}

static void measure_limits(weft_ctx *ctx, struct measured *m) {
    const int64_t n = LIMIT_BYTES / 8;
    double *p = aligned_alloc(64, LIMIT_BYTES), most = 0;
    weft_graph *g = weft_graph_new(ctx);
    if (p && g) {
        const double one = 1;
        const weft_array a = weft_dense(WEFT_F64, p, 1, &n), scalar = weft_dense(WEFT_F64, &most, 0, NULL);
        m->write_gbs = rate_of(weft_full(g, WEFT_F64, &one, 1, &n), &a); // first: the memory gets its pages
        m->read_gbs = rate_of(weft_max(weft_from(g, &a), NULL), &scalar);
    }
    weft_graph_free(g);
    free(p);
}

// ---- the expression -----------------------------------------------------------------------------------------
struct run {
    weft_array *in, *out;
    int nin, nout;
    int64_t bytes;
};

static void describe(struct options *o, const struct results *r, struct run *u) {
    u->nout = r->n;
    for (int i = 0; i < o->inputs.n; i++)
        u->nin += o->inputs.at[i].shape_only && o->inputs.at[i].used;
    u->in = cmd_alloc((size_t)(u->nin + 1) * sizeof *u->in);
    u->out = cmd_alloc((size_t)u->nout * sizeof *u->out);
    for (int i = 0; i < o->inputs.n; i++) {
        const struct input *x = &o->inputs.at[i];
        if (!x->shape_only || !x->used) continue;
        u->in[x->number] = x->data.array;
        u->bytes += weft_array_count(&x->data.array) * (int64_t)weft_dtype_size(x->data.array.dtype);
    }
    for (int i = 0; i < r->n; i++) {
        const weft_expr *x = r->at[i];
        u->out[i] = weft_dense(weft_expr_dtype(x), NULL, weft_expr_rank(x), weft_expr_dims(x));
        u->bytes += weft_array_count(&u->out[i]) * (int64_t)weft_dtype_size(u->out[i].dtype);
    }
}

static bool allocate(weft_array *a) {
    const size_t bytes = (size_t)weft_array_count(a) * weft_dtype_size(a->dtype);
    a->data = aligned_alloc(64, (bytes + 64) & ~(size_t)63);
    if (a->data) memset(a->data, 0, bytes);
    return a->data != NULL;
}

static bool fill(struct options *o, struct run *u) {
    for (int i = 0; i < o->inputs.n; i++) {
        const struct input *x = &o->inputs.at[i];
        if (!x->shape_only || !x->used) continue;
        if (!allocate(&u->in[x->number]) || !gen_fill(&u->in[x->number], x->name, x->how)) return false;
    }
    for (int i = 0; i < u->nout; i++)
        if (!allocate(&u->out[i])) return false;
    return true;
}

static void run_it(weft_ctx *ctx, const struct results *r, struct run *u, struct measured *m) {
    weft_program *program = NULL;
    weft_status st = weft_compile(r->n, r->at, &program);
    weft_set_profile(ctx, profile_hear, &m->profile);
    for (int i = 0; i < ROUNDS && !st; i++)
        st = weft_run(program, NULL, u->in, u->out, m->why, sizeof m->why);
    weft_set_profile(ctx, NULL, NULL);
    weft_program_free(program);
    m->ran = !st;
    if (st && !m->why[0]) snprintf(m->why, sizeof m->why, "%s", weft_status_text(st));
}

void measure(struct options *o, weft_ctx *ctx, const struct results *r, struct measured *m) {
    struct run u = {.in = NULL};
    *m = (struct measured){.why = ""};
    describe(o, r, &u);
    for (int i = 0; i < u.nin; i++)
        u.in[i].data = NULL;
    if (u.bytes > most_bytes)
        snprintf(m->why, sizeof m->why, "inputs and results are larger than 1 GiB");
    else if (!fill(o, &u))
        snprintf(m->why, sizeof m->why, "no memory for the inputs");
    else
        run_it(ctx, r, &u, m);
    if (m->ran) measure_limits(ctx, m);
    for (int i = 0; i < u.nin; i++)
        free(u.in[i].data);
    for (int i = 0; i < u.nout; i++)
        free(u.out[i].data);
    free(u.in);
    free(u.out);
}
