// SPDX-License-Identifier: MIT
// The matrix product, from a plan to C. In: a plan, scratch, perhaps a team. Out: C, each part
// reported once when it is final. Invariant: the k blocks of any element of C are added in order. A
// team shares one packed copy of A per phase (two buffers, so that the next is packed while the
// last items of this one finish) and each thread packs the B of the column group it works on.
// Nobody waits for a thread that has not claimed work, so the bodies may run at once, one after the
// other, or on fewer threads than asked for.
#include "gemm/plan.h"

#include <sched.h>
#include <stdatomic.h>

enum { SMALL_PART_BYTES = 16 << 10 };

// Where a phase lies: rows, columns and k steps of the product.
struct phase {
    int64_t row, rows, col, cols, k0, kc;
    bool last; // of its k blocks
};

// Rows of memory that will be packed next. The tiles of what is computed now ask for them: packing waits
// for memory, tiles do not.
struct ahead {
    const unsigned char *row;
    int64_t pitch, rows;
};

// An item of work and its operands. b: packed group or NULL when B is read in place.
struct item {
    int64_t group, row, rows; // row: from the start of the row chunk
    int64_t body;
    const unsigned char *a;   // packed row chunk or NULL
    const unsigned char *b;
    struct ahead *ahead; // two, one after the other
};

static int64_t phases(const struct gemm_plan *p) {
    return p->col_chunks * p->row_chunks * p->k_blocks;
}

static struct phase phase_at(const struct gemm_plan *p, int64_t i) {
    struct phase f = {0};
    const int64_t block = i % p->k_blocks, chunk = i / p->k_blocks;
    f.k0 = block * KERN_GEMM_KC;
    f.kc = MIN_OF(p->k - f.k0, KERN_GEMM_KC);
    f.last = block == p->k_blocks - 1;
    f.row = chunk % p->row_chunks * p->row_chunk;
    f.rows = MIN_OF(p->m - f.row, p->row_chunk);
    f.col = chunk / p->row_chunks * p->col_chunk;
    f.cols = MIN_OF(p->n - f.col, p->col_chunk);
    return f;
}

// ---- packing
// ----------------------------------------------------------------------------------------
static void pack_slivers(const struct gemm_plan *p, const struct phase *f, unsigned char *dst,
                         int64_t first) {
    const int64_t mr = p->ops->mr, last = MIN_OF(first + GEMM_PACK_SLIVERS * mr, f->rows);
    for (int64_t i = first; i < last; i += mr) {
        const struct gemm_pack q = {
            .dst = dst + i * f->kc * p->ops->size,
            .width = mr,
            .src = p->a + (f->row + i) * p->a_rs + f->k0 * p->a_cs,
            .s_k = p->a_cs,
            .s_j = p->a_rs,
            .k = f->kc,
            .cols = MIN_OF(f->rows - i, mr),
        };
        p->ops->pack(&q);
    }
}

// Vectors of the next panel, of so many columns left: the widest, but two of two rather than three
// and one.
static int panel(const struct gemm_ops *ops, int64_t cols) {
    const int64_t left = (cols + ops->lanes - 1) >> ops->log2_lanes;
    if (left == ops->nv + 1 && ops->nv > 2) return ops->nv - 1;
    return left < ops->nv ? (int)left : ops->nv;
}

// Rows of the next sliver when A is read in place: the last two are even.
static int64_t share(int64_t left, int mr) {
    if (left <= mr) return left;
    return left < 2 * mr ? (left + 1) / 2 : mr;
}

// A group of columns of B to pack, and how far it is.
struct packing {
    unsigned char *dst;
    int64_t group, k;
};

// The next few steps of k, for all panels of the group.
static void pack_band(const struct gemm_plan *p, const struct phase *f, const struct packing *at) {
    const int lanes = p->ops->lanes, size = p->ops->size;
    const int64_t first = at->group * p->group_cols, cols = MIN_OF(f->cols - first, p->group_cols);
    const unsigned char *src = p->b + (f->col + first) * p->b_cs + (f->k0 + at->k) * p->b_rs;
    struct gemm_pack q = {.s_k = p->b_rs, .s_j = p->b_cs, .k = MIN_OF(f->kc - at->k, GEMM_BAND)};
    for (int64_t j = 0; j < cols; j += q.width) {
        q.width = (int64_t)panel(p->ops, cols - j) * lanes;
        q.dst = at->dst + (j * f->kc + at->k * q.width) * size;
        q.src = src + j * p->b_cs;
        q.cols = MIN_OF(cols - j, q.width);
        p->ops->pack(&q);
    }
}

