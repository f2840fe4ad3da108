// SPDX-License-Identifier: MIT
// Outputs over inputs: always as if the inputs had been copied first, and no copy where none is
// needed. Sharing of bytes against brute force; descriptors of every hostile form.
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rt_fake.h"
#include "runtime/walk.h"

static weft_array doubles(double *data, int rank, const int64_t *dims, const int64_t *strides) {
    weft_array a = {.dtype = WEFT_F64, .rank = rank, .data = data};
    for (int d = 0; d < rank; d++) {
        a.dims[d] = dims[d];
        a.strides[d] = 8 * strides[d];
    }
    return a;
}

enum { ARENA = 40000 };
static double arena[ARENA], want[ARENA];
static void number_arena(void) {
    for (int i = 0; i < ARENA; i++)
        want[i] = arena[i] = i % 4099;
}

// out = 1*in[0] + 2*in[1] + ... over rank dims, rows and columns the last two; compares all of the
// arena.
static void check_map(int rank, const int64_t *dims, int nin, const weft_array *in,
                      const weft_array *out, bool redirected) {
    struct rt_env env;
    fake_env(&env, 3);
    int64_t dim[WEFT_MAX_RANK] = {1, 1}, shift[1] = {(char *)want - (char *)arena};
    int axis[WEFT_MAX_RANK] = {-1, -1};
    const int lead = rank < 2 ? 2 - rank : 0;
    for (int d = 0; d < rank; d++) {
        dim[lead + d] = dims[d];
        axis[lead + d] = d;
    }
    struct fake_program f;
    fake_init(&f, NEST_MAP, rank + lead - 2, 1, 1, dim);
    for (int i = 0; i < nin; i++)
        fake_array(&f, &in[i], axis, NEST_UNIT, false);
    fake_array(&f, out, axis, NEST_UNIT, true);
    for (int cost = 1; cost <= 1000; cost *= 1000)
        for (int threads = 1; threads <= 3; threads++) {
            number_arena();
            arena_reset(&f.program.arena);
            cr_assert_eq(fake_finish(&f, &env, cost), WEFT_OK);
            fake_reference(&f, shift);
            cr_assert_eq(fake_run(&f, &env, NULL, threads), WEFT_OK);
            cr_assert(memcmp(arena, want, sizeof arena) == 0, "threads %d cost %d", threads, cost);
            const struct rt_bind b = {.leaf = f.leaf_data, .out = f.out_data};
            cr_assert_eq(rt_out_is_redirected(&f.program, &b, 0), redirected);
        }
    fake_free(&f);
    fake_env_free(&env);
}

Test(alias, one_dim) {
    const int64_t n[] = {10000}, one[] = {1}, back[] = {-1}, two[] = {2};
    weft_array x = doubles(arena + 20, 1, n, one);
    check_map(1, n, 1, &x, &x, false); // in place
    for (int k = -3; k <= 3; k++) {
        const weft_array y = doubles(arena + 20 + k, 1, n, one);
        check_map(1, n, 1, &x, &y, k != 0); // smeared by a naive loop, one way or the other
    }
    const weft_array r = doubles(arena + 20 + 9999, 1, n, back);
    check_map(1, n, 1, &r, &x, true);
    check_map(1, n, 1, &r, &r, false);
    const weft_array even = doubles(arena, 1, n, two), odd = doubles(arena + 1, 1, n, two);
    check_map(1, n, 1, &even, &odd, false); // interleaved: no byte is shared
    check_map(1, n, 1, &even, &even, false);
    check_map(1, n, 1, &x, &even, true);
    const weft_array both[] = {x, r};
    check_map(1, n, 2, both, &x, true); // one input in place, the other reversed
    const weft_array apart = doubles(arena + 20000, 1, n, one);
    check_map(1, n, 2, both, &apart, false);
}

