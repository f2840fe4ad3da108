// SPDX-License-Identifier: MIT
// sinc x = sin(pi x) / (pi x), f64 and f32.
//
// With n = nint |x| and r = |x| - n, which is exact, it is +- (sin(pi r) / (pi r)) r / |x|, without
// cancellation at any x and without pi. 1 at 0, 0 at the other whole numbers, NaN at infinity.
#include "exp.h"
#include "sinpi.h"

RECIPE_FN vd sinc_one(vd x) {
    vd a = abs_d(x), n = rint_d(a), r = a - n, h = 0.5 * n;
    struct ddv s = sinpi_ratio(r), p = prod_d(s.hi, r);
    p.lo = fma_d(s.lo, r, p.lo);
    vd safe = lt_d(a, 0.5, 0.5, lt_d(0x1p1000, a, 0x1p1000, a)); // the quotient is for n >= 1
    struct ddv q = div_dd(p, (struct ddv){safe, VD(0.0)});
    vd y = flip_d(q.hi + q.lo, eq_d(rint_d(h), h, 0.0, -0.0));
    y = eq_d(n, 0.0, s.hi + s.lo, y);
    return lt_d(a, __builtin_inf(), y, x - x);
}
VKERNEL1(sinc, f64, sinc_one)
VKERNEL1_WIDE(sinc, sinc_one)
