// SPDX-License-Identifier: MIT
// A cluster as the body of a pass: which values exist, on what they depend, in which sections they
// are needed. In: a placed cluster; out: its nest and (through emit.c) its code. Values that do not
// change along columns are scalars of the row; a value that several sections need is computed again
// when that is two light operations at most, else carried in a row of scratch.
#include <stdlib.h>

#include "body.h"

enum { AGAIN = 2, SLOW_COST = 3, HEAVY_COST = 100 };

static bool is_double(struct fuse_work *w, const struct fuse_value *a, const struct fuse_value *b) {
    return cluster_find(w, a->cluster) == cluster_find(w, b->cluster) && value_same(a, b);
}

// Looks through views and through values that merging has made double.
uint32_t value_final(struct fuse_work *w, uint32_t value) {
    for (;;) {
        const struct fuse_value *v = value_at(w, value);
        uint32_t same = w->head[v->node];
        for (int look = 0; v->kind != V_SAME && same && !is_double(w, value_at(w, same), v); look++)
            same = look < MAX_LOOK ? value_at(w, same)->next : 0;
        if (v->kind == V_SAME)
            value = v->arg[0];
        else if (!same || same == value)
            return value;
        else
            value = same;
    }
}

int item_of(const struct body *b, uint32_t value) {
    return (int)b->w->local[value];
}

// ---- items --------------------------------------------------------------------------------------
static int by_node(const void *a, const void *b) {
    const struct item *p = a, *q = b;
    if (p->node != q->node) return p->node < q->node ? -1 : 1;
    return p->value < q->value ? -1 : p->value > q->value;
}

static bool collect(struct body *b) {
    struct fuse_work *w = b->w;
    int n = 0;
    for (uint32_t i = cluster_at(w, b->cluster)->first; i; i = value_at(w, i)->link)
        n++;
    b->item = ARENA_ARRAY(&w->arena, struct item, n + 1);
    if (!b->item) return false;
    for (uint32_t i = cluster_at(w, b->cluster)->first; i; i = value_at(w, i)->link) {
        const struct fuse_value *v = value_at(w, i);
        if (value_final(w, i) != i) continue;
        b->item[b->nitem++] =
            (struct item){.value = i, .node = v->node, .kind = v->kind, .access = -1};
    }
    qsort(b->item, (size_t)b->nitem, sizeof *b->item, by_node);
    for (int i = 0; i < b->nitem; i++)
        w->local[b->item[i].value] = (uint32_t)i;
    for (int i = 0; i < b->nitem; i++) {
        struct item *it = &b->item[i];
        for (int k = 0; k < 3; k++) {
            uint32_t arg = value_at(w, it->value)->arg[k];
            it->arg[k] = arg && !item_is_load(it) ? item_of(b, value_final(w, arg)) : -1;
        }
    }
    return true;
}

// Drops what no store of the cluster needs (doubles of merged clusters), marking through need.
static void mark_needed(struct body *b, const uint32_t *sinks) {
    for (uint32_t s = *sinks; s; s = sink_at(b->w, s)->next)
        b->item[item_of(b, value_final(b->w, sink_at(b->w, s)->value))].need = 1;
    for (int i = b->nitem - 1; i >= 0; i--)
        for (int k = 0; k < 3; k++)
            if (b->item[i].need && b->item[i].arg[k] >= 0) b->item[b->item[i].arg[k]].need = 1;
}

// ---- accesses -----------------------------------------------------------------------------------
void describe_leaf(struct fuse_work *w, const struct fuse_value *v, struct nest_operand *o) {
    const struct fuse_sink *s = sink_at(w, w->slot[v->node]);
    switch (ir_at(w->g, v->node)->op) {
    case IR_constant:
    case IR_extent: o->buffer = NEST_CONST; break;
    case IR_iota: o->buffer = NEST_IOTA; break;
    default: o->buffer = NEST_LEAF;
    }
    o->buf = w->number[v->node];
    if (v->kind != V_LOAD) return;
    o->buffer = s->buffer;
    o->buf = s->buf;
}

static uint64_t value_axes(struct fuse_work *w, const struct fuse_cluster *c,
                           const struct fuse_value *v) {
    uint64_t axes = map_axes(v->map, c->dim, ir_dims(w->g, v->node));
    if (ir_at(w->g, v->node)->op != IR_iota || v->kind == V_LOAD) return axes;
    int64_t offset, stride[WEFT_MAX_RANK + 1]; // iota changes along one of its axes only
    array_address(w, v->node, v->map, &offset, stride);
    for (int k = 0; k < c->nf; k++)
        if (!stride[k]) axes &= ~((uint64_t)1 << k);
    return axes;
}

