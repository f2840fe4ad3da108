// SPDX-License-Identifier: MIT
// A case from a seed: leaves of any layout (reversed, repeated, misaligned, sharing memory), a
// chain of random nodes that weft accepts, a few roots and where their outputs lie. Values are
// mostly the awkward ones. Only what decides validity is looked at here; what weft refuses is
// dropped again.
#include "fuzz.h"

uint64_t chance_next(struct chance *c) {
    uint64_t z = c->s += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
int64_t below(struct chance *c, int64_t n) {
    return (int64_t)(chance_next(c) % (uint64_t)n);
}
bool one_in(struct chance *c, int n) {
    return below(c, n) == 0;
}
static int64_t between(struct chance *c, int64_t lo, int64_t hi) {
    return lo + below(c, hi - lo + 1);
}

struct maker {
    struct fcase *c;
    struct chance r;
    weft_ctx *ctx;
    struct built b;
    weft_array arrays[LEAVES];
    int rank;
    int64_t dims[RANK], cap;
};

// ---- values
// -----------------------------------------------------------------------------------------------
static double number(struct chance *c, weft_dtype t) {
    static const double special[] = {0,
                                     -0.0,
                                     1,
                                     -1,
                                     NAN,
                                     INFINITY,
                                     -INFINITY,
                                     0.5,
                                     1.5,
                                     2.5,
                                     -2.5,
                                     2,
                                     3,
                                     -7.25,
                                     0.1,
                                     1e-310,
                                     5e-324,
                                     1e300,
                                     -1e300,
                                     1e-40,
                                     1e30,
                                     88.5,
                                     -103,
                                     709,
                                     -745,
                                     1e10,
                                     1e-17,
                                     3e9,
                                     65504,
                                     65520,
                                     6e-8,
                                     300,
                                     -129,
                                     4503599627370497.5,
                                     2147483648.0,
                                     9007199254740993.0,
                                     0.99999999999999989};
    uint64_t kind = chance_next(c) % 8;
    if (kind < 2) return special[below(c, (int64_t)(sizeof special / sizeof *special))];
    if (kind == 2) return (double)between(c, -9, 9);
    if (kind == 3 && t == WEFT_F64) { // any bits
        uint64_t u = chance_next(c);
        double d;
        memcpy(&d, &u, sizeof d);
        return d;
    }
    return ((double)(chance_next(c) >> 11) * 0x1p-53 - 0.5) * (kind < 6 ? 4 : 200);
}
static struct num element(struct chance *c, weft_dtype t) {
    static const int64_t special[] = {
        0,         1,         -1,         2,         7,         8,         31,          32,
        63,        64,        127,        -128,      255,       256,       32767,       65535,
        INT32_MAX, INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN, 1LL << 53, 3037000500LL};
    struct num v = {0, 0, 0};
    if (is_float(real_of(t))) {
        v.f = number(c, t), v.g = number(c, t);
        return v;
    }
    uint64_t kind = chance_next(c) % 4;
    v.i = kind == 0   ? special[below(c, (int64_t)(sizeof special / sizeof *special))]
          : kind == 1 ? (int64_t)chance_next(c)
                      : between(c, -12, 12);
    if (t == WEFT_BOOL) v.i = v.i & 1;
    return v;
}
static void fill(struct chance *c, weft_dtype t, unsigned char *p, int64_t bytes) {
    int64_t size = (int64_t)weft_dtype_size(t), n = bytes / size, period = n < 400 ? n : 397;
    for (int64_t i = 0; i < n; i++)
        if (i < period)
            num_store(t, p + i * size, element(c, t));
        else // long arrays repeat, at an odd period
            memcpy(p + i * size, p + (i - period) * size, (size_t)size);
    for (int64_t i = n * size; i < bytes; i++)
        p[i] = t == WEFT_BOOL ? 1 : (unsigned char)chance_next(c);
}

// ---- leaves
// -----------------------------------------------------------------------------------------------
struct layout {
    int64_t strides[RANK], lo, hi; // bytes below and above the first element
};
static struct layout layout_of(struct chance *c, const struct shape *s, bool input) {
    struct layout l = {.hi = (int64_t)weft_dtype_size(s->t)};
    int order[RANK];
    int64_t room = l.hi, es = l.hi;
    bool plain = !one_in(c, 3), shuffle = one_in(c, 2), empty = false;
    for (int k = 0; k < s->rank; k++)
        order[k] = s->rank - 1 - k;
    for (int k = s->rank - 1; !plain && shuffle && k > 0; k--) {
        int64_t j = below(c, k + 1);
        int held = order[k];
        order[k] = order[j], order[j] = held;
    }
    for (int k = 0; k < s->rank; k++) {
        int64_t n = s->dims[order[k]], step = room;
        if (!plain && one_in(c, 6)) step += es * below(c, 4) + one_in(c, 4);
        if (!plain && one_in(c, 4)) step = -step;
        if (!plain && input && one_in(c, 10)) step = 0;
        l.strides[order[k]] = step;
        int64_t span = n > 0 ? (n - 1) * step : 0;
        empty |= n == 0;
        if (span < 0)
            l.lo -= span;
        else
            l.hi += span;
        if (n > 0 && llabs(step) * n > room) room = llabs(step) * n;
    }
    if (empty) l.lo = l.hi = 0;
    return l;
}
static int new_block(struct fcase *c, struct chance *r, int64_t size) {
    struct block *b = &c->block[c->nblock];
    *b = (struct block){size, calloc((size_t)size + 1, 1), !one_in(r, 3)};
    if (!b->bytes) abort();
    return c->nblock++;
}
static int add_leaf(struct maker *m, const struct shape *s) {
    struct fcase *c = m->c;
    if (c->nleaf == LEAVES || c->nnode == NODES || c->nblock >= LEAVES) return -1;
    struct layout l = layout_of(&m->r, s, true);
    struct leaf *f = &c->leaf[c->nleaf];
    *f = (struct leaf){.s = *s, .at = l.lo, .block = -1};
    memcpy(f->strides, l.strides, sizeof f->strides);
    for (int k = 0; k < c->nleaf && f->block < 0; k++) // on top of another of the same type
        if (one_in(&m->r, 12) && c->leaf[k].s.t == s->t &&
            c->block[c->leaf[k].block].size >= l.lo + l.hi)
            f->block = c->leaf[k].block;
    if (f->block < 0) {
        f->block = new_block(c, &m->r, l.lo + l.hi);
        fill(&m->r, s->t, c->block[f->block].bytes, l.lo + l.hi);
    }
    m->arrays[c->nleaf] = weft_strided(s->t, block_memory(f->block, &c->block[f->block]) + f->at,
                                       s->rank, s->dims, f->strides);
    weft_expr *x = weft_from(m->b.g, &m->arrays[c->nleaf]);
    if (!x) abort();
    m->b.x[c->nnode] = x;
    c->shape[c->nnode] = *s;
    c->node[c->nnode] = (struct node){.kind = K_leaf, .p = {c->nleaf++}};
    return c->nnode++;
}
static weft_dtype any_type(struct chance *c) {
    static const weft_dtype often[] = {WEFT_F64, WEFT_F32, WEFT_F64, WEFT_F32, WEFT_I64, WEFT_I32};
    return one_in(c, 2) ? often[below(c, 6)] : (weft_dtype)below(c, WEFT_DTYPE__N);
}
static weft_dtype any_real(struct chance *c) {
    return real_of(any_type(c));
}
static weft_dtype int_type(struct chance *c) {
    return (weft_dtype)(WEFT_I8 + below(c, 8));
}

// ---- nodes
// ------------------------------------------------------------------------------------------------
// Appends the node when weft takes it and it is not too large; its number, or -1.
static int add_node(struct maker *m, const struct node *n) {
    struct fcase *c = m->c;
    if (c->nnode == NODES) return -1;
    weft_expr *x[3] = {NULL, NULL, NULL}, *y;
    for (int k = 0; k < kind_arity(n->kind); k++) {
        if (n->in[k] < 0) return -1;
        x[k] = m->b.x[n->in[k]];
    }
    y = build_node(n, m->b.g, x);
    if (!y) { // an error stays: begin again with what there is
        weft_graph_reset(m->b.g);
        if (!build_case(c, m->arrays, false, &m->b)) abort();
        return -1;
    }
    struct shape s = {.t = weft_expr_dtype(y), .rank = weft_expr_rank(y)};
    if (s.rank > RANK - 2) return -1;
    if (s.rank) memcpy(s.dims, weft_expr_dims(y), (size_t)s.rank * sizeof *s.dims);
    if (shape_count(&s) > m->cap) return -1;
    c->node[c->nnode] = *n;
    c->shape[c->nnode] = s;
    m->b.x[c->nnode] = y;
    return c->nnode++;
}
static const struct shape *shape_at(const struct maker *m, int i) {
    return &m->c->shape[i];
}
static int cast_to(struct maker *m, int i, weft_dtype t) {
    if (i < 0 || shape_at(m, i)->t == t) return i;
    return add_node(m, &(struct node){.kind = K_cast, .in = {i}, .p = {t}});
}
static int pick(struct maker *m) { // no literals; late ones more often
    for (int tries = 0; tries < 20; tries++) {
        int n = m->c->nnode,
            i = one_in(&m->r, 2) ? (int)below(&m->r, n) : n - 1 - (int)below(&m->r, n < 4 ? n : 4);
        if (m->c->node[i].kind != K_integer && m->c->node[i].kind != K_number) return i;
    }
    return 0;
}
static bool meets(const struct maker *m, int a, int b) {
    const struct shape *x = shape_at(m, a), *y = shape_at(m, b);
    int r = x->rank > y->rank ? x->rank : y->rank;
    int64_t n = 1;
    for (int k = 1; k <= r; k++) {
        int64_t dx = k <= x->rank ? x->dims[x->rank - k] : 1,
                dy = k <= y->rank ? y->dims[y->rank - k] : 1;
        if (dx != dy && dx != 1 && dy != 1) return false;
        n *= dx == 1 ? dy : dx;
    }
    return n <= m->cap;
}
static int partner(struct maker *m, int x) {
    for (int i = 0; i < 6; i++) {
        int y = pick(m);
        if (meets(m, x, y)) return y;
    }
    struct shape s = *shape_at(m, x);
    s.t = any_type(&m->r);
    int drop = one_in(&m->r, 3) ? (int)below(&m->r, s.rank + 1) : 0;
    for (int k = drop; k < s.rank; k++)
        s.dims[k - drop] = one_in(&m->r, 5) ? 1 : s.dims[k];
    s.rank -= drop;
    int y = add_leaf(m, &s);
    return y >= 0 ? y : x;
}
static int64_t bits_of_double(double d) {
    int64_t i;
    memcpy(&i, &d, sizeof i);
    return i;
}
static int literal(struct maker *m, bool whole) {
    struct node n = {.kind = K_integer, .p = {below(&m->r, 5)}};
    if (!whole && one_in(&m->r, 2)) {
        static const double v[] = {0, 0.75, 1.5, 2, 0.1, INFINITY, NAN, 1e-3};
        n = (struct node){.kind = K_number, .p = {bits_of_double(v[below(&m->r, 8)])}};
    }
    if (m->c->nnode == NODES) return -1;
    m->b.x[m->c->nnode] = build_node(&n, m->b.g, NULL);
    m->c->shape[m->c->nnode] = (struct shape){.t = weft_expr_dtype(m->b.x[m->c->nnode])};
    m->c->node[m->c->nnode] = n;
    return m->c->nnode++;
}

// The sign of a NaN is not promised: operations that would show it get none.
static int no_nan(struct maker *m, int x) {
    int same = add_node(m, &(struct node){.kind = M_equal, .in = {x, x}}), zero = literal(m, true);
    return add_node(m, &(struct node){.kind = M_where, .in = {same, x, zero}});
}
static int fitted(struct maker *m, const struct map_row *row, int x, weft_dtype ints) {
    weft_dtype t = shape_at(m, x)->t;
    bool whole = row->rule == INTS || row->rule == SHIFT || row->rule == WORD;
    if (whole && (is_float(real_of(t)) || (t == WEFT_BOOL && row->rule != INTS)))
        return cast_to(m, x, ints);
    if (t == WEFT_BOOL && row->no_bool && row->rule != FLOAT && row->rule != LOGIC)
        return cast_to(m, x, ints);
    if (is_complex(t) && one_in(&m->r, 2)) return cast_to(m, x, real_of(t));
    return x;
}
static int map_step(struct maker *m) {
    int kind = MAP_FIRST + (int)below(&m->r, KIND__N - MAP_FIRST);
    if (kind == M_cast) return cast_to(m, pick(m), (weft_dtype)below(&m->r, WEFT_DTYPE__N));
    const struct map_row *row = map_of(kind);
    weft_dtype ints = int_type(&m->r);
    int x = fitted(m, row, pick(m), ints), y = -1, z = -1;
    bool sign = kind == M_copysign || kind == M_signbit, lit = one_in(&m->r, 6) && !sign;
    if (x >= 0 && row->arity > 1)
        y = lit && row->rule != WORD
                ? literal(m, (row->rule >= INTS && row->rule <= SHIFT) || kind == M_scale_by_power)
                : partner(m, x);
    if (y >= 0 && !lit) y = fitted(m, row, y, ints);
    if (sign && x >= 0) x = no_nan(m, x);
    if (sign && y >= 0) y = no_nan(m, y);
    if (kind == M_scale_by_power && y >= 0 && !lit) // whole numbers
        y = add_node(m, &(struct node){.kind = M_trunc, .in = {no_nan(m, y)}});
    if (x < 0 || (row->arity > 1 && y < 0)) return -1;
    if (row->arity == 3) {
        z = partner(m, x);
        if (z < 0 || (!lit && !meets(m, y, z))) return -1;
    }
    if (row->arity == 2 && kind != M_scale_by_power && one_in(&m->r, 9))
        return add_node(m, &(struct node){.kind = kind, .in = {y, x}});
    return add_node(m, &(struct node){.kind = kind, .in = {x, y, z}});
}
static int composite_step(struct maker *m) {
    static const double f[] = {0.01, 0.5, 1, INFINITY, 1e-5, 0};
    struct node n = {.kind = (int)between(&m->r, K_clip, K_angle)};
    int arity = kind_arity(n.kind);
    bool ints = n.kind >= K_bitwise_count && n.kind <= K_carry_out;
    weft_dtype t = n.kind == K_add_carry || n.kind == K_carry_out
                       ? (weft_dtype)(WEFT_U8 + below(&m->r, 4))
                       : int_type(&m->r);
    for (int k = 0; k < arity; k++) {
        n.in[k] = k ? partner(m, n.in[0]) : pick(m);
        if (ints || (n.kind == K_ldexp && k == 1))
            n.in[k] = cast_to(m, n.in[k], t);
        else if (n.kind < K_complex && is_complex(shape_at(m, n.in[k])->t))
            n.in[k] = cast_to(m, n.in[k], real_of(shape_at(m, n.in[k])->t));
        else if (n.kind == K_complex)
            n.in[k] = cast_to(m, n.in[k], real_of(shape_at(m, n.in[k])->t));
        if (n.in[k] < 0) return -1;
    }
    for (int k = 0; k < 3; k++)
        n.p[k] = bits_of_double(f[below(&m->r, n.kind == K_isclose ? 3 : 6)]);
    if (n.kind == K_isclose) n.p[2] = one_in(&m->r, 2);
    if (n.kind == K_leaky_relu) n.p[0] = bits_of_double(0.01);
    if (n.kind == K_nan_to_num) n.p[2] = bits_of_double(one_in(&m->r, 2) ? -INFINITY : -1);
    return add_node(m, &n);
}

// ---- views
// ----------------------------------------------------------------------------------------------------
static void reshape_dims(struct maker *m, int64_t left, int64_t *p) {
    int rank = (int)below(&m->r, 5), holes = 0;
    if (!rank && left != 1) rank = 1;
    p[0] = rank;
    for (int k = 0; k < rank; k++) {
        int64_t d = left ? between(&m->r, 1, 12) : below(&m->r, 4);
        while (left && left % d)
            d--;
        if (left && k == rank - 1) d = left;
        p[1 + k] = d;
        if (left) left /= d;
    }
    if (!left && rank) p[1 + below(&m->r, rank)] = 0;
    for (int k = 0; left && k < rank; k++)
        if (!holes && one_in(&m->r, 6)) p[1 + k] = -1, holes = 1;
}
static int64_t edge(struct maker *m, int64_t n) {
    return one_in(&m->r, 3) ? WEFT_NONE : below(&m->r, 2 * n + 5) - n - 2;
}

static int view_step(struct maker *m) {
    static const int64_t steps[] = {1, 1, 2, 3, -1, -1, -2, -5, 1000000, INT64_MAX, -INT64_MAX};
    struct node n = {.kind = (int)between(&m->r, K_reshape, K_diff), .in = {pick(m)}};
    struct shape s = *shape_at(m, n.in[0]);
    int rank = s.rank, axis = rank ? (int)below(&m->r, rank) : 0,
        other = rank ? (int)below(&m->r, rank) : 0;
    int64_t len = rank ? s.dims[axis] : 0, named = one_in(&m->r, 3) ? axis - rank : axis, *p = n.p;
    if (!rank && n.kind != K_reshape && n.kind != K_ravel && n.kind != K_expand_dims &&
        n.kind != K_broadcast_to && n.kind != K_stack)
        return -1;
    p[0] = named;
    switch (n.kind) {
    case K_reshape: reshape_dims(m, shape_count(&s), p); break;
    case K_transpose:
        p[0] = rank;
        for (int k = 0; k < rank; k++) {
            int64_t j = below(&m->r, k + 1);
            p[1 + k] = p[1 + j], p[1 + j] = k;
        }
        break;
    case K_slice:
        p[1] = one_in(&m->r, 2) ? edge(m, len) : below(&m->r, 3);
        p[2] = one_in(&m->r, 2) ? edge(m, len) : WEFT_NONE;
        p[3] = steps[below(&m->r, 11)];
        break;
    case K_index: p[1] = len ? below(&m->r, 2 * len) - len : 0; break;
    case K_squeeze:
        if (len != 1) return -1;
        break;
    case K_expand_dims: p[0] = below(&m->r, rank + 1); break;
    case K_broadcast_to: {
        int more = (int)below(&m->r, 2);
        p[0] = rank + more;
        for (int k = 0; k < more; k++)
            p[1 + k] = below(&m->r, 5);
        for (int k = 0; k < rank; k++)
            p[1 + more + k] = s.dims[k] == 1 && one_in(&m->r, 2) ? below(&m->r, 70) : s.dims[k];
        break;
    }
    case K_diagonal:
        if (axis == other) return -1;
        p[0] = between(&m->r, -2, 2), p[1] = axis, p[2] = other;
        break;
    case K_windows: p[1] = len ? between(&m->r, 1, len < 5 ? len : 5) : 1; break;
    case K_moveaxis: p[1] = other; break;
    case K_split: p[1] = between(&m->r, 1, 4), p[2] = below(&m->r, p[1]); break;
    case K_tril:
    case K_triu: p[0] = between(&m->r, -3, 3); break;
    case K_roll: p[0] = between(&m->r, -2 * len, 2 * len), p[1] = named; break;
    case K_tile:
        p[0] = between(&m->r, 1, 2), p[1] = below(&m->r, 4), p[2] = between(&m->r, 1, 3);
        break;
    case K_repeat: p[0] = below(&m->r, 4), p[1] = named; break;
    case K_pad: p[0] = below(&m->r, 4), p[1] = below(&m->r, 4), p[2] = below(&m->r, 5); break;
    case K_concat:
    case K_stack:
        n.in[1] = n.in[0];
        for (int k = 0; k < 5; k++) {
            int y = pick(m);
            bool same = shape_at(m, y)->rank == rank;
            for (int d = 0; same && d < rank; d++)
                same = shape_at(m, y)->dims[d] == s.dims[d] || (d == axis && n.kind == K_concat);
            if (same) n.in[1] = y;
        }
        if (n.kind == K_stack) p[0] = below(&m->r, rank + 1);
        break;
    case K_diff: p[0] = between(&m->r, 0, 2), p[1] = named; break;
    default: break;
    }
    return add_node(m, &n);
}

// ---- reductions, products, scans
// ----------------------------------------------------------------------------------
static int reduce_step(struct maker *m) {
    struct node n = {.kind = (int)between(&m->r, K_sum, K_quantile), .in = {pick(m)}};
    const struct shape *s = shape_at(m, n.in[0]);
    int rank = s->rank, count = 0, axis = rank ? (int)below(&m->r, rank) : 0;
    if (n.kind > K_ptp) {
        static const double orders[] = {0, 1, 2, 3, INFINITY, -INFINITY};
        if (!rank || !s->dims[axis]) return -1;
        n.p[0] = axis;
        if (n.kind == K_norm) n.p[0] = bits_of_double(orders[below(&m->r, 6)]), n.p[1] = axis;
        if (n.kind == K_quantile)
            n.p[1] = bits_of_double((double)below(&m->r, 9) / 8), n.p[2] = below(&m->r, 9);
        return add_node(m, &n);
    }
    bool all = one_in(&m->r, 4), arg = n.kind == K_argmin || n.kind == K_argmax;
    for (int k = 0; k < rank; k++)
        if (arg ? k == axis : one_in(&m->r, 2)) n.p[5 + count++] = one_in(&m->r, 3) ? k - rank : k;
    n.p[4] = all ? -1 : count;
    n.p[0] = one_in(&m->r, 3)    ? WEFT_NAN_SKIP
             : one_in(&m->r, 25) ? WEFT_NAN_RAISE
                                 : WEFT_NAN_PROPAGATE;
    if (n.kind > K_argmax) n.p[0] = WEFT_NAN_PROPAGATE;
    n.p[1] = one_in(&m->r, 3);
    n.p[2] = n.kind == K_var || n.kind == K_std ? bits_of_double(one_in(&m->r, 3)   ? 1
                                                                 : one_in(&m->r, 6) ? 0.5
                                                                                    : 0)
                                                : 0;
    n.p[3] = (n.kind == K_sum || n.kind == K_mean) && one_in(&m->r, 6);
    return add_node(m, &n);
}
static int product_step(struct maker *m) {
    struct node n = {.kind = one_in(&m->r, 3) ? (int)between(&m->r, K_dot, K_outer) : K_matmul,
                     .in = {pick(m)}};
    const struct shape *s = shape_at(m, n.in[0]);
    if (!s->rank || shape_count(s) > 60000) return -1;
    int64_t k = s->dims[s->rank - 1];
    if (s->rank >= 2 && one_in(&m->r, 2)) {
        struct node t = {.kind = K_moveaxis, .in = {n.in[0]}, .p = {-1, s->rank - 2}};
        n.in[1] = add_node(m, &t);
    } else {
        static const int64_t cols[] = {1, 2, 3, 5, 8, 9, 16, 17, 33};
        struct shape b = {.t = any_type(&m->r),
                          .rank = one_in(&m->r, 3) ? 1 : 2,
                          .dims = {k, cols[below(&m->r, 9)]}};
        n.in[1] = add_leaf(m, &b);
    }
    if (n.in[1] < 0) return -1;
    n.p[0] = n.kind == K_tensordot;
    return add_node(m, &n);
}
static int scan_step(struct maker *m) {
    struct node n = {.kind = (int)between(&m->r, K_cumsum, K_cummin), .in = {pick(m)}};
    int rank = shape_at(m, n.in[0])->rank;
    if (!rank) return -1;
    n.p[0] = below(&m->r, 2 * rank) - rank;
    return add_node(m, &n);
}

// ---- indexing and order
// --------------------------------------------------------------------------------------------- An
// index array: mostly in range for n, now and then not.
static int index_leaf(struct maker *m, int rank, const int64_t *dims, int64_t n, int64_t mode) {
    struct shape s = {.t = int_type(&m->r), .rank = rank};
    memcpy(s.dims, dims, (size_t)rank * sizeof *dims);
    int i = add_leaf(m, &s);
    if (i < 0) return -1;
    struct leaf *f = &m->c->leaf[m->c->node[i].p[0]];
    struct block *b = &m->c->block[f->block];
    if (f->block != m->c->nblock - 1) return -1; // shared memory keeps its values
    int64_t size = (int64_t)weft_dtype_size(s.t);
    bool wild = mode != WEFT_INDEX_RAISE || one_in(&m->r, 30);
    for (int64_t at = 0; at + size <= b->size; at++) // every offset: strides may be odd
        if ((at - f->at % size) % size == 0 || llabs(f->strides[rank ? rank - 1 : 0]) % size)
            num_store(s.t, b->bytes + at,
                      (struct num){0, 0,
                                   wild && one_in(&m->r, 5) ? between(&m->r, -3 * n, 3 * n)
                                   : n ? is_signed(s.t) && n < 100 ? between(&m->r, -n, n - 1)
                                                                   : below(&m->r, n < 100 ? n : 100)
                                       : 0});
    return i;
}
static int sorted_leaf(struct maker *m) {
    int64_t n = between(&m->r, 2, 9);
    struct shape s = {.t = any_real(&m->r), .rank = 1, .dims = {n}};
    int i = add_leaf(m, &s);
    return i < 0 ? -1 : add_node(m, &(struct node){.kind = K_sort, .in = {i}, .p = {0}});
}
static int place_step(struct maker *m) {
    struct node n = {.kind = (int)between(&m->r, K_take, K_one_hot), .in = {pick(m)}};
    struct shape s = *shape_at(m, n.in[0]);
    int axis = s.rank ? (int)below(&m->r, s.rank) : 0;
    int64_t mode = one_in(&m->r, 3) ? WEFT_INDEX_RAISE
                                    : between(&m->r, WEFT_INDEX_CLIP, WEFT_INDEX_WRAP),
            count = shape_count(&s);
    int64_t len = s.rank ? s.dims[axis] : 0, some[2] = {between(&m->r, 0, 9), between(&m->r, 1, 3)},
            lines[RANK];
    bool lineal = n.kind == K_take || n.kind == K_take_along_axis || n.kind == K_scatter ||
                  n.kind == K_put_along_axis || n.kind == K_compress || n.kind == K_sort ||
                  n.kind == K_argsort || n.kind == K_topk;
    if (lineal && (!s.rank || !len)) return -1;
    n.p[0] = axis, n.p[1] = mode;
    memcpy(lines, s.dims, sizeof lines);
    if (s.rank) lines[axis] = between(&m->r, 1, 5);
    switch (n.kind) {
    case K_take: n.in[1] = index_leaf(m, (int)below(&m->r, 3), some, len, mode); break;
    case K_take_along_axis: n.in[1] = index_leaf(m, s.rank, lines, len, mode); break;
    case K_scatter:
    case K_put_along_axis: {
        bool along = n.kind == K_put_along_axis;
        n.in[1] =
            along ? index_leaf(m, s.rank, lines, len, mode) : index_leaf(m, 1, some, len, mode);
        struct shape v = {.t = any_real(&m->r), .rank = along ? s.rank : 0};
        memcpy(v.dims, lines, sizeof lines);
        n.in[2] = add_leaf(m, &v);
        n.p[2] = along ? 0 : below(&m->r, 4);
        break;
    }
    case K_put:
    case K_putmask:
    case K_place: {
        struct shape v = {.t = any_real(&m->r), .rank = 1, .dims = {between(&m->r, 1, 4)}};
        struct shape mask = {.t = WEFT_BOOL, .rank = s.rank};
        memcpy(mask.dims, s.dims, sizeof s.dims);
        n.p[0] = mode;
        if (n.kind == K_put && !count) return -1;
        n.in[1] = n.kind == K_put ? index_leaf(m, 1, some, count, mode) : add_leaf(m, &mask);
        n.in[2] = add_leaf(m, &v);
        break;
    }
    case K_compress: {
        struct shape mask = {.t = any_real(&m->r), .rank = 1, .dims = {len}};
        n.in[1] = add_leaf(m, &mask);
        break;
    }
    case K_sort:
    case K_argsort: break;
    case K_topk: n.p[0] = between(&m->r, 0, len), n.p[1] = axis; break;
    case K_searchsorted:
        n.in[1] = n.in[0], n.in[0] = sorted_leaf(m), n.p[0] = one_in(&m->r, 2);
        break;
    case K_digitize:
    case K_histogram: n.in[1] = sorted_leaf(m), n.p[0] = one_in(&m->r, 2); break;
    case K_bincount: n.in[0] = index_leaf(m, 1, some, 6, WEFT_INDEX_RAISE), n.p[0] = 6; break;
    case K_one_hot:
        n.in[0] = cast_to(m, n.in[0], int_type(&m->r)), n.p[0] = any_real(&m->r),
        n.p[1] = between(&m->r, 0, 5);
        break;
    default: break;
    }
    return add_node(m, &n);
}
static int create_step(struct maker *m) {
    struct node n = {.kind = (int)between(&m->r, K_iota, K_random_integers)};
    int64_t *p = n.p, *dims;
    int rank = m->rank ? m->rank : 1, first = n.kind == K_iota              ? 2
                                              : n.kind == K_random_integers ? 5
                                                                            : 3;
    p[0] = any_real(&m->r), p[1] = below(&m->r, 1000), p[2] = below(&m->r, 100);
    dims = p + first;
    if (n.kind != K_eye) {
        dims[0] = rank;
        for (int k = 0; k < rank; k++)
            dims[1 + k] = m->rank ? m->dims[k] : 3;
    }
    if (n.kind == K_iota) p[1] = below(&m->r, rank);
    if (n.kind == K_eye)
        p[1] = below(&m->r, 7), p[2] = below(&m->r, 7), p[3] = between(&m->r, -2, 2);
    if (n.kind == K_random_bits && is_float((weft_dtype)p[0])) p[0] = int_type(&m->r);
    if (n.kind == K_random_integers)
        p[0] = int_type(&m->r), p[3] = below(&m->r, 10), p[4] = p[3] + between(&m->r, 1, 90);
    bool real = n.kind == K_random_uniform || n.kind == K_random_normal;
    static const weft_dtype floats[] = {WEFT_F64, WEFT_F32, WEFT_F16, WEFT_BF16};
    if (real) p[0] = floats[below(&m->r, 4)];
    return add_node(m, &n);
}
static int library_step(struct maker *m) {
    struct node n = {.kind = one_in(&m->r, 2) ? (int)between(&m->r, K_fft, K_rfft)
                                              : (int)between(&m->r, K_cholesky, K_singular)};
    int64_t k = between(&m->r, 1, 5);
    struct shape s = {.t = one_in(&m->r, 2) ? WEFT_F64 : WEFT_F32, .rank = 2, .dims = {k, k}};
    n.in[0] = n.kind >= K_fft
                  ? pick(m)
                  : add_node(m, &(struct node){.kind = K_random_uniform,
                                               .p = {s.t, below(&m->r, 99), 0, 2, k, k}});
    if (n.kind == K_cholesky && n.in[0] >= 0) { // a dominant diagonal
        int eye = add_node(m, &(struct node){.kind = K_eye, .p = {s.t, k, k, 0}});
        int big = add_node(m, &(struct node){.kind = M_add, .in = {eye, eye}});
        for (int i = 0; i < 2; i++)
            big = add_node(m, &(struct node){.kind = M_add, .in = {big, big}});
        n.in[0] = add_node(m, &(struct node){.kind = M_add, .in = {n.in[0], big}});
    }
    if (n.kind == K_solve && n.in[0] >= 0) {
        struct shape b = {.t = WEFT_F64, .rank = 1, .dims = {k}};
        n.in[1] = add_leaf(m, &b);
    }
    return add_node(m, &n);
}

static int step(struct maker *m) {
    int64_t r = below(&m->r, 100);
    if (r < 44) return map_step(m);
    if (r < 52) return composite_step(m);
    if (r < 70) return view_step(m);
    if (r < 82) return reduce_step(m);
    if (r < 86) return product_step(m);
    if (r < 88) return scan_step(m);
    if (r < 94) return place_step(m);
    if (r < 96) return create_step(m);
    if (r < 97) return library_step(m);
    struct shape s = {.t = any_type(&m->r), .rank = m->rank};
    memcpy(s.dims, m->dims, sizeof s.dims);
    return add_leaf(m, &s);
}

// The shape that most leaves have.
static void base_shape(struct maker *m) {
    static const int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 1, 2, 64, 65, 130, 0};
    m->c->large = one_in(&m->r, 80);
    m->cap = m->c->large ? 300000 : 3000;
    m->rank = (int)below(&m->r, m->c->large ? 4 : 7);
    if (m->c->large && !m->rank) m->rank = 1;
    for (int k = 0; k < m->rank; k++)
        m->dims[k] = extents[below(&m->r, 16)];
    int64_t n = 1;
    for (int k = 0; k < m->rank; k++) {
        while (n * m->dims[k] > m->cap)
            m->dims[k] = between(&m->r, 1, 3) > m->cap / n ? 1 : 1 + m->dims[k] / 3;
        n *= m->dims[k] ? m->dims[k] : 1;
    }
    if (m->c->large && n) m->dims[0] *= (60000 + below(&m->r, 150000)) / n + 1;
    if (!m->c->large && one_in(&m->r, 6)) m->rank = 1, m->dims[0] = below(&m->r, 2000);
}

