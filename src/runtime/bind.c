// SPDX-License-Identifier: MIT
// Overlap of outputs with what a program reads. In, when the program is made: which step reads and
// writes what; in, at a run: addresses. Out: for each output, whether it may be written in place.
// It may when no byte of it is read, or all reading is over before the first write, or the two lie
// element on element and the pass reads each element before it writes it. Otherwise the run
// computes it elsewhere and copies at the end. Programs share no addresses, so the byte ranges are
// kept relative to the data pointers.
#include "walk.h"

// ---- made once --------------------------------------------------------------------------------

struct marks {
    int *last_read, *first_write;
    struct base_vec twins; // of rt_twin
};

static void mark_operand(const struct nest_operand *o, bool out, int step, struct marks *m) {
    if (o->buffer == NEST_LEAF && !out) m->last_read[o->buf] = step;
    if (o->buffer == NEST_OUT && out && m->first_write[o->buf] > step)
        m->first_write[o->buf] = step;
}

static void mark_step(const struct rt_step *t, int step, struct marks *m) {
    if (t->kind == RT_MATMUL) {
        mark_operand(&t->matmul.a, false, step, m);
        mark_operand(&t->matmul.b, false, step, m);
        mark_operand(&t->matmul.c, true, step, m);
    }
    for (int k = 0; t->kind == RT_CALL && k < t->call.nin + t->call.nout; k++)
        if (!t->call.array[k].absent) mark_operand(&t->call.array[k].o, k >= t->call.nin, step, m);
    for (int k = 0; k < t->nest.noperand; k++)
        mark_operand(&t->nest.operand[k], t->nest.operand[k].out, step, m);
}

static bool stores_once(const struct nest *n) {
    int stores = 0;
    for (int k = 0; k < n->noperand; k++)
        stores += n->operand[k].out &&
                  (n->operand[k].buffer == NEST_OUT || n->operand[k].buffer == NEST_TEMP);
    return stores == 1;
}

// May elements be overwritten as they are read, where they lie one on the other?
static bool in_place(const struct rt_step *t) {
    return t->stores_last || (t->nest.mode == NEST_MAP && stores_once(&t->nest));
}

// The same element of memory at the same point of the nest, and touched once.
static bool same_walk(const struct nest *n, const struct nest_operand *a,
                      const struct nest_operand *b) {
    const int first_row = n->nouter, first_col = n->nouter + n->nrow;
    if (dtype_size(a->dtype) != dtype_size(b->dtype) || a->cls != b->cls || a->late != b->late)
        return false;
    if (a->index || b->index) return false; // read anywhere
    if (a->cls == NEST_SCALAR && n->mode != NEST_INNER) return false; // read again for every tile
    for (int d = 0; d < n->ndim; d++) {
        const bool row = d >= first_row && d < first_col, col = d >= first_col;
        if (n->dim[d] == 1 || (row && a->late) || (col && a->cls == NEST_SCALAR)) continue;
        if (a->stride[d] != b->stride[d]) return false;
    }
    return true;
}

// Every reading of leaf in the step against every writing of out: one distance for all, or no twin.
static bool find_twin(const struct nest *n, struct rt_twin *twin) {
    bool any = false;
    for (int i = 0; i < n->noperand; i++) {
        const struct nest_operand *o = &n->operand[i];
        if (!o->out || o->buffer != NEST_OUT || o->buf != (uint32_t)twin->out) continue;
        for (int k = 0; k < n->noperand; k++) {
            const struct nest_operand *l = &n->operand[k];
            if (l->out || l->buffer != NEST_LEAF || l->buf != (uint32_t)twin->leaf) continue;
            const int64_t delta = l->offset - o->offset;
            if (!same_walk(n, o, l) || (any && delta != twin->delta)) return false;
            twin->delta = delta;
            any = true;
        }
    }
    return any;
}

static void find_twins(const struct rt_step *t, int step, struct marks *m) {
    if (t->kind != RT_LOOP || !in_place(t)) return;
    const struct nest *n = &t->nest;
    for (int i = 0; i < n->noperand; i++) {
        const struct nest_operand *o = &n->operand[i];
        if (!o->out || o->buffer != NEST_OUT || m->first_write[o->buf] != step) continue;
        for (int k = 0; k < n->noperand; k++) {
            const struct nest_operand *l = &n->operand[k];
            if (l->out || l->buffer != NEST_LEAF || m->last_read[l->buf] != step) continue;
            struct rt_twin twin = {(int)o->buf, (int)l->buf, 0};
            if (same_walk(n, o, l) && find_twin(n, &twin)) vec_push(&m->twins, &twin, sizeof twin);
        }
    }
}

