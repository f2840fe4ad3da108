// SPDX-License-Identifier: MIT
// Compile once, run many: a program keeps the canonical graph and, for each set of extents and strides
// it has met, the steps planned for it. The planned shapes are looked at first, without a lock; others
// live in a short list under a mutex, least recently used dropped. Code is shared between them all.
#include <errno.h>
#include <stdio.h>

#include "api.h"

enum { OTHERS_MAX = 64 };

// One set of shapes and strides: inputs, then outputs.
struct variant {
    struct variant *next;
    struct rt_program *rt;
    struct ir_graph *g;       // NULL: the program's own (its shapes fit)
    int *leaf_input;          // per leaf: number of the caller's input, or -1
    size_t *leaf_offset;      // where it begins in that
    int nreal;                // results as the plan has them: complex ones are two
    int *real_out;            // of each: the caller's output, and where it begins in that
    size_t *real_offset;
    void **leaf_data;         // per leaf: address given with weft_from
    uint64_t *constant;
    weft_array *arrays;       // nin + nout descriptions to compare with
    struct base_arena arena;
    int users;
    // Checked mode: what looks for faults, as a variant of its own whose outputs are the checks' roots.
    struct checked *checked;
    struct variant *look;
};
struct weft_program {
    weft_ctx *ctx;
    struct ir_graph *g;
    int nin, nout;
    ir_ref *roots;
    weft_array *inputs;       // as declared
    struct base_arena arena;
    struct variant *first;    // planned by weft_compile; never freed before the program
    pthread_mutex_t lock;
    struct variant *others;
};

// ---- variants -----------------------------------------------------------------------------------------
static void free_variant(weft_program *p, struct variant *v) {
    if (!v) return;
    free_variant(p, v->look);
    checked_free(p->ctx, v->checked);
    jit_program_free(p->ctx->jit, v->rt);
    ir_graph_free(v->g);
    arena_free(&v->arena);
    base_put(&p->ctx->env.alloc, v, sizeof *v);
}

static bool same_form(const weft_array *a, const weft_array *b) {
    if (a->rank != b->rank || a->dtype != b->dtype) return false;
    int64_t differ = 0; // a loop: ranks are small, and a call of memcmp is a hundredth of the smallest run
    for (int d = 0; d < a->rank; d++)
        differ |= (a->dims[d] ^ b->dims[d]) | (a->strides[d] ^ b->strides[d]);
    return !differ;
}

static bool fits(const weft_program *p, const struct variant *v, const weft_array *in,
                 const weft_array *out) {
    for (int i = 0; i < p->nin; i++)
        if (!same_form(&v->arrays[i], &in[i])) return false;
    for (int i = 0; i < p->nout; i++)
        if (!same_form(&v->arrays[p->nin + i], &out[i])) return false;
    return true;
}

static weft_status note_leaves(struct variant *v, const struct ir_graph *g, const ir_ref *roots, int n) {
    struct base_vec key, leaves, consts;
    vec_init(&key, &v->arena.alloc), vec_init(&leaves, &v->arena.alloc);
    vec_init(&consts, &v->arena.alloc);
    weft_status st = ir_key(g, n, roots, &key, &leaves, &consts);
    size_t nleaf = VEC_LEN(&leaves, ir_ref), nconst = VEC_LEN(&consts, ir_ref);
    v->leaf_input = ARENA_ARRAY(&v->arena, int, nleaf + 1);
    v->leaf_offset = ARENA_ARRAY(&v->arena, size_t, nleaf + 1);
    v->leaf_data = ARENA_ARRAY(&v->arena, void *, nleaf + 1);
    v->constant = ARENA_ARRAY(&v->arena, uint64_t, nconst + 1);
    if (!v->leaf_input || !v->leaf_offset || !v->leaf_data || !v->constant) st = WEFT_ENOMEM;
    for (size_t i = 0; !st && i < nleaf; i++) {
        ir_ref r = VEC_AT(&leaves, ir_ref, i);
        int k = (int)ir_attr(g, r)[0];
        bool input = ir_at(g, r)->op == IR_input;
        v->leaf_input[i] = input ? pairs_input(g, k).number : -1;
        v->leaf_offset[i] = input ? pairs_input(g, k).offset : 0;
        v->leaf_data[i] = input ? NULL : ir_leaf_at(g, k)->array.data;
    }
    for (size_t i = 0; !st && i < nconst; i++)
        v->constant[i] = ir_constant_bits(g, VEC_AT(&consts, ir_ref, i));
    vec_free(&key), vec_free(&leaves), vec_free(&consts);
    return st;
}

