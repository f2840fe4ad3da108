// SPDX-License-Identifier: MIT
// Maps that follow a matrix product in one pass, through the public header: the bits of the product
// stored first and mapped afterwards, for every kind of map, sizes around the blocks, layouts of the
// output, overlaps, both tiers and thread counts. Outputs are full of NaN beforehand.
#include "cases.h"

enum { THREADS = 3, FORMS = 11 };
static weft_ctx *ctxs[2][THREADS];

static void begin(void) {
    for (int tier = 0; tier < 2; tier++)
        for (int t = 0; t < THREADS; t++)
            ctxs[tier][t] = new_ctx(tier ? WEFT_BACKEND_JIT : WEFT_BACKEND_INTERP, t + 1);
}
static void end(void) {
    for (int i = 0; i < 2 * THREADS; i++)
        weft_ctx_free(ctxs[i / THREADS][i % THREADS]);
}
TestSuite(follow, .init = begin, .fini = end, .timeout = PATIENCE * 240);

struct shape {
    int64_t batch, m, n, k; // batch 0: none
};
static const struct shape shapes[] = {
    {0, 1, 1, 1},   {0, 7, 5, 3},      {0, 16, 16, 16}, {0, 64, 64, 64},   {0, 33, 70, 300},
    {0, 1, 300, 90}, {0, 300, 1, 2100}, {0, 130, 257, 513}, {5, 16, 16, 16}, {40, 9, 11, 13},
    {3, 70, 90, 300}, {0, 9, 13, 0},    {6, 1, 20, 30},
};

struct data {
    struct shape s;
    weft_dtype t;
    char *a, *b, *row, *col, *same;
    weft_array x, y, r, c, z;
};

static char *numbers(weft_dtype t, int64_t n, uint32_t seed) {
    const size_t es = weft_dtype_size(t);
    char *p = malloc(es * (size_t)n + 64);
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        const double d = (double)seed / 2147483648.0 - 1;
        const float f = (float)d;
        const int64_t v = (int64_t)(seed >> 8) - (1 << 23);
        memcpy(p + es * (size_t)i, t == WEFT_F64 ? (const void *)&d : t == WEFT_F32 ? (const void *)&f : &v, es);
    }
    return p;
}

static void make(struct data *d, const struct shape *s, weft_dtype t) {
    const int64_t batch = s->batch ? s->batch : 1, rank = s->batch ? 3 : 2;
    d->s = *s;
    d->t = t;
    d->a = numbers(t, batch * s->m * s->k, 1);
    d->b = numbers(t, batch * s->k * s->n, 2);
    d->row = numbers(t, s->n, 3);
    d->col = numbers(t, s->m, 4);
    d->same = numbers(t, batch * s->m * s->n, 5);
    const int64_t xd[] = {batch, s->m, s->k}, yd[] = {batch, s->k, s->n}, zd[] = {batch, s->m, s->n};
    d->x = weft_dense(t, d->a, (int)rank, xd + 3 - rank);
    d->y = weft_dense(t, d->b, (int)rank, yd + 3 - rank);
    d->z = weft_dense(t, d->same, (int)rank, zd + 3 - rank);
    d->r = weft_dense(t, d->row, 1, DIMS(s->n));
    d->c = weft_dense(t, d->col, 2, DIMS(s->m, 1));
}
static void drop(struct data *d) {
    free(d->a), free(d->b), free(d->row), free(d->col), free(d->same);
}

static bool is_flt(weft_dtype t) { return t == WEFT_F64 || t == WEFT_F32; }