static void add_roots(struct maker *m) {
    struct fcase *c = m->c;
    for (int tries = 0; tries < 8 && c->nroot < ROOTS; tries++) {
        int i = c->nroot ? pick(m) : c->nnode - 1;
        while (i > 0 && (c->node[i].kind == K_integer || c->node[i].kind == K_number))
            i--;
        struct root *r = &c->root[c->nroot];
        *r = (struct root){.node = i, .block = -1};
        struct layout l = layout_of(&m->r, &c->shape[i], false);
        bool taken = false;
        if (one_in(&m->r, 3)) r->block = (int)below(&m->r, c->nblock); // over a leaf's memory
        for (int k = 0; r->block >= 0 && k < c->nroot; k++)
            taken |= c->root[k].block == r->block;
        if (r->block >= 0 && (taken || c->block[r->block].size < l.lo + l.hi)) r->block = -1;
        if (r->block < 0) r->block = new_block(c, &m->r, l.lo + l.hi);
        int64_t room = c->block[r->block].size - l.lo - l.hi;
        r->at = l.lo + (room && one_in(&m->r, 2) ? below(&m->r, room + 1) : 0);
        memcpy(r->strides, l.strides, sizeof r->strides);
        c->nroot++;
        if (one_in(&m->r, 2)) break;
    }
}

