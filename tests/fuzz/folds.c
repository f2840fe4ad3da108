// SPDX-License-Identifier: MIT
// Reductions, scans and matrix products in the orders that docs/numerics.md fixes: the inner and
// the outer tree, rows and blocks of scans, FMA chains of products. Written as the page says it,
// one element at a time.
#include "fuzz.h"

static struct num op(int kind, weft_dtype t, struct num a, struct num b) {
    struct num x[3] = {a, b, {0, 0, 0}};
    if (!is_complex(t)) return num_map(kind, t, x);
    weft_dtype part = real_of(t);
    struct num re = op(kind, part, (struct num){a.f, 0, 0}, (struct num){b.f, 0, 0}),
               im = op(kind, part, (struct num){a.g, 0, 0}, (struct num){b.g, 0, 0});
    return (struct num){re.f, im.f, 0};
}
static void put(struct tensor *a, int64_t i, struct num v) {
    num_store(a->s.t, a->data + (size_t)i * weft_dtype_size(a->s.t), v);
}

// ---- trees
// -----------------------------------------------------------------------------------------------
struct run { // element e of a lane is x[e * step]
    int kind;
    weft_dtype t;
    const struct tensor *x;
    int64_t base, step, count, leaf, lanes;
};
static struct num identity(int kind, weft_dtype t) {
    struct num v = {0, 0, 0};
    if (is_float(real_of(t)))
        v.f = v.g = kind == M_mul ? 1 : -0.0L;
    else
        v.i = kind == M_mul;
    return v;
}
static struct num tree(const struct run *r, int64_t lo, int64_t n, int64_t lane) {
    struct num v = identity(r->kind, r->t);
    if (n == 1) {
        int64_t end = (lo + 1) * r->leaf < r->count ? (lo + 1) * r->leaf : r->count;
        for (int64_t e = lo * r->leaf + lane; e < end; e += r->lanes)
            v = op(r->kind, r->t, v, num_at(r->x, r->base + e * r->step));
        return v;
    }
    int64_t p = 1; // the largest power of two below n: a binary counter's stack
    while (p * 2 < n)
        p *= 2;
    return n ? op(r->kind, r->t, tree(r, lo, p, lane), tree(r, lo + p, n - p, lane)) : v;
}
static struct num fold(struct run *r, bool inner) {
    r->leaf = inner ? 256 : 4;
    r->lanes = !inner ? 1 : weft_dtype_size(real_of(r->t)) == 8 ? 32 : 64;
    struct num lane[64];
    int64_t leaves = (r->count + r->leaf - 1) / r->leaf;
    for (int64_t l = 0; l < r->lanes; l++)
        lane[l] = tree(r, 0, leaves, l);
    for (int64_t w = r->lanes / 2; w; w /= 2)
        for (int64_t l = 0; l < w; l++)
            lane[l] = op(r->kind, r->t, lane[l], lane[l + w]);
    return lane[0];
}

// One run of adjacent axes [first, last): rows x run x columns
static struct tensor one_run(const struct tensor *x, int first, int last, bool prod) {
    struct shape s = {.rank = 0};
    int64_t run = 1, cols = 1;
    for (int k = 0; k < x->s.rank; k++) {
        if (k >= first && k < last)
            run *= x->s.dims[k];
        else
            s.dims[s.rank++] = x->s.dims[k];
        if (k >= last) cols *= x->s.dims[k];
    }
    struct tensor r = tensor_new(x->s.t, s.rank, s.dims);
    for (int64_t i = 0; i < r.n; i++) {
        struct run q = {
            prod ? M_mul : M_add, x->s.t, x, i / cols * run * cols + i % cols, cols, run, 0, 0};
        struct num empty = {0, 0, prod};
        if (prod) empty.f = 1;
        put(&r, i, run ? fold(&q, cols == 1) : empty);
    }
    return r;
}
struct tensor tree_sum(const struct tensor *x, uint64_t mask, bool prod) {
    struct tensor r = *x;
    if (!mask) r = naive_cast(x, x->s.t);
    while (mask) {
        int last = 64 - __builtin_clzll(mask), first = last - 1;
        while (first > 0 && mask >> (first - 1) & 1)
            first--;
        r = one_run(&r, first, last, prod);
        mask &= ((uint64_t)1 << first) - 1;
    }
    return r;
}

