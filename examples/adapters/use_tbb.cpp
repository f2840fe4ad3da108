// SPDX-License-Identifier: MIT
// Introduces: a host's own threads, those of an arena of oneTBB.
#include "tbb.hpp"
#include "workload.h"

int main() {
    tbb::task_arena arena(3);
    arena.initialize();
    return workload_compare("TBB", weft_tbb_executor(arena));
}
