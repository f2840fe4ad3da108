// SPDX-License-Identifier: MIT
// Hand-made programs for the tests of the runtime. The bodies follow the contract of nest.h to the
// letter and nothing more: unaligned pointers, any row stride, partial states through kern_red_*.
// The reference shares no code with them but the fixed tree: it gathers each run in logical order.
#include "rt_fake.h"

#include <assert.h>
#include <stdlib.h>

uint64_t fake_random(uint64_t *seed) {
    *seed += 0x9e3779b97f4a7c15u;
    uint64_t z = *seed;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double fake_load(weft_dtype t, const void *p) {
    union {
        float f;
        double d;
        int64_t i;
        int32_t w;
        int16_t h;
        uint8_t b;
    } u;
    memcpy(&u, p, dtype_size(t));
    switch (t) {
    case WEFT_F64: return u.d;
    case WEFT_F32: return (double)u.f;
    case WEFT_I64: return (double)u.i;
    case WEFT_I32: return (double)u.w;
    case WEFT_I16: return (double)u.h;
    default: return (double)u.b;
    }
}

void fake_store(weft_dtype t, void *p, double v) {
    switch (t) {
    case WEFT_F64: memcpy(p, &v, 8); break;
    case WEFT_F32: memcpy(p, &(float){(float)v}, 4); break;
    case WEFT_I64: memcpy(p, &(int64_t){(int64_t)v}, 8); break;
    case WEFT_I32: memcpy(p, &(int32_t){(int32_t)(int64_t)v}, 4); break;
    case WEFT_I16: memcpy(p, &(int16_t){(int16_t)(int64_t)v}, 2); break;
    default: memcpy(p, &(uint8_t){(uint8_t)(int64_t)v}, 1); break;
    }
}

// ---- bodies -----------------------------------------------------------------------------------

static bool is_input(const struct nest_operand *o) {
    return !o->out && !o->late && o->buffer != NEST_ROWTMP;
}

static char *at(const struct fake *f, const struct tile *t, int k, int64_t r, int64_t c) {
    const struct nest_operand *o = &f->operand[k];
    return (char *)t->ptr[k] + (o->late ? 0 : r * t->rstride[k]) +
           (o->cls == NEST_UNIT ? c * (int64_t)dtype_size(o->dtype) : 0);
}

static double value_at(const struct fake *f, const struct tile *t, int64_t r, int64_t c) {
    double v = 0;
    for (int k = 0, n = 1; k < f->noperand; k++)
        if (is_input(&f->operand[k])) v += n++ * fake_load(f->operand[k].dtype, at(f, t, k, r, c));
    return v;
}

static void put(const struct fake *f, const struct tile *t, int k, int64_t r, int64_t c, double v) {
    const struct nest_operand *o = &f->operand[k];
    if (o->buffer == NEST_GUARD) v = v > 1e6;
    fake_store(o->dtype, at(f, t, k, r, c), v);
}

// All values are computed before any is stored, as a tier that loads first would.
static void map_tile(const struct fake *f, const struct tile *t) {
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++) {
            const double v = value_at(f, t, r, c);
            for (int k = 0, n = 1; k < f->noperand; k++)
                if (f->operand[k].out) put(f, t, k, r, c, v * n++);
        }
}

static void cast_run(weft_dtype t, void *to, const double *v, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        fake_store(t, (char *)to + i * (int64_t)dtype_size(t), v[i]);
}

static int64_t lanes_of(const struct rt_reduce *r) {
    return kern_red_is_arg(r->kind) ? 32 : kern_red_lanes(r->dtype);
}
static double result(const struct rt_reduce *r, const void *p) {
    return fake_load(kern_red_is_arg(r->kind) ? WEFT_I64 : (weft_dtype)r->dtype, p);
}

enum { LEVELS = 24 }; // runs are shorter than 2^24 leaves
struct lanes {
    _Alignas(64) unsigned char bytes[64 * 16 + 64];
};

