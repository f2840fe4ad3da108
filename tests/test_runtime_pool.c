// SPDX-License-Identifier: MIT
// The pool under everything a host does to it: every thread count, nesting, many host threads,
// fork, refusal of threads, executors of the host's own; and the count of CPUs from the kernel's
// files. Run it under -fsanitize=thread as well.
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt_fake.h"

enum { MOST = 1000 };
struct tally {
    _Atomic int calls[MOST];
    _Atomic int busy[16]; // per worker number
    _Atomic int clashes, highest;
    int plain[MOST]; // written without atomics: the pool must order it before the caller's look
    int64_t spin;
};

static void count_call(void *arg, int64_t i, int worker) {
    struct tally *t = arg;
    if (atomic_fetch_add(&t->busy[worker], 1) != 0) atomic_fetch_add(&t->clashes, 1);
    int high = atomic_load(&t->highest);
    while (worker > high && !atomic_compare_exchange_weak(&t->highest, &high, worker)) {
    }
    atomic_fetch_add(&t->calls[i], 1);
    t->plain[i]++;
    for (volatile int64_t k = 0; k < t->spin; k++) {
    }
    atomic_fetch_sub(&t->busy[worker], 1);
}

static void check_run(struct rt_env *env, int threads, int64_t n, int64_t spin) {
    struct tally *t = calloc(1, sizeof *t);
    t->spin = spin;
    rt_parallel(env, threads, n, count_call, t);
    for (int64_t i = 0; i < n; i++)
        cr_assert(atomic_load(&t->calls[i]) == 1 && t->plain[i] == 1, "call %d", (int)i);
    cr_assert_eq(atomic_load(&t->clashes), 0);
    cr_assert_lt(atomic_load(&t->highest), MAX_OF(threads, 1));
    free(t);
}

Test(pool, every_count) {
    for (int threads = 1; threads <= 8; threads++) {
        struct rt_env env;
        fake_env(&env, threads);
        cr_assert_eq(rt_pool_started(env.pool), 0);
        for (int64_t n = 0; n <= 20; n++)
            check_run(&env, threads, n, 10);
        for (int k = 0; k < 100; k++)
            check_run(&env, 1 + k % threads, 1 + k * 9, k % 2 ? 1000 : 0);
        cr_assert_eq(rt_pool_started(env.pool), threads - 1);
        fake_env_free(&env);
    }
}

// Helpers park after a while and must be woken.
Test(pool, parked) {
    struct rt_env env;
    fake_env(&env, 3);
    for (int k = 0; k < 20; k++) {
        check_run(&env, 3, 50, 2000);
        usleep(k % 3 ? 1000 : 250);
    }
    fake_env_free(&env);
    fake_env(&env, 3); // never used
    fake_env_free(&env);
}

struct nested {
    struct rt_env *env;
    struct tally *tally;
};
static void nest_call(void *arg, int64_t i, int worker) {
    (void)worker;
    struct nested *n = arg;
    struct tally inner = {.spin = 0};
    rt_parallel(n->env, 3, 10, count_call, &inner);
    for (int k = 0; k < 10; k++)
        if (atomic_load(&inner.calls[k]) != 1) return;
    if (atomic_load(&inner.highest) == 0) atomic_fetch_add(&n->tally->calls[i], 1); // serial
}

Test(pool, nested) {
    struct rt_env env;
    fake_env(&env, 3);
    struct tally *t = calloc(1, sizeof *t);
    rt_parallel(&env, 3, 100, nest_call, &(struct nested){&env, t});
    for (int i = 0; i < 100; i++)
        cr_assert_eq(atomic_load(&t->calls[i]), 1);
    free(t);
    fake_env_free(&env);
}

static void *host_thread(void *arg) {
    for (int k = 0; k < 50; k++)
        check_run(arg, 3, 40, 200);
    return NULL;
}

Test(pool, many_hosts) {
    struct rt_env env;
    fake_env(&env, 3);
    pthread_t host[32];
    for (size_t i = 0; i < COUNT_OF(host); i++)
        cr_assert_eq(pthread_create(&host[i], NULL, host_thread, &env), 0);
    for (size_t i = 0; i < COUNT_OF(host); i++)
        pthread_join(host[i], NULL);
    cr_assert_leq(rt_pool_started(env.pool), 2);
    fake_env_free(&env);
}