// Whole rows of the group at a time: the source is read in long runs, whatever a panel's width.
static void pack_group(const struct gemm_plan *p, const struct phase *f, unsigned char *dst,
                       int64_t group) {
    for (struct packing at = {dst, group, 0}; at.k < f->kc; at.k += GEMM_BAND)
        pack_band(p, f, &at);
}

// ---- asking for what is packed next
static int64_t span(int64_t stride) {
    return stride < 0 ? -stride : stride;
}

// Rows run along the smaller stride, as packing does.
static struct ahead look(const struct gemm_pack *q) {
    if (span(q->s_j) < span(q->s_k)) return (struct ahead){q->src, q->s_k, q->k};
    return (struct ahead){q->src, q->s_j, q->cols};
}

static struct ahead look_a(const struct gemm_plan *p, const struct phase *f, int64_t row) {
    const struct gemm_pack q = {
        .src = p->a + (f->row + row) * p->a_rs + f->k0 * p->a_cs,
        .s_k = p->a_cs,
        .s_j = p->a_rs,
        .k = f->kc,
        .cols = MIN_OF(f->rows - row, GEMM_PACK_SLIVERS * p->ops->mr),
    };
    return look(&q);
}

static struct ahead look_b(const struct gemm_plan *p, const struct phase *f, int64_t group) {
    const int64_t first = group * p->group_cols;
    const struct gemm_pack q = {
        .src = p->b + (f->col + first) * p->b_cs + f->k0 * p->b_rs,
        .s_k = p->b_rs,
        .s_j = p->b_cs,
        .k = f->kc,
        .cols = MIN_OF(f->cols - first, p->group_cols),
    };
    return look(&q);
}

// The next rows of them for the tile to ask for, as many as it has rows.
static void ask(const struct gemm_plan *p, struct gemm_tile *t, struct ahead *h, int64_t rows) {
    if (h->rows <= 0) h++;
    if (h->rows <= 0) return;
    t->next = h->row;
    t->next_skip = h->pitch - t->k * p->ops->lanes * p->ops->size / 8;
    h->row += rows * h->pitch;
    h->rows -= rows;
}

// ---- tiles
// -------------------------------------------------------------------------------------------- A
// tile into a C whose rows are not contiguous, through a small buffer.
static void strided_tile(const struct gemm_plan *p, gemm_tile_fn *fn, struct gemm_tile t,
                         int64_t rows, int64_t cols) {
    _Alignas(64) unsigned char buffer[8 * 3 * 64];
    const struct gemm_spread s = {
        .tile = buffer,
        .t_rs = 3 * 64,
        .c = t.c,
        .c_rs = p->c_rs,
        .c_cs = p->c_cs,
        .rows = rows,
        .cols = cols,
        .add = t.add,
    };
    t.c = buffer;
    t.c_rs = 3 * 64;
    t.add = 0;
    fn(&t);
    p->ops->spread(&s);
}

// All panels of a group against one sliver of A: t holds A's side, the first row of C, and add.
static void sweep(const struct gemm_plan *p, const struct phase *f, const struct item *it,
                  struct gemm_tile *t, int64_t rows) {
    const struct gemm_ops *ops = p->ops;
    const int64_t size = ops->size, lanes = ops->lanes, first = it->group * p->group_cols;
    const int64_t cols = MIN_OF(f->cols - first, p->group_cols);
    const unsigned char *b = it->b ? it->b : p->b + f->k0 * p->b_rs + (f->col + first) * p->b_cs;
    unsigned char *c = t->c;
    for (int64_t j = 0; j < cols;) {
        const int vecs = panel(ops, cols - j);
        const int64_t width = vecs * lanes, here = MIN_OF(cols - j, width);
        const enum gemm_kind kind = it->b && (it->a || !ops->direct) ? GEMM_PACKED
                                    : it->b || here == width         ? GEMM_WHOLE
                                                                     : GEMM_PART;
        gemm_tile_fn *fn = ops->tiles[((int)kind * ops->mr + rows - 1) * ops->nv + vecs - 1];
        t->b = it->b ? b + j * f->kc * size : b + j * size;
        t->b_rs = it->b ? width * size : p->b_rs;
        t->c = c + j * p->c_cs;
        t->cols = (int32_t)here;
        t->next = j + width < cols ? t->b : t->a + rows * f->kc * size; // the sliver that follows
        t->next_skip = 0;
        if (j + width < cols) ask(p, t, it->ahead, rows);
        if (p->unit_c)
            fn(t);
        else
            strided_tile(p, fn, *t, rows, here);
        j += width;
    }
}

static void report(const struct gemm_plan *p, const struct phase *f, const struct item *it,
                   int64_t row, int64_t rows) {
    const int64_t first = it->group * p->group_cols, cols = MIN_OF(f->cols - first, p->group_cols);
    struct kern_gemm_part part = {p->batch, row, rows, f->col + first, cols, it->body};
    if (p->swapped)
        part = (struct kern_gemm_part){p->batch, f->col + first, cols, row, rows, it->body};
    p->done(p->done_ud, &part);
}

