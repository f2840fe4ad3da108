// SPDX-License-Identifier: MIT
// log, log2, log10 and log1p, f32: the recipes of kernels/math/log_f32.c.
//
// Method     x = 2^k m, 0.703 <= m < 1.406; c near 1/m of a table of 16, with so few bits that r = m c - 1 is exact,
//            |r| < 0.0343; log x = (k log 2 - log c) + r / ln b + r^2 q(r), the bracket in head and tail and its sum with the
//            second term exact. log1p: the same for u = 1 + x, whose error joins times c 2^-k
// Error      in ULP (all arguments): log 0.5469 at 0x1.081326p+0; log2 0.5249 at 0x1.0593eap+0; log10 0.5333 at
//            0x1.080a7ep+0; log1p 0.5729 at 0x1.01932ep-5
// Specials   out of line: zeros, negative and subnormal numbers, inf, NaN; log1p: x <= -1, x >= 2^100, inf, NaN
// Registers  x argument, m   u index, tail   d bits of x, sum   k exponent, then tail   w k log 2 - log c
//            r reduced argument, then its square   q series

#include "vm.inc"
#include "log_f32.inc"
    const FAR, 0x1p100
    const MINUS_ONE, -1
    const BINARY_INV, 0x1.715476p0
    const BINARY_INV_TAIL, 0x1.4ae0cp-26
    const BINARY_Q5, 0x1.27d6dep-2
    const BINARY_Q4, -0x1.71a71ep-2
    const BINARY_Q3, 0x1.ec7094p-2
    const BINARY_Q2, -0x1.715474p-1
    const DECIMAL_TWO, 0x1.3441p-2
    const DECIMAL_TWO_TAIL, 0x1.a84fbcp-21
    const DECIMAL_INV, 0x1.bcb7b2p-2
    const DECIMAL_INV_TAIL, -0x1.5b235ep-27
    const DECIMAL_Q5, 0x1.643ccep-4
    const DECIMAL_Q4, -0x1.bd0e3cp-4
    const DECIMAL_Q3, 0x1.287a7p-3
    const DECIMAL_Q2, -0x1.bcb7bp-3
    pairs BINARY, -0x1.d674p-2, -0x1.3e032ep-18, -0x1.b48p-2, 0x1.408c78p-18, \
        -0x1.6e24p-2, 0x1.e3263p-18, -0x1.244p-2, -0x1.eac382p-20, \
        -0x1.fbcp-3, -0x1.6b9026p-19, -0x1.acf8p-3, 0x1.0e9258p-18, \
        -0x1.08c8p-3, 0x1.3b992cp-18, -0x1.664p-4, 0x1.20a6dep-21, \
        -0x1.6bap-5, -0x1.a6eb1ep-18, 0, 0, \
        0x1.7d6p-4, 0x1.25b3eep-22, 0x1.564p-3, -0x1.1eb002p-18, \
        0x1.f6p-3, -0x1.3ab7cep-18, 0x1.4f7p-2, -0x1.134c4ep-20, \
        0x1.8a88p-2, 0x1.80abfcp-18, 0x1.e7ep-2, -0x1.40358ep-19
    pairs DECIMAL, -0x1.1b3ep-3, -0x1.c7b254p-21, -0x1.06ccp-3, 0x1.4c2c9ep-22, \
        -0x1.b8ep-4, 0x1.b2c54cp-20, -0x1.5fe8p-4, -0x1.222bd4p-26, \
        -0x1.31b4p-4, 0x1.f54772p-21, -0x1.0244p-4, 0x1.73e0f8p-20, \
        -0x1.3edp-5, -0x1.199a5ep-21, -0x1.af6p-6, 0x1.b53fc6p-24, \
        -0x1.b5ep-7, -0x1.211d62p-20, 0, 0, \
        0x1.cb4p-6, -0x1.c0cc9ep-20, 0x1.9c18p-5, 0x1.7abfp-21, \
        0x1.2e3cp-4, -0x1.8bf488p-20, 0x1.93e8p-4, -0x1.0f81ep-23, \
        0x1.db1p-4, 0x1.ed766ap-20, 0x1.25bap-3, 0x1.042b5ep-20

.macro logs_normal
    inside ge, x, NORMAL
    inside lt, x, INF
.endm
.macro logs_sum_base table
    vfma d, r, table\()_INV, w
    vsub w, w, d
    vfma w, r, table\()_INV, w
    vfma k, r, table\()_INV_TAIL, k
    vadd w, w, k
    vmul r, r, r
    vfma w, r, q, w
    vadd x, d, w
.endm

.macro log_f32_test
    logs_normal
.endm
.macro log_f32_body
    logs_reduce NATURAL, NATURAL_TWO
    logs_series NATURAL
    logs_sum
.endm
    VM_FUNCTION log, f32, 1, u, d, k, w, r, q

.macro log2_f32_test
    logs_normal
.endm
.macro log2_f32_body
    logs_reduce BINARY, ONE
    logs_series BINARY
    logs_sum_base BINARY
.endm
    VM_FUNCTION log2, f32, 1, u, d, k, w, r, q

.macro log10_f32_test
    logs_normal
.endm
.macro log10_f32_body
    logs_reduce DECIMAL, DECIMAL_TWO
    logs_series DECIMAL
    logs_sum_base DECIMAL
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
    logs_series NATURAL
    logs_sum
    vmov d, ARGUMENT
    vsign x, x, d
.endm
    VM_SLOTS ARGUMENT
    VM_FUNCTION log1p, f32, 1, u, d, k, w, r, q
