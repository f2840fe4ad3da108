// SPDX-License-Identifier: MIT
// asin, acos, atan, atan2 of f64: the recipes of kernels/math/itrig_f64.c.
//
// Method     atan: t = |x| or -1/|x| (atan2: min/max of the magnitudes), t (1 + z P(z)), z = t^2, the bracket as two,
//            what the quotient lost times the slope, and the multiple of pi/2 in two parts; asin, acos: t + t z R(z)
//            for |x| <= 1/2, beyond through s = sqrt((1 - |x|)/2) with what the root lost
// Error      asin 0.654 ULP at 0x1.0aa1a2fd8e696p-1, acos 0.644 at 0x1.1a5e941fa9cc9p-1, atan 0.830 at
//            0x1.f4ee0347e3cf8p-1, atan2 0.791 at 0x1.6dacbe9479977p+0, 0x1.722bfc48ef476p+0
// Specials   |x| > 1 gives NaN for asin and acos, atan of infinities is +-pi/2; atan2 out of line unless the larger
//            magnitude lies within 2^-500 and 2^500
// Registers  x argument (atan2: y and x) and result   t reduced argument   l, n its rest   z w u powers of t
//            others terms of the polynomial   h (atan2: y) the multiple of pi/2

#include "vm.inc"
    VM_TYPE 64
    const ZERO, 0
    const HALF, 0.5
    const MINUS_HALF, -0.5
    const ONE, 1
    const MINUS_ONE, -1
    const TWO, 2
    const MINUS_TWO, -2
    const FAR, 0x1p60
    const SMALL, 0x1p-60
    const LEAST, 0x1p-500
    const MOST, 0x1p500
    const PI_HI, 0x1.921fb54442d18p1
    const PI_LO, 0x1.1a62633145c07p-53
    const HALF_PI_HI, 0x1.921fb54442d18p0
    const HALF_PI_LO, 0x1.1a62633145c07p-54
    bits INVERSE, 0x7fde623822fc16e6
    const A1, -0x1.5555555555526p-2
    const A2, 0x1.99999999955b4p-3
    const A3, -0x1.249249237f57dp-3
    const A4, 0x1.c71c717fcf76bp-4
    const A5, -0x1.745d11ae74c19p-4
    const A6, 0x1.3b13669a2984fp-4
    const A7, -0x1.110e5126f6eadp-4
    const A8, 0x1.e1bba66bb85f4p-5
    const A9, -0x1.ae5e72bebef5p-5
    const A10, 0x1.82dad7943c62ep-5
    const A11, -0x1.59a3ff0f91a35p-5
    const A12, 0x1.2c2e5c90683cap-5
    const A13, -0x1.e9fa0cc47886fp-6
    const A14, 0x1.683cc85121c0bp-6
    const A15, -0x1.c78fcadaa256fp-7
    const A16, 0x1.d7b923ef719a1p-8
    const A17, -0x1.7a39969fb0f82p-9
    const A18, 0x1.b3fac5754959p-11
    const A19, -0x1.3f3647754a54bp-13
    const A20, 0x1.bbed95992aba7p-17
    const R1, 0x1.5555555555577p-3
    const R2, 0x1.333333332e133p-4
    const R3, 0x1.6db6db721247bp-5
    const R4, 0x1.f1c71a95002fbp-6
    const R5, 0x1.6e8bdedebf9e1p-6
    const R6, 0x1.1c49f077d5b5ap-6
    const R7, 0x1.ca1f8af1f1d9ap-7
    const R8, 0x1.75859dacf6aedp-7
    const R9, 0x1.613c1e6f4a2fp-7
    const R10, 0x1.e5fbe8857f6f5p-9
    const R11, 0x1.639a895132223p-6
    const R12, -0x1.57fad0e39eaf7p-6
    const R13, 0x1.0b45e9f8e6b15p-5

// t = t + n + (the slope of the arc) l, what is to be added to pi/2 and its like: t (1 + z P(z))
.macro itrig_arc
    vmul z, t, t
    vmul w, z, z
    vmul u, w, w
    vfma c, z, A8, A7
    vfma d, z, A10, A9
    vfma d, w, d, c
    vfma c, z, A4, A3
    vfma b, z, A6, A5
    vfma b, w, b, c
    vfma d, u, d, b
    vfma c, z, A12, A11
    vfma b, z, A14, A13
    vfma b, w, b, c
    vfma c, z, A16, A15
    vfma a, z, A18, A17
    vfma a, w, a, c
    vfma a, u, a, b
    vfma b, z, A20, A19
    vmul u, u, u
    vfma b, u, b, a
    vfma d, u, b, d
    vfma d, d, z, A2
    vfma d, d, z, A1
    vfms w, t, t, z
    vfma a, z, d, ONE
    vsub b, ONE, a
    vfma b, z, d, b
    vfma b, w, d, b
    vfma c, z, HALF, MINUS_ONE
    vfma c, c, z, ONE
    vmul w, t, a
    vfms a, t, a, w
    vfma a, t, b, a
    vfma n, l, c, n
    vadd n, a, n
    vmov t, w
