// SPDX-License-Identifier: MIT
// In: code that refers to nothing by address. Out: the same bytes in pages of their own that can be executed. Pages
// are writable while they are filled and executable afterwards, never both at once, so this works where a
// system forbids the two together; where it forbids executable memory altogether, the caller interprets.
#include "map.h"

#include <sys/mman.h>
#include <unistd.h>

tile_fn *map_code(struct jit_map *m, const void *code, size_t size, size_t entry) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *m = (struct jit_map){NULL, (size + page - 1) & ~(page - 1)};
    void *at = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return NULL;
    memcpy(at, code, size);
    if (mprotect(at, m->size, PROT_READ | PROT_EXEC)) {
        munmap(at, m->size);
        return NULL;
    }
    __builtin___clear_cache((char *)at, (char *)at + size);
    m->at = at;
    tile_fn *fn;
    void *start = (char *)at + entry;
    memcpy(&fn, &start, sizeof fn);
    return fn;
}

void map_free(struct jit_map *m) {
    if (m->at) munmap(m->at, m->size);
    m->at = NULL;
}
