// SPDX-License-Identifier: MIT
// Plan in, Program out: copies each step's nest into the program's own arena, attaches the cached code of
// its body, and says what a step costs. After this the plan can go: a program names no plan and no graph.
#include <stdio.h>

#include "../kernels/calls.h"
#include "code.h"

// fuse writes reductions as their distance from the first; the table's order is that of enum kern_red.
_Static_assert(IR_R_nanargmax - IR_R_sum == KERN_NANARGMAX && IR_R_any - IR_R_sum == KERN_ANY,
               "ops.def and kern.h list the reductions in one order");

static bool is_heavy(const struct seg_op *o) { return o->op < IR_OP__N && ir_ops[o->op].heavy; }

// Rough cycles per element on one core, vectorised: light operations half a cycle, roots and divisions
// more, kernels as measured for exp and its kin.
static int body_cost(const struct seg *s) {
    int halves = 1;
    for (int i = 0; i < s->nop; i++) {
        const struct seg_op *o = &s->op[i];
        bool slow = o->op == IR_sqrt || o->op == IR_true_divide || o->op == IR_reciprocal;
        halves += is_heavy(o) ? 8 : slow ? 5 : 1;
    }
    return (halves + 1) / 2;
}

static weft_status copy_nest(struct rt_program *p, const struct nest *from, struct nest *to) {
    *to = *from;
    to->operand = arena_copy(&p->arena, from->operand, sizeof *from->operand * (size_t)from->noperand);
    to->gather = arena_copy(&p->arena, from->gather, sizeof *from->gather * (size_t)from->ngather);
    return to->operand && to->gather ? WEFT_OK : WEFT_ENOMEM;
}

static const uint8_t call_of[IR_OP__N] = {
    [IR_NOP] = 0,
#define F(name) [IR_##name] = KERN_C_##name,
    KERN_CALLS(F)
#undef F
};

static weft_status make_call(struct rt_program *p, const struct fuse_step *f, struct rt_step *t) {
    const struct nest_call *c = &f->call;
    t->kind = RT_CALL;
    t->call = *c;
    t->call.op = call_of[c->op];
    t->call.array = arena_copy(&p->arena, c->array, sizeof *c->array * (size_t)(c->nin + c->nout));
    t->call.attr = arena_copy(&p->arena, c->attr, sizeof *c->attr * (size_t)c->nattr);
    return t->call.array && t->call.attr ? WEFT_OK : WEFT_ENOMEM;
}

static weft_status copy_reductions(struct rt_program *p, const struct seg *s, struct rt_step *t) {
    struct rt_reduce *r = ARENA_ARRAY(&p->arena, struct rt_reduce, s->nreduce + 1);
    if (!r) return WEFT_ENOMEM;
    t->reduce = r;
    for (int i = 0; i < s->nop; i++)
        if (s->op[i].op == SEG_REDUCE)
            r[t->nreduce++] = (struct rt_reduce){(uint8_t)s->op[i].arg[1], s->op[i].in_type};
    return WEFT_OK;
}

static weft_status make_loop(struct jit *j, struct rt_program *p, const struct fuse_step *f,
                             struct rt_step *t) {
    TRY(copy_nest(p, &f->nest, &t->nest));
    TRY(copy_reductions(p, &f->seg, t));
    int elems = 0;
    for (int i = 0; i < f->seg.nsection; i++)
        elems += f->seg.section[i].kind == SEG_ELEM;
    t->whole_rows = f->nest.mode == NEST_INNER && elems > 1;
    t->cost = body_cost(&f->seg);
    t->stores_last = rt_seg_stores_last(&f->seg);
    struct jit_entry *e = code_get(j, &f->seg);
    if (!e) return WEFT_ENOMEM;
    t->code = &e->code;
    return WEFT_OK;
}

static void make_matmul(const struct fuse_step *f, struct rt_step *t) {
    const struct fuse_matmul *m = &f->matmul;
    t->kind = RT_MATMUL;
    t->matmul = (struct rt_matmul){.dtype = m->dtype, .nbatch = m->nbatch, .m = m->m, .n = m->n,
                                   .k = m->k, .a = m->a, .b = m->b, .c = m->c, .turned = m->turned};
    memcpy(t->matmul.batch, m->batch, sizeof t->matmul.batch);
}

