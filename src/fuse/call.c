// SPDX-License-Identifier: MIT
// Calls, joins and gathers: what reads and writes arrays as a whole. A call is a step of its own,
// with all its outputs; operands are read in place where they are views of leaves and stored first
// otherwise. A join is no step at all: each part is stored by its own pass into its part of the
// place, and its cluster is there so that readers come after both. A gather is an operand of the
// pass that uses it: array and index are values read as a whole, the array over one axis more than
// the space, which the index walks.
#include "work.h"

static uint32_t whole_cluster(struct fuse_work *w, ir_ref n, int height, const char *why) {
    uint32_t c = cluster_new(w, 0, NULL, height, why);
    if (w->failed) return 0;
    cluster_at(w, c)->matmul = true;
    cluster_at(w, c)->node = n;
    return c;
}

static uint32_t ask_all(struct fuse_work *w, uint32_t c, ir_ref n) {
    const struct fuse_whole as = {map_axis_by_axis(w, n), ir_at(w->g, n)->rank, ir_dims(w->g, n)};
    return value_ask_whole(w, c, n, &as);
}

// Node n is made in the cluster, at sink s.
static void settle_at(struct fuse_work *w, uint32_t c, ir_ref n, uint32_t s) {
    uint32_t home = ask_all(w, c, n);
    if (!home || w->failed) return;
    value_settle(w, home, V_OP);
    w->slot[n] = s;
    sink_at(w, s)->value = home;
    place_readers(w, n, home);
}

// ---- calls --------------------------------------------------------------------------------------
void place_result(struct fuse_work *w, ir_ref n) {
    ir_ref call = ir_at(w->g, n)->in[0];
    w->result[n] = w->result[call];
    w->result[call] = n;
}

static int output_of(struct fuse_work *w, ir_ref n, ir_ref call) {
    return n == call ? 0 : (int)ir_attr(w->g, n)[0];
}

static bool is_wanted(struct fuse_work *w, ir_ref n) {
    return (w->head[n] || w->pins[n]) && ir_elements(w->g, n);
}

void place_call(struct fuse_work *w, ir_ref n) {
    int height = 0;
    uint32_t sink[IR_MAX_OUT] = {0};
    for (ir_ref r = n; r && !w->failed; r = w->result[r])
        if (is_wanted(w, r)) sink[output_of(w, r, n)] = sink_main(w, r, "another root of a call");
    for (ir_ref r = n; r; r = w->result[r])
        height = MAX_OF(height, height_above(w, r, UINT32_MAX));
    if (w->failed) return;
    uint32_t c = whole_cluster(w, n, height, w->pins[n] ? "root" : "call");
    if (w->failed) return;
    cluster_at(w, c)->call = true;
    for (ir_ref r = n; r && !w->failed; r = w->result[r])
        if (sink[output_of(w, r, n)]) settle_at(w, c, r, sink[output_of(w, r, n)]);
    for (int i = 0; i < ir_ops[ir_at(w->g, n)->op].arity && !w->failed; i++) {
        ir_ref o = ir_at(w->g, n)->in[i];
        uint32_t v = ir_elements(w->g, o) ? ask_all(w, c, o) : 0;
        cluster_at(w, c)->whole[i] = v;
    }
}

static void place_of_value(struct fuse_work *w, const struct fuse_value *v,
                           struct nest_operand *o) {
    describe_leaf(w, v, o);
    o->dtype = ir_at(w->g, v->node)->dtype;
    o->cls = NEST_UNIT;
    value_address(w, v, &o->offset, o->stride);
}

static void shape_of(struct fuse_work *w, ir_ref n, struct nest_array *a) {
    a->rank = ir_at(w->g, n)->rank;
    a->o.dtype = ir_at(w->g, n)->dtype;
    a->absent = true;
    if (a->rank) memcpy(a->dim, ir_dims(w->g, n), (size_t)a->rank * sizeof *a->dim);
}

static void fill_outputs(struct fuse_work *w, uint32_t cluster, struct nest_array *out, int nout) {
    ir_ref n = cluster_at(w, cluster)->node;
    for (int i = 0; i < nout; i++)
        out[i] = (struct nest_array){.absent = true, .o = {.out = true}};
    for (ir_ref r = n; r; r = w->result[r]) {
        struct nest_array *a = &out[output_of(w, r, n)];
        shape_of(w, r, a);
        const struct fuse_sink *s = is_wanted(w, r) ? sink_at(w, w->slot[r]) : NULL;
        if (!s) continue;
        a->absent = false;
        a->o.buffer = s->buffer;
        a->o.buf = s->buf;
        a->o.cls = NEST_UNIT;
        sink_address(w, s, value_at(w, s->value)->map, &a->o.offset, a->o.stride);
    }
}

