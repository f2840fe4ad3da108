// SPDX-License-Identifier: MIT
// Calls a kernel with every register known beforehand and keeps what it left (struct abi of abi.h).
//   void abi_map(struct abi *)         a kern_map: entry, args out a b n
//   void abi_block_zmm(struct abi *), abi_block_ymm(struct abi *)   a block kernel: all vector registers from vec
// struct abi: 0 entry, 8 args[4], 40 mxcsr before and after, 48 flags, 56 gpr[13], 192 vec[32][64]
    .altmacro
.macro LOAD size, r
    vmovups (192 + 64 * r)(%rax), %size\r
.endm
.macro KEEP size, r
    vmovups %size\r, (192 + 64 * r)(%rax)
.endm
.macro ALL what, size, n
    .set r_, 0
    .rept n
    what size, %(r_)
    .set r_, r_ + 1
    .endr
.endm
.macro ENTER name
    .globl \name
    .type \name, @function
\name:
    .cfi_startproc
    endbr64
    .irp reg, rbx, rbp, r12, r13, r14, r15
    push %\reg
    .cfi_adjust_cfa_offset 8
    .endr
    push %rdi
    .cfi_adjust_cfa_offset 8
    mov %rdi, %rax
    stmxcsr 40(%rax)
.endm
// gpr 0-5 callee-saved, 6-11 what only block kernels keep
.macro PATTERNS
    .set v_, 0x1234567812340001
    .irp reg, rbx, rbp, r12, r13, r14, r15, rdi, rsi, rdx, r8, r9, r10
    movabs $v_, %\reg
    .set v_, v_ + 1
    .endr
.endm
.macro LEAVE name
    pushfq
    .cfi_adjust_cfa_offset 8
    mov 8(%rsp), %rax
    pop 48(%rax)
    .cfi_adjust_cfa_offset -8
    stmxcsr 44(%rax)
    .set at_, 56
    .irp reg, rbx, rbp, r12, r13, r14, r15, rdi, rsi, rdx, r8, r9, r10
    mov %\reg, at_(%rax)
    .set at_, at_ + 8
    .endr
    pop %rdi
    .cfi_adjust_cfa_offset -8
    .irp reg, r15, r14, r13, r12, rbp, rbx
    pop %\reg
    .cfi_adjust_cfa_offset -8
    .endr
    ret
    .cfi_endproc
    .size \name, . - \name
.endm

    .text
    ENTER abi_map
    PATTERNS
    mov 8(%rax), %rdi
    mov 16(%rax), %rsi
    mov 24(%rax), %rdx
    mov 32(%rax), %rcx
    call *(%rax)
    mov (%rsp), %rax
    ALL KEEP, ymm, 16
    LEAVE abi_map

    ENTER abi_block_zmm
    ALL LOAD, zmm, 32
    PATTERNS
    call *(%rax)
    mov (%rsp), %rax
    ALL KEEP, zmm, 32
    vzeroupper
    LEAVE abi_block_zmm

    ENTER abi_block_ymm
    ALL LOAD, ymm, 16
    PATTERNS
    call *(%rax)
    mov (%rsp), %rax
    ALL KEEP, ymm, 16
    vzeroupper
    LEAVE abi_block_ymm

    .section .note.GNU-stack, "", @progbits
