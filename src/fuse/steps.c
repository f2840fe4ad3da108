// SPDX-License-Identifier: MIT
// Clusters to steps: the order of execution, each cluster's sinks, each step's nest and code, and
// its traffic. In: placed clusters; out: the plan's steps, then its memory.
#include "work.h"

static uint32_t sink_source(struct fuse_work *w, uint32_t sink) {
    return cluster_find(w, value_at(w, sink_at(w, sink)->value)->cluster);
}
static uint32_t source_of(struct fuse_work *w, uint32_t value) {
    uint32_t c = sink_source(w, w->slot[value_at(w, value)->node]);
    return cluster_at(w, c)->host ? cluster_at(w, c)->host : c;
}

// The next step that has to come before step `top`, of those that cluster c reads; UINT32_MAX: none.
static uint32_t next_source(struct fuse_work *w, uint32_t top, struct fuse_cluster *c) {
    for (int i = 0; i < 2 && c->join; i++) {
        uint32_t part = c->part[i] ? sink_source(w, c->part[i]) : top;
        if (cluster_at(w, part)->host) part = cluster_at(w, part)->host;
        if (part != top && !cluster_at(w, part)->done) return part;
    }
    while (c->scan) {
        uint32_t at = c->scan;
        c->scan = value_at(w, at)->link;
        if (value_at(w, at)->kind != V_LOAD) continue;
        uint32_t source = source_of(w, at);
        if (source != top && !cluster_at(w, source)->done) return source;
    }
    return UINT32_MAX;
}

// Depth first from what outputs need, so that a temporary is made shortly before it is read.
static bool order_from(struct fuse_work *w, uint32_t cluster, struct base_vec *stack) {
    vec_push(stack, &cluster, sizeof cluster);
    while (stack->size && !stack->failed) {
        uint32_t top = VEC_AT(stack, uint32_t, stack->size / sizeof top - 1);
        struct fuse_cluster *c = cluster_at(w, top);
        uint32_t before = next_source(w, top, c);
        if (before == UINT32_MAX && c->product)
            before = next_source(w, top, cluster_at(w, c->product));
        if (before != UINT32_MAX) {
            vec_push(stack, &before, sizeof before);
            continue;
        }
        stack->size -= sizeof top;
        if (!c->done) w->order[w->norder++] = top;
        c->done = true;
    }
    return !stack->failed;
}

bool steps_order(struct fuse_work *w) {
    uint32_t n = (uint32_t)VEC_LEN(&w->cluster, struct fuse_cluster);
    w->order = ARENA_ARRAY(&w->arena, uint32_t, n + 1);
    if (!w->order) return false;
    for (uint32_t i = 1; i < n; i++)
        cluster_at(w, i)->scan = cluster_at(w, i)->first;
    struct base_vec stack;
    vec_init(&stack, w->alloc);
    bool ok = true;
    for (uint32_t i = 1; ok && i < n; i++)
        if (cluster_find(w, i) == i && !cluster_at(w, i)->done && !cluster_at(w, i)->host)
            ok = order_from(w, i, &stack);
    vec_free(&stack);
    return ok;
}

// Sinks move from their nodes' lists to their clusters': outputs by number first, then the others.
static void hand_out_sinks(struct fuse_work *w) {
    uint32_t n = (uint32_t)VEC_LEN(&w->sink, struct fuse_sink);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = n - 1; i > 0; i--) {
            struct fuse_sink *s = sink_at(w, i);
            if ((s->buffer == NEST_OUT) != (pass == 1)) continue;
            struct fuse_cluster *c = cluster_at(w, cluster_find(w, value_at(w, s->value)->cluster));
            s->next = c->sinks;
            c->sinks = i;
        }
}

static int64_t operand_bytes(const int64_t *dim, int ndim, const struct nest_operand *o) {
    bool memory = o->buffer == NEST_LEAF || o->buffer == NEST_OUT || o->buffer == NEST_TEMP ||
                  o->buffer == NEST_GUARD;
    int64_t bytes = memory ? (int64_t)dtype_size((weft_dtype)o->dtype) : 0;
    for (int d = 0; d < ndim; d++)
        if (o->stride[d]) bytes *= dim[d];
    return bytes;
}

static void count_call(struct fuse_step *s) {
    for (int i = 0; i < s->call.nin + s->call.nout; i++) {
        const struct nest_array *a = &s->call.array[i];
        if (!a->absent)
            *(a->o.out ? &s->bytes_written : &s->bytes_read) +=
                operand_bytes(a->dim, a->rank, &a->o);
    }
}

