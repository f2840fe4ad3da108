// SPDX-License-Identifier: MIT
// Roots and outputs in, numbers out: checks what was asked for, finds or makes the plan by its key, binds
// addresses and constants, runs. All failure happens before the first number is written, NaN traps and
// memory for an unexpected overlap excepted.
#include <errno.h>
#include <stdio.h>

#include "api.h"

static weft_status check_memory(const weft_array *out, int i, struct base_err *err) {
    if (!out->data && weft_array_count(out)) return err_set(err, WEFT_EINVAL, "output %d: no data", i);
    if (rt_array_overlaps_itself(out))
        return err_set(err, WEFT_EALIAS, "output %d: the array overlaps itself", i);
    return WEFT_OK;
}

weft_status eval_check_out(const struct ir_graph *g, ir_ref r, const weft_array *out, int i,
                           struct base_err *err) {
    const struct ir_node *n = ir_at(g, r);
    char want[256], name[32];
    bool same = !rt_array_check(out, "", NULL) && out->dtype == n->dtype && out->rank == n->rank;
    for (int k = 0; same && k < n->rank; k++)
        same = out->dims[k] == ir_dims(g, r)[k];
    if (same) return check_memory(out, i, err);
    snprintf(name, sizeof name, "output %d", i); // the rest is for the sentence
    TRY(rt_array_check(out, name, err));
    ir_type_text(g, r, want, sizeof want);
    if (out->dtype != n->dtype)
        return err_set(err, WEFT_EDTYPE, "output %d: the result is %s, the array is %s", i, want,
                       dtype_name(out->dtype));
    if (out->rank != n->rank)
        return err_set(err, WEFT_ESHAPE, "output %d: the result is %s, the array has rank %d", i,
                       want, out->rank);
    for (int k = 0; k < n->rank; k++)
        if (out->dims[k] != ir_dims(g, r)[k])
            return err_set(err, WEFT_ESHAPE, "output %d: the result is %s, the array has %lld on axis %d",
                           i, want, (long long)out->dims[k], k);
    return WEFT_EINVAL; // not reached: something above differs
}

// Borrowed room for one run: pointers of leaves and outputs, then constants.
size_t eval_room_bytes(int nleaf, int nout, int nconst) {
    const size_t want = (size_t)nleaf + (size_t)nout + (size_t)nconst;
    return want > COUNT_OF(((weft_workspace *)0)->few) ? want * sizeof(uint64_t) : 0;
}

weft_status eval_room(weft_workspace *ws, int nleaf, int nout, int nconst, struct rt_bind *b) {
    const size_t want = (size_t)nleaf + (size_t)nout + (size_t)nconst;
    if (want > COUNT_OF(ws->few) && want > ws->nmany) {
        base_put(&ws->ctx->env.alloc, ws->many, ws->nmany * sizeof *ws->many);
        ws->nmany = 0;
        ws->many = base_get(&ws->ctx->env.alloc, want * sizeof *ws->many);
        if (!ws->many) return WEFT_ENOMEM;
        ws->nmany = want;
    }
    void **leaf = (void **)(void *)(want > COUNT_OF(ws->few) ? ws->many : ws->few);
    b->leaf = leaf;
    b->out = leaf + nleaf;
    b->constant = (const uint64_t *)(void *)(leaf + nleaf + nout);
    b->ws = ws->rt;
    return WEFT_OK;
}

weft_graph *eval_graph(int n, weft_expr *const *x) {
    for (int i = 0; i < n; i++)
        if (x[i]) return x[i]->g;
    return NULL;
}
weft_status eval_roots(const weft_graph *g, int n, weft_expr *const *x, ir_ref *roots) {
    for (int i = 0; i < n; i++) {
        if (!x[i] || x[i]->g != g) return WEFT_EINVAL;
        roots[i] = x[i]->ref;
    }
    return WEFT_OK;
}

