// SPDX-License-Identifier: MIT
// Strip loops of the light operations: the scalar meanings of ops.def over contiguous elements,
// compiled once per instruction set. Inside the jit room.
#ifndef WEFT_JIT_STRIP_H
#define WEFT_JIT_STRIP_H

#include "../../ir/ir.h"
#include "../../kernels/kern.h"

// out[i] = f(a[i], b[i], c[i]) for i < n; operands that the operation has not are ignored. Any
// alignment. out may be exactly an operand whose elements have the same size; no other overlap.
// Results of type bool are 0 or 1, operands of type bool must be, but for cast, which takes any
// byte.
typedef void strip_fn(void *out, const void *a, const void *b, const void *c, size_t n);
// The strip of a MAP operation on operands of type in (where: of the last two) with result out;
// NULL when the operation is a kernel of the registry or is not defined for the types.
strip_fn *strip_find(enum ir_op op, weft_dtype in, weft_dtype out, enum kern_isa isa);

#define STRIP_JOIN_(a, b) a##_##b
#define STRIP_JOIN(a, b) STRIP_JOIN_(a, b)
#define STRIP_UNALIGNED __attribute__((aligned(1), may_alias))
#define STRIP_INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define STRIP_NO_DEPENDENCE _Pragma("clang loop vectorize(assume_safety)")
#else
#define STRIP_NO_DEPENDENCE _Pragma("GCC ivdep")
#endif

// one variant's tables, by class of the operands' type
typedef strip_fn *strip_table(enum ir_op op, weft_dtype in);
typedef strip_fn *strip_casts(weft_dtype in, weft_dtype out);
extern strip_table strip_bool_base, strip_signed_base, strip_unsigned_base, strip_float_base;
extern strip_table strip_bool_avx2, strip_signed_avx2, strip_unsigned_avx2, strip_float_avx2;
extern strip_table strip_bool_avx512, strip_signed_avx512, strip_unsigned_avx512,
    strip_float_avx512;
extern strip_casts strip_cast_base, strip_cast_avx2, strip_cast_avx512;
extern strip_casts strip_half_base, strip_half_avx2, strip_half_avx512; // one of the types is a half

#endif
