// SPDX-License-Identifier: MIT
// Linear algebra and Fourier transforms in calls, by their NumPy and SciPy names. Functions with several results
// give them all: qr(x) is two, qr(x)[0] the first.
#include "call.h"

#include <stdlib.h>
#include <string.h>

static bool truth(struct parser *p, struct call *c, enum keyword k, bool *t) {
    return !call_has(c, k) || call_truth(p, &c->kw[k], t);
}

// ---- products -----------------------------------------------------------------------------------
static bool run_einsum(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x[CALL_ARGS];
    char spec[256];
    const struct value *v = &c->arg[0];
    if (v->kind != V_TEXT) return parse_fail(p, v->at, "einsum wants subscripts between quotes first");
    if (v->len >= sizeof spec) return parse_fail(p, v->at, "these subscripts are too long");
    memcpy(spec, p->text + v->at + 1, v->len);
    spec[v->len] = 0;
    for (int i = 1; i < c->n; i++)
        if (!(x[i - 1] = call_expr(p, c, i))) return false;
    return call_built(p, c, weft_einsum(spec, c->n - 1, x), out);
}

// tensordot(a, b, axes=2): the last n axes of a with the first of b; axes=((1, 0), (0, 1)) is two tuples
static bool run_tensordot(struct parser *p, struct call *c, struct value *out) {
    int n = 2, left[WEFT_MAX_RANK], right[WEFT_MAX_RANK];
    weft_expr *a = call_expr(p, c, 0), *b = call_expr(p, c, 1);
    const struct value *v = c->n > 2 ? &c->arg[2] : call_has(c, K_AXES) ? &c->kw[K_AXES] : NULL;
    if (!a || !b) return false;
    if (c->n == 4) { // tensordot(a, b, (1, 0), (0, 1))
        weft_reduce l = {.size = sizeof l}, r = l;
        if (!call_axes(p, &c->arg[2], &l, left) || !call_axes(p, &c->arg[3], &r, right)) return false;
        if (l.naxes != r.naxes) return parse_fail(p, v->at, "as many axes of the one as of the other");
        return call_built(p, c, weft_tensordot(a, b, l.naxes, left, right), out);
    }
    if (v && !value_index(p, v, "the number of axes", &n)) return false;
    if (n < 0 || n > WEFT_MAX_RANK) return parse_fail(p, v->at, "the number of axes is out of range");
    for (int i = 0; i < n; i++)
        left[i] = i - n, right[i] = i;
    return call_built(p, c, weft_tensordot(a, b, n, left, right), out);
}

static bool run_cross(struct parser *p, struct call *c, struct value *out) {
    int axis = -1;
    weft_expr *a = call_expr(p, c, 0), *b = call_expr(p, c, 1);
    return a && b && call_axis(p, c, 2, K_AXIS, &axis) && call_built(p, c, weft_cross(a, b, axis), out);
}

static bool run_power(struct parser *p, struct call *c, struct value *out) {
    int64_t n = 0;
    weft_expr *x = call_expr(p, c, 0);
    return x && value_int(p, &c->arg[1], "a power", &n) && call_built(p, c, weft_matrix_power(x, n), out);
}

static bool run_trace(struct parser *p, struct call *c, struct value *out) {
    int offset = 0, axis1 = 0, axis2 = 1;
    weft_expr *x = call_expr(p, c, 0);
    return x && call_axis(p, c, 1, K_OFFSET, &offset) && call_axis(p, c, 2, K_AXIS1, &axis1) &&
           call_axis(p, c, 3, K_AXIS2, &axis2) && call_built(p, c, weft_trace(x, offset, axis1, axis2), out);
}

// ---- decompositions ------------------------------------------------------------------------------
static bool run_cholesky(struct parser *p, struct call *c, struct value *out) {
    bool upper = false;
    weft_expr *x = call_expr(p, c, 0);
    return x && truth(p, c, K_UPPER, &upper) && call_built(p, c, weft_cholesky(x, upper), out);
}

static bool run_triangular(struct parser *p, struct call *c, struct value *out) {
    weft_triangle t = {.size = sizeof t};
    bool lower = false; // SciPy's default
    weft_expr *a = call_expr(p, c, 0), *b = call_expr(p, c, 1);
    if (!a || !b || !truth(p, c, K_LOWER, &lower) || !truth(p, c, K_TRANS, &t.transposed) ||
        !truth(p, c, K_UNIT, &t.unit_diagonal))
        return false;
    t.upper = !lower;
    return call_built(p, c, weft_solve_triangular(a, b, &t), out);
}

