// SPDX-License-Identifier: MIT
// Rules of linear algebra and of Fourier transforms: operands are f32 or f64, matrices are the last two axes.
#include "call.h"

static bool is_matrix(const struct ir_ask *r, int i, struct ir_shape *s) {
    *s = ir_rule_shape(r, i);
    if (s->dtype != WEFT_F32 && s->dtype != WEFT_F64)
        return RULE_FAIL(r, WEFT_EDTYPE, "only for f32 and f64");
    return s->rank >= 2 || RULE_FAIL(r, WEFT_ESHAPE, "operand %d is not a matrix", i);
}

static bool is_square(const struct ir_ask *r, struct ir_shape *s) {
    if (!is_matrix(r, 0, s)) return false;
    const int64_t m = s->dims[s->rank - 2], n = s->dims[s->rank - 1];
    return m == n || RULE_FAIL(r, WEFT_ESHAPE, "the matrix is not square: %lld x %lld", (long long)m, (long long)n);
}

bool ir_rule_cholesky(const struct ir_ask *r, struct ir_shape *out) {
    return is_square(r, &out[0]);
}

// solve, triangular: x in the shape of the second operand; the builder has made the batches alike
bool ir_rule_solve(const struct ir_ask *r, struct ir_shape *out) {
    struct ir_shape a;
    if (!is_square(r, &a) || !is_matrix(r, 1, &out[0])) return false;
    if (a.dtype != out[0].dtype) return RULE_FAIL(r, WEFT_EDTYPE, "types differ");
    bool fits = a.rank == out[0].rank && a.dims[a.rank - 1] == out[0].dims[a.rank - 2];
    for (int i = 0; fits && i < a.rank - 2; i++)
        fits = a.dims[i] == out[0].dims[i];
    return fits || RULE_FAIL(r, WEFT_ESHAPE, "the matrix does not fit the right-hand sides");
}

bool ir_rule_lu(const struct ir_ask *r, struct ir_shape *out) {
    if (!is_matrix(r, 0, &out[0])) return false;
    out[1] = out[0];
    out[1].dtype = WEFT_I64;
    out[1].rank--;
    out[1].dims[out[1].rank - 1] = MIN_OF(out[0].dims[out[0].rank - 2], out[0].dims[out[0].rank - 1]);
    return true;
}

bool ir_rule_qr(const struct ir_ask *r, struct ir_shape *out) {
    if (!is_matrix(r, 0, &out[0])) return false;
    const int at = out[0].rank - 2;
    const int64_t k = MIN_OF(out[0].dims[at], out[0].dims[at + 1]);
    out[1] = out[0];
    out[0].dims[at + 1] = k;
    out[1].dims[at] = k;
    return true;
}

bool ir_rule_eigh(const struct ir_ask *r, struct ir_shape *out) {
    if (!is_square(r, &out[1])) return false;
    out[0] = out[1];
    out[0].rank--;
    return true;
}

// [whole]: u, singular values, v^T
bool ir_rule_svd(const struct ir_ask *r, struct ir_shape *out) {
    if (!is_matrix(r, 0, &out[0])) return false;
    const int at = out[0].rank - 2;
    const int64_t m = out[0].dims[at], n = out[0].dims[at + 1], k = MIN_OF(m, n);
    if (r->attr[0] && !k) return RULE_FAIL(r, WEFT_ESHAPE, "no elements");
    out[1] = out[2] = out[0];
    out[0].dims[at + 1] = r->attr[0] ? m : k;
    out[1].rank--;
    out[1].dims[at] = k;
    out[2].dims[at] = r->attr[0] ? n : k;
    return true;
}

// ---- transforms -----------------------------------------------------------------------------------------
static bool is_line(const struct ir_ask *r, struct ir_shape *s) {
    *s = ir_rule_shape(r, 0);
    if (s->dtype != WEFT_F32 && s->dtype != WEFT_F64) return RULE_FAIL(r, WEFT_EDTYPE, "only for f32 and f64");
    if (r->attr[0] < 0 || r->attr[0] >= s->rank)
        return RULE_FAIL(r, WEFT_EINVAL, "axis %lld is out of range", (long long)r->attr[0]);
    return s->dims[r->attr[0]] > 0 || RULE_FAIL(r, WEFT_ESHAPE, "a transform of no elements");
}

static bool same_parts(const struct ir_ask *r) {
    const struct ir_shape a = ir_rule_shape(r, 0), b = ir_rule_shape(r, 1);
    const size_t bytes = (size_t)a.rank * sizeof *a.dims;
    return (a.dtype == b.dtype && a.rank == b.rank && !memcmp(a.dims, b.dims, bytes)) ||
           RULE_FAIL(r, WEFT_ESHAPE, "the parts differ in shape or type");
}

bool ir_rule_fft(const struct ir_ask *r, struct ir_shape *out) {
    if (!is_line(r, &out[0]) || !same_parts(r)) return false;
    out[1] = out[0];
    return true;
}

bool ir_rule_rfft(const struct ir_ask *r, struct ir_shape *out) {
    if (!is_line(r, &out[0])) return false;
    out[0].dims[r->attr[0]] = out[0].dims[r->attr[0]] / 2 + 1;
    out[1] = out[0];
    return true;
}

// [axis, n]
bool ir_rule_irfft(const struct ir_ask *r, struct ir_shape *out) {
    if (!is_line(r, &out[0]) || !same_parts(r)) return false;
    if (r->attr[1] < 1 || r->attr[1] / 2 + 1 != out[0].dims[r->attr[0]])
        return RULE_FAIL(r, WEFT_ESHAPE, "%lld elements are not made of so many coefficients", (long long)r->attr[1]);
    out[0].dims[r->attr[0]] = r->attr[1];
    return true;
}
