// SPDX-License-Identifier: MIT
// The logarithm core in double precision.
//
//     x = 2^k m,  0.698 <= m < 1.396,    log x = k log 2 - log c + log(1 + r),   r = m c - 1
//
// c, one of 16 by the leading bits of m, is near 1/m and 1 around m = 1, so |r| < 0.0298. It was
// searched such that -log c is a multiple of 2^-43 to within 2^-70 (base 2: of 2^-42, base 10: of 2^-44,
// to within 2^-64);
// with log 2 split the same way, w = k log2_head - log c is exact. m c = p + p' exactly and p - 1
// is exact, so r + p' is exact. w is 0 or larger than r, hence w + r = hi + lo exactly. log(1+r) =
// r - r^2/2 + r^3 q(r), q of degree 7 (minimax, error 2^-66). For other bases r is multiplied by
// 1/ln b in two pieces.
#ifndef WEFT_KERN_MATH_LOG_H
#define WEFT_KERN_MATH_LOG_H

#include "vec.h"

struct log_table {
    double c[16], minus_log_c[16];
    double two, two_tail; // log_b 2
    double inv, inv_tail; // 1 / ln b
};

static const struct log_table log_natural = {
    {0x1.66c6241deecffp0, 0x1.57b88bc1c46d9p0, 0x1.49e10882086bbp0, 0x1.3d1c1f228cp0,
     0x1.314abcf326444p0, 0x1.2652a7e724a3fp0, 0x1.1c1d928256ab4p0, 0x1.12979f710ed08p0,
     0x1.09afb83847915p0, 0x1p0, 0x1.e6a79c64f0091p-1, 0x1.cb5d32084618p-1, 0x1.b2f9624b32559p-1,
     0x1.9d0abdd9420adp-1, 0x1.8937588d54263p-1, 0x1.77350e4774fe7p-1},
    {-0x1.599d94d184p-2, -0x1.2db9623fc78p-2, -0x1.03a23d8954p-2, -0x1.b66ac05a58p-3,
     -0x1.68a26fc218p-3, -0x1.1db2240a7dp-3, -0x1.aad13f60d2p-4, -0x1.1f2b950a56p-4,
     -0x1.303ea1387p-5, 0x0p0, 0x1.9fe7d55358p-5, 0x1.bc5734bf76p-4, 0x1.4de6dee066p-3,
     0x1.b7dc2faf26p-3, 0x1.0e4cdaa525p-2, 0x1.3e4e6fcd888p-2},
    0x1.62e42fefa38p-1,
    0x1.ef35793c7673p-45,
    1.0,
    0.0};
static const struct log_table log_binary = {
    {0x1.66c61db5c8f0cp0, 0x1.57b8853704529p0, 0x1.49e0f2b8eee5ap0, 0x1.3d1c08ce356b1p0,
     0x1.314ac99dde73dp0, 0x1.2652be046b9a4p0, 0x1.1c1d951e23f1dp0, 0x1.129781f4169fp0,
     0x1.09afe148a2cb4p0, 0x1p0, 0x1.e6a71494cf8c2p-1, 0x1.cb5d2d15e058bp-1, 0x1.b2f966a4be1edp-1,
     0x1.9d0a982bf417ep-1, 0x1.89378da278e5ap-1, 0x1.77350df31f877p-1},
    {-0x1.f29e109385p-2, -0x1.b34ba6c9p-2, -0x1.7692225f7fp-2, -0x1.3c3fda6f62p-2,
     -0x1.0424ccd51p-2, -0x1.9c2ce67398p-3, -0x1.33e252459ep-3, -0x1.9e4a164444p-4,
     -0x1.b6f5ca343p-5, 0x0p0, 0x1.2c09a28758p-4, 0x1.4086465406p-3, 0x1.e1b7d3caeep-3,
     0x1.3d4b46e693p-2, 0x1.85f52ddff7p-2, 0x1.cb38154fp-2},
    1.0,
    0.0,
    0x1.71547652b82fep0,
    0x1.777d0ffda0d24p-56};
static const struct log_table log_decimal = {
    {0x1.66c60b5215f0cp0, 0x1.57b83de7e5529p0, 0x1.49e1373c49e5ap0, 0x1.3d1c247be76b1p0,
     0x1.314ac86a1673dp0, 0x1.2652c0dd389a4p0, 0x1.1c1d963dd0f1dp0, 0x1.1297a9fc289fp0,
     0x1.09afd1b002cb4p0, 0x1p0, 0x1.e6a71345078c2p-1, 0x1.cb5d598f1e58bp-1, 0x1.b2f8ecda9a1edp-1,
     0x1.9d0af7eb1017ep-1, 0x1.8936ffd2c8e5ap-1, 0x1.7734d16325877p-1},
    {-0x1.2c32691a12p-3, -0x1.06123a01228p-3, -0x1.c308ab853fp-4, -0x1.7ccdfbce2dp-4,
     -0x1.393e82acb9p-4, -0x1.f04f247894p-5, -0x1.72bac54edp-5, -0x1.f2deb6c49p-6,
     -0x1.084621a044p-6, 0x0p0, 0x1.6948175454p-6, 0x1.81f1d8ab6cp-5, 0x1.2207e137bdp-4,
     0x1.7e0dc6cc11p-4, 0x1.d590d0c75dp-4, 0x1.147ac892f5p-3},
    0x1.34413509f78p-2,
    0x1.fef311f12b358p-46,
    0x1.bcb7b1526e50ep-2,
    0x1.95355baaafad3p-57};

