// SPDX-License-Identifier: MIT
// i16 and u16 leaves of the matrix product: products and sums modulo 2^16. In: packed operands;
// out: a tile of C. The order of the sum does not matter here, so this shares the driver and
// nothing more.
#include <stdint.h>

typedef uint16_t elem;
#define OPS kern_gemm_u16
#include "wrap.h"
