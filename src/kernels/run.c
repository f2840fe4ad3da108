// SPDX-License-Identifier: MIT
// Runs of unit stride through the assembly reductions. In: a row of kernels.def and a run; out: the
// state that the steps of kern.h, leaf by leaf, would leave (or an equal one where order does not
// show).
//
// The kernels take whole units only. What is left goes through the C steps: for trees the last
// leaf, pushed behind the others, for the rest up to 511 bytes of elements. An arg-reduction finds
// the best value of a block with the kernel of the plain extreme and looks for its place only if it
// beats what was best so far, which in data of any order happens a logarithm of times; so it costs
// little over the extreme.
#include "reduce/reduce.h"

#define RED(red, dtype, from, how, isa, symbol) extern kern_red_units symbol;
#include "kernels.def"

enum { // dtypes as kernels.def spells them
    RED_T_bool = WEFT_BOOL,
    RED_T_i8 = WEFT_I8,
    RED_T_i16 = WEFT_I16,
    RED_T_i32 = WEFT_I32,
    RED_T_i64 = WEFT_I64,
    RED_T_u8 = WEFT_U8,
    RED_T_u16 = WEFT_U16,
    RED_T_u32 = WEFT_U32,
    RED_T_u64 = WEFT_U64,
    RED_T_f32 = WEFT_F32,
    RED_T_f64 = WEFT_F64
};
static const struct kern_red_row rows[] = {
#define RED(red, dtype, from, how, isa, symbol)                                                    \
    {kern_red_run,    kern_red_outer, KERN_##red,  (weft_dtype)RED_T_##dtype, (weft_dtype)RED_T_##from,            \
     KERN_RED_##how,  KERN_##isa,  #symbol,                   symbol},
#include "kernels.def"
    {NULL, NULL, KERN_RED__N, WEFT_DTYPE__N, WEFT_DTYPE__N, KERN_RED_TREE, KERN_ISA__N, NULL, NULL}, // the end
};

// ---- what there is no kernel for: the steps
#define STEPS(r, t, f)                                                                             \
    {kern_red_run, kern_red_outer, KERN_##r, WEFT_##t, WEFT_##f, KERN_RED_STEPS, KERN_BASE, "steps", NULL}
#define SAME(r, t) [KERN_##r][WEFT_##t] = STEPS(r, t, t)
#define EVERY(r)                                                                                   \
    SAME(r, BOOL), SAME(r, I8), SAME(r, I16), SAME(r, I32), SAME(r, I64), SAME(r, U8),             \
        SAME(r, U16), SAME(r, U32), SAME(r, U64), SAME(r, F32), SAME(r, F64)
static const struct kern_red_row same[KERN_RED__N][WEFT_DTYPE__N] = {
    EVERY(SUM),       EVERY(PROD),   EVERY(MIN),    EVERY(MAX),       EVERY(FMIN),
    EVERY(FMAX),      EVERY(ARGMIN), EVERY(ARGMAX), EVERY(NANARGMIN), EVERY(NANARGMAX),
    SAME(ANY, BOOL),  SAME(ALL, BOOL),
};
static const struct kern_red_row widening[] = {
    STEPS(SUM, F64, F32), STEPS(SUM, I64, BOOL), STEPS(SUM, I64, I8),  STEPS(SUM, I64, I16),
    STEPS(SUM, I64, I32), STEPS(SUM, I64, U8),   STEPS(SUM, I64, U16), STEPS(SUM, I64, U32),
    STEPS(SUM, U64, U8),  STEPS(SUM, U64, U16),  STEPS(SUM, U64, U32),
};

const struct kern_red_row *kern_red_rows(size_t *n) {
    *n = COUNT_OF(rows) - 1;
    return rows;
}

const struct kern_red_row *kern_red_find(enum kern_red r, weft_dtype t, weft_dtype from,
                                         enum kern_isa isa) {
    const struct kern_red_row *best = NULL;
    for (size_t i = 0; i + 1 < COUNT_OF(rows); i++) {
        const struct kern_red_row *w = &rows[i];
        if (w->red != r || w->dtype != t || w->from != from || w->isa > isa) continue;
        if (!best || w->isa > best->isa) best = w;
    }
    if (best) return best;
    if (t == from) return same[r][t].run ? &same[r][t] : NULL;
    for (size_t i = 0; r == KERN_SUM && i < COUNT_OF(widening); i++)
        if (widening[i].dtype == t && widening[i].from == from) return &widening[i];
    return NULL;
}

// ---- leaves by their steps
static int64_t element(weft_dtype t, const char *p) {
    switch (t) {
    case WEFT_I8: return *(const int8_t *)p;
    case WEFT_U8: return *(const uint8_t *)p;
    case WEFT_BOOL: return *(const uint8_t *)p != 0;
    default: break;
    }
    int32_t v = 0;
    memcpy(&v, p, dtype_size(t));
    return t == WEFT_I16 ? (int16_t)v : t == WEFT_U32 ? (int64_t)(uint32_t)v : v;
}

// At most a leaf of elements as the reduction's dtype: x itself, or converted to room.
static const void *converted(const struct kern_red_row *w, const char *x, int64_t n, char *room) {
    if (w->from == w->dtype) return x;
    for (int64_t i = 0; i < n; i++) {
        float f;
        double d;
        if (w->from == WEFT_F32) {
            memcpy(&f, x + 4 * i, sizeof f);
            d = (double)f;
            memcpy(room + 8 * i, &d, sizeof d);
        } else {
            const int64_t v = element(w->from, x + i * (int64_t)dtype_size(w->from));
            memcpy(room + 8 * i, &v, sizeof v);
        }
    }
    return room;
}

// Leaves from number `leaf` on.
static void push_leaves(const struct kern_red_row *w, void *stack, const char *x, int64_t n,
                        int64_t leaf, int64_t first) {
    _Alignas(64) char room[KERN_RED_RUN * 8];
    const int lanes = kern_red_is_arg(w->red) ? RED_ARG_LANES : kern_red_lanes(w->dtype);
    const int64_t size = (int64_t)dtype_size(w->from);
    for (int64_t i = 0; i < n; i += KERN_RED_RUN) {
        const int64_t take = MIN_OF(n - i, KERN_RED_RUN);
        const uint64_t number = (uint64_t)(leaf + i / KERN_RED_RUN);
        void *slot = kern_red_slot(w->red, w->dtype, stack, lanes, number);
        kern_red_begin(w->red, w->dtype, slot, converted(w, x + i * size, take, room), take, first + i);
        kern_red_carry(w->red, w->dtype, stack, lanes, number);
    }
}

// ---- trees
static void run_tree(const struct kern_red_row *w, void *total, const char *x, int64_t n, void *stack) {
    const int64_t leaves = n / KERN_RED_RUN, whole = leaves * KERN_RED_RUN;
    if (leaves) w->fn(stack, x, (size_t)leaves);
    push_leaves(w, stack, x + whole * (int64_t)dtype_size(w->from), n - whole, leaves, 0);
    kern_red_flush(w->red, w->dtype, stack, total, kern_red_lanes(w->dtype),
                   (uint64_t)(leaves + (n > whole)));
}

static void run_steps(const struct kern_red_row *w, void *total, const char *x, int64_t n, int64_t first,
                      void *stack) {
    const int lanes = kern_red_is_arg(w->red) ? RED_ARG_LANES : kern_red_lanes(w->dtype);
    push_leaves(w, stack, x, n, 0, first);
    kern_red_flush(w->red, w->dtype, stack, total, lanes,
                   (uint64_t)((n + KERN_RED_RUN - 1) / KERN_RED_RUN));
}

// ---- any order
// ------------------------------------------------------------------------------------
enum { UNIT = 512 };

// Widening sums: the kernels see bytes as unsigned and 16 bits as signed, so many elements n of the
// other kind are off by a constant; the rest of the run is added one by one.
static void widen_rest(const struct kern_red_row *w, void *lanes, const char *x, int64_t done,
                       int64_t n) {
    const int64_t size = (int64_t)dtype_size(w->from);
    uint64_t sum;
    memcpy(&sum, lanes, sizeof sum);
    if (w->from == WEFT_I8) sum -= (uint64_t)done * 128;
    if (w->from == WEFT_U16) sum += (uint64_t)done * 32768;
    for (int64_t i = done; i < n; i++)
        sum += (uint64_t)element(w->from, x + i * size);
    memcpy(lanes, &sum, sizeof sum);
}

static void run_flat(const struct kern_red_row *w, void *lanes, const char *x, int64_t n) {
    const int64_t size = (int64_t)dtype_size(w->from), units = n * size / UNIT;
    int64_t done = units * (UNIT / size);
    if (units)
        w->fn(lanes, x, (size_t)units);
    else
        kern_red_identity(w->red, w->dtype, lanes, kern_red_lanes(w->dtype));
    if (w->from != w->dtype) {
        widen_rest(w, lanes, x, done, n);
        return;
    }
    for (; done < n; done += KERN_RED_RUN)
        kern_red_leaf(w->red, w->dtype, lanes, x + done * size, MIN_OF(n - done, KERN_RED_RUN), 0);
}

// ---- arg-reductions
// -------------------------------------------------------------------------------
enum {
    SEARCH = 16 << 10
}; // bytes of a block: it is in the first cache when its best is looked for

static enum kern_red extreme_of(enum kern_red r) {
    static const enum kern_red plain[] = {KERN_MIN, KERN_MAX, KERN_FMIN, KERN_FMAX};
    return plain[r - KERN_ARGMIN];
}

// The best of n elements and its lane: one element whose index is not known yet.
static void run_best(const struct kern_red_row *w, void *lanes, const char *x, int64_t n,
                     int64_t first) {
    const enum kern_red plain = extreme_of(w->red);
    const weft_dtype t = w->dtype;
    const struct red_kind *arg = kern_red_kind(w->red, t);
    const int64_t size = (int64_t)dtype_size(t), block = SEARCH / size;
    _Alignas(64) char values[512], seen[8];
    struct kern_red_row best = *w;
    best.red = plain;
    kern_red_identity(w->red, t, lanes, RED_ARG_LANES);
    for (int64_t i = 0; i < n; i += block) {
        const int64_t take = MIN_OF(n - i, block);
        run_flat(&best, values, x + i * size, take);
        kern_red_fold(plain, t, values, seen);
        arg->take(lanes, seen, x + i * size, take, first + i);
    }
}

void kern_red_run(const struct kern_red_row *row, void *lanes, const void *x, int64_t n,
                  int64_t first, void *stack) {
    switch (row->how) {
    case KERN_RED_TREE: run_tree(row, lanes, x, n, stack); return;
    case KERN_RED_FLAT: run_flat(row, lanes, x, n); return;
    case KERN_RED_BEST: run_best(row, lanes, x, n, first); return;
    case KERN_RED_STEPS: run_steps(row, lanes, x, n, first, stack); return;
    }
}

// ---- columns: two leaves make one state, and states of two leaves count as leaves do
void kern_red_outer(const struct kern_red_row *w, void *total, const void *x, int64_t rs, int64_t count,
                    int64_t n, void *stack) {
    enum { PAIR = 2 * KERN_RED_ROWS };
    const struct red_kind *k = kern_red_kind(w->red, w->dtype);
    const char *p = x;
    const int64_t pairs = count / PAIR;
    uint64_t leaf = 2 * (uint64_t)pairs;
    for (int64_t i = 0; i < pairs; i++, p += PAIR * rs) {
        k->pair(kern_red_slot(w->red, w->dtype, stack, n, (uint64_t)i), p, rs, n);
        kern_red_carry(w->red, w->dtype, stack, n, (uint64_t)i);
    }
    for (int64_t left = count - pairs * PAIR; left > 0; left -= KERN_RED_ROWS, leaf++) {
        void *slot = kern_red_slot(w->red, w->dtype, stack, n, leaf);
        for (int64_t r = 0; r < MIN_OF(left, KERN_RED_ROWS); r++, p += rs)
            if (r == 0)
                kern_red_begin_row(w->red, w->dtype, slot, p, n, 0);
            else
                k->row(slot, p, n, 0);
        kern_red_carry(w->red, w->dtype, stack, n, leaf);
    }
    kern_red_flush(w->red, w->dtype, stack, total, n, leaf);
}
