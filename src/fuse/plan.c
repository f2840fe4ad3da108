// SPDX-License-Identifier: MIT
// Graph to plan, the whole pipeline on this page: what is live; where outputs go; which cluster computes each
// node (users before operands); the order of the clusters; each as a nest with its code; where temporaries
// live. Every traversal is a loop over nodes or an explicit stack, and linear in the live nodes.
#include "work.h"

enum { ROW_BYTES = 256 << 10, COST_MOST = 100, FANIN_MOST = 127, REDUCED = 128 };

static weft_status no_memory(struct base_err *err) {
    return err_set(err, WEFT_ENOMEM, "no memory for a plan");
}

// ---- what is live -------------------------------------------------------------------------------------------
static int operands(const struct fuse_work *w, ir_ref n) {
    const struct ir_node *node = ir_at(w->g, n);
    if (ir_ops[node->op].cls == IR_LEAF) return 0; // an extent lends a shape only
    return node->op == IR_guard ? 2 : !node->in[0] ? 0 : !node->in[1] ? 1 : !node->in[2] ? 2 : 3;
}

// Users of each live node; 0: not live. A root counts as a user.
static uint32_t *count_uses(struct fuse_work *w) {
    uint32_t *uses = ARENA_ARRAY(&w->arena, uint32_t, w->count + 1);
    for (int i = 0; uses && i < w->nroot; i++)
        uses[w->roots[i]]++;
    for (ir_ref n = w->count - 1; uses && n; n--)
        for (int k = 0; uses[n] && k < operands(w, n); k++)
            uses[ir_at(w->g, n)->in[k]]++;
    return uses;
}

static void rate_nodes(struct fuse_work *w, const uint32_t *uses) {
    for (ir_ref n = 1; n < w->count; n++) {
        const struct ir_node *node = ir_at(w->g, n);
        int cls = ir_ops[node->op].cls, cost = 0, fanin = 0;
        if (!uses[n]) continue;
        if (node->op == IR_from || node->op == IR_input) fanin = 1;
        if (cls == IR_MAP) cost = ir_ops[node->op].heavy ? COST_MOST : 1;
        bool reduced = cls == IR_REDUCE || cls == IR_CONTRACT;
        for (int k = 0; k < (cls == IR_VIEW ? 1 : operands(w, n)); k++) {
            cost += w->cost[node->in[k]];
            fanin += w->fanin[node->in[k]] & FANIN_MOST;
            reduced |= w->fanin[node->in[k]] >= REDUCED;
        }
        if (reduced) cost = COST_MOST;
        w->cost[n] = (uint8_t)MIN_OF(cost, COST_MOST);
        w->fanin[n] = (uint8_t)(MIN_OF(fanin, FANIN_MOST) | (reduced ? REDUCED : 0));
    }
}

// ---- where outputs go ------------------------------------------------------------------------------------------
static int64_t weights_below(const int64_t *dims, int rank, int axis) {
    int64_t n = 1;
    for (int i = axis + 1; i < rank; i++)
        n *= dims[i];
    return n;
}

// A one-to-one view backwards: the map from the operand's index to the view's, or NULL.
static const struct fuse_map *invert_view(struct fuse_work *w, ir_ref view) {
    const struct ir_node *v = ir_at(w->g, view);
    ir_ref o = v->in[0];
    int ro = ir_at(w->g, o)->rank;
    const int64_t *attr = ir_attr(w->g, view);
    bool linear = v->op == IR_reshape;
    if (!linear && v->op != IR_transpose && v->op != IR_expand_dims && v->op != IR_squeeze) return NULL;
    struct fuse_map *m = map_new(w, v->rank, ro, linear);
    if (!m) return NULL;
    for (int i = 0; linear && i < ro; i++)
        m->w[1 + i] = weights_below(ir_dims(w->g, o), ro, i);
    for (int i = 0; !linear && i < v->rank; i++) {
        int from = v->op == IR_transpose ? (int)attr[i] : i;
        if (v->op == IR_expand_dims) from = i == attr[0] ? -1 : i > attr[0] ? i - 1 : i;
        if (v->op == IR_squeeze) from = i >= attr[0] ? i + 1 : i;
        if (from >= 0) m->w[(int64_t)i * (ro + 1) + 1 + from] = 1;
    }
    return m;
}

