// SPDX-License-Identifier: MIT
// The exponential core in double precision.
//
//     e^x = 2^k 2^(i/16) e^r,   n = 16k + i = nint(16 x / ln 2),   |r| <= ln 2 / 32
//
// Well inside the range of results the scale s = 2^k 2^(i/16) is one table look-up and one integer addition: the
// table holds the bits of 2^(i/16) less i 2^48, to which n 2^48 = (16k + i) 2^48 is added. Then e^x =
// s + s (e^r - 1 + t), t the relative error of the table's entry. Near the ends of the range another table
// holds 2^(i/16) as head and tail. x - n L1 is exact (L1 = ln2/16 rounded: the difference
// has at most 53 bits), n L2 is added to it; the part of r lost in that addition is kept for those
// who need it. e^r - 1 = r + r^2 q(r), q of degree 5 (minimax, error 2^-64 of e^r).
#ifndef WEFT_KERN_MATH_EXP_H
#define WEFT_KERN_MATH_EXP_H

#include "vec.h"

static const double exp_head[16] = {0x1p0,
                                    0x1.0b5586cf9890fp0,
                                    0x1.172b83c7d517bp0,
                                    0x1.2387a6e756238p0,
                                    0x1.306fe0a31b715p0,
                                    0x1.3dea64c123422p0,
                                    0x1.4bfdad5362a27p0,
                                    0x1.5ab07dd485429p0,
                                    0x1.6a09e667f3bcdp0,
                                    0x1.7a11473eb0187p0,
                                    0x1.8ace5422aa0dbp0,
                                    0x1.9c49182a3f09p0,
                                    0x1.ae89f995ad3adp0,
                                    0x1.c199bdd85529cp0,
                                    0x1.d5818dcfba487p0,
                                    0x1.ea4afa2a490dap0};
static const double exp_tail[16] = {0x0p0,
                                    0x1.8a62e4adc610bp-54,
                                    -0x1.19041b9d78a76p-55,
                                    0x1.9b07eb6c70573p-54,
                                    0x1.6f46ad23182e4p-55,
                                    0x1.ada0911f09ebcp-55,
                                    0x1.d4397afec42e2p-56,
                                    0x1.6324c054647adp-54,
                                    -0x1.bdd3413b26456p-54,
                                    -0x1.41577ee04992fp-55,
                                    0x1.6e9f156864b27p-54,
                                    0x1.c7c46b071f2bep-56,
                                    0x1.7a1cd345dcc81p-54,
                                    0x1.11065895048ddp-55,
                                    0x1.2ed02d75b3707p-55,
                                    -0x1.e9c23179c2893p-54};

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

#define EXP_MAGIC 0x1.8p52 // adding it rounds to an integer, found in the low bits
#define EXP_16_LN2 0x1.71547652b82fep4
#define EXP_LN2_16 0x1.62e42fefa39efp-5
#define EXP_LN2_16_TAIL 0x1.abc9e3b39803fp-60

#define EXP_MAX 0x1.62e42fefa39efp9  // log of the largest double; above: inf
#define EXP_MIN -0x1.6232bdd7abcd2p9 // log of 2^-1022; below: subnormal or 0
#define EXP_ZERO -0x1.7492p9         // below log of 2^-1075: here the result is 0 at the latest

// (e^r - 1 - r) / r^2
RECIPE_FN vd exp_q(vd r) {
    vd q = fma_d(r, 0x1.a01b5b2ac4c5p-13, 0x1.6c17f5eeeb3d3p-10);
    q = fma_d(r, q, 0x1.11111110b2695p-7);
    q = fma_d(r, q, 0x1.55555554df71ep-5);
    q = fma_d(r, q, 0x1.5555555555557p-3);
    return fma_d(r, q, 0x1.0000000000001p-1);
}

// The bits to add to a double to scale it by 2^k, where the low bits of n are 16k + i.
RECIPE_FN vu exp_scale(vu n) {
    return (n & ~15ul) << 48;
}
RECIPE_FN vd exp_scaled(vd x, vu scale) {
    return from_u(bits_d(x) + scale);
}

// e^x = 2^k (head + tail), tail not rounded into head; |x| < 2^15
struct exp_parts {
    vd head, tail;
    vu scale;
};
RECIPE_FN struct exp_parts exp_split(vd x) {
    vd m = fma_d(x, EXP_16_LN2, EXP_MAGIC), nf = m - EXP_MAGIC;
    vu n = bits_d(m);
    vd r = fma_d(nf, -EXP_LN2_16, x);
    r = fma_d(nf, -EXP_LN2_16_TAIL, r);
    vd head = lut16_d(exp_head, n);
    vd p = fma_d(r * r, exp_q(r), r);
    return (struct exp_parts){head, fma_d(head, p, lut16_d(exp_tail, n)), exp_scale(n)};
}
// The same for e^(x + xl), |xl| small
RECIPE_FN struct exp_parts exp_split2(vd x, vd xl) {
    vd m = fma_d(x, EXP_16_LN2, EXP_MAGIC), nf = m - EXP_MAGIC;
    vu n = bits_d(m);
    vd r = fma_d(nf, -EXP_LN2_16, x);
    r = r + fma_d(nf, -EXP_LN2_16_TAIL, xl);
    vd head = lut16_d(exp_head, n);
    vd p = fma_d(r * r, exp_q(r), r);
    return (struct exp_parts){head, fma_d(head, p, lut16_d(exp_tail, n)), exp_scale(n)};
}
RECIPE_FN vd exp_power(vu scale) {
    return from_u(0x3ff0000000000000u + scale);
} // 2^k

