// SPDX-License-Identifier: MIT
// Stores past the caches. In: a walk whose outputs lie in memory as vectors; out: its tiles cut so that code may
// store whole lines without reading them first, which saves a third of the traffic of two operands and a result.
//
// The rule: a map whose operands together are larger than env's stream_bytes (the last cache, 32 MiB at most, since
// of a shared one only a part is ours) will find none of its output in a cache later, so nothing is lost by not
// leaving it there. An output that lies on an input is in the cache already and is stored the ordinary way. Such
// stores are ordered before the thread tells anyone that it is done.
#include "walk.h"

enum { LEAST_ROW = 4096 }; // bytes of a row: shorter ones are mostly beginning and end

// Distinct bytes that all tiles of an operand touch, an overflow being very many.
static double bytes_of(const struct rt_walk *w, const struct walk_operand *o) {
    double bytes = o->size;
    if (o->path != PATH_DIRECT && o->path != PATH_PACK && o->path != PATH_GATHER) return 0;
    for (int d = 0; d < w->nouter; d++)
        if (o->ostride[d]) bytes *= (double)w->odim[d];
    if (o->rstride) bytes *= (double)w->rows;
    if (!o->scalar && o->cstride) bytes *= (double)w->cols;
    return bytes;
}

static bool is_vector_out(const struct walk_operand *o) { return o->out && !o->scalar && o->path != PATH_GUARD; }

void rt_stream_plan(struct rt_walk *w, const struct rt_step *t, const struct rt_env *env) {
    double bytes = 0;
    bool outs = false;
    w->stream = false;
    if (!env->stream_bytes || w->mode != NEST_MAP || t->kind != RT_LOOP) return;
    for (int i = 0; i < w->noperand; i++) {
        const struct walk_operand *o = &w->operand[i];
        bytes += bytes_of(w, o);
        if (!is_vector_out(o)) continue;
        if (o->path != PATH_DIRECT || o->cstride != o->size || w->cols * o->size < LEAST_ROW) return;
        if (!w->direct && o->rstride % RT_LINE) return; // blocks of several rows need all of them on lines
        outs = true;
    }
    w->stream = outs && bytes > (double)env->stream_bytes;
}

// No output of the step begins where an operand of it does.
bool rt_stream_allowed(const struct step_run *s) {
    const struct rt_walk *w = s->walk;
    for (int i = 0; i < w->noperand; i++) {
        const struct walk_operand *out = &w->operand[i];
        if (!is_vector_out(out)) continue;
        const char *at = (const char *)rt_operand_base(s->run, out->buffer, out->buf) + out->offset;
        for (int k = 0; k < w->noperand; k++) {
            const struct walk_operand *in = &w->operand[k];
            if (in->out || (in->buffer != NEST_LEAF && in->buffer != NEST_TEMP)) continue;
            if ((const char *)rt_operand_base(s->run, in->buffer, in->buf) + in->offset == at) return false;
        }
    }
    return true;
}

// Columns from `col` of the row to where all outputs are on a line; -1: they never are.
static int64_t to_line(const struct walker *k, int64_t row, int64_t col) {
    const struct rt_walk *w = k->step->walk;
    for (int64_t skip = 0; skip < RT_LINE; skip++) {
        bool all = true;
        for (int i = 0; i < w->noperand && all; i++) {
            const struct walk_operand *o = &w->operand[i];
            if (!is_vector_out(o)) continue;
            const uintptr_t at = (uintptr_t)k->at[i] + (uintptr_t)(row * o->rstride + (col + skip) * o->size);
            all = at % RT_LINE == 0;
        }
        if (all) return skip;
    }
    return -1;
}

static bool one_tile(struct walker *k, const struct block *t, bool past) {
    k->tile.stream = past;
    rt_walker_tile(k, t, TILE_FULL);
    k->tile.stream = false;
    return !rt_tick(k->step->run, t->rows * t->cols * k->step->walk->weight);
}

// The columns of some rows: to the first line, then in tiles that begin on one.
static bool stream_rows(struct walker *k, const struct block *b) {
    const struct rt_walk *w = k->step->walk;
    const int64_t skip = to_line(k, b->row, b->col), most = MAX_OF(w->tile_cols, 1), end = b->col + b->cols;
    const int64_t step = most > RT_LINE ? most / RT_LINE * RT_LINE : most;
    bool past = skip >= 0 && skip < b->cols;
    int64_t col = b->col;
    if (past && skip) {
        if (!one_tile(k, &(struct block){b->row, b->rows, col, skip}, false)) return false;
        col += skip;
    }
    past = past && step % RT_LINE == 0;
    for (; col < end; col += step)
        if (!one_tile(k, &(struct block){b->row, b->rows, col, MIN_OF(step, end - col)}, past)) return false;
    return true;
}

// Where code works on the operands' own memory a row at a time is as good as several.
bool rt_stream_block(struct walker *k, const struct block *b) {
    const struct rt_walk *w = k->step->walk;
    const int64_t end = b->row + b->rows, most = w->direct ? 1 : MAX_OF(w->tile_rows, 1);
    bool on = true;
    for (int64_t r = b->row; r < end && on; r += most)
        on = stream_rows(k, &(struct block){r, MIN_OF(most, end - r), b->col, b->cols});
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
    return on;
}
