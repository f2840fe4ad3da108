# SPDX-License-Identifier: MIT
# The library: everything but LLVM, compiled once; the shared and the static library are two links of the same
# objects. Only the file that finds LLVM's module differs between the forms of WEFT_JIT.
file(GLOB api_src CONFIGURE_DEPENDS src/api/*.c)
list(REMOVE_ITEM jit_src ${CMAKE_CURRENT_SOURCE_DIR}/src/jit/load.c)
add_library(weft_core OBJECT ${api_src} ${jit_src} ${runtime_src} ${fuse_src} ${ir_src} ${kern_src} ${kern_asm})
set(core_objects $<TARGET_OBJECTS:weft_core> ${strip_objects} ${kern_objects} $<TARGET_OBJECTS:weft_base>)

file(RELATIVE_PATH WEFT_LIB_FROM_BIN /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set(WEFT_MODULE_DIR ${CMAKE_INSTALL_LIBDIR}/weft)

# weft_load(FORM): the object library weft_load_FORM
function(weft_load form)
  if(TARGET weft_load_${form})
    return()
  endif()
  add_library(weft_load_${form} OBJECT src/jit/load.c)
  if(form STREQUAL "module")
    target_compile_definitions(weft_load_module PRIVATE WEFT_ABI="${WEFT_ABI}" WEFT_LIB_FROM_BIN="${WEFT_LIB_FROM_BIN}"
      WEFT_JIT_INSTALLED="${CMAKE_INSTALL_FULL_LIBDIR}/weft/libweft-jit.so.${WEFT_ABI}")
  else()
    string(TOUPPER WEFT_JIT_${form} define)
    target_compile_definitions(weft_load_${form} PRIVATE ${define}=1)
  endif()
endfunction()

# weft_library(TARGET KIND FORM): KIND SHARED or STATIC, FORM as WEFT_JIT
function(weft_library target kind form)
  weft_load(${form})
  add_library(${target} ${kind} ${core_objects} $<TARGET_OBJECTS:weft_load_${form}>)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME weft)
  if(form STREQUAL "static")
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:weft_jit_objects>)
    target_link_libraries(${target} PRIVATE ${WEFT_LLVM_LINK})
  endif()
  if(kind STREQUAL "STATIC")
    target_link_libraries(${target} PUBLIC m Threads::Threads ${CMAKE_DL_LIBS})
    return()
  endif()
  target_link_libraries(${target} PRIVATE m Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(${target} PROPERTIES VERSION ${WEFT_ABI}.${PROJECT_VERSION} SOVERSION ${WEFT_ABI}
    LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cmake/weft.map)
  target_link_options(${target} PRIVATE "LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/cmake/weft.map")
  if(form STREQUAL "static") # LLVM does not survive being unloaded
    target_link_options(${target} PRIVATE "LINKER:-z,nodelete")
  endif()
endfunction()

weft_library(weft SHARED ${WEFT_JIT})
weft_library(weft_static STATIC ${WEFT_JIT})

# The archive that is installed: one object whose only global names are the public ones, so that it meets no
# name of its host.
set(archive ${CMAKE_BINARY_DIR}/archive/libweft.a)
add_custom_command(OUTPUT ${archive}
  COMMAND ${CMAKE_COMMAND} -DAR=${CMAKE_AR} -DLD=${CMAKE_LINKER} -DOBJCOPY=${CMAKE_OBJCOPY}
    -DFROM=$<TARGET_FILE:weft_static> -DTO=${archive} -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/archive.cmake
  DEPENDS weft_static ${CMAKE_CURRENT_SOURCE_DIR}/cmake/archive.cmake VERBATIM
  COMMENT "One object with only public names: libweft.a")
add_custom_target(weft_archive ALL DEPENDS ${archive})
set(WEFT_ARCHIVE ${archive})
