// SPDX-License-Identifier: MIT
// What calls share: the lines of an array along one axis, found by number and copied to and from dense
// memory, so that every other file works on dense lines only.
#include "call.h"

int64_t call_lines(const weft_array *a, int axis) {
    int64_t n = 1;
    for (int d = 0; d < a->rank; d++)
        if (d != axis) n *= a->dims[d];
    return n;
}

char *call_line(const weft_array *a, int axis, int64_t line) {
    int64_t at = 0;
    for (int d = a->rank - 1; d >= 0; d--) {
        if (d == axis) continue;
        at += line % a->dims[d] * a->strides[d];
        line /= a->dims[d];
    }
    return call_at(a->data, at);
}

char *call_element(const weft_array *a, int64_t i) {
    return call_line(a, -1, i);
}

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS void copy(char *to, int64_t to_step, const char *from, int64_t from_step, size_t size,
                 int64_t n) {
    for (int64_t i = 0; i < n; i++, to = call_at(to, to_step), from = call_at(from, from_step))
        memcpy(to, from, size);
}

static void copy_sized(char *to, int64_t to_step, const char *from, int64_t from_step, size_t size,
                       int64_t n) {
    if (to_step == (int64_t)size && from_step == (int64_t)size) {
        if (n > 0) memcpy(to, from, (size_t)n * size);
        return;
    }
    switch (size) {
    case 16: copy(to, to_step, from, from_step, 16, n); break;
    case 8: copy(to, to_step, from, from_step, 8, n); break;
    case 4: copy(to, to_step, from, from_step, 4, n); break;
    case 2: copy(to, to_step, from, from_step, 2, n); break;
    default: copy(to, to_step, from, from_step, 1, n); break;
    }
}

void call_pack(void *to, const char *from, int64_t step, size_t size, int64_t n) {
    copy_sized(to, (int64_t)size, from, step, size, n);
}
void call_unpack(char *to, int64_t step, const void *from, size_t size, int64_t n) {
    copy_sized(to, step, from, (int64_t)size, size, n);
}

int call_threads(const struct kern_call *c, double work) {
    enum { WORTH = 64 << 10 }; // below this many elements a second thread costs more than it brings
    return work < WORTH ? 1 : c->threads;
}
