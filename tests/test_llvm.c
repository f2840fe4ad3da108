// SPDX-License-Identifier: MIT
// Machine code against meanings: every operation and type at every instruction set of this machine, all
// column counts to 130, misaligned, beside guard pages, in place; reductions against the tree; random
// bodies; and what the engine promises (sentences, memory that goes, no symbol from outside).
#include "llvm_run.h"

#include <stdio.h>
#include <time.h>

static const char *const isa_names[] = {"base", "avx2", "avx512"};
#define FOR_EACH_ISA(isa)                                                                          \
    for (enum kern_isa isa = KERN_BASE; isa <= kern_isa_detect(); isa++)

static int op_operand(struct body *b, enum ir_op op, weft_dtype in, int a) {
    weft_dtype t = op == IR_where && a == 0 ? WEFT_BOOL : in;
    return body_operand(b, t, NEST_UNIT, false, false);
}

// load each operand, one operation, store
static void one_op_body(struct body *b, enum ir_op op, weft_dtype dtype, weft_dtype in) {
    int v[3] = {0, 0, 0}, n = body_arity(op);
    body_begin(b, NEST_MAP);
    body_section(b, SEG_ELEM);
    for (int a = 0; a < n; a++)
        v[a] = body_load(b, op_operand(b, op, in, a));
    int r = body_op(b, op, dtype, in, v[0], v[1], v[2]);
    body_store(b, r, body_operand(b, dtype, NEST_UNIT, true, false));
}

static bool to_bool(enum ir_op op) {
    enum ir_rule r = body_rule(op);
    return r == RULE_COMPARE || r == RULE_LOGIC || r == RULE_PRED;
}

static void all_columns(struct bench *c, struct body *b, const char *what, uint64_t *seed) {
    const struct seg *s = body_seg(b);
    struct stage st;
    stage_open(&st, s->noperand, c->code.scratch);
    for (int cols = 1; cols <= 130; cols++) {
        struct shape sh = {1 + cols % 3, cols, 0, cols % 8, -1, -1};
        run_both(c, &st, s, &sh, what, seed);
        int out = s->noperand - 1; // in place: the output is the first operand of its type
        for (int i = 0; i < out; i++)
            if (s->operand[i].dtype == s->operand[out].dtype) {
                sh.alias_in = i, sh.alias_out = out;
                run_both(c, &st, s, &sh, what, seed);
                break;
            }
    }
    stage_close(&st);
}

static void check_op(struct llvm_engine *e, enum kern_isa isa, enum ir_op op, weft_dtype dtype, weft_dtype in) {
    static struct body b;
    struct bench c;
    char what[80];
    uint64_t seed = (uint64_t)op * 1000 + in * 20u + dtype;
    snprintf(what, sizeof what, "op %d %s to %s at %s", op, dtype_name(in), dtype_name(dtype), isa_names[isa]);
    one_op_body(&b, op, dtype, in);
    code_make(&c, e, body_seg(&b), isa);
    all_columns(&c, &b, what, &seed);
    code_drop(&c);
}

static void check_all_ops(enum kern_isa isa, bool heavy) {
    struct llvm_engine *e = engine_at(isa);
    int checked = 0;
    for (int op = IR_add; op < IR_cast; op++)
        for (int in = 0; in < DTYPE_COMPUTED__N; in++) {
            if (!body_defined((enum ir_op)op, (weft_dtype)in) || body_heavy((enum ir_op)op) != heavy) continue;
            if (heavy && !kern_find(body_family((enum ir_op)op), (weft_dtype)in, isa)) continue;
            if (op == IR_fma && isa == KERN_BASE && kern_isa_detect() != KERN_BASE) continue;
            check_op(e, isa, (enum ir_op)op, to_bool((enum ir_op)op) ? WEFT_BOOL : (weft_dtype)in, (weft_dtype)in);
            checked++;
        }
    cr_assert(checked > (heavy ? 0 : 200), "%d", checked);
    weft_jit_module()->close(e);
}

#define AT_ISA(isa)                                                                                \
    if (kern_isa_detect() < (isa)) cr_skip_test("this processor has no %s", isa_names[isa])

