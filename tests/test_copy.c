// SPDX-License-Identifier: MIT
// Picking and spreading every second element: all lengths around the vectors, between guard pages, at every
// instruction set; what lies between the elements is neither read (it may not be there) nor written.
#include "guard.h"
#include "kernels/copy/copy.h"

static const struct variant {
    enum kern_isa isa;
    kern_pick_fn *pick, *spread;
} variants[] = {{KERN_BASE, kern_pick_base, kern_spread_base},
#ifdef __x86_64__
                {KERN_AVX2, kern_pick_avx2, kern_spread_avx2},
                {KERN_AVX512, kern_pick_avx512, kern_spread_avx512},
#endif
                {KERN_BASE, kern_pick, kern_spread}};

static void check(const struct variant *v, size_t size, size_t n) {
    const size_t dense = n * size, wide = n ? (2 * n - 1) * size : 0;
    struct guard a = guard_new(wide + 64), b = guard_new(dense + 64), c = guard_new(wide + 64);
    for (int end = 0; end < 2; end++) { // at the end of the room, then odd bytes from its begin
        unsigned char *from = end ? guard_end(&a, wide) : a.base + 1, *to = end ? guard_end(&b, dense) : b.base + 3;
        unsigned char *back = end ? guard_end(&c, wide) : c.base + 5;
        uint64_t seed = n;
        for (size_t i = 0; i < wide; i++) {
            from[i] = (unsigned char)next_random(&seed);
            back[i] = (unsigned char)(i * 7);
        }
        v->pick(size, to, from, (int64_t)n);
        for (size_t i = 0; i < dense; i++)
            cr_assert_eq(to[i], from[i / size * 2 * size + i % size]);
        v->spread(size, back, to, (int64_t)n);
        for (size_t i = 0; i < wide; i++)
            cr_assert_eq(back[i], i / size % 2 ? (unsigned char)(i * 7) : from[i]);
    }
    guard_free(&a), guard_free(&b), guard_free(&c);
}

Test(copy, pairs) {
    for (size_t k = 0; k < COUNT_OF(variants); k++)
        if (variants[k].isa <= kern_isa_detect())
            for (size_t n = 0; n < 70; n++) {
                check(&variants[k], 8, n);
                check(&variants[k], 4, n);
            }
}
