/* SPDX-License-Identifier: MIT
 *
 * weft: arrays of other libraries in and out without a copy, by DLPack (versions 0.x "legacy" and 1.x) and by
 * the Arrow C data interface. Included by weft.h.
 *
 * The structs are those of the standards' own headers, under their own names; they are only announced here, so
 * include dlpack.h or arrow's abi.h if you look inside. weft does not link either library.
 *
 * Ownership, both ways: memory that comes in belongs to the graph from the moment a function succeeds, and is
 * let go exactly once, when the graph is reset or freed, on the thread that does so; a program compiled from the
 * graph refers to the memory but does not keep it. When a function fails nothing has been taken. Memory that goes
 * out is let go exactly once too, when its consumer calls the deleter, on any thread.
 */
#ifndef WEFT_EXCHANGE_H
#define WEFT_EXCHANGE_H

#ifndef WEFT_WEFT_H
#include "weft.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef void weft_release_fn(void *ud);

/* Calls release(ud) once, after the expressions of g are gone: when g is reset or freed. Last in, first out. For
 * memory behind weft_from that nobody else looks after. WEFT_ENOMEM: nothing was taken. */
WEFT_API weft_status weft_graph_own(weft_graph *g, weft_release_fn *release, void *ud);

/* How an array's memory goes out. size must be sizeof(weft_share); NULL instead of this struct, or zero fields:
 * the memory stays yours and must live as long as the consumer looks at it. */
typedef struct weft_share {
    size_t size;
    weft_release_fn *release; /* called with ud once when the consumer is done */
    void *ud;
    bool free_array; /* the memory came from weft_eval_new: give it back to the context then */
    bool read_only;  /* the consumer must not write (DLPack 1.x and its flag; Arrow never writes) */
    bool copied;     /* say that nobody else holds this memory (DLPack 1.x) */
    char *err;       /* receives a sentence (or "") in at most err_size bytes; may be NULL */
    size_t err_size;
} weft_share;

/* ---- DLPack -------------------------------------------------------------------------------------------- */

struct DLManagedTensor;          /* dlpack.h, legacy */
struct DLManagedTensorVersioned; /* dlpack.h, 1.x */

/* A leaf over a tensor in the memory of the CPU: bool, int, uint, float 16/32/64, bfloat 16, complex 64/128, one
 * lane. Strides may be NULL (row-major), negative or 0; byte_offset counts. NULL on failure, with the sentence in
 * the graph: WEFT_EUNSUPPORTED for another device or major version, WEFT_EDTYPE, WEFT_ESHAPE, WEFT_EINVAL. */
WEFT_API weft_expr *weft_from_dlpack(weft_graph *g, struct DLManagedTensorVersioned *t);
WEFT_API weft_expr *weft_from_dlpack_legacy(weft_graph *g, struct DLManagedTensor *t);

/* Describes a tensor as an output for weft_eval and weft_run. Takes nothing: the tensor is the caller's. A tensor
 * that is marked read-only is WEFT_EINVAL; else as above. err, when not NULL, receives a sentence or "". */
WEFT_API weft_status weft_dlpack_target(const struct DLManagedTensorVersioned *t, weft_array *out, char *err,
                                        size_t err_size);
WEFT_API weft_status weft_dlpack_target_legacy(const struct DLManagedTensor *t, weft_array *out, char *err,
                                               size_t err_size);

/* A new tensor over a's memory, version 1.0 or legacy (which cannot say read-only: WEFT_EINVAL if asked). The context
 * must live until the deleter has been called. Strides that are no whole number of elements are WEFT_EINVAL. */
WEFT_API weft_status weft_to_dlpack(weft_ctx *ctx, const weft_array *a, const weft_share *share,
                                    struct DLManagedTensorVersioned **out);
WEFT_API weft_status weft_to_dlpack_legacy(weft_ctx *ctx, const weft_array *a, const weft_share *share,
                                           struct DLManagedTensor **out);

/* ---- Arrow C data interface ------------------------------------------------------------------------------ */

struct ArrowSchema;
struct ArrowArray;

/* A 1-d leaf over the values of a primitive array (formats b c C s S i I l L e f g), and, when valid is not NULL, a
 * bool expression of its shape that is false where the array has nulls: a literal true when it has none. What lies in
 * the place of a null is unspecified; where(valid, values, x) fills it, sum(where(valid, values, 0)) skips it. Values
 * are read in place. The validity bitmap, and format b, are unpacked by weft_unpack_bits: lazily, with one byte an
 * element in the workspace. On success the contents of both structs have moved (their release is
 * NULL, as the standard asks). NULL on failure, with the sentence in the graph: WEFT_EDTYPE for other formats and
 * dictionaries, WEFT_EINVAL for structs that are released or do not add up. */
WEFT_API weft_expr *weft_from_arrow(weft_graph *g, struct ArrowSchema *schema, struct ArrowArray *array,
                                    weft_expr **valid);

/* The bits of a 1-d u8 expression from bit skip on, least significant first (numpy.unpackbits with bitorder="little"),
 * as bool[count]. Reads only the bytes that hold them. WEFT_EDTYPE, WEFT_ESHAPE. */
WEFT_API weft_expr *weft_unpack_bits(weft_expr *bytes, int64_t skip, int64_t count);

/* size must be sizeof(weft_column). */
typedef struct weft_column {
    size_t size;
    const weft_array *values; /* 1-d, contiguous; not bf16 or complex (WEFT_EDTYPE) */
    const weft_array *valid;  /* bool of the same extent: not 0 where there is a value; NULL: everywhere */
    const char *name;         /* copied; NULL: "" */
    const weft_share *share;
} weft_column;

/* Fills both structs, which the consumer releases. Numbers are not copied. Bits are: a bool column, after which its
 * memory is let go at once, and the mask of valid. The context must live until the release. */
WEFT_API weft_status weft_to_arrow(weft_ctx *ctx, const weft_column *c, struct ArrowSchema *schema,
                                   struct ArrowArray *array);

#ifdef __cplusplus
}
#endif
#endif
