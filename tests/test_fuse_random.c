// SPDX-License-Identifier: MIT
// Random graphs, planned in several ways, checked, and executed exactly as planned by a slow
// walker; results must be those of evaluating the graph node by node, bit for bit. FUSE_SEED runs
// one seed and FUSE_SEEDS so many from there.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "fuse_eval.h"
#include "fuse_random.h"

static bool same(int dtype, const void *a, const void *b) {
    union scalar x = scalar_load(dtype, a), y = scalar_load(dtype, b);
    if (dtype_is_float((weft_dtype)dtype) && isnan(x.f) && isnan(y.f)) return true;
    return x.i == y.i;
}

struct trial {
    struct random_graph r;
    uint64_t seed;
    struct eval_world world;
    void **want;
    weft_array outs[RANDOM_ROOTS];
    char *base[RANDOM_ROOTS];
};

static void fail(struct trial *t, const struct fuse_plan *p, const char *what) {
    struct base_vec v;
    vec_init(&v, NULL);
    ir_dump(t->r.g, t->r.nroot, t->r.root, &v);
    if (p) fuse_plan_dump(t->r.g, p, &v);
    cr_assert_fail("seed %llu: %s\n%s", (unsigned long long)t->seed, what,
                   v.data ? (char *)v.data : "");
}

static void compare_root(struct trial *t, const struct fuse_plan *p, int i) {
    const weft_array *a = &t->outs[i];
    int64_t at[WEFT_MAX_RANK] = {0}, n = ir_elements(t->r.g, t->r.root[i]);
    const char *want = t->want[t->r.root[i]];
    for (int64_t l = 0; l < n; l++, want += dtype_size(a->dtype)) {
        const char *got = a->data;
        for (int d = 0; d < a->rank; d++)
            got += at[d] * a->strides[d];
        if (!same((int)a->dtype, got, want)) fail(t, p, "wrong value");
        for (int d = a->rank - 1; d >= 0 && ++at[d] == a->dims[d]; d--)
            at[d] = 0;
    }
}

static void run_plan(struct trial *t, const struct fuse_plan *p) {
    uint8_t *guards = calloc((size_t)p->nguard + 1, 1);
    int k = 0;
    eval_plan(&t->world, p, t->outs, guards);
    for (int i = 0; i < t->r.nroot; i++)
        compare_root(t, p, i);
    for (ir_ref n = 1; n < ir_count(t->r.g); n++) {
        if (ir_at(t->r.g, n)->op != IR_guard || !t->want[n]) continue;
        if (k == p->nguard || guards[k] != *(uint8_t *)t->want[ir_at(t->r.g, n)->in[1]])
            fail(t, p, "wrong guard");
        k++;
    }
    if (k != p->nguard) fail(t, p, "wrong number of guards");
    free(guards);
}

static void run_seed(uint64_t seed) {
    struct trial t = {.seed = seed};
    struct base_err err = {0};
    random_build(&t.r, seed, 4 + (int)(seed % 29));
    cr_assert_eq(ir_error(t.r.g)->status, WEFT_OK, "seed %llu: %s", (unsigned long long)seed,
                 ir_error(t.r.g)->text);
    t.world = (struct eval_world){t.r.g, t.r.nroot, t.r.root, t.r.input};
    t.want = eval_graph(&t.world);
    for (int i = 0; i < t.r.nroot; i++) {
        const struct ir_node *n = ir_at(t.r.g, t.r.root[i]);
        t.outs[i] = random_array(&t.r, (weft_dtype)n->dtype, n->rank, ir_dims(t.r.g, t.r.root[i]),
                                 false, &t.base[i]);
    }
    for (int v = 0; v < 3; v++) {
        struct fuse_opts o = {.unfused = v == 1,
                              .in_strides = t.r.in_strides,
                              .outs = t.outs,
                              .row_bytes = v == 2 ? 32 : 0};
        struct fuse_plan *p;
        if (fuse_plan_make(t.r.g, t.r.nroot, t.r.root, &o, NULL, &err, &p))
            fail(&t, NULL, err.text);
        if (!fuse_plan_check(t.r.g, p, &err)) fail(&t, p, err.text);
        run_plan(&t, p);
        fuse_plan_free(p);
    }
    for (int i = 0; i < t.r.nroot; i++)
        free(t.base[i]);
    eval_free(&t.world, t.want);
    random_free(&t.r);
}

Test(fuse_random, plans_compute_their_graphs) {
    const char *seed = getenv("FUSE_SEED"), *seeds = getenv("FUSE_SEEDS");
    uint64_t from = seed ? strtoull(seed, NULL, 10) : 1;
    uint64_t count = seeds ? strtoull(seeds, NULL, 10) : seed ? 1 : 5000;
    for (uint64_t s = from; s < from + count; s++)
        run_seed(s);
}
