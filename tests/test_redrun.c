// SPDX-License-Identifier: MIT
// Every RED row of kernels.def against the steps of kern.h, leaf by leaf: all lengths, all
// misalignments, between guard pages, NaN and zeros at every place; and what the ABI asks of a
// kernel.
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "guard.h"
#include "kernels/kern.h"

enum { STATE = 1024, MOST = 140000 };
static _Alignas(64) unsigned char stack[64 * STATE], want_lanes[STATE], got_lanes[STATE];

static int lanes_of(enum kern_red r, weft_dtype t) {
    return kern_red_is_arg(r) ? 32 : kern_red_lanes(t);
}

// elements cast one by one, as the graph's cast node would
static void cast(const struct kern_red_row *w, const unsigned char *x, int64_t n,
                 unsigned char *to) {
    for (int64_t i = 0; i < n; i++) {
        const unsigned char *p = x + (size_t)i * dtype_size(w->from);
        uint64_t v = 0;
        float f;
        double d;
        memcpy(&v, p, dtype_size(w->from));
        if (w->from == WEFT_BOOL) v = v != 0;
        const int drop = 64 - 8 * (int)dtype_size(w->from);
        if (dtype_is_signed(w->from)) v = (uint64_t)((int64_t)(v << drop) >> drop);
        if (w->from == WEFT_F32) {
            memcpy(&f, p, 4);
            d = (double)f;
            memcpy(&v, &d, 8);
        }
        memcpy(to + 8 * i, &v, 8);
    }
}

static uint64_t oracle(const struct kern_red_row *w, const unsigned char *x, int64_t n,
                       int64_t first) {
    static unsigned char wide[MOST * 8];
    if (w->from != w->dtype) {
        cast(w, x, n, wide);
        x = wide;
    }
    const int L = lanes_of(w->red, w->dtype);
    const int64_t size = (int64_t)dtype_size(w->dtype),
                  leaves = (n + KERN_RED_RUN - 1) / KERN_RED_RUN;
    for (int64_t i = 0; i < leaves; i++) {
        const int64_t e = i * KERN_RED_RUN;
        kern_red_identity(w->red, w->dtype, got_lanes, L);
        kern_red_leaf(w->red, w->dtype, got_lanes, x + e * size, MIN_OF(n - e, KERN_RED_RUN),
                      first + e);
        kern_red_push(w->red, w->dtype, stack, got_lanes, L, (uint64_t)i);
    }
    kern_red_flush(w->red, w->dtype, stack, want_lanes, L, (uint64_t)leaves);
    uint64_t v = 0;
    kern_red_fold(w->red, w->dtype, want_lanes, &v);
    return v;
}

static void check(const struct kern_red_row *w, const unsigned char *x, int64_t n,
                  const char *what) {
    const uint64_t want = oracle(w, x, n, 1 << 20);
    uint64_t got = 0;
    memset(stack, 0xa5, sizeof stack);
    kern_red_run(w, got_lanes, x, n, 1 << 20, stack);
    if (w->how == KERN_RED_TREE)
        for (int l = 0; l < lanes_of(w->red, w->dtype); l++) {
            const size_t at = (size_t)l * dtype_size(w->dtype);
            cr_assert(same_element(w->dtype, got_lanes + at, want_lanes + at),
                      "%s from %s n %lld lane %d %s", w->symbol, dtype_name(w->from), (long long)n,
                      l, what);
        }
    kern_red_fold(w->red, w->dtype, got_lanes, &got);
    cr_assert(same_element(kern_red_is_arg(w->red) ? WEFT_I64 : w->dtype, &got, &want),
              "%s (%d) n %lld %s: %llx, not %llx", w->symbol, (int)w->red, (long long)n, what,
              (unsigned long long)got, (unsigned long long)want);
    memset(stack, 0x5a, sizeof stack);
    kern_red_run(w, stack, x, n, 1 << 20, stack); // lanes may be the stack
    got = 0;
    kern_red_fold(w->red, w->dtype, stack, &got);
    cr_assert(same_element(kern_red_is_arg(w->red) ? WEFT_I64 : w->dtype, &got, &want));
}

static const struct kern_red_row *row(size_t i) {
    size_t n;
    const struct kern_red_row *w = kern_red_rows(&n);
    return i < n && w[i].isa <= kern_isa_detect() ? w + i : NULL;
}
static size_t row_count(void) {
    size_t n;
    kern_red_rows(&n);
#ifdef __x86_64__
    cr_assert(n > 100);
#endif
    return n;
}

