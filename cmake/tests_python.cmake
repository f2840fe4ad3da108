# SPDX-License-Identifier: MIT
# The Python module from outside, against NumPy.
if(TARGET weft_python)
  add_test(NAME pip COMMAND ${WEFT_PYTHON_EXE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_pip.py ${CMAKE_BINARY_DIR})
  add_test(NAME python COMMAND ${WEFT_PYTHON_EXE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_python.py $<TARGET_FILE_DIR:weft_python>)
else()
  add_test(NAME python COMMAND ${CMAKE_COMMAND} -E echo
    "skipped: the Python module was not built (python3-dev)\n0 passed, 0 failed, 1 skipped")
endif()
