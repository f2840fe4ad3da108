// SPDX-License-Identifier: MIT
// What the tests of the code cache share: a directory of their own, contexts that use it, one small work.
#ifndef TESTS_CACHE_DIR_H
#define TESTS_CACHE_DIR_H

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

static char base[64], dir[128]; // a folder of this test, and the cache in it
static char said[512];          // the last warning
static int nsaid;

static inline void hear(void *ud, weft_log_level level, const char *line) {
    (void)ud;
    if (level != WEFT_LOG_WARN) return;
    snprintf(said, sizeof said, "%s", line);
    nsaid++;
}

static inline void dir_begin(void) {
    snprintf(base, sizeof base, "/tmp/weft-test-XXXXXX");
    cr_assert(mkdtemp(base));
    snprintf(dir, sizeof dir, "%s/cache/weft", base);
    said[0] = 0, nsaid = 0;
}
static inline int remove_one(const char *path, const struct stat *st, int what, struct FTW *at) {
    (void)st, (void)what, (void)at;
    return remove(path);
}
static inline void dir_end(void) { nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

static inline weft_ctx *ctx_at(const char *where, weft_backend backend) {
    weft_ctx *ctx = NULL;
    weft_ctx_opts o = {.size = sizeof o, .backend = backend, .threads = 1, .log = hear, .code_dir = where};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    return ctx;
}
static inline weft_stats stats_of(weft_ctx *ctx) {
    weft_stats s;
    weft_ctx_stats(ctx, &s, sizeof s);
    return s;
}

enum { N = 1024 };
// variant: another body each; result: their sum, the same whatever runs it
static inline weft_expr *work_expr(weft_graph *g, double *x, int variant) {
    weft_array a = vec(x, N);
    weft_expr *e = weft_from(g, &a), *f = weft_sqrt(weft_add(weft_mul(e, e), e));
    for (int i = 0; i < variant; i++)
        f = weft_add(weft_mul(f, e), e);
    return weft_add(f, weft_exp(weft_neg(e)));
}
static inline void work(weft_ctx *ctx, int variant, double out[N]) {
    static double x[N];
    for (int i = 0; i < N; i++)
        x[i] = i * 0.001;
    weft_graph *g = weft_graph_new(ctx);
    eval_into("work", g, work_expr(g, x, variant), out);
    weft_graph_free(g);
}
static inline weft_stats worked(const char *where, weft_backend backend, int variant, double out[N]) {
    weft_ctx *ctx = ctx_at(where, backend);
    work(ctx, variant, out);
    weft_stats s = stats_of(ctx);
    weft_ctx_free(ctx);
    return s;
}

static inline int list(char names[][64], int room) {
    DIR *d = opendir(dir);
    int n = 0;
    if (!d) return 0;
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".weft") && n < room) snprintf(names[n++], 64, "%.63s", e->d_name);
    closedir(d);
    return n;
}
static inline void only_file(char path[256]) {
    char name[2][64];
    cr_assert_eq(list(name, 2), 1);
    snprintf(path, 256, "%s/%s", dir, name[0]);
}
static inline unsigned char *slurp(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    cr_assert(f);
    unsigned char *p = malloc(1 << 16);
    *size = fread(p, 1, 1 << 16, f);
    fclose(f);
    return p;
}
static inline void spill(const char *path, const void *bytes, size_t size) {
    FILE *f = fopen(path, "wb");
    cr_assert(f && fwrite(bytes, 1, size, f) == size);
    fclose(f);
}
static inline bool maps_llvm(void) {
    FILE *f = fopen("/proc/self/maps", "r");
    char line[512];
    bool found = false;
    while (f && fgets(line, sizeof line, f))
        found |= strstr(line, "libLLVM") || strstr(line, "weft-jit");
    if (f) fclose(f);
    return found;
}

#endif