static void count_product(struct fuse_step *s) {
    const struct fuse_matmul *m = &s->matmul;
    const struct nest_operand *o[3] = {&m->a, &m->b, &m->c};
    for (int i = 0; i < 3; i++) {
        int64_t dim[NEST_DIMS], *sum = i < 2 ? &s->bytes_read : &s->bytes_written;
        memcpy(dim, m->batch, (size_t)m->nbatch * sizeof *dim);
        dim[m->nbatch] = i == 1 ? m->k : m->m;
        dim[m->nbatch + 1] = i == 0 ? m->k : m->n;
        if (m->k || i == 2) *sum += operand_bytes(dim, m->nbatch + 2, o[i]);
    }
}

static void count_bytes(struct fuse_step *s) {
    if (s->kind == FUSE_CALL) count_call(s);
    if (s->kind == FUSE_MATMUL) count_product(s);
    for (int i = 0; i < s->nest.noperand; i++) {
        const struct nest_operand *o = &s->nest.operand[i];
        // the product's memory counts once, and so does an array read plainly and late
        bool again = s->kind == FUSE_MATMUL && s->matmul.c.buffer == o->buffer &&
                     s->matmul.c.buf == o->buf;
        for (int k = 0; k < i && o->late; k++)
            again |= s->nest.operand[k].buffer == o->buffer && s->nest.operand[k].buf == o->buf &&
                     !o->out;
        if (!again)
            *(o->out ? &s->bytes_written : &s->bytes_read) +=
                operand_bytes(s->nest.dim, s->nest.ndim, o);
    }
}

// What placed it said so; else it is a result, or goes with its step.
static const char *why_stored(struct fuse_work *w, const struct fuse_cluster *c, ir_ref n) {
    if (w->why[n]) return w->why[n];
    for (uint32_t i = c->sinks; i; i = sink_at(w, i)->next)
        if (sink_at(w, i)->node == n && sink_at(w, i)->buffer == NEST_OUT) return "root";
    return c->why;
}

static bool make_step(struct fuse_work *w, uint32_t cluster, struct fuse_step *s) {
    struct fuse_cluster *c = cluster_at(w, cluster);
    struct base_arena *a = &w->plan->arena;
    if (c->call) {
        if (!call_make(w, cluster, s)) return false;
    } else if (c->matmul)
        matmul_make(w, cluster, s);
    else if (!body_make(w, cluster, s))
        return false;
    if (c->product) matmul_lead(w, cluster, s);
    int n = 1;
    for (uint32_t i = c->sinks; i; i = sink_at(w, i)->next)
        n++;
    s->made = ARENA_ARRAY(a, ir_ref, n + 1);
    s->made_why = ARENA_ARRAY(a, const char *, n + 1);
    if (!s->made || !s->made_why) return false;
    uint32_t also = c->product ? cluster_at(w, c->product)->sinks : 0;
    if (also && sink_at(w, also)->buf != SINK_OPEN) s->made[s->nmade++] = sink_at(w, also)->node;
    for (uint32_t i = c->sinks; i; i = sink_at(w, i)->next)
        if (!s->nmade || s->made[s->nmade - 1] != sink_at(w, i)->node)
            s->made[s->nmade++] = sink_at(w, i)->node;
    s->why = c->why;
    s->whole = c->product ? cluster_at(w, c->product)->node : c->node;
    for (int i = 0; i < s->nmade; i++)
        s->made_why[i] = why_stored(w, c, s->made[i]);
    s->level = c->height;
    count_bytes(s);
    return true;
}

bool steps_make(struct fuse_work *w) {
    struct fuse_plan *p = w->plan;
    p->step = ARENA_ARRAY(&p->arena, struct fuse_step, w->norder + 1);
    if (!p->step) return false;
    hand_out_sinks(w);
    w->local = ARENA_ARRAY(&w->arena, uint32_t, VEC_LEN(&w->value, struct fuse_value));
    if (!w->local) return false;
    for (int i = 0; i < w->norder; i++) {
        if (cluster_at(w, w->order[i])->join) continue; // its parts have made it
        struct fuse_step *s = &p->step[p->nstep++];
        if (!make_step(w, w->order[i], s)) return false;
        p->bytes_read += s->bytes_read;
        p->bytes_written += s->bytes_written;
        p->passes += s->bytes_read + s->bytes_written > 0;
    }
    return memory_plan(w);
}
