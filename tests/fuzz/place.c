// SPDX-License-Identifier: MIT
// Indexing, order and what depends on values, by the definitions in weft.h and docs/numerics.md:
// loops over index arrays in row-major order, insertion in place of radix sorts. false from
// naive_place: no model.
#include "fuzz.h"

static void put(struct tensor *a, int64_t i, struct num v) {
    num_store(a->s.t, a->data + (size_t)i * weft_dtype_size(a->s.t), v);
}
static int axis_of(int64_t axis, int rank) {
    return (int)(axis < 0 ? axis + rank : axis);
}

// An index of an axis of extent n; *bad: out of range in the mode that says so.
static int64_t place_of(const struct tensor *index, int64_t i, int64_t n, int64_t mode, bool *bad) {
    struct num v = num_at(index, i);
    bool huge = index->s.t == WEFT_U64 && v.i < 0;
    int64_t k = v.i;
    if (mode == WEFT_INDEX_CLIP) return huge || k >= n ? n - 1 : k < 0 ? 0 : k;
    if (mode == WEFT_INDEX_WRAP) {
        if (huge) return (int64_t)((uint64_t)k % (uint64_t)n);
        k %= n;
        return k < 0 ? k + n : k;
    }
    if (k < 0 && !huge) k += n;
    if (huge || k < 0 || k >= n) return *bad = true, 0;
    return k;
}

// ---- take and scatter: result index -> (operand index, place in the index array)
// -------------------------------
struct lookup {
    struct shape s;  // of take's result, of scatter's values
    int axis, width; // axes of the index array in the result
    bool along;
};
static struct lookup look(const struct node *n, const struct tensor *x,
                          const struct tensor *index) {
    struct lookup l = {.s = x->s, .axis = axis_of(n->p[0], x->s.rank)};
    l.along = n->kind == K_take_along_axis || n->kind == K_put_along_axis;
    if (l.along) {
        for (int k = 0; k < x->s.rank; k++)
            if (k == l.axis || index->s.dims[k] != 1) l.s.dims[k] = index->s.dims[k];
        return l;
    }
    l.width = index->s.rank;
    l.s.rank = x->s.rank - 1 + l.width;
    for (int k = 0; k < l.s.rank; k++)
        l.s.dims[k] = k < l.axis             ? x->s.dims[k]
                      : k < l.axis + l.width ? index->s.dims[k - l.axis]
                                             : x->s.dims[k - l.width + 1];
    return l;
}
// Element of x that element i of the looked-up shape stands for.
static int64_t target(const struct node *n, const struct lookup *l, const struct tensor *x,
                      const struct tensor *index, int64_t i, bool *bad) {
    int64_t at[2 * RANK], to[RANK], which = 0;
    unravel(i, &l->s, at);
    if (l->along) {
        for (int k = 0; k < x->s.rank; k++)
            which = which * index->s.dims[k] + (index->s.dims[k] == 1 ? 0 : at[k]);
        for (int k = 0; k < x->s.rank; k++)
            to[k] = x->s.dims[k] == 1 && k != l->axis ? 0 : at[k];
    } else {
        for (int k = 0; k < l->width; k++)
            which = which * index->s.dims[k] + at[l->axis + k];
        for (int k = 0; k < x->s.rank; k++)
            to[k] = k < l->axis ? at[k] : at[k + l->width - 1];
    }
    to[l->axis] = place_of(index, which, x->s.dims[l->axis], n->p[1], bad);
    return ravel_at(to, &x->s);
}
static void take(struct naive *w, int i, const struct tensor *x) {
    const struct node *n = &w->c->node[i];
    struct lookup l = look(n, &x[0], &x[1]);
    if (l.along)
        for (int k = 0; k < x[0].s.rank; k++)
            if (k != l.axis && x[0].s.dims[k] != 1) l.s.dims[k] = x[0].s.dims[k];
    struct tensor r = tensor_new(x[0].s.t, l.s.rank, l.s.dims);
    for (int64_t e = 0; e < r.n; e++) {
        bool bad = false;
        int64_t from = target(n, &l, &x[0], &x[1], e, &bad);
        w->index_bad[i] |= bad;
        if (!bad) put(&r, e, num_at(&x[0], from));
    }
    w->v[i] = r;
}
static struct num combine(int64_t how, weft_dtype t, struct num a, struct num b) {
    static const int ops[] = {0, M_add, M_minimum, M_maximum};
    struct num x[3] = {a, b, {0, 0, 0}};
    return how == WEFT_SCATTER_SET ? b : num_map(ops[how], t, x);
}
static void scatter(struct naive *w, int i, const struct tensor *x) {
    const struct node *n = &w->c->node[i];
    struct lookup l = look(n, &x[0], &x[1]);
    struct tensor r = naive_cast(&x[0], x[0].s.t);
    int64_t at[2 * RANK], count = shape_count(&l.s);
    for (int64_t e = 0; e < count; e++) {
        bool bad = false;
        int64_t to = target(n, &l, &x[0], &x[1], e, &bad), from = 0;
        w->index_bad[i] |= bad;
        if (bad) continue;
        unravel(e, &l.s, at);
        for (int k = 0; k < x[2].s.rank; k++)
            from =
                from * x[2].s.dims[k] + (x[2].s.dims[k] == 1 ? 0 : at[k + l.s.rank - x[2].s.rank]);
        struct num v = num_cast(r.s.t, x[2].s.t, num_at(&x[2], from));
        put(&r, to, combine(n->p[2], r.s.t, num_at(&r, to), v));
    }
    w->v[i] = r;
}
// put, putmask and place: row-major places, values repeated
static void put_values(struct naive *w, int i, const struct tensor *x) {
    const struct node *n = &w->c->node[i];
    struct tensor r = naive_cast(&x[0], x[0].s.t);
    int64_t count = n->kind == K_put ? x[1].n : r.n, k = 0;
    for (int64_t e = 0; e < count && x[2].n; e++) {
        bool bad = false;
        int64_t to = n->kind == K_put ? place_of(&x[1], e, r.n, n->p[0], &bad) : e;
        w->index_bad[i] |= bad;
        if (bad) continue;
        if (n->kind != K_put && !num_cast(WEFT_BOOL, x[1].s.t, num_at(&x[1], e)).i) continue;
        int64_t from = n->kind == K_place ? k++ : e;
        put(&r, to, num_cast(r.s.t, x[2].s.t, num_at(&x[2], from % x[2].n)));
    }
    w->v[i] = r;
}