.endm
// x = h + t + n, |h| >= |t| or h = 0
.macro itrig_sum3
    vadd z, h, t
    vsub h, z, h
    vsub t, t, h
    vadd t, t, n
    vadd x, z, t
.endm

.macro atan_f64_test
.endm
.macro atan_f64_body
    vabs a, x
    vmin a, FAR, a
    vmask big, gt, a, ONE
    vpick b, big, MINUS_ONE, a
    vpick c, big, a, ONE
    vdiv t, b, c
    vfms l, t, c, b
    vmul l, l, t
    vkeep n, big, HALF_PI_LO
    itrig_arc
    vkeep h, big, HALF_PI_HI
    vmov a, x
    itrig_sum3
    vsign x, x, a
.endm

.macro atan2_f64_test
    vabs t, x
    inside lt, t, MOST
    vabs l, y
    inside lt, l, MOST
    vmax t, t, l
    inside gt, t, LEAST
.endm
.macro atan2_f64_body
    vabs a, x
    vabs b, y
    vmask steep, lt, b, a
    vpick c, steep, b, a
    vpick b, steep, a, b
    vdiv t, c, b
    vfnma c, t, b, c
    visub d, INVERSE, b
    vfnma b, b, d, TWO
    vmul d, d, b
    vmul c, c, d
    vsel gt, l, t, SMALL, c, ZERO
    vmov c, ONE
    vsign c, c, y
    vsel lt, n, c, ZERO, PI_LO, ZERO
    vpick n, steep, HALF_PI_LO, n
    vsel lt, y, c, ZERO, PI_HI, ZERO
    vpick y, steep, HALF_PI_HI, y
    vneg d, c
    vpick c, steep, d, c
    vflip t, t, c
    vflip l, l, c
    itrig_arc
    vadd z, y, t
    vsub a, z, y
    vsub t, t, a
    vadd t, t, n
    vadd z, z, t
    vsign x, z, x
.endm

// z = t^2 of either side, t its root, l what the root lost
.macro itrig_root
    vabs a, x
    vmask big, gt, a, HALF
    vmul z, a, a
    vfma b, a, MINUS_HALF, HALF
    vpick z, big, b, z
    vsqrt t, z
    vfnma b, t, t, z
    vmul b, b, HALF
    visub c, INVERSE, t
    vfnma d, t, c, TWO
    vmul c, c, d
    vmul b, b, c
    vkeep l, big, b
.endm
// l = t z R(z) + l
.macro itrig_sine
    vmul w, z, z
    vmul u, w, w
    vfma c, z, R6, R5
    vfma d, z, R8, R7
    vfma d, w, d, c
    vfma b, z, R4, R3
    vfma c, z, R2, R1
    vfma b, w, b, c
    vfma d, u, d, b
    vfma c, z, R12, R11
    vfma b, z, R10, R9
    vfma c, w, c, b
    vfma c, u, R13, c
    vmul u, u, u
    vfma d, u, c, d
    vmul z, t, z
    vfma l, z, d, l
.endm

.macro asin_f64_test
.endm
.macro asin_f64_body
    itrig_root
    vpick t, big, t, a
    itrig_sine
    vpick a, big, MINUS_TWO, ONE
    vmul t, a, t
    vkeep n, big, HALF_PI_LO
    vfma n, a, l, n
    vkeep h, big, HALF_PI_HI
    vmov a, x
    itrig_sum3
    vsign x, x, a
.endm

.macro acos_f64_test
.endm
.macro acos_f64_body
    itrig_root
    vpick t, big, t, x
    itrig_sine
    vmov a, TWO
    vflip a, a, x
    vpick a, big, a, MINUS_ONE
    vmul t, a, t
    vsel lt, n, x, ZERO, PI_LO, ZERO
    vpick n, big, n, HALF_PI_LO
    vfma n, a, l, n
    vsel lt, h, x, ZERO, PI_HI, ZERO
    vpick h, big, h, HALF_PI_HI
    itrig_sum3
.endm
#define ARC_GROUPS t, l, n, z, w, u, a, b, c, d
    VM_MASKS big
    VM_FUNCTION atan, f64, 1, h, ARC_GROUPS
    VM_MASKS big
    VM_FUNCTION asin, f64, 1, h, ARC_GROUPS
    VM_MASKS big
    VM_FUNCTION acos, f64, 1, h, ARC_GROUPS
    VM_MASKS steep
    VM_FUNCTION atan2, f64, 2, ARC_GROUPS
