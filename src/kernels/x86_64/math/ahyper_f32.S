// SPDX-License-Identifier: MIT
// asinh, acosh and atanh, f32: the recipes of kernels/math/ahyper_f32.c, on log(1 + v), v in head and tail.
//
// Method     asinh |x|: v = |x| + x^2 / (1 + sqrt(1 + x^2)), the quotient with its remainder; acosh x: v = t +
//            sqrt(t (x + 1)), t = x - 1, the root with its remainder over 2 sqrt, which comes from the bits of the root;
//            atanh |x|: v = 2 |x| / (1 - |x|) with its remainder, and half the logarithm
// Error      in ULP (all arguments): asinh 0.6738 at 0x1.544a24p+1; acosh 0.5634 at 0x1.01ff46p+0; atanh 0.5788 at
//            0x1.fb92eap-7
// Specials   out of line: |x| >= 2^60 for the first two, x < 1 for acosh, |x| >= 1 for atanh, inf, NaN
// Registers  x argument, then v and result   q correction of v   u d k w r of the logarithm (log_f32.inc), before
//            that scratch: x^2, divisors, inverse, remainders

#include "vm.inc"
#include "log_f32.inc"
    const FAR, 0x1p60
    bits HALF_INVERSE, 0x7e730000

.macro asinh_f32_test
    vabs u, x
    inside lt, u, FAR
.endm
.macro asinh_f32_body
    vmov ARGUMENT, x
    vabs x, x
    vmul u, x, x
    vfms w, x, x, u
    vadd r, u, ONE
    vsqrt r, r
    vadd d, r, ONE
    vsub k, d, r
    vsub k, ONE, k
    vdiv r, ONE, d
    vmul q, u, r
    vfnma u, q, d, u
    vadd u, u, w
    vfnma u, q, k, u
    vadd d, x, q
    vsub w, d, x
    vsub q, q, w
    vfma q, u, r, q
    vmov x, d
    log1ps_core
    vmov d, ARGUMENT
    vsign x, x, d
.endm
    VM_SLOTS ARGUMENT
    VM_FUNCTION asinh, f32, 1, u, d, k, w, r, q

.macro acosh_f32_test
    inside ge, x, ONE
    inside lt, x, FAR
.endm
.macro acosh_f32_body
    vsub u, x, ONE
    vadd d, x, ONE
    vsub k, d, x
    vsub k, ONE, k
    vmul w, u, d
    vfms d, u, d, w
    vfma d, u, k, d
    vsqrt r, w
    vfnma w, r, r, w
    vadd w, w, d
    visub d, HALF_INVERSE, r
    vadd x, r, u
    vsub q, x, r
    vsub q, u, q
    vfma q, w, d, q
    log1ps_core
.endm
    VM_FUNCTION acosh, f32, 1, u, d, k, w, r, q

.macro atanh_f32_test
    vabs u, x
    inside lt, u, ONE
.endm
.macro atanh_f32_body
    vmov ARGUMENT, x
    vabs x, x
    vsub d, ONE, x
    vsub k, d, ONE
    vadd k, k, x
    vadd u, x, x
    vdiv r, ONE, d
    vmul x, u, r
    vfnma u, x, d, u
    vfma u, x, k, u
    vmul q, u, r
    log1ps_core
    vmul x, x, HALF
    vmov d, ARGUMENT
    vsign x, x, d
.endm
    VM_SLOTS ARGUMENT
    VM_FUNCTION atanh, f32, 1, u, d, k, w, r, q
