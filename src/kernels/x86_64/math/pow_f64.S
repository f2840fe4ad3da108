// SPDX-License-Identifier: MIT
// pow, f64: the recipe of kernels/math/pow.c for positive x and results well inside the normal numbers.
//
// Method     x = 2^k m, 0.703 <= m < 1.406; r = m c - 1 exact, |r| < 0.0343; log x = k log 2 - log c + r + r^2 (-1/2 + r/3 +
//            r^2 q(r)) in head and tail, to 2^-65; times y; e^z = 2^j 2^(i/16) e^t as in exp.h with the tail of z
// Error      in ULP: pow 0.5517 at 0x1.f3542747d901p+8, -0x1.7701266b0bc45p+4
// Specials   out of line: x not a positive normal number, |y| not finite, |y log2 x| beyond about 700 (C Annex F there)
// Registers  x y operands   d bits of x, w, r^2, z   i index, tails, the shifted integer   k exponent, r/3, r^2 times the bracket
//            r reduced argument, bracket, sum, head   q series, tails. Slots: the tail of w, and w + r in head and tail

#include "vm.inc"
    VM_TYPE 64
    bits LEAST, 0x3fe6800000000000
    bits EXPONENT, 0xfff0000000000000
    const NORMAL, 0x1p-1022
    bits INF, 0x7ff0000000000000
    const ONE, 1
    const HALF, 0.5
    const TWO, 0x1.62e42fefa38p-1
    const TWO_TAIL, 0x1.ef35793c7673p-45
    const THIRD, 0x1.5555555555555p-2
    const THIRD_TAIL, 0x1.5555555555555p-56
    const Q12, -0x1.563fab380cc2fp-4
    const Q11, 0x1.753431cae9d7cp-4
    const Q10, -0x1.999957fadb84cp-4
    const Q9, 0x1.c71c40e0b02c9p-4
    const Q8, -0x1.00000003b27c3p-3
    const Q7, 0x1.24924926a12c6p-3
    const Q6, -0x1.5555555555332p-3
    const Q5, 0x1.99999999998dap-3
    const Q4, -0x1p-2
    table INVERSE, 0x1.6p0, 0x1.58p0, 0x1.48p0, 0x1.38p0
    more 0x1.3p0, 0x1.28p0, 0x1.18p0, 0x1.1p0
    more 0x1.08p0, 0x1p0, 0x1.ep-1, 0x1.c8p-1
    more 0x1.bp-1, 0x1.98p-1, 0x1.88p-1, 0x1.7p-1
    pairs LOG, -0x1.4618bc21c6p-2, 0x1.3d82f484c84ccp-46, -0x1.2e8e2bae12p-2, 0x1.67b1e99b72bd8p-45, \
        -0x1.fb9186d5e4p-3, 0x1.d572aab993c87p-47, -0x1.9525a9cf45p-3, -0x1.ad1d904c1d4e3p-45, \
        -0x1.5ff3070a79p-3, -0x1.e9e439f105039p-46, -0x1.29552f81ffp-3, -0x1.48d301771c408p-45, \
        -0x1.6f0d28ae56p-4, -0x1.69737c93373dap-45, -0x1.f0a30c0118p-5, 0x1.d599e83368e91p-45, \
        -0x1.f829b0e78p-6, -0x1.980267c7e09e4p-45, 0, 0, \
        0x1.08598b59e4p-4, -0x1.7e5dd7009902cp-46, 0x1.da72763844p-4, 0x1.a89401fa71733p-46, \
        0x1.5bf406b544p-3, -0x1.27023eb68981cp-46, 0x1.d1037f2656p-3, -0x1.84a7e75b6f6e4p-47, \
        0x1.1178e8227e8p-2, -0x1.c210e63a5f01cp-45, 0x1.522ae0738ap-2, 0x1.ebe708164c759p-45
    const MAGIC, 0x1.8p52
    const INV, 0x1.71547652b82fep4
    const LN2, 0x1.62e42fefa39efp-5
    const LN2_TAIL, 0x1.abc9e3b39803fp-60
    const E7, 0x1.a01b5b2ac4c5p-13
    const E6, 0x1.6c17f5eeeb3d3p-10
    const E5, 0x1.11111110b2695p-7
    const E4, 0x1.55555554df71ep-5
    const E3, 0x1.5555555555557p-3
    const E2, 0x1.0000000000001p-1
    bits HIGH, 0xfffffffffffffff0
    pairs EXP, 0x1p0, 0, 0x1.0b5586cf9890fp0, 0x1.8a62e4adc610bp-54, \
        0x1.172b83c7d517bp0, -0x1.19041b9d78a76p-55, 0x1.2387a6e756238p0, 0x1.9b07eb6c70573p-54, \
        0x1.306fe0a31b715p0, 0x1.6f46ad23182e4p-55, 0x1.3dea64c123422p0, 0x1.ada0911f09ebcp-55, \
        0x1.4bfdad5362a27p0, 0x1.d4397afec42e2p-56, 0x1.5ab07dd485429p0, 0x1.6324c054647adp-54, \
        0x1.6a09e667f3bcdp0, -0x1.bdd3413b26456p-54, 0x1.7a11473eb0187p0, -0x1.41577ee04992fp-55, \
        0x1.8ace5422aa0dbp0, 0x1.6e9f156864b27p-54, 0x1.9c49182a3f09p0, 0x1.c7c46b071f2bep-56, \
        0x1.ae89f995ad3adp0, 0x1.7a1cd345dcc81p-54, 0x1.c199bdd85529cp0, 0x1.11065895048ddp-55, \
        0x1.d5818dcfba487p0, 0x1.2ed02d75b3707p-55, 0x1.ea4afa2a490dap0, -0x1.e9c23179c2893p-54

