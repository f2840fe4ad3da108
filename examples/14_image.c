// SPDX-License-Identifier: MIT
// Introduces: pictures: bytes in, bytes out, neighbours as shifted views of a padded array. YUV to RGB, gamma and a 3 by
// 3 box blur in one program, on the photograph of a raccoon that scipy brings (Debian: python3-scipy, face.dat: bzip2 of
// 768 x 1024 x 3 bytes, in the public domain). Without it a synthetic picture is used. Argument: a .ppm to write.
#include <bzlib.h>
#include <math.h>
#include <string.h>

#include "check.h"

#define PHOTO "/usr/lib/python3/dist-packages/scipy/misc/face.dat"
enum { H = 768, W = 1024, N = H * W };
static uint8_t rgb[N * 3], yuv[3][N], out[N * 3], again[N * 3];

static bool read_photo(void) {
    FILE *f = fopen(PHOTO, "rb");
    int error = BZ_IO_ERROR, got = 0;
    BZFILE *z = f ? BZ2_bzReadOpen(&error, f, 0, 0, NULL, 0) : NULL;
    if (z) got = BZ2_bzRead(&error, z, rgb, sizeof rgb);
    if (z) BZ2_bzReadClose(&(int){0}, z);
    if (f) fclose(f);
    return got == (int)sizeof rgb;
}

static void synthetic(void) {
    for (int i = 0; i < N; i++) {
        rgb[3 * i] = (uint8_t)(i % W / 4);
        rgb[3 * i + 1] = (uint8_t)(i / W / 3);
        rgb[3 * i + 2] = (uint8_t)((i / W / 32 + i % W / 32) % 2 * 255);
    }
}

// The planes a camera gives (ITU-R BT.601, full range), made from the photograph.
static void to_yuv(void) {
    for (int i = 0; i < N; i++) {
        const float r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
        const float y = 0.299f * r + 0.587f * g + 0.114f * b;
        yuv[0][i] = (uint8_t)(y + 0.5f);
        yuv[1][i] = (uint8_t)fminf(255, 128.5f + (b - y) * 0.564f);
        yuv[2][i] = (uint8_t)fminf(255, 128.5f + (r - y) * 0.713f);
    }
}

static weft_expr *times(weft_expr *x, double v, weft_graph *g) { return weft_mul(x, weft_float(g, v)); }

// 255 (x / 255)^(1/1.2), x cut to 0 .. 255
static weft_expr *gamma_of(weft_expr *x, weft_graph *g) {
    x = times(weft_clip(x, weft_float(g, 0), weft_float(g, 255)), 1.0 / 255, g);
    return times(weft_pow(x, weft_float(g, 1 / 1.2)), 255, g);
}

// The mean of 3 by 3 neighbours, the edge repeated: 3 rows, then 3 columns.
static weft_expr *blur(weft_expr *x) {
    for (int axis = 0; axis < 2; axis++) {
        const int64_t by[] = {axis == 0, axis == 1};
        weft_expr *wide = weft_pad(x, &(weft_padding){.size = sizeof(weft_padding), .before = by, .after = by, .mode = WEFT_PAD_EDGE});
        weft_expr *sum = weft_slice(wide, axis, 0, -2, 1);
        sum = weft_add(sum, weft_slice(wide, axis, 1, -1, 1));
        x = weft_add(sum, weft_slice(wide, axis, 2, WEFT_NONE, 1));
    }
    return x;
}

static weft_program *pipeline(weft_graph *g) {
    const int64_t dims[] = {H, W};
    weft_expr *p[3], *c[3];
    for (int i = 0; i < 3; i++)
        p[i] = weft_cast(weft_input(g, i == 0 ? "y" : i == 1 ? "u" : "v", WEFT_U8, 2, dims), WEFT_F32);
    weft_expr *u = weft_sub(p[1], weft_float(g, 128)), *v = weft_sub(p[2], weft_float(g, 128));
    c[0] = weft_add(p[0], times(v, 1.402, g));
    c[1] = weft_sub(weft_sub(p[0], times(u, 0.344136, g)), times(v, 0.714136, g));
    c[2] = weft_add(p[0], times(u, 1.772, g));
    for (int i = 0; i < 3; i++)
        c[i] = weft_cast(weft_rint(times(blur(gamma_of(c[i], g)), 1.0 / 9, g)), WEFT_U8);
    return compiled(g, 3, c);
}

static void plain(void) {
    static float linear[3][N], rows[N];
    for (int i = 0; i < N; i++) {
        const float y = yuv[0][i], u = (float)yuv[1][i] - 128, v = (float)yuv[2][i] - 128;
        const float c[] = {y + v * 1.402f, y - u * 0.344136f - v * 0.714136f, y + u * 1.772f};
        for (int k = 0; k < 3; k++)
            linear[k][i] = 255 * powf(fminf(fmaxf(c[k], 0), 255) * (1.0f / 255), 1 / 1.2f);
    }
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < H; j++)
            for (int i = 0; i < W; i++)
                rows[j * W + i] = linear[k][(j ? j - 1 : 0) * W + i] + linear[k][j * W + i] + linear[k][(j < H - 1 ? j + 1 : j) * W + i];
        for (int j = 0; j < H; j++)
            for (int i = 0; i < W; i++) {
                const float *r = rows + j * W;
                again[3 * (j * W + i) + k] = (uint8_t)rintf((r[i ? i - 1 : 0] + r[i] + r[i < W - 1 ? i + 1 : i]) * (1.0f / 9));
            }
    }
}

int main(int argc, char **argv) {
    if (!read_photo()) {
        printf("no " PHOTO " (Debian: python3-scipy): a synthetic picture\n");
        synthetic();
    }
    to_yuv();
    weft_ctx *ctx = compiling();
    weft_graph *g = weft_graph_new(ctx);
    weft_program *p = pipeline(g);
    weft_array in[3], to[3];
    for (int i = 0; i < 3; i++) { // planes in, interleaved pixels out
        in[i] = weft_dense(WEFT_U8, yuv[i], 2, (const int64_t[]){H, W});
        to[i] = weft_strided(WEFT_U8, out + i, 2, (const int64_t[]){H, W}, (const int64_t[]){3 * W, 3});
    }
    double with_weft, with_c;
    go(p, NULL, in, to);
    LEAST_TIME(&with_weft, 3, go(p, NULL, in, to));
    LEAST_TIME(&with_c, 2, plain());
    speed("picture", with_weft, with_c);
    int worst = 0, many = 0;
    for (int i = 0; i < N * 3; i++) {
        const int d = abs(out[i] - again[i]);
        worst = d > worst ? d : worst;
        many += d > 0;
    }
    printf("%d of %d bytes are not the plain loop's, by at most %d\n", many, N * 3, worst);
    expect(worst <= 1 && many < N / 100, "the plain loop's picture, but for roundings");
    memset(yuv[0], 255, N); // white stays white
    memset(yuv[1], 128, N);
    memset(yuv[2], 128, N);
    if (argc > 1) {
        FILE *f = fopen(argv[1], "wb");
        expect(f && fprintf(f, "P6\n%d %d\n255\n", W, H) > 0 && fwrite(out, 1, sizeof out, f) == sizeof out && !fclose(f), "a file");
    }
    go(p, NULL, in, to);
    for (int i = 0; i < N * 3; i++)
        expect(out[i] == 255, "white");
    weft_program_free(p);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    return 0;
}
