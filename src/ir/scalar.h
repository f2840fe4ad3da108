// SPDX-License-Identifier: MIT
// The vocabulary of the scalar meanings in ops.def: helpers over a type T with unsigned partner W. An
// expanding file defines nothing; it declares a, b, c of the right type and pastes the expression. The
// interpreter's strips are these meanings in loops; machine code must match them bit for bit.
#ifndef WEFT_SCALAR_H
#define WEFT_SCALAR_H

#include <math.h>

// float and double by the type of the operand
#define SQRT(a) _Generic((a), float: __builtin_sqrtf, default: __builtin_sqrt)(a)
#define FABS(a) _Generic((a), float: __builtin_fabsf, default: __builtin_fabs)(a)
#define FLOOR(a) _Generic((a), float: __builtin_floorf, default: __builtin_floor)(a)
#define CEIL(a) _Generic((a), float: __builtin_ceilf, default: __builtin_ceil)(a)
#define TRUNC(a) _Generic((a), float: __builtin_truncf, default: __builtin_trunc)(a)
#define RINT(a) _Generic((a), float: __builtin_rintf, default: __builtin_rint)(a)
#define FMA(a, b, c) _Generic((a), float: __builtin_fmaf, default: __builtin_fma)(a, b, c)
#define COPYSIGN(a, b) _Generic((a), float: __builtin_copysignf, default: __builtin_copysign)(a, b)
#define SIGNBIT(a) (COPYSIGN((T)1, a) < 0)
#define FLT_INF __builtin_inff()

// IEEE 754-2019 minimum/maximum: NaN propagates (as a + b), zeros are ordered
#define FLT_MIN_(a, b) ((a) < (b) ? (a) : (b) < (a) ? (b) : (a) == (b) ? (SIGNBIT(a) ? (a) : (b)) : (a) + (b))
#define FLT_MAX_(a, b) ((a) > (b) ? (a) : (b) > (a) ? (b) : (a) == (b) ? (SIGNBIT(a) ? (b) : (a)) : (a) + (b))
#undef FLT_MIN
#undef FLT_MAX
#define FLT_MIN(a, b) FLT_MIN_(a, b)
#define FLT_MAX(a, b) FLT_MAX_(a, b)
// minimumNumber/maximumNumber: a NaN loses against a number
#define FLT_FMIN(a, b) ((a) != (a) ? (b) : (b) != (b) ? (a) : FLT_MIN_(a, b))
#define FLT_FMAX(a, b) ((a) != (a) ? (b) : (b) != (b) ? (a) : FLT_MAX_(a, b))
#define FLT_SIGN(a) ((a) > 0 ? (T)1 : (a) < 0 ? (T)-1 : (a) == 0 ? (T)0 : (a))

// integers: S = "T is signed" is ((T)-1 < 0); computed in W so that nothing overflows
#define INT_NEGATIVE(a) ((a) < (T)1 && (a) != 0)
#define INT_ABS(a) ((T)(INT_NEGATIVE(a) ? 0 - (W)(a) : (W)(a)))
#define INT_SIGN(a) ((T)(INT_NEGATIVE(a) ? (T)-1 : (a) != 0))
// only 1 and -1 have a non-zero truncated reciprocal
#define INT_RECIP(a) ((T)((a) == (T)1 || ((T)-1 < (T)1 && (a) == (T)-1) ? (a) : (T)0))
#define INT_BITS ((int)(8 * sizeof(T)))
#define INT_BAD_COUNT(b) (INT_NEGATIVE(b) || (W)(b) >= (W)INT_BITS)
#define INT_SHL(a, b) ((T)(INT_BAD_COUNT(b) ? 0 : (W)(a) << ((W)(b) & (W)(INT_BITS - 1))))
#define INT_SHR(a, b)                                                                              \
    ((T)(INT_BAD_COUNT(b) ? (INT_NEGATIVE(a) ? (T)-1 : (T)0)                                       \
                          : (T)((a) >> ((W)(b) & (W)(INT_BITS - 1)))))

#endif
