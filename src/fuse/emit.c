// SPDX-License-Identifier: MIT
// Instructions of a body. In: values with their levels and the sections that need them; out:
// sections of straight-line code and the operands it names, numbered in order of first use so that
// the same logical body is the same bytes whatever the graph's numbering was. One depth-first walk
// from the stores (an explicit stack), so a load stands right before its first use.
#include "body.h"

enum { FIRST_OUT = 0x4000, FIRST_ROWTMP = 0x8000 };

struct code {
    struct body *b;
    struct base_vec op;      // struct seg_op, in order of the walk
    struct base_vec sec;     // uint8_t, the section of each
    struct base_vec node;    // ir_ref of each
    struct base_vec operand; // inputs: access * 2 + late; outputs likewise
    struct base_vec out;
    int32_t *at;      // item, section -> instruction, -1
    uint16_t *number; // instruction in order of the walk -> in order of the code
    bool failed;
};
struct visit {
    int item, sec;
};

static int32_t *place_of(struct code *c, int item, int sec) {
    return &c->at[(size_t)item * (size_t)c->b->nsec + (size_t)sec];
}

// Whether something that was pushed found no memory.
static bool lost(const struct code *c) {
    return c->op.failed || c->sec.failed || c->node.failed || c->operand.failed || c->out.failed;
}

static int push_op(struct code *c, struct seg_op op, int sec, ir_ref node) {
    uint8_t s = (uint8_t)sec;
    int index = (int)VEC_LEN(&c->op, struct seg_op);
    vec_push(&c->op, &op, sizeof op);
    vec_push(&c->sec, &s, 1);
    vec_push(&c->node, &node, sizeof node);
    return index;
}

static bool is_late(const struct code *c, int sec) {
    return c->b->axes.mode == NEST_OUTER && sec == 2;
}

static void number_operand(struct base_vec *list, struct fuse_access *a, int access, bool late) {
    if (a->index[late] >= 0) return;
    uint32_t key = (uint32_t)access * 2 + late;
    a->index[late] = (int16_t)VEC_LEN(list, uint32_t);
    vec_push(list, &key, sizeof key);
}

// The operand by which the access is made, numbered at its first use, its index behind it.
static uint16_t operand_of(struct code *c, int access, int sec) {
    bool late = is_late(c, sec);
    struct fuse_access *a = &c->b->access[access];
    struct base_vec *list = a->o.out ? &c->out : &c->operand;
    number_operand(list, a, access, late);
    if (a->gather) number_operand(list, &c->b->access[a->gather - 1], a->gather - 1, late);
    return (uint16_t)(a->index[late] + (a->o.out ? FIRST_OUT : 0));
}

static void emit_load(struct code *c, uint8_t dtype, uint16_t operand, int item, int sec) {
    struct seg_op op = {.op = SEG_LOAD, .dtype = dtype, .in_type = dtype, .arg = {operand}};
    *place_of(c, item, sec) = push_op(c, op, sec, c->b->item[item].node);
}

// The value of the instruction `value` (of a node that it takes its number from).
static void emit_store(struct code *c, uint8_t dtype, int value, uint16_t operand, int sec) {
    if (lost(c)) return; // the value may not be in the list
    struct seg_op op = {
        .op = SEG_STORE, .dtype = dtype, .in_type = dtype, .arg = {(uint16_t)value, operand}};
    push_op(c, op, sec, c->node.failed ? IR_NONE : VEC_AT(&c->node, ir_ref, value));
}

static int arg_section(struct code *c, const struct item *it, int k, int sec) {
    return body_section(c->b, &c->b->item[it->arg[k]], sec);
}

static void emit_item(struct code *c, int index, int sec) {
    const struct item *it = &c->b->item[index];
    const struct ir_node *n = ir_at(c->b->w->g, it->node);
    struct seg_op op = {.op = n->op, .dtype = n->dtype};
    for (int k = 0; k < 3; k++)
        if (it->arg[k] >= 0)
            op.arg[k] = (uint16_t)*place_of(c, it->arg[k], arg_section(c, it, k, sec));
    op.in_type = ir_at(c->b->w->g, n->in[n->op == IR_where ? 1 : 0])->dtype;
    if (it->kind == V_REDUCE) {
        op.op = SEG_REDUCE;
        op.arg[1] =
            (uint16_t)(n->op - IR_R_sum); // the rows of ops.def are in the order of enum kern_red
    }
    *place_of(c, index, sec) = push_op(c, op, sec, it->node);
}

