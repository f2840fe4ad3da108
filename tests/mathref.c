// SPDX-License-Identifier: MIT
// The elementary functions in high precision (MPFR), and the distance of a result from them in ULP.
//
// 160 bits: the argument reductions are MPFR's own and exact; the composite functions (sigmoid,
// silu, softplus, gelu) are written so that nothing cancels, or lose at most a few dozen bits.
// Special values are those of C Annex F, which MPFR follows; where a composite has a limit it is
// set by hand.
#include <limits.h>
#include <math.h>
#include <mpfr.h>

#include "mathref.h"

#define PREC 160
static mpfr_t x, y, r, t;
static bool ready;

static void start(void) {
    if (ready) return;
    mpfr_inits2(PREC, x, y, r, t, (mpfr_ptr)0);
    ready = true;
}
void mathref_free(void) {
    if (ready) mpfr_clears(x, y, r, t, (mpfr_ptr)0);
    ready = false;
    mpfr_free_cache();
}

typedef void ref_fn(void); // operates on x (and y), leaves the result in r; may change x, y, t
#define MPFR1(f, call)                                                                             \
    static void ref_##f(void) {                                                                    \
        call(r, x, MPFR_RNDN);                                                                     \
    }
MPFR1(exp, mpfr_exp)
MPFR1(exp2, mpfr_exp2)
MPFR1(expm1, mpfr_expm1)
MPFR1(log, mpfr_log)
MPFR1(log2, mpfr_log2)
MPFR1(log10, mpfr_log10)
MPFR1(log1p, mpfr_log1p)
MPFR1(sin, mpfr_sin)
MPFR1(cos, mpfr_cos)
MPFR1(tan, mpfr_tan)
MPFR1(asin, mpfr_asin)
MPFR1(acos, mpfr_acos)
MPFR1(atan, mpfr_atan)
MPFR1(sinh, mpfr_sinh)
MPFR1(cosh, mpfr_cosh)
MPFR1(tanh, mpfr_tanh)
MPFR1(asinh, mpfr_asinh)
MPFR1(acosh, mpfr_acosh)
MPFR1(atanh, mpfr_atanh)
MPFR1(cbrt, mpfr_cbrt)
MPFR1(erf, mpfr_erf)
MPFR1(erfc, mpfr_erfc)
#define MPFR2(f, call)                                                                             \
    static void ref_##f(void) {                                                                    \
        call(r, x, y, MPFR_RNDN);                                                                  \
    }
MPFR2(pow, mpfr_pow)
MPFR2(hypot, mpfr_hypot)
MPFR2(atan2, mpfr_atan2)

// r = 1 / (1 + e^-x)
static void ref_sigmoid(void) {
    mpfr_neg(t, x, MPFR_RNDN);
    mpfr_exp(t, t, MPFR_RNDN);
    mpfr_add_ui(t, t, 1, MPFR_RNDN);
    mpfr_ui_div(r, 1, t, MPFR_RNDN);
}
// x sigmoid(x); at -inf the limit, -0
static void ref_silu(void) {
    if (mpfr_inf_p(x) && mpfr_signbit(x)) {
        mpfr_set_zero(r, -1);
        return;
    }
    ref_sigmoid();
    mpfr_mul(r, r, x, MPFR_RNDN);
}
static void ref_softplus(void) {
    mpfr_exp(t, x, MPFR_RNDN);
    mpfr_log1p(r, t, MPFR_RNDN);
    if (mpfr_inf_p(t)) mpfr_set(r, x, MPFR_RNDN);
}
// x (1 + tanh(u)) / 2 = x sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3)
static void ref_gelu_tanh(void) {
    if (mpfr_inf_p(x) && mpfr_signbit(x)) {
        mpfr_set_zero(r, -1);
        return;
    }
    mpfr_set(y, x, MPFR_RNDN);
    mpfr_sqr(t, x, MPFR_RNDN);
    mpfr_mul_ui(t, t, 44715, MPFR_RNDN);
    mpfr_div_ui(t, t, 1000000, MPFR_RNDN);
    mpfr_add_ui(t, t, 1, MPFR_RNDN);
    mpfr_mul(x, x, t, MPFR_RNDN);
    mpfr_const_pi(t, MPFR_RNDN);
    mpfr_ui_div(t, 8, t, MPFR_RNDN); // (2 sqrt(2/pi))^2
    mpfr_sqrt(t, t, MPFR_RNDN);
    mpfr_mul(x, x, t, MPFR_RNDN);
    ref_sigmoid();
    mpfr_mul(r, r, y, MPFR_RNDN);
}
// x erfc(-x / sqrt 2) / 2
static void ref_gelu_erf(void) {
    if (mpfr_inf_p(x) && mpfr_signbit(x)) {
        mpfr_set_zero(r, -1);
        return;
    }
    mpfr_set_ui(t, 2, MPFR_RNDN);
    mpfr_sqrt(t, t, MPFR_RNDN);
    mpfr_div(t, x, t, MPFR_RNDN);
    mpfr_neg(t, t, MPFR_RNDN);
    mpfr_erfc(r, t, MPFR_RNDN);
    mpfr_mul(r, r, x, MPFR_RNDN);
    mpfr_div_2ui(r, r, 1, MPFR_RNDN);
}

