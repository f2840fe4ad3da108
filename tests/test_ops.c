// SPDX-License-Identifier: MIT
// Composed operations through the public header: Philox built out of mul_hi against the known
// answers of Random123 and against the kernel, carries over four digits against 128-bit arithmetic,
// orders of norms, limits of half types, what is refused.
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "weft/weft.h"

__extension__ typedef unsigned __int128 wide;
static const weft_backend backends[] = {WEFT_BACKEND_INTERP, WEFT_BACKEND_JIT};
static weft_ctx *ctx;
static weft_graph *g;

static void begin(weft_backend b) {
    weft_ctx_opts o = {.size = sizeof o, .backend = b, .threads = 1};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    g = weft_graph_new(ctx);
}
static void finish(void) {
    weft_graph_free(g);
    weft_ctx_free(ctx);
}
static weft_expr *array(weft_dtype t, void *data, int64_t n) {
    weft_array a = weft_dense(t, data, 1, &n);
    return weft_from(g, &a);
}
static void eval(weft_expr *const *x, int n, void *const *out) {
    weft_array outs[8];
    for (int i = 0; i < n; i++)
        outs[i] =
            weft_dense(weft_expr_dtype(x[i]), out[i], weft_expr_rank(x[i]), weft_expr_dims(x[i]));
    cr_assert_eq(weft_eval_n(n, x, outs, NULL), WEFT_OK, "%s", weft_graph_error(g));
}

// ---- Philox
// ---------------------------------------------------------------------------------------------
static weft_expr *u32(uint32_t v) {
    return weft_scalar(g, WEFT_U32, &v);
}
static weft_expr *mix(weft_expr *hi, weft_expr *c, weft_expr *k) {
    return weft_bitwise_xor(weft_bitwise_xor(hi, c), k);
}
static void philox(weft_expr *c[4], weft_expr *k0, weft_expr *k1) {
    weft_expr *m0 = u32(0xd2511f53), *m1 = u32(0xcd9e8d57);
    for (int round = 0; round < 10; round++) {
        weft_expr *w0 = mix(weft_mul_hi(c[2], m1), c[1], k0), *w1 = weft_mul(c[2], m1);
        weft_expr *w2 = mix(weft_mul_hi(c[0], m0), c[3], k1), *w3 = weft_mul(c[0], m0);
        c[0] = w0, c[1] = w1, c[2] = w2, c[3] = w3;
        k0 = weft_add(k0, u32(0x9e3779b9));
        k1 = weft_add(k1, u32(0xbb67ae85));
    }
}

static void known_answers(void) {
    static uint32_t in[6][3] = {{0, ~0u, 0x243f6a88}, {0, ~0u, 0x85a308d3}, {0, ~0u, 0x13198a2e},
                                {0, ~0u, 0x03707344}, {0, ~0u, 0xa4093822}, {0, ~0u, 0x299f31d0}};
    static const uint32_t want[4][3] = {{0x6627e8d5, 0x408f276d, 0xd16cfe09},
                                        {0xe169c58d, 0x41c83b0e, 0x94fdcceb},
                                        {0xbc57ac4c, 0xa20bc7c6, 0x5001e420},
                                        {0x9b00dbd8, 0x6d5451fd, 0x24126ea1}};
    uint32_t got[4][3];
    weft_expr *c[6];
    for (int i = 0; i < 6; i++)
        c[i] = array(WEFT_U32, in[i], 3);
    philox(c, c[4], c[5]);
    eval(c, 4, (void *[]){got[0], got[1], got[2], got[3]});
    cr_assert_eq(memcmp(got, want, sizeof want), 0);
}

enum { BLOCKS = 300 };
static void kernel_is_the_graph(uint64_t key, uint64_t first) {
    static uint32_t words[4][BLOCKS], bits[4 * BLOCKS];
    int64_t n = BLOCKS;
    weft_expr *at = weft_add(weft_iota(g, WEFT_U64, 1, &n, 0), weft_scalar(g, WEFT_U64, &first));
    weft_expr *c[4] = {weft_cast(at, WEFT_U32),
                       weft_cast(weft_right_shift(at, weft_int(g, 32)), WEFT_U32), u32(0), u32(0)};
    philox(c, u32((uint32_t)key), u32((uint32_t)(key >> 32)));
    eval(c, 4, (void *[]){words[0], words[1], words[2], words[3]});
    weft_expr *x =
        weft_random_bits(g, (weft_stream){key, 4 * first}, WEFT_U32, 1, (int64_t[]){4 * BLOCKS});
    eval(&x, 1, (void *[]){bits});
    for (int i = 0; i < 4 * BLOCKS; i++)
        cr_assert_eq(bits[i], words[i % 4][i / 4], "word %d of key %llx", i,
                     (unsigned long long)key);
}

Test(ops, philox) {
    for (size_t b = 0; b < 2; b++) {
        begin(backends[b]);
        known_answers();
        kernel_is_the_graph(0, 0);
        kernel_is_the_graph(0x0123456789abcdef, 0xfffffff0);
        finish();
    }
}