// Emits the item if all it needs is there; else returns what is to come first.
static bool step_item(struct code *c, struct visit v, struct visit *before) {
    struct body *b = c->b;
    struct item *it = &b->item[v.item];
    uint8_t dtype = ir_at(b->w->g, it->node)->dtype;
    if (item_is_load(it)) {
        emit_load(c, dtype, operand_of(c, it->access, v.sec), v.item, v.sec);
        return true;
    }
    int first = it->carried ? lowest(it->need) : v.sec;
    if (v.sec != first) {
        *before = (struct visit){v.item, first};
        if (*place_of(c, v.item, first) < 0) return false;
        emit_load(c, dtype, (uint16_t)(FIRST_ROWTMP + it->rowtmp), v.item, v.sec);
        return true;
    }
    for (int k = 0; k < 3; k++) {
        if (it->arg[k] < 0) continue;
        *before = (struct visit){it->arg[k], arg_section(c, it, k, v.sec)};
        if (*place_of(c, before->item, before->sec) < 0) return false;
    }
    emit_item(c, v.item, v.sec);
    if (it->carried) {
        it->rowtmp = b->nrowtmp++;
        emit_store(c, dtype, *place_of(c, v.item, v.sec), (uint16_t)(FIRST_ROWTMP + it->rowtmp),
                   v.sec);
    }
    return true;
}

static void walk(struct code *c, struct visit from) {
    struct base_vec stack;
    vec_init(&stack, c->b->w->alloc);
    vec_push(&stack, &from, sizeof from);
    while (stack.size && !stack.failed && !c->op.failed) {
        struct visit v = VEC_AT(&stack, struct visit, stack.size / sizeof v - 1), before;
        if (*place_of(c, v.item, v.sec) >= 0 || step_item(c, v, &before))
            stack.size -= sizeof v;
        else
            vec_push(&stack, &before, sizeof before);
    }
    c->failed |= stack.failed || lost(c);
    vec_free(&stack);
}

static void walk_stores(struct code *c) {
    struct body *b = c->b;
    for (int i = b->naccess - b->nstore; i < b->naccess && !c->failed; i++) {
        const struct fuse_access *a = &b->access[i];
        int item = item_of(b, a->value);
        int sec = store_section(b, a, &b->item[item]);
        int from = body_section(b, &b->item[item], sec);
        walk(c, (struct visit){item, from});
        if (!c->failed)
            emit_store(c, a->o.dtype, *place_of(c, item, from), operand_of(c, i, sec), sec);
        c->failed |= lost(c); // the store and its operand are in, or the plan is not made
    }
}

// ---- sections and numbers -----------------------------------------------------------------------
static int section_kind(const struct body *b, int sec) {
    if (b->axes.mode == NEST_INNER) return sec & 1 ? SEG_ELEM : SEG_ROW;
    return sec == 0 ? SEG_ROW : sec == 1 ? SEG_ELEM : SEG_FIN;
}

static uint16_t final_operand(const struct code *c, uint16_t operand) {
    size_t nin = VEC_LEN(&c->operand, uint32_t), nout = VEC_LEN(&c->out, uint32_t);
    if (operand >= FIRST_ROWTMP) return (uint16_t)(operand - FIRST_ROWTMP + nin + nout);
    return (uint16_t)(operand >= FIRST_OUT ? operand - FIRST_OUT + nin : operand);
}

static void renumber(const struct code *c, struct seg_op *op) {
    if (op->op == SEG_LOAD) {
        op->arg[0] = final_operand(c, op->arg[0]);
    } else if (op->op == SEG_STORE) {
        op->arg[0] = c->number[op->arg[0]];
        op->arg[1] = final_operand(c, op->arg[1]);
    } else if (op->op == SEG_REDUCE) {
        op->arg[0] = c->number[op->arg[0]];
    } else {
        for (int k = 0; k < ir_ops[op->op].arity; k++)
            op->arg[k] = c->number[op->arg[k]];
    }
}

// A section is there when it has code, or when the form of its mode asks for it.
static bool is_section(const struct body *b, int sec, int count) {
    bool forced = sec > 0 && !(b->axes.mode == NEST_INNER && sec == b->nsec - 1);
    return count > 0 || forced;
}

static bool lay_out(struct code *c, struct seg *seg) {
    struct body *b = c->b;
    struct base_arena *a = &b->w->plan->arena;
    int n = (int)VEC_LEN(&c->op, struct seg_op), nop = 0;
    if (n > SEG_MAX_OPS) return false;
    struct seg_op *ops = ARENA_ARRAY(a, struct seg_op, n + 1);
    struct seg_section *sections = ARENA_ARRAY(a, struct seg_section, b->nsec + 1);
    uint32_t *node = ARENA_ARRAY(a, uint32_t, n + 1);
    c->number = ARENA_ARRAY(&b->w->arena, uint16_t, n + 1);
    if (!ops || !sections || !node || !c->number) return false;
    for (int s = 0; s < b->nsec; s++) {
        int begin = nop;
        for (int i = 0; i < n; i++) {
            if (c->sec.data[i] != s) continue;
            c->number[i] = (uint16_t)nop;
            node[nop] = VEC_AT(&c->node, ir_ref, i);
            ops[nop++] = VEC_AT(&c->op, struct seg_op, i);
        }
        if (is_section(b, s, nop - begin))
            sections[seg->nsection++] = (struct seg_section){.kind = (uint8_t)section_kind(b, s),
                                                             .begin = (uint16_t)begin,
                                                             .end = (uint16_t)nop};
    }
    for (int i = 0; i < nop; i++) {
        renumber(c, &ops[i]);
        seg->nreduce += ops[i].op == SEG_REDUCE;
    }
    seg->op = ops;
    seg->node = node;
    seg->nop = nop;
    seg->section = sections;
    return true;
}

