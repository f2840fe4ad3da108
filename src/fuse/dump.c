// SPDX-License-Identifier: MIT
// A plan as text for people and as JSON for programs. In: a plan; out: characters appended to a
// vector. The text names every step's space, operands with class and strides, code by sections,
// traffic, and why the step ends where it does; its first line is the summary that tests look at.
#include <inttypes.h>
#include <stdio.h>

#include "plan.h"

static const char *const mode_name[] = {"map", "inner", "outer"};
static const char *const buffer_name[] = {"leaf", "out",    "temp", "const",
                                          "iota", "rowtmp", "guard"};

static void put_list(struct base_vec *o, const int64_t *x, int n, const char *sep) {
    for (int i = 0; i < n; i++)
        vec_printf(o, "%s%" PRId64, i ? sep : "", x[i]);
}

// ---- text ---------------------------------------------------------------------------------------
static void put_operand(struct base_vec *o, const struct nest_operand *p, int ndim,
                        const char *name) {
    vec_printf(o, "    %-6s %s", name, buffer_name[p->buffer]);
    if (p->buffer != NEST_IOTA) vec_printf(o, "%" PRIu32, p->buf);
    vec_printf(o, " %s", dtype_name((weft_dtype)p->dtype));
    if (p->aux) vec_printf(o, " index");
    if (*name != 'm' && *name != 'c' && !p->aux)
        vec_printf(o, " %s%s", p->cls == NEST_UNIT ? "unit" : "scalar", p->late ? " late" : "");
    if (p->offset) vec_printf(o, " %+" PRId64, p->offset);
    if (p->buffer != NEST_CONST) {
        vec_printf(o, " [");
        put_list(o, p->stride, ndim, ",");
        vec_printf(o, "]");
    }
    if (p->index) {
        static const char *const mode[] = {"raise", "clip", "wrap"};
        vec_printf(o, " at in%d*%" PRId64 " of %" PRId64 " %s", p->index - 1, p->gstride,
                   p->gextent, mode[p->gmode]);
    }
    vec_printf(o, "\n");
}

static const char *op_name(const struct seg_op *op) {
    if (op->op == SEG_LOAD) return "load";
    if (op->op == SEG_STORE) return "store";
    if (op->op == SEG_REDUCE) return ir_ops[IR_R_sum + op->arg[1]].name;
    return ir_ops[op->op].name;
}

static void put_section(struct base_vec *o, const struct seg *s, const struct seg_section *sec) {
    static const char *const name[] = {"row:", "elem:", "fin:"};
    size_t line = o->size;
    vec_printf(o, "    %s", name[sec->kind]);
    for (int i = sec->begin; i < sec->end; i++) {
        const struct seg_op *op = &s->op[i];
        if (o->size - line > 92) {
            line = o->size + 1;
            vec_printf(o, "\n          ");
        }
        vec_printf(o, " %s", op_name(op));
        if (op->op == SEG_LOAD) vec_printf(o, "(%d)", op->arg[0]);
        if (op->op == SEG_STORE) vec_printf(o, "(%d)", op->arg[1]);
    }
    vec_printf(o, "\n");
}

static int count_ops(const struct seg *s) {
    int n = 0;
    for (int i = 0; i < s->nop; i++)
        n += s->op[i].op != SEG_LOAD && s->op[i].op != SEG_STORE;
    return n;
}

static void put_loop(struct base_vec *o, const struct fuse_step *s) {
    const struct nest *n = &s->nest;
    vec_printf(o, "%s ", mode_name[n->mode]);
    put_list(o, n->dim, n->nouter, "x");
    vec_printf(o, "%s(", n->nouter ? " " : "");
    put_list(o, n->dim + n->nouter, n->nrow, "x");
    vec_printf(o, " rows, ");
    put_list(o, n->dim + n->nouter + n->nrow, n->ncol, "x");
    vec_printf(o, " columns) ops=%d", count_ops(&s->seg));
}

static void put_matmul(struct base_vec *o, const struct fuse_step *s) {
    const struct fuse_matmul *m = &s->matmul;
    vec_printf(o, "matmul %s ", dtype_name(m->dtype));
    put_list(o, m->batch, m->nbatch, "x");
    vec_printf(o, "%s(%" PRId64 "x%" PRId64 ") @ (%" PRId64 "x%" PRId64 ")", m->nbatch ? " " : "",
               m->m, m->k, m->k, m->n);
    if (s->nest.noperand) vec_printf(o, " + %d ops", count_ops(&s->seg));
}

