// SPDX-License-Identifier: MIT
// The shape of a walk. In: the nest as planned; out: the same iteration with as few dims as it can
// be said in, and for every operand whether code may work on its memory as it lies. Two
// neighbouring dims become one where every operand steps through both with one stride. Kept dims
// may be visited in any order, so any of them can be the row dim; the dims of a reduced run keep
// their order, which is the order of the sum.
#include "walk.h"

struct axis {
    int64_t extent;
    int src; // the nest dim whose strides it has, -1: none
};
struct axes {
    int n;
    struct axis axis[NEST_DIMS];
};
struct shaper {
    const struct nest *nest;
    int64_t *stride; // operand-major, NEST_DIMS each; what does not matter is 0
    struct axes kept, row, col;
};

static int64_t stride_of(const struct shaper *s, int operand, int src) {
    return src < 0 ? 0 : s->stride[operand * NEST_DIMS + src];
}

static bool is_memory(const struct nest_operand *o) {
    return o->buffer == NEST_LEAF || o->buffer == NEST_OUT || o->buffer == NEST_TEMP ||
           o->buffer == NEST_IOTA;
}

static void copy_strides(struct shaper *s) {
    const struct nest *n = s->nest;
    const int first_row = n->nouter, first_col = n->nouter + n->nrow;
    for (int k = 0; k < n->noperand; k++) {
        const struct nest_operand *o = &n->operand[k];
        for (int d = 0; d < n->ndim && is_memory(o); d++) {
            const bool row = d >= first_row && d < first_col, col = d >= first_col;
            if ((row && o->late) || (col && o->cls == NEST_SCALAR)) continue;
            s->stride[k * NEST_DIMS + d] = o->stride[d];
        }
    }
}

static void add_axes(struct axes *to, const struct nest *n, int begin, int end) {
    for (int d = begin; d < end; d++)
        if (n->dim[d] != 1) to->axis[to->n++] = (struct axis){n->dim[d], d};
}

// a then b, b inner: one stride for both?
static bool is_one(const struct shaper *s, const struct axis *a, const struct axis *b) {
    for (int k = 0; k < s->nest->noperand; k++) {
        int64_t whole;
        if (__builtin_mul_overflow(stride_of(s, k, b->src), b->extent, &whole)) return false;
        if (stride_of(s, k, a->src) != whole) return false;
    }
    return true;
}

static void merge(const struct shaper *s, struct axes *x) {
    int n = 0;
    for (int i = 0; i < x->n; i++) {
        struct axis *last = n ? &x->axis[n - 1] : NULL;
        int64_t both;
        if (last && is_one(s, last, &x->axis[i]) &&
            !__builtin_mul_overflow(last->extent, x->axis[i].extent, &both))
            *last = (struct axis){both, x->axis[i].src};
        else
            x->axis[n++] = x->axis[i];
    }
    x->n = n;
}

// Columns that are kept need only one dim in the tile.
static void spill_columns(struct shaper *s) {
    merge(s, &s->col);
    for (int i = 0; i + 1 < s->col.n; i++)
        s->kept.axis[s->kept.n++] = s->col.axis[i];
    if (s->col.n > 1) s->col = (struct axes){1, {s->col.axis[s->col.n - 1]}};
}

static bool scalars_are_still(const struct shaper *s, const struct axis *a) {
    for (int k = 0; k < s->nest->noperand; k++)
        if (s->nest->operand[k].cls == NEST_SCALAR && stride_of(s, k, a->src) != 0) return false;
    return true;
}

// MAP: the last kept dim joins the columns, or becomes them when there is one column only.
static void widen_columns(struct shaper *s) {
    while (s->kept.n) {
        const struct axis *last = &s->kept.axis[s->kept.n - 1];
        if (s->col.n == 0) {
            if (!scalars_are_still(s, last)) return;
            s->col = (struct axes){1, {*last}};
        } else if (is_one(s, last, &s->col.axis[0])) {
            s->col.axis[0].extent *= last->extent;
        } else {
            return;
        }
        s->kept.n--;
    }
}

