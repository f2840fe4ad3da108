// SPDX-License-Identifier: MIT
// The f32 vector of the instruction set being compiled for, as tile.h wants it.
#ifndef KERN_GEMM_VEC_F32_H
#define KERN_GEMM_VEC_F32_H

#if defined(KERN_VARIANT_avx2) || defined(KERN_VARIANT_avx512)
#include <immintrin.h>
// Halves of two columns share a register, so that a third of the exchange is done by the loads.
#define TURN 8
static inline void v_turn(float *dst, int64_t width, const unsigned char *src, int64_t s_j) {
    for (int h = 0; h < 2; h++, src += 16, dst += 4 * width) {
        __m256 z[4];
        for (int j = 0; j < 4; j++)
            z[j] = _mm256_insertf128_ps(
                _mm256_castps128_ps256(_mm_loadu_ps((const void *)(src + j * s_j))),
                _mm_loadu_ps((const void *)(src + (j + 4) * s_j)), 1);
        const __m256 a = _mm256_unpacklo_ps(z[0], z[1]), b = _mm256_unpackhi_ps(z[0], z[1]);
        const __m256 c = _mm256_unpacklo_ps(z[2], z[3]), d = _mm256_unpackhi_ps(z[2], z[3]);
        _mm256_storeu_ps(dst, _mm256_shuffle_ps(a, c, 0x44));
        _mm256_storeu_ps(dst + width, _mm256_shuffle_ps(a, c, 0xee));
        _mm256_storeu_ps(dst + 2 * width, _mm256_shuffle_ps(b, d, 0x44));
        _mm256_storeu_ps(dst + 3 * width, _mm256_shuffle_ps(b, d, 0xee));
    }
}
#endif

#if defined(KERN_VARIANT_avx512)
typedef __m512 vec;
#define LANES 16
#define MR 8
#define NV 3
#define DIRECT 1
static inline __mmask16 v_mask(int n) {
    return (__mmask16)((1u << n) - 1u);
}
static inline vec v_zero(void) {
    return _mm512_setzero_ps();
}
static inline vec v_load(const unsigned char *p) {
    return _mm512_loadu_ps(p);
}
static inline vec v_load_part(const unsigned char *p, int n) {
    return _mm512_maskz_loadu_ps(v_mask(n), p);
}
static inline void v_store(unsigned char *p, vec v) {
    _mm512_storeu_ps(p, v);
}
static inline void v_store_part(unsigned char *p, vec v, int n) {
    _mm512_mask_storeu_ps(p, v_mask(n), v);
}
static inline vec v_first(int n, vec x, vec y) {
    return _mm512_mask_mov_ps(y, v_mask(n), x);
}
static inline vec v_mac(vec acc, vec a, vec b) {
    return _mm512_fmadd_ps(a, b, acc);
}
static inline vec v_add(vec c, vec x) {
    return _mm512_add_ps(c, x);
}
static inline vec v_splat(const unsigned char *p) {
    float x;
    memcpy(&x, p, sizeof x);
    return _mm512_set1_ps(x);
}

#elif defined(KERN_VARIANT_avx2)
typedef __m256 vec;
#define LANES 8
#define MR 4
#define NV 3
#define DIRECT 1
static inline __m256i v_mask(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
static inline vec v_zero(void) {
    return _mm256_setzero_ps();
}
static inline vec v_load(const unsigned char *p) {
    return _mm256_loadu_ps((const void *)p);
}
static inline vec v_load_part(const unsigned char *p, int n) {
    return _mm256_maskload_ps((const void *)p, v_mask(n));
}
static inline void v_store(unsigned char *p, vec v) {
    _mm256_storeu_ps((void *)p, v);
}
static inline void v_store_part(unsigned char *p, vec v, int n) {
    _mm256_maskstore_ps((void *)p, v_mask(n), v);
}
static inline vec v_first(int n, vec x, vec y) {
    return _mm256_blendv_ps(y, x, _mm256_castsi256_ps(v_mask(n)));
}
static inline vec v_mac(vec acc, vec a, vec b) {
    return _mm256_fmadd_ps(a, b, acc);
}
static inline vec v_add(vec c, vec x) {
    return _mm256_add_ps(c, x);
}
static inline vec v_splat(const unsigned char *p) {
    float x;
    memcpy(&x, p, sizeof x);
    return _mm256_set1_ps(x);
}

#else
#include <math.h>
typedef float vec __attribute__((vector_size(16)));
#define LANES 4
#define MR 4
#define NV 2
#define DIRECT 0
static inline vec v_zero(void) {
    return (vec){0, 0, 0, 0};
}
static inline vec v_load(const unsigned char *p) {
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline vec v_load_part(const unsigned char *p, int n) {
    vec v = {0, 0, 0, 0};
    memcpy(&v, p, (size_t)n * sizeof(float));
    return v;
}
static inline void v_store(unsigned char *p, vec v) {
    memcpy(p, &v, sizeof v);
}
static inline void v_store_part(unsigned char *p, vec v, int n) {
    memcpy(p, &v, (size_t)n * sizeof(float));
}
static inline vec v_first(int n, vec x, vec y) {
    for (int i = 0; i < n; i++)
        y[i] = x[i];
    return y;
}
static inline vec v_mac(vec acc, vec a, vec b) {
    return (vec){fmaf(a[0], b[0], acc[0]), fmaf(a[1], b[1], acc[1]), fmaf(a[2], b[2], acc[2]),
                 fmaf(a[3], b[3], acc[3])};
}
static inline vec v_add(vec c, vec x) {
    return c + x;
}
static inline vec v_splat(const unsigned char *p) {
    float x;
    memcpy(&x, p, sizeof x);
    return (vec){x, x, x, x};
}
#endif
#endif
