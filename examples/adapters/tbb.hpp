// SPDX-License-Identifier: MIT
// weft inside an arena of oneTBB. The arena is the host's and outlives the context.
#ifndef WEFT_ADAPTER_TBB_HPP
#define WEFT_ADAPTER_TBB_HPP

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <weft/weft.h>

// A grain of one with a simple partitioner: each index becomes a task. Bodies throw nothing.
inline void weft_tbb_for(void *ud, std::int64_t n, void (*body)(void *arg, std::int64_t i), void *arg) {
    auto *arena = static_cast<tbb::task_arena *>(ud);
    arena->execute([=] {
        tbb::parallel_for(
            tbb::blocked_range<std::int64_t>(0, n, 1),
            [=](const tbb::blocked_range<std::int64_t> &r) {
                for (std::int64_t i = r.begin(); i != r.end(); i++)
                    body(arg, i);
            },
            tbb::simple_partitioner());
    });
}

inline weft_executor weft_tbb_executor(tbb::task_arena &arena) {
    return weft_executor{&arena, arena.max_concurrency(), weft_tbb_for};
}

#endif
