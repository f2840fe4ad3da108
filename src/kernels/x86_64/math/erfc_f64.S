// SPDX-License-Identifier: MIT
// erfc and gelu_erf (x Phi(x), Phi the normal distribution) of f64: the recipes of kernels/math/erf_f64.c.
//
// Method     erfc(y) = e^(-y^2) u h(u - 1), u = 2K/(y + K); quotient, u h, y^2 and the exponential as sums of two, the
//            power of two applied in two factors. gelu_erf: y = |x| / sqrt 2 folded into K; |x| Phi(-|x|) is the
//            result for x < 0, and taken off x for x > 0 with what the product loses
// Error      in ULP: erfc 0.9275 at 0x1.a520fbf978312p+4; gelu_erf 1.0000 at -0x1.2bd672291d039p-1020
// Specials   none out of line: |x| is clamped to 28 (erfc) and 40 (gelu_erf); erfc(-inf) = 2, gelu_erf(-inf) = -0
// Registers  x argument and result   a |x|   h, l denominator, then what the quotient lost, then the argument of the
//            exponential   i, l the tail   b, e the exponential   u, t quotient and u - 1   w v powers   others terms

#include "vm.inc"
#include "erf_exp.inc"
    const HALF, 0.5
    const TWO, 2
    const SEVEN, 7
    const K, 3.5
    const ERFC_FAR, 28
    const GELU_FAR, 40
    const KX, 0x1.3cc8a99af5453p2
    const KX_LO, -0x1.863644f05f2bdp-58
    const KX_TWICE, 0x1.3cc8a99af5453p3
    const KX_LO_TWICE, -0x1.863644f05f2bdp-57
    bits POWERS, 0xbcc80000000007fe // 2046 less the bits of MAGIC
    const H0, 0x1.3e0a99a0ee914p-3
    const H0_LO, -0x1.a076ad8520399p-60
    const H1, 0x1.125f977a879f6p-3
    const H2, 0x1.9627d82db8aadp-4
    const H3, 0x1.fd5fb892e83b3p-5
    const H4, 0x1.082dbe3d5943bp-5
    const H5, 0x1.b02834b399343p-7
    const H6, 0x1.f08cbf2d60737p-9
    const H7, 0x1.dbe9478f2a8d2p-12
    const H8, -0x1.87134776e0867p-13
    const H9, -0x1.ac2337ace6201p-14
    const H10, -0x1.93401ca2f5738p-18
    const H11, 0x1.6671410bedfe1p-17
    const H12, 0x1.658d762c73e3ap-19
    const H13, -0x1.15c688ec808e3p-20
    const H14, -0x1.044e02a98094fp-21
    const H15, 0x1.e7eaa72d86155p-24
    const H16, 0x1.543e35e44fd94p-24
    const H17, -0x1.1a6509f7b54a9p-26
    const H18, -0x1.b338685414e2p-27
    const H19, 0x1.ac96857e27a48p-29
    const H20, 0x1.f7b39ce782d83p-30
    const H21, -0x1.4c75a829b2107p-31
    const H22, -0x1.7ac5cfd9ff2d3p-33
    const H23, 0x1.47dfd48c036c8p-34
    const S0, 0x1.26705af674261p-2
    const S1, 0x1.cdffc157851d9p-2
    const S2, 0x1.fac0ebf5d2dfap-2
    const S3, 0x1.e6792802e6941p-2
    const S4, 0x1.f7f31f81f30ebp-3

// h + l = a + k
.macro erf_denominator k
    vadd h, a, \k
    vsub t, h, a
    vsub l, h, t
    vsub l, a, l
    vsub t, \k, t
    vadd l, l, t
