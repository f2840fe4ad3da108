# SPDX-License-Identifier: MIT
# Tests of the trigonometric, error-function and division kernels.
weft_test(test_intkern SOURCES tests/test_intkern.c LIBS weft_kernels m)
find_library(WEFT_MPFR mpfr)
if(WEFT_MPFR)
  weft_test(test_trig SOURCES tests/test_trig.c tests/mathref.c LIBS weft_kernels ${WEFT_MPFR})
else()
  message(STATUS "MPFR not found: test_trig is not built")
endif()
