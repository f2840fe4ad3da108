// SPDX-License-Identifier: MIT
// Budgets of a context, each a status with both figures; and sizes that hostile callers give: extents near
// 2^31, 2^62 and 2^63 over repeated data of no memory, in every builder that computes a size. Nothing here may
// crash, wrap or allocate what it was asked for; a refusal is a status with a sentence.
#include <math.h>
#include <sys/resource.h>

#include "cases.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
TestSuite(limits, .timeout = 120);

static weft_ctx *budget(weft_ctx_opts o) {
    weft_ctx *ctx = NULL;
    o.size = sizeof o;
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    return ctx;
}

// ---- budgets --------------------------------------------------------------------------------------------
static weft_expr *needs_workspace(weft_graph *g, double *x, int64_t n) { // a temporary of n numbers
    weft_array a = weft_dense(WEFT_F64, x, 1, &n);
    weft_expr *e = weft_from(g, &a);
    return weft_sum(weft_cumsum(weft_sin(e), 0), NULL);
}
Test(limits, workspace) {
    enum { N = 100000 };
    static double x[N];
    double out;
    weft_array to = weft_dense(WEFT_F64, &out, 0, NULL);
    weft_ctx *ctx = budget((weft_ctx_opts){.threads = 1, .workspace_bytes = 2000000, .ignore_env = true});
    weft_graph *g = weft_graph_new(ctx);
    cr_expect_eq(weft_eval(needs_workspace(g, x, N / 10), &to, NULL), WEFT_OK);
    cr_expect_eq(weft_eval(needs_workspace(g, x, N), &to, NULL), WEFT_OK, "%s", weft_graph_error(g)); // about 1.6 MB
    // a workspace of the caller's holds most of the budget: the recycled ones are given up, then it is refused
    weft_workspace *ws = NULL;
    cr_assert_eq(weft_workspace_new(ctx, &ws), WEFT_OK);
    cr_expect_eq(weft_workspace_reserve(ws, 1900000), WEFT_OK);
    cr_expect_eq(weft_workspace_reserve(ws, 2100000), WEFT_ELIMIT);
    cr_expect_eq(weft_workspace_reserve(ws, 1900000), WEFT_OK);
    cr_expect_eq(weft_eval(needs_workspace(g, x, N), &to, NULL), WEFT_ELIMIT);
    long long wanted = 0, limit = 0;
    cr_expect_eq(sscanf(weft_graph_error(g), "a workspace of %lld bytes is needed, the context's limit for all is %lld", &wanted, &limit), 2);
    cr_expect_eq(limit, 2000000);
    cr_expect(wanted > 1500000 && wanted < 2000000, "%lld", wanted);
    weft_workspace_free(ws);
    cr_expect_eq(weft_eval(needs_workspace(g, x, N), &to, NULL), WEFT_OK);
    weft_expr *root = needs_workspace(g, x, N);
    weft_program *p = NULL;
    cr_assert_eq(weft_compile(1, &root, &p), WEFT_OK);
    char err[200];
    cr_expect_eq(weft_run(p, NULL, NULL, &to, err, sizeof err), WEFT_OK, "%s", err);
    weft_program_free(p);
    weft_graph_free(g);
    weft_ctx_free(ctx);
}

Test(limits, nodes) {
    weft_ctx *ctx = budget((weft_ctx_opts){.threads = 1, .graph_nodes = 50, .ignore_env = true});
    weft_graph *g = weft_graph_new(ctx);
    double x = 0.5, y;
    weft_array a = weft_dense(WEFT_F64, &x, 0, NULL), to = weft_dense(WEFT_F64, &y, 0, NULL);
    for (int life = 0; life < 3; life++) {
        weft_expr *e = weft_from(g, &a);
        for (int i = 1; i < 50; i++)
            cr_assert(e = weft_sin(e), "node %d: %s", i, weft_graph_error(g));
        cr_expect_eq(weft_eval(e, &to, NULL), WEFT_OK);
        cr_expect_null(weft_sin(e));
        cr_expect_eq(weft_graph_status(g), WEFT_ELIMIT);
        cr_expect_str_eq(weft_graph_error(g), "sin: the graph has 50 nodes, its limit is 50");
        cr_expect_eq(weft_eval(e, &to, NULL), WEFT_ELIMIT);
        weft_graph_reset(g);
    }
    weft_graph_free(g);
    weft_ctx_free(ctx);
}

