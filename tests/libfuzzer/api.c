// SPDX-License-Identifier: MIT
// The API as a sequence of calls: bytes choose builders, operands (NULL among them) and parameters,
// sensible and not; what is built and small is evaluated, compiled and run, with outputs of any
// strides inside one block, some of them overlapping or wrong. Nothing may crash, hang, leak or
// leave the block.
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BLOCK = 1 << 16, MOST = 2000, POOL = 40 };
static weft_ctx *ctx;

struct bytes {
    const uint8_t *at, *end;
};
static uint8_t byte(struct bytes *b) {
    return b->at < b->end ? *b->at++ : 0;
}
static int64_t number(struct bytes *b) {
    static const int64_t odd[] = {0,         1,         -1,           2,         3,   INT64_MAX,
                                  INT64_MIN, 1LL << 32, -(1LL << 31), 1LL << 62, 255, 1000003};
    uint8_t k = byte(b);
    if (k < 160) return k % 8;
    if (k < 224) return (int64_t)(int8_t)byte(b);
    return odd[k % 12];
}

struct machine {
    struct bytes in;
    weft_graph *g;
    weft_expr *pool[POOL];
    int n;
    unsigned char *block;
};

static bool small(const weft_expr *x) {
    weft_array a = weft_dense(weft_expr_dtype(x), NULL, weft_expr_rank(x), weft_expr_dims(x));
    int64_t n = weft_array_count(&a);
    return n >= 0 && n <= MOST && a.rank <= RANK;
}
// An array of any form inside the block, or one that is not valid at all.
static weft_array array(struct machine *m, bool sane) {
    weft_array a = {.dtype = (weft_dtype)(byte(&m->in) % (WEFT_DTYPE__N + (sane ? 0 : 2))),
                    .rank = byte(&m->in) % 5};
    bool bad = !sane && byte(&m->in) % 16 == 0;
    for (int k = 0; k < a.rank; k++) {
        a.dims[k] = bad ? number(&m->in) : byte(&m->in) % 6;
        a.strides[k] = (int8_t)byte(&m->in); // at most 4 * 5 * 128 bytes either way
    }
    a.data = m->block + BLOCK / 2 + byte(&m->in);
    if (bad) { // refused, or never touched: no element or no valid shape
        for (int k = 0; k < a.rank; k++)
            a.strides[k] = number(&m->in);
        a.dims[a.rank++] = -1;
    }
    return a;
}

static void keep(struct machine *m, weft_expr *x) {
    if (!x) { // the first error stays: begin a new life now and then
        if (byte(&m->in) % 4 == 0) weft_graph_reset(m->g), m->n = 0;
        return;
    }
    if (small(x)) m->pool[m->n++ % POOL] = x;
}
static weft_expr *operand(struct machine *m) {
    uint8_t k = byte(&m->in);
    int have = m->n < POOL ? m->n : POOL;
    return k == 255 || !have ? NULL : m->pool[k % have];
}

