// SPDX-License-Identifier: MIT
// The order of the loops. In: a cluster's space and the strides of everything it reads and writes
// along it; out: the nest's dims as groups of adjacent axes. Axes that no reduction orders go by
// stride, outputs first for maps and inputs first for reductions, so that an F-ordered array is
// walked as fast as a C-ordered one; neighbours that every operand steps through evenly become one
// dim. A reduced run keeps its logical order.
#include "work.h"

static int64_t absolute(int64_t x) {
    return x < 0 ? -x : x;
}
static bool in_memory(const struct fuse_access *a) {
    return a->o.buffer != NEST_CONST && a->o.buffer != NEST_IOTA;
}

// Votes for axis p outside axis q (positive) or inside (negative), by bytes of the operands that
// care.
static int vote(const struct fuse_access *a, int n, bool out, int p, int q) {
    int votes = 0;
    for (int i = 0; i < n; i++) {
        int64_t sp = absolute(a[i].stride[p]), sq = absolute(a[i].stride[q]);
        if (!in_memory(&a[i]) || a[i].o.out != out || !sp || !sq || sp == sq) continue;
        int bytes = (int)dtype_size((weft_dtype)a[i].o.dtype);
        votes += sp > sq ? bytes : -bytes;
    }
    return votes;
}

static bool belongs_outside(const struct fuse_access *a, int n, bool outputs_first, int p, int q) {
    int v = vote(a, n, outputs_first, p, q);
    return (v ? v : vote(a, n, !outputs_first, p, q)) > 0;
}

static void sort_axes(const struct fuse_access *a, int n, bool outputs_first, int *axis,
                      int count) {
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && belongs_outside(a, n, outputs_first, axis[j], axis[j - 1]); j--) {
            int t = axis[j];
            axis[j] = axis[j - 1];
            axis[j - 1] = t;
        }
}

// ---- temporaries --------------------------------------------------------------------------------
// Readers that number elements in row-major order need them that way.
static bool is_free(struct fuse_work *w, const struct fuse_access *a) {
    if (!a->o.out || a->o.buffer != NEST_TEMP || sink_at(w, a->sink)->g) return false;
    for (uint32_t i = w->head[a->node]; i; i = value_at(w, i)->next)
        if (value_at(w, i)->kind == V_LOAD && value_at(w, i)->map->linear) return false;
    return true;
}

static bool lay_out(struct fuse_work *w, const struct fuse_cluster *c, struct fuse_access *a,
                    const int *axis) {
    struct fuse_sink *s = sink_at(w, a->sink);
    const int64_t *dims = ir_dims(w->g, s->node);
    int rank = ir_at(w->g, s->node)->rank, node_axis[WEFT_MAX_RANK + 1], f = 0;
    int64_t *strides = ARENA_ARRAY(&w->arena, int64_t, rank + 1);
    int64_t step = (int64_t)dtype_size((weft_dtype)a->o.dtype);
    if (!strides) return false;
    for (int i = 0; i < rank; i++)
        if (dims[i] != 1) node_axis[f++] = i; // stored under the identity
    for (int k = c->nf - 1; k >= 0; k--) {
        strides[node_axis[axis[k]]] = a->stride[axis[k]] = step;
        step *= c->dim[axis[k]];
    }
    s->strides = strides;
    return true;
}

bool axes_lay_out(struct fuse_work *w, const struct fuse_cluster *c, struct fuse_access *a, int n) {
    int axis[WEFT_MAX_RANK + 1];
    bool some = false;
    for (int i = 0; i < n; i++)
        if (is_free(w, &a[i])) {
            memset(a[i].stride, 0, sizeof a[i].stride); // does not vote
            some = true;
        }
    for (int k = 0; k < c->nf; k++)
        axis[k] = k;
    if (some) sort_axes(a, n, true, axis, c->nf);
    for (int i = 0; i < n && some; i++)
        if (is_free(w, &a[i]) && !lay_out(w, c, &a[i], axis)) return false;
    return true;
}

// ---- groups -------------------------------------------------------------------------------------
struct groups {
    int n, inner[NEST_DIMS];
    int64_t extent[NEST_DIMS];
    uint64_t axes[NEST_DIMS];
};

static bool steps_evenly(const struct fuse_access *a, int n, int outer, int inner, int64_t extent) {
    for (int i = 0; i < n; i++)
        if (a[i].stride[outer] != a[i].stride[inner] * extent) return false;
    return true;
}

static void group_axes(const struct fuse_access *a, int n, const int64_t *dim, const int *axis,
                       int count, struct groups *g) {
    g->n = 0;
    for (int i = 0; i < count; i++) {
        int k = g->n - 1, x = axis[i];
        if (k >= 0 && steps_evenly(a, n, g->inner[k], x, dim[x])) {
            g->extent[k] *= dim[x];
        } else {
            k = g->n++;
            g->extent[k] = dim[x];
            g->axes[k] = 0;
        }
        g->inner[k] = x;
        g->axes[k] |= (uint64_t)1 << x;
    }
}

static void put_ones(struct groups *g, int least) {
    while (g->n < least) {
        memmove(g->inner + 1, g->inner, (size_t)g->n * sizeof *g->inner);
        memmove(g->extent + 1, g->extent, (size_t)g->n * sizeof *g->extent);
        memmove(g->axes + 1, g->axes, (size_t)g->n * sizeof *g->axes);
        g->inner[0] = -1;
        g->extent[0] = 1;
        g->axes[0] = 0;
        g->n++;
    }
}

