# SPDX-License-Identifier: MIT
# The graph fuzzer (./dev fuzz graph) and its short run in the suite.
find_library(WEFT_MPFR mpfr)
if(WEFT_MPFR)
  file(GLOB fuzz_graph_src CONFIGURE_DEPENDS tests/fuzz/*.c)
  add_executable(fuzz_graph ${fuzz_graph_src} tests/mathref.c)
  target_include_directories(fuzz_graph PRIVATE src tests)
  target_link_libraries(fuzz_graph PRIVATE weft ${WEFT_MPFR} m)
  set_target_properties(fuzz_graph PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME fuzz_graph COMMAND fuzz_graph --graphs 400 --seconds 120 --seed 1)
  set_tests_properties(fuzz_graph PROPERTIES LABELS plain)
endif()
# A long life (./dev test soak); a slice of it in the suite.
add_executable(soak tests/soak.c)
target_link_libraries(soak PRIVATE weft m)
set_target_properties(soak PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME soak COMMAND soak 0.03)
