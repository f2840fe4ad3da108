// SPDX-License-Identifier: MIT
// log, log2, log10 and log1p, f32, by the core of log_f32.h.
//
// Specials: log of +-0 is -inf, of a negative number NaN, of +inf +inf; log2 of a power of two is
// exact. Zeros, negative and subnormal numbers leave the main line for a vector that holds one; a
// subnormal is scaled by 2^32. log1p(+-0) = +-0, log1p(-1) = -inf.
// Largest errors: log 0.5575 ULP at 0x1.05832cp+0 (of all arguments); seen: log2 0.555 at 0x1.f519c6p-1, log10
// 0.544 at 0x1.05f3cep+0, log1p 0.546 at 0x1.6d9096p-6.
#include "log_f32.h"

#define LOG_TINY(name, t, join)                                                                    \
    static __attribute__((noinline)) vs name##_tiny(vs x, vs y) {                                  \
        struct logs_parts a = logs_split(x * 0x1p32f, -32.0f, t);                                  \
        struct sdv s = join;                                                                       \
        y = lt_s(x, LOGS_MIN, s.hi + s.lo, y);                                                     \
        y = eq_s(x, 0.0f, -__builtin_inff(), y);                                                   \
        return lt_s(x, 0.0f, __builtin_nanf(""), y);                                               \
    }
LOG_TINY(log, &logs_natural, logs_join(a))
LOG_TINY(log2, &logs_binary, logs_join_base(a, &logs_binary))
LOG_TINY(log10, &logs_decimal, logs_join_base(a, &logs_decimal))

RECIPE_FN vs log_one(vs x) {
    struct sdv s = logs_join(logs_split(x, 0.0f, &logs_natural));
    vs y = lt_s(x, __builtin_inff(), s.hi + s.lo, x + x);
    return any_lt_s(x, LOGS_MIN) ? log_tiny(x, y) : y;
}
RECIPE_FN vs log2_one(vs x) {
    struct sdv s = logs_join_base(logs_split(x, 0.0f, &logs_binary), &logs_binary);
    vs y = lt_s(x, __builtin_inff(), s.hi + s.lo, x + x);
    return any_lt_s(x, LOGS_MIN) ? log2_tiny(x, y) : y;
}
RECIPE_FN vs log10_one(vs x) {
    struct sdv s = logs_join_base(logs_split(x, 0.0f, &logs_decimal), &logs_decimal);
    vs y = lt_s(x, __builtin_inff(), s.hi + s.lo, x + x);
    return any_lt_s(x, LOGS_MIN) ? log10_tiny(x, y) : y;
}

static __attribute__((noinline)) vs log1p_rare(vs x, vs y) {
    y = lt_s(x, LOG1PS_FAR, y, logs_far(x));
    y = eq_s(x, -1.0f, -__builtin_inff(), y);
    return lt_s(x, -1.0f, __builtin_nanf(""), y);
}
RECIPE_FN vs log1p_one(vs x) {
    struct sdv s = log1ps_dd(x, VS(0.0f));
    vs y = sign_s(s.hi + s.lo, x); // for -0; elsewhere the signs agree
    vs fine = lt_s(-1.0f, x, lt_s(x, LOG1PS_FAR, 1.0f, 0.0f), 0.0f);
    return any_eq_s(fine, 0.0f) ? log1p_rare(x, y) : y;
}

VKERNEL1(log, f32, log_one)
VKERNEL1(log2, f32, log2_one)
VKERNEL1(log10, f32, log10_one)
VKERNEL1(log1p, f32, log1p_one)
