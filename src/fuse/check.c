// SPDX-License-Identifier: MIT
// The invariants of a plan that the rooms above rely on. In: a plan and its graph; out: true, or
// false and one sentence. Runs between stages in development builds and after every plan in the
// tests: every operand lies inside its buffer, code is in SSA order and keeps the rules of its
// sections, classes and lateness agree with sections, temporaries are written before they are read
// and never share bytes while both live.
#include <inttypes.h>
#include <stdio.h>

#include "plan.h"

struct checker {
    const struct ir_graph *g;
    const struct fuse_plan *p;
    struct base_err *err;
    int step;
};

#define WRONG(k, ...) (complain((k), __VA_ARGS__), false)
PRINTF_LIKE(2, 3)
static void complain(const struct checker *k, const char *fmt, ...) {
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    err_set(k->err, WEFT_EINVAL, "plan: step %d: %s", k->step, text);
}

// ---- operands -----------------------------------------------------------------------------------
// Bytes that an operand touches, relative to its buffer.
static bool find_reach(const struct nest_operand *o, const int64_t *dim, int n, int64_t *low,
                       int64_t *high) {
    *low = *high = o->offset;
    for (int d = 0; d < n; d++) {
        int64_t by;
        if (dim[d] <= 0 || __builtin_mul_overflow(o->stride[d], dim[d] - 1, &by)) return false;
        *(by < 0 ? low : high) += by;
    }
    if (o->index) *(o->gstride < 0 ? low : high) += o->gstride * (o->gextent - 1);
    *high += (int64_t)dtype_size((weft_dtype)o->dtype);
    return true;
}

// What a product's step has put there itself.
static bool is_product(const struct checker *k, const struct nest_operand *o) {
    const struct fuse_step *s = &k->p->step[k->step];
    return s->kind == FUSE_MATMUL && o->buffer == s->matmul.c.buffer && o->buf == s->matmul.c.buf;
}

static bool check_temp(const struct checker *k, const struct nest_operand *o, int64_t low,
                       int64_t high) {
    const struct fuse_temp *t;
    if (o->buf >= (uint32_t)k->p->ntemp) return WRONG(k, "no temporary %" PRIu32, o->buf);
    t = &k->p->temp[o->buf];
    if (low < 0 || high > t->bytes)
        return WRONG(k,
                     "temporary %" PRIu32 " of %" PRId64 " bytes: touches %" PRId64 " to %" PRId64,
                     o->buf, t->bytes, low, high);
    if (o->out ? k->step < t->first_step : (k->step <= t->first_step && !is_product(k, o)))
        return WRONG(k, "temporary %" PRIu32 " is %s outside its life", o->buf,
                     o->out ? "written" : "read");
    return k->step <= t->last_step ||
           WRONG(k, "temporary %" PRIu32 " is read after its life", o->buf);
}

// Of leaves: within what their shape and strides span. Inputs' strides are the caller's to know.
static bool check_leaf(const struct checker *k, const struct nest_operand *o, int64_t low,
                       int64_t high) {
    if (o->buf >= (uint32_t)k->p->nleaf) return WRONG(k, "no leaf %" PRIu32, o->buf);
    ir_ref r = k->p->leaf[o->buf];
    const struct ir_node *n = ir_at(k->g, r);
    if (n->dtype != o->dtype) return WRONG(k, "leaf %" PRIu32 " is of another type", o->buf);
    if (n->op != IR_from) return true;
    const weft_array *a = &ir_leaf_at(k->g, (int)ir_attr(k->g, r)[0])->array;
    struct nest_operand whole = {.dtype = o->dtype};
    int64_t from, to;
    memcpy(whole.stride, a->strides, sizeof a->strides);
    if (!find_reach(&whole, a->dims, a->rank, &from, &to))
        return WRONG(k, "leaf %" PRIu32 " is empty", o->buf);
    return (low >= from && high <= to) || WRONG(k, "leaf %" PRIu32 ": outside its array", o->buf);
}

static bool check_operand(const struct checker *k, const struct nest_operand *o, const int64_t *dim,
                          int n) {
    int64_t low, high;
    if (!find_reach(o, dim, n, &low, &high)) return WRONG(k, "an operand's strides overflow");
    switch (o->buffer) {
    case NEST_LEAF: return (!o->out && check_leaf(k, o, low, high)) || WRONG(k, "bad leaf operand");
    case NEST_TEMP: return check_temp(k, o, low, high);
    case NEST_OUT: return o->buf < (uint32_t)k->p->nroot || WRONG(k, "no output %" PRIu32, o->buf);
    case NEST_GUARD:
        return (o->out && o->buf < (uint32_t)k->p->nguard && low == 0 && high == 1) ||
               WRONG(k, "bad guard operand");
    case NEST_CONST:
        return (!o->out && o->cls == NEST_SCALAR && o->buf < (uint32_t)k->p->nconst &&
                ir_at(k->g, k->p->constant[o->buf])->dtype == o->dtype) ||
               WRONG(k, "bad constant operand");
    case NEST_IOTA: return !o->out || WRONG(k, "an index is stored to");
    case NEST_ROWTMP: return o->cls == NEST_UNIT || WRONG(k, "a carried row is scalar");
    default: return WRONG(k, "no such buffer");
    }
}

