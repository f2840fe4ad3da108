# SPDX-License-Identifier: MIT
# The Python module, with the limited interface of CPython: one file for 3.11 and later. -DWEFT_PYTHON=ON, or by
# itself where Python's headers are (AUTO). `pip install ./bindings/python` comes here too.
set(WEFT_PYTHON AUTO CACHE STRING "the Python module: ON, OFF, or AUTO: when Python 3.11's headers are here")
if(NOT WEFT_PYTHON STREQUAL "OFF")
  find_program(WEFT_PYTHON_EXE NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
  find_program(WEFT_PYTHON_EXE NAMES python3)
  if(WEFT_PYTHON_EXE)
    execute_process(COMMAND ${WEFT_PYTHON_EXE} -c "import sysconfig,sys;print(sysconfig.get_path('include') if sys.version_info >= (3,11) else '')"
      OUTPUT_VARIABLE WEFT_PYTHON_INCLUDE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(WEFT_PYTHON_INCLUDE AND EXISTS ${WEFT_PYTHON_INCLUDE}/Python.h)
    file(GLOB python_src CONFIGURE_DEPENDS bindings/python/*.c)
    add_library(weft_python MODULE ${python_src} $<TARGET_OBJECTS:weft_lang>)
    target_include_directories(weft_python PRIVATE src/cmd)
    target_include_directories(weft_python SYSTEM PRIVATE ${WEFT_PYTHON_INCLUDE})
    target_compile_definitions(weft_python PRIVATE Py_LIMITED_API=0x030b0000)
    target_link_libraries(weft_python PRIVATE weft m)
    set(WEFT_PYTHON_DIR lib/python3/dist-packages CACHE STRING "where the Python module goes, under the prefix")
    file(RELATIVE_PATH lib_from_python /${WEFT_PYTHON_DIR} /${CMAKE_INSTALL_LIBDIR})
    set_target_properties(weft_python PROPERTIES PREFIX "" OUTPUT_NAME weft SUFFIX .abi3.so
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python INSTALL_RPATH "$ORIGIN/${lib_from_python}")
    install(TARGETS weft_python LIBRARY DESTINATION ${WEFT_PYTHON_DIR} COMPONENT python)
  elseif(WEFT_PYTHON STREQUAL "ON")
    message(FATAL_ERROR "WEFT_PYTHON: no headers of Python 3.11 or later (Debian: python3-dev)")
  else()
    message(STATUS "weft: no Python module (python3-dev is missing)")
  endif()
endif()
