// SPDX-License-Identifier: MIT
// A fresh process up to its first result, sqrt(x*y+x) over 1024 elements: this program starts
// itself again as a child that does only that. With nothing cached (the interpreter answers),
// compiled before the answer, and with the code cache warm. Beside it a child that does nothing
// (the limit) and Python with NumPy.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

extern char **environ;

// ---- the child
// ------------------------------------------------------------------------------------------
// backend: nothing, auto, jit; warm is auto with the code cache in folder, which must have the code
int start_child(const char *backend, const char *folder) {
    enum { N = 1024 };
    static double x[N], y[N], o[N];
    const int64_t n = N;
    if (!strcmp(backend, "nothing")) return 0;
    for (int i = 0; i < N; i++)
        x[i] = i, y[i] = 0.5;
    weft_ctx *ctx = NULL;
    const weft_ctx_opts opts = {.size = sizeof opts,
                                .threads = 1,
                                .backend =
                                    !strcmp(backend, "jit") ? WEFT_BACKEND_JIT : WEFT_BACKEND_AUTO,
                                .code_dir = folder};
    if (weft_ctx_new(&ctx, &opts)) return 1;
    weft_graph *g = weft_graph_new(ctx);
    const weft_array xa = weft_dense(WEFT_F64, x, 1, &n), ya = weft_dense(WEFT_F64, y, 1, &n),
                     oa = weft_dense(WEFT_F64, o, 1, &n);
    weft_expr *a = weft_from(g, &xa);
    if (weft_eval(weft_sqrt(weft_add(weft_mul(a, weft_from(g, &ya)), a)), &oa, NULL)) return 1;
    if (!strcmp(backend, "warm")) {
        weft_stats s;
        weft_ctx_stats(ctx, &s, sizeof s);
        if (s.disk_hits != 1 || s.llvm_major) return 1;
    }
    if (folder[0] && !strcmp(backend, "jit")) return 0; // it fills the cache: written by now
    _exit(o[4] * o[4] == 6.0 || (o[4] > 2.449 && o[4] < 2.450)
              ? 0
              : 1); // as soon as the result is there
}

// ---- the clock
// ------------------------------------------------------------------------------------------
struct child {
    const char *argv[5];
};
static double run_child(void *ud, int64_t times) {
    const struct child *c = ud;
    const double begin = bench_now();
    for (int64_t i = 0; i < times; i++) {
        int status = 0;
        const pid_t pid = vfork();
        if (pid == 0) {
            execve(c->argv[0], (char *const *)(uintptr_t)c->argv, environ);
            _exit(127);
        }
        if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) return -1;
    }
    return bench_now() - begin;
}

void suite_start(struct bench *b) {
    static const char self[] = "/proc/self/exe";
    char path[4096];
    const ssize_t len = readlink(self, path, sizeof path - 1);
    bench_need(len > 0, "this program cannot find itself");
    path[len] = 0;
    char folder[64] = "/tmp/weft-bench-XXXXXX", cache[80];
    bench_need(mkdtemp(folder), "no folder for a code cache");
    snprintf(cache, sizeof cache, "%s/code", folder);
    struct child nothing = {{path, "start-child", "nothing", ""}},
                 interp = {{path, "start-child", "auto", ""}}, jit = {{path, "start-child", "jit", ""}},
                 fill = {{path, "start-child", "jit", cache}}, warm = {{path, "start-child", "warm", cache}};
    const bool filled = run_child(&fill, 1) >= 0;
    struct child numpy = {
        {b->python, "-c",
         "import numpy as np\nx=np.arange(1024.)\ny=np.full(1024,.5)\nnp.sqrt(x*y+x)"}};
    const struct {
        const char *name;
        struct child *child;
    } rows[] = {{"first result, nothing cached", &interp},
                {"first result, code cache warm", &warm},
                {"first result, compiled first", &jit}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].child == &warm && !filled) continue; // no LLVM to fill it with
        struct row r;
        bench_row_begin(&r, b, "start", rows[i].name, WEFT_F64, 1024);
        r.threads = 1, r.elements = 0;
        bench_add(&r, BENCH_WEFT, "weft", run_child, rows[i].child);
        bench_add(&r, BENCH_PEER, "Python and NumPy", run_child, &numpy);
        bench_add(&r, BENCH_LIMIT, "a process that does nothing", run_child, &nothing);
        bench_measure(b, &r);
    }
    struct child remove = {{"/bin/rm", "-rf", folder}};
    run_child(&remove, 1);
}
