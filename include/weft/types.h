/* SPDX-License-Identifier: MIT
 *
 * weft/types.h: more about element types. Included by weft.h.
 *
 *     weft_dtype t[3] = {WEFT_I16, WEFT_U16, WEFT_F32};
 *     weft_result_type_n(3, t);                       f32, while i16 and u16 alone meet in i32, and that
 *                                                     and f32 in f64
 */
#ifndef WEFT_TYPES_H
#define WEFT_TYPES_H

#ifdef __cplusplus
extern "C" {
#endif

/* The type n operands of one operation meet in, as numpy.result_type: for more than two that is not
 * weft_result_type pair by pair, since the foremost type (halves, then complex, then floating) meets each of the
 * others by itself. The order of t does not matter. n below 1, t NULL or a value outside the enumeration:
 * WEFT_DTYPE__N. Any thread. */
WEFT_API weft_dtype weft_result_type_n(int n, const weft_dtype *t);

#ifdef __cplusplus
}
#endif
#endif
