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
