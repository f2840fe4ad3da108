// SPDX-License-Identifier: MIT
// The walk of the runtime against one element at a time: random nests with every kind of stride,
// bit for bit, at several thread counts, with canaries in all gaps; long runs that are cut; guards;
// the small promises (floating-point environment, errno, exact workspace, no allocation, refusals).
#include <criterion/criterion.h>
#include <errno.h>
#include <fenv.h>
#include <stdlib.h>

#include "rt_fake.h"
#include "runtime/walk.h"

enum { ROOM = 1 << 23 }; // bytes of one array's buffer at most

// ---- random arrays ----------------------------------------------------------------------------

struct buffers {
    char *real[FAKE_ARRAYS], *want[FAKE_ARRAYS];
    size_t size[FAKE_ARRAYS];
    int64_t shift[FAKE_ARRAYS];
    int n;
    void *mine[2 * FAKE_ARRAYS];
    int nmine;
};

static void *keep(struct buffers *b, size_t size) {
    void *p = malloc(size + 64);
    cr_assert(p);
    return b->mine[b->nmine++] = p;
}
static void free_buffers(struct buffers *b) {
    for (int i = 0; i < b->nmine; i++)
        free(b->mine[i]);
}

// Strides for the dims with use[d], in a random order, with gaps and signs; the lowest byte is at 0
// after adding *low. Returns the bytes spanned.
static int64_t random_strides(uint64_t *seed, weft_dtype t, int n, const int64_t *dim,
                              const bool *use, bool plain, int64_t *stride, int64_t *low) {
    int order[NEST_DIMS];
    for (int d = 0; d < n; d++)
        order[d] = d;
    for (int d = 0; d < n && !plain; d++) {
        const int other = d + (int)fake_below(seed, n - d), was = order[d];
        order[d] = order[other];
        order[other] = was;
    }
    int64_t span = (int64_t)dtype_size(t);
    *low = 0;
    for (int i = n - 1; i >= 0; i--) {
        const int d = order[i];
        stride[d] = 0;
        if (!use[d] || dim[d] == 0) continue;
        int64_t s = span;
        if (!plain && fake_below(seed, 4) == 0) s += fake_below(seed, 3) * (int64_t)dtype_size(t);
        if (!plain && fake_below(seed, 16) == 0) s += fake_below(seed, 8);
        const int64_t reach = s * (dim[d] - 1);
        if (!plain && fake_below(seed, 4) == 0) {
            stride[d] = -s;
            *low += reach;
        } else {
            stride[d] = s;
        }
        span = reach + span;
    }
    return span;
}

static void fill_values(uint64_t *seed, weft_dtype t, char *p, int64_t bytes) {
    const int64_t size = (int64_t)dtype_size(t);
    for (int64_t i = 0; i + size <= bytes; i += size) {
        const double real = (double)(fake_below(seed, 1 << 20) - (1 << 19)) / 1024.0 / 7.0;
        fake_store(t, p + i, dtype_is_float(t) ? real : (double)fake_below(seed, 50));
    }
}

// A leaf or output over the dims in use, as an operand of the program.
static struct nest_operand *random_array(uint64_t *seed, struct fake_program *f, struct buffers *b,
                                         weft_dtype t, enum nest_class cls, bool out,
                                         const bool *use) {
    const struct nest *n = &f->step.nest;
    weft_array a = {.dtype = t, .rank = n->ndim};
    bool mine[NEST_DIMS];
    int axis[NEST_DIMS];
    for (int d = 0; d < n->ndim; d++) {
        mine[d] = use[d] && (out || fake_below(seed, 6) != 0); // an input may be broadcast
        a.dims[d] = mine[d] ? n->dim[d] : 1;
        axis[d] = mine[d] ? d : -1;
    }
    int64_t low;
    const int64_t span =
        random_strides(seed, t, n->ndim, n->dim, mine, fake_below(seed, 2), a.strides, &low);
    cr_assert_lt(span, ROOM);
    const int64_t skew = fake_below(seed, 3) ? 0 : fake_below(seed, 8);
    const size_t bytes = (size_t)(span + skew) + 32;
    char *p = keep(b, bytes);
    memset(p, 0xcc, bytes);
    if (!out) {
        fill_values(seed, t, p + skew, span);
    } else {
        b->real[b->n] = p;
        b->want[b->n] = memcpy(keep(b, bytes), p, bytes);
        b->size[b->n] = bytes;
        b->shift[b->n] = b->want[b->n] - p;
        b->n++;
    }
    a.data = p + skew + low;
    return fake_array(f, &a, axis, cls, out);
}

