// SPDX-License-Identifier: MIT
// Graphs as bytes inside the graph room: every operation of the table and every type it takes comes back as the
// same node; saving what was loaded gives the same bytes; and bytes that are cut, changed or made up are refused
// or are a sound graph, in memory bounded by their number. The checksum is left aside here: what it would catch
// is fed to the reader itself.
#include <criterion/criterion.h>
#include <stdlib.h>

#include "ir/file.h"

TestSuite(ir_file, .timeout = 120);

// ---- memory that is counted ---------------------------------------------------------------------
static size_t held, most;
static void *counted(void *ud, void *p, size_t old, size_t size) {
    (void)ud;
    held += size - (p ? old : 0);
    if (held > most) most = held;
    if (size) return realloc(p, size);
    free(p);
    return NULL;
}
static const struct base_alloc counting = {counted, NULL};

// ---- a graph of everything ----------------------------------------------------------------------
enum { MOST_ROOTS = 4096 };
struct whole {
    struct ir_graph *g;
    ir_ref in[WEFT_DTYPE__N]; // an input [6,6] of each type
    ir_ref root[MOST_ROOTS];
    int n;
    bool seen[IR_OP__N];
};
static void want(struct whole *w, ir_ref r) {
    cr_assert(r, "%s", ir_error(w->g)->text);
    cr_assert_lt(w->n, MOST_ROOTS);
    w->root[w->n++] = r;
}
// What is not defined for these types is an error of the builder: the next graph goes on without it.
static void offer(struct whole *w, ir_ref r) {
    if (r) want(w, r);
    else err_clear(ir_error(w->g));
}

