// SPDX-License-Identifier: MIT
// Roots in, text out: what the graph, the plan and the code look like. Plans as weft_eval would into
// dense outputs; runs nothing.
#include <errno.h>

#include "look.h"

weft_status look_begin(int n, weft_expr *const *x, struct look *l) {
    *l = (struct look){0};
    if (n < 1 || !x) return WEFT_EINVAL;
    l->g = eval_graph(n, x);
    if (!l->g) return WEFT_EINVAL;
    const struct base_alloc *a = &l->g->ctx->env.alloc;
    vec_init(&l->text, a);
    err_clear(&l->g->run);
    if (ir_error(l->g->ir)->status) return ir_error(l->g->ir)->status;
    l->roots = base_get(a, sizeof *l->roots * (size_t)n);
    if (!l->roots) return err_set(&l->g->run, WEFT_ENOMEM, "no memory for %d roots", n);
    TRY(eval_roots(l->g, n, x, l->roots));
    struct plan_request q = {.g = l->g->ir, .n = n, .roots = l->roots};
    TRY(pairs_expand(l->g->ir, a, &q, &l->real));
    const size_t inputs = (size_t)ir_input_count(l->g->ir);
    l->arrays = base_get(a, (inputs + 1) * sizeof *l->arrays);
    l->strides = base_get(a, (inputs + 1) * sizeof *l->strides);
    if (!l->arrays || !l->strides) return WEFT_ENOMEM;
    for (size_t i = 0; i < inputs; i++) {
        l->arrays[i] = pairs_input(l->g->ir, (int)i).declared;
        l->strides[i] = l->arrays[i].strides;
    }
    struct fuse_opts fo = {.outs = l->real.request.outs, .in_strides = l->strides};
    return fuse_plan_make(l->g->ir, l->real.request.n, l->real.request.roots, &fo, a, &l->g->run, &l->plan);
}

weft_status look_end(int n, struct look *l, weft_status st, char **text) {
    if (!l->g) return st;
    const struct base_alloc *a = &l->g->ctx->env.alloc;
    fuse_plan_free(l->plan);
    const size_t inputs = (size_t)ir_input_count(l->g->ir);
    base_put(a, l->arrays, (inputs + 1) * sizeof *l->arrays);
    base_put(a, l->strides, (inputs + 1) * sizeof *l->strides);
    pairs_free(a, &l->real);
    base_put(a, l->roots, sizeof *l->roots * (size_t)n);
    if (!st && text && (l->text.failed || !l->text.data)) st = WEFT_ENOMEM;
    if (!st && text) {
        *text = base_get(a, l->text.size + 1);
        if (*text)
            memcpy(*text, l->text.data, l->text.size + 1);
        else
            st = WEFT_ENOMEM;
    }
    vec_free(&l->text);
    return st ? err_set(&l->g->run, st, "dump: %s", weft_status_text(st)) : WEFT_OK;
}

weft_status look_code(weft_ctx *ctx, const struct plan_request *q, const struct fuse_plan *plan, weft_dump_kind kind,
                      weft_isa isa, struct base_vec *out, struct base_err *err) {
    const struct base_alloc *a = &ctx->env.alloc;
    const size_t bytes = ir_count(q->g) * sizeof(uint32_t);
    uint32_t *number = base_get(a, bytes);
    if (!number) return err_set(err, WEFT_ENOMEM, "no memory for the dump");
    weft_status st = ir_numbers(q->g, q->n, q->roots, number);
    if (!st) st = jit_dump(ctx->jit, plan, number, kind, isa, out, err);
    base_put(a, number, bytes);
    return st;
}

weft_status weft_dump(int n, weft_expr *const *roots, weft_dump_kind kind, weft_isa isa, char **text) {
    struct look l;
    int saved = errno;
    if (!text || (unsigned)kind > WEFT_DUMP_ASM || (unsigned)isa > WEFT_ISA_NEON) return WEFT_EINVAL;
    *text = NULL;
    weft_status st = look_begin(n, roots, &l);
    if (!st) {
        vec_printf(&l.text, "%s", "");
        switch (kind) {
        case WEFT_DUMP_IR: ir_dump(l.g->ir, n, l.roots, &l.text); break;
        case WEFT_DUMP_DOT: ir_dot_dump(l.g->ir, n, l.roots, &l.text); break;
        case WEFT_DUMP_PLAN: fuse_plan_dump(l.g->ir, l.plan, &l.text); break;
        case WEFT_DUMP_LLVM:
        case WEFT_DUMP_ASM:
            st = look_code(l.g->ctx, &l.real.request, l.plan, kind, isa, &l.text, &l.g->run);
            break;
        }
    }
    st = look_end(n, &l, st, text);
    errno = saved;
    return st;
}

weft_status weft_explain(int n, weft_expr *const *roots, char **json) {
    struct look l;
    int saved = errno;
    if (!json) return WEFT_EINVAL;
    *json = NULL;
    weft_status st = look_begin(n, roots, &l);
    if (!st) fuse_plan_json(l.g->ir, l.plan, &l.text);
    st = look_end(n, &l, st, json);
    errno = saved;
    return st;
}

weft_status weft_set_profile(weft_ctx *ctx, weft_profile_fn *fn, void *ud) {
    if (!ctx) return WEFT_EINVAL;
    ctx->env.profile_ud = ud;
    atomic_store_explicit(&ctx->env.profile, fn, memory_order_release);
    return WEFT_OK;
}

weft_status weft_set_code_names(weft_ctx *ctx, unsigned names) {
    if (!ctx || names > (WEFT_NAMES_PERF_MAP | WEFT_NAMES_JITDUMP | WEFT_NAMES_GDB)) return WEFT_EINVAL;
    jit_set_names(ctx->jit, names);
    return WEFT_OK;
}

const char *weft_tier_text(weft_tier t) {
    static const char *const text[] = {"interpreter", "machine code", "kernel"};
    return (unsigned)t < COUNT_OF(text) ? text[t] : "?";
}

void weft_text_free(weft_ctx *ctx, char *text) {
    if (ctx && text) base_put(&ctx->env.alloc, text, strlen(text) + 1);
}

const weft_op_info *weft_op_at(int i) {
    static const weft_op_info table[] = {
#define LEAF(name, doc) {#name, 0, "leaf", doc},
#include "../ir/ops.def"
#define MAP(name, arity, rule, kernel, flt, integer, boolean, doc) {#name, arity, "elementwise", doc},
#include "../ir/ops.def"
#define PAIR(name, arity, doc) {#name, arity, "elementwise", doc},
#include "../ir/ops.def"
#define REDUCE(name, kind, doc) {#name, 1, "reduction", doc},
#include "../ir/ops.def"
#define VIEW(name, doc) {#name, 1, "view", doc},
#include "../ir/ops.def"
#define CONTRACT(name, doc) {#name, 2, "contraction", doc},
#include "../ir/ops.def"
#define KIND_GATHER "gather"
#define KIND_JOIN "join"
#define KIND_RESULT "result"
#define KIND_CALL "call"
#define WHOLE(name, arity, cls, doc) {#name, arity, KIND_##cls, doc},
#include "../ir/ops.def"
    };
    return i < 0 || (size_t)i >= COUNT_OF(table) ? NULL : &table[i];
}
