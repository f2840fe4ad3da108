// SPDX-License-Identifier: MIT
// n elements combined into n others, both with steps in bytes.
#ifndef WEFT_KERN_COMBINE_H
#define WEFT_KERN_COMBINE_H

#include "call.h"

typedef void combine_fn(char *out, int64_t out_step, const char *v, int64_t v_step, int64_t n);
combine_fn *combine_of(weft_scatter_op op, weft_dtype t);

#endif
