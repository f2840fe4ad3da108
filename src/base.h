// SPDX-License-Identifier: MIT
// The floor of the house: allocation through the host's hook, arenas, growable vectors, error text.
// Every room may include this file; it includes nothing of ours but the public vocabulary.
#ifndef WEFT_BASE_H
#define WEFT_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "weft/weft.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))
#define MAX_OF(a, b) ((a) > (b) ? (a) : (b))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

// ---- allocation -------------------------------------------------------------------------------
// One hook in Lua's shape: (ud, ptr, old size, new size); new size 0 frees. NULL fn: malloc family.
struct base_alloc {
    weft_alloc_fn *fn;
    void *ud;
};
extern const struct base_alloc base_malloc; // the C library's allocator

void *base_get(const struct base_alloc *a, size_t size);            // NULL when the hook refuses
void *base_get_zero(const struct base_alloc *a, size_t size);
void *base_resize(const struct base_alloc *a, void *p, size_t old, size_t size);
void base_put(const struct base_alloc *a, void *p, size_t size);    // accepts NULL

// The largest logical size of an array in bytes, far above any address space: sums of such sizes, a few
// times over, still fit int64_t. Multiplies bytes by n; true = too large. Extents of 0 are passed over.
#define BASE_MAX_BYTES ((int64_t)1 << 60)
static inline bool bytes_over(int64_t *bytes, int64_t n) {
    return n && (__builtin_mul_overflow(*bytes, n, bytes) || *bytes > BASE_MAX_BYTES);
}

// size computations that must not wrap; true = overflow
static inline bool mul_over(size_t a, size_t b, size_t *r) { return __builtin_mul_overflow(a, b, r); }
static inline bool add_over(size_t a, size_t b, size_t *r) { return __builtin_add_overflow(a, b, r); }

// ---- arena: bump allocation, freed at once ------------------------------------------------------
struct base_block;
struct base_arena {
    struct base_alloc alloc;
    struct base_block *head;
    size_t used, limit; // bytes handed out; 0 = no limit
};
void arena_init(struct base_arena *a, const struct base_alloc *alloc);
void *arena_get(struct base_arena *a, size_t size);      // 16-byte aligned, zeroed; NULL = no memory
void *arena_copy(struct base_arena *a, const void *p, size_t size);
void arena_reset(struct base_arena *a);                  // keeps one block for the next round
void arena_free(struct base_arena *a);
#define ARENA_NEW(a, type) ((type *)arena_get((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)base_arena_array((a), sizeof(type), (size_t)(n)))
void *base_arena_array(struct base_arena *a, size_t size, size_t n); // checked product

// ---- vector of bytes or items, grown by doubling; failure is sticky and reported once -------------
struct base_vec {
    struct base_alloc alloc;
    unsigned char *data;
    size_t size, cap; // bytes
    bool failed;
};
void vec_init(struct base_vec *v, const struct base_alloc *alloc);
void *vec_push(struct base_vec *v, const void *item, size_t size); // address of the copy or NULL
void vec_printf(struct base_vec *v, const char *fmt, ...) PRINTF_LIKE(2, 3); // keeps a final NUL
void vec_vprintf(struct base_vec *v, const char *fmt, va_list ap);
void vec_clear(struct base_vec *v);
void vec_free(struct base_vec *v);
#define VEC_AT(v, type, i) (((type *)(void *)(v)->data)[i])
#define VEC_LEN(v, type) ((v)->size / sizeof(type))

// ---- errors --------------------------------------------------------------------------------------
// The first failure wins: a status and one sentence. Owned by a graph, a context or a program.
struct base_err {
    weft_status status;
    char text[512];
};
weft_status err_set(struct base_err *e, weft_status s, const char *fmt, ...) PRINTF_LIKE(3, 4);
void err_clear(struct base_err *e);
#define TRY(call)                                                                                  \
    do {                                                                                           \
        weft_status try_status_ = (call);                                                          \
        if (try_status_) return try_status_;                                                       \
    } while (0)

// ---- dtype facts -----------------------------------------------------------------------------------
size_t dtype_size(weft_dtype t);
const char *dtype_name(weft_dtype t); // "f64"
// Operations are computed in the types up to here. ir takes the others apart: halves are widened and
// narrowed by casts, complex numbers are pairs; code meets halves in loads, stores and casts only.
enum { DTYPE_COMPUTED__N = WEFT_F64 + 1 };
static inline bool dtype_is_computed(weft_dtype t) { return t <= WEFT_F64; }
static inline bool dtype_is_float(weft_dtype t) { return t >= WEFT_F32 && t <= WEFT_BF16; }
static inline bool dtype_is_half(weft_dtype t) { return t == WEFT_F16 || t == WEFT_BF16; }
static inline bool dtype_is_complex(weft_dtype t) { return t == WEFT_C64 || t == WEFT_C128; }
// c64 is made of f32, c128 of f64; a real type of itself. And the other way: f64 and the integers that
// need it give c128, halves c64.
static inline weft_dtype dtype_real_of(weft_dtype t) {
    return t == WEFT_C64 ? WEFT_F32 : t == WEFT_C128 ? WEFT_F64 : t;
}
static inline weft_dtype dtype_complex_of(weft_dtype t) {
    return t == WEFT_F32 || dtype_is_half(t) || t == WEFT_C64 ? WEFT_C64 : WEFT_C128;
}
static inline bool dtype_is_signed(weft_dtype t) { return t >= WEFT_I8 && t <= WEFT_I64; }
static inline bool dtype_is_unsigned(weft_dtype t) { return t >= WEFT_U8 && t <= WEFT_U64; }
static inline bool dtype_is_int(weft_dtype t) { return t >= WEFT_I8 && t <= WEFT_U64; }

#endif
