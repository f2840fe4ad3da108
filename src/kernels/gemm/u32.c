// SPDX-License-Identifier: MIT
// i32 and u32 leaves of the matrix product: products and sums modulo 2^32. In: packed operands;
// out: a tile of C. The order of the sum does not matter here, so this shares the driver and
// nothing more.
#include <stdint.h>

typedef uint32_t elem;
#define OPS kern_gemm_u32
#include "wrap.h"