struct lines {
    int count;
    char last[300];
};
static void take_line(void *ud, weft_log_level level, const char *line) {
    struct lines *l = ud;
    if (level != WEFT_LOG_WARN) return;
    l->count++;
    snprintf(l->last, sizeof l->last, "%s", line);
}
// Once a millisecond is spent nothing more is compiled, whatever the backend; the bits stay.
Test(limits, compile_time) {
    struct lines said = {0};
    weft_ctx *ctx = budget((weft_ctx_opts){.backend = WEFT_BACKEND_JIT, .threads = 1, .compile_ms = 1, .log = take_line,
                                           .log_ud = &said, .ignore_env = true});
    weft_ctx *plain = budget((weft_ctx_opts){.backend = WEFT_BACKEND_INTERP, .threads = 1, .ignore_env = true});
    double x[9], y[2][9];
    const int64_t n = 9;
    for (int i = 0; i < 9; i++)
        x[i] = 0.1 * i;
    for (int k = 0; k < 6; k++) {
        for (int c = 0; c < 2; c++) {
            weft_graph *g = weft_graph_new(c ? plain : ctx);
            weft_array a = weft_dense(WEFT_F64, x, 1, &n), to = weft_dense(WEFT_F64, y[c], 1, &n);
            weft_expr *e = weft_from(g, &a), *f = e;
            for (int i = 0; i <= k; i++)
                f = weft_mul(weft_add(f, e), e);
            cr_expect_eq(weft_eval(f, &to, NULL), WEFT_OK);
            weft_graph_free(g);
        }
        cr_expect_eq(memcmp(y[0], y[1], sizeof y[0]), 0);
    }
    weft_stats s;
    weft_ctx_stats(ctx, &s, sizeof s);
    if (!s.llvm_major) cr_skip("no LLVM");
    cr_expect(s.compiles >= 1 && s.compiles + s.compile_refusals == 6 && s.compile_refusals >= 1, "%d %d", (int)s.compiles, (int)s.compile_refusals);
    cr_expect_eq(said.count, 1, "%d lines, the last: %s", said.count, said.last);
    cr_expect(strstr(said.last, "the limit is 1.0 ms"), "%s", said.last);
    weft_ctx_free(ctx);
    weft_ctx_free(plain);
}

// Options of an earlier header: what they do not know is default; others are refused.
Test(limits, earlier_options) {
    weft_ctx *ctx = budget((weft_ctx_opts){.threads = 1, .ignore_env = true});
    weft_graph *g = weft_graph_new(ctx);
    double x = 2, y = 0;
    weft_array a = weft_dense(WEFT_F64, &x, 0, NULL), to = weft_dense(WEFT_F64, &y, 0, NULL);
    weft_expr *e = weft_from(g, &a);
    weft_eval_opts o = {.size = offsetof(weft_eval_opts, token), .token = (weft_token *)&x}; // not looked at
    cr_expect_eq(weft_eval(weft_mul(e, e), &to, &o), WEFT_OK);
    cr_expect_eq(y, 4);
    o.size--;
    cr_expect_eq(weft_eval(e, &to, &o), WEFT_EINVAL);
    o.size = sizeof o + 1;
    cr_expect_eq(weft_eval(e, &to, &o), WEFT_EINVAL);
    weft_graph_free(g);
    weft_ctx_free(ctx);
}

// ---- sizes ------------------------------------------------------------------------------------------------
static const int64_t extents[] = {0, 1, 2, (1LL << 31) - 1, 1LL << 31, (1LL << 31) + 1, (1LL << 32) - 1, 1LL << 32, (1LL << 61) - 1,
                                  1LL << 61, (1LL << 62) - 1, 1LL << 62, (1LL << 62) + 1, INT64_MAX - 1, INT64_MAX, -1, INT64_MIN};
