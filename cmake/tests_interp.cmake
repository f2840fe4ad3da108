# SPDX-License-Identifier: MIT
weft_test(test_reduce SOURCES tests/test_reduce.c LIBS weft_kernels)
