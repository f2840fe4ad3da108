// SPDX-License-Identifier: MIT
// Where a reduction runs. In a user's pass when that pass is
//   an epilogue: a map over what the run leaves (sqrt(sum(x*x))). Its space gets the run put in, and
//   what it did becomes the part after the run. Or a pass over the same space and run already;
//   row-wise: a map over the reduction's own space, the run innermost, which uses the result for the
//   same row (x / sum(x)). Rows are then taken whole, one section before and one after;
// else in a pass of its own. Inner or outer follows from the operand's shape alone, never from the
// pass, so that the order of summation does too.
#include "work.h"

static int64_t run_elements(const int64_t *dim, int x0, int x1) {
    int64_t n = 1;
    for (int i = x0; i < x1; i++)
        n *= dim[i];
    return n;
}

// Seen through m, kept axes are themselves and the run does not matter.
static bool sees_own_row(struct fuse_work *w, const struct fuse_cluster *c,
                         const struct fuse_map *m, ir_ref n, int x0, int x1) {
    struct fuse_cluster as = *c;
    as.run = true;
    as.x0 = x0;
    as.x1 = x1;
    return map_is_identity(w, &as, m, n, false);
}

static bool same_dims(const int64_t *a, const int64_t *b, int n) {
    return !memcmp(a, b, (size_t)n * sizeof *a);
}

static bool joins_space(struct fuse_work *w, const struct fuse_cluster *c, ir_ref n,
                        const struct fuse_map *m, unsigned use) {
    int64_t dim[WEFT_MAX_RANK + 1];
    int x0, x1, nf = space_of_reduce(w, n, dim, &x0, &x1);
    if (c->nf != nf || !same_dims(c->dim, dim, nf)) return false;
    if (c->run && (c->x0 != x0 || c->x1 != x1)) return false;
    if (!sees_own_row(w, c, m, n, x0, x1)) return false;
    if (!(use & USE_ELEM)) return true;
    int64_t run = run_elements(dim, x0, x1);
    return x1 == nf && run > 1 && run <= (int64_t)(w->row_bytes / 8);
}

static bool is_epilogue(struct fuse_work *w, const struct fuse_cluster *c, ir_ref n,
                        const struct fuse_map *m) {
    return !c->run && map_is_identity(w, c, m, n, true);
}

bool reduce_can_join(struct fuse_work *w, uint32_t index, ir_ref n, const struct fuse_map *m,
                     unsigned use) {
    const struct fuse_cluster *c = cluster_at(w, index);
    if (use & USE_WHOLE || w->opts->unfused || c->matmul || c->product || m->linear ||
        c->nreduce >= MAX_REDUCE)
        return false;
    return joins_space(w, c, n, m, use) || is_epilogue(w, c, n, m);
}

static bool try_join(struct fuse_work *w, ir_ref n, uint32_t value) {
    const struct fuse_value *v = value_at(w, value);
    uint32_t index = cluster_find(w, v->cluster);
    struct fuse_cluster *c = cluster_at(w, index);
    if (v->kind != V_PENDING || !reduce_can_join(w, index, n, v->map, v->use)) return false;
    if (!home_fits(w, n, value) || !cluster_fits(w, index, n)) return false;
    int64_t dim[WEFT_MAX_RANK + 1];
    int x0, x1, nf = space_of_reduce(w, n, dim, &x0, &x1);
    c->height = MAX_OF(c->height, height_above(w, n, index));
    if (!joins_space(w, c, n, v->map, v->use)) return cluster_widen(w, index, nf, dim, x0, x1);
    c->run = true;
    c->x0 = x0;
    c->x1 = x1;
    return true;
}

static uint32_t own_pass(struct fuse_work *w, ir_ref n) {
    int64_t dim[WEFT_MAX_RANK + 1];
    int x0, x1, nf = space_of_reduce(w, n, dim, &x0, &x1);
    const char *why = w->pins[n]         ? "root"
                      : w->opts->unfused ? "unfused"
                                         : "reduction read over another space";
    uint32_t index = cluster_new(w, nf, dim, height_above(w, n, UINT32_MAX), why);
    if (w->failed) return 0;
    struct fuse_cluster *c = cluster_at(w, index);
    c->run = true;
    c->x0 = x0;
    c->x1 = x1;
    return value_ask(w, index, n, map_identity(w, c, n, false), USE_KEPT);
}

void place_reduce(struct fuse_work *w, ir_ref n) {
    uint32_t home = 0;
    for (uint32_t i = w->head[n]; i && !home && !w->failed; i = value_at(w, i)->next)
        if (try_join(w, n, i)) home = i;
    if (!home && !w->failed) home = own_pass(w, n);
    if (w->failed || !home) return;
    value_settle(w, home, V_REDUCE);
    uint32_t index = cluster_find(w, value_at(w, home)->cluster);
    ir_ref o = ir_at(w->g, n)->in[0];
    uint32_t arg = value_ask(w, index, o, map_identity(w, cluster_at(w, index), o, true), USE_ELEM);
    value_at(w, home)->arg[0] = arg;
    if (!w->failed) place_stores(w, n, home);
}