// The key: the graph's canonical bytes, then the outputs' strides and the way of planning.
static weft_status make_key(weft_graph *g, const struct plan_request *q) {
    vec_clear(&g->key);
    vec_clear(&g->leaves);
    vec_clear(&g->consts);
    TRY(ir_key(q->g, q->n, q->roots, &g->key, &g->leaves, &g->consts));
    for (int i = 0; i < q->n; i++)
        vec_push(&g->key, q->outs[i].strides, sizeof(int64_t) * (size_t)q->outs[i].rank);
    vec_push(&g->key, &q->unfused, 1);
    return g->key.failed ? WEFT_ENOMEM : WEFT_OK;
}

// The plan of a request and, in its order, the leaves and constants of the graph.
struct found {
    struct plan_entry *entry;
    const ir_ref *leaf, *constant;
    int nleaf, nconst;
    bool held; // must be put back
};

static weft_status find_plan(weft_graph *g, const struct plan_request *q, struct found *f) {
    const struct shortcut *s = q->g == g->ir ? shortcut_find(g, q) : NULL;
    if (s) {
        const ir_ref *leaf = s->roots + s->n;
        *f = (struct found){s->entry, leaf, leaf + s->nleaf, s->nleaf, s->nconst, false};
        atomic_fetch_add_explicit(&g->ctx->plans.hits, 1, memory_order_relaxed);
        return WEFT_OK;
    }
    const weft_status st = make_key(g, q);
    if (st) return err_set(&g->run, st, "no memory for the key of a plan");
    TRY(plans_get(g->ctx, q, &g->key, &g->run, &f->entry));
    if (q->g == g->ir) shortcut_add(g, q, f->entry);
    f->leaf = (const ir_ref *)(void *)g->leaves.data;
    f->constant = (const ir_ref *)(void *)g->consts.data;
    f->nleaf = (int)VEC_LEN(&g->leaves, ir_ref);
    f->nconst = (int)VEC_LEN(&g->consts, ir_ref);
    f->held = true;
    return WEFT_OK;
}

static weft_status bind(weft_graph *g, const struct plan_request *q, weft_workspace *ws, const struct found *f,
                        struct rt_bind *b) {
    TRY(eval_room(ws, f->nleaf, q->n, f->nconst, b));
    void **leaf = (void **)(uintptr_t)b->leaf;
    uint64_t *constant = (uint64_t *)(uintptr_t)b->constant;
    for (int i = 0; i < f->nleaf; i++) {
        const ir_ref r = f->leaf[i];
        if (ir_at(q->g, r)->op == IR_input) {
            const char *name = ir_input_at(q->g, (int)ir_attr(q->g, r)[0])->name;
            return err_set(&g->run, WEFT_EINVAL, "input %s has no value: compile the graph and run it",
                           name);
        }
        leaf[i] = ir_leaf_at(q->g, (int)ir_attr(q->g, r)[0])->array.data;
    }
    for (int i = 0; i < q->n; i++)
        leaf[f->nleaf + i] = q->outs[i].data;
    for (int i = 0; i < f->nconst; i++)
        constant[i] = ir_constant_bits(q->g, f->constant[i]);
    return WEFT_OK;
}

// ---- WEFT_CHECK: the same plan once more in the interpreter, compared bit for bit ------------------------
static bool same_values(const weft_array *a, const void *dense) {
    int64_t index[WEFT_MAX_RANK] = {0}, n = weft_array_count(a);
    size_t size = dtype_size(a->dtype);
    for (int64_t i = 0; i < n; i++) {
        const char *p = a->data, *q = (const char *)dense + (size_t)i * size;
        for (int k = 0; k < a->rank; k++)
            p += index[k] * a->strides[k];
        if (memcmp(p, q, size)) {
            float f[2];
            double d[2];
            memcpy(f, p, sizeof *f * (size == 4)), memcpy(f + 1, q, sizeof *f * (size == 4));
            memcpy(d, p, sizeof *d * (size == 8)), memcpy(d + 1, q, sizeof *d * (size == 8));
            uint16_t h[2] = {0};
            memcpy(h, p, sizeof *h * (size == 2)), memcpy(h + 1, q, sizeof *h * (size == 2));
            uint16_t inf = a->dtype == WEFT_F16 ? 0x7c00 : 0x7f80;
            bool nans = (dtype_is_half(a->dtype) && (h[0] & 0x7fff) > inf && (h[1] & 0x7fff) > inf) ||
                        (a->dtype == WEFT_F32 && f[0] != f[0] && f[1] != f[1]) ||
                        (a->dtype == WEFT_F64 && d[0] != d[0] && d[1] != d[1]);
            if (!nans) return false;
        }
        for (int k = a->rank - 1; k >= 0 && ++index[k] == a->dims[k]; k--)
            index[k] = 0;
    }
    return true;
}

