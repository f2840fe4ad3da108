// SPDX-License-Identifier: MIT
// The public builders of what is made of other operations (ir/compose.c, create.c, norms.c): handles
// taken apart, one emitter called, the node wrapped.
#include "api.h"

#include <math.h>

#define GRAPH_OF(...)                                                                              \
    graph_of((weft_expr *[]){__VA_ARGS__}, sizeof((weft_expr *[]){__VA_ARGS__}) / sizeof(weft_expr *))
static weft_graph *graph_of(weft_expr *const *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!x[i]) return NULL;
    for (size_t i = 1; i < n; i++)
        if (x[i]->g != x[0]->g) {
            graph_fail(x[0]->g, WEFT_EINVAL, "operands belong to different graphs");
            return NULL;
        }
    return x[0]->g;
}

// ---- elementwise ----------------------------------------------------------------------------------------
#define OF_ONE(name, call)                                                                         \
    weft_expr *weft_##name(weft_expr *x) { return x ? graph_wrap(x->g, call) : NULL; }
OF_ONE(positive, ir_positive(x->g->ir, x->ref))
OF_ONE(rint, ir_rint(x->g->ir, x->ref))
OF_ONE(log_sigmoid, ir_log_sigmoid(x->g->ir, x->ref))
OF_ONE(relu, ir_relu(x->g->ir, x->ref))
OF_ONE(deg2rad, ir_scaled(x->g->ir, x->ref, 0x1.1df46a2529d39p-6))
OF_ONE(rad2deg, ir_scaled(x->g->ir, x->ref, 0x1.ca5dc1a63c1f8p5))
OF_ONE(isposinf, ir_is_infinity(x->g->ir, x->ref, false))
OF_ONE(isneginf, ir_is_infinity(x->g->ir, x->ref, true))
OF_ONE(frexp_exponent, ir_frexp_exponent(x->g->ir, x->ref))
OF_ONE(bitwise_count, ir_bitwise_count(x->g->ir, x->ref))
weft_expr *weft_leaky_relu(weft_expr *x, double slope) {
    return x ? graph_wrap(x->g, ir_leaky_relu(x->g->ir, x->ref, slope)) : NULL;
}
weft_expr *weft_nan_to_num(weft_expr *x, double nan, double inf, double minus_inf) {
    const double to[3] = {nan, inf, minus_inf};
    return x ? graph_wrap(x->g, ir_nan_to_num(x->g->ir, x->ref, to)) : NULL;
}

#define OF_TWO(name, call)                                                                         \
    weft_expr *weft_##name(weft_expr *a, weft_expr *b) {                                           \
        weft_graph *g = GRAPH_OF(a, b);                                                            \
        return g ? graph_wrap(g, call) : NULL;                                                     \
    }
OF_TWO(ldexp, ir_ldexp(g->ir, a->ref, b->ref))
OF_TWO(heaviside, ir_heaviside(g->ir, a->ref, b->ref))
OF_TWO(fmod, ir_fmod(g->ir, a->ref, b->ref))
OF_TWO(float_power, ir_float_power(g->ir, a->ref, b->ref))
OF_TWO(add_overflows, ir_overflows(g->ir, IR_add, a->ref, b->ref))
OF_TWO(sub_overflows, ir_overflows(g->ir, IR_sub, a->ref, b->ref))
OF_TWO(mul_overflows, ir_overflows(g->ir, IR_mul, a->ref, b->ref))

weft_expr *weft_lerp(weft_expr *a, weft_expr *b, weft_expr *t) {
    weft_graph *g = GRAPH_OF(a, b, t);
    return g ? graph_wrap(g, ir_lerp(g->ir, a->ref, b->ref, t->ref)) : NULL;
}
weft_expr *weft_isclose(weft_expr *a, weft_expr *b, double relative, double absolute, bool equal_nan) {
    weft_graph *g = GRAPH_OF(a, b);
    const struct ir_tolerance t = {relative, absolute, equal_nan};
    return g ? graph_wrap(g, ir_isclose(g->ir, a->ref, b->ref, &t)) : NULL;
}

