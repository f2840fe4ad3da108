// SPDX-License-Identifier: MIT
// Shared by the recipes of this folder: names, bit casts, exact sums and products, and the array
// loops.
//
// A recipe is a branch-free scalar function; a kernel is one line that hands it to a map. The maps
// work in blocks of a fixed number of elements, so that the compiler vectorises one loop without a
// remainder; the last, incomplete block goes through a padded copy. Each element thus sees the same
// operations wherever it stands. Every source here is compiled once per instruction set
// (KERN_VARIANT).
#ifndef WEFT_KERN_MATH_H
#define WEFT_KERN_MATH_H

#include <math.h>

#include "../kern.h"

#ifndef KERN_VARIANT
#define KERN_VARIANT base
#endif
#define KERN_JOIN2(f, v) kern_##f##_##v
#define KERN_JOIN(f, v) KERN_JOIN2(f, v)
#define KERN_NAME(f) KERN_JOIN(f, KERN_VARIANT) // KERN_NAME(exp_f64) is kern_exp_f64_avx2, say

#define RECIPE_FN static inline __attribute__((always_inline))

// Defines the kernel of a unary / binary recipe: KERNEL1(exp, f64, exp_one)
#define KERNEL1(family, t, one)                                                                    \
    kern_map KERN_NAME(family##_##t);                                                              \
    void KERN_NAME(family##_##t)(void *out, const void *a, const void *b, size_t n) {              \
        (void)b;                                                                                   \
        map1_##t(out, a, n, one);                                                                  \
    }
#define KERNEL2(family, t, one)                                                                    \
    kern_map KERN_NAME(family##_##t);                                                              \
    void KERN_NAME(family##_##t)(void *out, const void *a, const void *b, size_t n) {              \
        map2_##t(out, a, b, n, one);                                                               \
    }
// As above for a recipe with a rare case: rare(x) tells which elements, slow(x) computes them.
#define KERNEL1_RARE(family, t, one, rare, slow)                                                   \
    kern_map KERN_NAME(family##_##t);                                                              \
    void KERN_NAME(family##_##t)(void *out, const void *a, const void *b, size_t n) {              \
        (void)b;                                                                                   \
        map1_rare_##t(out, a, n, one, rare, slow);                                                 \
    }
#define KERNEL2_RARE(family, t, one, rare, slow)                                                   \
    kern_map KERN_NAME(family##_##t);                                                              \
    void KERN_NAME(family##_##t)(void *out, const void *a, const void *b, size_t n) {              \
        map2_rare_##t(out, a, b, n, one, rare, slow);                                              \
    }

// ---- bits
// -------------------------------------------------------------------------------------------
RECIPE_FN uint64_t bits64(double x) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}
RECIPE_FN double from64(uint64_t u) {
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}
RECIPE_FN uint32_t bits32(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}
RECIPE_FN float from32(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}
RECIPE_FN double fma64(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}
RECIPE_FN float fma32(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}
RECIPE_FN double abs64(double x) {
    return __builtin_fabs(x);
}
RECIPE_FN float abs32(float x) {
    return __builtin_fabsf(x);
}
// x with the sign of s; x must be >= +0 (or NaN)
RECIPE_FN double sign64(double x, double s) {
    return from64(bits64(x) | (bits64(s) & 0x8000000000000000u));
}
RECIPE_FN float sign32(float x, float s) {
    return from32(bits32(x) | (bits32(s) & 0x80000000u));
}

// ---- exact sums and products: value + error
// ------------------------------------------------------------
struct dd64 {
    double hi, lo;
};
// |a| >= |b| or a == 0
RECIPE_FN struct dd64 fast_two_sum(double a, double b) {
    double s = a + b;
    return (struct dd64){s, b - (s - a)};
}
RECIPE_FN struct dd64 two_sum(double a, double b) {
    double s = a + b, t = s - a;
    return (struct dd64){s, (a - (s - t)) + (b - t)};
}
RECIPE_FN struct dd64 two_prod(double a, double b) {
    double p = a * b;
    return (struct dd64){p, fma64(a, b, -p)};
}

// ---- array loops
// ------------------------------------------------------------------------------------ BLOCK
// elements at a time. out may equal a or b exactly, which ivdep permits: an element is read before
// it is written and no other element depends on it.
#ifdef __clang__
#define MAP_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define MAP_INDEPENDENT _Pragma("GCC ivdep")
#endif
#define BLOCK_f64 16
#define BLOCK_f32 32

#define MAP_TYPES(T, t)                                                                            \
    typedef T one1_##t(T);                                                                         \
    typedef T one2_##t(T, T);                                                                      \
    typedef int rare1_##t(T);                                                                      \
    typedef int rare2_##t(T, T);
MAP_TYPES(double, f64)
typedef int64_t flag_f64; // as wide as the elements, so that the test vectorises
typedef int32_t flag_f32;
MAP_TYPES(float, f32)

#define T double
#define S(name) name##_f64
#define BLOCK BLOCK_f64
#include "map.inc"
#undef T
#undef S
#undef BLOCK
#define T float
#define S(name) name##_f32
#define BLOCK BLOCK_f32
#include "map.inc"
#undef T
#undef S
#undef BLOCK

#endif