static void add_maps(struct whole *w) {
    for (int op = 1; op < IR_OP__N; op++)
        for (int t = 0; t < WEFT_DTYPE__N; t++) {
            const ir_ref x = w->in[t], b = w->in[WEFT_BOOL];
            if (op == IR_cast)
                for (int to = 0; to < WEFT_DTYPE__N; to++)
                    offer(w, ir_cast(w->g, x, (weft_dtype)to));
            else if (ir_ops[op].cls == IR_MAP || ir_ops[op].cls == IR_PAIR)
                offer(w, ir_map(w->g, (enum ir_op)op, op == IR_where ? (ir_ref[]){b, x, x} : (ir_ref[]){x, x, x}));
        }
}
static void add_reductions(struct whole *w) {
    for (int what = 0; what <= IR_ARGMAX; what++)
        for (int t = 0; t < WEFT_DTYPE__N; t++)
            for (int nan = 0; nan <= WEFT_NAN_RAISE; nan++) {
                const weft_reduce r = {.size = sizeof r, .axes = (int[]){1}, .naxes = 1, .nan = (weft_nan)nan,
                                       .keepdims = nan == 1, .ddof = 1, .compensated = nan == 0};
                offer(w, ir_reduce(w->g, (enum ir_reduction)what, w->in[t], &r));
            }
    const ir_ref none = ir_input(w->g, "none", WEFT_F64, 2, (int64_t[]){3, 0});
    for (int what = IR_SUM; what <= IR_ARGMAX; what++)
        offer(w, ir_reduce(w->g, (enum ir_reduction)what, none, &(weft_reduce){.size = sizeof(weft_reduce), .axes = (int[]){1}, .naxes = 1}));
}
static void add_views(struct whole *w) {
    for (int t = 0; t < WEFT_DTYPE__N; t++) {
        struct ir_graph *g = w->g;
        const ir_ref x = w->in[t], i = w->in[WEFT_I32];
        want(w, ir_reshape(g, x, 3, (int64_t[]){2, -1, 3}));
        want(w, ir_transpose(g, x, NULL));
        want(w, ir_slice(g, x, 1, -2, WEFT_NONE, -2));
        want(w, ir_index(g, x, 0, 2));
        want(w, ir_expand_dims(g, x, 1));
        want(w, ir_broadcast_to(g, x, 3, (int64_t[]){4, 6, 6}));
        want(w, ir_diagonal(g, x, -1, 1, 0));
        want(w, ir_windows(g, x, 0, 3));
        want(w, ir_fixed(g, "tile", x));
        want(w, ir_take(g, x, i, 0, WEFT_INDEX_WRAP));
        want(w, ir_take_along(g, x, i, 1, WEFT_INDEX_CLIP));
        want(w, ir_join(g, x, x, 1));
        want(w, ir_trim(g, x, ir_cast(g, ir_reduce(g, IR_COUNT_NONZERO, w->in[WEFT_BOOL], NULL), WEFT_I64), 0));
        want(w, ir_guard(g, x, w->in[WEFT_BOOL], IR_FAILED));
        offer(w, ir_matmul(g, x, ir_expand_dims(g, x, 0)));
        offer(w, ir_iota(g, (weft_dtype)t, 2, (int64_t[]){3, 4}, 1));
        const char value[16] = {1};
        want(w, ir_constant(g, (weft_dtype)t, value, IR_STRONG));
    }
    want(w, ir_imaginary(w->g, -2.5));
    want(w, ir_map(w->g, IR_exp, (ir_ref[]){ir_constant_of(w->g, WEFT_F64, ir_double_bits(2), IR_WEAK_FLOAT)}));
}
static ir_ref call(struct whole *w, enum ir_op op, const ir_ref *in, const int64_t *attr, int n) {
    const ir_ref c = ir_call(w->g, op, in, attr, n);
    for (int k = 1; c && k < ir_call_outputs(op); k++)
        want(w, ir_result(w->g, c, k));
    offer(w, c);
    return c;
}
static void add_calls(struct whole *w) {
    const ir_ref f = w->in[WEFT_F64], i = w->in[WEFT_I64], b = w->in[WEFT_BOOL];
    const ir_ref line = ir_reshape(w->g, f, 1, (int64_t[]){-1}), mask = ir_index(w->g, b, 0, 0);
    const ir_ref s = call(w, IR_sort, &line, (int64_t[]){0}, 1);
    call(w, IR_sort, &f, (int64_t[]){1}, 1);
    call(w, IR_search, (ir_ref[]){s, f, 0}, (int64_t[]){1}, 1);
    call(w, IR_unique, (ir_ref[]){s, ir_result(w->g, s, 1), 0}, NULL, 0);
    call(w, IR_histogram, (ir_ref[]){f, line, 0}, NULL, 0);
    for (int op = IR_R_sum; op <= IR_R_max; op++)
        call(w, IR_scan, &f, (int64_t[]){1, op - IR_R_sum}, 2);
    call(w, IR_scan, &b, (int64_t[]){0, IR_R_any - IR_R_sum}, 2);
    call(w, IR_scatter, (ir_ref[]){f, i, f}, (int64_t[]){1, WEFT_SCATTER_ADD, WEFT_INDEX_CLIP, 1}, 4);
    call(w, IR_compress, (ir_ref[]){mask, f, 0}, (int64_t[]){1}, 1);
    call(w, IR_cholesky, &f, (int64_t[]){1}, 1);
    call(w, IR_solve, (ir_ref[]){f, f, 0}, NULL, 0);
    call(w, IR_triangular, (ir_ref[]){f, f, 0}, (int64_t[]){1, 0, 1}, 3);
    call(w, IR_lu, &f, NULL, 0);
    call(w, IR_qr, &f, NULL, 0);
    call(w, IR_eigh, &f, NULL, 0);
    call(w, IR_svd, &f, (int64_t[]){1}, 1);
    call(w, IR_fft, (ir_ref[]){f, f, 0}, (int64_t[]){1, 1}, 2);
    call(w, IR_rfft, &f, (int64_t[]){0}, 1);
    const ir_ref bytes = ir_reshape(w->g, w->in[WEFT_U8], 1, (int64_t[]){-1});
    call(w, IR_unpack_bits, &bytes, (int64_t[]){3, 100}, 2);
    call(w, IR_irfft, (ir_ref[]){f, f, 0}, (int64_t[]){1, 10}, 2);
}

static void mark_seen(struct whole *w) {
    for (ir_ref r = 1; r < ir_count(w->g); r++)
        w->seen[ir_at(w->g, r)->op] = true;
}
static void build_whole(struct whole *w, void (*add)(struct whole *)) {
    *w = (struct whole){.g = ir_graph_new(NULL, 0)};
    for (int t = 0; t < WEFT_DTYPE__N; t++)
        w->in[t] = ir_input(w->g, dtype_name((weft_dtype)t), (weft_dtype)t, 2, (int64_t[]){6, 6});
    add(w);
    mark_seen(w);
}
static void (*const parts[])(struct whole *) = {add_maps, add_reductions, add_views, add_calls};

