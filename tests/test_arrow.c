// SPDX-License-Identifier: MIT
// The Arrow C data interface in and out: masks against a loop over bits, offsets, ownership, what is refused.
#include <sys/mman.h>
#include <unistd.h>

#include "cases.h"
#include "exchange.h"

static weft_ctx *tiers[2];
static void begin(void) {
    tiers[0] = new_ctx(WEFT_BACKEND_INTERP, 1);
    tiers[1] = new_ctx(WEFT_BACKEND_JIT, 2);
}
static void end(void) {
    weft_ctx_free(tiers[0]);
    weft_ctx_free(tiers[1]);
}
TestSuite(arrow, .init = begin, .fini = end, .timeout = PATIENCE * 120);

static int schemas, arrays; // released
static void release_schema(struct ArrowSchema *s) {
    schemas++;
    s->release = NULL;
}
static void release_array(struct ArrowArray *a) {
    arrays++;
    a->release = NULL;
}
static struct ArrowSchema schema_of(const char *format) {
    return (struct ArrowSchema){.format = format, .name = "x", .flags = 2, .release = release_schema};
}
static struct ArrowArray array_of(const void **buffers, int64_t length, int64_t offset, int64_t nulls) {
    return (struct ArrowArray){.length = length, .null_count = nulls, .offset = offset, .n_buffers = 2, .buffers = buffers,
                               .release = release_array};
}
static bool bit(const unsigned char *bits, int64_t i) { return bits[i / 8] >> i % 8 & 1; }

// The end of size bytes behind which there is a page that cannot be touched.
static unsigned char *wall(size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *p = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(p != MAP_FAILED && size % page == 0 && mprotect(p + size, page, PROT_NONE) == 0);
    return p + size;
}

Test(arrow, masks_at_every_offset_and_length) {
    static const int64_t lengths[] = {0, 1, 7, 8, 9, 63, 64, 100, 1000};
    uint32_t seed = 1;
    unsigned char *bits = wall(4096), *values = wall(8192);
    EACH_TIER(g) {
        for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
            for (int64_t offset = 0; offset < 20; offset += l < 5 ? 1 : 5) {
                const int64_t n = lengths[l], end = n + offset;
                unsigned char *b = bits - (end + 7) / 8; // a read beyond is a crash
                float *v = (float *)(void *)values - end;
                for (int64_t i = 0; i < end; i++) {
                    seed = seed * 1664525 + 1013904223;
                    if (i % 8 == 0) b[i / 8] = (unsigned char)(seed >> 24);
                    v[i] = (float)(seed >> 22);
                }
                const void *buffers[2] = {b, v};
                struct ArrowSchema s = schema_of("f");
                struct ArrowArray a = array_of(buffers, n, offset, -1);
                weft_expr *valid, *x = weft_from_arrow(g, &s, &a, &valid);
                cr_assert(x && valid, "%s", weft_graph_error(g));
                cr_expect(!s.release && !a.release); // moved
                cr_expect(weft_expr_rank(valid) == 1 && weft_expr_dims(valid)[0] == n && weft_expr_dtype(valid) == WEFT_BOOL);
                float sum = 0, want = 0, filled[1000];
                weft_array out[2] = {weft_dense(WEFT_F32, &sum, 0, NULL), weft_dense(WEFT_F32, filled, 1, &n)};
                weft_expr *roots[2] = {weft_sum(weft_where(valid, x, weft_float(g, 0)), NULL),
                                       weft_where(valid, x, weft_float(g, -1))};
                must(g, weft_eval_n(2, roots, out, NULL));
                for (int64_t i = 0; i < n; i++) {
                    const bool there = bit(b, i + offset);
                    want += there ? v[i + offset] : 0;
                    cr_assert_eq(filled[i], there ? v[i + offset] : -1, "length %d offset %d at %d", (int)n, (int)offset, (int)i);
                }
                cr_expect_eq(sum, want);
                weft_graph_reset(g);
            }
    }
    cr_expect_eq(schemas, arrays);
}

Test(arrow, bool_columns) {
    const unsigned char b[4] = {0xa5, 0x3c, 0xff, 0x01};
    EACH_TIER(g) {
        const void *buffers[2] = {NULL, b};
        struct ArrowSchema s = schema_of("b");
        struct ArrowArray a = array_of(buffers, 20, 3, 0);
        weft_expr *valid, *x = weft_from_arrow(g, &s, &a, &valid);
        unsigned char out[20], all;
        int64_t n = 20;
        weft_array o[2] = {weft_dense(WEFT_BOOL, out, 1, &n), weft_dense(WEFT_BOOL, &all, 0, NULL)};
        must(g, weft_eval_n(2, (weft_expr *[]){x, weft_all(valid, NULL)}, o, NULL));
        for (int i = 0; i < 20; i++)
            cr_expect_eq(out[i], bit(b, i + 3));
        cr_expect_eq(all, 1);
    }
}

