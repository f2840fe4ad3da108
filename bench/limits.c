// SPDX-License-Identifier: MIT
// Loops at the limits of the machine, at the instruction set under test: copying, loading,
// streaming past the caches, the hardware square root, independent FMA chains, and the chain
// sqrt(x*y+x) as an expert writes it. Arrays are multiples of 4 KiB in the large and of a vector in
// the small; a tail is done by the narrowest loop, since a limit must touch every element too.
#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "bench.h"

struct part {
    struct limit_arrays a; // this thread's share
    int64_t times;
    void (*loop)(const struct limit_arrays *a);
};
struct job {
    struct part part[256];
};

static void part_body(void *arg, int64_t i) {
    struct part *p = &((struct job *)arg)->part[i];
    for (int64_t k = 0; k < p->times; k++)
        p->loop(&p->a);
}

static double share(const struct limit_arrays *a, int64_t times,
                    void (*loop)(const struct limit_arrays *)) {
    static struct job job;
    if (!loop) return -1;
    const int threads = a->threads > 1 ? a->threads : 1;
    for (int t = 0; t < threads; t++) {
        size_t lo = a->bytes / 64 * (size_t)t / (size_t)threads * 64;
        size_t hi =
            t + 1 == threads ? a->bytes : a->bytes / 64 * ((size_t)t + 1) / (size_t)threads * 64;
        struct limit_arrays part = *a;
        part.x = (const char *)a->x + lo;
        part.y = a->y ? (const char *)a->y + lo : NULL;
        part.out = a->out ? (char *)a->out + lo : NULL;
        part.bytes = hi - lo;
        job.part[t] = (struct part){part, times, loop};
    }
    const double begin = bench_now();
    if (threads == 1)
        part_body(&job, 0);
    else
        team_run(NULL, threads, part_body, &job);
    return bench_now() - begin;
}

// ---- portable tails and stand-ins
// ---------------------------------------------------------------------
static void tail_chain(const double *x, const double *y, double *o, size_t n) {
    for (size_t i = 0; i < n; i++)
        o[i] = sqrt(x[i] * y[i] + x[i]);
}
static volatile double sink;