// The kept dim that is to be the rows of tiles: one along which a strided operand is dense, so that
// its block is packed by whole cache lines; else the last.
static int choose_row(const struct shaper *s) {
    const int last = s->kept.n - 1;
    if (s->col.n == 0) return last;
    const int col = s->col.axis[s->col.n - 1].src;
    for (int k = 0; k < s->nest->noperand; k++) {
        const struct nest_operand *o = &s->nest->operand[k];
        const int64_t size = (int64_t)dtype_size(o->dtype);
        if (o->cls != NEST_UNIT || o->buffer == NEST_IOTA || stride_of(s, k, col) == size) continue;
        for (int i = last; i >= 0; i--) {
            const int64_t along = stride_of(s, k, s->kept.axis[i].src);
            if ((along == size || along == -size) && s->kept.axis[i].extent >= 8) return i;
        }
    }
    return last;
}

static void take_row(struct shaper *s) {
    if (!s->kept.n) return;
    const int at = choose_row(s);
    s->row = (struct axes){1, {s->kept.axis[at]}};
    for (int i = at; i + 1 < s->kept.n; i++)
        s->kept.axis[i] = s->kept.axis[i + 1];
    s->kept.n--;
}

static void shape_axes(struct shaper *s) {
    const struct nest *n = s->nest;
    const int row = n->nouter, col = row + n->nrow;
    add_axes(&s->kept, n, 0, row);
    add_axes(n->mode == NEST_OUTER ? &s->row : &s->kept, n, row, col);
    add_axes(&s->col, n, col, n->ndim);
    if (n->mode == NEST_INNER)
        merge(s, &s->col);
    else
        spill_columns(s);
    merge(s, &s->kept);
    if (n->mode == NEST_MAP) widen_columns(s);
    if (n->mode == NEST_OUTER)
        merge(s, &s->row);
    else
        take_row(s);
}

// A product's parts are told in its own rows, columns and products: no axis moves.
static void shape_product(struct shaper *s) {
    const struct nest *n = s->nest;
    add_axes(&s->kept, n, 0, n->nouter);
    add_axes(&s->row, n, n->nouter, n->nouter + n->nrow);
    add_axes(&s->col, n, n->nouter + n->nrow, n->ndim);
    merge(s, &s->kept);
}

static bool product(const struct axes *x, int64_t *n) {
    *n = 1;
    for (int i = 0; i < x->n; i++)
        if (x->axis[i].extent == 0) return !(*n = 0);
    for (int i = 0; i < x->n; i++)
        if (__builtin_mul_overflow(*n, x->axis[i].extent, n)) return false;
    return true;
}

// One stride for the whole flattened group?
static bool flatten(const struct shaper *s, int operand, const struct axes *x, int64_t *stride) {
    *stride = x->n ? stride_of(s, operand, x->axis[x->n - 1].src) : 0;
    int64_t expect = *stride;
    for (int i = x->n - 1; i > 0; i--) {
        if (__builtin_mul_overflow(expect, x->axis[i].extent, &expect)) return false;
        if (stride_of(s, operand, x->axis[i - 1].src) != expect) return false;
    }
    return true;
}

static enum walk_path path_of(const struct rt_walk *w, const struct walk_operand *o) {
    if (o->index >= 0) return PATH_GATHER;
    if (o->buffer == NEST_IOTA) return PATH_IOTA;
    if (o->buffer == NEST_ROWTMP) return PATH_ROWTMP;
    if (o->buffer == NEST_GUARD) return PATH_GUARD;
    if (!o->row_affine) return PATH_PACK;
    if (o->scalar || w->cols <= 1) return PATH_DIRECT;
    return o->col_affine && o->cstride == o->size ? PATH_DIRECT : PATH_PACK;
}

