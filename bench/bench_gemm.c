// SPDX-License-Identifier: MIT
// Matrix products in GFLOP/s beside OpenBLAS, BLIS (opened when present) and the FMA peak of this
// machine, all measured in the same run: every round times each contender once, medians and bests
// are over rounds.
//   bench_gemm [-t threads] [-r rounds] [-i isa] [-f d|s] [-m mode] [-c] [size ...]
// modes: nn nt tn (transposed operands), view (every second column of a wider array), batch, mv
// (matrix times vector), vm (vector times matrix); a size is n (square) or mxnxk. -c counts CPU time of
// the calling thread instead of time: for one thread on a machine that others use too.
#include "kernels/kern.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 64, CONTENDERS = 3 };

static clockid_t ticking = CLOCK_MONOTONIC;

static double now(void) {
    struct timespec t;
    clock_gettime(ticking, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void nap(void) {
    const struct timespec t = {0, 4000000};
    nanosleep(&t, NULL);
}

// ---- a small team: helpers poll for a while, then sleep
// -----------------------------------------------
static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    void (*body)(void *arg, int64_t i);
    void *arg;
    int64_t n;
    atomic_int round, busy;
    int helpers;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void *helper(void *id) {
    int seen = 0;
    for (;;) {
        for (int i = 0; i < 20000 && atomic_load(&pool.round) == seen; i++)
            __builtin_ia32_pause();
        pthread_mutex_lock(&pool.lock);
        while (atomic_load(&pool.round) == seen)
            pthread_cond_wait(&pool.wake, &pool.lock);
        seen = atomic_load(&pool.round);
        pthread_mutex_unlock(&pool.lock);
        if ((int64_t)(intptr_t)id < pool.n) pool.body(pool.arg, (int64_t)(intptr_t)id);
        atomic_fetch_sub(&pool.busy, 1);
    }
    return NULL;
}

static void pool_run(void *ud, int64_t n, void (*body)(void *arg, int64_t i), void *arg) {
    (void)ud;
    while (pool.helpers < n - 1) {
        pthread_t t;
        pthread_mutex_lock(&pool.lock);
        if (pthread_create(&t, NULL, helper, (void *)(intptr_t)++pool.helpers)) abort();
        pthread_mutex_unlock(&pool.lock);
    }
    pthread_mutex_lock(&pool.lock);
    pool.body = body, pool.arg = arg, pool.n = n;
    atomic_store(&pool.busy, pool.helpers);
    atomic_fetch_add(&pool.round, 1);
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.lock);
    body(arg, 0);
    while (atomic_load(&pool.busy))
        __builtin_ia32_pause();
}

// ---- the peers
// ------------------------------------------------------------------------------------------
typedef void gemm_fn(const char *ta, const char *tb, const int *m, const int *n, const int *k,
                     const void *alpha, const void *a, const int *lda, const void *b,
                     const int *ldb, const void *beta, void *c, const int *ldc);
struct peer {
    const char *name;
    gemm_fn *d, *s;
    void (*threads)(int n);
};

static void open_peer(struct peer *p, const char *path, const char *set_threads) {
    void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!h) return;
    *(void **)&p->d = dlsym(h, "dgemm_");
    *(void **)&p->s = dlsym(h, "sgemm_");
    *(void **)&p->threads = dlsym(h, set_threads);
}
static struct peer peers[2] = {{.name = "OpenBLAS"}, {.name = "BLIS"}};

// ---- the limit: independent FMA chains in registers
// --------------------------------------------------------
#define TWELVE(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11)
#define TWELVE_REGISTERS                                                                           \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",       \
        "xmm11", "xmm14", "xmm15"
