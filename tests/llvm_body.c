// SPDX-License-Identifier: MIT
// Bodies built by hand, and an evaluator that shares nothing with the code generator but ops.def: elements
// one by one in C, reductions by collecting the whole run and applying the tree as kern.h words it.
#include "llvm_body.h"

#include <stdlib.h>

#include "ir/scalar.h"

// ---- building ------------------------------------------------------------------------------------------
void body_begin(struct body *b, enum nest_mode mode) {
    memset(b, 0, sizeof *b);
    b->seg.mode = mode;
}

void body_section(struct body *b, enum seg_kind kind) {
    struct seg_section *s = &b->section[b->seg.nsection++];
    *s = (struct seg_section){.kind = (uint8_t)kind, .begin = (uint16_t)b->seg.nop, .end = (uint16_t)b->seg.nop};
}

int body_operand(struct body *b, weft_dtype t, enum nest_class cls, bool out, bool late) {
    b->operand[b->seg.noperand] =
        (struct nest_operand){.dtype = (uint8_t)t, .cls = (uint8_t)cls, .out = out, .late = late};
    return b->seg.noperand++;
}

static int add(struct body *b, struct seg_op op) {
    b->op[b->seg.nop] = op;
    b->section[b->seg.nsection - 1].end++;
    return b->seg.nop++;
}

int body_load(struct body *b, int operand) {
    uint8_t t = b->operand[operand].dtype;
    return add(b, (struct seg_op){.op = SEG_LOAD, .dtype = t, .in_type = t, .arg = {(uint16_t)operand}});
}

int body_op(struct body *b, enum ir_op op, weft_dtype dtype, weft_dtype in, int x, int y, int z) {
    return add(b, (struct seg_op){.op = (uint8_t)op, .dtype = (uint8_t)dtype, .in_type = (uint8_t)in,
                                  .arg = {(uint16_t)x, (uint16_t)y, (uint16_t)z}});
}

void body_store(struct body *b, int value, int operand) {
    uint8_t t = b->op[value].dtype;
    add(b, (struct seg_op){.op = SEG_STORE, .dtype = t, .in_type = t,
                           .arg = {(uint16_t)value, (uint16_t)operand}});
}

int body_reduce(struct body *b, int value, enum kern_red r) {
    uint8_t t = b->op[value].dtype;
    b->seg.nreduce++;
    return add(b, (struct seg_op){.op = SEG_REDUCE, .dtype = kern_red_is_arg(r) ? WEFT_I64 : t, .in_type = t,
                                  .arg = {(uint16_t)value, (uint16_t)r}});
}

const struct seg *body_seg(struct body *b) {
    b->seg.op = b->op;
    b->seg.section = b->section;
    b->seg.operand = b->operand;
    return &b->seg;
}

