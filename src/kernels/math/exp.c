// SPDX-License-Identifier: MIT
// exp and exp2, f64. The method is that of exp.h; exp2 reduces exactly: r = x - n/16.
//
// Specials: NaN gives NaN, +inf and overflow +inf, -inf and underflow +0; subnormal results are rounded
// once, out of line.
#include "exp.h"

#define EXP_MAX 0x1.62e42fefa39efp9   // log of the largest double; above: inf
#define EXP_MIN -0x1.6232bdd7abcd2p9  // log of 2^-1022; below: subnormal or 0
#define EXP_ZERO -0x1.7492p9         // below log of 2^-1075: here the result is 0 at the latest

RECIPE_FN double exp_one(double x) {
    struct exp_parts e = exp_split1(x);
    double y = from64(bits64(e.head + e.tail) + e.scale);
    y = x > EXP_MAX ? __builtin_inf() : y;
    y = x < EXP_MIN ? 0.0 : y;
    return x == x ? y : x + x;
}
RECIPE_FN int exp_rare(double x) {
    return (x < EXP_MIN) & (x > EXP_ZERO);
}
static double exp_slow(double x) {
    return exp_join_tiny(exp_split1(x));
}
KERNEL1_RARE(exp, f64, exp_one, exp_rare, exp_slow)

// 2^r = 1 + r (c1 + r q(r)), |r| <= 1/32
RECIPE_FN struct exp_parts exp2_split(double x) {
    double m = x + 0x1.8p48, r = x - (m - 0x1.8p48);
    uint64_t n = bits64(m);
    double q = fma64(r, 0x1.ffcdadae226e8p-17, 0x1.430a1c79c1c95p-13);
    q = fma64(r, q, 0x1.5d87fe7827596p-10);
    q = fma64(r, q, 0x1.3b2ab6fb41d43p-7);
    q = fma64(r, q, 0x1.c6b08d704a0c2p-5);
    q = fma64(r, q, 0x1.ebfbdff82c59p-3);
    q = fma64(r, q, 0x1.62e42fefa39efp-1);
    double head = exp_head[n & 15];
    return (struct exp_parts){head, fma64(head, r * q, exp_tail[n & 15]), exp_scale(n)};
}
RECIPE_FN double exp2_one(double x) {
    struct exp_parts e = exp2_split(x);
    double y = from64(bits64(e.head + e.tail) + e.scale);
    y = x >= 1024.0 ? __builtin_inf() : y;
    y = x < -1022.0 ? 0.0 : y;
    return x == x ? y : x + x;
}
RECIPE_FN int exp2_rare(double x) {
    return (x < -1022.0) & (x > -1075.0);
}
static double exp2_slow(double x) {
    return exp_join_tiny(exp2_split(x));
}
KERNEL1_RARE(exp2, f64, exp2_one, exp2_rare, exp2_slow)
