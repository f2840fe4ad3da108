// SPDX-License-Identifier: MIT
// Introduces: a host's own threads, those of OpenMP; also from inside a parallel region of the host.
#include "openmp.h"
#include "workload.h"

int main(void) {
    if (workload_compare("OpenMP", weft_openmp_executor())) return 1;
    enum { HOSTS = 3 };
    const size_t n = (size_t)WORKLOAD_ROWS * WORKLOAD_COLS;
    float *in = calloc(n, sizeof *in), *out = calloc(n * HOSTS, sizeof *out);
    double sum[HOSTS];
    weft_executor threads = weft_openmp_executor();
    weft_ctx *ctx = NULL;
    weft_ctx_opts opts = {.size = sizeof opts, .executor = &threads};
    if (!in || !out || weft_ctx_new(&ctx, &opts)) return 1;
    int bad = 0;
#pragma omp parallel for num_threads(HOSTS) reduction(+ : bad)
    for (int i = 0; i < HOSTS; i++)
        bad += workload_run(ctx, in, out + n * (size_t)i, &sum[i]) != WEFT_OK || sum[i] != 0;
    weft_ctx_free(ctx);
    free(in), free(out);
    return bad != 0;
}