static weft_status infer_again(weft_program *p, struct variant *v, const weft_array *in,
                               struct base_err *err, ir_ref *roots) {
    const int n = ir_input_count(p->g);
    const int64_t **dims = ARENA_ARRAY(&v->arena, const int64_t *, n + 1);
    if (!dims) return WEFT_ENOMEM;
    for (int i = 0; i < n; i++)
        dims[i] = in[pairs_input(p->g, i).number].dims;
    v->g = ir_graph_new(&p->ctx->env.alloc, 0);
    if (!v->g) return WEFT_ENOMEM;
    weft_status st = ir_replay(p->g, p->nout, p->roots, dims, v->g, roots);
    return st ? err_set(err, st, "%s", ir_error(v->g)->text) : WEFT_OK;
}

// Which of the caller's outputs each result of the plan is in.
static weft_status note_outs(struct variant *v, const struct plan_request *q, const struct ir_graph *g, int m) {
    v->nreal = m;
    v->real_out = ARENA_ARRAY(&v->arena, int, m + 1);
    v->real_offset = ARENA_ARRAY(&v->arena, size_t, m + 1);
    if (!v->real_out || !v->real_offset) return WEFT_ENOMEM;
    for (int i = 0, k = 0; i < q->n; i++) {
        weft_dtype t = (weft_dtype)ir_at(g, q->roots[i])->dtype;
        v->real_out[k++] = i;
        if (!dtype_is_complex(t)) continue;
        v->real_out[k] = i;
        v->real_offset[k++] = dtype_size(dtype_real_of(t));
    }
    return WEFT_OK;
}

static weft_status plan_variant(weft_program *p, struct variant *v, const struct plan_request *q,
                                struct base_err *err);

// Checked mode: the variant that is run before v. Its graph is the checks' own.
static weft_status plan_look(weft_program *p, struct variant *v, const struct plan_request *q,
                             struct base_err *err) {
    if (!ir_is_watched(p->g)) return WEFT_OK;
    TRY(checked_make(p->ctx, q, err, &v->checked));
    if (!v->checked->nroot) return WEFT_OK;
    v->look = base_get_zero(&p->ctx->env.alloc, sizeof *v->look);
    if (!v->look) return err_set(err, WEFT_ENOMEM, "no memory for a plan");
    arena_init(&v->look->arena, &p->ctx->env.alloc);
    struct plan_request look = checked_request(v->checked, q);
    return plan_variant(p, v->look, &look, err);
}

static weft_status plan_variant(weft_program *p, struct variant *v, const struct plan_request *q,
                                struct base_err *err) {
    struct pairs real;
    struct ir_graph *g = (struct ir_graph *)(uintptr_t)q->g; // the program's or the variant's own
    TRY(pairs_expand(g, &v->arena.alloc, q, &real));
    weft_status st = note_outs(v, q, g, real.request.n);
    if (!st) st = plan_build(p->ctx, &real.request, p->ctx->jit, err, &v->rt);
    if (!st) st = note_leaves(v, g, real.request.roots, real.request.n);
    pairs_free(&v->arena.alloc, &real);
    return st;
}

static weft_status fill_variant(weft_program *p, struct variant *v, const weft_array *in,
                                const weft_array *out, struct base_err *err) {
    const int ninput = ir_input_count(p->g);
    ir_ref *roots = arena_copy(&v->arena, p->roots, sizeof *roots * (size_t)p->nout);
    const int64_t **strides = ARENA_ARRAY(&v->arena, const int64_t *, ninput + 1);
    v->arrays = ARENA_ARRAY(&v->arena, weft_array, p->nin + p->nout);
    if (!roots || !strides || !v->arrays) return WEFT_ENOMEM;
    bool same_dims = true;
    for (int i = 0; i < p->nin; i++) {
        size_t bytes = sizeof(int64_t) * (size_t)in[i].rank;
        same_dims &= !memcmp(in[i].dims, p->inputs[i].dims, bytes);
        v->arrays[i] = in[i];
    }
    for (int i = 0; i < ninput; i++)
        strides[i] = v->arrays[pairs_input(p->g, i).number].strides;
    if (!same_dims) TRY(infer_again(p, v, in, err, roots));
    const struct ir_graph *g = v->g ? v->g : p->g;
    for (int i = 0; i < p->nout; i++) {
        v->arrays[p->nin + i] = out ? out[i] : pairs_dense(g, roots[i]);
        if (out) TRY(eval_check_out(g, roots[i], &out[i], i, err));
    }
    struct plan_request q = {.g = g, .n = p->nout, .roots = roots, .outs = v->arrays + p->nin,
                             .in_strides = strides};
    TRY(plan_look(p, v, &q, err));
    return plan_variant(p, v, &q, err);
}

