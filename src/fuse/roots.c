// SPDX-License-Identifier: MIT
// Where a plan's results go. In: roots and guards; out: a sink for each, at the node that is to
// store it. A root that only rearranges a node (reshape, transpose, axes of extent 1) is stored by
// that node's own pass through the view backwards, so that it costs no pass of its own.
#include "work.h"

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
    if (!linear && v->op != IR_transpose && v->op != IR_expand_dims && v->op != IR_squeeze)
        return NULL;
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
static const struct fuse_map *step_below(struct fuse_work *w, const struct fuse_map *g,
                                         ir_ref view) {
    const struct fuse_map *h = invert_view(w, view);
    if (!h || !g) return h;
    if (!h->linear) return map_compose(w, g, h);
    const struct ir_node *v = ir_at(w->g, view);
    for (int i = 0; i < v->rank; i++) // a reshape of a reshape
        if (!g->linear || g->w[1 + i] != weights_below(ir_dims(w->g, view), v->rank, i))
            return NULL;
    struct fuse_map *m = map_new(w, g->rank, h->nf, true);
    if (m) memcpy(m->w, h->w, (size_t)(h->nf + 1) * sizeof *m->w);
    return m;
}

// An output that only rearranges a node is stored by that node's own pass.
void roots_add(struct fuse_work *w, int i, const uint32_t *uses) {
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

void roots_guards(struct fuse_work *w, const uint32_t *uses) {
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
