// SPDX-License-Identifier: MIT
// Whole graphs: interning, keys, replay with other extents, the checker, the dump, deep chains on a
// small stack, limits, and a refusal of every single allocation.
#include "ir/ir.h"
#include "ir/graph.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#define DIMS(...)                                                                                  \
    (int)COUNT_OF(((int64_t[]){__VA_ARGS__})), (int64_t[]) { __VA_ARGS__ }
static char some_data[2][64];

static ir_ref from(struct ir_graph *g, void *data, weft_dtype t, int rank, const int64_t *dims) {
    weft_array a = {.dtype = t, .rank = rank, .data = data};
    int64_t stride = (int64_t)dtype_size(t);
    for (int i = rank - 1; i >= 0; i--) {
        a.dims[i] = dims[i];
        a.strides[i] = stride;
        stride *= dims[i];
    }
    return ir_from(g, &a);
}
static ir_ref lit(struct ir_graph *g, double v) {
    return ir_constant(g, WEFT_F64, &v, IR_WEAK_FLOAT);
}
static ir_ref un(struct ir_graph *g, enum ir_op op, ir_ref a) { return ir_map(g, op, &a); }
static ir_ref bin(struct ir_graph *g, enum ir_op op, ir_ref a, ir_ref b) {
    return ir_map(g, op, (ir_ref[]){a, b});
}
static void check(struct ir_graph *g) {
    struct base_err e = {0};
    cr_assert(ir_check(g, &e), "%s", e.text);
    cr_assert_eq(ir_error(g)->status, WEFT_OK, "%s", ir_error(g)->text);
}

// ---- interning --------------------------------------------------------------------------------
Test(ir_graph, equal_calls_give_one_node) {
    struct ir_graph *g = ir_graph_new(NULL, 0);
    ir_ref x = from(g, some_data[0], WEFT_F64, DIMS(2, 2)),
           y = from(g, some_data[1], WEFT_F64, DIMS(2, 2));
    cr_expect_eq(from(g, some_data[0], WEFT_F64, DIMS(2, 2)), x);
    cr_expect_neq(x, y);
    cr_expect_neq(from(g, some_data[0], WEFT_F64, DIMS(4)), x);
    cr_expect_neq(from(g, some_data[0], WEFT_I64, DIMS(2, 2)), x);
    weft_array turned = {WEFT_F64, 2, some_data[0], {2, 2}, {8, 16}};
    cr_expect_neq(ir_from(g, &turned), x);
    cr_expect_eq(ir_leaf_count(g), 5);
    cr_expect_eq(bin(g, IR_add, x, y), bin(g, IR_add, x, y));
    cr_expect_neq(bin(g, IR_add, x, y), bin(g, IR_add, y, x),
                  "NaN payloads aside the same, but not folded");
    cr_expect_eq(ir_reduce(g, IR_STD, x, NULL), ir_reduce(g, IR_STD, x, NULL));
    cr_expect_neq(lit(g, 0), lit(g, -0.0));
    cr_expect_neq(ir_input(g, "a", WEFT_F64, 0, NULL), ir_input(g, "a", WEFT_F64, 0, NULL));
    uint32_t count = ir_count(g);
    bin(g, IR_add, x, y);
    cr_expect_eq(ir_count(g), count);
    check(g);
    ir_graph_free(g);
}

Test(ir_graph, sixty_doublings_are_sixty_nodes) {
    struct ir_graph *g = ir_graph_new(NULL, 0);
    ir_ref x = from(g, some_data[0], WEFT_F64, 0, NULL);
    for (int i = 0; i < 60; i++)
        x = bin(g, IR_add, x, x);
    cr_expect_eq(ir_count(g), 62);
    struct base_vec key;
    vec_init(&key, NULL);
    cr_expect_eq(ir_key(g, 1, &x, &key, NULL, NULL), WEFT_OK);
    cr_expect_lt(key.size, 61 * 4 * sizeof(int64_t));
    vec_free(&key);
    ir_graph_free(g);
}