.endm
// i + l = e^(y^2) erfc(y) for the denominator h + l and the numerator n + n_lo
.macro erf_tail n, n_lo
    vdiv i, ONE, h
    vmul u, i, \n
    vsub t, u, ONE
    vadd e, t, ONE
    vsub e, u, e
    vfnma h, u, h, \n
    vfnma l, u, l, \n_lo
    vadd h, h, l
    vmul h, h, i
    vmul w, t, t
    vmul v, w, w
    vfma c, t, H9, H8
    vfma d, t, H11, H10
    vfma d, w, d, c
    vfma b, t, H7, H6
    vfma c, t, H5, H4
    vfma b, w, b, c
    vfma d, v, d, b
    vfma b, t, H15, H14
    vfma c, t, H13, H12
    vfma b, w, b, c
    vfma c, t, H17, H16
    vfma i, t, H19, H18
    vfma i, w, i, c
    vfma i, v, i, b
    vfma b, t, H21, H20
    vfma c, t, H23, H22
    vfma c, w, c, b
    vmul b, v, v
    vfma c, b, c, i
    vfma c, b, c, d
    vfma c, c, t, H3
    vfma d, t, c, H2 // the last three steps with what they lose
    vsub i, H2, d
    vfma i, t, c, i
    vfma b, t, d, H1
    vsub c, H1, b
    vfma c, t, d, c
    vfma c, t, i, c
    vfma d, t, b, H0
    vsub i, H0, d
    vfma i, t, b, i
    vfma c, c, t, H0_LO
    vadd c, i, c
    vfma b, t, S1, S0 // the slope, two digits
    vfma i, t, S3, S2
    vfma i, w, S4, i
    vfma b, w, i, b
    vmul i, u, d
    vfms l, u, d, i
    vfma l, u, c, l
    vsub c, b, d
    vfma l, e, c, l
    vfma l, h, b, l
.endm
// 2^k (b + e) = e^-(h + e), u = k shifted into an integer
.macro erf_exp
    vfnma u, h, INV_LN2, MAGIC
    vsub t, u, MAGIC
    vfnms h, t, LN2_HI, h
    vfnms e, t, LN2_LO, e
    vadd t, h, e
    vmul w, t, t
    erf_exp_poly c, d, w, t
    vfma e, w, c, e
    vadd b, h, ONE
    vsub w, b, ONE
    vsub h, h, w
    vadd e, h, e
.endm
// 2^k = w u
.macro erf_powers
    viadd u, u, POWERS
    vshr w, u, 1
    visub u, u, w
    vshl w, w, 52
    vshl u, u, 52
.endm

.macro erfc_f64_test
.endm
.macro erfc_f64_body
    vabs a, x
    vmin a, ERFC_FAR, a
    erf_denominator K
    erf_tail SEVEN, ZERO
    vmul h, a, a
    vfms e, a, a, h
    erf_exp
    vmul l, l, b
    vfma l, i, e, l
    vfma l, i, b, l
    erf_powers
    vmul l, l, w
    vmul l, l, u
    vsub t, TWO, l
    vsel lt, x, x, ZERO, t, l
.endm

.macro gelu_erf_f64_test
.endm
.macro gelu_erf_f64_body
    vabs a, x
    vmin a, GELU_FAR, a
    erf_denominator KX
    vadd l, l, KX_LO
    erf_tail KX_TWICE, KX_LO_TWICE
    vmul t, a, HALF
    vmul h, t, a
    vfms e, t, a, h
    erf_exp
    vmul t, a, HALF
    vmul h, t, i
    vfms c, t, i, h
    vfma c, t, l, c
    vmul c, c, b
    vfma c, h, e, c
    erf_powers
    vfma d, h, b, c
    vmul d, d, w
    vmul d, d, u
    vneg d, d
    vmul w, w, u
    vmul h, h, w
    vfnma t, h, b, a
    vsub l, a, t
    vfnma l, h, b, l
    vmul c, c, w
    vsub l, l, c
    vadd t, t, l
    vabs a, x
    vsel gt, t, a, GELU_FAR, a, t
    vmov c, ONE
    vsign c, c, x
    vsel lt, x, c, ZERO, d, t
.endm
    VM_FUNCTION erfc, f64, 1, a, h, l, t, i, u, e, w, v, b, c, d
    VM_FUNCTION gelu_erf, f64, 1, a, h, l, t, i, u, e, w, v, b, c, d
