// SPDX-License-Identifier: MIT
// Introduces: distances as a matrix product, argmin, and sums by group as a product with a one-hot matrix: k-means
// (Lloyd) on Fashion-MNIST, two programs compiled once. Argument: how many of the 60 000 images (default 6000).
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "check.h"

#define DATA "/usr/share/datasets/fashion-mnist/"
enum { PIXELS = 784, K = 10, MOST = 60000, ROUNDS = 12 };
static uint8_t raw[MOST * PIXELS], truth[MOST];
static float images[MOST * PIXELS], centre[K][PIXELS], start[K][PIXELS], centre2[K][PIXELS];
static uint8_t group[MOST], group2[MOST];

static bool read_idx(const char *path, unsigned header, uint8_t *to, unsigned size) {
    uint8_t skip[16];
    gzFile f = gzopen(path, "rb");
    const bool ok = f && gzread(f, skip, header) == (int)header && gzread(f, to, size) == (int)size;
    if (f) gzclose(f);
    return ok;
}

static weft_expr *over(weft_expr *(*f)(weft_expr *, const weft_reduce *), weft_expr *x, int axis) {
    return f(x, &(weft_reduce){.size = sizeof(weft_reduce), .axes = &axis, .naxes = 1});
}

// |x - c|^2 = |x|^2 - 2 x.c + |c|^2, of which |x|^2 does not choose: group and the sum of square distances.
static weft_program *assign(weft_graph *g, int64_t n) {
    weft_expr *x = weft_input(g, "x", WEFT_F32, 2, (const int64_t[]){n, PIXELS});
    weft_expr *c = weft_input(g, "c", WEFT_F32, 2, (const int64_t[]){K, PIXELS});
    weft_expr *d = weft_sub(over(weft_sum, weft_square(c), 1),
                            weft_mul(weft_float(g, 2), weft_matmul(x, weft_transpose(c, NULL))));
    weft_expr *inertia = weft_add(weft_sum(weft_square(x), NULL), weft_sum(over(weft_min, d, 1), NULL));
    return compiled(g, 2, (weft_expr *[]){weft_cast(over(weft_argmin, d, 1), WEFT_U8), inertia});
}

// The mean of each group; an empty one stays where it was.
static weft_program *update(weft_graph *g, int64_t n) {
    weft_expr *x = weft_input(g, "x", WEFT_F32, 2, (const int64_t[]){n, PIXELS});
    weft_expr *c = weft_input(g, "c", WEFT_F32, 2, (const int64_t[]){K, PIXELS});
    weft_expr *hot = weft_one_hot(weft_input(g, "group", WEFT_U8, 1, &n), K, WEFT_F32);
    weft_expr *size = weft_expand_dims(over(weft_sum, hot, 0), 1);
    weft_expr *sum = weft_matmul(weft_transpose(hot, NULL), x);
    weft_expr *mean = weft_where(weft_greater(size, weft_float(g, 0)), weft_true_divide(sum, size), c);
    return compiled(g, 1, &mean);
}

static double lloyd(const weft_program *a, const weft_program *u, int64_t n, int rounds, double *inertia) {
    float sum = 0;
    weft_array x = weft_dense(WEFT_F32, images, 2, (const int64_t[]){n, PIXELS}), c = weft_dense(WEFT_F32, centre, 2, (const int64_t[]){K, PIXELS});
    weft_array out[] = {weft_dense(WEFT_U8, group, 1, &n), weft_dense(WEFT_F32, &sum, 0, NULL)};
    memcpy(centre, start, sizeof centre);
    for (int i = 0; i < rounds; i++) {
        go(a, NULL, (const weft_array[]){x, c}, out);
        inertia[i] = (double)sum;
        go(u, NULL, (const weft_array[]){x, c, out[0]}, &c);
    }
    return (double)sum;
}

static void plain(int64_t n, int rounds) {
    static float sum[K][PIXELS];
    memcpy(centre2, start, sizeof centre2);
    for (int r = 0; r < rounds; r++) {
        int64_t size[K] = {0};
        memset(sum, 0, sizeof sum);
        for (int64_t i = 0; i < n; i++) {
            const float *x = images + i * PIXELS;
            float best = INFINITY;
            for (int k = 0; k < K; k++) {
                float d = 0;
                for (int j = 0; j < PIXELS; j++)
                    d += (x[j] - centre2[k][j]) * (x[j] - centre2[k][j]);
                if (d < best) best = d, group2[i] = (uint8_t)k;
            }
            for (int j = 0; j < PIXELS; j++)
                sum[group2[i]][j] += x[j];
            size[group2[i]]++;
        }
        for (int k = 0; k < K; k++)
            for (int j = 0; j < PIXELS && size[k]; j++)
                centre2[k][j] = sum[k][j] / (float)size[k];
    }
}

// The share of images that are of the most frequent class of their group.
static double purity(int64_t n) {
    int64_t count[K][10] = {{0}}, right = 0;
    for (int64_t i = 0; i < n; i++)
        count[group[i]][truth[i]]++;
    for (int k = 0; k < K; k++) {
        int64_t most = 0;
        for (int t = 0; t < 10; t++)
            most = count[k][t] > most ? count[k][t] : most;
        right += most;
    }
    return (double)right / (double)n;
}

int main(int argc, char **argv) {
    const int64_t n = argc > 1 ? atoll(argv[1]) : 6000;
    expect(n >= 100 && n <= MOST, "100 to 60000 images");
    if (!read_idx(DATA "train-images-idx3-ubyte.gz", 16, raw, sizeof raw) || !read_idx(DATA "train-labels-idx1-ubyte.gz", 8, truth, MOST)) {
        fprintf(stderr, "no Fashion-MNIST in " DATA " (Debian: dataset-fashion-mnist)\n");
        return 1;
    }
    for (int64_t i = 0; i < n * PIXELS; i++)
        images[i] = (float)raw[i] / 255;
    for (int k = 0; k < K; k++)
        memcpy(start[k], images + k * PIXELS, sizeof start[k]);
    weft_ctx *ctx = compiling();
    weft_graph *g = weft_graph_new(ctx);
    weft_program *a = assign(g, n);
    weft_graph_reset(g); // the programs have what they need; their inputs are numbered apart
    weft_program *u = update(g, n);
    double inertia[ROUNDS], fast, slow;
    lloyd(a, u, n, ROUNDS, inertia);
    LEAST_TIME(&fast, 3, lloyd(a, u, n, 2, inertia));
    LEAST_TIME(&slow, 1, plain(n, 2));
    int64_t other = 0;
    for (int64_t i = 0; i < n; i++)
        other += group[i] != group2[i];
    speed("two rounds", fast, slow);
    expect(other <= n / 200, "the plain loop's groups, but for ties of rounding");
    lloyd(a, u, n, ROUNDS, inertia);
    for (int i = 1; i < ROUNDS; i++)
        expect(inertia[i] <= inertia[i - 1] * (1 + 1e-6), "no round makes it worse");
    const double pure = purity(n);
    printf("%lld images: inertia %.0f, then %.0f; %.3f are of their group's main class\n", (long long)n, inertia[0], inertia[ROUNDS - 1], pure);
    expect(pure > 0.45, "groups that mean something (a random choice gives 0.1)");
    weft_program_free(a);
    weft_program_free(u);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    return 0;
}
