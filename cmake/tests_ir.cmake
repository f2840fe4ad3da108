# SPDX-License-Identifier: MIT
weft_test(test_ir SOURCES tests/test_ir.c LIBS weft_ir)
weft_test(test_ir_views SOURCES tests/test_ir_views.c LIBS weft_ir)
weft_test(test_ir_graph SOURCES tests/test_ir_graph.c LIBS weft_ir Threads::Threads)
weft_test(test_ir_file SOURCES tests/test_ir_file.c LIBS weft_ir)
