// SPDX-License-Identifier: MIT
// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw (SC 2011): ten rounds turn a
// counter of four 32-bit words into four random ones under a key of two.
//
// A vector of 64-bit lanes holds one word of as many blocks; the upper halves are rubbish between the
// rounds, since the product reads lower halves only.
#ifndef WEFT_KERN_INT_PHILOX_H
#define WEFT_KERN_INT_PHILOX_H

#include "../math/vec.h"

#define PHILOX_M0 0xd2511f53u
#define PHILOX_M1 0xcd9e8d57u
#define PHILOX_W0 0x9e3779b9u
#define PHILOX_W1 0xbb67ae85u
#define LANES_U (sizeof(vu) / sizeof(uint64_t))

struct philox {
    vu w0, w1, w2, w3;
};

#if defined(KERN_VARIANT_avx512)
RECIPE_FN vu mul_low(vu a, vu b) { return (vu)_mm512_mul_epu32((__m512i)a, (__m512i)b); }
#elif defined(KERN_VARIANT_avx2)
RECIPE_FN vu mul_low(vu a, vu b) { return (vu)_mm256_mul_epu32((__m256i)a, (__m256i)b); }
#else
RECIPE_FN vu mul_low(vu a, vu b) { return (a & 0xffffffffu) * (b & 0xffffffffu); }
#endif

// The words of the result are in the lower halves.
RECIPE_FN struct philox philox_10(struct philox c, vu k0, vu k1) {
#pragma GCC unroll 10
    for (int round = 0; round < 10; round++) {
        vu p = mul_low(c.w0, VU(PHILOX_M0)), q = mul_low(c.w2, VU(PHILOX_M1));
        c = (struct philox){q >> 32 ^ c.w1 ^ k0, q, p >> 32 ^ c.w3 ^ k1, p};
        k0 += PHILOX_W0;
        k1 += PHILOX_W1;
    }
    return c;
}

// Two words as one of 64 bits, the first in the lower half.
RECIPE_FN vu philox_join(vu low, vu high) { return (low & 0xffffffffu) | high << 32; }

// Block number n of the stream of a key: the counter is n, the upper half of it 0.
RECIPE_FN struct philox philox_block(vu n, vu key) {
    return philox_10((struct philox){n, n >> 32, VU(0u), VU(0u)}, key, key >> 32);
}

#endif
