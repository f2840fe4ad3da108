// SPDX-License-Identifier: MIT
// Graph handles: a weft_expr is (graph, node), one per node, so that equal expressions are equal
// pointers. Also the small facts about types and arrays that need no graph.
#include "api.h"

static void clear(weft_graph *g) {
    err_clear(&g->run); // handles stay: the handle of a node is the same in every life of the graph
    vec_clear(&g->key);
    vec_clear(&g->leaves);
    vec_clear(&g->consts);
}

weft_graph *weft_graph_new(weft_ctx *ctx) {
    if (!ctx) return NULL;
    const struct base_alloc *a = &ctx->env.alloc;
    weft_graph *g = base_get_zero(a, sizeof *g);
    if (!g) return NULL;
    g->ctx = ctx;
    arena_init(&g->handles, a);
    vec_init(&g->by_ref, a);
    vec_init(&g->key, a);
    vec_init(&g->leaves, a);
    vec_init(&g->consts, a);
    vec_init(&g->owned, a);
    g->ir = ir_graph_new(a, ctx->graph_nodes);
    if (g->ir) return g;
    weft_graph_free(g);
    return NULL;
}

void weft_graph_reset(weft_graph *g) {
    if (!g) return;
    clear(g);
    ir_graph_reset(g->ir);
    graph_let_go(g);
}

void weft_graph_free(weft_graph *g) {
    if (!g) return;
    shortcut_free(g);
    ir_graph_free(g->ir);
    arena_free(&g->handles);
    vec_free(&g->by_ref);
    vec_free(&g->key);
    vec_free(&g->leaves);
    vec_free(&g->consts);
    graph_let_go(g);
    vec_free(&g->owned);
    base_put(&g->ctx->env.alloc, g, sizeof *g);
}

weft_status weft_graph_check(weft_graph *g, bool on) {
    return g && ir_watch(g->ir, on) ? WEFT_OK : WEFT_EINVAL;
}

const char *weft_graph_error(const weft_graph *g) {
    if (!g) return "no graph";
    const struct base_err *e = ir_error(g->ir);
    return e->status ? e->text : g->run.text;
}
weft_status weft_graph_status(const weft_graph *g) {
    if (!g) return WEFT_EINVAL;
    const struct base_err *e = ir_error(g->ir);
    return e->status ? e->status : g->run.status;
}

weft_expr *graph_fail(weft_graph *g, weft_status s, const char *what) {
    err_set(ir_error(g->ir), s, "%s", what);
    return NULL;
}

weft_expr *graph_wrap(weft_graph *g, ir_ref r) {
    if (r == IR_NONE) return NULL;
    size_t have = VEC_LEN(&g->by_ref, weft_expr *);
    if (r >= have && !vec_push(&g->by_ref, NULL, (r + 1 - have) * sizeof(weft_expr *)))
        return graph_fail(g, WEFT_ENOMEM, "no memory for an expression");
    weft_expr **slot = &VEC_AT(&g->by_ref, weft_expr *, r);
    if (*slot) return *slot;
    weft_expr *x = ARENA_NEW(&g->handles, weft_expr);
    if (!x) return graph_fail(g, WEFT_ENOMEM, "no memory for an expression");
    *x = (weft_expr){g, r};
    return *slot = x;
}

weft_dtype weft_expr_dtype(const weft_expr *x) {
    return x ? (weft_dtype)ir_at(x->g->ir, x->ref)->dtype : WEFT_F64;
}
int weft_expr_rank(const weft_expr *x) { return x ? ir_at(x->g->ir, x->ref)->rank : 0; }
const int64_t *weft_expr_dims(const weft_expr *x) { return x ? ir_dims(x->g->ir, x->ref) : NULL; }

// ---- facts -----------------------------------------------------------------------------------------------
const char *weft_status_text(weft_status s) {
    static const char *const text[WEFT_STATUS__N] = {
        [WEFT_OK] = "ok",
        [WEFT_ENOMEM] = "out of memory",
        [WEFT_EINVAL] = "invalid argument",
        [WEFT_ESHAPE] = "shape mismatch",
        [WEFT_EDTYPE] = "type mismatch",
        [WEFT_EALIAS] = "overlapping output",
        [WEFT_EINDEX] = "index out of range",
        [WEFT_ENAN] = "NaN met",
        [WEFT_ELIMIT] = "limit reached",
        [WEFT_EUNSUPPORTED] = "not supported here",
        [WEFT_ESYS] = "system error",
        [WEFT_ECANCELED] = "cancelled",
        [WEFT_ECHECK] = "a check failed",
    };
    return (unsigned)s < WEFT_STATUS__N ? text[s] : "unknown status";
}
const char *weft_dtype_name(weft_dtype t) { return dtype_name(t); }
size_t weft_dtype_size(weft_dtype t) { return dtype_size(t); }
weft_dtype weft_result_type(weft_dtype a, weft_dtype b) { return ir_promote(a, b); }
weft_dtype weft_result_type_n(int n, const weft_dtype *t) {
    return n > 0 && t ? ir_promote_n(n, t) : WEFT_DTYPE__N;
}
bool weft_can_cast(weft_dtype from, weft_dtype to, weft_casting casting) {
    return ir_can_cast(from, to, casting);
}
const char *weft_version(void) { return WEFT_VERSION; }

weft_array weft_dense(weft_dtype t, void *data, int rank, const int64_t *dims) {
    weft_array a = {.dtype = t, .rank = rank, .data = data};
    if (rank > 0 && !dims) a.rank = -1; // refused wherever it is used
    if (a.rank < 0 || a.rank > WEFT_MAX_RANK) return a;
    uint64_t stride = dtype_size(t); // wraps only for shapes that every check refuses
    for (int i = rank - 1; i >= 0; i--) {
        a.dims[i] = dims[i];
        a.strides[i] = (int64_t)stride;
        stride *= (uint64_t)(dims[i] > 0 ? dims[i] : 1);
    }
    return a;
}

weft_array weft_strided(weft_dtype t, void *data, int rank, const int64_t *dims,
                        const int64_t *strides) {
    weft_array a = {.dtype = t, .rank = rank, .data = data};
    if (rank > 0 && (!dims || !strides)) a.rank = -1;
    for (int i = 0; i < a.rank && i < WEFT_MAX_RANK; i++) {
        a.dims[i] = dims[i];
        a.strides[i] = strides[i];
    }
    return a;
}

int64_t weft_array_count(const weft_array *a) {
    if (!a || rt_array_check(a, "array", NULL)) return -1;
    int64_t n = 1;
    for (int i = 0; i < a->rank; i++)
        n *= a->dims[i];
    return n;
}
