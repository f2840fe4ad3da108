// SPDX-License-Identifier: MIT
// Table of bytes where AVX-512 VBMI permutes 128 bytes at once. The last operand is the table itself, 256 bytes.
//
// Method     the low seven bits of an index choose from either half of the table, bit 7 which of the two counts:
//            six instructions for 64 bytes, two blocks a turn
// Registers  rdi out   rsi index   rdx blocks left   rcx table   16-19 the table   0, 3 index   1, 4 entries of
//            the lower half, then the result   2, 5 entries of the upper half   k1, k2 bit 7
#include "lookup.inc"

.macro ENTRIES index, low, high, mask
    vmovdqa64 %zmm\index, %zmm\low
    vmovdqa64 %zmm\index, %zmm\high
    vpermi2b %zmm17, %zmm16, %zmm\low
    vpermi2b %zmm19, %zmm18, %zmm\high
    vpmovb2m %zmm\index, %k\mask
    vmovdqu8 %zmm\high, %zmm\low{%k\mask}
.endm

    .text
    BEGIN kern_lookup_vbmi
    vmovdqu64 (%rcx), %zmm16
    vmovdqu64 64(%rcx), %zmm17
    vmovdqu64 128(%rcx), %zmm18
    vmovdqu64 192(%rcx), %zmm19
    sub $2, %rdx
    jb 2f
    .p2align 5
1:  vmovdqu64 (%rsi), %zmm0
    vmovdqu64 64(%rsi), %zmm3
    ENTRIES 0, 1, 2, 1
    ENTRIES 3, 4, 5, 2
    vmovdqu64 %zmm1, (%rdi)
    vmovdqu64 %zmm4, 64(%rdi)
    add $128, %rsi
    add $128, %rdi
    sub $2, %rdx
    jae 1b
2:  cmp $-1, %rdx
    jne 3f
    vmovdqu64 (%rsi), %zmm0
    ENTRIES 0, 1, 2, 1
    vmovdqu64 %zmm1, (%rdi)
3:  vzeroupper
    ret
    END kern_lookup_vbmi

    .section .note.GNU-stack, "", @progbits
