// SPDX-License-Identifier: MIT
// expm1, tanh, sinh and cosh, f64: the recipes of kernels/math/hyper.c; arguments beyond 709 (cosh 708) go to them.
//
// Method     E = e^|x| - 1 in head and tail (hyper.inc); tanh = E / (E + 2) of 2|x|, sinh = (E + E / (E + 1)) / 2,
//            cosh = (e^|x| + 1 / e^|x|) / 2, quotients corrected by their remainder
// Error      in ULP: expm1 0.5297 at -0x1.62f27fa09033cp-6; tanh 0.5358 at 0x1.641771e7ea5fcp-7; sinh 0.5347 at
//            0x1.64088570399eap-6; cosh 0.5334 at 0x1.cfb18c16f4559p+8
// Specials   NaN gives NaN; -0 stays; expm1(-inf) = -1; tanh is 1 from 20 on; overflow out of line
// Registers  x argument and result   l reduced argument's tail, then the denominator   m n, then head   s scale, then
//            tail   r reduced argument, then quotient   q polynomial, then reciprocal   f nf, then tails   p e^r - 1

#include "vm.inc"
#include "exp_core_f64.inc"
    const LOW, -64
    const HIGH, 709
    const COSH_HIGH, 708
    const ONE_AT, 20
    const MINUS_ONE, -1
    const TWO, 2
.macro COSH_NEAR
    EXP_NEAR s, p, x, m, r, q
.endm
#define T f64
#include "hyper.inc"
