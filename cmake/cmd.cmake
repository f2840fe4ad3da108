# SPDX-License-Identifier: MIT
# The `weft` command: only the public API.
file(GLOB cmd_src CONFIGURE_DEPENDS src/cmd/*.c)
if(cmd_src)
  add_executable(weft_cmd ${cmd_src})
  target_link_libraries(weft_cmd PRIVATE weft m)
  set_target_properties(weft_cmd PROPERTIES OUTPUT_NAME weft RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endif()