// ---- one case ---------------------------------------------------------------------------------

static void compare_runs(struct fake_program *f, struct rt_env *env, struct buffers *b,
                         const char *what, uint64_t id, int cost) {
    cr_assert_eq(fake_finish(f, env, cost), WEFT_OK);
    fake_reference(f, b->shift);
    struct rt_workspace *ws = rt_workspace_new(&env->alloc, NULL);
    const int64_t bytes = rt_program_bytes(&f->program, env);
    cr_assert_eq(rt_workspace_reserve(ws, (size_t)bytes), WEFT_OK);
    const size_t held = rt_workspace_bytes(ws);
    for (int threads = 1; threads <= env->threads; threads++) {
        for (int i = 0; i < b->n; i++)
            memset(b->real[i], 0xcc, b->size[i]);
        cr_assert_eq(fake_run(f, env, ws, threads), WEFT_OK, "%s", f->err.text);
        for (int i = 0; i < b->n; i++)
            cr_assert(memcmp(b->real[i], b->want[i], b->size[i]) == 0,
                      "%s case %llu: output %d differs at %d threads", what, (unsigned long long)id,
                      i, threads);
    }
    cr_assert_eq(rt_workspace_bytes(ws), held, "the workspace grew");
    rt_workspace_free(ws);
}

static weft_dtype some_dtype(uint64_t *seed) {
    static const weft_dtype t[] = {WEFT_F64, WEFT_F64, WEFT_F32, WEFT_I32, WEFT_I16, WEFT_U8};
    return t[fake_below(seed, COUNT_OF(t))];
}

// Extents with a bounded product; now and then 0.
static int random_dims(uint64_t *seed, int64_t *dim, int *nouter, int *nrow, int *ncol) {
    *nouter = (int)fake_below(seed, 3);
    *nrow = 1 + (int)fake_below(seed, 2);
    *ncol = 1 + (int)fake_below(seed, 2);
    const int n = *nouter + *nrow + *ncol;
    int64_t room = 1 + fake_below(seed, fake_below(seed, 8) ? 1500 : 20000);
    for (int d = 0; d < n; d++)
        dim[d] = 1;
    for (int i = 0; i < 2 * n && room > 1; i++) {
        const int d = (int)fake_below(seed, n);
        if (dim[d] != 1) continue;
        dim[d] = 1 + fake_below(seed, i % 2 ? MIN_OF(room, 9) : room);
        room /= dim[d];
    }
    if (fake_below(seed, 40) == 0) dim[fake_below(seed, n)] = 0;
    return n;
}

static void add_extras(uint64_t *seed, struct fake_program *f) {
    if (fake_below(seed, 3) == 0) {
        struct nest_operand *o = fake_operand(f, WEFT_F64, NEST_SCALAR, NEST_CONST, false);
        f->program.nconst = 1;
        fake_store(WEFT_F64, &f->constant[o->buf], 3.25);
    }
    if (fake_below(seed, 3) == 0) {
        const enum nest_class cls = fake_below(seed, 2) ? NEST_UNIT : NEST_SCALAR;
        struct nest_operand *o = fake_operand(f, some_dtype(seed), cls, NEST_IOTA, false);
        o->dtype = fake_below(seed, 2) ? WEFT_I64 : WEFT_F64;
        o->offset = fake_below(seed, 100) - 50;
        const struct nest *n = &f->step.nest;
        for (int d = 0; d < n->ndim; d++)
            o->stride[d] =
                cls == NEST_SCALAR && d >= n->nouter + n->nrow ? 0 : fake_below(seed, 5) - 2;
    }
}

// Which dims an operand of this class walks over; late ones have no rows.
static void dims_in_use(const struct nest *n, enum nest_class cls, bool late, bool *use) {
    for (int d = 0; d < n->ndim; d++) {
        const bool row = d >= n->nouter && d < n->nouter + n->nrow, col = d >= n->nouter + n->nrow;
        use[d] = !(late && row) && !(cls == NEST_SCALAR && col);
    }
}