static void add_read(struct body *b, int i) {
    struct fuse_work *w = b->w;
    const struct fuse_cluster *c = cluster_at(w, b->cluster);
    const struct fuse_value *v = value_at(w, b->item[i].value);
    struct fuse_access *a = &b->access[b->naccess];
    *a = (struct fuse_access){.value = b->item[i].value, .node = v->node, .index = {-1, -1}};
    describe_leaf(w, v, &a->o);
    a->o.dtype = ir_at(w->g, v->node)->dtype;
    a->axes = value_axes(w, c, v);
    value_address(w, v, &a->o.offset, a->stride);
    if (a->o.buffer == NEST_TEMP && a->o.buf == SINK_OPEN) // has no say in the order of axes
        memset(a->stride, 0, sizeof a->stride);
    b->item[i].access = b->naccess++;
}

static bool add_take(struct body *b, int i) {
    struct fuse_access *a = &b->access[b->naccess];
    if (!gather_read(b->w, b->item[i].value, a)) return false;
    a[0].gather = b->naccess + 2;
    b->item[i].access = b->naccess;
    b->naccess += 2;
    return true;
}

static bool is_kept(struct fuse_work *w, const struct fuse_cluster *c, const struct fuse_value *v,
                    ir_ref n) {
    if (!c->run || !map_is_identity(w, c, v->map, n, false)) return false;
    return !map_is_identity(w, c, v->map, n, true) || v->use & USE_KEPT;
}

static bool add_store(struct body *b, uint32_t sink) {
    struct fuse_work *w = b->w;
    const struct fuse_cluster *c = cluster_at(w, b->cluster);
    const struct fuse_sink *s = sink_at(w, sink);
    const struct fuse_value *v = value_at(w, s->value); // its map, even when it is another's double
    struct fuse_access *a = &b->access[b->naccess];
    *a = (struct fuse_access){
        .value = value_final(w, s->value), .node = s->node, .sink = sink, .index = {-1, -1}};
    a->o.dtype = ir_at(w->g, s->node)->dtype;
    a->o.buffer = s->buffer;
    a->o.buf = s->buf;
    a->o.out = true;
    a->kept = is_kept(w, c, v, s->node);
    a->axes = map_axes(v->map, c->dim, ir_dims(w->g, s->node));
    b->naccess++;
    b->nstore++;
    return sink_address(w, s, v->map, &a->o.offset, a->stride);
}

static bool find_accesses(struct body *b) {
    struct fuse_work *w = b->w;
    uint32_t sinks = cluster_at(w, b->cluster)->sinks;
    int n = 2 * b->nitem;
    for (uint32_t s = sinks; s; s = sink_at(w, s)->next)
        n++;
    b->access = ARENA_ARRAY(&w->arena, struct fuse_access, n + 1);
    if (!b->access) return false;
    mark_needed(b, &sinks);
    for (int i = 0; i < b->nitem; i++)
        if (b->item[i].need && b->item[i].kind == V_TAKE) {
            if (!add_take(b, i)) return false;
        } else if (b->item[i].need && item_is_load(&b->item[i])) {
            add_read(b, i);
        }
    for (uint32_t s = sinks; s; s = sink_at(w, s)->next)
        if (!add_store(b, s)) return false;
    return true;
}

// A map over one element has no axis that could tell arrays from scalars, yet its code must be that of
// any other length: what has an axis at all counts as changing along it.
static void tell_one_element(struct body *b) {
    const uint64_t only = (uint64_t)1 << 63;
    if (b->axes.mode != NEST_MAP || b->axes.cols) return;
    b->axes.cols = only;
    for (int i = 0; i < b->naccess - b->nstore; i++)
        if (ir_at(b->w->g, b->access[i].node)->rank) b->access[i].axes |= only;
}

