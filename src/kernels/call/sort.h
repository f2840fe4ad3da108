// SPDX-License-Identifier: MIT
// Elements as unsigned keys of the same order (Knuth's "sorting by distribution" over two's complement and
// sign-magnitude numbers): the sign bit of integers turned over, floats of either sign made monotonic.
#ifndef WEFT_KERN_SORT_H
#define WEFT_KERN_SORT_H

#include "call.h"

struct sort_type {
    size_t size;           // of an element
    int parts, number;     // keys of an element, most important first; bytes of a number in it
    bool is_float, is_signed, is_bool, is_complex;
    uint64_t sign, inf;    // bits of a number
};

static inline struct sort_type sort_type_of(weft_dtype t) {
    struct sort_type s = {.size = dtype_size(t), .parts = 1, .is_signed = dtype_is_signed(t),
                          .is_bool = t == WEFT_BOOL, .is_complex = dtype_is_complex(t)};
    s.number = (int)dtype_size(dtype_real_of(t));
    s.is_float = dtype_is_float(t) || s.is_complex;
    s.sign = (uint64_t)1 << (8 * s.number - 1);
    if (s.is_complex) s.parts = 3;
    switch (dtype_real_of(t)) {
    case WEFT_F64: s.inf = (uint64_t)0x7ff << 52; break;
    case WEFT_F32: s.inf = 0x7f800000; break;
    case WEFT_F16: s.inf = 0x7c00; break;
    case WEFT_BF16: s.inf = 0x7f80; break;
    default: break;
    }
    return s;
}

static inline uint64_t sort_bits(const struct sort_type *s, const char *p) {
    uint32_t w;
    uint16_t h;
    uint64_t v;
    switch (s->number) {
    case 8: memcpy(&v, p, 8); return v;
    case 4: memcpy(&w, p, 4); return w;
    case 2: memcpy(&h, p, 2); return h;
    default: return s->is_bool ? *p != 0 : (uint8_t)*p;
    }
}

// Of one number. NaN is the greatest key, zeros of both signs are one.
static inline uint64_t sort_number(const struct sort_type *s, const char *p) {
    const uint64_t v = sort_bits(s, p), ones = s->sign | (s->sign - 1);
    if (!s->is_float) return s->is_signed ? v ^ s->sign : v;
    const uint64_t magnitude = v & ~s->sign;
    if (magnitude > s->inf) return ones;
    if (magnitude == 0) return s->sign;
    return v & s->sign ? ~v & ones : v | s->sign;
}

// Complex numbers: which parts are NaN (NumPy has R+Rj, R+NaNj, NaN+Rj, NaN+NaNj), real part, imaginary part.
static inline uint64_t sort_key(const struct sort_type *s, const char *p, int part) {
    if (!s->is_complex) return sort_number(s, p);
    if (part) return sort_number(s, p + (part == 2 ? s->number : 0));
    const uint64_t a = sort_bits(s, p) & ~s->sign, b = sort_bits(s, p + s->number) & ~s->sign;
    return (uint64_t)(2 * (a > s->inf) + (b > s->inf));
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
    memcpy(to, &v, (size_t)s->number); // little-endian
}

static inline void sort_copy(const struct sort_type *s, char *to, const char *from) {
    if (s->is_bool)
        *to = *from != 0;
    else
        memcpy(to, from, s->size);
}

#endif