Test(alias, views) {
    const int64_t square[] = {100, 100}, rows[] = {100, 1}, columns[] = {1, 100};
    const weft_array a = doubles(arena, 2, square, rows), t = doubles(arena, 2, square, columns);
    const weft_array both[] = {a, t};
    check_map(2, square, 2, both, &a, true); // a += a.T
    check_map(2, square, 2, both, &t, true);
    check_map(2, square, 1, &t, &t, false);
    const weft_array apart = doubles(arena + 10000, 2, square, columns);
    check_map(2, square, 2, both, &apart, false); // transposed output
    const int64_t small[] = {8, 8}, r8[] = {8, 1}, c8[] = {1, 8};
    const weft_array b[] = {doubles(arena, 2, small, r8), doubles(arena, 2, small, c8)};
    check_map(2, small, 2, b, &b[0], true);
    const int64_t image[] = {50, 200}, flipped[] = {-400, 2};
    const weft_array im = doubles(arena + 49 * 400, 2, image, flipped);
    check_map(2, image, 1, &im, &im, false);
    const int64_t dense[] = {200, 1};
    const weft_array flat = doubles(arena, 2, image, dense);
    check_map(2, image, 1, &im, &flat, true);
    const int64_t left[] = {100, 50},
                  half[] = {100, 1}; // halves of a matrix share rows, not elements
    const weft_array l = doubles(arena, 2, left, half), r = doubles(arena + 50, 2, left, half);
    check_map(2, left, 1, &l, &r, false);
    const weft_array middle = doubles(arena + 49, 2, left, half);
    check_map(2, left, 1, &l, &middle, true);
}

// ---- random layouts over one arena ------------------------------------------------------------

static weft_array random_view(uint64_t *seed, int rank, const int64_t *dims, weft_dtype t) {
    weft_array a = {.dtype = t, .rank = rank};
    const int64_t size = (int64_t)dtype_size(t);
    int64_t low = 0, high = size, span = size;
    const bool mixed = fake_below(seed, 2);
    for (int i = 0; i < rank; i++) {
        const int d = mixed ? (i + 1) % rank : rank - 1 - i;
        a.dims[d] = dims[d];
        int64_t s = fake_below(seed, 4) ? span : span * (1 + fake_below(seed, 2));
        if (fake_below(seed, 4) == 0) s = -s;
        if (fake_below(seed, 8) == 0) s = size * fake_below(seed, 5);
        a.strides[d] = s;
        const int64_t reach = s * (dims[d] - 1);
        *(reach < 0 ? &low : &high) += reach;
        span = high - low;
    }
    a.data = (char *)(arena + 2000) + size * fake_below(seed, 6) - low;
    return a;
}

enum { FIELD = 1 << 16, NEAR = 1 << 13 }; // bytes of the arena in which views lie; wild arrays
static bool brute_overlap(const weft_array *a, const weft_array *b, int field_size);