static bool run_several(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x = call_expr(p, c, 0), *r[3] = {NULL, NULL, NULL};
    bool whole = true; // NumPy's default
    if (!x || !truth(p, c, K_WHOLE, &whole)) return false;
    switch (c->row->name[0]) {
    case 'q': weft_qr(x, &r[0], &r[1]); return call_several(p, c, out, 2, r);
    case 'e': weft_eigh(x, &r[0], &r[1]); return call_several(p, c, out, 2, r);
    case 's':
        if (c->row->name[1] == 'l') {
            weft_slogdet(x, &r[0], &r[1]);
            return call_several(p, c, out, 2, r);
        }
        weft_svd(x, whole, &r[0], &r[1], &r[2]);
        return call_several(p, c, out, 3, r);
    default: return false;
    }
}

// eigvalsh, svdvals: the values alone
static bool run_values(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x = call_expr(p, c, 0), *v = NULL;
    if (!x) return false;
    if (c->row->name[0] == 'e')
        weft_eigh(x, &v, NULL);
    else
        weft_svd(x, false, NULL, &v, NULL);
    return call_built(p, c, v, out);
}

// ---- transforms ---------------------------------------------------------------------------------
static bool run_fft(struct parser *p, struct call *c, struct value *out) {
    static const struct {
        const char *name;
        weft_expr *(*run)(weft_expr *, const weft_fft_opts *);
    } all[] = {{"fft", weft_fft}, {"ifft", weft_ifft}, {"rfft", weft_rfft}, {"irfft", weft_irfft}};
    weft_fft_opts o = {.size = sizeof o, .axis = -1};
    weft_expr *x = call_expr(p, c, 0);
    const struct value *n = c->n > 1 ? &c->arg[1] : call_given(c, K_LENGTH) ? &c->kw[K_LENGTH] : NULL;
    if (!x || (n && n->kind != V_NONE && !value_int(p, n, "a length", &o.n))) return false;
    if (!call_axis(p, c, 2, K_AXIS, &o.axis)) return false;
    if (n && o.n < 1) return parse_fail(p, n->at, "a transform has at least one element");
    if (call_has(c, K_NORM)) o.norm = (weft_fft_norm)c->kw[K_NORM].u;
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (!strcmp(c->row->name, all[i].name)) return call_built(p, c, all[i].run(x, &o), out);
    return false;
}

// ---- names ------------------------------------------------------------------------------------
#define FFT_KEYS KW(LENGTH) | KW(AXIS) | KW(NORM)
static const struct row rows[] = {
    TWO(inner, inner),
    TWO(outer, outer),
    TWO(vdot, vdot),
    TWO(kron, kron),
    CALL(cross, run_cross, 2, 3, KW(AXIS)),
    CALL(tensordot, run_tensordot, 2, 4, KW(AXES)),
    CALL(einsum, run_einsum, 2, CALL_ARGS, 0),
    CALL(matrix_power, run_power, 2, 2, 0),
    CALL(trace, run_trace, 1, 4, KW(OFFSET) | KW(AXIS1) | KW(AXIS2)),
    TWO(solve, solve),
    CALL(solve_triangular, run_triangular, 2, 2, KW(LOWER) | KW(TRANS) | KW(UNIT)),
    ONE(inv, inv),
    ONE(det, det),
    CALL(slogdet, run_several, 1, 1, 0),
    CALL(cholesky, run_cholesky, 1, 1, KW(UPPER)),
    CALL(qr, run_several, 1, 1, 0),
    CALL(eigh, run_several, 1, 1, 0),
    CALL(eigvalsh, run_values, 1, 1, 0),
    CALL(svd, run_several, 1, 1, KW(WHOLE)),
    CALL(svdvals, run_values, 1, 1, 0),
    CALL(fft, run_fft, 1, 3, FFT_KEYS),
    CALL(ifft, run_fft, 1, 3, FFT_KEYS),
    CALL(rfft, run_fft, 1, 3, FFT_KEYS),
    CALL(irfft, run_fft, 1, 3, FFT_KEYS),
};
const struct rows call_linalg = {rows, COUNT_OF(rows)};
