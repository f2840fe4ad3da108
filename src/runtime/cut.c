// SPDX-License-Identifier: MIT
// How a walk is cut. In: its shape; out: the size of tiles, the chunks that threads share, and
// where everything lies in a thread's scratch. Without packing a tile is as large as the chunk, so
// that there are few calls; with packing it is a block whose packed operands stay in half of the
// second cache. A reduced run is only ever cut at a power of two of the leaves of the fixed tree
// (kern.h), so no cut changes a bit.
#include "walk.h"

enum {
    NEVER_CYCLES = 16 << 10,  // below this work a second thread costs more than it brings on any machine,
    ALWAYS_CYCLES = 1 << 20, // from this on it pays; in between it was measured (worth.c)
    GRAIN_CYCLES = 16 << 10, // least work of a chunk
    CHUNKS_PER_THREAD = 16,  // enough that stealing evens out
    BLOCK_ELEMS = 16 << 10,  // elements of a packed block
    BLOCK_ROWS = 128,         // its rows: whole lines of an operand that is dense along rows
    SCALAR_ROWS = 1024,      // rows of a tile that packs only one element a row
    STATE_COLS = 1024,       // columns whose partial states are kept at once
    PIECE_LEAVES = 128,      // least piece of an inner run
    LATE_COLS = 4096,
    TILE_CYCLES = 2 << 20    // of a tile: a run is told to stop between tiles
};

_Static_assert((int)NEST_LEAF_RUN == (int)KERN_RED_RUN, "cuts fall between leaves");

struct packed_sizes {
    int64_t unit, late, scalar;
}; // bytes per element

static struct packed_sizes add_sizes(const struct rt_walk *w) {
    struct packed_sizes s = {0, 0, 0};
    for (int i = 0; i < w->npacked; i++) {
        const struct walk_operand *o = &w->operand[w->packed[i]];
        *(o->scalar ? &s.scalar : o->late ? &s.late : &s.unit) += o->size;
    }
    return s;
}

static int64_t power_of_two_below(int64_t x) {
    return x < 1 ? 1 : (int64_t)1 << (63 - __builtin_clzll((uint64_t)x));
}

// ---- tiles ------------------------------------------------------------------------------------

static void tile_map(struct rt_walk *w, const struct packed_sizes *s, int64_t budget) {
    if (s->unit) {
        w->tile_rows = MIN_OF(w->rows, BLOCK_ROWS);
        w->tile_cols = MIN_OF(w->cols, BLOCK_ELEMS / MAX_OF(w->tile_rows, 1));
        while (w->tile_rows > 8 && w->tile_rows * w->tile_cols * s->unit > budget)
            w->tile_rows = (w->tile_rows + 1) / 2;
        while (w->tile_cols > 64 && w->tile_rows * w->tile_cols * s->unit > budget)
            w->tile_cols = (w->tile_cols + 1) / 2;
    } else if (s->scalar) {
        w->tile_rows = MIN_OF(w->rows, SCALAR_ROWS);
    }
}

static void tile_inner(struct rt_walk *w, const struct packed_sizes *s, int64_t budget) {
    if (s->unit && !w->whole_rows && w->cols > budget / s->unit) {
        w->tile_rows = MIN_OF(w->rows, 1);
        w->tile_cols = power_of_two_below(MAX_OF(NEST_LEAF_RUN, budget / s->unit));
    } else if (s->unit) {
        const int64_t fit = budget / s->unit / MAX_OF(w->cols, 1);
        w->tile_rows = MIN_OF(w->rows, MAX_OF(1, MIN_OF(fit, BLOCK_ROWS)));
    } else if (s->scalar) {
        w->tile_rows = MIN_OF(w->rows, SCALAR_ROWS);
    }
}

