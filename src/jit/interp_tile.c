// SPDX-License-Identifier: MIT
// Runs an interpreter's form over one tile. In: the form and a tile; out: what the body stores, or
// partial states of its reductions. Strips are short enough to stay in the first-level cache, so
// the cost over machine code is a call an operation and strip, and the loads and stores of
// intermediate values there.
//
// Every address an act needs is in a table of places at the start of scratch; operands move along
// it as the run walks over strips and rows, the rest stands still. Reductions follow the tree of
// kern.h: rows (INNER) accumulate leaves strip by strip; columns (OUTER) are done a panel of one
// strip's width at a time, so that states and the counter's top stay in cache. Nothing is allocated
// and nothing recurses.
#include "interp.h"

struct run {
    const struct interp_form *f;
    const struct tile *t;
    char **place;
    char *scratch;
    bool put; // stores of ROW sections happen
};

static enum kern_red kind_of(const struct reduction *r) {
    return (enum kern_red)r->kind;
}
static weft_dtype type_of(const struct reduction *r) {
    return (weft_dtype)r->dtype;
}

static void set_places(struct run *r) {
    const struct interp_form *f = r->f;
    char **p = r->place + f->noperand;
    for (uint32_t i = 0; i < f->ncell; i++)
        *p++ = r->scratch + f->cells + (size_t)i * INTERP_CELL;
    for (uint32_t i = 0; i < f->nstrip + f->nspread; i++)
        *p++ = r->scratch + f->strips + i * f->strip_bytes;
    memset(r->scratch + f->spread_state, 0, f->nspread * sizeof(struct spread_state));
}

// ---- acts
// ----------------------------------------------------------------------------------------

static void copy(const struct run *r, const struct act *a, size_t n) {
    char *out = r->place[a->out];
    const char *from = r->place[a->a];
    if (out != from) memmove(out, from, n * a->size);
}
// one element; constant sizes are instructions, not calls
static void copy_one(const struct run *r, const struct act *a) {
    char *out = r->place[a->out];
    const char *from = r->place[a->a];
    switch (a->size) {
    case 1: *out = *from; break;
    case 2: memmove(out, from, 2); break;
    case 4: memmove(out, from, 4); break;
    default: memmove(out, from, 8); break;
    }
}

// n elements from number at of the run on into the counter of a row, leaf by leaf; strips may be
// longer or shorter than leaves
static void reduce_columns(const struct run *r, const struct reduction *d, const char *x,
                           int64_t at, int64_t n) {
    const enum kern_red kind = kind_of(d);
    const weft_dtype type = type_of(d);
    char *stack = r->scratch + d->stack;
    while (n > 0) {
        const int64_t into = at % KERN_RED_RUN, take = MIN_OF(n, KERN_RED_RUN - into);
        const uint64_t leaf = (uint64_t)(at / KERN_RED_RUN);
        void *lanes = kern_red_slot(kind, type, stack, d->lanes, leaf);
        if (into)
            kern_red_leaf(kind, type, lanes, x, take, r->t->first + at);
        else
            kern_red_begin(kind, type, lanes, x, take, r->t->first + at);
        at += take;
        n -= take;
        x += take * (int64_t)dtype_size(type);
        if (at % KERN_RED_RUN == 0 || at == r->t->cols)
            kern_red_carry(kind, type, stack, d->lanes, leaf);
    }
}

// n columns of a row into the counter of a panel
static void reduce_rows(const struct run *r, const struct reduction *d, const char *x, int64_t row,
                        int64_t n) {
    const enum kern_red kind = kind_of(d);
    const weft_dtype type = type_of(d);
    char *stack = r->scratch + d->stack;
    const uint64_t leaf = (uint64_t)(row / KERN_RED_ROWS);
    void *state = kern_red_slot(kind, type, stack, n, leaf);
    if (row % KERN_RED_ROWS)
        kern_red_row(kind, type, state, x, n, r->t->first + row);
    else
        kern_red_begin_row(kind, type, state, x, n, r->t->first + row);
    if ((row + 1) % KERN_RED_ROWS == 0 || row + 1 == r->t->rows)
        kern_red_carry(kind, type, stack, n, leaf);
}

