// SPDX-License-Identifier: MIT
// What the files of calls share: a row per function name, a call being read, and the words that
// read its arguments. call_*.c hold the forms of calls, each beside the names that use it.
#ifndef WEFT_CMD_CALL_H
#define WEFT_CMD_CALL_H

#include "lang.h"

enum { CALL_ARGS = WEFT_MAX_RANK + 2 };

// K(name as an enum, name in the text)
#define CALL_KEYWORDS(K)                                                                           \
    K(AXIS, axis)                                                                                  \
    K(KEEPDIMS, keepdims) K(COMPENSATED, compensated) K(DTYPE, dtype) K(DDOF, ddof) K(NAN, nan) \
        K(OFFSET, offset) \
        K(AXIS1, axis1) K(AXIS2, axis2) K(SHAPE, shape)                                            \
        K(MODE, mode) K(SIDE, side) K(METHOD, method) K(RIGHT, right) K(VALUE, constant_values) \
        K(LOWER, lower) K(UPPER, upper) K(TRANS, trans) K(UNIT, unit_diagonal) K(WHOLE, full_matrices) \
        K(LENGTH, n) K(NORM, norm) K(AXES, axes) \
        K(SEED, seed) K(NUM, num) K(ENDPOINT, endpoint) K(BASE, base) K(K, k) K(N, n) K(DX, dx)    \
        K(ORD, ord) K(RTOL, rtol) K(ATOL, atol) K(EQUAL_NAN, equal_nan) K(FILL, nan)               \
        K(POSINF, posinf) K(NEGINF, neginf) K(SLOPE, slope)     \
        K(INITIAL, include_initial)
enum keyword {
#define K(id, name) K_##id,
    CALL_KEYWORDS(K)
#undef K
        K__N
};
#define KW(k) ((uint64_t)1 << K_##k)

struct call;
typedef bool call_fn(struct parser *p, struct call *c, struct value *out);
struct row {
    const char *name;
    call_fn *run;
    int least, most;   // positional arguments
    uint64_t keywords; // bits: KW(AXIS) | ...
    union {
        weft_expr *(*one)(weft_expr *);
        weft_expr *(*two)(weft_expr *, weft_expr *);
        weft_expr *(*three)(weft_expr *, weft_expr *, weft_expr *);
        weft_expr *(*reduce)(weft_expr *, const weft_reduce *);
    };
    weft_nan nan;
};
struct rows {
    const struct row *at;
    size_t n;
};
// Every table of names; call.c lists them.
extern const struct rows call_maps, call_reductions, call_views, call_indexing, call_linalg,
    call_creations, call_compositions, call_more;
#define CALL(name, run, least, most, kws)                                                          \
    { #name, run, least, most, kws, {.one = NULL }, 0 }

struct call {
    const struct row *row;
    const struct callee *who;
    int n;
    uint64_t have;
    struct value arg[CALL_ARGS], kw[K__N];
};

// For hosts that read arguments themselves: the row of a name, a word for a keyword (K__N: the row has none of that
// name), the words that may stand for its value (NULL: it is no word), and the call.
const struct row *call_row(const char *name, size_t len);
enum keyword call_keyword(const struct row *r, const char *name, size_t len);
const char *const *call_words(const struct row *r, enum keyword k);
bool call_run(struct parser *p, struct call *c, struct value *out); // counts, then runs

bool call_has(const struct call *c, enum keyword k);           // k=... is there
bool call_given(const struct call *c, enum keyword k);         // and is not None
weft_expr *call_expr(struct parser *p, struct call *c, int i); // argument i; NULL after an error
// The result at the place of the call: false when it is NULL.
bool call_built(struct parser *p, struct call *c, weft_expr *x, struct value *out);
// The same for n results, at most 3, which the text chooses from with [0], [1], ...
bool call_several(struct parser *p, struct call *c, struct value *out, int n, weft_expr *const *x);
bool call_dtype(struct parser *p, const struct value *v, weft_dtype *t);
bool call_number(struct parser *p, const struct value *v, double *out);
bool call_truth(struct parser *p, const struct value *v, bool *t);
// None, an axis or a tuple of them, as axes of a reduction
bool call_axes(struct parser *p, const struct value *v, weft_reduce *r, int axes[WEFT_MAX_RANK]);
// The arguments from the second on, or one tuple, or shape=, as integers; -1 after an error.
int call_list(struct parser *p, struct call *c, int64_t *dims);
// Argument i or k=, where given; else *out stays.
bool call_axis(struct parser *p, struct call *c, int i, enum keyword k, int *out);

// The forms that files share: functions of one to three arrays.
call_fn call_map;
#define ONE(name, fn)                                                                              \
    { #name, call_map, 1, 1, KW(DTYPE), {.one = weft_##fn }, 0 }
#define TWO(name, fn)                                                                              \
    { #name, call_map, 2, 2, KW(DTYPE), {.two = weft_##fn }, 0 }
#define THREE(name, fn)                                                                            \
    { #name, call_map, 3, 3, KW(DTYPE), {.three = weft_##fn }, 0 }
call_fn call_cast;

#endif
