// SPDX-License-Identifier: MIT
// The environment variables, once: name, values, meaning, and how each is read. Read when a context is
// made; a host that sets ignore_env never comes here. `weft info --env` prints this table.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api.h"

static void read_threads(struct env_settings *s, const char *v) {
    long n = strtol(v, NULL, 10);
    if (n >= 1 && n <= 4096) s->threads = (int)n;
}
static int word(const char *v, const char *const *names, int n) {
    for (int i = 0; i < n; i++)
        if (names[i] && strcmp(v, names[i]) == 0) return i;
    return -1;
}
static void read_isa(struct env_settings *s, const char *v) {
    static const char *const names[] = {"best", "scalar", "avx2", "avx512", "neon"};
    int i = word(v, names, COUNT_OF(names));
    if (i > 0) s->isa = (weft_isa)i;
}
static void read_backend(struct env_settings *s, const char *v) {
    static const char *const names[] = {"auto", "interp", "jit"};
    int i = word(v, names, COUNT_OF(names));
    if (i > 0) s->backend = (weft_backend)i;
}
// One bit for each word of a list.
static unsigned bits(const char *v, const char *const *names, int n) {
    unsigned set = 0;
    char part[16];
    while (*v) {
        size_t len = strcspn(v, ",");
        if (len < sizeof part) {
            memcpy(part, v, len);
            part[len] = 0;
            int i = word(part, names, n);
            if (i >= 0) set |= 1u << i;
        }
        v += len + (v[len] == ',');
    }
    return set;
}
static void read_dump(struct env_settings *s, const char *v) {
    static const char *const names[] = {"ir", "dot", "plan", "llvm", "asm"};
    s->dump |= bits(v, names, COUNT_OF(names));
}
static void read_perf(struct env_settings *s, const char *v) {
    static const char *const names[] = {"map", "jitdump", "gdb"}; // in the order of enum weft_names
    s->names |= bits(v, names, COUNT_OF(names));
}
static void read_check(struct env_settings *s, const char *v) { s->check = strcmp(v, "0") != 0; }

static void read_parallel(struct env_settings *s, const char *v) {
    long long n = strtoll(v, NULL, 10);
    if (n >= 1 && n <= UINT32_MAX) s->parallel = (uint32_t)n;
}
static void read_stream(struct env_settings *s, const char *v) {
    char *end;
    errno = 0;
    long long n = strtoll(v, &end, 10);
    if (!strcmp(v, "off")) s->stream = 0;
    else if (end != v && !*end && n >= 1 && !errno) s->stream = n;
}

static void read_cache(struct env_settings *s, const char *v) { s->cache = v; }

static const struct {
    weft_env_info info;
    void (*read)(struct env_settings *s, const char *v);
} table[] = {
    {{"WEFT_THREADS", "1..", "threads an evaluation may use"}, read_threads},
    {{"WEFT_PARALLEL", "1..", "nanoseconds of one thread's work that several share; default measured"}, read_parallel},
    {{"WEFT_ISA", "scalar|avx2|avx512|neon", "cap on the instruction set"}, read_isa},
    {{"WEFT_BACKEND", "auto|interp|jit", "which tier runs"}, read_backend},
    {{"WEFT_DUMP", "ir,dot,plan,llvm,asm", "sent to the log of the context, per new plan"}, read_dump},
    {{"WEFT_PERF", "map,jitdump,gdb", "compiled code tells perf and gdb its names; files in /tmp"}, read_perf},
    {{"WEFT_CHECK", "1", "run both tiers and compare their bits"}, read_check},
    {{"WEFT_CACHE", "off|/directory", "where machine code is kept between processes; default $XDG_CACHE_HOME/weft"},
     read_cache},
    {{"WEFT_STREAM", "off|bytes", "maps that touch more store past the caches; default the last cache, at most 32 MiB"},
     read_stream},
    {{"WEFT_JIT_MODULE", "path", "the LLVM module to open"}, NULL},
};

void env_read(struct env_settings *s) {
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const char *v = table[i].read ? secure_getenv(table[i].info.name) : NULL;
        if (v && *v) table[i].read(s, v);
    }
}

// The XDG base directory specification: a relative path there does not count.
bool env_cache_dir(const struct env_settings *s, char *path, size_t size) {
    int n = 0;
    if (s->cache) {
        if (!strcmp(s->cache, "off")) return false;
        n = snprintf(path, size, "%s", s->cache);
    } else {
        const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
        if (cache && cache[0] == '/')
            n = snprintf(path, size, "%s/weft", cache);
        else if (home && home[0] == '/')
            n = snprintf(path, size, "%s/.cache/weft", home);
    }
    return n > 0 && (size_t)n < size;
}

const weft_env_info *weft_env_at(int i) {
    return i < 0 || (size_t)i >= COUNT_OF(table) ? NULL : &table[i].info;
}