Test(llvm, ops_base) { check_all_ops(KERN_BASE, false); }
Test(llvm, ops_avx2) {
    AT_ISA(KERN_AVX2);
    check_all_ops(KERN_AVX2, false);
}
Test(llvm, ops_avx512) {
    AT_ISA(KERN_AVX512);
    check_all_ops(KERN_AVX512, false);
}
Test(llvm, heavy_ops) {
    FOR_EACH_ISA(isa) check_all_ops(isa, true);
}
Test(llvm, casts) {
    FOR_EACH_ISA(isa) {
        struct llvm_engine *e = engine_at(isa);
        for (int from = 0; from < DTYPE_COMPUTED__N; from++)
            for (int to = 0; to < DTYPE_COMPUTED__N; to++)
                check_op(e, isa, IR_cast, (weft_dtype)to, (weft_dtype)from);
        weft_jit_module()->close(e);
    }
}

// ---- reductions ------------------------------------------------------------------------------------------
static bool red_defined(enum kern_red r, weft_dtype t) {
    if (r == KERN_ANY || r == KERN_ALL) return t == WEFT_BOOL;
    if (r == KERN_SUM || r == KERN_PROD) return t != WEFT_BOOL;
    return true;
}

static void reduce_body(struct body *b, enum nest_mode mode, enum kern_red r, weft_dtype t) {
    body_begin(b, mode);
    body_section(b, SEG_ELEM);
    int v = body_reduce(b, body_load(b, body_operand(b, t, NEST_UNIT, false, false)), r);
    bool inner = mode == NEST_INNER;
    body_section(b, inner ? SEG_ROW : SEG_FIN);
    weft_dtype out = kern_red_is_arg(r) ? WEFT_I64 : t;
    body_store(b, v, body_operand(b, out, inner ? NEST_SCALAR : NEST_UNIT, true, !inner));
}

static const int64_t inner_shapes[][2] = {
    {3, 1}, {3, 2}, {2, 5}, {3, 8}, {2, 31}, {3, 32}, {1, 33}, {2, 63}, {3, 64}, {2, 65}, {2, 100}, {3, 127},
    {2, 128}, {2, 130}, {2, 1000}, {1, 1023}, {2, 1024}, {2, 1025}, {2, 1061}, {1, 2047}, {2, 2048}, {1, 2049},
    {1, 3100}, {1, 5000}, {1, 7168}, {1, 7200}};
static const int64_t outer_shapes[][2] = {
    {1, 1}, {2, 3}, {5, 130}, {31, 8}, {32, 9}, {33, 17}, {63, 33}, {64, 64}, {65, 70}, {100, 7}, {97, 33},
    {225, 19}, {7, 520}, {70, 70}, {34, 129}, {1000, 3}, {9, 700}};

static void check_reductions(enum nest_mode mode, enum kern_isa isa) {
    static struct body b;
    struct llvm_engine *e = engine_at(isa);
    char what[80];
    uint64_t seed = mode;
    for (int r = 0; r < KERN_RED__N; r++)
        for (int t = 0; t < DTYPE_COMPUTED__N; t++) {
            if (!red_defined((enum kern_red)r, (weft_dtype)t)) continue;
            struct bench c;
            struct stage st;
            snprintf(what, sizeof what, "reduction %d of %s at %s", r, dtype_name((weft_dtype)t), isa_names[isa]);
            reduce_body(&b, mode, (enum kern_red)r, (weft_dtype)t);
            const struct seg *s = body_seg(&b);
            code_make(&c, e, s, isa);
            stage_open(&st, s->noperand, c.code.scratch);
            size_t n = mode == NEST_INNER ? COUNT_OF(inner_shapes) : COUNT_OF(outer_shapes);
            for (size_t i = 0; i < n; i++) {
                const int64_t *d = mode == NEST_INNER ? inner_shapes[i] : outer_shapes[i];
                struct shape sh = {d[0], d[1], 1024 * (int64_t)(i % 3), (int)(i % 8), -1, -1};
                run_both(&c, &st, s, &sh, what, &seed);
            }
            stage_close(&st);
            code_drop(&c);
        }
    weft_jit_module()->close(e);
}
Test(llvm, inner_base) { check_reductions(NEST_INNER, KERN_BASE); }
Test(llvm, inner_avx2) {
    AT_ISA(KERN_AVX2);
    check_reductions(NEST_INNER, KERN_AVX2);
}
Test(llvm, inner_avx512) {
    AT_ISA(KERN_AVX512);
    check_reductions(NEST_INNER, KERN_AVX512);
}
Test(llvm, outer_base) { check_reductions(NEST_OUTER, KERN_BASE); }
Test(llvm, outer_avx2) {
    AT_ISA(KERN_AVX2);
    check_reductions(NEST_OUTER, KERN_AVX2);
}
Test(llvm, outer_avx512) {
    AT_ISA(KERN_AVX512);
    check_reductions(NEST_OUTER, KERN_AVX512);
}

