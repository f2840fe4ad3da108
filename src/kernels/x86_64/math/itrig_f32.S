// SPDX-License-Identifier: MIT
// asin, acos, atan of f32 in single precision: the recipes of kernels/math/itrig_f32.c.
//
// Method     atan: t = |x| or -1/|x|, t (1 + z P(z)), z = t^2, the bracket as two, what the quotient lost, pi/2;
//            asin, acos: t + t z R(z) for |x| <= 1/2, beyond through s = sqrt((1 - |x|)/2) with what the root lost
// Error      in ULP (all arguments): atan 0.8341 at 0x1.01512p+0; asin 0.6928 at -0x1.0fccacp-1; acos 0.6651 at
//            0x1.16ec96p-1
// Specials   none out of line: |x| > 1 gives NaN for asin and acos, atan of infinities is +-pi/2
// Registers  x argument and result   a |x|   t, l reduced argument and its rest   h, l the multiple of pi/2
//            z t^2   p polynomial   others as they come

#include "vm.inc"
    VM_TYPE 32
    const ZERO, 0
    const HALF, 0.5
    const MINUS_HALF, -0.5
    const ONE, 1
    const MINUS_ONE, -1
    const TWO, 2
    const MINUS_TWO, -2
    const FAR, 0x1p60
    const PI_HI, 0x1.921fb6p1
    const PI_LO, -0x1.777a5cp-24
    const HALF_PI_HI, 0x1.921fb6p0
    const HALF_PI_LO, -0x1.777a5cp-25
    const A1, -0x1.55553ep-2
    const A2, 0x1.9991e6p-3
    const A3, -0x1.242116p-3
    const A4, 0x1.c0947p-4
    const A5, -0x1.5825e8p-4
    const A6, 0x1.da9c12p-5
    const A7, -0x1.fe7d08p-6
    const A8, 0x1.6551acp-7
    const A9, -0x1.d5a076p-10
    const R1, 0x1.5555c8p-3
    const R2, 0x1.330206p-4
    const R3, 0x1.747b72p-5
    const R4, 0x1.8c415ap-6
    const R5, 0x1.5959aap-5
    bits INVERSE, 0x7e7311c7

// x = h + t + l, |h| >= |t| or h = 0; h, t and z change
.macro itrig_sum3
    vadd z, h, t
    vsub h, z, h
    vsub t, t, h
    vadd t, t, l
    vadd x, z, t
.endm

.macro atan_f32_test
.endm
.macro atan_f32_body
    vabs a, x
    vmin a, FAR, a
    vmask big, gt, a, ONE
    vpick z, big, MINUS_ONE, a
    vpick a, big, a, ONE
    vdiv t, z, a
    vkeep l, big, HALF_PI_LO
    vfnma z, t, a, z
    vmul a, z, t
    vmul z, t, t
    vfma p, z, HALF, MINUS_ONE
    vfma l, a, p, l
    vfma p, z, A9, A8
    vfma p, p, z, A7
    vfma p, p, z, A6
    vfma p, p, z, A5
    vfma p, p, z, A4
    vfma p, p, z, A3
    vfma p, p, z, A2
    vfma p, p, z, A1
    vfma a, z, p, ONE
    vsub h, ONE, a
    vfma h, z, p, h
    vmul p, t, a
    vfms a, t, a, p
    vfma a, t, h, a
    vadd l, a, l
    vmov t, p
    vkeep h, big, HALF_PI_HI
    vmov a, x
    itrig_sum3
    vsign x, x, a
.endm

// for asin and acos: z = t^2 of either side, s its root, y what the root lost
.macro itrig_root
    vabs a, x
    vmask big, gt, a, HALF
    vmul z, a, a
    vfma h, a, MINUS_HALF, HALF
    vpick z, big, h, z
    vsqrt t, z
    vmul p, t, MINUS_TWO
    visub l, INVERSE, t
    vfma p, p, l, TWO
    vmul l, l, p
    vfnma p, t, t, z
    vmul l, p, l
    vkeep l, big, l
.endm
.macro itrig_poly
    vfma p, z, R5, R4
    vfma p, p, z, R3
    vfma p, p, z, R2
    vfma p, p, z, R1
    vmul z, t, z
    vfma l, z, p, l
.endm

.macro asin_f32_test
.endm
.macro asin_f32_body
    itrig_root
    vpick t, big, t, a
    itrig_poly
    vpick a, big, MINUS_TWO, ONE
    vmul t, a, t
    vkeep p, big, HALF_PI_LO
    vfma l, a, l, p
    vkeep h, big, HALF_PI_HI
    vmov a, x
    itrig_sum3
    vsign x, x, a
.endm

.macro acos_f32_test
.endm
.macro acos_f32_body
    itrig_root
    vpick t, big, t, x
    itrig_poly
    vmov a, TWO
    vflip a, a, x
    vpick a, big, a, MINUS_ONE
    vmul t, a, t
    vsel lt, p, x, ZERO, PI_LO, ZERO
    vpick p, big, p, HALF_PI_LO
    vfma l, a, l, p
    vsel lt, h, x, ZERO, PI_HI, ZERO
    vpick h, big, h, HALF_PI_HI
    itrig_sum3
.endm
    VM_MASKS big
    VM_FUNCTION atan, f32, 1, a, z, t, l, p, h
    VM_MASKS big
    VM_FUNCTION asin, f32, 1, a, z, t, l, p, h
    VM_MASKS big
    VM_FUNCTION acos, f32, 1, a, z, t, l, p, h