// false: told to stop.
static bool compute(const struct gemm_plan *p, const struct phase *f, const struct item *it) {
    const int64_t mr = p->ops->mr, size = p->ops->size, first = it->group * p->group_cols;
    const int64_t end = it->row + it->rows;
    struct gemm_tile t = {.k = f->kc, .c_rs = p->c_rs, .add = f->k0 != 0};
    t.a_rs = it->a ? size : p->a_rs;
    t.a_cs = it->a ? mr * size : p->a_cs;
    for (int64_t row = it->row, rows; row < end; row += rows) {
        rows = it->a ? MIN_OF(end - row, mr) : share(end - row, p->ops->mr);
        t.a =
            it->a ? it->a + row * f->kc * size : p->a + (f->row + row) * p->a_rs + f->k0 * p->a_cs;
        t.c = p->c + (f->row + row) * p->c_rs + (f->col + first) * p->c_cs;
        sweep(p, f, it, &t, rows);
        if (f->last && p->done) report(p, f, it, f->row + row, rows);
        if (kern_tick(p->watch, rows * f->kc / 8 * MIN_OF(f->cols - first, p->group_cols))) return false;
    }
    return true;
}

// Rows of a small product are reported when they are all, or fill half of the first cache.
static void small_part(const struct gemm_plan *p, int64_t end, int64_t *reported) {
    const int64_t rows = end - *reported;
    if (end < p->m && rows * p->n * p->ops->size < SMALL_PART_BYTES) return;
    struct kern_gemm_part part = {p->batch, *reported, rows, 0, p->n, p->body};
    if (p->swapped) part = (struct kern_gemm_part){p->batch, 0, p->n, *reported, rows, p->body};
    p->done(p->done_ud, &part);
    *reported = end;
}

// The loops of compute and sweep once more, without what a small product does not need.
void kern_gemm_walk_small(const struct gemm_plan *p) {
    const struct gemm_ops *ops = p->ops;
    const int64_t size = ops->size, n = p->n;
    struct gemm_tile t = {.k = p->k, .a = p->a, .a_rs = p->a_rs, .a_cs = p->a_cs, .b_rs = p->b_rs};
    t.c_rs = p->c_rs;
    int64_t reported = 0;
    for (int64_t row = 0, rows; row < p->m; row += rows, t.a += rows * p->a_rs) {
        rows = share(p->m - row, ops->mr);
        gemm_tile_fn *const *whole = ops->tiles + (ops->mr + rows - 1) * ops->nv - 1;
        gemm_tile_fn *const *part = whole + ops->mr * ops->nv;
        t.b = p->b;
        t.c = p->c + row * p->c_rs;
        for (int64_t left = n, width; left > 0; left -= width) {
            const int vecs = panel(ops, left);
            width = (int64_t)vecs << ops->log2_lanes;
            t.cols = (int32_t)MIN_OF(left, width);
            (left < width ? part : whole)[vecs](&t);
            t.b += width * size;
            t.c += width * size;
        }
        if (p->done) small_part(p, row + rows, &reported);
        if (p->m > ops->mr && kern_tick(p->watch, rows * p->k / 8 * n)) return;
    }
}

// A is packed a few slivers at a time by the first group, which uses them while they are in L2.
static bool first_group(const struct gemm_plan *p, const struct phase *f, struct item it,
                        unsigned char *a) {
    const int64_t step = GEMM_PACK_SLIVERS * p->ops->mr;
    for (; it.row < f->rows; it.row += step) {
        it.rows = MIN_OF(step, f->rows - it.row);
        it.ahead[0] = look_a(p, f, MIN_OF(it.row + step, f->rows));
        pack_slivers(p, f, a, it.row);
        if (!compute(p, f, &it)) return false;
    }
    return true;
}

void kern_gemm_walk(const struct gemm_plan *p, unsigned char *scratch) {
    unsigned char *a = scratch, *b = scratch + p->a_bytes;
    const int64_t count = phases(p);
    for (int64_t i = 0; i < count; i++) {
        const struct phase f = phase_at(p, i), next = phase_at(p, MIN_OF(i + 1, count - 1));
        struct ahead ahead[2] = {{0}};
        struct item it = {.rows = f.rows, .body = p->body, .ahead = ahead};
        it.a = p->pack_a ? a : NULL, it.b = p->pack_b ? b : NULL;
        for (; it.group * p->group_cols < f.cols; it.group++) {
            if (p->pack_b) pack_group(p, &f, b, it.group);
            const bool more = (it.group + 1) * p->group_cols < f.cols;
            if (p->pack_b) ahead[1] = more ? look_b(p, &f, it.group + 1) : look_b(p, &next, 0);
            const bool first = p->pack_a && it.group == 0;
            if (!(first ? first_group(p, &f, it, a) : compute(p, &f, &it))) return;
        }
    }
}

