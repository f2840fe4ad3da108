// SPDX-License-Identifier: MIT
// cbrt and hypot, f64: the recipes of kernels/math/root.c.
//
// Method     cbrt: y ~ a^(-1/3) from the bits of a, 3.3 %, and by a polynomial in e = 1 - a y^3, 2^-22; c = a y^2, and its
//            residual c^3 - a, exact in two pieces, corrects it to second order in e' = 1 - c y.
//            hypot: a^2 + b^2 in head and tail, its root h corrected by the remainder over 2 h (three bits, from h's)
// Error      in ULP: cbrt 0.5007 at -0x1.ccac1cbad1e94p-4; hypot 0.5267 at 0x1.ffff889a3b55bp-1,
//            -0x1.aa6c8bf3fe512p-9
// Specials   out of line: cbrt of zeros, |x| < 2^-960, inf, NaN; hypot unless 2^-400 <= larger operand < 2^500
// Registers  cbrt: a argument   y inverse root, then residual   e error, factor   p polynomial, y^2   c root   s c^2
//            hypot: p larger, q smaller operand, then tails   x y squares   s sum

#include "vm.inc"
    VM_TYPE 64
    const LEAST, 0x1p-960
    bits INF, 0x7ff0000000000000
    bits START, 0x553ee94b8525d400
    bits THIRD_OF_BITS, 0x55555555
    const ONE, 1
    const P4, 0x1.2aa26def3be93p-3
    const P3, 0x1.64b59aab040b1p-3
    const P2, 0x1.c7191f93d4844p-3
    const P1, 0x1.5554de342075dp-2
    const FOUR_NINTHS, 0x1.c71c71c71c71cp-2
    const THIRD, 0x1.5555555555555p-2

.macro cbrt_f64_test
    vabs a, x
    inside ge, a, LEAST
    inside lt, a, INF
.endm
.macro cbrt_f64_body
    vabs a, x
    vshr y, a, 32
    vmulu y, y, THIRD_OF_BITS
    visub y, START, y
    vmul e, y, a
    vmul p, y, y
    vfnma e, e, p, ONE
    vfma p, e, P4, P3
    vfma p, p, e, P2
    vfma p, p, e, P1
    vmul e, e, y
    vfma y, e, p, y
    vmul p, y, y
    vmul c, a, p
    vfnma e, c, y, ONE
    vmul y, c, c
    vfms s, c, c, y
    vfms y, y, c, a
    vfma y, s, c, y
    vfma e, e, FOUR_NINTHS, THIRD
    vmul p, p, e
    vfnma y, y, p, c
    vsign x, y, x
.endm
    VM_FUNCTION cbrt, f64, 1, a, y, e, p, c, s

    const NEAR, 0x1p500
    const FAR_BELOW, 0x1p-400
    bits HALF_INVERSE, 0x7fce600000000000

.macro hypot_f64_test
    vabs p, x
    vabs q, y
    inside lt, p, NEAR
    inside lt, q, NEAR
    vmax p, p, q
    inside ge, p, FAR_BELOW
.endm
.macro hypot_f64_body
    vabs x, x
    vabs y, y
    vmax p, x, y
    vmin q, x, y
    vmul x, p, p
    vfms p, p, p, x
    vmul y, q, q
    vfms q, q, q, y
    vadd s, x, y
    vsub x, s, x
    vsub y, y, x
    vadd p, p, q
    vadd y, y, p
    vsqrt x, s
    vfnma s, x, x, s
    vadd s, s, y
    visub p, HALF_INVERSE, x
    vfma x, s, p, x
.endm
    VM_FUNCTION hypot, f64, 2, p, q, s
