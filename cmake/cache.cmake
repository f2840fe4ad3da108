# SPDX-License-Identifier: MIT
# What src/jit/store.c is told about this build: an identification of all sources, and the LLVM it goes with.
file(GLOB_RECURSE code_id_files CONFIGURE_DEPENDS src/*.c src/*.h src/*.S src/*.def src/*.inc)
set(code_id ${CMAKE_BINARY_DIR}/generated/weft_code_id.h)
add_custom_command(OUTPUT ${code_id}
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR} -DOUT=${code_id}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/code_id.cmake
  DEPENDS ${code_id_files} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/code_id.cmake
  COMMENT "Identifying the sources" VERBATIM)
target_sources(weft_core PRIVATE ${code_id})
set(code_id_defines "")
if(WEFT_LLVM_FOUND)
  set(code_id_defines WEFT_LLVM_MAJOR=${WEFT_LLVM_FOUND})
endif()
set_source_files_properties(src/jit/store.c PROPERTIES OBJECT_DEPENDS ${code_id}
  INCLUDE_DIRECTORIES ${CMAKE_BINARY_DIR}/generated COMPILE_DEFINITIONS "${code_id_defines}")
