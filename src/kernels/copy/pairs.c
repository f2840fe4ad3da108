// SPDX-License-Identifier: MIT
// to[i] = from[2i] and to[2i] = from[i] for elements of 4 and 8 bytes, any alignment. Nothing but these elements is
// touched: vectors stop where the gap behind the last element would be read, and spreading writes through masks.
// Without AVX-512 the loops are left to the compiler.
#include "copy.h"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

typedef uint64_t word8 __attribute__((aligned(1), may_alias));
typedef uint32_t word4 __attribute__((aligned(1), may_alias));

// ---- how many a vector loop has done ------------------------------------------------------------
#ifdef __AVX512F__
#include <immintrin.h>

static int64_t pick8(word8 *to, const word8 *from, int64_t n) {
    int64_t i = 0;
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    for (; i + 8 < n; i += 8) {
        __m512i a = _mm512_loadu_si512(from + 2 * i), b = _mm512_loadu_si512(from + 2 * i + 8);
        _mm512_storeu_si512(to + i, _mm512_permutex2var_epi64(a, even, b));
    }
    return i;
}
static int64_t pick4(word4 *to, const word4 *from, int64_t n) {
    int64_t i = 0;
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    for (; i + 16 < n; i += 16) {
        __m512i a = _mm512_loadu_si512(from + 2 * i), b = _mm512_loadu_si512(from + 2 * i + 16);
        _mm512_storeu_si512(to + i, _mm512_permutex2var_epi32(a, even, b));
    }
    return i;
}
static int64_t spread8(word8 *to, const word8 *from, int64_t n) {
    int64_t i = 0;
    const __m512i low = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3), high = _mm512_setr_epi64(4, 4, 5, 5, 6, 6, 7, 7);
    for (; i + 8 <= n; i += 8) {
        __m512i v = _mm512_loadu_si512(from + i);
        _mm512_mask_storeu_epi64(to + 2 * i, 0x55, _mm512_permutexvar_epi64(low, v));
        _mm512_mask_storeu_epi64(to + 2 * i + 8, 0x55, _mm512_permutexvar_epi64(high, v));
    }
    return i;
}
static int64_t spread4(word4 *to, const word4 *from, int64_t n) {
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) { // the gaps of a lane of 8 bytes are its upper halves
        __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(from + i));
        __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(from + i + 8));
        _mm512_mask_storeu_epi32(to + 2 * i, 0x5555, _mm512_cvtepu32_epi64(a));
        _mm512_mask_storeu_epi32(to + 2 * i + 16, 0x5555, _mm512_cvtepu32_epi64(b));
    }
    return i;
}
#else
#define pick8(to, from, n) 0
#define pick4(to, from, n) 0
#define spread8(to, from, n) 0
#define spread4(to, from, n) 0
#endif

kern_pick_fn JOIN(kern_pick, KERN_VARIANT), JOIN(kern_spread, KERN_VARIANT);
void JOIN(kern_pick, KERN_VARIANT)(size_t size, void *to, const void *from, int64_t n) {
    if (size == 8) {
        for (int64_t i = pick8(to, from, n); i < n; i++)
            ((word8 *)to)[i] = ((const word8 *)from)[2 * i];
    } else {
        for (int64_t i = pick4(to, from, n); i < n; i++)
            ((word4 *)to)[i] = ((const word4 *)from)[2 * i];
    }
}
void JOIN(kern_spread, KERN_VARIANT)(size_t size, void *to, const void *from, int64_t n) {
    if (size == 8) {
        for (int64_t i = spread8(to, from, n); i < n; i++)
            ((word8 *)to)[2 * i] = ((const word8 *)from)[i];
    } else {
        for (int64_t i = spread4(to, from, n); i < n; i++)
            ((word4 *)to)[2 * i] = ((const word4 *)from)[i];
    }
}