// g sees the view; the same seen from the view's operand.
static const struct fuse_map *step_below(struct fuse_work *w, const struct fuse_map *g, ir_ref view) {
    const struct fuse_map *h = invert_view(w, view);
    if (!h || !g) return h;
    if (!h->linear) return map_compose(w, g, h);
    const struct ir_node *v = ir_at(w->g, view);
    for (int i = 0; i < v->rank; i++) // a reshape of a reshape
        if (!g->linear || g->w[1 + i] != weights_below(ir_dims(w->g, view), v->rank, i)) return NULL;
    struct fuse_map *m = map_new(w, g->rank, h->nf, true);
    if (m) memcpy(m->w, h->w, (size_t)(h->nf + 1) * sizeof *m->w);
    return m;
}

// An output that only rearranges a node is stored by that node's own pass.
static void add_root(struct fuse_work *w, int i, const uint32_t *uses) {
    ir_ref root = w->roots[i], n = root;
    const struct fuse_map *g = NULL;
    int64_t offset, stride[WEFT_MAX_RANK];
    if (!ir_elements(w->g, root)) return;
    while (ir_ops[ir_at(w->g, n)->op].cls == IR_VIEW && uses[n] == 1) {
        const struct fuse_map *below = step_below(w, g, n);
        struct fuse_sink s = {.shape = root, .buffer = NEST_OUT, .buf = (uint32_t)i};
        if (!below || !sink_address(w, &s, below, &offset, stride)) break;
        g = below;
        n = ir_at(w->g, n)->in[0];
    }
    sink_new(w, n, root, g, NEST_OUT, (uint32_t)i);
}

static void add_guards(struct fuse_work *w, const uint32_t *uses) {
    struct fuse_plan *p = w->plan;
    int n = 0;
    for (ir_ref r = 1; r < w->count; r++)
        n += uses[r] && ir_at(w->g, r)->op == IR_guard;
    p->guard_text = ARENA_ARRAY(&p->arena, const char *, n + 1);
    if (!p->guard_text) w->failed = true;
    for (ir_ref r = 1; r < w->count && !w->failed; r++) {
        if (!uses[r] || ir_at(w->g, r)->op != IR_guard) continue;
        const char *text = ir_guard_text(w->g, r);
        p->guard_text[p->nguard] = arena_copy(&p->arena, text, strlen(text) + 1);
        if (!p->guard_text[p->nguard]) w->failed = true;
        ir_ref cond = ir_at(w->g, r)->in[1];
        sink_new(w, cond, cond, NULL, NEST_GUARD, (uint32_t)p->nguard++);
    }
}

static bool number_leaves(struct fuse_work *w) {
    struct fuse_plan *p = w->plan;
    struct base_vec key, leaves, consts;
    vec_init(&key, w->alloc);
    vec_init(&leaves, w->alloc);
    vec_init(&consts, w->alloc);
    bool ok = !ir_key(w->g, w->nroot, w->roots, &key, &leaves, &consts);
    ok = ok && !leaves.failed && !consts.failed;
    if (ok) {
        p->nleaf = (int)VEC_LEN(&leaves, ir_ref);
        p->nconst = (int)VEC_LEN(&consts, ir_ref);
        p->leaf = arena_copy(&p->arena, leaves.data, leaves.size);
        p->constant = arena_copy(&p->arena, consts.data, consts.size);
        ok = p->leaf && p->constant;
    }
    for (int i = 0; ok && i < p->nleaf; i++)
        w->number[p->leaf[i]] = (uint32_t)i;
    for (int i = 0; ok && i < p->nconst; i++)
        w->number[p->constant[i]] = (uint32_t)i;
    vec_free(&key);
    vec_free(&leaves);
    vec_free(&consts);
    return ok;
}

