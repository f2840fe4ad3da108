// SPDX-License-Identifier: MIT
// Instruction sets in LLVM's words: processor names, feature strings, and what the emitters may count on.
//
// The levels are the psABI's, so code made for one runs on every machine of that level and is the same on
// all of them. The preferred vector width is stated on each function, since LLVM would otherwise cut
// 512-bit vectors in two on some processors.
#include "gen.h"

#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdio.h>

#ifdef __x86_64__
static const struct {
    const char *cpu, *features, *width;
} levels[KERN_ISA__N] = {
    [KERN_BASE] = {"x86-64", "", "128"},
    [KERN_AVX2] = {"x86-64-v3", "", "256"},
    [KERN_AVX512] = {"x86-64-v4", "", "512"},
};
#else
static const struct {
    const char *cpu, *features, *width;
} levels[KERN_ISA__N] = {
    [KERN_BASE] = {"generic", "+neon", "128"},
    [KERN_AVX2] = {"generic", "+neon", "128"},
    [KERN_AVX512] = {"generic", "+neon", "128"},
};
#endif

struct gen_target gen_target_of(enum kern_isa isa) {
#ifdef __x86_64__
    bool avx2 = isa >= KERN_AVX2, avx512 = isa >= KERN_AVX512;
    return (struct gen_target){.vector = avx512 ? 64 : avx2 ? 32 : 16, .registers = avx512 ? 32 : 16,
                               .masks = avx512, .masks32 = avx2, .round = avx2, .fma = avx2,
                               .half = avx2};
#else
    (void)isa;
    return (struct gen_target){.vector = 16, .registers = 32, .round = true, .fma = true, .minmax = true,
                               .half = true};
#endif
}

static void set(struct gen *g, LLVMValueRef fn, const char *key, const char *value) {
    LLVMAttributeRef a = LLVMCreateStringAttribute(g->ctx, key, (unsigned)strlen(key), value,
                                                   (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, a);
}

void gen_attributes(struct gen *g, LLVMValueRef fn) {
    static const char *const flags[] = {"nounwind", "noredzone"}; // block kernels push a return address
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(flags[i], strlen(flags[i]));
        LLVMAddAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(g->ctx, kind, 0));
    }
    if (g->unwind) {
        unsigned kind = LLVMGetEnumAttributeKindForName("uwtable", 7);
        LLVMAddAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(g->ctx, kind, 2)); // exact at every instruction
    }
    set(g, fn, "target-cpu", levels[g->isa].cpu);
    set(g, fn, "target-features", levels[g->isa].features);
    set(g, fn, "prefer-vector-width", levels[g->isa].width);
    set(g, fn, "min-legal-vector-width", levels[g->isa].width);
    set(g, fn, "no-builtins", ""); // no loop becomes a call of the C library
}

static void initialise(void) {
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser(); // calls of block kernels are inline assembly
}

LLVMTargetMachineRef llvm_machine(enum kern_isa isa, char *err, size_t err_size) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialise);
    char *triple = LLVMGetDefaultTargetTriple(), *why = NULL;
    LLVMTargetRef target = NULL;
    LLVMTargetMachineRef tm = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &why)) {
        snprintf(err, err_size, "LLVM has no target for %s: %s", triple, why ? why : "");
        LLVMDisposeMessage(why);
    } else {
        tm = LLVMCreateTargetMachine(target, triple, levels[isa].cpu, levels[isa].features,
                                     LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelSmall);
        if (!tm) snprintf(err, err_size, "LLVM made no machine for %s at %s", triple, levels[isa].cpu);
    }
    LLVMDisposeMessage(triple);
    return tm;
}