static bool child_ends_well(pid_t child) {
    int status;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The thread sanitizer cannot start threads in the child of a process that had some.
static void in_child(struct rt_env *env) {
#ifdef __SANITIZE_THREAD__
    rt_pool_limit(env->pool, 0);
#endif
    alarm(20);
    for (int k = 0; k < 5; k++)
        check_run(env, 3, 100, 100);
}

Test(pool, fork_between) {
    struct rt_env env;
    fake_env(&env, 3);
    for (int round = 0; round < 5; round++) {
        check_run(&env, 3, 100, 100);
        const pid_t child = fork();
        if (child == 0) {
            in_child(&env);
            const pid_t grandchild = fork();
            if (grandchild == 0) {
                in_child(&env);
                fake_env_free(&env);
                _exit(0);
            }
            const bool well = child_ends_well(grandchild);
            fake_env_free(&env);
            _exit(well ? 0 : 1);
        }
        cr_assert(child_ends_well(child));
        check_run(&env, 3, 100, 100);
    }
    fake_env_free(&env);
}

struct forker {
    struct rt_env *env;
    _Atomic pid_t child;
};
static void fork_inside(void *arg, int64_t i, int worker) {
    (void)worker;
    struct forker *f = arg;
    if (i != 3) return;
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        check_run(f->env, 3, 30, 10);
        fake_env_free(f->env);
        _exit(0);
    }
    atomic_store(&f->child, child);
}

// The pool's state is that of an operation under way, held by threads that do not exist in the
// child.
Test(pool, fork_inside) {
    struct rt_env env;
    fake_env(&env, 3);
    for (int k = 0; k < 10; k++) {
        struct forker f = {&env, 0};
        rt_parallel(&env, 3, 8, fork_inside, &f);
        cr_assert(child_ends_well(atomic_load(&f.child)));
    }
    fake_env_free(&env);
}

Test(pool, refused_threads) {
    for (int granted = 0; granted < 4; granted++) {
        struct rt_env env;
        fake_env(&env, 5);
        rt_pool_limit(env.pool, granted);
        for (int k = 0; k < 50; k++)
            check_run(&env, 5, 60, 100);
        cr_assert_eq(rt_pool_started(env.pool), granted);
        rt_pool_limit(env.pool, 100); // the system relents: asked again after a while
        for (int k = 0; k < 1200; k++)
            check_run(&env, 5, 5, 0);
        cr_assert(granted == 0 || rt_pool_started(env.pool) == 4);
        fake_env_free(&env);
    }
}

// ---- signals and stacks -----------------------------------------------------------------------

static _Atomic int handled_elsewhere;
static pthread_t main_thread;
static void handle(int number) {
    (void)number;
    if (!pthread_equal(pthread_self(), main_thread)) atomic_fetch_add(&handled_elsewhere, 1);
}

Test(pool, signals_stay_with_the_host) {
    struct rt_env env;
    fake_env(&env, 4);
    main_thread = pthread_self();
    signal(SIGUSR1, handle);
    signal(SIGALRM, handle);
    for (int k = 0; k < 200; k++) {
        check_run(&env, 4, 20, 500);
        kill(getpid(), k % 2 ? SIGUSR1 : SIGALRM);
    }
    cr_assert_eq(atomic_load(&handled_elsewhere), 0);
    fake_env_free(&env);
}

// ---- executors --------------------------------------------------------------------------------

struct host_pool {
    int mode; // 0: in order; 1: backwards; 2: one thread each
    _Atomic int used;
};
struct host_call {
    void (*body)(void *arg, int64_t i);
    void *arg;
    int64_t i;
};
static void *host_call(void *p) {
    struct host_call *c = p;
    c->body(c->arg, c->i);
    return NULL;
}
static void host_for(void *ud, int64_t n, void (*body)(void *arg, int64_t i), void *arg) {
    struct host_pool *h = ud;
    atomic_fetch_add(&h->used, 1);
    pthread_t thread[16];
    struct host_call call[16];
    cr_assert_leq(n, 16);
    for (int64_t i = 0; i < n; i++) {
        call[i] = (struct host_call){body, arg, h->mode == 1 ? n - 1 - i : i};
        if (h->mode == 2)
            pthread_create(&thread[i], NULL, host_call, &call[i]);
        else
            host_call(&call[i]);
    }
    for (int64_t i = 0; h->mode == 2 && i < n; i++)
        pthread_join(thread[i], NULL);
}

