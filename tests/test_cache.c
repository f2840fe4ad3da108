// SPDX-License-Identifier: MIT
// Machine code between processes: found without LLVM, in every kind of step; the same bits; prewarmed; through
// a host's callbacks; and damage of every kind, which costs a compilation and nothing else.
#include "cache_dir.h"

#include <stddef.h>
#include <time.h>

TestSuite(cache, .init = dir_begin, .fini = dir_end, .timeout = 120);

static void same(const double a[N], const double b[N]) { cr_expect(memcmp(a, b, sizeof(double) * N) == 0, "other bits"); }

// Runs f in a process of its own and expects it to leave with 0.
static void in_child(void (*f)(void)) {
    pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        f();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", status);
}

Test(cache, a_warm_context_needs_no_llvm) {
    double want[N], cold[N], warm[N], later[N];
    worked("", WEFT_BACKEND_INTERP, 0, want);
    weft_stats s = worked(dir, WEFT_BACKEND_JIT, 0, cold);
    cr_assert(s.compiles == 1 && s.disk_misses == 1 && s.disk_writes == 1 && !s.disk_hits && s.llvm_major > 0);
    s = worked(dir, WEFT_BACKEND_JIT, 0, warm);
    cr_assert(!s.compiles && s.disk_hits == 1 && !s.disk_misses && !s.disk_writes && s.llvm_major == 0 && s.disk_bytes > 100);
    cr_assert(s.runs_jit == 1 && s.runs_interp == 0);
    s = worked(dir, WEFT_BACKEND_AUTO, 0, later); // the first evaluation, too
    cr_assert(s.disk_hits == 1 && s.llvm_major == 0 && s.runs_jit == 1);
    same(cold, want), same(warm, want), same(later, want);
    s = worked("", WEFT_BACKEND_JIT, 0, later); // off
    cr_assert(s.compiles == 1 && !s.disk_hits && !s.disk_misses && !s.disk_writes);
}

// Code for more instructions than a machine has is never loaded there, nor the other way round.
Test(cache, code_is_for_its_instruction_set) {
    static const char *const isas[] = {"scalar", "avx2", "avx512"};
    double out[N], first[N];
    uint64_t kinds = 0;
    for (int i = 0; i < 3; i++) {
        setenv("WEFT_ISA", isas[i], 1); // a cap: levels beyond the machine's are its best one
        weft_stats cold = worked(dir, WEFT_BACKEND_JIT, 0, i ? out : first), warm = worked(dir, WEFT_BACKEND_JIT, 0, out);
        cr_assert_eq(cold.disk_hits + cold.disk_writes, 1);
        cr_assert_eq(warm.disk_hits, 1);
        kinds += cold.disk_writes;
        same(first, out);
    }
    unsetenv("WEFT_ISA");
    weft_stats best = worked(dir, WEFT_BACKEND_JIT, 0, out);
    cr_assert_eq(best.disk_hits, 1);
    cr_assert_geq(kinds, 1);
    if (best.isa == WEFT_ISA_AVX512) cr_assert_eq(kinds, 3);
}

