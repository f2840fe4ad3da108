// SPDX-License-Identifier: MIT
// Vectors for recipes that need more than the auto-vectoriser gives (table look-ups by permutation,
// a branch taken for a whole vector).
//
//     vd, vu   doubles and their bits as uint64_t       vs, vw   floats and their bits as uint32_t
//
// With AVX-512 and AVX2 these are GCC vectors of a full register; in the base variant they are
// plain scalars, so that the same text is the scalar recipe. Operators work on both; an operand of
// a helper may be a vector or a scalar constant. Every helper is one or two instructions and rounds
// like its scalar.
#ifndef WEFT_KERN_MATH_VEC_H
#define WEFT_KERN_MATH_VEC_H

#include "math.h"

#if defined(KERN_VARIANT_avx512)
#include <immintrin.h>
#define VEC_BYTES 64
#elif defined(KERN_VARIANT_avx2)
#include <immintrin.h>
#define VEC_BYTES 32
#else
#define VEC_BYTES 0
#endif

#if VEC_BYTES
typedef double vd __attribute__((vector_size(VEC_BYTES)));
typedef uint64_t vu __attribute__((vector_size(VEC_BYTES)));
typedef float vs __attribute__((vector_size(VEC_BYTES)));
typedef uint32_t vw __attribute__((vector_size(VEC_BYTES)));
#else
typedef double vd;
typedef uint64_t vu;
typedef float vs;
typedef uint32_t vw;
#endif
#define LANES_D (sizeof(vd) / sizeof(double))
#define LANES_S (sizeof(vs) / sizeof(float))

// constants to vectors (c - 0 keeps -0), bits and back
#define VD(c) ((c) - (vd){0})
#define VS(c) ((c) - (vs){0})
#define VU(c) ((c) + (vu){0})
#define VW(c) ((c) + (vw){0})
#define ROW(name, from, to)                                                                        \
    RECIPE_FN to name(from x) {                                                                    \
        to y;                                                                                      \
        memcpy(&y, &x, sizeof y);                                                                  \
        return y;                                                                                  \
    }
ROW(bits_d, vd, vu)
ROW(from_u, vu, vd)
ROW(bits_s, vs, vw)
ROW(from_w, vw, vs)
#undef ROW

// clang-format off
// ---- one instruction each: fma, square root, select by comparison, any ----------------------------------
#if defined(KERN_VARIANT_avx512)
RECIPE_FN vd fma_vd(vd a, vd b, vd c) { return (vd)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c); }
RECIPE_FN vs fma_vs(vs a, vs b, vs c) { return (vs)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
RECIPE_FN vd sqrt_d(vd a) { return (vd)_mm512_sqrt_pd((__m512d)a); }
RECIPE_FN vs sqrt_s(vs a) { return (vs)_mm512_sqrt_ps((__m512)a); }
RECIPE_FN vd rint_d(vd a) { return (vd)_mm512_roundscale_pd((__m512d)a, 8); }
RECIPE_FN vs rint_s(vs a) { return (vs)_mm512_roundscale_ps((__m512)a, 8); }
#define CMP(name, op)                                                                              \
    RECIPE_FN vd name##_vd(vd a, vd b, vd x, vd y) {                                               \
        return (vd)_mm512_mask_blend_pd(_mm512_cmp_pd_mask((__m512d)a, (__m512d)b, op), (__m512d)y, (__m512d)x); \
    }                                                                                              \
    RECIPE_FN vs name##_vs(vs a, vs b, vs x, vs y) {                                               \
        return (vs)_mm512_mask_blend_ps(_mm512_cmp_ps_mask((__m512)a, (__m512)b, op), (__m512)y, (__m512)x); \
    }                                                                                              \
    RECIPE_FN bool name##_any_vd(vd a, vd b) {                                                     \
        return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, op) != 0;                                \
    }                                                                                              \
    RECIPE_FN bool name##_all_vd(vd a, vd b) {                                                     \
        return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, op) == 0xff;                             \
    }                                                                                              \
    RECIPE_FN bool name##_all_vs(vs a, vs b) {                                                     \
        return _mm512_cmp_ps_mask((__m512)a, (__m512)b, op) == 0xffff;                             \
    }                                                                                              \
    RECIPE_FN bool name##_any_vs(vs a, vs b) {                                                     \
        return _mm512_cmp_ps_mask((__m512)a, (__m512)b, op) != 0;                                  \
    }
