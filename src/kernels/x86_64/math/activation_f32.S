// SPDX-License-Identifier: MIT
// sigmoid, silu and gelu_tanh, f32: the recipes of kernels/math/activation_f32.c for x >= -60 (gelu_tanh -8.5) and NaN;
// below, the recipes themselves.
//
// Method     e^-x = s + s p (exp_core.inc), 1 + s = h + hl, g = hl + s p; y = 1 / (h + g), rho = 1 - y (h + g);
//            sigmoid = y + y rho, silu = x y + x y rho with the error of x y; gelu_tanh = x sigmoid(v),
//            v = x (A + B x^2) in head and tail, x at most 12
// Error      in ULP (all arguments): sigmoid 0.5878 at -0x1.d299b4p+3; silu 0.7646 at -0x1.6fc98p+6; gelu_tanh 0.7602
//            at -0x1.43b27cp+3
// Specials   NaN gives NaN, +inf 1 and +inf; -inf and what is near it out of line
// Registers  x argument and result   m n, then y   r reduced argument, then rho   q polynomial, then g   p e^r - 1 + t
//            c argument, at most 60 (gelu_tanh 12)   s scale, then the product; before that m q p s of v

#include "vm.inc"
#include "exp_core_f32.inc"
    const FAR, 60
    const MINUS_FAR, -60
    const GELU_FAR, 12
    const GELU_MINUS_FAR, -8.5
    const GELU_A, 0x1.988454p0
    const GELU_A_TAIL, -0x1.857936p-25
    const GELU_B, 0x1.2444f2p-4
    const GELU_B_TAIL, 0x1.49b16ap-29
    const ZERO, 0

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

// c sigmoid(v), as s = w + (w rho + the error of w = c y), from e^-v = s + s p; the sign is that of x
.macro TIMES_SIGMOID
    SIGMOID m, r, s, p, q, r
    vmul s, c, m
    vfms c, c, m, s
    vfma r, r, s, c
    vadd s, s, r
    vsign s, s, x // zeros and what underflows
.endm

.macro silu_f32_test
    inside nlt, x, MINUS_FAR
.endm
.macro silu_f32_body
    vmin c, FAR, x
    EXP_NEAR_NEG s, p, c, m, r, q
    TIMES_SIGMOID
    vsel lt, x, FAR, x, x, s
.endm
    VM_FUNCTION silu, f32, 1, m, r, q, p, c, s

// q + s = c (A + B c^2)
.macro GELU_ARGUMENT
    vmul s, c, c
    vfms p, c, c, s
    vmul q, s, GELU_B
    vfms m, s, GELU_B, q
    vfma m, s, GELU_B_TAIL, m
    vfma m, p, GELU_B, m
    vadd m, m, GELU_A_TAIL
    vadd s, q, GELU_A // A + q = s + p
    vsub p, s, GELU_A
    vsub q, q, p
    vsub p, s, p
    vsub p, GELU_A, p
    vadd p, p, q
    vadd p, p, m
    vmul q, c, s
    vfms s, c, s, q
    vfma s, c, p, s
.endm
.macro gelu_tanh_f32_test
    inside nlt, x, GELU_MINUS_FAR
.endm
.macro gelu_tanh_f32_body
    vmin c, GELU_FAR, x
    GELU_ARGUMENT
    vsel gt, s, q, FAR, ZERO, s
    vmin q, FAR, q
    vfnma m, q, INV, MAGIC
    vsub r, m, MAGIC
    vfnms p, r, LN2, q
    vfnms r, r, LN2_TAIL, s
    vadd r, r, p
    EXP_NEAR_AT s, p, m, r, q, EXP_Q
    TIMES_SIGMOID
    vsel lt, x, GELU_FAR, x, x, s
.endm
    VM_FUNCTION gelu_tanh, f32, 1, m, r, q, p, c, s