Test(ir_graph, addresses_hold_while_the_graph_grows) {
    struct ir_graph *g = ir_graph_new(NULL, 0);
    ir_ref x = from(g, some_data[0], WEFT_F64, DIMS(3, 4));
    const struct ir_node *n = ir_at(g, x);
    const int64_t *dims = ir_dims(g, x);
    const struct ir_leaf *l = ir_leaf_at(g, 0);
    for (int i = 0; i < 20000; i++)
        bin(g, IR_mul, x, lit(g, i));
    cr_expect(ir_at(g, x) == n && ir_dims(g, x) == dims && ir_leaf_at(g, 0) == l);
    cr_expect(dims[0] == 3 && dims[1] == 4 && l->array.data == some_data[0]);
    check(g);
    ir_graph_free(g);
}

// A reset keeps nothing visible: the second life interns as a new graph does.
Test(ir_graph, reset_forgets) {
    struct ir_graph *g = ir_graph_new(NULL, 0), *h = ir_graph_new(NULL, 0);
    for (int life = 0; life < 50; life++) {
        int n = life * 37 % 400;
        ir_graph_reset(g);
        ir_graph_reset(h);
        ir_ref a = ir_input(g, "a", WEFT_F64, DIMS(3)), b = ir_input(h, "a", WEFT_F64, DIMS(3));
        for (int i = 0; i < n; i++) {
            a = bin(g, IR_add, a, lit(g, (i * 7 + life) % 11));
            b = bin(h, IR_add, b, lit(h, (i * 7 + life) % 11));
            if (life % 2) ir_squeeze(g, a, 0); // an error, cleared by the next reset
        }
        cr_expect_eq(a, b);
        cr_expect_eq(ir_count(g), ir_count(h));
        cr_expect_eq(ir_error(g)->status, life % 2 && n ? WEFT_ESHAPE : WEFT_OK);
        cr_expect_eq(ir_input_count(g), 1);
    }
    ir_graph_free(g);
    ir_graph_free(h);
}

Test(ir_graph, limit_of_nodes) {
    struct ir_graph *g = ir_graph_new(NULL, 10);
    ir_ref x = ir_input(g, "x", WEFT_F64, DIMS(3)), last = x;
    for (int i = 0; i < 9; i++)
        last = un(g, IR_sin, last);
    cr_expect_neq(last, IR_NONE);
    cr_expect_eq(un(g, IR_sin, last), IR_NONE);
    cr_expect_eq(ir_error(g)->status, WEFT_ELIMIT);
    cr_expect_str_eq(ir_error(g)->text, "sin: the graph has 10 nodes, its limit is 10");
    cr_expect_eq(un(g, IR_sin, x), x + 1, "what is there is found");
    ir_graph_free(g);
}

// ---- keys -------------------------------------------------------------------------------------
// Variant 0 is the model; each of the others differs in one thing.
static ir_ref build(struct ir_graph *g, int variant) {
    ir_ref noise = variant == 1 ? lit(g, 99) : IR_NONE; // other refs, same graph
    if (noise) from(g, some_data[1], WEFT_I8, DIMS(5));
    double k = variant == 2 ? 3 : 2;
    ir_ref x = from(g, some_data[variant == 3], variant == 4 ? WEFT_F32 : WEFT_F64,
                    DIMS(3, variant == 5 ? 5 : 4));
    if (variant == 6) x = ir_slice(g, x, 0, WEFT_NONE, WEFT_NONE, -1);
    ir_ref y = bin(g, IR_mul, x, lit(g, k));
    y = variant == 7 ? bin(g, IR_add, x, y) : bin(g, IR_add, y, x);
    weft_reduce r = {.size = sizeof r,
                     .axes = (int[]){variant == 8 ? 0 : 1},
                     .naxes = 1,
                     .keepdims = true,
                     .ddof = variant == 9 ? 1 : 0};
    return bin(g, IR_sub, y, ir_reduce(g, variant == 10 ? IR_MAX : IR_VAR, y, &r));
}

