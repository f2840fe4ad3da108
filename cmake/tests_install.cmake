# SPDX-License-Identifier: MIT
# The installed tree as a new user meets it, and the binary interface. The forms of WEFT_JIT that this build is
# not are linked from its objects (by the test), so that each is tried without compiling everything again.
if(NOT WEFT_SANITIZE AND EXISTS /usr/bin/python3)
  foreach(form off static)
    if(form STREQUAL WEFT_JIT OR (form STREQUAL "static" AND NOT WEFT_LLVM_FOUND))
      continue()
    endif()
    if(form STREQUAL "static")
      weft_llvm_archives(${WEFT_LLVM_CONFIG_${WEFT_LLVM_FOUND}})
    endif()
    weft_library(weft_form_${form} SHARED ${form})
    set_target_properties(weft_form_${form} PROPERTIES EXCLUDE_FROM_ALL ON
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/forms/${form})
  endforeach()
  add_test(NAME abi COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_abi.py ${CMAKE_BINARY_DIR})
  add_test(NAME install COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_install.py ${CMAKE_BINARY_DIR})
endif()
