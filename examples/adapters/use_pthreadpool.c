// SPDX-License-Identifier: MIT
// Introduces: a host's own threads, those of a pthreadpool.
#include "pthreadpool.h"
#include "workload.h"

int main(void) {
    pthreadpool_t pool = pthreadpool_create(3);
    if (!pool) return 1;
    const int bad = workload_compare("pthreadpool", weft_pthreadpool_executor(pool));
    pthreadpool_destroy(pool);
    return bad;
}
