// SPDX-License-Identifier: MIT
// Introduces: a network with a hidden layer, gradients written out: 784 - 64 relu - 10 softmax on Fashion-MNIST (whose
// paper gives 0.87 for such), one training program compiled once. Arguments: images, epochs (default 12000, 8).
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "check.h"

#define DATA "/usr/share/datasets/fashion-mnist/"
enum { PIXELS = 784, HIDDEN = 64, CLASSES = 10, MOST = 60000, TEST = 10000, BATCH = 100 };
static uint8_t raw[MOST * PIXELS], label[MOST], test_label[TEST];
static float images[MOST * PIXELS], test_images[TEST * PIXELS];
struct net {
    float w1[PIXELS][HIDDEN], b1[HIDDEN], w2[HIDDEN][CLASSES], b2[CLASSES];
};
static struct net net, other;

static bool read_set(const char *x, const char *y, float *to, uint8_t *labels, unsigned n) {
    uint8_t skip[16];
    gzFile f = gzopen(x, "rb"), l = gzopen(y, "rb");
    bool ok = f && gzread(f, skip, 16) == 16 && gzread(f, raw, n * PIXELS) == (int)(n * PIXELS);
    ok = ok && l && gzread(l, skip, 8) == 8 && gzread(l, labels, n) == (int)n;
    for (unsigned i = 0; ok && i < n * PIXELS; i++)
        to[i] = (float)raw[i] / 255;
    if (f) gzclose(f);
    if (l) gzclose(l);
    return ok;
}

static weft_expr *over(weft_expr *(*f)(weft_expr *, const weft_reduce *), weft_expr *x, int axis) {
    return f(x, &(weft_reduce){.size = sizeof(weft_reduce), .axes = &axis, .naxes = 1});
}
static const int64_t w1d[] = {PIXELS, HIDDEN}, b1d[] = {HIDDEN}, w2d[] = {HIDDEN, CLASSES}, b2d[] = {CLASSES};

struct layers {
    weft_expr *w[4], *hidden, *score;
};
static struct layers forward(weft_graph *g, weft_expr *x) {
    struct layers l = {.w = {weft_input(g, "w1", WEFT_F32, 2, w1d), weft_input(g, "b1", WEFT_F32, 1, b1d),
                             weft_input(g, "w2", WEFT_F32, 2, w2d), weft_input(g, "b2", WEFT_F32, 1, b2d)}};
    l.hidden = weft_relu(weft_add(weft_matmul(x, l.w[0]), l.w[1]));
    l.score = weft_add(weft_matmul(l.hidden, l.w[2]), l.w[3]);
    return l;
}

static weft_program *training(weft_graph *g, double rate) {
    weft_expr *x = weft_input(g, "x", WEFT_F32, 2, (const int64_t[]){BATCH, PIXELS});
    weft_expr *y = weft_input(g, "y", WEFT_U8, 1, (const int64_t[]){BATCH});
    struct layers l = forward(g, x);
    weft_expr *d2 = weft_mul(weft_sub(weft_softmax(l.score, 1), weft_one_hot(y, CLASSES, WEFT_F32)), weft_float(g, rate / BATCH));
    weft_expr *back = weft_matmul(d2, weft_transpose(l.w[2], NULL));
    weft_expr *d1 = weft_where(weft_greater(l.hidden, weft_float(g, 0)), back, weft_float(g, 0));
    weft_expr *roots[] = {weft_sub(l.w[0], weft_matmul(weft_transpose(x, NULL), d1)), weft_sub(l.w[1], over(weft_sum, d1, 0)),
                          weft_sub(l.w[2], weft_matmul(weft_transpose(l.hidden, NULL), d2)), weft_sub(l.w[3], over(weft_sum, d2, 0))};
    return compiled(g, 4, roots);
}

static void weights(struct net *n, weft_array a[4]) {
    a[0] = weft_dense(WEFT_F32, n->w1, 2, w1d);
    a[1] = weft_dense(WEFT_F32, n->b1, 1, b1d);
    a[2] = weft_dense(WEFT_F32, n->w2, 2, w2d);
    a[3] = weft_dense(WEFT_F32, n->b2, 1, b2d);
}

static void train(const weft_program *p, weft_workspace *ws, struct net *n, int64_t from, int64_t to) {
    weft_array out[4];
    weights(n, out);
    for (int64_t at = from; at + BATCH <= to; at += BATCH) {
        const weft_array in[] = {weft_dense(WEFT_F32, images + at * PIXELS, 2, (const int64_t[]){BATCH, PIXELS}),
                                 weft_dense(WEFT_U8, label + at, 1, (const int64_t[]){BATCH}), out[0], out[1], out[2], out[3]};
        go(p, ws, in, out);
    }
}

