// SPDX-License-Identifier: MIT
// Expressions made ready to run. Outputs are dense and new; every way has a context of its own, so
// that no way profits from another's caches. Compilation is over before the clock runs.
#include <stdio.h>

#include "way.h"

static bool make_outs(struct way *w) {
    for (int i = 0; i < w->roots; i++) {
        const weft_expr *x = w->root[i];
        w->out[i] = weft_dense(weft_expr_dtype(x), NULL, weft_expr_rank(x), weft_expr_dims(x));
        const int64_t n = weft_array_count(&w->out[i]);
        if (n < 0) return false;
        // at another offset in its page than the inputs, so that no array shadows another
        char *p = bench_buffer((size_t)n * weft_dtype_size(w->out[i].dtype) + 4096);
        w->out[i].data = p + 2688;
    }
    return true;
}

static weft_status run_once(struct way *w, char *err, size_t size) {
    if (!w->spec.unfused && w->program)
        return weft_run(w->program, w->ws, w->spec.in, w->out, err, size);
    const weft_eval_opts o = {.size = sizeof o, .workspace = w->ws, .unfused = w->spec.unfused};
    return weft_eval_n(w->roots, w->root, w->out, &o);
}

static int build(struct way *w, bool inputs) {
    weft_expr *in[WAY_INPUTS];
    char name[2] = "a";
    for (int i = 0; i < w->spec.inputs; i++, name[0]++) {
        const weft_array *a = &w->spec.in[i];
        in[i] = inputs ? weft_input(w->g, name, a->dtype, a->rank, a->dims) : weft_from(w->g, a);
    }
    return w->spec.build(w->g, in, w->root);
}

bool way_open(struct way *w, const struct bench *b, const struct way_spec *s) {
    char err[256] = "";
    *w = (struct way){.spec = *s};
    const weft_ctx_opts o = {.size = sizeof o,
                             .alloc = s->alloc,
                             .alloc_ud = s->alloc_ud,
                             .isa = b->cap,
                             .threads = s->threads,
                             .backend = s->backend,
                             .ignore_env = true};
    if (weft_ctx_new(&w->ctx, &o) || !(w->g = weft_graph_new(w->ctx))) return false;
    w->roots = build(w, !s->unfused);
    weft_status st = weft_graph_status(w->g);
    if (!st && !make_outs(w)) st = WEFT_ESHAPE;
    if (!st) st = weft_workspace_new(w->ctx, &w->ws);
    if (!st && !s->unfused) st = weft_compile(w->roots, w->root, &w->program);
    if (!st) st = run_once(w, err, sizeof err);
    weft_ctx_wait(w->ctx);
    if (!st) return true;
    fprintf(stderr, "weft-bench: %s %s\n", weft_graph_error(w->g), err);
    return false;
}

void way_close(struct way *w) {
    for (int i = 0; i < w->roots; i++)
        if (w->out[i].data) free((char *)w->out[i].data - 2688);
    weft_workspace_free(w->ws);
    weft_program_free(w->program);
    weft_graph_free(w->g);
    weft_ctx_free(w->ctx);
    *w = (struct way){.roots = 0};
}

double way_run(void *ud, int64_t times) {
    struct way *w = ud;
    const double begin = bench_now();
    for (int64_t i = 0; i < times; i++)
        if (run_once(w, NULL, 0)) return -1;
    return bench_now() - begin;
}

double way_cycle(void *ud, int64_t times) {
    struct way *w = ud;
    const weft_eval_opts o = {.size = sizeof o, .workspace = w->ws, .unfused = w->spec.unfused};
    const double begin = bench_now();
    for (int64_t i = 0; i < times; i++) {
        weft_graph_reset(w->g);
        build(w, false);
        if (weft_eval_n(w->roots, w->root, w->out, &o)) return -1;
    }
    return bench_now() - begin;
}