// Two reductions of different lanes, scalars before and after, an element output, a comparison of types.
static void mixed_body(struct body *b, enum nest_mode mode) {
    bool inner = mode == NEST_INNER;
    enum nest_class cls = inner ? NEST_SCALAR : NEST_UNIT;
    body_begin(b, mode);
    body_section(b, SEG_ROW);
    int k = body_load(b, body_operand(b, WEFT_F64, NEST_SCALAR, false, false));
    k = body_op(b, IR_abs, WEFT_F64, WEFT_F64, k, 0, 0);
    body_section(b, SEG_ELEM);
    int x = body_load(b, body_operand(b, WEFT_F64, NEST_UNIT, false, false));
    int y = body_load(b, body_operand(b, WEFT_F32, NEST_UNIT, false, false));
    int p = body_op(b, IR_mul, WEFT_F64, WEFT_F64, x, k, 0);
    int sum = body_reduce(b, p, KERN_SUM);
    int max = body_reduce(b, y, KERN_MAX);
    int at = body_reduce(b, y, KERN_ARGMAX);
    int is = body_op(b, IR_isfinite, WEFT_BOOL, WEFT_F64, p, 0, 0);
    int all = body_reduce(b, is, KERN_ALL);
    body_store(b, p, body_operand(b, WEFT_F64, NEST_UNIT, true, false));
    body_section(b, inner ? SEG_ROW : SEG_FIN);
    int z = body_load(b, body_operand(b, WEFT_F64, NEST_SCALAR, false, true));
    int q = body_op(b, IR_add, WEFT_F64, WEFT_F64, sum, z, 0);
    int w = body_op(b, IR_cast, WEFT_F64, WEFT_F32, max, 0, 0);
    q = body_op(b, IR_where, WEFT_F64, WEFT_F64, all, q, w);
    body_store(b, q, body_operand(b, WEFT_F64, cls, true, true));
    body_store(b, at, body_operand(b, WEFT_I64, cls, true, true));
    body_store(b, max, body_operand(b, WEFT_F32, cls, true, true));
}

// cuts the run at multiples of `cut`, combines the parts as the runtime does, finishes
static void run_parts(struct bench *c, struct stage *st, const struct seg *s, const struct tile *whole,
                      int64_t cut) {
    enum { STATE = 16384 };
    bool inner = s->mode == NEST_INNER;
    int64_t n = inner ? whole->cols : whole->rows;
    unsigned char *stack[8], *part[8];
    void *state[8];
    const struct seg_op *red[8];
    int nred = 0;
    for (int i = 0; i < s->nop; i++)
        if (s->op[i].op == SEG_REDUCE) red[nred++] = &s->op[i];
    for (int k = 0; k < nred; k++) {
        stack[k] = aligned_alloc(64, 64 * STATE), part[k] = aligned_alloc(64, STATE);
        state[k] = part[k];
    }
    uint64_t count = 0;
    void *ptr[BODY_OPERANDS];
    for (int64_t at = 0; at < n; at += cut, count++) {
        struct tile t = *whole;
        t.mode = TILE_PARTIAL, t.state = state, t.ptr = ptr, t.first = whole->first + at;
        *(inner ? &t.cols : &t.rows) = MIN_OF(cut, n - at);
        for (int i = 0; i < s->noperand; i++) {
            const struct nest_operand *o = &s->operand[i];
            int64_t step = inner ? (o->cls == NEST_UNIT ? (int64_t)dtype_size((weft_dtype)o->dtype) : 0)
                                 : (o->late ? 0 : whole->rstride[i]);
            ptr[i] = (char *)whole->ptr[i] + at * step;
        }
        t.scratch = stage_scratch(st, c->code.scratch);
        c->code.fn((const void *)c->need, &t);
        for (int k = 0; k < nred; k++) {
            weft_dtype type = (weft_dtype)red[k]->in_type;
            enum kern_red r = (enum kern_red)red[k]->arg[1];
            int64_t lanes = !inner ? whole->cols : kern_red_is_arg(r) ? 32 : kern_red_lanes(type);
            cr_assert(kern_red_state(r, type, lanes) <= STATE);
            kern_red_push(r, type, stack[k], part[k], lanes, count);
            if (at + cut >= n) kern_red_flush(r, type, stack[k], part[k], lanes, count + 1);
        }
    }
    struct tile t = *whole;
    t.mode = TILE_FINISH, t.state = state;
    c->code.fn((const void *)c->need, &t);
    for (int k = 0; k < nred; k++)
        free(stack[k]), free(part[k]);
}

