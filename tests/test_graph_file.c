// SPDX-License-Identifier: MIT
// Saved graphs through the public header: a loaded graph computes the same bits in both tiers, its inputs keep
// names and order, the caller's arrays become inputs, damage is refused with a sentence, and a file appears whole
// or not at all: on a full disk, and when the process is killed while writing.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

static weft_ctx *tiers[2];
static char dir[64];
static void begin(void) {
    tiers[0] = new_ctx(WEFT_BACKEND_INTERP, 2);
    tiers[1] = new_ctx(WEFT_BACKEND_JIT, 2);
    snprintf(dir, sizeof dir, "/tmp/weft-graph-XXXXXX");
    cr_assert(mkdtemp(dir));
}
static void end(void) {
    char line[128];
    weft_ctx_free(tiers[0]);
    weft_ctx_free(tiers[1]);
    snprintf(line, sizeof line, "rm -rf %s", dir);
    if (system(line)) printf("%s stays\n", dir);
}
TestSuite(graph_file, .init = begin, .fini = end, .timeout = 120);

enum { N = 12, ROOTS = 12 };
static double xs[N * N];
static float zs[2 * N];
static int32_t is[N];
static void fill(void) {
    for (int i = 0; i < N * N; i++)
        xs[i] = (i * 37 % 101) * 0.25 - 7 + (i % 13 == 0 ? N : 0);
    for (int i = 0; i < 2 * N; i++)
        zs[i] = (float)(i % 5) - 1.5f;
    for (int i = 0; i < N; i++)
        is[i] = (i * 5) % N;
}

// Maps, reductions, a product, a sort, an index, complex numbers, random numbers, over named inputs.
static int build(weft_graph *g, weft_expr **root) {
    weft_expr *x = weft_input(g, "x", WEFT_F64, 2, DIMS(N, N)), *z = weft_input(g, "z", WEFT_C64, 1, DIMS(N));
    weft_expr *i = weft_input(g, "", WEFT_I32, 1, DIMS(N)), *row = weft_index(x, 0, 1);
    const weft_expr *all[] = {
        root[0] = weft_sqrt(weft_add(weft_mul(x, x), weft_float(g, 2.5))),
        root[1] = weft_softmax(x, 1),
        root[2] = weft_matmul(x, weft_transpose(x, NULL)),
        root[3] = weft_argsort(row, 0),
        root[4] = weft_take(x, i, 0, WEFT_INDEX_RAISE),
        root[5] = weft_exp(weft_mul(z, z)),
        root[6] = weft_add(row, weft_random_normal(g, (weft_stream){7, 9}, WEFT_F64, 1, DIMS(N))),
        root[7] = weft_cumsum(x, 0),
        root[8] = weft_pad(row, &(weft_padding){.size = sizeof(weft_padding), .before = DIMS(2), .after = DIMS(1), .mode = WEFT_PAD_REFLECT}),
        root[9] = weft_cast(row, WEFT_BF16),
        root[10] = weft_solve(x, x),
        root[11] = weft_fft(z, NULL),
    };
    for (size_t k = 0; k < ROOTS; k++)
        cr_assert(all[k], "%zu: %s", k, weft_graph_error(g));
    return ROOTS;
}

static void run_all(weft_expr *const *root, int n, unsigned char *out, size_t each) {
    weft_program *p = NULL;
    weft_array o[ROOTS], in[3] = {weft_dense(WEFT_F64, xs, 2, DIMS(N, N)), weft_dense(WEFT_C64, zs, 1, DIMS(N)),
                                  weft_dense(WEFT_I32, is, 1, DIMS(N))};
    char err[256];
    memset(out, 0, each * (size_t)n);
    for (int i = 0; i < n; i++)
        o[i] = weft_dense(weft_expr_dtype(root[i]), out + each * (size_t)i, weft_expr_rank(root[i]), weft_expr_dims(root[i]));
    cr_assert_eq(weft_compile(n, root, &p), WEFT_OK);
    const weft_status st = weft_run(p, NULL, in, o, err, sizeof err);
    if (st != WEFT_EUNSUPPORTED) cr_assert_eq(st, WEFT_OK, "%s", err); // no LAPACK here
    weft_program_free(p);
}

