// SPDX-License-Identifier: MIT
// Memory between two pages that cannot be touched, random numbers and values with all special
// cases: what tests of strips and reductions share.
#ifndef WEFT_TESTS_GUARD_H
#define WEFT_TESTS_GUARD_H

#include <criterion/criterion.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base.h"

struct guard {
    unsigned char *map, *base;
    size_t size, whole;
};

static inline struct guard guard_new(size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct guard g = {.size = (size + page - 1) / page * page};
    g.whole = g.size + 2 * page;
    g.map = mmap(NULL, g.whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(g.map != MAP_FAILED);
    g.base = g.map + page;
    cr_assert(mprotect(g.map, page, PROT_NONE) == 0);
    cr_assert(mprotect(g.base + g.size, page, PROT_NONE) == 0);
    return g;
}
static inline void guard_free(struct guard *g) {
    munmap(g->map, g->whole);
}
// the last bytes before the guard page
static inline void *guard_end(const struct guard *g, size_t bytes) {
    return g->base + g->size - bytes;
}

static inline uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static const double special_f64[] = {0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     0.5,
                                     -0.5,
                                     1.5,
                                     2.5,
                                     -1.5,
                                     INFINITY,
                                     -INFINITY,
                                     NAN,
                                     5e-324,
                                     -1e-310,
                                     1e308,
                                     -1.7976931348623157e308,
                                     2.2250738585072014e-308,
                                     3.5e38,
                                     1e-40,
                                     16777217.0,
                                     127.5,
                                     128.0,
                                     -128.5,
                                     255.9,
                                     300.0,
                                     32767.5,
                                     65535.5,
                                     65536.0,
                                     2147483647.5,
                                     2147483648.0,
                                     -2147483648.5,
                                     3e9,
                                     -3e9,
                                     4294967295.5,
                                     4294967296.0,
                                     9.2233720368547748e18,
                                     9.2233720368547758e18,
                                     -9.2233720368547758e18,
                                     1.8446744073709550e19,
                                     1.8446744073709552e19,
                                     1e20,
                                     1e10,
                                     -1e20,
                                     0.1,
                                     3.0,
                                     -7.0,
                                     9007199254740993.0,
                                     NAN,
                                     0.49999999999999994,
                                     4503599627370497.5,
                                     8388609.5,
                                     0.49999997f};
static const uint64_t special_int[] = {0,
                                       1,
                                       (uint64_t)-1,
                                       2,
                                       (uint64_t)-2,
                                       3,
                                       7,
                                       (uint64_t)-7,
                                       5,
                                       8,
                                       16,
                                       31,
                                       32,
                                       33,
                                       63,
                                       64,
                                       65,
                                       127,
                                       128,
                                       255,
                                       256,
                                       32767,
                                       32768,
                                       65535,
                                       65536,
                                       0x7fffffff,
                                       0x80000000u,
                                       0xffffffffu,
                                       0x100000000u,
                                       0x7fffffffffffffff,
                                       0x8000000000000000u,
                                       9007199254740993u,
                                       3037000500u,
                                       0x8000000000000401u,
                                       0xffffff7fffffffffu,
                                       0x7fffff4000000001u,
                                       16777217};

// One element of dtype t: a special value for kind 0, random bits for 1, a moderate number for 2
// (never NaN or infinite), any non-zero byte or 0 for bool.
static inline void random_element(weft_dtype t, int kind, uint64_t *state, void *out) {
    uint64_t r = next_random(state);
    if (t == WEFT_BOOL) {
        *(uint8_t *)out = (uint8_t)((r & 3) == 0 ? 0 : (r & 4) ? 1 : (r >> 8) & 0xff);
    } else if (dtype_is_float(t)) {
        double v = kind == 0 ? special_f64[r % COUNT_OF(special_f64)]
                             : ldexp((double)(int64_t)(r | 1), (int)(next_random(state) % 40) - 80);
        float f = (float)v;
        if (kind == 1) {
            memcpy(out, &r, dtype_size(t));
        } else {
            memcpy(out, t == WEFT_F32 ? (void *)&f : (void *)&v, dtype_size(t));
        }
    } else {
        uint64_t v = kind == 0 ? special_int[r % COUNT_OF(special_int)] : kind == 1 ? r : r % 20;
        memcpy(out, &v, dtype_size(t));
    }
}

// Equal bits, or both NaN.
static inline bool same_element(weft_dtype t, const void *a, const void *b) {
    if (memcmp(a, b, dtype_size(t)) == 0) return true;
    if (t == WEFT_F32) {
        float x, y;
        memcpy(&x, a, 4);
        memcpy(&y, b, 4);
        return x != x && y != y;
    }
    if (t != WEFT_F64) return false;
    double x, y;
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    return x != x && y != y;
}

#endif
