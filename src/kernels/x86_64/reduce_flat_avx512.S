// SPDX-License-Identifier: MIT
// Reductions of any order, AVX-512: lanes are one, two or four registers. Method, registers: reduce_flat.inc.
#define V %zmm
#define VB 64
#include "reduce_common.inc"

.macro TRUTH n // bytes to 0 or 1
    mov $0x01010101, %eax
    vpbroadcastd %eax, %zmm8
    vptestmb %zmm\n, %zmm\n, %k1
    vmovdqu8 %zmm8, %zmm\n{%k1}{z}
.endm
.macro SPREAD32 n
    vpbroadcastd %eax, %zmm\n
.endm
.macro SPREAD_pd // eax above 32 zeros
    shl $32, %rax
    vpbroadcastq %rax, %zmm0
    .irp i, 1, 2, 3, 4, 5, 6, 7
    vmovaps %zmm0, %zmm\i
    .endr
.endm
.macro SPREAD_ps
    vpbroadcastd %eax, %zmm0
    .irp i, 1, 2, 3, 4, 5, 6, 7
    vmovaps %zmm0, %zmm\i
    .endr
.endm
.macro XOR_AT t, c, at
    vpxorq \at(%rsi), %zmm\c, %zmm\t
.endm
.macro ADD_WIDE from, to
    vextracti64x4 $1, %zmm\from, %ymm9
    vpmovsxdq %ymm\from, %zmm8
    vpmovsxdq %ymm9, %zmm9
    vpaddq %zmm8, %zmm\to, %zmm\to
    vpaddq %zmm9, %zmm\to, %zmm\to
.endm

// ---- extremes
.macro NAN_NONE
    .irp i, 1, 2, 3, 4
    kxnorw %k0, %k0, %k\i
    .endr
.endm
.macro FAST_ONE op, s, n, x, at
    vmovups \at(%rsi), %zmm\x
    \op\s %zmm\n, %zmm\x, %zmm\n // unordered: the accumulator
.endm
.macro ORDERED s, a, b, m
    vcmpord\s %zmm\a, %zmm\b, %k\m{%k\m}
.endm
.macro FAST_UNIT op, s, skip
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    FAST_ONE \op, \s, \i, %(\i + 8), %(\i * 64)
    .endr
    .if !\skip
    ORDERED \s, 8, 9, 1
    ORDERED \s, 10, 11, 2
    ORDERED \s, 12, 13, 3
    ORDERED \s, 14, 15, 4
    .endif
.endm
.macro TEST_ZERO s, n, m
    vcmpneq\s %zmm8, %zmm\n, %k\m{%k\m}
.endm
.macro ALL_pd m
    kortestb %k\m, %k\m
.endm
.macro ALL_ps m
    kortestw %k\m, %k\m
.endm
.macro DOUBTFUL s, skip, where
    vpxorq %zmm8, %zmm8, %zmm8
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    TEST_ZERO \s, \i, %(\i % 4 + 1)
    .endr
    kandw %k1, %k2, %k1
    kandw %k3, %k4, %k3
    kandw %k1, %k3, %k1
    ALL_\s 1
    jnc \where
.endm
.macro LOSER_LEFT s, where
    .ifc \s, pd
    shl $32, %rax
    vpbroadcastq %rax, %zmm8
    .else
    vpbroadcastd %eax, %zmm8
    .endif
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    TEST_ZERO \s, \i, 1
    .endr
    ALL_\s 1
    jnc \where
.endm
.macro TAKE_OTHER acc, x, t, s
    vcmpunord\s %zmm\x, %zmm\x, %k5
    vmova\s %zmm\acc, %zmm\x{%k5}
    vcmpunord\s %zmm\acc, %zmm\acc, %k5
    vmova\s %zmm\x, %zmm\acc{%k5}
.endm
.macro NAN_WINS acc, x, t, u, s
    vcmpunord\s %zmm\acc, %zmm\x, %k5
    vadd\s %zmm\acc, %zmm\x, %zmm\t{%k5}
.endm

#include "reduce_flat.inc"

    .text
EXTREME kern_red_max_f64_avx512, vmax, vand, pd, 0xfff00000, 0x7ff80000, 0
EXTREME kern_red_min_f64_avx512, vmin, vor, pd, 0x7ff00000, 0x7ff80000, 0
EXTREME kern_red_fmax_f64_avx512, vmax, vand, pd, 0xfff00000, 0x7ff80000, 1
EXTREME kern_red_fmin_f64_avx512, vmin, vor, pd, 0x7ff00000, 0x7ff80000, 1
EXTREME kern_red_max_f32_avx512, vmax, vand, ps, 0xff800000, 0x7fc00000, 0
EXTREME kern_red_min_f32_avx512, vmin, vor, ps, 0x7f800000, 0x7fc00000, 0
EXTREME kern_red_fmax_f32_avx512, vmax, vand, ps, 0xff800000, 0x7fc00000, 1
EXTREME kern_red_fmin_f32_avx512, vmin, vor, ps, 0x7f800000, 0x7fc00000, 1
FLAT kern_red_max_i64_avx512, vpmaxsq, 4, 0
FLAT kern_red_min_i64_avx512, vpminsq, 4, 0
FLAT kern_red_max_u64_avx512, vpmaxuq, 4, 0
FLAT kern_red_min_u64_avx512, vpminuq, 4, 0
FLAT kern_red_max_i32_avx512, vpmaxsd, 4, 0
FLAT kern_red_min_i32_avx512, vpminsd, 4, 0
FLAT kern_red_max_u32_avx512, vpmaxud, 4, 0
FLAT kern_red_min_u32_avx512, vpminud, 4, 0
FLAT kern_red_max_i16_avx512, vpmaxsw, 2, 0
FLAT kern_red_min_i16_avx512, vpminsw, 2, 0
FLAT kern_red_max_u16_avx512, vpmaxuw, 2, 0
FLAT kern_red_min_u16_avx512, vpminuw, 2, 0
FLAT kern_red_max_i8_avx512, vpmaxsb, 1, 0
FLAT kern_red_min_i8_avx512, vpminsb, 1, 0
FLAT kern_red_max_u8_avx512, vpmaxub, 1, 0
FLAT kern_red_min_u8_avx512, vpminub, 1, 0
FLAT kern_red_any_b8_avx512, vporq, 1, 1
FLAT kern_red_all_b8_avx512, vpminub, 1, 1
FLAT kern_red_sum_i64_avx512, vpaddq, 4, 0
SUM32 kern_red_sum_i64_i32_avx512, vpmovsxdq
SUM32 kern_red_sum_i64_u32_avx512, vpmovzxdq
SUM16 kern_red_sum_i64_i16_avx512, 0
SUM16 kern_red_sum_i64_u16_avx512, 1
SUM8 kern_red_sum_i64_u8_avx512, 0, 0
SUM8 kern_red_sum_i64_i8_avx512, 1, 0
SUM8 kern_red_sum_i64_b8_avx512, 0, 1

    .section .note.GNU-stack, "", @progbits
