// SPDX-License-Identifier: MIT
// The f64 vector of the instruction set being compiled for, as tile.h wants it.
#ifndef KERN_GEMM_VEC_F64_H
#define KERN_GEMM_VEC_F64_H

#if defined(KERN_VARIANT_avx512)
#include <immintrin.h>
typedef __m512d vec;
#define LANES 8
#define MR 8
#define NV 3
#define DIRECT 1
static inline __mmask8 v_mask(int n) {
    return (__mmask8)((1u << n) - 1u);
}
static inline vec v_zero(void) {
    return _mm512_setzero_pd();
}
static inline vec v_load(const unsigned char *p) {
    return _mm512_loadu_pd(p);
}
static inline vec v_load_part(const unsigned char *p, int n) {
    return _mm512_maskz_loadu_pd(v_mask(n), p);
}
static inline void v_store(unsigned char *p, vec v) {
    _mm512_storeu_pd(p, v);
}
static inline void v_store_part(unsigned char *p, vec v, int n) {
    _mm512_mask_storeu_pd(p, v_mask(n), v);
}
static inline vec v_first(int n, vec x, vec y) {
    return _mm512_mask_mov_pd(y, v_mask(n), x);
}
static inline vec v_mac(vec acc, vec a, vec b) {
    return _mm512_fmadd_pd(a, b, acc);
}
static inline vec v_add(vec c, vec x) {
    return _mm512_add_pd(c, x);
}
static inline vec v_splat(const unsigned char *p) {
    double x;
    memcpy(&x, p, sizeof x);
    return _mm512_set1_pd(x);
}

// Halves of two columns share a register, so that half of the exchange is done by the loads.
#define TURN 8
static inline void v_turn(double *dst, int64_t width, const unsigned char *src, int64_t s_j) {
    const __m512i even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    for (int h = 0; h < 2; h++, src += 32, dst += 4 * width) {
        __m512d z[4];
        for (int j = 0; j < 4; j++)
            z[j] = _mm512_insertf64x4(
                _mm512_castpd256_pd512(_mm256_loadu_pd((const void *)(src + j * s_j))),
                _mm256_loadu_pd((const void *)(src + (j + 4) * s_j)), 1);
        const __m512d lo = _mm512_unpacklo_pd(z[0], z[1]), hi = _mm512_unpackhi_pd(z[0], z[1]);
        const __m512d lo2 = _mm512_unpacklo_pd(z[2], z[3]), hi2 = _mm512_unpackhi_pd(z[2], z[3]);
        _mm512_storeu_pd(dst, _mm512_permutex2var_pd(lo, even, lo2));
        _mm512_storeu_pd(dst + width, _mm512_permutex2var_pd(hi, even, hi2));
        _mm512_storeu_pd(dst + 2 * width, _mm512_permutex2var_pd(lo, odd, lo2));
        _mm512_storeu_pd(dst + 3 * width, _mm512_permutex2var_pd(hi, odd, hi2));
    }
}

#elif defined(KERN_VARIANT_avx2)
#include <immintrin.h>
typedef __m256d vec;
#define LANES 4
#define MR 4
#define NV 3
#define DIRECT 1
static inline __m256i v_mask(int n) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}
static inline vec v_zero(void) {
    return _mm256_setzero_pd();
}
static inline vec v_load(const unsigned char *p) {
    return _mm256_loadu_pd((const void *)p);
}
static inline vec v_load_part(const unsigned char *p, int n) {
    return _mm256_maskload_pd((const void *)p, v_mask(n));
}
static inline void v_store(unsigned char *p, vec v) {
    _mm256_storeu_pd((void *)p, v);
}
static inline void v_store_part(unsigned char *p, vec v, int n) {
    _mm256_maskstore_pd((void *)p, v_mask(n), v);
}
static inline vec v_first(int n, vec x, vec y) {
    return _mm256_blendv_pd(y, x, _mm256_castsi256_pd(v_mask(n)));
}
static inline vec v_mac(vec acc, vec a, vec b) {
    return _mm256_fmadd_pd(a, b, acc);
}
static inline vec v_add(vec c, vec x) {
    return _mm256_add_pd(c, x);
}
static inline vec v_splat(const unsigned char *p) {
    double x;
    memcpy(&x, p, sizeof x);
    return _mm256_set1_pd(x);
}

// Halves of two columns share a register, so that half of the exchange is done by the loads.
#define TURN 4
static inline void v_turn(double *dst, int64_t width, const unsigned char *src, int64_t s_j) {
    for (int h = 0; h < 2; h++, src += 16, dst += 2 * width) {
        __m256d z[2];
        for (int j = 0; j < 2; j++)
            z[j] = _mm256_insertf128_pd(
                _mm256_castpd128_pd256(_mm_loadu_pd((const void *)(src + j * s_j))),
                _mm_loadu_pd((const void *)(src + (j + 2) * s_j)), 1);
        _mm256_storeu_pd(dst, _mm256_unpacklo_pd(z[0], z[1]));
        _mm256_storeu_pd(dst + width, _mm256_unpackhi_pd(z[0], z[1]));
    }
}

#else
#include <math.h>
typedef double vec __attribute__((vector_size(16)));
#define LANES 2
#define MR 4
#define NV 2
#define DIRECT 0
static inline vec v_zero(void) {
    return (vec){0, 0};
}
static inline vec v_load(const unsigned char *p) {
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline vec v_load_part(const unsigned char *p, int n) {
    vec v = {0, 0};
    memcpy(&v, p, (size_t)n * sizeof(double));
    return v;
}
static inline void v_store(unsigned char *p, vec v) {
    memcpy(p, &v, sizeof v);
}
static inline void v_store_part(unsigned char *p, vec v, int n) {
    memcpy(p, &v, (size_t)n * sizeof(double));
}
static inline vec v_first(int n, vec x, vec y) {
    for (int i = 0; i < n; i++)
        y[i] = x[i];
    return y;
}
static inline vec v_mac(vec acc, vec a, vec b) {
    return (vec){fma(a[0], b[0], acc[0]), fma(a[1], b[1], acc[1])};
}
static inline vec v_add(vec c, vec x) {
    return c + x;
}
static inline vec v_splat(const unsigned char *p) {
    double x;
    memcpy(&x, p, sizeof x);
    return (vec){x, x};
}
#endif
#endif
