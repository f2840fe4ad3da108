// SPDX-License-Identifier: MIT
// Whole arrays, one operation at a time and one element at a time: no fusion, no strides, no
// threads. Types and shapes are inferred here a second time. What a node gives is EXACT, or BOUNDED
// (a function with an error bound: the caller compares and goes on with weft's bits), or UNKNOWN.
#include "fuzz.h"

int64_t shape_count(const struct shape *s) {
    int64_t n = 1;
    for (int k = 0; k < s->rank; k++)
        n *= s->dims[k];
    return n;
}
// Values live until the case is done.
static struct chunk { struct chunk *next; } * chunks;
static size_t left;
static char *top;
static void *arena(size_t size) {
    size = (size + 31) & ~(size_t)15;
    if (size > left) {
        left = size > 1 << 19 ? size : 1 << 19;
        struct chunk *c = malloc(sizeof *c + 16 + left);
        if (!c) abort();
        c->next = chunks;
        chunks = c;
        top = (char *)(c + 1) + 8;
    }
    left -= size;
    top += size;
    return memset(top - size, 0, size);
}

struct tensor tensor_new(weft_dtype t, int rank, const int64_t *dims) {
    struct tensor a = {.s = {.t = t, .rank = rank}};
    if (rank) memcpy(a.s.dims, dims, (size_t)rank * sizeof *dims);
    a.n = shape_count(&a.s);
    a.data = arena(((size_t)a.n + 1) * weft_dtype_size(t) + 16);
    return a;
}
void unravel(int64_t l, const struct shape *s, int64_t *at) {
    for (int k = s->rank - 1; k >= 0; k--) {
        at[k] = s->dims[k] ? l % s->dims[k] : 0;
        l = s->dims[k] ? l / s->dims[k] : 0;
    }
}
int64_t ravel_at(const int64_t *at, const struct shape *s) {
    int64_t l = 0;
    for (int k = 0; k < s->rank; k++)
        l = l * s->dims[k] + at[k];
    return l;
}
static void put(struct tensor *a, int64_t i, struct num v) {
    num_store(a->s.t, a->data + (size_t)i * weft_dtype_size(a->s.t), v);
}

struct tensor naive_cast(const struct tensor *x, weft_dtype t) {
    struct tensor r = tensor_new(t, x->s.rank, x->s.dims);
    for (int64_t i = 0; i < r.n; i++)
        put(&r, i, num_cast(t, x->s.t, num_at(x, i)));
    return r;
}
struct tensor naive_number(weft_dtype t, double v) {
    struct tensor r = tensor_new(t, 0, NULL);
    put(&r, 0, num_cast(t, WEFT_F64, (struct num){v, 0, 0}));
    return r;
}

