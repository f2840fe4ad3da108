// SPDX-License-Identifier: MIT
// exp, f64: the recipe of kernels/math/exp.c, |x| < 708; the rest goes to the recipe itself.
//
// Method     n = 16k + i = nint(16 x / ln 2), r = x - n ln2/16 in two steps, |r| <= ln2/32,
//            e^x = s + s (r + r^2 q(r) + t), s = 2^k 2^(i/16) from the table and n, t what the table lacks
// Error      0.544 ULP at -0x1.90c78470a534ap+2
// Specials   out of line: NaN gives NaN, +inf and overflow +inf, -inf and underflow +0, subnormals rounded once
// Registers  x argument, then s and result   m the shifted n   r reduced argument   q polynomial   p t, then e^r - 1 + t

#include "vm.inc"
    VM_TYPE 64
    const NEAR, 708
    const MAGIC, 0x1.8p52
    const INV, 0x1.71547652b82fep4
    const LN2, 0x1.62e42fefa39efp-5
    const LN2_TAIL, 0x1.abc9e3b39803fp-60
    const Q7, 0x1.a01b5b2ac4c5p-13
    const Q6, 0x1.6c17f5eeeb3d3p-10
    const Q5, 0x1.11111110b2695p-7
    const Q4, 0x1.55555554df71ep-5
    const Q3, 0x1.5555555555557p-3
    const Q2, 0x1.0000000000001p-1
    pairs TABLE, 0x1.0000000000000p0, 0, 0x1.fb5586cf9890fp-1, 0x1.79aa65d837b6dp-54, \
        0x1.f72b83c7d517bp-1, -0x1.01b15eaa59348p-55, 0x1.f387a6e756238p-1, 0x1.68efde3a8a894p-54, \
        0x1.f06fe0a31b715p-1, 0x1.34d754db0abb6p-55, 0x1.edea64c123422p-1, 0x1.59f48a72a4c6dp-55, \
        0x1.ebfdad5362a27p-1, 0x1.690cebb7aafb0p-56, 0x1.eab07dd485429p-1, 0x1.063e1e21c5409p-54, \
        0x1.ea09e667f3bcdp-1, -0x1.3b3efbf5e2228p-54, 0x1.ea11473eb0187p-1, -0x1.b32dcb94da51dp-56, \
        0x1.eace5422aa0dbp-1, 0x1.db72fc1f0eab4p-55, 0x1.ec49182a3f090p-1, 0x1.1affc2b91ce27p-56, \
        0x1.ee89f995ad3adp-1, 0x1.c1a7792cb3387p-55, 0x1.f199bdd85529cp-1, 0x1.36eae30af0cb3p-56, \
        0x1.f5818dcfba487p-1, 0x1.4a385a63d07a7p-56, 0x1.fa4afa2a490dap-1, -0x1.ff7128fd391f0p-55

.macro exp_f64_test
    vabs m, x
    inside lt, m, NEAR
.endm
.macro exp_f64_body
    vfma m, x, INV, MAGIC
    vsub r, m, MAGIC
    vfnma x, r, LN2, x
    vfnma r, r, LN2_TAIL, x
    vlut16x2 x, p, m, TABLE
    vfma q, r, Q7, Q6
    vfma q, q, r, Q5
    vfma q, q, r, Q4
    vfma q, q, r, Q3
    vfma q, q, r, Q2
    vshl m, m, 48
    viadd x, x, m
    vmul m, r, r
    vfma m, m, q, r
    vadd p, p, m
    vfma x, x, p, x
.endm
    VM_FUNCTION exp, f64, 1, m, r, q, p
