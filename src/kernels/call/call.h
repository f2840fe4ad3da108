// SPDX-License-Identifier: MIT
// Inside src/kernels: the functions behind KERN_CALLS, and what they share: lines of arrays along an axis.
#ifndef WEFT_KERN_CALL_H
#define WEFT_KERN_CALL_H

#include "../calls.h"

typedef weft_status call_run(const struct kern_call *c, struct base_err *err);
typedef int64_t call_scratch(const struct kern_call *c); // bytes, -1: too large
call_run call_sort, call_scan, call_search, call_compress, call_unique, call_scatter, call_histogram;
call_run call_linalg, call_fft, call_unpack_bits;
call_scratch call_linalg_scratch, call_fft_scratch;
call_scratch call_sort_scratch, call_scan_scratch, call_search_scratch, call_compress_scratch,
    call_scatter_scratch, call_histogram_scratch;

// ---- addresses -----------------------------------------------------------------------------------------
static inline char *call_at(const void *p, int64_t bytes) {
    return (char *)((uintptr_t)p + (uintptr_t)bytes);
}
static inline int64_t call_round(int64_t bytes) {
    return (bytes + 63) & ~(int64_t)63;
}
static inline int64_t call_elements(const weft_array *a) {
    int64_t n = 1;
    for (int d = 0; d < a->rank; d++)
        n *= a->dims[d];
    return n;
}

// ---- lines ----------------------------------------------------------------------------------------------
// The lines of an array along an axis, numbered in row-major order of the other axes. Arrays with the same
// other extents have the same numbers.
int64_t call_lines(const weft_array *a, int axis);               // how many
char *call_line(const weft_array *a, int axis, int64_t line);    // address of its first element
// The address of element i in row-major order.
char *call_element(const weft_array *a, int64_t i);
// n elements of size bytes, step apart, to or from dense ones. size: 1, 2, 4, 8 or 16.
void call_pack(void *to, const char *from, int64_t step, size_t size, int64_t n);
void call_unpack(char *to, int64_t step, const void *from, size_t size, int64_t n);
// Long loops are cut in stretches of so many elements, with a look at the watch before each; cycles of one.
enum { CALL_STRETCH = 32 << 10, CALL_CYCLES = 8 * CALL_STRETCH };
// for (i in [from, to)) in stretches: body uses i up to end; ends early when told to stop.
#define CALL_STRETCHES(watch, from, to, i, end)                                                    \
    for (int64_t i = (from), end; i < (to) && !kern_tick((watch), CALL_CYCLES) &&                  \
                                  (end = MIN_OF((to), i + CALL_STRETCH), true);                    \
         i = end)
// How a library is opened whose symbols stay out of the host's way and find their own. The address sanitizer refuses
// the second part.
#if defined(__SANITIZE_ADDRESS__)
#define CALL_OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CALL_OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL)
#endif
#endif
#ifndef CALL_OPEN_FLAGS
#define CALL_OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)
#endif
// How many threads so many elements of work are worth, at most the call's.
int call_threads(const struct kern_call *c, double work);

#endif
