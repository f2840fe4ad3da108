// SPDX-License-Identifier: MIT
// i16 and u16 leaves of the matrix product: products and sums modulo 2^16. In: packed operands;
// out: a tile of C. The order of the sum does not matter here, so this shares the driver and
// nothing more.
#include <stdint.h>

typedef uint16_t elem;
#define OPS kern_gemm_u16
#include "int.h"
static inline vec v_splat(const unsigned char *p) {
    elem x;
    memcpy(&x, p, sizeof x);
    return (vec){0} + x;
}
static inline vec v_mac(vec acc, vec a, vec b) {
    return acc + a * b;
}
static inline vec v_add(vec c, vec x) {
    return c + x;
}
static inline elem e_add(elem c, elem x) {
    return (elem)(c + x);
}
#include "tile.h"
