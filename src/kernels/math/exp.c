// SPDX-License-Identifier: MIT
// exp and exp2, f64. The method is that of exp.h; exp2 reduces exactly: r = x - n/16.
//
// Well inside the range of results the scale s = 2^k 2^(i/16) is one table look-up and one integer addition: the
// table holds the bits of 2^(i/16) less i 2^48, to which n 2^48 = (16k + i) 2^48 is added. Then e^x =
// s + s (e^r - 1 + t), t the relative error of the table's entry. Elsewhere all goes out of line (exp_join).
//
// Largest errors seen: 0.544 ULP, exp at -0x1.90c78470a534ap+2, exp2 at -0x1.0c6f075e0157p+1.
// Specials: NaN gives NaN, +inf and overflow +inf, -inf and underflow +0; subnormal results are
// rounded once, out of line.
#include "exp.h"

static const double exp_base[16] = {
    0x1.0000000000000p+0, 0x1.fb5586cf9890fp-1, 0x1.f72b83c7d517bp-1, 0x1.f387a6e756238p-1,
    0x1.f06fe0a31b715p-1, 0x1.edea64c123422p-1, 0x1.ebfdad5362a27p-1, 0x1.eab07dd485429p-1,
    0x1.ea09e667f3bcdp-1, 0x1.ea11473eb0187p-1, 0x1.eace5422aa0dbp-1, 0x1.ec49182a3f090p-1,
    0x1.ee89f995ad3adp-1, 0x1.f199bdd85529cp-1, 0x1.f5818dcfba487p-1, 0x1.fa4afa2a490dap-1};
static const double exp_rest[16] = {
    0x0.0p+0,                0x1.79aa65d837b6dp-54,  -0x1.01b15eaa59348p-55,
    0x1.68efde3a8a894p-54,   0x1.34d754db0abb6p-55,  0x1.59f48a72a4c6dp-55,
    0x1.690cebb7aafb0p-56,   0x1.063e1e21c5409p-54,  -0x1.3b3efbf5e2228p-54,
    -0x1.b32dcb94da51dp-56,  0x1.db72fc1f0eab4p-55,  0x1.1affc2b91ce27p-56,
    0x1.c1a7792cb3387p-55,   0x1.36eae30af0cb3p-56,  0x1.4a385a63d07a7p-56,
    -0x1.ff7128fd391f0p-55};

#define EXP_NEAR 708.0
RECIPE_FN vd exp_near(vd x) {
    vd m = fma_d(x, EXP_16_LN2, EXP_MAGIC), nf = m - EXP_MAGIC;
    vu n = bits_d(m);
    vd r = fma_d(nf, -EXP_LN2_16, x);
    r = fma_d(nf, -EXP_LN2_16_TAIL, r);
    vd s = from_u(bits_d(lut16_d(exp_base, n)) + (n << 48));
    vd p = fma_d(r * r, exp_q(r), r) + lut16_d(exp_rest, n);
    return fma_d(s, p, s);
}
RECIPE_FN vd exp_one(vd x) {
    vd y = exp_near(x), t = abs_d(x);
    if (all_lt_d(t, EXP_NEAR)) return y;
    return lt_d(t, EXP_NEAR, y, exp_join(exp_split(x), x));
}
VKERNEL1(exp, f64, exp_one)

// 2^r = 1 + r (c1 + r q(r)), |r| <= 1/32
RECIPE_FN struct exp_parts exp2_split(vd x) {
    vd m = x + 0x1.8p48, r = x - (m - 0x1.8p48);
    vu n = bits_d(m);
    vd q = fma_d(r, 0x1.ffcdadae226e8p-17, 0x1.430a1c79c1c95p-13);
    q = fma_d(r, q, 0x1.5d87fe7827596p-10);
    q = fma_d(r, q, 0x1.3b2ab6fb41d43p-7);
    q = fma_d(r, q, 0x1.c6b08d704a0c2p-5);
    q = fma_d(r, q, 0x1.ebfbdff82c59p-3);
    q = fma_d(r, q, 0x1.62e42fefa39efp-1);
    vd head = lut16_d(exp_head, n);
    return (struct exp_parts){head, fma_d(head, r * q, lut16_d(exp_tail, n)), exp_scale(n)};
}
RECIPE_FN vd exp2_one(vd x) {
    struct exp_parts e = exp2_split(x);
    vd y = exp_scaled(e.head + e.tail, e.scale);
    y = le_d(1024.0, x, __builtin_inf(), y);
    if (any_lt_d(x, -1022.0)) {
        y = lt_d(x, -1022.0, exp_join_tiny(e), y);
        y = lt_d(x, -1076.0, 0.0, y);
    }
    return eq_d(x, x, y, x + x);
}
VKERNEL1(exp2, f64, exp2_one)