// m + log(1 + e^(l - m)), base 2 likewise; an infinite m is the result
static void ref_logadd(int (*power)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t), bool binary) {
    if (mpfr_less_p(x, y)) mpfr_swap(x, y);
    if (mpfr_inf_p(x)) {
        mpfr_set(r, mpfr_nan_p(y) ? y : x, MPFR_RNDN);
        return;
    }
    mpfr_sub(t, y, x, MPFR_RNDN);
    power(t, t, MPFR_RNDN);
    mpfr_log1p(r, t, MPFR_RNDN);
    if (binary) {
        mpfr_set_ui(t, 2, MPFR_RNDN);
        mpfr_log(t, t, MPFR_RNDN);
        mpfr_div(r, r, t, MPFR_RNDN);
    }
    mpfr_add(r, r, x, MPFR_RNDN);
}
static void ref_logaddexp(void) {
    ref_logadd(mpfr_exp, false);
}
static void ref_logaddexp2(void) {
    ref_logadd(mpfr_exp2, true);
}
MPFR1(tgamma, mpfr_gamma)
static void ref_lgamma(void) {
    int sign;
    mpfr_lgamma(r, &sign, x, MPFR_RNDN);
}
// Whole numbers give 0 exactly, infinities NaN.
static void ref_sinc(void) {
    if (mpfr_zero_p(x)) {
        mpfr_set_ui(r, 1, MPFR_RNDN);
        return;
    }
    mpfr_abs(x, x, MPFR_RNDN);
    mpfr_fmod_ui(t, x, 2, MPFR_RNDN); // exact
    if (mpfr_integer_p(t)) {
        mpfr_set_zero(r, mpfr_zero_p(t) ? 1 : -1);
        return;
    }
    mpfr_const_pi(y, MPFR_RNDN);
    mpfr_mul(t, t, y, MPFR_RNDN);
    mpfr_sin(t, t, MPFR_RNDN);
    mpfr_div(t, t, y, MPFR_RNDN);
    mpfr_div(r, t, x, MPFR_RNDN);
}
// t = log of the distribution function at -r, y = that function
static void ref_tail(void) {
    mpfr_sqrt_ui(t, 2, MPFR_RNDN);
    mpfr_div(t, r, t, MPFR_RNDN);
    mpfr_erfc(y, t, MPFR_RNDN);
    mpfr_div_2ui(y, y, 1, MPFR_RNDN);
    mpfr_log(t, y, MPFR_RNDN);
}
// Newton's method on log Phi(-r) = log p, p <= 1/2 the smaller side, from sqrt(-2 log p) as a start:
// the function is concave, so the steps do not overshoot for long.
static void ref_ndtri(void) {
    if (mpfr_nan_p(x)) {
        mpfr_set_nan(r);
        return;
    }
    bool above = mpfr_cmp_d(x, 0.5) > 0;
    if (mpfr_cmp_ui(x, 0) <= 0 || mpfr_cmp_ui(x, 1) >= 0) {
        if (mpfr_zero_p(x) || mpfr_cmp_ui(x, 1) == 0)
            mpfr_set_inf(r, above ? 1 : -1);
        else
            mpfr_set_nan(r);
        return;
    }
    if (mpfr_cmp_d(x, 0.5) == 0) {
        mpfr_set_zero(r, 1);
        return;
    }
    mpfr_t want, step;
    mpfr_inits2(PREC, want, step, (mpfr_ptr)0);
    if (above) mpfr_ui_sub(x, 1, x, MPFR_RNDN); // exact
    mpfr_log(want, x, MPFR_RNDN);
    mpfr_mul_si(r, want, -2, MPFR_RNDN);
    mpfr_sqrt(r, r, MPFR_RNDN);
    for (int i = 0; i < 60; i++) {
        ref_tail();
        mpfr_sub(step, t, want, MPFR_RNDN);
        mpfr_mul(step, step, y, MPFR_RNDN); // (log Phi - log p) Phi / phi
        mpfr_sqr(t, r, MPFR_RNDN);
        mpfr_div_2ui(t, t, 1, MPFR_RNDN);
        mpfr_exp(t, t, MPFR_RNDN);
        mpfr_mul(step, step, t, MPFR_RNDN);
        mpfr_const_pi(t, MPFR_RNDN);
        mpfr_mul_2ui(t, t, 1, MPFR_RNDN);
        mpfr_sqrt(t, t, MPFR_RNDN);
        mpfr_mul(step, step, t, MPFR_RNDN);
        mpfr_add(r, r, step, MPFR_RNDN);
        if (mpfr_zero_p(step) || mpfr_get_exp(step) < mpfr_get_exp(r) - 120) break;
    }
    if (!above) mpfr_neg(r, r, MPFR_RNDN);
    mpfr_clears(want, step, (mpfr_ptr)0);
}
static void ref_scale_by_power(void) {
    if (mpfr_nan_p(y)) {
        mpfr_add(r, x, y, MPFR_RNDN);
        return;
    }
    double n = rint(fmax(-5000, fmin(5000, mpfr_get_d(y, MPFR_RNDN))));
    mpfr_mul_2si(r, x, (long)n, MPFR_RNDN);
}

