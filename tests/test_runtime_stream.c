// SPDX-License-Identifier: MIT
// Stores past the caches as code sees them: which tiles say so, that every output is on a line in them, that
// everything is still computed once, and the rule (size, rows, in place) to the byte.
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rt_fake.h"
#include "runtime/walk.h"

static _Atomic int64_t streamed, plain, crooked; // elements; tiles that are not on a line

static void watching_tile(const void *code, const struct tile *t) {
    const struct fake *f = code;
    *(t->stream ? &streamed : &plain) += t->rows * t->cols;
    for (int k = 0; k < f->noperand && t->stream; k++)
        for (int64_t r = 0; f->operand[k].out && r < t->rows; r++)
            crooked += (uintptr_t)((char *)t->ptr[k] + r * t->rstride[k]) % 64 != 0;
    fake_tile(code, t);
}

struct plan {
    int64_t dims[2], gap; // bytes between rows of the output
    int64_t out_at, in_at; // bytes from a line
    weft_dtype types[2];   // of the outputs; the second one may be missing
    int outs;
    int64_t stream_bytes;
    bool in_place, turned; // turned: the input's rows are its columns in memory
};

// Elements that went past the caches.
static int64_t run_plan(const struct plan *p, int threads) {
    struct rt_env env;
    struct fake_program f;
    const int axes[] = {0, 1};
    const int64_t n = p->dims[0] * p->dims[1], row = p->dims[1] * 8 + p->gap, most = p->dims[0] * row + 256;
    char *in = aligned_alloc(64, (size_t)(n * 8 + 320) / 64 * 64), *out[2];
    weft_array x = {.dtype = WEFT_F64, .rank = 2, .data = in + p->in_at, .dims = {p->dims[0], p->dims[1]},
                    .strides = {8 * p->dims[1], 8}};
    if (p->turned) x.strides[0] = 8, x.strides[1] = 8 * p->dims[0];
    for (int64_t i = 0; i < n; i++)
        fake_store(WEFT_F64, in + p->in_at + 8 * i, (double)(i % 1001));
    fake_env(&env, threads);
    env.stream_bytes = p->stream_bytes;
    fake_init(&f, NEST_MAP, 0, 1, 1, p->dims);
    fake_array(&f, &x, axes, NEST_UNIT, false);
    for (int k = 0; k < p->outs; k++) {
        const int64_t size = (int64_t)dtype_size(p->types[k]);
        out[k] = aligned_alloc(64, (size_t)(2 * most) / 64 * 64 + 64);
        memset(out[k], 0xcc, (size_t)(2 * most));
        weft_array o = {.dtype = p->types[k], .rank = 2, .data = p->in_place ? x.data : out[k] + p->out_at,
                        .dims = {p->dims[0], p->dims[1]}, .strides = {p->gap ? row : p->dims[1] * size, size}};
        fake_array(&f, &o, axes, NEST_UNIT, true);
    }
    const int64_t shift[2] = {most, most};
    if (!p->in_place) fake_reference(&f, shift);
    f.code.interp = watching_tile;
    cr_assert_eq(fake_finish(&f, &env, 4), WEFT_OK);
    streamed = plain = crooked = 0;
    cr_assert_eq(fake_run(&f, &env, NULL, threads), WEFT_OK);
    cr_expect_eq(streamed + plain, n);
    cr_expect_eq(crooked, 0);
    for (int k = 0; k < p->outs && !p->in_place; k++)
        cr_expect(!memcmp(out[k], out[k] + most, (size_t)most - 256), "output %d", k);
    for (int k = 0; k < p->outs; k++)
        free(out[k]);
    free(in);
    fake_free(&f), fake_env_free(&env);
    return streamed;
}

Test(stream, outputs_are_on_lines_wherever_they_begin) {
    for (int64_t out_at = 0; out_at < 64; out_at += 8)
        for (int threads = 1; threads <= 3; threads++) {
            const struct plan p = {{1, 100003}, 0, out_at, 16, {WEFT_F64}, 1, 1, false, false};
            cr_expect_gt(run_plan(&p, threads), 90000, "at %d, %d threads", (int)out_at, threads);
        }
}

Test(stream, outputs_of_two_sizes) {
    const struct plan together = {{1, 60000}, 0, 16, 0, {WEFT_F32, WEFT_I32}, 2, 1, false, false};
    const struct plan apart = {{1, 60000}, 0, 24, 0, {WEFT_F64, WEFT_I16}, 2, 1, false, false}; // meet after 21 lines
    cr_expect_gt(run_plan(&together, 2), 50000);
    cr_expect_eq(run_plan(&apart, 2), 0);
}

Test(stream, rows_of_a_view) {
    const struct plan rows = {{9, 1200}, 24, 8, 0, {WEFT_F64}, 1, 1, false, false};
    cr_expect_gt(run_plan(&rows, 2), 9 * 1100);
}

// An input that is packed: blocks of several rows, all of them on lines, or none.
Test(stream, rows_beside_a_packed_input) {
    struct plan p = {{200, 1030}, 80, 8, 0, {WEFT_F64}, 1, 1, false, true};
    cr_expect_gt(run_plan(&p, 2), 200 * 1000);
    p.gap = 72;
    cr_expect_eq(run_plan(&p, 2), 0);
}

Test(stream, the_rule) {
    struct plan p = {{1, 65536}, 0, 0, 0, {WEFT_F64}, 1, 1 << 20, false, false};
    cr_expect_eq(run_plan(&p, 1), 0, "what it touches is exactly the bound");
    p.stream_bytes--;
    cr_expect_eq(run_plan(&p, 1), 65536);
    p.stream_bytes = 0;
    cr_expect_eq(run_plan(&p, 1), 0, "0 is never");
    p.stream_bytes = 1, p.in_place = true;
    cr_expect_eq(run_plan(&p, 1), 0, "in place");
    const struct plan brief = {{300, 511}, 8, 0, 0, {WEFT_F64}, 1, 1, false, false};
    cr_expect_eq(run_plan(&brief, 1), 0, "short rows");
    const struct plan odd = {{1, 65536}, 0, 4, 0, {WEFT_F64}, 1, 1, false, false};
    cr_expect_eq(run_plan(&odd, 1), 0, "elements across lines");
}