// ---- order
// --------------------------------------------------------------------------------------------------
// -1, 0, 1: NaN last and equal to itself, zeros equal
static int order(weft_dtype t, struct num a, struct num b) {
    bool p = num_is_nan(t, a), q = num_is_nan(t, b);
    if (p || q) return p - q;
    struct num x[3] = {a, b, {0, 0, 0}}, y[3] = {b, a, {0, 0, 0}};
    return t == WEFT_BOOL ? (a.i > b.i) - (a.i < b.i)
                          : (int)(num_map(M_less, t, y).i - num_map(M_less, t, x).i);
}
// places of a line of n elements, in stable order (falling: the greatest first, ties by place), by
// merging
static void sort_line(const struct tensor *x, int64_t base, int64_t step, int64_t *places,
                      int64_t n, bool falling) {
    if (n < 2) return;
    int64_t m = n / 2, *copy = malloc((size_t)n * sizeof *copy);
    sort_line(x, base, step, places, m, falling);
    sort_line(x, base, step, places + m, n - m, falling);
    memcpy(copy, places, (size_t)n * sizeof *copy);
    for (int64_t i = 0, a = 0, b = m; i < n; i++) {
        bool second = a == m;
        if (a < m && b < n) {
            int o =
                order(x->s.t, num_at(x, base + copy[a] * step), num_at(x, base + copy[b] * step));
            second = falling ? o < 0 : o > 0;
        }
        places[i] = second ? copy[b++] : copy[a++];
    }
    free(copy);
}
static void sorts(struct naive *w, int i, const struct tensor *x) {
    const struct node *n = &w->c->node[i];
    bool top = n->kind == K_topk;
    int axis = axis_of(top ? n->p[1] : n->p[0], x->s.rank);
    int64_t cols = 1, run = x->s.dims[axis], keep = top ? n->p[0] : run, dims[RANK];
    for (int k = axis + 1; k < x->s.rank; k++)
        cols *= x->s.dims[k];
    memcpy(dims, x->s.dims, sizeof dims);
    dims[axis] = keep;
    struct tensor r = tensor_new(n->kind == K_argsort ? WEFT_I64 : x->s.t, x->s.rank, dims);
    int64_t *places = malloc((size_t)(run + 1) * sizeof *places);
    for (int64_t l = 0; run && l < x->n / run; l++) {
        int64_t base = l / cols * run * cols + l % cols, to = l / cols * keep * cols + l % cols;
        for (int64_t k = 0; k < run; k++)
            places[k] = k;
        sort_line(x, base, cols, places, run, top);
        for (int64_t k = 0; k < keep; k++)
            put(&r, to + k * cols,
                n->kind == K_argsort ? (struct num){0, 0, places[k]}
                                     : num_at(x, base + places[k] * cols));
    }
    free(places);
    w->v[i] = r;
}
// The first place that is not before v (right: the first behind all equal ones).
static int64_t search(const struct tensor *sorted, weft_dtype t, struct num v, bool right) {
    int64_t k = 0;
    while (k < sorted->n) {
        int o = order(t, num_at(sorted, k), v);
        if (right ? o > 0 : o >= 0) break;
        k++;
    }
    return k;
}
static void searches(struct naive *w, int i, const struct tensor *x) {
    const struct node *n = &w->c->node[i];
    bool digits = n->kind == K_digitize, right = digits ? !n->p[0] : n->p[0] != 0;
    const struct tensor *v = &x[digits ? 0 : 1], *sorted = &x[digits ? 1 : 0];
    weft_dtype t = promote(v->s.t, sorted->s.t);
    struct tensor s = naive_cast(sorted, t), r = tensor_new(WEFT_I64, v->s.rank, v->s.dims);
    for (int64_t e = 0; e < r.n; e++)
        put(&r, e, (struct num){0, 0, search(&s, t, num_cast(t, v->s.t, num_at(v, e)), right)});
    w->v[i] = r;
}
static void histogram(struct naive *w, int i, const struct tensor *x) {
    weft_dtype t = promote(x[0].s.t, x[1].s.t);
    struct tensor edges = naive_cast(&x[1], t);
    int64_t bins = edges.n - 1;
    struct tensor r = tensor_new(WEFT_I64, 1, &bins);
    for (int64_t e = 0; e < x[0].n; e++) {
        struct num v = num_cast(t, x[0].s.t, num_at(&x[0], e));
        if (num_is_nan(t, v) || order(t, v, num_at(&edges, 0)) < 0 ||
            order(t, v, num_at(&edges, bins)) > 0)
            continue;
        int64_t k = search(&edges, t, v, true) - 1;
        if (k >= bins) k = bins - 1; // the last bin is closed
        put(&r, k, (struct num){0, 0, num_at(&r, k).i + 1});
    }
    w->v[i] = r;
}