#if defined(__x86_64__)
#define LOOPS(suffix, attr, V, VI, BYTES, loadd, stored, streamd, loads, stores, addd, muld,       \
              sqrtd, sqrts, zerod, orbits)                                                         \
    attr static void copy_##suffix(const struct limit_arrays *a) {                                 \
        const char *x = a->x;                                                                      \
        char *o = a->out;                                                                          \
        size_t i = 0;                                                                              \
        for (; i + 4 * BYTES <= a->bytes; i += 4 * BYTES) {                                        \
            V p = loadd(x + i), q = loadd(x + i + BYTES), r = loadd(x + i + 2 * BYTES),            \
              s = loadd(x + i + 3 * BYTES);                                                        \
            stored(o + i, p), stored(o + i + BYTES, q), stored(o + i + 2 * BYTES, r),              \
                stored(o + i + 3 * BYTES, s);                                                      \
        }                                                                                          \
        memcpy(o + i, x + i, a->bytes - i);                                                        \
    }                                                                                              \
    attr static void load_##suffix(const struct limit_arrays *a) {                                 \
        const char *x = a->x;                                                                      \
        V p = zerod(), q = p, r = p, s = p;                                                        \
        for (size_t i = 0; i + 4 * BYTES <= a->bytes; i += 4 * BYTES) {                            \
            p = orbits(p, loadd(x + i)), q = orbits(q, loadd(x + i + BYTES));                      \
            r = orbits(r, loadd(x + i + 2 * BYTES)), s = orbits(s, loadd(x + i + 3 * BYTES));      \
        }                                                                                          \
        double d[BYTES / 8];                                                                       \
        stored(d, orbits(orbits(p, q), orbits(r, s)));                                             \
        sink = d[0];                                                                               \
    }                                                                                              \
    attr static void load2_##suffix(const struct limit_arrays *a) {                                \
        const char *x = a->x, *y = a->y;                                                           \
        V p = zerod(), q = p, r = p, s = p;                                                        \
        for (size_t i = 0; i + 2 * BYTES <= a->bytes; i += 2 * BYTES) {                            \
            p = orbits(p, loadd(x + i)), q = orbits(q, loadd(x + i + BYTES));                      \
            r = orbits(r, loadd(y + i)), s = orbits(s, loadd(y + i + BYTES));                      \
        }                                                                                          \
        double d[BYTES / 8];                                                                       \
        stored(d, orbits(orbits(p, q), orbits(r, s)));                                             \
        sink = d[0];                                                                               \
    }                                                                                              \
    attr static void stream_##suffix(const struct limit_arrays *a) {                               \
        const char *x = a->x, *y = a->y;                                                           \
        char *o = a->out;                                                                          \
        for (size_t i = 0; i + 2 * BYTES <= a->bytes; i += 2 * BYTES) {                            \
            V p = addd(loadd(x + i), loadd(y + i)),                                                \
              q = addd(loadd(x + i + BYTES), loadd(y + i + BYTES));                                \
            streamd((void *)(o + i), p), streamd((void *)(o + i + BYTES), q);                      \
        }                                                                                          \
        _mm_sfence();                                                                              \
    }                                                                                              \
    attr static void sqrtd_##suffix(const struct limit_arrays *a) {                                \
        const char *x = a->x;                                                                      \
        char *o = a->out;                                                                          \
        for (size_t i = 0; i + 2 * BYTES <= a->bytes; i += 2 * BYTES) {                            \
            V p = sqrtd(loadd(x + i)), q = sqrtd(loadd(x + i + BYTES));                            \
            stored(o + i, p), stored(o + i + BYTES, q);                                            \
        }                                                                                          \
    }                                                                                              \
    attr static void sqrts_##suffix(const struct limit_arrays *a) {                                \
        const char *x = a->x;                                                                      \
        char *o = a->out;                                                                          \
        for (size_t i = 0; i + 2 * BYTES <= a->bytes; i += 2 * BYTES) {                            \
            stores((void *)(o + i), sqrts(loads((const void *)(x + i))));                          \
            stores((void *)(o + i + BYTES), sqrts(loads((const void *)(x + i + BYTES))));          \
        }                                                                                          \
    }                                                                                              \
    attr static void chain_##suffix(const struct limit_arrays *a) { /* loads before stores */      \
        const char *x = a->x, *y = a->y;                                                           \
        char *o = a->out;                                                                          \
        size_t i = 0;                                                                              \
        for (; i + 4 * BYTES <= a->bytes; i += 4 * BYTES) {                                        \
            V p = loadd(x + i), q = loadd(x + i + BYTES), r = loadd(x + i + 2 * BYTES),            \
              s = loadd(x + i + 3 * BYTES);                                                        \
            p = sqrtd(addd(muld(p, loadd(y + i)), p));                                             \
            q = sqrtd(addd(muld(q, loadd(y + i + BYTES)), q));                                     \
            r = sqrtd(addd(muld(r, loadd(y + i + 2 * BYTES)), r));                                 \
            s = sqrtd(addd(muld(s, loadd(y + i + 3 * BYTES)), s));                                 \
            stored(o + i, p), stored(o + i + BYTES, q), stored(o + i + 2 * BYTES, r),              \
                stored(o + i + 3 * BYTES, s);                                                      \
        }                                                                                          \
        tail_chain((const double *)(const void *)(x + i), (const double *)(const void *)(y + i),   \
                   (double *)(void *)(o + i), (a->bytes - i) / 8);                                 \
    }
#define OR512(a, b) _mm512_or_pd(a, b)
#define OR256(a, b) _mm256_or_pd(a, b)
#define LD256(p) _mm256_loadu_pd((const double *)(const void *)(p))
#define ST256(p, v) _mm256_storeu_pd((double *)(void *)(p), v)
LOOPS(avx512, __attribute__((target("avx512f,avx512dq"))), __m512d, __m512i, 64, _mm512_loadu_pd,
      _mm512_storeu_pd, _mm512_stream_pd, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_add_pd,
      _mm512_mul_pd, _mm512_sqrt_pd, _mm512_sqrt_ps, _mm512_setzero_pd, OR512)
