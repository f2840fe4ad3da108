// SPDX-License-Identifier: MIT
// Behaviour towards the host process: floating-point environment, fork, threads, CPUs taken away, unloading,
// leaving, and a machine without LLVM or without executable memory; in both tiers.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "cases.h"

static weft_ctx *tiers[2];
static void begin(void) {
    tiers[0] = new_ctx(WEFT_BACKEND_INTERP, 2);
    tiers[1] = new_ctx(WEFT_BACKEND_JIT, 2);
}
static void end(void) {
    weft_ctx_free(tiers[0]);
    weft_ctx_free(tiers[1]);
}
TestSuite(process, .init = begin, .fini = end, .timeout = PATIENCE * 120);

// The data is the same whatever the rounding mode of the caller: integers.
static bool small_work(weft_ctx *ctx, double *result) {
    static double x[5000];
    for (int i = 0; i < 5000; i++)
        x[i] = (i % 256) * 0.015625;
    weft_graph *g = weft_graph_new(ctx);
    weft_array a = vec(x, 5000), o = weft_dense(WEFT_F64, result, 0, NULL);
    weft_expr *e = weft_from(g, &a);
    bool ok = !weft_eval(weft_sum(weft_true_divide(weft_exp(weft_neg(e)), weft_add(e, weft_float(g, 3))), NULL), &o, NULL);
    weft_graph_free(g);
    return ok;
}

Test(process, floating_point_environment) { // X1
    for (int t = 0; t < 2; t++) {
        double plain = 0, rounded = 0;
        cr_assert(small_work(tiers[t], &plain));
        static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
        for (int m = 0; m < 3; m++) {
            fesetround(modes[m]);
            feclearexcept(FE_ALL_EXCEPT);
            errno = 77;
            bool ok = small_work(tiers[t], &rounded);
            int mode = fegetround(), e = errno, flags = fetestexcept(FE_ALL_EXCEPT);
            fesetround(FE_TONEAREST);
            cr_expect(ok && mode == modes[m] && e == 77 && flags == 0, "mode %d errno %d flags %#x", mode, e, flags);
            cr_expect_eq(memcmp(&plain, &rounded, 8), 0, "rounding mode %d changes the result", m);
        }
    }
}