// ---- elementwise
// ------------------------------------------------------------------------------------------ The
// type that operands meet in: strong types promote, then literals take part as far as their kind
// goes.
static weft_dtype meet(int n, const struct tensor *x) {
    weft_dtype t = WEFT_DTYPE__N;
    for (int k = 0; k < n; k++)
        if (!x[k].weak) t = t == WEFT_DTYPE__N ? x[k].s.t : promote(t, x[k].s.t);
    for (int k = 0; k < n; k++) {
        if (t == WEFT_DTYPE__N) t = x[k].s.t;
        if (x[k].weak == WEAK_INT && t == WEFT_BOOL) t = WEFT_I64;
        if (x[k].weak == WEAK_FLOAT && !is_float(real_of(t))) t = WEFT_F64;
    }
    return t;
}
static weft_dtype operand_type(const struct map_row *row, int n, const struct tensor *x) {
    weft_dtype t = meet(n, x);
    switch (row->rule) {
    case FLOAT: return is_float(real_of(t)) ? t : WEFT_F64;
    case LOGIC: return WEFT_BOOL;
    case WORD: return WEFT_U64;
    case WHERE: return meet(2, x + 1);
    default: // bool divides as i8, as NumPy's
        return t == WEFT_BOOL && row->rule == ARITH && (row->no_bool || row == map_of(M_square))
                   ? WEFT_I8
                   : t;
    }
}
static struct shape broadcast(int n, const struct tensor *x) {
    struct shape s = {.rank = 0};
    for (int k = 0; k < n; k++)
        if (x[k].s.rank > s.rank) s.rank = x[k].s.rank;
    for (int d = 0; d < s.rank; d++) {
        s.dims[d] = 1;
        for (int k = 0; k < n; k++) {
            int e = d - (s.rank - x[k].s.rank);
            if (e >= 0 && x[k].s.dims[e] != 1) s.dims[d] = x[k].s.dims[e];
        }
    }
    return s;
}
static int64_t source(const struct shape *to, const int64_t *at, const struct shape *from) {
    int64_t l = 0;
    for (int d = 0; d < from->rank; d++)
        l = l * from->dims[d] + (from->dims[d] == 1 ? 0 : at[d + to->rank - from->rank]);
    return l;
}
// i64 and u64 compare exactly, though they promote to f64
static bool compare_exactly(int kind, weft_dtype a, struct num x, weft_dtype b, struct num y) {
    __int128 p = a == WEFT_U64 ? (__int128)(uint64_t)x.i : x.i,
             q = b == WEFT_U64 ? (__int128)(uint64_t)y.i : y.i;
    switch (kind) {
    case M_equal: return p == q;
    case M_not_equal: return p != q;
    case M_less: return p < q;
    case M_less_equal: return p <= q;
    case M_greater: return p > q;
    default: return p >= q;
    }
}

