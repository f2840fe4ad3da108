# SPDX-License-Identifier: MIT
weft_test(test_runtime SOURCES tests/test_runtime.c tests/rt_fake.c LIBS weft_runtime)
