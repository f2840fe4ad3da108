/* SPDX-License-Identifier: MIT
 *
 * Machine code that outlives the process. Part of weft/weft.h; do not include it alone.
 *
 * What a context compiles is kept in a directory, so that the next process runs machine code without
 * loading LLVM. The directory is, unless weft_ctx_opts names one, $XDG_CACHE_HOME/weft, else
 * $HOME/.cache/weft; it is made on the first write, with mode 0700. weft uses it only if it belongs to
 * the effective user, has exactly that mode and is no symbolic link, and a file only if nobody else can
 * write it. What is damaged, cut short, of another version or another machine is ignored and written
 * anew. docs/cache.md describes the files, the bound and what a checksum cannot stop: a code cache must be
 * trusted as a program is.
 */
#ifndef WEFT_CACHE_H
#define WEFT_CACHE_H

#ifdef __cplusplus
extern "C" {
#endif

/* A host's own storage instead of the directory. name is 32 hexadecimal digits; records are a few KiB.
 * Called from any thread that uses the context and from its compile thread, several at once; they must not
 * use the context. Everything that comes back is checked as a file would be, but the bytes decide
 * what the processor executes: keep them where only the user can write. */
struct weft_code_store {
    void *ud;
    /* The size of the record called name, 0 when there is none. Copies it to `into` if it fits into `room`
     * bytes; otherwise weft calls again with more room. */
    size_t (*get)(void *ud, const char *name, void *into, size_t room);
    /* Keeps a record, replacing an older one of that name. false: it was not kept; nothing else happens. */
    bool (*put)(void *ud, const char *name, const void *data, size_t size);
};

/* Plans the roots of one graph, compiles every pass and sees to it that all code is in the cache, without
 * running anything: for installers, or a server before its first request. Waits until it is done. A
 * process that evaluates the same expressions later (any sizes, any strides) needs no LLVM.
 * weft_compile keeps the code of its program in the same way. WEFT_EUNSUPPORTED: the context keeps no
 * code, or machine code cannot be made here (the graph's error says which); otherwise as weft_compile. */
WEFT_API weft_status weft_prewarm(int n, weft_expr *const *roots);

#ifdef __cplusplus
}
#endif
#endif
