// SPDX-License-Identifier: MIT
// sin, cos, tan of f32 in double precision: the recipes of kernels/math/trig_f32.c up to 2^45.
//
// Method     r = x - n pi (cos: n - 1/2; tan: n pi/2), pi in two parts; r (1 + z P(z)), z = r^2; odd n of the tangent:
//            minus the reciprocal
// Error      in ULP (all arguments): sin 0.5004 at -0x1.8c1656p+20; cos 0.5005 at -0x1.a7bcf6p+44; tan 0.5021 at
//            -0x1.e38316p+44
// Specials   zeros keep their sign, subnormals come back (cos: 1); NaN, infinities, |x| > 2^45 out of line
// Registers  x argument and result   v the same as doubles   q sign   k multiple of pi   z r^2   p polynomial

#include "vm.inc"
    VM_TYPE 32
    const NEAR, 0x1p45
    VM_TYPE 64
    const ZERO, 0
    const HALF, 0.5
    const ONE, 1
    const MAGIC, 0x1.8p52
    const MAGIC_2, 0x1.8p51
    const INV_PI, 0x1.45f306dc9c883p-2
    const PI1, 0x1.921fb54442d18p1
    const PI2, 0x1.1a62633145c07p-53
    const S1, -0x1.5555554768accp-3
    const S2, 0x1.11110c49ce28ep-7
    const S3, -0x1.a017d98f225e8p-13
    const S4, 0x1.71707de25d8a5p-19
    const S5, -0x1.9a6853929bcbp-26
    const T1, 0x1.55555456556f8p-2
    const T2, 0x1.11117887895a4p-3
    const T3, 0x1.b9ff1ecf36edbp-5
    const T4, 0x1.683173e9e081fp-6
    const T5, 0x1.1108a21b09fb9p-7
    const T6, 0x1.471105c533353p-8
    const T7, -0x1.3725a26042908p-11
    const T8, 0x1.0b65f44045528p-9

.macro trig_near
    vabs k, x
    inside le, k, NEAR
.endm
.macro trig_sine
    vfnma v, k, PI1, v
    vfnma v, k, PI2, v
    vmul z, v, v
    vfma p, z, S5, S4
    vfma p, p, z, S3
    vfma p, p, z, S2
    vfma p, p, z, S1
    vfma p, p, z, ONE
    vmul v, v, p
    vshl q, q, 63
    vxor v, v, q
    vnarrow x, v
.endm

.macro sin_f32_test
    trig_near
.endm
.macro sin_f32_body
    vwiden v, x
    vfma q, v, INV_PI, MAGIC
    vsub k, q, MAGIC
    trig_sine
.endm

.macro cos_f32_test
    trig_near
.endm
.macro cos_f32_body
    vwiden v, x
    vabs v, v
    vfma q, v, INV_PI, HALF
    vadd q, q, MAGIC
    vsub k, q, MAGIC
    vsub k, k, HALF
    trig_sine
.endm

.macro tan_f32_test
    trig_near
.endm
.macro tan_f32_body
    vwiden v, x
    vfma q, v, INV_PI, MAGIC_2
    vsub k, q, MAGIC_2
    vfnma v, k, PI1, v
    vfnma v, k, PI2, v
    vmul z, v, v
    vfma p, z, T8, T7
    vfma p, p, z, T6
    vfma p, p, z, T5
    vfma p, p, z, T4
    vfma p, p, z, T3
    vfma p, p, z, T2
    vfma p, p, z, T1
    vfma p, p, z, ONE
    vmul v, v, p
    vshl q, q, 63
    vor q, q, ONE
    vsel lt, p, q, ZERO, ONE, v
    vsel lt, v, q, ZERO, v, ONE
    vdiv v, p, v
    vflip v, v, q
    vnarrow x, v
.endm
    VM_FUNCTION_WIDE sin, 1, v, q, k, z, p
    VM_FUNCTION_WIDE cos, 1, v, q, k, z, p
    VM_FUNCTION_WIDE tan, 1, v, q, k, z, p