static void tile_outer(struct rt_walk *w, const struct packed_sizes *s, int64_t budget) {
    if (s->late) w->tile_cols = MIN_OF(w->tile_cols, LATE_COLS);
    if (s->scalar && w->rows > SCALAR_ROWS) w->tile_rows = SCALAR_ROWS;
    if (s->unit) {
        w->tile_cols = MIN_OF(w->tile_cols, 256);
        while (w->tile_cols > 16 && KERN_RED_ROWS * w->tile_cols * s->unit > budget)
            w->tile_cols = (w->tile_cols + 1) / 2;
        const int64_t fit = budget / (MAX_OF(w->tile_cols, 1) * s->unit);
        if (fit < w->tile_rows) w->tile_rows = power_of_two_below(MAX_OF(KERN_RED_ROWS, fit));
        w->tile_rows = MIN_OF(w->tile_rows, w->rows);
    }
    if (w->tile_rows < w->rows) w->tile_cols = MIN_OF(w->tile_cols, STATE_COLS);
}

// Code may be slow per element and memory slow per byte (fresh pages): the worse of both.
static int64_t weigh(const struct rt_walk *w, int cost) {
    int64_t bytes = 0;
    for (int k = 0; k < w->noperand; k++)
        if (!w->operand[k].scalar && !w->operand[k].late) bytes += w->operand[k].size;
    return MAX_OF(MAX_OF((int64_t)cost, bytes / 4), 1);
}

// No tile takes much longer than a millisecond. Where code works on the operands' own memory a tile would
// be the whole step.
static void bound_tiles(struct rt_walk *w) {
    const int64_t most = MAX_OF(TILE_CYCLES / w->weight, 4096), cols = MAX_OF(w->tile_cols, 1);
    const int64_t rows = MAX_OF(w->tile_rows, 1);
    if (rows <= most / cols) return;
    if (w->mode == NEST_OUTER) {
        const int64_t fit = MAX_OF(most / rows / RT_LINE * RT_LINE, STATE_COLS);
        w->tile_cols = MIN_OF(w->tile_cols, fit);
        if (rows > most / w->tile_cols) {
            w->tile_cols = MIN_OF(w->tile_cols, STATE_COLS);
            w->tile_rows = MIN_OF(w->tile_rows, power_of_two_below(most / w->tile_cols));
        }
    } else if (cols <= most) {
        w->tile_rows = most / cols;
    } else if (!w->whole_rows) {
        w->tile_rows = MIN_OF(w->tile_rows, 1);
        w->tile_cols = power_of_two_below(most);
    } else {
        w->tile_rows = MIN_OF(w->tile_rows, 1);
    }
}

static void cut_tiles(struct rt_walk *w, int cost) {
    const int64_t l2 = (int64_t)kern_cache_sizes().l2;
    const int64_t budget = MAX_OF(128 << 10, MIN_OF(l2 / 2, 1 << 20));
    const struct packed_sizes s = add_sizes(w);
    w->tile_rows = w->rows;
    w->tile_cols = w->cols;
    if (w->mode == NEST_MAP) tile_map(w, &s, budget);
    if (w->mode == NEST_INNER) tile_inner(w, &s, budget);
    if (w->mode == NEST_OUTER) tile_outer(w, &s, budget);
    w->weight = weigh(w, cost);
    bound_tiles(w);
    w->single = w->direct && w->outer == 1 && w->tile_rows == w->rows && w->tile_cols == w->cols;
    w->tiled_run = (w->mode == NEST_INNER && w->tile_cols < w->cols) ||
                   (w->mode == NEST_OUTER && w->tile_rows < w->rows);
}

// ---- chunks -----------------------------------------------------------------------------------

// Pieces of at least unit elements, a power of two times that, at most about want in all.
static void cut_run(struct rt_walk *w, int64_t run, int64_t unit, int64_t want) {
    const int64_t tile = w->mode == NEST_INNER ? w->tile_cols : w->tile_rows;
    const int64_t kept = w->units * w->col_chunks;
    int64_t piece = unit;
    while (piece < run && (kept * ceil_div(run, piece) > want || (w->tiled_run && piece < tile)))
        piece *= 2;
    if (piece >= run) return;
    w->piece = piece;
    w->pieces = ceil_div(run, piece);
}

