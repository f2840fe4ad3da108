// SPDX-License-Identifier: MIT
// Facts about arrays: whether the shape is sound, and whether arrays share bytes. In: descriptors
// nobody has checked; out: a sentence, or a yes or no. Sharing is a question about integers: is
// there an index vector whose address difference falls into a small interval? It is asked depth
// first from the largest stride down, cut by what the smaller strides can still reach and by their
// greatest common divisor. That is exact for every layout met in practice; a bound on the work
// makes the rest count as overlapping.
#include "walk.h"

__extension__ typedef __int128 wide;

enum { SEARCH_NODES = 20000 };

// ---- checks -----------------------------------------------------------------------------------

weft_status rt_array_check(const weft_array *a, const char *what, struct base_err *err) {
    const int64_t size = (int64_t)dtype_size(a->dtype);
    if (!size) return err_set(err, WEFT_EDTYPE, "%s: %d is not a dtype", what, (int)a->dtype);
    if (a->rank < 0 || a->rank > WEFT_MAX_RANK)
        return err_set(err, WEFT_ESHAPE, "%s: rank %d is not in 0 to %d", what, a->rank,
                       WEFT_MAX_RANK);
    bool empty = false;
    for (int d = 0; d < a->rank; d++) {
        if (a->dims[d] < 0)
            return err_set(err, WEFT_ESHAPE, "%s: axis %d has a negative extent, %lld", what, d,
                           (long long)a->dims[d]);
        empty |= a->dims[d] == 0;
    }
    int64_t bytes = size, span = size;
    for (int d = 0; d < a->rank; d++) {
        const int64_t n = a->dims[d];
        if (n == 0) continue; // the others must not overflow either: they are multiplied elsewhere
        if (bytes_over(&bytes, n))
            return err_set(err, WEFT_ESHAPE, "%s: too many bytes at axis %d", what, d);
        int64_t reach;
        if (a->strides[d] == INT64_MIN || empty)
            reach = a->strides[d] == INT64_MIN ? -1 : 0;
        else if (__builtin_mul_overflow(a->strides[d] < 0 ? -a->strides[d] : a->strides[d], n - 1,
                                        &reach))
            reach = -1;
        if (reach < 0 || __builtin_add_overflow(span, reach, &span) || span > BASE_MAX_BYTES)
            return err_set(err, WEFT_ESHAPE, "%s: the stride of axis %d, %lld, reaches too far",
                           what, d, (long long)a->strides[d]);
    }
    return WEFT_OK;
}

// ---- ranges -----------------------------------------------------------------------------------

struct rt_range rt_array_range(const weft_array *a) {
    struct rt_range r = {0, (int64_t)dtype_size(a->dtype)};
    for (int d = 0; d < a->rank; d++) {
        if (a->dims[d] <= 0) return (struct rt_range){0, 0};
        const int64_t reach = a->strides[d] * (a->dims[d] - 1);
        *(reach < 0 ? &r.low : &r.high) += reach;
    }
    return r;
}

// ---- the search -------------------------------------------------------------------------------

// Are there 0 <= y[k] <= most[k] with low <= sum coef[k] y[k] <= high? Coefficients are positive.
struct search {
    int n, nodes;
    wide coef[2 * WEFT_MAX_RANK], most[2 * WEFT_MAX_RANK];
    wide reach[2 * WEFT_MAX_RANK + 1], gcd[2 * WEFT_MAX_RANK + 1]; // of those from k on
};

// A term of the sum; equal coefficients are one term.
static void add_term(struct search *s, wide coef, wide most) {
    int i = 0;
    while (i < s->n && s->coef[i] > coef)
        i++;
    if (i < s->n && s->coef[i] == coef) {
        s->most[i] += most;
        return;
    }
    for (int k = s->n++; k > i; k--) {
        s->coef[k] = s->coef[k - 1];
        s->most[k] = s->most[k - 1];
    }
    s->coef[i] = coef;
    s->most[i] = most;
}

static void prepare(struct search *s) {
    s->nodes = SEARCH_NODES;
    s->reach[s->n] = s->gcd[s->n] = 0;
    for (int k = s->n - 1; k >= 0; k--) {
        s->reach[k] = s->reach[k + 1] + s->coef[k] * s->most[k];
        wide a = s->coef[k], b = s->gcd[k + 1];
        while (b) {
            const wide r = a % b;
            a = b;
            b = r;
        }
        s->gcd[k] = a;
    }
}

