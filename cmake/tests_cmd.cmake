# SPDX-License-Identifier: MIT
# The command from outside: what it prints, says and writes.
find_program(python3_path python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(TARGET weft_cmd AND python3_path)
  add_test(NAME cmd COMMAND ${python3_path} ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_cmd.py $<TARGET_FILE:weft_cmd>)
endif()