// Columns in multiples of a line of the narrowest element.
static void cut_columns(struct rt_walk *w, int64_t want, int64_t least) {
    const int64_t parts = ceil_div(want, MAX_OF(w->units, 1));
    int64_t step = MAX_OF(round_up(ceil_div(w->cols, parts), RT_LINE), least);
    if (!w->direct && w->tile_cols < step) step = round_up(step, w->tile_cols);
    w->col_step = MIN_OF(step, w->cols);
    w->col_chunks = ceil_div(w->cols, w->col_step);
}

static void cut_outer(struct rt_walk *w, int64_t want) {
    cut_columns(w, want, 256);
    const int64_t kept = w->units * w->col_chunks;
    if (kept * 4 > want || w->rows < 2 * KERN_RED_ROWS)
        return; // about four chunks a thread already
    // Pieces of rows as wide as states may be: short runs of memory in every row are read slowly.
    const struct rt_walk before = *w;
    w->col_step = MIN_OF(MIN_OF(w->cols, STATE_COLS), w->tile_cols);
    w->tile_cols = w->col_step;
    w->col_chunks = ceil_div(w->cols, w->col_step);
    cut_run(w, w->rows, KERN_RED_ROWS, MAX_OF(want / 4, 2)); // states are joined by one thread
    if (w->pieces == 1) *w = before;
}

static bool has_scalar_out(const struct rt_walk *w) {
    for (int k = 0; k < w->noperand; k++) {
        const struct walk_operand *o = &w->operand[k];
        if (o->out && o->scalar && !o->late && o->path != PATH_GUARD) return true;
    }
    return false;
}

static void cut_chunks(struct rt_walk *w, int cost, const struct rt_env *env) {
    const int threads = env->threads;
    const double work = (double)w->units * (double)w->cols * MAX_OF(cost, 1) *
                        (w->mode == NEST_OUTER ? (double)w->rows : 1.0);
    if (threads < 2 || work < NEVER_CYCLES) return;
    if ((env->parallel_ns || work < ALWAYS_CYCLES) && work < (double)rt_worth_cycles(env)) return;
    const double grains = work / GRAIN_CYCLES;
    const int64_t most = (int64_t)threads * CHUNKS_PER_THREAD;
    const int64_t want = grains < (double)most ? MAX_OF((int64_t)grains, 2) : most;
    w->unit_step = MAX_OF(w->units / want, 1);
    if (!w->direct && w->mode != NEST_OUTER && w->unit_step > w->tile_rows)
        w->unit_step = round_up(w->unit_step, w->tile_rows);
    if (w->units < want && w->mode != NEST_INNER && has_scalar_out(w))
        ; // a row's element is written by one thread only
    else if (w->units < want && w->mode == NEST_OUTER)
        cut_outer(w, want);
    else if (w->units < want && w->mode == NEST_MAP)
        cut_columns(w, want, RT_LINE);
    else if (w->units * 4 <= want && !w->whole_rows && w->mode == NEST_INNER)
        cut_run(w, w->cols, PIECE_LEAVES * NEST_LEAF_RUN, want);
    w->nchunk = ceil_div(w->units, w->unit_step) * w->col_chunks * w->pieces;
}

static void cut_for_threads(struct rt_walk *w, int cost, const struct rt_env *env) {
    w->units = w->mode == NEST_OUTER ? w->outer : w->outer * w->rows;
    w->unit_step = MAX_OF(w->units, 1);
    w->col_step = w->cols;
    w->col_chunks = w->pieces = w->nchunk = 1;
    if (w->units && w->cols) cut_chunks(w, cost, env);
}

// ---- memory -----------------------------------------------------------------------------------

// Of one thread's scratch: far above any memory, and times RT_MAX_THREADS no overflow.
#define MOST_BYTES (BASE_MAX_BYTES / RT_MAX_THREADS)
struct carver {
    int64_t at;
    bool over;
};
static int64_t carve(struct carver *c, int64_t count, int64_t each) {
    const int64_t place = c->at;
    int64_t bytes;
    if (__builtin_mul_overflow(count, each, &bytes) || bytes > MOST_BYTES - c->at) {
        c->over = true;
        return place;
    }
    c->at = round_up(c->at + bytes, RT_LINE);
    return place;
}

