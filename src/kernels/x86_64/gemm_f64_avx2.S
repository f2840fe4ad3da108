// SPDX-License-Identifier: MIT
// f64 matrix product tiles for AVX2: 4 lanes, tiles of up to 4 x 12. Method, registers: gemm_avx2.inc.
#define SIZE 8
#define LANES 4
#define SUFFIX pd
#define SCALAR sd
#define NAME kern_gemm_f64_avx2_tiles
#include "gemm_avx2.inc"