// exact families have tests of their own
#define ref_floor_divide NULL
#define ref_remainder NULL
#define ref_nextafter NULL
#define ref_frexp_mantissa NULL
#define ref_frexp_power NULL
#define ref_gcd NULL
#define ref_lcm NULL
#define ref_random_word NULL
#define ref_random_half NULL
#define ref_random_below NULL
static ref_fn *const refs[] = {
#define F(name) [KERN_F_##name] = ref_##name,
    KERN_FAMILIES(F)
#undef F
};
static const char *const names[] = {
#define F(name) [KERN_F_##name] = #name,
    KERN_FAMILIES(F)
#undef F
};

bool mathref_has(enum kern_family f) {
    return (size_t)f < COUNT_OF(refs) && refs[f];
}
const char *mathref_name(enum kern_family f) {
    return (size_t)f < COUNT_OF(names) ? names[f] : "?";
}
bool mathref_binary(enum kern_family f) {
    return f == KERN_F_pow || f == KERN_F_hypot || f == KERN_F_atan2 || f == KERN_F_logaddexp ||
           f == KERN_F_logaddexp2 || f == KERN_F_scale_by_power;
}

static void evaluate(enum kern_family f, double a, double b) {
    start();
    mpfr_set_d(x, a, MPFR_RNDN);
    mpfr_set_d(y, b, MPFR_RNDN);
    refs[f]();
}

double mathref_value(enum kern_family f, double a, double b) {
    evaluate(f, a, b);
    return mpfr_get_d(r, MPFR_RNDN);
}

// Where the terms of a function cancel, its error is bounded by a share of them: the exponent of that
// share (docs/numerics.md); else one below all others.
static long absolute_unit(enum kern_family f, double a, double b) {
    if (f == KERN_F_lgamma && a < -2) return (long)ilogb(1 + fabs(lgamma(-a))) - 56;
    if (f == KERN_F_logaddexp || f == KERN_F_logaddexp2)
        if (fmax(a, b) < 0 && fmax(a, b) > -2) return -58;
    return LONG_MIN;
}

double mathref_ulp(enum kern_family f, weft_dtype type, double a, double b, double got) {
    const long digits = type == WEFT_F64 ? 53 : 24;
    const long emax = type == WEFT_F64 ? 1024 : 128,
               emin = 3 - emax - digits; // 2^emin: least number
    evaluate(f, a, b);
    if (mpfr_nan_p(r)) return isnan(got) ? 0.0 : HUGE_VAL;
    if (isnan(got)) return HUGE_VAL;
    if (mpfr_inf_p(r) || mpfr_zero_p(r)) {
        double want = mpfr_get_d(r, MPFR_RNDN);
        return got == want && !signbit(got) == !signbit(want) ? 0.0 : HUGE_VAL;
    }
    long e = mpfr_get_exp(r) - digits; // ulp = 2^e
    const long unit = absolute_unit(f, a, b);
    if (unit > e) {
        mpfr_sub_d(t, r, got, MPFR_RNDN);
        return fabs(mpfr_get_d(t, MPFR_RNDN)) / ldexp(1, (int)unit);
    }
    if (signbit(got) != (mpfr_signbit(r) != 0)) return HUGE_VAL; // zeros keep the sign as well
    if (e < emin) e = emin;
    if (e > emax - digits) e = emax - digits;
    if (isinf(got)) {
        mpfr_set_ui_2exp(t, 1, emax, MPFR_RNDN);
        if (mpfr_cmpabs(r, t) >= 0) return 0.0;
        mpfr_setsign(t, t, got < 0, MPFR_RNDN);
    } else {
        mpfr_set_d(t, got, MPFR_RNDN);
    }
    mpfr_sub(t, t, r, MPFR_RNDN);
    mpfr_div_2si(t, t, e, MPFR_RNDN);
    return fabs(mpfr_get_d(t, MPFR_RNDN));
}