// ---- results whose extent depends on values
// -----------------------------------------------------------------------
static void compress(struct naive *w, int i, const struct tensor *x) {
    const struct node *n = &w->c->node[i];
    int axis = axis_of(n->p[0], x[0].s.rank);
    int64_t cols = 1, run = x[0].s.dims[axis], k = 0;
    for (int d = axis + 1; d < x[0].s.rank; d++)
        cols *= x[0].s.dims[d];
    struct tensor r = tensor_new(x[0].s.t, x[0].s.rank, x[0].s.dims);
    for (int64_t e = 0; e < run; e++) {
        if (!num_cast(WEFT_BOOL, x[1].s.t, num_at(&x[1], e)).i) continue;
        for (int64_t l = 0; l < x[0].n / run; l++)
            put(&r, (l / cols * run + k) * cols + l % cols,
                num_at(&x[0], (l / cols * run + e) * cols + l % cols));
        k++;
    }
    w->v[i] = r;
}
static void nonzero(struct naive *w, int i, const struct tensor *x) {
    struct tensor r = tensor_new(WEFT_I64, 1, &x->n);
    for (int64_t e = 0, k = 0; e < x->n; e++)
        if (num_cast(WEFT_BOOL, x->s.t, num_at(x, e)).i) put(&r, k++, (struct num){0, 0, e});
    w->v[i] = r;
}
static void unique(struct naive *w, int i, const struct tensor *x) {
    struct tensor r = tensor_new(x->s.t, 1, &x->n);
    int64_t *places = malloc((size_t)(x->n + 1) * sizeof *places), k = 0;
    for (int64_t e = 0; e < x->n; e++)
        places[e] = e;
    sort_line(x, 0, 1, places, x->n, false);
    for (int64_t e = 0; e < x->n; e++)
        if (!e || order(x->s.t, num_at(x, places[e]), num_at(x, places[e - 1])) != 0)
            put(&r, k++, num_at(x, places[e]));
    free(places);
    w->v[i] = r;
}
static void bins(struct naive *w, int i, const struct tensor *x) {
    struct tensor r = tensor_new(WEFT_I64, 1, w->c->node[i].p);
    for (int64_t e = 0; e < x->n; e++) {
        struct num v = num_at(x, e);
        if ((x->s.t == WEFT_U64 && v.i < 0) || v.i < 0 || v.i >= r.n)
            w->index_bad[i] = true;
        else
            put(&r, v.i, (struct num){0, 0, num_at(&r, v.i).i + 1});
    }
    w->v[i] = r;
}
static void one_hot(struct naive *w, int i, const struct tensor *x) {
    const struct node *n = &w->c->node[i];
    int64_t dims[RANK + 1];
    memcpy(dims, x->s.dims, sizeof x->s.dims);
    dims[x->s.rank] = n->p[1];
    struct tensor r = tensor_new((weft_dtype)n->p[0], x->s.rank + 1, dims);
    for (int64_t e = 0; e < r.n; e++) {
        struct num v = num_at(x, e / n->p[1]);
        bool hit = v.i == e % n->p[1] && !(x->s.t == WEFT_U64 && v.i < 0);
        put(&r, e, num_cast(r.s.t, WEFT_I64, (struct num){0, 0, hit}));
    }
    w->v[i] = r;
}

