// SPDX-License-Identifier: MIT
// floor_divide and remainder of f32 and f64, as Python defines them and NumPy gives them to the bit.
//
// remainder: the exact C remainder m of x / y (sign of x), plus y when their signs differ; a zero takes
// y's sign. floor_divide: the quotient (x - m) / y, less one when y was added, rounded to the nearest
// integer; a zero takes the sign of x / y. y = 0: remainder NaN, quotient x / y. y infinite: m = x.
// m by one division: q = trunc(x / y) is the quotient or one too far while |x / y| < 2^53, and
// x - q y is exact in one FMA. Larger quotients are rare: long division of the integer significands.
#include "../math/math.h"

// ---- the exact remainder of magnitudes --------------------------------------------------------------
struct digits {
    uint64_t m; // value m 2^(e - 1075)
    int e;
};
RECIPE_FN struct digits digits_of(double x) {
    uint64_t u = bits64(x), m = u & 0xfffffffffffffu;
    int e = (int)(u >> 52) & 0x7ff;
    return e ? (struct digits){m | 0x10000000000000u, e} : (struct digits){m, 1};
}
// x mod y for finite x and y > 0 whose exponent is not above x's: 11 bits of quotient at a time
static double long_division(double x, double y) {
    struct digits a = digits_of(x), b = digits_of(y);
    uint64_t r = a.m % b.m;
    for (int gap = a.e - b.e; gap > 0 && r; gap -= 11)
        r = (r << MIN_OF(gap, 11)) % b.m;
    if (!r) return 0.0;
    int up = __builtin_clzll(r) - 11; // bring the leading bit to bit 52, or down to the subnormals
    up = MIN_OF(up, b.e - 1);
    r <<= up;
    return from64(r >> 52 ? ((uint64_t)(b.e - up) << 52) | (r & 0xfffffffffffffu) : r);
}

// of a remainder and another operand; by sign bits, since selects between booleans do not vectorise
RECIPE_FN int signs_differ(double m, double y) {
    return (m != 0.0) & (int)((bits64(m) ^ bits64(y)) >> 63);
}

// |x / y| may reach 2^limit or more: judged by the exponents; 0, infinities and NaN are not rare
RECIPE_FN int far_apart(double x, double y, int64_t limit) {
    int64_t ex = (int64_t)(bits64(x) >> 52) & 0x7ff, ey = (int64_t)(bits64(y) >> 52) & 0x7ff;
    ey = ey == 0 ? -51 : ey;
    return (ex - ey >= limit) & (ex != 0x7ff) & (y != 0.0);
}

// the remainder with the sign of x and, in *quotient, x / y truncated, for |x / y| < 2^53
RECIPE_FN double near_fmod(double x, double y, double *quotient) {
    double q = __builtin_trunc(x / y), r = fma64(-q, y, x);
    int beyond = signs_differ(r, x); // rounding carried x / y up to the next integer
    double step = sign64(abs64(y), x), unit = sign64(1.0, x * y);
    double back = beyond ? step : 0.0, one = beyond ? unit : 0.0;
    int less = abs64(x) < abs64(y); // also every finite x against an infinite y
    *quotient = less ? 0.0 : q - one;
    return less ? x : r + back;
}
static double far_fmod(double x, double y) {
    double m = long_division(abs64(x), abs64(y));
    return x < 0.0 ? -m : m;
}

// ---- Python's signs ---------------------------------------------------------------------------------
RECIPE_FN double remainder_of(double m, double y) {
    double r = signs_differ(m, y) ? m + y : m;
    return m == 0.0 ? sign64(0.0, y) : r;
}

// ---- f64 --------------------------------------------------------------------------------------------
RECIPE_FN int rare_f64(double x, double y) { return far_apart(x, y, 50); }

RECIPE_FN double mod_one_f64(double x, double y) {
    double q, m = near_fmod(x, y, &q);
    m = y == 0.0 ? (double)NAN : m;
    return remainder_of(m, y);
}
static double mod_far_f64(double x, double y) { return remainder_of(far_fmod(x, y), y); }
KERNEL2_RARE(remainder, f64, mod_one_f64, rare_f64, mod_far_f64)

// Below 2^51 the rounded (x - m) / y is always within one half of the integer it stands for.
RECIPE_FN double div_one_f64(double x, double y) {
    double q, m = near_fmod(x, y, &q), ratio = x / y;
    double d = signs_differ(m, y) ? q - 1.0 : q;
    double zero = sign64(0.0, ratio);
    d = d == 0.0 ? zero : d;
    d = m == m ? d : (double)NAN;
    return y == 0.0 ? ratio : d;
}
static double div_far_f64(double x, double y) {
    double m = far_fmod(x, y), d = (x - m) / y;
    if (signs_differ(m, y)) d -= 1.0;
    if (d == 0.0) return sign64(0.0, x / y); // subnormals count as far apart, whatever their ratio
    double f = __builtin_floor(d);
    return d - f > 0.5 ? f + 1.0 : f;
}
KERNEL2_RARE(floor_divide, f64, div_one_f64, rare_f64, div_far_f64)

// ---- f32: the remainder is exact in f64 as well -----------------------------------------------------
RECIPE_FN int rare_f32(float x, float y) { return far_apart((double)x, (double)y, 52); }
RECIPE_FN float remainder_of_f32(float m, float y) {
    float r = signs_differ((double)m, (double)y) ? m + y : m;
    return m == 0.0f ? sign32(0.0f, y) : r;
}
RECIPE_FN float mod_one_f32(float x, float y) {
    double q, m = near_fmod((double)x, (double)y, &q);
    return remainder_of_f32(y == 0.0f ? (float)NAN : (float)m, y);
}
static float mod_far_f32(float x, float y) {
    return remainder_of_f32((float)far_fmod((double)x, (double)y), y);
}
KERNEL2_RARE(remainder, f32, mod_one_f32, rare_f32, mod_far_f32)

RECIPE_FN float div_of_f32(float m, float x, float y) {
    float ratio = x / y, d = (x - m) / y;
    d = signs_differ((double)m, (double)y) ? d - 1.0f : d;
    float f = __builtin_floorf(d);
    f = d - f > 0.5f ? f + 1.0f : f;
    float zero = sign32(0.0f, ratio);
    f = d == 0.0f ? zero : f;
    return y == 0.0f ? ratio : f;
}
RECIPE_FN float div_one_f32(float x, float y) {
    double q, m = near_fmod((double)x, (double)y, &q);
    return div_of_f32((float)m, x, y);
}
static float div_far_f32(float x, float y) {
    return div_of_f32((float)far_fmod((double)x, (double)y), x, y);
}
KERNEL2_RARE(floor_divide, f32, div_one_f32, rare_f32, div_far_f32)