// ---- two results ----------------------------------------------------------------------------------------
weft_expr *weft_divmod(weft_expr *a, weft_expr *b, weft_expr **rest) {
    weft_graph *g = GRAPH_OF(a, b);
    ir_ref r = IR_NONE;
    if (rest) *rest = NULL;
    if (!g) return NULL;
    ir_ref q = ir_divmod(g->ir, a->ref, b->ref, &r);
    if (rest) *rest = graph_wrap(g, r);
    return graph_wrap(g, q);
}
weft_expr *weft_add_carry(weft_expr *a, weft_expr *b, weft_expr *carry, weft_expr **carry_out) {
    weft_graph *g = GRAPH_OF(a, b, carry);
    ir_ref out = IR_NONE;
    if (carry_out) *carry_out = NULL;
    if (!g) return NULL;
    ir_ref sum = ir_add_carry(g->ir, a->ref, b->ref, carry->ref, &out);
    if (carry_out) *carry_out = graph_wrap(g, out);
    return graph_wrap(g, sum);
}

// ---- creation -------------------------------------------------------------------------------------------
static bool shape_ok(weft_graph *g, const char *name, weft_dtype t, int rank, const int64_t *dims) {
    if (rank < 0 || rank > WEFT_MAX_RANK || (rank && !dims)) {
        graph_fail(g, WEFT_EINVAL, "creation: rank must be 0 to 32");
        return false;
    }
    weft_array a = weft_dense(t, NULL, rank, dims);
    return rt_array_check(&a, name, ir_error(g->ir)) == WEFT_OK;
}

weft_expr *weft_full(weft_graph *g, weft_dtype t, const void *value, int rank, const int64_t *dims) {
    if (!g || !shape_ok(g, "full", t, rank, dims)) return NULL;
    return graph_wrap(g, ir_full(g->ir, t, value, rank, dims));
}
weft_expr *weft_zeros(weft_graph *g, weft_dtype t, int rank, const int64_t *dims) {
    static const uint64_t zero[2] = {0, 0};
    return weft_full(g, t, zero, rank, dims);
}
weft_expr *weft_ones(weft_graph *g, weft_dtype t, int rank, const int64_t *dims) {
    if (!g || !shape_ok(g, "ones", t, rank, dims)) return NULL;
    const bool one = true;
    ir_ref x = ir_cast(g->ir, ir_constant(g->ir, WEFT_BOOL, &one, IR_STRONG), t);
    return graph_wrap(g, ir_broadcast_to(g->ir, x, rank, dims));
}
weft_expr *weft_eye(weft_graph *g, weft_dtype t, int64_t rows, int64_t cols, int64_t k) {
    const int64_t dims[2] = {rows, cols};
    if (!g || !shape_ok(g, "eye", WEFT_I64, 2, dims)) return NULL;
    return graph_wrap(g, ir_eye(g->ir, t, dims, k));
}
weft_expr *weft_arange(weft_graph *g, weft_dtype t, double start, double stop, double step) {
    return g ? graph_wrap(g, ir_arange(g->ir, t, &(struct ir_range){start, stop, step})) : NULL;
}
weft_expr *weft_linspace(weft_graph *g, weft_dtype t, weft_space s) {
    const struct ir_space space = {s.start, s.stop, s.n, s.endpoint};
    return g ? graph_wrap(g, ir_linspace(g->ir, t, &space)) : NULL;
}
weft_expr *weft_logspace(weft_graph *g, weft_dtype t, weft_space s, double base) {
    const struct ir_space space = {s.start, s.stop, s.n, s.endpoint};
    return g ? graph_wrap(g, ir_logspace(g->ir, t, &space, base)) : NULL;
}
weft_expr *weft_geomspace(weft_graph *g, weft_dtype t, weft_space s) {
    const struct ir_space space = {s.start, s.stop, s.n, s.endpoint};
    return g ? graph_wrap(g, ir_geomspace(g->ir, t, &space)) : NULL;
}
weft_expr *weft_tril(weft_expr *x, int64_t k) {
    return x ? graph_wrap(x->g, ir_triangle(x->g->ir, x->ref, k, true)) : NULL;
}
weft_expr *weft_triu(weft_expr *x, int64_t k) {
    return x ? graph_wrap(x->g, ir_triangle(x->g->ir, x->ref, k, false)) : NULL;
}

