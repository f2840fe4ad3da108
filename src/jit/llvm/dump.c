// SPDX-License-Identifier: MIT
// A body as text: LLVM IR as it is emitted, or the assembly LLVM makes of it at any level of the host's
// architecture, whatever the processor has. Nothing is executed.
#include "gen.h"

#include <stdio.h>
#include <stdlib.h>

static char *copy_text(const char *p, size_t n) {
    char *s = malloc(n + 1);
    if (!s) return NULL;
    memcpy(s, p, n);
    s[n] = 0;
    return s;
}

static char *text_of(struct gen *g, LLVMTargetMachineRef tm, enum llvm_dump_kind kind) {
    char *s = NULL;
    if (kind == LLVM_DUMP_IR) {
        char *ir = LLVMPrintModuleToString(g->mod);
        s = copy_text(ir, strlen(ir));
        if (s) gen_label_ir(g, s);
        LLVMDisposeMessage(ir);
    } else {
        LLVMMemoryBufferRef code = llvm_module_code(g, tm, true);
        if (!code) return NULL;
        s = g->scope ? gen_label_assembly(g, LLVMGetBufferStart(code), LLVMGetBufferSize(code))
                     : copy_text(LLVMGetBufferStart(code), LLVMGetBufferSize(code));
        LLVMDisposeMemoryBuffer(code);
    }
    if (!s) gen_fail(g, "no memory");
    return s;
}

bool llvm_dump(struct llvm_engine *e, const struct seg *s, enum llvm_dump_kind kind, enum kern_isa isa,
               char **text, char *err, size_t err_size) {
    *text = NULL;
    LLVMTargetMachineRef tm = llvm_machine(isa, err, err_size);
    if (!tm) return false;
    struct llvm_code code = {0};
    struct gen g = {.s = s, .isa = isa, .block = llvm_engine_block(e), .out = &code, .err = err, .err_size = err_size};
    if (llvm_module_make(&g, tm, "weft_tile")) {
        *text = text_of(&g, tm, kind);
        llvm_module_free(&g);
    }
    LLVMDisposeTargetMachine(tm);
    return *text != NULL;
}
