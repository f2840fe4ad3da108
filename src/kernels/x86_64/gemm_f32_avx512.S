// SPDX-License-Identifier: MIT
// f32 matrix product tiles for AVX-512: 16 lanes, tiles of up to 8 x 48. Method, registers: gemm_avx512.inc.
#define SIZE 4
#define LANES 16
#define SUFFIX ps
#define SCALAR ss
#define NAME kern_gemm_f32_avx512_tiles
#include "gemm_avx512.inc"
