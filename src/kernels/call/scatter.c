// SPDX-License-Identifier: MIT
// scatter: attributes [axis, weft_scatter_op, weft_index_mode, along]; in: x, index, values; out: x with values
// put or combined where the index says. Indices are checked first, in row-major order, so the sentence names
// the first that is out of range, and nothing outside is touched. Then x is copied, then values go in: along
// every line of the axis in index order, by one thread, so duplicates are defined. Lines are what threads
// share; where there is one line only, they share its places instead, each passing over what is not its own.
#include <stdio.h>

#include "combine.h"

struct scatter {
    const struct kern_call *c;
    const weft_array *x, *index, *values, *out;
    int axis, mode, cols_axis; // cols_axis: of x, whose elements one index serves; -1: none
    bool along;
    combine_fn *combine;
    size_t size;
    int64_t n, k, cols, lines; // extent of the axis, indices of a line, elements per index
    int64_t *place;            // not along: the indices, brought inside
    int64_t shares;            // parts of the axis
};

// ---- indices ---------------------------------------------------------------------------------------------------
// Beyond int64_t it is as far out as can be, or, where only the remainder counts, that.
static int64_t read_index(const struct scatter *s, const char *p) {
    const weft_dtype t = s->index->dtype;
    int64_t v = 0;
    const bool negative = dtype_is_signed(t) && (p[dtype_size(t) - 1] & 0x80); // little-endian
    if (negative) v = -1;
    memcpy(&v, p, dtype_size(t));
    if (t != WEFT_U64 || v >= 0) return v;
    return s->mode == WEFT_INDEX_WRAP ? (int64_t)((uint64_t)v % (uint64_t)s->n) : INT64_MAX;
}

// Inside 0..n-1, or -1: out of range.
static int64_t bring_inside(const struct scatter *s, int64_t v) {
    if (s->mode == WEFT_INDEX_CLIP) return v < 0 ? 0 : v >= s->n ? s->n - 1 : v;
    if (s->mode == WEFT_INDEX_WRAP) return v % s->n + (v % s->n < 0 ? s->n : 0);
    if (v < 0) v += v < -s->n ? 0 : s->n;
    return v >= 0 && v < s->n ? v : -1;
}

static weft_status blame(const struct scatter *s, int64_t i, int64_t v, struct base_err *err) {
    char text[200] = "";
    int64_t at[WEFT_MAX_RANK];
    size_t used = 0;
    for (int d = s->index->rank - 1; d >= 0; d--) {
        at[d] = i % s->index->dims[d];
        i /= s->index->dims[d];
    }
    for (int d = 0; d < s->index->rank && used < sizeof text; d++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld", d ? "," : "",
                                 (long long)at[d]);
    return err_set(err, WEFT_EINDEX, "scatter: index %lld at [%s] is out of range for axis %d of extent %lld",
                   (long long)v, text, s->axis, (long long)s->n);
}

static weft_status check_indices(const struct scatter *s, struct base_err *err) {
    const int64_t n = call_elements(s->index);
    for (int64_t i = 0; i < n && (!s->along || s->mode == WEFT_INDEX_RAISE); i++) {
        if (i % CALL_STRETCH == 0 && kern_tick(&s->c->watch, CALL_CYCLES)) return WEFT_ECANCELED;
        const int64_t v = read_index(s, call_element(s->index, i));
        const int64_t to = bring_inside(s, v);
        if (to < 0) return blame(s, i, v, err);
        if (!s->along) s->place[i] = to;
    }
    return WEFT_OK;
}

// ---- lines -----------------------------------------------------------------------------------------------------
static void copy_line(void *arg, int64_t line, int worker) {
    (void)worker;
    const struct scatter *s = arg;
    const int axis = s->cols_axis >= 0 ? s->cols_axis : s->axis;
    const int64_t step = s->x->strides[axis], to_step = s->out->strides[axis], size = (int64_t)s->size;
    CALL_STRETCHES(&s->c->watch, 0, s->x->dims[axis], begin, end) {
        const char *from = call_at(call_line(s->x, axis, line), begin * step);
        char *to = call_at(call_line(s->out, axis, line), begin * to_step);
        if (step == size)
            call_unpack(to, to_step, from, s->size, end - begin);
        else if (to_step == size)
            call_pack(to, from, step, s->size, end - begin);
        else
            for (int64_t i = 0; i < end - begin; i++)
                memcpy(call_at(to, i * to_step), call_at(from, i * step), s->size);
    }
}