static double fma_rate(enum kern_isa isa) {
#if defined(__x86_64__)
    const long loops = 50000;
    long n = loops;
    const double t = now();
    if (isa == KERN_AVX512) {
#define Z(i)                                                                                       \
    "vpxorq %%zmm" #i ", %%zmm" #i ", %%zmm" #i "\n\t" // leftovers may be subnormal and slow
#define F(i) "vfmadd231pd %%zmm30, %%zmm31, %%zmm" #i "\n\t"
        __asm__ volatile(TWELVE(Z) Z(30) Z(31) "1:" TWELVE(F) "dec %0\n\tjnz 1b\n\tvzeroupper"
                         : "+r"(n)
                         :
                         : TWELVE_REGISTERS);
        return (double)loops * 12 * 16 / (now() - t);
#undef F
#undef Z
    }
    if (isa == KERN_AVX2) {
#define Z(i) "vxorps %%ymm" #i ", %%ymm" #i ", %%ymm" #i "\n\t"
#define F(i) "vfmadd231pd %%ymm14, %%ymm15, %%ymm" #i "\n\t"
        __asm__ volatile(TWELVE(Z) Z(14) Z(15) "1:" TWELVE(F) "dec %0\n\tjnz 1b\n\tvzeroupper"
                         : "+r"(n)
                         :
                         : TWELVE_REGISTERS);
        return (double)loops * 12 * 8 / (now() - t);
#undef F
#undef Z
    }
#endif
    return 0;
}
struct peak {
    enum kern_isa isa;
    double rate[16];
};
static void peak_body(void *arg, int64_t i) {
    struct peak *p = arg;
    for (int r = 0; r < 5; r++)
        p->rate[i] = MAX_OF(p->rate[i], fma_rate(p->isa));
}
static double measure_peak(enum kern_isa isa, int threads, bool single) {
    struct peak p = {.isa = isa};
    pool_run(NULL, threads, peak_body, &p);
    double sum = 0;
    for (int i = 0; i < threads; i++)
        sum += p.rate[i];
    return single ? 2 * sum : sum;
}

// ---- one row
// --------------------------------------------------------------------------------------------------
struct options {
    int threads, rounds;
    enum kern_isa isa;
    bool single;
    const char *mode;
};
struct row {
    struct kern_gemm g;
    int threads;
    size_t bytes_a, bytes_b, bytes_c;
};

static void *buffer(size_t bytes, size_t size) {
    const size_t huge = bytes > (1 << 20) ? (size_t)2 << 20 : 4096;
    unsigned char *p = aligned_alloc(huge, (bytes + huge) / huge * huge);
    if (!p) abort();
    if (huge > 4096) madvise(p, (bytes + huge) / huge * huge, MADV_HUGEPAGE);
    for (size_t i = 0; i < bytes / size; i++) {
        const double x = (double)(i * 2654435761u % 1000) / 1000 - 0.5;
        const float y = (float)x;
        memcpy(p + i * size, size == 8 ? (const void *)&x : (const void *)&y, size);
    }
    return p;
}

static void prepare(struct row *r, const struct options *o, int64_t m, int64_t n, int64_t k) {
    const int64_t z = o->single ? 4 : 8, wide = strcmp(o->mode, "view") ? 1 : 2;
    const int64_t batch = strcmp(o->mode, "batch") ? 1 : 1000;
    const bool ta = o->mode[0] == 't' && o->mode[1] == 'n', tb = o->mode[1] == 't';
    struct kern_gemm g = {
        .dtype = o->single ? WEFT_F32 : WEFT_F64, .isa = o->isa, .m = m, .n = n, .k = k};
    g.a_rs = ta ? z : z * k * wide, g.a_cs = ta ? z * m : z * wide;
    g.b_rs = tb ? z : z * n * wide, g.b_cs = tb ? z * k : z * wide;
    g.c_rs = z * n, g.c_cs = z;
    g.batch = batch, g.a_bs = z * m * k, g.b_bs = z * k * n, g.c_bs = z * m * n;
    r->bytes_a = (size_t)(z * m * k * wide * batch),
    r->bytes_b = (size_t)(z * n * k * wide * batch);
    r->bytes_c = (size_t)(z * m * n * batch);
    g.a = buffer(r->bytes_a, (size_t)z), g.b = buffer(r->bytes_b, (size_t)z),
    g.c = buffer(r->bytes_c, (size_t)z);
    r->threads = kern_gemm_threads(&g, o->threads);
    g.scratch = buffer(kern_gemm_scratch(&g, r->threads), (size_t)z);
    r->g = g;
}

static void release(struct row *r) {
    free((void *)(uintptr_t)r->g.a);
    free((void *)(uintptr_t)r->g.b);
    free(r->g.c);
    free(r->g.scratch);
}

