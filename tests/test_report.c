// SPDX-License-Identifier: MIT
// weft_report_new against what the dumps and the plan's JSON say: nodes and their operands, steps and what they make,
// reasons, temporaries, code; every refused allocation is a status without a leak; hostile arguments.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/weft.h"

struct counted {
    long held, left; // bytes out; allocations before refusal, -1: never
};
static void *count_alloc(void *ud, void *ptr, size_t old_size, size_t size) {
    struct counted *c = ud;
    if (!size) {
        free(ptr);
        c->held -= (long)(ptr ? old_size : 0);
        return NULL;
    }
    if (c->left == 0) return NULL;
    if (c->left > 0) c->left--;
    void *p = realloc(ptr, size);
    if (p) c->held += (long)size - (long)(ptr ? old_size : 0);
    return p;
}

static weft_ctx *new_context(struct counted *c, weft_backend backend) {
    weft_ctx *ctx = NULL;
    weft_ctx_opts o = {.size = sizeof o, .threads = 1, .backend = backend, .alloc = count_alloc, .alloc_ud = c};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    return ctx;
}

static const int64_t rows[2] = {64, 48}, small[2] = {48, 8};

// softmax over rows, a product with a map on it; and a sum of something else
static void build(weft_graph *g, weft_expr *out[2]) {
    weft_expr *x = weft_input(g, "x", WEFT_F64, 2, rows), *y = weft_input(g, "y", WEFT_F64, 2, small);
    const int axis = 0;
    const weft_reduce over = {.size = sizeof over, .axes = &axis, .naxes = 1};
    out[0] = weft_sqrt(weft_abs(weft_matmul(weft_softmax(x, 1), y)));
    out[1] = weft_sum(y, &over);
}

static int find(const weft_report *r, const char *op) {
    for (int i = 0; i < r->nnode; i++)
        if (strcmp(r->node[i].op, op) == 0) return i;
    return -1;
}

static void check_nodes(const weft_report *r) {
    for (int i = 0; i < r->nnode; i++) {
        cr_expect(r->node[i].nin <= 3 && r->node[i].type[0] && r->node[i].kind[0]);
        for (int k = 0; k < r->node[i].nin; k++)
            cr_expect(r->node[i].in[k] >= 0 && r->node[i].in[k] < i, "an operand does not come first");
        cr_expect(r->node[i].step >= -1 && r->node[i].step < r->nstep);
    }
    const int product = find(r, "matmul"), root = find(r, "sqrt");
    cr_assert(product >= 0 && root >= 0);
    cr_expect_str_eq(r->node[product].type, "f64[64,8]");
    cr_expect_eq(r->node[product].step, r->node[root].step, "the map is not on the product's parts");
    cr_expect_eq(r->root[0], root);
    cr_expect_str_eq(r->node[find(r, "input")].detail, " 0 \"x\"");
}

static void check_steps(const weft_report *r) {
    int64_t read = 0, written = 0;
    for (int i = 0; i < r->nstep; i++) {
        const weft_report_step *s = &r->step[i];
        read += s->bytes_read, written += s->bytes_written;
        cr_expect(s->nmade > 0 && s->nnode > 0 && s->space[0] && s->name[0]);
        for (int k = 0; k < s->nmade; k++) {
            const size_t n = strlen(s->made[k].because);
            cr_expect(n > 10 && s->made[k].because[n - 1] == '.', "%s has no sentence", s->made[k].why);
        }
    }
    cr_expect_eq(read, r->bytes_read);
    cr_expect_eq(written, r->bytes_written);
    const weft_report_step *first = &r->step[r->node[find(r, "exp")].step];
    cr_expect_str_eq(first->kind, "inner");
    cr_expect_str_eq(first->read[0], "x f64");
    cr_expect_str_eq(first->made[0].why, "read by matmul");
    cr_expect_str_eq(r->step[r->node[find(r, "matmul")].step].name, "matmul abs sqrt");
    cr_expect_eq(r->ntemp, 1);
    cr_expect_eq(r->temp[0].bytes, 64 * 48 * 8);
    cr_expect_eq(r->temp[0].node, first->made[0].node);
    cr_expect_eq(r->workspace_bytes, 64 * 48 * 8);
}