static void key_of(struct ir_graph *g, ir_ref root, struct base_vec *key, struct base_vec *leaves,
                   struct base_vec *consts) {
    vec_init(key, NULL);
    vec_init(leaves, NULL);
    vec_init(consts, NULL);
    cr_assert_eq(ir_key(g, 1, &root, key, leaves, consts), WEFT_OK);
}
static bool same_bytes(const struct base_vec *a, const struct base_vec *b) {
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

Test(ir_graph, keys_tell_structure_from_values) {
    // equal: other refs, constants, addresses. different: dtype, extent, view, order, axis, ddof,
    // operation
    static const bool equal[] = {true,  true,  true,  true,  false, false,
                                 false, false, false, false, false};
    struct ir_graph *g = ir_graph_new(NULL, 0), *h = ir_graph_new(NULL, 0);
    struct base_vec key[2], leaves[2], consts[2];
    key_of(g, build(g, 0), &key[0], &leaves[0], &consts[0]);
    cr_expect_eq(VEC_LEN(&leaves[0], ir_ref), 1);
    cr_expect_eq(VEC_LEN(&consts[0], ir_ref), 2); // the literal and the extent, the mean's too
    for (int v = 0; v < (int)COUNT_OF(equal); v++) {
        ir_graph_reset(h);
        key_of(h, build(h, v), &key[1], &leaves[1], &consts[1]);
        cr_expect_eq(same_bytes(&key[0], &key[1]), equal[v], "variant %d", v);
        // with ddof the divisor of the variance is a constant of its own
        if (equal[v] || v == 9) cr_expect_eq(VEC_LEN(&consts[1], ir_ref), v == 9 ? 3 : 2);
        vec_free(&key[1]);
        vec_free(&leaves[1]);
        vec_free(&consts[1]);
    }
    ir_ref c = VEC_AT(&consts[0], ir_ref, 0), e = VEC_AT(&consts[0], ir_ref, 1);
    cr_expect(ir_at(g, c)->op == IR_constant && ir_constant_bits(g, c) == ir_double_bits(2));
    cr_expect(ir_at(g, e)->op == IR_extent && ir_constant_bits(g, e) == ir_double_bits(4));
    vec_free(&key[0]);
    vec_free(&leaves[0]);
    vec_free(&consts[0]);
    ir_graph_free(g);
    ir_graph_free(h);
}

Test(ir_graph, order_of_first_use_is_left_to_right_post_order) {
    struct ir_graph *g = ir_graph_new(NULL, 0);
    ir_ref b = ir_input(g, "b", WEFT_F64, DIMS(3)), a = ir_input(g, "a", WEFT_F64, DIMS(3));
    ir_ref c = ir_input(g, "c", WEFT_F64, DIMS(3)), dead = ir_input(g, "dead", WEFT_F64, DIMS(3));
    ir_ref second = bin(g, IR_mul, c, lit(g, 5)),
           first = bin(g, IR_add, bin(g, IR_mul, a, lit(g, 7)), b);
    ir_ref roots[2] = {first, second};
    struct base_vec key, leaves, consts;
    vec_init(&key, NULL);
    vec_init(&leaves, NULL);
    vec_init(&consts, NULL);
    cr_assert_eq(ir_key(g, 2, roots, &key, &leaves, &consts), WEFT_OK);
    const ir_ref want[3] = {a, b, c};
    cr_expect_eq(VEC_LEN(&leaves, ir_ref), 3);
    cr_expect(memcmp(leaves.data, want, sizeof want) == 0);
    cr_expect_eq(ir_constant_bits(g, VEC_AT(&consts, ir_ref, 0)), ir_double_bits(7));
    cr_expect_eq(ir_constant_bits(g, VEC_AT(&consts, ir_ref, 1)), ir_double_bits(5));
    cr_expect_eq(ir_key(g, 1, (ir_ref[]){dead + 1000}, &key, NULL, NULL), WEFT_EINVAL);
    vec_free(&key);
    vec_free(&leaves);
    vec_free(&consts);
    ir_graph_free(g);
}

// ---- replay -----------------------------------------------------------------------------------
static void text_of(struct ir_graph *g, ir_ref r, char *buf, size_t size) {
    cr_assert_neq(r, IR_NONE, "%s", ir_error(g)->text);
    ir_type_text(g, r, buf, size);
}

enum { SCRIPTS = 18 };
// Graphs over two inputs x[n,m] and y[m]; the same script at other extents must be what replay
// makes.
static ir_ref script(struct ir_graph *g, int which, ir_ref x, ir_ref y) {
    int64_t _ = WEFT_NONE;
    weft_reduce first = {.size = sizeof first, .axes = (int[]){0}, .naxes = 1};
    weft_reduce last = {.size = sizeof last, .axes = (int[]){-1}, .naxes = 1, .keepdims = true};
    weft_reduce skip = {
        .size = sizeof skip, .axes = (int[]){1}, .naxes = 1, .nan = WEFT_NAN_SKIP, .ddof = 1};
    weft_reduce raise = {.size = sizeof raise, .nan = WEFT_NAN_RAISE};
    switch (which) {
    case 0: return bin(g, IR_add, bin(g, IR_mul, x, y), lit(g, 2));
    case 1: return bin(g, IR_sub, x, ir_reduce(g, IR_MEAN, x, &last));
    case 2: return ir_reduce(g, IR_STD, x, &first);
    case 3: return ir_slice(g, ir_slice(g, x, 0, -2, _, 1), 1, _, _, -2);
    case 4: return ir_reshape(g, x, DIMS(-1));
    case 5: return ir_matmul(g, x, y);
    case 6: return ir_matmul(g, ir_transpose(g, x, NULL), x);
    case 7:
        return ir_matmul(
            g, ir_expand_dims(g, x, 0),
            ir_broadcast_to(g, ir_expand_dims(g, y, 1), 3, (int64_t[]){3, ir_dims(g, y)[0], 1}));
    case 8:
        return ir_dot(g, ir_expand_dims(g, x, 0), ir_expand_dims(g, ir_expand_dims(g, y, 1), 0));
    case 9: return ir_reduce(g, IR_VAR, x, &skip);
    case 10: return ir_reduce(g, IR_SUM, x, &raise);
    case 11: return ir_diagonal(g, x, -1, 0, 1);
    case 12: return ir_reduce(g, IR_SUM, ir_slice(g, x, 0, 2, _, 1), &first); // empty for n <= 2
    case 13: return ir_index(g, x, 0, -1);
    case 14:
        return ir_map(g, IR_where,
                      (ir_ref[]){bin(g, IR_less, ir_cast(g, x, WEFT_I8), lit(g, 0)), x, y});
    case 15: return ir_reduce(g, IR_PROD, ir_cast(g, ir_slice(g, y, 0, 3, _, 1), WEFT_I16), NULL);
    case 16:
        return bin(g, IR_less, ir_cast(g, x, WEFT_I8),
                   ir_constant(g, WEFT_I64, &(int64_t){300}, IR_WEAK_INT));
    default: return ir_reduce(g, IR_ARGMAX, ir_squeeze(g, ir_expand_dims(g, x, 1), 1), &last);
    }
}

static ir_ref build_script(struct ir_graph *g, int which, int64_t n, int64_t m) {
    ir_ref x = ir_input(g, "x", WEFT_F32, DIMS(n, m)), y = ir_input(g, "y", WEFT_F64, DIMS(m));
    return script(g, which, x, y);
}

static void expect_same_key(struct ir_graph *g, ir_ref a, struct ir_graph *h, ir_ref b,
                            const char *what, int which) {
    struct base_vec ka, kb, la, lb, ca, cb;
    key_of(g, a, &ka, &la, &ca);
    key_of(h, b, &kb, &lb, &cb);
    cr_expect(same_bytes(&ka, &kb), "script %d: %s has another key", which, what);
    cr_expect_eq(ca.size, cb.size);
    for (size_t i = 0; i < VEC_LEN(&ca, ir_ref) && i < VEC_LEN(&cb, ir_ref); i++)
        cr_expect_eq(ir_constant_bits(g, VEC_AT(&ca, ir_ref, i)),
                     ir_constant_bits(h, VEC_AT(&cb, ir_ref, i)));
    struct base_vec *all[] = {&ka, &kb, &la, &lb, &ca, &cb};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        vec_free(all[i]);
}

Test(ir_graph, replay_is_building_again) {
    static const int64_t extents[][2] = {{3, 4}, {5, 7}, {2, 9}, {1, 4}, {4, 1}, {3, 3}, {2, 2}};
    int replayed = 0;
    for (int which = 0; which < SCRIPTS; which++) {
        for (size_t i = 0; i < COUNT_OF(extents); i++) {
            for (size_t j = 0; j < COUNT_OF(extents); j++) {
                struct ir_graph *g = ir_graph_new(NULL, 0), *h = ir_graph_new(NULL, 0),
                                *fresh = ir_graph_new(NULL, 0);
                ir_ref r = build_script(g, which, extents[i][0], extents[i][1]), image = IR_NONE;
                ir_ref want = build_script(fresh, which, extents[j][0], extents[j][1]);
                if (r && which != 7) { // 7 spells an extent out
                    const int64_t x[2] = {extents[j][0], extents[j][1]}, *dims[2] = {x, x + 1};
                    weft_status s = ir_replay(g, 1, &r, dims, h, &image);
                    cr_expect_eq(s, want ? WEFT_OK : ir_error(fresh)->status, "script %d: %s",
                                 which, ir_error(h)->text);
                    if (!s && want) {
                        check(h);
                        expect_same_key(h, image, fresh, want, "the replay", which);
                        cr_expect_eq(ir_input_count(h), 2);
                        replayed++;
                    }
                }
                ir_graph_free(g);
                ir_graph_free(h);
                ir_graph_free(fresh);
            }
        }
    }
    cr_expect_gt(replayed, 17 * 40);
}

Test(ir_graph, replay_without_new_extents_keeps_the_key) {
    for (int which = 0; which < SCRIPTS; which++) {
        struct ir_graph *g = ir_graph_new(NULL, 0), *h = ir_graph_new(NULL, 0);
        ir_ref r = build_script(g, which, 4, 5), image;
        cr_assert_eq(ir_replay(g, 1, &r, NULL, h, &image), WEFT_OK, "%s", ir_error(h)->text);
        expect_same_key(g, r, h, image, "the copy", which);
        char a[100], b[100];
        text_of(g, r, a, sizeof a);
        text_of(h, image, b, sizeof b);
        cr_expect_str_eq(a, b);
        cr_expect_eq(ir_replay(g, 1, &r, NULL, h, &image), WEFT_EINVAL, "h is not empty");
        ir_graph_free(g);
        ir_graph_free(h);
    }
}

// The whole plan of a reduction of nothing comes back when there is something.
Test(ir_graph, replay_of_a_reduction_of_nothing) {
    struct ir_graph *g = ir_graph_new(NULL, 0), *h = ir_graph_new(NULL, 0);
    ir_ref x = ir_input(g, "x", WEFT_F64, DIMS(0, 3)), image;
    weft_reduce rows = {.size = sizeof rows, .axes = (int[]){0}, .naxes = 1};
    ir_ref r = ir_reduce(g, IR_MEAN, x, &rows);
    cr_expect_eq(ir_at(g, ir_at(g, r)->in[0])->op, IR_broadcast_to);
    const int64_t more[2] = {4, 3}, none[2] = {0, 5}, *dims[1] = {more};
    cr_assert_eq(ir_replay(g, 1, &r, dims, h, &image), WEFT_OK, "%s", ir_error(h)->text);
    check(h);
    cr_expect_eq(ir_at(h, ir_at(h, image)->in[0])->op, IR_R_sum);
    ir_graph_reset(g);
    dims[0] = none;
    cr_assert_eq(ir_replay(h, 1, &image, dims, g, &r), WEFT_OK, "and away again");
    check(g);
    cr_expect_eq(ir_at(g, ir_at(g, r)->in[0])->op, IR_broadcast_to);
    cr_expect_eq(ir_dims(g, r)[0], 5);
    ir_graph_free(g);
    ir_graph_free(h);
}

Test(ir_graph, replay_leaves_the_dead_behind) {
    struct ir_graph *g = ir_graph_new(NULL, 0), *h = ir_graph_new(NULL, 0);
    ir_ref x = from(g, some_data[0], WEFT_F64, DIMS(3)),
           y = from(g, some_data[1], WEFT_F64, DIMS(3));
    for (int i = 0; i < 100; i++)
        un(g, IR_sin, bin(g, IR_add, y, lit(g, i)));
    ir_ref r = bin(g, IR_mul, x, x), image;
    cr_assert_eq(ir_replay(g, 1, &r, NULL, h, &image), WEFT_OK);
    cr_expect_eq(ir_count(h), 3);
    cr_expect_eq(ir_leaf_count(h), 1);
    ir_graph_free(g);
    ir_graph_free(h);
}

// ---- the checker sees what it is for ----------------------------------------------------------
Test(ir_graph, checker_finds_damage) {
    struct ir_graph *g = ir_graph_new(NULL, 0);
    ir_ref x = ir_input(g, "x", WEFT_F64, DIMS(3, 4)), y = bin(g, IR_mul, x, lit(g, 2));
    ir_ref s = ir_reduce(g, IR_MAX, y, NULL), t = ir_slice(g, x, 0, 1, 3, 1),
           m = ir_matmul(g, x, ir_transpose(g, x, NULL));
    ir_ref w = ir_map(g, IR_where, (ir_ref[]){bin(g, IR_less, x, y), x, y});
    check(g);
    struct {
        ir_ref r;
        struct ir_node bad;
        const char *what;
    } rows[] = {
        {y, *ir_at(g, y), "node"},  {y, *ir_at(g, y), "precede"}, {y, *ir_at(g, y), "type"},
        {y, *ir_at(g, y), "shape"}, {s, *ir_at(g, s), "run"},     {t, *ir_at(g, t), "outside"},
        {m, *ir_at(g, m), "rank"},  {w, *ir_at(g, w), "bool"},    {s, *ir_at(g, s), "too many"}};
    rows[0].bad.op = IR_OP__N;
    rows[1].bad.in[0] = y;
    rows[2].bad.dtype = WEFT_F32;
    rows[3].bad.rank = 1;
    rows[4].bad.nattr = 0;
    rows[5].bad.shape = ir_at(g, x)->shape;
    rows[6].bad.rank = 1;
    rows[7].bad.in[0] = x;
    rows[8].bad.in[1] = x;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct ir_node *n = ir_pool_at(&g->nodes, rows[i].r), good = *n;
        struct base_err e = {0};
        *n = rows[i].bad;
        cr_expect_not(ir_check(g, &e), "%s", rows[i].what);
        cr_expect_not_null(strstr(e.text, rows[i].what), "%s: %s", rows[i].what, e.text);
        *n = good;
    }
    check(g);
    ir_graph_free(g);
}