// Line number `line` of out over the axes that are neither the axis nor the columns: the address in out, and in
// values, whose axes before and behind are the same.
static void find_line(const struct scatter *s, int64_t line, char **out, const char **values,
                      const char **index) {
    const int more = s->along ? 0 : s->index->rank - 1;
    int64_t o = 0, v = 0, i = 0;
    for (int d = s->out->rank - 1; d >= 0; d--) {
        if (d == s->axis || d == s->cols_axis) continue;
        const int64_t at = line % s->out->dims[d];
        line /= s->out->dims[d];
        o += at * s->out->strides[d];
        v += at * s->values->strides[d < s->axis ? d : d + more];
        if (s->along) i += at * s->index->strides[d];
    }
    *out = call_at(s->out->data, o);
    *values = call_at(s->values->data, v);
    *index = call_at(s->index->data, i);
}

static void put_line(void *arg, int64_t i, int worker) {
    (void)worker;
    const struct scatter *s = arg;
    const int64_t share = i % s->shares, low = s->n * share / s->shares, high = s->n * (share + 1) / s->shares;
    const int64_t step = s->out->strides[s->axis];
    const int64_t out_cols = s->cols_axis < 0 ? 0 : s->out->strides[s->cols_axis];
    const int more = s->along ? 0 : s->index->rank - 1;
    const int64_t value_cols = s->cols_axis < 0 ? 0 : s->values->strides[s->cols_axis + more];
    char *out;
    const char *values, *index;
    find_line(s, i / s->shares, &out, &values, &index);
    // the axes of the index inside values
    weft_array v = {.rank = s->along ? 1 : s->index->rank, .data = (char *)(uintptr_t)values};
    for (int d = 0; d < v.rank; d++) {
        v.dims[d] = s->values->dims[s->axis + d];
        v.strides[d] = s->values->strides[s->axis + d];
    }
    const bool even = v.rank == 1;
    const int64_t often = MAX_OF(CALL_STRETCH / MAX_OF(s->cols, 1), 1);
    for (int64_t k = 0; k < s->k; k++) {
        if (k % often == 0 && kern_tick(&s->c->watch, CALL_CYCLES)) return;
        const int64_t at =
            s->along ? bring_inside(s, read_index(s, call_at(index, k * s->index->strides[s->axis])))
                     : s->place[k];
        if (at < low || at >= high) continue;
        const char *from = even ? call_at(values, k * v.strides[0]) : call_element(&v, k);
        CALL_STRETCHES(&s->c->watch, 0, s->cols, c, end)
            s->combine(call_at(out, at * step + c * out_cols), out_cols, call_at(from, c * value_cols),
                       value_cols, end - c);
    }
}

static void run(const struct scatter *s, int64_t n, double work,
                void (*body)(void *arg, int64_t i, int worker)) {
    if (n > 1 && call_threads(s->c, work) > 1) {
        s->c->run(s->c->ud, n, body, (void *)(uintptr_t)s);
        return;
    }
    for (int64_t i = 0; i < n && !kern_tick(&s->c->watch, 4); i++)
        body((void *)(uintptr_t)s, i, 0);
}

// ---- the call --------------------------------------------------------------------------------------------------
int64_t call_scatter_scratch(const struct kern_call *c) {
    return c->attr[3] ? 0 : 8 * call_elements(&c->in[1]);
}

weft_status call_scatter(const struct kern_call *c, struct base_err *err) {
    struct scatter s = {.c = c, .x = &c->in[0], .index = &c->in[1], .values = &c->in[2], .out = &c->out[0],
                        .axis = (int)c->attr[0], .mode = (int)c->attr[2], .cols_axis = -1,
                        .along = c->attr[3] != 0, .size = dtype_size(c->in[0].dtype), .place = c->scratch,
                        .shares = 1, .cols = 1, .lines = 1};
    s.n = s.x->dims[s.axis];
    s.k = s.along ? s.index->dims[s.axis] : call_elements(s.index);
    s.combine = combine_of((weft_scatter_op)c->attr[1], s.x->dtype);
    if (s.index->data) TRY(check_indices(&s, err));
    if (!s.out->data || !s.x->data) return WEFT_OK;
    for (int d = s.axis + 1; d < s.x->rank && !s.along; d++)
        if (s.x->dims[d] != 1) s.cols_axis = d;
    if (s.cols_axis >= 0) s.cols = s.x->dims[s.cols_axis];
    const double all = (double)call_elements(s.x);
    run(&s, call_lines(s.x, s.cols_axis >= 0 ? s.cols_axis : s.axis), all, copy_line);
    if (!s.index->data || !s.values->data) return WEFT_OK;
    for (int d = 0; d < s.x->rank; d++)
        if (d != s.axis && d != s.cols_axis) s.lines *= s.x->dims[d];
    if (s.lines < c->threads && !s.along) s.shares = MIN_OF((int64_t)c->threads, s.n);
    run(&s, s.lines * s.shares, (double)s.lines * (double)s.k * (double)s.cols, put_line);
    return WEFT_OK;
}