// A map of the product; NULL: not for this type.
static weft_expr *form(weft_graph *g, const struct data *d, int which) {
    weft_expr *p = weft_matmul(weft_from(g, &d->x), weft_from(g, &d->y));
    weft_expr *row = weft_from(g, &d->r), *col = weft_from(g, &d->c), *z = weft_from(g, &d->z);
    if (which >= 6 && which <= 8 && !is_flt(d->t)) return NULL;
    switch (which) {
    case 0: return weft_maximum(weft_add(p, row), weft_int(g, 0));
    case 1: return weft_add(p, z);
    case 2: return weft_add(weft_mul(weft_sub(z, p), col), weft_mul(p, p));
    case 3: return weft_cast(weft_add(p, row), d->t == WEFT_F64 ? WEFT_F32 : WEFT_F64);
    case 4: return weft_cast(weft_mul(p, weft_int(g, 3)), WEFT_I16);
    case 5: return weft_less(p, z);
    case 6: return weft_sigmoid(weft_add(p, row));
    case 7: return weft_mul(p, weft_erf(weft_add(p, col)));
    case 8: return weft_where(weft_greater(p, z), weft_exp(z), weft_tanh(p));
    case 9: return weft_swap_axes(weft_add(p, row), -1, -2);
    default: return weft_add(p, weft_iota(g, d->t, weft_expr_rank(p), weft_expr_dims(p), weft_expr_rank(p) - 1));
    }
}

static const char *run(const struct data *d, int which, int tier, int t, bool unfused, char *out) {
    static char text[200];
    weft_graph *g = weft_graph_new(ctxs[tier][t]);
    weft_expr *e = form(g, d, which);
    text[0] = 0;
    if (e) {
        weft_array o = weft_dense(weft_expr_dtype(e), out, weft_expr_rank(e), weft_expr_dims(e));
        const weft_eval_opts eo = {.size = sizeof eo, .unfused = unfused};
        if (weft_eval(e, &o, &eo)) snprintf(text, sizeof text, "%s", weft_graph_error(g));
    } else if (weft_graph_status(g)) {
        snprintf(text, sizeof text, "%s", weft_graph_error(g));
    }
    weft_graph_free(g);
    return text;
}

static weft_dtype type_of(const struct data *d, int which) {
    return which == 3 ? (d->t == WEFT_F64 ? WEFT_F32 : WEFT_F64) : which == 4 ? WEFT_I16 : which == 5 ? WEFT_BOOL : d->t;
}

static void check_shape(const struct shape *s, weft_dtype t) {
    struct data d;
    make(&d, s, t);
    const int64_t n = (s->batch ? s->batch : 1) * s->m * s->n;
    char *want = malloc(8 * (size_t)n), *got = malloc(8 * (size_t)n);
    for (int which = 0; which < FORMS; which++) {
        if (which >= 6 && which <= 8 && !is_flt(t)) continue;
        memset(want, 0xff, 8 * (size_t)n);
        const char *bad = run(&d, which, 0, 0, true, want);
        cr_assert(!*bad, "form %d: %s", which, bad);
        for (int c = 0; c < 2 * THREADS; c++) {
            memset(got, 0xff, 8 * (size_t)n);
            bad = run(&d, which, c / THREADS, c % THREADS, false, got);
            cr_assert(!*bad, "form %d: %s", which, bad);
            const weft_dtype to = type_of(&d, which);
            const size_t es = weft_dtype_size(to);
            for (int64_t i = 0; i < n; i++)
                cr_assert(same_bits(to, got + es * (size_t)i, want + es * (size_t)i),
                          "%s form %d, tier %d, %d threads, %ldx%ldx%ldx%ld: element %ld", weft_dtype_name(t), which,
                          c / THREADS, c % THREADS + 1, (long)s->batch, (long)s->m, (long)s->n, (long)s->k, (long)i);
        }
    }
    free(want), free(got);
    drop(&d);
}

Test(follow, same_bits_as_stored_first_f64) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check_shape(&shapes[i], WEFT_F64);
}
Test(follow, same_bits_as_stored_first_f32) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check_shape(&shapes[i], WEFT_F32);
}
Test(follow, same_bits_as_stored_first_integers) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i += 2) {
        check_shape(&shapes[i], WEFT_I32);
        check_shape(&shapes[i], WEFT_U8);
    }
}

// ---- outputs of any layout, over their own operands --------------------------------------------------------
// out strides in elements; the array has room for all of them.
struct layout {
    int64_t rs, cs, at;
};