static double number = 1.5;
static const weft_dtype types[] = {WEFT_I8, WEFT_F32, WEFT_F64, WEFT_C128};

static weft_expr *repeated(weft_graph *g, int64_t a, int64_t b, int rank) {
    const int64_t dims[2] = {a, b}, zero[2] = {0, 0};
    weft_array x = weft_strided(WEFT_F64, &number, rank, dims, zero);
    return weft_from(g, &x);
}

// The expression is refused with a sentence, or its size is what int64 can count.
static void sane(const char *what, weft_graph *g, weft_expr *x) {
    if (!x) {
        cr_expect(weft_graph_status(g) != WEFT_OK && *weft_graph_error(g), "%s: refused without a reason", what);
        cr_expect_neq(weft_graph_status(g), WEFT_ENOMEM, "%s: %s", what, weft_graph_error(g));
        return;
    }
    double bytes = (double)weft_dtype_size(weft_expr_dtype(x));
    bool none = false;
    for (int d = 0; d < weft_expr_rank(x); d++) {
        const int64_t e = weft_expr_dims(x)[d];
        cr_expect_geq(e, 0, "%s: extent %lld", what, (long long)e);
        none |= e == 0;
        bytes *= (double)e;
    }
    cr_expect(none || bytes < 0x1p63, "%s: a size that cannot be counted", what);
}

