// SPDX-License-Identifier: MIT
// See fuse_random.h. Values are small whole numbers, so that sums are exact and NaN appears on
// purpose only. A proposal that does not fit (shapes, types) is dropped before it reaches the
// graph, whose first error would stick.
#include "fuse_random.h"

#include <math.h>
#include <stdlib.h>

#include "fuse_eval.h"

uint32_t random_below(struct random_graph *r, uint32_t n) {
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return (uint32_t)(r->state >> 32) % n;
}
static bool chance(struct random_graph *r, uint32_t in) {
    return random_below(r, in) == 0;
}

static const weft_dtype types[] = {WEFT_F64, WEFT_F64, WEFT_I64, WEFT_F32, WEFT_I32, WEFT_BOOL};

// ---- leaves -------------------------------------------------------------------------------------
weft_array random_array(struct random_graph *r, weft_dtype t, int rank, const int64_t *dims,
                        bool leaf, char **base) {
    weft_array a = {.dtype = t, .rank = rank};
    int perm[WEFT_MAX_RANK];
    int64_t size = (int64_t)dtype_size(t), step = size * (chance(r, 5) ? 2 : 1), low = 0, high = 0;
    bool f_order = chance(r, 3), gaps = chance(r, 4);
    for (int i = 0; i < rank; i++)
        perm[i] = f_order ? i : rank - 1 - i;
    if (rank > 1 && chance(r, 5)) {
        int t0 = perm[0];
        perm[0] = perm[1];
        perm[1] = t0;
    }
    for (int i = 0; i < rank; i++) {
        int k = perm[i];
        a.dims[k] = dims[k];
        a.strides[k] = step;
        step *= MAX_OF(dims[k], 1);
        if (gaps && chance(r, 2)) step += size;
        if (chance(r, 6)) a.strides[k] = -a.strides[k];
        if (leaf && chance(r, 8)) a.strides[k] = 0;
        *(a.strides[k] < 0 ? &low : &high) += a.strides[k] * (MAX_OF(dims[k], 1) - 1);
    }
    size_t bytes = (size_t)(high - low + size);
    *base = malloc(bytes);
    a.data = *base - low;
    memset(*base, 0xa5, bytes);
    for (size_t i = 0; i + (size_t)size <= bytes; i += (size_t)size) {
        union scalar v = {0};
        int64_t x = (int64_t)random_below(r, 7) - 3;
        if (dtype_is_float(t))
            v.f = chance(r, 40) ? NAN : (double)x;
        else
            v.i = t == WEFT_BOOL ? x > 0 : x;
        if (leaf) scalar_store((int)t, *base + i, v);
    }
    return a;
}

static int random_shape(struct random_graph *r, int64_t *dims) {
    static const int64_t extents[] = {1, 2, 3, 4, 6, 4, 2, 12};
    int rank = (int)random_below(r, 5);
    for (int i = 0; i < rank; i++)
        dims[i] = chance(r, 60) ? 0 : extents[random_below(r, rank > 2 ? 7 : 8)];
    return rank;
}

static ir_ref make_leaf(struct random_graph *r) {
    int64_t dims[WEFT_MAX_RANK];
    int rank = random_shape(r, dims);
    weft_dtype t = types[random_below(r, COUNT_OF(types))];
    if (rank && chance(r, 8))
        return ir_iota(r->g, t == WEFT_BOOL ? WEFT_I64 : t, rank, dims,
                       (int)random_below(r, (uint32_t)rank));
    weft_array a = random_array(r, t, rank, dims, true, &r->buffer[r->nbuffer]);
    r->nbuffer++;
    if (chance(r, 2)) return ir_from(r->g, &a);
    int k = r->ninput++;
    r->input[k] = a;
    memcpy(r->instride[k], a.strides, sizeof a.strides);
    r->in_strides[k] = r->instride[k];
    return ir_input(r->g, "x", t, rank, dims);
}

// ---- operations ---------------------------------------------------------------------------------
static int rank_of(struct random_graph *r, ir_ref n) {
    return ir_at(r->g, n)->rank;
}

static bool broadcasts(struct random_graph *r, ir_ref a, ir_ref b) {
    int ra = rank_of(r, a), rb = rank_of(r, b);
    for (int i = 1; i <= MIN_OF(ra, rb); i++) {
        int64_t x = ir_dims(r->g, a)[ra - i], y = ir_dims(r->g, b)[rb - i];
        if (x != y && x != 1 && y != 1) return false;
    }
    return ir_elements(r->g, a) * ir_elements(r->g, b) <= 4096;
}