// Rows of packed blocks start on lines, and not a multiple of 4 KiB apart, where they would share
// one set of the first cache.
static int64_t pitch_of(int64_t bytes) {
    const int64_t pitch = round_up(bytes, RT_LINE);
    return pitch >= 4096 && pitch % 4096 == 0 ? pitch + RT_LINE : pitch;
}

static void place_rowtmp(struct rt_walk *w, struct carver *c, int k) {
    struct walk_operand *o = &w->operand[k];
    for (int i = 0; i < k; i++) {
        const struct walk_operand *other = &w->operand[i];
        if (other->path != PATH_ROWTMP || other->buf != o->buf) continue;
        o->scratch = other->scratch;
        return;
    }
    o->scratch = carve(c, w->cols, 8);
}

static void place_operand(struct rt_walk *w, struct carver *c, int k) {
    struct walk_operand *o = &w->operand[k];
    const int64_t rows = o->late ? 1 : MAX_OF(w->tile_rows, 1);
    w->tile_rstride[k] = o->rstride;
    if (o->path == PATH_ROWTMP) {
        place_rowtmp(w, c, k);
        w->tile_rstride[k] = 0;
    } else if (o->path != PATH_DIRECT && o->path != PATH_INDEX) {
        int64_t bytes = o->size; // of a row
        if (!o->scalar && __builtin_mul_overflow(w->tile_cols, o->size, &bytes)) c->over = true;
        o->pitch = o->scalar ? o->size : pitch_of(MIN_OF(bytes, MOST_BYTES));
        o->scratch = carve(c, rows, o->pitch);
        w->tile_rstride[k] = o->pitch;
    }
}

static int levels_of(int64_t pushed) {
    return 65 - __builtin_clzll((uint64_t)pushed | 1);
}

static void place_states(struct rt_walk *w, struct carver *c) {
    if (!w->tiled_run && w->pieces < 2) return;
    const bool inner = w->mode == NEST_INNER;
    const int64_t run = inner ? w->cols : w->rows;
    const int64_t tiles = w->tiled_run ? ceil_div(run, inner ? w->tile_cols : w->tile_rows) : 1;
    const int levels = levels_of(MAX_OF(tiles, w->pieces));
    struct carver piece = {0, false};
    for (int i = 0; i < w->nreduce; i++) {
        struct walk_reduce *r = &w->reduce[i];
        r->lanes = !inner ? w->tile_cols : kern_red_is_arg(r->kind) ? 32 : kern_red_lanes(r->dtype);
        r->bytes = round_up((int64_t)kern_red_state(r->kind, r->dtype, r->lanes), RT_LINE);
        r->tile = carve(c, 1, r->bytes);
        r->total = carve(c, 1, r->bytes);
        r->stack = carve(c, levels, r->bytes);
        r->piece = carve(&piece, 1, r->bytes);
    }
    w->piece_bytes = piece.at;
    c->over |= piece.over;
}

weft_status rt_walk_cut(struct rt_walk *w, const struct rt_step *t, const struct rt_env *env) {
    cut_tiles(w, t->cost);
    rt_stream_plan(w, t, env);
    w->single &= !w->stream;
    cut_for_threads(w, t->cost, env);
    struct carver c = {0, false};
    w->at_place = carve(&c, w->noperand, sizeof(char *));
    w->ptr_place = carve(&c, w->noperand, sizeof(void *));
    w->state_place = carve(&c, w->nreduce, sizeof(void *));
    if (t->kind == RT_MATMUL) w->walker_place = carve(&c, 1, sizeof(struct walker));
    for (int k = 0; k < w->noperand; k++)
        place_operand(w, &c, k);
    place_states(w, &c);
    w->thread_bytes = c.at;
    for (int k = 0; k < w->noperand; k++)
        w->single &=
            w->operand[k].path == PATH_DIRECT; // a row of scratch has an address per thread
    return c.over || w->piece_bytes > BASE_MAX_BYTES / w->nchunk ? WEFT_ESHAPE : WEFT_OK;
}
