// SPDX-License-Identifier: MIT
// From a graph that is evaluated again, in this life or built anew after a reset, to the plan it
// used before. A warm loop asks for the same roots over nodes that mean the same (ir_overwritten),
// with outputs of the same strides; then the plan, the order of its leaves and of its constants are
// what they were, and neither a key nor the plan cache is needed. A graph remembers the few last
// ones. Each holds its plan, so the cache cannot drop it; what the cache's bound can be exceeded by
// is therefore a few plans for each graph that lives.
#include "api.h"

enum { SHORTCUTS = 4 };

static size_t stride_words(const struct plan_request *q) {
    size_t words = 0;
    for (int i = 0; i < q->n; i++)
        words += (size_t)q->outs[i].rank;
    return words;
}

static void forget(weft_graph *g, int i) {
    struct shortcut *s = &g->shortcut[i];
    plans_put(g->ctx, s->entry);
    base_put(&g->ctx->env.alloc, s->strides, s->bytes);
    g->nshortcut--;
    memmove(s, s + 1, (size_t)(g->nshortcut - i) * sizeof *s);
}

static void forget_overwritten(weft_graph *g) {
    const ir_ref r = ir_overwritten(g->ir);
    if (!r) return;
    for (int i = g->nshortcut - 1; i >= 0; i--)
        if (g->shortcut[i].top >= r) forget(g, i);
}

static bool fits(const struct shortcut *s, const struct plan_request *q) {
    if (s->n != q->n || s->unfused != q->unfused) return false;
    const int64_t *at = s->strides;
    for (int i = 0; i < q->n; i++) {
        const weft_array *a = &q->outs[i];
        if (s->roots[i] != q->roots[i]) return false;
        for (int k = 0; k < a->rank; k++) // its rank is the root's
            if (*at++ != a->strides[k]) return false;
    }
    return true;
}

struct shortcut *shortcut_find(weft_graph *g, const struct plan_request *q) {
    forget_overwritten(g);
    for (int i = 0; i < g->nshortcut; i++)
        if (fits(&g->shortcut[i], q)) return &g->shortcut[i];
    return NULL;
}

void shortcut_add(weft_graph *g, const struct plan_request *q, struct plan_entry *e) {
    const struct base_alloc *a = &g->ctx->env.alloc;
    const size_t nleaf = VEC_LEN(&g->leaves, ir_ref), nconst = VEC_LEN(&g->consts, ir_ref);
    const size_t words = stride_words(q), refs = (size_t)q->n + nleaf + nconst;
    struct shortcut s = {
        .entry = e, .n = q->n, .nleaf = (int)nleaf, .nconst = (int)nconst, .unfused = q->unfused};
    if (!g->shortcut) g->shortcut = base_get(a, SHORTCUTS * sizeof *g->shortcut);
    s.bytes = words * sizeof *s.strides + refs * sizeof *s.roots;
    char *block = g->shortcut ? base_get(a, s.bytes) : NULL;
    if (!block) return;
    s.strides = (int64_t *)(void *)block;
    s.roots = (ir_ref *)(void *)(block + words * sizeof *s.strides);
    memcpy(s.roots, q->roots, (size_t)q->n * sizeof *s.roots);
    if (nleaf) memcpy(s.roots + q->n, g->leaves.data, nleaf * sizeof *s.roots);
    if (nconst) memcpy(s.roots + (size_t)q->n + nleaf, g->consts.data, nconst * sizeof *s.roots);
    for (int i = 0, at = 0; i < q->n; i++) {
        s.top = MAX_OF(s.top, q->roots[i]);
        for (int k = 0; k < q->outs[i].rank; k++)
            s.strides[at++] = q->outs[i].strides[k];
    }
    if (g->nshortcut == SHORTCUTS) forget(g, SHORTCUTS - 1);
    memmove(g->shortcut + 1, g->shortcut, (size_t)g->nshortcut * sizeof s);
    g->shortcut[0] = s;
    g->nshortcut++;
    plans_hold(g->ctx, e);
}

void shortcut_free(weft_graph *g) {
    while (g->nshortcut)
        forget(g, g->nshortcut - 1);
    base_put(&g->ctx->env.alloc, g->shortcut, g->shortcut ? SHORTCUTS * sizeof *g->shortcut : 0);
    g->shortcut = NULL;
}
