// SPDX-License-Identifier: MIT
// Template: the arithmetic of wrapping integer leaves, one for every width, and the tile around it.
// The including file defines elem and OPS.
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
