// SPDX-License-Identifier: MIT
// See fuse_eval.h. Elements are held as double (float types) or int64_t (the others). Reductions
// fold from the first element to the last in logical order, so both evaluators give the same bits
// when the plan is right.
#include "fuse_eval.h"

#include <math.h>
#include <stdlib.h>

#include "ir/scalar.h"

// ---- one element --------------------------------------------------------------------------------
union scalar scalar_load(int dtype, const void *p) {
    union scalar v = {.i = 0};
#define CASE(name, T, field)                                                                       \
    case WEFT_##name: {                                                                            \
        T x;                                                                                       \
        memcpy(&x, p, sizeof x);                                                                   \
        v.field = x;                                                                               \
        break;                                                                                     \
    }
    switch (dtype) {
        CASE(I8, int8_t, i)
        CASE(I16, int16_t, i) CASE(I32, int32_t, i) CASE(I64, int64_t, i) CASE(U8, uint8_t, i)
            CASE(U16, uint16_t, i) CASE(U32, uint32_t, i) CASE(F32, float, f)
                CASE(F64, double, f) case WEFT_U64 : memcpy(&v, p, 8);
        break;
    default: v.i = *(const uint8_t *)p != 0;
    }
#undef CASE
    return v;
}

void scalar_store(int dtype, void *p, union scalar v) {
    if (dtype == WEFT_F32) {
        float x = (float)v.f;
        memcpy(p, &x, sizeof x);
    } else if (dtype == WEFT_F64) {
        memcpy(p, &v.f, 8);
    } else {
        memcpy(p, &v.i, dtype_size((weft_dtype)dtype)); // little endian
    }
}

// What storing and loading would do: integers wrap, f32 rounds.
static union scalar narrow(int dtype, union scalar v) {
    unsigned char b[8];
    scalar_store(dtype, b, v);
    return scalar_load(dtype, b);
}

#define KERN 0
#define NA 0
#define CAST 0
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wunused-local-typedefs"
static double map_f64(int op, double a, double b, double c) {
    typedef double T;
    switch (op) {
#define MAP(name, arity, rule, kernel, flt, integer, boolean, doc)                                 \
    case IR_##name: return (T)(flt);
#include "ir/ops.def"
    }
    (void)a, (void)b, (void)c;
    return 0;
}
static float map_f32(int op, float a, float b, float c) {
    typedef float T;
    switch (op) {
#define MAP(name, arity, rule, kernel, flt, integer, boolean, doc)                                 \
    case IR_##name: return (T)(flt);
#include "ir/ops.def"
    }
    (void)a, (void)b, (void)c;
    return 0;
}
static int64_t map_int(int op, int64_t a, int64_t b, int64_t c) {
    typedef int64_t T;
    typedef uint64_t W;
    switch (op) {
#define MAP(name, arity, rule, kernel, flt, integer, boolean, doc)                                 \
    case IR_##name: return (T)(integer);
#include "ir/ops.def"
    }
    (void)a, (void)b, (void)c;
    return 0;
}
static int64_t map_bool(int op, int64_t a, int64_t b, int64_t c) {
    switch (op) {
#define MAP(name, arity, rule, kernel, flt, integer, boolean, doc)                                 \
    case IR_##name: return (boolean);
#include "ir/ops.def"
    }
    (void)a, (void)b, (void)c;
    return 0;
}
#pragma GCC diagnostic pop

static union scalar cast(int to, int from, union scalar v) {
    union scalar r = {.i = 0};
    bool ff = dtype_is_float((weft_dtype)from), tf = dtype_is_float((weft_dtype)to);
    if (to == WEFT_BOOL)
        r.i = ff ? v.f != 0 : v.i != 0;
    else if (tf)
        r.f = ff ? v.f : (double)v.i;
    else if (ff)
        r.i = isnan(v.f) ? 0 : v.f >= 9e18 ? INT64_MAX : v.f <= -9e18 ? INT64_MIN : (int64_t)v.f;
    else
        r = v;
    return narrow(to, r);
}

