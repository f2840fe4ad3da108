// SPDX-License-Identifier: MIT
// The engine: a body becomes an object, the object an image (image.c), or executable memory by way of ORC.
//
// In: checked and verified modules. Out: images or entry points. An object that refers to anything outside itself is
// refused, so generated code can reach only what a tile hands it. What cannot be an image, objects of other
// architectures above all, is linked by ORC, which is started on first need: objects live in a dylib of their own
// that searches nowhere else, each body has its own resource tracker, and releasing it unmaps its pages. LLVM's own
// error reports are kept, not printed. One lock per engine.
#include "gen.h"

#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Object.h>
#include <llvm-c/Orc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct llvm_engine {
    pthread_mutex_t lock;
    enum kern_isa isa;
    llvm_block_fn *block;
    LLVMTargetMachineRef tm;
    LLVMOrcLLJITRef jit;
    LLVMOrcExecutionSessionRef session;
    LLVMOrcJITDylibRef dylib;
    bool keep; // objects, and unwinding tables in them
    bool orc_only;
    unsigned long long made; // functions so far: their names
    char reported[256];      // what the session had to say last
};

static bool take_error(LLVMErrorRef error, const char *doing, char *err, size_t err_size) {
    if (!error) return false;
    char *text = LLVMGetErrorMessage(error);
    snprintf(err, err_size, "%s: %s", doing, text);
    LLVMDisposeErrorMessage(text);
    return true;
}

static void on_report(void *ud, LLVMErrorRef error) {
    struct llvm_engine *e = ud;
    take_error(error, "LLVM", e->reported, sizeof e->reported);
}

// ---- open and close ---------------------------------------------------------------------------------------
static bool start_orc(struct llvm_engine *e, char *err, size_t err_size) {
    if (e->jit) return true;
    LLVMTargetMachineRef mine = llvm_machine(e->isa, err, err_size);
    if (!mine) return false;
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
        builder, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(mine)); // takes the machine
    if (take_error(LLVMOrcCreateLLJIT(&e->jit, builder), "LLVM's JIT does not start", err, err_size)) {
        e->jit = NULL;
        return false;
    }
    e->session = LLVMOrcLLJITGetExecutionSession(e->jit);
    LLVMOrcExecutionSessionSetErrorReporter(e->session, on_report, e);
    e->dylib = LLVMOrcExecutionSessionCreateBareJITDylib(e->session, "weft");
    return true;
}

