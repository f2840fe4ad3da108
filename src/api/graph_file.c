// SPDX-License-Identifier: MIT
// Saving and loading at the edge: roots to bytes with their checksum, bytes to roots after it; and files. The
// format and all distrust live in the ir room. A file is written beside its name, synced and renamed, so that
// whoever reads the name meets the old file or the whole new one; errno is the caller's.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api.h"

#define MAX_FILE ((off_t)1 << 30)

static weft_status save(int n, weft_expr *const *x, weft_graph **graph, struct base_vec *out) {
    if (n < 1 || !x) return WEFT_EINVAL;
    weft_graph *g = *graph = eval_graph(n, x);
    if (!g) return WEFT_EINVAL;
    const struct base_alloc *a = &g->ctx->env.alloc;
    vec_init(out, a);
    err_clear(&g->run);
    if (ir_error(g->ir)->status) return ir_error(g->ir)->status;
    ir_ref *roots = base_get(a, sizeof *roots * (size_t)n);
    if (!roots) return err_set(&g->run, WEFT_ENOMEM, "save: no memory for %d roots", n);
    weft_status st = eval_roots(g, n, x, roots);
    st = st ? err_set(&g->run, st, "save: a root is NULL or of another graph")
            : ir_save(g->ir, n, roots, out, &g->run);
    base_put(a, roots, sizeof *roots * (size_t)n);
    if (st) {
        vec_free(out);
        return st;
    }
    ir_file_sum(out->data, out->size, out->data + IR_FILE_SUM);
    return WEFT_OK;
}

weft_status weft_graph_save(int n, weft_expr *const *roots, void **bytes, size_t *size) {
    weft_graph *g = NULL;
    struct base_vec out = {.data = NULL};
    if (!bytes || !size) return WEFT_EINVAL;
    *bytes = NULL;
    *size = 0;
    weft_status st = save(n, roots, &g, &out);
    if (st) return st;
    unsigned char *exact = base_resize(&out.alloc, out.data, out.cap, out.size);
    if (!exact) {
        vec_free(&out);
        return err_set(&g->run, WEFT_ENOMEM, "save: no memory");
    }
    *bytes = exact;
    *size = out.size;
    return WEFT_OK;
}

void weft_bytes_free(weft_ctx *ctx, void *bytes, size_t size) {
    if (ctx) base_put(&ctx->env.alloc, bytes, size);
}

weft_status weft_graph_save_to(int n, weft_expr *const *roots, weft_write_fn *write, void *ud) {
    weft_graph *g = NULL;
    struct base_vec out = {.data = NULL};
    if (!write) return WEFT_EINVAL;
    weft_status st = save(n, roots, &g, &out);
    if (st) return st;
    if (!write(ud, out.data, out.size)) st = err_set(&g->run, WEFT_ESYS, "save: the bytes were not taken");
    vec_free(&out);
    return st;
}