static union scalar apply(int op, int dtype, int in_type, const union scalar *x) {
    union scalar r = {.i = 0};
    if (op == IR_cast) return cast(dtype, in_type, x[0]);
    if (op == IR_where) return x[0].i ? x[1] : x[2];
    if (op == IR_exp) {
        r.f = exp(x[0].f);
        return narrow(dtype, r);
    }
    double rf = 0;
    int64_t ri = 0;
    if (in_type == WEFT_F64)
        rf = map_f64(op, x[0].f, x[1].f, x[2].f);
    else if (in_type == WEFT_F32)
        rf = map_f32(op, (float)x[0].f, (float)x[1].f, (float)x[2].f);
    else if (in_type == WEFT_BOOL)
        ri = map_bool(op, x[0].i, x[1].i, x[2].i);
    else
        ri = map_int(op, x[0].i, x[1].i, x[2].i);
    if (dtype_is_float((weft_dtype)in_type)) {
        if (dtype_is_float((weft_dtype)dtype))
            r.f = rf;
        else
            r.i = rf != 0;
    } else {
        r.i = ri;
    }
    return narrow(dtype, r);
}

// ---- folding ------------------------------------------------------------------------------------
struct fold {
    union scalar best;
    int64_t index; // arg-reductions; -1: nothing yet
    bool any;
};

static bool better(int kind, bool flt, union scalar x, union scalar best) {
    bool min = kind == IR_R_argmin || kind == IR_R_nanargmin;
    if (flt) return min ? x.f < best.f : x.f > best.f;
    return min ? x.i < best.i : x.i > best.i;
}

static void fold_arg(struct fold *a, int kind, bool flt, union scalar x, int64_t index) {
    bool skip = kind == IR_R_nanargmin || kind == IR_R_nanargmax;
    bool nan = flt && isnan(x.f), held = flt && a->any && isnan(a->best.f);
    if (nan && skip) return;
    if (!a->any || (!held && (nan || better(kind, flt, x, a->best)))) {
        a->best = x;
        a->index = index;
        a->any = true;
    }
}

static void fold_in(struct fold *a, int kind, int dtype, union scalar x, int64_t index) {
    static const int op[] = {IR_add,  IR_mul,  IR_minimum, IR_maximum,
                             IR_fmin, IR_fmax, IR_add,     IR_mul};
    if (kind >= IR_R_argmin) {
        fold_arg(a, kind, dtype_is_float((weft_dtype)dtype), x, index);
        return;
    }
    union scalar arg[3] = {a->best, x, x};
    a->best = a->any ? apply(op[kind - IR_R_sum], dtype, dtype, arg) : x;
    a->any = true;
}

static union scalar fold_result(const struct fold *a, int kind) {
    union scalar r = a->best;
    if (kind >= IR_R_argmin) r.i = a->any ? a->index : -1;
    return r;
}

// ---- graphs -------------------------------------------------------------------------------------
static bool next_index(int64_t *at, const int64_t *dims, int rank) {
    for (int i = rank - 1; i >= 0; i--) {
        if (++at[i] < dims[i]) return true;
        at[i] = 0;
    }
    return false;
}

static int64_t linear(const int64_t *at, const int64_t *dims, int rank) {
    int64_t l = 0;
    for (int i = 0; i < rank; i++)
        l = l * dims[i] + at[i];
    return l;
}

static union scalar element(const struct eval_world *w, void **values, ir_ref n, int64_t l) {
    int dtype = ir_at(w->g, n)->dtype;
    return scalar_load(dtype, (char *)values[n] + l * (int64_t)dtype_size((weft_dtype)dtype));
}

static union scalar leaf_element(const struct eval_world *w, ir_ref n, const int64_t *at) {
    const struct ir_node *node = ir_at(w->g, n);
    const int64_t *attr = ir_attr(w->g, n);
    union scalar r = {.i = 0};
    if (node->op == IR_iota) {
        if (dtype_is_float((weft_dtype)node->dtype))
            r.f = (double)at[attr[0]];
        else
            r.i = at[attr[0]];
        return narrow(node->dtype, r);
    }
    if (node->op == IR_constant || node->op == IR_extent) {
        uint64_t bits = ir_constant_bits(w->g, n);
        return scalar_load(node->dtype, &bits);
    }
    const weft_array *a =
        node->op == IR_from ? &ir_leaf_at(w->g, (int)attr[0])->array : &w->inputs[attr[0]];
    const char *p = a->data;
    for (int i = 0; i < node->rank; i++)
        p += at[i] * a->strides[i];
    return scalar_load(node->dtype, p);
}

static union scalar map_element(const struct eval_world *w, void **values, ir_ref n,
                                const int64_t *at) {
    const struct ir_node *node = ir_at(w->g, n);
    union scalar x[3] = {{0}, {0}, {0}};
    int in_type = 0;
    for (int k = 0; k < ir_ops[node->op].arity; k++) {
        ir_ref o = node->in[k];
        int ro = ir_at(w->g, o)->rank;
        int64_t l = 0;
        for (int i = 0; i < ro; i++) {
            int64_t d = ir_dims(w->g, o)[i];
            l = l * d + (d == 1 ? 0 : at[i + node->rank - ro]);
        }
        x[k] = element(w, values, o, l);
        in_type = ir_at(w->g, o)->dtype;
    }
    return apply(node->op, node->dtype, in_type, x);
}

