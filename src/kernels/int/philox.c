// SPDX-License-Identifier: MIT
// Random bits as functions of position: word a of the stream of key b, in 64 or in 32 bits.
//
// In: positions and keys, any values. Out: what they alone determine, so that a stream does not
// depend on how it is cut. A block of Philox is 128 bits: two words of 64 or four of 32. Positions
// that follow each other under one key, which is what an array of random numbers asks for, share
// their blocks; others compute a block each and take one word of it. Both give the same bits.
#include "philox.h"

enum { CHUNK = 64 }; // positions looked at together; a multiple of every number of lanes

typedef uint64_t loose __attribute__((aligned(1), may_alias));

static bool is_run(const loose *a, const loose *b, size_t n) {
    uint64_t apart = 0;
    for (size_t i = 0; i < n; i++)
        apart |= (a[i] - a[0] - i) | (b[i] ^ b[0]);
    return apart == 0 && a[0] <= UINT64_MAX - n;
}

RECIPE_FN vu load_u(const void *p) {
    vu v;
    memcpy(&v, p, sizeof v);
    return v;
}
RECIPE_FN void store_u(void *p, vu v) { memcpy(p, &v, sizeof v); }

RECIPE_FN vu count_up(void) {
#if VEC_BYTES == 64
    return (vu){0, 1, 2, 3, 4, 5, 6, 7};
#elif VEC_BYTES == 32
    return (vu){0, 1, 2, 3};
#else
    return 0;
#endif
}

// ---- runs ---------------------------------------------------------------------------------------
// per: words of a block, 2 or 4. Words from the block of a[0] on, as many as n and the words before.
RECIPE_FN void blocks_of(uint64_t *words, uint64_t first, uint64_t key, size_t blocks, size_t per) {
    uint64_t part[4][LANES_U];
    for (size_t i = 0; i < blocks; i += LANES_U) {
        struct philox r = philox_block(VU(first + i) + count_up(), VU(key));
        store_u(part[0], per == 2 ? philox_join(r.w0, r.w1) : (r.w0 & 0xffffffffu));
        store_u(part[1], per == 2 ? philox_join(r.w2, r.w3) : (r.w1 & 0xffffffffu));
        store_u(part[2], r.w2 & 0xffffffffu);
        store_u(part[3], r.w3 & 0xffffffffu);
        for (size_t lane = 0; lane < LANES_U; lane++)
            for (size_t w = 0; w < per; w++)
                words[(i + lane) * per + w] = part[w][lane];
    }
}

RECIPE_FN void run_of(loose *z, uint64_t first, uint64_t key, size_t n, size_t per) {
    uint64_t words[CHUNK + 4 * 8 + 4];
    size_t skip = first % per;
    blocks_of(words, first / per, key, (skip + n + per - 1) / per, per);
    memcpy(z, words + skip, n * sizeof *words);
}

// ---- positions in any order ---------------------------------------------------------------------
RECIPE_FN vu pick_word(vu a, struct philox r, size_t per) {
    vu odd = 0 - (a & 1), upper = 0 - (a >> 1 & 1);
    vu first = per == 2 ? philox_join(r.w0, r.w1) : (r.w0 & ~odd) | (r.w1 & odd);
    vu second = per == 2 ? philox_join(r.w2, r.w3) : (r.w2 & ~odd) | (r.w3 & odd);
    vu which = per == 2 ? odd : upper, w = (first & ~which) | (second & which);
    return per == 2 ? w : (w & 0xffffffffu);
}

RECIPE_FN void any_of(loose *z, const loose *x, const loose *y, size_t n, size_t per) {
    uint64_t a[LANES_U] = {0}, b[LANES_U] = {0};
    for (size_t i = 0; i < n; i += LANES_U) {
        size_t m = MIN_OF(n - i, LANES_U);
        memcpy(a, x + i, m * sizeof *a);
        memcpy(b, y + i, m * sizeof *b);
        vu at = load_u(a);
        store_u(a, pick_word(at, philox_block(at >> (per == 2 ? 1 : 2), load_u(b)), per));
        memcpy(z + i, a, m * sizeof *a);
    }
}

RECIPE_FN void words_of(void *out, const void *a, const void *b, size_t n, size_t per) {
    loose *z = out;
    const loose *x = a, *y = b;
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = MIN_OF(n - i, (size_t)CHUNK);
        if (is_run(x + i, y + i, m))
            run_of(z + i, x[i], y[i], m, per);
        else
            any_of(z + i, x + i, y + i, m, per);
    }
}

kern_map KERN_NAME(random_word_u64), KERN_NAME(random_half_u64);
void KERN_NAME(random_word_u64)(void *out, const void *a, const void *b, size_t n) {
    words_of(out, a, b, n, 2);
}
void KERN_NAME(random_half_u64)(void *out, const void *a, const void *b, size_t n) {
    words_of(out, a, b, n, 4);
}
