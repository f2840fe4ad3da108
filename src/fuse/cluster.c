// SPDX-License-Identifier: MIT
// Clusters and the values in them: making, merging, widening. Invariant: what a cluster reads from
// memory is made by clusters of greater height, so running by decreasing height is always possible
// and no merge of equal heights can close a cycle; a cluster may be raised as long as it stays
// below what it reads.
#include "work.h"

uint32_t cluster_find(struct fuse_work *w, uint32_t c) {
    struct fuse_cluster *at = (struct fuse_cluster *)(void *)w->cluster.data;
    while (at[c].parent != c) {
        at[c].parent = at[at[c].parent].parent;
        c = at[c].parent;
    }
    return c;
}

uint32_t cluster_new(struct fuse_work *w, int nf, const int64_t *dim, int height, const char *why) {
    struct fuse_cluster c = {.nf = nf, .height = height, .min_src = INT_MAX, .why = why};
    c.parent = (uint32_t)VEC_LEN(&w->cluster, struct fuse_cluster);
    c.dim = arena_copy(&w->arena, dim, (size_t)nf * sizeof *dim);
    if (!c.dim || !vec_push(&w->cluster, &c, sizeof c)) {
        w->failed = true;
        return 0;
    }
    return c.parent;
}

int space_of(struct fuse_work *w, ir_ref n, int64_t *dim) {
    int rank = ir_at(w->g, n)->rank, nf = 0;
    for (int i = 0; i < rank; i++)
        if (ir_dims(w->g, n)[i] != 1) dim[nf++] = ir_dims(w->g, n)[i];
    return nf;
}

int space_of_reduce(struct fuse_work *w, ir_ref n, int64_t *dim, int *x0, int *x1) {
    ir_ref o = ir_at(w->g, n)->in[0];
    const int64_t *dims = ir_dims(w->g, o), *run = ir_attr(w->g, n);
    int rank = ir_at(w->g, o)->rank, nf = 0;
    *x0 = *x1 = 0;
    for (int i = 0; i < rank; i++) {
        if (i == run[0]) *x0 = nf;
        if (dims[i] != 1) dim[nf++] = dims[i];
        if (i != run[1] - 1) continue;
        if (nf == *x0) dim[nf++] = 1; // a run of one element keeps an axis
        *x1 = nf;
    }
    return nf;
}

// ---- values -------------------------------------------------------------------------------------
static int weight_of(const struct fuse_work *w, ir_ref n) {
    int op = ir_at(w->g, n)->op;
    return op == IR_constant || op == IR_extent || op == IR_iota ? 1 : 2;
}

static bool is_leaf(const struct fuse_work *w, ir_ref n) {
    return is_loop_op(w, n, IR_LEAF);
}

// Values that wait are counted as the operands they may become.
static void count_value(struct fuse_work *w, struct fuse_cluster *c, ir_ref n, int by) {
    if (is_leaf(w, n))
        c->weight += by * weight_of(w, n);
    else
        c->pending += by;
}

static bool same_own(const struct fuse_value *a, const struct fuse_value *b) {
    if ((a->use ^ b->use) & USE_WHOLE || a->nown != b->nown) return false;
    return !a->nown || !memcmp(a->own, b->own, a->nown * sizeof *a->own);
}

bool value_same(const struct fuse_value *a, const struct fuse_value *b) {
    return map_same(a->map, b->map) && same_own(a, b);
}

static uint32_t ask(struct fuse_work *w, const struct fuse_value *want) {
    int look = 0;
    for (uint32_t i = w->head[want->node]; i && look < MAX_LOOK; i = value_at(w, i)->next, look++) {
        struct fuse_value *v = value_at(w, i);
        if (cluster_find(w, v->cluster) != want->cluster || !value_same(v, want)) continue;
        v->use |= want->use;
        return i;
    }
    struct fuse_cluster *c = cluster_at(w, want->cluster);
    struct fuse_value v = *want;
    v.next = w->head[v.node];
    v.link = c->first;
    uint32_t index = (uint32_t)VEC_LEN(&w->value, struct fuse_value);
    if (!vec_push(&w->value, &v, sizeof v)) {
        w->failed = true;
        return 0;
    }
    w->head[v.node] = c->first = index;
    if (!c->last) c->last = index;
    count_value(w, c, v.node, 1);
    return index;
}