bool call_make(struct fuse_work *w, uint32_t cluster, struct fuse_step *s) {
    const struct fuse_cluster *c = cluster_at(w, cluster);
    const struct ir_node *n = ir_at(w->g, c->node);
    const int nin = ir_ops[n->op].arity, nout = ir_call_outputs((enum ir_op)n->op);
    struct nest_array *a = ARENA_ARRAY(&w->plan->arena, struct nest_array, nin + nout);
    const int64_t *attr =
        arena_copy(&w->plan->arena, ir_attr(w->g, c->node), n->nattr * sizeof *attr);
    if (!a || !attr) return false;
    for (int i = 0; i < nin; i++) {
        shape_of(w, n->in[i], &a[i]);
        if (!c->whole[i]) continue;
        a[i].absent = false;
        place_of_value(w, value_at(w, value_final(w, c->whole[i])), &a[i].o);
    }
    fill_outputs(w, cluster, a + nin, nout);
    s->kind = FUSE_CALL;
    s->call = (struct nest_call){n->op, nin, nout, n->nattr, a, attr};
    return true;
}

// ---- joins --------------------------------------------------------------------------------------
// Element of a part to element of the join, as the place of the join sees it.
static const struct fuse_map *place_in_join(struct fuse_work *w, const struct fuse_sink *s,
                                            ir_ref part, int axis, int64_t from) {
    struct fuse_map *m = map_new(w, ir_at(w->g, part)->rank, ir_at(w->g, part)->rank, false);
    for (int i = 0; m && i < m->rank; i++)
        m->w[(int64_t)i * (m->nf + 1) + 1 + i] = 1;
    if (m) m->w[(int64_t)axis * (m->nf + 1)] = from;
    return m && s->g ? map_compose(w, s->g, m) : m;
}

void place_join(struct fuse_work *w, ir_ref n) {
    const struct ir_node *node = ir_at(w->g, n);
    const int axis = (int)ir_attr(w->g, n)[0];
    uint32_t s = sink_main(w, n, "another root of a join");
    if (w->failed) return;
    uint32_t c = whole_cluster(w, n, height_above(w, n, UINT32_MAX), "join");
    if (w->failed) return;
    cluster_at(w, c)->join = true;
    settle_at(w, c, n, s);
    int64_t from = 0;
    for (int i = 0; i < 2 && !w->failed; i++) {
        ir_ref part = node->in[i];
        if (!ir_elements(w->g, part)) continue;
        const struct fuse_sink at = *sink_at(w, s);
        const struct fuse_map *g = place_in_join(w, &at, part, axis, from);
        uint32_t t = g ? sink_new(w, part, at.shape, g, at.buffer, at.buf) : 0;
        if (!t) return;
        cluster_at(w, c)->part[i] = t;
        ask_all(w, c, part);
        from += ir_dims(w->g, part)[axis];
    }
}

// ---- gathers ------------------------------------------------------------------------------------
static void copy_row(struct fuse_map *to, int i, const struct fuse_map *from, int k) {
    memcpy(to->w + (int64_t)i * (to->nf + 1), map_row(from, k),
           (size_t)(from->nf + 1) * sizeof *to->w);
}

// Maps of the array, over one axis more, and of the index.
static bool take_maps(struct fuse_work *w, const struct fuse_value *v,
                      const struct fuse_map **array, const struct fuse_map **index) {
    const struct ir_node *n = ir_at(w->g, v->node);
    const ir_ref x = n->in[0], k = n->in[1];
    const int axis = (int)ir_attr(w->g, v->node)[0], rx = ir_at(w->g, x)->rank,
              rk = ir_at(w->g, k)->rank;
    const bool along = n->op == IR_take_along_axis;
    struct fuse_map *a = map_new(w, rx, v->map->nf + 1, false);
    struct fuse_map *b = map_new(w, rk, v->map->nf, false);
    if (!a || !b) return false;
    for (int i = 0; i < rx; i++) {
        const int at = along || i < axis ? i : i + rk - 1; // where the result has the axis
        if (i == axis)
            a->w[(int64_t)i * (a->nf + 1) + a->nf] = 1;
        else if (ir_dims(w->g, x)[i] != 1)
            copy_row(a, i, v->map, at);
    }
    for (int i = 0; i < rk; i++)
        if (ir_dims(w->g, k)[i] != 1) copy_row(b, i, v->map, along ? i : i + axis);
    *array = a;
    *index = b;
    return true;
}

