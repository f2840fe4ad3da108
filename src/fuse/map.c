// SPDX-License-Identifier: MIT
// Index maps: where in a node's array the elements of a cluster's space lie. In: a map and the
// operation between a node and its operand; out: the operand's map, or that there is none. Maps are
// affine axis by axis; what reshape does is kept as the row-major number of the element and turned
// back into an affine map as soon as the digits of that number come apart without carries. No
// division ever reaches a loop.
#include "work.h"

struct fuse_map *map_new(struct fuse_work *w, int rank, int nf, bool linear) {
    size_t words = (size_t)(linear ? 1 : rank) * (size_t)(nf + 1);
    struct fuse_map *m = arena_get(&w->arena, sizeof *m + words * sizeof(int64_t));
    if (!m) {
        w->failed = true;
        return NULL;
    }
    m->rank = rank;
    m->nf = nf;
    m->linear = linear;
    return m;
}

static int64_t *row_of(struct fuse_map *m, int i) {
    return m->w + (int64_t)i * (m->nf + 1);
}

bool map_same(const struct fuse_map *a, const struct fuse_map *b) {
    if (a == b) return true;
    if (a->rank != b->rank || a->nf != b->nf || a->linear != b->linear) return false;
    return !memcmp(a->w, b->w, (size_t)map_rows(a) * (size_t)(a->nf + 1) * sizeof *a->w);
}

// The axis of F that the next axis of an identity map belongs to.
static int skip_axes(const struct fuse_cluster *c, int f, bool full) {
    while (f < c->nf && (full ? c->dim[f] == 1 : c->run && f >= c->x0 && f < c->x1))
        f++;
    return f;
}

const struct fuse_map *map_identity(struct fuse_work *w, const struct fuse_cluster *c, ir_ref shape,
                                    bool full) {
    int rank = ir_at(w->g, shape)->rank, f = 0;
    const int64_t *dims = ir_dims(w->g, shape);
    struct fuse_map *m = map_new(w, rank, c->nf, false);
    for (int i = 0; m && i < rank; i++)
        if (dims[i] != 1) {
            f = skip_axes(c, f, full);
            row_of(m, i)[1 + f++] = 1;
        }
    return m;
}

const struct fuse_map *map_axis_by_axis(struct fuse_work *w, ir_ref shape) {
    const int rank = ir_at(w->g, shape)->rank;
    struct fuse_map *m = map_new(w, rank, rank, false);
    for (int i = 0; m && i < rank; i++)
        row_of(m, i)[1 + i] = 1;
    return m;
}

bool map_is_identity(struct fuse_work *w, const struct fuse_cluster *c, const struct fuse_map *m,
                     ir_ref shape, bool full) {
    const int64_t *dims = ir_dims(w->g, shape);
    if (m->linear) return false;
    int f = 0;
    for (int i = 0; i < m->rank; i++) {
        const int64_t *row = map_row(m, i);
        int at = -1;
        if (dims[i] != 1) {
            f = skip_axes(c, f, full);
            if (f == c->nf || dims[i] != c->dim[f]) return false;
            at = f++;
        }
        if (row[0]) return false;
        for (int k = 0; k < c->nf; k++)
            if (row[1 + k] != (k == at) && c->dim[k] != 1) return false;
    }
    return skip_axes(c, f, full) == c->nf;
}

// ---- row-major numbers and their digits ---------------------------------------------------------
static const struct fuse_map *to_linear(struct fuse_work *w, const struct fuse_map *m,
                                        const int64_t *dims, int rank) {
    struct fuse_map *l = map_new(w, rank, m->nf, true);
    int64_t weight = 1;
    for (int i = m->rank - 1; l && i >= 0; i--) {
        for (int k = 0; k <= m->nf; k++)
            l->w[k] += weight * map_row(m, i)[k];
        weight *= dims[i];
    }
    return l;
}

// Splits rest = weight * digit + new rest with the new rest in [0, weight) all over F. False: it
// carries.
static bool split_digit(const int64_t *fdim, int nf, int64_t weight, int64_t *rest,
                        int64_t *digit) {
    int64_t least = 0, most = 0;
    for (int k = 0; k < nf; k++) {
        int64_t steps = fdim[k] - 1, c = rest[1 + k], r = c % weight;
        if (steps <= 0) c = r = 0;
        if (r < 0) r += weight;
        if (r && r > (weight - 1) / steps) r -= weight;
        if (r < 0 && -r > (weight - 1) / steps) return false; // nor may r * steps overflow
        digit[1 + k] = (c - r) / weight;
        rest[1 + k] = r;
        *(r < 0 ? &least : &most) += r * steps;
    }
    int64_t low = rest[0] + least, q = low / weight;
    if (low % weight < 0) q--;
    digit[0] = q;
    rest[0] -= q * weight;
    return rest[0] + most < weight;
}