struct checker {
    struct rt_program *program;
    weft_array *dense;
};

static void check_free(weft_ctx *ctx, struct checker *c, int n) {
    for (int i = 0; c->dense && i < n; i++)
        weft_array_free(ctx, &c->dense[i]);
    base_put(&ctx->env.alloc, c->dense, sizeof *c->dense * (size_t)n);
    jit_program_free(ctx->check, c->program);
}

// Runs the interpreter into memory of its own before the real outputs are touched.
static bool check_before(weft_ctx *ctx, const struct plan_request *q, const struct rt_bind *bind_in,
                         struct checker *c) {
    struct rt_bind b = *bind_in;
    struct plan_request dense = *q;
    void *out[64];
    *c = (struct checker){0};
    if (!ctx->check || q->n > (int)COUNT_OF(out)) return false;
    dense.outs = NULL;
    c->dense = base_get_zero(&ctx->env.alloc, sizeof *c->dense * (size_t)q->n);
    if (!c->dense || plan_build(ctx, &dense, ctx->check, NULL, &c->program)) goto fail;
    for (int i = 0; i < q->n; i++) {
        c->dense[i] = weft_dense(q->outs[i].dtype, NULL, q->outs[i].rank, q->outs[i].dims);
        size_t bytes = (size_t)weft_array_count(&c->dense[i]) * dtype_size(c->dense[i].dtype);
        out[i] = c->dense[i].data = base_get(&ctx->env.alloc, bytes);
        if (!out[i]) goto fail;
    }
    b.out = out;
    b.err = NULL;
    b.unheard = true;
    b.control = NULL; // progress is the real run's
    if (rt_program_run(c->program, &ctx->env, &b)) goto fail;
    return true;
fail:
    check_free(ctx, c, q->n);
    return false;
}

static void check_after(weft_ctx *ctx, const struct plan_request *q, struct checker *c, bool ran) {
    for (int i = 0; ran && i < q->n; i++)
        if (!same_values(&q->outs[i], c->dense[i].data))
            ctx_log(ctx, WEFT_LOG_WARN, "check: output %d differs between machine code and interpreter", i);
    check_free(ctx, c, q->n);
}

// ---- the simple storey ------------------------------------------------------------------------------------
static weft_status run(weft_graph *g, const struct plan_request *q, weft_workspace *ws,
                       const struct rt_bind *how) {
    struct found f = {0};
    struct rt_bind b = *how;
    TRY(find_plan(g, q, &f));
    struct rt_program *p = plans_program(f.entry);
    weft_status st = bind(g, q, ws, &f, &b);
    if (!st) {
        struct checker c;
        bool checking = check_before(g->ctx, q, &b, &c);
        st = jit_program_prepare(g->ctx->jit, p, &b);
        if (!st) st = watch_run(g->ctx, p, &b);
        if (checking) check_after(g->ctx, q, &c, !st);
    }
    if (f.held) plans_put(g->ctx, f.entry);
    return st ? err_set(&g->run, st, "%s", weft_status_text(st)) : WEFT_OK;
}

