// SPDX-License-Identifier: MIT
// DLPack in and out: where the elements are read, whose they are, what is refused.
#include "cases.h"
#include "exchange.h"

TestSuite(dlpack, .timeout = PATIENCE * 120);

static int deleted; // deleters called
static void delete_versioned(DLManagedTensorVersioned *t) {
    (void)t;
    deleted++;
}
static void delete_legacy(DLManagedTensor *t) {
    (void)t;
    deleted++;
}
static void released(void *ud) { (*(int *)ud)++; }

static DLTensor tensor(void *data, DLDataType type, int ndim, int64_t *shape, int64_t *strides) {
    return (DLTensor){data, {1, 0}, ndim, type, shape, strides, 0};
}
static DLManagedTensorVersioned versioned(DLTensor t) {
    return (DLManagedTensorVersioned){{1, 0}, NULL, delete_versioned, 0, t};
}

// code, bits, what it is here
static const struct {
    DLDataType type;
    weft_dtype dtype;
} types[] = {
    {{0, 8, 1}, WEFT_I8},    {{0, 16, 1}, WEFT_I16}, {{0, 32, 1}, WEFT_I32}, {{0, 64, 1}, WEFT_I64},  {{1, 8, 1}, WEFT_U8},
    {{1, 16, 1}, WEFT_U16},  {{1, 32, 1}, WEFT_U32}, {{1, 64, 1}, WEFT_U64}, {{2, 16, 1}, WEFT_F16},  {{2, 32, 1}, WEFT_F32},
    {{2, 64, 1}, WEFT_F64},  {{4, 16, 1}, WEFT_BF16}, {{5, 64, 1}, WEFT_C64}, {{5, 128, 1}, WEFT_C128}, {{6, 8, 1}, WEFT_BOOL},
};

Test(dlpack, every_type_goes_both_ways_without_a_copy) {
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_INTERP, 1);
    _Alignas(16) unsigned char data[256], copy[256];
    int64_t shape[2] = {3, 4};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        weft_graph *g = weft_graph_new(ctx);
        for (int k = 0; k < 256; k++)
            data[k] = (unsigned char)(types[i].dtype == WEFT_BOOL ? k & 1 : k % 60);
        DLManagedTensorVersioned t = versioned(tensor(data, types[i].type, 2, shape, NULL));
        weft_array out;
        char err[128];
        cr_assert_eq(weft_dlpack_target(&t, &out, err, sizeof err), WEFT_OK);
        cr_expect_eq(out.data, (void *)data);
        cr_expect_eq(out.dtype, types[i].dtype);
        cr_expect_eq(out.strides[0], (int64_t)(4 * weft_dtype_size(out.dtype)));
        cr_expect_str_eq(err, "");

        out.data = copy;
        deleted = 0;
        weft_expr *x = weft_from_dlpack(g, &t);
        must(g, weft_eval(x, &out, NULL));
        cr_expect_eq(memcmp(copy, data, 12 * weft_dtype_size(out.dtype)), 0, "%s", weft_dtype_name(out.dtype));
        data[0] = (unsigned char)!data[0]; // read at evaluation, from where it is
        must(g, weft_eval(x, &out, NULL));
        cr_expect_eq(memcmp(copy, data, 12 * weft_dtype_size(out.dtype)), 0);

        DLManagedTensorVersioned *back = NULL;
        cr_assert_eq(weft_to_dlpack(ctx, &out, NULL, &back), WEFT_OK);
        cr_expect_eq(back->dl_tensor.data, (void *)copy);
        cr_expect_eq(memcmp(&back->dl_tensor.dtype, &types[i].type, sizeof(DLDataType)), 0);
        cr_expect(back->dl_tensor.strides[0] == 4 && back->dl_tensor.strides[1] == 1 && back->dl_tensor.shape[1] == 4);
        cr_expect(back->version.major == 1 && back->flags == 0 && back->dl_tensor.device.device_type == 1);
        back->deleter(back);
        cr_expect_eq(deleted, 0);
        weft_graph_free(g);
        cr_expect_eq(deleted, 1);
    }
    weft_ctx_free(ctx);
}

