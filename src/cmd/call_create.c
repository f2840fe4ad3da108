// SPDX-License-Identifier: MIT
// Calls that make arrays: constants, ranges, random numbers. Extents are an integer or a tuple;
// numbers are read as such, not as arrays. dtype= gives the type, seed= the key of a random stream
// and offset= the place in it where the array begins.
#include "call.h"

struct shape {
    int rank;
    int64_t dims[CALL_ARGS];
};

static bool read_shape(struct parser *p, const struct value *v, struct shape *s) {
    s->rank = 1;
    if (v->kind != V_TUPLE) return value_int(p, v, "an extent", &s->dims[0]);
    s->rank = v->tuple->n;
    for (int i = 0; i < s->rank; i++)
        s->dims[i] = v->tuple->item[i];
    return true;
}

// Argument i, or keyword k, or none.
static const struct value *argument(const struct call *c, int i, enum keyword k) {
    return c->n > i ? &c->arg[i] : call_given(c, k) ? &c->kw[k] : NULL;
}
static bool read_int(struct parser *p, const struct value *v, int64_t *out) {
    return !v || value_int(p, v, "it", out);
}
static bool read_type(struct parser *p, const struct call *c, int i, weft_dtype *t) {
    const struct value *v = argument(c, i, K_DTYPE);
    return !v || call_dtype(p, v, t);
}

// ---- constants --------------------------------------------------------------------------------
// zeros(shape, dtype), ones(shape, dtype)
static bool run_same(struct parser *p, struct call *c, struct value *out) {
    struct shape s;
    weft_dtype t = WEFT_F64;
    if (!read_shape(p, &c->arg[0], &s) || !read_type(p, c, 1, &t)) return false;
    bool zero = c->row->name[0] != 'o'; // empty, too
    return call_built(p, c,
                      zero ? weft_zeros(p->graph, t, s.rank, s.dims)
                           : weft_ones(p->graph, t, s.rank, s.dims),
                      out);
}
// full(shape, value)
static bool run_full(struct parser *p, struct call *c, struct value *out) {
    struct shape s;
    weft_expr *x = call_expr(p, c, 1);
    if (!x || !read_shape(p, &c->arg[0], &s)) return false;
    weft_dtype t = weft_expr_dtype(x);
    if (!read_type(p, c, 2, &t)) return false;
    return call_built(p, c, weft_broadcast_to(weft_cast(x, t), s.rank, s.dims), out);
}
// eye(n, m=n, k=0)
static bool run_eye(struct parser *p, struct call *c, struct value *out) {
    int64_t n = 0, m, k = 0;
    weft_dtype t = WEFT_F64;
    if (!read_int(p, &c->arg[0], &n)) return false;
    m = n;
    if (c->n > 1 && c->arg[1].kind != V_NONE && !read_int(p, &c->arg[1], &m)) return false;
    if (!read_int(p, argument(c, 2, K_K), &k) || !read_type(p, c, 3, &t)) return false;
    return call_built(p, c, weft_eye(p->graph, t, n, m, k), out);
}
// tril(x, k=0), triu(x, k=0)
static bool run_triangle(struct parser *p, struct call *c, struct value *out) {
    int64_t k = 0;
    weft_expr *x = call_expr(p, c, 0);
    if (!x || !read_int(p, argument(c, 1, K_K), &k)) return false;
    return call_built(p, c, c->row->name[3] == 'l' ? weft_tril(x, k) : weft_triu(x, k), out);
}

// ---- ranges -----------------------------------------------------------------------------------
// arange(stop), arange(start, stop, step); integers make i64
static bool run_arange(struct parser *p, struct call *c, struct value *out) {
    double v[3] = {0, 0, 1};
    weft_dtype t = WEFT_I64;
    for (int i = 0; i < c->n; i++) {
        if (!call_number(p, &c->arg[i], &v[c->n == 1 ? 1 : i])) return false;
        if (c->arg[i].kind == V_FLOAT) t = WEFT_F64;
    }
    if (!read_type(p, c, 3, &t)) return false;
    return call_built(p, c, weft_arange(p->graph, t, v[0], v[1], v[2]), out);
}
// linspace(start, stop, num=50), logspace(..., base=10), geomspace
static bool run_space(struct parser *p, struct call *c, struct value *out) {
    weft_space s = {.n = 50, .endpoint = true};
    weft_dtype t = WEFT_F64;
    double base = 10;
    if (!call_number(p, &c->arg[0], &s.start) || !call_number(p, &c->arg[1], &s.stop)) return false;
    if (!read_int(p, argument(c, 2, K_NUM), &s.n) || !read_type(p, c, 3, &t)) return false;
    if (call_has(c, K_ENDPOINT) && !call_truth(p, &c->kw[K_ENDPOINT], &s.endpoint)) return false;
    if (call_has(c, K_BASE) && !call_number(p, &c->kw[K_BASE], &base)) return false;
    char kind = c->row->name[1]; // linspace, logspace, geomspace
    weft_expr *x = kind == 'i'   ? weft_linspace(p->graph, t, s)
                   : kind == 'o' ? weft_logspace(p->graph, t, s, base)
                                 : weft_geomspace(p->graph, t, s);
    return call_built(p, c, x, out);
}