Test(graph_file, the_same_bits_after_loading) {
    enum { EACH = N * N * 16 };
    static unsigned char want[ROOTS * EACH], got[ROOTS * EACH];
    fill();
    for (int t = 0; t < 2; t++) {
        weft_graph *g = weft_graph_new(tiers[t]), *h = weft_graph_new(tiers[!t]);
        weft_expr *root[ROOTS], *again[ROOTS];
        void *bytes = NULL, *twice = NULL;
        size_t size = 0, size2 = 0;
        int n = 0;
        build(g, root);
        must(g, weft_graph_save(ROOTS, root, &bytes, &size));
        must(h, weft_graph_load(h, bytes, size, ROOTS, again, &n));
        cr_assert_eq(n, ROOTS);
        cr_assert_eq(weft_graph_inputs(h), 3);
        cr_expect_str_eq(weft_graph_input_name(h, 1), "z");
        cr_expect_str_eq(weft_graph_input_name(h, 2), "");
        cr_expect_null(weft_graph_input_name(h, 3));
        cr_expect_eq(weft_graph_input_array(h, 1).dtype, WEFT_C64);
        must(h, weft_graph_save(ROOTS, again, &twice, &size2));
        cr_expect(size == size2 && !memcmp(bytes, twice, size));
        for (int k = 0; k < ROOTS; k++) { // each alone: LAPACK may be absent
            run_all(&root[k], 1, want + k * EACH, EACH);
            run_all(&again[k], 1, got + k * EACH, EACH);
            cr_expect_eq(memcmp(want + k * EACH, got + k * EACH, EACH), 0, "root %d", k);
        }
        weft_bytes_free(tiers[t], bytes, size);
        weft_bytes_free(tiers[!t], twice, size2);
        weft_graph_free(g);
        weft_graph_free(h);
    }
}

Test(graph_file, arrays_become_inputs_of_fixed_extents) {
    fill();
    weft_graph *g = weft_graph_new(tiers[0]), *h = weft_graph_new(tiers[0]);
    weft_array a = weft_dense(WEFT_F64, xs, 1, DIMS(N)), z = weft_dense(WEFT_C64, zs, 1, DIMS(N));
    weft_expr *k = weft_input(g, "k", WEFT_F64, 0, NULL), *again = NULL;
    weft_expr *f = weft_add(weft_mul(weft_from(g, &a), k), weft_imag(weft_from(g, &z)));
    void *bytes = NULL;
    size_t size = 0;
    int n = 0;
    must(g, weft_graph_save(1, &f, &bytes, &size));
    must(h, weft_graph_load(h, bytes, size, 1, &again, &n));
    cr_assert_eq(weft_graph_inputs(h), 3);
    cr_expect_str_eq(weft_graph_input_name(h, 0), "k");
    cr_expect_str_eq(weft_graph_input_name(h, 1), "from0");
    cr_expect_eq(weft_graph_input_array(h, 2).dtype, WEFT_C64);
    weft_program *p = NULL;
    must(h, weft_compile(1, &again, &p));
    double three = 3, got[N], want[N];
    weft_array in[3] = {weft_dense(WEFT_F64, &three, 0, NULL), a, z}, o = vec(got, N), w = vec(want, N);
    char err[256];
    cr_assert_eq(weft_run(p, NULL, in, &o, err, sizeof err), WEFT_OK, "%s", err);
    weft_expr *direct = weft_add(weft_mul(weft_from(g, &a), weft_scalar(g, WEFT_F64, &three)), weft_imag(weft_from(g, &z)));
    must(g, weft_eval(direct, &w, NULL));
    cr_expect_eq(memcmp(got, want, sizeof got), 0);
    in[1].dims[0] = in[2].dims[0] = o.dims[0] = N - 1;
    cr_expect_eq(weft_run(p, NULL, in, &o, err, sizeof err), WEFT_ESHAPE, "%s", err);
    weft_program_free(p);
    weft_bytes_free(tiers[0], bytes, size);
    weft_graph_free(g);
    weft_graph_free(h);
}

Test(graph_file, damage_is_refused_with_a_sentence) {
    weft_graph *g = weft_graph_new(tiers[0]), *h = weft_graph_new(tiers[0]);
    weft_expr *root[ROOTS], *again[1];
    unsigned char *bytes = NULL;
    void *p = NULL;
    size_t size = 0;
    build(g, root);
    must(g, weft_graph_save(ROOTS, root, &p, &size));
    bytes = p;
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= (unsigned char)(1 << i % 8);
        cr_expect_eq(weft_graph_load(h, bytes, size, 1, again, NULL), WEFT_EINVAL, "byte %zu", i);
        cr_expect_neq(weft_graph_error(h)[0], 0);
        cr_expect_null(again[0]);
        weft_graph_reset(h);
        bytes[i] ^= (unsigned char)(1 << i % 8);
    }
    for (size_t i = 0; i < size; i++) {
        cr_expect_eq(weft_graph_load(h, bytes, i, 1, again, NULL), WEFT_EINVAL, "length %zu", i);
        weft_graph_reset(h);
    }
    cr_expect_eq(weft_graph_load(h, NULL, 100, 0, NULL, NULL), WEFT_EINVAL);
    weft_graph_reset(h);
    must(h, weft_graph_load(h, bytes, size, 1, again, NULL)); // and the graph is as good as new
    weft_bytes_free(tiers[0], bytes, size);
    weft_graph_free(g);
    weft_graph_free(h);
}

