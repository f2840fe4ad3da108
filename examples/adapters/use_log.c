// SPDX-License-Identifier: MIT
// Introduces: a host's own log. The plan of what is evaluated and a missing LLVM are said there and nowhere else.
#include "log.h"
#include "workload.h"

int main(void) {
    char *text = NULL;
    size_t size = 0;
    struct weft_log_sink sink = {.to = open_memstream(&text, &size), .lock = PTHREAD_MUTEX_INITIALIZER};
    setenv("WEFT_DUMP", "plan", 1);                       // as a user would who wants to see plans
    setenv("WEFT_JIT_MODULE", "/nowhere/libweft-jit.so", 1); // as if the package with LLVM were not installed
    weft_ctx_opts opts = {.size = sizeof opts, .log = weft_log_line, .log_ud = &sink, .backend = WEFT_BACKEND_JIT};
    weft_ctx *ctx = NULL;
    const size_t n = (size_t)WORKLOAD_ROWS * WORKLOAD_COLS;
    float *in = calloc(n, sizeof *in), *out = calloc(n, sizeof *out);
    double sum = 1;
    if (!sink.to || !in || !out || weft_ctx_new(&ctx, &opts)) return 1;
    int bad = workload_run(ctx, in, out, &sum) != WEFT_OK;
    weft_ctx_free(ctx);
    fclose(sink.to);
    printf("%s", text);
    const char *module = strstr(text, "WARNING weft: LLVM is not available");
    if (sink.lines[WEFT_LOG_INFO] < 1 || !strstr(text, "info weft: ") || !strstr(text, "passes=")) bad = 1;
    if (!module && sink.lines[1]) bad = 1; // linked in statically there is nothing to warn of
    free(text), free(in), free(out);
    return bad;
}