static void put_call(struct base_vec *o, const struct nest_call *c) {
    vec_printf(o, "call %s", ir_ops[c->op].name);
    if (!c->nattr) return;
    vec_printf(o, " [");
    put_list(o, c->attr, c->nattr, ",");
    vec_printf(o, "]");
}

static void put_arrays(struct base_vec *o, const struct nest_call *c) {
    for (int i = 0; i < c->nin + c->nout; i++) {
        const struct nest_array *a = &c->array[i];
        char name[16];
        snprintf(name, sizeof name, "c.%s%d", a->o.out ? "out" : "in", i);
        if (a->absent)
            vec_printf(o, "    %-6s absent\n", name);
        else
            put_operand(o, &a->o, a->rank, name);
    }
}

static void put_step(const struct ir_graph *g, struct base_vec *o, const struct fuse_step *s,
                     int number) {
    vec_printf(o, "step %d: ", number);
    if (s->kind == FUSE_MATMUL)
        put_matmul(o, s);
    else if (s->kind == FUSE_CALL)
        put_call(o, &s->call);
    else
        put_loop(o, s);
    vec_printf(o, " read=%" PRId64 " write=%" PRId64 "\n    makes ", s->bytes_read,
               s->bytes_written);
    for (int i = 0; i < s->nmade; i++) {
        char type[256];
        ir_type_text(g, s->made[i], type, sizeof type);
        vec_printf(o, "%s%s %s", i ? ", " : "", ir_ops[ir_at(g, s->made[i])->op].name, type);
        if (strcmp(s->made_why[i], s->why)) vec_printf(o, " (%s)", s->made_why[i]);
    }
    vec_printf(o, "; %s\n", s->why);
    if (s->kind == FUSE_MATMUL) {
        put_operand(o, &s->matmul.a, s->matmul.nbatch + 2, "m.a");
        put_operand(o, &s->matmul.b, s->matmul.nbatch + 2, "m.b");
        put_operand(o, &s->matmul.c, s->matmul.nbatch + 2, "m.c");
    }
    if (s->kind == FUSE_CALL) {
        put_arrays(o, &s->call);
        return;
    }
    for (int i = 0; i < s->nest.noperand; i++) {
        char name[16];
        snprintf(name, sizeof name, "%s%d", s->nest.operand[i].out ? "out" : "in", i);
        put_operand(o, &s->nest.operand[i], s->nest.ndim, name);
    }
    for (int i = 0; i < s->seg.nsection; i++)
        put_section(o, &s->seg, &s->seg.section[i]);
}

void fuse_space_text(const struct fuse_step *s, struct base_vec *o) {
    const struct nest *n = &s->nest;
    const struct fuse_matmul *m = &s->matmul;
    if (s->kind == FUSE_MATMUL) {
        put_list(o, m->batch, m->nbatch, " x ");
        vec_printf(o, "%s(%" PRId64 " x %" PRId64 ") @ (%" PRId64 " x %" PRId64 ")", m->nbatch ? " times " : "", m->m,
                   m->k, m->k, m->n);
    } else if (s->kind == FUSE_CALL) {
        const struct nest_array *a = &s->call.array[0];
        put_list(o, a->dim, a->rank, " x ");
        vec_printf(o, a->rank ? " elements" : "one element");
    } else {
        put_list(o, n->dim, n->nouter, " x ");
        if (n->nouter) vec_printf(o, " outer, ");
        put_list(o, n->dim + n->nouter, n->nrow, " x ");
        vec_printf(o, " rows, ");
        put_list(o, n->dim + n->nouter + n->nrow, n->ncol, " x ");
        vec_printf(o, " columns");
    }
}

void fuse_plan_dump(const struct ir_graph *g, const struct fuse_plan *p, struct base_vec *o) {
    vec_printf(o, "passes=%d read=%" PRId64 " write=%" PRId64 " workspace=%" PRId64 "\n", p->passes,
               p->bytes_read, p->bytes_written, p->workspace_bytes);
    for (int i = 0; i < p->nstep; i++)
        put_step(g, o, &p->step[i], i);
    for (int i = 0; i < p->ntemp; i++)
        vec_printf(o, "temp%d: %" PRId64 " bytes at %" PRId64 ", steps %d to %d\n", i,
                   p->temp[i].bytes, p->temp[i].offset, p->temp[i].first_step,
                   p->temp[i].last_step);
}