Test(dlpack, strides_offsets_and_no_elements) {
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_JIT, 1);
    weft_graph *g = weft_graph_new(ctx);
    double x[40], out[12];
    for (int i = 0; i < 40; i++)
        x[i] = i;
    int64_t shape[2] = {3, 4}, strides[2] = {-12, 2}, still[2] = {1, 0}, none[2] = {3, 0};
    weft_array o = weft_dense(WEFT_F64, out, 2, shape);
    DLManagedTensorVersioned t = versioned(tensor(x, (DLDataType){2, 64, 1}, 2, shape, strides));
    t.dl_tensor.byte_offset = 25 * sizeof(double);
    must(g, weft_eval(weft_from_dlpack(g, &t), &o, NULL));
    for (int i = 0; i < 12; i++)
        cr_expect_eq(out[i], 25 - 12 * (i / 4) + 2 * (i % 4));
    DLManagedTensor old = {tensor(x, (DLDataType){2, 64, 1}, 2, shape, still), NULL, delete_legacy};
    must(g, weft_eval(weft_from_dlpack_legacy(g, &old), &o, NULL));
    cr_expect(out[3] == 0 && out[4] == 1 && out[11] == 2);
    DLManagedTensorVersioned empty = versioned(tensor(NULL, (DLDataType){2, 64, 1}, 2, none, NULL));
    weft_array zero = weft_dense(WEFT_F64, out, 0, NULL);
    must(g, weft_eval(weft_sum(weft_from_dlpack(g, &empty), NULL), &zero, NULL));
    cr_expect_eq(out[0], 0);
    DLManagedTensorVersioned one = versioned(tensor(x + 7, (DLDataType){2, 64, 1}, 0, NULL, NULL));
    one.deleter = NULL; // allowed: nothing to do
    must(g, weft_eval(weft_from_dlpack(g, &one), &zero, NULL));
    cr_expect_eq(out[0], 7);
    deleted = 0;
    weft_graph_reset(g);
    cr_expect_eq(deleted, 3);
    weft_graph_free(g);
    cr_expect_eq(deleted, 3);
    weft_ctx_free(ctx);
}

static int64_t shape_of_bad[33], big[2] = {1LL << 40, 1LL << 40}, negative[2] = {3, -1}, fine[2] = {2, 2};
static int64_t far[2] = {INT64_MAX / 2, 1};
static double memory[4];
static const struct {
    DLTensor t;
    uint32_t major;
    weft_status status;
    const char *says;
} bad[] = {
    {{memory, {2, 0}, 2, {2, 64, 1}, fine, NULL, 0}, 1, WEFT_EUNSUPPORTED, "device of type 2"},
    {{memory, {1, 0}, 2, {2, 64, 1}, fine, NULL, 0}, 2, WEFT_EUNSUPPORTED, "version 2.0"},
    {{memory, {1, 0}, 2, {2, 64, 1}, fine, NULL, 0}, 0, WEFT_EUNSUPPORTED, "version 0.0"},
    {{memory, {1, 0}, 2, {2, 64, 2}, fine, NULL, 0}, 1, WEFT_EDTYPE, "2 lanes"},
    {{memory, {1, 0}, 2, {2, 64, 0}, fine, NULL, 0}, 1, WEFT_EDTYPE, "0 lanes"},
    {{memory, {1, 0}, 2, {2, 8, 1}, fine, NULL, 0}, 1, WEFT_EDTYPE, "8 bits"},
    {{memory, {1, 0}, 2, {0, 4, 1}, fine, NULL, 0}, 1, WEFT_EDTYPE, "4 bits"},
    {{memory, {1, 0}, 2, {0, 128, 1}, fine, NULL, 0}, 1, WEFT_EDTYPE, "128 bits"},
    {{memory, {1, 0}, 2, {3, 64, 1}, fine, NULL, 0}, 1, WEFT_EDTYPE, "code 3"},
    {{memory, {1, 0}, 2, {5, 32, 1}, fine, NULL, 0}, 1, WEFT_EDTYPE, "code 5"},
    {{memory, {1, 0}, 2, {7, 8, 1}, fine, NULL, 0}, 1, WEFT_EDTYPE, "code 7"},
    {{memory, {1, 0}, 33, {2, 64, 1}, shape_of_bad, NULL, 0}, 1, WEFT_ESHAPE, "33 axes"},
    {{memory, {1, 0}, -1, {2, 64, 1}, fine, NULL, 0}, 1, WEFT_ESHAPE, "-1 axes"},
    {{memory, {1, 0}, 2, {2, 64, 1}, NULL, NULL, 0}, 1, WEFT_EINVAL, "without a shape"},
    {{memory, {1, 0}, 2, {2, 64, 1}, big, NULL, 0}, 1, WEFT_ESHAPE, "overflows"},
    {{memory, {1, 0}, 2, {2, 64, 1}, negative, NULL, 0}, 1, WEFT_ESHAPE, "extent -1"},
    {{memory, {1, 0}, 2, {2, 64, 1}, fine, far, 0}, 1, WEFT_ESHAPE, "too large"},
    {{NULL, {1, 0}, 2, {2, 64, 1}, fine, NULL, 0}, 1, WEFT_EINVAL, "no data"},
};

