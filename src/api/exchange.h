// SPDX-License-Identifier: MIT
// The structs of DLPack and of the Arrow C data interface, as their standards lay them out, and
// what the files that speak them share. The public header only announces their names, so that a
// host may include its own copy.
#ifndef WEFT_API_EXCHANGE_H
#define WEFT_API_EXCHANGE_H

#include "api.h"

// ---- DLPack 1.1 (dmlc/dlpack, dlpack.h)
// ---------------------------------------------------------------
enum { DL_MAJOR = 1, DL_MINOR = 0, DL_CPU = 1 };
enum { DL_READ_ONLY = 1, DL_COPIED = 2, DL_SUBBYTE_PADDED = 4 };
enum dl_code { DL_INT, DL_UINT, DL_FLOAT, DL_OPAQUE, DL_BFLOAT, DL_COMPLEX, DL_BOOL };

struct dl_tensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; // strides in elements, or NULL
    uint64_t byte_offset;
};
struct DLManagedTensor {
    struct dl_tensor tensor;
    void *manager;
    void (*deleter)(struct DLManagedTensor *self);
};
struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    struct dl_tensor tensor;
};

// ---- Arrow C data interface
// ------------------------------------------------------------------------------
enum { ARROW_NULLABLE = 2 };

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

// ---- memory that changes hands (own.c)
// --------------------------------------------------------------------- How to let go of an array
// that went out.
struct letting {
    weft_ctx *ctx;
    weft_release_fn *release;
    void *ud;
    void *data; // of weft_eval_new, and its size; or NULL
    size_t bytes;
};
void let_go(const struct letting *l);
weft_status letting_of(weft_ctx *ctx, const weft_array *a, const weft_share *share,
                       struct letting *out);
// A sentence into e and into what the caller of the API gave.
weft_status share_fail(const weft_share *share, const struct base_err *e);
void text_out(char *err, size_t err_size, const char *text);

#endif
