// SPDX-License-Identifier: MIT
// Where a block kernel goes when its test fails: the C recipe computes the block.
//
// Reached by a jump from the block kernel's first instructions, so that the return address is the caller's.
// In: rax the recipe (a kern_map), rcx elements of a block, operands in the registers of the contract (vm.inc).
// Out: the result in the first W registers. Changes those, k0-k7, rax, rcx, r11 and flags: whatever else a C
// function may change is put back, which takes some hundred cycles and is paid for rare operands only.
//
// Frame: 0 operand a, then every other vector register, the first of which are operand b; then rdi rsi rdx r8-r10.

#if VM_AVX512
#include "vm_avx512.inc"
#else
#include "vm_avx2.inc"
#endif
#if defined(__CET__)
#include <cet.h>
#endif
    .altmacro
.macro PUT r
    vm_to_slot \r, (\r * VM_BYTES)
.endm
.macro GET r
    vm_from_slot \r, (\r * VM_BYTES)
.endm
#define SAVED (VM_REGISTERS * VM_BYTES)

    .text
    .p2align 4
    .globl VM_RESCUE
    .hidden VM_RESCUE
    .type VM_RESCUE, @function
VM_RESCUE:
    .cfi_startproc
    endbr64
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    sub $(SAVED + 64), %rsp
    and $-64, %rsp
    .set r_, 0
    .rept VM_REGISTERS
    PUT %(r_)
    .set r_, r_ + 1
    .endr
    mov %rdi, SAVED(%rsp)
    mov %rsi, (SAVED + 8)(%rsp)
    mov %rdx, (SAVED + 16)(%rsp)
    mov %r8, (SAVED + 24)(%rsp)
    mov %r9, (SAVED + 32)(%rsp)
    mov %r10, (SAVED + 40)(%rsp)
    mov %rsp, %rdi
    mov %rsp, %rsi
    lea (VM_W * VM_BYTES)(%rsp), %rdx
    call *%rax
    .set r_, 0
    .rept VM_REGISTERS
    GET %(r_)
    .set r_, r_ + 1
    .endr
    mov SAVED(%rsp), %rdi
    mov (SAVED + 8)(%rsp), %rsi
    mov (SAVED + 16)(%rsp), %rdx
    mov (SAVED + 24)(%rsp), %r8
    mov (SAVED + 32)(%rsp), %r9
    mov (SAVED + 40)(%rsp), %r10
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size VM_RESCUE, . - VM_RESCUE

    .section .note.GNU-stack, "", @progbits