#define LOG_OFF 0x3fe6555500000000u // bits of the least m
#define LOG_MIN 0x1p-1022

// log(x + xl) = w + k two_tail + log(1 + r + rl), b-logarithms but for r
struct log_parts {
    vd w, k, r, rl;
};
RECIPE_FN struct log_parts log_split(vd x, const struct log_table *t) {
    vu u = bits_d(x), d = u - LOG_OFF, i = d >> 48;
    vd k = from_u(((d + (1024ul << 52)) >> 52) | 0x4330000000000000u) - (0x1p52 + 1024);
    vd m = from_u(u - (d & 0xfff0000000000000u));
    vd c = lut16_d(t->c, i), w = fma_d(k, t->two, lut16_d(t->minus_log_c, i));
    struct ddv p = prod_d(m, c);
    return (struct log_parts){w, k, p.hi - 1.0, p.lo};
}
// log(1 + x + xl), |xl| at most about an ulp of x: u = 1 + x with its error, c scaled instead of u, and r takes in
// the leading part of what is left. -1 < x < 2^1000.
RECIPE_FN struct log_parts log_split1p(vd x, vd xl, const struct log_table *t) {
    vd u = 1.0 + x, more = lt_d(x, 1.0, 1.0, x), less = lt_d(x, 1.0, x, 1.0);
    vd ul = (less - (u - more)) + xl;
    vu d = bits_d(u) - LOG_OFF, i = d >> 48;
    vd k = from_u(((d + (1024ul << 52)) >> 52) | 0x4330000000000000u) - (0x1p52 + 1024);
    vd c = from_u(bits_d(lut16_d(t->c, i)) - (d & 0xfff0000000000000u));
    vd w = fma_d(k, t->two, lut16_d(t->minus_log_c, i));
    struct ddv p = prod_d(u, c);
    struct ddv r = fast_sum_d(p.hi - 1.0, fma_d(ul, c, p.lo)); // the first is 0 or the larger
    return (struct log_parts){w, k, r.hi, r.lo};
}

// (log(1 + r) - r + r^2/2) / r^3
RECIPE_FN vd log_q(vd r) {
    vd q = fma_d(r, -0x1.9a5b16a9d0481p-4, 0x1.c7c5b84d0c0d7p-4);
    q = fma_d(r, q, -0x1.ffffdabe5be4ap-4);
    q = fma_d(r, q, 0x1.24923d1b70dp-3);
    q = fma_d(r, q, -0x1.55555556b2b28p-3);
    q = fma_d(r, q, 0x1.9999999a267d4p-3);
    q = fma_d(r, q, -0x1.fffffffffff8dp-3);
    return fma_d(r, q, 0x1.555555555554dp-2);
}

// log(1 + r + rl) - r - rl, added to lo. What is rounded before the last sum is small: r/2 + rl and r^2 (r q + rl).
RECIPE_FN vd log_tail(struct log_parts a, vd lo) {
    vd t = fma_d(a.r * a.r, fma_d(a.r, log_q(a.r), a.rl), lo);
    return fma_d(a.r, fma_d(a.r, -0.5, -a.rl), t);
}

// The sum of the parts as head and tail, natural logarithm
RECIPE_FN struct ddv log_join(struct log_parts a) {
    struct ddv s = fast_sum_d(a.w, a.r);
    vd lo = fma_d(a.k, log_natural.two_tail, s.lo + a.rl);
    return (struct ddv){s.hi, log_tail(a, lo)};
}
// and in another base
RECIPE_FN struct ddv log_join_base(struct log_parts a, const struct log_table *t) {
    struct ddv p = prod_d(a.r, VD(t->inv)), s = fast_sum_d(a.w, p.hi);
    vd lo = fma_d(a.k, t->two_tail, s.lo + fma_d(a.r, t->inv_tail, p.lo));
    return (struct ddv){s.hi, fma_d(log_tail(a, a.rl), t->inv, lo)};
}

// log(1 + x + xl), |xl| at most about an ulp of x; -1 < x < 2^1000
RECIPE_FN struct ddv log1p_dd(vd x, vd xl) {
    return log_join(log_split1p(x, xl, &log_natural));
}
#define LOG1P_FAR 0x1p1000 // from here on log x

RECIPE_FN vd log_far(vd x) { // x from 1 to inf, or NaN
    struct ddv s = log_join(log_split(x, &log_natural));
    return lt_d(x, __builtin_inf(), s.hi + s.lo, x + x);
}
#endif
