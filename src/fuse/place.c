// SPDX-License-Identifier: MIT
// Which cluster computes a node. In: the graph with its sinks; out: every value settled. Nodes go
// from last to first, so all users of a node are placed before it and one loop does it. A node is
// computed inside its users' clusters when that costs no more than a store and a load; else once,
// into memory.
//   one user cluster, one map: inlined, unless it would be repeated (see is_repeated)
//   several: clusters of one space are merged; what is then still asked for by several is computed
//   again by each when that is 4 light operations over 3 arrays at most, and stored otherwise
// Stored nodes are an extra output of a user's pass where the space allows, else their own pass.
#include "work.h"

enum { CHEAP_OPS = 4, CHEAP_ARRAYS = 3, WALK = 16 };

// ---- addresses ----------------------------------------------------------------------------------
static void dense(const int64_t *dims, int rank, int64_t size, int64_t *strides) {
    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = size;
        size *= dims[i];
    }
}

static void strides_of(struct fuse_work *w, ir_ref n, int buffer, uint32_t buf, int64_t *strides) {
    const struct ir_node *node = ir_at(w->g, n);
    const int64_t *given = NULL;
    if (buffer == NEST_OUT && w->opts->outs) given = w->opts->outs[buf].strides;
    if (node->op == IR_from && buffer == NEST_LEAF)
        given = ir_leaf_at(w->g, (int)ir_attr(w->g, n)[0])->array.strides;
    if (node->op == IR_input && buffer == NEST_LEAF && w->opts->in_strides)
        given = w->opts->in_strides[ir_attr(w->g, n)[0]];
    if (given)
        memcpy(strides, given, (size_t)node->rank * sizeof *strides);
    else
        dense(ir_dims(w->g, n), node->rank, (int64_t)dtype_size((weft_dtype)node->dtype), strides);
}

bool array_address(struct fuse_work *w, ir_ref leaf, const struct fuse_map *m, int64_t *offset,
                   int64_t *stride) {
    int64_t strides[WEFT_MAX_RANK] = {0};
    const struct ir_node *node = ir_at(w->g, leaf);
    if (node->op == IR_iota) // the value itself: one a step along the axis
        strides[ir_attr(w->g, leaf)[0]] = 1;
    else if (node->op == IR_from || node->op == IR_input)
        strides_of(w, leaf, NEST_LEAF, 0, strides);
    return map_address(w, m, ir_dims(w->g, leaf), strides, offset, stride);
}

bool sink_address(struct fuse_work *w, const struct fuse_sink *s, const struct fuse_map *m,
                  int64_t *offset, int64_t *stride) {
    int64_t strides[WEFT_MAX_RANK];
    if (!s->strides) strides_of(w, s->shape, s->buffer, s->buf, strides);
    if (s->g) m = map_compose(w, s->g, m);
    return m && map_address(w, m, ir_dims(w->g, s->shape), s->strides ? s->strides : strides,
                            offset, stride);
}

bool value_address(struct fuse_work *w, const struct fuse_value *v, int64_t *offset,
                   int64_t *stride) {
    if (v->kind == V_LOAD)
        return sink_address(w, sink_at(w, w->slot[v->node]), v->map, offset, stride);
    return array_address(w, v->node, v->map, offset, stride);
}

// ---- inlining -----------------------------------------------------------------------------------
static bool leaf_reachable(struct fuse_work *w, uint32_t value) {
    const struct fuse_value *v = value_at(w, value);
    int64_t offset, stride[SPACE_MAX];
    int op = ir_at(w->g, v->node)->op;
    bool memory = op == IR_from || op == IR_input;
    const bool whole = v->use & USE_WHOLE || cluster_at(w, cluster_find(w, v->cluster))->matmul;
    if (whole && !memory) return false;
    return array_address(w, v->node, v->map, &offset, stride);
}