// ---- carries
// --------------------------------------------------------------------------------------------
// 128-bit sums digit by digit in 32 bits
Test(ops, carry_chain) {
    enum { N = 1000 };
    static uint32_t a[4][N], b[4][N], s[4][N];
    static uint8_t over[N];
    uint64_t seed = 99;
    for (int i = 0; i < 4 * N; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        a[i % 4][i / 4] = seed >> 62 ? (uint32_t)(seed >> 20) : ~0u;
        b[i % 4][i / 4] = seed >> 61 & 1 ? (uint32_t)(seed >> 29) : 0;
    }
    for (size_t k = 0; k < 2; k++) {
        begin(backends[k]);
        weft_expr *x[5], *carry = weft_truth(g, true);
        for (int i = 0; i < 4; i++)
            x[i] =
                weft_add_carry(array(WEFT_U32, a[i], N), array(WEFT_U32, b[i], N), carry, &carry);
        x[4] = carry;
        eval(x, 5, (void *[]){s[0], s[1], s[2], s[3], over});
        for (int i = 0; i < N; i++) {
            wide p = 0, q = 0, r = 0;
            for (int d = 3; d >= 0; d--)
                p = p << 32 | a[d][i], q = q << 32 | b[d][i], r = r << 32 | s[d][i];
            cr_assert(p + q + 1 == r && over[i] == (p + q + 1 <= p), "%d", i);
        }
        finish();
    }
}

// ---- norms, limits, errors
// ------------------------------------------------------------------------------
static double scalar_of(weft_expr *x) {
    double v = -1;
    eval(&x, 1, (void *[]){&v});
    return v;
}
Test(ops, orders_of_norms) {
    double x[] = {3, -4, 0, 12};
    begin(WEFT_BACKEND_INTERP);
    weft_expr *e = array(WEFT_F64, x, 4);
    cr_assert_eq(scalar_of(weft_norm(e, INFINITY, NULL)), 12);
    cr_assert_eq(scalar_of(weft_norm(e, -INFINITY, NULL)), 0);
    cr_assert_eq(scalar_of(weft_norm(e, 0, NULL)), 3);
    cr_assert_eq(scalar_of(weft_norm(e, 1, NULL)), 19);
    cr_assert_eq(scalar_of(weft_norm(e, 2, NULL)), 13);
    finish();
}

Test(ops, halves) {
    uint16_t x[] = {0x7c00, 0xfc00, 0x7e00, 0x3c00}, y[4]; // inf, -inf, NaN, 1
    static const uint16_t want[] = {0x7bff, 0xfbff, 0, 0x3c00};
    begin(WEFT_BACKEND_INTERP);
    weft_expr *e = weft_nan_to_num(array(WEFT_F16, x, 4), 0, INFINITY, -INFINITY);
    eval(&e, 1, (void *[]){y});
    cr_assert_eq(memcmp(y, want, sizeof want), 0);
    cr_assert((weft_nextafter(array(WEFT_F16, x, 4), array(WEFT_F16, x, 4))) == NULL);
    cr_assert_eq(weft_graph_status(g), WEFT_EDTYPE);
    finish();
}

#define REFUSED(call, status)                                                                      \
    do {                                                                                           \
        begin(WEFT_BACKEND_INTERP);                                                                \
        cr_assert((call) == NULL);                                                                      \
        cr_assert_eq(weft_graph_status(g), status, "%s", weft_graph_error(g));                     \
        finish();                                                                                  \
    } while (0)
Test(ops, refused) {
    const int64_t n = 4, huge[2] = {INT64_MAX / 8, INT64_MAX / 8}, negative = -1;
    const weft_stream s = {1, 2};
    REFUSED(weft_random_uniform(g, s, WEFT_I32, 1, &n), WEFT_EDTYPE);
    REFUSED(weft_random_bits(g, s, WEFT_F64, 1, &n), WEFT_EDTYPE);
    REFUSED(weft_random_integers(g, s, (weft_bounds){0, 0}, WEFT_I32, 1, &n), WEFT_EINVAL);
    REFUSED(weft_random_integers(g, s, (weft_bounds){-1, 5}, WEFT_U8, 1, &n), WEFT_EINVAL);
    REFUSED(weft_random_normal(g, s, WEFT_F64, 2, huge), WEFT_ESHAPE);
    REFUSED(weft_zeros(g, WEFT_F64, 1, &negative), WEFT_ESHAPE);
    REFUSED(weft_arange(g, WEFT_F64, 0, 1, 0), WEFT_EINVAL);
    REFUSED(weft_linspace(g, WEFT_F64, (weft_space){0, 1, -3, true}), WEFT_ESHAPE);
    REFUSED(weft_tril(weft_float(g, 1), 0), WEFT_ESHAPE);
    REFUSED(weft_positive(weft_scalar(g, WEFT_BOOL, "\1")), WEFT_EDTYPE);
    REFUSED(weft_norm(weft_float(g, 1), NAN, NULL), WEFT_EINVAL);
    REFUSED(weft_softmax(weft_float(g, 1), 0), WEFT_EINVAL);
    cr_assert((weft_divmod(NULL, NULL, NULL)) == NULL);
    cr_assert((weft_softmax(NULL, 0)) == NULL);
    cr_assert((weft_trapezoid(NULL, NULL, 1, 0)) == NULL);
}