static void random_overlap(uint64_t id, struct rt_env *env, int *ran, int *direct) {
    uint64_t seed = id * 31 + 5;
    const int rank = 2 + (int)fake_below(&seed, 2);
    int64_t dims[3];
    for (int d = 0; d < rank; d++)
        dims[d] = 1 + fake_below(&seed, 9);
    const enum nest_mode mode = (enum nest_mode)fake_below(&seed, 3);
    struct fake_program f;
    fake_init(&f, mode, rank - 2, 1, 1, dims);
    const int axis[] = {0, 1, 2};
    for (int n = 1 + (int)fake_below(&seed, 2); n > 0; n--) {
        const weft_array in =
            random_view(&seed, rank, dims, fake_below(&seed, 4) ? WEFT_F64 : WEFT_I32);
        fake_array(&f, &in, axis, NEST_UNIT, false);
    }
    int outs = 1 + (int)fake_below(&seed, 2);
    for (int n = 0; n < outs; n++) {
        weft_array out = random_view(&seed, rank, dims, WEFT_F64);
        const bool end = mode != NEST_MAP && n == 0;
        if (end) { // a result: the reduced dim is not there
            const int reduced = mode == NEST_INNER ? rank - 1 : rank - 2;
            out.dims[reduced] = 1;
            out.strides[reduced] = 0;
            fake_reduce(&f, KERN_SUM, WEFT_F64);
        } else if (fake_below(&seed, 2)) {
            memcpy(out.strides, f.leaf[0].strides, sizeof out.strides);
            out.dtype = f.leaf[0].dtype;
            out.data = f.leaf[0].data;
        }
        const enum nest_class cls = end && mode == NEST_INNER ? NEST_SCALAR : NEST_UNIT;
        fake_array(&f, &out, axis, cls, true)->late = end && mode == NEST_OUTER;
    }
    bool self = false, each_other = outs == 2 && brute_overlap(&f.out[0], &f.out[1], FIELD);
    for (int n = 0; n < outs; n++)
        self |= rt_array_overlaps_itself(&f.out[n]);
    f.step.stores_last = mode == NEST_MAP;
    number_arena();
    const int64_t distance = (char *)want - (char *)arena;
    if (!self) {
        cr_assert_eq(fake_finish(&f, env, 1 + 20000 * (int)fake_below(&seed, 2)), WEFT_OK);
        fake_reference(&f, (int64_t[]){distance, distance});
        const weft_status st = fake_run(&f, env, NULL, 1 + (int)fake_below(&seed, 3));
        cr_assert_eq(st, each_other ? WEFT_EALIAS : WEFT_OK, "case %d: status %d", (int)id, st);
        if (!each_other)
            cr_assert(memcmp(arena, want, sizeof arena) == 0, "case %d mode %d", (int)id,
                      (int)mode);
        const struct rt_bind b = {.leaf = f.leaf_data, .out = f.out_data};
        *direct += !rt_out_is_redirected(&f.program, &b, 0);
        ++*ran;
    }
    fake_free(&f);
}

Test(alias, random) {
    struct rt_env env;
    fake_env(&env, 3);
    int ran = 0, direct = 0;
    for (uint64_t i = 0; i < 3000; i++)
        random_overlap(i, &env, &ran, &direct);
    cr_assert_gt(ran, 1000);
    cr_assert(direct > ran / 10 && direct < ran * 9 / 10, "%d of %d in place", direct, ran);
    fake_env_free(&env);
}

// ---- several steps and outputs ----------------------------------------------------------------

// First out[0] = x (over y or not), then out[1] = 1*x: two steps of one program that read the same
// leaf.
static void check_two_steps(double *first, double *second, bool first_redirected,
                            bool second_redirected) {
    enum { N = 1000 };
    struct rt_env env;
    fake_env(&env, 2);
    const int64_t n[] = {N}, one[] = {1};
    const weft_array x = doubles(arena, 1, n, one);
    struct fake_program f, g;
    const int64_t dim[] = {1, N};
    const int axis[] = {-1, 0};
    fake_init(&f, NEST_MAP, 0, 1, 1, dim);
    fake_init(&g, NEST_MAP, 0, 1, 1, dim);
    const weft_array a = doubles(first, 1, n, one), b = doubles(second, 1, n, one);
    fake_array(&f, &x, axis, NEST_UNIT, false);
    fake_array(&f, &a, axis, NEST_UNIT, true);
    fake_array(&g, &x, axis, NEST_UNIT, false);
    fake_array(&g, &x, axis, NEST_UNIT, false)->buf = 0;
    fake_array(&g, &b, axis, NEST_UNIT, true)->buf = 1;
    f.out[1] = b;
    f.out_data[1] = second;
    f.program.nout = 2;
    struct rt_step steps[2] = {f.step, g.step};
    f.program.nstep = 2;
    f.program.step = steps;
    number_arena();
    steps[0].cost = steps[1].cost = 1;
    cr_assert_eq(rt_program_finish(&f.program, &env), WEFT_OK);
    for (int i = 0; i < N; i++) {
        want[first - arena + i] = arena[i];
        want[second - arena + i] = 3 * arena[i];
    }
    cr_assert_eq(fake_run(&f, &env, NULL, 0), WEFT_OK, "%s", f.err.text);
    cr_assert(memcmp(arena, want, sizeof arena) == 0);
    const struct rt_bind bind = {.leaf = f.leaf_data, .out = f.out_data};
    cr_assert_eq(rt_out_is_redirected(&f.program, &bind, 0), first_redirected);
    cr_assert_eq(rt_out_is_redirected(&f.program, &bind, 1), second_redirected);
    fake_free(&f);
    fake_free(&g);
    fake_env_free(&env);
}