static void check_parts(enum nest_mode mode, enum kern_isa isa) {
    static struct body b;
    static const int64_t shape[2][4][2] = {{{1, 3000}, {1, 9000}, {1, 2048}, {1, 40}},
                                           {{200, 9}, {97, 70}, {65, 530}, {20, 3}}};
    struct llvm_engine *e = engine_at(isa);
    struct bench c;
    struct stage st;
    uint64_t seed = 5;
    mixed_body(&b, mode);
    const struct seg *s = body_seg(&b);
    run_bytes = 1 << 19;
    code_make(&c, e, s, isa);
    stage_open(&st, s->noperand, c.code.scratch);
    for (int i = 0; i < 4; i++)
        for (int cut = 0; cut < 3; cut++) {
            const int64_t *d = shape[mode == NEST_OUTER][i];
            struct shape sh = {d[0], d[1], 0, i + cut, -1, -1};
            void *ptr[BODY_OPERANDS];
            int64_t rstride[BODY_OPERANDS];
            run_both(&c, &st, s, &sh, "mixed, whole", &seed);
            stage_fill(&st, s, &sh, ptr, rstride, &seed);
            struct tile t = {.ptr = ptr, .rstride = rstride, .cols = sh.cols, .rows = sh.rows,
                             .scratch = stage_scratch(&st, c.code.scratch)};
            run_reference(&st, s, &t);
            run_parts(&c, &st, s, &t, (mode == NEST_INNER ? KERN_RED_RUN : KERN_RED_ROWS) << cut);
            compare(&st, s, &sh, "mixed, in parts");
        }
    stage_close(&st);
    code_drop(&c);
    weft_jit_module()->close(e);
}
Test(llvm, parts_inner) {
    FOR_EACH_ISA(isa) check_parts(NEST_INNER, isa);
}
Test(llvm, parts_outer) {
    FOR_EACH_ISA(isa) check_parts(NEST_OUTER, isa);
}

// ---- bodies of several sections and random ones ------------------------------------------------------------
// A row normalised by its maximum and sum, carried in a row of scratch: three ELEM sections.
Test(llvm, rows_normalised) {
    static struct body b;
    uint64_t seed = 9;
    body_begin(&b, NEST_INNER);
    int in = body_operand(&b, WEFT_F64, NEST_UNIT, false, false);
    int tmp = body_operand(&b, WEFT_F64, NEST_UNIT, false, false);
    body_section(&b, SEG_ELEM);
    int max = body_reduce(&b, body_load(&b, in), KERN_MAX);
    body_section(&b, SEG_ROW);
    int shift = body_op(&b, IR_neg, WEFT_F64, WEFT_F64, max, 0, 0);
    body_section(&b, SEG_ELEM);
    int e = body_op(&b, IR_add, WEFT_F64, WEFT_F64, body_load(&b, in), shift, 0);
    if (kern_find(KERN_F_exp, WEFT_F64, KERN_BASE)) e = body_op(&b, IR_exp, WEFT_F64, WEFT_F64, e, 0, 0);
    body_store(&b, e, tmp);
    int sum = body_reduce(&b, e, KERN_SUM);
    body_section(&b, SEG_ROW);
    int scale = body_op(&b, IR_reciprocal, WEFT_F64, WEFT_F64, sum, 0, 0);
    body_section(&b, SEG_ELEM);
    int r = body_op(&b, IR_mul, WEFT_F64, WEFT_F64, body_load(&b, tmp), scale, 0);
    body_store(&b, r, body_operand(&b, WEFT_F64, NEST_UNIT, true, false));
    FOR_EACH_ISA(isa) {
        struct llvm_engine *eng = engine_at(isa);
        struct bench c;
        struct stage st;
        code_make(&c, eng, body_seg(&b), isa);
        stage_open(&st, b.seg.noperand, c.code.scratch);
        for (int i = 0; i < 12; i++) {
            struct shape sh = {1 + i % 3, (int64_t[]){1, 7, 64, 513, 1000, 2500}[i % 6], 0, i % 8, -1, -1};
            run_both(&c, &st, &b.seg, &sh, "normalised rows", &seed);
        }
        stage_close(&st);
        code_drop(&c);
        weft_jit_module()->close(eng);
    }
}