static weft_status make_variant(weft_program *p, const weft_array *in, const weft_array *out,
                                struct base_err *err, struct variant **made) {
    struct variant *v = base_get_zero(&p->ctx->env.alloc, sizeof *v);
    if (!v) return err_set(err, WEFT_ENOMEM, "no memory for a plan");
    arena_init(&v->arena, &p->ctx->env.alloc);
    weft_status st = fill_variant(p, v, in, out, err);
    if (!st) {
        *made = v;
        return WEFT_OK;
    }
    free_variant(p, v);
    return err_set(err, st, "no memory for a plan");
}

// ---- compile -------------------------------------------------------------------------------------------
static weft_status fill_program(weft_program *p, int n, const ir_ref *roots, const struct ir_graph *src,
                                const struct rt_bind *how) {
    struct base_err *err = how->err;
    p->g = ir_graph_new(&p->ctx->env.alloc, 0); // what the budget allowed in src fits here
    p->roots = ARENA_ARRAY(&p->arena, ir_ref, n);
    p->nin = pairs_inputs(src);
    p->nout = n;
    p->inputs = ARENA_ARRAY(&p->arena, weft_array, p->nin + 1);
    if (!p->g || !p->roots || !p->inputs) return err_set(err, WEFT_ENOMEM, "no memory for a program");
    for (int i = 0; i < ir_input_count(src); i++) {
        struct pair_input in = pairs_input(src, i);
        p->inputs[in.number] = in.declared;
    }
    weft_status st = ir_replay(src, n, roots, NULL, p->g, p->roots);
    if (st) return err_set(err, st, "%s", ir_error(p->g)->text);
    TRY(make_variant(p, p->inputs, NULL, err, &p->first));
    weft_status cut = jit_program_compile(p->ctx->jit, p->first->rt, how);
    if (!cut && p->first->look) cut = jit_program_compile(p->ctx->jit, p->first->look->rt, how);
    return cut ? err_set(err, cut, "compile: cancelled") : WEFT_OK;
}

weft_status weft_compile(int n, weft_expr *const *roots, weft_program **out) {
    int saved = errno;
    if (!out) return WEFT_EINVAL;
    *out = NULL;
    if (n < 1 || !roots) return WEFT_EINVAL;
    weft_graph *g = eval_graph(n, roots);
    if (!g) return WEFT_EINVAL;
    const struct rt_bind how = {.err = &g->run, .begun = watch_epoch(g->ctx)};
    err_clear(&g->run);
    if (ir_error(g->ir)->status) return ir_error(g->ir)->status;
    ir_ref *refs = base_get(&g->ctx->env.alloc, sizeof *refs * (size_t)n);
    weft_program *p = base_get_zero(&g->ctx->env.alloc, sizeof *p);
    weft_status st = WEFT_ENOMEM;
    if (refs && p) {
        p->ctx = g->ctx;
        arena_init(&p->arena, &g->ctx->env.alloc);
        pthread_mutex_init(&p->lock, NULL);
        st = eval_roots(g, n, roots, refs);
        if (!st) st = fill_program(p, n, refs, g->ir, &how);
        if (st) weft_program_free(p);
    } else {
        base_put(&g->ctx->env.alloc, p, sizeof *p);
    }
    base_put(&g->ctx->env.alloc, refs, sizeof *refs * (size_t)n);
    if (!st) *out = p;
    errno = saved;
    return st ? err_set(&g->run, st, "compile: %s", weft_status_text(st)) : WEFT_OK;
}

weft_status weft_prewarm(int n, weft_expr *const *roots) {
    int saved = errno;
    weft_program *p = NULL;
    weft_status st = weft_compile(n, roots, &p);
    if (!st) {
        weft_graph *g = roots[0]->g;
        st = jit_program_keep(p->ctx->jit, p->first->rt, &g->run);
        weft_program_free(p);
    }
    errno = saved;
    return st;
}

void weft_program_free(weft_program *p) {
    if (!p) return;
    free_variant(p, p->first);
    for (struct variant *v = p->others, *next; v; v = next) {
        next = v->next;
        free_variant(p, v);
    }
    ir_graph_free(p->g);
    arena_free(&p->arena);
    pthread_mutex_destroy(&p->lock);
    base_put(&p->ctx->env.alloc, p, sizeof *p);
}

