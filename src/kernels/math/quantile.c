// SPDX-License-Identifier: MIT
// ndtri, the inverse of the normal distribution function, f64, and f32 through it.
//
// Wichura's rational functions (algorithm AS 241, PPND16, 1988): for |p - 1/2| <= 0.425 in (p - 1/2)^2, and
// in the tails in r = sqrt(-log min(p, 1 - p)), with other coefficients from r = 5 on. They hold down to
// the least normal number. 0 gives -inf, 1 inf, what lies outside NaN.
#include "exp.h"
#include "log.h"

static const double central[2][8] = {
    {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
     1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
     3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
     2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
     5.2264952788528545610e+3}};
static const double tail[2][8] = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9}};
static const double far_tail[2][8] = {
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15}};

RECIPE_FN vd ratio(vd r, const double c[2][8]) {
    vd n = VD(c[0][7]), d = VD(c[1][7]);
    for (int i = 6; i >= 0; i--) {
        n = fma_d(r, n, c[0][i]);
        d = fma_d(r, d, c[1][i]);
    }
    return n / d;
}
// r = sqrt(-log p), 0 < p <= 1/2
RECIPE_FN vd depth(vd p) {
    vd small = lt_d(p, 0x1p-1000, 0x1p60, 1.0), off = lt_d(p, 0x1p-1000, 60 * 0x1.62e42fefa39efp-1, 0.0);
    struct ddv l = log_join(log_split(p * small, &log_natural));
    return sqrt_d(off - (l.hi + l.lo));
}
static __attribute__((noinline)) vd from_far(vd r) { return ratio(r - 5.0, far_tail); }

RECIPE_FN vd ndtri_one(vd p) {
    vd q = p - 0.5, low = lt_d(p, 0.5, p, 1.0 - p);
    vd middle = q * ratio(fma_d(-q, q, 0.180625), central);
    vd r = depth(lt_d(low, 0x1p-1074, 0x1p-1074, low)), y = ratio(r - 1.6, tail);
    if (any_lt_d(5.0, r)) y = lt_d(5.0, r, from_far(r), y);
    y = le_d(abs_d(q), 0.425, middle, flip_d(y, q));
    y = eq_d(low, 0.0, flip_d(VD(__builtin_inf()), q), y);
    return lt_d(low, 0.0, __builtin_nan(""), eq_d(p, p, y, p + p));
}
VKERNEL1(ndtri, f64, ndtri_one)
VKERNEL1_WIDE(ndtri, ndtri_one)