// ---- random numbers -------------------------------------------------------------------------------------
#define RANDOM(name)                                                                               \
    weft_expr *weft_random_##name(weft_graph *g, weft_stream s, weft_dtype t, int rank,            \
                                  const int64_t *dims) {                                           \
        const struct ir_stream stream = {s.key, s.offset, rank, dims};                             \
        if (!g || !shape_ok(g, "random_" #name, WEFT_U64, rank, dims)) return NULL;                \
        return graph_wrap(g, ir_random_##name(g->ir, t, &stream));                                 \
    }
RANDOM(bits)
RANDOM(uniform)
RANDOM(normal)
weft_expr *weft_random_integers(weft_graph *g, weft_stream s, weft_bounds b, weft_dtype t, int rank,
                                const int64_t *dims) {
    const struct ir_stream stream = {s.key, s.offset, rank, dims};
    const int64_t ends[2] = {b.low, b.high};
    if (!g || !shape_ok(g, "random_integers", WEFT_U64, rank, dims)) return NULL;
    return graph_wrap(g, ir_random_integers(g->ir, t, &stream, ends));
}

// ---- made of reductions ---------------------------------------------------------------------------------
static const weft_reduce *options(weft_graph *g, const weft_reduce *r) {
    static const weft_reduce all = {.size = sizeof all};
    if (!r) return &all;
    if (r->size == sizeof *r) return r;
    graph_fail(g, WEFT_EINVAL, "reduce: size is not sizeof(weft_reduce)");
    return NULL;
}
weft_expr *weft_softmax(weft_expr *x, int axis) {
    return x ? graph_wrap(x->g, ir_softmax(x->g->ir, x->ref, axis)) : NULL;
}
weft_expr *weft_log_softmax(weft_expr *x, int axis) {
    return x ? graph_wrap(x->g, ir_log_softmax(x->g->ir, x->ref, axis)) : NULL;
}
weft_expr *weft_logsumexp(weft_expr *x, const weft_reduce *r) {
    if (!x || !(r = options(x->g, r))) return NULL;
    return graph_wrap(x->g, ir_logsumexp(x->g->ir, x->ref, r));
}
weft_expr *weft_ptp(weft_expr *x, const weft_reduce *r) {
    if (!x || !(r = options(x->g, r))) return NULL;
    return graph_wrap(x->g, ir_ptp(x->g->ir, x->ref, r));
}
weft_expr *weft_norm(weft_expr *x, double order, const weft_reduce *r) {
    if (!x || !(r = options(x->g, r))) return NULL;
    return graph_wrap(x->g, ir_norm(x->g->ir, x->ref, order, r));
}
weft_expr *weft_diff(weft_expr *x, int n, int axis) {
    return x ? graph_wrap(x->g, ir_diff(x->g->ir, x->ref, n, axis)) : NULL;
}
weft_expr *weft_trapezoid(weft_expr *y, weft_expr *x, double dx, int axis) {
    const struct ir_steps s = {dx, axis};
    if (x && !GRAPH_OF(y, x)) return NULL;
    return y ? graph_wrap(y->g, ir_trapezoid(y->g->ir, y->ref, x ? x->ref : IR_NONE, &s)) : NULL;
}
