// SPDX-License-Identifier: MIT
// A graph and its plan as plain structs for tools that draw them. In: roots; out: everything the dumps say, copied
// into one arena that the report lives in, so that graph and plan may go.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "look.h"

struct owner { // the report comes first: a pointer to it is one to this
    weft_report r;
    struct base_arena arena;
};
struct work {
    struct look *l;
    struct base_arena *a;
    weft_report *r;
    uint32_t *number;  // of each ref: 1 + its node
    struct base_vec text;
};

static const char *keep(struct work *w, const char *s) {
    return arena_copy(w->a, s, strlen(s) + 1);
}
// What was printed into text since it was cleared.
static const char *keep_text(struct work *w) {
    vec_printf(&w->text, "%s", "");
    return w->text.failed ? NULL : keep(w, (const char *)w->text.data);
}

// ---- nodes --------------------------------------------------------------------------------------------------
static const char *kind_of(const struct ir_node *n) {
    static const char *const kind[] = {[IR_LEAF] = "leaf",     [IR_MAP] = "elementwise", [IR_REDUCE] = "reduction",
                                       [IR_VIEW] = "view",     [IR_PAIR] = "elementwise", [IR_CONTRACT] = "contraction",
                                       [IR_GATHER] = "gather", [IR_JOIN] = "join",       [IR_RESULT] = "result",
                                       [IR_CALL] = "call"};
    return kind[ir_ops[n->op].cls];
}

static bool fill_node(struct work *w, ir_ref ref, weft_report_node *out) {
    const struct ir_graph *g = w->l->g->ir;
    const struct ir_node *n = ir_at(g, ref);
    char type[256];
    *out = (weft_report_node){.op = ir_ops[n->op].name, .kind = kind_of(n), .step = -1};
    ir_type_text(g, ref, type, sizeof type);
    out->type = keep(w, type);
    vec_clear(&w->text);
    ir_attr_dump(g, ref, &w->text);
    out->detail = keep_text(w);
    while (out->nin < 3 && n->in[out->nin]) {
        out->in[out->nin] = (int)w->number[n->in[out->nin]] - 1;
        out->nin++;
    }
    return out->type && out->detail;
}

static bool fill_nodes(struct work *w) {
    const struct ir_graph *g = w->l->g->ir;
    const struct plan_request *q = &w->l->real.request;
    const uint32_t count = ir_count(g);
    w->number = ARENA_ARRAY(w->a, uint32_t, count);
    if (!w->number || ir_numbers(g, q->n, q->roots, w->number)) return false;
    for (ir_ref r = 1; r < count; r++)
        w->r->nnode = MAX_OF(w->r->nnode, (int)w->number[r]);
    weft_report_node *node = ARENA_ARRAY(w->a, weft_report_node, w->r->nnode + 1);
    int *root = ARENA_ARRAY(w->a, int, q->n);
    if (!node || !root) return false;
    for (ir_ref r = 1; r < count; r++)
        if (w->number[r] && !fill_node(w, r, &node[w->number[r] - 1])) return false;
    for (int i = 0; i < q->n; i++)
        root[i] = (int)w->number[q->roots[i]] - 1;
    w->r->nroot = q->n;
    w->r->node = node;
    w->r->root = root;
    return true;
}

// ---- steps --------------------------------------------------------------------------------------------------
static const char *space_of(struct work *w, const struct fuse_step *s) {
    vec_clear(&w->text);
    fuse_space_text(s, &w->text);
    return keep_text(w);
}

static const char *operand_name(struct work *w, const struct nest_operand *o) {
    static const char *const buffer[] = {"leaf", "out", "temp", "const", "iota", "row", "guard"};
    const struct ir_graph *g = w->l->g->ir;
    vec_clear(&w->text);
    const ir_ref leaf = o->buffer == NEST_LEAF ? w->l->plan->leaf[o->buf] : IR_NONE;
    if (leaf && ir_at(g, leaf)->op == IR_input)
        vec_printf(&w->text, "%s %s", ir_input_at(g, (int)*ir_attr(g, leaf))->name, dtype_name((weft_dtype)o->dtype));
    else
        vec_printf(&w->text, "%s%" PRIu32 " %s", buffer[o->buffer], o->buf, dtype_name((weft_dtype)o->dtype));
    return keep_text(w);
}

