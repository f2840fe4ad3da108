# SPDX-License-Identifier: MIT
# Benchmarks: programs under build/<preset>/bench.
add_executable(hand bench/hand.c)
target_link_libraries(hand PRIVATE m Threads::Threads)
set_target_properties(hand PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
include(cmake/bench_gemm.cmake)
include(cmake/bench_weft.cmake)