bool naive_place(struct naive *w, int i) {
    const struct node *n = &w->c->node[i];
    struct tensor x[3];
    if (n->kind < K_take || n->kind > K_one_hot) return false;
    for (int k = 0; k < kind_arity(n->kind); k++)
        x[k] = w->v[n->in[k]];
    switch (n->kind) {
    case K_take:
    case K_take_along_axis: take(w, i, x); return true;
    case K_scatter:
    case K_put_along_axis:
        if (is_complex(x[0].s.t)) return false;
        scatter(w, i, x);
        return true;
    case K_put:
    case K_putmask:
    case K_place: put_values(w, i, x); return true;
    case K_compress: compress(w, i, x); return true;
    case K_flatnonzero: nonzero(w, i, x); return true;
    case K_bincount: bins(w, i, x); return true;
    case K_one_hot: one_hot(w, i, x); return true;
    default: break;
    }
    if (is_complex(x[0].s.t) || (kind_arity(n->kind) > 1 && is_complex(x[1].s.t))) return false;
    switch (n->kind) {
    case K_unique: unique(w, i, x); return true;
    case K_sort:
    case K_argsort:
    case K_topk: sorts(w, i, x); return true;
    case K_searchsorted:
    case K_digitize: searches(w, i, x); return true;
    default: histogram(w, i, x); return true;
    }
}