// ---- reductions
// ---------------------------------------------------------------------------------------------
int reduce_axes(const struct node *n, int rank, uint64_t *mask) {
    *mask = n->p[4] < 0 ? ((uint64_t)1 << rank) - 1 : 0;
    for (int k = 0; k < n->p[4]; k++)
        *mask |= (uint64_t)1 << (n->p[5 + k] < 0 ? n->p[5 + k] + rank : n->p[5 + k]);
    return __builtin_popcountll(*mask);
}
static void keep(struct tensor *r, const struct shape *in, uint64_t mask) {
    r->s.rank = in->rank;
    for (int k = 0; k < in->rank; k++)
        r->s.dims[k] = mask >> k & 1 ? 1 : in->dims[k];
}
// A reduced tensor beside the operand it came from: element of it for element i of the operand.
static int64_t kept_index(int64_t i, const struct shape *in, uint64_t mask) {
    int64_t at[RANK], l = 0;
    unravel(i, in, at);
    for (int k = 0; k < in->rank; k++)
        if (!(mask >> k & 1)) l = l * in->dims[k] + at[k];
    return l;
}
struct reduction {
    const struct tensor *x;
    uint64_t mask;
    weft_nan nan;
    double ddof;
    bool skip;
    struct tensor counts; // with skip: elements of each result that are no NaN
};
static struct tensor in_type(const struct reduction *r, weft_dtype t, double fill) {
    struct tensor y = naive_cast(r->x, t);
    for (int64_t i = 0; r->skip && i < y.n; i++)
        if (num_is_nan(r->x->s.t, num_at(r->x, i)))
            put(&y, i, num_cast(t, WEFT_F64, (struct num){fill, 0, 0}));
    return y;
}
// How many elements count for each result, minus ddof.
static double divisor(const struct reduction *r, int64_t i, double ddof) {
    int64_t run = 1;
    for (int k = 0; k < r->x->s.rank; k++)
        if (r->mask >> k & 1) run *= r->x->s.dims[k];
    if (r->skip) return (double)num_at(&r->counts, i).i - ddof;
    return (double)run - ddof > 0 ? (double)run - ddof : 0;
}
static void count_numbers(struct reduction *r) {
    struct tensor some = tensor_new(WEFT_I64, r->x->s.rank, r->x->s.dims);
    for (int64_t i = 0; i < some.n; i++)
        put(&some, i, (struct num){0, 0, !num_is_nan(r->x->s.t, num_at(r->x, i))});
    r->counts = tree_sum(&some, r->mask, false);
}
static struct tensor mean_wide(const struct reduction *r) {
    weft_dtype t = is_complex(r->x->s.t) ? WEFT_C128 : WEFT_F64;
    struct tensor y = in_type(r, t, 0), s = tree_sum(&y, r->mask, false);
    for (int64_t i = 0; i < s.n; i++) {
        struct num v = num_at(&s, i);
        double n = divisor(r, i, 0);
        put(&s, i, (struct num){(double)v.f / n, (double)v.g / n, 0});
    }
    return s;
}
// Of one part when the operand is complex.
static struct tensor spread_of(const struct reduction *r, bool imag) {
    struct tensor m = mean_wide(r), y = tensor_new(WEFT_F64, r->x->s.rank, r->x->s.dims);
    for (int64_t i = 0; i < y.n; i++) {
        struct num v = num_at(r->x, i), mean = num_at(&m, kept_index(i, &r->x->s, r->mask));
        double d = is_float(real_of(r->x->s.t)) ? (double)(imag ? v.g : v.f)
                                                : (double)num_cast(WEFT_F64, r->x->s.t, v).f;
        d -= (double)(imag ? mean.g : mean.f);
        if (r->skip && num_is_nan(r->x->s.t, v)) d = 0;
        put(&y, i, (struct num){d * d, 0, 0});
    }
    struct tensor s = tree_sum(&y, r->mask, false);
    for (int64_t i = 0; i < s.n; i++) {
        double n = divisor(r, i, r->ddof);
        put(&s, i,
            (struct num){r->skip && !(n > 0) ? (double)NAN : (double)num_at(&s, i).f / n, 0, 0});
    }
    return s;
}
static struct tensor moment(const struct reduction *r, int kind) {
    weft_dtype t = r->x->s.t, to = is_float(real_of(t)) ? t : WEFT_F64;
    if (kind == K_mean) {
        struct tensor m = mean_wide(r);
        return naive_cast(&m, to);
    }
    struct tensor s = spread_of(r, false), im;
    if (is_complex(t)) im = spread_of(r, true);
    for (int64_t i = 0; i < s.n; i++) {
        double v = (double)num_at(&s, i).f;
        if (is_complex(t)) v += (double)num_at(&im, i).f;
        put(&s, i, (struct num){kind == K_std ? sqrt(v) : v, 0, 0});
    }
    return naive_cast(&s, real_of(to));
}
static struct tensor total(const struct reduction *r, bool prod) {
    weft_dtype t = r->x->s.t, in = t;
    if (!is_float(real_of(t))) in = t == WEFT_BOOL || is_signed(t) ? WEFT_I64 : WEFT_U64;
    if (is_half(t)) in = WEFT_F32;
    struct tensor y = in_type(r, in, prod), s = tree_sum(&y, r->mask, prod);
    return is_half(t) ? naive_cast(&s, t) : s;
}
static bool better(weft_dtype t, bool least, struct num a, struct num b) {
    struct num x[3] = {a, b, {0, 0, 0}};
    return num_map(least ? M_less : M_greater, t, x).i != 0;
}
// Extremes and their places: in order, so the first of ties; NaN first of all unless it is skipped.
static struct tensor extreme(const struct reduction *r, int kind, bool *none) {
    bool least = kind == K_min || kind == K_argmin, place = kind == K_argmin || kind == K_argmax;
    weft_dtype t = r->x->s.t;
    struct shape s = {.rank = 0};
    for (int k = 0; k < r->x->s.rank; k++)
        if (!(r->mask >> k & 1)) s.dims[s.rank++] = r->x->s.dims[k];
    struct tensor y = tensor_new(place ? WEFT_I64 : t, s.rank, s.dims),
                  best = tensor_new(t, s.rank, s.dims), seen = tensor_new(WEFT_I64, s.rank, s.dims),
                  at = tensor_new(WEFT_I64, s.rank, s.dims);
    for (int64_t i = 0; i < r->x->n; i++) {
        int64_t l = kept_index(i, &r->x->s, r->mask);
        struct num v = num_at(r->x, i), b = num_at(&best, l);
        int64_t index = num_at(&seen, l).i, have = num_at(&at, l).i;
        put(&seen, l, (struct num){0, 0, index + 1});
        bool nan = num_is_nan(t, v);
        if (nan && r->skip) continue;
        bool first = !have, take = first || (!num_is_nan(t, b) && (nan || better(t, least, v, b)));
        if (!place && !first && !nan && !num_is_nan(t, b)) { // zeros are ordered
            struct num both[3] = {b, v, {0, 0, 0}};
            put(&best, l, num_map(least ? M_minimum : M_maximum, t, both));
            continue;
        }
        if (!take) continue;
        put(&best, l, v), put(&y, l, (struct num){0, 0, index}), put(&at, l, (struct num){0, 0, 1});
    }
    for (int64_t l = 0; l < y.n; l++) {
        bool some = num_at(&at, l).i != 0;
        if (!some && place) *none = true;
        if (!place) put(&y, l, some ? num_at(&best, l) : (struct num){NAN, NAN, 0});
    }
    return y;
}
static struct tensor truth(const struct reduction *r, int kind) {
    struct tensor y = naive_cast(r->x, WEFT_BOOL);
    for (int64_t i = 0; r->skip && kind != K_all && i < y.n; i++)
        if (num_is_nan(r->x->s.t, num_at(r->x, i))) put(&y, i, (struct num){0, 0, 0});
    struct tensor wide = naive_cast(&y, WEFT_I64), s = tree_sum(&wide, r->mask, kind == K_all);
    return kind == K_count_nonzero ? s : naive_cast(&s, WEFT_BOOL);
}

