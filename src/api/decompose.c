// SPDX-License-Identifier: MIT
// Linear systems, decompositions and Fourier transforms: operands brought to f32 or f64, their batches made
// alike, then one call step (LAPACK, FFTW); what is a view or a product of that is left to the graph.
#include <math.h>
#include <stdio.h>

#include "api.h"

static weft_expr *refuse(weft_expr *x, weft_status s, const char *text) { return graph_fail(x->g, s, text); }

static bool ready(weft_expr *a, weft_expr *b) {
    if (!a || !b) return false;
    if (a->g == b->g) return true;
    refuse(a, WEFT_EINVAL, "operands belong to different graphs");
    return false;
}

// As f32 when that is what x is or is stored for, else as f64. Complex stays and is refused by the rule.
static weft_dtype real_type(weft_dtype t) {
    if (dtype_is_complex(t)) return t;
    return t == WEFT_F32 || dtype_is_half(t) ? WEFT_F32 : WEFT_F64;
}
static weft_expr *as_real(weft_expr *x) { return x ? weft_cast(x, real_type(weft_expr_dtype(x))) : NULL; }

// ---- systems ------------------------------------------------------------------------------------------
// The leading axes of both, broadcast; false after an error.
static bool same_batch(weft_expr **a, weft_expr **b, int tail_b) {
    int64_t da[WEFT_MAX_RANK], db[WEFT_MAX_RANK];
    const int la = weft_expr_rank(*a) - 2, lb = weft_expr_rank(*b) - tail_b, lead = MAX_OF(la, lb);
    if (lead + 2 > WEFT_MAX_RANK) return refuse(*a, WEFT_ESHAPE, "solve: too many axes");
    for (int i = 0; i < lead; i++) {
        const int64_t x = i < lead - la ? 1 : weft_expr_dims(*a)[i - (lead - la)];
        const int64_t y = i < lead - lb ? 1 : weft_expr_dims(*b)[i - (lead - lb)];
        if (x != y && x != 1 && y != 1) return refuse(*a, WEFT_ESHAPE, "solve: the leading axes do not broadcast");
        da[i] = db[i] = x == 1 ? y : x;
    }
    for (int i = 0; i < 2; i++)
        da[lead + i] = weft_expr_dims(*a)[la + i];
    for (int i = 0; i < tail_b; i++)
        db[lead + i] = weft_expr_dims(*b)[lb + i];
    *a = weft_broadcast_to(*a, lead + 2, da);
    *b = weft_broadcast_to(*b, lead + tail_b, db);
    return *a && *b;
}

static weft_expr *system_call(enum ir_op op, weft_expr *a, weft_expr *b, const int64_t *attr, int nattr) {
    if (!ready(a, b)) return NULL;
    const weft_dtype t = weft_result_type(real_type(weft_expr_dtype(a)), real_type(weft_expr_dtype(b)));
    const bool vector = weft_expr_rank(b) == 1;
    if (weft_expr_rank(a) < 2 || weft_expr_rank(b) < 1) return refuse(a, WEFT_ESHAPE, "solve: not a matrix and a vector or matrix");
    a = weft_cast(a, t), b = weft_cast(b, t);
    if (vector) b = weft_expand_dims(b, 1);
    if (!a || !b || !same_batch(&a, &b, 2)) return NULL;
    weft_expr *x = api_call(op, (weft_expr *[]){a, b}, attr, nattr);
    return vector ? weft_squeeze(x, -1) : x;
}

weft_expr *weft_solve(weft_expr *a, weft_expr *b) { return system_call(IR_solve, a, b, NULL, 0); }

weft_expr *weft_solve_triangular(weft_expr *a, weft_expr *b, const weft_triangle *t) {
    static const weft_triangle lower = {.size = sizeof lower};
    if (!t) t = &lower;
    if (a && t->size != sizeof *t) return refuse(a, WEFT_EINVAL, "solve_triangular: size is not sizeof(weft_triangle)");
    return system_call(IR_triangular, a, b, (int64_t[]){t->upper, t->transposed, t->unit_diagonal}, 3);
}