// ---- JSON ---------------------------------------------------------------------------------------
static void json_arrays(struct base_vec *o, const struct nest_call *c, bool out) {
    const char *sep = "";
    for (int i = 0; i < c->nin + c->nout; i++) {
        const struct nest_operand *p = &c->array[i].o;
        if (p->out != out || c->array[i].absent) continue;
        vec_printf(o, "%s\"%s%" PRIu32 " %s array\"", sep, buffer_name[p->buffer], p->buf,
                   dtype_name((weft_dtype)p->dtype));
        sep = ",";
    }
}

static void json_operand(struct base_vec *o, const struct nest_operand *p, const char *kind,
                         const char **sep) {
    if (p->buffer == NEST_ROWTMP) return;
    vec_printf(o, "%s\"%s%" PRIu32 " %s %s\"", *sep, buffer_name[p->buffer], p->buf,
               dtype_name((weft_dtype)p->dtype), kind);
    *sep = ",";
}

static void json_operands(struct base_vec *o, const struct fuse_step *s, bool out) {
    const char *sep = "";
    if (s->kind == FUSE_CALL) {
        json_arrays(o, &s->call, out);
        return;
    }
    const struct fuse_matmul *m = &s->matmul;
    const struct nest_operand *of[3] = {&m->a, &m->b, &m->c};
    for (int i = 0; i < 3 && s->kind == FUSE_MATMUL; i++)
        if (of[i]->out == out) json_operand(o, of[i], "matrix", &sep);
    for (int i = 0; i < s->nest.noperand; i++) {
        const struct nest_operand *p = &s->nest.operand[i];
        if (p->out == out) json_operand(o, p, p->cls == NEST_UNIT ? "unit" : "scalar", &sep);
    }
}

static void json_made(const struct ir_graph *g, struct base_vec *o, const struct fuse_step *s) {
    for (int i = 0; i < s->nmade; i++) {
        char type[256];
        ir_type_text(g, s->made[i], type, sizeof type);
        vec_printf(o, "%s{\"op\":\"%s\",\"type\":\"%s\",\"why\":\"%s\",\"because\":\"%s\"}", i ? "," : "",
                   ir_ops[ir_at(g, s->made[i])->op].name, type, s->made_why[i], fuse_why_text(s->made_why[i]));
    }
}

static void json_step(const struct ir_graph *g, struct base_vec *o, const struct fuse_step *s) {
    const struct fuse_matmul *m = &s->matmul;
    bool loop = s->kind == FUSE_LOOP;
    const bool call = s->kind == FUSE_CALL;
    vec_printf(o, "{\"kind\":\"%s\",\"space\":[",
               loop   ? mode_name[s->nest.mode]
               : call ? ir_ops[s->call.op].name
                      : "matmul");
    if (loop) {
        put_list(o, s->nest.dim, s->nest.ndim, ",");
    } else if (call) {
        put_list(o, s->call.array[s->call.nin].dim, s->call.array[s->call.nin].rank, ",");
    } else {
        put_list(o, m->batch, m->nbatch, ",");
        vec_printf(o, "%s%" PRId64 ",%" PRId64 ",%" PRId64, m->nbatch ? "," : "", m->m, m->n, m->k);
    }
    vec_printf(o, "],\"reads\":[");
    json_operands(o, s, false);
    vec_printf(o, "],\"writes\":[");
    json_operands(o, s, true);
    vec_printf(
        o, "],\"ops\":%d,\"bytes_read\":%" PRId64 ",\"bytes_written\":%" PRId64 ",\"why\":\"%s\",\"makes\":[",
        count_ops(&s->seg) + !loop, s->bytes_read, s->bytes_written, s->why);
    json_made(g, o, s);
    vec_printf(o, "]}");
}

void fuse_plan_json(const struct ir_graph *g, const struct fuse_plan *p, struct base_vec *o) {
    vec_printf(o,
               "{\"passes\":%d,\"bytes_read\":%" PRId64 ",\"bytes_written\":%" PRId64
               ",\"workspace_bytes\":%" PRId64 ",\"steps\":[",
               p->passes, p->bytes_read, p->bytes_written, p->workspace_bytes);
    for (int i = 0; i < p->nstep; i++) {
        if (i) vec_printf(o, ",");
        json_step(g, o, &p->step[i]);
    }
    vec_printf(o, "],\"temporaries\":[");
    for (int i = 0; i < p->ntemp; i++)
        vec_printf(o, "%s{\"bytes\":%" PRId64 ",\"offset\":%" PRId64 ",\"first_step\":%d,\"last_step\":%d}",
                   i ? "," : "", p->temp[i].bytes, p->temp[i].offset, p->temp[i].first_step, p->temp[i].last_step);
    vec_printf(o, "]}\n");
}