static void add_inputs(uint64_t *seed, struct fake_program *f, struct buffers *b) {
    bool use[NEST_DIMS];
    for (int n = 1 + (int)fake_below(seed, 3); n > 0; n--) {
        const enum nest_class cls = fake_below(seed, 4) ? NEST_UNIT : NEST_SCALAR;
        dims_in_use(&f->step.nest, cls, false, use);
        random_array(seed, f, b, some_dtype(seed), cls, false, use);
    }
    add_extras(seed, f);
}

static void map_case(uint64_t id, struct rt_env *env) {
    uint64_t seed = id * 77 + 1;
    struct fake_program f;
    struct buffers b = {.n = 0};
    int64_t dim[NEST_DIMS];
    int nouter, nrow, ncol;
    random_dims(&seed, dim, &nouter, &nrow, &ncol);
    fake_init(&f, NEST_MAP, nouter, nrow, ncol, dim);
    add_inputs(&seed, &f, &b);
    bool use[NEST_DIMS];
    dims_in_use(&f.step.nest, NEST_UNIT, false, use);
    for (int n = 1 + (int)fake_below(&seed, 2); n > 0; n--)
        random_array(&seed, &f, &b, some_dtype(&seed), NEST_UNIT, true, use);
    compare_runs(&f, env, &b, "map", id, fake_below(&seed, 2) ? 1 : 1000);
    fake_free(&f);
    free_buffers(&b);
}

static void add_reductions(uint64_t *seed, struct fake_program *f) {
    static const struct rt_reduce some[] = {{KERN_SUM, WEFT_F64},    {KERN_SUM, WEFT_F32},
                                            {KERN_MAX, WEFT_F64},    {KERN_SUM, WEFT_I64},
                                            {KERN_ARGMAX, WEFT_F64}, {KERN_ARGMIN, WEFT_I32},
                                            {KERN_PROD, WEFT_F32}};
    for (int n = 1 + (int)fake_below(seed, 2); n > 0; n--) {
        const struct rt_reduce r = some[fake_below(seed, COUNT_OF(some))];
        fake_reduce(f, (enum kern_red)r.kind, (weft_dtype)r.dtype);
    }
}

static void inner_case(uint64_t id, struct rt_env *env) {
    uint64_t seed = id * 78 + 2;
    struct fake_program f;
    struct buffers b = {.n = 0};
    int64_t dim[NEST_DIMS];
    int nouter, nrow, ncol;
    random_dims(&seed, dim, &nouter, &nrow, &ncol);
    fake_init(&f, NEST_INNER, nouter, nrow, ncol, dim);
    add_inputs(&seed, &f, &b);
    bool use[NEST_DIMS];
    f.body.whole = fake_below(&seed, 4) == 0;
    if (f.body.whole) {
        fake_reduce(&f, KERN_SUM, WEFT_F64);
        fake_operand(&f, WEFT_F64, NEST_UNIT, NEST_ROWTMP, true);
        fake_operand(&f, WEFT_F64, NEST_UNIT, NEST_ROWTMP, false);
    } else {
        add_reductions(&seed, &f);
    }
    for (int i = 0; i < f.body.nreduce; i++) {
        dims_in_use(&f.step.nest, NEST_SCALAR, false, use);
        random_array(&seed, &f, &b, WEFT_F64, NEST_SCALAR, true, use);
    }
    if (f.body.whole || fake_below(&seed, 3) == 0) {
        dims_in_use(&f.step.nest, NEST_UNIT, false, use);
        random_array(&seed, &f, &b, some_dtype(&seed), NEST_UNIT, true, use);
    }
    compare_runs(&f, env, &b, "inner", id, fake_below(&seed, 2) ? 1 : 1000);
    fake_free(&f);
    free_buffers(&b);
}

static void outer_case(uint64_t id, struct rt_env *env) {
    uint64_t seed = id * 79 + 3;
    struct fake_program f;
    struct buffers b = {.n = 0};
    int64_t dim[NEST_DIMS];
    int nouter, nrow, ncol;
    random_dims(&seed, dim, &nouter, &nrow, &ncol);
    fake_init(&f, NEST_OUTER, nouter, nrow, ncol, dim);
    add_inputs(&seed, &f, &b);
    add_reductions(&seed, &f);
    bool use[NEST_DIMS];
    dims_in_use(&f.step.nest, NEST_UNIT, true, use);
    if (fake_below(&seed, 2))
        random_array(&seed, &f, &b, WEFT_F64, NEST_UNIT, false, use)->late = true;
    for (int i = 0; i < f.body.nreduce; i++)
        random_array(&seed, &f, &b, WEFT_F64, NEST_UNIT, true, use)->late = true;
    if (fake_below(&seed, 3) == 0) {
        dims_in_use(&f.step.nest, NEST_UNIT, false, use);
        random_array(&seed, &f, &b, some_dtype(&seed), NEST_UNIT, true, use);
    }
    compare_runs(&f, env, &b, "outer", id, fake_below(&seed, 2) ? 1 : 1000);
    fake_free(&f);
    free_buffers(&b);
}

