// SPDX-License-Identifier: MIT
// Operands between guard pages, so that one byte read or written outside stops the test; the
// specification of the product as a triple loop with the C library's fma; a comparison of whole
// memory.
#include "gemm_case.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static uint64_t state = 88172645463325252u;
uint32_t test_random(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}
int64_t test_pick(const int64_t *list, size_t count) {
    return list[test_random() % count];
}

// ---- memory between guard pages
// ---------------------------------------------------------------------
static unsigned char *guarded(size_t bytes, bool at_end, unsigned char **map, size_t *map_bytes) {
    const size_t page = 4096, inner = (bytes + page - 1) / page * page;
    *map_bytes = inner + 2 * page;
    *map = mmap(NULL, *map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (*map == MAP_FAILED) abort();
    if (inner && mprotect(*map + page, inner, PROT_READ | PROT_WRITE)) abort();
    return at_end ? *map + page + inner - bytes : *map + page;
}

void view_make(struct view *v, weft_dtype t, int64_t rows, int64_t cols, int layout) {
    const int64_t size = (int64_t)dtype_size(t), step = layout & GAPS ? 3 * size : size;
    const int64_t odd = layout & ODD ? 1 : 0;
    const int64_t across = layout & GAPS ? 2 * size : 0;
    *v = (struct view){.rows = rows, .cols = cols, .dtype = t};
    v->cs = layout & COL_MAJOR ? step * rows + across + odd : step;
    v->rs = layout & COL_MAJOR ? step : step * cols + across + odd;
    if (layout & SAME_ROWS) v->rs = 0;
    if (layout & SAME_COLS) v->cs = 0;
    if (rows && cols) v->extent = (size_t)((rows - 1) * v->rs + (cols - 1) * v->cs + size);
    // flush with the guard page behind or in front, or one byte away from it
    const bool at_end = test_random() & 1;
    unsigned char *p = guarded(v->extent + (size_t)odd, at_end, &v->map, &v->map_bytes);
    v->low = at_end ? p : p + odd;
    v->origin = v->low;
    if (layout & FLIP_ROWS && rows) v->origin += (rows - 1) * v->rs, v->rs = -v->rs;
    if (layout & FLIP_COLS && cols) v->origin += (cols - 1) * v->cs, v->cs = -v->cs;
}

void view_free(struct view *v) {
    munmap(v->map, v->map_bytes);
}

static unsigned char *at(const struct view *v, int64_t i, int64_t j) {
    return v->origin + i * v->rs + j * v->cs;
}

double view_get(const struct view *v, int64_t i, int64_t j) {
    double d;
    float f;
    memcpy(&d, at(v, i, j), v->dtype == WEFT_F64 ? 8 : 4);
    memcpy(&f, at(v, i, j), 4);
    return v->dtype == WEFT_F64 ? d : (double)f;
}

static void put(const struct view *v, unsigned char *to, double x) {
    const float f = (float)x;
    memcpy(to, v->dtype == WEFT_F64 ? (const void *)&x : (const void *)&f, dtype_size(v->dtype));
}

void view_fill(struct view *v, enum filling f) {
    for (size_t i = 0; i < v->extent; i++)
        v->low[i] = (unsigned char)test_random();
    for (int64_t i = 0; i < v->rows; i++)
        for (int64_t j = 0; j < v->cols; j++) {
            const double whole = (double)(test_random() % 17) - 8;
            const double part = ((double)test_random() / 4294967296.0 - 0.5) * 4;
            if (dtype_is_float(v->dtype)) put(v, at(v, i, j), f == SMALL_INTEGERS ? whole : part);
            // zeros so that `or of and` is not all true
            if (v->dtype == WEFT_BOOL && test_random() % 4) *at(v, i, j) = 0;
        }
}

// ---- the specification
// ------------------------------------------------------------------------------
static uint64_t bits(const struct view *v, int64_t i, int64_t j) {
    uint64_t x = 0; // little-endian
    memcpy(&x, at(v, i, j), dtype_size(v->dtype));
    return x;
}

// One row or column: lanes.
static uint64_t vector_element(const struct gemm_operands *o, int64_t i, int64_t j) {
    const bool wide = o->a.dtype == WEFT_F64;
    const int lanes = wide ? 8 : 16;
    double sum = 0;
    float sumf = 0;
    for (int64_t k0 = 0; k0 < o->a.cols; k0 += KERN_GEMV_KC) {
        double s[16] = {0};
        float f[16] = {0};
        for (int64_t p = k0; p < MIN_OF(o->a.cols, k0 + KERN_GEMV_KC); p++) {
            const double x = view_get(&o->a, i, p), y = view_get(&o->b, p, j);
            s[p % lanes] = fma(x, y, s[p % lanes]);
            f[p % lanes] = fmaf((float)x, (float)y, f[p % lanes]);
        }
        for (int w = lanes / 2; w; w /= 2)
            for (int l = 0; l < w; l++)
                s[l] += s[l + w], f[l] += f[l + w];
        sum = k0 ? sum + s[0] : s[0];
        sumf = k0 ? sumf + f[0] : f[0];
    }
    uint64_t out = 0;
    memcpy(&out, wide ? (const void *)&sum : &sumf, wide ? 8 : 4);
    return out;
}

static uint64_t element(const struct gemm_operands *o, int64_t i, int64_t j) {
    if (dtype_is_float(o->a.dtype) && (o->c.rows == 1 || o->c.cols == 1))
        return vector_element(o, i, j);
    const int64_t k = o->a.cols;
    const weft_dtype t = o->a.dtype;
    uint64_t sum = 0;
    double d = 0, block = 0;
    float f = 0, blockf = 0;
    for (int64_t p = 0; p < k; p++) {
        const bool last = p == k - 1 || p % KERN_GEMM_KC == KERN_GEMM_KC - 1;
        if (t == WEFT_F64) block = fma(view_get(&o->a, i, p), view_get(&o->b, p, j), block);
        if (t == WEFT_F32)
            blockf = fmaf((float)view_get(&o->a, i, p), (float)view_get(&o->b, p, j), blockf);
        if (t == WEFT_BOOL) sum |= bits(&o->a, i, p) && bits(&o->b, p, j);
        if (dtype_is_int(t)) sum += bits(&o->a, i, p) * bits(&o->b, p, j);
        if (!last) continue;
        d = p < KERN_GEMM_KC ? block : d + block;
        f = p < KERN_GEMM_KC ? blockf : f + blockf;
        block = 0, blockf = 0;
    }
    if (t == WEFT_F64) memcpy(&sum, &d, 8);
    if (t == WEFT_F32) memcpy(&sum, &f, 4);
    return sum;
}

void operands_make(struct gemm_operands *o, const struct gemm_case *c) {
    view_make(&o->a, c->dtype, c->m, c->k, c->a_layout);
    view_make(&o->b, c->dtype, c->k, c->n, c->b_layout);
    view_make(&o->c, c->dtype, c->m, c->n, c->c_layout);
    view_fill(&o->a, c->filling);
    view_fill(&o->b, c->filling);
    o->image = malloc(o->c.extent + 1);
    if (!o->image) abort();
    memset(o->image, 0xff, o->c.extent);
    operands_reset(o);
    operands_specify(o);
}

void operands_specify(struct gemm_operands *o) {
    for (int64_t i = 0; i < o->c.rows; i++)
        for (int64_t j = 0; j < o->c.cols; j++) {
            const uint64_t x = element(o, i, j);
            memcpy(o->image + (at(&o->c, i, j) - o->c.low), &x, dtype_size(o->c.dtype));
        }
}

void operands_reset(struct gemm_operands *o) {
    memset(o->c.low, 0xff, o->c.extent);
}

void operands_free(struct gemm_operands *o) {
    view_free(&o->a);
    view_free(&o->b);
    view_free(&o->c);
    free(o->image);
}

struct kern_gemm operands_gemm(const struct gemm_operands *o, enum kern_isa isa) {
    return (struct kern_gemm){.dtype = o->a.dtype,
                              .isa = isa,
                              .m = o->a.rows,
                              .n = o->b.cols,
                              .k = o->a.cols,
                              .a = o->a.origin,
                              .a_rs = o->a.rs,
                              .a_cs = o->a.cs,
                              .b = o->b.origin,
                              .b_rs = o->b.rs,
                              .b_cs = o->b.cs,
                              .c = o->c.origin,
                              .c_rs = o->c.rs,
                              .c_cs = o->c.cs};
}

// ---- running and comparing
// --------------------------------------------------------------------------
void executor_serial(void *ud, int64_t n, void (*body)(void *arg, int64_t i), void *arg) {
    (void)ud;
    for (int64_t i = 0; i < n; i++)
        body(arg, i);
}
void executor_reversed(void *ud, int64_t n, void (*body)(void *arg, int64_t i), void *arg) {
    (void)ud;
    for (int64_t i = n - 1; i >= 0; i--)
        body(arg, i);
}

struct call {
    void (*body)(void *arg, int64_t i);
    void *arg;
    int64_t i;
};
static void *thread_main(void *p) {
    const struct call *c = p;
    c->body(c->arg, c->i);
    return NULL;
}
void executor_threads(void *ud, int64_t n, void (*body)(void *arg, int64_t i), void *arg) {
    (void)ud;
    pthread_t ids[16];
    struct call calls[16];
    for (int64_t i = 0; i < n; i++) {
        calls[i] = (struct call){body, arg, i};
        if (pthread_create(&ids[i], NULL, thread_main, &calls[i])) abort();
    }
    for (int64_t i = 0; i < n; i++)
        pthread_join(ids[i], NULL);
}

void gemm_execute(struct kern_gemm *g, int threads, kern_gemm_for *run) {
    unsigned char *map;
    size_t map_bytes;
    g->scratch = guarded((kern_gemm_scratch(g, threads) + 63) / 64 * 64, true, &map, &map_bytes);
    if (run)
        kern_gemm_parallel(g, threads, run, NULL);
    else
        kern_gemm_run(g);
    munmap(map, map_bytes);
}

const char *operands_differ(const struct gemm_operands *o, const struct kern_gemm *g) {
    static char text[300];
    if (!memcmp(o->image, o->c.low, o->c.extent)) return "";
    size_t byte = 0;
    while (o->image[byte] == o->c.low[byte])
        byte++;
    snprintf(
        text, sizeof text,
        "%s on %s, %lldx%lldx%lld, A strides %lld %lld, B %lld %lld, C %lld %lld: byte %zu of %zu",
        dtype_name(g->dtype), kern_isa_name(g->isa), (long long)g->m, (long long)g->n,
        (long long)g->k, (long long)g->a_rs, (long long)g->a_cs, (long long)g->b_rs,
        (long long)g->b_cs, (long long)g->c_rs, (long long)g->c_cs, byte, o->c.extent);
    return text;
}

const char *case_check(const struct gemm_case *c, int threads) {
    struct gemm_operands o;
    const char *bad = "";
    operands_make(&o, c);
    for (int isa = 0; isa <= (int)kern_isa_detect() && !*bad; isa++) {
        struct kern_gemm g = operands_gemm(&o, (enum kern_isa)isa);
        operands_reset(&o);
        gemm_execute(&g, threads, threads == 1 ? NULL : executor_threads);
        bad = operands_differ(&o, &g);
    }
    operands_free(&o);
    return bad;
}
