// SPDX-License-Identifier: MIT
// unpack_bits: attributes [skip, count]; in: 1-d u8; out: bit skip + i of the bytes, least significant first, as
// bool i. A byte times 0x0101..., masked, has bit k left in byte k; adding 0x7f carries it to the top of that byte
// and no further. Eight elements a byte, a few operations; chunks are shared between threads.
#include "call.h"

enum { CHUNK = 1 << 16, PIECE = 512 }; // elements

struct bits {
    const struct kern_call *c;
    int64_t count;
};

// Byte b as eight elements.
static void spread(unsigned char b, unsigned char *to) {
    const uint64_t ones = 0x0101010101010101u;
    uint64_t w = ((b * ones & 0x8040201008040201u) + 0x7f * ones) >> 7 & ones;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    w = __builtin_bswap64(w);
#endif
    memcpy(to, &w, 8);
}

// Elements from to from + n - 1, n at most PIECE.
static void piece(const struct kern_call *c, int64_t from, int64_t n) {
    const weft_array *in = &c->in[0], *out = &c->out[0];
    const int64_t bit = c->attr[0] + from, step = in->strides[0];
    unsigned char buf[PIECE + 16];
    const char *p = call_at(in->data, bit / 8 * step);
    for (int64_t at = 0; at < bit % 8 + n; at += 8, p = call_at(p, step))
        spread(*(const unsigned char *)p, buf + at);
    call_unpack(call_at(out->data, from * out->strides[0]), out->strides[0], buf + bit % 8, 1, n);
}

static void chunk(void *arg, int64_t i, int worker) {
    (void)worker;
    const struct bits *b = arg;
    const int64_t end = MIN_OF(b->count, (i + 1) * CHUNK);
    for (int64_t at = i * CHUNK; at < end; at += PIECE)
        piece(b->c, at, MIN_OF(PIECE, end - at));
}

weft_status call_unpack_bits(const struct kern_call *c, struct base_err *err) {
    (void)err;
    struct bits b = {c, c->attr[1]};
    if (!c->out[0].data || !c->in[0].data) return WEFT_OK;
    const int64_t n = (b.count + CHUNK - 1) / CHUNK;
    if (n > 1 && call_threads(c, (double)b.count / 4) > 1) {
        c->run(c->ud, n, chunk, &b);
        return WEFT_OK;
    }
    for (int64_t i = 0; i < n; i++)
        chunk(&b, i, 0);
    return WEFT_OK;
}