static ir_ref pick(struct random_graph *r) {
    uint32_t n = ir_count(r->g), recent = MIN_OF(n - 1, 12u);
    for (int tries = 0; tries < 20; tries++) {
        ir_ref x = chance(r, 3) ? 1 + random_below(r, n - 1) : n - 1 - random_below(r, recent);
        int op = ir_at(r->g, x)->op;
        if (op != IR_extent && (op != IR_constant || chance(r, 4)) &&
            ir_at(r->g, x)->weak == IR_STRONG)
            return x;
    }
    return 1;
}

static ir_ref partner(struct random_graph *r, ir_ref a) {
    for (int tries = 0; tries < 30; tries++) {
        ir_ref b = pick(r);
        if (broadcasts(r, a, b)) return b;
    }
    return a;
}

static ir_ref make_map(struct random_graph *r, ir_ref x) {
    static const int unary[] = {IR_abs, IR_square, IR_isnan, IR_logical_not, IR_floor};
    static const int binary[] = {IR_add,  IR_mul,  IR_minimum, IR_maximum,
                                 IR_fmin, IR_less, IR_equal,   IR_add};
    ir_ref in[3] = {x, IR_NONE, IR_NONE};
    switch (random_below(r, 6)) {
    case 0: return ir_map(r->g, (enum ir_op)unary[random_below(r, COUNT_OF(unary))], in);
    case 1: return ir_cast(r->g, x, types[random_below(r, COUNT_OF(types))]);
    case 2: {
        ir_ref wide = partner(r, x), other = partner(r, x);
        if (!broadcasts(r, wide, other)) other = wide;
        return ir_map(r->g, IR_where, (ir_ref[3]){x, wide, other});
    }
    case 3:
        if (chance(r, 2)) return ir_map(r->g, IR_exp, in);
        // fall through
    default:
        in[1] = partner(r, x);
        return ir_map(r->g, (enum ir_op)binary[random_below(r, COUNT_OF(binary))], in);
    }
}

static ir_ref make_reshape(struct random_graph *r, ir_ref x) {
    int64_t left = ir_elements(r->g, x), dims[WEFT_MAX_RANK];
    int rank = 0;
    if (!left) return x;
    while (rank < 4 && (left > 1 || chance(r, 4))) {
        static const int64_t factors[] = {2, 3, 4, 6, 1};
        int64_t f = rank == 3 || chance(r, 4) ? left : factors[random_below(r, 5)];
        if (left % f) continue;
        dims[rank++] = f;
        left /= f;
    }
    if (left > 1) return x;
    return ir_reshape(r->g, x, rank, dims);
}

static ir_ref make_broadcast(struct random_graph *r, ir_ref x) {
    int64_t dims[WEFT_MAX_RANK];
    int rank = rank_of(r, x), more = rank < 4 ? (int)random_below(r, 2) : 0;
    if (ir_elements(r->g, x) > 256) return x;
    for (int i = 0; i < more; i++)
        dims[i] = 2;
    for (int i = 0; i < rank; i++)
        dims[more + i] = ir_dims(r->g, x)[i] == 1 && chance(r, 2) ? 3 : ir_dims(r->g, x)[i];
    return ir_broadcast_to(r->g, x, more + rank, dims);
}

static ir_ref make_view(struct random_graph *r, ir_ref x) {
    int rank = rank_of(r, x), perm[WEFT_MAX_RANK];
    switch (random_below(r, 7)) {
    case 0: return make_reshape(r, x);
    case 1: return make_reshape(r, x);
    case 2: return make_broadcast(r, x);
    case 3: return rank < 5 ? ir_expand_dims(r->g, x, (int)random_below(r, (uint32_t)rank + 1)) : x;
    case 4: {
        if (!rank) return x;
        int axis = (int)random_below(r, (uint32_t)rank);
        int64_t step = (int64_t)random_below(r, 5) - 2, d = ir_dims(r->g, x)[axis];
        if (d && chance(r, 3)) return ir_index(r->g, x, axis, random_below(r, (uint32_t)d));
        int64_t from = random_below(r, (uint32_t)d + 1), count = 1 + random_below(r, 3);
        if (chance(r, 2)) return ir_slice(r->g, x, axis, from, from + count, 1);
        return ir_slice(r->g, x, axis, chance(r, 2) ? WEFT_NONE : from, WEFT_NONE,
                        step ? step : -1);
    }
    case 5:
        if (rank < 2) return x;
        return ir_diagonal(r->g, x, (int64_t)random_below(r, 3) - 1, 0, rank - 1);
    default:
        for (int i = 0; i < rank; i++)
            perm[i] = i;
        for (int i = rank - 1; i > 0; i--) {
            int j = (int)random_below(r, (uint32_t)i + 1), t = perm[i];
            perm[i] = perm[j];
            perm[j] = t;
        }
        return ir_transpose(r->g, x, perm);
    }
}

