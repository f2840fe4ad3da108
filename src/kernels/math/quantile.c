// SPDX-License-Identifier: MIT
// ndtri, the inverse of the normal distribution function, f64, and f32 through it.
//
// Wichura's rational functions (algorithm AS 241, PPND16, 1988): for |p - 1/2| <= 0.425 in (p -
// 1/2)^2, and in the tails in r = sqrt(-log min(p, 1 - p)), with other coefficients from r = 5 on.
// They hold down to the least number. 0 gives -inf, 1 inf, what lies outside NaN.
#include "exp.h"
#include "log.h"

// In the middle: the quantile over p - 1/2 less sqrt(2 pi), likewise; the sum above loses its large
// terms.
#define SQRT_2PI 0x1.40d931ff62706p1
#define SQRT_2PI_TAIL -0x1.a6a0d6f814637p-53
static const double central[2][8] = {
    {0x1.c2d17faa321bep-1, 0x1.b13efbb3f125dp4, 0x1.f2231b43155abp7, 0x1.a4e624c5d59ffp7,
     -0x1.c5524867b111ap12, -0x1.e8820c6466e2bp14, -0x1.2d6d2044ed4a8p15, -0x1.4afe66398e791p13},
    {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
     2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
     5.2264952788528545610e+3}};
// In the tails: r sqrt(2) less the quantile, from Wichura's functions by exact arithmetic. It is
// smaller than the quantile (a tenth beyond r = 5), so that the roundings of two long sums show
// less.
#define SQRT2 0x1.6a09e667f3bcdp0
#define SQRT2_TAIL -0x1.bdd3413b26456p-54
static const double gap[2][9] = {
    {0x1.adb954c2ae754p-1, 0x1.6e02002a8b571p0, 0x1.dad18ff100021p-1, 0x1.227dd5ec6f47ap-2,
     0x1.48d602d5eebadp-5, 0x1.0e15b5d9ecacbp-9, 0x1.3ab2c36ce8a91p-17, -0x1.12fa0f93f31dcp-23,
     0x1.9876e6013e193p-30},
    {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9, 0.0}};
static const double far_gap[2][9] = {
    {0x1.a7143ee02599bp-2, 0x1.88f9e171f2ffep-3, 0x1.03b9bb95f739dp-5, 0x1.29d2c2469bfacp-9,
     0x1.205f1fa45bed3p-14, 0x1.74d738f157e83p-21, 0x1.0cd00477a212fp-31, -0x1.6f3df459db2edp-40,
     0x1.a0a3fb665cb0ap-49},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15, 0.0}};

RECIPE_FN vd ratio(vd r, const double *above, const double *below, int degree) {
    vd n = VD(above[degree]), d = VD(below[degree]);
    for (int i = degree - 1; i >= 0; i--) {
        n = fma_d(r, n, above[i]);
        d = fma_d(r, d, below[i]);
    }
    return n / d;
}
// r = sqrt(-log p), 0 < p <= 1/2
RECIPE_FN struct ddv depth(vd p) {
    vd small = lt_d(p, 0x1p-1000, 0x1p60, 1.0),
       off = lt_d(p, 0x1p-1000, 60 * 0x1.62e42fefa39efp-1, 0.0);
    struct ddv l = log_join(log_split(p * small, &log_natural));
    struct ddv s = sum_d(off, -l.hi);
    s.lo = s.lo - l.lo;
    vd r = sqrt_d(s.hi + s.lo), rest = fma_d(-r, r, s.hi) + s.lo;
    return (struct ddv){r, rest * (0.5 / r)};
}
static __attribute__((noinline)) vd far_distance(vd r) {
    return ratio(r - 5.0, far_gap[0], far_gap[1], 8);
}

RECIPE_FN vd ndtri_one(vd p) {
    vd q = p - 0.5, low = lt_d(p, 0.5, p, 1.0 - p);
    vd bend = ratio(fma_d(-q, q, 0.180625), central[0], central[1], 7);
    vd middle = fma_d(q, SQRT_2PI, q * (bend + SQRT_2PI_TAIL));
    struct ddv r = depth(lt_d(low, 0x1p-1074, 0x1p-1074, low));
    vd away = ratio(r.hi - 1.6, gap[0], gap[1], 8);
    if (any_lt_d(5.0, r.hi)) away = lt_d(5.0, r.hi, far_distance(r.hi), away);
    struct ddv end = prod_d(r.hi, VD(SQRT2));
    end.lo = end.lo + fma_d(r.lo, SQRT2, r.hi * SQRT2_TAIL);
    vd y = end.hi - (away - end.lo);
    y = le_d(abs_d(q), 0.425, middle, flip_d(y, q));
    y = eq_d(low, 0.0, flip_d(VD(__builtin_inf()), q), y);
    return lt_d(low, 0.0, __builtin_nan(""), eq_d(p, p, y, p + p));
}
VKERNEL1(ndtri, f64, ndtri_one)
VKERNEL1_WIDE(ndtri, ndtri_one)
