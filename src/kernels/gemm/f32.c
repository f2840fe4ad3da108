// SPDX-License-Identifier: MIT
// f32 leaves of the matrix product. In: packed or strided operands of one tile; out: a tile of C.
// Every element is one chain of fused multiply-adds in increasing k from +0, whatever the vector
// width; the base level of x86-64 has no FMA instruction and takes the C library's correctly
// rounded fmaf.
#include "gemm.h"
#include "vec_f32.h"

typedef float elem;
#define OPS kern_gemm_f32
static inline elem e_add(elem c, elem x) {
    return c + x;
}
static inline elem e_mac(elem acc, elem a, elem b) {
    return __builtin_fmaf(a, b, acc);
}
#include "gemv.h"
#if defined(KERN_VARIANT_avx2) || defined(KERN_VARIANT_avx512)
#define ASM_TILES
#endif
#include "tile.h"
