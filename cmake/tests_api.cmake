# SPDX-License-Identifier: MIT
# Tests of the whole library through its public header.
weft_test(test_matrix SOURCES tests/test_matrix.c LIBS weft m)
weft_test(test_cases SOURCES tests/test_cases.c LIBS weft m)
weft_test(test_api SOURCES tests/test_api.c LIBS weft m)
set(python /usr/bin/python3)
if(NOT EXISTS ${python})
  find_program(python python3 REQUIRED)
endif()
add_test(NAME wall COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_wall.py)
if(TARGET weft_cmd)
  add_test(NAME numpy COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_numpy.py $<TARGET_FILE:weft_cmd>)
endif()