static union scalar view_element(const struct eval_world *w, void **values, ir_ref n,
                                 const int64_t *at) {
    const struct ir_node *node = ir_at(w->g, n);
    ir_ref o = node->in[0];
    int ro = ir_at(w->g, o)->rank;
    int64_t off[WEFT_MAX_RANK] = {0}, coef[WEFT_MAX_RANK * 8] = {0}, from[WEFT_MAX_RANK] = {0};
    if (node->op == IR_reshape || node->op == IR_guard)
        return element(w, values, o, linear(at, ir_dims(w->g, n), node->rank));
    ir_view_map(w->g, n, off, coef);
    for (int i = 0; i < ro; i++) {
        from[i] = off[i];
        for (int j = 0; j < node->rank; j++)
            from[i] += coef[i * node->rank + j] * at[j];
    }
    return element(w, values, o, linear(from, ir_dims(w->g, o), ro));
}

static union scalar reduce_element(const struct eval_world *w, void **values, ir_ref n,
                                   const int64_t *at) {
    const struct ir_node *node = ir_at(w->g, n);
    ir_ref o = node->in[0];
    const int64_t *run = ir_attr(w->g, n), *dims = ir_dims(w->g, o);
    int ro = ir_at(w->g, o)->rank, len = (int)(run[1] - run[0]);
    int64_t full[WEFT_MAX_RANK] = {0}, index = 0;
    struct fold f = {.index = -1};
    for (int i = 0; i < ro; i++)
        if (i < run[0] || i >= run[1]) full[i] = at[i < run[0] ? i : i - len];
    do
        fold_in(&f, node->op, ir_at(w->g, o)->dtype, element(w, values, o, linear(full, dims, ro)),
                index++);
    while (next_index(full + run[0], dims + run[0], len));
    return fold_result(&f, node->op);
}

// a and b are addressed by a function of (batch, row, column): shared by both evaluators
static union scalar dot_step(int dtype, union scalar sum, union scalar a, union scalar b) {
    union scalar x[3] = {a, b, {0}}, y[3] = {sum, {0}, {0}};
    y[1] = apply(IR_mul, dtype, dtype, x);
    return apply(IR_add, dtype, dtype, y);
}

static union scalar matmul_element(const struct eval_world *w, void **values, ir_ref n,
                                   const int64_t *at) {
    const struct ir_node *node = ir_at(w->g, n);
    ir_ref o[2] = {node->in[0], node->in[1]};
    int64_t k = ir_dims(w->g, o[0])[ir_at(w->g, o[0])->rank - 1];
    union scalar sum = {0};
    for (int64_t i = 0; i < k; i++) {
        union scalar x[2];
        for (int s = 0; s < 2; s++) {
            int r = ir_at(w->g, o[s])->rank;
            int64_t from[WEFT_MAX_RANK];
            for (int j = 0; j < r - 2; j++)
                from[j] = ir_dims(w->g, o[s])[j] == 1 ? 0 : at[j + node->rank - r];
            from[r - 2] = s ? i : at[node->rank - 2];
            from[r - 1] = s ? at[node->rank - 1] : i;
            x[s] = element(w, values, o[s], linear(from, ir_dims(w->g, o[s]), r));
        }
        sum = dot_step(node->dtype, sum, x[0], x[1]);
    }
    return sum;
}

static void eval_node(const struct eval_world *w, void **values, ir_ref n) {
    const struct ir_node *node = ir_at(w->g, n);
    size_t size = dtype_size((weft_dtype)node->dtype);
    int64_t at[WEFT_MAX_RANK] = {0}, count = ir_elements(w->g, n);
    char *p = values[n] = calloc((size_t)count + 1, size);
    for (int64_t l = 0; l < count; l++, p += size) {
        union scalar v;
        switch (ir_ops[node->op].cls) {
        case IR_LEAF: v = leaf_element(w, n, at); break;
        case IR_MAP: v = map_element(w, values, n, at); break;
        case IR_VIEW: v = view_element(w, values, n, at); break;
        case IR_REDUCE: v = reduce_element(w, values, n, at); break;
        default: v = matmul_element(w, values, n, at);
        }
        scalar_store(node->dtype, p, v);
        next_index(at, ir_dims(w->g, n), node->rank);
    }
}

