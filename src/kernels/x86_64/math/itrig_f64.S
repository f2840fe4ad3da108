// SPDX-License-Identifier: MIT
// asin, acos, atan, atan2 of f64: the recipes of kernels/math/itrig_f64.c.
//
// Method     atan: t = |x| or -1/|x| (atan2: min/max of the magnitudes), t (1 + z P(z)), z = t^2, the bracket as two,
//            what the quotient lost times the slope, and the multiple of pi/2 in two parts; asin, acos: t + t z R(z)
//            for |x| <= 1/2, beyond through s = sqrt((1 - |x|)/2) with what the root lost
// Error      in ULP: atan 0.8987 at 0x1.027e7db514ae6p+0; asin 0.6289 at 0x1.1056dd4844eb7p-1; acos 0.6070 at
//            0x1.14ee770f0acb4p-1; atan2 0.8665 at 0x1.0000066a0e537p+0, 0x1.fff3374d72432p-1
// Specials   |x| > 1 gives NaN for asin and acos, atan of infinities is +-pi/2; atan2 out of line unless the larger
//            magnitude lies within 2^-500 and 2^500
// Registers  x argument (atan2: x and y, y being free once its sign is known) and result   t reduced argument   z t^2
//            w t^4   b, c the polynomial (asin, acos: two chains; atan: pairs)   a others   LOST what t lacks   LOW, HIGH multiple of pi/2

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

// From the reduced argument t and what it lacks (LOST), for a multiple of pi/2 of which LOW is the second part:
// w = t (1 + z P(z)) and a, what is to be added to it and to the first part
.macro itrig_arc c
    vmul z, t, t
    vmul w, z, z
    vfma b, z, A20, A19
    vfma \c, z, A18, A17
    vfma b, w, b, \c
    vfma \c, z, A16, A15
    vfma b, w, b, \c
    vfma \c, z, A14, A13
    vfma b, w, b, \c
    vfma \c, z, A12, A11
    vfma b, w, b, \c
    vfma \c, z, A10, A9
    vfma b, w, b, \c
    vfma \c, z, A8, A7
    vfma b, w, b, \c
    vfma \c, z, A6, A5
    vfma b, w, b, \c
    vfma \c, z, A4, A3
    vfma b, w, b, \c
    vfma b, b, z, A2
    vfma b, b, z, A1
    vfma a, z, b, ONE // the bracket: a + c
    vsub \c, ONE, a
    vfma \c, z, b, \c
    vfms w, t, t, z
    vfma \c, w, b, \c
    vfma b, z, HALF, MINUS_ONE // the slope
    vfma b, b, z, ONE
    vmul w, t, a
    vfms a, t, a, w
    vfma a, t, \c, a
    vmov \c, LOW
    vfma \c, b, LOST, \c
    vadd a, a, \c
.endm
// z = h + w + a, |h| >= |w| or h = 0
.macro itrig_sum3 h
    vadd z, \h, w
    vsub \h, z, \h
    vsub w, w, \h
    vadd w, w, a
    vadd z, z, w
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
    vfms b, t, c, b
    vmul b, b, t
    vmov LOST, b
    vkeep b, big, HALF_PI_LO
    vmov LOW, b
    itrig_arc c
    vkeep b, big, HALF_PI_HI
    itrig_sum3 b
    vsign x, z, x
.endm

.macro atan2_f64_test
    vabs t, x
    inside lt, t, MOST
    vabs z, y
    inside lt, z, MOST
    vmax t, t, z
    inside gt, t, LEAST
.endm
.macro atan2_f64_body
    vabs a, x
    vabs b, y
    vmask steep, lt, b, a
    vpick z, steep, b, a
    vpick b, steep, a, b
    vmov w, ONE
    vsign w, w, y // the side
    vsel lt, y, w, ZERO, PI_HI, ZERO
    vpick y, steep, HALF_PI_HI, y
    vmov HIGH, y
    vsel lt, y, w, ZERO, PI_LO, ZERO
    vpick y, steep, HALF_PI_LO, y
    vmov LOW, y
    vneg y, w
    vpick y, steep, y, w
    vdiv t, z, b
    vfnma z, t, b, z
    visub w, INVERSE, b
    vfnma b, b, w, TWO
    vmul w, w, b
    vmul z, z, w
    vsel gt, z, t, SMALL, z, ZERO
    vflip t, t, y
    vflip z, z, y
    vmov LOST, z
    itrig_arc y
    vmov b, HIGH
    itrig_sum3 b
    vsign x, z, x
.endm

// z = t^2 of either side, t its root or |x| (acos: x), LOST what the root lost
.macro itrig_root small
    vabs a, x
    vmask big, gt, a, HALF
    vmul z, a, a
    vfma b, a, MINUS_HALF, HALF
    vpick z, big, b, z
    vsqrt t, z
    vfnma b, t, t, z
    vmul b, b, HALF
    visub c, INVERSE, t
    vfnma w, t, c, TWO
    vmul c, c, w
    vmul b, b, c
    vkeep b, big, b
    vmov LOST, b
    vpick t, big, t, \small
.endm
// b = t z R(z) + LOST
.macro itrig_sine
    vmul w, z, z
    vfma b, w, R13, R11
    vfma c, w, R12, R10
    vfma b, b, w, R9
    vfma c, c, w, R8
    vfma b, b, w, R7
    vfma c, c, w, R6
    vfma b, b, w, R5
    vfma c, c, w, R4
    vfma b, b, w, R3
    vfma c, c, w, R2
    vfma b, b, w, R1
    vfma b, z, c, b
    vmul z, t, z
    vfma b, b, z, LOST
.endm

.macro asin_f64_test
.endm
.macro asin_f64_body
    itrig_root a
    itrig_sine
    vpick c, big, MINUS_TWO, ONE
    vmul w, c, t
    vkeep a, big, HALF_PI_LO
    vfma a, c, b, a
    vkeep b, big, HALF_PI_HI
    itrig_sum3 b
    vsign x, z, x
.endm

.macro acos_f64_test
.endm
.macro acos_f64_body
    itrig_root x
    itrig_sine
    vmov c, TWO
    vflip c, c, x
    vpick c, big, c, MINUS_ONE
    vmul w, c, t
    vsel lt, a, x, ZERO, PI_LO, ZERO
    vpick a, big, a, HALF_PI_LO
    vfma a, c, b, a
    vsel lt, b, x, ZERO, PI_HI, ZERO
    vpick b, big, b, HALF_PI_HI
    itrig_sum3 b
    vmov x, z
.endm
    VM_MASKS big
    VM_SLOTS LOST, LOW
    VM_FUNCTION atan, f64, 1, t, z, w, a, b, c
    VM_MASKS big
    VM_SLOTS LOST
    VM_FUNCTION asin, f64, 1, t, z, w, a, b, c
    VM_MASKS big
    VM_SLOTS LOST
    VM_FUNCTION acos, f64, 1, t, z, w, a, b, c
    VM_MASKS steep
    VM_SLOTS LOST, LOW, HIGH
    VM_FUNCTION atan2, f64, 2, t, z, w, a, b