static bool shape_operand(struct base_arena *a, const struct shaper *s, struct rt_walk *w, int k) {
    const struct nest_operand *from = &s->nest->operand[k];
    struct walk_operand *o = &w->operand[k];
    int64_t *ostride = ARENA_ARRAY(a, int64_t, s->kept.n + 1);
    int64_t *gstride = ARENA_ARRAY(a, int64_t, w->ngroup + 1);
    if (!ostride || !gstride) return false;
    *o = (struct walk_operand){.dtype = from->dtype,
                               .size = (uint8_t)dtype_size(from->dtype),
                               .buffer = from->buffer,
                               .out = from->out,
                               .late = from->late && w->mode == NEST_OUTER,
                               .scalar = from->cls == NEST_SCALAR,
                               .buf = from->buf,
                               .gmode = from->gmode,
                               .index = from->index - 1,
                               .pick_step = from->gstride,
                               .pick_extent = from->gextent,
                               .offset = from->buffer == NEST_CONST ? 0 : from->offset,
                               .ostride = ostride,
                               .gstride = gstride};
    for (int i = 0; i < s->kept.n; i++)
        ostride[i] = stride_of(s, k, s->kept.axis[i].src);
    const struct axes *group = w->mode == NEST_OUTER ? &s->row : &s->col;
    for (int i = 0; i < w->ngroup; i++)
        gstride[i] = stride_of(s, k, group->axis[i].src);
    o->row_affine = flatten(s, k, &s->row, &o->rstride);
    o->col_affine = flatten(s, k, &s->col, &o->cstride);
    o->path = from->aux ? PATH_INDEX : (uint8_t)path_of(w, o);
    return true;
}

static weft_status shape_operands(struct base_arena *a, const struct shaper *s, struct rt_walk *w) {
    w->noperand = s->nest->noperand;
    w->operand = ARENA_ARRAY(a, struct walk_operand, w->noperand + 1);
    w->tile_rstride = ARENA_ARRAY(a, int64_t, w->noperand + 1);
    int *packed = ARENA_ARRAY(a, int, w->noperand + 1);
    if (!w->operand || !w->tile_rstride || !packed) return WEFT_ENOMEM;
    w->packed = packed;
    for (int k = 0; k < w->noperand; k++) {
        if (!shape_operand(a, s, w, k)) return WEFT_ENOMEM;
        const uint8_t path = w->operand[k].path;
        if (path != PATH_DIRECT && path != PATH_ROWTMP && path != PATH_INDEX) packed[w->npacked++] = k;
    }
    w->direct = w->npacked == 0;
    return WEFT_OK;
}

weft_status rt_walk_shape(struct base_arena *a, const struct rt_step *t, struct rt_walk *w) {
    struct shaper s = {.nest = &t->nest};
    s.stride = ARENA_ARRAY(a, int64_t, (t->nest.noperand + 1) * NEST_DIMS);
    if (!s.stride) return WEFT_ENOMEM;
    copy_strides(&s);
    if (t->kind == RT_MATMUL)
        shape_product(&s);
    else
        shape_axes(&s);
    w->mode = t->nest.mode;
    w->whole_rows = t->whole_rows;
    const struct axes *group = w->mode == NEST_OUTER ? &s.row : &s.col;
    w->ngroup = w->mode == NEST_MAP ? 0 : group->n;
    for (int i = 0; i < w->ngroup; i++)
        w->gdim[i] = group->axis[i].extent;
    w->nouter = s.kept.n;
    for (int i = 0; i < s.kept.n; i++)
        w->odim[i] = s.kept.axis[i].extent;
    int64_t kept, all;
    if (!product(&s.kept, &w->outer) || !product(&s.row, &w->rows) || !product(&s.col, &w->cols))
        return WEFT_ESHAPE;
    if (__builtin_mul_overflow(w->outer, w->rows, &kept) ||
        __builtin_mul_overflow(kept, w->cols, &all))
        return WEFT_ESHAPE;
    return shape_operands(a, &s, w);
}
