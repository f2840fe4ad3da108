// SPDX-License-Identifier: MIT
// Reductions of any order, AVX2: lanes are two, four or eight registers. Method, registers: reduce_flat.inc.
#define V %ymm
#define VB 32
#include "reduce_common.inc"

.macro TRUTH n // bytes to 0 or 1
    mov $0x01010101, %eax
    vmovd %eax, %xmm8
    vpbroadcastd %xmm8, %ymm8
    vpxor %ymm9, %ymm9, %ymm9
    vpcmpeqb %ymm9, %ymm\n, %ymm\n
    vpandn %ymm8, %ymm\n, %ymm\n
.endm
.macro SPREAD32 n
    vmovd %eax, %xmm\n
    vpbroadcastd %xmm\n, %ymm\n
.endm
.macro SPREAD_pd // eax above 32 zeros
    shl $32, %rax
    vmovq %rax, %xmm0
    vpbroadcastq %xmm0, %ymm0
    .irp i, 1, 2, 3, 4, 5, 6, 7
    vmovaps %ymm0, %ymm\i
    .endr
.endm
.macro SPREAD_ps
    SPREAD32 0
    .irp i, 1, 2, 3, 4, 5, 6, 7
    vmovaps %ymm0, %ymm\i
    .endr
.endm
.macro XOR_AT t, c, at
    vpxor \at(%rsi), %ymm\c, %ymm\t
.endm
.macro ADD_WIDE from, to
    vextracti128 $1, %ymm\from, %xmm9
    vpmovsxdq %xmm\from, %ymm8
    vpmovsxdq %xmm9, %ymm9
    vpaddq %ymm8, %ymm\to, %ymm\to
    vpaddq %ymm9, %ymm\to, %ymm\to
.endm

// ---- extremes
.macro NAN_NONE
    vxorps %ymm10, %ymm10, %ymm10
.endm
.macro FAST_ONE op, s, n, x, at
    vmovups \at(%rsi), %ymm\x
    \op\s %ymm\n, %ymm\x, %ymm\n // unordered: the accumulator
.endm
.macro FAST_TWO op, s, skip, m, n, x, y, at, next
    FAST_ONE \op, \s, \m, \x, \at
    FAST_ONE \op, \s, \n, \y, \next
    .if !\skip
    vcmpunord\s %ymm\x, %ymm\y, %ymm\x
    vorps %ymm\x, %ymm10, %ymm10
    .endif
.endm
.macro FAST_UNIT op, s, skip
    .set j_, 0
    .rept 8
    FAST_TWO \op, \s, \skip, %(j_ % 4 * 2), %(j_ % 4 * 2 + 1), %(12 + j_ % 2 * 2), %(13 + j_ % 2 * 2), %(j_ * 64), %(j_ * 64 + 32)
    .set j_, j_ + 1
    .endr
.endm
.macro TEST_ZERO s, n
    vcmpeq\s %ymm8, %ymm\n, %ymm9
    vorps %ymm9, %ymm10, %ymm10
.endm
.macro DOUBTFUL s, skip, where
    vxorps %ymm8, %ymm8, %ymm8
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    TEST_ZERO \s, \i
    .endr
    vptest %ymm10, %ymm10
    jnz \where
.endm
.macro LOSER_LEFT s, where
    .ifc \s, pd
    shl $32, %rax
    vmovq %rax, %xmm8
    vpbroadcastq %xmm8, %ymm8
    .else
    SPREAD32 8
    .endif
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    TEST_ZERO \s, \i
    .endr
    vptest %ymm10, %ymm10
    jnz \where
.endm
.macro TAKE_OTHER acc, x, t, s
    vcmpunord\s %ymm\x, %ymm\x, %ymm\t
    vblendv\s %ymm\t, %ymm\acc, %ymm\x, %ymm\x
    vcmpunord\s %ymm\acc, %ymm\acc, %ymm\t
    vblendv\s %ymm\t, %ymm\x, %ymm\acc, %ymm\acc
.endm
.macro NAN_WINS acc, x, t, u, s
    vcmpunord\s %ymm\acc, %ymm\x, %ymm\u
    vorps %ymm\u, %ymm\t, %ymm\t
.endm

#include "reduce_flat.inc"

    .text
EXTREME kern_red_max_f64_avx2, vmax, vand, pd, 0xfff00000, 0x7ff80000, 0
EXTREME kern_red_min_f64_avx2, vmin, vor, pd, 0x7ff00000, 0x7ff80000, 0
EXTREME kern_red_fmax_f64_avx2, vmax, vand, pd, 0xfff00000, 0x7ff80000, 1
EXTREME kern_red_fmin_f64_avx2, vmin, vor, pd, 0x7ff00000, 0x7ff80000, 1
EXTREME kern_red_max_f32_avx2, vmax, vand, ps, 0xff800000, 0x7fc00000, 0
EXTREME kern_red_min_f32_avx2, vmin, vor, ps, 0x7f800000, 0x7fc00000, 0
EXTREME kern_red_fmax_f32_avx2, vmax, vand, ps, 0xff800000, 0x7fc00000, 1
EXTREME kern_red_fmin_f32_avx2, vmin, vor, ps, 0x7f800000, 0x7fc00000, 1
FLAT kern_red_max_i32_avx2, vpmaxsd, 8, 0
FLAT kern_red_min_i32_avx2, vpminsd, 8, 0
FLAT kern_red_max_u32_avx2, vpmaxud, 8, 0
FLAT kern_red_min_u32_avx2, vpminud, 8, 0
FLAT kern_red_max_i16_avx2, vpmaxsw, 4, 0
FLAT kern_red_min_i16_avx2, vpminsw, 4, 0
FLAT kern_red_max_u16_avx2, vpmaxuw, 4, 0
FLAT kern_red_min_u16_avx2, vpminuw, 4, 0
FLAT kern_red_max_i8_avx2, vpmaxsb, 2, 0
FLAT kern_red_min_i8_avx2, vpminsb, 2, 0
FLAT kern_red_max_u8_avx2, vpmaxub, 2, 0
FLAT kern_red_min_u8_avx2, vpminub, 2, 0
FLAT kern_red_any_b8_avx2, vpor, 2, 1
FLAT kern_red_all_b8_avx2, vpminub, 2, 1
FLAT kern_red_sum_i64_avx2, vpaddq, 8, 0
SUM32 kern_red_sum_i64_i32_avx2, vpmovsxdq
SUM32 kern_red_sum_i64_u32_avx2, vpmovzxdq
SUM16 kern_red_sum_i64_i16_avx2, 0
SUM16 kern_red_sum_i64_u16_avx2, 1
SUM8 kern_red_sum_i64_u8_avx2, 0, 0
SUM8 kern_red_sum_i64_i8_avx2, 1, 0
SUM8 kern_red_sum_i64_b8_avx2, 0, 1

    .section .note.GNU-stack, "", @progbits
