// SPDX-License-Identifier: MIT
// Random graphs through the public header. One seed is one graph: leaves of any layout (strided,
// reversed, transposed, repeated, misaligned, sharing memory), elementwise operations, casts,
// views, reductions, products, several roots. The reference evaluates every operation alone into
// dense memory; every tier, fused or not, at several thread counts, and the compiled program must
// give the same bits (NaN payload aside), whatever the outputs look like and whichever inputs they
// lie on, and must change no other byte. Memory ends at a page that cannot be read. WEFT_SEED=n
// runs seed n alone, WEFT_SEEDS=n so many from there (from 1).
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "values.h"
#include "weft/weft.h"

enum { POOL = 32, LEAVES = 32, ROOTS = 4, BLOCKS = LEAVES + ROOTS, EAGER = 128, PAGE = 4096 };

// ---- chance
// ---------------------------------------------------------------------------------------------
struct chance {
    uint64_t s;
};
static uint64_t next(struct chance *c) {
    uint64_t z = c->s += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static int64_t below(struct chance *c, int64_t n) {
    return (int64_t)(next(c) % (uint64_t)n);
}
static bool one_in(struct chance *c, int n) {
    return below(c, n) == 0;
}

// ---- operations
// -----------------------------------------------------------------------------------------
typedef weft_expr *build1(weft_expr *);
typedef weft_expr *build2(weft_expr *, weft_expr *);
typedef weft_expr *build3(weft_expr *, weft_expr *, weft_expr *);
typedef weft_expr *build_reduce(weft_expr *, const weft_reduce *);
enum rule { ARITH, FLOAT, INTS, SHIFT, COMPARE, LOGIC, PRED, KEEP, WHERE };
struct op {
    const char *name;
    int arity;
    enum rule rule;
    bool no_bool;
    build1 *f1;
    build2 *f2;
    build3 *f3;
};
#define FN_1(name) weft_##name, NULL, NULL
#define FN_2(name) NULL, weft_##name, NULL
#define FN_3(name) NULL, NULL, weft_##name
#define ROW(name, arity, rule, boolean) {#name, arity, rule, boolean[0] == 'N', FN_##arity(name)},
#define ROW_ARITH ROW
#define ROW_FLOAT ROW
#define ROW_INTS ROW
#define ROW_SHIFT ROW
#define ROW_COMPARE ROW
#define ROW_LOGIC ROW
#define ROW_PRED ROW
#define ROW_KEEP ROW
#define ROW_WHERE ROW
#define ROW_WORD(name, arity, rule, boolean) ROW(name, arity, SHIFT, boolean)
#define ROW_CAST(name, arity, rule, boolean)
static const struct op ops[] = {
#define MAP(name, arity, rule, kernel, flt, integer, boolean, doc)                                 \
    ROW_##rule(name, arity, rule, #boolean)
#include "ir/ops.def"
};
enum { NOPS = sizeof ops / sizeof ops[0] };
static build_reduce *const reduce_fn[] = {weft_sum, weft_prod, weft_mean,   weft_var,
                                          weft_std, weft_any,  weft_all,    weft_count_nonzero,
                                          weft_min, weft_max,  weft_argmin, weft_argmax};

// ---- memory: blocks between pages that cannot be read, arrays of any layout in them
// -------------------------
struct block {
    unsigned char *mem, *snap, *mask, *map;
    size_t size, mapped;
    bool taken; // an output lies in it
};
static struct block blocks[BLOCKS];
static int nblocks;

static struct block *block_new(struct chance *c, size_t size) {
    struct block *b = &blocks[nblocks++];
    size_t body = (size + PAGE - 1) / PAGE * PAGE;
    b->size = size;
    b->taken = false;
    b->mapped = body + 2 * PAGE;
    b->map = mmap(NULL, b->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(b->map != MAP_FAILED);
    if (body) cr_assert_eq(mprotect(b->map + PAGE, body, PROT_READ | PROT_WRITE), 0);
    b->mem = b->map + PAGE + (one_in(c, 3) ? 0 : body - size);
    b->snap = malloc(size + 1);
    b->mask = calloc(1, size + 1);
    memset(b->mem, 0xA5, size);
    memset(b->snap, 0xA5, size + 1);
    return b;
}
static void blocks_free(void) {
    for (int i = 0; i < nblocks; i++) {
        munmap(blocks[i].map, blocks[i].mapped);
        free(blocks[i].snap);
        free(blocks[i].mask);
    }
    nblocks = 0;
}

struct layout {
    int64_t strides[WEFT_MAX_RANK], lo, hi; // bytes below and above the first element
};
static struct layout layout_of(struct chance *c, weft_dtype t, int rank, const int64_t *dims,
                               bool input) {
    struct layout l = {.hi = (int64_t)weft_dtype_size(t)};
    int order[WEFT_MAX_RANK];
    int64_t room = l.hi, es = l.hi;
    bool plain = one_in(c, 3), shuffle = one_in(c, 2);
    for (int k = 0; k < rank; k++)
        order[k] = rank - 1 - k;
    for (int k = rank - 1; !plain && shuffle && k > 0; k--) {
        int64_t j = below(c, k + 1);
        int held = order[k];
        order[k] = order[j];
        order[j] = held;
    }
    bool empty = false;
    for (int k = 0; k < rank; k++) {
        int64_t n = dims[order[k]], s = room;
        if (!plain && one_in(c, 6)) s += es * below(c, 4) + (one_in(c, 4) ? 1 : 0);
        if (!plain && one_in(c, 4)) s = -s;
        if (!plain && input && one_in(c, 10)) s = 0;
        l.strides[order[k]] = s;
        int64_t span = n > 0 ? (n - 1) * s : 0, extent = s < 0 ? -s : s;
        empty |= n == 0;
        if (span < 0)
            l.lo -= span;
        else
            l.hi += span;
        if (n > 0 && extent * n > room) room = extent * n;
    }
    if (empty) l.lo = l.hi = 0;
    return l;
}

// Puts an array of that layout at a random place of a block, or returns false when it does not fit.
static bool put_in(struct chance *c, const struct block *b, weft_dtype t, int rank,
                   const int64_t *dims, const struct layout *l, weft_array *a) {
    int64_t spare = (int64_t)b->size - l->lo - l->hi, at = 0;
    if (spare < 0) return false;
    if (spare && !one_in(c, 4)) at = below(c, spare + 1);
    *a = weft_strided(t, b->mem + at + l->lo, rank, dims, l->strides);
    return true;
}

static void fill(struct chance *c, weft_dtype t, unsigned char *mem, size_t size) {
    unsigned char table[64 * 8];
    size_t es = weft_dtype_size(t);
    int nv = special_values(t, table, 60), kind = (int)below(c, 4);
    for (size_t i = 0; i + es <= size; i += es) {
        uint64_t r = next(c);
        double d = (double)(int64_t)(r >> 40) / 1048576.0 - 8;
        float f = (float)d;
        uint64_t small = (r >> 32) % 20;
        const void *from = &small;
        if (kind == 0 || (kind == 1 && r % 16 == 0))
            from = table + es * (size_t)(r % (uint64_t)nv);
        else if (kind == 2)
            from = &r;
        else if (t == WEFT_F64)
            from = &d;
        else if (t == WEFT_F32)
            from = &f;
        memcpy(mem + i, from, es);
    }
}

// ---- one graph
// -------------------------------------------------------------------------------------------
struct leaf {
    weft_array array;
};
static struct leaf leaves[LEAVES];
static int nleaves;

struct build {
    weft_ctx *ctx;
    weft_graph *g;
    struct chance c;
    uint64_t seed;
    bool eager, program;
    int64_t cap;
    int rank;
    int64_t dims[16];
    weft_expr *pool[POOL];
    int n, nleaf, ninput, input_leaf[LEAVES];
    weft_array kept[EAGER];
    int nkept;
    weft_status eager_status;
};

static int64_t count(int rank, const int64_t *dims) {
    int64_t n = 1;
    for (int k = 0; k < rank; k++)
        n *= dims[k];
    return n;
}
static int64_t elements(const weft_expr *x) {
    return count(weft_expr_rank(x), weft_expr_dims(x));
}

// In the reference every operation is its own evaluation.
static weft_expr *settle(struct build *b, weft_expr *x) {
    if (!x || !b->eager || b->eager_status) return x;
    cr_assert(b->nkept < EAGER);
    weft_array *a = &b->kept[b->nkept];
    b->eager_status =
        weft_eval_new(x, a, &(weft_eval_opts){.size = sizeof(weft_eval_opts), .unfused = true});
    if (b->eager_status) return x;
    b->nkept++;
    return weft_from(b->g, a);
}

static void leaf_make(struct build *b, weft_dtype t, int rank, const int64_t *dims) {
    struct chance c = {b->seed * 1000 + (uint64_t)nleaves};
    struct layout l = layout_of(&c, t, rank, dims, true);
    struct leaf *f = &leaves[nleaves++];
    if (nblocks && one_in(&c, 4) &&
        put_in(&c, &blocks[below(&c, nblocks)], t, rank, dims, &l, &f->array))
        return;
    struct block *k =
        block_new(&c, (size_t)(l.lo + l.hi) + (size_t)(one_in(&c, 3) ? below(&c, 80) : 0));
    fill(&c, t, k->mem, k->size);
    memcpy(k->snap, k->mem, k->size);
    put_in(&c, k, t, rank, dims, &l, &f->array);
    if (l.hi == 0 && one_in(&c, 3)) f->array.data = NULL;
}

static weft_expr *leaf_new(struct build *b, weft_dtype t, int rank, const int64_t *dims) {
    if (b->nleaf == LEAVES) return NULL;
    if (b->nleaf == nleaves) leaf_make(b, t, rank, dims);
    int i = b->nleaf++;
    if (!b->program || i % 5 == 4) return weft_from(b->g, &leaves[i].array);
    b->input_leaf[b->ninput++] = i;
    char name[16];
    snprintf(name, sizeof name, "x%d", i);
    return weft_input(b->g, name, t, rank, dims);
}

static weft_dtype any_dtype(struct chance *c) {
    static const weft_dtype more[] = {WEFT_F64, WEFT_F32, WEFT_F64, WEFT_F32, WEFT_I64, WEFT_I32};
    return one_in(c, 2) ? more[below(c, 6)] : (weft_dtype)below(c, (WEFT_F64 + 1));
}
static weft_dtype int_dtype(struct chance *c) {
    return (weft_dtype)(WEFT_I8 + below(c, 8));
}

// A leaf that broadcasts with the shape: some extents 1, some leading axes missing.
static weft_expr *leaf_for(struct build *b, int rank, const int64_t *dims) {
    int drop = one_in(&b->c, 3) && rank ? (int)below(&b->c, rank + 1) : 0;
    int64_t d[WEFT_MAX_RANK];
    for (int k = drop; k < rank; k++)
        d[k - drop] = one_in(&b->c, 5) ? 1 : dims[k];
    return leaf_new(b, any_dtype(&b->c), rank - drop, d);
}

static bool meets(const struct build *b, const weft_expr *x, const weft_expr *y) {
    int rx = weft_expr_rank(x), ry = weft_expr_rank(y), r = rx > ry ? rx : ry;
    int64_t n = 1;
    for (int k = 1; k <= r; k++) {
        int64_t dx = k <= rx ? weft_expr_dims(x)[rx - k] : 1,
                dy = k <= ry ? weft_expr_dims(y)[ry - k] : 1;
        if (dx != dy && dx != 1 && dy != 1) return false;
        n *= dx == 1 ? dy : dx;
    }
    return n <= b->cap;
}
static weft_expr *pick(struct build *b) {
    return b->pool[below(&b->c, b->n)];
}

static weft_expr *partner(struct build *b, const weft_expr *x) {
    for (int i = 0; i < 6; i++) {
        weft_expr *y = pick(b);
        if (meets(b, x, y)) return y;
    }
    weft_expr *y = leaf_for(b, weft_expr_rank(x), weft_expr_dims(x));
    return y ? y : b->pool[0] && meets(b, x, b->pool[0]) ? b->pool[0] : (weft_expr *)(uintptr_t)x;
}
static weft_expr *literal(struct build *b, enum rule rule) {
    int64_t v = below(&b->c, 4);
    if (rule == INTS || rule == SHIFT || one_in(&b->c, 2)) return weft_int(b->g, v);
    return one_in(&b->c, 8) ? weft_truth(b->g, v & 1) : weft_float(b->g, (double)v * 0.75);
}
static weft_expr *scalar(struct build *b) {
    weft_dtype t = any_dtype(&b->c);
    unsigned char table[64 * 8];
    int n = special_values(t, table, 60);
    return weft_scalar(b->g, t, table + weft_dtype_size(t) * (size_t)below(&b->c, n));
}

static weft_expr *fitted(struct build *b, const struct op *op, weft_expr *x, weft_dtype common) {
    if (op->rule == INTS || op->rule == SHIFT) return settle(b, weft_cast(x, common));
    if (op->no_bool && op->rule != FLOAT && weft_expr_dtype(x) == WEFT_BOOL)
        return settle(b, weft_cast(x, int_dtype(&b->c)));
    return x;
}

// The sign of a NaN is not promised: operations that would show it get none.
static weft_expr *no_nan(struct build *b, weft_expr *x) {
    return settle(b, weft_where(settle(b, weft_equal(x, x)), x, weft_int(b->g, 0)));
}

static weft_expr *map_step(struct build *b) {
    const struct op *op = &ops[below(&b->c, NOPS)];
    weft_dtype common = op->rule == INTS && one_in(&b->c, 5) ? WEFT_BOOL : int_dtype(&b->c);
    weft_expr *x[3] = {fitted(b, op, pick(b), common)};
    bool reads_sign = !strcmp(op->name, "copysign") || !strcmp(op->name, "signbit");
    if (op->arity == 1) return op->f1(reads_sign ? no_nan(b, x[0]) : x[0]);
    x[1] = fitted(b, op, partner(b, x[0]), common);
    if (reads_sign) x[0] = no_nan(b, x[0]), x[1] = no_nan(b, x[1]);
    bool lit = one_in(&b->c, 6);
    if (op->arity == 2) {
        bool never = op->no_bool && weft_expr_dtype(x[0]) == WEFT_BOOL;
        if (lit && common != WEFT_BOOL && !never) x[1] = literal(b, op->rule);
        return one_in(&b->c, 9) && !lit ? op->f2(x[1], x[0]) : op->f2(x[0], x[1]);
    }
    weft_expr *both = settle(b, weft_add(x[0], x[1]));
    x[2] = lit ? scalar(b) : partner(b, both);
    return op->f3(x[0], x[1], x[2]);
}

static weft_expr *reduce_step(struct build *b) {
    weft_expr *x = pick(b);
    int rank = weft_expr_rank(x), axes[WEFT_MAX_RANK], n = 0;
    int64_t gone = 1;
    bool all = one_in(&b->c, 4);
    for (int k = 0; k < rank; k++) {
        if (!all && !one_in(&b->c, 2)) continue;
        axes[n++] = one_in(&b->c, 3) ? k - rank : k;
        gone *= weft_expr_dims(x)[k];
    }
    int which = (int)below(&b->c, 12);
    bool arg = which >= 10;
    if (which >= 8 && gone == 0) which = 0, arg = false;
    if (arg && n != 1 && n != rank) which = 9;
    weft_reduce r = {.size = sizeof r,
                     .axes = axes,
                     .naxes = n,
                     .keepdims = one_in(&b->c, 3),
                     .nan = one_in(&b->c, 3)    ? WEFT_NAN_SKIP
                            : one_in(&b->c, 20) ? WEFT_NAN_RAISE
                                                : WEFT_NAN_PROPAGATE,
                     .ddof = one_in(&b->c, 3)   ? 1
                             : one_in(&b->c, 6) ? 0.5
                                                : 0};
    if (which < 3 || which > 4) r.ddof = 0;
    if (arg && n == rank) r.axes = NULL, r.naxes = 0;
    return reduce_fn[which](x, &r);
}

static weft_expr *reshape_step(struct build *b, weft_expr *x) {
    int64_t left = elements(x), d[5];
    int rank = (int)below(&b->c, 5), holes = 0;
    if (rank == 0 && left != 1) rank = 1;
    if (left == 0) {
        for (int k = 0; k < rank; k++)
            d[k] = below(&b->c, 4);
        if (rank) d[below(&b->c, rank)] = 0;
        return rank ? weft_reshape(x, rank, d) : NULL;
    }
    for (int k = 0; k + 1 < rank; k++) {
        d[k] = 1 + below(&b->c, 12);
        while (left % d[k])
            d[k]--;
        left /= d[k];
    }
    if (rank) d[rank - 1] = left;
    for (int k = 0; k < rank; k++)
        if (!holes && one_in(&b->c, 6)) d[k] = -1, holes = 1;
    return weft_reshape(x, rank, d);
}
static int64_t bound(struct build *b, int64_t n) {
    return one_in(&b->c, 3) ? WEFT_NONE : below(&b->c, 2 * n + 5) - n - 2;
}
static weft_expr *slice_step(struct build *b, weft_expr *x, int axis) {
    static const int64_t steps[] = {1, 1, 2, 3, -1, -1, -2, -5, 1000000, INT64_MAX, -INT64_MAX};
    int64_t n = weft_expr_dims(x)[axis];
    int64_t lo = one_in(&b->c, 2) ? bound(b, n) : below(&b->c, 3),
            hi = one_in(&b->c, 2) ? bound(b, n) : WEFT_NONE;
    return weft_slice(x, one_in(&b->c, 4) ? axis - weft_expr_rank(x) : axis, lo, hi,
                      steps[below(&b->c, 11)]);
}
static weft_expr *transpose_step(struct build *b, weft_expr *x) {
    int rank = weft_expr_rank(x), p[WEFT_MAX_RANK];
    for (int k = 0; k < rank; k++) {
        int j = (int)below(&b->c, k + 1);
        p[k] = p[j];
        p[j] = k;
    }
    return one_in(&b->c, 3) ? weft_transpose(x, NULL) : weft_transpose(x, p);
}
static weft_expr *broadcast_step(struct build *b, weft_expr *x) {
    int rank = weft_expr_rank(x), more = (int)below(&b->c, 2);
    int64_t d[WEFT_MAX_RANK], n = elements(x);
    if (rank + more > 16) return NULL;
    for (int k = 0; k < more; k++)
        d[k] = below(&b->c, 5);
    for (int k = 0; k < rank; k++)
        d[k + more] =
            weft_expr_dims(x)[k] == 1 && one_in(&b->c, 2) ? below(&b->c, 70) : weft_expr_dims(x)[k];
    for (int k = 0; k < rank + more; k++)
        if (n && d[k] && (k < more || weft_expr_dims(x)[k - more] == 1)) n *= d[k];
    return n <= b->cap ? weft_broadcast_to(x, rank + more, d) : NULL;
}
static weft_expr *view_step(struct build *b) {
    weft_expr *x = pick(b);
    int rank = weft_expr_rank(x), axis = rank ? (int)below(&b->c, rank) : 0,
        other = rank ? (int)below(&b->c, rank) : 0;
    switch (rank ? below(&b->c, 11) : below(&b->c, 3)) {
    case 0: return reshape_step(b, x);
    case 1: return rank < 16 ? weft_expand_dims(x, (int)below(&b->c, rank + 1)) : NULL;
    case 2: return broadcast_step(b, x);
    case 3:
    case 4: return slice_step(b, x, axis);
    case 5: return weft_flip(x, axis);
    case 6: return transpose_step(b, x);
    case 7: return weft_swap_axes(x, axis, other - rank);
    case 8: return weft_expr_dims(x)[axis] == 1 ? weft_squeeze(x, axis) : weft_ravel(x);
    case 9: {
        int64_t n = weft_expr_dims(x)[axis];
        return n ? weft_index(x, axis, below(&b->c, 2 * n) - n) : NULL;
    }
    default: return axis != other ? weft_diagonal(x, below(&b->c, 5) - 2, axis, other) : NULL;
    }
}

static weft_expr *numeric(struct build *b, weft_expr *x) {
    return weft_expr_dtype(x) == WEFT_BOOL ? settle(b, weft_cast(x, int_dtype(&b->c))) : x;
}
static weft_expr *matmul_step(struct build *b) {
    weft_expr *x = numeric(b, pick(b)), *y;
    int rank = weft_expr_rank(x);
    if (!rank) return NULL;
    int64_t k = weft_expr_dims(x)[rank - 1], n = elements(x), cols = 1 + below(&b->c, 9);
    if (rank >= 2 && one_in(&b->c, 2)) {
        cols = weft_expr_dims(x)[rank - 2];
        y = settle(b, weft_swap_axes(x, -1, -2));
    } else {
        y = leaf_new(b, any_dtype(&b->c), one_in(&b->c, 3) ? 1 : 2, (int64_t[]){k, cols});
        if (!y) return NULL;
        y = numeric(b, y);
    }
    if (n * cols > 8000000 || (k && n / k * cols > b->cap) ||
        (!k && count(rank - 1, weft_expr_dims(x)) * cols > b->cap))
        return NULL;
    return rank <= 2 && one_in(&b->c, 3) ? weft_dot(x, y) : weft_matmul(x, y);
}

static weft_expr *step(struct build *b) {
    int64_t r = below(&b->c, 100);
    if (r < 48) return map_step(b);
    if (r < 53) return settle(b, weft_cast(pick(b), (weft_dtype)below(&b->c, (WEFT_F64 + 1))));
    if (r < 75) return view_step(b);
    if (r < 87) return reduce_step(b);
    if (r < 91) return matmul_step(b);
    if (r < 94 && b->rank)
        return weft_iota(b->g, one_in(&b->c, 2) ? WEFT_F64 : int_dtype(&b->c), b->rank, b->dims,
                         (int)below(&b->c, b->rank));
    if (r < 96) return scalar(b);
    return leaf_for(b, b->rank, b->dims);
}

// The shape most leaves have.
static void base_shape(struct build *b) {
    static const int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 1, 2, 64, 65, 130, 0};
    bool large = one_in(&b->c, 8);
    b->cap = large ? 600000 : 6000;
    b->rank = (int)below(&b->c, large ? 4 : 6);
    bool deep = one_in(&b->c, 12); // many axes, of few elements each
    if (deep) b->rank = 6 + (int)below(&b->c, 10);
    if (large && !b->rank) b->rank = 1;
    for (int k = 0; k < b->rank; k++)
        b->dims[k] = deep ? 1 + below(&b->c, 3) : extents[below(&b->c, 16)];
    while (count(b->rank, b->dims) > b->cap)
        b->dims[below(&b->c, b->rank)] = 1 + below(&b->c, 3);
    int64_t n = large ? count(b->rank, b->dims) : 0, k = b->rank ? below(&b->c, b->rank) : 0;
    if (n) b->dims[k] = (150000 + below(&b->c, 300000)) / (n / b->dims[k]);
    if (!large && one_in(&b->c, 6)) b->rank = 1, b->dims[0] = below(&b->c, 3000);
}

static void build_graph(struct build *b, weft_ctx *ctx, uint64_t seed, bool eager, bool program) {
    *b = (struct build){.ctx = ctx, .seed = seed, .eager = eager, .program = program, .c = {seed}};
    b->g = weft_graph_new(ctx);
    cr_assert(b->g);
    base_shape(b);
    for (int i = (int)below(&b->c, 3); i >= 0; i--)
        b->pool[b->n++] =
            i ? leaf_for(b, b->rank, b->dims) : leaf_new(b, any_dtype(&b->c), b->rank, b->dims);
    for (int i = 2 + (int)below(&b->c, 18); i > 0 && b->n < POOL; i--) {
        weft_expr *x = step(b);
        cr_assert_eq(weft_graph_status(b->g), b->eager_status, "seed %llu: build: %s",
                     (unsigned long long)seed, weft_graph_error(b->g));
        if (x && elements(x) <= b->cap) b->pool[b->n++] = settle(b, x);
    }
}
static void build_free(struct build *b) {
    weft_graph_free(b->g);
    for (int i = 0; i < b->nkept; i++)
        weft_array_free(b->ctx, &b->kept[i]);
}

// ---- evaluation
// ------------------------------------------------------------------------------------------
static weft_ctx *ctxs[8];
static const struct {
    const char *name;
    weft_backend backend;
    int threads;
    weft_isa isa;
} kinds[] = {{"reference", WEFT_BACKEND_INTERP, 1, WEFT_ISA_BEST},
             {"interp", WEFT_BACKEND_INTERP, 3, WEFT_ISA_BEST},
             {"interp scalar", WEFT_BACKEND_INTERP, 3, WEFT_ISA_SCALAR},
             {"jit", WEFT_BACKEND_JIT, 3, WEFT_ISA_BEST},
             {"jit avx2", WEFT_BACKEND_JIT, 2, WEFT_ISA_AVX2},
             {"auto", WEFT_BACKEND_AUTO, 3, WEFT_ISA_BEST},
             {"jit scalar", WEFT_BACKEND_JIT, 2, WEFT_ISA_SCALAR}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };
static void open_ctxs(void) {
    for (int i = 0; i < KINDS; i++) {
        weft_ctx_opts o = {.size = sizeof o,
                           .backend = kinds[i].backend,
                           .threads = kinds[i].threads,
                           .isa = kinds[i].isa,
                           .ignore_env = true};
        cr_assert_eq(weft_ctx_new(&ctxs[i], &o), WEFT_OK);
    }
}

struct answer {
    weft_status status;
    int n, which[ROOTS];
    weft_array value[ROOTS]; // dense
};

static bool has_repeat(const weft_array *a) {
    for (int k = 0; k < a->rank; k++)
        if (a->dims[k] > 1 && a->strides[k] == 0) return true;
    return false;
}
// An output on top of a leaf of the same form, if there is one; else somewhere in a leaf's block.
static bool put_on_leaf(struct chance *c, const weft_array *v, const struct layout *l,
                        weft_array *out, struct block **home) {
    for (int i = 0; i < nblocks; i++) {
        struct block *b = &blocks[(i + (int)(c->s & 7)) % nblocks];
        if (b->taken) continue;
        for (int k = 0; k < nleaves; k++) {
            const weft_array *a = &leaves[k].array;
            unsigned char *at = a->data;
            if (a->dtype != v->dtype || a->rank != v->rank || has_repeat(a) || at < b->mem ||
                at >= b->mem + b->size ||
                memcmp(a->dims, v->dims, sizeof(int64_t) * (size_t)a->rank))
                continue;
            *out = *a;
            *home = b;
            return true;
        }
        if (one_in(c, 2) && put_in(c, b, v->dtype, v->rank, v->dims, l, out))
            return *home = b, true;
    }
    return false;
}
static bool walk(const weft_array *a, int64_t *index) {
    for (int k = a->rank - 1; k >= 0; k--) {
        if (++index[k] < a->dims[k]) return true;
        index[k] = 0;
    }
    return false;
}
static unsigned char *element(const weft_array *a, const int64_t *index) {
    unsigned char *p = a->data;
    for (int k = 0; k < a->rank; k++)
        p += index[k] * a->strides[k];
    return p;
}
// The bytes that output may change.
static void mark(struct block *b, const weft_array *a) {
    int64_t index[WEFT_MAX_RANK] = {0};
    if (weft_array_count(a) <= 0) return;
    do
        memset(b->mask + (element(a, index) - b->mem), 1, weft_dtype_size(a->dtype));
    while (walk(a, index));
}
static void place_outputs(struct chance *c, const struct answer *ref, weft_array *out,
                          bool overlap) {
    for (int i = 0; i < nblocks; i++) {
        blocks[i].taken = false;
        memcpy(blocks[i].mem, blocks[i].snap, blocks[i].size);
        memset(blocks[i].mask, 0, blocks[i].size);
    }
    for (int i = 0; i < ref->n; i++) {
        const weft_array *v = &ref->value[i];
        struct layout l = layout_of(c, v->dtype, v->rank, v->dims, false);
        struct block *home = NULL;
        if (!overlap || !put_on_leaf(c, v, &l, &out[i], &home)) {
            home = block_new(c, (size_t)(l.lo + l.hi + below(c, 40)));
            put_in(c, home, v->dtype, v->rank, v->dims, &l, &out[i]);
        }
        home->taken = true;
        mark(home, &out[i]);
    }
}

static bool same(weft_dtype t, const void *a, const void *b) {
    return memcmp(a, b, weft_dtype_size(t)) == 0 || (is_nan(t, a) && is_nan(t, b));
}
static void check_values(const char *what, uint64_t seed, int root, const weft_array *got,
                         const weft_array *want) {
    int64_t index[WEFT_MAX_RANK] = {0}, at = 0;
    if (weft_array_count(want) <= 0) return;
    do {
        uint64_t g = 0, w = 0;
        const unsigned char *p = element(got, index), *q = element(want, index);
        memcpy(&g, p, weft_dtype_size(got->dtype)), memcpy(&w, q, weft_dtype_size(got->dtype));
        cr_assert(same(got->dtype, p, q),
                  "seed %llu, %s: root %d (%s), element %lld: got %#llx, expected %#llx",
                  (unsigned long long)seed, what, root, weft_dtype_name(got->dtype), (long long)at,
                  (unsigned long long)g, (unsigned long long)w);
        at++;
    } while (walk(got, index));
}
static void check(const char *what, uint64_t seed, const struct answer *ref, weft_status st,
                  const weft_array *out, const char *text) {
    cr_assert_eq(st, ref->status, "seed %llu, %s: %s (%s), expected %s", (unsigned long long)seed,
                 what, weft_status_text(st), text, weft_status_text(ref->status));
    for (int i = 0; !st && i < ref->n; i++)
        check_values(what, seed, i, &out[i], &ref->value[i]);
    for (int i = 0; i < nblocks; i++)
        for (size_t k = 0; k < blocks[i].size; k++)
            cr_assert(blocks[i].mask[k] || blocks[i].mem[k] == blocks[i].snap[k],
                      "seed %llu, %s: byte %zu of block %d changed", (unsigned long long)seed, what,
                      k, i);
}

// Forgets the outputs of the last run.
static void drop_blocks(int keep) {
    while (nblocks > keep) {
        struct block *b = &blocks[--nblocks];
        munmap(b->map, b->mapped), free(b->snap), free(b->mask);
    }
}

static void run_eval(uint64_t seed, const struct answer *ref, int kind, bool unfused,
                     struct chance *c) {
    struct build b;
    weft_array out[ROOTS];
    weft_expr *roots[ROOTS];
    char what[80];
    int base = nblocks, times = one_in(c, 3) ? 2 : 1, threads = 1 + (int)below(c, 3);
    build_graph(&b, ctxs[kind], seed, false, false);
    for (int i = 0; i < ref->n; i++)
        roots[i] = b.pool[ref->which[i]];
    while (times--) {
        bool overlap = one_in(c, 2);
        place_outputs(c, ref, out, overlap);
        snprintf(what, sizeof what, "%s%s%s, %d threads", kinds[kind].name,
                 unfused ? ", unfused" : "", overlap ? ", overlapping" : "", threads);
        weft_eval_opts o = {.size = sizeof o, .threads = threads, .unfused = unfused};
        weft_status st = weft_eval_n(ref->n, roots, out, &o);
        check(what, seed, ref, st, out, weft_graph_error(b.g));
        drop_blocks(base);
    }
    build_free(&b);
}

static void run_program(uint64_t seed, const struct answer *ref, int kind, struct chance *c) {
    struct build b;
    weft_array out[ROOTS], in[LEAVES];
    weft_expr *roots[ROOTS];
    weft_program *p = NULL;
    weft_workspace *ws = NULL;
    char what[80], err[200];
    int base = nblocks, nin;
    build_graph(&b, ctxs[kind], seed, false, true);
    for (int i = 0; i < ref->n; i++)
        roots[i] = b.pool[ref->which[i]];
    weft_status st = weft_compile(ref->n, roots, &p);
    cr_assert_eq(st, WEFT_OK, "seed %llu: compile: %s", (unsigned long long)seed,
                 weft_graph_error(b.g));
    nin = weft_program_inputs(p);
    cr_assert_eq(nin, b.ninput);
    for (int i = 0; i < nin; i++)
        in[i] = leaves[b.input_leaf[i]].array;
    build_free(&b);
    if (one_in(c, 2)) cr_assert_eq(weft_workspace_new(ctxs[kind], &ws), WEFT_OK);
    for (int k = 0; k < 2; k++) {
        place_outputs(c, ref, out, k);
        snprintf(what, sizeof what, "%s, program%s", kinds[kind].name, k ? ", overlapping" : "");
        st = weft_run(p, ws, in, out, err, sizeof err);
        check(what, seed, ref, st, out, err);
        drop_blocks(base);
    }
    weft_workspace_free(ws);
    weft_program_free(p);
}

// The answer of the reference; false when an operation met a NaN it was told to report (which the
// roots may not need): then the unfused interpreter's answer is taken.
static void answer(uint64_t seed, struct answer *ref, struct build *b, struct chance *c) {
    build_graph(b, ctxs[0], seed, true, false);
    ref->n = 1 + (int)below(c, ROOTS);
    for (int i = 0; i < ref->n; i++)
        ref->which[i] = i ? (int)below(c, b->n) : b->n - 1;
    bool lazy = b->eager_status != WEFT_OK;
    cr_assert(!lazy || b->eager_status == WEFT_ENAN, "seed %llu: reference: %s",
              (unsigned long long)seed, weft_graph_error(b->g));
    if (lazy) {
        build_free(b);
        build_graph(b, ctxs[0], seed, false, false);
    }
    for (int i = 0; i < ref->n; i++) {
        weft_eval_opts o = {.size = sizeof o, .unfused = true};
        weft_status st = weft_eval_new(b->pool[ref->which[i]], &ref->value[i], &o);
        if (st) {
            weft_expr *x = b->pool[ref->which[i]];
            ref->value[i] =
                weft_dense(weft_expr_dtype(x), NULL, weft_expr_rank(x), weft_expr_dims(x));
            cr_assert_eq(st, WEFT_ENAN, "seed %llu: reference: %s", (unsigned long long)seed,
                         weft_graph_error(b->g));
            ref->status = st;
        }
    }
    build_free(b);
}

static uint64_t running;
static void on_fault(int sig) {
    char text[64];
    int n = snprintf(text, sizeof text, "test_random: signal %d in seed %llu\n", sig,
                     (unsigned long long)running);
    if (write(2, text, (size_t)n) < 0) _exit(3);
    signal(sig, SIG_DFL);
    raise(sig);
}

static void one_seed(uint64_t seed) {
    struct chance c = {seed ^ 0x5EED};
    struct answer ref = {.status = WEFT_OK};
    struct build b;
    running = seed;
    nleaves = 0;
    answer(seed, &ref, &b, &c);
    run_eval(seed, &ref, 1, false, &c);
    run_eval(seed, &ref, 2, one_in(&c, 2), &c);
    run_eval(seed, &ref, 3, false, &c);
    if (one_in(&c, 3)) run_eval(seed, &ref, 3, true, &c);
    run_eval(seed, &ref, 4 + (int)below(&c, KINDS - 4), one_in(&c, 4), &c);
    run_program(seed, &ref, one_in(&c, 2) ? 1 : 3, &c);
    for (int i = 0; i < ref.n; i++)
        weft_array_free(ctxs[0], &ref.value[i]);
    blocks_free();
}

Test(random, every_way_gives_the_same_bits, .timeout = PATIENCE * 3600) {
    const char *one = getenv("WEFT_SEED"), *many = getenv("WEFT_SEEDS");
    uint64_t first = one ? strtoull(one, NULL, 10) : 1, n = many  ? strtoull(many, NULL, 10)
                                                            : one ? 1
                                                                  : 120;
    signal(SIGSEGV, on_fault), signal(SIGBUS, on_fault), signal(SIGFPE, on_fault),
        signal(SIGABRT, on_fault);
    open_ctxs();
    for (uint64_t s = first; s < first + n; s++)
        one_seed(s);
    for (int i = 0; i < KINDS; i++)
        weft_ctx_free(ctxs[i]);
}

// Arrays without memory are refused, never read and never passed over in silence.
Test(random, arrays_without_memory_are_refused) {
    weft_ctx_opts o = {
        .size = sizeof o, .backend = WEFT_BACKEND_INTERP, .threads = 1, .ignore_env = true};
    weft_ctx *ctx = NULL;
    double from[6] = {1, 2, 3, 4, 5, 6}, to[6] = {0};
    int64_t n = 6, few = 3;
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    weft_graph *g = weft_graph_new(ctx);
    weft_array a = weft_dense(WEFT_F64, from, 1, &n), out = weft_dense(WEFT_F64, to, 1, &n),
               none = a;
    none.data = NULL;
    cr_assert_eq(weft_eval(weft_neg(weft_from(g, &a)), &none, NULL), WEFT_EINVAL);
    weft_expr *f = weft_neg(weft_input(g, "x", WEFT_F64, 1, &n));
    weft_program *p = NULL;
    cr_assert_eq(weft_compile(1, &f, &p), WEFT_OK);
    for (int k = 0; k < 2; k++) { // the planned extent, then another
        cr_assert_eq(weft_run(p, NULL, &none, &out, NULL, 0), WEFT_EINVAL);
        cr_assert_eq(weft_run(p, NULL, &a, &none, NULL, 0), WEFT_EINVAL);
        cr_assert_eq(to[0], 0);
        a.dims[0] = none.dims[0] = out.dims[0] = few;
    }
    weft_program_free(p);
    none = weft_dense(WEFT_F64, from, 2, NULL);
    cr_assert_eq(weft_array_count(&none), -1);
    none = weft_strided(WEFT_F64, from, 1, &n, NULL);
    cr_assert_eq(weft_array_count(&none), -1);
    cr_assert_null(weft_from(g, &none));
    weft_stats s = {.threads = 7};
    weft_ctx_stats(NULL, &s, sizeof s);
    cr_assert_eq(s.threads, 0);
    weft_ctx_stats(ctx, NULL, sizeof s);
    weft_ctx_wait(NULL);
    weft_graph_free(g);
    weft_ctx_free(ctx);
}