static void reduce(const struct run *r, const struct act *a, size_t n, int64_t e) {
    const struct reduction *d = &r->f->red[a->red];
    if (r->f->mode == NEST_OUTER)
        reduce_rows(r, d, r->place[a->a], e, (int64_t)n);
    else
        reduce_columns(r, d, r->place[a->a], e, (int64_t)n);
}

// e: the number of the first column (INNER) or of the row (OUTER)
static void run_acts(const struct run *r, uint32_t begin, uint32_t end, size_t n, int64_t e) {
    char *const *p = r->place;
    for (const struct act *a = r->f->act + begin; a < r->f->act + end; a++) {
        switch ((enum act_kind)a->kind) {
        case ACT_STRIP: a->fn.strip(p[a->out], p[a->a], p[a->b], p[a->c], n); break;
        case ACT_KERNEL: a->fn.kernel(p[a->out], p[a->a], p[a->b], n); break;
        case ACT_COPY: copy(r, a, n); break;
        case ACT_FIRST: copy_one(r, a); break;
        case ACT_PUT:
            if (r->put) copy_one(r, a);
            break;
        case ACT_REDUCE: reduce(r, a, n, e); break;
        }
    }
}

// ---- rows
// ----------------------------------------------------------------------------------------

static void fill(char *out, const char *cell, size_t size, size_t n) {
    const size_t bytes = n * size;
    if (size == 1) {
        memset(out, *(const unsigned char *)cell, bytes);
        return;
    }
    memcpy(out, cell, size);
    for (size_t have = size; have < bytes; have *= 2)
        memcpy(out + have, out, MIN_OF(have, bytes - have));
}

static uint64_t cell_bits(const char *cell, size_t size) {
    uint64_t bits;
    memcpy(&bits, cell, sizeof bits);
    return size == 8 ? bits : bits & (((uint64_t)1 << (8 * size)) - 1);
}

static void fill_spreads(const struct run *r, const struct part *p) {
    struct spread_state *all = (struct spread_state *)(void *)(r->scratch + r->f->spread_state);
    const size_t n = (size_t)MIN_OF((int64_t)r->f->width, r->t->cols);
    for (uint32_t i = p->spread_begin; i < p->spread_end; i++) {
        const struct spread *s = &r->f->spread[i];
        struct spread_state *now = &all[s->number];
        uint64_t bits = cell_bits(r->place[s->cell], s->size);
        if (now->filled && now->bits == bits) continue;
        *now = (struct spread_state){bits, true};
        fill(r->place[s->strip], r->place[s->cell], s->size, n);
    }
}

static void set_operands(const struct run *r, const struct part *p, int64_t row, int64_t col) {
    for (uint32_t i = p->stream_begin; i < p->stream_end; i++) {
        const struct stream *s = &r->f->stream[i];
        const int64_t at = (row ? row * r->t->rstride[s->operand] : 0) + col * s->step;
        r->place[s->operand] = (char *)r->t->ptr[s->operand] + at;
    }
}

// Makes a section ready for a row from column col on: operands, and what is the same for all
// columns.
static void enter(const struct run *r, const struct part *p, int64_t row, int64_t col) {
    set_operands(r, p, row, col);
    run_acts(r, p->head, p->body, 1, 0);
    fill_spreads(r, p);
}

static void run_row_section(const struct run *r, const struct part *p, int64_t row) {
    set_operands(r, p, row, 0);
    run_acts(r, p->body, p->end, 1, 0);
}

// ---- MAP and INNER
// -------------------------------------------------------------------------------

// The sum of nothing is 0, though sums start from -0.
static bool is_empty_sum(const struct reduction *d, int64_t count) {
    return count == 0 && d->kind == KERN_SUM;
}

static void end_reduction(const struct run *r, uint32_t i, int64_t leaves) {
    const struct reduction *d = &r->f->red[i];
    const int64_t cols = r->t->cols;
    char *total = r->scratch + d->stack;
    kern_red_flush(kind_of(d), type_of(d), total, total, d->lanes, (uint64_t)leaves);
    if (r->t->mode == TILE_PARTIAL)
        memcpy(r->t->state[i], total, kern_red_state(kind_of(d), type_of(d), d->lanes));
    else if (is_empty_sum(d, cols))
        memset(r->place[d->result], 0, INTERP_CELL);
    else
        kern_red_fold(kind_of(d), type_of(d), total, r->place[d->result]);
}