static bool find(struct search *s, int k, wide low, wide high) {
    if (high < 0 || low > s->reach[k]) return false;
    if (low <= 0) return true; // all the rest 0
    if (high / s->gcd[k] * s->gcd[k] < low) return false;
    const wide c = s->coef[k];
    wide y = MIN_OF(high / c, s->most[k]);
    if (k + 1 == s->n) return y * c >= low;
    const wide missing = low - s->reach[k + 1]; // what the smaller terms cannot do
    const wide least = missing > 0 ? (missing + c - 1) / c : 0;
    for (; y >= least; y--) {
        if (s->nodes-- <= 0) return true;
        if (find(s, k + 1, low - c * y, high - c * y)) return true;
    }
    return false;
}

// ---- questions --------------------------------------------------------------------------------

struct step { // a dim with more than one element, stride made positive
    wide stride, last;
};

static int steps_of(const weft_array *a, struct step *out) {
    int n = 0;
    for (int d = 0; d < a->rank; d++) {
        if (a->dims[d] == 1) continue;
        const wide stride = a->strides[d] < 0 ? -(wide)a->strides[d] : a->strides[d];
        int i = n++;
        for (; i > 0 && out[i - 1].stride < stride; i--)
            out[i] = out[i - 1];
        out[i] = (struct step){stride, (wide)a->dims[d] - 1};
    }
    return n;
}

static bool is_void(const weft_array *a) {
    for (int d = 0; d < a->rank; d++)
        if (a->dims[d] <= 0) return true;
    return false;
}

// Does each stride clear everything the smaller ones span? Then no two elements meet.
static bool is_nested(const struct step *x, int n, wide size) {
    wide span = size;
    for (int i = n - 1; i >= 0; i--) {
        if (x[i].stride < span) return false;
        span += x[i].stride * x[i].last;
    }
    return true;
}

// Two elements whose first difference, from the largest stride down, is in dim k.
static bool meets_in(const struct step *x, int n, int k, wide size) {
    struct search s = {0};
    wide least = x[k].stride; // y[k] counts from a difference of 1
    add_term(&s, x[k].stride, x[k].last - 1);
    for (int j = k + 1; j < n; j++) {
        add_term(&s, x[j].stride, 2 * x[j].last);
        least -= x[j].stride * x[j].last;
    }
    prepare(&s);
    return find(&s, 0, 1 - size - least, size - 1 - least);
}

bool rt_array_overlaps_itself(const weft_array *a) {
    struct step x[WEFT_MAX_RANK];
    if (is_void(a)) return false;
    const int n = steps_of(a, x);
    const wide size = (wide)dtype_size(a->dtype);
    if (is_nested(x, n, size)) return false;
    if (n && x[n - 1].stride == 0) return true;
    for (int k = 0; k < n; k++)
        if (meets_in(x, n, k, size)) return true;
    return false;
}

bool rt_arrays_overlap(const weft_array *a, const weft_array *b) {
    if (is_void(a) || is_void(b)) return false;
    const struct rt_range ra = rt_array_range(a), rb = rt_array_range(b);
    const wide at_a = (wide)(uintptr_t)a->data + ra.low, at_b = (wide)(uintptr_t)b->data + rb.low;
    const wide end_a = (wide)(uintptr_t)a->data + ra.high,
               end_b = (wide)(uintptr_t)b->data + rb.high;
    if (at_a >= end_b || at_b >= end_a) return false;
    const wide size_a = (wide)dtype_size(a->dtype), size_b = (wide)dtype_size(b->dtype);
    struct step x[WEFT_MAX_RANK], y[WEFT_MAX_RANK];
    const int na = steps_of(a, x), nb = steps_of(b, y);
    struct search s = {0};
    for (int i = 0; i < na; i++)
        if (x[i].stride) add_term(&s, x[i].stride, x[i].last);
    for (int i = 0; i < nb; i++)
        if (y[i].stride) add_term(&s, y[i].stride, y[i].last);
    prepare(&s);
    const wide base = at_a - (end_b - size_b); // a's first element less b's last
    return find(&s, 0, 1 - size_a - base, size_b - 1 - base);
}
