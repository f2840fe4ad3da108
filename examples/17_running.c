// SPDX-License-Identifier: MIT
// Introduces: data larger than memory: count, mean, variance, least and greatest of a file of f64 by strips, joined by
// Chan, Golub and LeVeque's rule (1983), with a progress bar. Argument: a file of raw f64; without, a small one is made.
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { STRIP = 1 << 16, SMALL = 1000003 };
struct running {
    double n, mean, squares, least, most; // squares: the sum of (x - mean)^2
};

static void join(struct running *a, const struct running *b) {
    const double n = a->n + b->n, d = b->mean - a->mean;
    if (b->n == 0) return;
    a->mean += d * (b->n / n);
    a->squares += b->squares + d * d * (a->n * b->n / n);
    a->least = fmin(a->least, b->least);
    a->most = fmax(a->most, b->most);
    a->n = n;
}

static void bar(double share) {
    static int shown = -1;
    const int at = (int)(40 * share);
    if (at == shown || !isatty(STDERR_FILENO)) return;
    shown = at;
    fprintf(stderr, "\r[%.*s%*s] %3.0f %%%s", at, "########################################", 40 - at, "", 100 * share, share >= 1 ? "\n" : "");
}

// Mean, mean square distance from it, extremes: one program for strips of any length.
static weft_program *strip_program(weft_graph *g) {
    weft_expr *x = weft_input(g, "x", WEFT_F64, 1, (const int64_t[]){STRIP});
    return compiled(g, 4, (weft_expr *[]){weft_mean(x, NULL), weft_var(x, NULL), weft_min(x, NULL), weft_max(x, NULL)});
}

static struct running with_weft(FILE *f, const weft_program *p, weft_workspace *ws, double *strip, double total) {
    struct running all = {0, 0, 0, INFINITY, -INFINITY};
    for (size_t got; (got = fread(strip, sizeof *strip, STRIP, f)) > 0;) {
        struct running s = {.n = (double)got};
        double *const into[] = {&s.mean, &s.squares, &s.least, &s.most};
        const int64_t n = (int64_t)got;
        weft_array in = weft_dense(WEFT_F64, strip, 1, &n), out[4];
        for (int i = 0; i < 4; i++)
            out[i] = weft_dense(WEFT_F64, into[i], 0, NULL);
        go(p, ws, &in, out);
        s.squares *= s.n;
        join(&all, &s);
        bar(all.n / total);
    }
    return all;
}

// Welford's rule, a number at a time
static struct running plain(FILE *f, double *strip) {
    struct running a = {0, 0, 0, INFINITY, -INFINITY};
    for (size_t got; (got = fread(strip, sizeof *strip, STRIP, f)) > 0;)
        for (size_t i = 0; i < got; i++) {
            const double d = strip[i] - a.mean;
            a.n++;
            a.mean += d / a.n;
            a.squares += d * (strip[i] - a.mean);
            a.least = strip[i] < a.least ? strip[i] : a.least;
            a.most = strip[i] > a.most ? strip[i] : a.most;
        }
    return a;
}

// 0, 1, 2, ... n-1 in an order that jumps about, far from 0: mean 1e6 + (n-1)/2, variance (n^2-1)/12
static FILE *small_file(double *strip) {
    FILE *f = tmpfile();
    for (int64_t i = 0; f && i < SMALL; i++) {
        strip[i % STRIP] = 1e6 + (double)(i * 7919 % SMALL);
        const size_t have = (size_t)(i % STRIP) + 1;
        if ((have == STRIP || i == SMALL - 1) && fwrite(strip, sizeof *strip, have, f) != have) return NULL;
    }
    return f;
}

int main(int argc, char **argv) {
    double *strip = malloc(STRIP * sizeof *strip), fast, slow;
    expect(strip != NULL, "memory");
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : small_file(strip);
    expect(f && fseek(f, 0, SEEK_END) == 0, "a file that can be read");
    const double total = (double)ftell(f) / sizeof *strip;
    weft_ctx *ctx = compiling();
    weft_graph *g = weft_graph_new(ctx);
    weft_program *p = strip_program(g);
    weft_workspace *ws = NULL;
    must(weft_workspace_new(ctx, &ws), NULL);
    struct running a = {0}, b = {0};
    LEAST_TIME(&fast, argc > 1 ? 1 : 3, (rewind(f), a = with_weft(f, p, ws, strip, total)));
    LEAST_TIME(&slow, argc > 1 ? 1 : 3, (rewind(f), b = plain(f, strip)));
    speed("the file", fast, slow);
    printf("%.0f numbers in %zu bytes of memory: mean %.6f, variance %.6f, %.0f to %.0f\n", a.n,
           STRIP * sizeof *strip + weft_workspace_bytes(ws), a.mean, a.squares / a.n, a.least, a.most);
    expect(a.n == b.n && a.least == b.least && a.most == b.most, "what the plain loop finds");
    expect(fabs(a.mean - b.mean) <= 1e-12 * fabs(b.mean) && fabs(a.squares - b.squares) <= 1e-9 * b.squares, "its mean and variance");
    if (argc == 1) {
        const double n = SMALL;
        expect(fabs(a.mean - (1e6 + (n - 1) / 2)) < 1e-6 && fabs(a.squares / n / ((n * n - 1) / 12) - 1) < 1e-12, "the known answers");
        expect(a.least == 1e6 && a.most == 1e6 + n - 1, "the known extremes");
    }
    fclose(f);
    weft_workspace_free(ws);
    weft_program_free(p);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    free(strip);
    return 0;
}