weft_expr *weft_inv(weft_expr *x) {
    if (!(x = as_real(x))) return NULL;
    const int r = weft_expr_rank(x);
    if (r < 2) return refuse(x, WEFT_ESHAPE, "inv: not a matrix");
    const int64_t n = weft_expr_dims(x)[r - 1];
    return weft_solve(x, weft_eye(x->g, weft_expr_dtype(x), n, n, 0));
}

// ---- decompositions -------------------------------------------------------------------------------------
weft_expr *weft_cholesky(weft_expr *x, bool upper) {
    x = as_real(x);
    return x ? api_call(IR_cholesky, &x, (int64_t[]){upper}, 1) : NULL;
}

static void give(weft_expr **to, weft_expr *call, int k) {
    if (to) *to = api_result(call, k);
}

void weft_qr(weft_expr *x, weft_expr **q, weft_expr **r) {
    x = as_real(x);
    weft_expr *call = x ? api_call(IR_qr, &x, NULL, 0) : NULL;
    give(q, call, 0), give(r, call, 1);
}

void weft_eigh(weft_expr *x, weft_expr **values, weft_expr **vectors) {
    x = as_real(x);
    weft_expr *call = x ? api_call(IR_eigh, &x, NULL, 0) : NULL;
    give(values, call, 0), give(vectors, call, 1);
}

void weft_svd(weft_expr *x, bool whole, weft_expr **u, weft_expr **s, weft_expr **vt) {
    x = as_real(x);
    weft_expr *call = x ? api_call(IR_svd, &x, (int64_t[]){whole}, 1) : NULL;
    give(u, call, 0), give(s, call, 1), give(vt, call, 2);
}

// The diagonal of U and the sign of the row exchanges.
static bool factor(weft_expr *x, weft_expr **diagonal, weft_expr **sign) {
    const weft_reduce last = {.size = sizeof last, .axes = (int[]){-1}, .naxes = 1};
    if (!(x = as_real(x))) return false;
    const int r = weft_expr_rank(x);
    if (r < 2 || weft_expr_dims(x)[r - 1] != weft_expr_dims(x)[r - 2])
        return refuse(x, WEFT_ESHAPE, "det: the last two axes are not of a square");
    const int64_t n = weft_expr_dims(x)[r - 1];
    weft_expr *lu = api_call(IR_lu, &x, NULL, 0), *rows = api_result(lu, 1);
    weft_expr *moved = weft_count_nonzero(weft_not_equal(rows, weft_iota(x->g, WEFT_I64, 1, &n, 0)), &last);
    weft_expr *odd = weft_bitwise_and(moved, weft_int(x->g, 1));
    *diagonal = weft_diagonal(lu, 0, -2, -1);
    *sign = weft_cast(weft_sub(weft_int(x->g, 1), weft_mul(odd, weft_int(x->g, 2))), weft_expr_dtype(x));
    return *diagonal && *sign;
}

weft_expr *weft_det(weft_expr *x) {
    const weft_reduce last = {.size = sizeof last, .axes = (int[]){-1}, .naxes = 1};
    weft_expr *d, *sign;
    return factor(x, &d, &sign) ? weft_mul(sign, weft_prod(d, &last)) : NULL;
}

void weft_slogdet(weft_expr *x, weft_expr **sign, weft_expr **logdet) {
    const weft_reduce last = {.size = sizeof last, .axes = (int[]){-1}, .naxes = 1};
    weft_expr *d = NULL, *s = NULL;
    const bool ok = factor(x, &d, &s);
    if (sign) *sign = ok ? weft_mul(s, weft_prod(weft_sign(d), &last)) : NULL;
    if (logdet) *logdet = ok ? weft_sum(weft_log(weft_abs(d)), &last) : NULL;
}

// ---- Fourier transforms -----------------------------------------------------------------------------------
// n elements along axis: cut, or followed by zeros.
static weft_expr *fitted(weft_expr *x, int axis, int64_t n) {
    int64_t none[WEFT_MAX_RANK] = {0}, after[WEFT_MAX_RANK] = {0};
    if (!x) return NULL;
    const int64_t have = weft_expr_dims(x)[axis];
    if (have == n) return x;
    if (have > n) return weft_slice(x, axis, 0, n, 1);
    after[axis] = n - have;
    return weft_pad(x, &(weft_padding){.size = sizeof(weft_padding), .before = none, .after = after});
}