CMP(lt, _CMP_LT_OQ)
CMP(le, _CMP_LE_OQ)
CMP(eq, _CMP_EQ_OQ)
#elif defined(KERN_VARIANT_avx2)
RECIPE_FN vd fma_vd(vd a, vd b, vd c) { return (vd)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
RECIPE_FN vs fma_vs(vs a, vs b, vs c) { return (vs)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
RECIPE_FN vd sqrt_d(vd a) { return (vd)_mm256_sqrt_pd((__m256d)a); }
RECIPE_FN vs sqrt_s(vs a) { return (vs)_mm256_sqrt_ps((__m256)a); }
RECIPE_FN vd rint_d(vd a) { return (vd)_mm256_round_pd((__m256d)a, 8); }
RECIPE_FN vs rint_s(vs a) { return (vs)_mm256_round_ps((__m256)a, 8); }
#define CMP(name, op)                                                                              \
    RECIPE_FN vd name##_vd(vd a, vd b, vd x, vd y) {                                               \
        return (vd)_mm256_blendv_pd((__m256d)y, (__m256d)x, _mm256_cmp_pd((__m256d)a, (__m256d)b, op)); \
    }                                                                                              \
    RECIPE_FN vs name##_vs(vs a, vs b, vs x, vs y) {                                               \
        return (vs)_mm256_blendv_ps((__m256)y, (__m256)x, _mm256_cmp_ps((__m256)a, (__m256)b, op)); \
    }                                                                                              \
    RECIPE_FN bool name##_any_vd(vd a, vd b) {                                                     \
        return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)a, (__m256d)b, op)) != 0;                 \
    }                                                                                              \
    RECIPE_FN bool name##_all_vd(vd a, vd b) {                                                     \
        return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)a, (__m256d)b, op)) == 0xf;               \
    }                                                                                              \
    RECIPE_FN bool name##_all_vs(vs a, vs b) {                                                     \
        return _mm256_movemask_ps(_mm256_cmp_ps((__m256)a, (__m256)b, op)) == 0xff;                \
    }                                                                                              \
    RECIPE_FN bool name##_any_vs(vs a, vs b) {                                                     \
        return _mm256_movemask_ps(_mm256_cmp_ps((__m256)a, (__m256)b, op)) != 0;                   \
    }
CMP(lt, _CMP_LT_OQ)
CMP(le, _CMP_LE_OQ)
CMP(eq, _CMP_EQ_OQ)
#else
RECIPE_FN vd fma_vd(vd a, vd b, vd c) { return __builtin_fma(a, b, c); }
RECIPE_FN vs fma_vs(vs a, vs b, vs c) { return __builtin_fmaf(a, b, c); }
RECIPE_FN vd sqrt_d(vd a) { return __builtin_sqrt(a); }
RECIPE_FN vs sqrt_s(vs a) { return __builtin_sqrtf(a); }
RECIPE_FN vd rint_d(vd a) { return __builtin_rint(a); }
RECIPE_FN vs rint_s(vs a) { return __builtin_rintf(a); }
#define CMP(name, op)                                                                              \
    RECIPE_FN vd name##_vd(vd a, vd b, vd x, vd y) { return a op b ? x : y; }                      \
    RECIPE_FN vs name##_vs(vs a, vs b, vs x, vs y) { return a op b ? x : y; }                      \
    RECIPE_FN bool name##_any_vd(vd a, vd b) { return a op b; }                                    \
    RECIPE_FN bool name##_all_vd(vd a, vd b) { return a op b; }                                    \
    RECIPE_FN bool name##_all_vs(vs a, vs b) { return a op b; }                                    \
    RECIPE_FN bool name##_any_vs(vs a, vs b) { return a op b; }
CMP(lt, <)
CMP(le, <=)
CMP(eq, ==)
#endif
#undef CMP