struct pool { // values that may be used
    int value[BODY_OPS], n;
};
static uint64_t below(uint64_t *seed, uint64_t n) { return next_random(seed) % n; }

static int pick(struct body *b, const struct pool *p, weft_dtype t, uint64_t *seed) {
    int v = p->value[below(seed, (uint64_t)p->n)];
    for (int i = 0; i < 4 && b->op[v].dtype != t; i++)
        v = p->value[below(seed, (uint64_t)p->n)];
    if (b->op[v].dtype == t) return v;
    return body_op(b, IR_cast, t, (weft_dtype)b->op[v].dtype, v, 0, 0);
}

// The sign of a NaN is nobody's promise, so operations that show it stay out of random bodies.
static bool usable(enum ir_op op, weft_dtype in, enum kern_isa isa, bool heavy) {
    if (op == IR_signbit || op == IR_copysign) return false;
    if (!body_defined(op, in) || (op == IR_fma && isa == KERN_BASE && kern_isa_detect() != KERN_BASE)) return false;
    return !body_heavy(op) || (heavy && kern_find(body_family(op), in, KERN_BASE));
}

static void random_op(struct body *b, struct pool *p, enum kern_isa isa, uint64_t *seed) {
    enum ir_op op;
    weft_dtype in;
    bool heavy = below(seed, 8) == 0;
    do {
        op = (enum ir_op)(IR_add + below(seed, IR_cast - IR_add));
        in = (weft_dtype)(below(seed, 2) ? b->op[p->value[below(seed, (uint64_t)p->n)]].dtype
                                         : below(seed, DTYPE_COMPUTED__N));
    } while (!usable(op, in, isa, heavy));
    int v[3] = {0, 0, 0};
    for (int a = 0; a < body_arity(op); a++)
        v[a] = pick(b, p, op == IR_where && a == 0 ? WEFT_BOOL : in, seed);
    p->value[p->n++] = body_op(b, op, to_bool(op) ? WEFT_BOOL : in, in, v[0], v[1], v[2]);
}

static void random_loads(struct body *b, struct pool *p, enum nest_class cls, bool late, uint64_t *seed) {
    for (int i = 1 + (int)below(seed, 3); i > 0; i--) {
        weft_dtype t = (weft_dtype)below(seed, DTYPE_COMPUTED__N);
        p->value[p->n++] = body_load(b, body_operand(b, t, cls, false, late));
    }
}

static void random_stores(struct body *b, const struct pool *p, enum nest_class cls, bool late, int n,
                          uint64_t *seed) {
    for (; n > 0; n--) {
        int v = p->value[p->n - 1 - (int)below(seed, (uint64_t)MIN_OF(p->n, 4))];
        body_store(b, v, body_operand(b, (weft_dtype)b->op[v].dtype, cls, true, late));
    }
}

static void random_reduce(struct body *b, const struct pool *p, struct pool *results, uint64_t *seed) {
    for (int i = 1 + (int)below(seed, 3); i > 0; i--) {
        int v = p->value[p->n - 1 - (int)below(seed, (uint64_t)MIN_OF(p->n, 4))];
        enum kern_red r;
        do
            r = (enum kern_red)below(seed, KERN_RED__N);
        while (!red_defined(r, (weft_dtype)b->op[v].dtype));
        results->value[results->n++] = body_reduce(b, v, r);
    }
}

