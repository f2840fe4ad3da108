# SPDX-License-Identifier: MIT
# What `cmake --install` puts where. Components: runtime (the shared library), jit (LLVM's module), development
# (headers, link name, archive, pkg-config, CMake package, manual of the library), tools (the commands).
# Everything finds its neighbours from where it lies, so the installed tree can be moved.
include(CMakePackageConfigHelpers)

# ---- libraries ---------------------------------------------------------------------------------------
install(TARGETS weft EXPORT weft-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${WEFT_ARCHIVE} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN *.h)
if(TARGET weft_jit)
  install(TARGETS weft_jit LIBRARY DESTINATION ${WEFT_MODULE_DIR} COMPONENT jit)
endif()

# ---- for compilers: CMake package and pkg-config ------------------------------------------------------
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
install(EXPORT weft-targets NAMESPACE weft:: DESTINATION ${package} COMPONENT development)
set(static_link m ${CMAKE_DL_LIBS} Threads::Threads)
set(pc_private -lm -ldl -pthread)
if(WEFT_JIT STREQUAL "static")
  list(APPEND static_link ${WEFT_LLVM_LINK})
  list(APPEND pc_private ${WEFT_LLVM_LINK})
endif()
list(JOIN pc_private " " pc_private)
set(WEFT_INSTALL_INCLUDE ${CMAKE_INSTALL_INCLUDEDIR})
set(WEFT_INSTALL_LIB ${CMAKE_INSTALL_LIBDIR})
configure_package_config_file(cmake/package/weft-config.cmake.in ${CMAKE_BINARY_DIR}/package/weft-config.cmake
  INSTALL_DESTINATION ${package} PATH_VARS WEFT_INSTALL_INCLUDE WEFT_INSTALL_LIB)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/weft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/package/weft-config.cmake ${CMAKE_BINARY_DIR}/package/weft-config-version.cmake
  DESTINATION ${package} COMPONENT development)

if(CMAKE_INSTALL_PREFIX MATCHES "^/usr$") # the place of the system: no -I is said for a plain prefix
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(pc_prefix "\${pcfiledir}/${up}")
endif()
configure_file(cmake/package/weft.pc.in ${CMAKE_BINARY_DIR}/package/weft.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/package/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# ---- commands, their manuals and completions -----------------------------------------------------------
file(RELATIVE_PATH lib_from_bin /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(weft_cmd PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_bin}")
install(TARGETS weft_cmd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
install(FILES man/weft.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
install(FILES man/weft.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT development)
if(TARGET weft_bench)
  install(TARGETS weft_bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  install(FILES bench/numpy_peer.py DESTINATION ${CMAKE_INSTALL_DATADIR}/weft COMPONENT tools)
  install(FILES man/weft-bench.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
endif()
install(FILES completions/weft.bash RENAME weft DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  COMPONENT tools)
install(FILES completions/weft.zsh RENAME _weft DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tools)
install(FILES completions/weft.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tools)
