// SPDX-License-Identifier: MIT
// The walk of one loop step. In: its fixed rt_walk and the addresses of a run; out: every tile done
// once, by whichever tier is there. A thread keeps one walker: the operands' addresses at its outer
// index, and the tile it hands to code. A direct operand's tile address is three additions; the
// others are packed into the thread's scratch before the call, or unpacked after it.
#include "walk.h"

void *rt_operand_base(const struct rt_run *run, uint8_t buffer, uint32_t buf) {
    switch ((enum nest_buffer)buffer) {
    case NEST_LEAF: return run->bind->leaf[buf];
    case NEST_OUT: return run->out[buf];
    case NEST_TEMP: return run->base + run->program->temp_offset[buf];
    case NEST_CONST: return (void *)(uintptr_t)&run->bind->constant[buf];
    default: return NULL;
    }
}

static void rebase(struct walker *k) {
    const struct rt_walk *w = k->step->walk;
    for (int i = 0; i < w->noperand; i++) {
        const struct walk_operand *o = &w->operand[i];
        int64_t at = o->offset;
        for (int d = 0; d < w->nouter; d++)
            at += k->index[d] * o->ostride[d];
        k->at[i] =
            (char *)((uintptr_t)rt_operand_base(k->step->run, o->buffer, o->buf) + (uintptr_t)at);
    }
}

void rt_walker_open(struct walker *k, const struct step_run *s, int worker) {
    const struct rt_walk *w = s->walk;
    k->step = s;
    k->scratch = s->run->scratch + s->run->scratch_bytes * worker;
    k->at = (char **)(void *)(k->scratch + w->at_place);
    k->ptr = (void **)(void *)(k->scratch + w->ptr_place);
    k->state = (void **)(void *)(k->scratch + w->state_place);
    k->outer = 0;
    for (int d = 0; d < w->nouter; d++)
        k->index[d] = 0;
    k->tile = (struct tile){.ptr = k->ptr,
                            .rstride = w->tile_rstride,
                            .state = k->state,
                            .scratch = k->scratch + w->thread_bytes};
    rebase(k);
    for (int i = 0; i < w->noperand; i++)
        if (w->operand[i].path != PATH_DIRECT) k->ptr[i] = k->scratch + w->operand[i].scratch;
}

// To the next outer index: most often one stride more.
static void step_outer(struct walker *k) {
    const struct rt_walk *w = k->step->walk;
    int d = w->nouter - 1;
    k->outer++;
    if (++k->index[d] < w->odim[d]) {
        for (int i = 0; i < w->noperand; i++)
            k->at[i] = (char *)((uintptr_t)k->at[i] + (uintptr_t)w->operand[i].ostride[d]);
        return;
    }
    while (d > 0 && k->index[d] == w->odim[d]) {
        k->index[d] = 0;
        k->index[--d]++;
    }
    rebase(k);
}

void rt_walker_seek(struct walker *k, int64_t outer) {
    const struct rt_walk *w = k->step->walk;
    if (outer == k->outer) return;
    if (outer == k->outer + 1) {
        step_outer(k);
        return;
    }
    k->outer = outer;
    for (int d = w->nouter - 1; d >= 0; d--) {
        k->index[d] = outer % w->odim[d];
        outer /= w->odim[d];
    }
    rebase(k);
}

// ---- one tile ---------------------------------------------------------------------------------

// Does code touch this operand in this mode?
static bool is_active(const struct rt_walk *w, const struct walk_operand *o, enum tile_mode mode) {
    if (mode == TILE_FULL) return true;
    const bool end = w->mode == NEST_OUTER ? o->late : o->scalar; // touched when the run has ended
    if (mode == TILE_FINISH) return end;
    return !end || (w->mode == NEST_INNER && !o->out);
}

