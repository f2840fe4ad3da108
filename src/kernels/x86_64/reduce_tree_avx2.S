// SPDX-License-Identifier: MIT
// Sums and products in the fixed tree, AVX2: a state is eight registers, done in two halves. Method, registers: reduce_tree.inc.
#define V %ymm
#define VB 32
#define PASSES 2
#define LEVELS 1
#include "reduce_common.inc"
#include "reduce_tree.inc"

    .text
TREE kern_red_sum_f64_avx2, vaddpd, 8, 0
TREE kern_red_sum_f32_avx2, vaddps, 4, 0
TREE kern_red_sum_f64_f32_avx2, vaddpd, 8, 1
TREE kern_red_prod_f64_avx2, vmulpd, 8, 0
TREE kern_red_prod_f32_avx2, vmulps, 4, 0

    .section .note.GNU-stack, "", @progbits
