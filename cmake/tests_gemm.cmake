weft_test(test_gemm SOURCES tests/test_gemm.c tests/test_gemm_more.c tests/gemm_case.c
  LIBS weft_kernels Threads::Threads)
