// SPDX-License-Identifier: MIT
// What reductions, matrix tiles and byte tables in assembly leave of the machine's state: callee-saved registers,
// MXCSR, direction flag, upper halves of the vector registers. Elementary functions: test_asm_math. Tiles also give
// the bits of a chain of fma element by element; results of the others are for test_reduce and test_lookup.
#include <criterion/criterion.h>

#include "abi.h"
#include "guard.h"
#include "kernels/gemm/gemm.h"

static uint64_t state = 11;

static void call(const char *name, void (*entry)(void), uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    static struct abi abi;
    abi = (struct abi){.entry = entry, .args = {a, b, c, d}};
    abi_map(&abi);
    abi_check(name, &abi, 6);
    abi_check_upper(name, &abi);
}

// ---- reductions -------------------------------------------------------------------------------------------
Test(asm_abi, reductions) {
    static _Alignas(64) unsigned char stack[64 * 1024], x[8 * 4096 + 64];
    size_t n, seen = 0;
    const struct kern_red_row *rows = kern_red_rows(&n);
    for (size_t i = 0; i < n; i++) {
        const struct kern_red_row *r = &rows[i];
        if (!r->fn || r->isa > kern_isa_detect()) continue;
        cr_assert(64 * kern_red_state(r->red, r->dtype, kern_red_lanes(r->dtype)) <= sizeof stack);
        for (size_t units = 1; units <= 8; units++)
            for (size_t skew = 0; skew < 64; skew += 21) {
                for (size_t e = 0; e < 4096; e++)
                    random_element(r->from, 2, &state, x + skew + e * dtype_size(r->from));
                kern_red_identity(r->red, r->dtype, stack, kern_red_lanes(r->dtype));
                call(r->symbol, (void (*)(void))r->fn, (uintptr_t)stack, (uintptr_t)(x + skew), units, 0);
            }
        seen++;
    }
    cr_assert(seen || kern_isa_detect() == KERN_BASE);
}

// ---- bytes ------------------------------------------------------------------------------------------------
Test(asm_abi, lookup) {
    static uint8_t out[64 * 9], index[64 * 9], steps[256];
    size_t n;
    const struct kern_byte_row *rows = kern_byte_rows(&n);
    for (size_t i = 0; i < n; i++)
        for (size_t blocks = 1; blocks <= 9 && kern_byte_runs(&rows[i], kern_isa_detect()); blocks++)
            call(rows[i].symbol, (void (*)(void))rows[i].fn, (uintptr_t)out, (uintptr_t)index, blocks,
                 (uintptr_t)steps);
}

// ---- matrix tiles: every kind, height and width, 1 to 40 steps ----------------------------------------------
enum { K = 40, WIDE = 64 };
static void run_tile(const char *name, const struct gemm_ops *o, int kind, int rows, int vectors, bool add) {
    static _Alignas(64) unsigned char a[K * WIDE * 8], b[K * WIDE * 8], c[WIDE * WIDE * 8], want[WIDE * WIDE * 8];
    const weft_dtype t = o->size == 8 ? WEFT_F64 : WEFT_F32;
    const int64_t width = (int64_t)vectors * o->lanes, k = 1 + (int64_t)(next_random(&state) % K);
    for (int64_t i = 0; i < K * WIDE; i++)
        random_element(t, 2, &state, a + i * o->size), random_element(t, 2, &state, b + i * o->size);
    for (int64_t i = 0; i < WIDE * WIDE; i++)
        random_element(t, 2, &state, c + i * o->size);
    memcpy(want, c, sizeof c);
    const struct gemm_tile tile = {.k = k,
                                   .a = a,
                                   .a_rs = kind == GEMM_PACKED ? o->size : K * o->size,
                                   .a_cs = kind == GEMM_PACKED ? (int64_t)o->mr * o->size : o->size,
                                   .b = b,
                                   .b_rs = kind == GEMM_PACKED ? width * o->size : WIDE * o->size,
                                   .c = c,
                                   .c_rs = WIDE * o->size,
                                   .cols = (int32_t)(width - (kind == GEMM_PART && o->lanes > 1)),
                                   .add = add,
                                   .next = a};
    call(name, (void (*)(void))o->tiles[(kind * o->mr + rows - 1) * o->nv + vectors - 1], (uintptr_t)&tile, 0, 0, 0);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < tile.cols; j++) {
            unsigned char *w = want + r * tile.c_rs + j * o->size;
            double d = 0, d0;
            float f = 0, f0;
            for (int64_t p = 0; p < k; p++) {
                const unsigned char *pa = a + r * tile.a_rs + p * tile.a_cs, *pb = b + p * tile.b_rs + j * o->size;
                double da, db;
                float fa, fb;
                memcpy(&da, pa, 8), memcpy(&db, pb, 8), memcpy(&fa, pa, 4), memcpy(&fb, pb, 4);
                d = fma(da, db, d), f = fmaf(fa, fb, f);
            }
            memcpy(&d0, w, 8), memcpy(&f0, w, 4);
            d = add ? d0 + d : d, f = add ? f0 + f : f;
            memcpy(w, t == WEFT_F64 ? (void *)&d : (void *)&f, (size_t)o->size);
        }
    cr_assert(!memcmp(c, want, sizeof c), "%s: kind %d, %d rows, %d vectors, k %d", name, kind, rows, vectors, (int)k);
}

static void all_tiles(const char *name, const struct gemm_ops *o, enum kern_isa isa) {
    if (isa > kern_isa_detect()) return;
    for (int kind = 0; kind <= (o->direct ? GEMM_PART : GEMM_PACKED); kind++)
        for (int rows = 1; rows <= o->mr; rows++)
            for (int v = 1; v <= o->nv; v++)
                run_tile(name, o, kind, rows, v, false), run_tile(name, o, kind, rows, v, true);
}
Test(asm_abi, matrix_tiles) {
    all_tiles("gemm f64 AVX2", &kern_gemm_f64_avx2_asm, KERN_AVX2);
    all_tiles("gemm f32 AVX2", &kern_gemm_f32_avx2_asm, KERN_AVX2);
    all_tiles("gemm f64 AVX-512", &kern_gemm_f64_avx512_asm, KERN_AVX512);
    all_tiles("gemm f32 AVX-512", &kern_gemm_f32_avx512_asm, KERN_AVX512);
}
