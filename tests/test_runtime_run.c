// SPDX-License-Identifier: MIT
// Whole runs: long reductions that are cut in tiles and pieces, several steps over temporaries,
// guards, products, and what a run promises its host: the floating-point environment, errno,
// memory.
#include <criterion/criterion.h>
#include <errno.h>
#include <fenv.h>
#include <stdlib.h>

#include "rt_fake.h"
#include "runtime/walk.h"

// ---- long reductions --------------------------------------------------------------------------

struct shape {
    enum nest_mode mode;
    int nouter, nrow, ncol;
    int64_t dim[4];
    int order[4]; // dims of the input from the outermost in memory to the innermost
    int64_t step; // elements between neighbours of the innermost
    bool cut;     // the run must take several tiles or pieces
};
static const struct shape shapes[] = {
    {NEST_INNER, 0, 1, 1, {1, 130001}, {0, 1}, 1, true},
    {NEST_INNER, 0, 1, 1, {3, 70001}, {0, 1}, 2, true},
    {NEST_INNER, 0, 1, 2, {2, 100, 701}, {0, 2, 1}, 1, true},
    {NEST_INNER, 0, 1, 2, {2, 700, 3}, {2, 1, 0}, 1, false},
    {NEST_INNER, 1, 1, 1, {3, 20, 1000}, {2, 1, 0}, 1, false},
    {NEST_INNER, 0, 1, 1, {1, 65536}, {0, 1}, 1, true},
    {NEST_INNER, 0, 1, 1, {1, 65537}, {0, 1}, 3, true},
    {NEST_INNER, 0, 1, 1, {2, 66047}, {1, 0}, 1, true},
    {NEST_INNER, 0, 1, 1, {100, 1025}, {0, 1}, 1, false},
    {NEST_OUTER, 0, 1, 1, {5000, 3}, {0, 1}, 1, true},
    {NEST_OUTER, 0, 1, 1, {1001, 70}, {0, 1}, 2, true},
    {NEST_OUTER, 0, 2, 1, {70, 25, 40}, {1, 0, 2}, 1, true},
    {NEST_OUTER, 0, 1, 1, {40, 5000}, {0, 1}, 1, false},
    {NEST_OUTER, 0, 1, 1, {2048, 40}, {1, 0}, 1, true},
    {NEST_OUTER, 0, 1, 1, {1025, 100}, {1, 0}, 1, true},
    {NEST_OUTER, 0, 1, 1, {2047, 1}, {0, 1}, 1, true},
    {NEST_OUTER, 1, 1, 2, {3, 700, 3, 7}, {2, 3, 0, 1}, 1, true},
};

// x over all dims, in the given order of memory.
static weft_array make_input(const struct shape *s, int n, uint64_t *seed) {
    weft_array a = {.dtype = WEFT_F64, .rank = n};
    int64_t stride = 8 * s->step;
    for (int i = n - 1; i >= 0; i--) {
        const int d = s->order[i];
        a.dims[d] = s->dim[d];
        a.strides[d] = stride;
        stride *= s->dim[d];
    }
    double *p = malloc((size_t)stride);
    cr_assert(p);
    for (int64_t i = 0; i < stride / 8; i++)
        p[i] = (double)(fake_below(seed, 1 << 24) - (1 << 23)) / 977.0;
    a.data = p;
    return a;
}

// Dense over the dims that are kept.
static weft_array make_output(const struct shape *s, int n, int *axis) {
    const int row = s->nouter, col = row + s->nrow;
    int64_t dims[4];
    int rank = 0;
    for (int d = 0; d < n; d++) {
        const bool kept = s->mode == NEST_INNER ? d < col : d < row || d >= col;
        axis[d] = kept ? rank : -1;
        if (kept) dims[rank++] = s->dim[d];
    }
    weft_array a = {.dtype = WEFT_F64, .rank = rank};
    int64_t stride = 8;
    for (int d = rank - 1; d >= 0; d--) {
        a.dims[d] = dims[d];
        a.strides[d] = stride;
        stride *= dims[d];
    }
    a.data = calloc((size_t)stride, 2); // the second half for the reference
    cr_assert(a.data);
    return a;
}

