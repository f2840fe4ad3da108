// SPDX-License-Identifier: MIT
// Opens LAPACK once for the process. WEFT_LAPACK is the file name that CMake found (its soname); without it, or
// when the system no longer has it, every call that needs LAPACK says so and everything else works.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "lapack.h"

static struct {
    pthread_once_t once;
    struct lapack f32, f64;
    bool ready;
    char why[200];
} lib = {.once = PTHREAD_ONCE_INIT};

#ifdef WEFT_LAPACK
static bool resolve(void *handle, char prefix, struct lapack *f) {
    char name[16];
    void *sym;
#define F(fn)                                                                                      \
    snprintf(name, sizeof name, "%c" #fn "_", prefix);                                             \
    sym = dlsym(handle, name);                                                                     \
    if (!sym) {                                                                                    \
        snprintf(lib.why, sizeof lib.why, "%s has no %s", WEFT_LAPACK, name);                      \
        return false;                                                                              \
    }                                                                                              \
    memcpy(&f->fn, &sym, sizeof f->fn);
    LAPACK_NAMES(F)
#undef F
    return true;
}

static void open_library(void) {
    void *h = dlopen(WEFT_LAPACK, CALL_OPEN_FLAGS);
    if (h)
        lib.ready = resolve(h, 's', &lib.f32) && resolve(h, 'd', &lib.f64);
    else
        snprintf(lib.why, sizeof lib.why, "%s cannot be opened", WEFT_LAPACK);
}
#else
static void open_library(void) {
    snprintf(lib.why, sizeof lib.why, "built without LAPACK (liblapack-dev)");
}
#endif

const struct lapack *lapack_for(weft_dtype t, struct base_err *err) {
    pthread_once(&lib.once, open_library);
    if (lib.ready) return t == WEFT_F32 ? &lib.f32 : &lib.f64;
    err_set(err, WEFT_EUNSUPPORTED, "linear algebra is not available: %s", lib.why);
    return NULL;
}