uint32_t value_ask(struct fuse_work *w, uint32_t cluster, ir_ref node, const struct fuse_map *map,
                   unsigned use) {
    if (!map) return 0;
    return ask(w, &(struct fuse_value){
                      .node = node, .cluster = cluster, .map = map, .use = (uint8_t)use});
}

uint32_t value_ask_whole(struct fuse_work *w, uint32_t cluster, ir_ref node,
                         const struct fuse_whole *as) {
    if (!as->map) return 0;
    return ask(w, &(struct fuse_value){.node = node,
                                       .cluster = cluster,
                                       .map = as->map,
                                       .use = USE_WHOLE,
                                       .nown = (uint8_t)as->nown,
                                       .own = as->own});
}

const int64_t *value_space(struct fuse_work *w, const struct fuse_value *v, int64_t *buf) {
    const struct fuse_cluster *c = cluster_at(w, cluster_find(w, v->cluster));
    if (!v->nown) return c->dim;
    if (c->nf) memcpy(buf, c->dim, (size_t)c->nf * sizeof *buf);
    memcpy(buf + c->nf, v->own, v->nown * sizeof *buf);
    return buf;
}

void value_settle(struct fuse_work *w, uint32_t value, enum value_kind kind) {
    struct fuse_value *v = value_at(w, value);
    struct fuse_cluster *c = cluster_at(w, cluster_find(w, v->cluster));
    if (v->kind == V_PENDING && !is_leaf(w, v->node)) c->pending--;
    if (kind == V_LOAD && !is_leaf(w, v->node)) c->weight += 2;
    if (kind == V_OP || kind == V_REDUCE) c->nop++;
    if (kind == V_OP && ir_ops[ir_at(w->g, v->node)->op].heavy) c->nheavy++;
    if (kind == V_REDUCE) c->nreduce++;
    v->kind = (uint8_t)kind;
}

// How many operations a body may have that this many values have yet to enter.
static int most_ops(int pending) { return pending > 1 ? MAX_OPS : CHAIN_OPS; }

bool cluster_fits(struct fuse_work *w, uint32_t cluster, ir_ref n) {
    const struct fuse_cluster *c = cluster_at(w, cluster);
    int more = c->pending ? -2 : 0;
    for (int i = 0; i < 3; i++) {
        ir_ref o = ir_at(w->g, n)->in[i];
        if (!o || (i && o == ir_at(w->g, n)->in[0])) continue;
        uint32_t seen = w->head[o];
        if (seen && cluster_find(w, value_at(w, seen)->cluster) == cluster) continue;
        more += weight_of(w, o);
    }
    return c->nop < most_ops(c->pending) && c->nheavy < MAX_HEAVY && c->weight + 2 * c->pending + more <= MAX_WEIGHT;
}

// ---- merging ------------------------------------------------------------------------------------
static bool same_space(const struct fuse_cluster *a, const struct fuse_cluster *b) {
    if (a->matmul || b->matmul || a->product || b->product || a->nf != b->nf) return false;
    if (memcmp(a->dim, b->dim, (size_t)a->nf * sizeof *a->dim)) return false;
    return !a->run || !b->run || (a->x0 == b->x0 && a->x1 == b->x1);
}

static bool can_merge(const struct fuse_cluster *a, const struct fuse_cluster *b) {
    const struct fuse_cluster *low = a->height < b->height ? a : b, *high = low == a ? b : a;
    if (low->height != high->height && low->min_src <= high->height) return false;
    if (!same_space(a, b)) return false;
    return a->nop + b->nop <= most_ops(a->pending + b->pending) && a->nheavy + b->nheavy <= MAX_HEAVY &&
           a->nreduce + b->nreduce <= MAX_REDUCE &&
           a->weight + b->weight + 2 * (a->pending + b->pending) <= MAX_WEIGHT;
}