// Computes the value in its cluster, asking for its operands there. really false: only whether it
// can be.
bool inline_value(struct fuse_work *w, uint32_t value, bool really) {
    const struct fuse_value v = *value_at(w, value);
    ir_ref n = v.node;
    uint32_t c = cluster_find(w, v.cluster);
    const struct fuse_map *maps[3] = {NULL};
    int cls = ir_ops[ir_at(w->g, n)->op].cls;
    const bool whole = v.use & USE_WHOLE || cluster_at(w, c)->matmul;
    if (cluster_at(w, c)->join) return false; // the parts are stored where they belong
    if (cls == IR_LEAF) {
        if (!leaf_reachable(w, value)) return false;
        if (really) value_settle(w, value, V_DIRECT);
        return true;
    }
    if (cls == IR_GATHER) return !whole && inline_take(w, value, really);
    if (cls != IR_MAP && cls != IR_VIEW) return false;
    if (cls == IR_MAP && (whole || !cluster_fits(w, c, n))) return false;
    int64_t buf[SPACE_MAX];
    const int64_t *space = value_space(w, &v, buf);
    int count = cls == IR_VIEW ? 1 : ir_ops[ir_at(w->g, n)->op].arity;
    for (int i = 0; i < count; i++) {
        maps[i] = map_operand(w, space, v.map, n, i);
        if (!maps[i]) return false;
    }
    if (!really) return true;
    value_settle(w, value, cls == IR_VIEW ? V_SAME : V_OP);
    for (int i = 0; i < count; i++) {
        ir_ref o = ir_at(w->g, n)->in[i];
        const struct fuse_whole as = {maps[i], v.nown, v.own};
        uint32_t arg = v.use & USE_WHOLE ? value_ask_whole(w, c, o, &as)
                                         : value_ask(w, c, o, maps[i], v.use);
        value_at(w, value)->arg[i] = arg;
    }
    return true;
}

static bool depends_on_reduction(const struct fuse_work *w, ir_ref n) {
    return w->fanin[n] >= 128;
}

// Follows operands to the nearest reduction: will it be computed in the same pass, row by row?
static bool joins_below(struct fuse_work *w, uint32_t c, const struct fuse_value *v) {
    ir_ref n = v->node;
    const struct fuse_map *m = v->map;
    for (int step = 0; step < WALK && m; step++) {
        int cls = ir_ops[ir_at(w->g, n)->op].cls, i = 0;
        if (cls == IR_REDUCE) return reduce_can_join(w, c, n, m, v->use);
        if (cls != IR_MAP && cls != IR_VIEW) return false;
        while (i < 2 && !depends_on_reduction(w, ir_at(w->g, n)->in[i]))
            i++;
        m = map_operand(w, cluster_at(w, c)->dim, m, n, i);
        n = ir_at(w->g, n)->in[i];
    }
    return false;
}

static int64_t steps_of(const struct fuse_cluster *c, bool kept) {
    int64_t n = 1;
    for (int i = 0; i < c->nf; i++)
        if (!kept || i < c->x0 || i >= c->x1) n *= c->dim[i];
    return n;
}

// A node that is broadcast into the space would be computed once per repetition. That is worse than
// storing it when it ends a reduction's pass anyway, or when it is heavy and changes along the
// innermost axis.
static bool is_repeated(struct fuse_work *w, uint32_t value) {
    const struct fuse_value *v = value_at(w, value);
    uint32_t index = cluster_find(w, v->cluster);
    const struct fuse_cluster *c = cluster_at(w, index);
    if (ir_ops[ir_at(w->g, v->node)->op].cls != IR_MAP || c->matmul) return false;
    if (v->use & USE_WHOLE) return false;
    bool kept = c->run && !(v->use & USE_ELEM);
    if (ir_elements(w->g, v->node) > steps_of(c, kept) / 2) return false;
    if (depends_on_reduction(w, v->node)) return !joins_below(w, index, v);
    if (!ir_ops[ir_at(w->g, v->node)->op].heavy || !c->nf) return false;
    return map_axes(v->map, c->dim, ir_dims(w->g, v->node)) >> (c->nf - 1) & 1;
}

// ---- memory -------------------------------------------------------------------------------------
int height_above(struct fuse_work *w, ir_ref n, uint32_t but) {
    int h = 0;
    for (uint32_t i = w->head[n]; i; i = value_at(w, i)->next) {
        uint32_t c = cluster_find(w, value_at(w, i)->cluster);
        if (value_at(w, i)->kind == V_PENDING && c != but)
            h = MAX_OF(h, cluster_at(w, c)->height + 1);
    }
    return h;
}

