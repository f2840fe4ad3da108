// SPDX-License-Identifier: MIT
// Introduces: real work end to end. Multinomial logistic regression on Fashion-MNIST (60 000 images of 28
// by 28 pixels, 10 classes; Xiao, Rasul and Vollgraf 2017, whose paper gives 0.84 for this model), trained
// by mini-batch gradient descent with momentum: two programs compiled once, a workspace, no allocation.
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "check.h"

#define DATA "/usr/share/datasets/fashion-mnist/"
enum { PIXELS = 784, CLASSES = 10, TRAIN = 60000, TEST = 10000, BATCH = 250, EPOCHS = 12 };

static float images[TRAIN][PIXELS], test_images[TEST][PIXELS];
static uint8_t labels[TRAIN], test_labels[TEST];
static float w[PIXELS][CLASSES], b[CLASSES], vw[PIXELS][CLASSES], vb[CLASSES];

// Reads an IDX file: a 16-byte header for images, 8 for labels, then bytes.
static bool read_idx(const char *path, size_t header, uint8_t *out, size_t size) {
    uint8_t skip[16];
    gzFile f = gzopen(path, "rb");
    if (!f) return false;
    bool ok = gzread(f, skip, (unsigned)header) == (int)header &&
              gzread(f, out, (unsigned)size) == (int)size;
    gzclose(f);
    return ok;
}

// Pixels to [0,1], by weft: one pass of a cast and a product.
static bool read_images(weft_ctx *ctx, const char *path, int64_t n, float *out) {
    size_t size = (size_t)n * PIXELS;
    uint8_t *raw = malloc(size);
    bool ok = raw && read_idx(path, 16, raw, size);
    if (ok) {
        weft_graph *g = weft_graph_new(ctx);
        weft_array in = weft_dense(WEFT_U8, raw, 2, (const int64_t[]){n, PIXELS});
        weft_array o = weft_dense(WEFT_F32, out, 2, (const int64_t[]){n, PIXELS});
        weft_expr *x = weft_cast(weft_from(g, &in), WEFT_F32);
        must(weft_eval(weft_mul(x, weft_float(g, 1.0 / 255)), &o, NULL), g);
        weft_graph_free(g);
    }
    free(raw);
    return ok;
}

static weft_array mat(weft_dtype t, void *p, int64_t r, int64_t c) {
    return weft_dense(t, p, 2, (const int64_t[]){r, c});
}
static weft_array vec(weft_dtype t, void *p, int64_t n) { return weft_dense(t, p, 1, &n); }

static weft_expr *over(weft_expr *(*f)(weft_expr *, const weft_reduce *), weft_expr *x, int axis,
                       bool keep) {
    weft_reduce r = {.size = sizeof r, .axes = &axis, .naxes = 1, .keepdims = keep};
    return f(x, &r);
}

// One step of gradient descent: new weights and velocities from a batch. Rate and momentum are inputs.
static weft_program *training(weft_graph *g) {
    const int64_t wd[] = {PIXELS, CLASSES}, bd[] = {CLASSES}, xd[] = {BATCH, PIXELS}, yd[] = {BATCH};
    weft_expr *x = weft_input(g, "x", WEFT_F32, 2, xd), *y = weft_input(g, "y", WEFT_U8, 1, yd);
    weft_expr *wi = weft_input(g, "w", WEFT_F32, 2, wd), *bi = weft_input(g, "b", WEFT_F32, 1, bd);
    weft_expr *vwi = weft_input(g, "vw", WEFT_F32, 2, wd), *vbi = weft_input(g, "vb", WEFT_F32, 1, bd);
    weft_expr *rate = weft_input(g, "rate", WEFT_F32, 0, NULL);
    weft_expr *momentum = weft_float(g, 0.9), *per = weft_float(g, 1.0 / BATCH);

    weft_expr *z = weft_add(weft_matmul(x, wi), bi);
    weft_expr *e = weft_exp(weft_sub(z, over(weft_max, z, 1, true)));
    weft_expr *p = weft_true_divide(e, over(weft_sum, e, 1, true));
    weft_expr *klass = weft_iota(g, WEFT_U8, 2, (const int64_t[]){BATCH, CLASSES}, 1);
    weft_expr *hot = weft_cast(weft_equal(klass, weft_expand_dims(y, 1)), WEFT_F32);
    weft_expr *d = weft_mul(weft_sub(p, hot), per);
    weft_expr *gw = weft_matmul(weft_transpose(x, NULL), d), *gb = over(weft_sum, d, 0, false);
    weft_expr *vw2 = weft_sub(weft_mul(vwi, momentum), weft_mul(gw, rate));
    weft_expr *vb2 = weft_sub(weft_mul(vbi, momentum), weft_mul(gb, rate));
    weft_expr *roots[] = {weft_add(wi, vw2), weft_add(bi, vb2), vw2, vb2};
    weft_program *program = NULL;
    must(weft_compile(4, roots, &program), g);
    return program;
}

