// SPDX-License-Identifier: MIT
// exp and exp2, f32: the recipes of kernels/math/exp_f32.c, |x| < 87 and 125; the rest goes to the recipes themselves.
//
// Method     as exp_f64.S, with shorter polynomials
// Error      in ULP (all arguments): exp 0.5572 at -0x1.9022fap+3; exp2 0.5559 at -0x1.fe5552p-6
// Specials   out of line: NaN gives NaN, +inf and overflow +inf, -inf and underflow +0, subnormals rounded once
// Registers  x argument, then s and result   m the shifted n   r reduced argument   q polynomial   p t, then e^r - 1 + t

#include "vm.inc"
#include "exp_core_f32.inc"
    const NEAR, 87

.macro exp_f32_test
    vabs m, x
    inside lt, m, NEAR
.endm
.macro exp_f32_body
    EXP_NEAR x, p, x, m, r, q
    vfma x, x, p, x
.endm
    VM_HOLD MAGIC, INV, LN2, LN2_TAIL, S3, S2, vm_abs32, NEAR
    VM_FUNCTION exp, f32, 1, m, r, q, p

    const MAGIC2, 0x1.8p19
    const NEAR2, 125
    const C3, 0x1.c6ae1cp-5
    const C2, 0x1.ebfff4p-3
    const C1, 0x1.62e43p-1

.macro exp2_f32_test
    vabs m, x
    inside lt, m, NEAR2
.endm
.macro exp2_f32_body
    vadd m, x, MAGIC2
    vsub r, m, MAGIC2
    vsub r, x, r
    vfma q, r, C3, C2
    vfma q, q, r, C1
    EXP_SCALE x, m, m, p
    vfma q, q, r, m
    vfma x, x, q, x
.endm
    VM_HOLD MAGIC2, C3, C2, C1, vm_abs32, NEAR2
    VM_FUNCTION exp2, f32, 1, m, r, q, p
