// SPDX-License-Identifier: MIT
// i8 and u8 leaves of the matrix product: products and sums modulo 2^8. In: packed operands; out: a
// tile of C. The order of the sum does not matter here, so this shares the driver and nothing more.
#include <stdint.h>

typedef uint8_t elem;
#define OPS kern_gemm_u8
#include "wrap.h"
