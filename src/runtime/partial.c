// SPDX-License-Identifier: MIT
// Reduced runs in parts. In: a run too long for one tile, or worth several threads; out: the bits
// one tile over the whole run would give. Every part but the last is the same power of two of
// leaves long, so its state is a whole subtree of the fixed tree, and the binary counter of kern.h
// joins states as it would have joined the leaves. Parts of one thread are pushed as they are made;
// pieces of several threads leave their states in shared memory and are pushed in order when all
// are there.
#include "walk.h"

static void set_states(struct walker *k, uint8_t *base,
                       int64_t (*place)(const struct walk_reduce *r)) {
    const struct rt_walk *w = k->step->walk;
    for (int i = 0; i < w->nreduce; i++)
        k->state[i] = base + place(&w->reduce[i]);
}
static int64_t tile_place(const struct walk_reduce *r) {
    return r->tile;
}
static int64_t total_place(const struct walk_reduce *r) {
    return r->total;
}
static int64_t piece_place(const struct walk_reduce *r) {
    return r->piece;
}

static int64_t lanes_of(const struct rt_walk *w, const struct walk_reduce *r,
                        const struct block *b) {
    return w->mode == NEST_OUTER ? b->cols : r->lanes;
}

// States at base, as laid out by place, onto the stack as number index.
static void push(struct walker *k, const struct block *b, uint64_t index) {
    const struct rt_walk *w = k->step->walk;
    for (int i = 0; i < w->nreduce; i++) {
        const struct walk_reduce *r = &w->reduce[i];
        kern_red_push(r->kind, r->dtype, k->scratch + r->stack, k->state[i], lanes_of(w, r, b),
                      index);
    }
}

static void flush(struct walker *k, const struct block *b, uint64_t count) {
    const struct rt_walk *w = k->step->walk;
    for (int i = 0; i < w->nreduce; i++) {
        const struct walk_reduce *r = &w->reduce[i];
        kern_red_flush(r->kind, r->dtype, k->scratch + r->stack, k->state[i], lanes_of(w, r, b),
                       count);
    }
}

// The block's run into states at base; false: told to stop.
static bool reduce_block(struct walker *k, const struct block *b, uint8_t *base,
                         int64_t (*place)(const struct walk_reduce *r)) {
    const struct rt_walk *w = k->step->walk;
    const bool inner = w->mode == NEST_INNER;
    const int64_t step = inner ? w->tile_cols : w->tile_rows, run = inner ? b->cols : b->rows;
    if (run <= step) {
        set_states(k, base, place);
        rt_walker_tile(k, b, TILE_PARTIAL);
        return !rt_tick(k->step->run, b->rows * b->cols * w->weight);
    }
    set_states(k, k->scratch, tile_place);
    uint64_t n = 0;
    for (int64_t e = 0; e < run; e += step, n++) {
        struct block t = *b;
        *(inner ? &t.col : &t.row) += e;
        *(inner ? &t.cols : &t.rows) = MIN_OF(step, run - e);
        rt_walker_tile(k, &t, TILE_PARTIAL);
        push(k, b, n);
        if (rt_tick(k->step->run, t.rows * t.cols * w->weight)) return false;
    }
    set_states(k, base, place);
    flush(k, b, n);
    return true;
}

// One row (INNER) or one panel of columns (OUTER), all of its run.
static bool finish_block(struct walker *k, const struct block *b) {
    if (!reduce_block(k, b, k->scratch, total_place)) return false;
    rt_walker_tile(k, b, TILE_FINISH);
    return true;
}

bool rt_partial_block(struct walker *k, const struct block *b) {
    const struct rt_walk *w = k->step->walk;
    if (w->mode == NEST_INNER) {
        for (int64_t r = 0; r < b->rows; r++)
            if (!finish_block(k, &(struct block){b->row + r, 1, b->col, b->cols})) return false;
        return true;
    }
    for (int64_t c = 0; c < b->cols; c += w->tile_cols) {
        const int64_t cols = MIN_OF(w->tile_cols, b->cols - c);
        if (!finish_block(k, &(struct block){b->row, b->rows, b->col + c, cols})) return false;
    }
    return true;
}

// ---- pieces of several threads ----------------------------------------------------------------

// What is kept: a row of a unit, or a panel of its columns; all of its run.
static struct block seek_kept(struct walker *k, int64_t kept) {
    const struct rt_walk *w = k->step->walk;
    if (w->mode == NEST_INNER) {
        rt_walker_seek(k, kept / w->rows);
        return (struct block){kept % w->rows, 1, 0, w->cols};
    }
    rt_walker_seek(k, kept / w->col_chunks);
    const int64_t col = kept % w->col_chunks * w->col_step;
    return (struct block){0, w->rows, col, MIN_OF(w->col_step, w->cols - col)};
}

static void reduce_piece(void *arg, int64_t i, int worker) {
    const struct step_run *s = arg;
    const struct rt_walk *w = s->walk;
    struct walker k;
    if (rt_tick(s->run, 0)) return;
    rt_walker_open(&k, s, worker);
    struct block b = seek_kept(&k, i / w->pieces);
    const bool inner = w->mode == NEST_INNER;
    const int64_t e = i % w->pieces * w->piece;
    *(inner ? &b.col : &b.row) = e;
    *(inner ? &b.cols : &b.rows) = MIN_OF(w->piece, (inner ? w->cols : w->rows) - e);
    reduce_block(&k, &b, s->run->shared + i * w->piece_bytes, piece_place);
}

void rt_partial_run(const struct step_run *s) {
    const struct rt_walk *w = s->walk;
    rt_parallel(s->run->env, s->run->threads, w->nchunk, reduce_piece, (void *)(uintptr_t)s);
    if (rt_run_stopped(s->run)) return; // states are missing
    struct walker k;
    rt_walker_open(&k, s, 0);
    for (int64_t kept = 0; kept < w->units * w->col_chunks; kept++) {
        const struct block b = seek_kept(&k, kept);
        for (int64_t i = 0; i < w->pieces; i++) {
            set_states(&k, s->run->shared + (kept * w->pieces + i) * w->piece_bytes, piece_place);
            push(&k, &b, (uint64_t)i);
        }
        set_states(&k, k.scratch, total_place);
        flush(&k, &b, (uint64_t)w->pieces);
        rt_walker_tile(&k, &b, TILE_FINISH);
    }
}
