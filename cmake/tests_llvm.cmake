# SPDX-License-Identifier: MIT
if(TARGET weft_jit_objects)
  weft_test(test_llvm SOURCES tests/test_llvm.c tests/llvm_body.c src/jit/map.c $<TARGET_OBJECTS:weft_jit_objects>
    LIBS weft_kernels ${WEFT_LLVM_LIBRARY} Threads::Threads)
endif()
