// SPDX-License-Identifier: MIT
// pow, f32: the recipe of kernels/math/pow.c in doubles, for positive x.
//
// Method     x = 2^k m, r = m c - 1 exact, |r| < 0.0343; log x = k log 2 - log c + r + r^2 q(r) to 2^-36; z = y log x kept within
//            +-200; e^z = 2^j 2^(i/16) e^t
//            (the table holds the bits of 2^(i/16) less i 2^48, to which (16j + i) 2^48 is added); the one rounding to float also makes inf, subnormal numbers and 0
// Error      in ULP: pow 0.5767 at 0x1.4d13ecp+6, -0x1.40f884p-8
// Specials   out of line: x not positive or not finite, |y| not finite (C Annex F there)
// Registers  x y operands   a m, series, y, z   d bits of x, r, head   i index, log x, the shifted integer   k exponent
//            q k log 2 - log c, series

#include "vm.inc"
    VM_TYPE 32
    const ZERO_S, 0
    bits INF_S, 0x7f800000
    VM_TYPE 64
    bits LEAST, 0x3fe6800000000000
    bits EXPONENT, 0xfff0000000000000
    const ONE, 1
    const TWO, 0x1.62e42fefa39efp-1
    const Q6, -0x1.55dd386c66382p-3
    const Q5, 0x1.9a087f2e072a2p-3
    const Q4, -0x1.ffffece119613p-3
    const Q3, 0x1.55555121f13c3p-2
    const Q2, -0x1.000000001c85dp-1
    const MOST, 200
    const MOST_MINUS, -200
    const MAGIC, 0x1.8p52
    const INV, 0x1.71547652b82fep4
    const LN2, 0x1.62e42fefa39efp-5
    const E3, 0x1.55576290c493cp-3
    const E2, 0x1.0001484520b78p-1
    pairs LOG, 0x1.6p0, -0x1.4618bc21c6p-2, 0x1.58p0, -0x1.2e8e2bae12p-2, \
        0x1.48p0, -0x1.fb9186d5e4p-3, 0x1.38p0, -0x1.9525a9cf45p-3, \
        0x1.3p0, -0x1.5ff3070a79p-3, 0x1.28p0, -0x1.29552f81ffp-3, \
        0x1.18p0, -0x1.6f0d28ae56p-4, 0x1.1p0, -0x1.f0a30c0118p-5, \
        0x1.08p0, -0x1.f829b0e78p-6, 0x1p0, 0, \
        0x1.ep-1, 0x1.08598b59e4p-4, 0x1.c8p-1, 0x1.da72763844p-4, \
        0x1.bp-1, 0x1.5bf406b544p-3, 0x1.98p-1, 0x1.d1037f2656p-3, \
        0x1.88p-1, 0x1.1178e8227e8p-2, 0x1.7p-1, 0x1.522ae0738ap-2
    table EXP, 0x1.0000000000000p0, 0x1.fb5586cf9890fp-1, 0x1.f72b83c7d517bp-1, 0x1.f387a6e756238p-1
    more 0x1.f06fe0a31b715p-1, 0x1.edea64c123422p-1, 0x1.ebfdad5362a27p-1, 0x1.eab07dd485429p-1
    more 0x1.ea09e667f3bcdp-1, 0x1.ea11473eb0187p-1, 0x1.eace5422aa0dbp-1, 0x1.ec49182a3f090p-1
    more 0x1.ee89f995ad3adp-1, 0x1.f199bdd85529cp-1, 0x1.f5818dcfba487p-1, 0x1.fa4afa2a490dap-1

.macro pow_f32_test
    inside gt, x, ZERO_S
    inside lt, x, INF_S
    vabs a, y
    inside lt, a, INF_S
.endm
.macro pow_f32_body
    vwiden a, x
    visub d, a, LEAST
    vshr i, d, 48
    vexpo k, d
    vand d, d, EXPONENT
    visub a, a, d
    vlut16x2 d, q, i, LOG
    vfms d, d, a, ONE
    vfma q, k, TWO, q
    vfma a, d, Q6, Q5
    vfma a, a, d, Q4
    vfma a, a, d, Q3
    vfma a, a, d, Q2
    vmul i, d, d
    vfma i, i, a, d
    vadd i, i, q
    vwiden a, y
    vmul a, a, i
    vclamp a, a, MOST
    vfma i, a, INV, MAGIC
    vsub k, i, MAGIC
    vfnma a, k, LN2, a
    vlut16 d, i, EXP
    vfma q, a, E3, E2
    vshl i, i, 48
    viadd d, d, i
    vmul k, a, a
    vfma k, k, q, a
    vfma d, d, k, d
    vnarrow x, d
.endm
    VM_FUNCTION_WIDE pow, 2, a, i, k, d, q