// Checked mode: what is wrong goes to fault. Another status than WEFT_OK ends the evaluation.
static weft_status look_for_faults(weft_graph *g, const struct plan_request *q, const struct rt_bind *how,
                                   struct base_err *fault) {
    const struct base_alloc *a = &g->ctx->env.alloc;
    struct checked *c;
    TRY(checked_make(g->ctx, q, &g->run, &c));
    int64_t *found = base_get(a, sizeof *found * (size_t)c->nroot);
    weft_workspace *ws = ctx_borrow(g->ctx);
    weft_status st = (c->nroot && !found) || !ws ? err_set(&g->run, WEFT_ENOMEM, "no memory for checks") : WEFT_OK;
    struct rt_control control;
    struct rt_bind b = *how;
    if (b.control) { // the token counts, progress is the real run's
        control = *b.control;
        control.progress = NULL;
        b.control = &control;
    }
    for (int i = 0; i < c->nroot && !st; i++)
        c->outs[i].data = &found[i];
    const struct plan_request look = checked_request(c, q);
    if (!st && c->nroot) st = run(g, &look, ws, &b);
    if (!st) checked_verdict(c, found, fault);
    if (ws) ctx_return(g->ctx, ws);
    base_put(a, found, sizeof *found * (size_t)c->nroot);
    checked_free(g->ctx, c);
    if (checked_ends(st)) return st;
    err_clear(&g->run); // a call that fails for its values does so again
    return WEFT_OK;
}

// As for contexts: a shorter struct of an earlier header is the same without what it does not know.
static bool take_opts(weft_eval_opts *o, const weft_eval_opts *given) {
    *o = (weft_eval_opts){.size = sizeof *o};
    if (!given) return true;
    if (given->size < offsetof(weft_eval_opts, token) || given->size > sizeof *o) return false;
    memcpy(o, given, given->size);
    return true;
}

static weft_status eval_checked(weft_graph *g, const struct plan_request *q, const weft_eval_opts *given,
                                uint64_t begun) {
    weft_eval_opts o;
    if (!take_opts(&o, given))
        return err_set(&g->run, WEFT_EINVAL, "eval: size is not sizeof(weft_eval_opts)");
    for (int i = 0; i < q->n; i++)
        TRY(eval_check_out(g->ir, q->roots[i], &q->outs[i], i, &g->run));
    for (int i = 0; i < q->n; i++)
        for (int k = 0; k < i; k++)
            if (rt_arrays_overlap(&q->outs[i], &q->outs[k]))
                return err_set(&g->run, WEFT_EALIAS, "outputs %d and %d overlap", k, i);
    struct api_watch watch;
    watch_begin(&watch, &(struct api_watch_opts){o.token, o.progress, o.progress_ud});
    const struct rt_bind how = {.threads = o.threads, .err = &g->run, .begun = begun, .control = watch.control};
    struct base_err fault; // its text is not cleared: this is on the way of the smallest evaluation
    fault.status = WEFT_OK, fault.text[0] = 0;
    if (ir_is_watched(g->ir)) TRY(look_for_faults(g, q, &how, &fault));
    weft_workspace *ws = o.workspace ? o.workspace : ctx_borrow(g->ctx);
    if (!ws) return err_set(&g->run, WEFT_ENOMEM, "no memory for a workspace");
    struct pairs real;
    weft_status st = pairs_expand(g->ir, &g->ctx->env.alloc, q, &real);
    if (st) st = err_set(&g->run, st, "no memory for complex results");
    if (!st) st = run(g, &real.request, ws, &how);
    pairs_free(&g->ctx->env.alloc, &real);
    if (!o.workspace) ctx_return(g->ctx, ws);
    if (!fault.status || checked_ends(st)) return st;
    err_clear(&g->run);
    return err_set(&g->run, fault.status, "%s", fault.text);
}

weft_status weft_eval_n(int n, weft_expr *const *x, const weft_array *outs,
                        const weft_eval_opts *opts) {
    int saved = errno;
    ir_ref few[16], *roots = few;
    if (n < 1 || !x || !outs) return WEFT_EINVAL;
    weft_graph *g = eval_graph(n, x);
    if (!g) return WEFT_EINVAL;
    const uint64_t begun = watch_epoch(g->ctx);
    err_clear(&g->run);
    if (ir_error(g->ir)->status) return ir_error(g->ir)->status;
    if (n > (int)COUNT_OF(few)) roots = base_get(&g->ctx->env.alloc, sizeof *roots * (size_t)n);
    if (!roots) return err_set(&g->run, WEFT_ENOMEM, "no memory for %d roots", n);
    weft_status st = eval_roots(g, n, x, roots);
    if (st) {
        st = err_set(&g->run, st, "eval: a root is NULL or of another graph");
    } else {
        struct plan_request q = {.g = g->ir, .n = n, .roots = roots, .outs = outs,
                                 .unfused = opts && opts->unfused};
        st = eval_checked(g, &q, opts, begun);
    }
    if (roots != few) base_put(&g->ctx->env.alloc, roots, sizeof *roots * (size_t)n);
    errno = saved;
    return st;
}