Test(redrun, all_lengths_between_guards) {
    struct guard g = guard_new((size_t)MOST * 8);
    static const int64_t more[] = {511,   512,   513,   767,   768,   769,   1023,  1024,  1025,
                                   1279,  1280,  2047,  2048,  2049,  2303,  2560,  3072,  3333,
                                   4095,  4096,  4097,  5120,  8191,  8192,  8193,  9000,  16383,
                                   16384, 16385, 32767, 32768, 32769, 40000, 65535, 65537, 131073};
    uint64_t seed = 1;
    for (size_t i = 0; i < row_count(); i++) {
        const struct kern_red_row *w = row(i);
        if (!w) continue;
        const size_t size = dtype_size(w->from);
        for (int64_t k = 0; k <= 300 + (int64_t)COUNT_OF(more); k++) {
            const int64_t n = k <= 300 ? k : more[k - 301];
            const int kind = (int)(k % 3);
            unsigned char *x = k % 2 ? g.base : guard_end(&g, (size_t)n * size);
            for (int64_t e = 0; e < n; e++)
                random_element(w->from, kind, &seed, x + (size_t)e * size);
            check(w, x, n, k % 2 ? "after a guard" : "before a guard");
        }
    }
    guard_free(&g);
}

Test(redrun, any_alignment) {
    static unsigned char room[5000 * 8 + 64];
    uint64_t seed = 2;
    for (size_t i = 0; i < row_count(); i++) {
        const struct kern_red_row *w = row(i);
        for (int off = 0; w && off < 64; off += off < 9 ? 1 : 5) {
            const int64_t n = 4000 + off * 13;
            for (int64_t e = 0; e < n; e++)
                random_element(w->from, off % 3, &seed,
                               room + off + (size_t)e * dtype_size(w->from));
            check(w, room + off, n, "misaligned");
        }
    }
}

// ---- columns
// The steps of the outer tree, leaf by leaf.
static void outer_oracle(const struct kern_red_row *w, const unsigned char *x, int64_t rs, int64_t rows,
                         int64_t n) {
    const uint64_t leaves = (uint64_t)(rows + KERN_RED_ROWS - 1) / KERN_RED_ROWS;
    for (uint64_t i = 0; i < leaves; i++) {
        const int64_t first = (int64_t)i * KERN_RED_ROWS;
        kern_red_identity(w->red, w->dtype, got_lanes, n);
        for (int64_t e = first; e < MIN_OF(first + KERN_RED_ROWS, rows); e++)
            kern_red_row(w->red, w->dtype, got_lanes, x + e * rs, n, e);
        kern_red_push(w->red, w->dtype, stack, got_lanes, n, i);
    }
    kern_red_flush(w->red, w->dtype, stack, want_lanes, n, leaves);
}

static void check_outer(const struct kern_red_row *w, const unsigned char *x, int64_t rs, int64_t rows,
                        int64_t n) {
    const size_t size = dtype_size(w->dtype);
    outer_oracle(w, x, rs, rows, n);
    memset(stack, 0xa5, sizeof stack);
    memset(got_lanes, 0xa5, sizeof got_lanes);
    w->outer(w, got_lanes, x, rs, rows, n, stack);
    for (int64_t i = 0; i < n; i++)
        cr_assert(same_element(w->dtype, got_lanes + (size_t)i * size, want_lanes + (size_t)i * size),
                  "%s of %s: %lld rows %lld apart, column %lld of %lld", w->symbol, dtype_name(w->dtype),
                  (long long)rows, (long long)rs, (long long)i, (long long)n);
    w->outer(w, stack, x, rs, rows, n, stack); // the total may be the stack
    for (int64_t i = 0; i < n; i++)
        cr_assert(same_element(w->dtype, stack + (size_t)i * size, want_lanes + (size_t)i * size));
}

Test(redrun, columns_are_the_outer_tree) {
    enum { COLS = 100 };
    static const int64_t widths[] = {1, 2, 7, 8, 15, 16, 17, 33, 64, COLS}, tall[] = {63, 64, 65, 100, 255, 257};
    struct guard g = guard_new((size_t)257 * (COLS + 3) * 8);
    uint64_t seed = 9;
    for (int r = 0; r < KERN_ARGMIN; r++)
        for (int t = 0; t < WEFT_DTYPE__N; t++) {
            if (!kern_red_runs((enum kern_red)r, (weft_dtype)t, (weft_dtype)t)) continue;
            const struct kern_red_row *w =
                kern_red_find((enum kern_red)r, (weft_dtype)t, (weft_dtype)t, kern_isa_detect());
            const int64_t size = (int64_t)dtype_size(w->dtype);
            for (int64_t k = 0; k <= 40 + (int64_t)COUNT_OF(tall); k++) {
                const int64_t rows = k <= 40 ? k : tall[k - 41], n = widths[(k + r) % 10];
                const int64_t rs = (n + k % 3) * size + k % 2; // odd: misaligned
                const size_t bytes = rows ? (size_t)((rows - 1) * rs + n * size) : 0;
                unsigned char *x = k % 2 ? g.base : guard_end(&g, bytes);
                for (int64_t i = 0; i < rows * n; i++)
                    random_element(w->dtype, (int)(k % 3), &seed, x + i / n * rs + i % n * size);
                check_outer(w, x, rs, rows, n);
                if (rows) check_outer(w, x + (rows - 1) * rs, -rs, rows, n);
            }
        }
    guard_free(&g);
}