static int64_t bytes_of(const weft_array *a) {
    return a->rank ? a->dims[0] * a->strides[0] : 8;
}

static void compare_shape(const struct shape *s, struct fake_program *f, struct rt_env *env,
                          const int64_t *shift, int cost) {
    arena_reset(&f->program.arena);
    cr_assert_eq(fake_finish(f, env, cost), WEFT_OK);
    const struct rt_walk *w = f->step.walk;
    const int number = (int)(s - shapes);
    if (s->cut && cost > 1) cr_assert(w->tiled_run || w->pieces > 1, "shape %d is not cut", number);
    for (int threads = 1; threads <= env->threads; threads++) {
        for (int i = 0; i < 3; i++)
            memset(f->out_data[i], 0xcc, (size_t)shift[i]);
        cr_assert_eq(fake_run(f, env, NULL, threads), WEFT_OK);
        for (int i = 0; i < 3; i++)
            cr_assert(memcmp(f->out_data[i], (char *)f->out_data[i] + shift[i], (size_t)shift[i]) ==
                          0,
                      "shape %d, reduction %d, %d threads", number, i, threads);
    }
}

static void check_shape(const struct shape *s, struct rt_env *env) {
    static const struct rt_reduce reductions[] = {
        {KERN_SUM, WEFT_F64}, {KERN_SUM, WEFT_F32}, {KERN_ARGMIN, WEFT_F64}};
    const int n = s->nouter + s->nrow + s->ncol, all[] = {0, 1, 2, 3};
    uint64_t seed = 7;
    int64_t shift[3];
    struct fake_program f;
    fake_init(&f, s->mode, s->nouter, s->nrow, s->ncol, s->dim);
    weft_array x = make_input(s, n, &seed);
    fake_array(&f, &x, all, NEST_UNIT, false);
    for (int i = 0; i < 3; i++) {
        int axis[4];
        const weft_array out = make_output(s, n, axis);
        fake_reduce(&f, (enum kern_red)reductions[i].kind, (weft_dtype)reductions[i].dtype);
        const enum nest_class cls = s->mode == NEST_INNER ? NEST_SCALAR : NEST_UNIT;
        fake_array(&f, &out, axis, cls, true)->late = s->mode == NEST_OUTER;
        shift[i] = bytes_of(&out);
    }
    fake_reference(&f, shift);
    compare_shape(s, &f, env, shift, 1);
    compare_shape(s, &f, env, shift, 100);
    for (int i = 0; i < 3; i++)
        free(f.out_data[i]);
    free(x.data);
    fake_free(&f);
}

Test(run, long_reductions) {
    struct rt_env env;
    fake_env(&env, 3);
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        check_shape(&shapes[i], &env);
    fake_env_free(&env);
}

// Few elements, fewer than threads, or none: nothing is written that should not be.
Test(run, tiny) {
    struct rt_env env;
    fake_env(&env, 4);
    for (int64_t n = 0; n < 6; n++) {
        struct fake_program f;
        double x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8];
        memset(y, 0xcc, sizeof y);
        double clean;
        memcpy(&clean, y, 8);
        const int64_t dim[] = {1, n};
        fake_init(&f, NEST_MAP, 0, 1, 1, dim);
        const weft_array a = {.dtype = WEFT_F64, .rank = 1, .data = x, .dims = {n}, .strides = {8}};
        const weft_array b = {.dtype = WEFT_F64, .rank = 1, .data = y, .dims = {n}, .strides = {8}};
        fake_array(&f, &a, (int[]){-1, 0}, NEST_UNIT, false);
        fake_array(&f, &b, (int[]){-1, 0}, NEST_UNIT, true);
        cr_assert_eq(fake_finish(&f, &env, 1000000), WEFT_OK);
        cr_assert_eq(fake_run(&f, &env, NULL, 4), WEFT_OK);
        for (int64_t i = 0; i < 8; i++)
            cr_assert(memcmp(&y[i], i < n ? &x[i] : &clean, 8) == 0);
        fake_free(&f);
    }
    fake_env_free(&env);
}

// ---- guards -----------------------------------------------------------------------------------