struct block rt_block_of(const struct walk_operand *o, const struct block *b) {
    struct block c = *b;
    if (o->late) c.row = 0, c.rows = 1;
    if (o->scalar) c.col = 0, c.cols = 1;
    return c;
}

static void pack_inputs(struct walker *k, const struct block *b, enum tile_mode mode) {
    const struct rt_walk *w = k->step->walk;
    for (int i = 0; i < w->npacked; i++) {
        const int n = w->packed[i];
        const struct walk_operand *o = &w->operand[n];
        if (o->out || !is_active(w, o, mode)) continue;
        if (o->path == PATH_GATHER) {
            rt_gather(k, n, b);
            continue;
        }
        const struct block c = rt_block_of(o, b);
        rt_pack(w, o, k->at[n], &c, k->ptr[n]);
    }
}

static void raise_guard(struct walker *k, const struct walk_operand *o, const struct block *b) {
    const uint8_t *p = k->scratch + o->scratch;
    uint8_t any = 0;
    for (int64_t r = 0; r < b->rows; r++, p += o->pitch)
        for (int64_t c = 0; c < b->cols; c++)
            any |= p[c];
    if (any) atomic_store_explicit(&k->step->run->guard[o->buf], 1, memory_order_relaxed);
}

static void unpack_outputs(struct walker *k, const struct block *b, enum tile_mode mode) {
    const struct rt_walk *w = k->step->walk;
    for (int i = 0; i < w->npacked; i++) {
        const int n = w->packed[i];
        const struct walk_operand *o = &w->operand[n];
        if (!o->out || !is_active(w, o, mode)) continue;
        const struct block c = rt_block_of(o, b);
        if (o->path == PATH_GUARD)
            raise_guard(k, o, &c);
        else
            rt_unpack(w, o, k->at[n], &c, k->ptr[n]);
    }
}

void rt_walker_tile(struct walker *k, const struct block *b, enum tile_mode mode) {
    const struct rt_walk *w = k->step->walk;
    for (int i = 0; i < w->noperand; i++) {
        const struct walk_operand *o = &w->operand[i];
        if (o->path != PATH_DIRECT) continue;
        const int64_t at = b->row * o->rstride + (o->scalar ? 0 : b->col * o->cstride);
        k->ptr[i] = (void *)((uintptr_t)k->at[i] + (uintptr_t)at);
    }
    k->tile.rows = b->rows;
    k->tile.cols = b->cols;
    k->tile.mode = mode;
    k->tile.first = mode == TILE_PARTIAL ? (w->mode == NEST_OUTER ? b->row : b->col) : 0;
    if (!w->direct) pack_inputs(k, b, mode);
    k->step->fn(k->step->form, &k->tile);
    if (!w->direct) unpack_outputs(k, b, mode);
}

// ---- many -------------------------------------------------------------------------------------

bool rt_walker_block(struct walker *k, const struct block *b) {
    const struct rt_walk *w = k->step->walk;
    if (w->tiled_run) return rt_partial_block(k, b);
    if (k->step->stream) return rt_stream_block(k, b);
    const int64_t tr = MAX_OF(w->tile_rows, 1), tc = MAX_OF(w->tile_cols, 1);
    const int64_t row_end = b->row + b->rows, col_end = b->col + b->cols;
    int64_t r = b->row;
    do { // an empty run is one tile too: its result is the identity
        const int64_t rows = MIN_OF(tr, row_end - r);
        int64_t c = b->col;
        do {
            const struct block t = {r, rows, c, MIN_OF(tc, col_end - c)};
            rt_walker_tile(k, &t, TILE_FULL);
            if (rt_tick(k->step->run, t.rows * t.cols * w->weight)) return false;
            c += tc;
        } while (c < col_end);
        r += tr;
    } while (r < row_end);
    return true;
}

