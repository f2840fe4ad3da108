// SPDX-License-Identifier: MIT
// atan2 of f32 in double precision: the recipe of kernels/math/atan2_f32.c.
//
// Method     t = min/max of the magnitudes, t + t z P(z), z = t^2, turned over and moved by pi/2 or pi by octant
// Error      in ULP: atan2 0.5065 at 0x1.fbdeeap-1, 0x1.dee4cap+0
// Specials   none out of line: infinities are clamped to 2^500, a zero denominator to 2^-500, NaN passes through
// Registers  x, y the operands (first and second)   v, w their magnitudes, then t and z   s side   n numerator
//            p polynomial   h the multiple of pi/2

#include "vm.inc"
    VM_TYPE 64
    const ZERO, 0
    const ONE, 1
    const FAR, 0x1p500
    const NEAR, 0x1p-500
    const PI, 0x1.921fb54442d18p1
    const HALF_PI, 0x1.921fb54442d18p0
    const A1, -0x1.55555104052c5p-2
    const A2, 0x1.9997e0308d673p-3
    const A3, -0x1.247373801a368p-3
    const A4, 0x1.c4f1e169dbe94p-4
    const A5, -0x1.68e6fe5938699p-4
    const A6, 0x1.1422c79a896f9p-4
    const A7, -0x1.6e19a18795e91p-5
    const A8, 0x1.714b1bc02e61fp-6
    const A9, -0x1.df970ad26c093p-8
    const A10, 0x1.23f92f28a78f3p-10

.macro atan2_f32_test
.endm
.macro atan2_f32_body
    vwiden v, x
    vabs v, v
    vwiden w, y
    vmov s, ONE
    vsign s, s, w
    vabs w, w
    vmask steep, lt, w, v
    vpick n, steep, w, v
    vpick w, steep, v, w
    vmin n, FAR, n
    vmin w, FAR, w
    vmax w, NEAR, w
    vdiv v, n, w
    vmul w, v, v
    vfma p, w, A10, A9
    vfma p, p, w, A8
    vfma p, p, w, A7
    vfma p, p, w, A6
    vfma p, p, w, A5
    vfma p, p, w, A4
    vfma p, p, w, A3
    vfma p, p, w, A2
    vfma p, p, w, A1
    vmul w, v, w
    vfma p, w, p, v
    vsel lt, n, s, ZERO, PI, ZERO
    vpick n, steep, HALF_PI, n
    vneg w, s
    vpick s, steep, w, s
    vflip p, p, s
    vadd p, n, p
    vwiden v, x // once more, for its sign: a group less keeps two vectors in flight with AVX2
    vsign p, p, v
    vnarrow x, p
.endm
    VM_MASKS steep
    VM_FUNCTION_WIDE atan2, 2, v, w, s, n, p
