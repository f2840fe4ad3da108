// SPDX-License-Identifier: MIT
// Inclusive scans in the fixed order of kern.h. In: blocks of elements, in order; out: the scanned elements.
// The blocks themselves are compiled once per instruction set (reduce/scan.inc); here is what joins them.
//
// The state is the binary counter of the reductions with one addition: beside each total on the stack
// stands the combination of all older totals and it, so that what goes before the next block is known
// without a walk. A carry replaces the topmost entries by one, whose neighbour below has the rest of the
// combination ready: a push costs two combinations on average, whatever the length.
#include "reduce/reduce.h"

static int lowest(uint64_t bits) { return __builtin_ctzll(bits); }

void kern_scan_begin(struct kern_scan *s, enum kern_red r, weft_dtype t) {
    s->r = r;
    s->t = t;
    s->blocks = 0;
}

// Everything before the next block.
static uint64_t before(const struct kern_scan *s) {
    uint64_t v = 0;
    if (s->blocks) return s->upto[lowest(s->blocks)];
    kern_red_identity(s->r, s->t, &v, 1);
    return v;
}

// A total of 2^level blocks; the lower bits of s->blocks are 0.
static void push(struct kern_scan *s, uint64_t total, int level) {
    for (; s->blocks >> level & 1; level++) {
        uint64_t older = s->level[level];
        kern_red_combine(s->r, s->t, &older, &total, 1);
        total = older;
        s->blocks &= ~((uint64_t)1 << level);
    }
    uint64_t all = total;
    if (s->blocks) {
        all = s->upto[lowest(s->blocks)];
        kern_red_combine(s->r, s->t, &all, &total, 1);
    }
    s->level[level] = total;
    s->upto[level] = all;
    s->blocks |= (uint64_t)1 << level;
}

void kern_scan_next(struct kern_scan *s, void *out, const void *x, int64_t n) {
    const struct red_kind *k = kern_red_kind(s->r, s->t);
    const int64_t size = (int64_t)dtype_size(s->t);
    for (int64_t i = 0; i < n; i += KERN_SCAN_RUN) {
        const int64_t take = MIN_OF(n - i, KERN_SCAN_RUN);
        const uint64_t first = before(s);
        uint64_t total = 0;
        k->scan((char *)out + i * size, (const char *)x + i * size, take, &first, &total);
        if (take == KERN_SCAN_RUN) push(s, total, 0);
    }
}

void kern_scan_skip(struct kern_scan *s, const void *x, int64_t n) {
    const struct red_kind *k = kern_red_kind(s->r, s->t);
    const int64_t size = (int64_t)dtype_size(s->t);
    for (int64_t i = 0; i < n; i += KERN_SCAN_RUN) {
        uint64_t total = 0;
        k->scan_total((const char *)x + i * size, &total);
        push(s, total, 0);
    }
}

void kern_scan_join(struct kern_scan *s, const struct kern_scan *part) {
    for (uint64_t bits = part->blocks; bits;) {
        const int top = 63 - __builtin_clzll(bits);
        push(s, part->level[top], top);
        bits &= ~((uint64_t)1 << top);
    }
}

// ---- along rows -----------------------------------------------------------------------------------
// The state: the chain of the block, then a pair of rows (total, up to here) for each level.

static size_t row_bytes(weft_dtype t, int64_t n) {
    return (size_t)red_padded(n * (int64_t)dtype_size(t));
}

size_t kern_scan_row_state(weft_dtype t, int64_t n, int64_t rows) {
    const uint64_t blocks = (uint64_t)rows / KERN_SCAN_ROWS;
    const size_t levels = blocks ? 64 - (size_t)__builtin_clzll(blocks) : 0;
    return row_bytes(t, n) * (1 + 2 * levels);
}

struct columns {
    const struct red_kind *kind;
    char *state;
    size_t row, bytes; // of a row of the state, and of its elements
    int64_t n;
};
static char *level_of(const struct columns *c, int level) {
    return c->state + c->row * (size_t)(1 + 2 * level);
}
static char *upto_of(const struct columns *c, int level) {
    return c->state + c->row * (size_t)(2 + 2 * level);
}

// The chain of block number `blocks` becomes a total; may use it up.
static void end_block(const struct columns *c, uint64_t blocks) {
    int level = 0;
    char *total = c->state;
    for (; blocks >> level & 1; level++) {
        c->kind->combine(level_of(c, level), total, c->n);
        total = level_of(c, level);
    }
    const uint64_t older = blocks & ~(((uint64_t)1 << level) - 1);
    memcpy(level_of(c, level), total, c->bytes);
    memcpy(upto_of(c, level), older ? upto_of(c, lowest(older)) : total, c->bytes);
    if (older) c->kind->combine(upto_of(c, level), total, c->n);
}

void kern_scan_row(enum kern_red r, weft_dtype t, void *state, void *out, const void *x, int64_t n,
                   int64_t e) {
    struct columns c = {kern_red_kind(r, t), state, row_bytes(t, n), (size_t)n * dtype_size(t), n};
    const uint64_t blocks = (uint64_t)e / KERN_SCAN_ROWS;
    if (e % KERN_SCAN_ROWS)
        c.kind->combine(state, x, n);
    else
        kern_red_begin_row(r, t, state, x, n, e);
    if (blocks) {
        memcpy(out, upto_of(&c, lowest(blocks)), c.bytes);
        c.kind->combine(out, state, n);
    } else {
        memcpy(out, state, c.bytes);
    }
    if ((e + 1) % KERN_SCAN_ROWS == 0) end_block(&c, blocks);
}
