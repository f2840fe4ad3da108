// SPDX-License-Identifier: MIT
// Packing through an index array. In: a block of the nest; out: its elements in dense rows of
// scratch. A strip of indices is brought to byte offsets first, each inside the array whatever its
// value was, so that the reading loop has no branch and no address outside. What `raise` refuses
// reads as zero and sets a flag; only then is the index array searched, in its logical order, for
// the first culprit, so that the sentence does not depend on tiles or threads.
#include <stdio.h>

#include "walk.h"

enum { STRIP = 256 };
#define NOWHERE INT64_MIN

#define ALWAYS static inline __attribute__((always_inline))

// ---- indices to offsets -----------------------------------------------------------------------
ALWAYS int64_t load_index(weft_dtype t, const char *p) {
    switch (t) {
    case WEFT_I8: return *(const int8_t *)p;
    case WEFT_U8: return *(const uint8_t *)p;
    case WEFT_I16: {
        int16_t v;
        memcpy(&v, p, sizeof v);
        return v;
    }
    case WEFT_U16: {
        uint16_t v;
        memcpy(&v, p, sizeof v);
        return v;
    }
    case WEFT_I32: {
        int32_t v;
        memcpy(&v, p, sizeof v);
        return v;
    }
    case WEFT_U32: {
        uint32_t v;
        memcpy(&v, p, sizeof v);
        return v;
    }
    case WEFT_U64: {
        uint64_t v;
        memcpy(&v, p, sizeof v);
        return v > INT64_MAX ? INT64_MAX : (int64_t)v;
    }
    default: {
        int64_t v;
        memcpy(&v, p, sizeof v);
        return v;
    }
    }
}

ALWAYS void load_strip(weft_dtype t, const char *p, int64_t step, int64_t n, int64_t *to) {
    for (int64_t i = 0; i < n; i++, p = (const char *)((uintptr_t)p + (uintptr_t)step))
        to[i] = load_index(t, p);
}

static void load_indices(weft_dtype t, const char *p, int64_t step, int64_t n, int64_t *to) {
    switch (t) {
    case WEFT_I8: load_strip(WEFT_I8, p, step, n, to); break;
    case WEFT_U8: load_strip(WEFT_U8, p, step, n, to); break;
    case WEFT_I16: load_strip(WEFT_I16, p, step, n, to); break;
    case WEFT_U16: load_strip(WEFT_U16, p, step, n, to); break;
    case WEFT_I32: load_strip(WEFT_I32, p, step, n, to); break;
    case WEFT_U32: load_strip(WEFT_U32, p, step, n, to); break;
    case WEFT_U64: load_strip(WEFT_U64, p, step, n, to); break;
    default: load_strip(WEFT_I64, p, step, n, to); break;
    }
}

static int64_t wrapped(int64_t i, int64_t n) {
    const int64_t r = i % n;
    return r < 0 ? r + n : r;
}

// The indices as offsets; the number of those that raise refuses, which become 0.
static int64_t resolve(const struct walk_operand *o, bool wide, int64_t *x, int64_t n) {
    const int64_t extent = o->pick_extent, by = o->pick_step;
    int64_t misses = 0;
    switch (o->gmode) {
    case WEFT_INDEX_CLIP:
        for (int64_t i = 0; i < n; i++)
            x[i] = (x[i] < 0 ? 0 : x[i] >= extent ? extent - 1 : x[i]) * by;
        return 0;
    case WEFT_INDEX_WRAP:
        for (int64_t i = 0; i < n; i++)
            if ((uint64_t)x[i] >= (uint64_t)extent)
                x[i] = wide ? (int64_t)((uint64_t)x[i] % (uint64_t)extent) : wrapped(x[i], extent);
        for (int64_t i = 0; i < n; i++)
            x[i] *= by;
        return 0;
    default:
        for (int64_t i = 0; i < n; i++) {
            const int64_t v = x[i] < 0 ? x[i] + extent : x[i];
            const bool in = (uint64_t)v < (uint64_t)extent;
            misses += !in;
            x[i] = in ? v * by : 0;
        }
        return misses;
    }
}