// ---- code ---------------------------------------------------------------------------------------
// Whether section `at` sees what section `of` computed (of <= at).
static bool visible(const struct seg *s, int of, int at, bool reduced) {
    if (of == at) return !reduced;
    int from = s->section[of].kind;
    if (from == SEG_ELEM) return reduced;
    return from == SEG_ROW && s->section[at].kind != SEG_FIN;
}

static int section_of(const struct seg *s, int op) {
    int i = 0;
    while (op >= s->section[i].end)
        i++;
    return i;
}

static bool check_value(const struct checker *k, const struct seg *s, int op, int arg, int type) {
    if (arg >= op || s->op[arg].op == SEG_STORE) return WRONG(k, "instruction %d uses %d", op, arg);
    if (s->op[arg].dtype != type) return WRONG(k, "instruction %d: operand of another type", op);
    return visible(s, section_of(s, arg), section_of(s, op), s->op[arg].op == SEG_REDUCE) ||
           WRONG(k, "instruction %d cannot see %d", op, arg);
}

static bool check_place(const struct checker *k, const struct seg *s, int op, int operand,
                        bool out) {
    if (operand >= s->noperand) return WRONG(k, "instruction %d: no operand %d", op, operand);
    const struct nest_operand *o = &s->operand[operand];
    int kind = s->section[section_of(s, op)].kind;
    if (o->dtype != s->op[op].dtype) return WRONG(k, "instruction %d: operand of another type", op);
    if (o->out != out && o->buffer != NEST_ROWTMP)
        return WRONG(k, "instruction %d: wrong direction", op);
    if (o->late != (kind == SEG_FIN)) return WRONG(k, "instruction %d: lateness", op);
    if (o->buffer == NEST_ROWTMP && (kind != SEG_ELEM || s->mode != NEST_INNER))
        return WRONG(k, "instruction %d: carried row outside columns", op);
    if (kind == SEG_ROW && o->cls != NEST_SCALAR)
        return WRONG(k, "instruction %d: a vector in a row section", op);
    if (kind == SEG_ELEM && o->cls != NEST_UNIT)
        return WRONG(k, "instruction %d: a scalar in a column section", op);
    return true;
}

static bool check_op(const struct checker *k, const struct seg *s, int i) {
    const struct seg_op *op = &s->op[i];
    int kind = s->section[section_of(s, i)].kind;
    if (op->op == SEG_LOAD) return check_place(k, s, i, op->arg[0], false);
    if (op->op == SEG_STORE)
        return check_value(k, s, i, op->arg[0], op->dtype) &&
               check_place(k, s, i, op->arg[1], true);
    if (op->op == SEG_REDUCE)
        return (kind == SEG_ELEM && s->mode != NEST_MAP &&
                check_value(k, s, i, op->arg[0], op->in_type)) ||
               WRONG(k, "instruction %d: bad reduction", i);
    if (op->op >= IR_OP__N || ir_ops[op->op].cls != IR_MAP)
        return WRONG(k, "instruction %d: no such operation", i);
    for (int a = 0; a < ir_ops[op->op].arity; a++) {
        int type = op->op == IR_where && a == 0 ? WEFT_BOOL : op->in_type;
        if (!check_value(k, s, i, op->arg[a], type)) return false;
    }
    return true;
}

static bool check_form(const struct checker *k, const struct seg *s) {
    int i = 0, end = 0;
    for (int j = 0; j < s->nsection; j++) {
        if (s->section[j].begin != end) return WRONG(k, "sections do not follow each other");
        end = s->section[j].end;
    }
    if (end != s->nop) return WRONG(k, "code outside sections");
    if (s->nsection && s->section[0].kind == SEG_ROW) i++;
    if (i == s->nsection || s->section[i++].kind != SEG_ELEM) return WRONG(k, "no column section");
    if (s->mode == NEST_OUTER && (i == s->nsection || s->section[i++].kind != SEG_FIN))
        return WRONG(k, "no final section");
    for (; s->mode == NEST_INNER && i < s->nsection; i++)
        if (s->section[i].kind != (s->section[i - 1].kind == SEG_ELEM ? SEG_ROW : SEG_ELEM))
            return WRONG(k, "row and column sections do not alternate");
    return i == s->nsection || WRONG(k, "too many sections");
}

