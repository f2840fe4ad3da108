// SPDX-License-Identifier: MIT
// expm1, tanh, sinh and cosh, f32: the recipes of kernels/math/hyper_f32.c; arguments beyond 88 (cosh 87) go to them.
//
// Method     that of hyper_f64.S
// Error      in ULP (all arguments): expm1 0.5477 at 0x1.61f5dep+6; tanh 0.5186 at 0x1.61895ep-7; sinh 0.5477 at
//            0x1.61f5dep+6; cosh 0.5477 at -0x1.61f5dep+6
// Specials   NaN gives NaN; -0 stays; expm1(-inf) = -1; tanh is 1 from 10 on; overflow out of line
// Registers  as hyper_f64.S

#include "vm.inc"
#include "exp_core_f32.inc"
    const LOW, -32
    const HIGH, 88
    const COSH_HIGH, 87
    const ONE_AT, 10
    const MINUS_ONE, -1
    const TWO, 2
.macro COSH_NEAR // with the longer polynomial
    vfma m, x, INV, MAGIC
    vsub r, m, MAGIC
    vfnma s, r, LN2, x
    vmul r, r, LN2_TAIL
    vsub r, s, r
    EXP_NEAR_AT s, p, m, r, q, EXP_Q
.endm
#define T f32
#include "hyper.inc"
