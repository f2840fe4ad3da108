# SPDX-License-Identifier: MIT
# The `weft` command: only the public API. Its language (grammar and functions) is compiled once, for it and for the
# Python module.
file(GLOB cmd_src CONFIGURE_DEPENDS src/cmd/*.c)
file(GLOB lang_src CONFIGURE_DEPENDS src/cmd/call*.c src/cmd/lex.c src/cmd/parse.c src/cmd/subscript.c src/cmd/value.c)
list(REMOVE_ITEM cmd_src ${lang_src})
add_library(weft_lang OBJECT ${lang_src})
if(cmd_src)
  add_executable(weft_cmd ${cmd_src} $<TARGET_OBJECTS:weft_lang>)
  target_link_libraries(weft_cmd PRIVATE weft m)
  set_target_properties(weft_cmd PROPERTIES OUTPUT_NAME weft RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endif()
