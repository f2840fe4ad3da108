# SPDX-License-Identifier: MIT
# cmake -DSOURCE=DIR -DOUT=FILE -P code_id.cmake: a header that identifies what generated code depends on. All sources
# of the library are hashed: emitters, tables and block kernels decide what the code is and what it calls, and a
# cache must never serve code of another build of them.
file(GLOB_RECURSE files ${SOURCE}/src/*.c ${SOURCE}/src/*.h ${SOURCE}/src/*.S ${SOURCE}/src/*.def ${SOURCE}/src/*.inc)
list(FILTER files EXCLUDE REGEX "/src/cmd/")
list(SORT files)
set(all "")
foreach(f ${files})
  file(SHA256 ${f} hash)
  file(RELATIVE_PATH name ${SOURCE} ${f})
  string(APPEND all "${name} ${hash}\n")
endforeach()
string(SHA256 id "${all}")
string(SUBSTRING ${id} 0 32 id)
file(WRITE ${OUT} "#define WEFT_CODE_ID \"${id}\"\n")
