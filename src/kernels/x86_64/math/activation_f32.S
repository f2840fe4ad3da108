// SPDX-License-Identifier: MIT
// sigmoid and silu, f32: the recipes of kernels/math/activation_f32.c for x >= -60 and NaN; below, the recipes themselves.
//
// Method     e^-x = s + s p (exp_core.inc), 1 + s = h + hl, g = hl + s p; y = 1 / (h + g), rho = 1 - y (h + g);
//            sigmoid = y + y rho, silu = x y + x y rho with the error of x y
// Error      sigmoid 0.546 ULP at -0x1.c54e96p+2, silu 0.641 at -0x1.7063dep+6 (out of line)
// Specials   NaN gives NaN, +inf 1 and +inf; -inf and what is near it out of line
// Registers  x argument and result   m n, then y   r reduced argument, then rho   q polynomial, then g   p e^r - 1 + t
//            c argument, at most 60   s scale, then the product

#include "vm.inc"
#include "exp_core_f32.inc"
    const FAR, 60
    const MINUS_FAR, -60

// y = 1 / (1 + s + s p), then the rest of it: s = 1 - y (1 + s + s p). g and h are spent, p too.
.macro SIGMOID y, rho, s, p, g, h
    vmax \g, ONE, \s
    vmin \y, \s, ONE
    vadd \h, \g, \y
    vsub \g, \h, \g
    vsub \g, \y, \g
    vfma \g, \s, \p, \g
    vadd \p, \h, \g
    vdiv \y, ONE, \p
    vfnma \h, \y, \h, ONE
    vfnma \rho, \y, \g, \h
.endm

.macro sigmoid_f32_test
    inside nlt, x, MINUS_FAR
.endm
.macro sigmoid_f32_body
    vmin x, FAR, x
    EXP_NEAR_NEG x, p, x, m, r, q
    SIGMOID m, r, x, p, q, r
    vfma x, m, r, m
.endm
    VM_FUNCTION sigmoid, f32, 1, m, r, q, p

// x sigmoid(x), as w + (w rho + the error of w = x y)
.macro silu_f32_test
    inside nlt, x, MINUS_FAR
.endm
.macro silu_f32_body
    vmin c, FAR, x
    EXP_NEAR_NEG s, p, c, m, r, q
    SIGMOID m, r, s, p, q, r
    vmul s, c, m
    vfms c, c, m, s
    vfma r, r, s, c
    vadd s, s, r
    vsign s, s, x // zeros and what underflows
    vsel lt, x, FAR, x, x, s
.endm
    VM_FUNCTION silu, f32, 1, m, r, q, p, c, s