// One batch by hand.
static void plain(struct net *n, int64_t at, float rate) {
    static float h[BATCH][HIDDEN], d2[BATCH][CLASSES], d1[BATCH][HIDDEN];
    for (int b = 0; b < BATCH; b++) {
        const float *x = images + (at + b) * PIXELS;
        memcpy(h[b], n->b1, sizeof h[b]);
        memcpy(d2[b], n->b2, sizeof d2[b]);
        for (int i = 0; i < PIXELS; i++)
            for (int k = 0; k < HIDDEN; k++)
                h[b][k] += x[i] * n->w1[i][k];
        for (int k = 0; k < HIDDEN; k++) {
            h[b][k] = h[b][k] > 0 ? h[b][k] : 0;
            for (int c = 0; c < CLASSES; c++)
                d2[b][c] += h[b][k] * n->w2[k][c];
        }
        float most = d2[b][0], sum = 0;
        for (int c = 1; c < CLASSES; c++)
            most = d2[b][c] > most ? d2[b][c] : most;
        for (int c = 0; c < CLASSES; c++)
            sum += d2[b][c] = expf(d2[b][c] - most);
        for (int c = 0; c < CLASSES; c++)
            d2[b][c] = (d2[b][c] / sum - (label[at + b] == c ? 1.0f : 0.0f)) * (rate / BATCH);
        for (int k = 0; k < HIDDEN; k++) {
            d1[b][k] = 0;
            for (int c = 0; c < CLASSES && h[b][k] > 0; c++)
                d1[b][k] += d2[b][c] * n->w2[k][c];
        }
    }
    for (int b = 0; b < BATCH; b++) {
        const float *x = images + (at + b) * PIXELS;
        for (int i = 0; i < PIXELS; i++)
            for (int k = 0; k < HIDDEN; k++)
                n->w1[i][k] -= x[i] * d1[b][k];
        for (int k = 0; k < HIDDEN; k++) {
            n->b1[k] -= d1[b][k];
            for (int c = 0; c < CLASSES; c++)
                n->w2[k][c] -= h[b][k] * d2[b][c];
        }
        for (int c = 0; c < CLASSES; c++)
            n->b2[c] -= d2[b][c];
    }
}

static void random_weights(weft_ctx *ctx, struct net *n) {
    weft_graph *g = weft_graph_new(ctx);
    weft_array a[4];
    weights(n, a);
    for (int i = 0; i < 4; i += 2) { // He's scale for relu
        weft_expr *r = weft_random_normal(g, (weft_stream){.key = 5, .offset = (uint64_t)i << 32}, WEFT_F32, 2, a[i].dims);
        must(weft_eval(weft_mul(r, weft_float(g, sqrt(2.0 / (double)a[i].dims[0]))), &a[i], NULL), g);
    }
    weft_graph_free(g);
}

static double accuracy(weft_ctx *ctx) {
    double share = 0;
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *x = weft_input(g, "x", WEFT_F32, 2, (const int64_t[]){TEST, PIXELS});
    weft_expr *y = weft_input(g, "y", WEFT_U8, 1, (const int64_t[]){TEST});
    weft_expr *right = weft_mean(weft_equal(over(weft_argmax, forward(g, x).score, 1), y), NULL);
    weft_program *p = compiled(g, 1, &right);
    weft_array in[6] = {weft_dense(WEFT_F32, test_images, 2, (const int64_t[]){TEST, PIXELS}),
                        weft_dense(WEFT_U8, test_label, 1, (const int64_t[]){TEST})};
    weights(&net, in + 2);
    const weft_array out = weft_dense(WEFT_F64, &share, 0, NULL);
    go(p, NULL, in, &out);
    weft_program_free(p);
    weft_graph_free(g);
    return share;
}

int main(int argc, char **argv) {
    const int64_t n = argc > 1 ? atoll(argv[1]) : 12000;
    const int epochs = argc > 2 ? atoi(argv[2]) : 8;
    expect(n >= BATCH && n <= MOST && epochs > 0, "100 to 60000 images, and epochs");
    if (!read_set(DATA "train-images-idx3-ubyte.gz", DATA "train-labels-idx1-ubyte.gz", images, label, MOST) ||
        !read_set(DATA "t10k-images-idx3-ubyte.gz", DATA "t10k-labels-idx1-ubyte.gz", test_images, test_label, TEST)) {
        fprintf(stderr, "no Fashion-MNIST in " DATA " (Debian: dataset-fashion-mnist)\n");
        return 1;
    }
    weft_ctx *ctx = compiling();
    weft_graph *g = weft_graph_new(ctx);
    weft_program *p = training(g, 0.2);
    weft_workspace *ws = NULL;
    must(weft_workspace_new(ctx, &ws), NULL);
    random_weights(ctx, &net);
    other = net;
    double fast, slow, worst = 0;
    train(p, ws, &net, 0, BATCH);
    plain(&other, 0, 0.2f);
    for (size_t i = 0; i < sizeof net / sizeof(float); i++)
        worst = fmax(worst, fabs((double)((float *)&net)[i] - (double)((float *)&other)[i]));
    expect(worst < 1e-5, "the plain loop's weights after one batch");
    LEAST_TIME(&fast, 5, train(p, ws, &other, 0, BATCH));
    LEAST_TIME(&slow, 3, plain(&other, 0, 0.2f));
    speed("a batch of 100", fast, slow);
    for (int i = 0; i < epochs; i++)
        train(p, ws, &net, 0, n);
    const double share = accuracy(ctx);
    printf("%d epochs of %lld images: accuracy %.4f on the test set\n", epochs, (long long)n, share);
    expect(share > (n >= 12000 && epochs >= 8 ? 0.82 : 0.1), "an accuracy of at least 0.82");
    weft_workspace_free(ws);
    weft_program_free(p);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    return 0;
}