// ---- facts of ops.def ------------------------------------------------------------------------------------
#define ROW_LIGHT false
#define ROW_HEAVY true
#define FAMILY_LIGHT(name) KERN_FAMILY__N
#define FAMILY_HEAVY(name) KERN_F_##name
static const struct {
    uint8_t arity, rule, family;
    bool heavy;
} facts[IR_OP__N] = {
#define MAP(name, arity, rule, kernel, ...)                                                        \
    [IR_##name] = {arity, RULE_##rule, FAMILY_##kernel(name), ROW_##kernel},
#include "ir/ops.def"
};

int body_arity(enum ir_op op) { return facts[op].arity; }
enum ir_rule body_rule(enum ir_op op) { return (enum ir_rule)facts[op].rule; }
bool body_heavy(enum ir_op op) { return facts[op].heavy; }
enum kern_family body_family(enum ir_op op) { return (enum kern_family)facts[op].family; }

// the words NA and KERN as they stand in a column
static bool is_na(const char *meaning) { return strcmp(meaning, "NA") == 0; }
bool body_defined(enum ir_op op, weft_dtype in) {
    switch (op) {
#define MAP(name, arity, rule, kernel, flt, integer, boolean, doc)                                 \
    case IR_##name:                                                                                \
        return !is_na(dtype_is_float(in) ? #flt : in == WEFT_BOOL ? #boolean : #integer) && arity > 0;
#include "ir/ops.def"
    default: return false;
    }
}

// ---- one operation ---------------------------------------------------------------------------------------
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wunused-value"
#define KERN 0
#define NA 0
#define CAST 0
#define REF_TO_ARITH(e) r = (T)(e)
#define REF_TO_FLOAT(e) r = (T)(e)
#define REF_TO_INTS(e) r = (T)(e)
#define REF_TO_SHIFT(e) r = (T)(e)
#define REF_TO_KEEP(e) r = (T)(e)
#define REF_TO_WHERE(e) r = (T)(e)
#define REF_TO_CAST(e) r = (T)(e)
#define REF_TO_WORD(e) r = (T)(e)
#define REF_TO_COMPARE(e) to_bool = true, truth = (uint8_t)(e)
#define REF_TO_LOGIC(e) to_bool = true, truth = (uint8_t)(e)
#define REF_TO_PRED(e) to_bool = true, truth = (uint8_t)(e)

#define REF_READ(v) (v)
#define REF_PICK(flt, integer, boolean) flt
#define REF_T double
#define REF_W uint64_t
#define REF_NAME ref_f64
#include "llvm_ref.inc"
#define REF_T float
#define REF_W uint32_t
#define REF_NAME ref_f32
#include "llvm_ref.inc"
#undef REF_PICK
#define REF_PICK(flt, integer, boolean) integer
#define REF_T int8_t
#define REF_W uint32_t
#define REF_NAME ref_i8
#include "llvm_ref.inc"
#define REF_T int16_t
#define REF_W uint32_t
#define REF_NAME ref_i16
#include "llvm_ref.inc"
#define REF_T int32_t
#define REF_W uint32_t
#define REF_NAME ref_i32
#include "llvm_ref.inc"
#define REF_T int64_t
#define REF_W uint64_t
#define REF_NAME ref_i64
#include "llvm_ref.inc"
#define REF_T uint8_t
#define REF_W uint32_t
#define REF_NAME ref_u8
#include "llvm_ref.inc"
#define REF_T uint16_t
#define REF_W uint32_t
#define REF_NAME ref_u16
#include "llvm_ref.inc"
#define REF_T uint32_t
#define REF_W uint32_t
#define REF_NAME ref_u32
#include "llvm_ref.inc"
#define REF_T uint64_t
#define REF_W uint64_t
#define REF_NAME ref_u64
#include "llvm_ref.inc"
#undef REF_PICK
#undef REF_READ
#define REF_PICK(flt, integer, boolean) boolean
#define REF_READ(v) ((v) != 0)
#define REF_T uint8_t
#define REF_W uint32_t
#define REF_NAME ref_bool
#include "llvm_ref.inc"
#pragma GCC diagnostic pop

// float to integer truncates and saturates, NaN gives 0
static uint64_t saturate(double v, weft_dtype to) {
    int bits = (int)dtype_size(to) * 8;
    bool sign = dtype_is_signed(to);
    double above = ldexp(1.0, sign ? bits - 1 : bits);
    uint64_t max = UINT64_MAX >> (64 - bits + sign), min = sign ? ~max : 0;
    if (v != v) return 0;
    if (v >= above) return max;
    if (sign) return v < -above ? min : (uint64_t)(int64_t)v;
    return v <= 0 ? 0 : (uint64_t)v;
}

static uint64_t integer_at(weft_dtype t, const void *p) {
    uint64_t u = 0;
    int shift = 64 - (int)dtype_size(t) * 8;
    memcpy(&u, p, dtype_size(t));
    if (t == WEFT_BOOL) return u != 0;
    return dtype_is_signed(t) ? (uint64_t)((int64_t)(u << shift) >> shift) : u;
}

static void ref_cast(weft_dtype from, weft_dtype to, const void *x, void *out) {
    float f = 0;
    double d = 0;
    if (from == WEFT_F32) memcpy(&f, x, 4), d = (double)f;
    if (from == WEFT_F64) memcpy(&d, x, 8), f = (float)d;
    uint64_t u = dtype_is_float(from) ? 0 : integer_at(from, x);
    if (!dtype_is_float(from)) {
        d = dtype_is_signed(from) ? (double)(int64_t)u : (double)u;
        f = dtype_is_signed(from) ? (float)(int64_t)u : (float)u;
    } else if (to != WEFT_BOOL && !dtype_is_float(to)) {
        u = saturate(d, to);
    }
    uint8_t truth = dtype_is_float(from) ? d != 0 : u != 0;
    if (to == WEFT_F64)
        memcpy(out, &d, 8);
    else if (to == WEFT_F32)
        memcpy(out, &f, 4);
    else
        memcpy(out, to == WEFT_BOOL ? (void *)&truth : (void *)&u, dtype_size(to));
}

void ref_op(const struct seg_op *op, const void *x, const void *y, const void *z, void *out) {
    typedef void ref_fn(const struct seg_op *, const void *, const void *, const void *, void *);
    static ref_fn *const by_type[WEFT_DTYPE__N] = {ref_bool, ref_i8,  ref_i16, ref_i32, ref_i64, ref_u8,
                                                   ref_u16,  ref_u32, ref_u64, ref_f32, ref_f64};
    if (op->op == IR_cast) {
        ref_cast((weft_dtype)op->in_type, (weft_dtype)op->dtype, x, out);
    } else if (facts[op->op].heavy) {
        const struct kern_row *k =
            kern_find(body_family((enum ir_op)op->op), (weft_dtype)op->in_type, KERN_BASE);
        if (!k) abort();
        k->fn(out, x, y, 1);
    } else {
        by_type[op->in_type](op, x, y, z, out);
    }
}

// ---- a tile --------------------------------------------------------------------------------------------------
union cell {
    uint64_t bits;
    unsigned char bytes[8];
};
struct run { // every element a reduction has met, for one result
    union cell *at;
    int64_t n;
};
struct eval {
    const struct seg *s;
    const struct tile *t;
    union cell *value;     // per instruction
    struct run *run;       // per instruction [x columns in OUTER]
    int64_t row;
};

static void *address(struct eval *e, int operand, int64_t col) {
    const struct nest_operand *o = &e->s->operand[operand];
    char *p = e->t->ptr[operand];
    if (!o->late) p += e->row * e->t->rstride[operand];
    return o->cls == NEST_UNIT ? p + col * (int64_t)dtype_size((weft_dtype)o->dtype) : p;
}

static void push(struct run *r, union cell v) {
    if ((r->n & (r->n - 1)) == 0) {
        r->at = realloc(r->at, (size_t)(r->n ? 2 * r->n : 1) * sizeof *r->at);
        if (!r->at) abort();
    }
    r->at[r->n++] = v;
}

static void eval_op(struct eval *e, int i, int64_t col) {
    const struct seg_op *op = &e->s->op[i];
    union cell *v = e->value;
    if (op->op == SEG_LOAD) {
        v[i].bits = 0;
        memcpy(v[i].bytes, address(e, op->arg[0], col), dtype_size((weft_dtype)op->dtype));
        if (op->dtype == WEFT_BOOL) v[i].bits = v[i].bits != 0;
    } else if (op->op == SEG_REDUCE) {
        push(&e->run[i * (e->s->mode == NEST_OUTER ? e->t->cols : 1) + (e->s->mode == NEST_OUTER ? col : 0)],
             v[op->arg[0]]);
    } else {
        union cell r = {0}, *y = &v[op->arg[1]], *z = &v[op->arg[2]];
        ref_op(op, v[op->arg[0]].bytes, y->bytes, z->bytes, r.bytes);
        v[i] = r;
    }
}

// stores last, as the contract of in-place outputs wants
static void eval_section(struct eval *e, const struct seg_section *sec, int64_t col) {
    for (int i = sec->begin; i < sec->end; i++)
        if (e->s->op[i].op != SEG_STORE) eval_op(e, i, col);
    for (int i = sec->begin; i < sec->end; i++) {
        const struct seg_op *op = &e->s->op[i];
        if (op->op == SEG_STORE)
            memcpy(address(e, op->arg[1], col), e->value[op->arg[0]].bytes, dtype_size((weft_dtype)op->dtype));
    }
}

static union cell identity(enum kern_red r, weft_dtype t) {
    union cell c = {0};
    _Alignas(64) unsigned char state[128];
    kern_red_identity(r, t, state, 1);
    memcpy(c.bytes, state, dtype_size(t));
    return c;
}

static union cell combine(enum kern_red r, weft_dtype t, union cell a, union cell b) {
    static const uint8_t code[] = {IR_add, IR_mul, IR_minimum, IR_maximum, IR_fmin, IR_fmax, IR_add, IR_mul};
    struct seg_op op = {.op = code[r], .dtype = (uint8_t)t, .in_type = (uint8_t)t};
    union cell out = {0};
    ref_op(&op, a.bytes, b.bytes, b.bytes, out.bytes);
    return out;
}

// leaves [first, first + n) of a run, n a power of two or what is left: one vector of lanes
static void leaf_lanes(const struct run *u, enum kern_red r, weft_dtype t, int lanes, int64_t leaf, int64_t k,
                       union cell *out) {
    for (int l = 0; l < lanes; l++)
        out[l] = identity(r, t);
    for (int64_t i = k * leaf; i < u->n && i < (k + 1) * leaf; i++)
        out[i % leaf % lanes] = combine(r, t, out[i % leaf % lanes], u->at[i]);
}

// The counter as a recursion: the leaves split at the largest power of two below their number; a power of
// two splits in halves.
static void tree(const struct run *u, enum kern_red r, weft_dtype t, int lanes, int64_t leaf, int64_t k,
                 int64_t n, union cell *out) {
    if (n == 1) {
        leaf_lanes(u, r, t, lanes, leaf, k, out);
        return;
    }
    int64_t half = 1;
    while (half * 2 < n)
        half *= 2;
    union cell newer[64];
    tree(u, r, t, lanes, leaf, k, half, out);
    tree(u, r, t, lanes, leaf, k + half, n - half, newer);
    for (int l = 0; l < lanes; l++)
        out[l] = combine(r, t, out[l], newer[l]);
}

static bool beats(enum kern_red r, weft_dtype t, union cell a, union cell b) {
    struct seg_op op = {.op = r == KERN_ARGMIN || r == KERN_NANARGMIN ? IR_less : IR_greater,
                        .dtype = WEFT_BOOL, .in_type = (uint8_t)t};
    union cell out = {0};
    ref_op(&op, a.bytes, b.bytes, b.bytes, out.bytes);
    return out.bits;
}

static bool cell_nan(weft_dtype t, union cell c) {
    struct seg_op op = {.op = IR_isnan, .dtype = WEFT_BOOL, .in_type = (uint8_t)t};
    union cell out = {0};
    ref_op(&op, c.bytes, c.bytes, c.bytes, out.bytes);
    return out.bits;
}

static int64_t position(const struct run *u, enum kern_red r, weft_dtype t, int64_t first) {
    int64_t best = -1;
    for (int64_t i = 0; i < u->n; i++) {
        bool nan = cell_nan(t, u->at[i]);
        if (nan && r <= KERN_ARGMAX) return first + i;
        if (!nan && (best < 0 || beats(r, t, u->at[i], u->at[best]))) best = i;
    }
    return best < 0 ? -1 : first + best;
}

static union cell result(struct eval *e, int i, struct run *u, bool inner) {
    const struct seg_op *op = &e->s->op[i];
    enum kern_red r = (enum kern_red)op->arg[1];
    weft_dtype t = (weft_dtype)op->in_type;
    union cell out[64] = {{0}};
    int lanes = inner ? kern_red_lanes(t) : 1;
    int64_t leaf = inner ? KERN_RED_RUN : KERN_RED_ROWS;
    if (kern_red_is_arg(r)) {
        out[0].bits = (uint64_t)position(u, r, t, e->t->first);
        return out[0];
    }
    tree(u, r, t, lanes, leaf, 0, MAX_OF((u->n + leaf - 1) / leaf, 1), out);
    for (int w = lanes / 2; w >= 1; w /= 2)
        for (int l = 0; l < w; l++)
            out[l] = combine(r, t, out[l], out[l + w]);
    return out[0];
}

static void inner_results(struct eval *e, const struct seg_section *sec) {
    for (int i = sec->begin; i < sec->end; i++)
        if (e->s->op[i].op == SEG_REDUCE) e->value[i] = result(e, i, &e->run[i], true);
}

static void eval_row(struct eval *e) {
    for (int k = 0; k < e->s->nsection; k++) {
        const struct seg_section *sec = &e->s->section[k];
        if (sec->kind == SEG_FIN) continue;
        if (sec->kind == SEG_ROW) eval_section(e, sec, 0);
        for (int64_t c = 0; sec->kind == SEG_ELEM && c < e->t->cols; c++)
            eval_section(e, sec, c);
        if (e->s->mode == NEST_INNER) inner_results(e, sec);
    }
}

static void eval_fin(struct eval *e) {
    for (int64_t c = 0; c < e->t->cols; c++) {
        for (int i = 0; i < e->s->nop; i++)
            if (e->s->op[i].op == SEG_REDUCE) e->value[i] = result(e, i, &e->run[i * e->t->cols + c], false);
        for (int k = 0; k < e->s->nsection; k++)
            if (e->s->section[k].kind == SEG_FIN) eval_section(e, &e->s->section[k], c);
    }
}

void ref_tile(const struct seg *s, const struct tile *t) {
    size_t nrun = (size_t)s->nop * (size_t)(s->mode == NEST_OUTER ? t->cols : 1) + 1;
    struct eval e = {s, t, calloc((size_t)s->nop + 1, sizeof(union cell)), calloc(nrun, sizeof(struct run)), 0};
    if (!e.value || !e.run) abort();
    for (e.row = 0; e.row < t->rows; e.row++) {
        for (size_t i = 0; s->mode == NEST_INNER && i < nrun; i++)
            e.run[i].n = 0;
        eval_row(&e);
    }
    if (s->mode == NEST_OUTER) eval_fin(&e);
    for (size_t i = 0; i < nrun; i++)
        free(e.run[i].at);
    free(e.value);
    free(e.run);
}
