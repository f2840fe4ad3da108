// SPDX-License-Identifier: MIT
// scan: attributes [axis, enum kern_red]; in: x; out: its running reduction along axis. Like a reduction it
// has two orders (kern.h): along lines when nothing but extents of 1 follows the axis, else along rows, all
// columns at once; which one follows from the shape. A long line is cut in pieces of a power of two of
// blocks: totals first, joined in order, then every piece from the state it begins in, so that pieces and
// threads change no bit.
#include "call.h"

enum { CHUNK = 4096, COLS = 256, PIECES = 64, PIECE_LEAST = 64 * KERN_SCAN_RUN };
_Static_assert(CHUNK % KERN_SCAN_RUN == 0, "chunks are whole blocks");

struct scan {
    const struct kern_call *c;
    enum kern_red red;
    weft_dtype t;
    int axis, cols_axis; // cols_axis: -1 along lines
    size_t size;
    int64_t n, step_in, step_out, thread_bytes;
    int64_t cols, col_chunks; // along rows
    int64_t piece;            // elements of a piece of the one line
    struct kern_scan *state;  // of each piece
};

static struct scan scan_of(const struct kern_call *c) {
    const weft_array *x = c->in;
    struct scan s = {.c = c, .red = (enum kern_red)c->attr[1], .t = x->dtype, .axis = (int)c->attr[0],
                     .cols_axis = -1, .size = dtype_size(x->dtype)};
    for (int d = s.axis + 1; d < x->rank; d++)
        if (x->dims[d] != 1) s.cols_axis = d;
    s.n = x->dims[s.axis];
    s.step_in = x->strides[s.axis];
    s.step_out = c->out->strides[s.axis];
    s.thread_bytes = CHUNK * 8;
    if (s.cols_axis < 0) return s;
    s.cols = x->dims[s.cols_axis];
    s.col_chunks = (s.cols + COLS - 1) / COLS;
    s.thread_bytes = COLS * 8 + call_round((int64_t)kern_scan_row_state(s.t, COLS, s.n));
    return s;
}

// ---- along lines ---------------------------------------------------------------------------------------------
static bool is_dense(const struct scan *s, int64_t step) {
    return step == (int64_t)s->size;
}

static void scan_run(const struct scan *s, struct kern_scan *k, const char *x, char *out, int64_t n,
                     void *buf) {
    for (int64_t i = 0; i < n && !kern_tick(&s->c->watch, 4 * CHUNK); i += CHUNK) {
        const int64_t m = MIN_OF(CHUNK, n - i);
        const char *from = call_at(x, i * s->step_in);
        char *to = call_at(out, i * s->step_out);
        if (!is_dense(s, s->step_in)) call_pack(buf, from, s->step_in, s->size, m);
        const void *in = is_dense(s, s->step_in) ? from : buf;
        kern_scan_next(k, is_dense(s, s->step_out) ? to : buf, in, m);
        if (!is_dense(s, s->step_out)) call_unpack(to, s->step_out, buf, s->size, m);
    }
}

static void scan_line(void *arg, int64_t line, int worker) {
    const struct scan *s = arg;
    struct kern_scan k;
    kern_scan_begin(&k, s->red, s->t);
    scan_run(s, &k, call_line(s->c->in, s->axis, line), call_line(s->c->out, s->axis, line), s->n,
             call_at(s->c->scratch, s->thread_bytes * worker));
}

static void skip_piece(void *arg, int64_t i, int worker) {
    const struct scan *s = arg;
    void *buf = call_at(s->c->scratch, s->thread_bytes * worker);
    const char *x = call_at(s->c->in->data, i * s->piece * s->step_in);
    kern_scan_begin(&s->state[i], s->red, s->t);
    for (int64_t e = 0; e < s->piece && !kern_tick(&s->c->watch, CHUNK); e += CHUNK) {
        const char *from = call_at(x, e * s->step_in);
        if (!is_dense(s, s->step_in)) call_pack(buf, from, s->step_in, s->size, CHUNK);
        kern_scan_skip(&s->state[i], is_dense(s, s->step_in) ? from : buf, CHUNK);
    }
}