// ---- operands -----------------------------------------------------------------------------------
static uint8_t class_of(const struct body *b, const struct fuse_access *a) {
    if (!a->o.out) return a->axes & b->axes.cols ? NEST_UNIT : NEST_SCALAR;
    return b->axes.mode == NEST_INNER && a->kept ? NEST_SCALAR : NEST_UNIT;
}

static void fill_operand(const struct body *b, const struct fuse_access *a, bool late,
                         struct nest_operand *o) {
    *o = a->o;
    o->late = late;
    o->cls = class_of(b, a);
    if (a->gather) o->index = (uint16_t)(1 + b->access[a->gather - 1].index[late]);
    for (int d = 0; d < b->axes.ngroup; d++)
        o->stride[d] = b->axes.inner[d] < 0 ? 0 : a->stride[b->axes.inner[d]];
}

static void fill_rowtmp(const struct body *b, const struct item *it, struct nest_operand *o) {
    uint8_t dtype = ir_at(b->w->g, it->node)->dtype;
    *o = (struct nest_operand){.dtype = dtype,
                               .cls = NEST_UNIT,
                               .buffer = NEST_ROWTMP,
                               .out = true,
                               .buf = (uint32_t)it->rowtmp};
    int64_t step = (int64_t)dtype_size((weft_dtype)dtype);
    for (int d = b->axes.ngroup - 1; d >= b->axes.ngroup - b->axes.ncol; d--) {
        o->stride[d] = step;
        step *= b->axes.extent[d];
    }
}

// Gathered operands as the sentence of an index out of range knows them.
static bool fill_gathers(struct code *c, struct nest *n) {
    struct body *b = c->b;
    int count = 0;
    for (int k = 0; k < n->noperand; k++)
        count += n->operand[k].index > 0;
    if (!count) return true;
    struct nest_gather *t = ARENA_ARRAY(&b->w->plan->arena, struct nest_gather, count);
    n->gather = t;
    for (int k = 0; t && k < n->noperand; k++) {
        if (!n->operand[k].index) continue;
        const struct fuse_access *a = &b->access[VEC_AT(&c->operand, uint32_t, k) / 2];
        t[n->ngather].operand = (uint16_t)k;
        if (!gather_describe(b->w, a->value, &t[n->ngather++])) return false;
    }
    return t != NULL;
}

static bool fill_nest(struct code *c, struct nest *n) {
    struct body *b = c->b;
    int nin = (int)VEC_LEN(&c->operand, uint32_t), nout = (int)VEC_LEN(&c->out, uint32_t);
    n->mode = b->axes.mode;
    n->ndim = b->axes.ngroup;
    n->nouter = b->axes.nouter;
    n->nrow = b->axes.nrow;
    n->ncol = b->axes.ncol;
    memcpy(n->dim, b->axes.extent, (size_t)n->ndim * sizeof *n->dim);
    n->noperand = nin + nout + b->nrowtmp;
    n->operand = ARENA_ARRAY(&b->w->plan->arena, struct nest_operand, n->noperand + 1);
    if (!n->operand) return false;
    for (int i = 0; i < nin + nout; i++) {
        uint32_t key =
            i < nin ? VEC_AT(&c->operand, uint32_t, i) : VEC_AT(&c->out, uint32_t, i - nin);
        fill_operand(b, &b->access[key / 2], key & 1, &n->operand[i]);
    }
    for (int i = 0; i < b->nitem; i++)
        if (b->item[i].carried)
            fill_rowtmp(b, &b->item[i], &n->operand[nin + nout + b->item[i].rowtmp]);
    return fill_gathers(c, n);
}

static bool finish(struct code *c, struct fuse_step *s) {
    if (!lay_out(c, &s->seg) || !fill_nest(c, &s->nest)) return false;
    s->kind = FUSE_LOOP;
    s->seg.mode = s->nest.mode;
    s->seg.noperand = s->nest.noperand;
    s->seg.operand = s->nest.operand;
    return true;
}

bool emit_body(struct body *b, struct fuse_step *s) {
    struct code c = {.b = b};
    size_t places = (size_t)b->nitem * (size_t)b->nsec;
    c.at = ARENA_ARRAY(&b->w->arena, int32_t, places + 1);
    if (!c.at) return false;
    for (size_t i = 0; i < places; i++)
        c.at[i] = -1;
    vec_init(&c.op, b->w->alloc);
    vec_init(&c.sec, b->w->alloc);
    vec_init(&c.node, b->w->alloc);
    vec_init(&c.operand, b->w->alloc);
    vec_init(&c.out, b->w->alloc);
    walk_stores(&c);
    bool ok = !c.failed && finish(&c, s);
    vec_free(&c.op);
    vec_free(&c.sec);
    vec_free(&c.node);
    vec_free(&c.operand);
    vec_free(&c.out);
    return ok;
}