// value `v` at one place among ordinary ones: NaN, zeros of both signs, infinities, and all the
// same
static void put(weft_dtype t, double v, unsigned char *at) {
    const float f = (float)v;
    memcpy(at, t == WEFT_F32 ? (const void *)&f : (const void *)&v, dtype_size(t));
}
Test(redrun, one_odd_value_at_every_place) {
    enum { N = 2400 };
    static unsigned char x[N * 8];
    static const double odd[] = {NAN, -0.0, 0.0, INFINITY, -INFINITY, 0.5};
    static const double rest[] = {-0.0, 0.0, -1.0, 1.0, -INFINITY, INFINITY, NAN};
    for (size_t i = 0; i < row_count(); i++) {
        const struct kern_red_row *w = row(i);
        if (!w || !dtype_is_float(w->from) || w->how == KERN_RED_TREE) continue;
        const size_t size = dtype_size(w->from);
        for (size_t c = 0; c < COUNT_OF(odd) * COUNT_OF(rest); c++) {
            for (int e = 0; e < N; e++)
                put(w->from, rest[c % COUNT_OF(rest)], x + (size_t)e * size);
            check(w, x, N, "all the same");
            for (int at = (int)c % 7; at < N; at += at < 300 ? 7 : 61) {
                put(w->from, odd[c / COUNT_OF(rest)], x + (size_t)at * size);
                check(w, x, N, "one odd value");
                put(w->from, rest[c % COUNT_OF(rest)], x + (size_t)at * size);
            }
        }
    }
}

Test(redrun, signalling_nan_counts_as_nan) {
    enum { N = 1500 };
    double x[N];
    const uint64_t snan = 0x7ff0000000000001u;
    for (size_t i = 0; i < row_count(); i++) {
        const struct kern_red_row *w = row(i);
        if (!w || w->from != WEFT_F64 || w->how == KERN_RED_TREE) continue;
        for (int e = 0; e < N; e++)
            x[e] = (double)(e % 77) - 30;
        for (int at = 0; at < N; at += 111) {
            memcpy(&x[at], &snan, 8);
            check(w, (const unsigned char *)x, N, "signalling");
        }
    }
}

// 16-bit sums go through 32 bits: the longest stretch of the largest values must not overflow them
Test(redrun, narrow_sums_do_not_overflow) {
    const int64_t n = (int64_t)3 << 20;
    int16_t *x = malloc((size_t)n * sizeof *x);
    cr_assert(x);
    for (size_t i = 0; i < row_count(); i++) {
        const struct kern_red_row *w = row(i);
        if (!w || w->from == w->dtype || w->from == WEFT_F32) continue;
        const int64_t m = n * 2 / (int64_t)dtype_size(w->from);
        for (int fill = 0; fill < 2; fill++) {
            for (int64_t k = 0; k < n; k++) // the least and the greatest of every width
                x[k] = (int16_t)(fill ? 0x7f7f : 0x8080);
            uint64_t v = 0, got = 0;
            memcpy(&v, x, dtype_size(w->from));
            unsigned char wide[8];
            cast(w, (const unsigned char *)&v, 1, wide);
            memcpy(&v, wide, 8);
            kern_red_run(w, got_lanes, x, m, 0, stack);
            kern_red_fold(w->red, w->dtype, got_lanes, &got);
            cr_assert(got == v * (uint64_t)m, "%s from %s", w->symbol, dtype_name(w->from));
        }
    }
    for (int64_t k = 0; k < n; k++)
        x[k] = INT16_MIN;
    const struct kern_red_row *w = kern_red_find(KERN_SUM, WEFT_I64, WEFT_I16, kern_isa_detect());
    if (w) {
        int64_t got = 0;
        kern_red_run(w, got_lanes, x, n, 0, stack);
        kern_red_fold(w->red, w->dtype, got_lanes, &got);
        cr_assert(got == n * INT16_MIN);
    }
    free(x);
}