// Row r of the tile, its stores, and its reductions into total[].
static void inner_row(const struct fake *f, const struct tile *t, int64_t r, struct lanes *total) {
    static const int64_t run = KERN_RED_RUN;
    struct lanes stack[LEVELS], leaf;
    double v[KERN_RED_RUN], x[KERN_RED_RUN];
    for (int i = 0; i < f->nreduce; i++) {
        const struct rt_reduce *red = &f->reduce[i];
        uint64_t n = 0;
        for (int64_t c = 0; c < t->cols; c += run, n++) {
            const int64_t count = MIN_OF(run, t->cols - c);
            for (int64_t k = 0; k < count; k++)
                v[k] = value_at(f, t, r, c + k);
            cast_run((weft_dtype)red->dtype, x, v, count);
            kern_red_identity(red->kind, (weft_dtype)red->dtype, &leaf, lanes_of(red));
            kern_red_leaf(red->kind, (weft_dtype)red->dtype, &leaf, x, count, t->first + c);
            kern_red_push(red->kind, (weft_dtype)red->dtype, stack, &leaf, lanes_of(red), n);
        }
        kern_red_flush(red->kind, (weft_dtype)red->dtype, stack, &total[i], lanes_of(red), n);
    }
    for (int k = 0; k < f->noperand; k++)
        if (f->operand[k].out && f->operand[k].cls == NEST_UNIT && !f->whole)
            for (int64_t c = 0; c < t->cols; c++)
                put(f, t, k, r, c, value_at(f, t, r, c));
}

static void inner_end(const struct fake *f, const struct tile *t, int64_t r, void *const *state) {
    for (int k = 0, n = 0; k < f->noperand; k++) {
        const struct nest_operand *o = &f->operand[k];
        if (!o->out || o->cls != NEST_SCALAR) continue;
        double out[2];
        const struct rt_reduce *red = &f->reduce[n++ % f->nreduce];
        kern_red_fold(red->kind, (weft_dtype)red->dtype, state[red - f->reduce], out);
        double extra = 0;
        for (int j = 0; j < f->noperand; j++) // what a last ROW section may read
            if (is_input(&f->operand[j]) && f->operand[j].cls == NEST_SCALAR)
                extra += fake_load(f->operand[j].dtype, at(f, t, j, r, 0));
        put(f, t, k, r, 0, result(red, out) + extra);
    }
}

// Two sections by way of a row of scratch: v, its sum; then v - sum.
static void whole_row(const struct fake *f, const struct tile *t, int64_t r,
                      const struct lanes *total) {
    int keep = -1, take = -1;
    for (int k = 0; k < f->noperand; k++)
        if (f->operand[k].buffer == NEST_ROWTMP) *(f->operand[k].out ? &keep : &take) = k;
    assert(keep >= 0 && take >= 0 && f->operand[keep].buf == f->operand[take].buf);
    double sum;
    kern_red_fold(KERN_SUM, WEFT_F64, total, &sum);
    for (int64_t c = 0; c < t->cols; c++)
        put(f, t, keep, r, c, value_at(f, t, r, c));
    for (int k = 0; k < f->noperand; k++)
        if (f->operand[k].out && f->operand[k].cls == NEST_UNIT && k != keep)
            for (int64_t c = 0; c < t->cols; c++)
                put(f, t, k, r, c, fake_load(WEFT_F64, at(f, t, take, r, c)) - sum);
}

static void inner_tile(const struct fake *f, const struct tile *t) {
    struct lanes total[4];
    void *state[4] = {&total[0], &total[1], &total[2], &total[3]};
    for (int64_t r = 0; r < t->rows; r++) {
        if (t->mode != TILE_FINISH) inner_row(f, t, r, total);
        if (t->mode == TILE_PARTIAL) {
            assert(t->rows == 1 && t->first % NEST_LEAF_RUN == 0 && !f->whole);
            for (int i = 0; i < f->nreduce; i++)
                memcpy(t->state[i], &total[i],
                       kern_red_state(f->reduce[i].kind, (weft_dtype)f->reduce[i].dtype,
                                      lanes_of(&f->reduce[i])));
        } else {
            inner_end(f, t, r, t->mode == TILE_FINISH ? t->state : state);
        }
        if (f->whole) whole_row(f, t, r, total);
    }
}

static void outer_rows(const struct fake *f, const struct tile *t, const struct rt_reduce *red,
                       void *total) {
    const weft_dtype type = (weft_dtype)red->dtype;
    const size_t bytes = kern_red_state(red->kind, type, t->cols);
    char *stack = malloc((LEVELS + 2) * (bytes + 64));
    double *v = calloc((size_t)t->cols + 1, 16), *x = v + t->cols;
    assert(stack && v);
    char *leaf = stack + LEVELS * bytes;
    uint64_t n = 0;
    for (int64_t r = 0; r < t->rows; n++) {
        kern_red_identity(red->kind, type, leaf, t->cols);
        for (int64_t end = MIN_OF(t->rows, r + KERN_RED_ROWS); r < end; r++) {
            for (int64_t c = 0; c < t->cols; c++)
                v[c] = value_at(f, t, r, c);
            cast_run(type, x, v, t->cols);
            kern_red_row(red->kind, type, leaf, x, t->cols, t->first + r);
        }
        kern_red_push(red->kind, type, stack, leaf, t->cols, n);
    }
    kern_red_flush(red->kind, type, stack, total, t->cols, n);
    free(stack);
    free(v);
}

