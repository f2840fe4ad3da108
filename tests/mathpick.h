// SPDX-License-Identifier: MIT
// Random operands for tests of elementary functions.
#ifndef WEFT_TESTS_MATHPICK_H
#define WEFT_TESTS_MATHPICK_H

#include "kernels/kern.h"

// A number of type t (WEFT_F32 or WEFT_F64), held in a double.
double mathpick_one(weft_dtype t, uint64_t *state);
// Operands of element i for r; *b has no meaning for functions of one operand.
void mathpick(const struct kern_row *r, size_t i, uint64_t *state, double *a, double *b);
#endif
