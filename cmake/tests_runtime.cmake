# SPDX-License-Identifier: MIT
weft_test(test_runtime SOURCES tests/test_runtime.c tests/test_runtime_run.c
  tests/test_runtime_pool.c tests/test_runtime_alias.c tests/rt_fake.c LIBS weft_runtime)
if(WEFT_SANITIZE MATCHES "thread")
  # Criterion does not start under this sanitizer
  target_include_directories(test_runtime BEFORE PRIVATE tests/shim)
  set_tests_properties(test_runtime PROPERTIES ENVIRONMENT "TSAN_OPTIONS=die_after_fork=0")
endif()