static void scan_piece(void *arg, int64_t i, int worker) {
    const struct scan *s = arg;
    struct kern_scan k = s->state[i];
    const int64_t at = i * s->piece;
    scan_run(s, &k, call_at(s->c->in->data, at * s->step_in),
             call_at(s->c->out->data, at * s->step_out), MIN_OF(s->piece, s->n - at),
             call_at(s->c->scratch, s->thread_bytes * worker));
}

// Each piece's own total becomes the state before it.
static void chain_states(struct scan *s, int64_t pieces) {
    struct kern_scan before, own;
    kern_scan_begin(&before, s->red, s->t);
    for (int64_t i = 0; i < pieces; i++) {
        own = s->state[i];
        s->state[i] = before;
        if (i + 1 < pieces) kern_scan_join(&before, &own);
    }
}

static void scan_long(struct scan *s) {
    const struct kern_call *c = s->c;
    s->piece = PIECE_LEAST;
    while ((s->n - 1) / s->piece >= PIECES)
        s->piece *= 2;
    const int64_t pieces = (s->n + s->piece - 1) / s->piece;
    s->state = (struct kern_scan *)(void *)call_at(c->scratch, s->thread_bytes * c->threads);
    c->run(c->ud, pieces - 1, skip_piece, s);
    chain_states(s, pieces);
    c->run(c->ud, pieces, scan_piece, s);
}

// ---- along rows ----------------------------------------------------------------------------------------------
// One stretch of columns: every row of it in turn. Units are numbered over the axes that are neither scanned
// nor columns.
static char *unit_at(const weft_array *a, const struct scan *s, int64_t unit) {
    int64_t at = 0;
    for (int d = a->rank - 1; d >= 0; d--) {
        if (d == s->axis || d == s->cols_axis) continue;
        at += unit % a->dims[d] * a->strides[d];
        unit /= a->dims[d];
    }
    return call_at(a->data, at);
}

static void scan_rows(void *arg, int64_t i, int worker) {
    const struct scan *s = arg;
    char *row = call_at(s->c->scratch, s->thread_bytes * worker);
    void *state = row + COLS * 8;
    const int64_t col = i % s->col_chunks * COLS, n = MIN_OF(COLS, s->cols - col);
    const int64_t in_step = s->c->in->strides[s->cols_axis];
    const int64_t out_step = s->c->out->strides[s->cols_axis];
    const char *x = call_at(unit_at(s->c->in, s, i / s->col_chunks), col * in_step);
    char *to = call_at(unit_at(s->c->out, s, i / s->col_chunks), col * out_step);
    for (int64_t e = 0; e < s->n; e++) {
        if (e % KERN_SCAN_ROWS == 0 && kern_tick(&s->c->watch, 4 * n * KERN_SCAN_ROWS)) return;
        if (!is_dense(s, in_step)) call_pack(row, x, in_step, s->size, n);
        kern_scan_row(s->red, s->t, state, is_dense(s, out_step) ? (void *)to : row,
                      is_dense(s, in_step) ? (const void *)x : row, n, e);
        if (!is_dense(s, out_step)) call_unpack(to, out_step, row, s->size, n);
        x = call_at(x, s->step_in);
        to = call_at(to, s->step_out);
    }
}

// ---- the call ------------------------------------------------------------------------------------------------
int64_t call_scan_scratch(const struct kern_call *c) {
    int64_t bytes = scan_of(c).thread_bytes;
    if (bytes_over(&bytes, c->threads)) return -1;
    return bytes + (int64_t)(PIECES * sizeof(struct kern_scan));
}

weft_status call_scan(const struct kern_call *c, struct base_err *err) {
    (void)err;
    struct scan s = scan_of(c);
    if (!c->in->data || !c->out->data) return WEFT_OK;
    const bool rows = s.cols_axis >= 0;
    const int64_t elements = call_elements(c->in), lines = elements / s.n;
    const int64_t units = rows ? lines / s.cols * s.col_chunks : lines;
    const bool threads = call_threads(c, (double)elements) > 1;
    if (threads && !rows && lines < c->threads && lines == 1 && s.n > 2 * PIECE_LEAST) {
        scan_long(&s);
    } else if (threads && units > 1) {
        c->run(c->ud, units, rows ? scan_rows : scan_line, &s);
    } else {
        for (int64_t i = 0; i < units && !kern_tick(&c->watch, 0); i++)
            (rows ? scan_rows : scan_line)(&s, i, 0);
    }
    return WEFT_OK;
}