Test(report, says_what_the_plan_is) {
    struct counted c = {0, -1};
    weft_ctx *ctx = new_context(&c, WEFT_BACKEND_INTERP);
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *out[2];
    build(g, out);
    weft_report *r = NULL;
    cr_assert_eq(weft_report_new(2, out, false, WEFT_ISA_BEST, &r), WEFT_OK);
    weft_graph_free(g); // the report goes on
    cr_assert_eq(r->nroot, 2);
    cr_expect_eq(r->nstep, r->passes);
    check_nodes(r);
    check_steps(r);
    cr_expect(r->step[0].llvm == NULL && r->code_error[0] == 0);
    weft_report_free(r);
    weft_ctx_free(ctx);
    cr_expect_eq(c.held, 0, "%ld bytes are left", c.held);
}

Test(report, code_is_named_after_nodes) {
    struct counted c = {0, -1};
    weft_ctx *ctx = new_context(&c, WEFT_BACKEND_JIT);
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *out[2];
    build(g, out);
    weft_report *r = NULL;
    cr_assert_eq(weft_report_new(2, out, true, WEFT_ISA_BEST, &r), WEFT_OK);
    for (int i = 0; i < r->nstep && !r->code_error[0]; i++) {
        const weft_report_step *s = &r->step[i];
        cr_assert(s->llvm && s->assembly);
        for (int k = 0; k < s->nnode; k++) {
            char name[64];
            const weft_report_node *n = &r->node[s->node[k]];
            if (strcmp(n->kind, "elementwise")) continue;
            snprintf(name, sizeof name, "%%n%d.%s.", s->node[k] + 1, n->op);
            cr_expect(strstr(s->llvm, name), "step %d: no value is called %s", i, name);
        }
    }
    weft_report_free(r);
    weft_graph_free(g);
    weft_ctx_free(ctx);
}

Test(report, complex_results_are_two) {
    struct counted c = {0, -1};
    weft_ctx *ctx = new_context(&c, WEFT_BACKEND_INTERP);
    weft_graph *g = weft_graph_new(ctx);
    const int64_t n = 10;
    weft_expr *x = weft_input(g, "z", WEFT_C128, 1, &n), *y = weft_mul(x, x);
    weft_report *r = NULL;
    cr_assert_eq(weft_report_new(1, &y, false, WEFT_ISA_BEST, &r), WEFT_OK);
    cr_expect_eq(r->nroot, 2);
    cr_expect_eq(r->passes, 1);
    weft_report_free(r);
    weft_graph_free(g);
    weft_ctx_free(ctx);
}

Test(report, refused_memory) {
    struct counted c = {0, -1};
    weft_ctx *ctx = new_context(&c, WEFT_BACKEND_INTERP);
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *out[2];
    build(g, out);
    const long before = c.held;
    int refused = 0;
    for (long i = 0; i < 2000; i++) {
        weft_report *r = NULL;
        c.left = i;
        const weft_status st = weft_report_new(2, out, false, WEFT_ISA_BEST, &r);
        c.left = -1;
        if (!st) {
            weft_report_free(r);
            cr_expect(refused > 5);
            break;
        }
        refused++;
        cr_expect_eq(st, WEFT_ENOMEM);
        cr_expect(r == NULL);
    }
    cr_expect_leq(c.held - before, 1 << 16, "%ld bytes are left", c.held - before); // what the graph keeps
    weft_graph_free(g);
    weft_ctx_free(ctx);
    cr_expect_eq(c.held, 0, "%ld bytes are left", c.held);
}

Test(report, hostile_arguments) {
    struct counted c = {0, -1};
    weft_ctx *ctx = new_context(&c, WEFT_BACKEND_INTERP);
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *x = weft_float(g, 1), *none = NULL;
    weft_report *r = NULL;
    cr_expect_eq(weft_report_new(1, &x, false, WEFT_ISA_BEST, NULL), WEFT_EINVAL);
    cr_expect_eq(weft_report_new(0, &x, false, WEFT_ISA_BEST, &r), WEFT_EINVAL);
    cr_expect_eq(weft_report_new(1, &none, false, WEFT_ISA_BEST, &r), WEFT_EINVAL);
    cr_expect_eq(weft_report_new(1, &x, false, (weft_isa)99, &r), WEFT_EINVAL);
    cr_expect_eq(weft_report_new(1, &x, false, WEFT_ISA_BEST, &r), WEFT_OK);
    weft_report_free(r);
    weft_report_free(NULL);
    weft_graph_free(g);
    weft_ctx_free(ctx);
}
