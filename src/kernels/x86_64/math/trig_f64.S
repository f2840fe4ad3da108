// SPDX-License-Identifier: MIT
// sin, cos, tan of f64: the recipes of kernels/math/trig_f64.c up to 2^20; larger arguments go to them.
//
// Method     r = x - n pi (cos: n - 1/2; tan: n pi/2), pi in three parts, r = h + lo; sin r = h (1 + z u), z = h^2,
//            the leading terms of 1 + z u with what their roundings lose; tan r = T / (1 - T^2/4), T = 2 tan(r/2)
//            as a sum of two, or the reciprocal, by one division and its remainder
// Error      in ULP: sin 0.5144 at 0x1.92017d7c77942p+0; cos 0.5164 at 0x1.11f0a12902fffp-13; tan 0.5207 at
//            -0x1.7ce81b999034bp+8
// Specials   zeros keep their sign, subnormals come back (cos: 1); NaN, infinities, |x| > 2^20 out of line
// Registers  x argument, then lo, then result   TURN, q sign of the result   z, k multiple of pi   h r's head   z h^2
//            w z^2   e what z lacks   the others terms of the polynomial

#include "vm.inc"
    VM_TYPE 64
    const NEAR, 0x1p20
    const ZERO, 0
    const HALF, 0.5
    const ONE, 1
    const MAGIC, 0x1.8p52
    const MAGIC_2, 0x1.8p51
    const INV_PI, 0x1.45f306dc9c883p-2
    const PI1, 0x1.921fb54442d18p1
    const PI2, 0x1.1a62633p-53
    const PI3, 0x1.45c06e0e68948p-85
    const S1, -0x1.5555555555555p-3
    const S2, 0x1.11111111110c8p-7
    const S2_TWICE, 0x1.11111111110c8p-6
    const S3, -0x1.a01a01a014d7ap-13
    const S4, 0x1.71de3a52a1514p-19
    const S5, -0x1.ae6454d4e1942p-26
    const S6, 0x1.6123cd2aba2ecp-33
    const S7, -0x1.ae438f7ea3cf7p-41
    const S8, 0x1.8833fcaa0d7bfp-49
    const C1, -0x1.fc6ff3p-2 // the cosine, three digits
    const C2, 0x1.2fbd1dp-5
    const T1, 0x1.5555555555555p-4
    const T2, 0x1.1111111111222p-7
    const T3, 0x1.ba1ba1b9fb0aap-11
    const T4, 0x1.664f489161ad1p-14
    const T5, 0x1.226e31b147aeap-17
    const T6, 0x1.d6d4f0e9569f4p-21
    const T7, 0x1.7d878d2dd39ep-24
    const T8, 0x1.370c2f75b1323p-27
    const T9, 0x1.d4f7b6eb49ce2p-31
    const T10, 0x1.1fd854d2e6844p-33
    const TS, 0x1.18p-2 // the slope of T
    const QUARTER, -0.25

// h + a = a - k pi
.macro trig_reduce a, k
    vfnma h, \k, PI2, \a
    vsub \a, \a, h
    vfnma \a, \k, PI2, \a
    vfnma \a, \k, PI3, \a
.endm
// x = sin(h + x) with the sign turned by TURN
.macro trig_sine
    vmul z, h, h
    vmul w, z, z
    vfma p, z, S4, S3
    vfma b, z, S6, S5
    vfma s, z, S8, S7
    vfma s, w, s, b
    vfma p, w, s, p
    vfma w, z, p, S2
    vsub s, S2, w
    vfma s, z, p, s
    vfma b, z, w, S1
    vsub p, S1, b
    vfma p, z, w, p
    vfma p, z, s, p
    vfma w, z, b, ONE
    vsub s, ONE, w
    vfma s, z, b, s
    vfma s, z, p, s
    vfms p, h, h, z
    vfma b, z, S2_TWICE, S1
    vfma s, p, b, s
    vfma b, z, C2, C1
    vfma b, b, z, ONE
    vmul x, x, b
    vfnms x, h, s, x
    vfms x, h, w, x
    vxor x, x, TURN
.endm

.macro sin_f64_test
    vabs z, x
    inside le, z, NEAR
.endm
.macro sin_f64_body
    vfma b, x, INV_PI, MAGIC
    vsub z, b, MAGIC
    vshl b, b, 63
    vmov TURN, b
    vfnma x, z, PI1, x
    trig_reduce x, z
    trig_sine
.endm

.macro cos_f64_test
    vabs z, x
    inside le, z, NEAR
.endm
.macro cos_f64_body
    vabs x, x
    vfma b, x, INV_PI, HALF
    vadd b, b, MAGIC
    vsub z, b, MAGIC
    vsub z, z, HALF
    vshl b, b, 63
    vmov TURN, b
    vfnma b, z, PI1, x
    vfma p, z, PI1, b
    vsub p, x, p
    trig_reduce b, z
    vadd x, b, p
    trig_sine
.endm

.macro tan_f64_test
    vabs k, x
    inside le, k, NEAR
.endm
.macro tan_f64_body
    vfma q, x, INV_PI, MAGIC_2
    vsub k, q, MAGIC_2
    vshl q, q, 63
    vor q, q, ONE
    vfnma x, k, PI1, x
    trig_reduce x, k
    vmul z, h, h
    vfms e, h, h, z
    vmul w, z, z
    vfma d, z, T9, T8
    vfma d, w, T10, d
    vfma c, z, T7, T6
    vfma d, w, d, c
    vfma b, z, T5, T4
    vfma a, z, T3, T2
    vfma b, w, b, a
    vmul k, w, w
    vfma d, k, d, b
    vfma a, z, T1, ONE // 1 + z T1 + ...
    vsub b, ONE, a
    vfma b, z, T1, b
    vfma b, e, T1, b
    vfma b, w, d, b
    vmul t, h, a // T = t - c
    vfnma c, h, a, t
    vfma a, z, TS, ONE
    vmul x, x, a
    vfnms x, h, b, x
    vadd c, c, x
    vsub h, t, c // T = h + t
    vsub t, t, h
    vsub t, t, c
    vmul z, h, h // 1 - T^2/4 = a + b
    vfms e, h, h, z
    vadd a, h, h
    vfma e, a, t, e
    vfma a, z, QUARTER, ONE
    vsub b, ONE, a
    vfma b, z, QUARTER, b
    vfma b, e, QUARTER, b
    vmask odd, lt, q, ZERO // numerator z + e, denominator a + b
    vpick z, odd, a, h
    vpick e, odd, b, t
    vpick a, odd, h, a
    vpick b, odd, t, b
    vdiv w, ONE, a
    vmul c, z, w
    vfms z, c, a, z
    vfms e, c, b, e
    vadd z, z, e
    vfnma c, z, w, c
    vflip x, c, q
.endm
    VM_SLOTS TURN
    VM_FUNCTION sin, f64, 1, h, z, w, p, b, s
    VM_SLOTS TURN
    VM_FUNCTION cos, f64, 1, h, z, w, p, b, s
    VM_MASKS odd
    VM_FUNCTION tan, f64, 1, q, k, h, z, e, w, a, b, c, d, t
