// SPDX-License-Identifier: MIT
// Brings LLVM into the process when it is first needed: the module libweft-jit found from where this code
// lies, so that an installed tree can be moved (or where it was installed, or on the loader's path, or where
// WEFT_JIT_MODULE points), opened with RTLD_LOCAL so that a host's own LLVM is not disturbed. When it cannot be had the context goes on interpreting and says so once.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "code.h"

static void say(struct jit *j, const char *line) {
    if (j->env->log) j->env->log(j->env->log_ud, WEFT_LOG_WARN, line);
}

#ifdef WEFT_JIT_STATIC
static llvm_module_fn *find_module(char *err, size_t size) {
    (void)err, (void)size;
    return weft_jit_module;
}
#elif defined(WEFT_JIT_OFF)
static llvm_module_fn *find_module(char *err, size_t size) {
    snprintf(err, size, "built without LLVM");
    return NULL;
}
#else
#define MODULE_NAME "libweft-jit.so." WEFT_ABI

// The file beside the library or program that holds this code, then the loader's own search.
static void *open_beside(void) {
    static const char anchor = 0;
    Dl_info info;
    char path[4096];
    if (!dladdr(&anchor, &info) || !info.dli_fname) return NULL;
    const char *slash = strrchr(info.dli_fname, '/');
    int dir = slash ? (int)(slash - info.dli_fname) + 1 : 0;
    static const char *const places[] = {"", "weft/", WEFT_LIB_FROM_BIN "/weft/", "../"};
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        int n = snprintf(path, sizeof path, "%.*s%s" MODULE_NAME, dir, info.dli_fname, places[i]);
        if (n <= 0 || (size_t)n >= sizeof path || !strchr(path, '/')) continue;
        void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (h) return h;
    }
    return NULL;
}

static llvm_module_fn *find_module(char *err, size_t size) {
    const char *named = secure_getenv("WEFT_JIT_MODULE");
    void *h = named ? dlopen(named, RTLD_NOW | RTLD_LOCAL) : open_beside();
#ifdef WEFT_JIT_INSTALLED
    if (!h && !named) h = dlopen(WEFT_JIT_INSTALLED, RTLD_NOW | RTLD_LOCAL);
#endif
    if (!h && !named) h = dlopen(MODULE_NAME, RTLD_NOW | RTLD_LOCAL);
    if (!h) {
        const char *why = dlerror();
        snprintf(err, size, "%s", why ? why : "module not found");
        return NULL;
    }
    void *sym = dlsym(h, "weft_jit_module");
    llvm_module_fn *fn = NULL;
    if (sym)
        memcpy(&fn, &sym, sizeof fn);
    else
        snprintf(err, size, "the module has no weft_jit_module");
    return fn; // the handle stays open: LLVM does not survive being unloaded
}
#endif

static struct llvm_engine *bring_in(struct jit *j, const struct llvm_api **api, char *err, size_t size) {
    llvm_module_fn *module = find_module(err, size);
    if (!module) return NULL;
    *api = module();
    if ((*api)->abi == LLVM_API_ABI) return (*api)->open(j->env->isa, kern_block_find, err, size);
    snprintf(err, size, "the module is of another version");
    return NULL;
}

// The room's lock is taken only to note the result: whoever interprets meanwhile is not held up.
struct llvm_engine *load_engine(struct jit *j) {
    pthread_mutex_lock(&j->loading);
    if (!j->llvm_tried) {
        const struct llvm_api *api = NULL;
        struct llvm_engine *engine = bring_in(j, &api, j->llvm_error, sizeof j->llvm_error);
        pthread_mutex_lock(&j->lock);
        j->llvm_tried = true;
        j->engine = engine;
        j->llvm = engine ? api : NULL;
        pthread_mutex_unlock(&j->lock);
        if (!engine) {
            char line[320];
            snprintf(line, sizeof line, "LLVM is not available (%s); expressions are interpreted", j->llvm_error);
            say(j, line);
        }
    }
    pthread_mutex_unlock(&j->loading);
    return j->engine;
}

void load_close(struct jit *j) {
    if (j->engine) j->llvm->close(j->engine);
    j->engine = NULL;
}
