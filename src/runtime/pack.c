// SPDX-License-Identifier: MIT
// Packing: a block of an operand into dense rows of scratch, or back. In: an operand's strides of
// any sign and alignment; out: rows dense along columns. Where memory is dense along rows instead
// (a transposed view), eight columns are taken at a time down the rows, so that each cache line is
// used up while it is there. A flattened group of dims is walked run by run along its last dim.
// Also index values, made in place.
#include "walk.h"

// ---- rows x cols elements between two strided blocks ------------------------------------------

struct flat { // a two-dimensional block of memory
    char *at;
    int64_t rs, cs;
};

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS void copy_one(char *to, const char *from, size_t size) {
    memcpy(to, from, size);
}

// Along columns, one row after the other.
ALWAYS void copy_rows(size_t size, int64_t rows, int64_t cols, struct flat to, struct flat from) {
    for (int64_t r = 0; r < rows; r++) {
        char *t = to.at + r * to.rs;
        const char *f = from.at + r * from.rs;
        for (int64_t c = 0; c < cols; c++, t += to.cs, f += from.cs)
            copy_one(t, f, size);
    }
}

// Down the rows, eight columns at a time.
ALWAYS void copy_down(size_t size, int64_t rows, int64_t cols, struct flat to, struct flat from) {
    const int64_t dense = (int64_t)size;
    int64_t c = 0;
    if (from.rs == dense && to.cs == dense) {
        const struct rt_done done = rt_transpose(size, rows, cols, to.at, to.rs, from.at, from.cs);
        const struct flat t = {to.at + done.rows * to.rs, to.rs, to.cs};
        const struct flat f = {from.at + done.rows * from.rs, from.rs, from.cs};
        copy_rows(size, rows - done.rows, done.cols, t, f);
        c = done.cols;
    }
    for (; c + 8 <= cols; c += 8) {
        char *t = to.at + c * to.cs;
        const char *f = from.at + c * from.cs;
        for (int64_t r = 0; r < rows; r++, t += to.rs, f += from.rs)
            for (int i = 0; i < 8; i++)
                copy_one(t + i * to.cs, f + i * from.cs, size);
    }
    to.at += c * to.cs;
    from.at += c * from.cs;
    copy_rows(size, rows, cols - c, to, from);
}

static int64_t magnitude(int64_t x) {
    return x < 0 ? -x : x;
}

static struct flat transposed(struct flat x) {
    return (struct flat){x.at, x.cs, x.rs};
}

// scratch is the side that is dense along columns, the other one is memory.
ALWAYS void copy_sized(size_t size, int64_t rows, int64_t cols, struct flat to, struct flat from,
                       bool packing) {
    const int64_t dense = (int64_t)size;
    const struct flat *memory = packing ? &from : &to;
    if (to.cs == dense && from.cs == dense) {
        for (int64_t r = 0; r < rows; r++)
            memcpy(to.at + r * to.rs, from.at + r * from.rs, (size_t)cols * size);
    } else if (size >= 4 && memory->cs == 2 * dense && (packing ? to.cs : from.cs) == dense) {
        // a part of complex numbers
        for (int64_t r = 0; r < rows; r++)
            (packing ? kern_pick : kern_spread)(size, to.at + r * to.rs, from.at + r * from.rs, cols);
    } else if (rows < 8 || magnitude(memory->rs) >= magnitude(memory->cs)) {
        copy_rows(size, rows, cols, to, from);
    } else if (packing) {
        copy_down(size, rows, cols, to, from);
    } else { // the lines to fill run along rows: eight rows at a time along the columns
        copy_down(size, cols, rows, transposed(to), transposed(from));
    }
}

static void copy_flat(size_t size, int64_t rows, int64_t cols, struct flat to, struct flat from,
                      bool packing) {
    switch (size) {
    case 8: copy_sized(8, rows, cols, to, from, packing); break;
    case 4: copy_sized(4, rows, cols, to, from, packing); break;
    case 2: copy_sized(2, rows, cols, to, from, packing); break;
    default: copy_sized(1, rows, cols, to, from, packing); break;
    }
}

// ---- index values -----------------------------------------------------------------------------

// size: that of t, a constant where this is inlined, or every element costs a call of memcpy
ALWAYS void put_index(weft_dtype t, char *to, size_t size, int64_t v) {
    switch (t) {
    case WEFT_BOOL: *to = v != 0; break;
    case WEFT_F32: memcpy(to, &(float){(float)v}, 4); break;
    case WEFT_F64: memcpy(to, &(double){(double)v}, 8); break;
    default: memcpy(to, &v, size); break; // wraps (little-endian)
    }
}

