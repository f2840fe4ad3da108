// SPDX-License-Identifier: MIT
// sort: attributes [axis]; in: x; out: the values in rising order, the i64 places they came from (either may
// be absent). Stable, NaN last, -0 and 0 equal: NumPy's order with kind="stable", which is one order, so no
// cut and no thread shows. Elements become unsigned keys of the same order and are sorted by radix, low byte
// first, passes without news left out; short lines by insertion. Values are sorted as key and place only
// where keys forget something: a place is wanted, zeros have two signs, or an element has two parts.
// A library was looked for: glibc's qsort promises no stability and calls back per comparison, and what
// Debian has besides (vqsort, simd-sort, boost) is C++ and not stable.
#include "sort.h"

enum { SHORT = 40, DIGITS = 256 };

struct radix {
    uint64_t *key, *key2;
    int64_t *place, *place2; // NULL: keys alone
    int64_t n;
    const struct kern_watch *watch;
};

static void insert(const struct radix *r) {
    for (int64_t i = 1; i < r->n; i++) {
        const uint64_t k = r->key[i];
        const int64_t p = r->place ? r->place[i] : 0;
        int64_t j = i;
        for (; j > 0 && r->key[j - 1] > k; j--) {
            r->key[j] = r->key[j - 1];
            if (r->place) r->place[j] = r->place[j - 1];
        }
        r->key[j] = k;
        if (r->place) r->place[j] = p;
    }
}

static void scatter_pass(struct radix *r, int shift, const int64_t *count) {
    int64_t at[DIGITS], sum = 0;
    for (int d = 0; d < DIGITS; d++) {
        at[d] = sum;
        sum += count[d];
    }
    CALL_STRETCHES(r->watch, 0, r->n, from, end) {
        if (r->place)
            for (int64_t i = from; i < end; i++) {
                const int64_t to = at[r->key[i] >> shift & 255]++;
                r->key2[to] = r->key[i];
                r->place2[to] = r->place[i];
            }
        else
            for (int64_t i = from; i < end; i++)
                r->key2[at[r->key[i] >> shift & 255]++] = r->key[i];
    }
    uint64_t *k = r->key;
    int64_t *p = r->place;
    r->key = r->key2, r->key2 = k;
    r->place = r->place2, r->place2 = p;
}

// Sorts by the low `bytes` bytes of the keys; the result is in key and place, which may have changed sides.
static void sort_keys(struct radix *r, int bytes) {
    if (r->n < SHORT) {
        insert(r);
        return;
    }
    int64_t count[8][DIGITS];
    memset(count, 0, (size_t)bytes * sizeof count[0]);
    CALL_STRETCHES(r->watch, 0, r->n, from, end)
        for (int64_t i = from; i < end; i++)
            for (int b = 0; b < bytes; b++)
                count[b][r->key[i] >> 8 * b & 255]++;
    for (int b = 0; b < bytes && !kern_tick(r->watch, 0); b++) // told to stop: counts are incomplete
        if (count[b][r->key[0] >> 8 * b & 255] != r->n) scatter_pass(r, 8 * b, count[b]);
}

// ---- a line -----------------------------------------------------------------------------------------------
struct sorter {
    const struct kern_call *c;
    struct sort_type type;
    int axis;
    int64_t n, bytes; // of a line; of one thread's scratch
};

// By place: key part after key part, the last one first.
static void sort_places(const struct sorter *s, const char *x, int64_t step, struct radix *r) {
    for (int64_t i = 0; i < r->n; i++)
        r->place[i] = i;
    for (int part = s->type.parts - 1; part >= 0; part--) {
        CALL_STRETCHES(r->watch, 0, r->n, from, end)
            for (int64_t i = from; i < end; i++)
                r->key[i] = sort_key(&s->type, call_at(x, r->place[i] * step), part);
        sort_keys(r, s->type.number);
    }
}

// Whether elements come back from their keys; then r->key has them.
static bool load_plain(const struct sorter *s, const char *x, int64_t step, struct radix *r) {
    if (s->type.parts > 1) return false;
    CALL_STRETCHES(r->watch, 0, r->n, from, end)
        for (int64_t i = from; i < end; i++, x = call_at(x, step)) {
            if (s->type.is_float && !sort_is_plain(&s->type, x)) return false;
            r->key[i] = sort_key(&s->type, x, 0);
        }
    return true;
}

static void sort_values(const struct sorter *s, struct radix *r, char *to, int64_t step) {
    int64_t *place = r->place, *place2 = r->place2;
    r->place = r->place2 = NULL;
    sort_keys(r, s->type.number);
    CALL_STRETCHES(r->watch, 0, r->n, from, end)
        for (int64_t i = from; i < end; i++, to = call_at(to, step))
            sort_value(&s->type, r->key[i], to);
    r->place = place;
    r->place2 = place2;
}

static void sort_line(void *arg, int64_t line, int worker) {
    const struct sorter *s = arg;
    const struct kern_call *c = s->c;
    char *scratch = call_at(c->scratch, s->bytes * worker);
    const int64_t part = call_round(s->n * 8), step = c->in->strides[s->axis];
    struct radix r = {(uint64_t *)(void *)scratch, (uint64_t *)(void *)(scratch + part),
                      (int64_t *)(void *)(scratch + 2 * part), (int64_t *)(void *)(scratch + 3 * part),
                      s->n, &c->watch};
    const char *x = call_line(c->in, s->axis, line);
    const weft_array *values = &c->out[0], *places = &c->out[1];
    if (!places->data && load_plain(s, x, step, &r)) {
        sort_values(s, &r, call_line(values, s->axis, line), values->strides[s->axis]);
        return;
    }
    sort_places(s, x, step, &r);
    if (kern_tick(&c->watch, 0)) return; // places may be anything then
    if (values->data) {
        char *to = call_line(values, s->axis, line);
        CALL_STRETCHES(&c->watch, 0, s->n, from, end)
            for (int64_t i = from; i < end; i++, to = call_at(to, values->strides[s->axis]))
                sort_copy(&s->type, to, call_at(x, r.place[i] * step));
    }
    if (places->data)
        call_unpack(call_line(places, s->axis, line), places->strides[s->axis], r.place, 8, s->n);
}

static struct sorter sorter_of(const struct kern_call *c) {
    struct sorter s = {.c = c, .type = sort_type_of(c->in->dtype), .axis = (int)c->attr[0]};
    s.n = c->in->dims[s.axis];
    s.bytes = 4 * call_round(s.n * 8);
    return s;
}

int64_t call_sort_scratch(const struct kern_call *c) {
    const struct sorter s = sorter_of(c);
    int64_t bytes = s.bytes;
    return bytes_over(&bytes, c->threads) ? -1 : bytes;
}

weft_status call_sort(const struct kern_call *c, struct base_err *err) {
    (void)err;
    struct sorter s = sorter_of(c);
    if (!c->in->data) return WEFT_OK;
    const int64_t lines = call_lines(c->in, s.axis);
    if (lines > 1 && call_threads(c, (double)lines * (double)s.n) > 1) {
        c->run(c->ud, lines, sort_line, &s);
    } else {
        for (int64_t i = 0; i < lines && !kern_tick(&c->watch, s.n); i++)
            sort_line(&s, i, 0);
    }
    return WEFT_OK;
}
