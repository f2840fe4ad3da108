// SPDX-License-Identifier: MIT
// Graph to plan, the whole pipeline on this page: what is live; where outputs go; which cluster
// computes each node (users before operands); the order of the clusters; each as a nest with its
// code; where temporaries live. Every traversal is a loop over nodes or an explicit stack, and
// linear in the live nodes.
#include "work.h"

enum { ROW_BYTES = 256 << 10, COST_MOST = 100, FANIN_MOST = 127, REDUCED = 128, GATHER_COST = 4 };

static weft_status no_memory(struct base_err *err) {
    return err_set(err, WEFT_ENOMEM, "no memory for a plan");
}

// ---- what is live -------------------------------------------------------------------------------
static int operands(const struct fuse_work *w, ir_ref n) {
    const struct ir_node *node = ir_at(w->g, n);
    if (ir_ops[node->op].cls == IR_LEAF) return 0; // an extent lends a shape only
    if (node->op == IR_trim) return 1; // its count is for whoever asks
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

// A reduction's result that is broadcast is in memory or a scalar of the row: nothing to compute
// again.
static bool is_spread(const struct fuse_work *w, ir_ref n, ir_ref o) {
    return w->fanin[o] >= REDUCED && ir_elements(w->g, o) <= ir_elements(w->g, n) / 2;
}

static void rate_nodes(struct fuse_work *w, const uint32_t *uses) {
    for (ir_ref n = 1; n < w->count; n++) {
        const struct ir_node *node = ir_at(w->g, n);
        int cls = ir_ops[node->op].cls, cost = 0, fanin = 0;
        if (!uses[n]) continue;
        if (node->op == IR_from || node->op == IR_input) fanin = 1;
        if (cls == IR_MAP) cost = ir_ops[node->op].heavy ? COST_MOST : 1;
        bool reduced = cls == IR_REDUCE || cls >= IR_CONTRACT;
        if (cls == IR_GATHER) {
            reduced = false;
            cost = GATHER_COST;
        }
        for (int k = 0; k < (cls == IR_VIEW ? 1 : operands(w, n)); k++) {
            if (is_spread(w, n, node->in[k])) continue;
            cost += w->cost[node->in[k]];
            fanin += w->fanin[node->in[k]] & FANIN_MOST;
            reduced |= w->fanin[node->in[k]] >= REDUCED;
        }
        if (reduced) cost = COST_MOST;
        w->cost[n] = (uint8_t)MIN_OF(cost, COST_MOST);
        w->fanin[n] = (uint8_t)(MIN_OF(fanin, FANIN_MOST) | (reduced ? REDUCED : 0));
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

// ---- the pipeline -------------------------------------------------------------------------------
static bool start(struct fuse_work *w) {
    static const char none[sizeof(struct fuse_cluster)] = {0};
    size_t n = (size_t)w->count + 1;
    w->head = ARENA_ARRAY(&w->arena, uint32_t, n);
    w->pins = ARENA_ARRAY(&w->arena, uint32_t, n);
    w->slot = ARENA_ARRAY(&w->arena, uint32_t, n);
    w->number = ARENA_ARRAY(&w->arena, uint32_t, n);
    w->result = ARENA_ARRAY(&w->arena, uint32_t, n);
    w->why = ARENA_ARRAY(&w->arena, const char *, n);
    w->cost = ARENA_ARRAY(&w->arena, uint8_t, n);
    w->fanin = ARENA_ARRAY(&w->arena, uint8_t, n);
    if (!w->head || !w->pins || !w->slot || !w->result || !w->number || !w->why || !w->cost || !w->fanin) return false;
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
        roots_add(w, i, uses);
    roots_guards(w, uses);
    if (!w->failed) place_all(w);
    return !w->failed && steps_order(w) && steps_make(w);
}

weft_status fuse_plan_make(const struct ir_graph *g, int n, const ir_ref *roots,
                           const struct fuse_opts *opts, const struct base_alloc *alloc,
                           struct base_err *err, struct fuse_plan **out) {
    static const struct fuse_opts defaults = {0};
    *out = NULL;
    struct fuse_work w = {.g = g,
                          .opts = opts ? opts : &defaults,
                          .alloc = alloc ? alloc : &base_malloc,
                          .nroot = n,
                          .roots = roots,
                          .count = ir_count(g)};
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