// Contender 0 is weft. A row-major product is the column-major product of the exchanged operands.
static void once(const struct row *r, const struct options *o, int who) {
    const struct kern_gemm *g = &r->g;
    if (who == 0) {
        kern_gemm_parallel(g, r->threads, pool_run, NULL);
        return;
    }
    const bool ta = o->mode[0] == 't' && o->mode[1] == 'n', tb = o->mode[1] == 't';
    const int m = (int)g->m, n = (int)g->n, k = (int)g->k, lda = ta ? m : k, ldb = tb ? k : n;
    const double one = 1, zero = 0;
    const float onef = 1, zerof = 0;
    gemm_fn *fn = o->single ? peers[who - 1].s : peers[who - 1].d;
    for (int64_t i = 0; i < g->batch; i++)
        fn(tb ? "T" : "N", ta ? "T" : "N", &n, &m, &k, o->single ? (const void *)&onef : &one,
           (const char *)g->b + i * g->b_bs, &ldb, (const char *)g->a + i * g->a_bs, &lda,
           o->single ? (const void *)&zerof : &zero, (char *)g->c + i * g->c_bs, &n);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double time_of(const struct row *r, const struct options *o, int who, double flop) {
    int calls = (int)(1e8 / flop) + 1;
    if (who) peers[who - 1].threads(o->threads);
    nap();
    once(r, o, who);
    const double t = now();
    for (int i = 0; i < calls; i++)
        once(r, o, who);
    return (now() - t) / calls;
}

static void bench_row(const struct options *o, int64_t m, int64_t n, int64_t k) {
    struct row r;
    prepare(&r, o, m, n, k);
    const double flop = 2.0 * (double)m * (double)n * (double)k * (double)r.g.batch;
    double rate[CONTENDERS + 1][ROUNDS] = {{0}}, best[CONTENDERS + 1], median[CONTENDERS + 1];
    for (int i = 0; i < o->rounds; i++) {
        for (int who = 0; who < CONTENDERS; who++)
            if (who == 0 || peers[who - 1].d) rate[who][i] = flop / time_of(&r, o, who, flop);
        nap();
        rate[CONTENDERS][i] = measure_peak(o->isa, o->threads, o->single);
    }
    for (int who = 0; who <= CONTENDERS; who++) {
        qsort(rate[who], (size_t)o->rounds, sizeof(double), by_value);
        best[who] = rate[who][o->rounds - 1] * 1e-9;
        median[who] = rate[who][o->rounds / 2] * 1e-9;
    }
    const double peer = MAX_OF(median[1], median[2]), peer_best = MAX_OF(best[1], best[2]);
    printf("%cgemm %-5s %d thr %5lldx%lldx%-5lld median: weft %6.1f OpenBLAS %6.1f BLIS %6.1f peak "
           "%6.1f"
           "  x%.2f %3.0f%% | best: %6.1f %6.1f %6.1f %6.1f  x%.2f %3.0f%%\n",
           o->single ? 's' : 'd', o->mode, o->threads, (long long)m, (long long)n, (long long)k,
           median[0], median[1], median[2], median[3], median[0] / peer,
           100 * median[0] / median[3], best[0], best[1], best[2], best[3], best[0] / peer_best,
           100 * best[0] / best[3]);
    fflush(stdout);
    release(&r);
}

static void bench_size(const struct options *o, const char *text) {
    long long m = 0, n = 0, k = 0;
    if (sscanf(text, "%lldx%lldx%lld", &m, &n, &k) < 3) m = n = k = atoll(text);
    if (!strcmp(o->mode, "mv")) n = 1;
    if (!strcmp(o->mode, "vm")) m = 1;
    if (m > 0 && n > 0 && k > 0) bench_row(o, m, n, k);
}

int main(int argc, char **argv) {
    struct options o = {.threads = 1, .rounds = 15, .isa = kern_isa_detect(), .mode = "nn"};
    for (int c; (c = getopt(argc, argv, "t:r:i:f:m:c")) != -1;) {
        if (c == 't') o.threads = MIN_OF(atoi(optarg), 16);
        if (c == 'r') o.rounds = MIN_OF(atoi(optarg), ROUNDS);
        if (c == 'f') o.single = optarg[0] == 's';
        if (c == 'm') o.mode = optarg;
        if (c == 'c') ticking = CLOCK_THREAD_CPUTIME_ID;
        for (int i = 0; c == 'i' && i < KERN_ISA__N; i++)
            if (!strcmp(kern_isa_name((enum kern_isa)i), optarg)) o.isa = (enum kern_isa)i;
    }
    setenv("OPENBLAS_THREAD_TIMEOUT", "20",
           0); // idle workers must not burn the next contender's cores
    setenv("GOMP_SPINCOUNT", "100000", 0);
    open_peer(&peers[0], "libopenblas.so.0", "openblas_set_num_threads");
    open_peer(&peers[1], "libblis.so.4", "bli_thread_set_num_threads");
    static const char *const usual[] = {"16",  "32",  "64",   "96",  "128",
                                        "256", "512", "1024", "2048"};
    if (optind == argc)
        for (size_t i = 0; i < COUNT_OF(usual); i++)
            bench_size(&o, usual[i]);
    for (int i = optind; i < argc; i++)
        bench_size(&o, argv[i]);
    return 0;
}
