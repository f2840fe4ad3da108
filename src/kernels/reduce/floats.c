// SPDX-License-Identifier: MIT
// Reductions of f32 and f64. In: strips of one dtype; out: lanes, see lanes.inc.
//
// Sum and product are one rounded operation a step. The least of two, -0 below +0 and NaN winning, is
// the bitwise or of "a < b ? a : b" and "b < a ? b : a": both are the lesser where one is less; for equal
// operands the or keeps a sign bit that either has; for unordered ones it joins both, whose exponents or
// mantissas then still say NaN. Two minimum instructions and an or. The or is written through De Morgan's
// law, since compilers otherwise thread the second comparison through the first. The greatest of
// two is the least of the negatives. Skipping NaN replaces a NaN by the other operand first.
#include "reduce.h"

static inline float least_f32(float a, float b) {
    float p = a < b ? a : b, q = b < a ? b : a;
    uint32_t u, v;
    memcpy(&u, &p, 4);
    memcpy(&v, &q, 4);
    u = ~(~u & ~v);
    memcpy(&p, &u, 4);
    return p;
}
static inline double least_f64(double a, double b) {
    double p = a < b ? a : b, q = b < a ? b : a;
    uint64_t u, v;
    memcpy(&u, &p, 8);
    memcpy(&v, &q, 8);
    u = ~(~u & ~v);
    memcpy(&p, &u, 8);
    return p;
}
static inline float skip_f32(float a, float b) {
    float c = b != b ? a : b;
    return least_f32(a != a ? c : a, c);
}
static inline double skip_f64(double a, double b) {
    double c = b != b ? a : b;
    return least_f64(a != a ? c : a, c);
}

#define T float
#define SFX f32
#define L 64
#include "float.inc"
#define T double
#define SFX f64
#define L 32
#include "float.inc"

#define ROW(r, name)                                                                               \
    [r] = { [WEFT_F32] = RED_KIND(name, f32), [WEFT_F64] = RED_KIND(name, f64) }
static const struct red_kind kinds[KERN_FMAX + 1][WEFT_DTYPE__N] = {
    ROW(KERN_SUM, sum), ROW(KERN_PROD, prod), ROW(KERN_MIN, min),
    ROW(KERN_MAX, max), ROW(KERN_FMIN, fmin), ROW(KERN_FMAX, fmax),
};

red_find RED_JOIN2(kern_red_floats, KERN_VARIANT);
const struct red_kind *RED_JOIN2(kern_red_floats, KERN_VARIANT)(enum kern_red r, weft_dtype t) {
    return r <= KERN_FMAX ? &kinds[r][t] : NULL;
}
