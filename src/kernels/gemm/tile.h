// SPDX-License-Identifier: MIT
// Template: the leaves of one element type on one instruction set. The including file defines
//   elem             the element type
//   vec, LANES       a vector and its number of elements
//   MR, NV           the largest tile, at most 8 rows by 3 vectors
//   OPS              the name of the gemm_ops, without the instruction set
//   TURN             when defined, v_turn(dst, width, src, s_j) transposes a block of TURN x TURN:
//                    dst[p * width + j] = src[p + j * s_j bytes]
//   DIRECT           1 when v_load_part is cheap enough for the inner loop
//   v_zero() v_load(p) v_load_part(p, n) v_store(p, v) v_store_part(p, v, n) v_splat(p)
//   v_mac(acc, a, b) v_add(c, acc), e_add(c, acc)   the arithmetic; (unaligned) pointers are to
//   unsigned char
// The accumulators of a tile stay in registers: row and vector counts are constants of each
// instance.

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)

struct tile_shape {
    int rows, vecs;
    bool part;
};

static inline __attribute__((always_inline)) void tile(const struct gemm_tile *t,
                                                       struct tile_shape s) {
    const int whole = s.vecs - 1, rest = t->cols - whole * LANES;
    const bool add = t->add;
    const int64_t step = (int64_t)sizeof(vec);
    vec acc[MR][NV];
#pragma GCC unroll 8
    for (int r = 0; r < s.rows; r++)
#pragma GCC unroll 4
        for (int v = 0; v < s.vecs; v++)
            acc[r][v] = v_zero();
    const unsigned char *a = t->a, *b = t->b;
    for (int64_t p = 0; p < t->k; p++, a += t->a_cs, b += t->b_rs) {
        vec bv[NV];
#pragma GCC unroll 4
        for (int v = 0; v < whole; v++)
            bv[v] = v_load(b + v * step);
        bv[whole] = s.part ? v_load_part(b + whole * step, rest) : v_load(b + whole * step);
#pragma GCC unroll 8
        for (int r = 0; r < s.rows; r++) {
            const vec av = v_splat(a + r * t->a_rs);
#pragma GCC unroll 4
            for (int v = 0; v < s.vecs; v++)
                acc[r][v] = v_mac(acc[r][v], av, bv[v]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < s.rows; r++) {
        unsigned char *c = t->c + r * t->c_rs;
#pragma GCC unroll 4
        for (int v = 0; v < whole; v++)
            v_store(c + v * step, add ? v_add(v_load(c + v * step), acc[r][v]) : acc[r][v]);
        unsigned char *last = c + whole * step;
        if (rest == LANES)
            v_store(last, add ? v_add(v_load(last), acc[r][whole]) : acc[r][whole]);
        else
            v_store_part(last, add ? v_add(v_load_part(last, rest), acc[r][whole]) : acc[r][whole],
                         rest);
    }
}

#define TILE(r, v, part)                                                                           \
    static void tile_##r##_##v##_##part(const struct gemm_tile *t) {                               \
        tile(t, (struct tile_shape){r, v, part});                                                  \
    }
#if NV == 3
#define TILES_OF_ROW(r, part) TILE(r, 1, part) TILE(r, 2, part) TILE(r, 3, part)
#define NAMES_OF_ROW(r, part) tile_##r##_1_##part, tile_##r##_2_##part, tile_##r##_3_##part,
#else
#define TILES_OF_ROW(r, part) TILE(r, 1, part) TILE(r, 2, part)
#define NAMES_OF_ROW(r, part) tile_##r##_1_##part, tile_##r##_2_##part,
#endif
#if MR == 8
#define ALL_ROWS(F, p) F(1, p) F(2, p) F(3, p) F(4, p) F(5, p) F(6, p) F(7, p) F(8, p)
#elif MR == 6
#define ALL_ROWS(F, p) F(1, p) F(2, p) F(3, p) F(4, p) F(5, p) F(6, p)
#else
#define ALL_ROWS(F, p) F(1, p) F(2, p) F(3, p) F(4, p)
#endif
ALL_ROWS(TILES_OF_ROW, 0)
#if DIRECT
ALL_ROWS(TILES_OF_ROW, 1)
#endif

// clang-format off
static gemm_tile_fn *const tiles[] = {
    ALL_ROWS(NAMES_OF_ROW, 0)
#if DIRECT
    ALL_ROWS(NAMES_OF_ROW, 0) ALL_ROWS(NAMES_OF_ROW, 1)
#endif
};
// clang-format on

static inline __attribute__((always_inline)) void copy_rows(const struct gemm_pack *q,
                                                            const size_t bytes) {
    unsigned char *dst = q->dst;
    const unsigned char *src = q->src;
    for (int64_t p = 0; p < q->k; p++, dst += bytes, src += q->s_k)
        memcpy(dst, src, bytes);
}

// Rows that are contiguous in the source; the common widths as constants.
static void pack_rows(const struct gemm_pack *q) {
    const size_t bytes = (size_t)q->width * sizeof(elem), have = (size_t)q->cols * sizeof(elem);
    if (bytes == have) {
        if (bytes == 3 * sizeof(vec)) return copy_rows(q, 3 * sizeof(vec));
        if (bytes == 2 * sizeof(vec)) return copy_rows(q, 2 * sizeof(vec));
        if (bytes == sizeof(vec)) return copy_rows(q, sizeof(vec));
        if (bytes == MR * sizeof(elem)) return copy_rows(q, MR * sizeof(elem));
    }
    unsigned char *dst = q->dst;
    for (int64_t p = 0; p < q->k; p++, dst += bytes) {
        memcpy(dst, q->src + p * q->s_k, have);
        memset(dst + have, 0, bytes - have);
    }
}

// Any strides: the part of the block with j0 <= j < width and p0 <= p < k, zeros past cols. Along the smaller
// stride, so that a line of the source is read once.
static void pack_each(const struct gemm_pack *q, int64_t p0, int64_t j0) {
    elem *dst = q->dst;
    const int64_t s_k = q->s_k, s_j = q->s_j, width = q->width, cols = q->cols;
    if ((s_j < 0 ? -s_j : s_j) < (s_k < 0 ? -s_k : s_k)) {
        for (int64_t p = p0; p < q->k; p++)
            for (int64_t j = j0; j < cols; j++)
                memcpy(dst + p * width + j, q->src + p * s_k + j * s_j, sizeof *dst);
    } else {
        for (int64_t j = j0; j < cols; j++)
            for (int64_t p = p0; p < q->k; p++)
                memcpy(dst + p * width + j, q->src + p * s_k + j * s_j, sizeof *dst);
    }
    for (int64_t p = p0; p < q->k; p++)
        for (int64_t j = cols < j0 ? j0 : cols; j < width; j++)
            dst[p * width + j] = 0;
}

// The driver passes few steps of k at a time, so that the source lines of a block stay in L1.
static void pack(const struct gemm_pack *q) {
    if (q->s_j == (int64_t)sizeof(elem)) return pack_rows(q);
    int64_t p = 0, j = 0;
#if defined(TURN)
    if (q->s_k == (int64_t)sizeof(elem)) {
        const int64_t js = q->cols / TURN * TURN, ps = q->k / TURN * TURN;
        elem *dst = q->dst;
        for (p = 0; p < ps; p += TURN)
            for (j = 0; j < js; j += TURN)
                v_turn(dst + p * q->width + j, q->width, q->src + p * q->s_k + j * q->s_j, q->s_j);
        struct gemm_pack right = *q;
        right.k = ps;
        pack_each(&right, 0, js);
        j = 0;
    }
#endif
    pack_each(q, p, j);
}

static void spread(const struct gemm_spread *s) {
    for (int64_t r = 0; r < s->rows; r++)
        for (int64_t j = 0; j < s->cols; j++) {
            unsigned char *c = s->c + r * s->c_rs + j * s->c_cs;
            elem x, old;
            memcpy(&x, s->tile + r * s->t_rs + j * (int64_t)sizeof x, sizeof x);
            if (s->add) {
                memcpy(&old, c, sizeof old);
                x = e_add(old, x);
            }
            memcpy(c, &x, sizeof x);
        }
}

#if !defined(GEMV)
#define GEMV NULL
#endif
// clang-format off
#define LOG2_LANES                                                                                 \
    (LANES == 2 ? 1 : LANES == 4 ? 2 : LANES == 8 ? 3 : LANES == 16 ? 4 : LANES == 32 ? 5 : 6)
#define LEAVES(table)                                                                              \
    {                                                                                              \
        .size = sizeof(elem), .lanes = LANES, .log2_lanes = LOG2_LANES, .mr = MR, .nv = NV,        \
        .direct = DIRECT, .tiles = (table), .pack = pack, .spread = spread, .gemv = GEMV,          \
    }
// clang-format on
const struct gemm_ops PASTE(OPS, KERN_VARIANT) = LEAVES(tiles);

// The same with tiles in assembly; those above are their specification.
#if defined(ASM_TILES)
extern gemm_tile_fn *const PASTE(PASTE(OPS, KERN_VARIANT), tiles)[];
const struct gemm_ops PASTE(PASTE(OPS, KERN_VARIANT),
                            asm) = LEAVES(PASTE(PASTE(OPS, KERN_VARIANT), tiles));
#endif
