// SPDX-License-Identifier: MIT
// weft_set_profile: every step of an evaluation heard once and in order, its bytes those of the arrays, its tier
// the one that ran; nothing heard when it is off, by WEFT_CHECK's second run, or after it was taken back. And
// weft_set_code_names: files where they were asked for, none otherwise.
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cases.h"

enum { MOST = 64 };
struct heard {
    int n;
    weft_profile_step step[MOST];
    char name[MOST][64];
};
static void hear(void *ud, const weft_profile_step *s, size_t size) {
    struct heard *h = ud;
    if (h->n >= MOST || size != sizeof *s) return;
    snprintf(h->name[h->n], sizeof h->name[0], "%s", s->name);
    h->step[h->n++] = *s;
}

static double xs[64 * 48], ys[48 * 8], out[64 * 48];
static const int64_t rows[2] = {64, 48}, small[2] = {48, 8};

static weft_expr *leaf(weft_graph *g, double *data, const int64_t *dims) {
    weft_array a = weft_dense(WEFT_F64, data, 2, dims);
    return weft_from(g, &a);
}

// softmax over rows, then a product and a map on it, sorted
static weft_status run(weft_ctx *ctx) {
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *x = leaf(g, xs, rows), *y = leaf(g, ys, small);
    weft_expr *p = weft_sort(weft_sqrt(weft_abs(weft_matmul(weft_softmax(x, 1), y))), 1);
    weft_array o = weft_dense(WEFT_F64, out, 2, (const int64_t[]){64, 8});
    weft_status st = weft_eval(p, &o, NULL);
    weft_graph_free(g);
    return st;
}

static void check_steps(const struct heard *h, weft_tier tier) {
    cr_assert_eq(h->n, 3, "%d steps", h->n);
    const weft_profile_step *s = h->step;
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(s[i].step, i);
        cr_expect_eq(s[i].steps, 3);
        cr_expect_gt(s[i].ns, 0u);
        cr_expect_eq(s[i].threads, 1);
        cr_expect_neq(s[i].isa, WEFT_ISA_BEST);
    }
    cr_expect_str_eq(s[0].kind, "inner");
    cr_expect_str_eq(s[1].kind, "matmul");
    cr_expect_str_eq(s[2].kind, "call");
    cr_expect_str_eq(h->name[0], "max sub exp sum true_divide");
    cr_expect_str_eq(h->name[1], "matmul abs sqrt");
    cr_expect_str_eq(h->name[2], "sort");
    cr_expect_eq(s[0].tier, tier);
    cr_expect_eq(s[1].tier, WEFT_TIER_KERNEL);
    cr_expect_eq(s[2].tier, WEFT_TIER_KERNEL);
    cr_expect_eq(s[0].bytes_read, 64 * 48 * 8);
    cr_expect_eq(s[0].bytes_written, 64 * 48 * 8);
    cr_expect_eq(s[1].bytes_read, (64 * 48 + 48 * 8) * 8);
    cr_expect_eq(s[1].bytes_written, 64 * 8 * 8);
    cr_expect_eq(s[2].bytes_read, 64 * 8 * 8);
}

Test(profile, every_step_once) {
    static const weft_tier tiers[] = {WEFT_TIER_INTERP, WEFT_TIER_JIT};
    for (int t = 0; t < 2; t++) {
        weft_ctx *ctx = new_ctx(t ? WEFT_BACKEND_JIT : WEFT_BACKEND_INTERP, 1);
        struct heard h = {0};
        cr_assert_eq(run(ctx), WEFT_OK);
        cr_assert_eq(weft_set_profile(ctx, hear, &h), WEFT_OK);
        cr_assert_eq(run(ctx), WEFT_OK);
        check_steps(&h, tiers[t]);
        cr_assert_eq(weft_set_profile(ctx, NULL, NULL), WEFT_OK);
        cr_assert_eq(run(ctx), WEFT_OK);
        cr_expect_eq(h.n, 3, "heard after it was taken back");
        weft_ctx_free(ctx);
    }
    cr_expect_eq(weft_set_profile(NULL, hear, NULL), WEFT_EINVAL);
}