static void random_body(struct body *b, enum nest_mode mode, enum kern_isa isa, uint64_t *seed) {
    struct pool row = {.n = 0}, elem, fin;
    body_begin(b, mode);
    if (below(seed, 2)) {
        body_section(b, SEG_ROW);
        random_loads(b, &row, NEST_SCALAR, false, seed);
        for (int i = (int)below(seed, 3); i > 0; i--)
            random_op(b, &row, isa, seed);
        random_stores(b, &row, NEST_SCALAR, false, (int)below(seed, 2), seed);
    }
    elem = row;
    body_section(b, SEG_ELEM);
    random_loads(b, &elem, NEST_UNIT, false, seed);
    if (below(seed, 3) == 0) random_loads(b, &elem, NEST_SCALAR, false, seed);
    for (int i = 1 + (int)below(seed, 14); i > 0; i--)
        random_op(b, &elem, isa, seed);
    random_stores(b, &elem, NEST_UNIT, false, (int)below(seed, 3) + (mode == NEST_MAP), seed);
    if (mode == NEST_MAP) return;
    fin = row;
    if (mode == NEST_OUTER) fin.n = 0;
    random_reduce(b, &elem, &fin, seed);
    bool inner = mode == NEST_INNER;
    body_section(b, inner ? SEG_ROW : SEG_FIN);
    if (below(seed, 2)) random_loads(b, &fin, inner ? NEST_SCALAR : NEST_UNIT, !inner, seed);
    for (int i = (int)below(seed, 4); i > 0; i--)
        random_op(b, &fin, isa, seed);
    random_stores(b, &fin, inner ? NEST_SCALAR : NEST_UNIT, !inner, 2, seed);
    if (!inner || below(seed, 2)) return;
    body_section(b, SEG_ELEM);
    random_loads(b, &fin, NEST_UNIT, false, seed);
    for (int i = 1 + (int)below(seed, 5); i > 0; i--)
        random_op(b, &fin, isa, seed);
    random_stores(b, &fin, NEST_UNIT, false, 1, seed);
}

static void check_random(enum kern_isa isa, int bodies) {
    static const int64_t cols[] = {1, 5, 17, 64, 100, 520, 1030, 2100};
    static struct body b;
    struct llvm_engine *e = engine_at(isa);
    run_bytes = 1 << 18;
    for (int k = 0; k < bodies; k++) {
        uint64_t seed = (uint64_t)k * 7919 + isa;
        struct bench c;
        struct stage st;
        char what[60];
        enum nest_mode mode = (enum nest_mode)(k % 3);
        snprintf(what, sizeof what, "random body %d at %s", k, isa_names[isa]);
        random_body(&b, mode, isa, &seed);
        const struct seg *s = body_seg(&b);
        code_make(&c, e, s, isa);
        stage_open(&st, s->noperand, c.code.scratch);
        for (int i = 0; i < 4; i++) {
            int64_t n = cols[below(&seed, COUNT_OF(cols))];
            int64_t rows = mode == NEST_OUTER ? (n > 200 ? 10 : 70) : 1 + (int64_t)below(&seed, 3);
            struct shape sh = {rows, n, 0, (int)below(&seed, 8), -1, -1};
            run_both(&c, &st, s, &sh, what, &seed);
        }
        stage_close(&st);
        code_drop(&c);
    }
    weft_jit_module()->close(e);
}
Test(llvm, random_base) { check_random(KERN_BASE, 150); }
Test(llvm, random_avx2) {
    AT_ISA(KERN_AVX2);
    check_random(KERN_AVX2, 150);
}
Test(llvm, random_avx512) {
    AT_ISA(KERN_AVX512);
    check_random(KERN_AVX512, 300);
}

// ---- what the engine promises -------------------------------------------------------------------------------
static void chain_body(struct body *b) { // sqrt(x * y + x)
    body_begin(b, NEST_MAP);
    body_section(b, SEG_ELEM);
    int x = body_load(b, body_operand(b, WEFT_F64, NEST_UNIT, false, false));
    int y = body_load(b, body_operand(b, WEFT_F64, NEST_UNIT, false, false));
    int r = body_op(b, IR_mul, WEFT_F64, WEFT_F64, x, y, 0);
    r = body_op(b, IR_add, WEFT_F64, WEFT_F64, r, x, 0);
    r = body_op(b, IR_sqrt, WEFT_F64, WEFT_F64, r, 0, 0);
    body_store(b, r, body_operand(b, WEFT_F64, NEST_UNIT, true, false));
}

