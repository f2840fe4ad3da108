// SPDX-License-Identifier: MIT
// Elements as unsigned keys of the same order (Knuth's "sorting by distribution" over two's complement and
// sign-magnitude numbers): the sign bit of integers turned over, floats of either sign made monotonic.
#ifndef WEFT_KERN_SORT_H
#define WEFT_KERN_SORT_H

#include "call.h"

struct sort_type {
    size_t size;                // of an element
    int parts, part_bytes;      // numbers in it; bytes of one
    bool is_float, is_signed, is_bool;
    uint64_t sign, inf;         // bits of a part
};

static inline struct sort_type sort_type_of(weft_dtype t) {
    struct sort_type s = {.size = dtype_size(t), .parts = 1, .is_signed = dtype_is_signed(t), .is_bool = t == WEFT_BOOL};
    s.part_bytes = (int)s.size / s.parts;
    s.is_float = dtype_is_float(t);
    s.sign = (uint64_t)1 << (8 * s.part_bytes - 1);
    if (s.is_float) s.inf = s.part_bytes == 8 ? (uint64_t)0x7ff << 52 : (uint64_t)0xff << 23;
    return s;
}

static inline uint64_t sort_bits(const struct sort_type *s, const char *p) {
    uint64_t v = 0;
    switch (s->part_bytes) {
    case 8: memcpy(&v, p, 8); break;
    case 4: {
        uint32_t w;
        memcpy(&w, p, 4);
        v = w;
        break;
    }
    case 2: {
        uint16_t w;
        memcpy(&w, p, 2);
        v = w;
        break;
    }
    default: v = s->is_bool ? *p != 0 : (uint8_t)*p; break;
    }
    return v;
}

// NaN is the greatest key, zeros of both signs are one.
static inline uint64_t sort_key(const struct sort_type *s, const char *p, int part) {
    const uint64_t v = sort_bits(s, p + (size_t)part * (size_t)s->part_bytes);
    const uint64_t ones = s->sign | (s->sign - 1);
    if (!s->is_float) return s->is_signed ? v ^ s->sign : v;
    const uint64_t magnitude = v & ~s->sign;
    if (magnitude > s->inf) return ones;
    if (magnitude == 0) return s->sign;
    return v & s->sign ? ~v & ones : v | s->sign;
}

// A float that comes back from its key.
static inline bool sort_is_plain(const struct sort_type *s, const char *p) {
    const uint64_t v = sort_bits(s, p);
    return (v & ~s->sign) <= s->inf && v != s->sign;
}

static inline void sort_value(const struct sort_type *s, uint64_t key, char *to) {
    const uint64_t ones = s->sign | (s->sign - 1);
    uint64_t v = key;
    if (s->is_float)
        v = key & s->sign ? key & ~s->sign : ~key & ones;
    else if (s->is_signed)
        v = key ^ s->sign;
    memcpy(to, &v, (size_t)s->part_bytes); // little-endian
}

static inline void sort_copy(const struct sort_type *s, char *to, const char *from) {
    if (s->is_bool)
        *to = *from != 0;
    else
        memcpy(to, from, s->size);
}

#endif
