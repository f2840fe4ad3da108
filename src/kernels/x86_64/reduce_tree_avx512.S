// SPDX-License-Identifier: MIT
// Sums and products in the fixed tree, AVX-512: a state is four registers. Method, registers: reduce_tree.inc.
#define V %zmm
#define VB 64
#define PASSES 1
#define LEVELS 2
#include "reduce_common.inc"
#include "reduce_tree.inc"

    .text
TREE kern_red_sum_f64_avx512, vaddpd, 8, 0
TREE kern_red_sum_f32_avx512, vaddps, 4, 0
TREE kern_red_sum_f64_f32_avx512, vaddpd, 8, 1
TREE kern_red_prod_f64_avx512, vmulpd, 8, 0
TREE kern_red_prod_f32_avx512, vmulps, 4, 0

    .section .note.GNU-stack, "", @progbits