struct tensor naive_map(int kind, int n, const struct tensor *x, enum verdict *v) {
    const struct map_row *row = map_of(kind);
    weft_dtype t = operand_type(row, n, x);
    struct shape s = broadcast(n, x);
    bool ints =
        row->rule == COMPARE && !is_float(real_of(x[0].s.t)) && !is_float(real_of(x[1].s.t));
    weft_dtype rt = row->rule == COMPARE || row->rule == PRED || row->rule == LOGIC ? WEFT_BOOL : t;
    if (kind == M_abs) rt = real_of(t);
    struct tensor r = tensor_new(rt, s.rank, s.dims);
    bool exact = map_exact(kind, t),
         mixed = is_complex(t) && n == 2 && is_complex(x[0].s.t) != is_complex(x[1].s.t);
    *v = !exact ? (is_complex(t) || (is_half(t) && kind == M_nextafter) ? UNKNOWN : BOUNDED)
         : is_complex(t) && (kind == M_mul || kind == M_square) ? BOUNDED
         : mixed && kind == M_sub && !is_complex(x[0].s.t)      ? UNKNOWN
                                                                : EXACT;
    if (!exact) return r;
    int64_t at[RANK];
    for (int64_t i = 0; i < r.n; i++) {
        struct num in[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        unravel(i, &s, at);
        for (int k = 0; k < n; k++) {
            weft_dtype own = x[k].s.t, to = kind == M_where && k == 0 ? WEFT_BOOL : t;
            in[k] = num_at(&x[k], source(&s, at, &x[k].s));
            if (!ints) in[k] = num_cast(to, own, in[k]);
        }
        if (mixed && (kind == M_add || kind == M_sub)) { // the real operand has no imaginary part
            long double im = is_complex(x[0].s.t) ? in[0].g : in[1].g;
            struct num sum = num_map(kind, t, in);
            sum.g = im;
            put(&r, i, sum);
        } else if (ints)
            put(&r, i, (struct num){0, 0, compare_exactly(kind, x[0].s.t, in[0], x[1].s.t, in[1])});
        else
            put(&r, i, num_map(kind, t, in));
    }
    return r;
}
static struct tensor map1(int kind, struct tensor a) {
    enum verdict v;
    return naive_map(kind, 1, &a, &v);
}
static struct tensor map2(int kind, struct tensor a, struct tensor b) {
    enum verdict v;
    struct tensor x[2] = {a, b};
    return naive_map(kind, 2, x, &v);
}
static struct tensor map3(int kind, struct tensor a, struct tensor b, struct tensor c) {
    enum verdict v;
    struct tensor x[3] = {a, b, c};
    return naive_map(kind, 3, x, &v);
}
static struct tensor weak_int(int64_t i) {
    struct tensor r = tensor_new(WEFT_I64, 0, NULL);
    put(&r, 0, (struct num){0, 0, i});
    r.weak = WEAK_INT;
    return r;
}
static struct tensor weak_float(double d) {
    struct tensor r = naive_number(WEFT_F64, d);
    r.weak = WEAK_FLOAT;
    return r;
}
static struct tensor as_float(struct tensor x) {
    return is_float(real_of(x.s.t)) ? naive_cast(&x, x.s.t) : naive_cast(&x, WEFT_F64);
}

bool naive_bound(const struct naive *w, int i, const struct tensor *have, int64_t *where) {
    const struct node *n = &w->c->node[i];
    struct tensor x[3];
    int arity = kind_arity(n->kind);
    for (int k = 0; k < arity; k++)
        x[k] = w->v[n->in[k]];
    weft_dtype t = operand_type(map_of(n->kind), arity, x);
    int64_t step = is_complex(t) ? 1 : 1 + have->n / 24,
            at[RANK]; // MPFR is slow: some elements of each array
    for (*where = have->n ? (int64_t)(w->c->seed % (uint64_t)step) % have->n : 0; *where < have->n;
         *where += step) {
        struct num in[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, got = num_at(have, *where);
        unravel(*where, &have->s, at);
        bool real_in = false;
        for (int k = 0; k < arity; k++) {
            in[k] = num_cast(t, x[k].s.t, num_at(&x[k], source(&have->s, at, &x[k].s)));
            real_in |= is_complex(t) && !is_complex(x[k].s.t);
        }
        if (!is_complex(t)) {
            if (!map_bound(n->kind, t, in, got)) return false;
            continue;
        }
        if (real_in && !is_complex(x[0].s.t)) { // r z: both parts times r
            struct num z = in[1];
            in[1] = in[0], in[0] = z;
        }
        struct num want = num_map(n->kind, t, in), r = {in[1].f, 0, 0}, re = {in[0].f, 0, 0},
                   im = {in[0].g, 0, 0};
        if (real_in) {
            weft_dtype part = real_of(t);
            want.f = num_map(M_mul, part, (struct num[]){re, r, r}).f;
            want.g = num_map(M_mul, part, (struct num[]){im, r, r}).f;
        }
        if (isnan(want.f) && isnan(want.g))
            continue; // made again with infinities as directions (Annex G)
        unsigned char a[16], b[16];
        num_store(t, a, want), num_store(t, b, got);
        if (!bits_equal(t, a, b)) return false;
    }
    return true;
}

// ---- made of several
// -----------------------------------------------------------------------------------------
static double parameter(const struct node *n, int k) {
    double d;
    memcpy(&d, &n->p[k], sizeof d);
    return d;
}
static struct tensor nan_to_num(const struct node *n, struct tensor x) {
    struct tensor r = naive_cast(&x, x.s.t);
    long double most = x.s.t == WEFT_F64   ? 0x1.fffffffffffffp1023L
                       : x.s.t == WEFT_F32 ? 0x1.fffffep127L
                       : x.s.t == WEFT_F16 ? 65504.0L
                                           : 0x1.fep127L;
    for (int64_t i = 0; is_float(x.s.t) && i < r.n; i++) {
        struct num v = num_at(&x, i);
        if (isnan(v.f))
            v.f = parameter(n, 0);
        else if (isinf(v.f) && v.f > 0)
            v.f = isinf(parameter(n, 1)) ? most : parameter(n, 1);
        else if (isinf(v.f))
            v.f = isinf(parameter(n, 2)) ? -most : parameter(n, 2);
        put(&r, i, v);
    }
    return r;
}
static struct tensor isclose(const struct node *n, struct tensor a, struct tensor b) {
    struct tensor x = as_float(a), y = as_float(b);
    struct tensor room = map2(M_add, weak_float(parameter(n, 1)),
                              map2(M_mul, weak_float(parameter(n, 0)), map1(M_abs, y)));
    struct tensor near = map2(M_less_equal, map1(M_abs, map2(M_sub, x, y)), room);
    near = map2(M_logical_or, map2(M_logical_and, near, map1(M_isfinite, y)), map2(M_equal, a, b));
    if (n->p[2])
        near = map2(M_logical_or, near, map2(M_logical_and, map1(M_isnan, x), map1(M_isnan, y)));
    return near;
}
static __int128 wide_int(weft_dtype t, struct num v) {
    return is_signed(t) || t == WEFT_BOOL ? (__int128)v.i : (__int128)(uint64_t)v.i;
}
// The exact result against the type both meet in.
static struct tensor overflows(int kind, struct tensor a, struct tensor b,
                               const struct tensor *carry) {
    struct tensor both[2] = {a, b}, s = map2(M_add, a, b);
    if (carry) s = map2(M_add, s, naive_cast(carry, WEFT_BOOL));
    weft_dtype t = meet(2, both);
    struct tensor r = tensor_new(WEFT_BOOL, s.s.rank, s.s.dims);
    int64_t at[RANK];
    for (int64_t i = 0; i < r.n; i++) {
        unravel(i, &r.s, at);
        __int128 x = wide_int(t, num_cast(t, a.s.t, num_at(&a, source(&r.s, at, &a.s)))),
                 y = wide_int(t, num_cast(t, b.s.t, num_at(&b, source(&r.s, at, &b.s)))),
                 exact = kind == K_sub_overflows   ? x - y
                         : kind == K_mul_overflows ? 0
                                                   : x + y;
        if (carry)
            exact += num_cast(WEFT_BOOL, carry->s.t, num_at(carry, source(&r.s, at, &carry->s))).i;
        int width = 8 * (int)weft_dtype_size(t);
        __int128 hi = ((__int128)1 << (width - is_signed(t))) - 1, lo = is_signed(t) ? -hi - 1 : 0;
        bool over = exact > hi || exact < lo;
        if (kind == K_mul_overflows) // the product of two u64 needs all 128 bits
            over = is_signed(t)
                       ? x * y > hi || x * y < lo
                       : (unsigned __int128)x * (unsigned __int128)y > (unsigned __int128)hi;
        put(&r, i, (struct num){0, 0, over});
    }
    return r;
}
static struct tensor heaviside(struct tensor x, struct tensor zero) {
    struct tensor both[2] = {x, zero};
    weft_dtype t = meet(2, both);
    if (!is_float(t)) t = WEFT_F64;
    struct tensor a = naive_cast(&x, t), z = naive_cast(&zero, t);
    struct tensor y = map3(M_where, map2(M_equal, a, weak_int(0)), z, a);
    y = map3(M_where, map2(M_greater, a, weak_int(0)), naive_number(t, 1), y);
    return map3(M_where, map2(M_less, a, weak_int(0)), naive_number(t, 0), y);
}
// C's, with the sign of a
static struct tensor c_remainder(struct tensor a, struct tensor b) {
    struct tensor r = map2(M_remainder, a, b);
    weft_dtype t = r.s.t;
    int64_t at[RANK];
    for (int64_t i = 0; i < r.n; i++) {
        unravel(i, &r.s, at);
        struct num x = num_cast(t, a.s.t, num_at(&a, source(&r.s, at, &a.s))),
                   y = num_cast(t, b.s.t, num_at(&b, source(&r.s, at, &b.s)));
        if (is_float(t))
            x.f = fmodl(x.f, y.f);
        else
            x.i = y.i == 0       ? 0
                  : is_signed(t) ? (y.i == -1 ? 0 : x.i % y.i)
                                 : (int64_t)((uint64_t)x.i % (uint64_t)y.i);
        put(&r, i, x);
    }
    return r;
}
static struct tensor parts(struct tensor re, struct tensor im) {
    struct tensor both[2] = {re, im};
    weft_dtype p = meet(2, both), t = p == WEFT_F32 || is_half(p) ? WEFT_C64 : WEFT_C128;
    struct shape s = broadcast(2, both);
    struct tensor r = tensor_new(t, s.rank, s.dims);
    int64_t at[RANK];
    for (int64_t i = 0; i < r.n; i++) {
        unravel(i, &s, at);
        struct num a = num_cast(real_of(t), re.s.t, num_at(&re, source(&s, at, &re.s))),
                   b = num_cast(real_of(t), im.s.t, num_at(&im, source(&s, at, &im.s)));
        put(&r, i, (struct num){a.f, b.f, 0});
    }
    return r;
}
static struct tensor part(int kind, struct tensor x) {
    weft_dtype t = kind == K_conj ? x.s.t : real_of(x.s.t);
    struct tensor r = tensor_new(t, x.s.rank, x.s.dims);
    for (int64_t i = 0; i < r.n; i++) {
        struct num v = num_at(&x, i);
        if (kind == K_imag) v.f = v.g, v.i = 0;
        if (kind == K_conj) v.g = -v.g;
        put(&r, i, v);
    }
    return r;
}

// false: no model
static bool composite(const struct node *n, const struct tensor *x, struct tensor *r) {
    switch (n->kind) {
    case K_clip: *r = map2(M_minimum, map2(M_maximum, x[0], x[1]), x[2]); return true;
    case K_relu: *r = map2(M_maximum, x[0], weak_int(0)); return true;
    case K_leaky_relu:
        *r = map3(M_where, map2(M_greater, x[0], weak_int(0)), x[0],
                  map2(M_mul, x[0], weak_float(parameter(n, 0))));
        return true;
    case K_rint: *r = map1(M_round, as_float(x[0])); return true;
    case K_fmod: *r = c_remainder(x[0], x[1]); return true;
    case K_ldexp: {
        struct tensor f = as_float(x[0]);
        *r = map2(M_scale_by_power, f, naive_cast(&x[1], f.s.t));
        return true;
    }
    case K_lerp: {
        struct tensor t = as_float(x[2]), rest = map3(M_fma, map1(M_neg, t), x[0], x[0]);
        *r = map3(M_fma, x[2], x[1], rest);
        return true;
    }
    case K_heaviside: *r = heaviside(x[0], x[1]); return true;
    case K_isclose: *r = isclose(n, x[0], x[1]); return true;
    case K_nan_to_num: *r = nan_to_num(n, x[0]); return true;
    case K_bitwise_count: {
        struct tensor c = map1(M_popcount, map1(M_abs, x[0]));
        *r = naive_cast(&c, WEFT_U8);
        return true;
    }
    case K_add_overflows:
    case K_sub_overflows:
    case K_mul_overflows: *r = overflows(n->kind, x[0], x[1], NULL); return true;
    case K_carry_out: *r = overflows(n->kind, x[0], x[1], &x[2]); return true;
    case K_add_carry:
        *r = map2(M_add, map2(M_add, x[0], x[1]), naive_cast(&x[2], WEFT_BOOL));
        return true;
    case K_divmod_rest: *r = map2(M_remainder, x[0], x[1]); return true;
    case K_complex: *r = parts(x[0], x[1]); return true;
    case K_real:
    case K_imag:
    case K_conj: *r = part(n->kind, x[0]); return true;
    default: return false;
    }
}

// ---- made from nothing
// ------------------------------------------------------------------------------------------
static struct num random_element(const struct node *n, int64_t i) {
    weft_dtype t = (weft_dtype)n->p[0];
    uint64_t at = (uint64_t)n->p[2] + (uint64_t)i, key = (uint64_t)n->p[1];
    bool half = weft_dtype_size(t) != 8;
    if (n->kind == K_random_integers)
        return (struct num){0, 0,
                            (int64_t)(philox_below(philox_word(at, key, false),
                                                   (uint64_t)n->p[4] - (uint64_t)n->p[3]) +
                                      (uint64_t)n->p[3])};
    uint64_t w = philox_word(at, key, half);
    if (n->kind == K_random_bits) return (struct num){0, 0, (int64_t)(t == WEFT_BOOL ? w & 1 : w)};
    int digits = t == WEFT_F64 ? 53 : t == WEFT_F32 ? 24 : t == WEFT_F16 ? 11 : 8;
    return (struct num){ldexpl((long double)(w >> ((half ? 32 : 64) - digits)), -digits), 0, 0};
}
static struct tensor creation(const struct node *n, enum verdict *v) {
    const int64_t *p = n->p, eye[2] = {p[1], p[2]}, *dims;
    int rank, first = n->kind == K_iota ? 2 : n->kind == K_random_integers ? 5 : 3;
    rank = n->kind == K_eye ? 2 : (int)p[first];
    dims = n->kind == K_eye ? eye : p + first + 1;
    struct tensor r = tensor_new((weft_dtype)p[0], rank, dims);
    int64_t at[RANK];
    *v = n->kind == K_random_normal ? UNKNOWN : EXACT;
    for (int64_t i = 0; *v == EXACT && i < r.n; i++) {
        unravel(i, &r.s, at);
        if (n->kind == K_iota)
            put(&r, i, num_cast(r.s.t, WEFT_I64, (struct num){0, 0, at[p[1]]}));
        else if (n->kind == K_eye)
            put(&r, i, num_cast(r.s.t, WEFT_I64, (struct num){0, 0, at[0] + p[3] == at[1]}));
        else
            put(&r, i, random_element(n, i));
    }
    return r;
}

// ---- a node
// -------------------------------------------------------------------------------------------------------
static struct tensor leaf_value(const struct fcase *c, int i) {
    const struct leaf *f = &c->leaf[i];
    struct tensor r = tensor_new(f->s.t, f->s.rank, f->s.dims);
    int64_t at[RANK];
    for (int64_t l = 0; l < r.n; l++) {
        int64_t off = f->at;
        unravel(l, &f->s, at);
        for (int k = 0; k < f->s.rank; k++)
            off += at[k] * f->strides[k];
        put(&r, l, num_load(f->s.t, c->block[f->block].bytes + off));
    }
    return r;
}

void naive_node(struct naive *w, int i) {
    const struct node *n = &w->c->node[i];
    struct tensor x[3], *r = &w->v[i];
    enum verdict *v = &w->verdict[i];
    memset(x, 0, sizeof x);
    for (int k = 0; k < kind_arity(n->kind); k++)
        x[k] = w->v[n->in[k]];
    *v = EXACT;
    if (n->kind == K_leaf)
        *r = leaf_value(w->c, (int)n->p[0]);
    else if (n->kind == K_integer)
        *r = weak_int(n->p[0]);
    else if (n->kind == K_number)
        *r = weak_float(parameter(n, 0));
    else if (n->kind == K_cast)
        *r = naive_cast(&x[0], (weft_dtype)n->p[0]);
    else if (is_map(n->kind))
        *r = naive_map(n->kind, kind_arity(n->kind), x, v);
    else if (n->kind <= K_angle && composite(n, x, r))
        return;
    else if (n->kind >= K_reshape && n->kind <= K_stack)
        *r = naive_view(n, n->kind == K_concat || n->kind == K_stack ? (struct tensor[]){x[0], x[1]}
                                                                     : x);
    else if (n->kind >= K_iota && n->kind <= K_random_integers)
        *r = creation(n, v);
    else if (!naive_reduce(w, i) && !naive_product(w, i) && !naive_place(w, i))
        *v = UNKNOWN;
}

void naive_free(void) {
    while (chunks) {
        struct chunk *next = chunks->next;
        free(chunks);
        chunks = next;
    }
    left = 0;
}