weft_status weft_eval(weft_expr *x, const weft_array *out, const weft_eval_opts *opts) {
    return weft_eval_n(1, &x, out, opts);
}

// Keeps the first count elements along axis, in less memory.
static weft_status shrink(weft_ctx *ctx, weft_array *a, int axis, int64_t count) {
    const size_t size = dtype_size(a->dtype);
    const size_t old = (size_t)weft_array_count(a) * size;
    size_t outer = 1, inner = size;
    for (int i = 0; i < a->rank; i++)
        *(i < axis ? &outer : &inner) *= i == axis ? 1 : (size_t)a->dims[i];
    char *p = a->data;
    const size_t from = (size_t)a->dims[axis] * inner, to = (size_t)count * inner;
    for (size_t i = 1; i < outer; i++)
        memmove(p + i * to, p + i * from, to);
    a->dims[axis] = count;
    const size_t bytes = (size_t)weft_array_count(a) * size;
    void *less = base_resize(&ctx->env.alloc, p, MAX_OF(old, 1), MAX_OF(bytes, 1));
    if (!less) {
        base_put(&ctx->env.alloc, p, old);
        a->data = NULL;
        return WEFT_ENOMEM;
    }
    *a = weft_dense(a->dtype, less, a->rank, a->dims);
    return WEFT_OK;
}

// The result and its actual extent in one sweep.
static weft_status eval_trimmed(weft_expr *x, weft_array *out, const weft_eval_opts *opts) {
    int64_t count = 0;
    weft_expr *both[2] = {x, weft_count_of(x)};
    const weft_array outs[2] = {*out, weft_dense(WEFT_I64, &count, 0, NULL)};
    TRY(weft_eval_n(2, both, outs, opts));
    ir_ref trim = x->ref;
    if (ir_at(x->g->ir, trim)->op == IR_complex) trim = ir_at(x->g->ir, trim)->in[0];
    const int axis = (int)*ir_attr(x->g->ir, trim);
    if (count < 0 || count > out->dims[axis]) // of a loaded graph: the builders' counts are no larger
        return err_set(&x->g->run, WEFT_EINDEX, "trim: %lld of %lld elements", (long long)count, (long long)out->dims[axis]);
    weft_status st = shrink(x->g->ctx, out, axis, count);
    return st ? err_set(&x->g->run, st, "no memory for the result") : WEFT_OK;
}

weft_status weft_eval_new(weft_expr *x, weft_array *out, const weft_eval_opts *opts) {
    if (!x || !out) return WEFT_EINVAL;
    weft_ctx *ctx = x->g->ctx;
    const struct ir_node *n = ir_at(x->g->ir, x->ref);
    *out = weft_dense((weft_dtype)n->dtype, NULL, n->rank, ir_dims(x->g->ir, x->ref));
    size_t bytes = (size_t)ir_elements(x->g->ir, x->ref) * dtype_size(out->dtype);
    err_clear(&x->g->run);
    out->data = base_get(&ctx->env.alloc, bytes);
    if (!out->data) return err_set(&x->g->run, WEFT_ENOMEM, "no memory for a result of %zu bytes", bytes);
    weft_status st = weft_count_of(x) ? eval_trimmed(x, out, opts) : weft_eval(x, out, opts);
    if (st) weft_array_free(ctx, out);
    return st;
}

void weft_array_free(weft_ctx *ctx, weft_array *a) {
    if (!ctx || !a || !a->data) return;
    int64_t n = weft_array_count(a);
    if (n >= 0) base_put(&ctx->env.alloc, a->data, (size_t)n * dtype_size(a->dtype));
    a->data = NULL;
}