#define fma_d(a, b, c) fma_vd(VD(a), VD(b), VD(c))
#define fma_s(a, b, c) fma_vs(VS(a), VS(b), VS(c))
// a < b ? x : y and its kin; a comparison with NaN is false
#define lt_d(a, b, x, y) lt_vd(VD(a), VD(b), VD(x), VD(y))
#define le_d(a, b, x, y) le_vd(VD(a), VD(b), VD(x), VD(y))
#define eq_d(a, b, x, y) eq_vd(VD(a), VD(b), VD(x), VD(y))
#define lt_s(a, b, x, y) lt_vs(VS(a), VS(b), VS(x), VS(y))
#define le_s(a, b, x, y) le_vs(VS(a), VS(b), VS(x), VS(y))
#define eq_s(a, b, x, y) eq_vs(VS(a), VS(b), VS(x), VS(y))
// whether any lane has a < b; expected not to be so
#define any_le_d(a, b) __builtin_expect(le_any_vd(VD(a), VD(b)), 0)
#define any_le_s(a, b) __builtin_expect(le_any_vs(VS(a), VS(b)), 0)
#define any_lt_d(a, b) __builtin_expect(lt_any_vd(VD(a), VD(b)), 0)
#define any_lt_s(a, b) __builtin_expect(lt_any_vs(VS(a), VS(b)), 0)
#define any_eq_s(a, b) __builtin_expect(eq_any_vs(VS(a), VS(b)), 0)
#define any_eq_d(a, b) __builtin_expect(eq_any_vd(VD(a), VD(b)), 0)
// whether all lanes have a < b; expected to be so
#define all_lt_d(a, b) __builtin_expect(lt_all_vd(VD(a), VD(b)), 1)
#define all_lt_s(a, b) __builtin_expect(lt_all_vs(VS(a), VS(b)), 1)

// a signed integer to the nearest float, a float to the nearest signed integer
#if defined(KERN_VARIANT_avx512)
RECIPE_FN vs number_s(vw i) { return (vs)_mm512_cvtepi32_ps((__m512i)i); }
RECIPE_FN vw int_s(vs x) { return (vw)_mm512_cvtps_epi32((__m512)x); }
#elif defined(KERN_VARIANT_avx2)
RECIPE_FN vs number_s(vw i) { return (vs)_mm256_cvtepi32_ps((__m256i)i); }
RECIPE_FN vw int_s(vs x) { return (vw)_mm256_cvtps_epi32((__m256)x); }
#else
RECIPE_FN vs number_s(vw i) { return (float)(int32_t)i; }
RECIPE_FN vw int_s(vs x) { return (uint32_t)(int32_t)__builtin_rintf(x); }
#endif

RECIPE_FN vd abs_d(vd x) { return from_u(bits_d(x) & 0x7fffffffffffffffu); }
RECIPE_FN vs abs_s(vs x) { return from_w(bits_s(x) & 0x7fffffffu); }
// x >= +0 with the sign of s
RECIPE_FN vd sign_d(vd x, vd s) { return from_u(bits_d(x) | (bits_d(s) & 0x8000000000000000u)); }
RECIPE_FN vs sign_s(vs x, vs s) { return from_w(bits_s(x) | (bits_s(s) & 0x80000000u)); }
// x with its sign changed where s is negative
RECIPE_FN vd flip_d(vd x, vd s) { return from_u(bits_d(x) ^ (bits_d(s) & 0x8000000000000000u)); }
RECIPE_FN vs flip_s(vs x, vs s) { return from_w(bits_s(x) ^ (bits_s(s) & 0x80000000u)); }

// ---- tables: the low four bits of i choose among 16; the 64 bits at p + bytes ----------------------------------------------------------
#if defined(KERN_VARIANT_avx512)
RECIPE_FN vs lut16_s(const float *t, vw i) {
    return (vs)_mm512_permutexvar_ps((__m512i)i, _mm512_loadu_ps(t));
}
RECIPE_FN vd lut16_d(const double *t, vu i) {
    return (vd)_mm512_permutex2var_pd(_mm512_loadu_pd(t), (__m512i)i, _mm512_loadu_pd(t + 8));
}
RECIPE_FN vu gather_u(const void *p, vu bytes) {
    return (vu)_mm512_i64gather_epi64((__m512i)bytes, p, 1);
}
#elif defined(KERN_VARIANT_avx2)
RECIPE_FN vs lut16_s(const float *t, vw i) {
    __m256 lo = _mm256_permutevar8x32_ps(_mm256_loadu_ps(t), (__m256i)i);
    __m256 hi = _mm256_permutevar8x32_ps(_mm256_loadu_ps(t + 8), (__m256i)i);
    return (vs)_mm256_blendv_ps(lo, hi, (__m256)(i << 28));
}
RECIPE_FN vd lut16_d(const double *t, vu i) {
    i &= 15;
    return (vd){t[i[0]], t[i[1]], t[i[2]], t[i[3]]};
}
RECIPE_FN vu gather_u(const void *p, vu bytes) {
    return (vu)_mm256_i64gather_epi64(p, (__m256i)bytes, 1);
}
#else
RECIPE_FN vs lut16_s(const float *t, vw i) { return t[i & 15]; }
RECIPE_FN vd lut16_d(const double *t, vu i) { return t[i & 15]; }
RECIPE_FN vu gather_u(const void *p, vu bytes) {
    vu w;
    memcpy(&w, (const unsigned char *)p + bytes, sizeof w);
    return w;
}
#endif

