# SPDX-License-Identifier: MIT
# Seeing inside: profiles, names of compiled code in debuggers and profilers, the explain page, the documentation.
weft_test(test_profile SOURCES tests/test_profile.c LIBS weft)
weft_test(test_report SOURCES tests/test_report.c LIBS weft)
if(TARGET weft_cmd AND EXISTS /usr/bin/python3)
  add_test(NAME tools COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_tools.py $<TARGET_FILE:weft_cmd>)
endif()
if(TARGET weft_cmd AND EXISTS /usr/bin/python3)
  add_test(NAME explain COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_explain.py $<TARGET_FILE:weft_cmd>)
endif()
if(TARGET weft_cmd AND EXISTS /usr/bin/python3)
  add_test(NAME docs COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_docs.py ${CMAKE_BINARY_DIR} --site)
endif()
