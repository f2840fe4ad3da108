// SPDX-License-Identifier: MIT
// erf, erfc, gelu_erf (x Phi(x), Phi the normal distribution) of f64.
//
// erf: x C(x^2) below 13/16; beyond, 1 - exp(-Q(x - 13/16)), Q a polynomial for -log erfc fitted with weight
// erfc, so that every part is as exact as 1 - e needs (2^-57). erfc and gelu_erf must be right relative to
// their tails: erfc(y) = exp(-y^2) u h(u - 1) with u = 2K/(y + K), K = 3.5, h of degree 23 (2^-58); y^2, the
// quotient u, h and the exponential are carried as hi + lo where they matter, and the scale 2^k is applied in
// two factors, so that subnormal results round once. gelu_erf is the same with y = |x| / sqrt 2 folded into K;
// for x > 0 it is x - |x| Phi(-|x|), the product taken off exactly.
// Measured maximum error, ULP: erf 0.705 at 0x1.7925d330fa202p+2, erfc 0.928 at 0x1.a520fbf978312p+4 (subnormal
// results round twice), gelu_erf 0.955 at -0x1.6ea62380ce346p+0. erf(+-0) = +-0, erf(+-inf) = +-1; erfc(inf) = 0, erfc(-inf) = 2;
// gelu_erf(-inf) = -0 (the limit), gelu_erf(inf) = inf.
#include "math.h"

#define LN2_HI 0x1.62e42fefa38p-1 // 42 bits: multiples up to 2^11 are exact
#define LN2_LO 0x1.ef35793c7673p-45
#define INV_LN2 0x1.71547652b82fep0
#define MAGIC 0x1.8p52

// (e^r - 1 - r) / r^2, |r| <= log(2)/2
RECIPE_FN double exp_poly(double r) {
    double w = r * r;
    double p = fma64(w, 0x1.28b11da6e833p-22, 0x1.a0199595eff8cp-16);
    double q = fma64(w, 0x1.af859b01667f9p-26, 0x1.71dddfc25d56ep-19);
    p = fma64(w, p, 0x1.6c16c18611fdcp-10);
    q = fma64(w, q, 0x1.a01a01bae4f58p-13);
    p = fma64(w, p, 0x1.555555554fde6p-5);
    q = fma64(w, q, 0x1.111111110d638p-7);
    p = fma64(w, p, 0x1.000000000000cp-1);
    q = fma64(w, q, 0x1.5555555555561p-3);
    return fma64(r, q, p);
}

// ---- erf --------------------------------------------------------------------------------------------
#define SPLIT 0.8125
#define Q0_HI 0x1.6257d5cdb7p0 // -log erfc(SPLIT), 40 bits and the rest
#define Q0_LO 0x1.104a715ab7c5p-45