// Whether the cluster that sees n as this value can be the one that stores it.
bool home_fits(struct fuse_work *w, ir_ref n, uint32_t value) {
    uint32_t c = cluster_find(w, value_at(w, value)->cluster);
    for (uint32_t i = w->head[n]; i; i = value_at(w, i)->next)
        if (i != value && value_at(w, i)->kind == V_PENDING &&
            cluster_find(w, value_at(w, i)->cluster) == c)
            return false;
    const struct fuse_cluster *at = cluster_at(w, c);
    return !at->matmul && !at->product && MAX_OF(at->height, height_above(w, n, c)) < at->min_src &&
           at->weight + 2 * at->pending + 2 <= MAX_WEIGHT;
}

static bool can_store(struct fuse_work *w, ir_ref n, uint32_t value) {
    const struct fuse_value *v = value_at(w, value);
    const struct fuse_cluster *c = cluster_at(w, cluster_find(w, v->cluster));
    if (v->kind == V_LOAD || v->use & USE_WHOLE || !home_fits(w, n, value)) return false;
    if (v->kind == V_PENDING && is_repeated(w, value)) return false;
    if (!map_is_identity(w, c, v->map, n, true) &&
        !(c->run && map_is_identity(w, c, v->map, n, false)))
        return false;
    return v->kind != V_PENDING || inline_value(w, value, false);
}

uint32_t temp_new(struct fuse_work *w, ir_ref n) {
    struct fuse_temp t = {.node = n};
    uint32_t buf = (uint32_t)VEC_LEN(&w->temp, struct fuse_temp);
    t.bytes = ir_elements(w->g, n) * (int64_t)dtype_size((weft_dtype)ir_at(w->g, n)->dtype);
    if (!vec_push(&w->temp, &t, sizeof t)) w->failed = true;
    return buf;
}
uint32_t sink_temp(struct fuse_work *w, ir_ref n) {
    return sink_new(w, n, n, NULL, NEST_TEMP, temp_new(w, n));
}

int count_pending(struct fuse_work *w, ir_ref n) {
    int k = 0;
    for (uint32_t i = w->head[n]; i; i = value_at(w, i)->next)
        k += value_at(w, i)->kind == V_PENDING;
    return k;
}

// Whether all that wait for n can read it there.
bool sink_serves(struct fuse_work *w, ir_ref n, uint32_t sink) {
    int64_t offset, stride[SPACE_MAX];
    const struct fuse_sink *s = sink_at(w, sink);
    bool ok = s->buffer == NEST_OUT || (s->buffer == NEST_TEMP && s->g); // the part of a join
    for (uint32_t i = w->head[n]; ok && i; i = value_at(w, i)->next)
        if (value_at(w, i)->kind == V_PENDING)
            ok = sink_address(w, s, value_at(w, i)->map, &offset, stride);
    return ok;
}

// An output that every reader can address, or a temporary.
static uint32_t choose_slot(struct fuse_work *w, ir_ref n) {
    for (uint32_t s = w->pins[n]; s; s = sink_at(w, s)->next)
        if (sink_serves(w, n, s)) return s;
    return sink_temp(w, n);
}

// Values that still wait read the slot, which home stores.
void place_readers(struct fuse_work *w, ir_ref n, uint32_t home) {
    struct fuse_cluster *c = cluster_at(w, cluster_find(w, value_at(w, home)->cluster));
    for (uint32_t i = w->head[n]; i; i = value_at(w, i)->next) {
        if (value_at(w, i)->kind != V_PENDING) continue;
        value_settle(w, i, V_LOAD);
        struct fuse_cluster *r = cluster_at(w, cluster_find(w, value_at(w, i)->cluster));
        r->min_src = MIN_OF(r->min_src, c->height);
    }
}

