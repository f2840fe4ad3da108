// SPDX-License-Identifier: MIT
// A body run the slow way: one element and one operation at a time, whole rows in memory, no
// strips. The scalar meanings are those of ops.def, except casts, which are computed through long
// double.
#ifndef WEFT_TESTS_INTERP_MODEL_H
#define WEFT_TESTS_INTERP_MODEL_H

#include "guard.h"
#include "jit/strips/meaning.h"
#include "nest.h"

typedef void scalar_fn(const void *a, const void *b, const void *c, void *out);

#define RES_ARITH(T) T
#define RES_FLOAT(T) T
#define RES_INTS(T) T
#define RES_SHIFT(T) T
#define RES_KEEP(T) T
#define RES_WHERE(T) T
#define RES_LOGIC(T) T
#define RES_CAST(T) T
#define RES_WORD(T) T
#define RES_COMPARE(T) uint8_t
#define RES_PRED(T) uint8_t
#define COND_ARITH(T) T
#define COND_FLOAT(T) T
#define COND_INTS(T) T
#define COND_SHIFT(T) T
#define COND_KEEP(T) T
#define COND_WHERE(T) uint8_t
#define COND_LOGIC(T) T
#define COND_CAST(T) T
#define COND_WORD(T) T
#define COND_COMPARE(T) T
#define COND_PRED(T) T

#define MODEL_INCLUDE "interp_model_type.inc"
#define MEANING(flt, integer, boolean) flt
#define T float
#define W uint64_t
#define SFX f32
#include MODEL_INCLUDE
#define T double
#define W uint64_t
#define SFX f64
#include MODEL_INCLUDE
#undef MEANING
#define MEANING(flt, integer, boolean) integer
#define T int8_t
#define W uint32_t
#define SFX i8
#include MODEL_INCLUDE
#define T int16_t
#define W uint32_t
#define SFX i16
#include MODEL_INCLUDE
#define T int32_t
#define W uint32_t
#define SFX i32
#include MODEL_INCLUDE
#define T int64_t
#define W uint64_t
#define SFX i64
#include MODEL_INCLUDE
#define T uint8_t
#define W uint32_t
#define SFX u8
#include MODEL_INCLUDE
#define T uint16_t
#define W uint32_t
#define SFX u16
#include MODEL_INCLUDE
#define T uint32_t
#define W uint32_t
#define SFX u32
#include MODEL_INCLUDE
#define T uint64_t
#define W uint64_t
#define SFX u64
#include MODEL_INCLUDE
#undef MEANING
#define MEANING(flt, integer, boolean) boolean
#define T uint8_t
#define W uint32_t
#define SFX b8
#include MODEL_INCLUDE
#undef MEANING

static inline scalar_fn *model_find(enum ir_op op, weft_dtype in) {
    static scalar_fn *(*const find[WEFT_DTYPE__N])(enum ir_op) = {
        [WEFT_BOOL] = model_find_b8, [WEFT_I8] = model_find_i8,   [WEFT_I16] = model_find_i16,
        [WEFT_I32] = model_find_i32, [WEFT_I64] = model_find_i64, [WEFT_U8] = model_find_u8,
        [WEFT_U16] = model_find_u16, [WEFT_U32] = model_find_u32, [WEFT_U64] = model_find_u64,
        [WEFT_F32] = model_find_f32, [WEFT_F64] = model_find_f64};
    return find[in](op);
}

