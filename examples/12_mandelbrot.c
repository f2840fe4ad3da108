// SPDX-License-Identifier: MIT
// Introduces: iteration: a program whose outputs are its inputs, a few steps unrolled into it, run on tiles of a
// picture (views with the strides of the whole) until each is done. The
// Mandelbrot set as mandelbrot.png (libpng); arguments: width, height, file.
#include <png.h>
#include <string.h>

#include "check.h"

enum { STEPS = 16, ROUNDS = 16, TILE = 32 }; // 256 iterations

struct plane {
    int64_t w, h;
    double *x, *y;    // where each pixel is started from
    double *re, *im;  // where it is now
    int32_t *count;   // steps so far with |z| <= 2
};

// STEPS of z = z^2 + c; a point that has left stays where it is, so that nothing overflows.
static weft_program *steps(weft_graph *g, int64_t h, int64_t w) {
    weft_expr *inside = NULL;
    const int64_t row[] = {1, w}, column[] = {h, 1}, all[] = {h, w};
    weft_expr *cx = weft_input(g, "x", WEFT_F64, 2, row), *cy = weft_input(g, "y", WEFT_F64, 2, column);
    weft_expr *re = weft_input(g, "re", WEFT_F64, 2, all), *im = weft_input(g, "im", WEFT_F64, 2, all);
    weft_expr *count = weft_input(g, "count", WEFT_I32, 2, all);
    for (int i = 0; i < STEPS; i++) {
        weft_expr *re2 = weft_mul(re, re), *im2 = weft_mul(im, im);
        inside = weft_less_equal(weft_add(re2, im2), weft_float(g, 4));
        weft_expr *cross = weft_mul(re, im);
        im = weft_where(inside, weft_add(weft_add(cross, cross), cy), im);
        re = weft_where(inside, weft_add(weft_sub(re2, im2), cx), re);
        count = weft_add(count, weft_cast(inside, WEFT_I32));
    }
    return compiled(g, 4, (weft_expr *[]){re, im, count, weft_sum(inside, NULL)});
}

// A tile of the picture: arrays with the strides of the whole, run until no point of it is inside any more.
static void draw_tile(const weft_program *p, weft_workspace *ws, const struct plane *s, int64_t j, int64_t i) {
    const int64_t h = s->h - j < TILE ? s->h - j : TILE, w = s->w - i < TILE ? s->w - i : TILE, at = j * s->w + i;
    const int64_t row[] = {1, w}, column[] = {h, 1}, all[] = {h, w}, wide[] = {8 * s->w, 8}, narrow[] = {4 * s->w, 4};
    int64_t inside = 1;
    const weft_array out[] = {weft_strided(WEFT_F64, s->re + at, 2, all, wide), weft_strided(WEFT_F64, s->im + at, 2, all, wide),
                              weft_strided(WEFT_I32, s->count + at, 2, all, narrow), weft_dense(WEFT_I64, &inside, 0, NULL)};
    const weft_array in[] = {weft_dense(WEFT_F64, s->x + i, 2, row), weft_dense(WEFT_F64, s->y + j, 2, column), out[0], out[1], out[2]};
    for (int k = 0; k < ROUNDS && inside; k++)
        go(p, ws, in, out);
}

static void draw(const weft_program *p, weft_workspace *ws, struct plane *s) {
    const size_t n = (size_t)(s->w * s->h);
    memset(s->re, 0, n * sizeof *s->re);
    memset(s->im, 0, n * sizeof *s->im);
    memset(s->count, 0, n * sizeof *s->count);
    for (int64_t j = 0; j < s->h; j += TILE)
        for (int64_t i = 0; i < s->w; i += TILE)
            draw_tile(p, ws, s, j, i);
}

static void plain(const struct plane *s, int32_t *count) {
    for (int64_t j = 0; j < s->h; j++)
        for (int64_t i = 0; i < s->w; i++) {
            double re = 0, im = 0;
            int32_t k = 0;
            for (; k < STEPS * ROUNDS && re * re + im * im <= 4; k++) {
                const double next = re * re - im * im + s->x[i];
                im = re * im + re * im + s->y[j];
                re = next;
            }
            count[j * s->w + i] = k;
        }
}

