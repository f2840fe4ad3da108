// SPDX-License-Identifier: MIT
// softplus, f64: the recipe of kernels/math/activation.c for x >= -600 and NaN; below, the recipe itself.
//
// Method     max(x, 0) + log(1 + e^-|x|): e^-|x| = s + s p (exp_core.inc) as head and tail, its log1p in head and tail
//            (log_f64.inc), the sum with its error; below -36 e - e^2/2 with the tail of e
// Error      in ULP: softplus 0.6348 at -0x1.1bf85bbcce415p+5
// Specials   NaN gives NaN, +inf +inf; -inf and what is near it out of line
// Registers  those of log_f64.inc: x e^-|x|   q its tail   u d k w r of the logarithm, d + u its value; before that
//            u m of exp_core.inc, d s, r r, k q; slots: the argument, and what is right below -36

#include "vm.inc"
#include "exp_core_f64.inc"
#include "log_f64.inc"
    const FAR, 600
    const MINUS_FAR, -600
    const SMALL_AT, -36
    const MINUS_HALF, -0.5
    const ZERO, 0

.macro softplus_f64_test
    inside nlt, x, MINUS_FAR
.endm
.macro softplus_f64_body
    vmov ARGUMENT, x
    vabs x, x
    vmin x, FAR, x
    EXP_NEAR_NEG d, q, x, u, r, k
    vfma x, d, q, d
    vsub u, d, x
    vfma q, d, q, u
    vmul u, x, MINUS_HALF
    vfma u, u, x, q
    vadd u, x, u
    vmov SMALL, u
    log1p_pair
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
    VM_FUNCTION softplus, f64, 1, u, d, k, w, r, q