static void outer_stores(const struct fake *f, const struct tile *t) {
    for (int k = 0; k < f->noperand; k++)
        for (int64_t r = 0; f->operand[k].out && !f->operand[k].late && r < t->rows; r++)
            for (int64_t c = 0; c < (f->operand[k].cls == NEST_UNIT ? t->cols : 1); c++)
                put(f, t, k, r, c, value_at(f, t, r, c));
}

static void outer_end(const struct fake *f, const struct tile *t, void *const *state) {
    for (int k = 0, n = 0; k < f->noperand; k++) {
        const struct nest_operand *o = &f->operand[k];
        if (!o->out || !o->late) continue;
        const int i = n++ % f->nreduce;
        const struct rt_reduce *red = &f->reduce[i];
        const bool arg = kern_red_is_arg(red->kind);
        const size_t size = arg ? 8 : dtype_size((weft_dtype)red->dtype);
        char *values = calloc((size_t)t->cols + 1, 8);
        assert(values);
        if (arg)
            kern_red_columns(red->kind, (weft_dtype)red->dtype, state[i], values, t->cols);
        else
            memcpy(values, state[i], (size_t)t->cols * size);
        for (int64_t c = 0; c < t->cols; c++) {
            double extra = 0;
            for (int j = 0; j < f->noperand; j++)
                if (!f->operand[j].out && f->operand[j].late)
                    extra += fake_load(f->operand[j].dtype, at(f, t, j, 0, c));
            put(f, t, k, 0, c, result(red, values + (size_t)c * size) + extra);
        }
        free(values);
    }
}

static void outer_tile(const struct fake *f, const struct tile *t) {
    void *state[4], *const *from = t->state;
    assert(t->mode != TILE_PARTIAL || t->first % KERN_RED_ROWS == 0);
    for (int i = 0; t->mode != TILE_FINISH && i < f->nreduce; i++) {
        const size_t bytes =
            kern_red_state(f->reduce[i].kind, (weft_dtype)f->reduce[i].dtype, t->cols);
        state[i] =
            t->mode == TILE_PARTIAL ? t->state[i] : aligned_alloc(64, (bytes + 127) & ~(size_t)63);
        assert(state[i]);
        outer_rows(f, t, &f->reduce[i], state[i]);
        from = state;
    }
    if (t->mode != TILE_FINISH) outer_stores(f, t);
    if (t->mode != TILE_PARTIAL) outer_end(f, t, from);
    for (int i = 0; t->mode == TILE_FULL && i < f->nreduce; i++)
        free(state[i]);
}

void fake_tile(const void *code, const struct tile *t) {
    const struct fake *f = code;
    memset(t->scratch, 0x5a, 4096); // all it was promised
    assert((uintptr_t)t->scratch % 64 == 0);
    if (f->mode == NEST_MAP) map_tile(f, t);
    if (f->mode == NEST_INNER) inner_tile(f, t);
    if (f->mode == NEST_OUTER) outer_tile(f, t);
}

// ---- programs ---------------------------------------------------------------------------------

void fake_init(struct fake_program *f, enum nest_mode mode, int nouter, int nrow, int ncol,
               const int64_t *dim) {
    memset(f, 0, sizeof *f);
    f->body.mode = mode;
    f->step.nest = (struct nest){.mode = mode,
                                 .ndim = nouter + nrow + ncol,
                                 .nouter = nouter,
                                 .nrow = nrow,
                                 .ncol = ncol,
                                 .operand = f->body.operand};
    memcpy(f->step.nest.dim, dim, sizeof *dim * (size_t)(nouter + nrow + ncol));
    f->code.interp = fake_tile;
    f->code.interp_form = &f->body;
    f->code.interp_scratch = 4096;
    f->step.code = &f->code;
    f->step.reduce = f->body.reduce;
    f->program = (struct rt_program){.nstep = 1,
                                     .step = &f->step,
                                     .leaf = f->leaf,
                                     .out = f->out,
                                     .temp_offset = f->offset,
                                     .temp_bytes = f->bytes};
    arena_init(&f->program.arena, NULL);
}

struct nest_operand *fake_operand(struct fake_program *f, weft_dtype t, enum nest_class cls,
                                  enum nest_buffer b, bool out) {
    assert(f->body.noperand < FAKE_OPERANDS);
    struct nest_operand *o = &f->body.operand[f->body.noperand++];
    *o = (struct nest_operand){
        .dtype = (uint8_t)t, .cls = (uint8_t)cls, .buffer = (uint8_t)b, .out = out};
    f->step.nest.noperand = f->body.noperand;
    return o;
}

