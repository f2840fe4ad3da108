// SPDX-License-Identifier: MIT
// A graph that is reset and built again: whatever the next life has in common with the last one
// (everything, everything but addresses, but constants, a beginning, nothing), it gives what a
// fresh graph gives; and the warm loop asks the allocator for nothing.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "weft/weft.h"

enum { N = 24, ARRAYS = 6, LIVES = 400 };
static double data[ARRAYS][N];

static uint64_t state = 1;
static unsigned pick(unsigned n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

static void fill(void) {
    for (int a = 0; a < ARRAYS; a++)
        for (int i = 0; i < N; i++)
            data[a][i] = (double)(pick(2001)) * 0.01 - 10;
}

// What one life builds: a list of choices, so that the next life can change a few of them.
struct recipe {
    int n;
    unsigned char what[16], with[16], array[16], constant[16];
};
static struct recipe invent(void) {
    struct recipe r = {.n = 1 + (int)pick(12)};
    for (int i = 0; i < 16; i++) {
        r.what[i] = (unsigned char)pick(8), r.with[i] = (unsigned char)pick(4);
        r.array[i] = (unsigned char)pick(ARRAYS), r.constant[i] = (unsigned char)pick(4);
    }
    return r;
}
static void change(struct recipe *r) {
    const unsigned at = pick(16);
    switch (pick(7)) {
    case 0: *r = invent(); break;
    case 1: r->what[at] = (unsigned char)pick(8); break;
    case 2: r->array[at] = (unsigned char)pick(ARRAYS); break;
    case 3: r->constant[at] = (unsigned char)pick(4); break;
    case 4: r->n = 1 + (int)pick(12); break;
    default: break; // the same again
    }
}

static weft_expr *leaf(weft_graph *g, int a) {
    const int64_t n = N;
    const weft_array x = weft_dense(WEFT_F64, data[a], 1, &n);
    return weft_from(g, &x);
}

static weft_expr *build(weft_graph *g, const struct recipe *r) {
    weft_expr *v = leaf(g, r->array[0]), *old = v;
    for (int i = 0; i < r->n; i++) {
        weft_expr *w = r->with[i] == 0   ? leaf(g, r->array[i])
                       : r->with[i] == 1 ? weft_float(g, r->constant[i] - 1.0)
                       : r->with[i] == 2 ? old
                                         : v;
        weft_expr *next;
        switch (r->what[i]) {
        case 0: next = weft_add(v, w); break;
        case 1: next = weft_mul(v, w); break;
        case 2: next = weft_sub(w, v); break;
        case 3: next = weft_maximum(v, w); break;
        case 4: next = weft_where(weft_less(v, w), v, w); break;
        case 5: next = weft_add(v, weft_sum(w, NULL)); break;
        case 6: next = weft_neg(v); break;
        default: next = weft_add(weft_flip(v, 0), w); break;
        }
        old = v, v = next;
    }
    return v;
}

static void check_life(weft_ctx *ctx, weft_graph *g, const struct recipe *r, int life) {
    double got[N], want[N];
    const int64_t n = N;
    const weft_array a = weft_dense(WEFT_F64, got, 1, &n), b = weft_dense(WEFT_F64, want, 1, &n);
    weft_graph *fresh = weft_graph_new(ctx);
    weft_graph_reset(g);
    weft_expr *x = build(g, r);
    if (pick(4) == 0) build(g, r); // more nodes than the root needs
    cr_assert_eq(weft_eval(x, &a, NULL), WEFT_OK, "life %d: %s", life, weft_graph_error(g));
    cr_assert_eq(weft_eval(build(fresh, r), &b, NULL), WEFT_OK, "%s", weft_graph_error(fresh));
    cr_assert(memcmp(got, want, sizeof got) == 0, "life %d differs from a fresh graph", life);
    if (pick(3) == 0) { // another root of the same life, then the first again
        weft_expr *y = weft_mul(x, leaf(g, r->array[1]));
        cr_assert_eq(weft_eval(y, &b, NULL), WEFT_OK);
        for (int i = 0; i < N; i++)
            want[i] = got[i] * data[r->array[1]][i] - want[i];
        for (int i = 0; i < N; i++)
            cr_assert(want[i] == 0 || want[i] != want[i], "life %d: second root", life);
        memset(want, 0, sizeof want);
        cr_assert_eq(weft_eval(x, &b, NULL), WEFT_OK);
        cr_assert(memcmp(got, want, sizeof got) == 0, "life %d: first root again", life);
    }
    weft_graph_free(fresh);
}

Test(repeat, lives_like_fresh_graphs) {
    weft_ctx *ctx = NULL;
    const weft_ctx_opts o = {
        .size = sizeof o, .threads = 1, .backend = WEFT_BACKEND_INTERP, .ignore_env = true};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    fill();
    for (int seed = 0; seed < 20; seed++) {
        weft_graph *g = weft_graph_new(ctx);
        struct recipe r = invent();
        for (int life = 0; life < LIVES; life++) {
            check_life(ctx, g, &r, life);
            change(&r);
            if (pick(8) == 0) fill(); // other values at the same addresses
        }
        weft_graph_free(g);
    }
    weft_ctx_free(ctx);
}

static weft_expr *chain(weft_graph *g, int a, int b, double c) {
    weft_expr *x = leaf(g, a), *y = leaf(g, b);
    return weft_add(weft_mul(x, weft_float(g, c)), weft_mul(y, weft_float(g, 2)));
}

Test(repeat, addresses_that_meet_and_part) {
    weft_ctx *ctx = NULL;
    const weft_ctx_opts o = {
        .size = sizeof o, .threads = 1, .backend = WEFT_BACKEND_INTERP, .ignore_env = true};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    fill();
    weft_graph *g = weft_graph_new(ctx);
    static const int pairs[][2] = {{0, 1}, {1, 0}, {2, 2}, {0, 1}, {3, 3}, {3, 4}, {4, 3}, {1, 1}};
    for (int round = 0; round < 3; round++)
        for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
            double out[N];
            const int64_t n = N;
            const weft_array oa = weft_dense(WEFT_F64, out, 1, &n);
            const double c = 2 + (double)(k % 3); // at times the other constant
            weft_graph_reset(g);
            cr_assert_eq(weft_eval(chain(g, pairs[k][0], pairs[k][1], c), &oa, NULL), WEFT_OK);
            for (int i = 0; i < N; i++)
                cr_assert_eq(out[i], data[pairs[k][0]][i] * c + data[pairs[k][1]][i] * 2);
        }
    weft_graph_free(g);
    weft_ctx_free(ctx);
}

