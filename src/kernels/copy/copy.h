// SPDX-License-Identifier: MIT
// The variants behind kern_pick and kern_spread.
#ifndef WEFT_KERN_COPY_H
#define WEFT_KERN_COPY_H

#include "../kern.h"

typedef void kern_pick_fn(size_t size, void *to, const void *from, int64_t n);
extern kern_pick_fn kern_pick_base, kern_pick_avx2, kern_pick_avx512;
extern kern_pick_fn kern_spread_base, kern_spread_avx2, kern_spread_avx512;

#endif