LOOPS(avx2, __attribute__((target("avx2"))), __m256d, __m256i, 32, LD256, ST256, _mm256_stream_pd,
      _mm256_loadu_ps, _mm256_storeu_ps, _mm256_add_pd, _mm256_mul_pd, _mm256_sqrt_pd,
      _mm256_sqrt_ps, _mm256_setzero_pd, OR256)
#define PICK(name)                                                                                 \
    (a->b->isa == KERN_AVX512 ? name##_avx512 : a->b->isa == KERN_AVX2 ? name##_avx2 : NULL)
#else
#define PICK(name) NULL
#endif

#define LIMIT(public, name)                                                                        \
    double public(void *ud, int64_t times) {                                                       \
        const struct limit_arrays *a = ud;                                                         \
        return share(a, times, PICK(name));                                                        \
    }
LIMIT(limit_copy, copy)
LIMIT(limit_load, load)
LIMIT(limit_load2, load2)
LIMIT(limit_stream, stream)
LIMIT(limit_sqrt_f64, sqrtd)
LIMIT(limit_sqrt_f32, sqrts)
LIMIT(limit_hand_chain, chain)

// ---- the clock and the arithmetic
// ------------------------------------------------------------------------- A chain of dependent
// additions takes a cycle each.
double limit_cycle_ns(void) {
    double best = 1e9;
    for (int r = 0; r < 9; r++) {
        const int64_t loops = 200000;
        const double begin = bench_now();
#if defined(__x86_64__)
        int64_t n = loops, x = 0;
        __asm__ volatile("1: .rept 16\n\tadd $1, %1\n\t.endr\n\tdec %0\n\tjnz 1b"
                         : "+r"(n), "+r"(x));
#else
        volatile int64_t n = loops;
        while (n)
            n = n - 1;
#endif
        const double ns = (bench_now() - begin) / (16.0 * (double)loops);
        best = ns < best ? ns : best;
    }
    return best;
}

#define TWELVE(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11)
#define CLOBBERS                                                                                   \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",       \
        "xmm11", "xmm14", "xmm15"
double limit_fma_rate(enum kern_isa isa, bool single) {
    double rate = 0;
#if defined(__x86_64__)
    const long loops = 20000;
    for (int r = 0; r < 3; r++) {
        long n = loops;
        const double begin = bench_now();
        if (isa == KERN_AVX512) {
#define Z(i) "vpxorq %%zmm" #i ", %%zmm" #i ", %%zmm" #i "\n\t"
#define F(i) "vfmadd231pd %%zmm14, %%zmm15, %%zmm" #i "\n\t"
            __asm__ volatile(TWELVE(Z) Z(14) Z(15) "1:" TWELVE(F) "dec %0\n\tjnz 1b\n\tvzeroupper"
                             : "+r"(n)
                             :
                             : CLOBBERS);
#undef F
#undef Z
        } else if (isa == KERN_AVX2) {
#define Z(i) "vxorps %%ymm" #i ", %%ymm" #i ", %%ymm" #i "\n\t"
#define F(i) "vfmadd231pd %%ymm14, %%ymm15, %%ymm" #i "\n\t"
            __asm__ volatile(TWELVE(Z) Z(14) Z(15) "1:" TWELVE(F) "dec %0\n\tjnz 1b\n\tvzeroupper"
                             : "+r"(n)
                             :
                             : CLOBBERS);
#undef F
#undef Z
        } else {
            return 0;
        }
        const double ns = bench_now() - begin,
                     flop = (double)loops * 12 * (isa == KERN_AVX512 ? 16 : 8);
        rate = flop / ns > rate ? flop / ns : rate;
    }
#else
    (void)isa;
#endif
    return single ? 2 * rate : rate;
}