int weft_program_inputs(const weft_program *p) { return p ? p->nin : 0; }
int weft_program_outputs(const weft_program *p) { return p ? p->nout : 0; }
size_t weft_program_workspace_size(const weft_program *p) {
    if (!p) return 0;
    const struct variant *v = p->first;
    return rt_workspace_cost((size_t)rt_program_bytes(v->rt, &p->ctx->env)) +
           eval_room_bytes(v->rt->nleaf, v->nreal, 0);
}

// ---- run ------------------------------------------------------------------------------------------------
static const char *input_name(const weft_program *p, int i) {
    for (int k = 0; k < ir_input_count(p->g); k++)
        if (pairs_input(p->g, k).number == i) return ir_input_at(p->g, k)->name;
    return "";
}

static weft_status check_inputs(const weft_program *p, const weft_array *in, struct base_err *err) {
    for (int i = 0; i < p->nin; i++) {
        const weft_array *want = &p->inputs[i];
        const char *name = input_name(p, i);
        char what[64];
        snprintf(what, sizeof what, "input %d (%s)", i, name);
        TRY(rt_array_check(&in[i], what, err));
        if (in[i].dtype != want->dtype)
            return err_set(err, WEFT_EDTYPE, "%s: declared %s, given %s", what,
                           dtype_name(want->dtype), dtype_name(in[i].dtype));
        if (in[i].rank != want->rank)
            return err_set(err, WEFT_ESHAPE, "%s: declared rank %d, given rank %d", what, want->rank,
                           in[i].rank);
        if (!in[i].data && weft_array_count(&in[i]))
            return err_set(err, WEFT_EINVAL, "%s: no data", what);
    }
    return WEFT_OK;
}

// Other shapes than the planned ones: found or made under the lock, held by a user count while it runs.
static weft_status other_variant(weft_program *p, const weft_array *in, const weft_array *out,
                                 struct base_err *err, struct variant **found) {
    pthread_mutex_lock(&p->lock);
    struct variant **at = &p->others, *v;
    while ((v = *at) && !fits(p, v, in, out))
        at = &v->next;
    weft_status st = WEFT_OK;
    if (v)
        *at = v->next; // to the front
    else
        st = make_variant(p, in, out, err, &v);
    if (!st) {
        v->next = p->others;
        p->others = v;
        v->users++;
        *found = v;
    }
    struct variant **last = &p->others;
    for (int i = 0; *last && i < OTHERS_MAX; i++)
        last = &(*last)->next;
    while ((v = *last)) {
        if (v->users) {
            last = &v->next;
            continue;
        }
        *last = v->next;
        free_variant(p, v);
    }
    pthread_mutex_unlock(&p->lock);
    return st;
}

static void *moved(void *data, size_t offset) { return data ? (char *)data + offset : NULL; }

// One call of weft_run: the workspace, and what of rt_bind is known already.
struct call {
    weft_workspace *ws;
    struct rt_bind bind;
};

static weft_status run_plan(const weft_program *p, struct variant *v, struct call *c,
                            const weft_array *in, const weft_array *out) {
    struct rt_bind *b = &c->bind;
    TRY(eval_room(c->ws, v->rt->nleaf, v->nreal, 0, b));
    void **leaf = (void **)(uintptr_t)b->leaf;
    for (int i = 0; i < v->rt->nleaf; i++)
        leaf[i] = v->leaf_input[i] >= 0 ? moved(in[v->leaf_input[i]].data, v->leaf_offset[i]) : v->leaf_data[i];
    for (int i = 0; i < v->nreal; i++)
        leaf[v->rt->nleaf + i] = moved(out[v->real_out[i]].data, v->real_offset[i]);
    b->constant = v->constant;
    TRY(jit_program_prepare(p->ctx->jit, v->rt, b));
    return watch_run(p->ctx, v->rt, b);
}

// Looks for faults first; they are told when the run itself went well.
static weft_status run_checked_mode(const weft_program *p, struct variant *v, struct call *c,
                                    const weft_array *in, const weft_array *out) {
    const struct base_alloc *a = &p->ctx->env.alloc;
    const size_t n = (size_t)v->checked->nroot;
    int64_t *found = base_get(a, sizeof *found * n);
    weft_array *to = base_get(a, sizeof *to * n);
    struct base_err fault = {WEFT_OK, ""};
    struct rt_control control;
    struct call look = *c;
    if (look.bind.control) { // the token counts, progress is the real run's
        control = *look.bind.control;
        control.progress = NULL;
        look.bind.control = &control;
    }
    weft_status st = found && to ? WEFT_OK : err_set(c->bind.err, WEFT_ENOMEM, "no memory for checks");
    for (size_t i = 0; i < n && !st; i++) {
        to[i] = v->checked->outs[i];
        to[i].data = &found[i];
    }
    if (!st) st = run_plan(p, v->look, &look, in, to);
    if (!st) checked_verdict(v->checked, found, &fault);
    base_put(a, found, sizeof *found * n);
    base_put(a, to, sizeof *to * n);
    if (checked_ends(st)) return st;
    err_clear(c->bind.err);
    st = run_plan(p, v, c, in, out);
    if (!fault.status || checked_ends(st)) return st;
    err_clear(c->bind.err);
    return err_set(c->bind.err, fault.status, "%s", fault.text);
}

