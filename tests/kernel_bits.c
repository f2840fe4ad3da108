// SPDX-License-Identifier: MIT
// The bits of every kernel of the registry over one set of operands: kernel_bits FILE [--write]. FILE
// (tests/golden/kernel_bits.txt) has a hash for each family and type; each row that runs here, C
// recipes, AVX2 and AVX-512, must give it. Ends with "N passed, N failed".
//
// The operands are made by integer arithmetic alone, so they are the same everywhere: small numbers of both
// signs, numbers over all exponents, and special values. A NaN counts as one NaN.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kern.h"

enum { N = 6151, LINE = 64, LINES_MAX = 512 };
static _Alignas(64) unsigned char a[8 * N], b[8 * N], out[8 * N];

static const char *const names[] = {
#define F(name) #name,
    KERN_FAMILIES(F)
#undef F
};

static uint64_t next(uint64_t *s) {
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return *s >> 32 ^ *s << 32;
}

static void fill(weft_dtype t, unsigned char *p, uint64_t seed) {
    static const double special[] = {0.0,   1.0,  0.5,     2.0,      10.0,    0x1p-60, 0x1p60, 709.0,
                                     745.0, 88.0, 0x1p-24, INFINITY, 5e-324, 1e308,  1e38,   NAN};
    const size_t width = dtype_size(t);
    for (size_t i = 0; i < N; i++) {
        const uint64_t r = next(&seed);
        uint64_t bits = r;
        double v = (double)(int64_t)(r >> 32) * 0x1p-32 * (r & 256 ? 4 : 40) * (r & 512 ? 1 : -1);
        if (i % 64 == 63) v = special[i / 64 % 16] * (i & 1024 ? 1 : -1);
        float f = (float)v;
        if (t == WEFT_F64 && i % 3) memcpy(&bits, &v, 8);
        if (t == WEFT_F32 && i % 3) memcpy(&bits, &f, 4);
        memcpy(p + i * width, &bits, width);
    }
}

static void one_nan(weft_dtype t, unsigned char *p) {
    for (size_t i = 0; i < N; i++) {
        double d;
        float f;
        if (t == WEFT_F64 && (memcpy(&d, p + 8 * i, 8), isnan(d))) memset(p + 8 * i, 0x7f, 8);
        if (t == WEFT_F32 && (memcpy(&f, p + 4 * i, 4), isnan(f))) memset(p + 4 * i, 0x7f, 4);
    }
}

static uint64_t hash(const unsigned char *p, size_t n) { // FNV-1a
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

static void line_of(const struct kern_row *r, char line[LINE]) {
    fill(r->dtype, a, 1), fill(r->dtype, b, 2);
    memset(out, 0, sizeof out);
    r->fn(out, a, b, N);
    one_nan(r->dtype, out);
    snprintf(line, LINE, "%016llx %s %s", (unsigned long long)hash(out, N * dtype_size(r->dtype)),
             names[r->family], r->dtype == WEFT_F32 ? "f32" : r->dtype == WEFT_F64 ? "f64" : "int");
    if (r->dtype != WEFT_F32 && r->dtype != WEFT_F64)
        snprintf(line + strlen(line), LINE - strlen(line), "-%d", (int)r->dtype);
}

static char want[LINES_MAX][LINE];
static size_t known;
static bool is_known(const char *line) {
    for (size_t i = 0; i < known; i++)
        if (!strcmp(want[i], line)) return true;
    return false;
}

int main(int argc, char **argv) {
    size_t n, passed = 0, failed = 0;
    const struct kern_row *rows = kern_rows(&n);
    const bool write = argc > 2 && !strcmp(argv[2], "--write");
    FILE *f = argc > 1 ? fopen(argv[1], write ? "w" : "r") : NULL;
    if (!f) return fprintf(stderr, "usage: kernel_bits FILE [--write]\n"), 2;
    while (!write && known < LINES_MAX && fgets(want[known], LINE, f))
        want[known][strcspn(want[known], "\n")] = 0, known++;
    for (size_t i = 0; i < n; i++) {
        char line[LINE];
        if (rows[i].isa > (write ? KERN_BASE : kern_isa_detect())) continue;
        line_of(&rows[i], line);
        if (write) {
            fprintf(f, "%s\n", line);
            continue;
        }
        const bool same = is_known(line);
        if (!same) printf("FAILED: %s: %s\n", rows[i].symbol, line);
        passed += same, failed += !same;
    }
    fclose(f);
    printf("%zu passed, %zu failed\n", passed, failed);
    return failed || (!passed && !write);
}