static void to_end(struct groups *g, int i, int end) {
    int inner = g->inner[i];
    int64_t extent = g->extent[i];
    uint64_t axes = g->axes[i];
    for (; i < end; i++) {
        g->inner[i] = g->inner[i + 1];
        g->extent[i] = g->extent[i + 1];
        g->axes[i] = g->axes[i + 1];
    }
    g->inner[end] = inner;
    g->extent[end] = extent;
    g->axes[end] = axes;
}

// Where columns must be packed, whole cache lines are used when rows run along the operand's own
// unit axis.
static void choose_rows(const struct fuse_access *a, int n, struct groups *g, int rows,
                        int column) {
    for (int i = 0; i < n && column >= 0; i++) {
        int64_t size = (int64_t)dtype_size((weft_dtype)a[i].o.dtype);
        int64_t along = absolute(a[i].stride[column]);
        if (!in_memory(&a[i]) || a[i].kept || along <= size) continue;
        for (int k = 0; k < rows; k++)
            if (g->inner[k] >= 0 && absolute(a[i].stride[g->inner[k]]) == size) {
                to_end(g, k, rows - 1);
                return;
            }
    }
}

// An axis that the first output walks backwards is walked forwards instead.
static void flip_axes(const struct fuse_cluster *c, struct fuse_access *a, int n) {
    const struct fuse_access *out = NULL;
    for (int i = 0; i < n && !out; i++)
        if (a[i].o.out) out = &a[i];
    for (int k = 0; out && k < c->nf; k++) {
        if (out->stride[k] >= 0) continue;
        for (int i = 0; i < n; i++) {
            a[i].o.offset += a[i].stride[k] * (c->dim[k] - 1);
            a[i].stride[k] = -a[i].stride[k];
        }
    }
}

static void append(struct fuse_axes *x, const struct groups *g, int from, int to) {
    for (int i = from; i < to; i++) {
        x->inner[x->ngroup] = g->inner[i];
        x->extent[x->ngroup++] = g->extent[i];
    }
}

static void place_groups(struct fuse_axes *x, struct groups *kept, struct groups *run) {
    int k = kept->n;
    if (x->mode == NEST_OUTER) {
        append(x, kept, 0, k - 1);
        append(x, run, 0, run->n);
        append(x, kept, k - 1, k);
        x->cols = kept->axes[k - 1];
        x->nouter = k - 1;
        x->nrow = run->n;
        x->ncol = 1;
        return;
    }
    append(x, kept, 0, k);
    append(x, run, 0, run->n);
    x->ncol = x->mode == NEST_MAP ? 1 : run->n;
    x->nrow = 1;
    x->nouter = x->ngroup - 1 - x->ncol;
    x->cols = x->mode == NEST_MAP ? kept->axes[k - 1] : x->run;
}

bool axes_follow(const struct fuse_cluster *c, const struct fuse_access *a, int n, const int *axis,
                 struct fuse_axes *x) {
    const int rank = x->ngroup; // of the product
    int row = axis[rank - 2], col = axis[rank - 1];
    const bool turned = col < 0 || (row >= 0 && belongs_outside(a, n, true, col, row));
    if (turned) row = axis[rank - 1], col = axis[rank - 2];
    *x = (struct fuse_axes){.nf = c->nf, .dim = c->dim, .mode = NEST_MAP, .nrow = 1, .ncol = 1};
    for (int i = 0; i < rank; i++) {
        const int at = i == rank - 2 ? row : i == rank - 1 ? col : axis[i];
        if (i < rank - 2 && at < 0) continue;
        x->inner[x->ngroup] = at;
        x->extent[x->ngroup++] = at < 0 ? 1 : c->dim[at];
    }
    x->nouter = x->ngroup - 2;
    if (col >= 0) x->cols = (uint64_t)1 << col;
    return turned;
}

void axes_choose(struct fuse_work *w, const struct fuse_cluster *c, struct fuse_access *a, int n,
                 struct fuse_axes *x) {
    int kept[WEFT_MAX_RANK + 1], run[WEFT_MAX_RANK + 1], nkept = 0, nrun = 0;
    int64_t elements = 1;
    struct groups kg, rg;
    (void)w;
    *x = (struct fuse_axes){.nf = c->nf, .dim = c->dim};
    for (int k = 0; k < c->nf; k++) {
        bool in_run = c->run && k >= c->x0 && k < c->x1;
        if (in_run) {
            x->run |= (uint64_t)1 << k;
            elements *= c->dim[k];
            run[nrun++] = k;
        } else {
            kept[nkept++] = k;
        }
    }
    // A run of one element sums to the same bits either way.
    x->mode = !c->run ? NEST_MAP : c->x1 == c->nf && elements > 1 ? NEST_INNER : NEST_OUTER;
    if (x->mode == NEST_MAP) flip_axes(c, a, n);
    sort_axes(a, n, x->mode == NEST_MAP, kept, nkept);
    group_axes(a, n, c->dim, kept, nkept, &kg);
    group_axes(a, n, c->dim, run, nrun, &rg);
    put_ones(&kg, x->mode == NEST_MAP ? 2 : 1);
    if (x->mode == NEST_INNER) choose_rows(a, n, &kg, kg.n, rg.inner[rg.n - 1]);
    if (x->mode == NEST_MAP) choose_rows(a, n, &kg, kg.n - 1, kg.inner[kg.n - 1]);
    place_groups(x, &kg, &rg);
}
