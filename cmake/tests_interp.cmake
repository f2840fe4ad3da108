# SPDX-License-Identifier: MIT
weft_test(test_reduce SOURCES tests/test_reduce.c LIBS weft_kernels)
weft_test(test_scan SOURCES tests/test_scan.c LIBS weft_kernels)
weft_test(test_lookup SOURCES tests/test_lookup.c LIBS weft_kernels)
weft_test(test_redrun SOURCES tests/test_redrun.c LIBS weft_kernels)
weft_test(test_guards SOURCES tests/test_guards.c LIBS weft_kernels)
# the interpreter without the rest of its room
file(GLOB interp_src CONFIGURE_DEPENDS src/jit/interp*.c)
weft_test(test_interp SOURCES tests/test_interp.c ${interp_src} ${strip_objects} LIBS weft_kernels)
weft_test(test_interp_tile SOURCES tests/test_interp_tile.c ${interp_src} ${strip_objects} LIBS weft_kernels)
