// SPDX-License-Identifier: MIT
// The hand-written rival: sqrt(x*y+x) over n f64 as an expert would write it for one machine
// (intrinsics, four vectors in flight, threads with fixed halves), timed on warm buffers. Prints
// {"ns": least of the rounds, ...}, the figure that `weft bench` gives too.
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef void loop_fn(const double *x, const double *y, double *o, int64_t n);

static void plain(const double *x, const double *y, double *o, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        o[i] = sqrt(x[i] * y[i] + x[i]);
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void avx512(const double *x, const double *y, double *o,
                                                      int64_t n) {
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) { // all loads before all stores: no false dependence on addresses
        __m512d a = _mm512_loadu_pd(x + i), b = _mm512_loadu_pd(x + i + 8);
        __m512d c = _mm512_loadu_pd(x + i + 16), d = _mm512_loadu_pd(x + i + 24);
        a = _mm512_sqrt_pd(_mm512_add_pd(_mm512_mul_pd(a, _mm512_loadu_pd(y + i)), a));
        b = _mm512_sqrt_pd(_mm512_add_pd(_mm512_mul_pd(b, _mm512_loadu_pd(y + i + 8)), b));
        c = _mm512_sqrt_pd(_mm512_add_pd(_mm512_mul_pd(c, _mm512_loadu_pd(y + i + 16)), c));
        d = _mm512_sqrt_pd(_mm512_add_pd(_mm512_mul_pd(d, _mm512_loadu_pd(y + i + 24)), d));
        _mm512_storeu_pd(o + i, a);
        _mm512_storeu_pd(o + i + 8, b);
        _mm512_storeu_pd(o + i + 16, c);
        _mm512_storeu_pd(o + i + 24, d);
    }
    plain(x + i, y + i, o + i, n - i);
}
__attribute__((target("avx2"))) static void avx2(const double *x, const double *y, double *o,
                                                 int64_t n) {
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (int k = 0; k < 16; k += 4) {
            __m256d a = _mm256_loadu_pd(x + i + k), b = _mm256_loadu_pd(y + i + k);
            _mm256_storeu_pd(o + i + k, _mm256_sqrt_pd(_mm256_add_pd(_mm256_mul_pd(a, b), a)));
        }
    plain(x + i, y + i, o + i, n - i);
}
#endif

static loop_fn *best(const char **name) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return *name = "avx512", avx512;
    if (__builtin_cpu_supports("avx2")) return *name = "avx2", avx2;
#endif
    return *name = "plain", plain;
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct part {
    loop_fn *f;
    const double *x, *y;
    double *o;
    int64_t n;
    int threads, rounds;
    pthread_barrier_t *barrier;
};
static void *helper(void *arg) {
    struct part *p = arg;
    for (int r = 0; r < p->rounds; r++) {
        pthread_barrier_wait(p->barrier);
        p->f(p->x, p->y, p->o, p->n);
        pthread_barrier_wait(p->barrier);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int64_t n = argc > 1 ? strtoll(argv[1], NULL, 10) : 1 << 22;
    int threads = argc > 2 ? atoi(argv[2]) : 1, rounds = argc > 3 ? atoi(argv[3]) : 101;
    if (n < 1 || threads < 1 || threads > 64 || rounds < 1) {
        fprintf(stderr, "usage: hand N [THREADS [ROUNDS]]\n");
        return 2;
    }
    // One block, the arrays at different offsets within a page, so that none shadows another.
    size_t bytes = (((size_t)n * 8 + 4095) & ~(size_t)4095) + 4096;
    char *block = aligned_alloc(4096, 3 * bytes);
    int64_t *times = calloc((size_t)rounds, sizeof *times);
    if (!block || !times) return 1;
    double *x = (double *)(void *)block, *y = (double *)(void *)(block + bytes + 1344);
    double *o = (double *)(void *)(block + 2 * bytes + 2688);
    for (int64_t i = 0; i < n; i++) {
        x[i] = (double)(i % 1000) * 0.001;
        y[i] = (double)(i % 777) * 0.01;
        o[i] = 0;
    }
    const char *name;
    loop_fn *f = best(&name);
    pthread_barrier_t barrier;
    pthread_t id[64];
    struct part part[64];
    int64_t inner = threads == 1 ? 1 + 100000 / n : 1; // short samples: less of others in them
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int t = 1; t < threads; t++) {
        int64_t lo = n * t / threads, hi = n * (t + 1) / threads;
        part[t] = (struct part){f, x + lo, y + lo, o + lo, hi - lo, threads, rounds, &barrier};
        if (pthread_create(&id[t], NULL, helper, &part[t])) return 1;
    }
    for (int r = 0; r < rounds; r++) {
        int64_t start = now();
        if (threads > 1) pthread_barrier_wait(&barrier);
        for (int64_t k = 0; k < inner; k++)
            f(x, y, o, n / threads);
        if (threads > 1) pthread_barrier_wait(&barrier);
        times[r] = (now() - start) / inner;
    }
    for (int t = 1; t < threads; t++)
        pthread_join(id[t], NULL);
    qsort(times, (size_t)rounds, sizeof *times, ascending);
    printf("{\"ns\": %lld, \"isa\": \"%s\", \"n\": %lld, \"threads\": %d}\n", (long long)times[0],
           name, (long long)n, threads);
    return 0;
}