Test(pool, executor) {
    for (int mode = 0; mode < 3; mode++) {
        struct host_pool h = {mode, 0};
        struct rt_env env = {.alloc = base_malloc, .threads = 4, .exec = {&h, 4, host_for}};
        for (int64_t n = 0; n < 40; n += 3)
            check_run(&env, 4, n, 100);
        cr_assert_gt(atomic_load(&h.used), 0);
        struct tally *t = calloc(1, sizeof *t);
        const int before = atomic_load(&h.used);
        rt_parallel(&env, 3, 20, nest_call, &(struct nested){&env, t});
        cr_assert_eq(atomic_load(&h.used),
                     before + 1); // nested work does not come back to the host
        for (int i = 0; i < 20; i++)
            cr_assert_eq(atomic_load(&t->calls[i]), 1);
        free(t);
    }
}

// ---- CPUs -------------------------------------------------------------------------------------

static void write_file(const char *root, const char *path, const char *text) {
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
        *p = 0;
        mkdir(full, 0700);
        *p = '/';
    }
    FILE *f = fopen(full, "w");
    cr_assert(f);
    fputs(text, f);
    fclose(f);
}

static int quota_of(const char *cgroup, int n, const char *const (*file)[2]) {
    char root[] = "/tmp/weft-cgroup-XXXXXX", command[64];
    cr_assert(mkdtemp(root));
    if (cgroup) write_file(root, "/proc/self/cgroup", cgroup);
    for (int i = 0; i < n; i++)
        write_file(root, file[i][0], file[i][1]);
    const int cpus = rt_cpu_quota(root);
    snprintf(command, sizeof command, "rm -r %s", root);
    cr_assert_eq(system(command), 0);
    return cpus;
}

Test(cpus, quotas) {
    static const char *const v2[][2] = {{"/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"},
                                        {"/sys/fs/cgroup/a/cpu.max", "250000 100000\n"},
                                        {"/sys/fs/cgroup/cpu.max", "400000 100000\n"}};
    static const char *const v1[][2] = {
        {"/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "50000\n"},
        {"/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n"},
        {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
        {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"}};
    static const char *const odd[][2] = {{"/sys/fs/cgroup/cpu.max", "nonsense"}};
    static const char *const zero[][2] = {{"/sys/fs/cgroup/cpu.max", "100000 0"}};
    cr_assert_eq(quota_of("0::/a/b\n", 3, v2), 3);
    cr_assert_eq(quota_of("0::/a/b\n", 1, v2), 0);
    cr_assert_eq(quota_of("0::/gone/elsewhere\n", 3, v2), 4);
    cr_assert_eq(quota_of("0::/\n", 3, v2), 4);
    cr_assert_eq(quota_of("12:memory:/x\n4:cpu,cpuacct:/box\n0::/\n", 4, v1), 1);
    cr_assert_eq(quota_of("4:cpuset:/box\n", 4, v1), 0);
    cr_assert_eq(quota_of("0::/\n", 1, odd), 0);
    cr_assert_eq(quota_of("0::/\n", 1, zero), 0);
    cr_assert_eq(quota_of("garbage", 0, NULL), 0);
    cr_assert_eq(quota_of(NULL, 0, NULL), 0);
}

Test(cpus, affinity) {
    cpu_set_t all, one;
    cr_assert_geq(rt_cpu_count(), 1);
    cr_assert_eq(sched_getaffinity(0, sizeof all, &all), 0);
    cr_assert_leq(rt_cpu_count(), CPU_COUNT(&all));
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all)) {
            CPU_SET(i, &one);
            break;
        }
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
    cr_assert_eq(rt_cpu_count(), 1);
}