static bool in_memory(const struct nest_operand *o) {
    return o->buffer == NEST_LEAF || o->buffer == NEST_OUT || o->buffer == NEST_TEMP;
}

// Every operand of the step, whatever its kind; NULL past the end.
static const struct nest_operand *operand_at(const struct fuse_step *s, int i) {
    if (s->kind == FUSE_CALL) {
        while (i < s->call.nin + s->call.nout && s->call.array[i].absent)
            i++;
        return i < s->call.nin + s->call.nout ? &s->call.array[i].o : NULL;
    }
    if (s->kind == FUSE_MATMUL) {
        const struct nest_operand *m[] = {&s->matmul.a, &s->matmul.b, &s->matmul.c};
        if (i < 3) return m[i];
        i -= 3;
    }
    return i < s->nest.noperand ? &s->nest.operand[i] : NULL;
}

static bool has(const char *const *list, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (strcmp(list[i], name) == 0) return true;
    return false;
}

static bool fill_operands(struct work *w, const struct fuse_step *s, weft_report_step *out) {
    const int most = s->nest.noperand + s->call.nin + s->call.nout + 4;
    const char **list[2] = {ARENA_ARRAY(w->a, const char *, most), ARENA_ARRAY(w->a, const char *, most)};
    int n[2] = {0, 0};
    const struct nest_operand *o;
    if (!list[0] || !list[1]) return false;
    for (int i = 0; (o = operand_at(s, i)); i++) {
        if (!in_memory(o)) continue;
        const char *name = operand_name(w, o);
        if (!name) return false;
        if (!has(list[o->out], n[o->out], name)) list[o->out][n[o->out]++] = name;
    }
    out->read = list[0], out->nread = n[0];
    out->write = list[1], out->nwrite = n[1];
    return true;
}

static void take_node(struct work *w, int step, ir_ref ref, int *list, int *n) {
    const int k = (int)w->number[ref] - 1;
    if (k < 0) return;
    for (int i = 0; i < *n; i++)
        if (list[i] == k) return;
    list[(*n)++] = k;
    weft_report_node *node = (weft_report_node *)(uintptr_t)&w->r->node[k];
    if (node->step < 0) node->step = step;
}

static bool fill_step_nodes(struct work *w, int step, const struct fuse_step *s, weft_report_step *out) {
    int *list = ARENA_ARRAY(w->a, int, s->seg.nop + s->nmade + 2), n = 0;
    weft_report_made *made = ARENA_ARRAY(w->a, weft_report_made, s->nmade + 1);
    if (!list || !made) return false;
    if (s->whole) take_node(w, step, s->whole, list, &n);
    for (int i = 0; i < s->seg.nop; i++)
        if (s->seg.op[i].op != SEG_LOAD && s->seg.op[i].op != SEG_STORE) take_node(w, step, s->seg.node[i], list, &n);
    for (int i = 0; i < s->nmade; i++) {
        if (s->kind == FUSE_CALL) take_node(w, step, s->made[i], list, &n);
        made[i] = (weft_report_made){(int)w->number[s->made[i]] - 1, s->made_why[i], fuse_why_text(s->made_why[i])};
    }
    out->node = list, out->nnode = n;
    out->made = made, out->nmade = s->nmade;
    return true;
}

static const char *code_of(struct work *w, const struct fuse_step *s, weft_dump_kind kind, weft_isa isa,
                           struct base_err *err) {
    const struct jit_look how = {kind, isa, w->number};
    vec_clear(&w->text);
    return jit_dump_step(w->l->g->ctx->jit, s, &how, &w->text, err) ? NULL : keep_text(w);
}

