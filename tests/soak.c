// SPDX-License-Identifier: MIT
// soak [SCALE]: a long life in a few minutes. A million evaluations of distinct small graphs in one
// context, thousands of compilations through a small code cache, a hundred thousand shapes through
// one program, contexts and programs made and freed; at scale 1. After each phase has warmed up,
// resident memory, mappings, descriptors and threads must stay where they are, within a slack that
// does not depend on how long it runs. Every result is checked. Prints the figures; ends with "N
// passed, N failed".
#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "weft/weft.h"

static int passed, failed;

// ---- what the process holds
// -------------------------------------------------------------------------------
struct held {
    long kib, maps, fds, threads;
};
static long entries(const char *path) {
    long n = 0;
    DIR *d = opendir(path);
    while (d && readdir(d))
        n++;
    if (d) closedir(d);
    return n;
}
static struct held held(void) {
    struct held h = {0, 0, entries("/proc/self/fd"), entries("/proc/self/task")};
    long pages = 0, ignored;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%ld %ld", &ignored, &pages) == 2)
        h.kib = pages * (sysconf(_SC_PAGESIZE) / 1024);
    if (f) fclose(f);
    f = fopen("/proc/self/maps", "r");
    for (int c; f && (c = fgetc(f)) != EOF;)
        h.maps += c == '\n';
    if (f) fclose(f);
    return h;
}
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- phases: step(i) does one thing; false when its result is wrong
// ---------------------------------------------
struct phase {
    const char *name;
    long count;     // steps at scale 1
    long warm;      // steps before the first measurement, at least
    long kib, maps; // growth allowed after it
    bool (*step)(void *state, uint64_t i);
};
static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void run(const struct phase *p, void *state, double scale) {
    long count = (long)((double)p->count * scale), warm, bad = 0;
    if (count < 2 * p->warm) count = 2 * p->warm;
    warm = count / 5 > p->warm ? count / 5 : p->warm;
    struct held a = {0, 0, 0, 0}, b;
    double begin = now();
    for (long i = 0; i < count; i++) {
        bad += !p->step(state, (uint64_t)i);
        if (i == warm) a = held();
    }
    b = held();
    bool ok = !bad && b.kib - a.kib <= p->kib && b.maps - a.maps <= p->maps && b.fds == a.fds &&
              b.threads == a.threads;
    printf("%s %-28s %8ld in %6.1f s: resident %ld -> %ld KiB, mappings %ld -> %ld, descriptors "
           "%ld -> %ld, threads %ld -> %ld%s\n",
           ok ? "ok  " : "FAIL", p->name, count, now() - begin, a.kib, b.kib, a.maps, b.maps, a.fds,
           b.fds, a.threads, b.threads, bad ? ", WRONG RESULTS" : "");
    fflush(stdout);
    if (ok)
        passed++;
    else
        failed++;
}

// ---- distinct small graphs
// ------------------------------------------------------------------------------------
enum { N = 24, OPS = 12 };
struct graphs {
    weft_ctx *ctx;
    weft_graph *g; // reset each time
    double x[N], y[N], out[N];
};
static weft_expr *pick(weft_expr *const *pool, int n, uint64_t *r) {
    weft_expr *e = pool[*r % (uint64_t)n];
    *r /= (uint64_t)n;
    return e;
}
static double pick_value(const double *pool, int n, uint64_t *r) {
    double v = pool[*r % (uint64_t)n];
    *r /= (uint64_t)n;
    return v;
}
static weft_expr *apply(weft_graph *g, int op, weft_expr *a, weft_expr *b) {
    switch (op) {
    case 0: return weft_add(a, b);
    case 1: return weft_sub(a, b);
    case 2: return weft_mul(a, b);
    case 3: return weft_minimum(a, b);
    case 4: return weft_maximum(a, b);
    case 5: return weft_neg(a);
    case 6: return weft_abs(a);
    case 7: return weft_square(a);
    case 8: return weft_floor(a);
    case 9: return weft_where(weft_less(a, b), a, b);
    case 10: return weft_true_divide(a, weft_add(weft_square(b), weft_float(g, 1)));
    default: return weft_cast(weft_cast(a, WEFT_F32), WEFT_F64);
    }
}
static double apply_value(int op, double a, double b) {
    switch (op) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return a < b ? a : b;
    case 4: return a > b ? a : b;
    case 5: return -a;
    case 6: return fabs(a);
    case 7: return a * a;
    case 8: return floor(a);
    case 9: return a < b ? a : b;
    case 10: return a / (b * b + 1);
    default: return (double)(float)a;
    }
}
// Six operations on random earlier values: 12^6 orders of operations, and how they are wired.
static bool one_graph(void *state, uint64_t i) {
    struct graphs *s = state;
    const int64_t n = N;
    weft_array x = weft_dense(WEFT_F64, s->x, 1, &n), y = weft_dense(WEFT_F64, s->y, 1, &n),
               out = weft_dense(WEFT_F64, s->out, 1, &n);
    uint64_t ops = mix(i + 1), wires = mix(~i), again = wires;
    weft_expr *pool[10];
    double value[10];
    int at = (int)(i % N);
    weft_graph_reset(s->g);
    pool[0] = weft_from(s->g, &x), pool[1] = weft_from(s->g, &y);
    value[0] = s->x[at], value[1] = s->y[at];
    for (int k = 2; k < 8; k++, ops /= OPS) {
        weft_expr *a = pick(pool, k, &wires), *b = pick(pool, k, &wires);
        double c = pick_value(value, k, &again), d = pick_value(value, k, &again);
        pool[k] = apply(s->g, (int)(ops % OPS), a, b);
        value[k] = apply_value((int)(ops % OPS), c, d);
    }
    if (weft_eval(pool[7], &out, NULL)) return false;
    return s->out[at] == value[7] || (isnan(s->out[at]) && isnan(value[7]));
}
static struct graphs *graphs_new(weft_backend backend, size_t cache) {
    struct graphs *s = calloc(1, sizeof *s);
    weft_ctx_opts o = {.size = sizeof o,
                       .backend = backend,
                       .threads = 2,
                       .code_cache_bytes = cache,
                       .ignore_env = true};
    if (!s || weft_ctx_new(&s->ctx, &o)) exit(2);
    s->g = weft_graph_new(s->ctx);
    for (int k = 0; k < N; k++)
        s->x[k] = k * 0.25 - 2, s->y[k] = 1.5 - k * 0.125;
    return s;
}
static void graphs_free(struct graphs *s) {
    weft_graph_free(s->g);
    weft_ctx_free(s->ctx);
    free(s);
}