// ---- levels -------------------------------------------------------------------------------------
static void find_level(struct body *b, struct item *it) {
    const struct ir_node *node = ir_at(b->w->g, it->node);
    if (item_is_load(it)) {
        it->axes = b->access[it->access].axes;
    } else {
        bool slow = node->op == IR_true_divide || node->op == IR_sqrt || node->op == IR_reciprocal;
        it->cost = ir_ops[node->op].heavy ? HEAVY_COST : slow ? SLOW_COST : 1;
        for (int k = 0; k < 3; k++) {
            if (it->arg[k] < 0) continue;
            const struct item *arg = &b->item[it->arg[k]];
            it->axes |= arg->axes;
            it->phase = MAX_OF(it->phase, arg->phase);
            if (!arg->row) it->cost = (int16_t)MIN_OF(HEAVY_COST, it->cost + arg->cost);
        }
    }
    if (it->kind == V_REDUCE) {
        it->axes &= ~b->axes.run;
        it->phase++;
        it->cost = HEAVY_COST;
    }
    it->row = !(it->axes & b->axes.cols);
}

int body_section(const struct body *b, const struct item *i, int s) {
    if (b->axes.mode == NEST_MAP) return i->row ? 0 : s;
    if (b->axes.mode == NEST_OUTER) return i->kind == V_REDUCE ? 1 : s == 2 || !i->row ? s : 0;
    if (i->kind == V_REDUCE) return 2 * b->item[i->arg[0]].phase + 1;
    if (!i->row) return s;
    return item_is_load(i) ? lowest(i->need) & ~1 : 2 * i->phase;
}

int store_section(const struct body *b, const struct fuse_access *a, const struct item *i) {
    if (b->axes.mode == NEST_MAP) return 1;
    if (b->axes.mode == NEST_OUTER) return a->kept ? 2 : 1;
    return 2 * i->phase + !a->kept;
}

static uint64_t computed_in(const struct body *b, const struct item *it) {
    uint64_t set = 0;
    for (uint64_t rest = it->need; rest; rest &= rest - 1)
        set |= (uint64_t)1 << body_section(b, it, lowest(rest));
    return set;
}

static void find_needs(struct body *b) {
    for (int i = 0; i < b->nitem; i++)
        b->item[i].need = 0;
    for (int i = b->naccess - b->nstore; i < b->naccess; i++) {
        struct item *it = &b->item[item_of(b, b->access[i].value)];
        it->need |= (uint64_t)1 << store_section(b, &b->access[i], it);
    }
    for (int i = b->nitem - 1; i >= 0; i--) {
        struct item *it = &b->item[i];
        if (!it->need) continue;
        uint64_t set = computed_in(b, it);
        bool carried = b->axes.mode == NEST_INNER && set & (set - 1) && !it->row;
        if (carried && !item_is_load(it) && it->cost > AGAIN) {
            it->carried = true;
            set = (uint64_t)1 << lowest(set);
        }
        for (int k = 0; k < 3; k++)
            if (it->arg[k] >= 0) b->item[it->arg[k]].need |= set;
    }
}

static void count_sections(struct body *b) {
    int phases = 1;
    for (int i = 0; i < b->nitem; i++)
        phases = MAX_OF(phases, b->item[i].phase + 1);
    b->nsec = b->axes.mode == NEST_MAP ? 2 : b->axes.mode == NEST_OUTER ? 3 : 2 * phases;
}

static bool choose_axes(struct body *b, struct fuse_step *s) {
    struct fuse_work *w = b->w;
    struct fuse_cluster *c = cluster_at(w, b->cluster);
    if (!c->product) {
        axes_choose(w, c, b->access, b->naccess, &b->axes);
        return true;
    }
    if (!matmul_place(w, c, b->access, b->naccess)) return false;
    int axis[WEFT_MAX_RANK];
    ir_ref n = cluster_at(w, c->product)->node;
    matmul_axes(w, c, value_at(w, c->seen)->map, n, axis);
    b->axes.ngroup = ir_at(w->g, n)->rank;
    s->matmul.turned = axes_follow(c, b->access, b->naccess, axis, &b->axes);
    return true;
}

bool body_make(struct fuse_work *w, uint32_t cluster, struct fuse_step *s) {
    struct body b = {.w = w, .cluster = cluster};
    if (!collect(&b) || !find_accesses(&b)) return false;
    if (!cluster_at(w, cluster)->run &&
        !axes_lay_out(w, cluster_at(w, cluster), b.access, b.naccess))
        return false;
    if (!choose_axes(&b, s)) return false;
    tell_one_element(&b);
    for (int i = 0; i < b.nitem; i++)
        if (b.item[i].need) find_level(&b, &b.item[i]);
    count_sections(&b);
    find_needs(&b);
    return emit_body(&b, s);
}