static bool fill_code(struct work *w, const struct fuse_step *s, weft_isa isa, weft_report_step *out) {
    struct base_err err = {WEFT_OK, ""};
    if (!s->nest.noperand || w->r->code_error[0]) return true;
    out->llvm = code_of(w, s, WEFT_DUMP_LLVM, isa, &err);
    if (out->llvm) out->assembly = code_of(w, s, WEFT_DUMP_ASM, isa, &err);
    if (err.status) w->r->code_error = keep(w, err.text);
    return w->r->code_error != NULL && err.status != WEFT_ENOMEM;
}

static bool fill_step(struct work *w, int i, weft_report_step *out) {
    const struct fuse_step *s = &w->l->plan->step[i];
    static const char *const mode[] = {"map", "inner", "outer"};
    char name[JIT_NAME];
    jit_step_name(s, name, sizeof name);
    out->kind = s->kind == FUSE_MATMUL ? "matmul" : s->kind == FUSE_CALL ? "call" : mode[s->nest.mode];
    out->name = keep(w, name);
    out->space = space_of(w, s);
    out->bytes_read = s->bytes_read;
    out->bytes_written = s->bytes_written;
    return out->name && out->space && fill_operands(w, s, out) && fill_step_nodes(w, i, s, out);
}

static bool fill_steps(struct work *w, bool code, weft_isa isa) {
    const struct fuse_plan *p = w->l->plan;
    weft_report_step *step = ARENA_ARRAY(w->a, weft_report_step, p->nstep + 1);
    weft_report_temp *temp = ARENA_ARRAY(w->a, weft_report_temp, p->ntemp + 1);
    if (!step || !temp) return false;
    for (int i = 0; i < p->nstep; i++)
        if (!fill_step(w, i, &step[i]) || (code && !fill_code(w, &p->step[i], isa, &step[i]))) return false;
    for (int i = 0; i < p->ntemp; i++)
        temp[i] = (weft_report_temp){(int)w->number[p->temp[i].node] - 1, p->temp[i].first_step, p->temp[i].last_step,
                                     p->temp[i].bytes, p->temp[i].offset};
    weft_report *r = w->r;
    r->nstep = p->nstep, r->step = step;
    r->ntemp = p->ntemp, r->temp = temp;
    r->passes = p->passes;
    r->bytes_read = p->bytes_read, r->bytes_written = p->bytes_written;
    r->workspace_bytes = p->workspace_bytes;
    return true;
}

// ---- the report ---------------------------------------------------------------------------------------------
static weft_status make(struct look *l, bool code, weft_isa isa, weft_report **out) {
    const struct base_alloc *alloc = &l->g->ctx->env.alloc;
    struct owner *o = base_get_zero(alloc, sizeof *o);
    if (!o) return WEFT_ENOMEM;
    arena_init(&o->arena, alloc);
    o->r.code_error = "";
    struct work w = {.l = l, .a = &o->arena, .r = &o->r};
    vec_init(&w.text, alloc);
    const bool ok = fill_nodes(&w) && fill_steps(&w, code, isa);
    vec_free(&w.text);
    if (ok)
        *out = &o->r;
    else
        weft_report_free(&o->r);
    return ok ? WEFT_OK : WEFT_ENOMEM;
}

weft_status weft_report_new(int n, weft_expr *const *roots, bool code, weft_isa isa, weft_report **out) {
    struct look l;
    const int saved = errno;
    if (!out || (unsigned)isa > WEFT_ISA_NEON) return WEFT_EINVAL;
    *out = NULL;
    weft_status st = look_begin(n, roots, &l);
    if (!st) st = make(&l, code, isa, out);
    st = look_end(n, &l, st, NULL);
    errno = saved;
    return st;
}

void weft_report_free(weft_report *r) {
    struct owner *o = (struct owner *)r;
    if (!o) return;
    struct base_alloc alloc = o->arena.alloc;
    arena_free(&o->arena);
    base_put(&alloc, o, sizeof *o);
}