// ---- clusters to steps -------------------------------------------------------------------------------------
static uint32_t source_of(struct fuse_work *w, uint32_t value) {
    const struct fuse_value *v = value_at(w, value);
    return cluster_find(w, value_at(w, sink_at(w, w->slot[v->node])->value)->cluster);
}

// Depth first from what outputs need, so that a temporary is made shortly before it is read.
static bool order_from(struct fuse_work *w, uint32_t cluster, struct base_vec *stack) {
    vec_push(stack, &cluster, sizeof cluster);
    while (stack->size && !stack->failed) {
        uint32_t top = VEC_AT(stack, uint32_t, stack->size / sizeof top - 1), before = UINT32_MAX;
        struct fuse_cluster *c = cluster_at(w, top);
        for (; c->scan && before == UINT32_MAX; c->scan = value_at(w, c->scan)->link) {
            if (value_at(w, c->scan)->kind != V_LOAD) continue;
            uint32_t source = source_of(w, c->scan);
            if (!cluster_at(w, source)->done) before = source;
        }
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

static bool order_clusters(struct fuse_work *w) {
    uint32_t n = (uint32_t)VEC_LEN(&w->cluster, struct fuse_cluster);
    w->order = ARENA_ARRAY(&w->arena, uint32_t, n + 1);
    if (!w->order) return false;
    for (uint32_t i = 1; i < n; i++)
        cluster_at(w, i)->scan = cluster_at(w, i)->first;
    struct base_vec stack;
    vec_init(&stack, w->alloc);
    bool ok = true;
    for (uint32_t i = 1; ok && i < n; i++)
        if (cluster_find(w, i) == i && !cluster_at(w, i)->done) ok = order_from(w, i, &stack);
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

static void count_bytes(struct fuse_step *s) {
    if (s->kind == FUSE_MATMUL) {
        const struct fuse_matmul *m = &s->matmul;
        const struct nest_operand *o[3] = {&m->a, &m->b, &m->c};
        for (int i = 0; i < 3; i++) {
            int64_t dim[NEST_DIMS], *sum = i < 2 ? &s->bytes_read : &s->bytes_written;
            memcpy(dim, m->batch, (size_t)m->nbatch * sizeof *dim);
            dim[m->nbatch] = i == 1 ? m->k : m->m;
            dim[m->nbatch + 1] = i == 0 ? m->k : m->n;
            if (m->k || i == 2) *sum += operand_bytes(dim, m->nbatch + 2, o[i]);
        }
        return;
    }
    for (int i = 0; i < s->nest.noperand; i++) {
        const struct nest_operand *o = &s->nest.operand[i];
        bool again = false; // an array read plainly and late counts once
        for (int k = 0; k < i && o->late; k++)
            again |= s->nest.operand[k].buffer == o->buffer && s->nest.operand[k].buf == o->buf && !o->out;
        if (!again)
            *(o->out ? &s->bytes_written : &s->bytes_read) += operand_bytes(s->nest.dim, s->nest.ndim, o);
    }
}

static bool make_step(struct fuse_work *w, uint32_t cluster, struct fuse_step *s) {
    struct fuse_cluster *c = cluster_at(w, cluster);
    struct base_arena *a = &w->plan->arena;
    if (c->matmul)
        matmul_make(w, cluster, s);
    else if (!body_make(w, cluster, s))
        return false;
    int n = 0;
    for (uint32_t i = c->sinks; i; i = sink_at(w, i)->next)
        n++;
    s->made = ARENA_ARRAY(a, ir_ref, n + 1);
    if (!s->made) return false;
    for (uint32_t i = c->sinks; i; i = sink_at(w, i)->next)
        if (!s->nmade || s->made[s->nmade - 1] != sink_at(w, i)->node) s->made[s->nmade++] = sink_at(w, i)->node;
    s->why = c->why;
    s->level = c->height;
    count_bytes(s);
    return true;
}

static bool make_steps(struct fuse_work *w) {
    struct fuse_plan *p = w->plan;
    p->step = ARENA_ARRAY(&p->arena, struct fuse_step, w->norder + 1);
    if (!p->step) return false;
    hand_out_sinks(w);
    w->local = ARENA_ARRAY(&w->arena, uint32_t, VEC_LEN(&w->value, struct fuse_value));
    if (!w->local) return false;
    for (int i = 0; i < w->norder; i++) {
        struct fuse_step *s = &p->step[p->nstep++];
        if (!make_step(w, w->order[i], s)) return false;
        p->bytes_read += s->bytes_read;
        p->bytes_written += s->bytes_written;
        p->passes += s->bytes_read + s->bytes_written > 0;
    }
    return memory_plan(w);
}

// ---- the pipeline ---------------------------------------------------------------------------------------------
static bool start(struct fuse_work *w) {
    static const char none[sizeof(struct fuse_cluster)] = {0};
    size_t n = (size_t)w->count + 1;
    w->head = ARENA_ARRAY(&w->arena, uint32_t, n);
    w->pins = ARENA_ARRAY(&w->arena, uint32_t, n);
    w->slot = ARENA_ARRAY(&w->arena, uint32_t, n);
    w->number = ARENA_ARRAY(&w->arena, uint32_t, n);
    w->cost = ARENA_ARRAY(&w->arena, uint8_t, n);
    w->fanin = ARENA_ARRAY(&w->arena, uint8_t, n);
    if (!w->head || !w->pins || !w->slot || !w->number || !w->cost || !w->fanin) return false;
    // number 0 of each means none
    return vec_push(&w->value, none, sizeof(struct fuse_value)) &&
           vec_push(&w->sink, none, sizeof(struct fuse_sink)) &&
           vec_push(&w->cluster, none, sizeof(struct fuse_cluster));
}

static bool plan_all(struct fuse_work *w) {
    if (!start(w) || !number_leaves(w)) return false;
    uint32_t *uses = count_uses(w);
    if (!uses) return false;
    rate_nodes(w, uses);
    for (int i = 0; i < w->nroot; i++)
        add_root(w, i, uses);
    add_guards(w, uses);
    if (!w->failed) place_all(w);
    return !w->failed && order_clusters(w) && make_steps(w);
}

weft_status fuse_plan_make(const struct ir_graph *g, int n, const ir_ref *roots,
                           const struct fuse_opts *opts, const struct base_alloc *alloc,
                           struct base_err *err, struct fuse_plan **out) {
    static const struct fuse_opts defaults = {0};
    *out = NULL;
    struct fuse_work w = {.g = g, .opts = opts ? opts : &defaults, .alloc = alloc ? alloc : &base_malloc,
                          .nroot = n, .roots = roots, .count = ir_count(g)};
    w.row_bytes = w.opts->row_bytes ? w.opts->row_bytes : ROW_BYTES;
    struct fuse_plan *p = w.plan = base_get_zero(w.alloc, sizeof *p);
    if (!p) return no_memory(err);
    arena_init(&p->arena, w.alloc);
    arena_init(&w.arena, w.alloc);
    vec_init(&w.value, w.alloc);
    vec_init(&w.sink, w.alloc);
    vec_init(&w.cluster, w.alloc);
    vec_init(&w.temp, w.alloc);
    p->nroot = n;
    bool ok = plan_all(&w);
    vec_free(&w.value);
    vec_free(&w.sink);
    vec_free(&w.cluster);
    vec_free(&w.temp);
    arena_free(&w.arena);
    if (!ok) {
        fuse_plan_free(p);
        return no_memory(err);
    }
    *out = p;
    return WEFT_OK;
}

void fuse_plan_free(struct fuse_plan *p) {
    if (!p) return;
    struct base_alloc alloc = p->arena.alloc;
    arena_free(&p->arena);
    base_put(&alloc, p, sizeof *p);
}