Test(arrow, every_number_is_read_where_it_lies) {
    static const char formats[] = "cCsSiIlLefg";
    static const weft_dtype types[] = {WEFT_I8,  WEFT_U8,  WEFT_I16, WEFT_U16, WEFT_I32, WEFT_U32,
                                       WEFT_I64, WEFT_U64, WEFT_F16, WEFT_F32, WEFT_F64};
    _Alignas(16) unsigned char data[128], copy[128];
    for (int i = 0; i < 128; i++)
        data[i] = (unsigned char)(i % 50);
    EACH_TIER(g) {
        for (int k = 0; formats[k]; k++) {
            const size_t size = weft_dtype_size(types[k]);
            const char format[2] = {formats[k]};
            const void *buffers[2] = {NULL, data};
            struct ArrowSchema s = schema_of(format);
            struct ArrowArray a = array_of(buffers, 10, 3, -1);
            int64_t n = 10;
            weft_array out = weft_dense(types[k], copy, 1, &n);
            schemas = arrays = 0;
            weft_expr *x = weft_from_arrow(g, &s, &a, NULL);
            cr_assert(x && weft_expr_dtype(x) == types[k]);
            for (int turn = 0; turn < 2; turn++) { // read again at each evaluation: no copy was made
                data[3 * size] = (unsigned char)(7 + turn);
                must(g, weft_eval(x, &out, NULL));
                cr_expect_eq(memcmp(copy, data + 3 * size, 10 * size), 0, "%s", format);
            }
            weft_graph_reset(g);
            cr_expect(schemas == 1 && arrays == 1);

            struct ArrowSchema s2;
            struct ArrowArray a2;
            cr_assert_eq(weft_to_arrow(tiers[0], &(weft_column){.size = sizeof(weft_column), .values = &out}, &s2, &a2), WEFT_OK);
            cr_expect_str_eq(s2.format, format);
            cr_expect(a2.buffers[1] == copy && a2.buffers[0] == NULL && a2.null_count == 0 && a2.length == 10 && a2.n_buffers == 2);
            a2.release(&a2);
            s2.release(&s2);
            cr_expect(!a2.release && !s2.release);
        }
    }
}

static void released(void *ud) { (*(int *)ud)++; }
Test(arrow, columns_with_nulls_go_out_and_come_back) {
    enum { N = 77 };
    int32_t x[N];
    unsigned char mask[N];
    int64_t n = N, nulls = 0;
    int times = 0;
    for (int i = 0; i < N; i++) {
        x[i] = i * i;
        mask[i] = i % 3 ? 200 : 0; // anything not 0 is true
        nulls += !mask[i];
    }
    weft_array xa = weft_dense(WEFT_I32, x, 1, &n), ma = weft_dense(WEFT_BOOL, mask, 1, &n);
    weft_share share = {.size = sizeof share, .release = released, .ud = &times};
    weft_column c = {.size = sizeof c, .values = &xa, .valid = &ma, .name = "squares", .share = &share};
    EACH_TIER(g) {
        struct ArrowSchema s;
        struct ArrowArray a;
        times = 0;
        c.values = &xa;
        cr_assert_eq(weft_to_arrow(tiers[0], &c, &s, &a), WEFT_OK);
        cr_expect_str_eq(s.name, "squares");
        cr_expect(s.flags == 2 && s.n_children == 0 && a.offset == 0);
        cr_expect(a.buffers[1] == x && a.null_count == nulls && a.length == N);
        for (int i = 0; i < N; i++)
            cr_assert_eq(bit(a.buffers[0], i), mask[i] != 0);
        weft_expr *valid, *v = weft_from_arrow(g, &s, &a, &valid);
        int64_t sum = 0, want = 0;
        weft_array out = weft_dense(WEFT_I64, &sum, 0, NULL);
        must(g, weft_eval(weft_sum(weft_where(valid, v, weft_int(g, 0)), NULL), &out, NULL));
        for (int i = 0; i < N; i++)
            want += mask[i] ? x[i] : 0;
        cr_expect_eq(sum, want);
        cr_expect_eq(times, 0);
        weft_graph_reset(g);
        cr_expect_eq(times, 1);

        c.values = &ma; // a bool column is packed, and its memory let go at once
        cr_assert_eq(weft_to_arrow(tiers[0], &c, &s, &a), WEFT_OK);
        cr_expect_eq(times, 2);
        cr_expect_str_eq(s.format, "b");
        for (int i = 0; i < N; i++)
            cr_assert(bit(a.buffers[0], i) == (mask[i] != 0) && bit(a.buffers[1], i) == (mask[i] != 0));
        a.release(&a);
        s.release(&s);
        cr_expect_eq(times, 2);
    }
}