static weft_status run_guarded(double bad, int where, int threads) {
    enum { ROWS = 300, COLS = 40 };
    struct rt_env env;
    fake_env(&env, threads);
    static double x[ROWS * COLS], y[ROWS * COLS];
    for (int i = 0; i < ROWS * COLS; i++)
        x[i] = 1;
    if (where >= 0) x[where] = bad;
    struct fake_program f;
    fake_init(&f, NEST_MAP, 0, 1, 1, (int64_t[]){ROWS, COLS});
    const weft_array a = {
        .dtype = WEFT_F64, .rank = 2, .data = x, .dims = {ROWS, COLS}, .strides = {320, 8}};
    weft_array b = a;
    b.data = y;
    fake_array(&f, &a, (int[]){0, 1}, NEST_UNIT, false);
    fake_array(&f, &b, (int[]){0, 1}, NEST_UNIT, true);
    fake_operand(&f, WEFT_BOOL, NEST_UNIT, NEST_GUARD, true);
    f.program.nguard = 1;
    const char *text = "max: a NaN";
    f.program.guard_text = &text;
    cr_assert_eq(fake_finish(&f, &env, 1000), WEFT_OK);
    const weft_status st = fake_run(&f, &env, NULL, threads);
    if (st) cr_assert_str_eq(f.err.text, text);
    if (!st) cr_assert(memcmp(x, y, sizeof x) == 0);
    fake_free(&f);
    fake_env_free(&env);
    return st;
}

Test(run, guards) {
    for (int threads = 1; threads < 4; threads++) {
        cr_assert_eq(run_guarded(0, -1, threads), WEFT_OK);
        for (int where = 0; where < 300 * 40; where += 1711)
            cr_assert_eq(run_guarded(1e7, where, threads), WEFT_ENAN);
        cr_assert_eq(run_guarded(1e7, 300 * 40 - 1, threads), WEFT_ENAN);
    }
}

// ---- products ---------------------------------------------------------------------------------

// C[i,j,:,:] = A[i,j,:,:] B[j,:,:], integers so that any order is exact; A transposed in memory.
Test(run, batched_product) {
    enum { I = 3, J = 4, M = 37, N = 29, K = 41 };
    static double a[I][J][K][M], b[J][K][N], c[I][J][N][M];
    uint64_t seed = 5;
    for (size_t i = 0; i < sizeof a / 8; i++)
        (&a[0][0][0][0])[i] = (double)fake_below(&seed, 100);
    for (size_t i = 0; i < sizeof b / 8; i++)
        (&b[0][0][0])[i] = (double)fake_below(&seed, 100);
    struct rt_env env;
    fake_env(&env, 3);
    void *leaf[] = {a, b}, *out[] = {c};
    const weft_array leaves[] = {
        {.dtype = WEFT_F64, .rank = 1, .dims = {I * J * K * M}, .strides = {8}},
        {.dtype = WEFT_F64, .rank = 1, .dims = {J * K * N}, .strides = {8}}};
    const weft_array outs[] = {
        {.dtype = WEFT_F64, .rank = 1, .dims = {I * J * M * N}, .strides = {8}}};
    struct rt_step step = {.kind = RT_MATMUL};
    step.matmul = (struct rt_matmul){
        .dtype = WEFT_F64,
        .nbatch = 2,
        .batch = {I, J},
        .m = M,
        .n = N,
        .k = K,
        .a = {.dtype = WEFT_F64,
              .buffer = NEST_LEAF,
              .buf = 0,
              .stride = {J * K * M * 8, K * M * 8, 8, M * 8}},
        .b = {.dtype = WEFT_F64, .buffer = NEST_LEAF, .buf = 1, .stride = {0, K * N * 8, N * 8, 8}},
        .c = {.dtype = WEFT_F64,
              .buffer = NEST_OUT,
              .out = true,
              .stride = {J * N * M * 8, N * M * 8, 8, M * 8}}};
    struct rt_program p = {
        .nstep = 1, .step = &step, .nleaf = 2, .nout = 1, .leaf = leaves, .out = outs};
    arena_init(&p.arena, NULL);
    cr_assert_eq(rt_program_finish(&p, &env), WEFT_OK);
    for (int threads = 1; threads <= 3; threads++) {
        memset(c, 0xff, sizeof c);
        const struct rt_bind bind = {.leaf = leaf, .out = out, .threads = threads};
        cr_assert_eq(rt_program_run(&p, &env, &bind), WEFT_OK);
        for (int i = 0; i < I * J * M * N; i++) {
            const int m = i % M, n = i / M % N, j = i / (M * N) % J, o = i / (M * N * J);
            double want = 0;
            for (int k = 0; k < K; k++)
                want += a[o][j][k][m] * b[j][k][n];
            cr_assert_eq(c[o][j][n][m], want);
        }
    }
    arena_free(&p.arena);
    fake_env_free(&env);
}

