// SPDX-License-Identifier: MIT
// Saved graphs: any bytes, with the checksum made to hold when the first one is odd. What loads is planned, saved again
// and loaded once more; nothing is evaluated. The first inputs are graphs saved here (LLVMFuzzerCustomMutator
// begins with one when it is given nothing).
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include <weft/weft.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static weft_ctx *context(void) {
    static weft_ctx *ctx;
    const weft_ctx_opts o = {.size = sizeof o, .backend = WEFT_BACKEND_INTERP, .threads = 1, .ignore_env = true, .graph_nodes = 20000};
    if (!ctx && weft_ctx_new(&ctx, &o)) abort();
    return ctx;
}

static weft_expr *sample(weft_graph *g, unsigned which) {
    const int64_t dims[2] = {3, 4}, n = 5;
    const int last = 1;
    const weft_reduce rows = {.size = sizeof rows, .axes = &last, .naxes = 1};
    weft_expr *x = weft_input(g, "x", WEFT_F32, 2, dims), *i = weft_input(g, "i", WEFT_I32, 1, &n);
    switch (which % 6) {
    case 0: return weft_sqrt(weft_add(weft_mul(x, x), weft_float(g, 0.5)));
    case 1: return weft_softmax(weft_cast(x, WEFT_F64), 1);
    case 2: return weft_take(x, i, 1, WEFT_INDEX_CLIP);
    case 3: return weft_matmul(x, weft_transpose(x, NULL));
    case 4: return weft_sort(weft_sum(weft_exp(x), &rows), 0);
    default: return weft_random_normal(g, (weft_stream){7, 9}, WEFT_F64, 2, dims);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    if (size > IR_FILE_HEAD && seed % 16) return LLVMFuzzerMutate(data, size, most);
    weft_graph *g = weft_graph_new(context());
    weft_expr *root = g ? sample(g, seed / 16) : NULL;
    void *bytes = NULL;
    size_t made = 0;
    if (root && !weft_graph_save(1, &root, &bytes, &made) && made + 1 <= most) {
        data[0] = 1;
        memcpy(data + 1, bytes, made);
        size = made + 1;
    }
    weft_bytes_free(context(), bytes, made);
    weft_graph_free(g);
    return size;
}

static void again(weft_expr *const *root, int n) {
    void *bytes = NULL;
    size_t size = 0;
    weft_program *p = NULL;
    if (weft_graph_save(n, root, &bytes, &size)) return;
    weft_graph *g = weft_graph_new(context());
    weft_expr *back[8];
    int m = 0;
    if (!g || weft_graph_load(g, bytes, size, 8, back, &m) || m != n) abort(); // what was saved comes back
    weft_bytes_free(context(), bytes, size);
    if (!weft_compile(n, root, &p)) weft_program_free(p);
    weft_graph_free(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    unsigned char *bytes = malloc(size); // exactly as large, for the address sanitizer
    if (!bytes) abort();
    memcpy(bytes, data + 1, size - 1);
    if (data[0] & 1 && size - 1 >= IR_FILE_HEAD) ir_file_sum(bytes, size - 1, bytes + IR_FILE_SUM);
    weft_graph *g = weft_graph_new(context());
    weft_expr *root[8];
    int n = 0;
    if (g && !weft_graph_load(g, bytes, size - 1, 8, root, &n) && n > 0 && n <= 8) again(root, n);
    weft_graph_free(g);
    free(bytes);
    return 0;
}
