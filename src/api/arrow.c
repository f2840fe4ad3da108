// SPDX-License-Identifier: MIT
// Arrow arrays as leaves. In: the two structs of the C data interface, whose buffers nobody has
// checked; out: a leaf over the values where they lie, and a mask. Bits (validity, bool) become
// elements inside the graph, by shifting each byte by 0 to 7: [bytes, 1] >> [1, 8], flattened, cut
// to offset and length. A take of byte i >> 3 would fuse wholly, but stores an i64 index for each
// element; this stores one byte.
#include "exchange.h"

// ---- what the structs say
// -------------------------------------------------------------------------------
struct column { // of an ArrowArray
    weft_dtype dtype;
    bool bits; // values are bits
    int64_t length, offset;
    const unsigned char *valid, *values;
};

static bool type_of(const char *format, struct column *c) {
    static const char letters[] = "bcCsSiIlLefg";
    static const weft_dtype types[] = {WEFT_BOOL, WEFT_I8,  WEFT_U8,  WEFT_I16, WEFT_U16, WEFT_I32,
                                       WEFT_U32,  WEFT_I64, WEFT_U64, WEFT_F16, WEFT_F32, WEFT_F64};
    const char *at = format && format[0] && !format[1] ? strchr(letters, format[0]) : NULL;
    if (!at) return false;
    c->dtype = types[at - letters];
    c->bits = c->dtype == WEFT_BOOL;
    return true;
}

static weft_status read_structs(const struct ArrowSchema *s, const struct ArrowArray *a,
                                struct column *c, struct base_err *err) {
    *c = (struct column){0};
    if (!s || !a) return err_set(err, WEFT_EINVAL, "arrow: no schema or no array");
    if (!s->release || !a->release)
        return err_set(err, WEFT_EINVAL, "arrow: the schema or the array has been released");
    if (s->dictionary || a->dictionary)
        return err_set(err, WEFT_EDTYPE, "arrow: dictionaries are not read; decode them first");
    if (!type_of(s->format, c))
        return err_set(
            err, WEFT_EDTYPE,
            "arrow: format '%.32s' is no primitive type that is read (b c C s S i I l L e f g)",
            s->format ? s->format : "");
    if (a->n_children || s->n_children)
        return err_set(err, WEFT_EINVAL, "arrow: a primitive array has no children");
    if (a->n_buffers != 2 || !a->buffers)
        return err_set(err, WEFT_EINVAL, "arrow: %lld buffers; a primitive array has 2",
                       (long long)a->n_buffers);
    int64_t end, bytes;
    if (a->length < 0 || a->offset < 0 || __builtin_add_overflow(a->length, a->offset, &end) ||
        end > INT64_MAX - 8 || __builtin_mul_overflow(end, (int64_t)dtype_size(c->dtype), &bytes))
        return err_set(err, WEFT_ESHAPE, "arrow: length %lld at offset %lld", (long long)a->length,
                       (long long)a->offset);
    if (a->null_count < -1 || a->null_count > a->length)
        return err_set(err, WEFT_EINVAL, "arrow: %lld nulls of %lld elements",
                       (long long)a->null_count, (long long)a->length);
    c->length = a->length;
    c->offset = a->offset;
    c->valid = a->null_count == 0 ? NULL : a->buffers[0];
    c->values = a->buffers[1];
    if (a->length && !c->values)
        return err_set(err, WEFT_EINVAL, "arrow: %lld elements and no data", (long long)a->length);
    if (a->null_count > 0 && !c->valid)
        return err_set(err, WEFT_EINVAL, "arrow: %lld nulls and no bitmap",
                       (long long)a->null_count);
    return WEFT_OK;
}

// ---- leaves -----------------------------------------------------------------------------------------------
weft_expr *weft_unpack_bits(weft_expr *bytes, int64_t skip, int64_t count) {
    return bytes ? api_call(IR_unpack_bits, &bytes, (int64_t[]){skip, count}, 2) : NULL;
}

static weft_expr *unpack(weft_graph *g, const struct column *c, const unsigned char *bits) {
    const int64_t skip = c->offset % 8, bytes = (skip + c->length + 7) / 8;
    void *first = (void *)(uintptr_t)(bits ? bits + c->offset / 8 : NULL); // read, not written
    weft_array a = weft_dense(WEFT_U8, first, 1, &bytes);
    return weft_unpack_bits(weft_from(g, &a), skip, c->length);
}

static weft_expr *values_of(weft_graph *g, const struct column *c) {
    if (c->bits) return unpack(g, c, c->values);
    const int64_t skip = c->offset * (int64_t)dtype_size(c->dtype);
    weft_array a = weft_dense(c->dtype, (void *)(uintptr_t)(c->values ? c->values + skip : NULL), 1,
                              &c->length);
    return weft_from(g, &a);
}

// ---- ownership
// --------------------------------------------------------------------------------------------
struct taken {
    weft_ctx *ctx;
    struct ArrowSchema schema;
    struct ArrowArray array;
};

static void release_taken(void *ud) {
    struct taken *t = ud;
    struct taken mine = *t;
    base_put(&mine.ctx->env.alloc, t, sizeof *t);
    if (mine.array.release) mine.array.release(&mine.array);
    if (mine.schema.release) mine.schema.release(&mine.schema);
}

// Moves both structs into the graph, as the standard describes: bytes over, the source marked
// released.
static bool take(weft_graph *g, struct ArrowSchema *s, struct ArrowArray *a) {
    const struct base_alloc *alloc = &g->ctx->env.alloc;
    struct taken *t = base_get(alloc, sizeof *t);
    if (!t) return false;
    *t = (struct taken){g->ctx, *s, *a};
    if (weft_graph_own(g, release_taken, t)) {
        base_put(alloc, t, sizeof *t);
        return false;
    }
    s->release = NULL;
    a->release = NULL;
    return true;
}

weft_expr *weft_from_arrow(weft_graph *g, struct ArrowSchema *schema, struct ArrowArray *array,
                           weft_expr **valid) {
    struct column c;
    if (valid) *valid = NULL;
    if (!g || read_structs(schema, array, &c, ir_error(g->ir))) return NULL;
    weft_expr *values = values_of(g, &c);
    weft_expr *mask = !valid ? values : c.valid ? unpack(g, &c, c.valid) : weft_truth(g, true);
    if (!values || !mask) return NULL;
    if (!take(g, schema, array))
        return graph_fail(g, WEFT_ENOMEM, "arrow: no memory to take the array");
    if (valid) *valid = mask;
    return values;
}