Test(process, fork_after_use) { // X2
    for (int t = 0; t < 2; t++) {
        double before = 0, after = 0;
        cr_assert(small_work(tiers[t], &before));
        pid_t child = fork();
        if (child == 0) {
            double mine = 0;
            alarm(20);
            _exit(small_work(tiers[t], &mine) && memcmp(&mine, &before, 8) == 0 ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", status);
        cr_expect(small_work(tiers[t], &after) && !memcmp(&before, &after, 8));
    }
}

// Runs f(arg) in a child process; its exit status, -1 when a signal ended it.
static int in_child(int (*f)(void *), void *arg) {
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(f(arg));
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void *own_context(void *arg) {
    static _Atomic int turn;
    double mine = 0;
    weft_ctx *ctx = new_ctx(atomic_fetch_add(&turn, 1) % 8 ? WEFT_BACKEND_INTERP : WEFT_BACKEND_JIT, 2);
    bool ok = small_work(ctx, &mine);
    weft_ctx_free(ctx);
    return ok && !memcmp(&mine, arg, 8) ? NULL : "wrong";
}
struct shared {
    weft_ctx *ctx;
    weft_program *p;
    _Atomic int bad;
};
static void *shared_program(void *arg) {
    struct shared *s = arg;
    static _Thread_local double x[3000], out[3000];
    weft_workspace *ws = NULL;
    if (weft_workspace_new(s->ctx, &ws)) return atomic_fetch_add(&s->bad, 1), NULL;
    for (int64_t n = 2800; n < 3000; n += 7) {
        for (int i = 0; i < n; i++)
            x[i] = (double)(i + n);
        weft_array in = vec(x, n), o = vec(out, n);
        if (weft_run(s->p, ws, &in, &o, NULL, 0)) atomic_fetch_add(&s->bad, 1);
        for (int i = 0; i < n; i++)
            if (out[i] != sqrt(x[i] * x[i] + x[i])) atomic_fetch_add(&s->bad, 1);
    }
    weft_workspace_free(ws);
    return NULL;
}

Test(process, many_host_threads) { // X4
    enum { T = 32 };
    pthread_t t[T];
    double want = 0;
    cr_assert(small_work(tiers[0], &want));
    for (int i = 0; i < T; i++)
        cr_assert_eq(pthread_create(&t[i], NULL, own_context, &want), 0);
    for (int i = 0; i < T; i++) {
        void *verdict = NULL;
        pthread_join(t[i], &verdict);
        cr_expect_null(verdict);
    }
    for (int k = 0; k < 2; k++) {
        struct shared s = {.ctx = tiers[k]};
        weft_graph *g = weft_graph_new(tiers[k]);
        weft_expr *x = weft_input(g, "x", WEFT_F64, 1, DIMS(3000)), *f = weft_sqrt(weft_add(weft_mul(x, x), x));
        must(g, weft_compile(1, &f, &s.p));
        for (int i = 0; i < T; i++)
            cr_assert_eq(pthread_create(&t[i], NULL, shared_program, &s), 0);
        for (int i = 0; i < T; i++)
            pthread_join(t[i], NULL);
        cr_expect_eq(s.bad, 0);
        weft_program_free(s.p);
        weft_graph_free(g);
    }
}

static void say_once(void *ud, weft_log_level level, const char *line) {
    (void)level, (void)line;
    (*(int *)ud)++;
}
Test(process, without_llvm) {
    int lines = 0;
    double want = 0, got = 0;
    cr_assert(small_work(tiers[0], &want));
    setenv("WEFT_JIT_MODULE", "/nonexistent/libweft-jit.so", 1);
    weft_ctx *ctx = NULL;
    weft_ctx_opts o = {.size = sizeof o, .backend = WEFT_BACKEND_JIT, .log = say_once, .log_ud = &lines, .threads = 1};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    for (int i = 0; i < 5; i++)
        cr_assert(small_work(ctx, &got));
    cr_expect_eq(memcmp(&want, &got, 8), 0);
    weft_ctx_free(ctx);
    unsetenv("WEFT_JIT_MODULE");
    if (lines != 1) cr_expect_eq(lines, 0, "%d lines", lines); // linked in statically: nothing to say
}

Test(process, background_tier_gives_the_same_bits) {
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_AUTO, 2);
    double want = 0, got = 0;
    cr_assert(small_work(tiers[0], &want));
    for (int i = 0; i < 3000; i++) {
        cr_assert(small_work(ctx, &got));
        cr_assert_eq(memcmp(&want, &got, 8), 0, "run %d", i);
    }
    weft_ctx_wait(ctx);
    cr_assert(small_work(ctx, &got));
    cr_expect_eq(memcmp(&want, &got, 8), 0);
    weft_ctx_free(ctx);
}

#ifdef __x86_64__
Test(process, flush_to_zero) { // X1: the caller's setting neither changes nor matters
    enum { N = 300000 };
    static double x[N], out[N];
    for (int i = 0; i < N; i++)
        x[i] = 1e-310 * (i % 7 + 1);
    for (int t = 0; t < 2; t++) {
        weft_graph *g = weft_graph_new(tiers[t]);
        weft_array a = vec(x, N), o = vec(out, N);
        weft_expr *e = weft_from(g, &a), *f = weft_mul(weft_add(e, e), weft_float(g, 0.5));
        unsigned before = _mm_getcsr(), set = before | 0x8040;
        memset(out, 0, sizeof out);
        _mm_setcsr(set);
        weft_status st = weft_eval(f, &o, NULL);
        unsigned after = _mm_getcsr();
        _mm_setcsr(before);
        must(g, st);
        cr_expect_eq(after, set, "%#x then %#x", set, after);
        cr_expect_eq(memcmp(x, out, sizeof x), 0);
        weft_graph_free(g);
    }
}
#endif

// ---- what the machine refuses ---------------------------------------------------------------------------------
// A context of this process's own rights: one CPU, no new threads.
static int cramped(void *backend) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    struct rlimit none = {0, 0};
    if (sched_setaffinity(0, sizeof one, &one) || setrlimit(RLIMIT_NPROC, &none)) return 2;
    if (getuid() == 0 && setuid(65534)) return 3; // the limit does not bind root
    weft_ctx *ctx = NULL;
    weft_ctx_opts o = {.size = sizeof o, .backend = *(weft_backend *)backend, .threads = 4};
    if (weft_ctx_new(&ctx, &o)) return 4;
    double v = 0;
    for (int i = 0; i < 3; i++)
        if (!small_work(ctx, &v)) return 5;
    weft_ctx_free(ctx);
    return v > 0 ? 0 : 6;
}
Test(process, one_cpu_and_no_threads) { // X3
    for (int b = WEFT_BACKEND_AUTO; b <= WEFT_BACKEND_JIT; b++)
        cr_expect_eq(in_child(cramped, &(weft_backend){(weft_backend)b}), 0, "backend %d", b);
}

static int refuse_executable_memory(void) {
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mmap, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mprotect, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog p = {sizeof f / sizeof *f, f};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &p);
}
enum { NO_FILTER = 77 };
static int without_executable_memory(void *late) {
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_JIT, 2);
    double x[3] = {1, 2, 3}, out[3], v = 0;
    if (*(bool *)late) { // LLVM is there already and only the new code's memory is refused
        weft_graph *g = weft_graph_new(ctx);
        weft_array a = vec(x, 3), o = vec(out, 3);
        if (weft_eval(weft_neg(weft_from(g, &a)), &o, NULL)) return 1;
        weft_graph_free(g);
    }
    if (refuse_executable_memory()) return NO_FILTER;
    weft_stats before, after;
    weft_ctx_stats(ctx, &before, sizeof before);
    if (!small_work(ctx, &v)) return 2;
    weft_ctx_stats(ctx, &after, sizeof after);
    weft_ctx_free(ctx);
    if (after.compiles != before.compiles || after.runs_interp == before.runs_interp) return 3;
    weft_ctx *plain = new_ctx(WEFT_BACKEND_INTERP, 1);
    double want = 0;
    bool ok = small_work(plain, &want) && memcmp(&v, &want, 8) == 0;
    weft_ctx_free(plain);
    return ok ? 0 : 4;
}
Test(process, executable_memory_refused) { // G15
    for (int late = 0; late < 2; late++) {
        int status = in_child(without_executable_memory, &(bool){late});
        if (status == NO_FILTER) {
            printf("skipped: this system takes no system call filter\n");
            cr_skip_test("no seccomp");
        }
        cr_expect_eq(status, 0, "late %d: %d", late, status);
    }
}