// ---- scans
// ------------------------------------------------------------------------------------------------------
struct scan {
    int kind;
    weft_dtype t;
    const struct tensor *x;
    struct tensor *out;
    int64_t base, step, count;
};
static struct num scan_at(const struct scan *s, int64_t e) {
    return num_at(s->x, s->base + e * s->step);
}
// A block's own scan into v: rows by doubling and chained, or one chain.
static void scan_block(const struct scan *s, int64_t lo, int64_t n, bool inner, struct num *v) {
    for (int64_t e = 0; e < n; e++)
        v[e] = scan_at(s, lo + e);
    if (!inner) {
        for (int64_t e = 1; e < n; e++)
            v[e] = op(s->kind, s->t, v[e - 1], v[e]);
        return;
    }
    for (int64_t row = 0; row < n; row += 16) {
        int64_t m = n - row < 16 ? n - row : 16;
        for (int64_t d = 1; d < 16; d *= 2)
            for (int64_t e = m - 1; e >= d; e--)
                v[row + e] = op(s->kind, s->t, v[row + e - d], v[row + e]);
        for (int64_t e = 0; row && e < m; e++)
            v[row + e] = op(s->kind, s->t, v[row - 1], v[row + e]);
    }
}
static void scan_line(const struct scan *s, bool inner) {
    struct num v[256], level[64], front = {0, 0, 0};
    int64_t block = inner ? 256 : 64;
    for (int64_t lo = 0, blocks = 0; lo < s->count; lo += block, blocks++) {
        int64_t n = s->count - lo < block ? s->count - lo : block;
        scan_block(s, lo, n, inner, v);
        struct num all = v[n - 1];
        for (int64_t e = 0; e < n; e++)
            put(s->out, s->base + (lo + e) * s->step,
                blocks ? op(s->kind, s->t, front, v[e]) : v[e]);
        int k = 0;
        for (; blocks >> k & 1; k++)
            all = op(s->kind, s->t, level[k], all);
        level[k] = all;
        bool some = false;
        for (int j = 62; j >= 0; j--) {
            if (!((blocks + 1) >> j & 1)) continue;
            front = some ? op(s->kind, s->t, front, level[j]) : level[j];
            some = true;
        }
    }
}
static bool scans(struct naive *w, int i) {
    const struct node *n = &w->c->node[i];
    static const int ops[] = {M_add, M_mul, M_maximum, M_minimum};
    struct tensor x = w->v[n->in[0]];
    weft_dtype t = x.s.t, to = t;
    if (is_complex(t)) return false;
    bool arith = n->kind == K_cumsum || n->kind == K_cumprod;
    if (arith && !is_float(t)) to = t == WEFT_BOOL || is_signed(t) ? WEFT_I64 : WEFT_U64;
    if (is_half(t)) to = WEFT_F32;
    struct tensor y = naive_cast(&x, to), r = tensor_new(to, x.s.rank, x.s.dims);
    int axis = (int)(n->p[0] < 0 ? n->p[0] + x.s.rank : n->p[0]);
    int64_t cols = 1, run = x.s.dims[axis];
    for (int k = axis + 1; k < x.s.rank; k++)
        cols *= x.s.dims[k];
    for (int64_t l = 0; run && l < x.n / run; l++) {
        struct scan s = {ops[n->kind - K_cumsum],          to,   &y, &r,
                         l / cols * run * cols + l % cols, cols, run};
        scan_line(&s, cols == 1);
    }
    w->v[i] = r;
    return true;
}

