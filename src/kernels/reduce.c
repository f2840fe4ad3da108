// SPDX-License-Identifier: MIT
// Reductions in the fixed tree of kern.h: the steps by dtype and instruction set, and the binary
// counter.
//
// The steps are compiled once per instruction set (reduce/*.c) with the order of operations written
// out, so all give the same bits and a context's cap on the instruction set does not matter; the
// best one is looked up once per process. A partial state is a vector of lanes (or columns), for
// arg-reductions followed by their indices. Counting partial states in binary combines neighbours
// of equal size only, which is why any cut at whole powers of two of leaves gives the same tree.
#include "reduce/reduce.h"

#include <assert.h>
#include <stdatomic.h>

#define TABLES(level)                                                                              \
    { kern_red_ints_##level, kern_red_floats_##level, kern_red_args_##level }
static red_find *const tables[][3] = {
    [KERN_BASE] = TABLES(base),
#ifdef __x86_64__
    [KERN_AVX2] = TABLES(avx2),
    [KERN_AVX512] = TABLES(avx512),
#endif
};

const struct red_kind *kern_red_kind(enum kern_red r, weft_dtype t) {
    static atomic_int known = -1; // racing threads store the same value
    int isa = atomic_load_explicit(&known, memory_order_relaxed);
    if (isa < 0) {
        isa = (int)kern_isa_detect();
        atomic_store_explicit(&known, isa, memory_order_relaxed);
    }
    const int which = kern_red_is_arg(r) ? 2 : dtype_is_float(t);
    const struct red_kind *k = tables[isa][which](r, t);
    assert(k && k->leaf);
    return k;
}

static size_t values_bytes(weft_dtype t, int64_t n) {
    return (size_t)red_padded(n * (int64_t)dtype_size(t));
}

size_t kern_red_state(enum kern_red r, weft_dtype t, int64_t n) {
    size_t values = values_bytes(t, n);
    return kern_red_is_arg(r) ? values + (size_t)n * sizeof(int64_t) : values;
}

// ---- identities
// ----------------------------------------------------------------------------------------

static uint64_t least_bits(weft_dtype t) {
    if (t == WEFT_F32) return 0xff800000u;
    if (t == WEFT_F64) return 0xfff0000000000000u;
    return dtype_is_signed(t) ? (uint64_t)1 << (8 * dtype_size(t) - 1) : 0;
}
static uint64_t greatest_bits(weft_dtype t) {
    if (t == WEFT_BOOL) return 1;
    if (t == WEFT_F32) return 0x7f800000u;
    if (t == WEFT_F64) return 0x7ff0000000000000u;
    return UINT64_MAX >> (64 - 8 * dtype_size(t) + dtype_is_signed(t));
}
static uint64_t by_type(weft_dtype t, uint64_t f32, uint64_t f64, uint64_t integer) {
    return t == WEFT_F32 ? f32 : t == WEFT_F64 ? f64 : integer;
}

// The identity in the first dtype_size bytes (little-endian, as every machine weft runs on).
static uint64_t identity_bits(enum kern_red r, weft_dtype t) {
    const bool is_float = dtype_is_float(t);
    const uint64_t nan = by_type(t, 0x7fc00000u, 0x7ff8000000000000u, 0);
    switch (r) {
    case KERN_SUM: return by_type(t, 0x80000000u, 0x8000000000000000u, 0);
    case KERN_PROD: return by_type(t, 0x3f800000u, 0x3ff0000000000000u, 1);
    case KERN_MIN: return greatest_bits(t);
    case KERN_MAX: return least_bits(t);
    case KERN_FMIN: return is_float ? nan : greatest_bits(t);
    case KERN_FMAX: return is_float ? nan : least_bits(t);
    case KERN_ALL: return 1;
    default: return 0;
    }
}

static void fill(void *out, size_t size, uint64_t bits, int64_t n) {
    typedef uint16_t two RED_ANY_ALIGN;
    typedef uint32_t four RED_ANY_ALIGN;
    typedef uint64_t eight RED_ANY_ALIGN;
    if (size == 1) memset(out, (int)(bits & 0xff), (size_t)n);
    for (int64_t i = 0; size == 2 && i < n; i++)
        ((two *)out)[i] = (uint16_t)bits;
    for (int64_t i = 0; size == 4 && i < n; i++)
        ((four *)out)[i] = (uint32_t)bits;
    for (int64_t i = 0; size == 8 && i < n; i++)
        ((eight *)out)[i] = bits;
}

void kern_red_identity(enum kern_red r, weft_dtype t, void *state, int64_t n) {
    fill(state, dtype_size(t), identity_bits(r, t), n);
    if (kern_red_is_arg(r)) fill((char *)state + values_bytes(t, n), 8, (uint64_t)INT64_MAX, n);
}

// ---- steps
// -----------------------------------------------------------------------------------------------

void kern_red_combine(enum kern_red r, weft_dtype t, void *older, const void *newer, int64_t n) {
    kern_red_kind(r, t)->combine(older, newer, n);
}
void kern_red_leaf(enum kern_red r, weft_dtype t, void *lanes, const void *x, int64_t count,
                   int64_t first) {
    assert(count <= KERN_RED_RUN);
    kern_red_kind(r, t)->leaf(lanes, x, count, first);
}
void kern_red_begin(enum kern_red r, weft_dtype t, void *lanes, const void *x, int64_t count,
                    int64_t first) {
    const struct red_kind *k = kern_red_kind(r, t);
    const int n = kern_red_is_arg(r) ? RED_ARG_LANES : kern_red_lanes(t);
    if (k->begin && count >= n) {
        k->begin(lanes, x, count);
        return;
    }
    kern_red_identity(r, t, lanes, n);
    k->leaf(lanes, x, count, first);
}
// The identity combined with an element is that element, but for bool, which becomes 0 or 1.
void kern_red_begin_row(enum kern_red r, weft_dtype t, void *state, const void *x, int64_t n,
                        int64_t e) {
    if (!kern_red_is_arg(r) && t != WEFT_BOOL) {
        memcpy(state, x, (size_t)n * dtype_size(t));
        return;
    }
    kern_red_identity(r, t, state, n);
    kern_red_kind(r, t)->row(state, x, n, e);
}
void kern_red_row(enum kern_red r, weft_dtype t, void *state, const void *x, int64_t n, int64_t e) {
    kern_red_kind(r, t)->row(state, x, n, e);
}
void kern_red_fold(enum kern_red r, weft_dtype t, const void *lanes, void *out) {
    kern_red_kind(r, t)->fold(lanes, out);
}

void kern_red_columns(enum kern_red r, weft_dtype t, const void *state, void *out, int64_t n) {
    (void)r;
    const char *index = (const char *)state + values_bytes(t, n);
    for (int64_t i = 0; i < n; i++) {
        int64_t k;
        memcpy(&k, index + 8 * i, sizeof k);
        k = k == INT64_MAX ? -1 : k;
        memcpy((char *)out + 8 * i, &k, sizeof k);
    }
}

// ---- the counter
// ------------------------------------------------------------------------------------------- The
// stack holds one state per bit set in the number of states pushed, largest first.

void *kern_red_slot(enum kern_red r, weft_dtype t, void *stack, int64_t n, uint64_t index) {
    return (char *)stack + kern_red_state(r, t, n) * (size_t)__builtin_popcountll(index);
}

void kern_red_carry(enum kern_red r, weft_dtype t, void *stack, int64_t n, uint64_t index) {
    if (!(index & 1)) return;
    const size_t bytes = kern_red_state(r, t, n);
    void (*combine)(void *, const void *, int64_t) = kern_red_kind(r, t)->combine;
    char *top = kern_red_slot(r, t, stack, n, index);
    for (; index & 1; index >>= 1, top -= bytes)
        combine(top - bytes, top, n);
}

void kern_red_push(enum kern_red r, weft_dtype t, void *stack, const void *state, int64_t n,
                   uint64_t index) {
    const size_t bytes = kern_red_state(r, t, n);
    char *top = (char *)stack + bytes * (size_t)__builtin_popcountll(index);
    if (!(index & 1)) {
        memcpy(top, state, bytes);
        return;
    }
    void (*combine)(void *, const void *, int64_t) = kern_red_kind(r, t)->combine;
    top -= bytes;
    combine(top, state, n);
    for (index >>= 1; index & 1; index >>= 1, top -= bytes)
        combine(top - bytes, top, n);
}

void kern_red_flush(enum kern_red r, weft_dtype t, void *stack, void *total, int64_t n,
                    uint64_t count) {
    const size_t bytes = kern_red_state(r, t, n);
    if (!count) {
        kern_red_identity(r, t, total, n);
        return;
    }
    char *top = (char *)stack + bytes * (size_t)(__builtin_popcountll(count) - 1);
    for (; top != stack; top -= bytes)
        kern_red_kind(r, t)->combine(top - bytes, top, n);
    if (total != stack) memcpy(total, stack, bytes);
}