static void write_in_child(void) {
    double out[N];
    weft_stats s = worked(dir, WEFT_BACKEND_JIT, 0, out);
    if (s.disk_writes != 1 || !maps_llvm()) _exit(1);
}
static void read_in_child(void) {
    double out[N];
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    weft_stats s = worked(dir, WEFT_BACKEND_AUTO, 0, out);
    clock_gettime(CLOCK_MONOTONIC, &b);
    if (s.disk_hits != 1 || s.llvm_major) _exit(2);
    if (maps_llvm()) _exit(3);
    if ((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 > 200) _exit(4); // LLVM alone takes longer, mostly
}
Test(cache, another_process_maps_no_llvm) {
    in_child(write_in_child);
    in_child(read_in_child);
}

// Every kind of code: maps, both reductions, several sections, kernels, maps on products.
static int variety(weft_graph *g, weft_expr **root, double *x, double *y) {
    weft_array a = weft_dense(WEFT_F64, x, 2, DIMS(40, 30)), b = weft_dense(WEFT_F64, y, 2, DIMS(30, 40));
    weft_expr *p = weft_from(g, &a), *q = weft_transpose(weft_from(g, &b), NULL);
    const int first = 0, last = 1;
    weft_reduce r0 = along(&first, false), r1 = along(&last, true);
    int n = 0;
    root[n++] = weft_add(weft_mul(p, q), weft_tanh(p));
    root[n++] = weft_sum(weft_mul(p, q), &r0);
    root[n++] = weft_true_divide(weft_exp(weft_sub(p, weft_max(p, &r1))), weft_sum(weft_exp(p), &r1));
    root[n++] = weft_argmax(weft_mul(p, q), &r1);
    root[n++] = weft_maximum(weft_matmul(p, weft_from(g, &b)), weft_float(g, 0));
    root[n++] = weft_popcount(weft_cast(weft_mul(p, weft_float(g, 1000)), WEFT_I32));
    root[n++] = weft_where(weft_less(p, q), weft_cast(p, WEFT_F32), weft_cast(q, WEFT_F32));
    return n;
}
static weft_stats run_variety(const char *where, unsigned char *bytes, size_t *used) {
    static double x[1200], y[1200];
    weft_ctx *ctx = ctx_at(where, WEFT_BACKEND_JIT);
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *root[8];
    for (int i = 0; i < 1200; i++)
        x[i] = i * 0.003 - 1, y[i] = 2 - i * 0.002;
    int n = variety(g, root, x, y);
    *used = 0;
    for (int i = 0; i < n; i++) {
        weft_array o;
        cr_assert_eq(weft_eval_new(root[i], &o, NULL), WEFT_OK, "%s", weft_graph_error(g));
        size_t size = (size_t)weft_array_count(&o) * weft_dtype_size(o.dtype);
        memcpy(bytes + *used, o.data, size);
        *used += size;
        weft_array_free(ctx, &o);
    }
    weft_stats s = stats_of(ctx);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    return s;
}
Test(cache, all_kinds_of_code_come_back) {
    static unsigned char cold[100000], warm[100000];
    size_t n, m;
    weft_stats s = run_variety(dir, cold, &n);
    cr_assert(s.disk_writes == s.compiles && s.compiles >= 7);
    const uint64_t made = s.compiles;
    s = run_variety(dir, warm, &m);
    cr_assert(s.disk_hits == made && !s.compiles && s.llvm_major == 0, "%lu of %lu", (unsigned long)s.disk_hits, (unsigned long)made);
    cr_assert(n == m && !memcmp(cold, warm, n));
}

Test(cache, prewarm_compiles_and_runs_nothing) {
    double x[N] = {0}, out[N];
    weft_ctx *ctx = ctx_at(dir, WEFT_BACKEND_AUTO);
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *root = work_expr(g, x, 2);
    cr_assert_eq(weft_prewarm(1, &root), WEFT_OK, "%s", weft_graph_error(g));
    weft_stats s = stats_of(ctx);
    cr_assert(s.disk_writes == 1 && !s.runs_jit && !s.runs_interp);
    char path[256];
    only_file(path);
    cr_assert(!unlink(path)); // somebody cleared the directory: prewarm fills it again
    cr_assert_eq(weft_prewarm(1, &root), WEFT_OK);
    only_file(path);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    s = worked(dir, WEFT_BACKEND_AUTO, 2, out);
    cr_assert(s.disk_hits == 1 && s.llvm_major == 0 && s.runs_jit == 1);
}

Test(cache, prewarm_says_why_not) {
    double x[N] = {0};
    struct { const char *dir; weft_backend b; const char *word; } no[] = {
        {"", WEFT_BACKEND_AUTO, "keeps no"}, {dir, WEFT_BACKEND_INTERP, "interprets"}};
    for (int i = 0; i < 2; i++) {
        weft_ctx *ctx = ctx_at(no[i].dir, no[i].b);
        weft_graph *g = weft_graph_new(ctx);
        weft_expr *root = work_expr(g, x, 0);
        cr_assert_eq(weft_prewarm(1, &root), WEFT_EUNSUPPORTED);
        cr_assert(strstr(weft_graph_error(g), no[i].word), "%s", weft_graph_error(g));
        weft_graph_free(g);
        weft_ctx_free(ctx);
    }
    cr_assert_eq(weft_prewarm(0, NULL), WEFT_EINVAL);
}

// ---- damage --------------------------------------------------------------------------------------------------
// A context that finds these bytes in its cache gives the right result and, unless they are right, replaces them.
static void try_bytes(const char *path, const void *bytes, size_t size, const double want[N], bool good) {
    double out[N];
    spill(path, bytes, size);
    weft_stats s = worked(dir, WEFT_BACKEND_AUTO, 0, out);
    same(out, want);
    cr_expect(s.disk_hits == (uint64_t)good && s.disk_misses == (uint64_t)!good && s.llvm_major == 0, "%zu bytes", size);
}

Test(cache, every_damaged_byte_and_every_length) {
    double want[N];
    char path[256];
    size_t size;
    worked(dir, WEFT_BACKEND_JIT, 0, want);
    only_file(path);
    unsigned char *bytes = slurp(path, &size);
    try_bytes(path, bytes, size, want, true);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= (unsigned char)(1u << i % 8);
        try_bytes(path, bytes, size, want, false);
        bytes[i] ^= (unsigned char)(1u << i % 8);
    }
    for (size_t n = 0; n < size; n++)
        try_bytes(path, bytes, n, want, false);
    try_bytes(path, bytes, size, want, true);
    free(bytes);
}

Test(cache, damage_is_replaced) {
    double want[N], out[N];
    char path[256];
    size_t size, again;
    worked(dir, WEFT_BACKEND_JIT, 0, want);
    only_file(path);
    unsigned char *bytes = slurp(path, &size);
    bytes[size - 1] ^= 1;
    spill(path, bytes, size);
    weft_stats s = worked(dir, WEFT_BACKEND_JIT, 0, out);
    cr_assert(s.disk_refused == 1 && s.compiles == 1 && s.disk_writes == 1);
    same(out, want);
    unsigned char *mended = slurp(path, &again);
    bytes[size - 1] ^= 1;
    cr_assert(size == again && !memcmp(bytes, mended, size));
    free(bytes), free(mended);
}