static void refused(struct llvm_engine *e, struct body *b, const char *word) {
    struct llvm_code c;
    char err[256] = "";
    cr_assert(!weft_jit_module()->compile(e, body_seg(b), &c, err, sizeof err), "%s: it compiled", word);
    cr_assert(strstr(err, word), "'%s' does not say '%s'", err, word);
}

Test(llvm, nonsense_is_refused_with_a_sentence) {
    static struct body b;
    struct llvm_engine *e = engine_at(KERN_BASE);
    chain_body(&b);
    b.op[2].arg[0] = 3;
    refused(e, &b, "cannot see");
    chain_body(&b);
    b.op[2].dtype = b.op[2].in_type = WEFT_I64;
    refused(e, &b, "another type");
    chain_body(&b);
    b.op[0].arg[0] = 9;
    refused(e, &b, "no such operand");
    chain_body(&b);
    b.op[3].op = IR_reshape;
    refused(e, &b, "no machine code");
    chain_body(&b);
    b.section[0].end = 2;
    refused(e, &b, "cover");
    chain_body(&b);
    b.op[4].op = SEG_REDUCE;
    refused(e, &b, "no place");
#ifdef __x86_64__
    one_op_body(&b, IR_fma, WEFT_F64, WEFT_F64);
    refused(e, &b, "no machine code");
#endif
    chain_body(&b);
    struct bench c; // and the engine goes on
    code_make(&c, e, body_seg(&b), KERN_BASE);
    code_drop(&c);
    weft_jit_module()->close(e);
}

static long count_maps(void) {
    FILE *f = fopen("/proc/self/maps", "r");
    long n = 0;
    cr_assert(f);
    for (int c; (c = getc(f)) != EOF;)
        n += c == '\n';
    fclose(f);
    return n;
}
static long resident_pages(void) {
    FILE *f = fopen("/proc/self/statm", "r");
    long size, pages = 0;
    cr_assert(f && fscanf(f, "%ld %ld", &size, &pages) == 2);
    fclose(f);
    return pages;
}

static void freed(bool orc) {
    static struct body b;
    link_by_orc = orc;
    struct llvm_engine *e = engine_at(kern_isa_detect());
    long maps = 0, pages = 0;
    mixed_body(&b, NEST_INNER);
    for (int i = 0; i < 160; i++) {
        struct bench c;
        code_make(&c, e, body_seg(&b), kern_isa_detect());
        cr_assert(c.code.bytes > 64 && c.code.bytes < 65536 && !c.code.handle != orc && !c.map.at == orc);
        code_drop(&c);
        if (i == 60) maps = count_maps(), pages = resident_pages();
    }
    cr_assert(count_maps() <= maps + 3, "%ld mappings, then %ld", maps, count_maps());
    cr_assert(resident_pages() <= pages + 200, "%ld pages, then %ld", pages, resident_pages());
    weft_jit_module()->close(e);
}

Test(llvm, released_code_is_freed) {
#ifdef __x86_64__
    freed(false);
#endif
    freed(true);
}

static void live_together(bool orc) {
    static struct body b;
    enum { N = 12 };
    link_by_orc = orc;
    struct llvm_engine *e[2] = {engine_at(KERN_BASE), engine_at(kern_isa_detect())};
    struct bench c[N];
    double x[40], y[40], out[40];
    chain_body(&b);
    for (int i = 0; i < N; i++)
        code_make(&c[i], e[i % 2], body_seg(&b), KERN_BASE);
    for (int i = 0; i < N; i += 3)
        code_drop(&c[i]);
    for (int i = 0; i < N; i++) {
        if (i % 3 == 0) continue;
        for (int k = 0; k < 40; k++)
            x[k] = i + k, y[k] = k, out[k] = -1;
        struct tile t = {.ptr = (void *[]){x, y, out}, .rstride = (int64_t[]){0, 0, 0}, .cols = 39, .rows = 1};
        c[i].code.fn(NULL, &t);
        for (int k = 0; k < 39; k++)
            cr_assert(out[k] == sqrt(x[k] * y[k] + x[k]));
        cr_assert(out[39] == -1);
        code_drop(&c[i]);
    }
    weft_jit_module()->close(e[0]);
    weft_jit_module()->close(e[1]);
}
Test(llvm, several_codes_and_engines_live_together) {
    live_together(false);
    live_together(true);
}