// ---- elements ---------------------------------------------------------------------------------
ALWAYS void read_strip(size_t size, char *to, const char *from, int64_t step, const int64_t *x,
                       int64_t n) {
    uintptr_t at = (uintptr_t)from;
    for (int64_t i = 0; i < n; i++, to += size, at += (uintptr_t)step)
        memcpy(to, (const char *)(at + (uintptr_t)x[i]), size);
}

static void read_elements(size_t size, char *to, const char *from, int64_t step, const int64_t *x,
                          int64_t n) {
    switch (size) {
    case 16: read_strip(16, to, from, step, x, n); break;
    case 8: read_strip(8, to, from, step, x, n); break;
    case 4: read_strip(4, to, from, step, x, n); break;
    case 2: read_strip(2, to, from, step, x, n); break;
    default: read_strip(1, to, from, step, x, n); break;
    }
}

// One index for all columns: a row copied from its place.
ALWAYS void copy_strip(size_t size, char *to, const char *from, int64_t step, int64_t n) {
    for (int64_t i = 0; i < n; i++, to += size, from = (const char *)((uintptr_t)from + (uintptr_t)step))
        memcpy(to, from, size);
}

static void copy_elements(size_t size, char *to, const char *from, int64_t step, int64_t n) {
    if (step == (int64_t)size) {
        memcpy(to, from, (size_t)n * size);
        return;
    }
    switch (size) {
    case 16: copy_strip(16, to, from, step, n); break;
    case 8: copy_strip(8, to, from, step, n); break;
    case 4: copy_strip(4, to, from, step, n); break;
    case 2: copy_strip(2, to, from, step, n); break;
    default: copy_strip(1, to, from, step, n); break;
    }
}

struct line { // columns of one row: addresses of array and index, and their steps
    const char *array, *index;
    int64_t array_step, index_step;
    enum kern_isa isa;
};

// ---- bytes by bytes ---------------------------------------------------------------------------
struct bytes {
    uint8_t *to;
    size_t n;
};

enum { LANES = 64 };
typedef uint8_t lanes __attribute__((vector_size(LANES), aligned(1), may_alias));

// Is some x[i] + shift, modulo 256, above span?
static bool any_outside(const uint8_t *x, size_t n, uint8_t shift, uint8_t span) {
    lanes bad = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        bad |= (lanes)((lanes)(*(const lanes *)(x + i) + shift) > (lanes){0} + span);
    uint8_t any = 0;
    for (size_t k = 0; k < LANES; k++)
        any |= bad[k];
    for (; i < n; i++)
        any |= (uint8_t)(x[i] + shift) > span;
    return any;
}

// Where index v reads, or -1 when `raise` refuses it.
static int64_t place_of(const struct walk_operand *o, int64_t v) {
    const int64_t n = o->pick_extent;
    if (o->gmode == WEFT_INDEX_CLIP) return v < 0 ? 0 : MIN_OF(v, n - 1);
    if (o->gmode == WEFT_INDEX_WRAP) return wrapped(v, n);
    if (v < 0) v += n;
    return v >= 0 && v < n ? v : -1;
}

// What each of the 256 values of an index gives; 0 where `raise` refuses it.
static void fill_table(uint8_t table[256], const struct line *l, const struct walk_operand *o, bool is_signed) {
    const int64_t n = MIN_OF(o->pick_extent, 256);
    if (!is_signed && o->pick_step == 1 && o->gmode != WEFT_INDEX_WRAP && n > 0) { // as it lies there
        memcpy(table, l->array, (size_t)n);
        memset(table + n, o->gmode == WEFT_INDEX_CLIP ? table[n - 1] : 0, (size_t)(256 - n));
        return;
    }
    for (int b = 0; b < 256; b++) {
        const int64_t at = place_of(o, is_signed ? (int8_t)b : b);
        table[b] = at < 0 ? 0 : *(const uint8_t *)((uintptr_t)l->array + (uintptr_t)(at * o->pick_step));
    }
}

