// SPDX-License-Identifier: MIT
// Introduces: integer graphs, roots evaluated together. SHA-1 (FIPS 180-4) of many messages of one length:
// the 80 rounds of every block are one expression over u32 arrays, a lane for each message, so they run
// as one pass over the words with the state in registers. Checked against the vectors of NIST and, lane
// for lane, against a loop in C, which is also timed.
#include <string.h>

#include "check.h"

enum { LANES = 1 << 14, MOST_BLOCKS = 2, ROUNDS = 5 };
static uint32_t words[16 * MOST_BLOCKS][LANES], digests[5][LANES];
static const uint32_t start[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
static const uint32_t round_constant[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};

// ---- the graph ------------------------------------------------------------------------------------------
static weft_expr *number(weft_graph *g, uint32_t v) { return weft_scalar(g, WEFT_U32, &v); }
static weft_expr *rotate(weft_expr *x, uint32_t n, weft_graph *g) {
    return weft_rotate_left(x, number(g, n));
}

// What round t makes of b, c and d: a choice, a parity, a majority, a parity.
static weft_expr *mix(int t, weft_expr *b, weft_expr *c, weft_expr *d) {
    if (t < 20) return weft_bitwise_xor(d, weft_bitwise_and(b, weft_bitwise_xor(c, d)));
    if (t >= 40 && t < 60)
        return weft_bitwise_or(weft_bitwise_and(b, c), weft_bitwise_and(d, weft_bitwise_or(b, c)));
    return weft_bitwise_xor(b, weft_bitwise_xor(c, d));
}

static weft_expr *scheduled(weft_graph *g, weft_expr *const *w, int t) {
    weft_expr *x = weft_bitwise_xor(w[(t - 3) & 15], w[(t - 8) & 15]);
    x = weft_bitwise_xor(x, weft_bitwise_xor(w[(t - 14) & 15], w[(t - 16) & 15]));
    return rotate(x, 1, g);
}

static void add_block(weft_graph *g, weft_expr *h[5], weft_expr *w[16]) {
    weft_expr *a = h[0], *b = h[1], *c = h[2], *d = h[3], *e = h[4];
    for (int t = 0; t < 80; t++) {
        if (t >= 16) w[t & 15] = scheduled(g, w, t);
        weft_expr *x = weft_add(rotate(a, 5, g), mix(t, b, c, d));
        x = weft_add(weft_add(x, weft_add(e, number(g, round_constant[t / 20]))), w[t & 15]);
        e = d, d = c, c = rotate(b, 30, g), b = a, a = x;
    }
    weft_expr *const end[5] = {a, b, c, d, e};
    for (int i = 0; i < 5; i++)
        h[i] = weft_add(h[i], end[i]);
}

static void sha1_all(weft_graph *g, int blocks) {
    const int64_t n = LANES;
    weft_expr *h[5], *w[16];
    weft_array outs[5];
    for (int i = 0; i < 5; i++) {
        h[i] = number(g, start[i]);
        outs[i] = weft_dense(WEFT_U32, digests[i], 1, &n);
    }
    for (int b = 0; b < blocks; b++) {
        for (int i = 0; i < 16; i++) {
            weft_array a = weft_dense(WEFT_U32, words[16 * b + i], 1, &n);
            w[i] = weft_from(g, &a);
        }
        add_block(g, h, w);
    }
    must(weft_eval_n(5, h, outs, NULL), g);
}

// ---- the loop -------------------------------------------------------------------------------------------
static uint32_t turn(uint32_t x, int n) { return x << n | x >> (32 - n); }
static uint32_t mix_of(int t, uint32_t b, uint32_t c, uint32_t d) {
    if (t < 20) return d ^ (b & (c ^ d));
    return t >= 40 && t < 60 ? (b & c) | (d & (b | c)) : b ^ c ^ d;
}
static void sha1_one(int blocks, int lane, uint32_t h[5]) {
    memcpy(h, start, sizeof start);
    for (int b = 0; b < blocks; b++) {
        uint32_t w[80], s[5];
        memcpy(s, h, sizeof s);
        for (int t = 0; t < 80; t++) {
            w[t] = t < 16 ? words[16 * b + t][lane] : turn(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
            uint32_t x = turn(s[0], 5) + mix_of(t, s[1], s[2], s[3]) + s[4] + round_constant[t / 20] + w[t];
            s[4] = s[3], s[3] = s[2], s[2] = turn(s[1], 30), s[1] = s[0], s[0] = x;
        }
        for (int i = 0; i < 5; i++)
            h[i] += s[i];
    }
}

// ---- messages -------------------------------------------------------------------------------------------
// A message of len bytes with its padding as big-endian words of one lane; the number of blocks.
static int put_message(const char *text, size_t len, int lane) {
    unsigned char padded[64 * MOST_BLOCKS] = {0};
    int blocks = (int)((len + 8) / 64) + 1;
    memcpy(padded, text, len);
    padded[len] = 0x80;
    for (int i = 0; i < 8; i++)
        padded[64 * blocks - 1 - i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
    for (int i = 0; i < 16 * blocks; i++)
        words[i][lane] = (uint32_t)padded[4 * i] << 24 | (uint32_t)padded[4 * i + 1] << 16 |
                         (uint32_t)padded[4 * i + 2] << 8 | padded[4 * i + 3];
    return blocks;
}

static int fill(const char *text, size_t len) {
    char other[64 * MOST_BLOCKS];
    uint32_t seed = 1;
    int blocks = 0;
    for (int lane = 0; lane < LANES; lane++) {
        for (size_t i = 0; i < len; i++)
            other[i] = (char)((seed = seed * 1664525u + 1013904223u) >> 24);
        blocks = put_message(lane % 1000 ? other : text, len, lane);
    }
    return blocks;
}

static const struct {
    const char *text;
    uint32_t digest[5];
} known[] = {
    {"", {0xda39a3ee, 0x5e6b4b0d, 0x3255bfef, 0x95601890, 0xafd80709}},
    {"abc", {0xa9993e36, 0x4706816a, 0xba3e2571, 0x7850c26c, 0x9cd0d89d}},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     {0x84983e44, 0x1c3bd26e, 0xbaae4aa1, 0xf95129e5, 0xe54670f1}},
};

static void check_known(weft_graph *g) {
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        int blocks = fill(known[k].text, strlen(known[k].text));
        weft_graph_reset(g);
        sha1_all(g, blocks);
        for (int lane = 0; lane < LANES; lane++) {
            uint32_t h[5];
            sha1_one(blocks, lane, h);
            for (int i = 0; i < 5; i++) {
                expect(digests[i][lane] == h[i], "the digest of the loop");
                expect(lane % 1000 || h[i] == known[k].digest[i], "the digest of NIST");
            }
        }
    }
}

int main(void) {
    weft_ctx *ctx = NULL;
    weft_ctx_opts opts = {.size = sizeof opts, .threads = 1, .backend = WEFT_BACKEND_JIT};
    must(weft_ctx_new(&ctx, &opts), NULL);
    weft_graph *g = weft_graph_new(ctx);
    check_known(g);
    int blocks = fill("0123456789012345678901234567890123456789012345678901234", 55);
    double best = 1e9, best_loop = 1e9;
    uint32_t differ = 0;
    uint32_t h[5];
    for (int r = 0; r < ROUNDS; r++) {
        weft_graph_reset(g);
        double t0 = seconds();
        sha1_all(g, blocks);
        double t1 = seconds();
        for (int lane = 0; lane < LANES; lane++)
            sha1_one(blocks, lane, h), differ |= h[0] ^ digests[0][lane];
        double t2 = seconds();
        best = t1 - t0 < best ? t1 - t0 : best;
        best_loop = t2 - t1 < best_loop ? t2 - t1 : best_loop;
    }
    expect(differ == 0, "the digests of the timed loop");
    printf("SHA-1 of %d messages: %.1f ns each with weft, %.1f in a scalar loop (%.1fx)\n", LANES,
           best / LANES * 1e9, best_loop / LANES * 1e9, best_loop / best);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    return 0;
}