// ---- the team
// -----------------------------------------------------------------------------------------
// Counters only grow: phase i owns tickets i * count .. (i + 1) * count - 1 of each.
struct counter {
    _Alignas(64) atomic_int_fast64_t value;
};
struct team {
    const struct gemm_plan *p;
    unsigned char *scratch;
    int threads;
    atomic_bool stopped; // nobody waits for anybody any more
    struct counter pack_next, pack_done, items_done;
    struct counter group[GEMM_GROUPS];
};

static int64_t claim(struct counter *c, int64_t limit) {
    int_fast64_t at = atomic_load_explicit(&c->value, memory_order_relaxed);
    while (at < limit)
        if (atomic_compare_exchange_weak_explicit(&c->value, &at, at + 1, memory_order_acq_rel,
                                                  memory_order_relaxed))
            return at;
    return -1;
}

static void finish(struct counter *c) {
    atomic_fetch_add_explicit(&c->value, 1, memory_order_release);
}

static bool is_stopped(const struct team *t) {
    return atomic_load_explicit(&t->stopped, memory_order_relaxed);
}

// Only for work that running bodies have claimed, so it ends, or the team is told to stop; a descheduled
// one gets our time slice.
static void await(const struct team *t, struct counter *c, int64_t value) {
    for (int spin = 0; atomic_load_explicit(&c->value, memory_order_acquire) < value; spin++) {
        if (is_stopped(t)) return;
        if (spin > 2000) sched_yield();
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
}

static int64_t pack_tickets(const struct gemm_plan *p) {
    const int64_t step = GEMM_PACK_SLIVERS * p->ops->mr;
    return p->pack_a ? (p->row_chunk + step - 1) / step : 0;
}

// What a body keeps between items: the packed group in its own buffer.
struct held {
    unsigned char *b;
    int64_t phase, group;
};

static void work_group(struct team *t, const struct phase *f, struct held *h, struct item *it) {
    const struct gemm_plan *p = t->p;
    const int64_t first = h->phase * p->ranges;
    for (int64_t at; (at = claim(&t->group[it->group], first + p->ranges)) >= 0;) {
        it->row = (at - first) * p->range_rows;
        it->rows = MIN_OF(p->range_rows, f->rows - it->row);
        const bool any = it->rows > 0 && it->group * p->group_cols < f->cols;
        if (any && p->pack_b && h->group != it->group) {
            pack_group(p, f, h->b, it->group);
            h->group = it->group;
            const int64_t next = it->group + 1;
            it->ahead[1] = look_b(p, f, next * p->group_cols < f->cols ? next : 0);
        }
        if (is_stopped(t) || (any && !compute(p, f, it))) {
            atomic_store_explicit(&t->stopped, true, memory_order_relaxed);
            return;
        }
        finish(&t->items_done);
    }
}

static void body(void *arg, int64_t id) {
    struct team *t = arg;
    const struct gemm_plan *p = t->p;
    const int64_t count = phases(p), tickets = pack_tickets(p), items = p->groups * p->ranges;
    const int64_t step = GEMM_PACK_SLIVERS * p->ops->mr;
    struct held h = {.b = t->scratch + 2 * p->a_bytes + (size_t)id * p->b_bytes};
    for (int64_t i = 0; i < count && !is_stopped(t); i++) {
        const struct phase f = phase_at(p, i);
        unsigned char *a = t->scratch + (size_t)(i & 1) * p->a_bytes;
        for (int64_t at; (at = claim(&t->pack_next, (i + 1) * tickets)) >= 0;) {
            pack_slivers(p, &f, a, (at - i * tickets) * step);
            finish(&t->pack_done);
        }
        await(t, &t->pack_done, (i + 1) * tickets);
        await(t, &t->items_done, i * items); // adds to C in order; the other buffer is free again
        h.phase = i;
        h.group = -1;
        for (int64_t s = 0; s < p->groups && !is_stopped(t); s++) {
            struct ahead ahead[2] = {{0}};
            struct item it = {.body = id, .ahead = ahead};
            it.a = p->pack_a ? a : NULL, it.b = p->pack_b ? h.b : NULL;
            it.group = (s + id * p->groups / t->threads) % p->groups;
            work_group(t, &f, &h, &it);
        }
    }
}

void kern_gemm_walk_parallel(const struct gemm_plan *p, unsigned char *scratch,
                             const struct gemm_crew *crew) {
    struct team t = {.p = p, .scratch = scratch, .threads = crew->threads};
    crew->run(crew->ud, crew->threads, body, &t);
}
