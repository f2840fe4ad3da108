// SPDX-License-Identifier: MIT
// Every second element out of memory and back into it, chosen by the instruction set of the machine: parts of
// complex arrays lie so. Copies are copies, so the choice changes no bit.
#include "copy/copy.h"

#include <stdatomic.h>

#define VARIANT(level) {kern_pick_##level, kern_spread_##level}
static const struct {
    kern_pick_fn *pick, *spread;
} variants[] = {
    [KERN_BASE] = VARIANT(base),
#ifdef __x86_64__
    [KERN_AVX2] = VARIANT(avx2),
    [KERN_AVX512] = VARIANT(avx512),
#endif
};

static int level(void) {
    static atomic_int known = -1; // racing threads store the same value
    int isa = atomic_load_explicit(&known, memory_order_relaxed);
    if (isa < 0) {
        isa = (int)kern_isa_detect();
        atomic_store_explicit(&known, isa, memory_order_relaxed);
    }
    return isa;
}

void kern_pick(size_t size, void *to, const void *from, int64_t n) {
    variants[level()].pick(size, to, from, n);
}
void kern_spread(size_t size, void *to, const void *from, int64_t n) {
    variants[level()].spread(size, to, from, n);
}
