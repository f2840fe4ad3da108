// SPDX-License-Identifier: MIT
// bool leaves of the matrix product: or of and. A byte that is not 0 is true; what is written is 0
// or 1. In: packed operands, kept as they came; out: a tile of C.
#include <stdint.h>

typedef uint8_t elem;
#define OPS kern_gemm_bool
#include "int.h"
static inline vec v_splat(const unsigned char *p) {
    return (vec){0} + (elem)(*p != 0);
}
static inline vec v_mac(vec acc, vec a, vec b) {
    return acc | (a & (vec)(b != 0));
}
static inline vec v_add(vec c, vec x) {
    return c | x;
}
static inline elem e_add(elem c, elem x) {
    return c | x;
}
#include "tile.h"
