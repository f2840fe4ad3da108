// SPDX-License-Identifier: MIT
// search: attributes [right]; in: a rising 1-d array, v; out: i64 places of v's elements in it. histogram:
// in: x, rising edges; out: i64 counts. Both compare keys of sort.h, so every type is searched by one loop:
// halving without branches over keys in scratch.
#include "sort.h"

struct search {
    const struct kern_call *c;
    struct sort_type type;
    const uint64_t *key; // parts one after the other, n each
    int64_t n, step;     // elements of a chunk
    int64_t *count;      // histogram: per worker
    bool right;
};

static void load_keys(const struct sort_type *t, const weft_array *a, uint64_t *key,
                      const struct kern_watch *w) {
    const int64_t n = a->dims[0];
    for (int part = 0; a->data && part < t->parts; part++)
        CALL_STRETCHES(w, 0, n, from, end)
            for (int64_t i = from; i < end; i++)
                key[part * n + i] = sort_key(t, call_at(a->data, i * a->strides[0]), part);
}

// Is element i of the sorted array below the keys k (right: not above)?
static inline bool is_before(const struct search *s, int64_t i, const uint64_t *k) {
    for (int part = 0; part < s->type.parts; part++) {
        const uint64_t e = s->key[part * s->n + i];
        if (e != k[part]) return e < k[part];
    }
    return s->right;
}

static int64_t place_of(const struct search *s, const char *p) {
    uint64_t k[3];
    for (int part = 0; part < s->type.parts; part++)
        k[part] = sort_key(&s->type, p, part);
    int64_t at = 0, left = s->n;
    if (s->type.parts == 1) {
        while (left > 0) { // the first `at` are before, those from at + left on are not
            const int64_t half = left / 2, e = at + half;
            const bool before = s->right ? s->key[e] <= k[0] : s->key[e] < k[0];
            at = before ? e + 1 : at;
            left = before ? left - half - 1 : half;
        }
        return at;
    }
    while (left > 0) {
        const int64_t half = left / 2;
        const bool before = is_before(s, at + half, k);
        at = before ? at + half + 1 : at;
        left = before ? left - half - 1 : half;
    }
    return at;
}

// ---- elements in row-major order, chunk by chunk -----------------------------------------------------------------
struct walk {
    const weft_array *a;
    int64_t index[WEFT_MAX_RANK];
    char *at;
};

static void walk_to(struct walk *w, const weft_array *a, int64_t i) {
    w->a = a;
    w->at = call_element(a, i);
    for (int d = a->rank - 1; d >= 0; d--) {
        w->index[d] = i % a->dims[d];
        i /= a->dims[d];
    }
}
static void walk_next(struct walk *w) {
    for (int d = w->a->rank - 1; d >= 0; d--) {
        w->at = call_at(w->at, w->a->strides[d]);
        if (++w->index[d] < w->a->dims[d]) return;
        w->at = call_at(w->at, -w->a->dims[d] * w->a->strides[d]);
        w->index[d] = 0;
    }
}

static void search_chunk(void *arg, int64_t chunk, int worker) {
    (void)worker;
    const struct search *s = arg;
    const int64_t from = chunk * s->step, to = MIN_OF(call_elements(&s->c->in[1]), from + s->step);
    struct walk v, out;
    walk_to(&v, &s->c->in[1], from);
    walk_to(&out, &s->c->out[0], from);
    for (int64_t i = from; i < to; i++, walk_next(&v), walk_next(&out)) {
        const int64_t at = place_of(s, v.at);
        memcpy(out.at, &at, sizeof at);
    }
}

static void run_chunks(struct search *s, int64_t elements,
                       void (*body)(void *arg, int64_t i, int worker)) {
    enum { STEP = 4096 };
    const struct kern_call *c = s->c;
    s->step = STEP;
    const int64_t chunks = (elements + STEP - 1) / STEP;
    if (call_threads(c, 8 * (double)elements) > 1) {
        c->run(c->ud, chunks, body, s);
        return;
    }
    for (int64_t i = 0; i < chunks && !kern_tick(&c->watch, 32 * STEP); i++)
        body(s, i, 0);
}

int64_t call_search_scratch(const struct kern_call *c) {
    return 24 * c->in[0].dims[0];
}

weft_status call_search(const struct kern_call *c, struct base_err *err) {
    (void)err;
    if (!c->in[1].data || !c->out[0].data) return WEFT_OK;
    struct search s = {.c = c, .type = sort_type_of(c->in[0].dtype), .key = c->scratch,
                       .n = c->in[0].dims[0], .right = c->attr[0] != 0};
    load_keys(&s.type, &c->in[0], c->scratch, &c->watch);
    run_chunks(&s, call_elements(&c->in[1]), search_chunk);
    return WEFT_OK;
}

// ---- histogram ---------------------------------------------------------------------------------------------------
static void count_chunk(void *arg, int64_t chunk, int worker) {
    const struct search *s = arg;
    const int64_t from = chunk * s->step, to = MIN_OF(call_elements(&s->c->in[0]), from + s->step);
    int64_t *count = s->count + worker * s->n;
    struct walk x;
    walk_to(&x, &s->c->in[0], from);
    for (int64_t i = from; i < to; i++, walk_next(&x)) {
        if (s->type.is_float && sort_number(&s->type, x.at) == (s->type.sign | (s->type.sign - 1))) continue; // NaN
        int64_t at = place_of(s, x.at) - 1;
        if (at == s->n - 1 && sort_number(&s->type, x.at) == s->key[at]) at--; // the last bin is closed
        if (at >= 0 && at < s->n - 1) count[at]++;
    }
}

int64_t call_histogram_scratch(const struct kern_call *c) {
    int64_t bytes = 8 * c->in[1].dims[0];
    return bytes_over(&bytes, c->threads + 1) ? -1 : bytes;
}

weft_status call_histogram(const struct kern_call *c, struct base_err *err) {
    const int64_t n = c->in[1].dims[0];
    struct search s = {.c = c, .type = sort_type_of(c->in[1].dtype), .key = c->scratch, .n = n,
                       .right = true};
    s.count = (int64_t *)c->scratch + n;
    load_keys(&s.type, &c->in[1], c->scratch, &c->watch);
    for (int64_t i = 1; i < n && !kern_tick(&c->watch, 1); i++)
        if (s.key[i - 1] > s.key[i])
            return err_set(err, WEFT_EINVAL, "histogram: edge %lld is below the one before it",
                           (long long)i);
    memset(s.count, 0, (size_t)(8 * n * c->threads));
    if (c->in[0].data) run_chunks(&s, call_elements(&c->in[0]), count_chunk);
    for (int64_t i = 0; i + 1 < n && c->out[0].data && !kern_tick(&c->watch, 4); i++) {
        int64_t sum = 0;
        for (int k = 0; k < c->threads; k++)
            sum += s.count[k * n + i];
        memcpy(call_at(c->out[0].data, i * c->out[0].strides[0]), &sum, sizeof sum);
    }
    return WEFT_OK;
}
