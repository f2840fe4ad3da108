// SPDX-License-Identifier: MIT
// More of what hosts do while weft works: signals arrive, the process forks while other threads evaluate and compile,
// threads that share a context build and evaluate graphs of their own, another libLLVM is in the process, the library
// comes and goes many times.
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

TestSuite(host, .timeout = 240);

enum { N = 60000 };
static double xs[N];
static void fill(void) {
    for (int i = 0; i < N; i++)
        xs[i] = (i % 997) * 0.01 - 4;
}
// A map, a reduction and a constant of its own, so that turns differ; the sum in *v.
static bool work(weft_ctx *ctx, int turn, double *v) {
    weft_graph *g = weft_graph_new(ctx);
    weft_array a = vec(xs, N), o = weft_dense(WEFT_F64, v, 0, NULL);
    weft_expr *x = g ? weft_from(g, &a) : NULL, *e = weft_add(weft_exp(weft_neg(weft_mul(x, x))), x);
    for (int i = 0; i < turn % 5; i++)
        e = weft_sub(weft_mul(e, x), e);
    const bool ok = g && !weft_eval(weft_sum(e, NULL), &o, NULL);
    weft_graph_free(g);
    return ok;
}
static void wanted(double want[5]) {
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_INTERP, 1);
    fill();
    for (int i = 0; i < 5; i++)
        cr_assert(work(ctx, i, &want[i]));
    weft_ctx_free(ctx);
}

// ---- signals -------------------------------------------------------------------------------------------
static _Atomic int alarms;
static void count_alarm(int sig) {
    (void)sig;
    alarms++;
}
Test(host, signals_during_evaluation) {
    double want[5], got = 0;
    wanted(want);
    struct sigaction a = {.sa_handler = count_alarm}; // no SA_RESTART: calls are interrupted
    sigaction(SIGALRM, &a, NULL);
    const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    for (int b = WEFT_BACKEND_AUTO; b <= WEFT_BACKEND_JIT; b++) {
        weft_ctx *ctx = new_ctx((weft_backend)b, 3);
        setitimer(ITIMER_REAL, &often, NULL);
        for (int i = 0; i < 150; i++) {
            cr_assert(work(ctx, i, &got), "backend %d, turn %d", b, i);
            cr_assert_eq(memcmp(&got, &want[i % 5], 8), 0, "backend %d, turn %d", b, i);
        }
        setitimer(ITIMER_REAL, &never, NULL);
        weft_ctx_free(ctx);
    }
    cr_expect_gt((int)alarms, 20, "%d signals", (int)alarms);
}

// ---- threads and fork ------------------------------------------------------------------------------------
struct crowd {
    weft_ctx *ctx;
    const double *want;
    _Atomic bool stop;
    _Atomic int bad, turns;
};
static void *evaluate_on(void *arg) {
    struct crowd *c = arg;
    for (int i = 0; !c->stop && i < 400; i++) {
        double got = 0;
        if (!work(c->ctx, i, &got) || memcmp(&got, &c->want[i % 5], 8)) c->bad++;
        c->turns++;
    }
    return NULL;
}
Test(host, threads_share_a_context_and_its_caches) {
    double want[5];
    wanted(want);
    for (int b = WEFT_BACKEND_AUTO; b <= WEFT_BACKEND_JIT; b++) {
        struct crowd c = {.ctx = new_ctx((weft_backend)b, 2), .want = want};
        pthread_t t[8];
        for (int i = 0; i < 8; i++)
            cr_assert_eq(pthread_create(&t[i], NULL, evaluate_on, &c), 0);
        while (c.turns < 200)
            usleep(1000);
        c.stop = true;
        for (int i = 0; i < 8; i++)
            pthread_join(t[i], NULL);
        cr_expect_eq((int)c.bad, 0, "backend %d", b);
        weft_ctx_free(c.ctx);
    }
}