// A line of byte indices into one array of bytes: an index has 256 values, so what each of them gives is a table,
// whatever the extent, the mode and the strides are, and the line goes through it by shuffles.
static int64_t gather_bytes(const struct line *l, const struct walk_operand *o, bool is_signed, struct bytes to) {
    const uint8_t *index = (const uint8_t *)l->index;
    uint8_t table[256];
    fill_table(table, l, o, is_signed);
    kern_lookup(l->isa, to.to, index, to.n, table, 256);
    const int64_t reach = is_signed ? 2 * o->pick_extent : o->pick_extent;
    if (o->gmode != WEFT_INDEX_RAISE || reach >= 256) return 0;
    return any_outside(index, to.n, is_signed ? (uint8_t)o->pick_extent : 0, (uint8_t)(reach - 1));
}

// ---- a block ----------------------------------------------------------------------------------
static bool is_byte_line(const struct walk_operand *o, weft_dtype index, const struct line *l, int64_t n) {
    return o->size == 1 && (index == WEFT_U8 || index == WEFT_I8) && l->index_step == 1 && l->array_step == 0 && n >= STRIP;
}

static int64_t gather_line(const struct walk_operand *o, weft_dtype index, const struct line *l,
                           int64_t n, char *to) {
    int64_t x[STRIP], misses = 0;
    if (is_byte_line(o, index, l, n))
        return gather_bytes(l, o, index == WEFT_I8, (struct bytes){(uint8_t *)to, (size_t)n});
    const bool wide = index == WEFT_U64 && o->gmode == WEFT_INDEX_WRAP; // all 64 bits count
    if (wide) index = WEFT_I64;
    if (l->index_step == 0) {
        load_indices(index, l->index, 0, 1, x);
        misses = resolve(o, wide, x, 1);
        copy_elements(o->size, to, (const char *)((uintptr_t)l->array + (uintptr_t)x[0]),
                      l->array_step, n);
        return misses;
    }
    for (int64_t i = 0; i < n; i += STRIP) {
        const int64_t m = MIN_OF(STRIP, n - i);
        load_indices(index, (const char *)((uintptr_t)l->index + (uintptr_t)(i * l->index_step)),
                     l->index_step, m, x);
        misses += resolve(o, wide, x, m);
        read_elements(o->size, to + i * o->size,
                      (const char *)((uintptr_t)l->array + (uintptr_t)(i * l->array_step)),
                      l->array_step, x, m);
    }
    return misses;
}

struct gather {
    const struct rt_walk *w;
    const struct walk_operand *o, *i; // array and index
    const char *at, *index;           // at the outer index
    int64_t misses;
    enum kern_isa isa;
};

static const char *away(const char *at, int64_t bytes) {
    return (const char *)((uintptr_t)at + (uintptr_t)bytes);
}

// The columns are the flattened group: runs along its last dim.
static void gather_runs(struct gather *g, int64_t row, const struct block *b, char *to) {
    const struct rt_walk *w = g->w;
    const int d = w->ngroup - 1;
    struct place p, q;
    rt_place_at(w, g->o->gstride, b->col, &p);
    rt_place_at(w, g->i->gstride, b->col, &q);
    for (int64_t e = 0; e < b->cols;) {
        const int64_t n = MIN_OF(w->gdim[d] - p.index[d], b->cols - e);
        const struct line l = {away(g->at, row * g->o->rstride + p.offset),
                               away(g->index, row * g->i->rstride + q.offset),
                               g->o->gstride[d], g->i->gstride[d], g->isa};
        g->misses += gather_line(g->o, (weft_dtype)g->i->dtype, &l, n, to + e * g->o->size);
        rt_place_next(w, g->o->gstride, n, &p);
        rt_place_next(w, g->i->gstride, n, &q);
        e += n;
    }
}

