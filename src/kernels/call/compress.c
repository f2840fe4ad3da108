// SPDX-License-Identifier: MIT
// compress: attributes [axis]; in: a 1-d bool mask, x; out: the slices of x where the mask holds, zeros behind
// them, and how many. Chunks of the mask are counted, their places numbered from there, then every chunk
// copies its slices: order and result do not depend on who does which. unique: in: a sorted line and the
// places its elements came from; out: one of each kind, their number, first place, count; the kind of each.
#include "sort.h"

enum { STEP = 16384 };

struct compress {
    const struct kern_call *c;
    int axis;
    int64_t m, chunks; // of the mask
    int64_t *before;   // per chunk
    int64_t *place;    // of the kept
    int64_t kept, lines, line_chunks;
    size_t size;
};

static struct compress compress_of(const struct kern_call *c) {
    struct compress p = {.c = c, .axis = (int)c->attr[0], .m = c->in[0].dims[0],
                         .size = dtype_size(c->in[1].dtype)};
    p.chunks = (p.m + STEP - 1) / STEP;
    p.before = c->scratch;
    p.place = p.before + p.chunks + 1;
    p.lines = call_lines(&c->in[1], p.axis);
    p.line_chunks = MAX_OF(p.chunks, 1);
    return p;
}

static bool holds(const struct compress *p, int64_t i) {
    return *call_at(p->c->in[0].data, i * p->c->in[0].strides[0]) != 0;
}

static void count_chunk(void *arg, int64_t chunk, int worker) {
    (void)worker;
    const struct compress *p = arg;
    int64_t n = 0;
    for (int64_t i = chunk * STEP; i < MIN_OF(p->m, (chunk + 1) * STEP); i++)
        n += holds(p, i);
    p->before[chunk] = n;
}

static void number_chunk(void *arg, int64_t chunk, int worker) {
    (void)worker;
    const struct compress *p = arg;
    int64_t *to = p->place + p->before[chunk];
    for (int64_t i = chunk * STEP; i < MIN_OF(p->m, (chunk + 1) * STEP); i++)
        if (holds(p, i)) *to++ = i;
}

#define ALWAYS static inline __attribute__((always_inline))
ALWAYS void copy_places(size_t size, char *to, int64_t to_step, const char *from, int64_t step,
                        const int64_t *place, int64_t n) {
    for (int64_t i = 0; i < n; i++, to = call_at(to, to_step))
        memcpy(to, call_at(from, place[i] * step), size);
}

static void fill_zero(char *to, int64_t step, size_t size, int64_t n) {
    for (int64_t i = 0; i < n; i++, to = call_at(to, step))
        memset(to, 0, size);
}

static void copy_chunk(void *arg, int64_t i, int worker) {
    (void)worker;
    const struct compress *p = arg;
    const weft_array *x = &p->c->in[1], *out = &p->c->out[0];
    const int64_t line = i / p->line_chunks, from = i % p->line_chunks * STEP;
    const int64_t end = MIN_OF(p->m, from + STEP), n = MAX_OF(0, MIN_OF(p->kept, end) - from);
    const int64_t step = x->strides[p->axis], to_step = out->strides[p->axis];
    const char *at = call_line(x, p->axis, line);
    char *to = call_at(call_line(out, p->axis, line), from * to_step);
    const int64_t *place = p->place + from;
    switch (p->size) {
    case 16: copy_places(16, to, to_step, at, step, place, n); break;
    case 8: copy_places(8, to, to_step, at, step, place, n); break;
    case 4: copy_places(4, to, to_step, at, step, place, n); break;
    case 2: copy_places(2, to, to_step, at, step, place, n); break;
    default: copy_places(1, to, to_step, at, step, place, n); break;
    }
    fill_zero(call_at(to, n * to_step), to_step, p->size, end - from - n);
}

static void run(struct compress *p, int64_t n, double work,
                void (*body)(void *arg, int64_t i, int worker)) {
    if (n > 1 && call_threads(p->c, work) > 1) {
        p->c->run(p->c->ud, n, body, p);
        return;
    }
    for (int64_t i = 0; i < n && !kern_tick(&p->c->watch, 4 * STEP); i++)
        body(p, i, 0);
}

int64_t call_compress_scratch(const struct kern_call *c) {
    return 8 * (c->in[0].dims[0] + c->in[0].dims[0] / STEP + 2);
}

weft_status call_compress(const struct kern_call *c, struct base_err *err) {
    (void)err;
    struct compress p = compress_of(c);
    if (c->in[0].data) {
        run(&p, p.chunks, (double)p.m, count_chunk);
        for (int64_t i = 0; i < p.chunks; i++) {
            const int64_t n = p.before[i];
            p.before[i] = p.kept;
            p.kept += n;
        }
        if (kern_tick(&c->watch, 0)) return WEFT_OK; // counts are missing
        if (c->out[0].data) run(&p, p.chunks, (double)p.m, number_chunk);
    }
    if (kern_tick(&c->watch, 0)) return WEFT_OK; // places are
    if (c->out[1].data) memcpy(c->out[1].data, &p.kept, sizeof p.kept);
    if (c->out[0].data) // which is not empty, nor is x then
        run(&p, p.lines * p.line_chunks, (double)p.lines * (double)p.m, copy_chunk);
    return WEFT_OK;
}

// ---- unique --------------------------------------------------------------------------------------------------------
static bool same_kind(const struct sort_type *t, const char *a, const char *b) {
    for (int part = 0; part < t->parts; part++)
        if (sort_key(t, a, part) != sort_key(t, b, part)) return false;
    return true;
}

static void put(const weft_array *a, int64_t i, int64_t v) {
    if (a->data) memcpy(call_at(a->data, i * a->strides[0]), &v, sizeof v);
}

static void fill_rest(const weft_array *a, int64_t from) {
    if (!a->data) return;
    fill_zero(call_at(a->data, from * a->strides[0]), a->strides[0], dtype_size(a->dtype),
              a->dims[0] - from);
}

weft_status call_unique(const struct kern_call *c, struct base_err *err) {
    (void)err;
    const weft_array *x = &c->in[0], *places = &c->in[1], *out = c->out;
    const struct sort_type t = sort_type_of(x->dtype);
    const int64_t n = x->data ? x->dims[0] : 0;
    int64_t kinds = 0, first = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i % CALL_STRETCH == 0 && kern_tick(&c->watch, CALL_CYCLES)) return WEFT_OK;
        const char *p = call_at(x->data, i * x->strides[0]);
        int64_t place = 0;
        if (places->data) memcpy(&place, call_at(places->data, i * places->strides[0]), sizeof place);
        if (i == 0 || !same_kind(&t, call_at(p, -x->strides[0]), p)) {
            if (kinds) put(&out[3], kinds - 1, i - first);
            if (out[0].data) sort_copy(&t, call_at(out[0].data, kinds * out[0].strides[0]), p);
            put(&out[2], kinds++, place);
            first = i;
        }
        put(&out[4], place, kinds - 1);
    }
    if (kinds) put(&out[3], kinds - 1, n - first);
    if (out[1].data) memcpy(out[1].data, &kinds, sizeof kinds);
    fill_rest(&out[0], kinds);
    fill_rest(&out[2], kinds);
    fill_rest(&out[3], kinds);
    return WEFT_OK;
}
