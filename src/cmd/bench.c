// SPDX-License-Identifier: MIT
// weft bench: the same expression fused, unfused and interpreted, in turns within one run so that
// noise hits all alike. A figure is the least of the rounds; a round repeats until it takes long
// enough to be measured. Compilation is what the context says it spent on the fused program.
#include "cmd.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAYS = 3, ROUND_NS = 20 * 1000 * 1000, MAX_REPEAT = 1 << 20 };
static const char *const names[WAYS] = {"fused", "unfused", "interpreted"};

struct way {
    weft_ctx *ctx;
    weft_workspace *ws;
    struct parser parser;
    struct cmd_names names;
    struct results results;
    bool unfused;
    int64_t repeat, best_ns;
};

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool open_way(struct way *w, struct options *o, weft_backend backend) {
    w->ctx = open_bare_context(o, backend); // the first compilation is one of its rows
    if (!w->ctx) return false;
    w->names = (struct cmd_names){&o->inputs, .assume = true, .shapes = false};
    w->parser = (struct parser){
        .text = o->expr, .graph = weft_graph_new(w->ctx), .names = {cmd_find, cmd_list, &w->names}};
    if (!w->parser.graph || weft_workspace_new(w->ctx, &w->ws)) {
        cmd_fail_status(WEFT_ENOMEM, "no memory");
        return false;
    }
    return cmd_parse(&w->parser, &w->results);
}

static void close_way(struct way *w, bool own_context) {
    free(w->results.at);
    parser_free(&w->parser);
    weft_workspace_free(w->ws);
    weft_graph_free(w->parser.graph);
    if (own_context) weft_ctx_free(w->ctx);
}

static weft_status run(struct way *w, const weft_array *outs, int threads) {
    weft_eval_opts opts = {
        .size = sizeof opts, .workspace = w->ws, .threads = threads, .unfused = w->unfused};
    return weft_eval_n(w->results.n, w->results.at, outs, &opts);
}

static weft_status time_round(struct way *w, const weft_array *outs, int threads) {
    int64_t begin = now_ns();
    for (int64_t i = 0; i < w->repeat; i++) {
        weft_status st = run(w, outs, threads);
        if (st) return st;
    }
    int64_t ns = (now_ns() - begin) / w->repeat;
    if (w->best_ns == 0 || ns < w->best_ns) w->best_ns = ns;
    return WEFT_OK;
}

// First run (compiles, fills caches), then how often to repeat.
static weft_status warm(struct way *w, const weft_array *outs, int threads) {
    weft_status st = run(w, outs, threads);
    weft_ctx_wait(w->ctx);
    w->repeat = 1;
    for (int i = 0; i < 3 && !st; i++)
        st = time_round(w, outs, threads);
    int64_t ns = w->best_ns > 0 ? w->best_ns : 1, repeat = ROUND_NS / ns;
    w->repeat = repeat < 1 ? 1 : repeat > MAX_REPEAT ? MAX_REPEAT : repeat;
    return st;
}

// The traffic of the fused plan, out of its explanation; 0 when it cannot be had.
static double bytes_moved(struct way *w) {
    static const char *const keys[] = {"\"bytes_read\":", "\"bytes_written\":"};
    char *json = NULL;
    double sum = 0;
    if (weft_explain(w->results.n, w->results.at, &json)) return 0;
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        const char *at = strstr(json, keys[i]);
        if (at) sum += strtod(at + strlen(keys[i]), NULL);
    }
    weft_text_free(w->ctx, json);
    return sum;
}

static void report(const struct options *o, struct way *way) {
    weft_stats s;
    weft_ctx_stats(way[0].ctx, &s, sizeof s);
    if (o->json) {
        printf("{\"fused_ns\": %lld, \"unfused_ns\": %lld, \"interpreted_ns\": %lld, "
               "\"compile_ns\": %llu, "
               "\"threads\": %d, \"compiled\": %s}\n",
               (long long)way[0].best_ns, (long long)way[1].best_ns, (long long)way[2].best_ns,
               (unsigned long long)s.compile_ns, o->threads ? o->threads : s.threads,
               s.runs_jit ? "true" : "false");
        return;
    }
    double bytes = bytes_moved(&way[0]);
    for (int i = 0; i < WAYS; i++) {
        double ns = (double)way[i].best_ns;
        printf("%-12s %12.3f us  %6.2fx", names[i], ns / 1000,
               ns / (double)(way[0].best_ns ? way[0].best_ns : 1));
        if (i == 0 && bytes > 0) printf("  %.2f GB/s", bytes / ns);
        printf("\n");
    }
    printf("%-12s %12.3f us%s\n", "compile", (double)s.compile_ns / 1000,
           s.runs_jit ? "" : "  (LLVM is not available: all ways ran interpreted)");
}

static weft_status measure(struct options *o, struct way *way, const weft_array *outs, int *blame) {
    for (int i = 0; i < WAYS; i++) {
        *blame = i;
        weft_status st = warm(&way[i], outs, o->threads);
        if (st) return st;
    }
    for (int r = 0; r < o->rounds; r++) {
        for (int i = 0; i < WAYS; i++) {
            *blame = i;
            weft_status st = time_round(&way[i], outs, o->threads);
            if (st) return st;
        }
    }
    return WEFT_OK;
}

static weft_array *make_outs(const struct results *r) {
    weft_array *outs = cmd_alloc((size_t)r->n * sizeof *outs);
    for (int i = 0; i < r->n; i++) {
        const weft_expr *x = r->at[i];
        outs[i] = weft_dense(weft_expr_dtype(x), NULL, weft_expr_rank(x), weft_expr_dims(x));
        size_t bytes = (size_t)weft_array_count(&outs[i]) * weft_dtype_size(outs[i].dtype);
        outs[i].data = aligned_alloc(64, (bytes + 64) & ~(size_t)63);
        if (!outs[i].data) {
            cmd_fail_status(WEFT_ENOMEM, "no memory for the results");
            exit(EXIT_FAULT);
        }
        memset(outs[i].data, 0, bytes); // pages there before the clock runs
    }
    return outs;
}

int cmd_bench(struct options *o) {
    struct way way[WAYS] = {{.ctx = NULL}, {.unfused = true}, {.ctx = NULL}};
    int status = EXIT_BAD, blame = 0;
    bool ok = open_way(&way[0], o, WEFT_BACKEND_JIT) && open_way(&way[1], o, WEFT_BACKEND_JIT) &&
              open_way(&way[2], o, WEFT_BACKEND_INTERP);
    if (ok) {
        weft_array *outs = make_outs(&way[0].results);
        struct progress *p = progress_start("measuring");
        weft_status st = measure(o, way, outs, &blame);
        progress_stop(p);
        status = st ? cmd_fail_status(st, weft_graph_error(way[blame].parser.graph)) : 0;
        if (!status) report(o, way);
        for (int i = 0; i < way[0].results.n; i++)
            free(outs[i].data);
        free(outs);
    }
    for (int i = 0; i < WAYS; i++)
        if (way[i].ctx) close_way(&way[i], true);
    return status;
}
