# SPDX-License-Identifier: MIT
# The code cache: the parser by itself, and the whole with a directory of its own. Memory: promises kept.
weft_test(test_record SOURCES tests/test_record.c src/jit/record.c LIBS weft_kernels)
weft_test(test_memory SOURCES tests/test_memory.c LIBS weft m)
weft_test(test_tiers SOURCES tests/test_tiers.c LIBS weft m)
weft_test(test_stream SOURCES tests/test_stream.c LIBS weft m)
if(WEFT_LLVM_FOUND)
  weft_test(test_cache SOURCES tests/test_cache.c LIBS weft m)
  weft_test(test_cache_dir SOURCES tests/test_cache_dir.c LIBS weft m)
endif()
