// SPDX-License-Identifier: MIT
// Interesting values of every dtype, shared by the tests.
#ifndef TESTS_VALUES_H
#define TESTS_VALUES_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "weft/weft.h"

static const double special_f64[] = {
    0.0, -0.0, 1.0, -1.0, NAN, INFINITY, -INFINITY, 0.5, -0.5, 1.5, 2.5, -2.5, 2.0, 3.0, -3.0, 7.0, 0.1,
    -7.25, 5e-324, -5e-324, 1e-310, DBL_MIN, DBL_MAX, -DBL_MAX, 1e10, -1e10, 4503599627370497.5,
    9007199254740993.0, 2147483648.0, -2147483648.5, 3e9, 300.0, -129.0, 1e20, 709.5, -745.13, 1e-17,
    3.14159265358979311, 1e300, 0.99999999999999989};
static const float special_f32[] = {
    0.0f, -0.0f, 1.0f, -1.0f, NAN, INFINITY, -INFINITY, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 2.0f, 3.0f, -3.0f,
    7.0f, 0.1f, -7.25f, 1e-45f, -1e-45f, 1e-40f, FLT_MIN, FLT_MAX, -FLT_MAX, 1e10f, -1e10f, 8388609.5f,
    16777217.0f, 2147483648.0f, -2147483648.0f, 3e9f, 300.0f, -129.0f, 1e20f, 88.5f, -103.9f, 1e-17f,
    3.14159274f, 1e30f, 0.99999994f};

// Writes up to max values of t at out; returns how many.
static inline int special_values(weft_dtype t, void *out, int max) {
    static const int64_t ints[] = {0, 1, -1, 2, -2, 3, 7, -7, 5, 8, 31, 32, 33, 63, 64, 100, 127, -128, 200, 255,
                                   256, -129, 32767, -32768, 65535, 2147483647, -2147483648LL, 4294967295LL,
                                   3037000500LL, 10000, INT64_MAX, INT64_MIN, INT64_MAX - 1, 1LL << 53,
                                   (1LL << 53) + 1, -10};
    size_t size = weft_dtype_size(t);
    int n = 0;
    if (t == WEFT_F64 || t == WEFT_F32) {
        int count = (int)(sizeof special_f64 / sizeof *special_f64);
        for (; n < count && n < max; n++) {
            if (t == WEFT_F64)
                memcpy((char *)out + 8 * n, &special_f64[n], 8);
            else
                memcpy((char *)out + 4 * n, &special_f32[n], 4);
        }
        return n;
    }
    if (t == WEFT_BOOL) {
        static const unsigned char truth[] = {0, 1};
        memcpy(out, truth, 2);
        return 2;
    }
    for (size_t i = 0; i < sizeof ints / sizeof *ints && n < max; i++) {
        memcpy((char *)out + size * (size_t)n, &ints[i], size); // little endian: the low bytes
        int dup = 0;
        for (int k = 0; k < n; k++)
            dup |= memcmp((char *)out + size * (size_t)k, (char *)out + size * (size_t)n, size) == 0;
        n += !dup;
    }
    // the extremes of the type
    int64_t lo = t <= WEFT_I64 ? (int64_t)((uint64_t)1 << (8 * size - 1)) : 0, hi = ~lo;
    if (n + 2 <= max) {
        memcpy((char *)out + size * (size_t)n++, &lo, size);
        memcpy((char *)out + size * (size_t)n++, &hi, size);
    }
    return n;
}

static inline bool is_nan(weft_dtype t, const void *p) {
    double d;
    float f;
    if (t == WEFT_F64) return memcpy(&d, p, 8), d != d;
    if (t == WEFT_F32) return memcpy(&f, p, 4), f != f;
    return false;
}

#endif