bool make_case(struct fcase *c, weft_ctx *ctx, uint64_t seed) {
    struct maker *m = calloc(1, sizeof *m);
    if (!m) abort();
    memset(c, 0, sizeof *c);
    c->seed = seed;
    m->c = c, m->ctx = ctx, m->r.s = seed * 0x9E3779B97F4A7C15u;
    m->b.g = weft_graph_new(ctx);
    base_shape(m);
    for (int i = 0; i <= below(&m->r, 3); i++) {
        struct shape s = {.t = any_type(&m->r), .rank = m->rank};
        memcpy(s.dims, m->dims, sizeof s.dims);
        add_leaf(m, &s);
    }
    int64_t steps = c->large ? 2 + below(&m->r, 6) : 2 + below(&m->r, 16);
    for (int64_t i = 0; i < steps; i++)
        step(m);
    add_roots(m);
    weft_graph_free(m->b.g);
    free(m);
    return c->nroot > 0;
}

void case_free(struct fcase *c) {
    for (int i = 0; i < c->nblock; i++)
        free(c->block[i].bytes);
    c->nblock = 0;
}
void case_copy(struct fcase *to, const struct fcase *from) {
    *to = *from;
    for (int i = 0; i < from->nblock; i++) {
        to->block[i].bytes = malloc((size_t)from->block[i].size + 1);
        if (!to->block[i].bytes) abort();
        memcpy(to->block[i].bytes, from->block[i].bytes, (size_t)from->block[i].size);
    }
}
