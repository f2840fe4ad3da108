# SPDX-License-Identifier: MIT
# Matrix products beside OpenBLAS and BLIS, which are opened at run time when they are there.
add_executable(bench_gemm bench/bench_gemm.c)
target_include_directories(bench_gemm PRIVATE src)
target_link_libraries(bench_gemm PRIVATE weft_kernels Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(bench_gemm PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