static void engine_close(struct llvm_engine *e) {
    if (!e) return;
    char ignored[128];
    if (e->jit) take_error(LLVMOrcDisposeLLJIT(e->jit), "closing", ignored, sizeof ignored);
    if (e->tm) LLVMDisposeTargetMachine(e->tm);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

static struct llvm_engine *engine_open(enum kern_isa isa, llvm_block_fn *block, char *err, size_t err_size) {
    struct llvm_engine *e = calloc(1, sizeof *e);
    if (!e) {
        snprintf(err, err_size, "no memory");
        return NULL;
    }
    e->isa = isa;
    e->block = block;
    pthread_mutex_init(&e->lock, NULL);
    if ((e->tm = llvm_machine(isa, err, err_size))) return e;
    engine_close(e);
    return NULL;
}

// ---- objects ------------------------------------------------------------------------------------------------
static bool has_prefix(const char *s, const char *prefix) { return s && !strncmp(s, prefix, strlen(prefix)); }

static size_t loaded_bytes(LLVMBinaryRef object) {
    size_t bytes = 0;
    LLVMSectionIteratorRef s = LLVMObjectFileCopySectionIterator(object);
    for (; !LLVMObjectFileIsSectionIteratorAtEnd(object, s); LLVMMoveToNextSection(s)) {
        const char *name = LLVMGetSectionName(s);
        if (has_prefix(name, ".text") || has_prefix(name, ".rodata") || has_prefix(name, ".eh_frame"))
            bytes += LLVMGetSectionSize(s);
    }
    LLVMDisposeSectionIterator(s);
    return bytes;
}

static bool refers_outside(LLVMBinaryRef object, char *err, size_t err_size) {
    bool outside = false;
    LLVMSymbolIteratorRef y = LLVMObjectFileCopySymbolIterator(object);
    LLVMSectionIteratorRef s = LLVMObjectFileCopySectionIterator(object);
    for (; !outside && !LLVMObjectFileIsSymbolIteratorAtEnd(object, y); LLVMMoveToNextSymbol(y)) {
        const char *name = LLVMGetSymbolName(y);
        if (!name || !*name || LLVMGetSymbolAddress(y) || LLVMGetSymbolSize(y)) continue;
        LLVMMoveToContainingSection(s, y);
        outside = LLVMObjectFileIsSectionIteratorAtEnd(object, s) && !has_prefix(name, "weft");
        if (outside) snprintf(err, err_size, "the generated code refers to %s", name);
    }
    LLVMDisposeSectionIterator(s);
    LLVMDisposeSymbolIterator(y);
    return outside;
}

static bool examine(LLVMMemoryBufferRef code, size_t *bytes, char *err, size_t err_size) {
    char *why = NULL;
    LLVMBinaryRef object = LLVMCreateBinary(code, NULL, &why);
    if (!object) {
        snprintf(err, err_size, "LLVM does not read its own object: %s", why ? why : "");
        LLVMDisposeMessage(why);
        return false;
    }
    *bytes = loaded_bytes(object);
    bool ok = !refers_outside(object, err, err_size);
    LLVMDisposeBinary(object);
    return ok;
}

// ---- link and look up -----------------------------------------------------------------------------------------
struct lookup {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    bool done;
    LLVMOrcExecutorAddress address; // 0: not found
    char *err;
    size_t err_size;
};

static void on_found(LLVMErrorRef error, LLVMOrcCSymbolMapPairs result, size_t n, void *ud) {
    struct lookup *l = ud;
    pthread_mutex_lock(&l->lock);
    if (!take_error(error, "LLVM did not link the code", l->err, l->err_size) && n == 1)
        l->address = result[0].Sym.Address;
    l->done = true;
    pthread_cond_signal(&l->ready);
    pthread_mutex_unlock(&l->lock);
}

static LLVMOrcExecutorAddress find(struct llvm_engine *e, const char *name, char *err, size_t err_size) {
    struct lookup l = {.err = err, .err_size = err_size};
    pthread_mutex_init(&l.lock, NULL);
    pthread_cond_init(&l.ready, NULL);
    LLVMOrcCJITDylibSearchOrderElement order = {e->dylib, LLVMOrcJITDylibLookupFlagsMatchAllSymbols};
    LLVMOrcCLookupSetElement symbol = {LLVMOrcExecutionSessionIntern(e->session, name),
                                       LLVMOrcSymbolLookupFlagsRequiredSymbol};
    LLVMOrcExecutionSessionLookup(e->session, LLVMOrcLookupKindStatic, &order, 1, &symbol, 1, on_found, &l);
    pthread_mutex_lock(&l.lock);
    while (!l.done)
        pthread_cond_wait(&l.ready, &l.lock);
    pthread_mutex_unlock(&l.lock);
    pthread_cond_destroy(&l.ready);
    pthread_mutex_destroy(&l.lock);
    return l.address;
}

static void drop(struct llvm_engine *e, LLVMOrcResourceTrackerRef tracker) {
    char ignored[128];
    take_error(LLVMOrcResourceTrackerRemove(tracker), "removing", ignored, sizeof ignored);
    LLVMOrcReleaseResourceTracker(tracker);
    LLVMOrcSymbolStringPoolClearDeadEntries(LLVMOrcExecutionSessionGetSymbolStringPool(e->session));
}

static bool link(struct llvm_engine *e, LLVMMemoryBufferRef code, const char *name, struct llvm_code *out,
                 char *err, size_t err_size) {
    if (!start_orc(e, err, err_size)) {
        LLVMDisposeMemoryBuffer(code);
        return false;
    }
    LLVMOrcResourceTrackerRef tracker = LLVMOrcJITDylibCreateResourceTracker(e->dylib);
    LLVMOrcObjectLayerRef layer = LLVMOrcLLJITGetObjLinkingLayer(e->jit);
    LLVMErrorRef error = LLVMOrcObjectLayerAddObjectFileWithRT(layer, tracker, code); // takes code
    LLVMOrcExecutorAddress at = 0;
    if (!take_error(error, "LLVM did not take the object", err, err_size))
        at = find(e, name, err, err_size);
    if (!at) {
        drop(e, tracker);
        return false;
    }
    void *address = (void *)(uintptr_t)at;
    memcpy(&out->fn, &address, sizeof out->fn);
    out->handle = tracker;
    return true;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// ---- the table ----------------------------------------------------------------------------------------------------
static bool compile_locked(struct llvm_engine *e, const struct seg *s, struct llvm_code *out, char *err,
                           size_t err_size) {
    char name[40];
    snprintf(name, sizeof name, "weft_tile_%llu", e->made++);
    *out = (struct llvm_code){0};
    bool ok = false;
    struct gen g = {.s = s, .isa = e->isa, .block = e->block, .out = out, .err = err, .err_size = err_size};
    g.unwind = e->keep;
    const uint64_t begun = now_ns();
    if (!llvm_module_make(&g, e->tm, name)) return false;
    const uint64_t built = now_ns();
    LLVMMemoryBufferRef code = llvm_module_code(&g, e->tm, false);
    out->ir_ns = built - begun;
    out->emit_ns = now_ns() - built;
    llvm_module_free(&g);
    if (!code) return false;
    if (e->keep && (out->object = malloc(LLVMGetBufferSize(code)))) {
        out->object_size = LLVMGetBufferSize(code);
        memcpy(out->object, LLVMGetBufferStart(code), out->object_size);
    }
    if (!e->orc_only && llvm_image_make(LLVMGetBufferStart(code), LLVMGetBufferSize(code), out)) {
        LLVMDisposeMemoryBuffer(code);
        out->bytes = out->image_size;
        return true;
    }
    if (examine(code, &out->bytes, err, err_size))
        ok = link(e, code, name, out, err, err_size); // takes code
    else
        LLVMDisposeMemoryBuffer(code);
    if (ok) return true;
    free(out->object);
    out->object = NULL;
    return false;
}

static bool engine_compile(struct llvm_engine *e, const struct seg *s, struct llvm_code *out, char *err,
                           size_t err_size) {
    pthread_mutex_lock(&e->lock);
    bool ok = compile_locked(e, s, out, err, err_size);
    pthread_mutex_unlock(&e->lock);
    return ok;
}

static void engine_release(struct llvm_engine *e, void *handle) {
    if (!handle) return;
    pthread_mutex_lock(&e->lock);
    drop(e, handle);
    pthread_mutex_unlock(&e->lock);
}

static void engine_keep(struct llvm_engine *e, bool on) {
    pthread_mutex_lock(&e->lock);
    e->keep = on;
    pthread_mutex_unlock(&e->lock);
}

static void engine_orc_only(struct llvm_engine *e, bool on) {
    pthread_mutex_lock(&e->lock);
    e->orc_only = on;
    pthread_mutex_unlock(&e->lock);
}

llvm_block_fn *llvm_engine_block(const struct llvm_engine *e) { return e->block; }

static const struct llvm_api api = {
    .abi = LLVM_API_ABI,
    .major = LLVM_VERSION_MAJOR,
    .open = engine_open,
    .close = engine_close,
    .compile = engine_compile,
    .release = engine_release,
    .keep = engine_keep,
    .orc_only = engine_orc_only,
    .dump = llvm_dump,
};

__attribute__((visibility("default"))) const struct llvm_api *weft_jit_module(void) { return &api; }
