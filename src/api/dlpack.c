// SPDX-License-Identifier: MIT
// DLPack in and out. In: a tensor of another library; out: a leaf over its memory, or the
// description of an output. In: an array; out: a tensor over its memory, one block that holds shape
// and strides too. Nothing is copied. Everything a tensor says is checked before its memory is
// believed in; what the two versions share is checked once, over the tensor inside.
#include "exchange.h"

_Static_assert(sizeof(struct dl_tensor) == 48 && sizeof(struct DLManagedTensor) == 64 &&
                   sizeof(struct DLManagedTensorVersioned) == 80,
               "the layout of dlpack.h");

// ---- in
// ----------------------------------------------------------------------------------------------
static bool type_of(const struct dl_tensor *t, weft_dtype *out) {
    const int bits = t->dtype.bits;
    const int power = bits == 8     ? 0
                      : bits == 16  ? 1
                      : bits == 32  ? 2
                      : bits == 64  ? 3
                      : bits == 128 ? 4
                                    : -1;
    static const signed char table[][5] = {
        [DL_INT] = {WEFT_I8, WEFT_I16, WEFT_I32, WEFT_I64, -1},
        [DL_UINT] = {WEFT_U8, WEFT_U16, WEFT_U32, WEFT_U64, -1},
        [DL_FLOAT] = {-1, WEFT_F16, WEFT_F32, WEFT_F64, -1},
        [DL_OPAQUE] = {-1, -1, -1, -1, -1},
        [DL_BFLOAT] = {-1, WEFT_BF16, -1, -1, -1},
        [DL_COMPLEX] = {-1, -1, -1, WEFT_C64, WEFT_C128},
        [DL_BOOL] = {WEFT_BOOL, -1, -1, -1, -1},
    };
    if (power < 0 || t->dtype.code >= COUNT_OF(table) || t->dtype.lanes != 1) return false;
    const int type = table[t->dtype.code][power];
    if (type >= 0) *out = (weft_dtype)type;
    return type >= 0;
}

static weft_status strides_of(const struct dl_tensor *t, weft_array *a, struct base_err *err) {
    const int64_t size = (int64_t)dtype_size(a->dtype);
    for (int i = 0; i < a->rank; i++) {
        a->dims[i] = t->shape[i];
        if (t->shape[i] < 0)
            return err_set(err, WEFT_ESHAPE, "dlpack: axis %d has extent %lld", i,
                           (long long)t->shape[i]);
        if (t->strides && __builtin_mul_overflow(t->strides[i], size, &a->strides[i]))
            return err_set(err, WEFT_ESHAPE, "dlpack: stride %lld of axis %d is too large",
                           (long long)t->strides[i], i);
    }
    if (!t->strides) *a = weft_dense(a->dtype, a->data, a->rank, t->shape);
    return WEFT_OK;
}

static weft_status describe(const struct dl_tensor *t, weft_array *out, struct base_err *err) {
    weft_array a = {.data = t->data};
    if (t->device.type != DL_CPU)
        return err_set(
            err, WEFT_EUNSUPPORTED,
            "dlpack: the tensor is on a device of type %d; only memory of the CPU (1) is read",
            t->device.type);
    if (!type_of(t, &a.dtype))
        return err_set(err, WEFT_EDTYPE,
                       "dlpack: type code %d with %d bits and %d lanes has no counterpart",
                       t->dtype.code, t->dtype.bits, t->dtype.lanes);
    if (t->ndim < 0 || t->ndim > WEFT_MAX_RANK)
        return err_set(err, WEFT_ESHAPE, "dlpack: %d axes; 0 to %d are possible", t->ndim,
                       WEFT_MAX_RANK);
    if (t->ndim && !t->shape)
        return err_set(err, WEFT_EINVAL, "dlpack: %d axes without a shape", t->ndim);
    a.rank = t->ndim;
    TRY(strides_of(t, &a, err));
    const int64_t count = weft_array_count(&a);
    if (count < 0) return err_set(err, WEFT_ESHAPE, "dlpack: the size of the tensor overflows");
    if (!a.data && count)
        return err_set(err, WEFT_EINVAL, "dlpack: %lld elements and no data", (long long)count);
    if (a.data) a.data = (char *)a.data + t->byte_offset;
    *out = a;
    return WEFT_OK;
}

