// SPDX-License-Identifier: MIT
// Kernels of the registry as the machine sees them, assembly and C: bits of the portable C recipe at every length,
// and the registers they may and may not change. Array kernels: callee-saved registers, MXCSR, direction flag, upper
// halves of the vector registers. Block kernels: everything but what kern_block declares.
#include <criterion/criterion.h>
#include <math.h>

#include "abi.h"
#include "guard.h"

enum { LONGEST = 4097, FLUSH = 1000 }; // skew FLUSH: at the first byte of the memory
static struct guard room[3];
static uint64_t state = 7;

// ---- array kernels ----------------------------------------------------------------------------------------
// kind 0: special values, 1: random bits, 2: moderate numbers, 3: any of these, 4: of one size. A single operand that the
// body does not take sends its whole block to the C recipe; those of one size keep blocks in the body.
enum { KINDS = 5 };
static void fill(const struct kern_row *r, void *p, size_t n, int kind) {
    const double size = ldexp(1.0, (int)(next_random(&state) % 24) - 12);
    const int sign = (int)(next_random(&state) % 3); // both, none, above 1
    for (size_t i = 0; i < n; i++) {
        void *at = (char *)p + i * dtype_size(r->dtype);
        const double u = (double)(next_random(&state) >> 11) * 0x1p-53, v = size * (sign ? u + (sign - 1) / size : 2 * u - 1);
        const float f = (float)v;
        if (kind < 4)
            random_element(r->dtype, kind == 3 ? (int)(next_random(&state) % 3) : kind, &state, at);
        else if (r->dtype == WEFT_F64)
            memcpy(at, &v, sizeof v);
        else if (r->dtype == WEFT_F32)
            memcpy(at, &f, sizeof f);
        else
            random_element(r->dtype, 2, &state, at);
    }
}

static void run_at(const struct kern_row *r, const struct kern_row *oracle, size_t n, size_t skew, int kind) {
    static double a[LONGEST], b[LONGEST], want[LONGEST];
    const size_t width = dtype_size(r->dtype), bytes = n * width;
    fill(r, a, n, kind);
    fill(r, b, n, kind);
    oracle->fn(want, a, b, n);
    // at the end of its memory or at the start of it, so that either neighbour cannot be touched
    unsigned char *p[3];
    for (int i = 0; i < 3; i++)
        p[i] = skew == FLUSH ? room[i].base : skew & 1 ? room[i].base + skew : (unsigned char *)guard_end(&room[i], bytes + skew);
    for (int place = 0; place < 2; place++) { // apart, then onto the first operand
        unsigned char *out = place ? p[0] : p[2];
        if (bytes) memcpy(p[0], a, bytes), memcpy(p[1], b, bytes);
        struct abi c = {.entry = (void (*)(void))r->fn,
                        .args = {(uintptr_t)out, (uintptr_t)p[0], (uintptr_t)p[1], n}};
        abi_map(&c);
        abi_check(r->symbol, &c, 6);
        abi_check_upper(r->symbol, &c);
        for (size_t i = 0; i < n; i++)
            cr_assert(same_element(r->dtype, out + i * width, (char *)want + i * width),
                      "%s: element %zu of %zu, skew %zu, kind %d", r->symbol, i, n, skew, kind);
    }
}

static void all_rows(weft_dtype t) {
    size_t nrow;
    const struct kern_row *rows = kern_rows(&nrow);
    for (int i = 0; i < 3; i++)
        room[i] = guard_new(LONGEST * 8 + 128);
    int seen = 0;
    for (size_t i = 0; i < nrow; i++) {
        const struct kern_row *r = &rows[i], *oracle = kern_find(r->family, r->dtype, KERN_BASE);
        if (r->dtype != t || r->isa > kern_isa_detect()) continue;
        cr_assert(!oracle->block);
        for (size_t n = 0; n <= 300; n++)
            run_at(r, oracle, n, n * 7 % 13, (int)(n % KINDS)), run_at(r, oracle, n, FLUSH, 3);
        for (size_t k = 9; k <= 12; k++)
            for (size_t n = ((size_t)1 << k) - 1; n <= ((size_t)1 << k) + 1; n++)
                run_at(r, oracle, n, k, 3), run_at(r, oracle, n, k, 4);
        for (size_t skew = 0; skew < 64; skew++)
            run_at(r, oracle, 67, skew, (int)(skew % KINDS));
        seen++;
    }
    cr_assert(seen);
    for (int i = 0; i < 3; i++)
        guard_free(&room[i]);
}
Test(asm_math, arrays_f64) { all_rows(WEFT_F64); }
Test(asm_math, arrays_f32) { all_rows(WEFT_F32); }
Test(asm_math, arrays_int) {
    for (int t = WEFT_I8; t <= WEFT_U64; t++)
        all_rows((weft_dtype)t);
}

// ---- block kernels ---------------------------------------------------------------------------------------------
static void run_block(const struct kern_row *r, const struct kern_row *oracle, int kind) {
    const struct kern_block *b = r->block;
    const size_t vector = r->isa == KERN_AVX512 ? 64 : 32, bytes = vector * (size_t)b->vectors;
    const size_t n = bytes / dtype_size(r->dtype);
    static struct abi c;
    unsigned char before[32][64], operand[2][256], want[256];
    for (int v = 0; v < 32; v++)
        for (int k = 0; k < 64; k += 8) {
            uint64_t x = next_random(&state);
            memcpy(&c.vec[v][k], &x, 8);
        }
    for (int o = 0; o < b->operands; o++) {
        fill(r, operand[o], n, kind);
        for (int v = 0; v < b->vectors; v++)
            memcpy(c.vec[o * b->vectors + v], operand[o] + (size_t)v * vector, vector);
    }
    memcpy(before, c.vec, sizeof before);
    oracle->fn(want, operand[0], operand[b->operands - 1], n);
    c.entry = b->entry;
    if (vector == 64)
        abi_block_zmm(&c);
    else
        abi_block_ymm(&c);
    abi_check(r->symbol, &c, 12);
    for (int v = b->registers; v < (vector == 64 ? 32 : 16); v++)
        cr_assert(memcmp(before[v], c.vec[v], vector) == 0, "%s: block changes vector register %d", r->symbol, v);
    for (size_t i = 0; i < n; i++) {
        const size_t at = i * dtype_size(r->dtype);
        cr_assert(same_element(r->dtype, c.vec[at / vector] + at % vector, want + at),
                  "%s: block, element %zu, kind %d", r->symbol, i, kind);
    }
}
Test(asm_math, blocks) {
    size_t nrow;
    const struct kern_row *rows = kern_rows(&nrow);
    for (size_t i = 0; i < nrow; i++) {
        const struct kern_row *r = &rows[i];
        if (!r->block || r->isa > kern_isa_detect()) continue;
        cr_assert(r->block->registers <= (r->isa == KERN_AVX512 ? 32 : 16));
        for (int k = 0; k < 600; k++)
            run_block(r, kern_find(r->family, r->dtype, KERN_BASE), k % KINDS);
    }
}
