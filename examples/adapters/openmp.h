// SPDX-License-Identifier: MIT
// weft on the threads of OpenMP. Copy this file into a host that is compiled with -fopenmp.
#ifndef WEFT_ADAPTER_OPENMP_H
#define WEFT_ADAPTER_OPENMP_H

#include <omp.h>

#include <weft/weft.h>

// weft calls body for 0 to n-1, n at most the threads announced, and balances the work between them by itself:
// one index a thread. Called inside a parallel region of the host, OpenMP runs the indices one after the other,
// which is right as well.
static void weft_openmp_for(void *ud, int64_t n, void (*body)(void *arg, int64_t i), void *arg) {
    (void)ud;
#pragma omp parallel for schedule(static, 1) num_threads((int)n)
    for (int64_t i = 0; i < n; i++)
        body(arg, i);
}

static inline weft_executor weft_openmp_executor(void) {
    return (weft_executor){NULL, omp_get_max_threads(), weft_openmp_for};
}

#endif
