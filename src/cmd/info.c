// SPDX-License-Identifier: MIT
// weft ops: the table of operations. weft info: what this machine and this build give.
#include "cmd.h"

#include <string.h>

static bool in_table(const char *name) {
    const weft_op_info *op;
    for (int i = 0; (op = weft_op_at(i)); i++)
        if (strcmp(op->name, name) == 0) return true;
    return false;
}

// What an expression can call and the table does not have: built of its rows, or a second name.
static void show_composed(void) {
    const char *name;
    int column = 0;
    printf("\nAlso to be called, composed of these or another name for one:\n");
    for (size_t i = 0; (name = function_at(i)); i++) {
        if (in_table(name)) continue;
        int width = (int)strlen(name) + 1;
        if (column + width > 90) column = printf("\n") - 1;
        column += printf("%s%s", column ? " " : "  ", name);
    }
    printf("\n");
}

int cmd_ops(struct options *o) {
    const weft_op_info *op;
    if (o->json) printf("[");
    for (int i = 0; (op = weft_op_at(i)); i++) {
        if (o->json)
            printf("%s{\"name\": \"%s\", \"arity\": %d, \"kind\": \"%s\", \"doc\": \"%s\"}",
                   i ? ",\n " : "", op->name, op->arity, op->kind, op->doc);
        else
            printf("%-15s %d  %-12s %s\n", op->name, op->arity, op->kind, op->doc);
    }
    if (o->json)
        printf("]\n");
    else
        show_composed();
    return 0;
}

static const char *isa_text(weft_isa isa) {
    static const char *const names[] = {"best", "scalar", "avx2", "avx512", "neon"};
    return (size_t)isa < COUNT_OF(names) ? names[isa] : "?";
}

static void show_variables(void) {
    const weft_env_info *e;
    for (int i = 0; (e = weft_env_at(i)); i++)
        printf("%-16s %-24s %s\n", e->name, e->values, e->doc);
}

// One small program compiled and run, so that the figures are of a context in use.
static weft_status try_compiler(weft_ctx *ctx) {
    double x[64] = {0}, y[64];
    const int64_t n = 64;
    weft_array in = weft_dense(WEFT_F64, x, 1, &n), out = weft_dense(WEFT_F64, y, 1, &n);
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *e = weft_from(g, &in);
    weft_status st = weft_eval(weft_sqrt(weft_add(weft_mul(e, e), e)), &out, NULL);
    weft_graph_free(g);
    weft_ctx_wait(ctx);
    return st;
}

// Of the same program with the code cache as it is set up.
static void show_cache(const weft_stats *s) {
    if (!s->disk_hits && !s->disk_misses)
        printf("code cache    off\n");
    else
        printf("code cache    %llu found (%llu bytes), %llu not (%llu refused), %llu written\n",
               (unsigned long long)s->disk_hits, (unsigned long long)s->disk_bytes,
               (unsigned long long)s->disk_misses, (unsigned long long)s->disk_refused,
               (unsigned long long)s->disk_writes);
}

int cmd_info(struct options *o) {
    if (o->env) {
        show_variables();
        return 0;
    }
    const weft_backend backend = o->backend == WEFT_BACKEND_AUTO ? WEFT_BACKEND_JIT : o->backend;
    weft_ctx *ctx = open_context(o, backend), *bare = open_bare_context(o, backend);
    if (!ctx || !bare) return EXIT_FAULT;
    weft_status st = try_compiler(bare); // without the code cache, so that the compiler shows itself
    weft_stats s, kept;
    weft_ctx_stats(bare, &s, sizeof s);
    weft_ctx_free(bare);
    if (!st) st = try_compiler(ctx);
    weft_ctx_stats(ctx, &kept, sizeof kept);
    char llvm[16] = "not available";
    if (s.llvm_major) snprintf(llvm, sizeof llvm, "%d", s.llvm_major);
    printf("weft          %s\n", weft_version());
    printf("isa           %s\n", isa_text(s.isa));
    printf("threads       %d\n", s.threads);
    printf("llvm          %s\n", llvm);
    printf("tiers         interpreter%s\n", s.runs_jit ? ", machine code" : "");
    printf("compile       %.3f ms for a chain of three operations\n", (double)s.compile_ns * 1e-6);
    printf("code held     %llu bytes in %llu pieces\n", (unsigned long long)s.code_bytes,
           (unsigned long long)(s.compiles - s.code_evictions));
    printf("memory held   %llu bytes\n", (unsigned long long)s.alloc_bytes);
    show_cache(&kept);
    weft_ctx_free(ctx);
    return st ? cmd_fail_status(st, "the small program did not run") : 0;
}