struct nest_operand *fake_array(struct fake_program *f, const weft_array *a, const int *axis,
                                enum nest_class cls, bool out) {
    struct nest_operand *o = fake_operand(f, a->dtype, cls, out ? NEST_OUT : NEST_LEAF, out);
    int *n = out ? &f->program.nout : &f->program.nleaf;
    assert(*n < FAKE_ARRAYS);
    o->buf = (uint32_t)*n;
    (out ? f->out : f->leaf)[*n] = *a;
    (out ? f->out_data : f->leaf_data)[*n] = a->data;
    ++*n;
    for (int d = 0; d < f->step.nest.ndim; d++)
        if (axis[d] >= 0) o->stride[d] = a->strides[axis[d]];
    return o;
}

void fake_reduce(struct fake_program *f, enum kern_red r, weft_dtype t) {
    f->body.reduce[f->body.nreduce++] = (struct rt_reduce){(uint8_t)r, (uint8_t)t};
    f->step.nreduce = f->body.nreduce;
}

weft_status fake_finish(struct fake_program *f, const struct rt_env *env, int cost) {
    f->step.cost = cost;
    f->step.whole_rows = f->body.whole;
    return rt_program_finish(&f->program, env);
}

weft_status fake_run(struct fake_program *f, struct rt_env *env, struct rt_workspace *ws,
                     int threads) {
    err_clear(&f->err);
    const struct rt_bind b = {.leaf = f->leaf_data,
                              .out = f->out_data,
                              .constant = f->constant,
                              .ws = ws,
                              .threads = threads,
                              .err = &f->err};
    return rt_program_run(&f->program, env, &b);
}

void fake_free(struct fake_program *f) {
    arena_free(&f->program.arena);
}

void fake_env(struct rt_env *env, int threads) {
    *env = (struct rt_env){
        .alloc = base_malloc, .isa = kern_isa_detect(), .threads = threads, .own_executor = true};
    env->pool = rt_pool_new(&env->alloc, threads);
    assert(env->pool);
}
void fake_env_free(struct rt_env *env) {
    rt_pool_free(env->pool);
}

// ---- reference --------------------------------------------------------------------------------

struct naive {
    const struct fake_program *f;
    const int64_t *shift;
    int64_t index[NEST_DIMS];
};

static char *where(const struct naive *n, const struct nest_operand *o, int64_t *iota) {
    const struct nest *nest = &n->f->step.nest;
    int64_t at_bytes = o->offset;
    for (int d = 0; d < nest->ndim; d++)
        at_bytes += n->index[d] * o->stride[d];
    *iota = at_bytes;
    if (o->buffer == NEST_LEAF) return (char *)n->f->leaf_data[o->buf] + at_bytes;
    if (o->buffer == NEST_OUT) return (char *)n->f->out_data[o->buf] + at_bytes + n->shift[o->buf];
    if (o->buffer == NEST_CONST) return (char *)(uintptr_t)&n->f->constant[o->buf];
    return NULL;
}

static double fetch(const struct naive *n, const struct nest_operand *o) {
    int64_t iota;
    const char *p = where(n, o, &iota);
    return o->buffer == NEST_IOTA ? (double)iota : fake_load((weft_dtype)o->dtype, p);
}

static double naive_value(const struct naive *n) {
    double v = 0;
    for (int k = 0, m = 1; k < n->f->body.noperand; k++)
        if (is_input(&n->f->body.operand[k])) v += m++ * fetch(n, &n->f->body.operand[k]);
    return v;
}

static void naive_put(const struct naive *n, const struct nest_operand *o, double v) {
    int64_t iota;
    if (o->buffer == NEST_OUT) fake_store((weft_dtype)o->dtype, where(n, o, &iota), v);
}

// Next index over dims [begin, end) in row-major order; false after the last.
static bool next(struct naive *n, int begin, int end) {
    for (int d = end - 1; d >= begin; d--) {
        if (++n->index[d] < n->f->step.nest.dim[d]) return true;
        n->index[d] = 0;
    }
    return false;
}
static int64_t count(const struct naive *n, int begin, int end) {
    int64_t c = 1;
    for (int d = begin; d < end; d++)
        c *= n->f->step.nest.dim[d];
    return c;
}