// ---- random numbers ---------------------------------------------------------------------------
static bool read_word(struct parser *p, const struct value *v, uint64_t *out) {
    if (!v) return true;
    if (v->kind != V_INT) return parse_fail(p, v->at, "an integer should be here");
    *out = v->negative ? 0 - v->u : v->u;
    return true;
}
static bool read_stream(struct parser *p, const struct call *c, int i, weft_stream *s) {
    return read_word(p, argument(c, i, K_SEED), &s->key) &&
           read_word(p, argument(c, i + 1, K_OFFSET), &s->offset);
}
// random(shape, seed=0, offset=0), normal, random_bits
static bool run_random(struct parser *p, struct call *c, struct value *out) {
    struct shape s;
    weft_stream stream = {0, 0};
    char kind = c->row->name[0] == 'n' ? 'n' : c->row->name[6] == '_' ? 'b' : 'u';
    weft_dtype t = kind == 'b' ? WEFT_U64 : WEFT_F64;
    if (!read_shape(p, &c->arg[0], &s) || !read_stream(p, c, 1, &stream)) return false;
    if (call_given(c, K_DTYPE) && !call_dtype(p, &c->kw[K_DTYPE], &t)) return false;
    weft_expr *x = kind == 'n'   ? weft_random_normal(p->graph, stream, t, s.rank, s.dims)
                   : kind == 'b' ? weft_random_bits(p->graph, stream, t, s.rank, s.dims)
                                 : weft_random_uniform(p->graph, stream, t, s.rank, s.dims);
    return call_built(p, c, x, out);
}
// integers(low, high, shape, seed=0, offset=0): low <= value < high
static bool run_integers(struct parser *p, struct call *c, struct value *out) {
    struct shape s;
    weft_stream stream = {0, 0};
    weft_bounds b = {0, 0};
    weft_dtype t = WEFT_I64;
    if (!read_int(p, &c->arg[0], &b.low) || !read_int(p, &c->arg[1], &b.high)) return false;
    if (!read_shape(p, &c->arg[2], &s) || !read_stream(p, c, 3, &stream)) return false;
    if (call_given(c, K_DTYPE) && !call_dtype(p, &c->kw[K_DTYPE], &t)) return false;
    return call_built(p, c, weft_random_integers(p->graph, stream, b, t, s.rank, s.dims), out);
}

// permutation(5, seed=0, offset=0): 0 .. 4 in random order; of an array: its first axis so
static bool run_permutation(struct parser *p, struct call *c, struct value *out) {
    weft_stream stream = {0, 0};
    int64_t n = 0;
    weft_expr *x = NULL;
    if (!read_stream(p, c, 1, &stream)) return false;
    if (c->arg[0].kind == V_EXPR) {
        x = c->arg[0].expr;
        if (weft_expr_rank(x) < 1) return parse_fail(p, c->arg[0].at, "an array of rank 0 has no order");
        n = weft_expr_dims(x)[0];
    } else if (!read_int(p, &c->arg[0], &n)) {
        return false;
    }
    weft_expr *places = weft_random_permutation(p->graph, stream, n);
    return call_built(p, c, x ? weft_take(x, places, 0, WEFT_INDEX_RAISE) : places, out);
}

// ---- names ------------------------------------------------------------------------------------
#define SPACE (KW(DTYPE) | KW(NUM) | KW(ENDPOINT))
#define RANDOM (KW(DTYPE) | KW(SEED) | KW(OFFSET))
static const struct row rows[] = {
    CALL(zeros, run_same, 1, 2, KW(DTYPE)),
    CALL(empty, run_same, 1, 2, KW(DTYPE)),
    CALL(ones, run_same, 1, 2, KW(DTYPE)),
    CALL(full, run_full, 2, 3, KW(DTYPE)),
    CALL(eye, run_eye, 1, 4, KW(K) | KW(DTYPE)),
    CALL(identity, run_eye, 1, 1, KW(DTYPE)),
    CALL(tril, run_triangle, 1, 2, KW(K)),
    CALL(triu, run_triangle, 1, 2, KW(K)),
    CALL(arange, run_arange, 1, 3, KW(DTYPE)),
    CALL(linspace, run_space, 2, 3, SPACE),
    CALL(logspace, run_space, 2, 3, SPACE | KW(BASE)),
    CALL(geomspace, run_space, 2, 3, SPACE),
    CALL(random, run_random, 1, 3, RANDOM),
    CALL(normal, run_random, 1, 3, RANDOM),
    CALL(random_bits, run_random, 1, 3, RANDOM),
    CALL(integers, run_integers, 3, 5, RANDOM),
    CALL(permutation, run_permutation, 1, 3, KW(SEED) | KW(OFFSET)),
};
const struct rows call_creations = {rows, COUNT_OF(rows)};
