// SPDX-License-Identifier: MIT
// exp and exp2, f64: the recipes of kernels/math/exp.c, |x| < 708 and 1021; the rest goes to the recipes themselves.
//
// Method     n = 16k + i = nint(16 x / ln 2), r = x - n ln2/16 in two steps, |r| <= ln2/32,
//            e^x = s + s (r + r^2 q(r) + t), s = 2^k 2^(i/16) from the table and n, t what the table lacks
// Error      in ULP: exp 0.5377 at -0x1.078e41cb8be67p-4; exp2 0.5367 at -0x1.e369f628f34aap-6
// Specials   out of line: NaN gives NaN, +inf and overflow +inf, -inf and underflow +0, subnormals rounded once
// Registers  x argument, then s and result   m the shifted n   r reduced argument   q polynomial   p t, then e^r - 1 + t

#include "vm.inc"
#include "exp_core_f64.inc"
    const NEAR, 708

.macro exp_f64_test
    vabs m, x
    inside lt, m, NEAR
.endm
.macro exp_f64_body
    EXP_NEAR x, p, x, m, r, q
    vfma x, x, p, x
.endm
    VM_HOLD MAGIC, INV, LN2, LN2_TAIL, Q7, Q6, Q5, Q4, Q3, Q2, vm_abs64, NEAR
    VM_FUNCTION exp, f64, 1, m, r, q, p

// exp2 reduces exactly, r = x - n/16; 2^r = 1 + r q(r)
    const MAGIC2, 0x1.8p48
    const NEAR2, 1021
    const C7, 0x1.ffcdadae226e8p-17
    const C6, 0x1.430a1c79c1c95p-13
    const C5, 0x1.5d87fe7827596p-10
    const C4, 0x1.3b2ab6fb41d43p-7
    const C3, 0x1.c6b08d704a0c2p-5
    const C2, 0x1.ebfbdff82c59p-3
    const C1, 0x1.62e42fefa39efp-1

.macro exp2_f64_test
    vabs m, x
    inside lt, m, NEAR2
.endm
.macro exp2_f64_body
    vadd m, x, MAGIC2
    vsub r, m, MAGIC2
    vsub r, x, r
    vfma q, r, C7, C6
    vfma q, q, r, C5
    vfma q, q, r, C4
    vfma q, q, r, C3
    vfma q, q, r, C2
    vfma q, q, r, C1
    EXP_SCALE x, m, m, p
    vfma q, q, r, m
    vfma x, x, q, x
.endm
    VM_HOLD MAGIC2, C7, C6, C5, C4, C3, C2, C1, vm_abs64, NEAR2
    VM_FUNCTION exp2, f64, 1, m, r, q, p
