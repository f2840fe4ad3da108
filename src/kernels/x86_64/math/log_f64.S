// SPDX-License-Identifier: MIT
// log, log2, log10 and log1p, f64: the recipes of kernels/math/log.c.
//
// Method     x = 2^k m, 0.698 <= m < 1.396; c near 1/m of a table of 16; m c = 1 + r + r' exactly, |r| < 0.0298;
//            log x = (k log 2 - log c) + r - r^2/2 + r^3 q(r) + r', the bracket and its sum with r exact; in other bases r
//            is multiplied by 1/ln b in two pieces. log1p: the same for u = 1 + x, whose error joins r' times c 2^-k
// Error      in ULP: log 0.5169 at 0x1.05df86ba94056p+0; log2 0.5510 at 0x1.0565edb629074p+0; log10 0.5207 at
//            0x1.067795f01f8p+0; log1p 0.5157 at 0x1.5ffa591b741dfp-6
// Specials   out of line: zeros, negative and subnormal numbers, inf, NaN; log1p: x <= -1, x >= 2^1000, inf, NaN
// Registers  x argument, m, then r'   u index, scratch   d bits of x, c, sum   k exponent   w k log 2 - log c
//            r reduced argument   q series

#include "vm.inc"
#include "log_f64.inc"
    const FAR, 0x1p1000
    const MINUS_ONE, -1
    const BINARY_INV, 0x1.71547652b82fep0
    const BINARY_INV_TAIL, 0x1.777d0ffda0d24p-56
    const DECIMAL_TWO, 0x1.34413509f78p-2
    const DECIMAL_TWO_TAIL, 0x1.fef311f12b358p-46
    const DECIMAL_INV, 0x1.bcb7b1526e50ep-2
    const DECIMAL_INV_TAIL, 0x1.95355baaafad3p-57
    pairs BINARY, 0x1.66c61db5c8f0cp0, -0x1.f29e109385p-2, 0x1.57b8853704529p0, -0x1.b34ba6c9p-2, \
        0x1.49e0f2b8eee5ap0, -0x1.7692225f7fp-2, 0x1.3d1c08ce356b1p0, -0x1.3c3fda6f62p-2, \
        0x1.314ac99dde73dp0, -0x1.0424ccd51p-2, 0x1.2652be046b9a4p0, -0x1.9c2ce67398p-3, \
        0x1.1c1d951e23f1dp0, -0x1.33e252459ep-3, 0x1.129781f4169fp0, -0x1.9e4a164444p-4, \
        0x1.09afe148a2cb4p0, -0x1.b6f5ca343p-5, 0x1p0, 0, \
        0x1.e6a71494cf8c2p-1, 0x1.2c09a28758p-4, 0x1.cb5d2d15e058bp-1, 0x1.4086465406p-3, \
        0x1.b2f966a4be1edp-1, 0x1.e1b7d3caeep-3, 0x1.9d0a982bf417ep-1, 0x1.3d4b46e693p-2, \
        0x1.89378da278e5ap-1, 0x1.85f52ddff7p-2, 0x1.77350df31f877p-1, 0x1.cb38154fp-2
    pairs DECIMAL, 0x1.66c60b5215f0cp0, -0x1.2c32691a12p-3, 0x1.57b83de7e5529p0, -0x1.06123a01228p-3, \
        0x1.49e1373c49e5ap0, -0x1.c308ab853fp-4, 0x1.3d1c247be76b1p0, -0x1.7ccdfbce2dp-4, \
        0x1.314ac86a1673dp0, -0x1.393e82acb9p-4, 0x1.2652c0dd389a4p0, -0x1.f04f247894p-5, \
        0x1.1c1d963dd0f1dp0, -0x1.72bac54edp-5, 0x1.1297a9fc289fp0, -0x1.f2deb6c49p-6, \
        0x1.09afd1b002cb4p0, -0x1.084621a044p-6, 0x1p0, 0, \
        0x1.e6a71345078c2p-1, 0x1.6948175454p-6, 0x1.cb5d598f1e58bp-1, 0x1.81f1d8ab6cp-5, \
        0x1.b2f8ecda9a1edp-1, 0x1.2207e137bdp-4, 0x1.9d0af7eb1017ep-1, 0x1.7e0dc6cc11p-4, \
        0x1.8936ffd2c8e5ap-1, 0x1.d590d0c75dp-4, 0x1.7734d16325877p-1, 0x1.147ac892f5p-3

.macro log_normal
    inside ge, x, NORMAL
    inside lt, x, INF
.endm
// r + x in another base, added to w
.macro log_sum_base inv, inv_tail
    vmul d, r, r
    vfma q, q, r, x
    vfms u, r, L2, x
    vfma x, d, q, x
    vfma q, r, u, x
    vmul d, r, inv
    vfms u, r, inv, d
    vfma u, r, inv_tail, u
    vadd x, w, d
    vsub w, x, w
    vsub w, d, w
    vadd u, u, w
.endm

.macro log_f64_test
    log_normal
.endm
.macro log_f64_body
    log_reduce NATURAL, TWO
    log_series
    log_sum
.endm
    VM_FUNCTION log, f64, 1, u, d, k, w, r, q

.macro log2_f64_test
    log_normal
.endm
.macro log2_f64_body
    log_reduce BINARY, ONE
    log_series
    log_sum_base BINARY_INV, BINARY_INV_TAIL
    vfma u, q, BINARY_INV, u
    vadd x, x, u
.endm
    VM_FUNCTION log2, f64, 1, u, d, k, w, r, q

.macro log10_f64_test
    log_normal
.endm
.macro log10_f64_body
    log_reduce DECIMAL, DECIMAL_TWO
    log_series
    log_sum_base DECIMAL_INV, DECIMAL_INV_TAIL
    vfma u, k, DECIMAL_TWO_TAIL, u
    vfma u, q, DECIMAL_INV, u
    vadd x, x, u
.endm
    VM_FUNCTION log10, f64, 1, u, d, k, w, r, q

.macro log1p_f64_test
    inside gt, x, MINUS_ONE
    inside lt, x, FAR
.endm
.macro log1p_f64_body
    vmov ARGUMENT, x
    vadd u, x, ONE
    vmax d, x, ONE
    vsub d, u, d
    vmin x, x, ONE
    vsub x, x, d
    log1p_reduce
    log_series
    log_sum
    vmov d, ARGUMENT
    vsign x, x, d
.endm
    VM_SLOTS ARGUMENT
    VM_FUNCTION log1p, f64, 1, u, d, k, w, r, q