Test(profile, programs_and_threads) {
    enum { N = 1 << 20 };
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_JIT, 2);
    struct heard h = {0};
    const int64_t n = N;
    double *x = calloc(N, sizeof *x), *y = calloc(N, sizeof *y);
    cr_assert(x && y);
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *e = weft_input(g, "x", WEFT_F64, 1, &n);
    weft_expr *f = weft_exp(weft_mul(e, e));
    weft_program *p = NULL;
    cr_assert_eq(weft_compile(1, &f, &p), WEFT_OK);
    weft_set_profile(ctx, hear, &h);
    weft_array in = weft_dense(WEFT_F64, x, 1, &n), o = weft_dense(WEFT_F64, y, 1, &n);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(weft_run(p, NULL, &in, &o, NULL, 0), WEFT_OK);
    cr_assert_eq(h.n, 3);
    cr_expect_eq(h.step[2].threads, 2);
    cr_expect_str_eq(h.name[2], "mul exp");
    cr_expect_eq(h.step[2].bytes_read + h.step[2].bytes_written, 16 * n);
    weft_program_free(p);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    free(x), free(y);
}

Test(profile, silent_second_run) {
    setenv("WEFT_CHECK", "1", 1);
    weft_ctx *ctx = NULL;
    weft_ctx_opts o = {.size = sizeof o, .threads = 1, .backend = WEFT_BACKEND_JIT};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    struct heard h = {0};
    weft_set_profile(ctx, hear, &h);
    cr_assert_eq(run(ctx), WEFT_OK);
    cr_expect_eq(h.n, 3, "%d", h.n);
    weft_ctx_free(ctx);
}

Test(profile, long_names_end_in_a_count) {
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_INTERP, 1);
    struct heard h = {0};
    weft_set_profile(ctx, hear, &h);
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *e = leaf(g, xs, rows);
    for (int i = 0; i < 40; i++)
        e = weft_add(weft_sqrt(e), leaf(g, xs, rows));
    weft_array o = weft_dense(WEFT_F64, out, 2, rows);
    cr_assert_eq(weft_eval(e, &o, NULL), WEFT_OK);
    cr_expect_str_eq(h.name[0], "sqrt add sqrt add sqrt add sqrt 80_ops");
    weft_graph_free(g);
    weft_ctx_free(ctx);
}

// ---- names of code ----------------------------------------------------------------------------------------
static bool exists(const char *form) {
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/tmp/%s", form);
    return lstat(path, &st) == 0;
}

Test(profile, files_only_when_asked) {
    char map[40], dump[40], path[64], line[200] = "";
    snprintf(map, sizeof map, "perf-%ld.map", (long)getpid());
    snprintf(dump, sizeof dump, "jit-%ld.dump", (long)getpid());
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_JIT, 1);
    cr_expect_eq(weft_set_code_names(ctx, 8), WEFT_EINVAL);
    cr_assert_eq(run(ctx), WEFT_OK);
    cr_expect(!exists(map) && !exists(dump), "a file that nobody asked for");
    weft_ctx_free(ctx);
    ctx = new_ctx(WEFT_BACKEND_JIT, 1);
    cr_assert_eq(weft_set_code_names(ctx, WEFT_NAMES_PERF_MAP | WEFT_NAMES_JITDUMP | WEFT_NAMES_GDB), WEFT_OK);
    cr_assert_eq(run(ctx), WEFT_OK);
    weft_stats s;
    weft_ctx_stats(ctx, &s, sizeof s);
    weft_ctx_free(ctx);
    if (!s.llvm_major) return;
    cr_expect(exists(map) && exists(dump));
    snprintf(path, sizeof path, "/tmp/%s", map);
    FILE *f = fopen(path, "r");
    bool found = false;
    while (f && fgets(line, sizeof line, f))
        found |= strstr(line, " weft_max_sub_exp_sum_true_divide\n") != NULL;
    cr_expect(found, "no line for the softmax");
    if (f) fclose(f);
    unlink(path);
    snprintf(path, sizeof path, "/tmp/%s", dump);
    unsigned head[2] = {0, 0};
    f = fopen(path, "rb");
    cr_expect(f && fread(head, sizeof head, 1, f) == 1 && head[0] == 0x4A695444 && head[1] == 1);
    if (f) fclose(f);
    unlink(path);
}
