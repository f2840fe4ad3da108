// SPDX-License-Identifier: MIT
// The elementary functions in high precision (MPFR), and the distance of a result from them in ULP.
#ifndef WEFT_TESTS_MATHREF_H
#define WEFT_TESTS_MATHREF_H

#include "kernels/kern.h"

// Whether family takes two operands; whether there is a reference for it at all.
bool mathref_binary(enum kern_family f);
bool mathref_has(enum kern_family f);
const char *mathref_name(enum kern_family f);

// |got - f(a, b)| in units in the last place of t (WEFT_F32 or WEFT_F64) at the exact value. A
// zero, an infinity or a NaN of the exact function must be met exactly, its sign too: otherwise
// HUGE_VAL. An exact value beyond the largest number is compared with 2^emax where got is infinite.
double mathref_ulp(enum kern_family f, weft_dtype t, double a, double b, double got);
// The exact value rounded to double (for messages).
double mathref_value(enum kern_family f, double a, double b);
void mathref_free(void); // MPFR's caches and the scratch numbers
#endif