// ---- shapes
// ---------------------------------------------------------------------------------------------------
struct shapes {
    weft_ctx *ctx;
    weft_program *p;
    double *x, *out;
};
static bool one_shape(void *state, uint64_t i) {
    struct shapes *s = state;
    int64_t dims[2] = {(int64_t)(1 + i % 331), (int64_t)(1 + i / 331)};
    weft_array x = weft_dense(WEFT_F64, s->x, 2, dims), out = weft_dense(WEFT_F64, s->out, 1, dims);
    if (weft_run(s->p, NULL, &x, &out, NULL, 0)) return false;
    int64_t row = (int64_t)(i % (uint64_t)dims[0]);
    double sum = 0; // whole numbers: any order
    for (int64_t k = 0; k < dims[1]; k++)
        sum += s->x[row * dims[1] + k] * 2 + 1;
    return s->out[row] == sum;
}
static void shapes_open(struct shapes *s) {
    weft_ctx_opts o = {.size = sizeof o,
                       .backend = WEFT_BACKEND_JIT,
                       .threads = 2,
                       .code_cache_bytes = 1 << 20,
                       .ignore_env = true};
    int axis = 1;
    weft_reduce r = {.size = sizeof r, .axes = &axis, .naxes = 1};
    s->x = malloc(331 * 331 * sizeof *s->x), s->out = malloc(331 * sizeof *s->out);
    if (!s->x || !s->out || weft_ctx_new(&s->ctx, &o)) exit(2);
    for (int k = 0; k < 331 * 331; k++)
        s->x[k] = k % 1000;
    weft_graph *g = weft_graph_new(s->ctx);
    weft_expr *x = weft_input(g, "x", WEFT_F64, 2, (int64_t[]){4, 5});
    weft_expr *y = weft_sum(weft_add(weft_mul(x, weft_int(g, 2)), weft_int(g, 1)), &r);
    if (weft_compile(1, &y, &s->p)) exit(2);
    weft_graph_free(g);
}
static void shapes_close(struct shapes *s) {
    weft_program_free(s->p);
    weft_ctx_free(s->ctx);
    free(s->x), free(s->out);
}

// ---- lives
// ------------------------------------------------------------------------------------------------------
// A context with threads, a graph, a program, a workspace: made, used and freed.
static bool one_life(void *state, uint64_t i) {
    struct graphs *s = graphs_new(i % 4 ? WEFT_BACKEND_INTERP : WEFT_BACKEND_JIT, 0);
    weft_workspace *ws = NULL;
    weft_program *p = NULL;
    const int64_t n = 40000;
    double *memory = state;
    weft_array x = weft_dense(WEFT_F64, memory, 1, &n),
               out = weft_dense(WEFT_F64, memory + n, 1, &n);
    bool ok = one_graph(s, i);
    weft_graph_reset(s->g);
    weft_expr *e = weft_input(s->g, "x", WEFT_F64, 1, &n),
              *y = weft_sqrt(weft_add(e, weft_float(s->g, 0.25)));
    ok &= !weft_compile(1, &y, &p) && !weft_workspace_new(s->ctx, &ws) &&
          !weft_run(p, ws, &x, &out, NULL, 0);
    ok &= memory[n + 7] == sqrt(memory[7] + 0.25);
    weft_workspace_free(ws);
    weft_program_free(p);
    graphs_free(s);
    return ok;
}

int main(int argc, char **argv) {
    static double memory[80000];
    double scale = argc > 1 ? atof(argv[1]) : 1;
    static const struct phase
        small = {"distinct graphs, interpreted", 1000000, 2000, 2048, 4, one_graph},
        mixed = {"distinct graphs, auto", 50000, 1000, 8192, 12, one_graph},
        code = {"distinct graphs, compiled", 4000, 100, 12288, 12, one_graph},
        shape = {"distinct shapes, one program", 100000, 1000, 4096, 4, one_shape},
        life = {"contexts with threads", 1000, 15, 8192, 12, one_life};
    for (int k = 0; k < 80000; k++)
        memory[k] = k;
    struct graphs *s = graphs_new(WEFT_BACKEND_INTERP, 1 << 20);
    run(&small, s, scale);
    graphs_free(s);
    s = graphs_new(WEFT_BACKEND_AUTO, 1 << 20);
    run(&mixed, s, scale);
    graphs_free(s);
    s = graphs_new(WEFT_BACKEND_JIT, 64 << 10);
    run(&code, s, scale);
    graphs_free(s);
    struct shapes shapes = {0};
    shapes_open(&shapes);
    run(&shape, &shapes, scale);
    shapes_close(&shapes);
    run(&life, memory, scale);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