Test(alias, two_steps) {
    check_two_steps(arena + 2000, arena + 4000, false, false);
    check_two_steps(arena, arena + 4000, true,
                    false); // x is read again after the first step wrote it
    check_two_steps(arena + 2000, arena, false, false); // the last reading of x writes it
    check_two_steps(arena + 5, arena + 4000, true, false);
    check_two_steps(arena + 2000, arena + 7, false, true);
}

Test(alias, outputs_of_one_run) {
    struct rt_env env;
    fake_env(&env, 1);
    const int64_t n[] = {100}, one[] = {1}, two[] = {2};
    const int axis[] = {-1, 0};
    for (int k = 0; k < 4; k++) {
        struct fake_program f;
        fake_init(&f, NEST_MAP, 0, 1, 1, (int64_t[]){1, 100});
        const weft_array x = doubles(arena + 1000, 1, n, one);
        const weft_array a = doubles(arena, 1, n, two),
                         b = doubles(arena + (k < 2 ? k : 198 + k - 2), 1, n, two);
        fake_array(&f, &x, axis, NEST_UNIT, false);
        fake_array(&f, &a, axis, NEST_UNIT, true);
        fake_array(&f, &b, axis, NEST_UNIT, true);
        cr_assert_eq(fake_finish(&f, &env, 1), WEFT_OK);
        number_arena();
        cr_assert_eq(fake_run(&f, &env, NULL, 0), k == 0 || k == 2 ? WEFT_EALIAS : WEFT_OK);
        if (f.err.status)
            cr_assert(strstr(f.err.text, "overlap") && memcmp(arena, want, sizeof want) == 0);
        fake_free(&f);
    }
    fake_env_free(&env);
}

// What code may do in place.
Test(alias, stores_last) {
    const struct nest_operand o[] = {{.buffer = NEST_LEAF},
                                     {.buffer = NEST_LEAF},
                                     {.buffer = NEST_OUT, .out = true},
                                     {.buffer = NEST_ROWTMP, .out = true},
                                     {.buffer = NEST_CONST}};
    const struct seg_op good[] = {{.op = SEG_LOAD, .arg = {4}}, {.op = SEG_LOAD, .arg = {0}},
                                  {.op = 1, .arg = {0, 1}},     {.op = SEG_STORE, .arg = {2, 3}},
                                  {.op = SEG_LOAD, .arg = {1}}, {.op = SEG_STORE, .arg = {2, 2}},
                                  {.op = 1, .arg = {2, 2}},     {.op = SEG_REDUCE, .arg = {6, 0}}};
    struct seg s = {.nop = COUNT_OF(good), .op = good, .operand = o, .noperand = 5};
    cr_assert(rt_seg_stores_last(&s));
    struct seg_op bad[COUNT_OF(good)];
    s.op = bad;
    memcpy(bad, good, sizeof good);
    bad[6] = (struct seg_op){.op = 1, .arg = {2, 4}}; // uses a loaded value after the store
    cr_assert_not(rt_seg_stores_last(&s));
    memcpy(bad, good, sizeof good);
    bad[6] = (struct seg_op){.op = SEG_LOAD, .arg = {1}}; // loads after the store
    cr_assert_not(rt_seg_stores_last(&s));
    memcpy(bad, good, sizeof good);
    bad[7] = (struct seg_op){.op = SEG_STORE, .arg = {1, 2}}; // stores a loaded value second
    cr_assert_not(rt_seg_stores_last(&s));
}

// ---- sharing of bytes -------------------------------------------------------------------------

