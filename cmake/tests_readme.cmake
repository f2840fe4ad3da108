# SPDX-License-Identifier: MIT
# What docs/kernels.md says of kernels is what the registry says.
add_executable(kernel_table tests/kernel_table.c)
target_include_directories(kernel_table PRIVATE src)
target_link_libraries(kernel_table PRIVATE weft_kernels)
set_target_properties(kernel_table PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
if(WEFT_X86 AND EXISTS /usr/bin/python3)
  add_test(NAME readme COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_readme.py $<TARGET_FILE:kernel_table>)
endif()