static weft_status describe_versioned(const struct DLManagedTensorVersioned *t, weft_array *out,
                                      struct base_err *err) {
    if (!t) return err_set(err, WEFT_EINVAL, "dlpack: no tensor");
    if (t->version.major != DL_MAJOR)
        return err_set(err, WEFT_EUNSUPPORTED,
                       "dlpack: the tensor is of version %u.%u; %d.x is read", t->version.major,
                       t->version.minor, DL_MAJOR);
    return describe(&t->tensor, out, err);
}
static weft_status describe_legacy(const struct DLManagedTensor *t, weft_array *out,
                                   struct base_err *err) {
    if (!t) return err_set(err, WEFT_EINVAL, "dlpack: no tensor");
    return describe(&t->tensor, out, err);
}

static void release_versioned(void *ud) {
    struct DLManagedTensorVersioned *t = ud;
    if (t->deleter) t->deleter(t);
}
static void release_legacy(void *ud) {
    struct DLManagedTensor *t = ud;
    if (t->deleter) t->deleter(t);
}

// The leaf first: only what succeeded is taken.
static weft_expr *adopt(weft_graph *g, const weft_array *a, weft_release_fn *release, void *t) {
    weft_expr *x = weft_from(g, a);
    if (x && weft_graph_own(g, release, t))
        return graph_fail(g, WEFT_ENOMEM, "dlpack: no memory to take the tensor");
    return x;
}

weft_expr *weft_from_dlpack(weft_graph *g, struct DLManagedTensorVersioned *t) {
    weft_array a;
    if (!g || describe_versioned(t, &a, ir_error(g->ir))) return NULL;
    return adopt(g, &a, release_versioned, t);
}
weft_expr *weft_from_dlpack_legacy(weft_graph *g, struct DLManagedTensor *t) {
    weft_array a;
    if (!g || describe_legacy(t, &a, ir_error(g->ir))) return NULL;
    return adopt(g, &a, release_legacy, t);
}

weft_status weft_dlpack_target(const struct DLManagedTensorVersioned *t, weft_array *out, char *err,
                               size_t err_size) {
    struct base_err e = {0};
    if (!out) return WEFT_EINVAL;
    if (!describe_versioned(t, out, &e) && t->flags & DL_READ_ONLY)
        err_set(&e, WEFT_EINVAL, "dlpack: the tensor is read-only and cannot be an output");
    text_out(err, err_size, e.status ? e.text : "");
    return e.status;
}
weft_status weft_dlpack_target_legacy(const struct DLManagedTensor *t, weft_array *out, char *err,
                                      size_t err_size) {
    struct base_err e = {0};
    if (!out) return WEFT_EINVAL;
    describe_legacy(t, out, &e);
    text_out(err, err_size, e.status ? e.text : "");
    return e.status;
}

// ---- out
// ---------------------------------------------------------------------------------------------
struct outgoing {
    struct letting letting;
    union {
        struct DLManagedTensor legacy;
        struct DLManagedTensorVersioned versioned;
    } t;
    int64_t shape[WEFT_MAX_RANK], strides[WEFT_MAX_RANK];
};

static void finish(struct outgoing *o) {
    struct letting l = o->letting;
    base_put(&l.ctx->env.alloc, o, sizeof *o);
    let_go(&l);
}
static void delete_legacy(struct DLManagedTensor *t) {
    finish(t->manager);
}
static void delete_versioned(struct DLManagedTensorVersioned *t) {
    finish(t->manager);
}

