// SPDX-License-Identifier: MIT
// expm1, tanh, sinh and cosh, f64: the recipes of kernels/math/hyper.c; arguments beyond 709 (cosh 708) go to them.
//
// Method     E = e^|x| - 1 in head and tail (hyper.inc); tanh = E / (E + 2) of 2|x|, sinh = (E + E / (E + 1)) / 2,
//            cosh = (e^|x| + 1 / e^|x|) / 2, quotients corrected by their remainder
// Error      expm1 0.515 ULP at 0x1.6b1f73f57c63p-6, tanh 0.517 at -0x1.6596b2013d732p-7,
//            sinh 0.519 at -0x1.71e6e026e671p-6, cosh 0.535 at 0x1.f2a37537a86e2p+4
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
