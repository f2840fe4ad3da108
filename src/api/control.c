// SPDX-License-Identifier: MIT
// What stops an evaluation and what it may use, as the outside sees it: tokens, the context's word, the
// budget of workspaces. An evaluation remembers the count of cancels at its beginning; a later count than
// that means stop. So nothing is ever reset, and a cancel cannot hit what begins after it.
#include "api.h"

void watch_begin(struct api_watch *w, const struct api_watch_opts *o) {
    w->control = NULL;
    if (!o || (!o->token && !o->progress)) return;
    w->control = &w->own;
    w->own.token = o->token ? &o->token->cancelled : NULL;
    w->own.progress = o->progress;
    w->own.progress_ud = o->progress_ud;
    rt_control_begin(&w->own);
}

weft_status watch_run_again(weft_ctx *ctx, const struct rt_program *p, const struct rt_bind *b) {
    if (!ctx->env.workspace_limit || !ctx_trim(ctx)) return WEFT_ELIMIT;
    if (b->err) err_clear(b->err);
    return rt_program_run(p, &ctx->env, b);
}

void weft_token_cancel(weft_token *t) {
    if (t) __atomic_store_n(&t->cancelled, 1, __ATOMIC_RELAXED);
}
void weft_token_reset(weft_token *t) {
    if (t) __atomic_store_n(&t->cancelled, 0, __ATOMIC_RELAXED);
}
bool weft_token_cancelled(const weft_token *t) {
    return t && __atomic_load_n(&t->cancelled, __ATOMIC_RELAXED);
}
