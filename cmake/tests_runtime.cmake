# SPDX-License-Identifier: MIT
weft_test(test_runtime SOURCES tests/test_runtime.c tests/test_runtime_run.c
  tests/test_runtime_pool.c tests/test_runtime_alias.c tests/test_runtime_stream.c tests/rt_fake.c LIBS weft_runtime)