typedef weft_expr *two_sizes(weft_graph *g, int64_t a, int64_t b);
static weft_expr *h_from(weft_graph *g, int64_t a, int64_t b) { return repeated(g, a, b, 2); }
static weft_expr *h_input(weft_graph *g, int64_t a, int64_t b) { const int64_t d[2] = {a, b}; return weft_input(g, "x", WEFT_F64, 2, d); }
static weft_expr *h_iota(weft_graph *g, int64_t a, int64_t b) { const int64_t d[2] = {a, b}; return weft_iota(g, WEFT_I64, 2, d, 0); }
static weft_expr *h_full(weft_graph *g, int64_t a, int64_t b) { const int64_t d[2] = {a, b}; return weft_zeros(g, types[(a ^ b) & 3], 2, d); }
static weft_expr *h_eye(weft_graph *g, int64_t a, int64_t b) { return weft_eye(g, WEFT_F32, a, b, INT64_MAX); }
static weft_expr *h_broadcast(weft_graph *g, int64_t a, int64_t b) { const int64_t d[2] = {a, b}; return weft_broadcast_to(repeated(g, 1, 1, 2), 2, d); }
static weft_expr *h_reshape(weft_graph *g, int64_t a, int64_t b) { const int64_t d[3] = {a, b, -1}; return weft_reshape(repeated(g, 1LL << 40, 1, 1), 3, d); }
static weft_expr *h_concat(weft_graph *g, int64_t a, int64_t b) { weft_expr *x[3] = {repeated(g, a, 1, 1), repeated(g, b, 1, 1), repeated(g, a, 1, 1)}; return weft_concat(3, x, 0); }
static weft_expr *h_stack(weft_graph *g, int64_t a, int64_t b) { weft_expr *x[2] = {repeated(g, a, b, 2), repeated(g, a, b, 2)}; return weft_stack(2, x, 0); }
static weft_expr *h_tile(weft_graph *g, int64_t a, int64_t b) { const int64_t t[2] = {b, a}; return weft_tile(repeated(g, a, 2, 2), 2, t); }
static weft_expr *h_repeat(weft_graph *g, int64_t a, int64_t b) { return weft_repeat(repeated(g, a, 1, 1), b, 0); }
static weft_expr *h_pad(weft_graph *g, int64_t a, int64_t b) { const weft_padding p = {sizeof p, &a, &b, WEFT_PAD_CONSTANT, NULL}; return weft_pad(repeated(g, 3, 1, 1), &p); }
static weft_expr *h_pad_wrap(weft_graph *g, int64_t a, int64_t b) { const weft_padding p = {sizeof p, &a, &b, WEFT_PAD_WRAP, NULL}; return weft_pad(repeated(g, 3, 1, 1), &p); }
static weft_expr *h_pad_reflect(weft_graph *g, int64_t a, int64_t b) { const weft_padding p = {sizeof p, &a, &b, WEFT_PAD_REFLECT, NULL}; return weft_pad(repeated(g, 3, 1, 1), &p); }
static weft_expr *h_pad_long(weft_graph *g, int64_t a, int64_t b) { const weft_padding p = {sizeof p, &b, &b, WEFT_PAD_EDGE, NULL}; return weft_pad(repeated(g, a, 1, 1), &p); }
static weft_expr *h_windows(weft_graph *g, int64_t a, int64_t b) { return weft_sliding_windows(repeated(g, a, 1, 1), 0, b); }
static weft_expr *h_split(weft_graph *g, int64_t a, int64_t b) { return weft_split(repeated(g, a, 1, 1), 0, b, b > 0 ? b - 1 : b); }
static weft_expr *h_roll(weft_graph *g, int64_t a, int64_t b) { return weft_roll(repeated(g, a, 1, 1), b, 0); }
static weft_expr *h_slice(weft_graph *g, int64_t a, int64_t b) { return weft_slice(repeated(g, INT64_MAX / 8, 1, 1), 0, a, b, b); }
static weft_expr *h_slice_back(weft_graph *g, int64_t a, int64_t b) { return weft_slice(repeated(g, 1LL << 40, 1, 1), 0, b, a, a == INT64_MIN ? a : -a); }
static weft_expr *h_index(weft_graph *g, int64_t a, int64_t b) { return weft_index(repeated(g, a, 1, 1), 0, b); }
static weft_expr *h_diagonal(weft_graph *g, int64_t a, int64_t b) { return weft_diagonal(repeated(g, a, 3, 2), b, 0, 1); }
static weft_expr *h_linspace(weft_graph *g, int64_t a, int64_t b) { return weft_linspace(g, WEFT_F64, (weft_space){(double)b, 1, a, true}); }
static weft_expr *h_geomspace(weft_graph *g, int64_t a, int64_t b) { return weft_geomspace(g, WEFT_F32, (weft_space){1, (double)b, a, false}); }
static weft_expr *h_arange(weft_graph *g, int64_t a, int64_t b) { return weft_arange(g, WEFT_I64, (double)a, (double)b, 1); }
static weft_expr *h_arange_tiny(weft_graph *g, int64_t a, int64_t b) { return weft_arange(g, WEFT_F64, (double)a, (double)b, 1e-300); }
static weft_expr *h_random(weft_graph *g, int64_t a, int64_t b) { const int64_t d[2] = {a, b}; return weft_random_uniform(g, (weft_stream){1, UINT64_MAX - (uint64_t)a}, WEFT_F64, 2, d); }
static weft_expr *h_integers(weft_graph *g, int64_t a, int64_t b) { const int64_t d[2] = {a, 2}; return weft_random_integers(g, (weft_stream){1, UINT64_MAX}, (weft_bounds){b, INT64_MAX}, WEFT_I64, 2, d); }
static weft_expr *h_outer(weft_graph *g, int64_t a, int64_t b) { return weft_mul(weft_expand_dims(repeated(g, a, 1, 1), 1), repeated(g, b, 1, 1)); }
static weft_expr *h_matmul(weft_graph *g, int64_t a, int64_t b) { return weft_matmul(repeated(g, a, 1, 2), repeated(g, 1, b, 2)); }
static weft_expr *h_matmul_k(weft_graph *g, int64_t a, int64_t b) { return weft_matmul(repeated(g, b, a, 2), repeated(g, a, b, 2)); }
static weft_expr *h_kron(weft_graph *g, int64_t a, int64_t b) { return weft_kron(repeated(g, a, 2, 2), repeated(g, b, 2, 2)); }
static weft_expr *h_take(weft_graph *g, int64_t a, int64_t b) { return weft_take(repeated(g, 3, a, 2), weft_cast(repeated(g, b, 2, 2), WEFT_I32), 0, WEFT_INDEX_CLIP); }
static weft_expr *h_one_hot(weft_graph *g, int64_t a, int64_t b) { return weft_one_hot(weft_cast(repeated(g, a, 1, 1), WEFT_I32), b, WEFT_F64); }
static weft_expr *h_bincount(weft_graph *g, int64_t a, int64_t b) { return weft_bincount(weft_cast(repeated(g, a, 1, 1), WEFT_I32), NULL, b); }
static weft_expr *h_topk(weft_graph *g, int64_t a, int64_t b) { return weft_topk(repeated(g, a, 1, 1), b, 0, false, NULL); }
static weft_expr *h_argsort(weft_graph *g, int64_t a, int64_t b) { return weft_argsort(repeated(g, a, b, 2), 1); }
static weft_expr *h_compress(weft_graph *g, int64_t a, int64_t b) { return weft_compress(weft_cast(repeated(g, a, 1, 1), WEFT_BOOL), repeated(g, a, b, 2), 0); }
static weft_expr *h_complex(weft_graph *g, int64_t a, int64_t b) { return weft_add(repeated(g, a, b, 2), weft_imaginary(g, 1)); }
static weft_expr *h_triangle(weft_graph *g, int64_t a, int64_t b) { return weft_tril(repeated(g, a, 2, 2), b); }
static weft_expr *h_diff(weft_graph *g, int64_t a, int64_t b) { return weft_diff(repeated(g, a, b, 2), 1, 1); }
static weft_expr *h_edges(weft_graph *g, int64_t a, int64_t b) { return weft_bin_edges(g, a, 0, (double)b); }
static weft_expr *h_einsum(weft_graph *g, int64_t a, int64_t b) { weft_expr *x[2] = {repeated(g, a, 2, 2), repeated(g, b, 2, 2)}; return weft_einsum("ij,kl->ijkl", 2, x); }