bool inline_take(struct fuse_work *w, uint32_t value, bool really) {
    const struct fuse_value v = *value_at(w, value);
    const uint32_t c = cluster_find(w, v.cluster);
    const struct ir_node *n = ir_at(w->g, v.node);
    if (v.map->linear || !cluster_fits(w, c, v.node)) return false;
    if (!really) return true;
    struct fuse_whole x = {.nown = 1}, k = {.nown = 0};
    x.own = ir_dims(w->g, n->in[0]) + ir_attr(w->g, v.node)[0];
    if (!take_maps(w, &v, &x.map, &k.map)) return false;
    value_settle(w, value, V_TAKE);
    uint32_t array = value_ask_whole(w, c, n->in[0], &x);
    uint32_t index = value_ask_whole(w, c, n->in[1], &k);
    value_at(w, value)->arg[0] = array;
    value_at(w, value)->arg[1] = index;
    return array && index;
}

static void read_whole(struct fuse_work *w, const struct fuse_value *v, struct fuse_access *a) {
    const struct fuse_cluster *c = cluster_at(w, cluster_find(w, v->cluster));
    int64_t buf[SPACE_MAX], stride[SPACE_MAX];
    a->index[0] = a->index[1] = -1;
    describe_leaf(w, v, &a->o);
    a->o.dtype = ir_at(w->g, v->node)->dtype;
    a->axes = map_axes(v->map, value_space(w, v, buf), ir_dims(w->g, v->node));
    if (c->nf < 64) a->axes &= ((uint64_t)1 << c->nf) - 1;
    value_address(w, v, &a->o.offset, stride);
    memcpy(a->stride, stride, (size_t)c->nf * sizeof *stride);
    a->o.gstride = v->nown ? stride[c->nf] : 0;
}

bool gather_read(struct fuse_work *w, uint32_t value, struct fuse_access *a) {
    const struct fuse_value *v = value_at(w, value);
    const int64_t *attr = ir_attr(w->g, v->node);
    for (int i = 0; i < 2; i++) {
        a[i] = (struct fuse_access){.value = value, .node = i ? ir_at(w->g, v->node)->in[1] : v->node};
        read_whole(w, value_at(w, value_final(w, v->arg[i])), &a[i]);
    }
    a[0].axes |= a[1].axes;
    a[0].o.gextent = ir_dims(w->g, ir_at(w->g, v->node)->in[0])[attr[0]];
    a[0].o.gmode = (uint8_t)attr[1];
    a[1].o.aux = true;
    return !w->failed;
}

// The index array in its own logical order: the way from the operand to memory, over its own axes.
bool gather_describe(struct fuse_work *w, uint32_t value, struct nest_gather *t) {
    const struct fuse_value *v = value_at(w, value);
    ir_ref k = ir_at(w->g, v->node)->in[1];
    int64_t stride[SPACE_MAX];
    t->name = ir_ops[ir_at(w->g, v->node)->op].name;
    t->axis = (int)ir_attr(w->g, v->node)[0];
    t->rank = ir_at(w->g, k)->rank;
    if (t->rank) memcpy(t->dim, ir_dims(w->g, k), (size_t)t->rank * sizeof *t->dim);
    const struct fuse_map *m = map_axis_by_axis(w, k);
    const struct fuse_value *i = value_at(w, v->arg[1]);
    for (; m && i->kind == V_SAME; i = value_at(w, i->arg[0])) {
        if (value_at(w, i->arg[0])->node == i->node) continue; // its double
        m = map_operand(w, t->dim, m, i->node, 0);
    }
    if (w->failed) return false;
    struct fuse_value at = *i;
    at.map = m;
    if (!m || !value_address(w, &at, &t->offset, stride))
        t->rank = -1;
    else
        memcpy(t->stride, stride, (size_t)t->rank * sizeof *stride);
    return true;
}