Test(arrow, what_is_refused_stays_with_its_owner) {
    static const double data[4];
    static struct ArrowSchema dictionary;
    static const void *full[2] = {NULL, data}, *nothing[2] = {NULL, NULL};
    static const struct {
        const char *format;
        struct ArrowArray a;
        struct ArrowSchema *dictionary;
        weft_status status;
        const char *says;
    } bad[] = {
        {"u", {.length = 1, .n_buffers = 3, .buffers = full}, NULL, WEFT_EDTYPE, "'u'"},
        {"tdD", {.length = 1, .n_buffers = 2, .buffers = full}, NULL, WEFT_EDTYPE, "'tdD'"},
        {"", {.length = 1, .n_buffers = 2, .buffers = full}, NULL, WEFT_EDTYPE, "''"},
        {NULL, {.length = 1, .n_buffers = 2, .buffers = full}, NULL, WEFT_EDTYPE, "format"},
        {"i", {.length = 1, .n_buffers = 2, .buffers = full}, &dictionary, WEFT_EDTYPE, "dictionaries"},
        {"g", {.length = 1, .n_buffers = 3, .buffers = full}, NULL, WEFT_EINVAL, "3 buffers"},
        {"g", {.length = 1, .n_buffers = 2}, NULL, WEFT_EINVAL, "buffers"},
        {"g", {.length = -1, .n_buffers = 2, .buffers = full}, NULL, WEFT_ESHAPE, "length -1"},
        {"g", {.length = 1, .offset = -1, .n_buffers = 2, .buffers = full}, NULL, WEFT_ESHAPE, "offset -1"},
        {"g", {.length = INT64_MAX, .offset = 9, .n_buffers = 2, .buffers = full}, NULL, WEFT_ESHAPE, "length"},
        {"g", {.length = INT64_MAX / 4, .n_buffers = 2, .buffers = full}, NULL, WEFT_ESHAPE, "length"},
        {"g", {.length = 4, .null_count = 5, .n_buffers = 2, .buffers = full}, NULL, WEFT_EINVAL, "5 nulls"},
        {"g", {.length = 4, .null_count = 2, .n_buffers = 2, .buffers = full}, NULL, WEFT_EINVAL, "no bitmap"},
        {"g", {.length = 4, .null_count = -1, .n_buffers = 2, .buffers = nothing}, NULL, WEFT_EINVAL, "no data"},
        {"g", {.length = 4, .n_buffers = 2, .n_children = 1, .buffers = full}, NULL, WEFT_EINVAL, "children"},
    };
    weft_graph *g = weft_graph_new(tiers[0]);
    schemas = arrays = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct ArrowSchema s = schema_of(bad[i].format);
        struct ArrowArray a = bad[i].a;
        s.dictionary = bad[i].dictionary;
        a.release = release_array;
        weft_expr *valid;
        cr_expect_null(weft_from_arrow(g, &s, &a, &valid));
        cr_expect_null(valid);
        cr_expect_eq(weft_graph_status(g), bad[i].status, "row %d: %s", (int)i, weft_graph_error(g));
        cr_expect(strstr(weft_graph_error(g), bad[i].says), "row %d: %s", (int)i, weft_graph_error(g));
        cr_expect(s.release && a.release);
        weft_graph_reset(g);
    }
    struct ArrowSchema s = schema_of("g");
    struct ArrowArray a = array_of(full, 4, 0, 0);
    s.release = NULL;
    cr_expect_null(weft_from_arrow(g, &s, &a, NULL));
    cr_expect(strstr(weft_graph_error(g), "released"));
    weft_graph_free(g);
    cr_expect(schemas == 0 && arrays == 0);
}

Test(arrow, what_cannot_go_out) {
    double x[8] = {0};
    unsigned char m[8] = {0};
    int64_t four = 4, three = 3, shape[2] = {2, 2};
    char err[256];
    weft_share share = {.size = sizeof share, .err = err, .err_size = sizeof err};
    weft_array strided = weft_strided(WEFT_F64, x, 1, &four, (int64_t[]){16}), matrix = weft_dense(WEFT_F64, x, 2, shape),
               pairs = weft_dense(WEFT_C64, x, 1, &four), half = weft_dense(WEFT_BF16, x, 1, &four),
               fine = weft_dense(WEFT_F64, x, 1, &four), shorter = weft_dense(WEFT_BOOL, m, 1, &three),
               number = weft_dense(WEFT_U8, m, 1, &four);
    const struct {
        const weft_array *values, *valid;
        weft_status status;
        const char *says;
    } rows[] = {
        {&strided, NULL, WEFT_EINVAL, "contiguous"}, {&matrix, NULL, WEFT_EINVAL, "1-d"},     {&pairs, NULL, WEFT_EDTYPE, "c64"},
        {&half, NULL, WEFT_EDTYPE, "bf16"},          {&fine, &shorter, WEFT_EINVAL, "mask"}, {&fine, &number, WEFT_EINVAL, "bool[4]"},
    };
    struct ArrowSchema s;
    struct ArrowArray a;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        weft_column c = {.size = sizeof c, .values = rows[i].values, .valid = rows[i].valid, .share = &share};
        cr_expect_eq(weft_to_arrow(tiers[0], &c, &s, &a), rows[i].status);
        cr_expect(strstr(err, rows[i].says), "%s", err);
    }
}
