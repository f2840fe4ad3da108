// SPDX-License-Identifier: MIT
// erf, erfc, gelu_erf of f32 in double precision: the recipes of kernels/math/erf_f32.c.
//
// Method     erf: x P(x^2) up to 3.93, where it rounds to 1; erfc(y) = e^(-y^2) u h(u - 1), u = 5/(y + 2.5), the
//            exponential by its own polynomial; gelu_erf: |x| Phi(-|x|) from the same tail, subtracted from x > 0
// Error      in ULP (all arguments): erf 0.5203 at 0x1.c5a264p-17; erfc 0.5033 at 0x1.fd3b0ap+2; gelu_erf 0.5033 at
//            -0x1.6e96f8p+3
// Specials   none out of line: arguments are clamped where the result does not change any more
// Registers  x argument and result   v, t the same as doubles   a |x|   z w powers   b c (tail: u s) the two chains
//            of a polynomial; b, c then the exponential's e^r - 1 and power of two

#include "vm.inc"
    VM_TYPE 64
    const ZERO, 0
    const HALF, 0.5
    const ONE, 1
    const TWO, 2
    const ERF_FAR, 3.93
    const ERFC_FAR, 11
    const GELU_FAR, 15
    const ROOT_HALF, 0x1.6a09e667f3bcdp-1
    const K, 2.5
    const K2, 5
    const BIASED, 0x1.80000000003ffp52 // shifts to an integer, with the exponent's bias
    const INV_LN2, 0x1.71547652b82fep0
    const LN2, 0x1.62e42fefa39efp-1
    const P0, 0x1.20dd74fe4aaf5p+0
    const P1, -0x1.81274349fac0ep-2
    const P2, 0x1.ce2ecb040ef0bp-4
    const P3, -0x1.b82961cbf08cp-6
    const P4, 0x1.56483e0de287cp-8
    const P5, -0x1.bfa6604f8a21ep-11
    const P6, 0x1.f72c18bf9e60fp-14
    const P7, -0x1.eca3c32d88dfbp-17
    const P8, 0x1.a5d27ef44bb43p-20
    const P9, -0x1.39fe918b87fe6p-23
    const P10, 0x1.90376dfd2f322p-27
    const P11, -0x1.aaee03320d65ap-31
    const P12, 0x1.726d603bad21p-35
    const P13, -0x1.f8e1d7de1b63dp-40
    const P14, 0x1.0237c99953489p-44
    const P15, -0x1.72b179230cc85p-50
    const P16, 0x1.4ba2cb46b6dcp-56
    const P17, -0x1.156de61bc676fp-63
    const H0, 0x1.afbb3f3b9ae1bp-3
    const H1, 0x1.4995dc8d566ffp-3
    const H2, 0x1.73d8b06a91538p-4
    const H3, 0x1.1893f9efc5f26p-5
    const H4, 0x1.73bdaadbcb9b7p-8
    const H5, -0x1.b8191fb9b87adp-10
    const H6, -0x1.f94047497566dp-11
    const H7, 0x1.755edfb728ed6p-14
    const H8, 0x1.24df93061bb42p-13
    const H9, -0x1.dc75d458b13cp-17
    const H10, -0x1.45af1e60a3963p-16
    const H11, 0x1.6722362f533b3p-18
    const E2, 0x1.0000004569a4ep-1
    const E3, 0x1.5555557fbc5cdp-3
    const E4, 0x1.55547cb082476p-5
    const E5, 0x1.11109fa02468dp-7
    const E6, 0x1.6d9904c0dd65ap-10
    const E7, 0x1.a189199798fa6p-13

.macro erf_f32_test
.endm
.macro erf_f32_body
    vwiden v, x
    vabs a, v
    vmin a, ERF_FAR, a
    vmul z, a, a
    vmul w, z, z
    vfma b, w, P16, P14
    vfma c, w, P17, P15
    vfma b, b, w, P12
    vfma c, c, w, P13
    vfma b, b, w, P10
    vfma c, c, w, P11
    vfma b, b, w, P8
    vfma c, c, w, P9
    vfma b, b, w, P6
    vfma c, c, w, P7
    vfma b, b, w, P4
    vfma c, c, w, P5
    vfma b, b, w, P2
    vfma c, c, w, P3
    vfma b, b, w, P0
    vfma c, c, w, P1
    vfma b, z, c, b
    vmul a, a, b
    vsign a, a, v
    vnarrow x, a
.endm

// t = erfc(t); b = t^2 of before
.macro erf_tail
    vfnma c, b, INV_LN2, BIASED
    vsub u, c, BIASED
    vshl c, c, 52
    vfnms b, u, LN2, b
    vmul w, b, b
    vfma u, w, E6, E4
    vfma s, w, E7, E5
    vfma u, u, w, E2
    vfma s, s, w, E3
    vfma u, b, s, u
    vfma b, w, u, b
    vadd t, t, K
    vmov u, K2
    vdiv t, u, t
    vsub t, t, ONE
    vmul w, t, t
    vfma u, w, H10, H8
    vfma s, w, H11, H9
    vfma u, u, w, H6
    vfma s, s, w, H7
    vfma u, u, w, H4
    vfma s, s, w, H5
    vfma u, u, w, H2
    vfma s, s, w, H3
    vfma u, u, w, H0
    vfma s, s, w, H1
    vfma u, t, s, u
    vadd t, t, ONE
    vmul t, t, u
    vfma t, t, b, t
    vmul t, t, c
.endm

.macro erfc_f32_test
.endm
.macro erfc_f32_body
    vwiden t, x
    vabs t, t
    vmin t, ERFC_FAR, t
    vmul b, t, t
    erf_tail
    vwiden u, x
    vsub b, TWO, t
    vsel lt, t, u, ZERO, b, t
    vnarrow x, t
.endm

.macro gelu_erf_f32_test
.endm
.macro gelu_erf_f32_body
    vwiden t, x
    vabs t, t
    vmin t, GELU_FAR, t
    vmul s, t, HALF
    vmul b, s, t
    vmul t, t, ROOT_HALF
    erf_tail
    vwiden u, x
    vabs w, u
    vmin b, GELU_FAR, w
    vmul b, b, HALF
    vmul t, b, t
    vsub w, w, t
    vneg t, t
    vmov b, ONE
    vsign b, b, u
    vsel lt, t, b, ZERO, t, w
    vnarrow x, t
.endm
    VM_FUNCTION_WIDE erf, 1, v, a, z, w, b, c
    VM_FUNCTION_WIDE erfc, 1, t, s, w, u, b, c
    VM_FUNCTION_WIDE gelu_erf, 1, t, s, w, u, b, c