static void gather_row(struct gather *g, int64_t row, const struct block *b, char *to) {
    const struct rt_walk *w = g->w;
    const struct walk_operand *o = g->o, *i = g->i;
    int64_t at = row * o->rstride, index = row * i->rstride;
    if (w->mode == NEST_OUTER && !o->late && w->ngroup > 1) { // the group is the rows
        struct place p;
        rt_place_at(w, o->gstride, row, &p);
        at = p.offset;
        rt_place_at(w, i->gstride, row, &p);
        index = p.offset;
    } else if (w->mode == NEST_INNER && w->ngroup > 1 && !o->scalar) {
        gather_runs(g, row, b, to);
        return;
    }
    const struct line l = {away(g->at, at + (o->scalar ? 0 : b->col * o->cstride)),
                           away(g->index, index + (i->scalar ? 0 : b->col * i->cstride)),
                           o->scalar ? 0 : o->cstride, i->scalar ? 0 : i->cstride, g->isa};
    g->misses += gather_line(o, (weft_dtype)i->dtype, &l, b->cols, to);
}

void rt_gather(struct walker *k, int operand, const struct block *whole) {
    const struct rt_walk *w = k->step->walk;
    const struct walk_operand *o = &w->operand[operand];
    const struct block b = rt_block_of(o, whole);
    struct gather g = {w, o, &w->operand[o->index], k->at[operand], k->at[o->index], 0, k->step->run->env->isa};
    if (b.cols == 0) return;
    for (int64_t r = 0; r < b.rows; r++)
        gather_row(&g, b.row + r, &b, (char *)k->ptr[operand] + r * o->pitch);
    if (g.misses) atomic_store_explicit(k->step->run->misses, 1, memory_order_relaxed);
}

// ---- the sentence -----------------------------------------------------------------------------
struct culprit {
    const struct nest_operand *o, *i;
    const char *base;
};

static bool is_outside(const struct nest_operand *o, int64_t v) {
    return v < -o->gextent || v >= o->gextent;
}

static void put_place(const struct nest_gather *t, const int64_t *at, char *buf, size_t size) {
    size_t used = 0;
    for (int d = 0; d < t->rank && used < size; d++)
        used += (size_t)snprintf(buf + used, size - used, "%s%lld", d ? "," : "", (long long)at[d]);
}

// Looks for the first index out of range; true when it was one of this operand's.
static bool find_culprit(const struct culprit *c, const struct nest_gather *t,
                         struct base_err *err) {
    int64_t at[WEFT_MAX_RANK] = {0}, v = 0;
    char place[200] = "";
    for (int d = 0; d < t->rank; d++)
        if (!t->dim[d]) return false;
    for (;;) {
        int64_t offset = t->offset;
        for (int d = 0; d < t->rank; d++)
            offset += at[d] * t->stride[d];
        load_indices((weft_dtype)c->i->dtype, away(c->base, offset), 0, 1, &v);
        if (is_outside(c->o, v)) break;
        int d = t->rank - 1;
        while (d >= 0 && ++at[d] == t->dim[d])
            at[d--] = 0;
        if (d < 0) return false;
    }
    put_place(t, at, place, sizeof place);
    err_set(err, WEFT_EINDEX, "%s: index %lld at [%s] is out of range for axis %d of extent %lld",
            t->name, (long long)v, place, t->axis, (long long)c->o->gextent);
    return true;
}

weft_status rt_gather_blame(const struct rt_run *run, const struct rt_step *t) {
    for (int n = 0; n < t->nest.ngather; n++) {
        const struct nest_gather *g = &t->nest.gather[n];
        struct culprit c = {.o = &t->nest.operand[g->operand]};
        if (c.o->gmode != WEFT_INDEX_RAISE || g->rank < 0) continue;
        c.i = &t->nest.operand[c.o->index - 1];
        c.base = rt_operand_base(run, c.i->buffer, c.i->buf);
        if (find_culprit(&c, g, run->bind->err)) return WEFT_EINDEX;
    }
    return err_set(run->bind->err, WEFT_EINDEX, "%s: an index is out of range",
                   t->nest.gather[0].name);
}
