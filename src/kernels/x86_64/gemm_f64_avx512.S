// SPDX-License-Identifier: MIT
// f64 matrix product tiles for AVX-512: 8 lanes, tiles of up to 8 x 24. Method, registers: gemm_avx512.inc.
#define SIZE 8
#define LANES 8
#define SUFFIX pd
#define SCALAR sd
#define NAME kern_gemm_f64_avx512_tiles
#include "gemm_avx512.inc"
