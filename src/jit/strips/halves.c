// SPDX-License-Identifier: MIT
// Strips that take f16 and bf16 to f32 and back, and f64 to them in one rounding: all that is ever done
// with them outside memory. With F16C the processor converts f16, which gives the bits of half.h, NaN
// included; the rest are the loops of half.h, which become vectors.
#include "../../half.h"
#include "strip.h"

#ifdef __F16C__
#include <immintrin.h>
#endif

#define HALF_STRIP(name, S, D, one)                                                                \
    static void strip_##name(void *out, const void *a, const void *b, const void *c, size_t n) {   \
        typedef S in STRIP_UNALIGNED;                                                              \
        typedef D res STRIP_UNALIGNED;                                                             \
        (void)b, (void)c;                                                                          \
        const in *x = a;                                                                           \
        res *y = out;                                                                              \
        STRIP_NO_DEPENDENCE                                                                        \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = one(x[i]);                                                                      \
    }
HALF_STRIP(bf16_f32, uint16_t, float, half_from_bf16)
HALF_STRIP(f32_bf16, float, uint16_t, half_to_bf16)
HALF_STRIP(f64_bf16, double, uint16_t, half_f64_to_bf16)

#ifdef __F16C__
static void strip_f16_f32(void *out, const void *a, const void *b, const void *c, size_t n) {
    const char *x = a;
    char *y = out;
    size_t i = 0;
    (void)b, (void)c;
    for (; i + 8 <= n; i += 8) {
        __m128i h = _mm_loadu_si128((const __m128i *)(const void *)(x + 2 * i));
        _mm256_storeu_ps((float *)(void *)(y + 4 * i), _mm256_cvtph_ps(h));
    }
    for (; i < n; i++) {
        uint16_t h;
        memcpy(&h, x + 2 * i, sizeof h);
        memcpy(y + 4 * i, &(float){_cvtsh_ss(h)}, sizeof(float));
    }
}

static void strip_f32_f16(void *out, const void *a, const void *b, const void *c, size_t n) {
    const char *x = a;
    char *y = out;
    size_t i = 0;
    (void)b, (void)c;
    for (; i + 8 <= n; i += 8) {
        __m256 f = _mm256_loadu_ps((const float *)(const void *)(x + 4 * i));
        _mm_storeu_si128((__m128i *)(void *)(y + 2 * i), _mm256_cvtps_ph(f, 0)); // 0: to nearest even
    }
    for (; i < n; i++) {
        float f;
        memcpy(&f, x + 4 * i, sizeof f);
        memcpy(y + 2 * i, &(uint16_t){(uint16_t)_cvtss_sh(f, 0)}, sizeof(uint16_t));
    }
}

static inline uint16_t f64_to_f16(double d) { return (uint16_t)_cvtss_sh(half_odd(d), 0); }
HALF_STRIP(f64_f16, double, uint16_t, f64_to_f16)
#else
HALF_STRIP(f16_f32, uint16_t, float, half_from_f16)
HALF_STRIP(f32_f16, float, uint16_t, half_to_f16)
HALF_STRIP(f64_f16, double, uint16_t, half_f64_to_f16)
#endif

strip_casts STRIP_JOIN(strip_half, KERN_VARIANT);
strip_fn *STRIP_JOIN(strip_half, KERN_VARIANT)(weft_dtype in, weft_dtype out) {
    if (in == WEFT_F16 && out == WEFT_F32) return strip_f16_f32;
    if (in == WEFT_BF16 && out == WEFT_F32) return strip_bf16_f32;
    if (in == WEFT_F32) return out == WEFT_F16 ? strip_f32_f16 : strip_f32_bf16;
    if (in == WEFT_F64) return out == WEFT_F16 ? strip_f64_f16 : strip_f64_bf16;
    return NULL;
}