static const struct rt_range *ranges_of(struct base_arena *a, const weft_array *array, int n) {
    struct rt_range *r = ARENA_ARRAY(a, struct rt_range, n + 1);
    for (int i = 0; r && i < n; i++)
        r[i] = rt_array_range(&array[i]);
    return r;
}

weft_status rt_bounds_make(struct rt_program *p) {
    struct rt_bounds *b = ARENA_NEW(&p->arena, struct rt_bounds);
    struct marks m = {ARENA_ARRAY(&p->arena, int, p->nleaf + 1),
                      ARENA_ARRAY(&p->arena, int, p->nout + 1),
                      {.alloc = p->arena.alloc}};
    if (!b || !m.last_read || !m.first_write) return WEFT_ENOMEM;
    for (int i = 0; i < p->nleaf; i++)
        m.last_read[i] = -1;
    for (int i = 0; i < p->nout; i++)
        m.first_write[i] = p->nstep;
    for (int s = 0; s < p->nstep; s++)
        mark_step(&p->step[s], s, &m);
    for (int s = 0; s < p->nstep; s++)
        find_twins(&p->step[s], s, &m);
    b->leaf = ranges_of(&p->arena, p->leaf, p->nleaf);
    b->out = ranges_of(&p->arena, p->out, p->nout);
    b->last_read = m.last_read;
    b->first_write = m.first_write;
    b->ntwin = (int)VEC_LEN(&m.twins, struct rt_twin);
    b->twin = arena_copy(&p->arena, m.twins.data, m.twins.size);
    const bool ok = !m.twins.failed && b->leaf && b->out && b->twin;
    vec_free(&m.twins);
    p->bounds = b;
    return ok ? WEFT_OK : WEFT_ENOMEM;
}

// ---- at a run ---------------------------------------------------------------------------------

static bool ranges_meet(struct rt_range a, const void *at_a, struct rt_range b, const void *at_b) {
    if (a.low == a.high || b.low == b.high) return false;
    const uintptr_t x = (uintptr_t)at_a, y = (uintptr_t)at_b;
    return x + (uintptr_t)a.low < y + (uintptr_t)b.high &&
           y + (uintptr_t)b.low < x + (uintptr_t)a.high;
}

static weft_array placed(const weft_array *a, void *data) {
    weft_array b = *a;
    b.data = data;
    return b;
}

static bool is_twin(const struct rt_bounds *x, const struct rt_bind *b, int out, int leaf) {
    for (int i = 0; i < x->ntwin; i++) {
        const struct rt_twin *t = &x->twin[i];
        if (t->out == out && t->leaf == leaf)
            return (uintptr_t)b->out[out] == (uintptr_t)b->leaf[leaf] + (uintptr_t)t->delta;
    }
    return false;
}

bool rt_out_is_redirected(const struct rt_program *p, const struct rt_bind *b, int out) {
    const struct rt_bounds *x = p->bounds;
    for (int l = 0; l < p->nleaf; l++) {
        if (x->last_read[l] < x->first_write[out]) continue;
        if (!ranges_meet(x->out[out], b->out[out], x->leaf[l], b->leaf[l])) continue;
        if (is_twin(x, b, out, l)) continue;
        const weft_array o = placed(&p->out[out], b->out[out]), a = placed(&p->leaf[l], b->leaf[l]);
        if (rt_arrays_overlap(&o, &a)) return true;
    }
    return false;
}

weft_status rt_outs_check(const struct rt_program *p, const struct rt_bind *b) {
    for (int i = 0; i < p->nout; i++) {
        for (int k = 0; k < i; k++) {
            if (!ranges_meet(p->bounds->out[i], b->out[i], p->bounds->out[k], b->out[k])) continue;
            const weft_array x = placed(&p->out[i], b->out[i]), y = placed(&p->out[k], b->out[k]);
            if (rt_arrays_overlap(&x, &y))
                return err_set(b->err, WEFT_EALIAS, "outputs %d and %d overlap", k, i);
        }
    }
    return WEFT_OK;
}
