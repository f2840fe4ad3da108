// SPDX-License-Identifier: MIT
// sin, cos, tan of f32 in double precision: the recipes of kernels/math/trig_f32.c up to 2^45.
//
// Method     r = x - n pi (cos: n - 1/2; tan: n pi/2), pi in two parts; r (1 + z P(z)), z = r^2; odd n of the tangent:
//            minus the reciprocal
// Error      sin 0.5004 ULP at -0x1.6c1316p+5, cos 0.5004 at -0x1.45d7ccp+47, tan 0.522 at -0x1.b8d3c4p+100
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
    const T1, 0x1.5555605cb72f6p-2
    const T2, 0x1.110d8d38f62dap-3
    const T3, 0x1.badbf7e90a446p-5
    const T4, 0x1.5caed8a1a45cbp-6
    const T5, 0x1.631745ca40b6cp-7
    const T6, 0x1.73c17abfbb377p-14
    const T7, 0x1.1ed54975e8516p-8

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
    vfma p, z, T7, T6
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