// The child has one thread, and locks as the others left them: a context of its own works.
static int child_makes_its_own(const double *want) {
    alarm(60);
    double got = 0;
    weft_ctx *ctx = NULL;
    weft_ctx_opts o = {.size = sizeof o, .backend = WEFT_BACKEND_INTERP, .threads = 2};
    if (weft_ctx_new(&ctx, &o)) return 1;
    for (int i = 0; i < 5; i++)
        if (!work(ctx, i, &got) || memcmp(&got, &want[i], 8)) return 2;
    weft_ctx_free(ctx);
    return 0;
}
Test(host, fork_while_others_evaluate) {
    double want[5];
    wanted(want);
    struct crowd c = {.ctx = new_ctx(WEFT_BACKEND_AUTO, 2), .want = want};
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        cr_assert_eq(pthread_create(&t[i], NULL, evaluate_on, &c), 0);
    for (int i = 0; i < 15; i++) {
        usleep(2000);
        const pid_t child = fork();
        if (child == 0) _exit(child_makes_its_own(want));
        int status = 0;
        waitpid(child, &status, 0);
        cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "fork %d: status %#x", i, status);
    }
    c.stop = true;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    cr_expect_eq((int)c.bad, 0);
    weft_ctx_free(c.ctx);
}

// ---- another LLVM ------------------------------------------------------------------------------------------
Test(host, a_second_llvm_in_the_process) {
    static const char *const names[] = {"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so", "libLLVM-14.so.1", "libLLVM-14.so"};
    void *other = NULL;
    for (size_t i = 0; !other && i < sizeof names / sizeof *names; i++)
        other = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
    if (!other) {
        printf("skipped: no other libLLVM here\n");
        cr_skip_test("no other libLLVM");
    }
    double want[5], got = 0;
    wanted(want);
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_JIT, 1);
    for (int i = 0; i < 5; i++) {
        cr_assert(work(ctx, i, &got));
        cr_expect_eq(memcmp(&got, &want[i], 8), 0, "turn %d", i);
    }
    weft_ctx_free(ctx);
}

// ---- coming and going ------------------------------------------------------------------------------------------
static int entries(const char *dir) {
    int n = 0;
    DIR *d = opendir(dir);
    while (d && readdir(d))
        n++;
    if (d) closedir(d);
    return n;
}
static int lines(const char *path) {
    int n = 0;
    FILE *f = fopen(path, "r");
    for (int c; f && (c = fgetc(f)) != EOF;)
        n += c == '\n';
    if (f) fclose(f);
    return n;
}
#define OF(h, f) __typeof__(f) *f##_ = (__typeof__(f) *)(uintptr_t)dlsym(h, #f)
static int use_once(const char *path) {
    void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!h) return 1;
    OF(h, weft_ctx_new);
    OF(h, weft_ctx_free);
    OF(h, weft_graph_new);
    OF(h, weft_graph_free);
    OF(h, weft_from);
    OF(h, weft_exp);
    OF(h, weft_eval);
    if (weft_ctx_new_ == weft_ctx_new) return 2;
    static double out[N];
    weft_array a = vec(xs, N), o = vec(out, N);
    weft_ctx_opts opts = {.size = sizeof opts, .backend = WEFT_BACKEND_INTERP, .threads = 3};
    weft_ctx *ctx = NULL;
    if (weft_ctx_new_(&ctx, &opts)) return 3;
    weft_graph *g = weft_graph_new_(ctx);
    if (weft_eval_(weft_exp_(weft_from_(g, &a)), &o, NULL)) return 4;
    weft_graph_free_(g);
    weft_ctx_free_(ctx);
    return dlclose(h) ? 5 : 0;
}
Test(host, loaded_and_unloaded_twenty_times) {
    Dl_info info;
    char copy[] = "/tmp/weft-copy-XXXXXX", line[8300];
    cr_assert(dladdr((void *)(uintptr_t)weft_version, &info));
    if (!strstr(info.dli_fname, ".so")) cr_skip_test("linked statically");
    fill();
    const int fd = mkstemp(copy); // under another name, or the loader would count the one that is there
    close(fd);
    snprintf(line, sizeof line, "cp %s %s", info.dli_fname, copy);
    cr_assert_eq(system(line), 0);
    int maps = 0, files = 0, threads = 0;
    for (int i = 0; i < 20; i++) {
        cr_assert_eq(use_once(copy), 0, "time %d", i);
        if (i == 4) maps = lines("/proc/self/maps"), files = entries("/proc/self/fd"), threads = entries("/proc/self/task");
    }
    cr_expect_leq(lines("/proc/self/maps"), maps + 4, "%d, then %d mappings", maps, lines("/proc/self/maps"));
    cr_expect_eq(entries("/proc/self/fd"), files);
    cr_expect_eq(entries("/proc/self/task"), threads);
    unlink(copy);
}
