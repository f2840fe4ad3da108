// SPDX-License-Identifier: MIT
// erf of f64: the recipe of kernels/math/erf_f64.c.
//
// Method     below 13/16 x C(x^2), beyond 1 - e^(-Q(x - 13/16)); both are computed, one is chosen
// Error      in ULP: erf 0.7048 at -0x1.7925c21da12cbp+2
// Specials   none out of line: |x| is clamped to 6, where the result is 1
// Registers  x argument and result   a |x|   z its square, then the argument of Q, then of the exponential   w z^2
//            b c the two chains of a polynomial   NEAR the result below 13/16

#include "vm.inc"
#include "erf_exp.inc"
    const SIX, 6
    const SPLIT, 0.8125
    const BIASED, 0x1.80000000003ffp52 // shifts to an integer, with the exponent's bias
    const Q0, 0x1.6257d5cdb7p0
    const Q0_LO, 0x1.104a715ab7c5p-45
    const Q1, 0x1.29ea4d0a0b236p1
    const Q2, 0x1.a28c7a684a274p-1
    const Q3, 0x1.980e779720f89p-5
    const Q4, -0x1.895d7ef03277p-7
    const Q5, 0x1.222d173d4dcd9p-9
    const Q6, -0x1.6520e7478645p-13
    const Q7, -0x1.5295fb7028504p-14
    const Q8, 0x1.865c931aa3e7ep-15
    const Q9, -0x1.bffeaa60a17fdp-17
    const Q10, 0x1.ec29232cf3624p-20
    const Q11, 0x1.968f715a2da1cp-22
    const Q12, -0x1.6f90f2a8fad74p-22
    const Q13, 0x1.1038017cbadd8p-23
    const Q14, -0x1.0ddb93804ae51p-25
    const Q15, 0x1.7a09d957a04edp-28
    const Q16, -0x1.69f2777102c4ap-31
    const Q17, 0x1.aa49b28b140dfp-35
    const Q18, -0x1.d1bce9c0444p-40
    const C0, 0x1.20dd750429b6dp0
    const C0_LO, 0x1.1ae3a914fed8p-56
    const C1, -0x1.812746b0379e6p-2
    const C2, 0x1.ce2f21a042b0bp-4
    const C3, -0x1.b82ce3128335ap-6
    const C4, 0x1.565bcd0d3f95ep-8
    const C5, -0x1.c02db3b4aa2c5p-11
    const C6, 0x1.f9a31ab9752fdp-14
    const C7, -0x1.f4d10a56becd3p-17
    const C8, 0x1.b9ce442e3b508p-20
    const C9, -0x1.5e43f415db4b1p-23
    const C10, 0x1.e9c6f085fd23fp-27
    const C11, -0x1.efc0491dee989p-31

.macro erf_f64_test
.endm
.macro erf_f64_body
    vabs a, x
    vmin a, SIX, a
    vmul z, a, a
    vmul w, z, z
    vfma b, w, C10, C8
    vfma c, w, C11, C9
    vfma b, b, w, C6
    vfma c, c, w, C7
    vfma b, b, w, C4
    vfma c, c, w, C5
    vfma b, b, w, C2
    vfma c, c, w, C3
    vfma b, z, c, b
    vfma b, b, z, C1
    vfma c, z, b, C0 // C = c + w
    vsub w, C0, c
    vfma w, z, b, w
    vfms z, a, a, z
    vfma z, z, b, C0_LO
    vadd w, w, z
    vmul w, a, w
    vfma w, a, c, w
    vmov NEAR, w
    vsub z, a, SPLIT
    vmul w, z, z
    vfma b, w, Q17, Q15
    vfma c, w, Q18, Q16
    vfma b, b, w, Q13
    vfma c, c, w, Q14
    vfma b, b, w, Q11
    vfma c, c, w, Q12
    vfma b, b, w, Q9
    vfma c, c, w, Q10
    vfma b, b, w, Q7
    vfma c, c, w, Q8
    vfma b, b, w, Q5
    vfma c, c, w, Q6
    vfma b, b, w, Q3
    vfma c, c, w, Q4
    vfma b, z, c, b
    vfma b, b, z, Q2
    vfma b, b, z, Q1
    vfma c, z, b, Q0
    vfnma c, c, INV_LN2, BIASED
    vsub w, c, BIASED
    vshl c, c, 52
    vfnms a, w, LN2_HI, Q0
    vfnma a, z, b, a
    vfnms w, w, LN2_LO, Q0_LO
    vadd z, a, w
    vmul w, z, z
    erf_exp_poly a, b, w, z
    vfma a, w, a, z
    vsub b, ONE, c
    vfnma b, c, a, b
    vabs a, x
    vsel lt, b, a, SPLIT, NEAR, b
    vsign x, b, x
.endm
    VM_SLOTS NEAR
    VM_FUNCTION erf, f64, 1, a, z, w, b, c