Test(dlpack, what_is_refused_stays_with_its_owner) {
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_INTERP, 1);
    weft_graph *g = weft_graph_new(ctx);
    deleted = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        DLManagedTensorVersioned t = versioned(bad[i].t);
        t.version.major = bad[i].major;
        char err[256] = "";
        weft_array out;
        cr_expect_null(weft_from_dlpack(g, &t));
        cr_expect_eq(weft_graph_status(g), bad[i].status, "%s", weft_graph_error(g));
        cr_expect(strstr(weft_graph_error(g), bad[i].says), "'%s' should say '%s'", weft_graph_error(g), bad[i].says);
        weft_graph_reset(g);
        cr_expect_eq(weft_dlpack_target(&t, &out, err, sizeof err), bad[i].status);
        cr_expect(strstr(err, bad[i].says), "%s", err);
        if (bad[i].major != 1) continue;
        DLManagedTensor old = {bad[i].t, NULL, delete_legacy};
        cr_expect_null(weft_from_dlpack_legacy(g, &old));
        cr_expect_eq(weft_graph_status(g), bad[i].status);
        weft_graph_reset(g);
    }
    cr_expect_null(weft_from_dlpack(g, NULL));
    cr_expect_eq(weft_graph_status(g), WEFT_EINVAL);
    cr_expect_null(weft_from_dlpack_legacy(NULL, NULL));
    weft_graph_free(g);
    cr_expect_eq(deleted, 0);
    weft_ctx_free(ctx);
}

Test(dlpack, read_only_tensors_are_read_and_not_written) {
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_INTERP, 1);
    weft_graph *g = weft_graph_new(ctx);
    double x[4] = {1, 2, 3, 4}, y[4];
    DLManagedTensorVersioned t = versioned(tensor(x, (DLDataType){2, 64, 1}, 2, fine, NULL));
    t.flags = 1 | 2;
    t.version.minor = 7; // later minor versions are layout-compatible
    weft_array out = weft_dense(WEFT_F64, y, 2, fine), target;
    char err[128];
    must(g, weft_eval(weft_neg(weft_from_dlpack(g, &t)), &out, NULL));
    cr_expect_eq(y[3], -4);
    cr_expect_eq(weft_dlpack_target(&t, &target, err, sizeof err), WEFT_EINVAL);
    cr_expect(strstr(err, "read-only"));
    t.flags = 2;
    cr_expect_eq(weft_dlpack_target(&t, &target, NULL, 0), WEFT_OK);
    DLManagedTensor old = {t.dl_tensor, NULL, delete_legacy};
    cr_expect_eq(weft_dlpack_target_legacy(&old, &target, NULL, 0), WEFT_OK);
    must(g, weft_eval(weft_full(g, WEFT_F64, &(double){9}, 2, fine), &target, NULL));
    cr_expect(x[0] == 9 && x[3] == 9);

    weft_share share = {.size = sizeof share, .read_only = true, .copied = true, .err = err, .err_size = sizeof err};
    DLManagedTensorVersioned *v = NULL;
    DLManagedTensor *l = NULL;
    cr_assert_eq(weft_to_dlpack(ctx, &out, &share, &v), WEFT_OK);
    cr_expect_eq(v->flags, 3u);
    v->deleter(v);
    cr_expect_eq(weft_to_dlpack_legacy(ctx, &out, &share, &l), WEFT_EINVAL);
    cr_expect(strstr(err, "read-only") && !l);
    weft_graph_free(g);
    weft_ctx_free(ctx);
}