Test(follow, outputs_of_any_layout) {
    enum { M = 37, N = 41, K = 300, ROOM = 4 * M * N };
    static const struct layout layouts[] = {{N, 1, 0}, {1, M, 0}, {2 * N, 2, 0}, {-N, 1, (M - 1) * N},
                                            {N, -1, N - 1}, {-1, -M, M * N - 1}, {N + 3, 1, 5}, {2, 2 * M, 0}};
    static double want[M * N], room[ROOM];
    struct data d;
    make(&d, &(struct shape){0, M, N, K}, WEFT_F64);
    run(&d, 0, 0, 0, true, (char *)want);
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++)
        for (int c = 0; c < 2 * THREADS; c++) {
            memset(room, 0xff, sizeof room);
            weft_graph *g = weft_graph_new(ctxs[c / THREADS][c % THREADS]);
            weft_array o = weft_dense(WEFT_F64, room + layouts[l].at, 2, DIMS(M, N));
            o.strides[0] = 8 * layouts[l].rs, o.strides[1] = 8 * layouts[l].cs;
            must(g, weft_eval(form(g, &d, 0), &o, NULL));
            int64_t left = 0;
            for (int i = 0; i < ROOM; i++)
                left += room[i] != room[i];
            cr_assert_eq(left, ROOM - M * N, "layout %zu: writes beside the output", l);
            for (int64_t i = 0; i < M * N; i++)
                cr_assert_eq(room[layouts[l].at + i / N * layouts[l].rs + i % N * layouts[l].cs], want[i],
                             "layout %zu, element %ld", l, (long)i);
            weft_graph_free(g);
        }
    drop(&d);
}

// As if the inputs had been copied first, whatever the output lies on.
Test(follow, outputs_over_operands) {
    enum { N = 90 };
    static double want[N * N];
    for (int which = 0; which < 3; which++)
        for (int over = 0; over < 3; over++)
            for (int c = 0; c < 2 * THREADS; c++) {
                struct data d;
                make(&d, &(struct shape){0, N, N, N}, WEFT_F64);
                run(&d, which, 0, 0, true, (char *)want);
                weft_graph *g = weft_graph_new(ctxs[c / THREADS][c % THREADS]);
                weft_array o = over == 0 ? d.x : over == 1 ? d.y : d.z;
                must(g, weft_eval(form(g, &d, which), &o, NULL));
                cr_assert(!memcmp(o.data, want, sizeof want), "form %d over operand %d", which, over);
                weft_graph_free(g);
                drop(&d);
            }
}

// ---- several outputs, the product among them -----------------------------------------------------------------
Test(follow, several_outputs) {
    static const struct shape s = {0, 130, 140, 300};
    const size_t n = (size_t)(s.m * s.n);
    struct data d;
    make(&d, &s, WEFT_F32);
    float *want[4], *got[4];
    for (int i = 0; i < 4; i++)
        want[i] = malloc(4 * n), got[i] = malloc(4 * n);
    for (int c = -1; c < 2 * THREADS; c++) {
        weft_graph *g = weft_graph_new(ctxs[c < 0 ? 0 : c / THREADS][c < 0 ? 0 : c % THREADS]);
        weft_expr *p = weft_matmul(weft_from(g, &d.x), weft_from(g, &d.y)), *h = weft_add(p, weft_from(g, &d.r));
        weft_expr *e[4] = {weft_tanh(h), p, weft_mul(h, p), weft_neg(p)};
        weft_array o[4];
        for (int i = 0; i < 4; i++)
            o[i] = weft_dense(WEFT_F32, c < 0 ? want[i] : got[i], 2, DIMS(s.m, s.n));
        const weft_eval_opts eo = {.size = sizeof eo, .unfused = c < 0};
        must(g, weft_eval_n(4, e, o, &eo));
        weft_graph_free(g);
        for (int i = 0; i < 4 && c >= 0; i++)
            cr_assert(!memcmp(want[i], got[i], 4 * n), "output %d", i);
    }
    for (int i = 0; i < 4; i++)
        free(want[i]), free(got[i]);
    drop(&d);
}
