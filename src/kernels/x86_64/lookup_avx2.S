// SPDX-License-Identifier: MIT
// Table of bytes, AVX2: two vectors share each step, which is read again for them. Method, registers: lookup.inc.
#include "lookup.inc"

.macro ROW at
    vbroadcasti128 \at(%rcx), %ymm3
    vpshufb %ymm1, %ymm3, %ymm9
    vpshufb %ymm6, %ymm3, %ymm10
    vpsubsb %ymm4, %ymm1, %ymm1
    vpsubsb %ymm4, %ymm6, %ymm6
    vpxor %ymm9, %ymm2, %ymm2
    vpxor %ymm10, %ymm8, %ymm8
.endm

    .text
    BEGIN kern_lookup_avx2
    mov $0x10101010, %eax
    vmovd %eax, %xmm4
    vpbroadcastd %xmm4, %ymm4
    vpslld $3, %ymm4, %ymm5
    .p2align 5
1:  vmovdqu (%rsi), %ymm1
    vmovdqu 32(%rsi), %ymm6
    vpxor %ymm5, %ymm1, %ymm7
    vpxor %ymm5, %ymm6, %ymm11
    vpxor %ymm2, %ymm2, %ymm2
    vpxor %ymm8, %ymm8, %ymm8
    .irp at, 0, 16, 32, 48, 64, 80, 96, 112
    ROW \at
    .endr
    vmovdqa %ymm7, %ymm1
    vmovdqa %ymm11, %ymm6
    .irp at, 128, 144, 160, 176, 192, 208, 224, 240
    ROW \at
    .endr
    vmovdqu %ymm2, (%rdi)
    vmovdqu %ymm8, 32(%rdi)
    add $64, %rsi
    add $64, %rdi
    dec %rdx
    jnz 1b
    vzeroupper
    ret
    END kern_lookup_avx2

    .section .note.GNU-stack, "", @progbits
