// SPDX-License-Identifier: MIT
#include <criterion/criterion.h>
#include <stdio.h>
#include "fuse_eval.h"
static struct ir_graph *g;
static ir_ref leaf(weft_dtype t, int rank, const int64_t *dims) {
    static char buf[1<<16];
    weft_array a = {.dtype = t, .rank = rank, .data = buf};
    int64_t step = (int64_t)dtype_size(t);
    for (int i = rank - 1; i >= 0; i--) { a.dims[i] = dims[i]; a.strides[i] = step; step *= dims[i]; }
    return ir_from(g, &a);
}
static ir_ref op2(int op, ir_ref a, ir_ref b) { return ir_map(g, (enum ir_op)op, (ir_ref[3]){a, b}); }
static void show(int n, const ir_ref *r, const struct fuse_opts *o) {
    struct fuse_plan *p; struct base_err err = {0};
    weft_status st = fuse_plan_make(g, n, r, o, NULL, &err, &p);
    cr_assert(!st, "%s", err.text);
    struct base_vec v; vec_init(&v, NULL);
    fuse_plan_dump(g, p, &v); fuse_plan_json(g,p,&v);
    puts((char*)v.data);
    cr_assert(fuse_plan_check(g, p, &err), "%s", err.text);
    vec_free(&v); fuse_plan_free(p);
}
Test(fuse, smoke) {
    g = ir_graph_new(NULL, 0);
    ir_ref x = leaf(WEFT_F64, 2, (int64_t[]){100,200}), y = leaf(WEFT_F64, 2, (int64_t[]){100,200});
    ir_ref r = op2(IR_sqrt, op2(IR_add, op2(IR_mul, x, y), x), 0);
    show(1, &r, NULL);
    weft_reduce red = {.size = sizeof red, .axes = (int[]){-1}, .naxes = 1, .keepdims = true};
    ir_ref e = op2(IR_exp, op2(IR_sub, x, ir_reduce(g, IR_MAX, x, &red)), 0);
    ir_ref s = op2(IR_true_divide, e, ir_reduce(g, IR_SUM, e, &red));
    show(1, &s, NULL);
    red.axes = (int[]){0};
    ir_ref m = op2(IR_sub, x, ir_reduce(g, IR_MEAN, x, &red));
    show(1, &m, NULL);
}

#include "fuse_random.h"
#include <math.h>
#include <stdlib.h>
static bool same(int dtype, const void *a, const void *b) {
    union scalar x = scalar_load(dtype, a), y = scalar_load(dtype, b);
    if (dtype_is_float((weft_dtype)dtype) && isnan(x.f) && isnan(y.f)) return true;
    return x.i == y.i;
}
static void die(struct random_graph *r, const struct fuse_plan *p, uint64_t seed, const char *what) {
    struct base_vec v;
    vec_init(&v, NULL);
    ir_dump(r->g, r->nroot, r->root, &v);
    if (p) fuse_plan_dump(r->g, p, &v);
    cr_assert_fail("seed %llu: %s\n%s", (unsigned long long)seed, what, v.data ? (char*)v.data : "");
}
static void compare(struct random_graph *r, const struct fuse_plan *p, uint64_t seed, const struct eval_world *w, void **want, const weft_array *outs) {
    uint8_t guards[64] = {0};
    if (p->nguard > 64) return;
    eval_plan(w, p, outs, guards);
    for (int i = 0; i < r->nroot; i++) {
        const weft_array *a = &outs[i];
        int64_t at[WEFT_MAX_RANK] = {0}, n = ir_elements(r->g, r->root[i]);
        for (int64_t l = 0; l < n; l++) {
            const char *got = a->data;
            for (int d = 0; d < a->rank; d++) got += at[d] * a->strides[d];
            if (!same(a->dtype, got, (char *)want[r->root[i]] + l * (int64_t)dtype_size(a->dtype))) die(r, p, seed, "wrong value");
            for (int d = a->rank - 1; d >= 0 && ++at[d] == a->dims[d]; d--) at[d] = 0;
        }
    }
    int k = 0;
    for (ir_ref n = 1; n < ir_count(r->g); n++) {
        if (ir_at(r->g, n)->op != IR_guard || !want[n]) continue;
        if (guards[k++] != *(uint8_t *)want[ir_at(r->g, n)->in[1]]) die(r, p, seed, "wrong guard");
    }
    if (k != p->nguard) die(r, p, seed, "number of guards");
}
static void one(uint64_t seed) {
    struct random_graph r;
    struct base_err err = {0};
    random_build(&r, seed, 4 + (int)(seed % 29));
    if (ir_error(r.g)->status) cr_assert_fail("seed %llu: %s", (unsigned long long)seed, ir_error(r.g)->text);
    struct eval_world w = {r.g, r.nroot, r.root, r.input};
    void **want = eval_graph(&w);
    weft_array outs[RANDOM_ROOTS];
    char *base[RANDOM_ROOTS];
    for (int i = 0; i < r.nroot; i++) {
        const struct ir_node *n = ir_at(r.g, r.root[i]);
        outs[i] = random_array(&r, (weft_dtype)n->dtype, n->rank, ir_dims(r.g, r.root[i]), false, &base[i]);
    }
    for (int v = 0; v < 3; v++) {
        struct fuse_opts o = {.unfused = v == 1, .in_strides = r.in_strides, .outs = outs, .row_bytes = v == 2 ? 32 : 0};
        struct fuse_plan *p;
        if (fuse_plan_make(r.g, r.nroot, r.root, &o, NULL, &err, &p)) die(&r, NULL, seed, err.text);
        if (!fuse_plan_check(r.g, p, &err)) die(&r, p, seed, err.text);
        compare(&r, p, seed, &w, want, outs);
        fuse_plan_free(p);
    }
    for (int i = 0; i < r.nroot; i++) free(base[i]);
    eval_free(&w, want);
    random_free(&r);
}
Test(fuse, random) {
    const char *e = getenv("SEED");
    uint64_t from = e ? strtoull(e, NULL, 10) : 1, to = e ? from + 1 : 3000;
    if (getenv("SEEDS")) to = from + strtoull(getenv("SEEDS"), NULL, 10);
    for (uint64_t s = from; s < to; s++) one(s);
}