static const struct {
    const char *name;
    two_sizes *make;
} hostile[] = {
#define H(n) {#n, h_##n}
    H(from), H(input), H(iota), H(full), H(eye), H(broadcast), H(reshape), H(concat), H(stack), H(tile), H(repeat), H(pad),
    H(pad_wrap), H(pad_reflect), H(pad_long), H(windows), H(split), H(roll), H(slice), H(slice_back), H(index), H(diagonal), H(linspace), H(geomspace),
    H(arange), H(arange_tiny), H(random), H(integers), H(outer), H(matmul), H(matmul_k), H(kron), H(take), H(one_hot), H(bincount),
    H(topk), H(argsort), H(compress), H(complex), H(triangle), H(diff), H(edges), H(einsum)};

// Built, planned and, where an element of the result can be had, cut down to it and evaluated.
static void try_one(weft_ctx *ctx, size_t k, int64_t a, int64_t b) {
    char what[120];
    snprintf(what, sizeof what, "%s(%lld, %lld)", hostile[k].name, (long long)a, (long long)b);
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *x = hostile[k].make(g, a, b);
    sane(what, g, x);
    char *json = NULL;
    if (x) {
        const weft_status st = weft_explain(1, &x, &json); // plans; sizes of steps and workspaces
        cr_expect(st == WEFT_OK || *weft_graph_error(g), "%s: explain: %s", what, weft_status_text(st));
        weft_text_free(ctx, json);
    }
    weft_graph_free(g);
}
Test(limits, hostile_sizes) {
    const struct rlimit most = {(rlim_t)3 << 30, (rlim_t)3 << 30}; // what tries to allocate it all fails here
    setrlimit(RLIMIT_AS, &most);
    weft_ctx *ctx = budget((weft_ctx_opts){.backend = WEFT_BACKEND_INTERP, .threads = 2, .ignore_env = true});
    for (size_t k = 0; k < COUNT_OF(hostile); k++)
        for (size_t i = 0; i < COUNT_OF(extents); i++)
            for (size_t j = 0; j < COUNT_OF(extents); j++)
                try_one(ctx, k, extents[i], extents[j]);
    weft_ctx_free(ctx);
}
