// SPDX-License-Identifier: MIT
// erf of f64: the recipe of kernels/math/erf_f64.c.
//
// Method     below 13/16 x C(x^2), beyond 1 - e^(-Q(x - 13/16)); both are computed, one is chosen
// Error      0.705 ULP at 0x1.7925d330fa202p+2
// Specials   none out of line: |x| is clamped to 6, where the result is 1
// Registers  x argument and result   a |x|   z a^2   e what z lacks   t the argument of Q, then of the exponential
//            w u v powers   b c d terms   n the result below 13/16

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
    vfms e, a, a, z
    vmul w, z, z
    vmul u, w, w
    vfma c, z, C7, C6
    vfma d, z, C9, C8
    vfma d, w, d, c
    vfma b, z, C11, C10
    vfma d, u, b, d
    vfma b, z, C5, C4
    vfma c, z, C3, C2
    vfma b, w, b, c
    vfma d, u, d, b
    vfma d, d, z, C1
    vfma b, z, d, C0 // C = b + c
    vsub c, C0, b
    vfma c, z, d, c
    vfma e, e, d, C0_LO
    vadd c, c, e
    vmul c, a, c
    vfma n, a, b, c
    vsub t, a, SPLIT
    vmul w, t, t
    vmul u, w, w
    vmul v, u, u
    vfma c, t, Q8, Q7
    vfma d, t, Q10, Q9
    vfma d, w, d, c
    vfma b, t, Q6, Q5
    vfma c, t, Q4, Q3
    vfma b, w, b, c
    vfma d, u, d, b
    vfma c, t, Q16, Q15
    vfma b, t, Q18, Q17
    vfma b, w, b, c
    vfma c, t, Q12, Q11
    vfma e, t, Q14, Q13
    vfma e, w, e, c
    vfma b, u, b, e
    vfma d, v, b, d
    vfma d, d, t, Q2
    vfma d, d, t, Q1
    vfma b, t, d, Q0
    vfnma b, b, INV_LN2, BIASED
    vsub c, b, BIASED
    vshl b, b, 52
    vfnms e, c, LN2_HI, Q0
    vfnma e, t, d, e
    vfnms c, c, LN2_LO, Q0_LO
    vadd t, e, c
    vmul w, t, t
    vmul u, w, w
    erf_exp_poly c, d, e, w, u
    vfma c, w, c, t
    vsub d, ONE, b
    vfnma d, b, c, d
    vsel lt, n, a, SPLIT, n, d
    vsign x, n, x
.endm
    VM_FUNCTION erf, f64, 1, a, z, e, t, w, u, v, b, c, d, n
