// SPDX-License-Identifier: MIT
// Table of bytes, AVX-512: all steps stay in registers. Method, registers: lookup.inc.
#include "lookup.inc"

.macro KEEP reg, at
    vbroadcasti32x4 \at(%rcx), %zmm\reg
.endm
// two rows: one exclusive or of three
.macro ROWS first, second
    vpshufb %zmm1, %zmm\first, %zmm3
    vpsubsb %zmm4, %zmm1, %zmm1
    vpshufb %zmm1, %zmm\second, %zmm6
    vpsubsb %zmm4, %zmm1, %zmm1
    vpternlogq $0x96, %zmm3, %zmm6, %zmm2
.endm

    .text
    BEGIN kern_lookup_avx512
    KEEP 16, 0
    KEEP 17, 16
    KEEP 18, 32
    KEEP 19, 48
    KEEP 20, 64
    KEEP 21, 80
    KEEP 22, 96
    KEEP 23, 112
    KEEP 24, 128
    KEEP 25, 144
    KEEP 26, 160
    KEEP 27, 176
    KEEP 28, 192
    KEEP 29, 208
    KEEP 30, 224
    KEEP 31, 240
    mov $0x10101010, %eax
    vpbroadcastd %eax, %zmm4
    vpslld $3, %zmm4, %zmm5
    .p2align 5
1:  vmovdqu64 (%rsi), %zmm1
    vpxorq %zmm2, %zmm2, %zmm2
    vpxorq %zmm5, %zmm1, %zmm7
    ROWS 16, 17
    ROWS 18, 19
    ROWS 20, 21
    ROWS 22, 23
    vmovdqa64 %zmm7, %zmm1
    ROWS 24, 25
    ROWS 26, 27
    ROWS 28, 29
    ROWS 30, 31
    vmovdqu64 %zmm2, (%rdi)
    add $64, %rsi
    add $64, %rdi
    dec %rdx
    jnz 1b
    vzeroupper
    ret
    END kern_lookup_avx512

    .section .note.GNU-stack, "", @progbits