static const struct fuse_map *from_linear(struct fuse_work *w, const int64_t *fdim,
                                          const struct fuse_map *l, const int64_t *dims, int rank) {
    int64_t rest[WEFT_MAX_RANK + 2], weight = 1;
    memcpy(rest, l->w, (size_t)(l->nf + 1) * sizeof *rest);
    for (int i = 0; i < rank; i++)
        weight *= dims[i];
    struct fuse_map *m = map_new(w, rank, l->nf, false);
    for (int i = 0; m && i < rank; i++) {
        if (dims[i] == 1) continue;
        weight /= dims[i];
        if (!split_digit(fdim, l->nf, weight, rest, row_of(m, i))) return NULL;
    }
    return m;
}

// ---- through operations -------------------------------------------------------------------------
static bool same_but_ones(const int64_t *a, int na, const int64_t *b, int nb) {
    int i = 0, j = 0;
    for (;; i++, j++) {
        while (i < na && a[i] == 1)
            i++;
        while (j < nb && b[j] == 1)
            j++;
        if (i == na || j == nb) return i == na && j == nb;
        if (a[i] != b[j]) return false;
    }
}

static const struct fuse_map *relabel(struct fuse_work *w, const struct fuse_map *m, int rank) {
    struct fuse_map *l = map_new(w, rank, m->nf, true);
    if (l) memcpy(l->w, m->w, (size_t)(m->nf + 1) * sizeof *m->w);
    return l;
}

// The rows of axes that are not 1, in the shape with other 1s.
static const struct fuse_map *move_ones(struct fuse_work *w, const struct fuse_map *m,
                                        const int64_t *from, const int64_t *to, int rank) {
    struct fuse_map *r = map_new(w, rank, m->nf, false);
    int j = 0;
    for (int i = 0; r && i < rank; i++) {
        if (to[i] == 1) continue;
        while (from[j] == 1)
            j++;
        memcpy(row_of(r, i), map_row(m, j++), (size_t)(m->nf + 1) * sizeof *m->w);
    }
    return r;
}

static const struct fuse_map *through_map(struct fuse_work *w, const struct fuse_map *m, ir_ref n,
                                          ir_ref o) {
    int rn = ir_at(w->g, n)->rank, ro = ir_at(w->g, o)->rank;
    const int64_t *dn = ir_dims(w->g, n), *dm = ir_dims(w->g, o);
    if (rn == ro && !memcmp(dn, dm, (size_t)rn * sizeof *dn)) return m;
    if (ir_elements(w->g, o) == 1) return map_new(w, ro, m->nf, false);
    if (m->linear) return same_but_ones(dn, rn, dm, ro) ? relabel(w, m, ro) : NULL;
    struct fuse_map *r = map_new(w, ro, m->nf, false);
    for (int i = 0; r && i < ro; i++)
        if (dm[i] != 1)
            memcpy(row_of(r, i), map_row(m, i + rn - ro), (size_t)(m->nf + 1) * sizeof *m->w);
    return r;
}

static const struct fuse_map *through_reshape(struct fuse_work *w, const int64_t *fdim,
                                              const struct fuse_map *m, ir_ref n, ir_ref o) {
    int rn = ir_at(w->g, n)->rank, ro = ir_at(w->g, o)->rank;
    const int64_t *dn = ir_dims(w->g, n), *dm = ir_dims(w->g, o);
    if (!m->linear && same_but_ones(dn, rn, dm, ro)) return move_ones(w, m, dn, dm, ro);
    const struct fuse_map *l = m->linear ? relabel(w, m, ro) : to_linear(w, m, dn, ro);
    if (!l) return NULL;
    const struct fuse_map *a = from_linear(w, fdim, l, dm, ro);
    return a ? a : l;
}

