// SPDX-License-Identifier: MIT
// Unbiased numbers below a bound from random bits, by multiplication (Lemire, "Fast random integer
// generation in an interval", 2019): the upper half of bits * bound, unless the lower half is less than
// 2^64 mod bound; then the element draws again.
//
// In: 64 random bits a, bound b. Out: a number below b (0 where b is 0) that depends on a and b alone: a
// rejected element takes its next bits from Philox with its own bits as counter, the number of the
// attempt above them and the bound as key. So there is no order among elements and no state.
#include "philox.h"

enum { GROUP = 32 };

// in halves: vectors have no wider product
RECIPE_FN uint64_t mul_high(uint64_t a, uint64_t b) {
    uint64_t al = a & 0xffffffffu, ah = a >> 32, bl = b & 0xffffffffu, bh = b >> 32;
    uint64_t m = ah * bl + (al * bl >> 32), n = al * bh + (m & 0xffffffffu);
    return ah * bh + (m >> 32) + (n >> 32);
}

static uint64_t draw(uint64_t bits, uint64_t bound, uint64_t attempt) {
    uint32_t w[4] = {(uint32_t)bits, (uint32_t)(bits >> 32), (uint32_t)attempt, 0};
    uint32_t k0 = (uint32_t)bound, k1 = (uint32_t)(bound >> 32);
    for (int round = 0; round < 10; round++, k0 += PHILOX_W0, k1 += PHILOX_W1) {
        uint64_t p = (uint64_t)PHILOX_M0 * w[0], q = (uint64_t)PHILOX_M1 * w[2];
        uint32_t w0 = (uint32_t)(q >> 32) ^ w[1] ^ k0, w2 = (uint32_t)(p >> 32) ^ w[3] ^ k1;
        w[0] = w0, w[1] = (uint32_t)q, w[2] = w2, w[3] = (uint32_t)p;
    }
    return w[0] | (uint64_t)w[1] << 32;
}

static uint64_t below(uint64_t bits, uint64_t bound) {
    if (bound == 0) return 0;
    uint64_t x = bits, rest = (0 - bound) % bound; // 2^64 mod bound
    for (uint64_t attempt = 1; x * bound < rest && attempt < 1000; attempt++) // half are taken at least
        x = draw(bits, bound, attempt);
    return mul_high(x, bound);
}

kern_map KERN_NAME(random_below_u64);
void KERN_NAME(random_below_u64)(void *out, const void *a, const void *b, size_t n) {
    typedef uint64_t loose __attribute__((aligned(1), may_alias));
    loose *z = out;
    const loose *x = a, *y = b;
    uint64_t hi[GROUP];
    for (size_t i = 0; i < n; i += GROUP) {
        size_t m = MIN_OF(n - i, (size_t)GROUP);
        uint64_t doubtful = 0;
        for (size_t j = 0; j < m; j++) {
            hi[j] = mul_high(x[i + j], y[i + j]);
            doubtful |= x[i + j] * y[i + j] < y[i + j]; // below the bound, perhaps below the rest
        }
        for (size_t j = 0; doubtful && j < m; j++)
            if (x[i + j] * y[i + j] < y[i + j]) hi[j] = below(x[i + j], y[i + j]);
        memcpy(z + i, hi, m * sizeof *hi);
    }
}