// ---- coming and going -------------------------------------------------------------------------------------------
static int leave_with_threads(void *backend) {
    weft_ctx *ctx = new_ctx(*(weft_backend *)backend, 3);
    static double x[1000000];
    double total = 0;
    weft_graph *g = weft_graph_new(ctx);
    weft_array a = vec(x, 1000000), o = weft_dense(WEFT_F64, &total, 0, NULL);
    if (weft_eval(weft_sum(weft_exp(weft_from(g, &a)), NULL), &o, NULL)) return 1;
    fclose(stdout); // the buffers are the parent's
    exit(total == 1e6 ? 0 : 2); // threads alive, a compilation perhaps under way, nothing freed
}
Test(process, exit_with_threads_alive) { // X8
    for (int b = WEFT_BACKEND_AUTO; b <= WEFT_BACKEND_JIT; b++)
        for (int i = 0; i < 5; i++)
            cr_expect_eq(in_child(leave_with_threads, &(weft_backend){(weft_backend)b}), 0, "backend %d", b);
}

// A second copy of the library, under another name so that the loader keeps it apart, can be unloaded.
static void *load_copy(const char *from) {
    char buf[1 << 16], path[64];
    int in = open(from, O_RDONLY), copy = memfd_create("copy", 0);
    ssize_t n;
    while (in >= 0 && copy >= 0 && (n = read(in, buf, sizeof buf)) > 0)
        if (write(copy, buf, (size_t)n) != n) return NULL;
    if (in >= 0) close(in);
    snprintf(path, sizeof path, "/proc/self/fd/%d", copy);
    void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (copy >= 0) close(copy);
    return h;
}
#define COPY_OF(h, f) __typeof__(f) *f##_ = (__typeof__(f) *)(uintptr_t)dlsym(h, #f)
static int load_use_unload(void *path) {
    for (int b = WEFT_BACKEND_AUTO; b <= WEFT_BACKEND_JIT; b++) {
        void *h = load_copy(path);
        if (!h) return 1;
        COPY_OF(h, weft_ctx_new);
        COPY_OF(h, weft_ctx_free);
        COPY_OF(h, weft_graph_new);
        COPY_OF(h, weft_graph_free);
        COPY_OF(h, weft_from);
        COPY_OF(h, weft_exp);
        COPY_OF(h, weft_eval);
        if (weft_ctx_new_ == weft_ctx_new) return 2;
        static double x[200000], out[200000];
        weft_array a = vec(x, 200000), o = vec(out, 200000);
        weft_ctx_opts opts = {.size = sizeof opts, .backend = (weft_backend)b, .threads = 3};
        weft_ctx *ctx = NULL;
        if (weft_ctx_new_(&ctx, &opts)) return 3;
        weft_graph *g = weft_graph_new_(ctx);
        if (weft_eval_(weft_exp_(weft_from_(g, &a)), &o, NULL) || out[199999] != 1) return 4;
        weft_graph_free_(g);
        weft_ctx_free_(ctx);
        if (dlclose(h)) return 5;
    }
    return 0;
}
Test(process, unloading) { // X8
    Dl_info info;
    char module[4096];
    cr_assert(dladdr((void *)(uintptr_t)weft_version, &info));
    if (!strstr(info.dli_fname, ".so")) cr_skip_test("linked statically");
    snprintf(module, sizeof module, "%.*s/libweft-jit.so.1", (int)(strrchr(info.dli_fname, '/') - info.dli_fname), info.dli_fname);
    setenv("WEFT_JIT_MODULE", module, 1);
    cr_expect_eq(in_child(load_use_unload, (void *)(uintptr_t)info.dli_fname), 0);
    unsetenv("WEFT_JIT_MODULE");
}