static ir_ref make_reduce(struct random_graph *r, ir_ref x) {
    static const enum ir_reduction what[] = {IR_SUM,  IR_MAX,          IR_MIN,    IR_MEAN,
                                             IR_VAR,  IR_ANY,          IR_ARGMIN, IR_ARGMAX,
                                             IR_PROD, IR_COUNT_NONZERO};
    enum ir_reduction kind = what[random_below(r, COUNT_OF(what))];
    int axes[WEFT_MAX_RANK], n = 0, rank = rank_of(r, x);
    if (!ir_elements(r->g, x)) kind = IR_SUM;
    bool arg = kind == IR_ARGMIN || kind == IR_ARGMAX;
    for (int i = 0; i < rank && !(arg && n); i++)
        if (chance(r, 2)) axes[n++] = i;
    weft_reduce o = {.size = sizeof o,
                     .axes = axes,
                     .naxes = n,
                     .keepdims = chance(r, 2),
                     .nan = WEFT_NAN_PROPAGATE};
    if (!n || chance(r, 4)) o.axes = NULL;
    if (chance(r, 5)) o.nan = WEFT_NAN_SKIP;
    if (chance(r, 8)) o.nan = WEFT_NAN_RAISE;
    return ir_reduce(r->g, kind, x, &o);
}

// x less or over one of its own reductions: softmax and its kin
static ir_ref make_normal(struct random_graph *r, ir_ref x) {
    int rank = rank_of(r, x), axis = rank ? (int)random_below(r, (uint32_t)rank) : 0;
    weft_reduce o = {.size = sizeof o, .axes = &axis, .naxes = 1, .keepdims = true};
    if (!rank || !ir_elements(r->g, x)) return x;
    if (chance(r, 2)) axis = rank - 1;
    ir_ref m = ir_reduce(r->g, chance(r, 2) ? IR_MAX : IR_MEAN, x, &o);
    ir_ref d = ir_map(r->g, IR_less, (ir_ref[3]){x, m, IR_NONE});
    ir_ref e = ir_map(r->g, chance(r, 2) ? IR_minimum : IR_add, (ir_ref[3]){x, m, IR_NONE});
    ir_ref s = ir_reduce(r->g, IR_SUM, chance(r, 2) ? e : d, &o);
    return ir_map(r->g, IR_add, (ir_ref[3]){e, s, IR_NONE});
}

static ir_ref make_matmul(struct random_graph *r, ir_ref x) {
    for (int tries = 0; tries < 20; tries++) {
        ir_ref y = pick(r);
        int rx = rank_of(r, x), ry = rank_of(r, y);
        if (rx < 2 || ry < 2 || ir_dims(r->g, x)[rx - 1] != ir_dims(r->g, y)[ry - 2]) continue;
        bool ok = ir_elements(r->g, x) * ir_elements(r->g, y) <= 4096;
        for (int i = 3; i <= MIN_OF(rx, ry); i++) {
            int64_t a = ir_dims(r->g, x)[rx - i], b = ir_dims(r->g, y)[ry - i];
            ok &= a == b || a == 1 || b == 1;
        }
        if (ok) return ir_matmul(r->g, x, y);
    }
    return x;
}

void random_build(struct random_graph *r, uint64_t seed, int ops) {
    *r = (struct random_graph){.state = seed * 0x9e3779b97f4a7c15u + 1};
    for (int i = 0; i < 8; i++)
        random_below(r, 2);
    r->g = ir_graph_new(NULL, 0);
    int leaves = 1 + (int)random_below(r, 4);
    for (int i = 0; i < leaves; i++)
        make_leaf(r);
    for (int i = 0; i < ops; i++) {
        ir_ref x = pick(r);
        switch (random_below(r, 12)) {
        case 0:
        case 1:
        case 2: make_view(r, x); break;
        case 3:
        case 4: make_reduce(r, x); break;
        case 5: make_normal(r, x); break;
        case 6: make_matmul(r, x); break;
        default: make_map(r, x);
        }
    }
    r->nroot = 1 + (int)random_below(r, RANDOM_ROOTS);
    for (int i = 0; i < r->nroot; i++)
        r->root[i] = i ? pick(r) : ir_count(r->g) - 1;
}

void random_free(struct random_graph *r) {
    for (int i = 0; i < r->nbuffer; i++)
        free(r->buffer[i]);
    ir_graph_free(r->g);
}
