// SPDX-License-Identifier: MIT
// log, log2, log10 and log1p, f64, by the core of log.h.
//
// Largest errors found, in ULP: log 0.5169 at 0x1.05df86ba94056p+0, log2 0.5510 at 0x1.0565edb629074p+0, log10
// 0.5207 at 0x1.067795f01f8p+0, log1p 0.5157 at 0x1.5ffa591b741dfp-6.
// Specials: log of +-0 is -inf, of a negative number NaN, of +inf +inf; log2 of a power of two is
// exact. Zeros, negative and subnormal numbers leave the main line for a vector that holds one; a
// subnormal is scaled by 2^54. log1p(+-0) = +-0, log1p(-1) = -inf.
#include "log.h"

#define LOG_TINY(name, t, join)                                                                    \
    static __attribute__((noinline)) vd name##_tiny(vd x, vd y) {                                  \
        struct log_parts a = log_split(x * 0x1p54, t);                                             \
        a.k = a.k - 54.0;                                                                          \
        a.w = fma_d(-54.0, (t)->two, a.w);                                                         \
        struct ddv s = join;                                                                       \
        y = lt_d(x, LOG_MIN, s.hi + s.lo, y);                                                      \
        y = eq_d(x, 0.0, -__builtin_inf(), y);                                                     \
        return lt_d(x, 0.0, __builtin_nan(""), y);                                                 \
    }
LOG_TINY(log, &log_natural, log_join(a))
LOG_TINY(log2, &log_binary, log_join_base(a, &log_binary))
LOG_TINY(log10, &log_decimal, log_join_base(a, &log_decimal))

RECIPE_FN vd log_one(vd x) {
    struct ddv s = log_join(log_split(x, &log_natural));
    vd y = lt_d(x, __builtin_inf(), s.hi + s.lo, x + x);
    return any_lt_d(x, LOG_MIN) ? log_tiny(x, y) : y;
}
RECIPE_FN vd log2_one(vd x) {
    struct ddv s = log_join_base(log_split(x, &log_binary), &log_binary);
    vd y = lt_d(x, __builtin_inf(), s.hi + s.lo, x + x);
    return any_lt_d(x, LOG_MIN) ? log2_tiny(x, y) : y;
}
RECIPE_FN vd log10_one(vd x) {
    struct ddv s = log_join_base(log_split(x, &log_decimal), &log_decimal);
    vd y = lt_d(x, __builtin_inf(), s.hi + s.lo, x + x);
    return any_lt_d(x, LOG_MIN) ? log10_tiny(x, y) : y;
}

static __attribute__((noinline)) vd log1p_rare(vd x, vd y) {
    y = lt_d(x, LOG1P_FAR, y, log_far(x));
    y = eq_d(x, -1.0, -__builtin_inf(), y);
    return lt_d(x, -1.0, __builtin_nan(""), y);
}
RECIPE_FN vd log1p_one(vd x) {
    struct ddv s = log1p_dd(x, VD(0.0));
    vd y = sign_d(s.hi + s.lo, x); // for -0; elsewhere the signs agree
    vd fine = lt_d(-1.0, x, lt_d(x, LOG1P_FAR, 1.0, 0.0), 0.0);
    return any_eq_d(fine, 0.0) ? log1p_rare(x, y) : y;
}

VKERNEL1(log, f64, log_one)
VKERNEL1(log2, f64, log2_one)
VKERNEL1(log10, f64, log10_one)
VKERNEL1(log1p, f64, log1p_one)