// A section of runs: one call where there is one reduction. Several take turns over pieces that stay
// in cache; a piece is a power of two of leaves, so pieces count as leaves do.
enum { RUN_PIECE = 16 * KERN_RED_RUN, RUN_STATES = 6, RUN_STATE_BYTES = 512 };

static void run_piece(const struct run *r, const struct act *a, int64_t at, int64_t n) {
    const struct reduction *d = &r->f->red[a->red];
    const enum kern_red kind = kind_of(d);
    const weft_dtype type = type_of(d);
    _Alignas(64) char states[RUN_STATES * RUN_STATE_BYTES]; // the counter of 16 leaves
    const uint64_t number = (uint64_t)(at / RUN_PIECE);
    void *slot = kern_red_slot(kind, type, r->scratch + d->stack, d->lanes, number);
    kern_red_run(d->run, slot, r->place[a->a], n, r->t->first + at, states);
    kern_red_carry(kind, type, r->scratch + d->stack, d->lanes, number);
}

static void run_runs(const struct run *r, const struct part *p, int64_t row) {
    const int64_t cols = r->t->cols;
    const bool one = p->end - p->body == 1 || cols <= RUN_PIECE;
    enter(r, p, row, 0);
    for (const struct act *a = r->f->act + p->body; one && a < r->f->act + p->end; a++) {
        void *stack = r->scratch + r->f->red[a->red].stack;
        kern_red_run(r->f->red[a->red].run, stack, r->place[a->a], cols, r->t->first, stack);
    }
    for (int64_t c = 0; !one && c < cols; c += RUN_PIECE) {
        if (c) set_operands(r, p, row, c);
        for (const struct act *a = r->f->act + p->body; a < r->f->act + p->end; a++)
            run_piece(r, a, c, MIN_OF(RUN_PIECE, cols - c));
    }
    for (uint32_t i = p->red_begin; i < p->red_end; i++)
        end_reduction(r, i, one ? 1 : (cols + RUN_PIECE - 1) / RUN_PIECE);
}

// Elements of a row from left to right, a strip at a time.
static void run_row(const struct run *r, const struct part *p, int64_t row) {
    if (p->runs) {
        run_runs(r, p, row);
        return;
    }
    const int64_t width = r->f->width, cols = r->t->cols;
    enter(r, p, row, 0);
    for (int64_t c = 0; c < cols; c += width) {
        if (c) set_operands(r, p, row, c);
        run_acts(r, p->body, p->end, (size_t)MIN_OF(width, cols - c), c);
    }
    for (uint32_t i = p->red_begin; i < p->red_end; i++)
        end_reduction(r, i, (cols + KERN_RED_RUN - 1) / KERN_RED_RUN);
}

static void run_rows(const struct run *r) {
    for (int64_t row = 0; row < r->t->rows; row++)
        for (uint32_t i = 0; i < r->f->npart; i++) {
            const struct part *p = &r->f->part[i];
            if (p->kind == SEG_ROW)
                run_row_section(r, p, row);
            else
                run_row(r, p, row);
        }
}

static void finish_inner(const struct run *r) {
    for (uint32_t i = 0; i < r->f->nred; i++) {
        const struct reduction *d = &r->f->red[i];
        kern_red_fold(kind_of(d), type_of(d), r->t->state[i], r->place[d->result]);
    }
    for (uint32_t i = 0; i < r->f->npart; i++)
        if (r->f->part[i].kind == SEG_ROW) run_row_section(r, &r->f->part[i], 0);
}

// ---- OUTER
// ---------------------------------------------------------------------------------------

struct panel {
    int64_t col, n;
};