static weft_status fill(struct outgoing *o, const weft_array *a, struct dl_tensor *t,
                        struct base_err *err) {
    const int64_t size = (int64_t)dtype_size(a->dtype);
    static const uint8_t code[WEFT_DTYPE__N] = {
        [WEFT_BOOL] = DL_BOOL,   [WEFT_I8] = DL_INT,      [WEFT_I16] = DL_INT,
        [WEFT_I32] = DL_INT,     [WEFT_I64] = DL_INT,     [WEFT_U8] = DL_UINT,
        [WEFT_U16] = DL_UINT,    [WEFT_U32] = DL_UINT,    [WEFT_U64] = DL_UINT,
        [WEFT_F32] = DL_FLOAT,   [WEFT_F64] = DL_FLOAT,   [WEFT_F16] = DL_FLOAT,
        [WEFT_BF16] = DL_BFLOAT, [WEFT_C64] = DL_COMPLEX, [WEFT_C128] = DL_COMPLEX,
    };
    for (int i = 0; i < a->rank; i++) {
        o->shape[i] = a->dims[i];
        o->strides[i] = a->strides[i] / size;
        if (o->strides[i] * size != a->strides[i])
            return err_set(err, WEFT_EINVAL,
                           "dlpack: stride %lld of axis %d is no whole number of %s elements",
                           (long long)a->strides[i], i, dtype_name(a->dtype));
    }
    *t = (struct dl_tensor){
        .data = a->data, .ndim = a->rank, .shape = o->shape, .strides = o->strides};
    t->device.type = DL_CPU;
    t->dtype.code = code[a->dtype];
    t->dtype.bits = (uint8_t)(8 * size);
    t->dtype.lanes = 1;
    return WEFT_OK;
}

static weft_status prepare(weft_ctx *ctx, const weft_array *a, const weft_share *share,
                           bool versioned, struct outgoing **out) {
    struct base_err e = {0};
    struct letting l;
    *out = NULL;
    if (letting_of(ctx, a, share, &l)) return WEFT_EINVAL;
    if (weft_array_count(a) < 0) {
        err_set(&e, WEFT_EINVAL, "dlpack: the array is not valid");
        return share_fail(share, &e);
    }
    if (!versioned && share && share->read_only) {
        err_set(&e, WEFT_EINVAL,
                "dlpack: a tensor of the old form cannot say that it is read-only");
        return share_fail(share, &e);
    }
    struct outgoing *o = base_get_zero(&ctx->env.alloc, sizeof *o);
    if (!o) {
        err_set(&e, WEFT_ENOMEM, "dlpack: no memory for a tensor");
        return share_fail(share, &e);
    }
    o->letting = l;
    if (fill(o, a, versioned ? &o->t.versioned.tensor : &o->t.legacy.tensor, &e))
        base_put(&ctx->env.alloc, o, sizeof *o);
    else
        *out = o;
    return share_fail(share, &e);
}

weft_status weft_to_dlpack(weft_ctx *ctx, const weft_array *a, const weft_share *share,
                           struct DLManagedTensorVersioned **out) {
    struct outgoing *o;
    if (!ctx || !a || !out) return WEFT_EINVAL;
    *out = NULL;
    TRY(prepare(ctx, a, share, true, &o));
    struct DLManagedTensorVersioned *t = &o->t.versioned;
    t->version.major = DL_MAJOR;
    t->version.minor = DL_MINOR;
    t->manager = o;
    t->deleter = delete_versioned;
    t->flags =
        (share && share->read_only ? DL_READ_ONLY : 0) | (share && share->copied ? DL_COPIED : 0);
    *out = t;
    return WEFT_OK;
}

weft_status weft_to_dlpack_legacy(weft_ctx *ctx, const weft_array *a, const weft_share *share,
                                  struct DLManagedTensor **out) {
    struct outgoing *o;
    if (!ctx || !a || !out) return WEFT_EINVAL;
    *out = NULL;
    TRY(prepare(ctx, a, share, false, &o));
    struct DLManagedTensor *t = &o->t.legacy;
    t->manager = o;
    t->deleter = delete_legacy;
    *out = t;
    return WEFT_OK;
}
