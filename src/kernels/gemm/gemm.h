// SPDX-License-Identifier: MIT
// Between the driver of the matrix product (../gemm.c) and its leaves, which exist once per element
// type and instruction set: a tile kernel for every shape of a small part of C, a packer, a
// scatterer. Everything here is in "row form": C's columns lie side by side in memory and fill the
// vector lanes.
#ifndef KERN_GEMM_GEMM_H
#define KERN_GEMM_GEMM_H

#include "../kern.h"

// rows x cols elements of C from k steps: C = chain, or C = C + chain when add is set, where chain
// is fma(a[k-1], b[k-1], ... fma(a[0], b[0], +0)). Strides are in bytes; a row of B is contiguous.
// Offsets are fixed: the assembly kernels read this structure.
struct gemm_tile {
    int64_t k;                 // 0: 1 .. KERN_GEMM_KC
    const unsigned char *a;    // 8
    int64_t a_rs, a_cs;        // 16, 24
    const unsigned char *b;    // 32
    int64_t b_rs;              // 40
    unsigned char *c;          // 48
    int64_t c_rs;              // 56
    int32_t cols;              // 64: within the last vector of the kernel's width
    int32_t add;               // 68
    const unsigned char *next; // 72: asked for meanwhile: k / 8 vectors for each row of the tile,
    int64_t next_skip;         // 80: with so many bytes left out in between
};
typedef void gemm_tile_fn(const struct gemm_tile *t);

// dst[p * width + j] = src[p * s_k + j * s_j] for p < k, j < cols; zeros for cols <= j < width.
struct gemm_pack {
    void *dst;
    int64_t width;
    const unsigned char *src;
    int64_t s_k, s_j;
    int64_t k, cols;
};

// C = tile or C = C + tile for a C without contiguous rows; tile rows are t_rs bytes apart.
struct gemm_spread {
    const unsigned char *tile;
    int64_t t_rs;
    unsigned char *c;
    int64_t c_rs, c_cs;
    int64_t rows, cols;
    bool add;
};

// y = A x, or y = y + A x, for rows of A and one block of k. Strides are in bytes.
struct gemm_vector {
    int64_t rows, k; // k: 1 .. KERN_GEMV_KC
    const unsigned char *a;
    int64_t a_rs, a_cs;
    const unsigned char *x;
    int64_t x_s;
    unsigned char *y;
    int64_t y_s;
    bool add;
};

// What a tile kernel may assume.
enum gemm_kind {
    GEMM_PACKED, // A: sliver (a_rs = 1, a_cs = mr elements); B: panel (b_rs = whole vectors)
    GEMM_WHOLE,  // any strides, whole vectors of B may be read; only when direct
    GEMM_PART    // any strides, only the columns of B that exist may be read; only when direct
};

struct gemm_ops {
    int size;  // bytes of an element
    int lanes; // elements of a vector
    int log2_lanes;
    int mr, nv;                 // largest tile: rows, vectors
    bool direct;                // has kernels that may read a B that was not packed
    gemm_tile_fn *const *tiles; // [kind][rows - 1][vectors - 1]
    void (*pack)(const struct gemm_pack *p);
    void (*spread)(const struct gemm_spread *s);
    void (*gemv)(const struct gemm_vector *v); // floats; else NULL
};

#define GEMM_DECLARE(isa)                                                                          \
    extern const struct gemm_ops kern_gemm_f64_##isa, kern_gemm_f32_##isa, kern_gemm_u64_##isa,    \
        kern_gemm_u32_##isa, kern_gemm_u16_##isa, kern_gemm_u8_##isa, kern_gemm_bool_##isa;
GEMM_DECLARE(base)
#if defined(__x86_64__)
GEMM_DECLARE(avx2)
GEMM_DECLARE(avx512)
extern const struct gemm_ops kern_gemm_f64_avx2_asm, kern_gemm_f32_avx2_asm;
extern const struct gemm_ops kern_gemm_f64_avx512_asm, kern_gemm_f32_avx512_asm;
#endif
#undef GEMM_DECLARE

#endif