void **eval_graph(const struct eval_world *w) {
    uint32_t n = ir_count(w->g);
    void **values = calloc(n, sizeof *values);
    bool *live = calloc(n, 1);
    for (int i = 0; i < w->nroot; i++)
        live[w->roots[i]] = true;
    for (uint32_t r = n - 1; r; r--)
        for (int k = 0; live[r] && k < 3; k++)
            if (ir_ops[ir_at(w->g, r)->op].cls != IR_LEAF) live[ir_at(w->g, r)->in[k]] = true;
    for (uint32_t r = 1; r < n; r++)
        if (live[r]) eval_node(w, values, r);
    free(live);
    return values;
}

void eval_free(const struct eval_world *w, void **values) {
    for (uint32_t r = 0; r < ir_count(w->g); r++)
        free(values[r]);
    free(values);
}

// ---- plans --------------------------------------------------------------------------------------
struct machine {
    const struct eval_world *w;
    const struct fuse_plan *p;
    const weft_array *outs;
    uint8_t *guards;
    char *workspace;
    // of the step under way
    const struct fuse_step *s;
    int64_t cols;
    union scalar *value;  // instruction x column
    struct fold *fold;    // likewise
    union scalar *rowtmp; // operand x column
    uint8_t *section;     // of each instruction
};

static char *buffer_of(const struct machine *m, const struct nest_operand *o) {
    switch (o->buffer) {
    case NEST_LEAF: {
        ir_ref n = m->p->leaf[o->buf];
        int k = (int)ir_attr(m->w->g, n)[0];
        return ir_at(m->w->g, n)->op == IR_from ? ir_leaf_at(m->w->g, k)->array.data
                                                : m->w->inputs[k].data;
    }
    case NEST_OUT: return m->outs[o->buf].data;
    case NEST_TEMP: return m->workspace + m->p->temp[o->buf].offset;
    case NEST_GUARD: return (char *)&m->guards[o->buf];
    default: return NULL;
    }
}

// at: index of every nest dim
static int64_t offset_at(const struct machine *m, const struct nest_operand *o, const int64_t *at) {
    int64_t off = o->offset;
    for (int d = 0; d < m->s->nest.ndim; d++)
        off += o->stride[d] * at[d];
    return off;
}

static union scalar read_operand(const struct machine *m, int index, const int64_t *at,
                                 int64_t col) {
    const struct nest_operand *o = &m->s->nest.operand[index];
    union scalar r = {0};
    if (o->buffer == NEST_ROWTMP) return m->rowtmp[index * m->cols + col];
    if (o->buffer == NEST_CONST) {
        uint64_t bits = ir_constant_bits(m->w->g, m->p->constant[o->buf]);
        return scalar_load(o->dtype, &bits);
    }
    int64_t off = offset_at(m, o, at);
    if (o->buffer != NEST_IOTA) return scalar_load(o->dtype, buffer_of(m, o) + off);
    if (dtype_is_float((weft_dtype)o->dtype))
        r.f = (double)off;
    else
        r.i = off;
    return narrow(o->dtype, r);
}

// The value of instruction i for a column; scalars are held in column 0.
static union scalar value_of(const struct machine *m, int i, int64_t col) {
    const struct seg *s = &m->s->seg;
    bool reduced = s->op[i].op == SEG_REDUCE;
    if (reduced)
        return fold_result(&m->fold[i * m->cols + (s->mode == NEST_OUTER ? col : 0)],
                           IR_R_sum + s->op[i].arg[1]);
    return m->value[i * m->cols + (s->section[m->section[i]].kind == SEG_ROW ? 0 : col)];
}

static void run_op(struct machine *m, int i, const int64_t *at, int64_t col, int64_t row) {
    const struct seg *s = &m->s->seg;
    const struct seg_op *op = &s->op[i];
    union scalar x[3];
    if (op->op == SEG_LOAD) {
        m->value[i * m->cols + col] = read_operand(m, op->arg[0], at, col);
    } else if (op->op == SEG_STORE) {
        const struct nest_operand *o = &m->s->nest.operand[op->arg[1]];
        union scalar v = value_of(m, op->arg[0], col);
        if (o->buffer == NEST_ROWTMP)
            m->rowtmp[op->arg[1] * m->cols + col] = v;
        else
            scalar_store(o->dtype, buffer_of(m, o) + offset_at(m, o, at), v);
    } else if (op->op == SEG_REDUCE) {
        bool outer = s->mode == NEST_OUTER;
        fold_in(&m->fold[i * m->cols + (outer ? col : 0)], IR_R_sum + op->arg[1], op->in_type,
                value_of(m, op->arg[0], col), outer ? row : col);
    } else {
        for (int k = 0; k < 3; k++)
            x[k] = value_of(m, op->arg[k], col);
        m->value[i * m->cols + col] = apply(op->op, op->dtype, op->in_type, x);
    }
}

