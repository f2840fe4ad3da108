// SPDX-License-Identifier: MIT
// i64 and u64 leaves of the matrix product: products and sums modulo 2^64. In: packed operands;
// out: a tile of C. The order of the sum does not matter here, so this shares the driver and
// nothing more.
#include <stdint.h>

typedef uint64_t elem;
#define OPS kern_gemm_u64
#include "wrap.h"
