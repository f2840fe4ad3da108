// SPDX-License-Identifier: MIT
// Calls with arguments of their own that are neither arrays nor axes: tolerances, slopes, orders,
// replacements. Numbers among them are read as numbers.
#include "call.h"

#include <math.h>

// A number at place i or by name; false after an error.
static bool number(struct parser *p, const struct call *c, int i, enum keyword k, double *out) {
    if (i >= 0 && c->n > i) return call_number(p, &c->arg[i], out);
    return !call_given(c, k) || call_number(p, &c->kw[k], out);
}

// isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False); allclose: all of them
static bool run_isclose(struct parser *p, struct call *c, struct value *out) {
    double rtol = 1e-5, atol = 1e-8;
    bool nan = false;
    weft_expr *a = call_expr(p, c, 0), *b = a ? call_expr(p, c, 1) : NULL;
    if (!b || !number(p, c, 2, K_RTOL, &rtol) || !number(p, c, 3, K_ATOL, &atol)) return false;
    if (call_has(c, K_EQUAL_NAN) && !call_truth(p, &c->kw[K_EQUAL_NAN], &nan)) return false;
    weft_expr *close = weft_isclose(a, b, rtol, atol, nan);
    return call_built(p, c, c->row->name[0] == 'a' ? weft_all(close, NULL) : close, out);
}

// nan_to_num(x, nan=0.0, posinf=None, neginf=None); the name nan= takes numbers here
static bool run_nan_to_num(struct parser *p, struct call *c, struct value *out) {
    double nan = 0, high = INFINITY, low = -INFINITY;
    weft_expr *x = call_expr(p, c, 0);
    if (!x || !number(p, c, 1, K_FILL, &nan) || !number(p, c, 2, K_POSINF, &high) ||
        !number(p, c, 3, K_NEGINF, &low))
        return false;
    return call_built(p, c, weft_nan_to_num(x, nan, high, low), out);
}

// leaky_relu(x, slope=0.01)
static bool run_leaky_relu(struct parser *p, struct call *c, struct value *out) {
    double slope = 0.01;
    weft_expr *x = call_expr(p, c, 0);
    return x && number(p, c, 1, K_SLOPE, &slope) &&
           call_built(p, c, weft_leaky_relu(x, slope), out);
}

// add_carry(a, b, c) and carry_out(a, b, c): the sum and what goes on
static bool run_carry(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x[3], *carry;
    for (int i = 0; i < 3; i++)
        if (!(x[i] = call_expr(p, c, i))) return false;
    weft_expr *sum = weft_add_carry(x[0], x[1], x[2], &carry);
    return call_built(p, c, c->row->name[0] == 'a' ? sum : carry, out);
}

// ---- made of reductions -------------------------------------------------------------------------
// softmax(x, axis=-1), log_softmax
static bool run_softmax(struct parser *p, struct call *c, struct value *out) {
    int axis = -1;
    weft_expr *x = call_expr(p, c, 0);
    if (!x || !call_axis(p, c, 1, K_AXIS, &axis)) return false;
    bool plain = c->row->name[0] == 's';
    return call_built(p, c, plain ? weft_softmax(x, axis) : weft_log_softmax(x, axis), out);
}

// norm(x, ord=2, axis=None, keepdims=False), of vectors
static bool run_norm(struct parser *p, struct call *c, struct value *out) {
    weft_reduce r = {.size = sizeof r};
    int axes[WEFT_MAX_RANK];
    double order = 2;
    const struct value *axis = c->n > 2 ? &c->arg[2] : call_has(c, K_AXIS) ? &c->kw[K_AXIS] : NULL;
    weft_expr *x = call_expr(p, c, 0);
    if (!x || (axis && !call_axes(p, axis, &r, axes))) return false;
    if (call_has(c, K_KEEPDIMS) && !call_truth(p, &c->kw[K_KEEPDIMS], &r.keepdims)) return false;
    return number(p, c, 1, K_ORD, &order) && call_built(p, c, weft_norm(x, order, &r), out);
}

// diff(x, n=1, axis=-1)
static bool run_diff(struct parser *p, struct call *c, struct value *out) {
    int n = 1, axis = -1;
    weft_expr *x = call_expr(p, c, 0);
    return x && call_axis(p, c, 1, K_N, &n) && call_axis(p, c, 2, K_AXIS, &axis) &&
           call_built(p, c, weft_diff(x, n, axis), out);
}

// trapezoid(y, x=None, dx=1.0, axis=-1)
static bool run_trapezoid(struct parser *p, struct call *c, struct value *out) {
    int axis = -1;
    double dx = 1;
    weft_expr *x = NULL, *y = call_expr(p, c, 0);
    if (!y || !number(p, c, 2, K_DX, &dx) || !call_axis(p, c, 3, K_AXIS, &axis)) return false;
    if (c->n > 1 && c->arg[1].kind != V_NONE && !(x = call_expr(p, c, 1))) return false;
    return call_built(p, c, weft_trapezoid(y, x, dx, axis), out);
}

// ---- names ------------------------------------------------------------------------------------
static const struct row rows[] = {
    CALL(isclose, run_isclose, 2, 4, KW(RTOL) | KW(ATOL) | KW(EQUAL_NAN)),
    CALL(allclose, run_isclose, 2, 4, KW(RTOL) | KW(ATOL) | KW(EQUAL_NAN)),
    CALL(nan_to_num, run_nan_to_num, 1, 4, KW(FILL) | KW(POSINF) | KW(NEGINF)),
    CALL(leaky_relu, run_leaky_relu, 1, 2, KW(SLOPE)),
    CALL(add_carry, run_carry, 3, 3, 0),
    CALL(carry_out, run_carry, 3, 3, 0),
    CALL(softmax, run_softmax, 1, 2, KW(AXIS)),
    CALL(log_softmax, run_softmax, 1, 2, KW(AXIS)),
    CALL(norm, run_norm, 1, 3, KW(ORD) | KW(AXIS) | KW(KEEPDIMS)),
    CALL(vector_norm, run_norm, 1, 1, KW(ORD) | KW(AXIS) | KW(KEEPDIMS)), // the standard's: keywords only
    CALL(diff, run_diff, 1, 3, KW(N) | KW(AXIS)),
    CALL(trapezoid, run_trapezoid, 1, 4, KW(DX) | KW(AXIS)),
    CALL(trapz, run_trapezoid, 1, 4, KW(DX) | KW(AXIS)),
};
const struct rows call_compositions = {rows, COUNT_OF(rows)};