// s = 2^k 2^(i/16), to the rounding of the table; the low bits of n are 16k + i
RECIPE_FN vd exp_step(vu n) {
    return from_u(bits_d(lut16_d(exp_base, n)) + (n << 48));
}
// e^(x + xl) = s + s p, |x| < 708, |xl| small
struct exp_near {
    vd s, p;
};
RECIPE_FN struct exp_near exp_near_at(vu n, vd r) {
    return (struct exp_near){exp_step(n), fma_d(r * r, exp_q(r), r) + lut16_d(exp_rest, n)};
}
RECIPE_FN struct exp_near exp_near(vd x) {
    vd m = fma_d(x, EXP_16_LN2, EXP_MAGIC), nf = m - EXP_MAGIC;
    vd r = fma_d(nf, -EXP_LN2_16, x);
    return exp_near_at(bits_d(m), fma_d(nf, -EXP_LN2_16_TAIL, r));
}
RECIPE_FN struct exp_near exp_near2(vd x, vd xl) {
    vd m = fma_d(x, EXP_16_LN2, EXP_MAGIC), nf = m - EXP_MAGIC;
    vd r = fma_d(nf, -EXP_LN2_16, x);
    return exp_near_at(bits_d(m), r + fma_d(nf, -EXP_LN2_16_TAIL, xl));
}
// as head and tail
RECIPE_FN struct ddv exp_dd(struct exp_near e) {
    vd y = fma_d(e.s, e.p, e.s);
    return (struct ddv){y, fma_d(e.s, e.p, e.s - y)};
}

// e^x - 1 as head and tail, -64 <= x <= 709; plus tells that x >= 0
RECIPE_FN struct ddv expm1_dd(vd x, bool plus) {
    vd m = fma_d(x, EXP_16_LN2, EXP_MAGIC), nf = m - EXP_MAGIC;
    vd r0 = fma_d(nf, -EXP_LN2_16, x);
    vd r = fma_d(nf, -EXP_LN2_16_TAIL, r0), rl = fma_d(nf, -EXP_LN2_16_TAIL, r0 - r);
    vd s = exp_step(bits_d(m)), rest = lut16_d(exp_rest, bits_d(m));
    struct ddv p = prod_d(s, r);
    struct ddv b = plus ? fast_sum_d(s, VD(-1.0)) : sum_d(s, VD(-1.0));
    struct ddv t = fast_sum_d(b.hi, p.hi); // b.hi is 0 or the larger
    vd c = fma_d(rest, r, rl) + rest, lo = fma_d(s, fma_d(r * r, exp_q(r), c), p.lo);
    return fast_sum_d(t.hi, (t.lo + b.lo) + lo);
}

// (n.hi + n.lo) / (d.hi + d.lo) as a quotient and its correction
RECIPE_FN struct ddv div_dd(struct ddv n, struct ddv d) {
    vd inv = 1.0 / d.hi, q = n.hi * inv;
    vd rest = fma_d(-q, d.hi, n.hi) + fma_d(-q, d.lo, n.lo);
    return (struct ddv){q, rest * inv};
}

// and rounded to one number
RECIPE_FN vd ratio_dd(struct ddv n, struct ddv d) {
    vd inv = 1.0 / d.hi, q = n.hi * inv;
    return fma_d(fma_d(-q, d.hi, n.hi) + fma_d(-q, d.lo, n.lo), inv, q);
}

// 2^k (head + tail) where the result is subnormal, rounded once: it is moved so that the unit in
// the last place of 1 is the one of a subnormal number, added to 1 with its error, and moved back.
RECIPE_FN vd exp_join_tiny(struct exp_parts e) {
    vd up = from_u(0x7fd0000000000000u + e.scale); // 2^(k+1022)
    vd sum = e.head + e.tail, err = e.tail - (sum - e.head);
    vd s = sum * up, one = 1.0 + s;
    vd lo = ((1.0 - one) + s) + err * up;
    vd tiny = ((one + lo) - 1.0) * 0x1p-1022;
    return lt_d(s, 1.0, tiny, exp_scaled(sum, e.scale)); // just above 2^-1022 it is an ordinary one
}
// 2^k (head + tail) where x is its logarithm, from 0 to inf; a NaN x is kept
RECIPE_FN vd exp_join(struct exp_parts e, vd x) {
    vd y = exp_scaled(e.head + e.tail, e.scale);
    y = lt_d(EXP_MAX, x, __builtin_inf(), y);
    if (any_lt_d(x, EXP_MIN)) {
        y = lt_d(x, EXP_MIN, exp_join_tiny(e), y);
        y = lt_d(x, EXP_ZERO, 0.0, y);
    }
    return eq_d(x, x, y, x + x);
}
#endif