// Lists whose length is a parameter stay within the node.
static void bound_lists(struct node *n) {
    int first = n->kind == K_reshape || n->kind == K_broadcast_to || n->kind == K_tile ||
                        n->kind == K_transpose
                    ? 0
                : n->kind == K_iota                                      ? 2
                : n->kind == K_random_integers                           ? 5
                : n->kind >= K_random_bits && n->kind <= K_random_normal ? 3
                : n->kind >= K_sum && n->kind <= K_ptp                   ? 4
                                                                         : -1;
    if (first >= 0) n->p[first] = n->p[first] < 0 ? -1 : n->p[first] % (RANK + 1);
    if (n->kind == K_tensordot) n->p[0] = n->p[0] < 0 ? -1 : n->p[0] % RANK;
    if (n->kind == K_transpose && n->p[0] < 0) n->p[0] = 0;
    for (int k = 0; k < PARAMS; k++) // lists of int
        if ((n->kind == K_transpose || (n->kind >= K_sum && n->kind <= K_ptp)) &&
            (n->p[k] > 1000 || n->p[k] < -1000))
            n->p[k] = 99;
}
static void build(struct machine *m) {
    struct node n = {.kind = (int)((byte(&m->in) | byte(&m->in) << 8) % KIND__N)};
    weft_expr *x[3];
    for (int k = 0; k < 3; k++)
        x[k] = operand(m);
    int count = byte(&m->in) % 12;
    for (int k = 0; k < count; k++)
        n.p[k] = number(&m->in);
    bound_lists(&n);
    if (n.kind == K_leaf) {
        weft_array a = array(m, false);
        keep(m, byte(&m->in) % 3 ? weft_from(m->g, &a)
                                 : weft_input(m->g, "in", a.dtype, a.rank, a.dims));
        return;
    }
    if (n.kind == K_transpose && x[0] && n.p[0] < weft_expr_rank(x[0]))
        return; // the list is as long as the rank
    keep(m, build_node(&n, m->g, x));
}
static void evaluate(struct machine *m) {
    weft_expr *x[3];
    weft_array outs[3];
    int n = 1 + byte(&m->in) % 3;
    for (int k = 0; k < n; k++) {
        x[k] = operand(m);
        outs[k] = array(m, true);
        if (byte(&m->in) % 4 == 0 || !x[k]) continue; // mostly what fits
        outs[k] = weft_dense(weft_expr_dtype(x[k]), m->block + k * 20000, weft_expr_rank(x[k]),
                             weft_expr_dims(x[k]));
        if ((int64_t)weft_dtype_size(outs[k].dtype) * weft_array_count(&outs[k]) > 20000)
            outs[k].dims[0] = 0;
    }
    weft_eval_opts o = {.size = byte(&m->in) % 8 ? sizeof o : byte(&m->in),
                        .threads = (int8_t)byte(&m->in),
                        .unfused = byte(&m->in) & 1};
    weft_eval_n(n, x, outs, byte(&m->in) % 2 ? &o : NULL);
}
static void compile(struct machine *m) {
    weft_expr *x[1] = {operand(m)};
    weft_program *p = NULL;
    weft_array ins[4], out;
    char text[40];
    if (weft_compile(1, x, &p)) return;
    if (weft_program_inputs(p) <= 4 && x[0]) {
        for (int k = 0; k < 4; k++)
            ins[k] = array(m, true);
        out =
            weft_dense(weft_expr_dtype(x[0]), m->block, weft_expr_rank(x[0]), weft_expr_dims(x[0]));
        weft_run(p, NULL, ins, &out, text, byte(&m->in) % sizeof text);
    }
    weft_program_free(p);
}
static void look(struct machine *m) {
    weft_expr *x[1] = {operand(m)};
    char *text = NULL;
    if (byte(&m->in) % 2)
        weft_dump(1, x, (weft_dump_kind)(byte(&m->in) % 3), WEFT_ISA_BEST, &text);
    else
        weft_explain(1, x, &text);
    weft_text_free(ctx, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!ctx) {
        weft_ctx_opts o = {.size = sizeof o,
                           .threads = 1,
                           .backend = WEFT_BACKEND_INTERP,
                           .ignore_env = true,
                           .code_cache_bytes = 1 << 20};
        if (weft_ctx_new(&ctx, &o)) abort();
    }
    struct machine m = {.in = {data, data + (size < 600 ? size : 600)},
                        .g = weft_graph_new(ctx),
                        .block = calloc(1, BLOCK)};
    if (!m.g || !m.block) abort();
    while (m.in.at < m.in.end) {
        uint8_t what = byte(&m.in) % 32;
        if (what == 0)
            evaluate(&m);
        else if (what == 1)
            compile(&m);
        else if (what == 2)
            look(&m);
        else if (what == 3)
            weft_graph_reset(m.g), m.n = 0;
        else
            build(&m);
    }
    evaluate(&m);
    weft_graph_free(m.g);
    free(m.block);
    return 0;
}