Test(ir_graph, dump_for_graphviz) {
    struct ir_graph *g = ir_graph_new(NULL, 0);
    ir_ref x = ir_input(g, "x", WEFT_F64, DIMS(3)),
           r = ir_reduce(g, IR_MEAN, un(g, IR_sqrt, x), NULL);
    struct base_vec out;
    vec_init(&out, NULL);
    ir_dot_dump(g, 1, &r, &out);
    const char *text = (const char *)out.data;
    cr_expect_not_null(strstr(text, "digraph weft {"));
    cr_expect_not_null(strstr(text, "n2 [shape=ellipse label=\"sqrt\\nf64[3]\"];\n  n1 -> n2;\n"));
    cr_expect_not_null(strstr(text, "n2 -> n4 [style=dotted];"));
    cr_expect_not_null(strstr(text, "n5 -> out0;\n}\n"));
    vec_free(&out);
    ir_graph_free(g);
}

// ---- depth ------------------------------------------------------------------------------------
static void *deep_chain(void *arg) {
    struct ir_graph *g = ir_graph_new(NULL, 0), *h = ir_graph_new(NULL, 0);
    ir_ref x = ir_input(g, "x", WEFT_F64, DIMS(3)), image;
    for (int i = 0; i < 100000; i++)
        x = un(g, i % 2 ? IR_sin : IR_exp, x);
    struct base_vec key, text;
    vec_init(&key, NULL);
    vec_init(&text, NULL);
    struct base_err e = {0};
    bool ok = ir_key(g, 1, &x, &key, NULL, NULL) == WEFT_OK &&
              ir_replay(g, 1, &x, NULL, h, &image) == WEFT_OK;
    ok = ok && ir_check(h, &e) && ir_count(h) == 100002;
    ir_dump(h, 1, &image, &text);
    ir_dot_dump(h, 1, &image, &text);
    *(bool *)arg = ok && !text.failed && text.size > 100000 * 20;
    vec_free(&key);
    vec_free(&text);
    ir_graph_free(g);
    ir_graph_free(h);
    return NULL;
}
Test(ir_graph, deep_chains_on_a_small_stack) {
    pthread_attr_t attr;
    pthread_t thread;
    bool ok = false;
    pthread_attr_init(&attr);
    cr_assert_eq(pthread_attr_setstacksize(&attr, 256 << 10), 0);
    cr_assert_eq(pthread_create(&thread, &attr, deep_chain, &ok), 0);
    pthread_join(thread, NULL);
    cr_expect(ok);
}

