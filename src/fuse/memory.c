// SPDX-License-Identifier: MIT
// Where temporaries live. In: steps in order, each temporary's size; out: lifetimes, offsets in one
// workspace on 64-byte granules, and its exact size. First fit among what is alive, so that freed
// bytes are used again; all sizes are known beforehand, so nothing ever moves or grows.
#include "work.h"

struct live {
    int64_t from, to;
    int last;
};

static void touch(struct fuse_plan *p, const struct nest_operand *o, int step) {
    if (o->buffer != NEST_TEMP) return;
    struct fuse_temp *t = &p->temp[o->buf];
    if (o->out) t->first_step = MIN_OF(t->first_step, step);
    t->last_step = MAX_OF(t->last_step, step);
}

static void find_lifetimes(struct fuse_plan *p) {
    for (int i = 0; i < p->ntemp; i++)
        p->temp[i].first_step = INT_MAX;
    for (int i = 0; i < p->nstep; i++) {
        const struct fuse_step *s = &p->step[i];
        for (int k = 0; s->kind == FUSE_CALL && k < s->call.nin + s->call.nout; k++)
            if (!s->call.array[k].absent) touch(p, &s->call.array[k].o, i);
        if (s->kind == FUSE_MATMUL) {
            touch(p, &s->matmul.a, i);
            touch(p, &s->matmul.b, i);
            touch(p, &s->matmul.c, i);
        }
        for (int k = 0; k < s->nest.noperand; k++)
            touch(p, &s->nest.operand[k], i);
    }
}

// Blocks are sorted by offset; takes the first gap.
static int64_t take(struct live *at, int *n, int64_t bytes, int last) {
    int64_t from = 0;
    int i = 0;
    while (i < *n && at[i].from - from < bytes) {
        from = at[i].to;
        i++;
    }
    memmove(at + i + 1, at + i, (size_t)(*n - i) * sizeof *at);
    at[i] = (struct live){from, from + bytes, last};
    ++*n;
    return from;
}

static void release(struct live *at, int *n, int step) {
    int kept = 0;
    for (int i = 0; i < *n; i++)
        if (at[i].last >= step) at[kept++] = at[i];
    *n = kept;
}

bool memory_plan(struct fuse_work *w) {
    struct fuse_plan *p = w->plan;
    p->ntemp = (int)VEC_LEN(&w->temp, struct fuse_temp);
    p->temp = arena_copy(&p->arena, w->temp.data, w->temp.size);
    struct live *live = ARENA_ARRAY(&w->arena, struct live, p->ntemp + 1);
    int *by_step = ARENA_ARRAY(&w->arena, int, p->nstep + 1),
        *next = ARENA_ARRAY(&w->arena, int, p->ntemp + 1);
    if (!p->temp || !live || !by_step || !next) return false;
    find_lifetimes(p);
    for (int i = p->ntemp - 1; i >= 0; i--) { // lists, 1 + number
        next[i] = by_step[p->temp[i].first_step];
        by_step[p->temp[i].first_step] = i + 1;
    }
    int n = 0;
    for (int s = 0; s < p->nstep; s++) {
        release(live, &n, s);
        for (int i = by_step[s]; i; i = next[i - 1]) {
            struct fuse_temp *t = &p->temp[i - 1];
            int64_t bytes = (t->bytes + 63) & ~(int64_t)63;
            t->offset = take(live, &n, bytes, t->last_step);
            p->workspace_bytes = MAX_OF(p->workspace_bytes, t->offset + bytes);
        }
    }
    return true;
}