const struct fuse_map *map_compose(struct fuse_work *w, const struct fuse_map *g,
                                   const struct fuse_map *m) {
    if (m->linear) return NULL;
    struct fuse_map *r = map_new(w, g->rank, m->nf, g->linear);
    for (int i = 0; r && i < map_rows(g); i++) {
        const int64_t *gr = map_row(g, i);
        int64_t *row = row_of(r, i);
        row[0] = gr[0];
        for (int j = 0; j < g->nf; j++)
            for (int k = 0; gr[1 + j] && k <= m->nf; k++)
                row[k] += gr[1 + j] * map_row(m, j)[k];
    }
    return r;
}

static const struct fuse_map *through_view(struct fuse_work *w, const struct fuse_map *m, ir_ref n,
                                           ir_ref o) {
    int rn = ir_at(w->g, n)->rank, ro = ir_at(w->g, o)->rank;
    int64_t off[WEFT_MAX_RANK] = {0}, coef[WEFT_MAX_RANK * WEFT_MAX_RANK];
    memset(coef, 0, (size_t)(rn * ro) * sizeof *coef);
    if (!ir_view_map(w->g, n, off, coef)) return NULL;
    struct fuse_map *g = map_new(w, ro, rn, false);
    for (int i = 0; g && i < ro; i++) {
        row_of(g, i)[0] = off[i];
        memcpy(row_of(g, i) + 1, coef + i * rn, (size_t)rn * sizeof *coef);
    }
    return g ? map_compose(w, g, m) : NULL;
}

const struct fuse_map *map_operand(struct fuse_work *w, const int64_t *fdim,
                                   const struct fuse_map *m, ir_ref n, int i) {
    const struct ir_node *node = ir_at(w->g, n);
    ir_ref o = node->in[i];
    const bool same = node->op == IR_guard || node->op == IR_trim || node->op == IR_fixed;
    if (ir_ops[node->op].cls == IR_MAP || same) return through_map(w, m, n, o);
    if (node->op == IR_reshape) return through_reshape(w, fdim, m, n, o);
    if (!m->linear) return through_view(w, m, n, o);
    if (ir_elements(w->g, o) == 1) return map_new(w, ir_at(w->g, o)->rank, m->nf, false);
    if (node->op == IR_expand_dims || node->op == IR_squeeze)
        return relabel(w, m, ir_at(w->g, o)->rank);
    return NULL;
}

const struct fuse_map *map_widen(struct fuse_work *w, const struct fuse_map *m, int x0, int x1) {
    struct fuse_map *r = map_new(w, m->rank, m->nf + x1 - x0, m->linear);
    for (int i = 0; r && i < map_rows(m); i++) {
        const int64_t *from = map_row(m, i);
        int64_t *to = row_of(r, i);
        memcpy(to, from, (size_t)(1 + x0) * sizeof *to);
        memcpy(to + 1 + x1, from + 1 + x0, (size_t)(m->nf - x0) * sizeof *to);
    }
    return r;
}

// ---- at memory ----------------------------------------------------------------------------------
// The step between neighbours in row-major order, when there is one for the whole array.
static bool even_step(const int64_t *dims, const int64_t *strides, int rank, int64_t *step) {
    int64_t next = 0;
    bool any = false;
    for (int i = rank - 1; i >= 0; i--) {
        if (dims[i] == 1) continue;
        if (any && strides[i] != next) return false;
        if (!any) *step = strides[i];
        any = true;
        next = strides[i] * dims[i];
    }
    if (!any) *step = 0;
    return true;
}

bool map_address(struct fuse_work *w, const struct fuse_map *m, const int64_t *dims,
                 const int64_t *strides, int64_t *offset, int64_t *stride) {
    int64_t step = 0;
    (void)w;
    if (m->linear && !even_step(dims, strides, m->rank, &step)) return false;
    *offset = 0;
    memset(stride, 0, (size_t)m->nf * sizeof *stride);
    for (int i = 0; i < map_rows(m); i++) {
        int64_t by = m->linear ? step : dims[i] == 1 ? 0 : strides[i];
        *offset += by * map_row(m, i)[0];
        for (int k = 0; k < m->nf; k++)
            stride[k] += by * map_row(m, i)[1 + k];
    }
    return true;
}

uint64_t map_axes(const struct fuse_map *m, const int64_t *fdim, const int64_t *dims) {
    uint64_t axes = 0;
    for (int i = 0; i < map_rows(m); i++)
        for (int k = 0; k < m->nf; k++)
            if (map_row(m, i)[1 + k] && fdim[k] != 1 && (m->linear || dims[i] != 1))
                axes |= (uint64_t)1 << k;
    return axes;
}