Test(graph_file, hostile_calls) {
    void *bytes = &bytes;
    size_t size = 1;
    weft_graph *g = weft_graph_new(tiers[0]), *h = weft_graph_new(tiers[0]);
    weft_expr *x = weft_float(g, 1), *y = weft_float(h, 1);
    cr_expect_eq(weft_graph_save(0, &x, &bytes, &size), WEFT_EINVAL);
    cr_expect(!bytes && !size);
    cr_expect_eq(weft_graph_save(2, (weft_expr *[]){x, y}, &bytes, &size), WEFT_EINVAL);
    cr_expect_eq(weft_graph_save(1, &(weft_expr *){NULL}, &bytes, &size), WEFT_EINVAL);
    cr_expect_eq(weft_graph_save(1, &x, NULL, &size), WEFT_EINVAL);
    cr_expect_eq(weft_graph_save_to(1, &x, NULL, NULL), WEFT_EINVAL);
    cr_expect_eq(weft_graph_save_file(1, &x, "/nonexistent/x"), WEFT_ESYS);
    cr_expect(strstr(weft_graph_error(g), "/nonexistent/x"), "%s", weft_graph_error(g));
    cr_expect_eq(weft_graph_load_file(h, "/nonexistent/x", 0, NULL, NULL), WEFT_ESYS);
    weft_graph_reset(h);
    cr_expect_eq(weft_graph_load_file(h, "/dev/zero", 0, NULL, NULL), WEFT_ESYS);
    weft_graph_reset(h);
    cr_expect_eq(weft_graph_load_file(h, dir, 0, NULL, NULL), WEFT_ESYS);
    cr_expect_eq(weft_graph_load(NULL, "", 0, 0, NULL, NULL), WEFT_EINVAL);
    weft_graph_free(g);
    weft_graph_free(h);
}

// ---- files ----------------------------------------------------------------------------------------------
static weft_status save_value(weft_ctx *ctx, const char *path, int nodes) {
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *x = weft_input(g, "x", WEFT_F64, 1, DIMS(N)), *f = x;
    for (int i = 0; i < nodes; i++)
        f = weft_mul(weft_add(f, x), weft_float(g, i));
    const weft_status st = weft_graph_save_file(1, &f, path);
    weft_graph_free(g);
    return st;
}
static bool loads(weft_ctx *ctx, const char *path) {
    weft_graph *g = weft_graph_new(ctx);
    int n = 0;
    const bool ok = !weft_graph_load_file(g, path, 0, NULL, &n) && n == 1;
    weft_graph_free(g);
    return ok;
}

Test(graph_file, a_full_disk_leaves_the_old_file) {
    char path[96], line[160];
    snprintf(path, sizeof path, "%s/g.weft", dir);
    cr_assert_eq(save_value(tiers[0], path, 10), WEFT_OK);
    const pid_t child = fork();
    if (child == 0) { // more than this is no file: as a disk without room
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
        _exit(save_value(tiers[0], path, 2000) == WEFT_ESYS ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    cr_expect(loads(tiers[0], path));
    snprintf(line, sizeof line, "test $(ls %s | wc -l) = 1", dir);
    cr_expect_eq(system(line), 0, "something stays behind");
}

Test(graph_file, a_killed_writer_leaves_a_whole_file) {
    char path[96];
    snprintf(path, sizeof path, "%s/g.weft", dir);
    cr_assert_eq(save_value(tiers[0], path, 10), WEFT_OK);
    for (unsigned i = 0; i < 25; i++) {
        const pid_t child = fork();
        if (child == 0)
            for (int k = 0;; k++)
                save_value(tiers[0], path, 100 + k % 900);
        usleep(500 + i * 1777 % 9000);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        cr_assert(loads(tiers[0], path), "after kill %u", i);
    }
}