static void run_section(struct machine *m, int sec, int64_t *at, int64_t row) {
    const struct nest *n = &m->s->nest;
    const struct seg_section *s = &m->s->seg.section[sec];
    int first = n->nouter + n->nrow;
    int64_t cols = s->kind == SEG_ROW ? 1 : m->cols;
    memset(at + first, 0, (size_t)n->ncol * sizeof *at);
    for (int64_t c = 0; c < cols; c++) {
        for (int i = s->begin; i < s->end; i++)
            run_op(m, i, at, c, row);
        next_index(at + first, n->dim + first, n->ncol);
    }
}

static void clear_folds(struct machine *m) {
    for (int64_t i = 0; i < m->s->seg.nop * m->cols; i++)
        m->fold[i] = (struct fold){.index = -1};
}

static void run_loop(struct machine *m) {
    const struct nest *n = &m->s->nest;
    const struct seg *s = &m->s->seg;
    int64_t at[NEST_DIMS] = {0};
    m->cols = 1;
    for (int d = n->nouter + n->nrow; d < n->ndim; d++)
        m->cols *= n->dim[d];
    m->value = calloc((size_t)(s->nop * m->cols) + 1, sizeof *m->value);
    m->fold = calloc((size_t)(s->nop * m->cols) + 1, sizeof *m->fold);
    m->rowtmp = calloc((size_t)(n->noperand * m->cols) + 1, sizeof *m->rowtmp);
    m->section = calloc((size_t)s->nop + 1, 1);
    for (int j = 0; j < s->nsection; j++)
        for (int i = s->section[j].begin; i < s->section[j].end; i++)
            m->section[i] = (uint8_t)j;
    do {
        int64_t row = 0;
        clear_folds(m);
        memset(at + n->nouter, 0, (size_t)n->nrow * sizeof *at);
        do {
            if (s->mode != NEST_OUTER) clear_folds(m);
            for (int j = 0; j < s->nsection; j++)
                if (s->section[j].kind != SEG_FIN) run_section(m, j, at, row);
            row++;
        } while (next_index(at + n->nouter, n->dim + n->nouter, n->nrow));
        for (int j = 0; j < s->nsection; j++)
            if (s->section[j].kind == SEG_FIN) run_section(m, j, at, row);
    } while (next_index(at, n->dim, n->nouter));
    free(m->value);
    free(m->fold);
    free(m->rowtmp);
    free(m->section);
}

static char *matrix_at(const struct machine *m, const struct nest_operand *o, const int64_t *batch,
                       int64_t r, int64_t c) {
    const struct fuse_matmul *mm = &m->s->matmul;
    int64_t off = o->offset + o->stride[mm->nbatch] * r + o->stride[mm->nbatch + 1] * c;
    for (int d = 0; d < mm->nbatch; d++)
        off += o->stride[d] * batch[d];
    return buffer_of(m, o) + off;
}

static void run_matmul(struct machine *m) {
    const struct fuse_matmul *x = &m->s->matmul;
    const int t = (int)x->dtype;
    int64_t batch[WEFT_MAX_RANK] = {0};
    do
        for (int64_t r = 0; r < x->m; r++)
            for (int64_t c = 0; c < x->n; c++) {
                union scalar sum = {0};
                for (int64_t k = 0; k < x->k; k++)
                    sum = dot_step(t, sum, scalar_load(t, matrix_at(m, &x->a, batch, r, k)),
                                   scalar_load(t, matrix_at(m, &x->b, batch, k, c)));
                scalar_store(t, matrix_at(m, &x->c, batch, r, c), sum);
            }
    while (next_index(batch, x->batch, x->nbatch));
}

void eval_plan(const struct eval_world *w, const struct fuse_plan *p, const weft_array *outs,
               uint8_t *guards) {
    struct machine m = {.w = w, .p = p, .outs = outs, .guards = guards};
    m.workspace = malloc((size_t)p->workspace_bytes + 1);
    memset(m.workspace, 0x5a, (size_t)p->workspace_bytes);
    for (int i = 0; i < p->nstep; i++) {
        m.s = &p->step[i];
        if (m.s->kind == FUSE_MATMUL)
            run_matmul(&m);
        if (m.s->kind == FUSE_LOOP || m.s->nest.noperand) run_loop(&m);
    }
    free(m.workspace);
}