// ---- the host's state -------------------------------------------------------------------------

static void one_third_tile(const void *code, const struct tile *t) {
    (void)code;
    for (int64_t i = 0; i < t->cols; i++) {
        const double x = ((const double *)t->ptr[0])[i];
        ((volatile double *)t->ptr[1])[i] = x / 3.0;
    }
}

static void run_thirds(struct rt_env *env, double *x, double *y, int64_t n) {
    struct fake_program f;
    fake_init(&f, NEST_MAP, 0, 1, 1, (int64_t[]){1, n});
    const weft_array a = {.dtype = WEFT_F64, .rank = 1, .data = x, .dims = {n}, .strides = {8}};
    const weft_array b = {.dtype = WEFT_F64, .rank = 1, .data = y, .dims = {n}, .strides = {8}};
    fake_array(&f, &a, (int[]){-1, 0}, NEST_UNIT, false);
    fake_array(&f, &b, (int[]){-1, 0}, NEST_UNIT, true);
    f.code.interp = one_third_tile;
    cr_assert_eq(fake_finish(&f, env, 100), WEFT_OK);
    cr_assert_eq(fake_run(&f, env, NULL, 0), WEFT_OK);
    fake_free(&f);
}

#ifdef __x86_64__
#include <xmmintrin.h>
enum { FLUSH_BOTH = 0x8040, UNMASK_OVERFLOW = 0x400, STICKY_INVALID = 1 };
static void disturb(void) {
    fesetround(FE_UPWARD);
    _mm_setcsr((_mm_getcsr() | FLUSH_BOTH | STICKY_INVALID) & ~(unsigned)UNMASK_OVERFLOW & ~0x3eu);
}
static uint64_t control(void) {
    return _mm_getcsr();
}
#else
static void disturb(void) {
    fesetround(FE_UPWARD);
}
static uint64_t control(void) {
    return (uint64_t)fegetround();
}
#endif

Test(run, environment) {
    enum { N = 100000 };
    static double x[N], y[N], z[N];
    uint64_t seed = 3;
    for (int i = 0; i < N; i++) {
        const uint64_t bits = fake_random(&seed) & 0x801fffffffffffffu; // small, many subnormal
        memcpy(&x[i], &bits, 8);
    }
    for (int threads = 1; threads <= 3; threads++) {
        struct rt_env env;
        fake_env(&env, threads);
        run_thirds(&env, x, y, N);
        const struct rt_fp before = rt_fp_enter();
        rt_fp_leave(before);
        disturb();
        const uint64_t disturbed = control();
        errno = 4711;
        run_thirds(&env, x, z, N);
        const int error = errno;
        const uint64_t after = control();
        rt_fp_leave(before);
        cr_assert_eq(error, 4711);
        cr_assert_eq(after, disturbed);
        cr_assert(memcmp(y, z, sizeof y) == 0, "results depend on the caller's rounding");
        fake_env_free(&env);
    }
    bool subnormal = false;
    for (int i = 0; i < N; i++)
        subnormal |= y[i] != 0 && y[i] < 2.2250738585072014e-308 && y[i] > -2.2250738585072014e-308;
    cr_assert(subnormal);
}

// ---- memory -----------------------------------------------------------------------------------

struct meter {
    int calls, fail_at; // fail_at: the call that is refused, 0 none
    int64_t held;
};
static void *metered(void *ud, void *p, size_t old, size_t size) {
    struct meter *m = ud;
    if (size) {
        m->calls++;
        if (m->calls == m->fail_at) return NULL;
        m->held += (int64_t)size - (p ? (int64_t)old : 0);
    } else if (p) {
        m->held -= (int64_t)old;
    }
    if (size) return realloc(p, size);
    free(p);
    return NULL;
}