// what no kernel covers goes by the steps; and there is a row wherever there should be
Test(redrun, base_covers_everything) {
    static unsigned char x[3000 * 8];
    uint64_t seed = 9;
    int found = 0;
    for (int r = 0; r < KERN_RED__N; r++)
        for (int i = 0; i < WEFT_DTYPE__N * WEFT_DTYPE__N; i++) {
            const weft_dtype t = (weft_dtype)(i / WEFT_DTYPE__N), from = (weft_dtype)(i % WEFT_DTYPE__N);
            const struct kern_red_row *w = kern_red_find((enum kern_red)r, t, from, KERN_BASE);
            cr_assert((w != NULL) == kern_red_runs((enum kern_red)r, t, from), "%d %s from %s", r,
                      dtype_name(t), dtype_name(from));
            if (!w) continue;
            found++;
            for (int64_t n = 0; n < 3000; n = n * 3 / 2 + 1) {
                for (int64_t e = 0; e < n; e++)
                    random_element(from, (int)(n % 3), &seed, x + (size_t)e * dtype_size(from));
                check(w, x, n, "steps");
            }
        }
    cr_assert(found > 100);
}

#ifdef __x86_64__
// what a kernel must leave alone: callee-saved registers, MXCSR, the direction flag; and the upper
// halves of vector registers are clear, which VEX-encoded neighbours pay for otherwise
static bool sees_upper_halves(void) { // XGETBV of 1 says which state is in use
    unsigned a, b, c, d;
    return __get_cpuid_count(13, 1, &a, &b, &c, &d) && (a & 4);
}
static bool abi_is_kept(kern_red_units *fn, void *state, const void *x, size_t units) {
    uint64_t before[6] = {1, 2, 3, 4, 5, 6}, after[6], flags, in_use = sees_upper_halves();
    uint32_t csr = 0, csr_after = 0;
    struct {
        void *state;
        const void *x;
        size_t units;
        kern_red_units *fn;
        uint64_t *in, *out, *in_use;
    } c = {state, x, units, fn, before, after, &in_use};
    __asm__ volatile("stmxcsr %0" : "=m"(csr));
    __asm__ volatile(
        "push %%rbp\n\tpush %%rbx\n\tpush %%r12\n\tpush %%r13\n\tpush %%r14\n\tpush %%r15\n\t"
        "sub $24, %%rsp\n\tmov %%rax, 8(%%rsp)\n\t"
        "mov 0(%%rax), %%rdi\n\tmov 8(%%rax), %%rsi\n\tmov 16(%%rax), %%rdx\n\t"
        "mov 24(%%rax), %%r11\n\tmov 32(%%rax), %%rcx\n\t"
        "mov 0(%%rcx), %%rbx\n\tmov 8(%%rcx), %%rbp\n\tmov 16(%%rcx), %%r12\n\t"
        "mov 24(%%rcx), %%r13\n\tmov 32(%%rcx), %%r14\n\tmov 40(%%rcx), %%r15\n\t"
        "call *%%r11\n\t"
        "mov 8(%%rsp), %%rax\n\tmov 40(%%rax), %%rcx\n\t"
        "mov %%rbx, 0(%%rcx)\n\tmov %%rbp, 8(%%rcx)\n\tmov %%r12, 16(%%rcx)\n\t"
        "mov %%r13, 24(%%rcx)\n\tmov %%r14, 32(%%rcx)\n\tmov %%r15, 40(%%rcx)\n\t"
        "mov 48(%%rax), %%rsi\n\tcmpq $0, (%%rsi)\n\tje 1f\n\t"
        "mov $1, %%ecx\n\txgetbv\n\tand $4, %%eax\n\tmov %%rax, (%%rsi)\n1:\t"
        "add $24, %%rsp\n\t"
        "pop %%r15\n\tpop %%r14\n\tpop %%r13\n\tpop %%r12\n\tpop %%rbx\n\tpop %%rbp"
        :
        : "a"(&c)
        : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
    __asm__ volatile("stmxcsr %0\n\tpushfq\n\tpop %1" : "=m"(csr_after), "=r"(flags));
    return memcmp(before, after, sizeof before) == 0 && (csr & ~0x3fu) == (csr_after & ~0x3fu) &&
           !(flags & 0x400) && !in_use;
}
Test(redrun, the_abi_is_kept) {
    static _Alignas(64) unsigned char x[40 * 2048];
    for (size_t i = 0; i < row_count(); i++) {
        const struct kern_red_row *w = row(i);
        for (size_t units = 1; w && units < 40; units += 3)
            cr_assert(abi_is_kept(w->fn, stack, x, units), "%s units %zu", w->symbol, units);
    }
}
#endif
