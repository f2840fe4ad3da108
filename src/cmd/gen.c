// SPDX-License-Identifier: MIT
// Generated inputs: the same values in every run and on every machine. Pseudo-random element i of
// an input is a hash of (the input's name, i): floats uniform in [0, 1), integers in 0..99, bool
// either.
#include "cmd.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t
mix(uint64_t z) { // the finaliser of a 64-bit generator: every bit depends on every bit
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t seed_of(const char *name) {
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return mix(h);
}

// One value as type t: f for floats when real, else the integer i, of which the low bits are taken.
static void put(weft_dtype t, void *p, double f, uint64_t i, bool real) {
    double d = real ? f : (double)(int64_t)i;
    if (real_type(t)) {
        real_put(t, p, d);
        return;
    }
    if (t == WEFT_BOOL) {
        *(unsigned char *)p = i != 0;
        return;
    }
    switch (weft_dtype_size(t)) {
    case 1: *(unsigned char *)p = (unsigned char)i; return;
    case 2: memcpy(p, &(uint16_t){(uint16_t)i}, 2); return;
    case 4: memcpy(p, &(uint32_t){(uint32_t)i}, 4); return;
    default: memcpy(p, &i, 8); return;
    }
}

// Does an integer with this sign and magnitude fit?
static bool fits(weft_dtype t, bool negative, uint64_t magnitude) {
    int bits = (int)weft_dtype_size(t) * 8;
    if (t == WEFT_BOOL) return !negative;
    if (t >= WEFT_U8 && t <= WEFT_U64)
        return !(negative && magnitude) && magnitude <= UINT64_MAX >> (64 - bits);
    uint64_t half = (uint64_t)1 << (bits - 1);
    return negative ? magnitude <= half : magnitude < half;
}

static void fill_random(weft_array *a, int64_t count, uint64_t seed) {
    size_t size = weft_dtype_size(a->dtype);
    unsigned char *p = a->data;
    bool real = real_type(a->dtype);
    int narrow = a->dtype == WEFT_F16 ? 53 : a->dtype == WEFT_BF16 ? 56 : 40; // bits that the type cannot hold
    for (int64_t i = 0; i < count; i++, p += size) {
        uint64_t r = mix(seed + (uint64_t)i * 0x9e3779b97f4a7c15u);
        double f = a->dtype == WEFT_F64 ? (double)(r >> 11) * 0x1p-53 : ldexp((double)(r >> narrow), narrow - 64);
        put(a->dtype, p, f, a->dtype == WEFT_BOOL ? r & 1 : (r >> 33) % 100, real);
    }
}

static void fill_iota(weft_array *a, int64_t count) {
    size_t size = weft_dtype_size(a->dtype);
    unsigned char *p = a->data;
    for (int64_t i = 0; i < count; i++, p += size)
        put(a->dtype, p, 0, (uint64_t)i, false);
}

static bool fill_number(weft_array *a, int64_t count, const char *how) {
    size_t size = weft_dtype_size(a->dtype);
    unsigned char one[8], *p = a->data;
    char *end;
    bool real = real_type(a->dtype), negative = *how == '-';
    const char *digits = how + negative;
    errno = 0;
    double f = real ? strtod(how, &end) : 0;
    uint64_t i = real ? 0 : strtoull(digits, &end, 0);
    if (end == how || *end || (!real && (errno || *digits < '0' || *digits > '9'))) return false;
    if (!real && !fits(a->dtype, negative, i)) return false;
    put(a->dtype, one, f, negative ? 0 - i : i, real);
    for (int64_t k = 0; k < count; k++, p += size)
        memcpy(p, one, size);
    return true;
}

// Pairs one by one: random ones fill both parts, others the real part only.
static bool fill_complex(weft_array *a, int64_t count, const char *name, const char *how) {
    int64_t numbers = 2 * count;
    weft_array flat = weft_dense(part_type(a->dtype), a->data, 1, &numbers);
    if (*how == 0) return gen_fill(&flat, name, how);
    weft_array line = weft_dense(flat.dtype, a->data, 1, &count);
    if (!gen_fill(&line, name, how)) return false; // dense at the front, then moved apart from the back
    size_t size = weft_dtype_size(flat.dtype);
    unsigned char *p = a->data;
    for (int64_t i = count - 1; i >= 0; i--) {
        memmove(p + 2 * size * (size_t)i, p + size * (size_t)i, size);
        memset(p + 2 * size * (size_t)i + size, 0, size);
    }
    return true;
}

bool gen_fill(weft_array *a, const char *name, const char *how) {
    int64_t count = weft_array_count(a);
    if (complex_type(a->dtype)) return fill_complex(a, count, name, how);
    if (*how == 0)
        fill_random(a, count, seed_of(name));
    else if (strcmp(how, "iota") == 0)
        fill_iota(a, count);
    else
        return fill_number(a, count, how);
    return true;
}
