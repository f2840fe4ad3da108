// SPDX-License-Identifier: MIT
// log, log2, log10 and log1p, f32: the recipes of kernels/math/log_f32.c.
//
// Method     x = 2^k m, 0.698 <= m < 1.396; c near 1/m of a table of 16, with so few bits that r = m c - 1 is exact,
//            |r| < 0.0434; log x = (k log 2 - log c) + r + r^2 q(r), the bracket in head and tail and its sum with r exact; in other
//            bases r is multiplied by 1/ln b in two pieces. log1p: the same for u = 1 + x, whose error joins times c 2^-k
// Error      log .5575, log2 .555, log10 .544, log1p .525 ULP of sampled arguments (docs/exhaustive.md: all of them is open)
// Specials   out of line: zeros, negative and subnormal numbers, inf, NaN; log1p: x <= -1, x >= 2^100, inf, NaN
// Registers  x argument, m   u index, scratch   d bits of x, sum   k exponent, then tail   w k log 2 - log c
//            r reduced argument, then its square   q series

#include "vm.inc"
#include "log_f32.inc"
    const FAR, 0x1p100
    const MINUS_ONE, -1
    const BINARY_INV, 0x1.715476p0
    const BINARY_INV_TAIL, 0x1.4ae0cp-26
    const DECIMAL_TWO, 0x1.3441p-2
    const DECIMAL_TWO_TAIL, 0x1.a84fbcp-21
    const DECIMAL_INV, 0x1.bcb7b2p-2
    const DECIMAL_INV_TAIL, -0x1.5b235ep-27
    pairs BINARY, -0x1.d674p-2, -0x1.3e032ep-18, -0x1.91bcp-2, 0x1.5db83ap-20, \
        -0x1.91bcp-2, 0x1.5db83ap-20, -0x1.49a8p-2, 0x1.ed0cbap-20, \
        -0x1.fbcp-3, -0x1.6b9026p-19, -0x1.5cp-3, -0x1.a39fbep-19, \
        -0x1.5cp-3, -0x1.a39fbep-19, -0x1.664p-4, 0x1.20a6dep-21, \
        -0x1.664p-4, 0x1.20a6dep-21, 0, 0, \
        0x1.7d6p-4, 0x1.25b3eep-22, 0x1.22d8p-3, 0x1.6e155ap-18, \
        0x1.f6p-3, -0x1.3ab7cep-18, 0x1.32cp-2, -0x1.1c8f12p-22, \
        0x1.6cbp-2, 0x1.ed0cbap-19, 0x1.e7ep-2, -0x1.40358ep-19
    pairs DECIMAL, -0x1.1b3ep-3, -0x1.c7b254p-21, -0x1.e3bcp-4, -0x1.ab0e1ap-24, \
        -0x1.e3bcp-4, -0x1.ab0e1ap-24, -0x1.8cfp-4, -0x1.838864p-20, \
        -0x1.31b4p-4, 0x1.f54772p-21, -0x1.a308p-5, -0x1.4eb05p-20, \
        -0x1.a308p-5, -0x1.4eb05p-20, -0x1.af6p-6, 0x1.b53fc6p-24, \
        -0x1.af6p-6, 0x1.b53fc6p-24, 0, 0, \
        0x1.cb4p-6, -0x1.c0cc9ep-20, 0x1.5e38p-5, 0x1.66b7eap-21, \
        0x1.2e3cp-4, -0x1.8bf488p-20, 0x1.715cp-4, 0x1.0ce368p-20, \
        0x1.b72p-4, 0x1.cd1716p-20, 0x1.25bap-3, 0x1.042b5ep-20

.macro logs_normal
    inside ge, x, NORMAL
    inside lt, x, INF
.endm
.macro logs_sum_base inv, inv_tail
    vmul d, r, inv
    vfms u, r, inv, d
    vadd x, w, d
    vsub w, x, w
    vsub w, d, w
    vfma u, r, inv_tail, u
    vadd u, u, k
    vadd u, u, w
    vmul r, r, r
    vmul r, r, q
    vfma u, r, inv, u
    vadd x, x, u
.endm

.macro log_f32_test
    logs_normal
.endm
.macro log_f32_body
    logs_reduce NATURAL, NATURAL_TWO
    logs_series
    logs_sum
.endm
    VM_FUNCTION log, f32, 1, u, d, k, w, r, q

.macro log2_f32_test
    logs_normal
.endm
.macro log2_f32_body
    logs_reduce BINARY, ONE
    logs_series
    logs_sum_base BINARY_INV, BINARY_INV_TAIL
.endm
    VM_FUNCTION log2, f32, 1, u, d, k, w, r, q

.macro log10_f32_test
    logs_normal
.endm
.macro log10_f32_body
    logs_reduce DECIMAL, DECIMAL_TWO
    logs_series
    logs_sum_base DECIMAL_INV, DECIMAL_INV_TAIL
.endm
    VM_FUNCTION log10, f32, 1, u, d, k, w, r, q

.macro log1p_f32_test
    inside gt, x, MINUS_ONE
    inside lt, x, FAR
.endm
.macro log1p_f32_body
    vmov ARGUMENT, x
    vadd u, x, ONE
    vmax d, x, ONE
    vsub d, u, d
    vmin x, x, ONE
    vsub x, x, d
    log1ps_reduce
    logs_series
    logs_sum
    vmov d, ARGUMENT
    vsign x, x, d
.endm
    VM_SLOTS ARGUMENT
    VM_FUNCTION log1p, f32, 1, u, d, k, w, r, q