bool naive_reduce(struct naive *w, int i) {
    const struct node *n = &w->c->node[i];
    if (n->kind >= K_cumsum && n->kind <= K_cummin) return scans(w, i);
    if (n->kind < K_sum || n->kind > K_argmax || n->p[3]) return false;
    struct tensor x = w->v[n->in[0]], *r = &w->v[i];
    struct reduction q = {.x = &x, .nan = (weft_nan)n->p[0]};
    memcpy(&q.ddof, &n->p[2], sizeof q.ddof);
    reduce_axes(n, x.s.rank, &q.mask);
    q.skip = q.nan == WEFT_NAN_SKIP;
    if (q.skip) count_numbers(&q);
    for (int64_t l = 0; q.nan == WEFT_NAN_RAISE && l < x.n; l++)
        w->nan_met[i] |= num_is_nan(x.s.t, num_at(&x, l));
    if (n->kind == K_prod && is_complex(x.s.t)) return false;
    switch (n->kind) {
    case K_sum:
    case K_prod: *r = total(&q, n->kind == K_prod); break;
    case K_mean:
    case K_var:
    case K_std: *r = moment(&q, n->kind); break;
    case K_any:
    case K_all:
    case K_count_nonzero: *r = truth(&q, n->kind); break;
    default: *r = extreme(&q, n->kind, &w->nan_met[i]);
    }
    if (n->p[1]) keep(r, &x.s, q.mask);
    return true;
}

