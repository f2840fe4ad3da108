# SPDX-License-Identifier: MIT
weft_test(test_fuse SOURCES tests/test_fuse.c LIBS weft_fuse)
target_compile_definitions(test_fuse PRIVATE GOLDEN_DIR="${CMAKE_CURRENT_SOURCE_DIR}/tests/golden")
weft_test(test_fuse_random SOURCES tests/test_fuse_random.c tests/fuse_eval.c tests/fuse_random.c LIBS weft_fuse)
