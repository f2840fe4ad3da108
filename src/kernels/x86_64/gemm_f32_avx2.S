// SPDX-License-Identifier: MIT
// f32 matrix product tiles for AVX2: 8 lanes, tiles of up to 4 x 24. Method, registers: gemm_avx2.inc.
#define SIZE 4
#define LANES 8
#define SUFFIX ps
#define SCALAR ss
#define NAME kern_gemm_f32_avx2_tiles
#include "gemm_avx2.inc"
