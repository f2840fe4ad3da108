// SPDX-License-Identifier: MIT
// weft_can_cast and weft_result_type against tables written by NumPy (numpy.can_cast, numpy.promote_types; rows from, columns
// to, in the order of weft_dtype). The rows and columns of bf16, which NumPy has not, are f16's as ml_dtypes has them.
#include <criterion/criterion.h>

#include "weft/weft.h"

static const char *const safe[WEFT_DTYPE__N] = {
    "111111111111111", // ?
    "011110000111111", // i1
    "001110000110011", // i2
    "000110000010001", // i4
    "000010000010001", // i8
    "001111111111111", // u1
    "000110111110011", // u2
    "000010011010001", // u4
    "000000001010001", // u8
    "000000000110011", // f4
    "000000000010001", // f8
    "000000000111011", // f2
    "000000000110111", // bf
    "000000000000011", // c8
    "000000000000001", // c16
};
static const char *const same_kind[WEFT_DTYPE__N] = {
    "111111111111111", // ?
    "011110000111111", // i1
    "011110000111111", // i2
    "011110000111111", // i4
    "011110000111111", // i8
    "011111111111111", // u1
    "011111111111111", // u2
    "011111111111111", // u4
    "011111111111111", // u8
    "000000000111111", // f4
    "000000000111111", // f8
    "000000000111111", // f2
    "000000000111111", // bf
    "000000000000011", // c8
    "000000000000011", // c16
};

Test(casting, as_numpy) {
    for (int a = 0; a < WEFT_DTYPE__N; a++)
        for (int b = 0; b < WEFT_DTYPE__N; b++) {
            weft_dtype from = (weft_dtype)a, to = (weft_dtype)b;
            cr_expect_eq(weft_can_cast(from, to, WEFT_CAST_NO), a == b, "%s to %s", weft_dtype_name(from), weft_dtype_name(to));
            cr_expect_eq(weft_can_cast(from, to, WEFT_CAST_EQUIV), a == b, "%s to %s", weft_dtype_name(from), weft_dtype_name(to));
            cr_expect_eq(weft_can_cast(from, to, WEFT_CAST_SAFE), safe[a][b] == '1', "%s to %s", weft_dtype_name(from),
                         weft_dtype_name(to));
            cr_expect_eq(weft_can_cast(from, to, WEFT_CAST_SAME_KIND), same_kind[a][b] == '1', "%s to %s", weft_dtype_name(from),
                         weft_dtype_name(to));
            cr_expect(weft_can_cast(from, to, WEFT_CAST_UNSAFE));
            cr_expect_eq(weft_result_type(from, to), weft_result_type(to, from));
        }
}

Test(casting, outside_the_enumeration) {
    cr_expect(!weft_can_cast((weft_dtype)99, WEFT_F32, WEFT_CAST_UNSAFE));
    cr_expect(!weft_can_cast(WEFT_F32, (weft_dtype)-1, WEFT_CAST_UNSAFE));
    cr_expect(!weft_can_cast(WEFT_F32, WEFT_F32, (weft_casting)9));
    cr_expect_eq(weft_result_type((weft_dtype)99, WEFT_F32), WEFT_DTYPE__N);
}
