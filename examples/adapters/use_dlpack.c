// SPDX-License-Identifier: MIT
// Introduces: a tensor of another library in, a result out, both by DLPack and without a copy.
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

// A host has these from its copy of dlpack.h; weft uses the same names and only announces them.
typedef struct {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} tensor;
struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    tensor dl;
};

static int freed;
static void free_tensor(struct DLManagedTensorVersioned *t) {
    freed++;
    free(t->dl.data);
    free(t);
}

// What another library would hand over: 3 x 2 floats, row-major.
static struct DLManagedTensorVersioned *their_tensor(void) {
    static int64_t shape[2] = {3, 2};
    struct DLManagedTensorVersioned *t = calloc(1, sizeof *t);
    float *x = malloc(6 * sizeof *x);
    if (!t || !x) exit(1);
    for (int i = 0; i < 6; i++)
        x[i] = (float)i;
    t->version.major = 1;
    t->deleter = free_tensor;
    t->dl = (tensor){.data = x, .device = {1, 0}, .ndim = 2, .dtype = {2, 32, 1}, .shape = shape};
    return t;
}

int main(void) {
    weft_ctx *ctx = NULL;
    if (weft_ctx_new(&ctx, NULL)) return 1;
    weft_graph *g = weft_graph_new(ctx);
    struct DLManagedTensorVersioned *theirs = their_tensor(), *ours = NULL;
    weft_expr *x = weft_from_dlpack(g, theirs); // the graph owns it now
    if (!x) theirs->deleter(theirs);            // a refused tensor is still ours
    weft_array result;
    if (weft_eval_new(weft_mul(weft_transpose(x, NULL), weft_float(g, 10)), &result, NULL)) {
        fprintf(stderr, "weft: %s\n", weft_graph_error(g));
        return 1;
    }
    weft_graph_free(g); // lets go of their tensor
    weft_share share = {.size = sizeof share, .free_array = true, .copied = true};
    if (weft_to_dlpack(ctx, &result, &share, &ours)) return 1;
    const float *y = ours->dl.data;
    printf("%d deleted; [%lld, %lld]: %g %g %g / %g %g %g\n", freed, (long long)ours->dl.shape[0],
           (long long)ours->dl.shape[1], y[0], y[1], y[2], y[3], y[4], y[5]);
    const int bad = freed != 1 || y != result.data || y[1] != 20 || y[3] != 10;
    ours->deleter(ours); // whoever has the tensor calls this once; the context is still there
    weft_ctx_free(ctx);
    return bad;
}