// All rows of a panel into the reductions' totals, at the bottom of their counters.
static void reduce_panel(const struct run *r, struct panel c) {
    const struct interp_form *f = r->f;
    const uint64_t leaves = (uint64_t)((r->t->rows + KERN_RED_ROWS - 1) / KERN_RED_ROWS);
    for (int64_t row = 0; row < r->t->rows; row++)
        for (uint32_t i = 0; i < f->npart; i++) {
            const struct part *p = &f->part[i];
            if (p->kind == SEG_ROW) run_row_section(r, p, row);
            if (p->kind != SEG_ELEM) continue;
            enter(r, p, row, c.col);
            run_acts(r, p->body, p->end, (size_t)c.n, row);
        }
    for (const struct reduction *d = f->red; d < f->red + f->nred; d++) {
        char *total = r->scratch + d->stack;
        kern_red_flush(kind_of(d), type_of(d), total, total, c.n, leaves);
    }
}

// The indices of an arg-reduction within a state of n columns.
static char *indices_of(const struct reduction *d, char *state, int64_t n) {
    return state + (kern_red_state(kind_of(d), type_of(d), n) - (size_t)n * 8);
}

static void save_panel(const struct run *r, struct panel c) {
    for (uint32_t i = 0; i < r->f->nred; i++) {
        const struct reduction *d = &r->f->red[i];
        const size_t size = dtype_size(type_of(d));
        char *from = r->scratch + d->stack, *to = r->t->state[i];
        memcpy(to + (size_t)c.col * size, from, (size_t)c.n * size);
        if (d->arg)
            memcpy(indices_of(d, to, r->t->cols) + 8 * c.col, indices_of(d, from, c.n),
                   8 * (size_t)c.n);
    }
}

// Brings a panel of the state of all columns into the form of a panel's total.
static void load_panel(const struct run *r, struct panel c) {
    for (uint32_t i = 0; i < r->f->nred; i++) {
        const struct reduction *d = &r->f->red[i];
        const size_t size = dtype_size(type_of(d));
        char *from = r->t->state[i], *to = r->scratch + d->stack;
        memcpy(to, from + (size_t)c.col * size, (size_t)c.n * size);
        if (d->arg)
            memcpy(indices_of(d, to, c.n), indices_of(d, from, r->t->cols) + 8 * c.col,
                   8 * (size_t)c.n);
    }
}

// Sections after the rows, on the totals of a panel.
static void finish_panel(const struct run *r, struct panel c) {
    const struct interp_form *f = r->f;
    const bool no_row_yet = r->t->mode == TILE_FINISH || r->t->rows == 0;
    for (uint32_t i = 0; i < f->nred; i++) {
        const struct reduction *d = &f->red[i];
        char *total = r->scratch + d->stack;
        r->place[d->result] = d->arg ? r->scratch + d->indices : total;
        if (d->arg)
            kern_red_columns(kind_of(d), type_of(d), total, r->place[d->result], c.n);
        else if (is_empty_sum(d, r->t->mode == TILE_FINISH ? 1 : r->t->rows))
            memset(total, 0, (size_t)c.n * dtype_size(type_of(d)));
    }
    for (uint32_t i = 0; i < f->npart; i++) {
        const struct part *p = &f->part[i];
        if (p->kind != SEG_FIN) continue;
        for (uint32_t k = 0; p->row_values && no_row_yet && k < i; k++)
            if (f->part[k].kind == SEG_ROW) run_row_section(r, &f->part[k], 0);
        enter(r, p, 0, c.col);
        run_acts(r, p->body, p->end, (size_t)c.n, 0);
    }
}

static void run_outer(const struct run *r) {
    const int64_t width = r->f->width, cols = r->t->cols;
    for (int64_t col = 0; col < cols; col += width) {
        const struct panel c = {col, MIN_OF(width, cols - col)};
        if (r->t->mode == TILE_FINISH)
            load_panel(r, c);
        else
            reduce_panel(r, c);
        if (r->t->mode == TILE_PARTIAL)
            save_panel(r, c);
        else
            finish_panel(r, c);
    }
}

void interp_tile(const void *code, const struct tile *t) {
    struct run r = {.f = code, .t = t, .scratch = t->scratch, .put = t->mode != TILE_PARTIAL};
    r.place = (char **)t->scratch;
    set_places(&r);
    if (r.f->mode == NEST_OUTER)
        run_outer(&r);
    else if (t->mode == TILE_FINISH)
        finish_inner(&r);
    else
        run_rows(&r);
}