// ---- products
// ----------------------------------------------------------------------------------------------------
struct product {
    weft_dtype t;
    const struct tensor *a, *b;
    int64_t a0, b0, a_step, b_step, k; // of one element of the result
    bool imag_a, imag_b;               // which part of complex operands
};
static struct num part_at(const struct product *p, bool second, int64_t e) {
    struct num v =
        second ? num_at(p->b, p->b0 + e * p->b_step) : num_at(p->a, p->a0 + e * p->a_step);
    if (second ? p->imag_b : p->imag_a) v.f = v.g;
    return v;
}
static struct num chain(const struct product *p, int64_t lo, int64_t hi, int64_t step) {
    struct num sum = {0, 0, 0};
    for (int64_t e = lo; e < hi; e += step) {
        struct num x[3] = {part_at(p, false, e), part_at(p, true, e), sum};
        if (is_float(p->t))
            sum = num_map(M_fma, p->t, x);
        else
            sum = op(M_add, p->t, sum, op(M_mul, p->t, x[0], x[1]));
    }
    return sum;
}
static struct num dot_line(const struct product *p, bool vector) {
    int64_t block = !is_float(p->t) ? p->k + 1
                    : vector        ? 2048
                                    : 256,
            lanes = p->t == WEFT_F64 ? 8 : 16;
    struct num sum = {0, 0, 0};
    for (int64_t lo = 0; lo < p->k; lo += block) {
        int64_t hi = lo + block < p->k ? lo + block : p->k;
        struct num lane[16], part;
        for (int64_t l = 0; vector && is_float(p->t) && l < lanes; l++)
            lane[l] = chain(p, lo + l, hi, lanes);
        for (int64_t w = lanes / 2; vector && is_float(p->t) && w; w /= 2)
            for (int64_t l = 0; l < w; l++)
                lane[l] = op(M_add, p->t, lane[l], lane[l + w]);
        part = vector && is_float(p->t) ? lane[0] : chain(p, lo, hi, 1);
        sum = lo ? op(M_add, p->t, sum, part) : part;
    }
    return sum;
}
static struct num dot_complex(struct product *p, bool vector, bool ca, bool cb) {
    struct num v[2][2];
    for (int i = 0; i <= ca; i++)
        for (int j = 0; j <= cb; j++) {
            p->imag_a = i, p->imag_b = j;
            v[i][j] = dot_line(p, vector);
        }
    struct num re = v[0][0], im;
    if (ca && cb) {
        re = op(M_sub, p->t, v[0][0], v[1][1]);
        im = op(M_add, p->t, v[0][1], v[1][0]);
    } else {
        im = ca ? v[1][0] : v[0][1];
    }
    return (struct num){re.f, im.f, 0};
}

bool naive_product(struct naive *w, int i) {
    const struct node *n = &w->c->node[i];
    if (n->kind != K_matmul) return false;
    struct tensor a = w->v[n->in[0]], b = w->v[n->in[1]];
    weft_dtype t = promote(a.s.t, b.s.t), in = is_half(t) ? WEFT_F32 : real_of(t);
    bool ca = is_complex(a.s.t), cb = is_complex(b.s.t), va = a.s.rank == 1, vb = b.s.rank == 1;
    struct tensor x = naive_cast(&a, ca ? t : in), y = naive_cast(&b, cb ? t : in);
    int64_t k = a.s.dims[a.s.rank - 1], rows = va ? 1 : a.s.dims[a.s.rank - 2],
            cols = vb ? 1 : b.s.dims[b.s.rank - 1];
    int ba = va ? 0 : a.s.rank - 2, bb = vb ? 0 : b.s.rank - 2, batch = ba > bb ? ba : bb;
    struct shape s = {.rank = 0}, full = {.rank = batch + 2};
    for (int d = 0; d < batch; d++) {
        int64_t p = d >= batch - ba ? a.s.dims[d - batch + ba] : 1,
                q = d >= batch - bb ? b.s.dims[d - batch + bb] : 1;
        full.dims[d] = s.dims[s.rank++] = p == 1 ? q : p;
    }
    full.dims[batch] = rows, full.dims[batch + 1] = cols;
    if (!va) s.dims[s.rank++] = rows;
    if (!vb) s.dims[s.rank++] = cols;
    struct tensor r = tensor_new(t, s.rank, s.dims);
    bool vector = rows == 1 || cols == 1;
    int64_t at[RANK + 2];
    for (int64_t l = 0; l < r.n; l++) {
        unravel(l, &full, at);
        int64_t pa = 0, pb = 0;
        for (int d = 0; d < ba; d++)
            pa = pa * a.s.dims[d] + (a.s.dims[d] == 1 ? 0 : at[d + batch - ba]);
        for (int d = 0; d < bb; d++)
            pb = pb * b.s.dims[d] + (b.s.dims[d] == 1 ? 0 : at[d + batch - bb]);
        struct product p = {
            in, &x,    &y,   (pa * rows + at[batch]) * k, pb * k * cols + at[batch + 1], 1, cols,
            k,  false, false};
        put(&r, l, ca || cb ? dot_complex(&p, vector, ca, cb) : dot_line(&p, vector));
    }
    w->v[i] = r;
    return true;
}