static weft_expr *scaled(weft_expr *x, double by) { return by == 1 || !x ? x : weft_mul(x, weft_float(x->g, by)); }

// NumPy's norms: what a transform of n elements is multiplied by.
static double scale_of(weft_fft_norm norm, bool back, int64_t n) {
    if (norm == WEFT_FFT_ORTHO) return 1 / sqrt((double)n);
    return (norm == WEFT_FFT_FORWARD) != back ? 1 / (double)n : 1;
}

struct transform {
    const char *name;
    weft_expr *x;
    int axis;
    int64_t n; // after defaults
    weft_fft_norm norm;
};
static bool begin(struct transform *t, const weft_fft_opts *o, int64_t usual) {
    static const weft_fft_opts plain = {.size = sizeof plain, .axis = -1};
    char text[96];
    if (!o) o = &plain;
    if (o->size != sizeof *o || (unsigned)o->norm > WEFT_FFT_FORWARD)
        return refuse(t->x, WEFT_EINVAL, "fft: not a weft_fft_opts");
    if ((t->axis = api_axis(t->name, t->x, o->axis)) < 0) return false;
    const int64_t have = weft_expr_dims(t->x)[t->axis];
    t->norm = o->norm;
    t->n = o->n ? o->n : usual ? usual * (have - 1) : have;
    if (t->n > 0 && have > 0) return true;
    snprintf(text, sizeof text, "%s: a transform of %lld elements", t->name, (long long)t->n);
    return refuse(t->x, WEFT_ESHAPE, text);
}

static weft_expr *complex_fft(weft_expr *x, const weft_fft_opts *o, bool back) {
    struct transform t = {back ? "ifft" : "fft", x, 0, 0, WEFT_FFT_BACKWARD};
    if (!x || !begin(&t, o, 0)) return NULL;
    weft_expr *re = fitted(as_real(weft_real(x)), t.axis, t.n), *im = fitted(as_real(weft_imag(x)), t.axis, t.n);
    weft_expr *call = api_call(IR_fft, (weft_expr *[]){re, im}, (int64_t[]){t.axis, back}, 2);
    const double s = scale_of(t.norm, back, t.n);
    return weft_complex(scaled(call, s), scaled(api_result(call, 1), s));
}
weft_expr *weft_fft(weft_expr *x, const weft_fft_opts *o) { return complex_fft(x, o, false); }
weft_expr *weft_ifft(weft_expr *x, const weft_fft_opts *o) { return complex_fft(x, o, true); }

weft_expr *weft_rfft(weft_expr *x, const weft_fft_opts *o) {
    struct transform t = {"rfft", x, 0, 0, WEFT_FFT_BACKWARD};
    if (!x || !begin(&t, o, 0)) return NULL;
    if (dtype_is_complex(weft_expr_dtype(x))) return refuse(x, WEFT_EDTYPE, "rfft: the operand is complex");
    x = fitted(as_real(x), t.axis, t.n);
    weft_expr *call = x ? api_call(IR_rfft, &x, (int64_t[]){t.axis}, 1) : NULL;
    const double s = scale_of(t.norm, false, t.n);
    return weft_complex(scaled(call, s), scaled(api_result(call, 1), s));
}

weft_expr *weft_irfft(weft_expr *x, const weft_fft_opts *o) {
    struct transform t = {"irfft", x, 0, 0, WEFT_FFT_BACKWARD};
    if (!x || !begin(&t, o, 2)) return NULL;
    const int64_t half = t.n / 2 + 1;
    weft_expr *re = fitted(as_real(weft_real(x)), t.axis, half), *im = fitted(as_real(weft_imag(x)), t.axis, half);
    weft_expr *call = api_call(IR_irfft, (weft_expr *[]){re, im}, (int64_t[]){t.axis, t.n}, 2);
    return scaled(call, scale_of(t.norm, true, t.n));
}
