// SPDX-License-Identifier: MIT
// Executable memory of our own: position-independent code in, an entry point out. Inside src/jit and its tests.
#ifndef WEFT_JIT_MAP_H
#define WEFT_JIT_MAP_H

#include "../nest.h"

struct jit_map {
    void *at; // NULL: nothing mapped
    size_t size;
};
// A copy of the code in pages that are writable first and executable then, never both; 64-byte aligned. NULL:
// the system refuses.
tile_fn *map_code(struct jit_map *m, const void *code, size_t size, size_t entry);
void map_free(struct jit_map *m);

#endif
