# SPDX-License-Identifier: MIT
# The benchmark program from outside: a look, not figures.
find_package(PkgConfig QUIET)
find_program(python3_path python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(WEFT_BENCH AND python3_path AND PkgConfig_FOUND)
  pkg_check_modules(JANSSON QUIET IMPORTED_TARGET jansson)
  if(JANSSON_FOUND)
    add_test(NAME weft_bench COMMAND ${python3_path} ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_bench.py ${CMAKE_BINARY_DIR}/weft-bench)
  endif()
endif()
