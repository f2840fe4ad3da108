// SPDX-License-Identifier: MIT
// Template: a matrix times a vector, rows of y from a block of k. The order (kern.h) is that of lanes:
// lane l of L = 64 bytes' worth is one chain of fused multiply-adds over k = l, l + L, ... from +0, then
// lanes fold by halves. A matrix with contiguous rows is read along them, several rows at a time,
// lanes in registers; one with contiguous columns down its columns, lanes in the first-level cache,
// four columns of one lane at a time. Either way memory is read once and in runs.
// The including file defines what tile.h wants, and e_mac(acc, a, b) and v_first(n, x, y): the first n
// elements of x, then those of y.

enum {
    LANE_COUNT = 64 / (int)sizeof(elem),
    LANE_PARTS = LANE_COUNT / LANES, // vectors that hold the lanes of a row
    DOT_ROWS = 8 / LANE_PARTS,
    DOWN_ROWS = 256
};

static inline elem load_elem(const unsigned char *p) {
    elem x;
    memcpy(&x, p, sizeof x);
    return x;
}

static void put_y(const struct gemm_vector *v, int64_t row, elem x) {
    unsigned char *y = v->y + row * v->y_s;
    if (v->add) x = load_elem(y) + x;
    memcpy(y, &x, sizeof x);
}

static elem fold_lanes(elem *s) {
    for (int w = LANE_COUNT / 2; w; w /= 2)
        for (int l = 0; l < w; l++)
            s[l] = s[l] + s[l + w];
    return s[0];
}

// ---- rows that are contiguous -------------------------------------------------------------------
static inline __attribute__((always_inline)) void dot_rows(const struct gemm_vector *v,
                                                           const unsigned char *x, int64_t row,
                                                           const int rows) {
    vec acc[DOT_ROWS][LANE_PARTS];
    const int64_t step = (int64_t)sizeof(vec), size = (int64_t)sizeof(elem);
    const int64_t whole = v->k / LANE_COUNT * 64, rest = v->k % LANE_COUNT;
    const unsigned char *a = v->a + row * v->a_rs;
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int q = 0; q < LANE_PARTS; q++)
            acc[r][q] = v_zero();
    for (int64_t p = 0; p < whole; p += 64)
#pragma GCC unroll 4
        for (int q = 0; q < LANE_PARTS; q++) {
            const vec xv = v_load(x + p + q * step);
#pragma GCC unroll 8
            for (int r = 0; r < rows; r++)
                acc[r][q] = v_mac(acc[r][q], v_load(a + r * v->a_rs + p + q * step), xv);
        }
#pragma GCC unroll 4
    for (int q = 0; q < LANE_PARTS; q++) {
        const int64_t left = rest - q * LANES;
        if (left <= 0) break;
        const int n = left < LANES ? (int)left : LANES;
        const int64_t at = whole + q * LANES * size;
        const vec xv = v_load_part(x + at, n);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++)
            acc[r][q] = v_first(
                n, v_mac(acc[r][q], v_load_part(a + r * v->a_rs + at, n), xv), acc[r][q]);
    }
    _Alignas(64) elem lanes[DOT_ROWS][LANE_COUNT];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int q = 0; q < LANE_PARTS; q++)
            v_store((unsigned char *)&lanes[r][q * LANES], acc[r][q]);
    for (int r = 0; r < rows; r++)
        put_y(v, row + r, fold_lanes(lanes[r]));
}

static void dot_all(const struct gemm_vector *v) {
    _Alignas(64) elem own[KERN_GEMV_KC];
    const unsigned char *x = v->x;
    if (v->x_s != (int64_t)sizeof(elem)) {
        for (int64_t p = 0; p < v->k; p++)
            own[p] = load_elem(v->x + p * v->x_s);
        x = (const unsigned char *)own;
    }
    int64_t row = 0;
    for (; row + DOT_ROWS <= v->rows; row += DOT_ROWS)
        dot_rows(v, x, row, DOT_ROWS);
    for (; row + 2 <= v->rows; row += 2)
        dot_rows(v, x, row, 2);
    if (row < v->rows) dot_rows(v, x, row, 1);
}

