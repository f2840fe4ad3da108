// SPDX-License-Identifier: MIT
// Memory that changes hands. A graph lets go of what it has been given after its expressions are
// gone, last in first out; an array that goes out carries what its deleter has to do. Each is done
// exactly once: entries leave the list before they are called, and a call may use the context but
// not the graph.
#include <stdio.h>

#include "exchange.h"

struct owned {
    weft_release_fn *release;
    void *ud;
};

weft_status weft_graph_own(weft_graph *g, weft_release_fn *release, void *ud) {
    if (!g || !release) return WEFT_EINVAL;
    if (vec_push(&g->owned, &(struct owned){release, ud}, sizeof(struct owned))) return WEFT_OK;
    g->owned.failed = false;
    return WEFT_ENOMEM;
}

void graph_let_go(weft_graph *g) {
    while (g->owned.size) {
        struct owned last = VEC_AT(&g->owned, struct owned, VEC_LEN(&g->owned, struct owned) - 1);
        g->owned.size -= sizeof last;
        last.release(last.ud);
    }
}

void let_go(const struct letting *l) {
    base_put(&l->ctx->env.alloc, l->data, l->bytes);
    if (l->release) l->release(l->ud);
}

weft_status letting_of(weft_ctx *ctx, const weft_array *a, const weft_share *share,
                       struct letting *out) {
    *out = (struct letting){.ctx = ctx};
    if (!share) return WEFT_OK;
    if (share->size != sizeof *share) return WEFT_EINVAL;
    out->release = share->release;
    out->ud = share->ud;
    if (share->free_array) {
        out->data = a->data;
        out->bytes = (size_t)weft_array_count(a) * dtype_size(a->dtype);
    }
    return WEFT_OK;
}

void text_out(char *err, size_t err_size, const char *text) {
    if (err && err_size) snprintf(err, err_size, "%s", text);
}

weft_status share_fail(const weft_share *share, const struct base_err *e) {
    if (share && share->size == sizeof *share)
        text_out(share->err, share->err_size, e->status ? e->text : "");
    return e->status;
}