ALWAYS void count_row(weft_dtype t, char *to, size_t size, uint64_t v, uint64_t step, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        put_index(t, to + (size_t)i * size, size, (int64_t)(v + (uint64_t)i * step));
}

static void index_row(weft_dtype t, char *to, uint64_t v, uint64_t step, int64_t n) {
    switch (t) {
    case WEFT_F64: count_row(WEFT_F64, to, 8, v, step, n); break;
    case WEFT_F32: count_row(WEFT_F32, to, 4, v, step, n); break;
    case WEFT_I64:
    case WEFT_U64: count_row(WEFT_I64, to, 8, v, step, n); break;
    case WEFT_I32:
    case WEFT_U32: count_row(WEFT_I32, to, 4, v, step, n); break;
    case WEFT_I16:
    case WEFT_U16: count_row(WEFT_I16, to, 2, v, step, n); break;
    case WEFT_BOOL: count_row(WEFT_BOOL, to, 1, v, step, n); break;
    case WEFT_I8:
    case WEFT_U8: count_row(WEFT_I8, to, 1, v, step, n); break;
    default: count_row(t, to, dtype_size(t), v, step, n); break;
    }
}

// ---- a block of an operand --------------------------------------------------------------------

enum task { TASK_PACK, TASK_UNPACK, TASK_INDEX };

static void do_flat(enum task task, const struct walk_operand *o, struct flat memory,
                    struct flat scratch, int64_t rows, int64_t cols) {
    if (task == TASK_PACK) copy_flat(o->size, rows, cols, scratch, memory, true);
    if (task == TASK_UNPACK) copy_flat(o->size, rows, cols, memory, scratch, false);
    for (int64_t r = 0; task == TASK_INDEX && r < rows; r++)
        index_row((weft_dtype)o->dtype, scratch.at + r * scratch.rs,
                  (uint64_t)(uintptr_t)memory.at + (uint64_t)r * (uint64_t)memory.rs,
                  (uint64_t)memory.cs, cols);
}

static char *add(char *at, int64_t bytes) {
    return (char *)((uintptr_t)at + (uintptr_t)bytes);
}

// Position in the flattened group: the index in every dim and the offset they make.
void rt_place_at(const struct rt_walk *w, const int64_t *stride, int64_t e, struct place *p) {
    p->offset = 0;
    for (int d = w->ngroup - 1; d >= 0; d--) {
        p->index[d] = e % w->gdim[d];
        e /= w->gdim[d];
        p->offset += p->index[d] * stride[d];
    }
}

void rt_place_next(const struct rt_walk *w, const int64_t *stride, int64_t n, struct place *p) {
    int d = w->ngroup - 1;
    p->index[d] += n;
    p->offset += n * stride[d];
    for (; d > 0 && p->index[d] == w->gdim[d]; d--) {
        p->offset += stride[d - 1] - p->index[d] * stride[d];
        p->index[d] = 0;
        p->index[d - 1]++;
    }
}

// The group dim is walked in runs along its last dim; each run is a flat block.
static void do_runs(enum task task, const struct rt_walk *w, const struct walk_operand *o, char *at,
                    const struct block *b, char *scratch) {
    const bool rows = w->mode == NEST_OUTER; // the group is the rows
    const int64_t begin = rows ? b->row : b->col, count = rows ? b->rows : b->cols;
    const int64_t last = w->gdim[w->ngroup - 1], stride = o->gstride[w->ngroup - 1];
    struct place p;
    rt_place_at(w, o->gstride, begin, &p);
    at = add(at, rows ? b->col * o->cstride : b->row * o->rstride);
    for (int64_t e = 0; e < count;) {
        const int64_t n = MIN_OF(last - p.index[w->ngroup - 1], count - e);
        const struct flat memory = {add(at, p.offset), rows ? stride : o->rstride,
                                    rows ? o->cstride : stride};
        const struct flat dense = {scratch + e * (rows ? o->pitch : o->size), o->pitch, o->size};
        do_flat(task, o, memory, dense, rows ? n : b->rows, rows ? b->cols : n);
        rt_place_next(w, o->gstride, n, &p);
        e += n;
    }
}