// ---- files --------------------------------------------------------------------------------------------
static bool write_all(int fd, const unsigned char *p, size_t size) {
    while (size) {
        const ssize_t n = write(fd, p, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

// A fresh file under a temporary name beside path; its name in buf.
static int open_beside(const char *path, char *buf, size_t size) {
    for (int i = 0; i < 1000; i++) {
        const int n = snprintf(buf, size, "%s.%lx.%d", path, (unsigned long)getpid(), i);
        if (n < 0 || (size_t)n >= size) return errno = ENAMETOOLONG, -1;
        const int fd = open(buf, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

static bool write_file(const char *path, const unsigned char *p, size_t size) {
    char temporary[4096];
    const int fd = open_beside(path, temporary, sizeof temporary);
    if (fd < 0) return false;
    bool ok = write_all(fd, p, size) && fsync(fd) == 0;
    int e = ok ? 0 : errno;
    if (close(fd) && ok) ok = false, e = errno;
    if (ok && rename(temporary, path)) ok = false, e = errno;
    if (!ok) unlink(temporary);
    errno = e;
    return ok;
}

weft_status weft_graph_save_file(int n, weft_expr *const *roots, const char *path) {
    const int saved = errno;
    weft_graph *g = NULL;
    struct base_vec out = {.data = NULL};
    if (!path) return WEFT_EINVAL;
    weft_status st = save(n, roots, &g, &out);
    if (st) return st;
    if (!write_file(path, out.data, out.size)) {
        st = err_set(&g->run, WEFT_ESYS, "save: %s: %s", path, strerror(errno));
    }
    vec_free(&out);
    errno = saved;
    return st;
}

// ---- loading ------------------------------------------------------------------------------------------
static weft_status load(weft_graph *g, const unsigned char *bytes, size_t size, struct base_vec *roots) {
    unsigned char sum[16];
    struct base_err *e = ir_error(g->ir);
    if (e->status) return e->status;
    if (!bytes || size < IR_FILE_HEAD) return err_set(e, WEFT_EINVAL, "graph file: it is none");
    ir_file_sum(bytes, size, sum);
    if (memcmp(sum, bytes + IR_FILE_SUM, sizeof sum) != 0)
        return err_set(e, WEFT_EINVAL, "graph file: its checksum does not hold: it is damaged, or none");
    return ir_restore(g->ir, bytes, size, roots);
}

weft_status weft_graph_load(weft_graph *g, const void *bytes, size_t size, int max, weft_expr **roots, int *n) {
    struct base_vec refs;
    if (n) *n = 0;
    if (!g || max < 0 || (max && !roots)) return WEFT_EINVAL;
    for (int i = 0; i < max; i++)
        roots[i] = NULL;
    vec_init(&refs, &g->ctx->env.alloc);
    weft_status st = load(g, bytes, size, &refs);
    const size_t count = VEC_LEN(&refs, ir_ref);
    for (size_t i = 0; i < count && i < (size_t)max && !st; i++)
        if (!(roots[i] = graph_wrap(g, VEC_AT(&refs, ir_ref, i)))) st = weft_graph_status(g);
    if (n && !st) *n = (int)count;
    vec_free(&refs);
    for (int i = 0; i < max && st; i++)
        roots[i] = NULL;
    return st;
}

static bool read_all(int fd, unsigned char *p, size_t size) {
    while (size) {
        const ssize_t n = read(fd, p, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        if (n == 0) return errno = EIO, false; // it became shorter meanwhile
        p += n;
        size -= (size_t)n;
    }
    return true;
}

static weft_status load_opened(weft_graph *g, int fd, int max, weft_expr **roots, int *n) {
    const struct base_alloc *a = &g->ctx->env.alloc;
    struct stat s;
    if (fstat(fd, &s)) return WEFT_ESYS;
    if (!S_ISREG(s.st_mode)) return errno = EINVAL, WEFT_ESYS;
    if (s.st_size > MAX_FILE) return errno = EFBIG, WEFT_ESYS;
    const size_t size = (size_t)s.st_size;
    unsigned char *bytes = base_get(a, size);
    if (!bytes) return errno = ENOMEM, WEFT_ENOMEM;
    const bool read = read_all(fd, bytes, size);
    const weft_status st = read ? weft_graph_load(g, bytes, size, max, roots, n) : WEFT_ESYS;
    const int e = errno;
    base_put(a, bytes, size);
    errno = e;
    return st;
}

weft_status weft_graph_load_file(weft_graph *g, const char *path, int max, weft_expr **roots, int *n) {
    const int saved = errno;
    if (n) *n = 0;
    if (!g || !path || max < 0 || (max && !roots)) return WEFT_EINVAL;
    for (int i = 0; i < max; i++)
        roots[i] = NULL;
    if (ir_error(g->ir)->status) return ir_error(g->ir)->status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    weft_status st = fd < 0 ? WEFT_ESYS : load_opened(g, fd, max, roots, n);
    if (st && !ir_error(g->ir)->status) err_set(ir_error(g->ir), st, "load: %s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    errno = saved;
    return st;
}

// ---- inputs -------------------------------------------------------------------------------------------
// The graph's input behind number i of the caller's, or -1.
static int own_input(const struct ir_graph *g, int i) {
    for (int k = 0, number = -1; k < ir_input_count(g); k++) {
        number += ir_input_at(g, k)->part != 2;
        if (number == i) return k;
    }
    return -1;
}

int weft_graph_inputs(const weft_graph *g) { return g ? pairs_inputs(g->ir) : 0; }

const char *weft_graph_input_name(const weft_graph *g, int i) {
    const int k = g && i >= 0 ? own_input(g->ir, i) : -1;
    return k < 0 ? NULL : ir_input_at(g->ir, k)->name;
}

weft_array weft_graph_input_array(const weft_graph *g, int i) {
    const int k = g && i >= 0 ? own_input(g->ir, i) : -1;
    return k < 0 ? (weft_array){.rank = -1} : pairs_input(g->ir, k).declared;
}
