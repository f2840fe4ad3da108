// SPDX-License-Identifier: MIT
// softplus, f32: the recipe of kernels/math/activation_f32.c for x >= -60 and NaN; below, the recipe itself.
//
// Method     max(x, 0) + log(1 + e^-|x|): e^-|x| = s + s p (exp_core.inc) as head and tail, its log1p in head and tail
//            (log_f32.inc), the sum with its error; below -16 e - e^2/2 with the tail of e
// Error      in ULP (all arguments): softplus 0.6423 at -0x1.ef7b5ap+3
// Specials   NaN gives NaN, +inf +inf; -inf and what is near it out of line
// Registers  those of log_f32.inc: x e^-|x|   q its tail   u d k w r of the logarithm, d + u its value; before that
//            u m of exp_core.inc, d s, r r, k q; slots: the argument, and what is right below -16

#include "vm.inc"
#include "exp_core_f32.inc"
#include "log_f32.inc"
    const FAR, 60
    const MINUS_FAR, -60
    const SMALL_AT, -16
    const MINUS_HALF, -0.5
    const ZERO, 0

.macro softplus_f32_test
    inside nlt, x, MINUS_FAR
.endm
.macro softplus_f32_body
    vmov ARGUMENT, x
    vabs x, x
    vmin x, FAR, x
    vfnma u, x, INV, MAGIC // e^-x with the longer polynomial
    vsub r, u, MAGIC
    vfnms d, r, LN2, x
    vmul r, r, LN2_TAIL
    vsub r, d, r
    EXP_NEAR_AT d, q, u, r, k, EXP_Q
    vfma x, d, q, d
    vsub u, d, x
    vfma q, d, q, u
    vmul u, x, MINUS_HALF
    vfma u, u, x, q
    vadd u, x, u
    vmov SMALL, u
    log1ps_pair
    vmov x, ARGUMENT
    vmax w, x, ZERO // w + (d + u)
    vadd r, w, d
    vsub q, r, w
    vsub k, r, q
    vsub k, w, k
    vsub d, d, q
    vadd k, k, d
    vadd k, k, u
    vadd r, r, k
    vsel lt, r, x, SMALL_AT, SMALL, r
    vsel gt, x, x, FAR, x, r
.endm
    VM_SLOTS ARGUMENT, SMALL
    VM_FUNCTION softplus, f32, 1, u, d, k, w, r, q