static void train(weft_ctx *ctx, weft_program *p) {
    weft_workspace *ws = NULL;
    char why[256];
    must(weft_workspace_new(ctx, &ws), NULL);
    must(weft_workspace_reserve(ws, weft_program_workspace_size(p)), NULL);
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        float rate = 0.1f / (1.0f + 0.3f * (float)epoch);
        for (int at = 0; at < TRAIN; at += BATCH) {
            weft_array out[] = {mat(WEFT_F32, w, PIXELS, CLASSES), vec(WEFT_F32, b, CLASSES),
                                mat(WEFT_F32, vw, PIXELS, CLASSES), vec(WEFT_F32, vb, CLASSES)};
            weft_array in[] = {mat(WEFT_F32, images[at], BATCH, PIXELS), vec(WEFT_U8, labels + at, BATCH),
                               out[0], out[1], out[2], out[3], weft_dense(WEFT_F32, &rate, 0, NULL)};
            if (weft_run(p, ws, in, out, why, sizeof why)) {
                fprintf(stderr, "weft: %s\n", why);
                exit(1);
            }
        }
    }
    weft_workspace_free(ws);
}

static double accuracy(weft_ctx *ctx, float *x, uint8_t *y, int64_t n) {
    double share = 0;
    weft_graph *g = weft_graph_new(ctx);
    weft_array xa = mat(WEFT_F32, x, n, PIXELS), ya = vec(WEFT_U8, y, n);
    weft_array wa = mat(WEFT_F32, w, PIXELS, CLASSES), ba = vec(WEFT_F32, b, CLASSES);
    weft_array out = weft_dense(WEFT_F64, &share, 0, NULL);
    weft_expr *z = weft_add(weft_matmul(weft_from(g, &xa), weft_from(g, &wa)), weft_from(g, &ba));
    weft_expr *hit = weft_equal(over(weft_argmax, z, 1, false), weft_from(g, &ya));
    must(weft_eval(weft_mean(hit, NULL), &out, NULL), g);
    weft_graph_free(g);
    return share;
}

int main(void) {
    weft_ctx *ctx = NULL;
    must(weft_ctx_new(&ctx, NULL), NULL);
    if (!read_images(ctx, DATA "train-images-idx3-ubyte.gz", TRAIN, &images[0][0]) ||
        !read_images(ctx, DATA "t10k-images-idx3-ubyte.gz", TEST, &test_images[0][0]) ||
        !read_idx(DATA "train-labels-idx1-ubyte.gz", 8, labels, TRAIN) ||
        !read_idx(DATA "t10k-labels-idx1-ubyte.gz", 8, test_labels, TEST)) {
        fprintf(stderr, "no Fashion-MNIST in " DATA " (Debian: dataset-fashion-mnist)\n");
        return 1;
    }
    weft_graph *g = weft_graph_new(ctx);
    weft_program *p = training(g);
    double start = seconds();
    train(ctx, p);
    double spent = seconds() - start;
    double on_train = accuracy(ctx, &images[0][0], labels, TRAIN);
    double on_test = accuracy(ctx, &test_images[0][0], test_labels, TEST);
    printf("%d epochs in %.1f s; accuracy %.4f on the training set, %.4f on the test set\n", EPOCHS, spent,
           on_train, on_test);
    weft_program_free(p);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    expect(on_test >= 0.83, "test accuracy of at least 0.83");
    return 0;
}