// What cannot be an image is linked by ORC: the same tests by that way.
Test(llvm, linked_by_orc) {
    link_by_orc = true;
    FOR_EACH_ISA(isa) check_parts(NEST_INNER, isa);
    FOR_EACH_ISA(isa) check_parts(NEST_OUTER, isa);
}

static char *dumped(struct llvm_engine *e, struct body *b, enum llvm_dump_kind kind, enum kern_isa isa) {
    char *text = NULL, err[256] = "";
    cr_assert(weft_jit_module()->dump(e, body_seg(b), kind, isa, &text, err, sizeof err), "%s", err);
    return text;
}

Test(llvm, dumps) {
    static struct body b;
    static const char *const word[] = {"sqrtpd", "ymm", "vsqrtpd\t%zmm"};
    struct llvm_engine *e = engine_at(KERN_BASE);
    chain_body(&b);
    for (int isa = KERN_BASE; isa < KERN_ISA__N; isa++) {
        char *ir = dumped(e, &b, LLVM_DUMP_IR, (enum kern_isa)isa);
        cr_assert(strstr(ir, "define void @weft_tile") && !strstr(ir, "nsw") && !strstr(ir, "fast"));
        free(ir);
#ifdef __x86_64__
        char *text = dumped(e, &b, LLVM_DUMP_ASM, (enum kern_isa)isa);
        cr_assert(strstr(text, word[isa]), "%s", text);
        cr_assert(!strstr(text, "call") && !strstr(text, "vfmadd"), "%s", text);
        free(text);
#endif
    }
    weft_jit_module()->close(e);
}

// ---- speed: a fused chain against the loop one would write by hand ----------------------------------------------
#ifdef __x86_64__
#include <immintrin.h>
__attribute__((target("avx512f"), noinline)) static void by_hand(double *out, const double *x, const double *y,
                                                                 size_t n) {
    for (size_t i = 0; i < n; i += 32)
        for (size_t k = i; k < i + 32; k += 8) {
            __m512d a = _mm512_loadu_pd(x + k), b = _mm512_loadu_pd(y + k);
            _mm512_storeu_pd(out + k, _mm512_sqrt_pd(_mm512_add_pd(_mm512_mul_pd(a, b), a)));
        }
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

Test(llvm, chain_is_as_fast_as_by_hand) {
    AT_ISA(KERN_AVX512);
    static struct body b;
    struct llvm_engine *e = engine_at(KERN_AVX512);
    struct bench c;
    chain_body(&b);
    code_make(&c, e, body_seg(&b), KERN_AVX512);
    for (size_t n = 16384; n <= 262144; n *= 16) {
        double *x = aligned_alloc(64, n * 8), *y = aligned_alloc(64, n * 8), *out = aligned_alloc(64, n * 8);
        for (size_t i = 0; i < n; i++)
            x[i] = (double)i + 1, y[i] = 2;
        struct tile t = {.ptr = (void *[]){x, y, out}, .rstride = (int64_t[]){0, 0, 0},
                         .cols = (int64_t)n, .rows = 1};
        double jit = 1, hand = 1;
        for (int i = 0; i < 400; i++) {
            double t0 = seconds();
            c.code.fn(NULL, &t);
            double t1 = seconds();
            by_hand(out, x, y, n);
            double t2 = seconds();
            jit = MIN_OF(jit, t1 - t0), hand = MIN_OF(hand, t2 - t1);
        }
        cr_log_info("%zu elements: %.3f ns each, by hand %.3f", n, jit / (double)n * 1e9, hand / (double)n * 1e9);
        cr_assert(jit <= 1.2 * hand, "%zu elements: %.3f of the time of the loop by hand", n, jit / hand);
        free(x), free(y), free(out);
    }
    code_drop(&c);
    weft_jit_module()->close(e);
}
#endif