// All sinks of n are stored by home, where n has just been placed.
void place_stores(struct fuse_work *w, ir_ref n, uint32_t home) {
    if (count_pending(w, n)) w->slot[n] = choose_slot(w, n);
    if (w->failed) return;
    struct fuse_cluster *c = cluster_at(w, cluster_find(w, value_at(w, home)->cluster));
    for (uint32_t s = w->pins[n]; s; s = sink_at(w, s)->next) {
        sink_at(w, s)->value = home;
        c->weight += 2;
    }
    place_readers(w, n, home);
}

static void place_in_memory(struct fuse_work *w, ir_ref n, const char *why) {
    uint32_t home = 0;
    w->why[n] = why;
    for (uint32_t i = w->head[n]; i && !home && !w->opts->unfused; i = value_at(w, i)->next)
        if (can_store(w, n, i)) home = i;
    if (home) {
        uint32_t c = cluster_find(w, value_at(w, home)->cluster);
        int h = height_above(w, n, c);
        cluster_at(w, c)->height = MAX_OF(cluster_at(w, c)->height, h);
    } else {
        int64_t dim[WEFT_MAX_RANK + 1];
        uint32_t c = cluster_new(w, space_of(w, n, dim), dim, height_above(w, n, UINT32_MAX), why);
        if (w->failed) return;
        home = value_ask(w, c, n, map_identity(w, cluster_at(w, c), n, true), USE_ELEM);
    }
    if (home && value_at(w, home)->kind == V_PENDING && !inline_value(w, home, true))
        w->failed = true;
    if (!w->failed) place_stores(w, n, home);
}

// ---- the walk -----------------------------------------------------------------------------------
static bool is_cheap(const struct fuse_work *w, ir_ref n, int times) {
    return w->cost[n] * (times - 1) <= CHEAP_OPS && w->fanin[n] * (times - 1) <= CHEAP_ARRAYS;
}

static const char *reason(struct fuse_work *w, ir_ref n, int readers) {
    if (w->pins[n]) return sink_at(w, w->pins[n])->buffer == NEST_GUARD ? "guard" : "root";
    if (w->opts->unfused) return "unfused";
    uint32_t first = w->head[n];
    while (value_at(w, first)->kind != V_PENDING)
        first = value_at(w, first)->next;
    uint32_t c = cluster_find(w, value_at(w, first)->cluster);
    int cls = ir_ops[ir_at(w->g, n)->op].cls;
    if (cluster_at(w, c)->join) return "a part of a join";
    if (cluster_at(w, c)->call) return "read by a call";
    if (cluster_at(w, c)->matmul) return "read by matmul";
    if (value_at(w, first)->use & USE_WHOLE) return "read through an index";
    if (cls == IR_LEAF) return "no strides for this reshape";
    if (readers > 1) return "read by several steps or through several views";
    if (cls == IR_MAP && !cluster_fits(w, c, n)) return "the reader's body is full";
    return is_repeated(w, first) ? "else repeated by broadcasting" : "no strides for this reshape";
}

static void place_map(struct fuse_work *w, ir_ref n) {
    int cls = ir_ops[ir_at(w->g, n)->op].cls, k = count_pending(w, n);
    bool light = cls == IR_VIEW || cls == IR_LEAF || ir_at(w->g, n)->op == IR_cast;
    bool may = light || (!w->opts->unfused && (k == 1 || is_cheap(w, n, k)));
    if (cls != IR_LEAF && w->pins[n]) may = false;
    for (uint32_t i = w->head[n]; may && i; i = value_at(w, i)->next)
        if (value_at(w, i)->kind == V_PENDING && !is_repeated(w, i)) inline_value(w, i, true);
    if (w->pins[n] || count_pending(w, n)) place_in_memory(w, n, reason(w, n, k));
}

void place_all(struct fuse_work *w) {
    for (ir_ref n = w->count - 1; n && !w->failed; n--) {
        if (!w->head[n] && !w->pins[n] && !w->result[n]) continue;
        cluster_gather(w, n);
        switch (ir_ops[ir_at(w->g, n)->op].cls) {
        case IR_REDUCE: place_reduce(w, n); break;
        case IR_CONTRACT: place_matmul(w, n); break;
        case IR_CALL: place_call(w, n); break;
        case IR_RESULT: place_result(w, n); break;
        case IR_JOIN: place_join(w, n); break;
        default: place_map(w, n);
        }
    }
}