static double tree_inner(const struct rt_reduce *r, const double *v, int64_t n) {
    struct lanes stack[LEVELS], leaf, total;
    double x[KERN_RED_RUN], out[2];
    uint64_t leaves = 0;
    for (int64_t e = 0; e < n; e += KERN_RED_RUN, leaves++) {
        const int64_t m = MIN_OF((int64_t)KERN_RED_RUN, n - e);
        cast_run((weft_dtype)r->dtype, x, v + e, m);
        kern_red_identity(r->kind, (weft_dtype)r->dtype, &leaf, lanes_of(r));
        kern_red_leaf(r->kind, (weft_dtype)r->dtype, &leaf, x, m, e);
        kern_red_push(r->kind, (weft_dtype)r->dtype, stack, &leaf, lanes_of(r), leaves);
    }
    kern_red_flush(r->kind, (weft_dtype)r->dtype, stack, &total, lanes_of(r), leaves);
    kern_red_fold(r->kind, (weft_dtype)r->dtype, &total, out);
    return result(r, out);
}

static double tree_outer(const struct rt_reduce *r, const double *v, int64_t n) {
    struct lanes stack[LEVELS], leaf, total;
    double x, out[2];
    uint64_t leaves = 0;
    for (int64_t e = 0; e < n; leaves++) {
        kern_red_identity(r->kind, (weft_dtype)r->dtype, &leaf, 1);
        for (int64_t end = MIN_OF(n, e + KERN_RED_ROWS); e < end; e++) {
            cast_run((weft_dtype)r->dtype, &x, v + e, 1);
            kern_red_row(r->kind, (weft_dtype)r->dtype, &leaf, &x, 1, e);
        }
        kern_red_push(r->kind, (weft_dtype)r->dtype, stack, &leaf, 1, leaves);
    }
    kern_red_flush(r->kind, (weft_dtype)r->dtype, stack, &total, 1, leaves);
    if (!kern_red_is_arg(r->kind)) return result(r, &total);
    kern_red_columns(r->kind, (weft_dtype)r->dtype, &total, out, 1);
    return result(r, out);
}

// The reduced run is dims [begin, end), all others are where index says.
static void naive_run(struct naive *n, int begin, int end) {
    const struct fake *f = &n->f->body;
    const bool inner = f->mode == NEST_INNER;
    const int64_t run = count(n, begin, end);
    double *v = calloc((size_t)run + 1, sizeof *v), extra = 0;
    for (int64_t e = 0; e < run; e++) {
        v[e] = naive_value(n);
        for (int k = 0; k < f->noperand && !f->whole; k++) {
            const struct nest_operand *o = &f->operand[k];
            if (o->out && (inner ? o->cls == NEST_UNIT : !o->late)) naive_put(n, o, v[e]);
        }
        next(n, begin, end);
    }
    for (int j = 0; j < f->noperand; j++) {
        const struct nest_operand *o = &f->operand[j];
        if (inner ? is_input(o) && o->cls == NEST_SCALAR : !o->out && o->late) extra += fetch(n, o);
    }
    for (int k = 0, m = 0; k < f->noperand; k++) {
        const struct nest_operand *o = &f->operand[k];
        if (!o->out || !(inner ? o->cls == NEST_SCALAR : o->late)) continue;
        const struct rt_reduce *r = &f->reduce[m++ % f->nreduce];
        naive_put(n, o, (inner ? tree_inner(r, v, run) : tree_outer(r, v, run)) + extra);
    }
    for (int k = 0; k < f->noperand && f->whole; k++) {
        const struct nest_operand *o = &f->operand[k];
        const double sum = tree_inner(&f->reduce[0], v, run);
        for (int64_t e = 0; o->out && o->cls == NEST_UNIT && e < run; e++) {
            naive_put(n, o, v[e] - sum);
            next(n, begin, end);
        }
    }
    free(v);
}

void fake_reference(const struct fake_program *f, const int64_t *shift) {
    struct naive n = {.f = f, .shift = shift};
    const struct nest *x = &f->step.nest;
    const int row = x->nouter, col = row + x->nrow;
    if (x->mode == NEST_MAP) {
        if (count(&n, 0, x->ndim) == 0) return;
        do {
            const double v = naive_value(&n);
            for (int k = 0, m = 1; k < f->body.noperand; k++)
                if (f->body.operand[k].out) naive_put(&n, &f->body.operand[k], v * m++);
        } while (next(&n, 0, x->ndim));
        return;
    }
    const bool inner = x->mode == NEST_INNER;
    const int64_t kept = inner ? count(&n, 0, col) : count(&n, 0, row) * count(&n, col, x->ndim);
    for (int64_t i = 0; i < kept; i++) {
        naive_run(&n, inner ? col : row, inner ? x->ndim : col);
        if (inner ? next(&n, 0, col) : next(&n, col, x->ndim) || next(&n, 0, row)) continue;
    }
}