// A record of another body under this name: whole and sealed, but its key is another.
Test(cache, a_record_of_another_body_is_not_believed) {
    double want[N], out[N];
    char path[256], name[4][64], other[256];
    size_t size;
    worked(dir, WEFT_BACKEND_JIT, 0, want);
    only_file(path);
    worked(dir, WEFT_BACKEND_JIT, 1, out);
    cr_assert_eq(list(name, 4), 2);
    snprintf(other, sizeof other, "%s/%s", dir, name[strstr(path, name[0]) != NULL]);
    unsigned char *bytes = slurp(other, &size);
    spill(path, bytes, size);
    free(bytes);
    weft_stats s = worked(dir, WEFT_BACKEND_JIT, 0, out);
    cr_assert(s.disk_refused == 1 && s.compiles == 1);
    same(out, want);
}

// ---- a host's own storage ----------------------------------------------------------------------------------------
struct shelf {
    struct { char name[33]; unsigned char *bytes; size_t size; } at[16];
    int n, gets, puts;
    bool lies;
};
static size_t shelf_get(void *ud, const char *name, void *into, size_t room) {
    struct shelf *s = ud;
    s->gets++;
    for (int i = 0; i < s->n; i++)
        if (!strcmp(s->at[i].name, name)) {
            if (s->at[i].size <= room) memcpy(into, s->at[i].bytes, s->at[i].size);
            return s->lies ? s->at[i].size * 1000000 : s->at[i].size;
        }
    return 0;
}
static bool shelf_put(void *ud, const char *name, const void *data, size_t size) {
    struct shelf *s = ud;
    s->puts++;
    if (s->n == 16) return false;
    snprintf(s->at[s->n].name, 33, "%s", name);
    s->at[s->n].bytes = malloc(size);
    memcpy(s->at[s->n].bytes, data, size);
    s->at[s->n++].size = size;
    return true;
}
static weft_stats on_shelf(struct shelf *shelf, int variant, double out[N]) {
    weft_code_store store = {shelf, shelf_get, shelf_put};
    weft_ctx *ctx = NULL;
    weft_ctx_opts o = {.size = sizeof o, .backend = WEFT_BACKEND_JIT, .threads = 1, .code_store = &store, .code_dir = dir};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    work(ctx, variant, out);
    weft_stats s = stats_of(ctx);
    weft_ctx_free(ctx);
    return s;
}
Test(cache, callbacks_take_the_place_of_the_directory) {
    static struct shelf shelf;
    double want[N], out[N];
    weft_stats s = on_shelf(&shelf, 0, want);
    cr_assert(s.disk_writes == 1 && shelf.puts == 1 && strlen(shelf.at[0].name) == 32);
    s = on_shelf(&shelf, 0, out);
    cr_assert(s.disk_hits == 1 && s.llvm_major == 0);
    same(out, want);
    on_shelf(&shelf, 60, out); // a record larger than the first guess of its size
    s = on_shelf(&shelf, 60, out);
    cr_assert(s.disk_hits == 1 && s.llvm_major == 0, "a record of %zu bytes", shelf.at[1].size);
    shelf.at[0].bytes[100] ^= 4; // what a host brings is checked as a file is
    s = on_shelf(&shelf, 0, out);
    cr_assert(s.disk_refused == 1 && s.compiles == 1);
    same(out, want);
    shelf.lies = true;
    s = on_shelf(&shelf, 0, out);
    cr_assert(s.compiles == 1);
    same(out, want);
    struct stat st;
    cr_assert(stat(dir, &st) != 0, "the directory was used, too");
    weft_ctx *ctx = NULL;
    weft_code_store half = {NULL, shelf_get, NULL};
    weft_ctx_opts o = {.size = sizeof o, .code_store = &half};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_EINVAL);
}

// Small enough to be interpreted when nothing is cached, and no directory appears by looking.
Test(cache, looking_makes_nothing) {
    double out[N];
    weft_stats s = worked(dir, WEFT_BACKEND_AUTO, 0, out);
    cr_assert(s.disk_misses == 1 && s.runs_interp == 1 && s.llvm_major == 0);
    struct stat st;
    cr_assert(stat(dir, &st) != 0);
}

// Programs built before there was a cache give a shorter struct.
Test(cache, options_of_an_earlier_version) {
    weft_ctx *ctx = NULL;
    weft_ctx_opts o = {.size = offsetof(weft_ctx_opts, code_dir), .threads = 1, .ignore_env = true, .code_dir = (char *)1};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    weft_ctx_free(ctx);
    static const size_t bad[] = {0, 8, offsetof(weft_ctx_opts, code_dir) - 1, sizeof o + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o.size = bad[i];
        cr_expect_eq(weft_ctx_new(&ctx, &o), WEFT_EINVAL, "%zu", bad[i]);
    }
}
