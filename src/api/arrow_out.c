// SPDX-License-Identifier: MIT
// Arrays as Arrow arrays. In: a contiguous 1-d array and a mask; out: the two structs of the C data
// interface, each with a release of its own. Numbers stay where they are; only bits are made: the
// validity bitmap, and the values of a bool column. One block holds the buffers' addresses, the
// bits and the name of what was made.
#include "exchange.h"

struct outgoing {
    struct letting letting;
    size_t bytes; // of this block
    const void *buffers[2];
    unsigned char bits[]; // validity, then bool values
};
struct label { // of a schema
    weft_ctx *ctx;
    size_t bytes;
    char name[];
};

static void release_array(struct ArrowArray *a) {
    struct outgoing *o = a->private_data;
    struct letting l = o->letting;
    a->release = NULL;
    base_put(&l.ctx->env.alloc, o, o->bytes);
    let_go(&l);
}
static void release_schema(struct ArrowSchema *s) {
    struct label *l = s->private_data;
    s->release = NULL;
    base_put(&l->ctx->env.alloc, l, l->bytes);
}

static const char *format_of(weft_dtype t) {
    static const char *const formats[WEFT_DTYPE__N] = {
        [WEFT_BOOL] = "b", [WEFT_I8] = "c",  [WEFT_I16] = "s", [WEFT_I32] = "i",
        [WEFT_I64] = "l",  [WEFT_U8] = "C",  [WEFT_U16] = "S", [WEFT_U32] = "I",
        [WEFT_U64] = "L",  [WEFT_F16] = "e", [WEFT_F32] = "f", [WEFT_F64] = "g",
    };
    return (unsigned)t < WEFT_DTYPE__N ? formats[t] : NULL;
}

// Bit i is set where byte i of a is not 0; counts those that are not.
static int64_t pack(const weft_array *a, unsigned char *bits) {
    const unsigned char *p = a->data;
    int64_t clear = 0;
    for (int64_t i = 0; i < a->dims[0]; i++, p += a->strides[0]) {
        if (*p)
            bits[i / 8] = (unsigned char)(bits[i / 8] | 1u << i % 8);
        else
            clear++;
    }
    return clear;
}

static weft_status check(const weft_column *c, struct base_err *err) {
    const weft_array *v = c->values, *m = c->valid;
    if (!v || weft_array_count(v) < 0 || v->rank != 1)
        return err_set(err, WEFT_EINVAL, "arrow: a column is made of one 1-d array");
    if (!format_of(v->dtype))
        return err_set(err, WEFT_EDTYPE, "arrow: there is no primitive type for %s",
                       dtype_name(v->dtype));
    if (v->dtype != WEFT_BOOL && v->dims[0] > 1 && v->strides[0] != (int64_t)dtype_size(v->dtype))
        return err_set(err, WEFT_EINVAL,
                       "arrow: values must be contiguous; the stride is %lld bytes",
                       (long long)v->strides[0]);
    if (m && (weft_array_count(m) < 0 || m->rank != 1 || m->dtype != WEFT_BOOL ||
              m->dims[0] != v->dims[0]))
        return err_set(err, WEFT_EINVAL,
                       "arrow: the mask must be bool[%lld], as long as the values",
                       (long long)v->dims[0]);
    return WEFT_OK;
}

static weft_status make_array(weft_ctx *ctx, const weft_column *c, const struct letting *l,
                              struct ArrowArray *out) {
    const weft_array *v = c->values;
    const size_t map = ((size_t)v->dims[0] + 63) / 64 * 8; // a bitmap, in whole words
    const bool bits = v->dtype == WEFT_BOOL;
    const size_t bytes = sizeof(struct outgoing) + map * ((c->valid != NULL) + (size_t)bits);
    struct outgoing *o = base_get_zero(&ctx->env.alloc, bytes);
    if (!o) return WEFT_ENOMEM;
    o->bytes = bytes;
    *out = (struct ArrowArray){.length = v->dims[0],
                               .n_buffers = 2,
                               .buffers = o->buffers,
                               .release = release_array,
                               .private_data = o};
    if (c->valid) {
        out->null_count = pack(c->valid, o->bits);
        o->buffers[0] = o->bits;
    }
    o->buffers[1] = v->data;
    o->letting = *l;
    if (!bits) return WEFT_OK;
    unsigned char *to = o->bits + (c->valid ? map : 0);
    pack(v, to);
    o->buffers[1] = to;
    o->letting = (struct letting){.ctx = ctx}; // the copy is all that is needed
    let_go(l);
    return WEFT_OK;
}

weft_status weft_to_arrow(weft_ctx *ctx, const weft_column *c, struct ArrowSchema *schema,
                          struct ArrowArray *array) {
    struct base_err e = {0};
    struct letting l;
    if (!ctx || !c || c->size != sizeof *c || !schema || !array) return WEFT_EINVAL;
    if (check(c, &e)) return share_fail(c->share, &e);
    if (letting_of(ctx, c->values, c->share, &l)) return WEFT_EINVAL;
    const char *name = c->name ? c->name : "";
    const size_t bytes = sizeof(struct label) + strlen(name) + 1;
    struct label *label = base_get(&ctx->env.alloc, bytes);
    if (!label || make_array(ctx, c, &l, array)) {
        base_put(&ctx->env.alloc, label, bytes);
        err_set(&e, WEFT_ENOMEM, "arrow: no memory for a column");
        return share_fail(c->share, &e);
    }
    label->ctx = ctx;
    label->bytes = bytes;
    memcpy(label->name, name, strlen(name) + 1);
    *schema = (struct ArrowSchema){.format = format_of(c->values->dtype),
                                   .name = label->name,
                                   .flags = ARROW_NULLABLE,
                                   .release = release_schema,
                                   .private_data = label};
    return share_fail(c->share, &e);
}
