# SPDX-License-Identifier: MIT
# NumPy as the judge, through the C API: linear algebra and transforms, and random operations of every kind.
if(EXISTS /usr/bin/python3)
  foreach(what linalg_numpy differential promotion byte_take)
    add_test(NAME ${what} COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_${what}.py $<TARGET_FILE:weft>)
  endforeach()
endif()