// ---- every allocation refused in turn ---------------------------------------------------------
struct miser {
    int64_t left, calls, live;
};
static void *miserly(void *ud, void *p, size_t old_size, size_t size) {
    struct miser *m = ud;
    if (size == 0) {
        m->live -= (int64_t)old_size;
        free(p);
        return NULL;
    }
    m->calls++;
    if (m->left-- <= 0) return NULL;
    void *q = realloc(p, size);
    m->live += (int64_t)size - (int64_t)old_size;
    return q;
}

// All that allocates: names, leaves, many nodes, keys, replay, dump. The first status that is not
// OK.
static weft_status exercise(const struct base_alloc *a) {
    struct ir_graph *g = ir_graph_new(a, 0), *h = ir_graph_new(a, 0);
    weft_status s = g && h ? WEFT_OK : WEFT_ENOMEM;
    struct base_vec key, leaves, consts;
    vec_init(&key, a);
    vec_init(&leaves, a);
    vec_init(&consts, a);
    ir_ref r = IR_NONE, image;
    if (!s) {
        ir_ref x = ir_input(g, "x", WEFT_F32, DIMS(3, 4)), y = ir_input(g, "y", WEFT_F64, DIMS(4));
        for (int i = 0; i < 300; i++)
            y = bin(g, IR_add, y, lit(g, i + 1));
        for (int i = 0; i < 20; i++)
            y = bin(g, IR_add, y, from(g, some_data[0] + i, WEFT_F64, DIMS(4)));
        for (int i = 0; i < 200; i++)
            y = ir_slice(g, y, 0, -4, i + 9, 1);
        r = bin(g, IR_add, ir_reduce(g, IR_VAR, x, NULL), ir_matmul(g, x, y));
        s = ir_error(g)->status;
        cr_assert_eq(r == IR_NONE, s != WEFT_OK);
    }
    if (!s) s = ir_key(g, 1, &r, &key, &leaves, &consts);
    if (!s && (s = ir_replay(g, 1, &r, NULL, h, &image))) cr_assert_eq(ir_error(h)->status, s);
    if (!s) {
        vec_clear(&key);
        ir_dump(h, 1, &image, &key);
        s = key.failed ? WEFT_ENOMEM : WEFT_OK;
    }
    struct base_err e = {0};
    if (g) cr_assert(ir_check(g, &e), "%s", e.text); // what was built stays whole
    vec_free(&key);
    vec_free(&leaves);
    vec_free(&consts);
    ir_graph_free(g);
    ir_graph_free(h);
    return s;
}

Test(ir_graph, every_refused_allocation_is_a_status) {
    struct miser m = {.left = INT64_MAX};
    struct base_alloc a = {miserly, &m};
    cr_assert_eq(exercise(&a), WEFT_OK);
    cr_assert_eq(m.live, 0);
    int64_t calls = m.calls;
    cr_assert_gt(calls, 30);
    for (int64_t n = 0; n < calls; n++) {
        m = (struct miser){.left = n};
        cr_assert_eq(exercise(&a), WEFT_ENOMEM, "refused after %d", (int)n);
        cr_assert_eq(m.live, 0, "leak when refused after %d", (int)n);
    }
}