Test(run, workspace) {
    struct meter m = {0};
    const struct base_alloc alloc = {metered, &m};
    struct rt_workspace *w = rt_workspace_new(&alloc, NULL);
    cr_assert_eq(rt_workspace_bytes(w), 0);
    static const size_t sizes[] = {1, 100, 64, 4096, 5000, 9 << 20, 20 << 20, 100};
    size_t most = 0;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        cr_assert_eq(rt_workspace_reserve(w, sizes[i]), WEFT_OK);
        most = MAX_OF(most, sizes[i]);
        cr_assert_geq(rt_workspace_bytes(w), most);
        cr_assert_eq((uintptr_t)rt_workspace_data(w) % (most >= 8 << 20 ? 2 << 20 : 64), 0);
        memset(rt_workspace_data(w), 1, rt_workspace_bytes(w));
    }
    m.fail_at = m.calls + 1;
    cr_assert_eq(rt_workspace_reserve(w, 64 << 20), WEFT_ENOMEM);
    cr_assert_eq(rt_workspace_reserve(w, SIZE_MAX - 10), WEFT_ENOMEM);
    cr_assert_eq(rt_workspace_reserve(w, 1000), WEFT_OK); // still usable
    rt_workspace_free(w);
    rt_workspace_free(NULL);
    cr_assert_eq(m.held, 0);
}

// A program whose input must be packed and whose output is redirected, under a metered allocator.
static weft_status metered_run(struct meter *m, int threads, int *runs_calls) {
    struct rt_env env = {
        .alloc = {metered, m}, .isa = KERN_BASE, .threads = threads, .own_executor = true};
    env.pool = rt_pool_new(&env.alloc, threads);
    struct rt_workspace *ws = rt_workspace_new(&env.alloc, NULL);
    static double x[200 * 300], want[200 * 300];
    for (int i = 0; i < 200 * 300; i++)
        x[i] = i;
    struct fake_program f;
    fake_init(&f, NEST_MAP, 0, 1, 1, (int64_t[]){200, 200});
    arena_init(&f.program.arena, &env.alloc);
    weft_array a = {
        .dtype = WEFT_F64, .rank = 2, .data = x, .dims = {200, 200}, .strides = {8, 200 * 8}};
    weft_array b = {
        .dtype = WEFT_F64, .rank = 2, .data = x, .dims = {200, 200}, .strides = {200 * 8, 8}};
    fake_array(&f, &a, (int[]){0, 1}, NEST_UNIT, false);
    fake_array(&f, &b, (int[]){0, 1}, NEST_UNIT, true);
    weft_status st = ws ? fake_finish(&f, &env, 10) : WEFT_ENOMEM;
    if (!st) {
        fake_reference(&f, (int64_t[]){(char *)want - (char *)x});
        st = fake_run(&f, &env, ws, 0);
        const double *result = st ? NULL : want;
        for (int i = 0; i < 200 * 200; i++)
            cr_assert_eq(x[i], result ? result[i] : i, "after status %d", st);
        const int before = m->calls;
        if (!st) st = fake_run(&f, &env, ws, 0);
        if (!st) *runs_calls = m->calls - before;
    }
    fake_free(&f);
    rt_workspace_free(ws);
    rt_pool_free(env.pool);
    return st;
}

Test(run, allocation) {
    for (int threads = 1; threads < 4; threads += 2) {
        struct meter m = {0};
        int calls = -1;
        cr_assert_eq(metered_run(&m, threads, &calls), WEFT_OK);
        cr_assert_eq(calls, 0, "a second run allocated");
        cr_assert_eq(m.held, 0);
        const int total = m.calls;
        for (int k = 1; k <= total; k++) { // each allocation refused once
            m = (struct meter){.fail_at = k};
            const weft_status st = metered_run(&m, threads, &calls);
            cr_assert(st == WEFT_OK || st == WEFT_ENOMEM);
            cr_assert(st == WEFT_ENOMEM || k == 1, "allocation %d was not needed",
                      k); // 1: the pool
            cr_assert_eq(m.held, 0);
        }
    }
}