RECIPE_FN double erf_near(double x) {
    double z = x * x, ze = fma64(x, x, -z), w = z * z;
    const double c0 = 0x1.20dd750429b6dp0, c0_lo = 0x1.1ae3a914fed8p-56;
    double p = fma64(w, 0x1.e9c6f085fd23fp-27, 0x1.b9ce442e3b508p-20);
    double q = fma64(w, -0x1.efc0491dee989p-31, -0x1.5e43f415db4b1p-23);
    p = fma64(w, p, 0x1.f9a31ab9752fdp-14);
    q = fma64(w, q, -0x1.f4d10a56becd3p-17);
    p = fma64(w, p, 0x1.565bcd0d3f95ep-8);
    q = fma64(w, q, -0x1.c02db3b4aa2c5p-11);
    p = fma64(w, p, 0x1.ce2f21a042b0bp-4);
    q = fma64(w, q, -0x1.b82ce3128335ap-6);
    p = fma64(z, q, p);
    p = fma64(z, p, -0x1.812746b0379e6p-2);
    double h = fma64(z, p, c0), l = fma64(z, p, c0 - h);
    return fma64(x, h, x * (l + fma64(ze, p, c0_lo)));
}
// x >= SPLIT (below, any number)
RECIPE_FN double erf_far(double x) {
    double t = x - SPLIT, w = t * t;
    double p = fma64(w, 0x1.aa49b28b140dfp-35, 0x1.7a09d957a04edp-28);
    double o = fma64(w, -0x1.d1bce9c0444p-40, -0x1.69f2777102c4ap-31);
    p = fma64(w, p, 0x1.1038017cbadd8p-23);
    o = fma64(w, o, -0x1.0ddb93804ae51p-25);
    p = fma64(w, p, 0x1.968f715a2da1cp-22);
    o = fma64(w, o, -0x1.6f90f2a8fad74p-22);
    p = fma64(w, p, -0x1.bffeaa60a17fdp-17);
    o = fma64(w, o, 0x1.ec29232cf3624p-20);
    p = fma64(w, p, -0x1.5295fb7028504p-14);
    o = fma64(w, o, 0x1.865c931aa3e7ep-15);
    p = fma64(w, p, 0x1.222d173d4dcd9p-9);
    o = fma64(w, o, -0x1.6520e7478645p-13);
    p = fma64(w, p, 0x1.980e779720f89p-5);
    o = fma64(w, o, -0x1.895d7ef03277p-7);
    p = fma64(t, o, p);
    p = fma64(t, fma64(t, p, 0x1.a28c7a684a274p-1), 0x1.29ea4d0a0b236p1);
    // e^-(Q0 + t p) = 2^k (1 + r + r^2 ...)
    double q = fma64(fma64(t, p, Q0_HI), -INV_LN2, MAGIC), k = q - MAGIC;
    double r = fma64(t, -p, fma64(k, -LN2_HI, -Q0_HI)) + fma64(k, -LN2_LO, -Q0_LO);
    double s = from64((bits64(q) + 1023) << 52);
    return fma64(-s, fma64(r * r, exp_poly(r), r), 1.0 - s);
}
RECIPE_FN double erf_one(double x) {
    double a = abs64(x), c = a > 6.0 ? 6.0 : a, near = erf_near(c), far = erf_far(c);
    return sign64(a < SPLIT ? near : far, x);
}
KERNEL1(erf, f64, erf_one)

// ---- the tail: e^(y^2) erfc(y) as hi + lo -----------------------------------------------------------------
// d = y + K, n = 2 K, in units of y's choice
RECIPE_FN struct dd64 tail(struct dd64 d, struct dd64 n) {
    double inv = 1.0 / d.hi, u = n.hi * inv, t = u - 1.0, te = u - (t + 1.0);
    double ul = (fma64(-u, d.hi, n.hi) + fma64(-u, d.lo, n.lo)) * inv;
    double t2 = t * t, t4 = t2 * t2, t8 = t4 * t4;
    double a = fma64(t, 0x1.b02834b399343p-7, 0x1.082dbe3d5943bp-5);
    double b = fma64(t, 0x1.dbe9478f2a8d2p-12, 0x1.f08cbf2d60737p-9);
    double c = fma64(t, -0x1.ac2337ace6201p-14, -0x1.87134776e0867p-13);
    double e = fma64(t, 0x1.6671410bedfe1p-17, -0x1.93401ca2f5738p-18);
    double f = fma64(t, -0x1.15c688ec808e3p-20, 0x1.658d762c73e3ap-19);
    double g = fma64(t, 0x1.e7eaa72d86155p-24, -0x1.044e02a98094fp-21);
    double h = fma64(t, -0x1.1a6509f7b54a9p-26, 0x1.543e35e44fd94p-24);
    double i = fma64(t, 0x1.ac96857e27a48p-29, -0x1.b338685414e2p-27);
    double j = fma64(t, -0x1.4c75a829b2107p-31, 0x1.f7b39ce782d83p-30);
    double k = fma64(t, 0x1.47dfd48c036c8p-34, -0x1.7ac5cfd9ff2d3p-33);
    double lo = fma64(t4, fma64(t2, e, c), fma64(t2, b, a));
    double mid = fma64(t4, fma64(t2, i, h), fma64(t2, g, f)), hi = fma64(t2, k, j);
    double p = fma64(t, fma64(t8, fma64(t8, hi, mid), lo), 0x1.fd5fb892e83b3p-5);
    // the last three steps with what they lose
    const double c0 = 0x1.3e0a99a0ee914p-3, c0_lo = -0x1.a076ad8520399p-60;
    const double c1 = 0x1.125f977a879f6p-3, c2 = 0x1.9627d82db8aadp-4;
    double o = fma64(t, p, c2), ol = fma64(t, p, c2 - o);
    double w = fma64(t, o, c1), wl = fma64(t, ol, fma64(t, o, c1 - w));
    double v = fma64(t, w, c0), vl = fma64(t, w, c0 - v) + fma64(t, wl, c0_lo);
    // d(u h)/du, two digits, for what u and t lost
    double s1 = fma64(t, 0x1.cdffc157851d9p-2, 0x1.26705af674261p-2);
    double s2 = fma64(t, 0x1.e6792802e6941p-2, 0x1.fac0ebf5d2dfap-2);
    double slope = fma64(t2, fma64(t2, 0x1.f7f31f81f30ebp-3, s2), s1);
    double y = u * v, yl = fma64(u, vl, fma64(u, v, -y));
    return (struct dd64){y, fma64(ul, slope, fma64(te, slope - v, yl))};
}