// ---- columns that are contiguous ----------------------------------------------------------------
struct down {
    elem *lane;             // sums of one lane, a row each
    const unsigned char *a; // first column
    int64_t step, rows;     // bytes from one column of the lane to the next
    elem x[4];
};

static inline __attribute__((always_inline)) void down_columns(const struct down *d,
                                                               const int columns) {
    vec x[4];
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++)
        x[c] = v_splat((const unsigned char *)&d->x[c]);
    int64_t i = 0;
    for (; i + LANES <= d->rows; i += LANES) {
        unsigned char *s = (unsigned char *)(d->lane + i);
        const unsigned char *a = (const unsigned char *)d->a + i * (int64_t)sizeof(elem);
        vec acc = v_load(s);
#pragma GCC unroll 4
        for (int c = 0; c < columns; c++)
            acc = v_mac(acc, v_load(a + c * d->step), x[c]);
        v_store(s, acc);
    }
    for (; i < d->rows; i++)
        for (int c = 0; c < columns; c++)
            d->lane[i] = e_mac(d->lane[i],
                               load_elem(d->a + c * d->step + i * (int64_t)sizeof(elem)), d->x[c]);
}

static void down_rows(const struct gemm_vector *v, int64_t row, int64_t rows) {
    _Alignas(64) elem lanes[LANE_COUNT][DOWN_ROWS];
    const int64_t cs = v->a_cs;
    const unsigned char *a = v->a + row * v->a_rs;
    struct down d = {.step = LANE_COUNT * cs, .rows = rows};
    int64_t p = 0;
    memset(lanes, 0, sizeof lanes);
    for (; p + 4 * LANE_COUNT <= v->k; p += 4 * LANE_COUNT)
        for (int l = 0; l < LANE_COUNT; l++) {
            for (int c = 0; c < 4; c++)
                d.x[c] = load_elem(v->x + (p + l + c * LANE_COUNT) * v->x_s);
            d.lane = lanes[l];
            d.a = a + (p + l) * cs;
            down_columns(&d, 4);
        }
    for (; p < v->k; p++) {
        d.x[0] = load_elem(v->x + p * v->x_s);
        d.lane = lanes[p % LANE_COUNT];
        d.a = a + p * cs;
        down_columns(&d, 1);
    }
    for (int w = LANE_COUNT / 2; w; w /= 2)
        for (int l = 0; l < w; l++)
            for (int64_t i = 0; i < rows; i++)
                lanes[l][i] = lanes[l][i] + lanes[l + w][i];
    for (int64_t i = 0; i < rows; i++)
        put_y(v, row + i, lanes[0][i]);
}

// ---- neither ------------------------------------------------------------------------------------
static void each_row(const struct gemm_vector *v) {
    for (int64_t i = 0; i < v->rows; i++) {
        elem lanes[LANE_COUNT] = {0};
        for (int64_t p = 0; p < v->k; p++) {
            const elem a = load_elem(v->a + i * v->a_rs + p * v->a_cs);
            elem *s = &lanes[p % LANE_COUNT];
            *s = e_mac(*s, a, load_elem(v->x + p * v->x_s));
        }
        put_y(v, i, fold_lanes(lanes));
    }
}

static void gemv(const struct gemm_vector *v) {
    if (v->a_cs == (int64_t)sizeof(elem)) {
        dot_all(v);
    } else if (v->a_rs == (int64_t)sizeof(elem)) {
        for (int64_t i = 0; i < v->rows; i += DOWN_ROWS)
            down_rows(v, i, v->rows - i < DOWN_ROWS ? v->rows - i : DOWN_ROWS);
    } else {
        each_row(v);
    }
}
#define GEMV gemv