// The bits of x less those of 1 are log2 x to 0.09 (and never less than 0.69 of it): as a number, a multiple of
// 2^-52 (AVX-512), or of 2^-20, rounded down, with AVX2.
#if VM_AVX512
    const FAR, 0x1.618p61 // 707 2^52
.macro pow_bound
    visub d, x, ONE
    vm_plain vcvtqq2pd, d, d
    vmul d, d, y
    vabs d, d
.endm
#else
    const FAR, 0x1.618p29
    bits WORD, 0x4330000000000000
    bits WORD_ONE, 0x433000003ff00000
.macro pow_bound
    vshr d, x, 32
    vor d, d, WORD
    vsub d, d, WORD_ONE
    vabs d, d
    vadd d, d, ONE
    vmul d, d, y
    vabs d, d
.endm
#endif
.macro pow_f64_test
    inside ge, x, NORMAL
    inside lt, x, INF
    pow_bound
    inside lt, d, FAR
.endm
.macro pow_f64_body
    visub d, x, LEAST
    vshr i, d, 48
    vexpo k, d
    vand d, d, EXPONENT
    visub x, x, d
    vlut16 r, i, INVERSE
    vfms r, r, x, ONE
    vlut16x2 d, q, i, LOG
    vfma d, k, TWO, d
    vfma q, k, TWO_TAIL, q
    vmov LOG_TAIL, q
    vadd x, d, r
    vsub i, x, d
    vsub i, r, i
    vmov SUM, x
    vmov SUM_TAIL, i

    vmul d, r, r
    vfms i, r, r, d
    vmul k, r, THIRD
    vfms x, r, THIRD, k
    vfma x, r, THIRD_TAIL, x
    vfma q, r, Q12, Q11
    vfma q, q, r, Q10
    vfma q, q, r, Q9
    vfma q, q, r, Q8
    vfma q, q, r, Q7
    vfma q, q, r, Q6
    vfma q, q, r, Q5
    vfma q, q, r, Q4
    vfma x, d, q, x
    vsub r, k, HALF
    vadd q, r, HALF
    vsub q, k, q
    vadd q, q, x
    vmul k, d, r
    vfms x, d, r, k
    vfma x, d, q, x
    vfma x, i, r, x
    vmov d, SUM
    vadd r, d, k
    vsub q, r, d
    vsub q, k, q
    vadd q, q, SUM_TAIL
    vadd x, x, LOG_TAIL
    vadd q, q, x

    vmul d, y, r
    vfms k, y, r, d
    vfma k, y, q, k
    vfma i, d, INV, MAGIC
    vsub r, i, MAGIC
    vfnma d, r, LN2, d
    vfnma k, r, LN2_TAIL, k
    vadd d, d, k
    vlut16x2 r, x, i, EXP
    vfma q, d, E7, E6
    vfma q, q, d, E5
    vfma q, q, d, E4
    vfma q, q, d, E3
    vfma q, q, d, E2
    vmul k, d, d
    vfma k, k, q, d
    vfma x, r, k, x
    vadd x, r, x
    vand i, i, HIGH
    vshl i, i, 48
    viadd x, x, i
.endm
    VM_SLOTS LOG_TAIL, SUM, SUM_TAIL
    VM_FUNCTION pow, f64, 2, d, i, k, r, q
