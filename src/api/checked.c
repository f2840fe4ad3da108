// SPDX-License-Identifier: MIT
// Checked mode around an evaluation. In: roots of a watched graph; out: the same evaluation as ever, and before
// it one that looks for faults in the same expressions (ir/checks.c), in a graph of its own. Looking comes
// first, since outputs may overlap inputs; then nothing of the checks touches the outputs, so their bits
// are what they are without checks. What was found is told when the rest went well.
#include "api.h"

void checked_free(weft_ctx *ctx, struct checked *c) {
    if (!c) return;
    ir_checks_free(&c->checks);
    ir_graph_free(c->g);
    base_put(&ctx->env.alloc, c->outs, sizeof *c->outs * (size_t)c->nroot);
    base_put(&ctx->env.alloc, c, sizeof *c);
}

static weft_status fill(weft_ctx *ctx, const struct ir_graph *g, int n, const ir_ref *roots, struct checked *c) {
    ir_ref *image = base_get(&ctx->env.alloc, sizeof *image * (size_t)n);
    c->g = ir_graph_new(&ctx->env.alloc, 0);
    weft_status st = image && c->g ? WEFT_OK : WEFT_ENOMEM;
    if (!st) st = ir_replay_unguarded(g, n, roots, c->g, image);
    if (!st) st = ir_checks_make(c->g, n, image, &c->checks);
    base_put(&ctx->env.alloc, image, sizeof *image * (size_t)n);
    if (st) return st;
    c->nroot = 2 * c->checks.ngroup;
    c->outs = base_get(&ctx->env.alloc, sizeof *c->outs * (size_t)c->nroot);
    if (c->nroot && !c->outs) return WEFT_ENOMEM;
    for (int i = 0; i < c->nroot; i++)
        c->outs[i] = weft_dense(i % 2 ? WEFT_I64 : WEFT_I32, NULL, 0, NULL);
    return WEFT_OK;
}

weft_status checked_make(weft_ctx *ctx, const struct plan_request *q, struct base_err *err, struct checked **out) {
    struct checked *c = base_get_zero(&ctx->env.alloc, sizeof *c);
    *out = NULL;
    if (!c) return err_set(err, WEFT_ENOMEM, "no memory for checks");
    const weft_status st = fill(ctx, q->g, q->n, q->roots, c);
    if (!st) {
        *out = c;
        return WEFT_OK;
    }
    const struct base_err *e = c->g ? ir_error(c->g) : NULL;
    err_set(err, st, "checks: %s", e && e->text[0] ? e->text : "no memory");
    checked_free(ctx, c);
    return st;
}

struct plan_request checked_request(const struct checked *c, const struct plan_request *q) {
    return (struct plan_request){.g = c->g, .n = c->nroot, .roots = c->checks.root, .outs = c->outs,
                                 .in_strides = q->in_strides, .unfused = q->unfused};
}

bool checked_verdict(const struct checked *c, const int64_t *found, struct base_err *err) {
    for (int i = 0; i < c->checks.nsuspect; i++) { // in the order in which they are told
        const struct ir_suspect *s = &c->checks.suspect[i];
        int32_t code;
        memcpy(&code, &found[2 * s->group], sizeof code);
        if (code != s->code) continue;
        char text[400];
        ir_checks_text(c->g, s, found[2 * s->group + 1], text, sizeof text);
        err_set(err, WEFT_ECHECK, "%s", text);
        return true;
    }
    return false;
}

// Whether an evaluation of the checks that ended so says that the real one cannot be made either.
bool checked_ends(weft_status st) {
    return st == WEFT_ENOMEM || st == WEFT_ELIMIT || st == WEFT_ECANCELED || st == WEFT_ESYS || st == WEFT_EUNSUPPORTED;
}