static bool check_loop(const struct checker *k, const struct fuse_step *s) {
    const struct nest *n = &s->nest;
    if (n->nrow < 1 || n->ncol < 1 || n->ndim != n->nouter + n->nrow + n->ncol ||
        n->ndim > NEST_DIMS)
        return WRONG(k, "dims do not add up");
    if (s->seg.operand != n->operand || s->seg.noperand != n->noperand || s->seg.mode != n->mode)
        return WRONG(k, "nest and code differ");
    for (int i = 0; i < n->noperand; i++) {
        const struct nest_operand *o = &n->operand[i];
        if (!check_operand(k, o, n->dim, n->ndim)) return false;
        if (o->index && (o->index > n->noperand || !n->operand[o->index - 1].aux))
            return WRONG(k, "a gathered operand has no index");
        for (int d = n->nouter + n->nrow; d < n->ndim && o->cls == NEST_SCALAR; d++)
            if (o->stride[d]) return WRONG(k, "a scalar operand changes along columns");
        for (int d = n->nouter; d < n->nouter + n->nrow && o->late; d++)
            if (o->stride[d]) return WRONG(k, "a late operand changes along rows");
    }
    if (!check_form(k, &s->seg)) return false;
    for (int i = 0; i < s->seg.nop; i++)
        if (!check_op(k, &s->seg, i)) return false;
    return true;
}

static bool check_matmul(const struct checker *k, const struct fuse_matmul *m) {
    const struct nest_operand *o[3] = {&m->a, &m->b, &m->c};
    for (int i = 0; i < 3; i++) {
        int64_t dim[NEST_DIMS];
        memcpy(dim, m->batch, (size_t)m->nbatch * sizeof *dim);
        dim[m->nbatch] = i == 1 ? m->k : m->m;
        dim[m->nbatch + 1] = i == 0 ? m->k : m->n;
        if (i < 2 && !m->k) continue;
        if (o[i]->dtype != m->dtype || o[i]->out != (i == 2)) return WRONG(k, "bad matrix operand");
        if (!check_operand(k, o[i], dim, m->nbatch + 2)) return false;
    }
    return true;
}

static bool check_call(const struct checker *k, const struct nest_call *c) {
    for (int i = 0; i < c->nin + c->nout; i++) {
        const struct nest_array *a = &c->array[i];
        if (a->o.out != (i >= c->nin)) return WRONG(k, "bad array of a call");
        if (!a->absent && !check_operand(k, &a->o, a->dim, a->rank)) return false;
    }
    return true;
}

static bool check_follower(const struct checker *k, const struct fuse_step *s) {
    const struct fuse_matmul *m = &s->matmul;
    const struct nest *n = &s->nest;
    int64_t batch = 1, outer = 1;
    for (int i = 0; i < m->nbatch; i++)
        batch *= m->batch[i];
    if (n->mode != NEST_MAP || n->nrow != 1 || n->ncol != 1)
        return WRONG(k, "a map on a product has rows and columns");
    for (int i = 0; i < n->nouter; i++)
        outer *= n->dim[i];
    if (outer != batch || n->dim[n->nouter] != (m->turned ? m->n : m->m) ||
        n->dim[n->nouter + 1] != (m->turned ? m->m : m->n))
        return WRONG(k, "a map on a product covers it");
    return true;
}

// ---- memory -------------------------------------------------------------------------------------
static bool check_memory(struct checker *k) {
    const struct fuse_plan *p = k->p;
    for (int i = 0; i < p->ntemp; i++) {
        const struct fuse_temp *a = &p->temp[i];
        k->step = a->first_step;
        if (a->offset % 64 || a->offset < 0 || a->offset + a->bytes > p->workspace_bytes)
            return WRONG(k, "temporary %d lies outside the workspace", i);
        for (int j = 0; j < i; j++) {
            const struct fuse_temp *b = &p->temp[j];
            bool both = a->first_step <= b->last_step && b->first_step <= a->last_step;
            if (both && a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes)
                return WRONG(k, "temporaries %d and %d share bytes", i, j);
        }
    }
    return true;
}

bool fuse_plan_check(const struct ir_graph *g, const struct fuse_plan *p, struct base_err *err) {
    struct checker k = {.g = g, .p = p, .err = err};
    for (int i = 0; i < p->nstep; i++) {
        k.step = i;
        const struct fuse_step *s = &p->step[i];
        if (s->kind == FUSE_MATMUL && !check_matmul(&k, &s->matmul)) return false;
        if (s->kind == FUSE_MATMUL && s->nest.noperand && !check_follower(&k, s)) return false;
        if (s->kind == FUSE_CALL && !check_call(&k, &s->call)) return false;
        if ((s->kind == FUSE_LOOP || s->nest.noperand) && !check_loop(&k, s)) return false;
    }
    return check_memory(&k);
}