// Marks the array's bytes; true when one was marked before.
static bool mark(const weft_array *a, unsigned char *field, const char *origin, bool count_own) {
    int64_t index[WEFT_MAX_RANK] = {0};
    bool met = false;
    for (int d = 0; d < a->rank; d++)
        if (a->dims[d] == 0) return false;
    for (;;) {
        int64_t at = (char *)a->data - origin;
        for (int d = 0; d < a->rank; d++)
            at += index[d] * a->strides[d];
        cr_assert(at >= 0 && at + 8 < FIELD);
        for (size_t i = 0; i < dtype_size(a->dtype); i++) {
            met |= (field[at + (int64_t)i] & (count_own ? 1 : 2)) != 0;
            field[at + (int64_t)i] |= count_own ? 1 : 4;
        }
        int d = a->rank - 1;
        while (d >= 0 && ++index[d] == a->dims[d])
            index[d--] = 0;
        if (d < 0) return met;
    }
}

static bool brute_overlap(const weft_array *a, const weft_array *b, int field_size) {
    static unsigned char field[FIELD];
    const char *origin = (const char *)arena;
    memset(field, 0, (size_t)field_size);
    mark(a, field, origin, true);
    for (int i = 0; i < field_size; i++)
        field[i] = field[i] ? 2 : 0;
    return mark(b, field, origin, false);
}

static bool brute_self(const weft_array *a) {
    static unsigned char field[NEAR];
    memset(field, 0, sizeof field);
    return mark(a, field, (const char *)arena, true);
}

static weft_array wild_array(uint64_t *seed) {
    static const weft_dtype types[] = {WEFT_U8, WEFT_I16, WEFT_F32, WEFT_F64};
    weft_array a = {.dtype = types[fake_below(seed, 4)], .rank = (int)fake_below(seed, 5)};
    for (int d = 0; d < a.rank; d++) {
        a.dims[d] = fake_below(seed, 30) ? 1 + fake_below(seed, 6) : 0;
        a.strides[d] = fake_below(seed, 200) - 100;
        if (fake_below(seed, 2)) a.strides[d] = a.strides[d] / 8 * 8;
    }
    a.data = (char *)arena + 4000 + fake_below(seed, 300);
    return a;
}

Test(bytes, against_brute_force) {
    uint64_t seed = 99;
    int self = 0, apart = 0;
    enum { TRIES = 8000 };
    for (int i = 0; i < TRIES; i++) {
        const weft_array a = wild_array(&seed), b = wild_array(&seed);
        const bool meets_itself = brute_self(&a), meet = brute_overlap(&a, &b, NEAR);
        cr_assert_eq(rt_array_overlaps_itself(&a), meets_itself, "try %d", i);
        cr_assert_eq(rt_arrays_overlap(&a, &b), meet, "try %d", i);
        self += meets_itself;
        apart += !meet;
    }
    cr_assert(self > TRIES / 10 && self < TRIES * 9 / 10);
    cr_assert(apart > TRIES / 10 && apart < TRIES * 9 / 10);
}

// Large ones must be decided as well, and at once.
Test(bytes, large) {
    const int64_t n = 1 << 20;
    weft_array a = {.dtype = WEFT_F64,
                    .rank = 3,
                    .data = arena,
                    .dims = {n, 3, n},
                    .strides = {n * 48, 16, 48}};
    cr_assert_not(rt_array_overlaps_itself(&a));
    a.strides[1] = 8;
    cr_assert_not(rt_array_overlaps_itself(&a));
    a.strides[1] = 7;
    cr_assert(rt_array_overlaps_itself(&a));
    a.strides[1] = 48;
    cr_assert(rt_array_overlaps_itself(&a));
    a.strides[1] = 0;
    cr_assert(rt_array_overlaps_itself(&a));
    weft_array odd = {.dtype = WEFT_U8, .rank = 2, .dims = {2, n}, .strides = {1000001, 2}};
    cr_assert_not(rt_array_overlaps_itself(&odd));
    odd.strides[0] = 1000000;
    cr_assert(rt_array_overlaps_itself(&odd));
    // planes of one interleaved image
    weft_array red = {
        .dtype = WEFT_F32, .rank = 2, .data = arena, .dims = {n, n}, .strides = {n * 12, 12}};
    weft_array blue = red;
    blue.data = (char *)arena + 8;
    cr_assert_not(rt_arrays_overlap(&red, &blue));
    blue.data = (char *)arena + 9;
    cr_assert(rt_arrays_overlap(&red, &blue));
    blue.data = (char *)arena + 24;
    cr_assert(rt_arrays_overlap(&red, &blue));
}