// Grey by the count, black inside.
static bool write_png(const struct plane *s, const char *path) {
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)s->w, .height = (png_uint_32)s->h,
                       .format = PNG_FORMAT_GRAY};
    unsigned char *pixels = malloc((size_t)(s->w * s->h));
    for (int64_t i = 0; pixels && i < s->w * s->h; i++)
        pixels[i] = (unsigned char)(s->count[i] == STEPS * ROUNDS ? 0 : 255 - s->count[i] * 12 % 200);
    const bool ok = pixels && png_image_write_to_file(&image, path, 0, pixels, 0, NULL);
    free(pixels);
    return ok;
}

// The file read back: its size, and the middle of the cardioid is black.
static bool right_png(const struct plane *s, const char *path) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, path)) return false;
    image.format = PNG_FORMAT_GRAY;
    unsigned char *pixels = malloc(PNG_IMAGE_SIZE(image));
    bool ok = pixels && image.width == s->w && image.height == s->h && png_image_finish_read(&image, NULL, pixels, 0, NULL);
    for (int64_t i = 0; ok && i < s->w * s->h; i++)
        ok = (pixels[i] == 0) == (s->count[i] == STEPS * ROUNDS);
    free(pixels);
    return ok;
}

int main(int argc, char **argv) {
    struct plane s = {.w = argc > 1 ? atoll(argv[1]) : 601, .h = argc > 2 ? atoll(argv[2]) : 401};
    const char *path = argc > 3 ? argv[3] : "mandelbrot.png";
    expect(s.w > 1 && s.h > 1 && s.w < 30000 && s.h < 30000, "a width and a height");
    const size_t n = (size_t)(s.w * s.h);
    s.x = malloc((size_t)(s.w + s.h) * sizeof *s.x);
    s.re = malloc(2 * n * sizeof *s.re);
    s.count = malloc(2 * n * sizeof *s.count);
    expect(s.x && s.re && s.count, "memory");
    s.y = s.x + s.w;
    s.im = s.re + n;
    weft_ctx *ctx = compiling();
    weft_graph *g = weft_graph_new(ctx);
    const weft_array xs = weft_dense(WEFT_F64, s.x, 1, &s.w), ys = weft_dense(WEFT_F64, s.y, 1, &s.h);
    must(weft_eval(weft_linspace(g, WEFT_F64, (weft_space){-2, 1, s.w, true}), &xs, NULL), g);
    must(weft_eval(weft_linspace(g, WEFT_F64, (weft_space){-1, 1, s.h, true}), &ys, NULL), g);
    weft_graph_reset(g);
    weft_program *p = steps(g, TILE, TILE);
    weft_workspace *ws = NULL;
    must(weft_workspace_new(ctx, &ws), NULL);
    draw(p, ws, &s);
    double with_weft, with_c;
    LEAST_TIME(&with_weft, 3, draw(p, ws, &s));
    LEAST_TIME(&with_c, 3, plain(&s, s.count + n));
    speed("Mandelbrot", with_weft, with_c);
    expect(memcmp(s.count, s.count + n, n * sizeof *s.count) == 0, "the plain loop's picture, to the last count");
    const int64_t middle = (s.h / 2) * s.w;
    if (s.w == 601 && s.h == 401) {
        expect(s.count[middle + 400] == STEPS * ROUNDS && s.count[middle + 200] == STEPS * ROUNDS, "0 and -1 stay");
        expect(s.count[middle + 600] == 3, "1 goes 1, 2, 5");
    }
    expect(write_png(&s, path), "a picture that can be written");
    expect(right_png(&s, path), "a picture that reads back");
    printf("%s\n", path);
    weft_workspace_free(ws);
    weft_program_free(p);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    free(s.x);
    free(s.re);
    free(s.count);
    return 0;
}