// ---- float to double and back: the low and the high half of a vector ---------------------------------------
#if defined(KERN_VARIANT_avx512)
RECIPE_FN vd widen_lo(vs x) { return (vd)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)x)); }
RECIPE_FN vd widen_hi(vs x) { return (vd)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)x, 1)); }
RECIPE_FN vs narrow(vd lo, vd hi) {
    __m256 a = _mm512_cvtpd_ps((__m512d)lo), b = _mm512_cvtpd_ps((__m512d)hi);
    return (vs)_mm512_insertf32x8(_mm512_castps256_ps512(a), b, 1);
}
#elif defined(KERN_VARIANT_avx2)
RECIPE_FN vd widen_lo(vs x) { return (vd)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)x)); }
RECIPE_FN vd widen_hi(vs x) { return (vd)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)x, 1)); }
RECIPE_FN vs narrow(vd lo, vd hi) {
    __m128 a = _mm256_cvtpd_ps((__m256d)lo), b = _mm256_cvtpd_ps((__m256d)hi);
    return (vs)_mm256_insertf128_ps(_mm256_castps128_ps256(a), b, 1);
}
#else
RECIPE_FN vd widen_lo(vs x) { return (double)x; }
RECIPE_FN vd widen_hi(vs x) { return (double)x; }
RECIPE_FN vs narrow(vd lo, vd hi) { (void)hi; return (float)lo; }
#endif

// clang-format on
// ---- exact sums and products
// -----------------------------------------------------------------------------
struct ddv {
    vd hi, lo;
};
// |a| >= |b| or a == 0
RECIPE_FN struct ddv fast_sum_d(vd a, vd b) {
    vd s = a + b;
    return (struct ddv){s, b - (s - a)};
}
RECIPE_FN struct ddv sum_d(vd a, vd b) {
    vd s = a + b, t = s - a;
    return (struct ddv){s, (a - (s - t)) + (b - t)};
}
RECIPE_FN struct ddv prod_d(vd a, vd b) {
    vd p = a * b;
    return (struct ddv){p, fma_d(a, b, -p)};
}
struct sdv {
    vs hi, lo;
};
RECIPE_FN struct sdv fast_sum_s(vs a, vs b) {
    vs s = a + b;
    return (struct sdv){s, b - (s - a)};
}
RECIPE_FN struct sdv sum_s(vs a, vs b) {
    vs s = a + b, t = s - a;
    return (struct sdv){s, (a - (s - t)) + (b - t)};
}
RECIPE_FN struct sdv prod_s(vs a, vs b) {
    vs p = a * b;
    return (struct sdv){p, fma_s(a, b, -p)};
}

// ---- kernels
// ------------------------------------------------------------------------------------------
#define VKERNEL1(family, t, one)                                                                   \
    kern_map KERN_NAME(family##_##t);                                                              \
    void KERN_NAME(family##_##t)(void *out, const void *a, const void *b, size_t n) {              \
        (void)b;                                                                                   \
        vmap1_##t(out, a, n, one);                                                                 \
    }
#define VKERNEL2(family, t, one)                                                                   \
    kern_map KERN_NAME(family##_##t);                                                              \
    void KERN_NAME(family##_##t)(void *out, const void *a, const void *b, size_t n) {              \
        vmap2_##t(out, a, b, n, one);                                                              \
    }
// A float function through a double recipe.
#define VKERNEL1_WIDE(family, one)                                                                 \
    RECIPE_FN vs family##_wide(vs x) {                                                             \
        return narrow(one(widen_lo(x)), VEC_BYTES ? one(widen_hi(x)) : VD(0.0));                   \
    }                                                                                              \
    VKERNEL1(family, f32, family##_wide)
#define VKERNEL2_WIDE(family, one)                                                                 \
    RECIPE_FN vs family##_wide(vs x, vs y) {                                                       \
        return narrow(one(widen_lo(x), widen_lo(y)),                                               \
                      VEC_BYTES ? one(widen_hi(x), widen_hi(y)) : VD(0.0));                        \
    }                                                                                              \
    VKERNEL2(family, f32, family##_wide)

typedef double item_f64;
typedef float item_f32;
#define V vd
#define S(name) name##_f64
#include "vmap.inc"
#undef V
#undef S
#define V vs
#define S(name) name##_f32
#include "vmap.inc"
#undef V
#undef S

#endif