static struct base_vec saved(const struct ir_graph *g, int n, const ir_ref *roots) {
    struct base_vec out;
    struct base_err err = {WEFT_OK, ""};
    vec_init(&out, NULL);
    cr_assert_eq(ir_save(g, n, roots, &out, &err), WEFT_OK, "%s", err.text);
    return out;
}

static void same_graph(struct ir_graph *a, int n, const ir_ref *ra, struct ir_graph *b, const ir_ref *rb) {
    struct base_vec ta, tb, ka, kb;
    vec_init(&ta, NULL), vec_init(&tb, NULL), vec_init(&ka, NULL), vec_init(&kb, NULL);
    ir_dump(a, n, ra, &ta);
    ir_dump(b, n, rb, &tb);
    cr_expect(ta.size == tb.size && !memcmp(ta.data, tb.data, ta.size), "the dumps differ");
    cr_assert_eq(ir_key(a, n, ra, &ka, NULL, NULL), WEFT_OK);
    cr_assert_eq(ir_key(b, n, rb, &kb, NULL, NULL), WEFT_OK);
    cr_expect(ka.size == kb.size && !memcmp(ka.data, kb.data, ka.size), "the keys differ");
    vec_free(&ta), vec_free(&tb), vec_free(&ka), vec_free(&kb);
}

Test(ir_file, every_operation_comes_back) {
    bool seen[IR_OP__N] = {false};
    for (size_t p = 0; p < COUNT_OF(parts); p++) {
        static struct whole w;
        build_whole(&w, parts[p]);
        struct base_vec file = saved(w.g, w.n, w.root), roots;
        struct ir_graph *h = ir_graph_new(NULL, 0);
        vec_init(&roots, NULL);
        cr_assert_eq(ir_restore(h, file.data, file.size, &roots), WEFT_OK, "%s", ir_error(h)->text);
        cr_assert_eq(VEC_LEN(&roots, ir_ref), (size_t)w.n);
        same_graph(w.g, w.n, w.root, h, (const ir_ref *)(void *)roots.data);
        struct base_vec again = saved(h, w.n, (const ir_ref *)(void *)roots.data);
        cr_expect(again.size == file.size && !memcmp(again.data, file.data, file.size), "saved again it differs");
        for (int op = 0; op < IR_OP__N; op++)
            seen[op] |= w.seen[op];
        vec_free(&again), vec_free(&file), vec_free(&roots);
        ir_graph_free(h);
        ir_graph_free(w.g);
    }
    for (int op = 1; op < IR_OP__N; op++) {
        const bool lowered = ir_ops[op].cls == IR_PAIR && op != IR_complex;
        cr_expect(seen[op] || lowered || op == IR_from, "%s is in no graph of this test", ir_ops[op].name);
    }
}

Test(ir_file, names_of_operations_are_distinct) {
    for (int a = 1; a < IR_OP__N; a++)
        for (int b = 1; b < a; b++)
            cr_expect_str_neq(ir_ops[a].name, ir_ops[b].name);
}

// ---- hostile bytes ------------------------------------------------------------------------------
// A small graph with a little of everything.
static struct base_vec small_file(void) {
    struct ir_graph *g = ir_graph_new(NULL, 0);
    double data[12] = {0};
    const int64_t d[2] = {3, 4};
    const weft_array a = {.dtype = WEFT_C64, .rank = 2, .data = data, .dims = {3, 4}, .strides = {32, 8}};
    ir_ref x = ir_input(g, "x", WEFT_F64, 2, d), z = ir_from(g, &a), i = ir_input(g, "i", WEFT_I32, 1, d);
    ir_ref y = ir_map(g, IR_add, (ir_ref[]){x, ir_map(g, IR_exp, &x)});
    ir_ref s = ir_call(g, IR_sort, (ir_ref[]){ir_reshape(g, y, 1, (int64_t[]){-1}), 0, 0}, (int64_t[]){0}, 1);
    ir_ref roots[] = {ir_take(g, y, i, 0, WEFT_INDEX_CLIP), ir_map(g, IR_mul, (ir_ref[]){z, z}), s,
                      ir_call(g, IR_unique, (ir_ref[]){s, ir_result(g, s, 1), 0}, NULL, 0),
                      ir_reduce(g, IR_VAR, ir_slice(g, x, 1, 1, WEFT_NONE, 2), NULL),
                      ir_matmul(g, x, ir_transpose(g, x, NULL)), ir_fixed(g, "roll", x),
                      ir_iota(g, WEFT_I64, 2, d, 1), ir_join(g, x, y, 0), ir_windows(g, x, 1, 2)};
    for (size_t k = 0; k < COUNT_OF(roots); k++)
        cr_assert(roots[k], "%s", ir_error(g)->text);
    struct base_vec out = saved(g, COUNT_OF(roots), roots);
    ir_graph_free(g);
    return out;
}