bool cluster_merge(struct fuse_work *w, uint32_t a, uint32_t b) {
    struct fuse_cluster *p = cluster_at(w, MIN_OF(a, b)), *q = cluster_at(w, MAX_OF(a, b));
    if (a == b || w->opts->unfused || !can_merge(p, q)) return false;
    q->parent = p->parent;
    p->height = MAX_OF(p->height, q->height);
    p->min_src = MIN_OF(p->min_src, q->min_src);
    if (q->run && !p->run) {
        p->run = true;
        p->x0 = q->x0;
        p->x1 = q->x1;
    }
    if (q->first) {
        value_at(w, q->last)->link = p->first;
        p->first = q->first;
        if (!p->last) p->last = q->last;
    }
    p->nop += q->nop;
    p->nheavy += q->nheavy;
    p->weight += q->weight;
    p->pending += q->pending;
    p->nreduce += q->nreduce;
    return true;
}

static void drop_double(struct fuse_work *w, uint32_t keep, uint32_t drop) {
    struct fuse_value *v = value_at(w, drop);
    value_at(w, keep)->use |= v->use;
    count_value(w, cluster_at(w, cluster_find(w, v->cluster)), v->node, -1);
    v->kind = V_SAME;
    v->arg[0] = keep;
}

void cluster_gather(struct fuse_work *w, ir_ref n) {
    bool memory = ir_at(w->g, n)->op != IR_constant && ir_at(w->g, n)->op != IR_extent;
    for (uint32_t i = w->head[n]; memory && i; i = value_at(w, i)->next) {
        int look = 0;
        for (uint32_t j = value_at(w, i)->next; j && look < MAX_LOOK;
             j = value_at(w, j)->next, look++) {
            uint32_t a = cluster_find(w, value_at(w, i)->cluster);
            uint32_t b = cluster_find(w, value_at(w, j)->cluster);
            if (a != b && value_same(value_at(w, i), value_at(w, j)))
                cluster_merge(w, a, b);
        }
    }
    uint32_t *p = &w->head[n];
    for (uint32_t i = *p; i; i = *p) { // unlink what has become double
        uint32_t keep = 0;
        int look = 0;
        for (uint32_t j = value_at(w, i)->next; j && look < MAX_LOOK;
             j = value_at(w, j)->next, look++)
            if (cluster_find(w, value_at(w, i)->cluster) ==
                    cluster_find(w, value_at(w, j)->cluster) &&
                value_same(value_at(w, i), value_at(w, j))) {
                keep = j;
                break;
            }
        if (keep) {
            drop_double(w, keep, i);
            *p = value_at(w, i)->next;
        } else {
            p = &value_at(w, i)->next;
        }
    }
}

// ---- widening: a pass over what a run leaves becomes the end of the pass over the run ------------
bool cluster_widen(struct fuse_work *w, uint32_t cluster, int nf, const int64_t *dim, int x0,
                   int x1) {
    struct fuse_cluster *c = cluster_at(w, cluster);
    int64_t *copy = arena_copy(&w->arena, dim, (size_t)nf * sizeof *dim);
    if (!copy) return !(w->failed = true);
    const struct fuse_map *last = NULL, *wide = NULL; // neighbours mostly share their map
    for (uint32_t i = c->first; i; i = value_at(w, i)->link) {
        struct fuse_value *v = value_at(w, i);
        if (v->map != last) {
            last = v->map;
            wide = map_widen(w, v->map, x0, x1);
        }
        if (!wide) return false;
        v->map = wide;
        v->use = (uint8_t)(USE_KEPT | (v->use & USE_WHOLE));
    }
    c->dim = copy;
    c->nf = nf;
    c->run = true;
    c->x0 = x0;
    c->x1 = x1;
    return true;
}

uint32_t sink_new(struct fuse_work *w, ir_ref node, ir_ref shape, const struct fuse_map *g,
                  int buffer, uint32_t buf) {
    struct fuse_sink s = {.node = node,
                          .shape = shape,
                          .g = g,
                          .buffer = (uint8_t)buffer,
                          .buf = buf,
                          .next = w->pins[node]};
    uint32_t index = (uint32_t)VEC_LEN(&w->sink, struct fuse_sink);
    if (!vec_push(&w->sink, &s, sizeof s)) {
        w->failed = true;
        return 0;
    }
    return w->pins[node] = index;
}
