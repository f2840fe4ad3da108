// SPDX-License-Identifier: MIT
// One body to one verified module, and that to an object or to assembly text.
//
// Every module has its own LLVM context, so compilations share nothing and leave nothing behind. What LLVM
// reports about a module is caught and becomes the sentence of the failure. No pass of the middle end
// runs: the IR is already what those passes would make of it.
#include "gen.h"

#include <llvm-c/Analysis.h>
#include <stdio.h>

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *ud) {
    struct gen *g = ud;
    LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
    if (severity != LLVMDSError) return;
    char *text = LLVMGetDiagInfoDescription(info);
    gen_fail(g, "LLVM: %s", text ? text : "an error without a text");
    LLVMDisposeMessage(text);
}

static void begin(struct gen *g, LLVMTargetMachineRef tm) {
    arena_init(&g->arena, &base_malloc);
    g->t = gen_target_of(g->isa);
    g->ctx = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(g->ctx, on_diagnostic, g);
    g->mod = LLVMModuleCreateWithNameInContext("weft", g->ctx);
    g->b = LLVMCreateBuilderInContext(g->ctx);
    char *triple = LLVMGetTargetMachineTriple(tm);
    LLVMSetTarget(g->mod, triple);
    LLVMDisposeMessage(triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(tm);
    LLVMSetModuleDataLayout(g->mod, layout);
    LLVMDisposeTargetData(layout);
}

void llvm_module_free(struct gen *g) {
    LLVMDisposeBuilder(g->b);
    LLVMDisposeModule(g->mod);
    LLVMContextDispose(g->ctx);
    arena_free(&g->arena);
}

bool llvm_module_make(struct gen *g, LLVMTargetMachineRef tm, const char *name) {
    begin(g, tm);
    char *why = NULL;
    bool ok = gen_tile(g, name);
    if (ok && LLVMVerifyModule(g->mod, LLVMReturnStatusAction, &why)) {
        gen_fail(g, "the generated module is not valid: %s", why ? why : "");
        ok = false;
    }
    LLVMDisposeMessage(why);
    if (!ok) llvm_module_free(g);
    return ok;
}

LLVMMemoryBufferRef llvm_module_code(struct gen *g, LLVMTargetMachineRef tm, bool text) {
    char *why = NULL;
    LLVMMemoryBufferRef code = NULL;
    LLVMCodeGenFileType type = text ? LLVMAssemblyFile : LLVMObjectFile;
    if (LLVMTargetMachineEmitToMemoryBuffer(tm, g->mod, type, &why, &code)) {
        gen_fail(g, "LLVM made no code: %s", why ? why : "");
        LLVMDisposeMessage(why);
        return NULL;
    }
    if (!g->failed) return code;
    LLVMDisposeMemoryBuffer(code);
    return NULL;
}