// e^-(s + e) = 2^k (hi + lo); *q holds k
RECIPE_FN struct dd64 exp_minus(double s, double e, double *q) {
    *q = fma64(s, -INV_LN2, MAGIC);
    double k = *q - MAGIC, rh = fma64(k, -LN2_HI, -s), rl = fma64(k, -LN2_LO, -e), r = rh + rl;
    double hi = 1.0 + rh;
    return (struct dd64){hi, (rh - (hi - 1.0)) + fma64(r * r, exp_poly(r), rl)};
}
// 2^k as two factors that stay normal for -2000 < k < 900
struct scale {
    double a, b;
};
RECIPE_FN struct scale scale_of(double q) {
    uint64_t k = bits64(q) - bits64(MAGIC) + 2046, half = k >> 1;
    return (struct scale){from64(half << 52), from64((k - half) << 52)};
}

// ---- erfc -------------------------------------------------------------------------------------------
RECIPE_FN double erfc_one(double x) {
    double a = abs64(x), y = a > 28.0 ? 28.0 : a, q;
    struct dd64 g = tail(two_sum(y, 3.5), (struct dd64){7.0, 0.0});
    double s = y * y;
    struct dd64 e = exp_minus(s, fma64(y, y, -s), &q);
    struct scale k = scale_of(q);
    double v = fma64(g.hi, e.hi, fma64(g.hi, e.lo, g.lo * e.hi)) * k.a * k.b;
    return x < 0.0 ? 2.0 - v : v;
}
KERNEL1(erfc, f64, erfc_one)

// ---- gelu -------------------------------------------------------------------------------------------
#define KX_HI 0x1.3cc8a99af5453p2 // 3.5 sqrt 2
#define KX_LO -0x1.863644f05f2bdp-58

RECIPE_FN double gelu_erf_one(double x) {
    double a = abs64(x), y = a > 40.0 ? 40.0 : a, q, half = 0.5 * y;
    int left = (int)(bits64(x) >> 63);
    struct dd64 d = two_sum(y, KX_HI);
    d.lo += KX_LO;
    struct dd64 g = tail(d, (struct dd64){2 * KX_HI, 2 * KX_LO});
    double s = half * y;
    struct dd64 e = exp_minus(s, fma64(half, y, -s), &q), w = two_prod(half, g.hi);
    w.lo = fma64(half, g.lo, w.lo);
    struct scale k = scale_of(q);
    double rest = fma64(w.hi, e.lo, w.lo * e.hi); // |x| Phi(-|x|) = 2^k (w.hi e.hi + rest)
    double below = -(fma64(w.hi, e.hi, rest) * k.a * k.b);
    double f = k.a * k.b, wf = -w.hi * f, over = fma64(wf, e.hi, y);
    over += fma64(wf, e.hi, y - over) - rest * f;
    over = a > 40.0 ? a : over;
    return left ? below : over;
}
KERNEL1(gelu_erf, f64, gelu_erf_one)
