// SPDX-License-Identifier: MIT
// Calling a kernel with every register known (abi_call.S), and what it must have kept.
#ifndef WEFT_TESTS_ABI_H
#define WEFT_TESTS_ABI_H

#include <criterion/criterion.h>

#include "kernels/kern.h"

struct abi {
    void (*entry)(void);
    uint64_t args[4];
    uint32_t mxcsr[2];
    uint64_t flags, gpr[13], pad[4];
    unsigned char vec[32][64];
};
void abi_map(struct abi *a);
void abi_block_zmm(struct abi *a);
void abi_block_ymm(struct abi *a);

// kept: 6 callee-saved general registers, or the 12 that block kernels keep
static inline void abi_check(const char *name, const struct abi *a, int kept) {
    for (int i = 0; i < kept; i++)
        cr_assert(a->gpr[i] == 0x1234567812340001u + (uint64_t)i, "%s: general register %d", name, i);
    cr_assert((a->mxcsr[0] & ~0x3fu) == (a->mxcsr[1] & ~0x3fu), "%s: MXCSR", name);
    cr_assert(!(a->flags & 0x400), "%s: direction flag", name);
}
// after an array kernel: no half-used vector registers, which would slow what follows
static inline void abi_check_upper(const char *name, const struct abi *a) {
    for (int v = 0; v < 16; v++)
        for (int k = 16; k < 32; k++)
            cr_assert(!a->vec[v][k], "%s: upper half of vector register %d", name, v);
}
#endif
