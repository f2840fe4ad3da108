// SPDX-License-Identifier: MIT
// Introduces: a column with nulls in and out by the Arrow C data interface; nulls are a mask in the graph.
#include <stdio.h>

#include <weft/weft.h>

// Arrow's standard asks hosts to copy these; weft uses the same names and only announces them.
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
static void release_schema(struct ArrowSchema *s) { s->release = NULL; }
static void release_array(struct ArrowArray *a) { a->release = NULL; }

int main(void) {
    // 1 null 3 4 null 6, as another library would hand it over
    static const double values[6] = {1, -99, 3, 4, -99, 6};
    static const unsigned char bits = 0x2d; // 101101, least significant first
    static const void *buffers[2] = {&bits, values};
    struct ArrowSchema schema = {.format = "g", .name = "price", .flags = 2, .release = release_schema};
    struct ArrowArray array = {.length = 6, .null_count = 2, .n_buffers = 2, .buffers = buffers, .release = release_array};

    weft_ctx *ctx = NULL;
    if (weft_ctx_new(&ctx, NULL)) return 1;
    weft_graph *g = weft_graph_new(ctx);
    weft_expr *valid, *x = weft_from_arrow(g, &schema, &array, &valid);
    if (!x) {
        fprintf(stderr, "weft: %s\n", weft_graph_error(g));
        return 1;
    }
    // the mean of what is there, and where a value above it is there: nulls stay nulls
    weft_expr *total = weft_sum(weft_where(valid, x, weft_float(g, 0)), NULL);
    weft_expr *mean = weft_true_divide(total, weft_sum(weft_cast(valid, WEFT_F64), NULL));
    double m, scaled[6];
    unsigned char mask[6];
    int64_t n = 6;
    weft_array outs[3] = {weft_dense(WEFT_F64, &m, 0, NULL), weft_dense(WEFT_F64, scaled, 1, &n),
                          weft_dense(WEFT_BOOL, mask, 1, &n)};
    weft_expr *roots[3] = {mean, weft_true_divide(x, mean), valid};
    if (weft_eval_n(3, roots, outs, NULL)) return 1;
    weft_graph_free(g); // releases their array and schema

    weft_column c = {.size = sizeof c, .values = &outs[1], .valid = &outs[2], .name = "price over mean"};
    if (weft_to_arrow(ctx, &c, &schema, &array)) return 1;
    printf("mean %g; '%s' (%s), %lld of %lld null:", m, schema.name, schema.format, (long long)array.null_count,
           (long long)array.length);
    for (int i = 0; i < 6; i++) {
        if (((const unsigned char *)array.buffers[0])[0] >> i & 1)
            printf(" %.3f", ((const double *)array.buffers[1])[i]);
        else
            printf(" null");
    }
    printf("\n");
    const int bad = m != 3.5 || array.null_count != 2 || array.buffers[1] != scaled || scaled[5] != 6 / 3.5;
    array.release(&array);
    schema.release(&schema);
    weft_ctx_free(ctx);
    return bad;
}