Test(dlpack, what_goes_out_is_let_go_once) {
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_INTERP, 1);
    weft_graph *g = weft_graph_new(ctx);
    int times = 0;
    char err[128];
    double x[6] = {0, 1, 2, 3, 4, 5};
    weft_stats before, after;
    weft_share share = {.size = sizeof share, .release = released, .ud = &times, .err = err, .err_size = sizeof err};
    weft_array a = weft_strided(WEFT_F64, x + 5, 2, (int64_t[]){2, 3}, (int64_t[]){-24, -8});
    DLManagedTensor *l = NULL;
    cr_assert_eq(weft_to_dlpack_legacy(ctx, &a, &share, &l), WEFT_OK);
    cr_expect(l->dl_tensor.data == x + 5 && l->dl_tensor.strides[0] == -3 && l->dl_tensor.strides[1] == -1);
    cr_expect_eq(times, 0);
    l->deleter(l);
    cr_expect_eq(times, 1);
    a.strides[1] = -4;
    cr_expect_eq(weft_to_dlpack_legacy(ctx, &a, &share, &l), WEFT_EINVAL);
    cr_expect(strstr(err, "stride -4 of axis 1"), "%s", err);
    cr_expect(times == 1 && !l);

    // a result of the library, taken back by it
    weft_array made;
    must(g, weft_eval_new(weft_iota(g, WEFT_F32, 1, (int64_t[]){1000}, 0), &made, NULL));
    weft_ctx_stats(ctx, &before, sizeof before);
    share.free_array = true;
    DLManagedTensorVersioned *v = NULL;
    cr_assert_eq(weft_to_dlpack(ctx, &made, &share, &v), WEFT_OK);
    weft_graph_reset(g); // the tensor needs no graph, and may come back into one
    deleted = 0;
    weft_array out = weft_dense(WEFT_F32, x, 0, NULL);
    must(g, weft_eval(weft_sum(weft_from_dlpack(g, v), NULL), &out, NULL));
    float sum;
    memcpy(&sum, x, sizeof sum);
    cr_expect_eq(sum, 499500);
    weft_graph_free(g);
    cr_expect_eq(times, 2);
    weft_ctx_stats(ctx, &after, sizeof after);
    cr_expect_leq(after.alloc_bytes + 4000, before.alloc_bytes);
    weft_ctx_free(ctx);
}

static int order[3], norder;
static void note(void *ud) { order[norder++] = *(int *)ud; }
Test(dlpack, graphs_let_go_last_in_first_out) {
    weft_ctx *ctx = new_ctx(WEFT_BACKEND_INTERP, 1);
    weft_graph *g = weft_graph_new(ctx);
    int id[3] = {1, 2, 3};
    for (int i = 0; i < 3; i++)
        cr_assert_eq(weft_graph_own(g, note, &id[i]), WEFT_OK);
    cr_expect_eq(weft_graph_own(NULL, note, id), WEFT_EINVAL);
    cr_expect_eq(weft_graph_own(g, NULL, id), WEFT_EINVAL);
    weft_graph_reset(g);
    weft_graph_free(g);
    cr_expect(norder == 3 && order[0] == 3 && order[1] == 2 && order[2] == 1);
    weft_ctx_free(ctx);
}

// Every refused allocation: a status, nothing taken, nothing lost.
static int budget;
static void *meagre(void *ud, void *p, size_t old, size_t size) {
    (void)ud, (void)old;
    if (!size) {
        free(p);
        return NULL;
    }
    return budget-- > 0 ? realloc(p, size) : NULL;
}
Test(dlpack, without_memory) {
    budget = 1 << 20;
    weft_ctx_opts o = {.size = sizeof o, .alloc = meagre, .threads = 1, .backend = WEFT_BACKEND_INTERP};
    weft_ctx *ctx = NULL;
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    int taken = 0;
    for (int n = 0; n < 12; n++) {
        double x[4] = {0};
        weft_graph *g = weft_graph_new(ctx);
        DLManagedTensorVersioned t = versioned(tensor(x, (DLDataType){2, 64, 1}, 2, fine, NULL)), *v = NULL;
        weft_array a = weft_dense(WEFT_F64, x, 2, fine);
        deleted = 0;
        budget = n;
        const bool in = weft_from_dlpack(g, &t) != NULL;
        cr_expect(in || weft_graph_status(g) == WEFT_ENOMEM);
        budget = 0;
        cr_expect_eq(weft_to_dlpack(ctx, &a, NULL, &v), WEFT_ENOMEM);
        budget = 1 << 20;
        weft_graph_free(g);
        cr_expect_eq(deleted, in);
        taken += in;
    }
    cr_expect(taken > 0 && taken < 12);
    weft_ctx_free(ctx);
}