// Refused with a sentence, or a sound graph; the number of accepted ones.
static int tried(const unsigned char *bytes, size_t size) {
    struct base_vec roots;
    struct base_err err = {WEFT_OK, ""};
    most = held = 0;
    struct ir_graph *g = ir_graph_new(&counting, 0);
    vec_init(&roots, &counting);
    const weft_status st = ir_restore(g, bytes, size, &roots);
    cr_assert_eq(st, ir_error(g)->status);
    cr_assert((st == WEFT_OK) == (ir_error(g)->text[0] == 0));
    cr_assert(ir_check(g, &err), "unsound: %s", err.text);
    cr_assert_leq(most, (96u << 10) + 128 * size, "%zu bytes of memory for %zu bytes", most, size);
    vec_free(&roots);
    ir_graph_free(g);
    cr_assert_eq(held, 0u);
    return st == WEFT_OK;
}

Test(ir_file, cut_at_every_length) {
    struct base_vec f = small_file();
    cr_assert_eq(tried(f.data, f.size), 1);
    for (size_t n = 0; n < f.size; n++) {
        unsigned char *cut = malloc(n + 1); // for memory checkers: no byte behind
        memcpy(cut, f.data, n);
        cr_expect_eq(tried(cut, n), 0, "of length %zu", n);
        if (n >= 24) memcpy(cut + 16, &(uint64_t){n}, 8); // even if it says so
        cr_expect_eq(tried(cut, n), 0, "of length %zu", n);
        free(cut);
    }
    vec_free(&f);
}

Test(ir_file, a_changed_byte_at_every_place) {
    struct base_vec f = small_file();
    int accepted = 0;
    for (size_t i = 0; i < f.size; i++) {
        const unsigned char old = f.data[i];
        for (int k = 0; k < 12; k++) {
            static const unsigned char other[4] = {0, 0xff, 0x7f, 0x20};
            f.data[i] = k < 8 ? (unsigned char)(old ^ 1 << k) : other[k - 8];
            accepted += tried(f.data, f.size);
        }
        f.data[i] = old;
    }
    cr_expect_gt(accepted, 0); // a constant's value, an extent, a name
    vec_free(&f);
}

Test(ir_file, hostile_words) {
    static const uint64_t words[] = {UINT64_MAX, INT64_MAX, (uint64_t)1 << 63, (uint64_t)1 << 32, 0x7fffffff, 0xffffffff, 0};
    struct base_vec f = small_file();
    unsigned char *copy = malloc(f.size);
    for (size_t i = 8; i + 8 <= f.size; i++)
        for (size_t k = 0; k < COUNT_OF(words); k++)
            for (size_t n = 2; n <= 8; n *= 2) {
                memcpy(copy, f.data, f.size);
                memcpy(copy + i, &words[k], n);
                tried(copy, f.size);
            }
    free(copy);
    vec_free(&f);
}

Test(ir_file, random_damage) {
    struct base_vec f = small_file();
    unsigned char *copy = malloc(f.size);
    uint64_t state = 12345;
    for (int i = 0; i < 20000; i++) {
        memcpy(copy, f.data, f.size);
        for (int k = 0; k <= i % 6; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const size_t at = IR_FILE_HEAD + (size_t)(state >> 33) % (f.size - IR_FILE_HEAD);
            copy[at] = (unsigned char)((state >> 20) % 3 ? (state >> 24) % 24 : state >> 25);
        }
        tried(copy, f.size);
    }
    free(copy);
    vec_free(&f);
}
