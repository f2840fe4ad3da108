// SPDX-License-Identifier: MIT
// A map that follows a product in one step: computed on each part of the product while that is in
// cache. In: a product whose users are placed; out: which user's pass follows it, and where the
// product's elements lie in the meantime. The map must see every element once and in no other way,
// since it runs when nothing but one part is final. The product needs memory that lives through all
// of its k blocks: the last output of the map when that can take it, since the same element is read
// before it is stored there; else a temporary.
#include "work.h"

bool matmul_axes(struct fuse_work *w, const struct fuse_cluster *c, const struct fuse_map *m,
                 ir_ref n, int *axis) {
    const int64_t *dims = ir_dims(w->g, n);
    uint64_t seen = 0;
    if (m->linear) return false;
    for (int i = 0; i < m->rank; i++) {
        const int64_t *row = map_row(m, i);
        axis[i] = -1;
        if (row[0]) return false;
        for (int k = 0; k < c->nf; k++) {
            if (!row[1 + k] || dims[i] == 1) continue;
            if (axis[i] >= 0 || row[1 + k] != 1 || c->dim[k] != dims[i] || seen >> k & 1)
                return false;
            axis[i] = k;
            seen |= (uint64_t)1 << k;
        }
        if (axis[i] < 0 && dims[i] != 1) return false;
    }
    return seen == ((uint64_t)1 << c->nf) - 1;
}

// The value by which a map that can follow n sees it, or 0.
uint32_t matmul_follower(struct fuse_work *w, ir_ref n) {
    int axis[WEFT_MAX_RANK];
    for (uint32_t i = w->head[n]; i && !w->opts->unfused; i = value_at(w, i)->next) {
        const struct fuse_value *v = value_at(w, i);
        const struct fuse_cluster *c = cluster_at(w, cluster_find(w, v->cluster));
        if (v->kind != V_PENDING || v->use & USE_WHOLE || c->matmul || c->run || c->product) continue;
        if (matmul_axes(w, c, v->map, n, axis) && home_fits(w, n, i)) return i;
    }
    return 0;
}

// Settles the value and returns the height of the step.
int matmul_attach(struct fuse_work *w, ir_ref n, uint32_t seen) {
    uint32_t index = cluster_find(w, value_at(w, seen)->cluster);
    int height = height_above(w, n, index);
    struct fuse_cluster *c = cluster_at(w, index);
    c->height = MAX_OF(c->height, height);
    c->seen = seen;
    value_settle(w, seen, V_LOAD);
    return c->height;
}

static bool is_dense_along(const struct fuse_access *a, int axis, int64_t size) {
    return axis >= 0 && a->stride[axis] == size;
}

// May the product's elements be kept where this output goes?
static bool takes_product(struct fuse_work *w, const struct fuse_cluster *c,
                          const struct fuse_access *out) {
    int axis[WEFT_MAX_RANK], elements = 0;
    ir_ref n = cluster_at(w, c->product)->node;
    int rank = ir_at(w->g, n)->rank;
    int64_t size = (int64_t)dtype_size((weft_dtype)ir_at(w->g, n)->dtype);
    if (!out->o.out || (out->o.buffer != NEST_OUT && out->o.buffer != NEST_TEMP)) return false;
    if ((int64_t)dtype_size((weft_dtype)out->o.dtype) != size) return false;
    matmul_axes(w, c, value_at(w, c->seen)->map, n, axis);
    for (int i = rank - 2; i < rank; i++)
        elements += axis[i] < 0;
    return elements == 2 || is_dense_along(out, axis[rank - 1], size) ||
           is_dense_along(out, axis[rank - 2], size);
}

bool matmul_place(struct fuse_work *w, struct fuse_cluster *c, struct fuse_access *a, int n) {
    ir_ref node = cluster_at(w, c->product)->node;
    struct fuse_access *at = NULL;
    for (int i = 0; i < n; i++)
        if (a[i].node == node && !a[i].o.out) at = &a[i];
    c->place = at;
    if (!at) return false;
    if (at->o.buf != SINK_OPEN || at->o.buffer != NEST_TEMP) return true;
    struct fuse_sink *s = sink_at(w, w->slot[node]);
    const struct fuse_access *last = &a[n - 1];
    if (takes_product(w, c, last)) {
        at->o.buffer = last->o.buffer;
        at->o.buf = last->o.buf;
        at->o.offset = last->o.offset;
        memcpy(at->stride, last->stride, sizeof at->stride);
        return true;
    }
    s->buf = temp_new(w, node);
    at->o.buf = s->buf;
    return !w->failed && value_address(w, value_at(w, c->seen), &at->o.offset, at->stride);
}