static void *counted(void *ud, void *p, size_t old, size_t size) {
    (void)old;
    if (size) ++*(long *)ud;
    if (size) return realloc(p, size);
    free(p);
    return NULL;
}

Test(repeat, warm_loop_allocates_nothing) {
    long asked = 0;
    weft_ctx *ctx = NULL;
    const weft_ctx_opts o = {
        .size = sizeof o, .alloc = counted, .alloc_ud = &asked, .threads = 1, .ignore_env = true};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    fill();
    weft_graph *g = weft_graph_new(ctx);
    double out[N];
    const int64_t n = N;
    const weft_array oa = weft_dense(WEFT_F64, out, 1, &n);
    long warm = 0;
    weft_stats before, after;
    for (int i = 0; i < 1000; i++) {
        if (i == 10) {
            weft_ctx_wait(ctx);
            warm = asked;
            weft_ctx_stats(ctx, &before, sizeof before);
        }
        weft_graph_reset(g);
        cr_assert_eq(weft_eval(chain(g, i % 3, (i + 1) % 3, (double)i), &oa, NULL), WEFT_OK);
        cr_assert_eq(out[5], data[i % 3][5] * (double)i + data[(i + 1) % 3][5] * 2);
    }
    weft_ctx_stats(ctx, &after, sizeof after);
    cr_assert_eq(asked, warm, "%ld allocations in the warm loop", asked - warm);
    cr_assert_eq(after.plans, before.plans);
    cr_assert_eq(after.plan_hits - before.plan_hits, 990);
    weft_graph_free(g);
    weft_ctx_free(ctx);
}