static void do_block(enum task task, const struct rt_walk *w, const struct walk_operand *o,
                     char *at, const struct block *b, char *scratch) {
    if (b->rows == 0 || b->cols == 0) return;
    const bool grouped = w->mode == NEST_OUTER ? !o->row_affine : !o->col_affine && !o->scalar;
    if (grouped) {
        do_runs(task, w, o, at, b, scratch);
        return;
    }
    const int64_t col = o->scalar ? 0 : b->col * o->cstride;
    const struct flat memory = {add(at, b->row * o->rstride + col), o->rstride, o->cstride};
    const struct flat dense = {scratch, o->pitch, o->size};
    do_flat(task, o, memory, dense, b->rows, b->cols);
}

void rt_pack(const struct rt_walk *w, const struct walk_operand *o, const char *at,
             const struct block *b, void *scratch) {
    do_block(o->path == PATH_IOTA ? TASK_INDEX : TASK_PACK, w, o, (char *)(uintptr_t)at, b,
             scratch);
}

void rt_unpack(const struct rt_walk *w, const struct walk_operand *o, char *at,
               const struct block *b, const void *scratch) {
    do_block(TASK_UNPACK, w, o, at, b, (char *)(uintptr_t)scratch);
}

// ---- a whole array ----------------------------------------------------------------------------
enum { COPY_ELEMS = 512 << 10 };

struct copy {
    const struct rt_run *run;
    size_t size;
    int nouter;
    int64_t odim[WEFT_MAX_RANK], ostride[WEFT_MAX_RANK];
    int64_t rows, cols, rs, cs; // the two innermost dims in memory
    char *to, *from;
    int64_t col_step, col_chunks;
};

// Dims by falling stride, so that the copy runs through memory.
static int sort_dims(const weft_array *a, int64_t *dim, int64_t *stride) {
    int n = 0;
    for (int d = 0; d < a->rank; d++) {
        if (a->dims[d] == 1) continue;
        int i = n++;
        for (; i > 0 && magnitude(stride[i - 1]) < magnitude(a->strides[d]); i--) {
            dim[i] = dim[i - 1];
            stride[i] = stride[i - 1];
        }
        dim[i] = a->dims[d];
        stride[i] = a->strides[d];
    }
    return n;
}

static void copy_chunk(void *arg, int64_t i, int worker) {
    (void)worker;
    const struct copy *c = arg;
    const int64_t col = i % c->col_chunks * c->col_step;
    int64_t outer = i / c->col_chunks, at = col * c->cs;
    for (int d = c->nouter - 1; d >= 0; d--) {
        at += outer % c->odim[d] * c->ostride[d];
        outer /= c->odim[d];
    }
    const int64_t cols = MIN_OF(c->col_step, c->cols - col);
    const int64_t step = MAX_OF(COPY_ELEMS / MAX_OF(cols, 1), 1); // rows between looks at the watch
    for (int64_t r = 0; r < c->rows && !rt_tick(c->run, 0); r += step) {
        const int64_t place = at + r * c->rs;
        copy_flat(c->size, MIN_OF(step, c->rows - r), cols,
                  (struct flat){add(c->to, place), c->rs, c->cs},
                  (struct flat){add(c->from, place), c->rs, c->cs}, true);
    }
}

// shape's elements from one place to another, both with shape's strides.
void rt_copy_array(const struct rt_run *run, const weft_array *shape, void *to, const void *from) {
    int64_t dim[WEFT_MAX_RANK], stride[WEFT_MAX_RANK];
    struct copy c = {.run = run,
                     .size = dtype_size(shape->dtype),
                     .rows = 1,
                     .cols = 1,
                     .to = to,
                     .from = (char *)(uintptr_t)from};
    int n = sort_dims(shape, dim, stride);
    c.cs = (int64_t)c.size;
    if (n > 0) c.cols = dim[n - 1], c.cs = stride[n - 1];
    if (n > 1) c.rows = dim[n - 2], c.rs = stride[n - 2];
    int64_t count = c.rows * c.cols, outer = 1;
    for (int d = 0; d < n - 2; d++) {
        c.odim[c.nouter] = dim[d];
        c.ostride[c.nouter++] = stride[d];
        outer *= dim[d];
    }
    if (count == 0 || outer == 0) return;
    const bool large = (double)count * (double)outer * (double)c.size >= 1 << 20;
    c.col_step = large ? MIN_OF(round_up(ceil_div(c.cols, 16), RT_LINE), COPY_ELEMS) : c.cols;
    c.col_chunks = ceil_div(c.cols, c.col_step);
    rt_parallel(run->env, large ? run->threads : 1, outer * c.col_chunks, copy_chunk, &c);
}