// What a profile says of the step.
static weft_status name_step(struct rt_program *p, const struct fuse_step *f, struct rt_step *t) {
    char name[JIT_NAME];
    t->bytes_read = f->bytes_read;
    t->bytes_written = f->bytes_written;
    jit_step_name(f, name, sizeof name);
    t->name = arena_copy(&p->arena, name, strlen(name) + 1);
    return t->name ? WEFT_OK : WEFT_ENOMEM;
}

static weft_status make_steps(struct jit *j, struct rt_program *p, const struct fuse_plan *plan) {
    p->step = ARENA_ARRAY(&p->arena, struct rt_step, plan->nstep + 1);
    if (!p->step) return WEFT_ENOMEM;
    for (int i = 0; i < plan->nstep; i++) {
        const struct fuse_step *f = &plan->step[i];
        struct rt_step *t = &p->step[p->nstep++];
        if (f->kind == FUSE_MATMUL) make_matmul(f, t);
        if (f->kind == FUSE_CALL) TRY(make_call(p, f, t));
        if (f->kind == FUSE_LOOP || f->nest.noperand) TRY(make_loop(j, p, f, t));
        TRY(name_step(p, f, t));
    }
    return WEFT_OK;
}

static weft_status make_memory(struct rt_program *p, const struct fuse_plan *plan) {
    int64_t *offset = ARENA_ARRAY(&p->arena, int64_t, plan->ntemp + 1);
    int64_t *bytes = ARENA_ARRAY(&p->arena, int64_t, plan->ntemp + 1);
    if (!offset || !bytes) return WEFT_ENOMEM;
    for (int i = 0; i < plan->ntemp; i++) {
        offset[i] = plan->temp[i].offset;
        bytes[i] = plan->temp[i].bytes;
    }
    p->ntemp = plan->ntemp;
    p->temp_offset = offset;
    p->temp_bytes = bytes;
    p->temp_total = plan->workspace_bytes;
    return WEFT_OK;
}

static weft_status make_interface(struct rt_program *p, const struct fuse_plan *plan,
                                  const struct ir_graph *g) {
    weft_dtype *types = ARENA_ARRAY(&p->arena, weft_dtype, plan->nconst + 1);
    const char **text = ARENA_ARRAY(&p->arena, const char *, plan->nguard + 1);
    if (!types || !text) return WEFT_ENOMEM;
    for (int i = 0; i < plan->nconst; i++)
        types[i] = (weft_dtype)ir_at(g, plan->constant[i])->dtype;
    for (int i = 0; i < plan->nguard; i++)
        text[i] = arena_copy(&p->arena, plan->guard_text[i], strlen(plan->guard_text[i]) + 1);
    p->nleaf = plan->nleaf;
    p->nout = plan->nroot;
    p->nconst = plan->nconst;
    p->nguard = plan->nguard;
    p->const_dtype = types;
    p->guard_text = text;
    return WEFT_OK;
}

weft_status jit_program_make(struct jit *j, const struct fuse_plan *plan, const struct ir_graph *g,
                             struct base_err *err, struct rt_program **out) {
    *out = NULL;
    struct rt_program *p = base_get_zero(&j->env->alloc, sizeof *p);
    if (!p) return err_set(err, WEFT_ENOMEM, "no memory for a program");
    arena_init(&p->arena, &j->env->alloc);
    weft_status st = make_steps(j, p, plan);
    if (!st) st = make_memory(p, plan);
    if (!st) st = make_interface(p, plan, g);
    if (st) {
        jit_program_free(j, p);
        return err_set(err, st, "no memory for a program of %d steps", plan->nstep);
    }
    *out = p;
    return WEFT_OK;
}

void jit_program_free(struct jit *j, struct rt_program *p) {
    if (!p) return;
    for (int i = 0; i < p->nstep; i++)
        if (p->step[i].code) code_put(j, (struct jit_entry *)(void *)p->step[i].code);
    arena_free(&p->arena);
    base_put(&j->env->alloc, p, sizeof *p);
}
