// SPDX-License-Identifier: MIT
// A block turned over: in memory that is dense along rows, out rows dense along columns. Elements
// of 4 and 8 bytes go through 16-byte vectors, a square at a time; eight columns are taken together
// down the rows, so that each line read is used up while it is in the first cache and each row is
// written half a line or more at a time. Any alignment. What is left over at the edges is the
// caller's (the return value says where).
#include "walk.h"

typedef uint64_t pair __attribute__((vector_size(16)));
typedef uint32_t quad __attribute__((vector_size(16)));

#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define HAVE_SHUFFLE 1
#endif
#endif

#if HAVE_SHUFFLE
enum {
    COLS = 8,
    FAR = 6 << 10 // bytes between columns from which they come from memory: asked for eight columns early
};

static pair load_pair(const char *p) {
    pair v;
    memcpy(&v, p, sizeof v);
    return v;
}
static quad load_quad(const char *p) {
    quad v;
    memcpy(&v, p, sizeof v);
    return v;
}

// Two rows of eight columns.
static void turn_8(char *to, int64_t to_rs, const char *from, int64_t from_cs) {
    for (int c = 0; c < COLS; c += 2, from += 2 * from_cs) {
        const pair a = load_pair(from), b = load_pair(from + from_cs);
        const pair row0 = __builtin_shufflevector(a, b, 0, 2),
                   row1 = __builtin_shufflevector(a, b, 1, 3);
        memcpy(to + 8 * c, &row0, sizeof row0);
        memcpy(to + to_rs + 8 * c, &row1, sizeof row1);
    }
}

// Four rows of eight columns.
static void turn_4(char *to, int64_t to_rs, const char *from, int64_t from_cs) {
    for (int c = 0; c < COLS; c += 4, from += 4 * from_cs) {
        const quad a = load_quad(from), b = load_quad(from + from_cs);
        const quad d = load_quad(from + 2 * from_cs), e = load_quad(from + 3 * from_cs);
        const quad ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5);
        const quad ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
        const quad de0 = __builtin_shufflevector(d, e, 0, 4, 1, 5);
        const quad de2 = __builtin_shufflevector(d, e, 2, 6, 3, 7);
        const quad row[4] = {__builtin_shufflevector(ab0, de0, 0, 1, 4, 5),
                             __builtin_shufflevector(ab0, de0, 2, 3, 6, 7),
                             __builtin_shufflevector(ab2, de2, 0, 1, 4, 5),
                             __builtin_shufflevector(ab2, de2, 2, 3, 6, 7)};
        for (int r = 0; r < 4; r++)
            memcpy(to + r * to_rs + 4 * c, &row[r], sizeof row[r]);
    }
}

static void ask(const char *from, int64_t from_cs) {
    for (int c = 0; c < COLS; c++)
        __builtin_prefetch(from + c * from_cs);
}

struct rt_done rt_transpose(size_t size, int64_t rows, int64_t cols, char *to, int64_t to_rs,
                            const char *from, int64_t from_cs) {
    if (size != 8 && size != 4) return (struct rt_done){0, 0};
    const int64_t square = (int64_t)(16 / size), each = (int64_t)size;
    const struct rt_done done = {rows / square * square, cols / COLS * COLS};
    for (int64_t c = 0; c < done.cols; c += COLS) {
        char *t = to + c * each;
        const char *f = from + c * from_cs;
        const bool early = (from_cs >= FAR || from_cs <= -FAR) && c + 2 * COLS <= done.cols;
        for (int64_t r = 0; r < done.rows; r += square, t += square * to_rs, f += square * each) {
            if (early && r * each % RT_LINE == 0) ask(f + COLS * from_cs, from_cs);
            if (size == 8)
                turn_8(t, to_rs, f, from_cs);
            else
                turn_4(t, to_rs, f, from_cs);
        }
    }
    return done;
}

#else
struct rt_done rt_transpose(size_t size, int64_t rows, int64_t cols, char *to, int64_t to_rs,
                            const char *from, int64_t from_cs) {
    (void)size, (void)rows, (void)cols, (void)to, (void)to_rs, (void)from, (void)from_cs;
    return (struct rt_done){0, 0};
}
#endif