enum model_rule {
    MR_ARITH,
    MR_FLOAT,
    MR_INTS,
    MR_SHIFT,
    MR_COMPARE,
    MR_LOGIC,
    MR_PRED,
    MR_KEEP,
    MR_WHERE,
    MR_CAST,
    MR_WORD
};
static const struct {
    const char *name;
    uint8_t arity, rule, family;
} model_ops[IR_OP__N] = {
#define FAMILY_LIGHT(name) KERN_FAMILY__N
#define FAMILY_HEAVY(name) KERN_F_##name
#define MAP(name, arity, rule, kernel, ...)                                                        \
    [IR_##name] = {#name, arity, MR_##rule, FAMILY_##kernel(name)},
#include "ir/ops.def"
};
static inline bool gives_bool(enum ir_op op) {
    return model_ops[op].rule == MR_COMPARE || model_ops[op].rule == MR_PRED ||
           model_ops[op].rule == MR_LOGIC;
}

// Conversion by way of long double, which holds every value of every type.
static inline long double model_number(weft_dtype t, const void *p) {
    union {
        int8_t b;
        int16_t h;
        int32_t w;
        int64_t l;
        uint8_t ub;
        uint16_t uh;
        uint32_t uw;
        uint64_t ul;
        float f;
        double d;
    } v;
    memcpy(&v, p, dtype_size(t));
    switch (t) {
    case WEFT_BOOL: return v.ub != 0;
    case WEFT_I8: return v.b;
    case WEFT_I16: return v.h;
    case WEFT_I32: return v.w;
    case WEFT_I64: return (long double)v.l;
    case WEFT_U8: return v.ub;
    case WEFT_U16: return v.uh;
    case WEFT_U32: return v.uw;
    case WEFT_U64: return (long double)v.ul;
    case WEFT_F32: return (long double)v.f;
    default: return (long double)v.d;
    }
}
static inline uint64_t model_saturate(weft_dtype out, long double v) {
    const int bits = 8 * (int)dtype_size(out);
    const long double lowest = dtype_is_signed(out) ? -ldexpl(1, bits - 1) : 0;
    const long double highest = ldexpl(1, dtype_is_signed(out) ? bits - 1 : bits) - 1;
    if (isnan(v)) return 0;
    v = truncl(v);
    v = v < lowest ? lowest : v > highest ? highest : v;
    return v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
}
static inline void model_cast(weft_dtype in, weft_dtype out, const void *a, void *to) {
    const long double v = model_number(in, a);
    uint64_t u = 0;
    float f = (float)v;
    double d = (double)v;
    if (out == WEFT_BOOL) {
        u = v != 0;
    } else if (dtype_is_int(out) && dtype_is_float(in)) {
        u = model_saturate(out, v);
    } else if (dtype_is_int(out)) { // wraps: the low bits of the 64-bit value
        u = v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
    } else {
        memcpy(&u, out == WEFT_F32 ? (void *)&f : (void *)&d, dtype_size(out));
    }
    memcpy(to, &u, dtype_size(out));
}

// One operation on one element.
static inline void model_apply(const struct seg_op *o, const void *a, const void *b, const void *c,
                               void *out) {
    if (o->op == IR_cast) {
        model_cast((weft_dtype)o->in_type, (weft_dtype)o->dtype, a, out);
        return;
    }
    scalar_fn *f = model_find((enum ir_op)o->op, (weft_dtype)o->in_type);
    if (f) {
        f(a, b, c, out);
        return;
    }
    const struct kern_row *row =
        kern_find((enum kern_family)model_ops[o->op].family, (weft_dtype)o->in_type, KERN_BASE);
    cr_assert(row, "%s %s has no meaning", model_ops[o->op].name,
              dtype_name((weft_dtype)o->in_type));
    row->fn(out, a, b, 1);
}

// ---- whole bodies
// -------------------------------------------------------------------------------------------
struct model {
    const struct seg *s;
    const struct tile *t;
    unsigned char **v; // per value: one element, or one a column
    bool *wide;
};

static inline void *model_at(const struct model *m, uint32_t v, int64_t c) {
    return m->v[v] + (m->wide[v] ? c : 0) * (int64_t)dtype_size((weft_dtype)m->s->op[v].dtype);
}
static inline unsigned char *model_operand(const struct model *m, uint32_t o, int64_t row,
                                           int64_t c) {
    const struct nest_operand *d = &m->s->operand[o];
    return (unsigned char *)m->t->ptr[o] + (d->late ? 0 : row * m->t->rstride[o]) +
           (d->cls == NEST_UNIT ? c * (int64_t)dtype_size((weft_dtype)d->dtype) : 0);
}

static inline void model_section(const struct model *m, const struct seg_section *s, int64_t row,
                                 int64_t cols) {
    for (uint32_t v = s->begin; v < s->end; v++) {
        const struct seg_op *o = &m->s->op[v];
        m->wide[v] = s->kind != SEG_ROW;
        if (o->op == SEG_REDUCE || o->op == SEG_STORE) continue;
        for (int64_t c = 0; c < cols; c++) {
            unsigned char *out = model_at(m, v, c);
            if (o->op == SEG_LOAD) {
                memcpy(out, model_operand(m, o->arg[0], row, c), dtype_size((weft_dtype)o->dtype));
                if (o->dtype == WEFT_BOOL) *out = *out != 0;
            } else {
                model_apply(o, model_at(m, o->arg[0], c), model_at(m, o->arg[1], c),
                            model_at(m, o->arg[2], c), out);
            }
        }
    }
    for (uint32_t v = s->begin; v < s->end; v++) {
        const struct seg_op *o = &m->s->op[v];
        for (int64_t c = 0; o->op == SEG_STORE && c < cols; c++)
            memcpy(model_operand(m, o->arg[1], row, c), model_at(m, o->arg[0], c),
                   dtype_size((weft_dtype)o->dtype));
    }
}

// a reduction of value v over the columns, leaf by leaf
static inline void model_inner(const struct model *m, uint32_t v, int64_t cols) {
    static _Alignas(64) unsigned char lanes[1024], stack[64 * 1024];
    const struct seg_op *o = &m->s->op[v];
    const enum kern_red r = (enum kern_red)o->arg[1];
    const weft_dtype t = (weft_dtype)o->in_type;
    const int L = kern_red_is_arg(r) ? 32 : kern_red_lanes(t);
    unsigned char *x = malloc((size_t)cols * 8 + 8);
    cr_assert(x);
    for (int64_t c = 0; c < cols; c++)
        memcpy(x + (size_t)c * dtype_size(t), model_at(m, o->arg[0], c), dtype_size(t));
    uint64_t leaves = 0;
    for (int64_t c = 0; c < cols; c += KERN_RED_RUN, leaves++) {
        kern_red_identity(r, t, lanes, L);
        kern_red_leaf(r, t, lanes, x + (size_t)c * dtype_size(t), MIN_OF(KERN_RED_RUN, cols - c),
                      c);
        kern_red_push(r, t, stack, lanes, L, leaves);
    }
    kern_red_flush(r, t, stack, lanes, L, leaves);
    m->wide[v] = false;
    kern_red_fold(r, t, lanes, m->v[v]);
    if (cols == 0 && r == KERN_SUM) memset(m->v[v], 0, dtype_size(t));
    free(x);
}

// one row more of a reduction over rows, of all columns, into its state
struct model_outer {
    unsigned char *leaf, *stack;
};
static inline void model_outer_row(const struct model *m, uint32_t v, struct model_outer *k,
                                   int64_t row) {
    const struct seg_op *o = &m->s->op[v];
    const enum kern_red r = (enum kern_red)o->arg[1];
    const weft_dtype t = (weft_dtype)o->in_type;
    const int64_t cols = m->t->cols;
    unsigned char *x = malloc((size_t)cols * 8 + 8);
    for (int64_t c = 0; c < cols; c++)
        memcpy(x + (size_t)c * dtype_size(t), model_at(m, o->arg[0], c), dtype_size(t));
    if (row % KERN_RED_ROWS == 0) kern_red_identity(r, t, k->leaf, cols);
    kern_red_row(r, t, k->leaf, x, cols, row);
    if ((row + 1) % KERN_RED_ROWS == 0 || row + 1 == m->t->rows)
        kern_red_push(r, t, k->stack, k->leaf, cols, (uint64_t)(row / KERN_RED_ROWS));
    free(x);
}
static inline void model_outer_end(const struct model *m, uint32_t v, struct model_outer *k) {
    const struct seg_op *o = &m->s->op[v];
    const enum kern_red r = (enum kern_red)o->arg[1];
    const weft_dtype t = (weft_dtype)o->in_type;
    const int64_t cols = m->t->cols;
    kern_red_flush(r, t, k->stack, k->leaf, cols,
                   (uint64_t)((m->t->rows + KERN_RED_ROWS - 1) / KERN_RED_ROWS));
    m->wide[v] = true;
    if (kern_red_is_arg(r))
        kern_red_columns(r, t, k->leaf, m->v[v], cols);
    else if (m->t->rows == 0 && r == KERN_SUM)
        memset(m->v[v], 0, (size_t)cols * dtype_size(t));
    else
        memcpy(m->v[v], k->leaf, (size_t)cols * dtype_size(t));
}

static inline void model_rows(const struct model *m, struct model_outer *outer) {
    const struct seg *s = m->s;
    for (int64_t row = 0; row < m->t->rows; row++)
        for (int i = 0; i < s->nsection; i++) {
            const struct seg_section *p = &s->section[i];
            if (p->kind == SEG_FIN) continue;
            model_section(m, p, row, p->kind == SEG_ROW ? 1 : m->t->cols);
            for (uint32_t v = p->begin; v < p->end; v++) {
                if (s->op[v].op != SEG_REDUCE) continue;
                if (s->mode == NEST_INNER)
                    model_inner(m, v, m->t->cols);
                else
                    model_outer_row(m, v, &outer[v], row);
            }
        }
}

// A whole tile in mode FULL.
static inline void model_run(const struct seg *s, const struct tile *t) {
    struct model m = {s, t, calloc((size_t)s->nop, sizeof(void *)), calloc((size_t)s->nop, 1)};
    struct model_outer *outer = calloc((size_t)s->nop, sizeof *outer);
    for (int i = 0; i < s->nop; i++) {
        m.v[i] = malloc((size_t)MAX_OF(t->cols, 1) * 8);
        if (s->op[i].op != SEG_REDUCE || s->mode != NEST_OUTER) continue;
        const size_t state =
            kern_red_state((enum kern_red)s->op[i].arg[1], (weft_dtype)s->op[i].in_type, t->cols);
        outer[i].leaf = aligned_alloc(64, (state + 127) / 64 * 64);
        outer[i].stack = aligned_alloc(64, (state + 63) / 64 * 64 * 16);
    }
    model_rows(&m, outer);
    for (int i = 0; s->mode == NEST_OUTER && i < s->nop; i++)
        if (s->op[i].op == SEG_REDUCE) model_outer_end(&m, (uint32_t)i, &outer[i]);
    for (int i = 0; i < s->nsection; i++)
        if (s->section[i].kind == SEG_FIN) model_section(&m, &s->section[i], 0, t->cols);
    for (int i = 0; i < s->nop; i++) {
        free(m.v[i]);
        free(outer[i].leaf);
        free(outer[i].stack);
    }
    free(m.v);
    free(m.wide);
    free(outer);
}

#endif