// ---- hostile descriptors ----------------------------------------------------------------------

static weft_status check(weft_dtype t, int rank, const int64_t *dims, const int64_t *strides,
                         const char *says) {
    weft_array a = {.dtype = t, .rank = rank};
    struct base_err err = {0};
    for (int d = 0; d < rank && d < WEFT_MAX_RANK; d++) {
        a.dims[d] = dims[d];
        a.strides[d] = strides ? strides[d] : 0;
    }
    const weft_status st = rt_array_check(&a, "x", &err);
    cr_assert_eq(err.status, st);
    if (st) cr_assert(strncmp(err.text, "x: ", 3) == 0 && strstr(err.text, says), "%s", err.text);
    return st;
}

Test(bytes, checks) {
    const int64_t big = INT64_MAX, least = INT64_MIN, most = BASE_MAX_BYTES;
    int64_t ones[WEFT_MAX_RANK];
    for (int d = 0; d < WEFT_MAX_RANK; d++)
        ones[d] = 1;
    cr_assert_eq(check(WEFT_F64, 0, NULL, NULL, ""), WEFT_OK);
    cr_assert_eq(check(WEFT_F64, 32, ones, NULL, ""), WEFT_OK);
    cr_assert_eq(check(WEFT_F64, 33, ones, NULL, "rank 33"), WEFT_ESHAPE);
    cr_assert_eq(check(WEFT_F64, -1, ones, NULL, "rank -1"), WEFT_ESHAPE);
    cr_assert_eq(check((weft_dtype)77, 1, ones, NULL, "77"), WEFT_EDTYPE);
    cr_assert_eq(check(WEFT_F64, 2, (int64_t[]){3, -1}, NULL, "axis 1"), WEFT_ESHAPE);
    cr_assert_eq(check(WEFT_F64, 2, (int64_t[]){0, least}, NULL, "negative"), WEFT_ESHAPE);
    cr_assert_eq(check(WEFT_F64, 1, &big, NULL, "too many bytes"), WEFT_ESHAPE);
    cr_assert_eq(check(WEFT_U8, 1, &most, (int64_t[]){0}, ""), WEFT_OK);
    cr_assert_eq(check(WEFT_U8, 1, &most, (int64_t[]){1}, ""), WEFT_OK);
    cr_assert_eq(check(WEFT_U8, 1, &most, (int64_t[]){2}, "too far"), WEFT_ESHAPE);
    cr_assert_eq(check(WEFT_U8, 1, (int64_t[]){most + 1}, NULL, "too many bytes"), WEFT_ESHAPE);
    cr_assert_eq(check(WEFT_F64, 2, (int64_t[]){1000000000, 1000000000}, NULL, "too many"),
                 WEFT_ESHAPE);
    cr_assert_eq(check(WEFT_F64, 2, (int64_t[]){1 << 30, 1 << 30}, NULL, "too many bytes"),
                 WEFT_ESHAPE);
    cr_assert_eq(check(WEFT_F64, 3, (int64_t[]){0, big, big}, NULL, "too many bytes"), WEFT_ESHAPE);
    cr_assert_eq(check(WEFT_F64, 3, (int64_t[]){5, 0, 7}, (int64_t[]){big, big, big}, ""), WEFT_OK);
    cr_assert_eq(check(WEFT_F64, 1, (int64_t[]){2}, &least, "too far"), WEFT_ESHAPE);
    cr_assert_eq(check(WEFT_F64, 1, (int64_t[]){3}, (int64_t[]){-big}, "too far"), WEFT_ESHAPE);
    cr_assert_eq(
        check(WEFT_F64, 2, (int64_t[]){2, 2}, (int64_t[]){big / 2 + 1, big / 2}, "too far"),
        WEFT_ESHAPE);
    cr_assert_eq(check(WEFT_F64, 1, ones, &least, "too far"), WEFT_ESHAPE);
}