enum { CASES = 400 };
Test(walk, map) {
    struct rt_env env;
    fake_env(&env, 3);
    for (uint64_t i = 0; i < CASES; i++)
        map_case(i, &env);
    fake_env_free(&env);
}
Test(walk, inner) {
    struct rt_env env;
    fake_env(&env, 3);
    for (uint64_t i = 0; i < CASES; i++)
        inner_case(i, &env);
    fake_env_free(&env);
}
Test(walk, outer) {
    struct rt_env env;
    fake_env(&env, 3);
    for (uint64_t i = 0; i < CASES; i++)
        outer_case(i, &env);
    fake_env_free(&env);
}

// ---- packing alone ----------------------------------------------------------------------------

enum { PACK_ROOM = 12000 };
static void pack_and_back(weft_dtype t, int64_t rows, int64_t cols, int64_t rs, int64_t cs,
                          int64_t skew) {
    static unsigned char memory[PACK_ROOM], again[PACK_ROOM], scratch[PACK_ROOM];
    const int64_t size = (int64_t)dtype_size(t), pitch = cols * size + 16;
    const int64_t low = (rs < 0 ? rs * (rows - 1) : 0) + (cs < 0 ? cs * (cols - 1) : 0);
    const struct rt_walk w = {.mode = NEST_MAP};
    const struct walk_operand o = {.path = PATH_PACK,
                                   .dtype = (uint8_t)t,
                                   .size = (uint8_t)size,
                                   .row_affine = true,
                                   .col_affine = true,
                                   .rstride = rs,
                                   .cstride = cs,
                                   .pitch = pitch};
    const struct block b = {0, rows, 0, cols};
    for (int i = 0; i < PACK_ROOM; i++)
        memory[i] = (unsigned char)(i * 7 + i / 251);
    memset(scratch, 0xcc, sizeof scratch);
    rt_pack(&w, &o, (char *)memory + skew - low, &b, scratch + skew);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < cols; c++)
            cr_assert(memcmp(scratch + skew + r * pitch + c * size,
                             memory + skew - low + r * rs + c * cs, (size_t)size) == 0);
        cr_assert_eq(scratch[skew + r * pitch + cols * size], 0xcc);
    }
    memset(again, 0xcc, sizeof again);
    rt_unpack(&w, &o, (char *)again + skew - low, &b, scratch + skew);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            unsigned char *p = again + skew - low + r * rs + c * cs;
            cr_assert(memcmp(p, memory + (p - again), (size_t)size) == 0);
            memset(p, 0xcc, (size_t)size);
        }
    memset(memory, 0xcc, sizeof memory);
    cr_assert(memcmp(memory, again, sizeof memory) == 0, "something beside the block was written");
}

Test(walk, pack_every_shape) {
    static const weft_dtype types[] = {WEFT_U8, WEFT_I16, WEFT_F32, WEFT_F64};
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        const int64_t size = (int64_t)dtype_size(types[i]);
        for (int64_t rows = 1; rows <= 21; rows += 1 + (rows > 9) * 3)
            for (int64_t cols = 1; cols <= 21; cols += 1 + (cols > 9) * 3) {
                const int64_t skew = (rows + cols) % 8;
                pack_and_back(types[i], rows, cols, size, (rows + 1) * size + 3, skew); // turned
                pack_and_back(types[i], rows, cols, -size, (rows + 1) * size, skew);
                pack_and_back(types[i], rows, cols, size, -rows * size, skew);
                pack_and_back(types[i], rows, cols, 2 * size, 2 * rows * size, skew);
                pack_and_back(types[i], rows, cols, cols * 3 * size, 3 * size, skew);
                pack_and_back(types[i], rows, cols, -cols * size - 1, size, skew);
                pack_and_back(types[i], rows, cols, cols * size, -size, skew);
            }
    }
}