static weft_status run_variant(const weft_program *p, struct variant *v, struct call *c,
                               const weft_array *in, const weft_array *out) {
    return v->look ? run_checked_mode(p, v, c, in, out) : run_plan(p, v, c, in, out);
}

static weft_status run_checked(weft_program *p, struct call *c, const weft_array *in,
                               const weft_array *out) {
    struct base_err *err = c->bind.err;
    if (fits(p, p->first, in, out)) {
        for (int i = 0; i < p->nin; i++)
            if (!in[i].data && weft_array_count(&in[i])) return check_inputs(p, in, err);
        for (int i = 0; i < p->nout; i++)
            if (!out[i].data && weft_array_count(&out[i]))
                return err_set(err, WEFT_EINVAL, "output %d: no data", i);
        return run_variant(p, p->first, c, in, out);
    }
    TRY(check_inputs(p, in, err));
    for (int i = 0; i < p->nout; i++) {
        char what[32];
        snprintf(what, sizeof what, "output %d", i);
        TRY(rt_array_check(&out[i], what, err));
        if (!out[i].data && weft_array_count(&out[i])) return err_set(err, WEFT_EINVAL, "%s: no data", what);
    }
    struct variant *v = NULL;
    TRY(other_variant(p, in, out, err, &v));
    weft_status st = run_variant(p, v, c, in, out);
    pthread_mutex_lock(&p->lock);
    v->users--;
    pthread_mutex_unlock(&p->lock);
    return st;
}

// Inlined twice: a frame of its own is a hundredth of the smallest run.
static inline __attribute__((always_inline)) weft_status run_call(const weft_program *cp, struct call *c, const weft_array *inputs,
                            const weft_array *outs) {
    weft_program *p = (weft_program *)(uintptr_t)cp; // its list of variants is guarded by its lock
    weft_workspace *ws = c->ws;
    if (!p || !outs || (!inputs && p->nin)) return WEFT_EINVAL;
    if (!ws) c->ws = ctx_borrow(p->ctx);
    const weft_status st = c->ws ? run_checked(p, c, inputs, outs) : WEFT_ENOMEM;
    if (c->ws && !ws) ctx_return(p->ctx, c->ws);
    return st;
}

static void tell(weft_status st, const struct base_err *e, char *err, size_t err_size) {
    if (!err || !err_size) return;
    if (st)
        snprintf(err, err_size, "%s", e->text[0] ? e->text : weft_status_text(st));
    else
        *err = 0;
}

weft_status weft_run(const weft_program *p, weft_workspace *ws, const weft_array *inputs,
                     const weft_array *outs, char *err, size_t err_size) {
    const int saved = errno;
    struct base_err e;
    e.status = WEFT_OK, e.text[0] = 0;
    struct call c = {ws, {.err = &e, .begun = p ? watch_epoch(p->ctx) : 0}};
    const weft_status st = run_call(p, &c, inputs, outs);
    tell(st, &e, err, err_size);
    errno = saved;
    return st;
}

weft_status weft_run_with(const weft_program *p, const weft_array *inputs, const weft_array *outs,
                          const weft_run_opts *opts) {
    if (!opts) return weft_run(p, NULL, inputs, outs, NULL, 0);
    if (opts->size != sizeof *opts) return WEFT_EINVAL;
    const int saved = errno;
    struct base_err e;
    e.status = WEFT_OK, e.text[0] = 0;
    struct call c = {opts->workspace, {.err = &e, .begun = p ? watch_epoch(p->ctx) : 0}};
    struct api_watch watch;
    watch_begin(&watch, &(struct api_watch_opts){opts->token, opts->progress, opts->progress_ud});
    c.bind.threads = opts->threads;
    c.bind.control = watch.control;
    const weft_status st = run_call(p, &c, inputs, outs);
    tell(st, &e, opts->err, opts->err_size);
    errno = saved;
    return st;
}
