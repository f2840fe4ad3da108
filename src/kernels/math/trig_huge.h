// SPDX-License-Identifier: MIT
// Reduction of huge angles, exact for every finite argument: shared by the trigonometric recipes.
//
// In: x, 2 <= |x| (infinite: NaN; smaller ones give anything, but read nothing outside the table). Out: x = (n - half + f) pi
// / unit, |f| <= 1/2, f pi / unit as hi + lo and n in the low bits of q. Method (Payne and Hanek, in floating
// point): of 1/pi only the digits that matter modulo 2 are multiplied. x has its lowest bit at 2^(16 j - 51) or
// above; four pieces of 48 digits are taken from there, by byte offsets into a table. The products are exact as
// hi + lo, whole turns are taken off exactly, and what is left is added up with every error kept. The smallest
// |f| of a double is about 2^-62, the digits left out weigh less than 2^-122. Vectors throughout: a block of
// huge arguments costs about twice a block of ordinary ones.
#ifndef WEFT_KERN_TRIG_HUGE_H
#define WEFT_KERN_TRIG_HUGE_H

#include "vec.h"

#define TRIG_MAGIC 0x1.8p52

struct angle {
    vd hi, lo, q;
};

// 60 zeros and the binary digits of 1/pi, the last ones first (a little-endian number)
static const uint64_t inv_pi_digits[] = {
    0xb0198237e3db5d5fu, 0x5fdafd88fc6ae842u, 0xe839cfbc52949753u, 0xa93dd63f5f2f8bd9u,
    0x7a31fb34f2ff516bu, 0x69b3f6793e584dbau, 0x79788c5ad05368fbu, 0xffc4bffef02cc07fu,
    0xe422fc5defc941d8u, 0xcc8eb1cc1a99cfa4u, 0x4ce38135a2fbf209u, 0x4411afa975da2427u,
    0xf0ef58e5894d39f7u, 0x324977504e8c90e7u, 0xb92371d2126e9700u, 0xf28b1d5ef5de2b0du,
    0xdb14acc9e21c820fu, 0xe13abe8fa9a6ee06u, 0x17cc1b727220a94fu, 0x0000000000000005u,
};

// digits piece of 48, as a whole number; back = 2 j
RECIPE_FN vd inv_pi_piece(vu back, unsigned piece) {
    vu w = gather_u(inv_pi_digits, VU(sizeof inv_pi_digits - 9u - 6u * piece) - back);
    return from_u((w >> 16) | 0x4330000000000000u) - 0x1p52;
}
// whole turns (of 2) off, exactly
RECIPE_FN vd less_turns(vd x) { return fma_d(-2.0, rint_d(0.5 * x), x); }

RECIPE_FN struct angle huge_angle(vd x, double half, double unit) {
    vu j = ((bits_d(x) >> 52 & 0x7ffu) - 1024u) >> 4 & 63u;
    vd m = from_u(bits_d(x) + (51ul << 52) - (j << 56)) * unit;
    struct ddv a = prod_d(m * 0x1p-47, inv_pi_piece(j + j, 0));
    struct ddv b = prod_d(m * 0x1p-95, inv_pi_piece(j + j, 1));
    struct ddv c = prod_d(m * 0x1p-143, inv_pi_piece(j + j, 2));
    c.lo = fma_d(m * 0x1p-191, inv_pi_piece(j + j, 3), c.lo);
    vd s = less_turns(a.hi) + less_turns(a.lo) + half, t = less_turns(b.hi); // multiples of 2^-47
    vd n = rint_d(s + t);
    struct ddv f = sum_d(s - n, t), g = sum_d(b.lo, c.hi), h = sum_d(f.hi, g.hi);
    vd lo = h.lo + (f.lo + (g.lo + c.lo));
    struct ddv p = prod_d(h.hi, VD(0x1.921fb54442d18p1 / unit));
    p.lo = fma_d(h.hi, 0x1.1a62633145c07p-53 / unit, fma_d(lo, 0x1.921fb54442d18p1 / unit, p.lo));
    p = fast_sum_d(p.hi, p.lo);
    return (struct angle){p.hi + (x - x), p.lo, n + TRIG_MAGIC}; // NaN for infinities
}

#endif