// Units [begin, end) by columns [col, col + cols).
static void walk_units(struct walker *k, int64_t begin, int64_t end, int64_t col, int64_t cols) {
    const struct rt_walk *w = k->step->walk;
    if (w->mode == NEST_OUTER) {
        for (int64_t u = begin; u < end; u++) {
            rt_walker_seek(k, u);
            if (!rt_walker_block(k, &(struct block){0, w->rows, col, cols})) return;
        }
        return;
    }
    int64_t outer = begin / w->rows, row = begin % w->rows;
    while (begin < end) {
        const int64_t rows = MIN_OF(w->rows - row, end - begin);
        rt_walker_seek(k, outer++);
        if (!rt_walker_block(k, &(struct block){row, rows, col, cols})) return;
        begin += rows;
        row = 0;
    }
}

static void walk_chunk(void *arg, int64_t i, int worker) {
    const struct step_run *s = arg;
    const struct rt_walk *w = s->walk;
    struct walker k;
    if (rt_tick(s->run, 0)) return;
    rt_walker_open(&k, s, worker);
    const int64_t unit = i / w->col_chunks * w->unit_step, col = i % w->col_chunks * w->col_step;
    walk_units(&k, unit, MIN_OF(w->units, unit + w->unit_step), col,
               MIN_OF(w->col_step, w->cols - col));
}

static bool is_empty(const struct rt_walk *w) {
    if (!w->units) return true;
    return w->mode == NEST_INNER ? false : !w->cols;
}

// Machine code when it is there and its scratch was counted in. The counts may miss one when
// threads race: they are for curiosity, and a locked add is a tenth of the smallest run.
static void choose_code(struct step_run *s, struct rt_code *c) {
    tile_fn *native = atomic_load_explicit(&c->native, memory_order_acquire);
    const int64_t room = s->run->scratch_bytes - s->walk->thread_bytes;
    if (native && (int64_t)c->native_scratch > room) native = NULL;
    s->fn = native ? native : c->interp;
    s->form = native ? c->native_form : c->interp_form;
    _Atomic uint64_t *runs = native ? &c->runs_native : &c->runs_interp;
    const uint64_t n = atomic_load_explicit(runs, memory_order_relaxed);
    atomic_store_explicit(runs, n + 1, memory_order_relaxed);
}

struct step_run rt_step_open(const struct rt_run *run, const struct rt_step *t) {
    struct step_run s = {.run = run, .walk = t->walk};
    choose_code(&s, t->code);
    s.stream = t->walk->stream && rt_stream_allowed(&s);
    return s;
}

// All of the step in one tile on the operands' own memory: no walker is needed.
static void run_single(const struct step_run *s) {
    const struct rt_walk *w = s->walk;
    void **ptr = (void **)(void *)(s->run->scratch + w->ptr_place);
    for (int i = 0; i < w->noperand; i++) {
        const struct walk_operand *o = &w->operand[i];
        ptr[i] =
            (void *)((uintptr_t)rt_operand_base(s->run, o->buffer, o->buf) + (uintptr_t)o->offset);
    }
    const struct tile t = {.ptr = ptr,
                           .rstride = w->tile_rstride,
                           .cols = w->cols,
                           .rows = w->rows,
                           .mode = TILE_FULL,
                           .scratch = s->run->scratch + w->thread_bytes};
    s->fn(s->form, &t);
}

void rt_walk_run(const struct rt_run *run, const struct rt_step *t) {
    const struct rt_walk *w = t->walk;
    const struct step_run s = rt_step_open(run, t);
    if (is_empty(w)) return;
    if (run->threads > 1 && w->pieces > 1) {
        rt_partial_run(&s);
    } else if (run->threads > 1 && w->nchunk > 1) {
        rt_parallel(run->env, run->threads, w->nchunk, walk_chunk, (void *)(uintptr_t)&s);
    } else if (w->single) {
        run_single(&s);
    } else {
        struct walker k;
        rt_walker_open(&k, &s, 0);
        walk_units(&k, 0, w->units, 0, w->cols);
    }
}
