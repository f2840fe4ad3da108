// SPDX-License-Identifier: MIT
// weft explain: what becomes of an expression, stage by stage: the graph, the plan, the LLVM IR,
// the machine code; or all of it as a page (html.c). Runs nothing but for the page; inputs that are only described have no memory; names that nobody
// gave are f64[1000].
#include "draw.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    weft_dump_kind kind;
    const char *title;
} stages[] = {{WEFT_DUMP_IR, "graph"},
              {WEFT_DUMP_PLAN, "plan"},
              {WEFT_DUMP_LLVM, "LLVM IR"},
              {WEFT_DUMP_ASM, "machine code"},
              {WEFT_DUMP_DOT, "graphviz"}};

static int show_stage(const struct options *o, weft_ctx *ctx, struct parser *p, struct results *r, size_t i) {
    const struct term term = term_of(o);
    char *text = NULL;
    weft_status st = weft_dump(r->n, r->at, stages[i].kind, o->isa, &text);
    bool code = stages[i].kind == WEFT_DUMP_LLVM || stages[i].kind == WEFT_DUMP_ASM;
    bool alone = o->show == 1u << stages[i].kind;
    if (st == WEFT_EUNSUPPORTED && code && !alone) {
        printf("-- %s: LLVM is not available here\n", stages[i].title);
        return 0;
    }
    if (st) return cmd_fail_status(st, weft_graph_error(p->graph));
    if (!alone) term_title(&term, stages[i].title);
    term_text(&term, stages[i].kind, text);
    if (!alone) printf("\n");
    weft_text_free(ctx, text);
    return 0;
}

static int show_steps(const struct options *o, struct parser *p, struct results *r) {
    const struct term term = term_of(o);
    weft_report *report = NULL;
    weft_status st = weft_report_new(r->n, r->at, false, o->isa, &report);
    if (st) return cmd_fail_status(st, weft_graph_error(p->graph));
    term_title(&term, "steps");
    term_steps(&term, report);
    printf("\n");
    weft_report_free(report);
    return 0;
}

static int show(const struct options *o, weft_ctx *ctx, struct parser *p, struct results *r) {
    unsigned all =
        1u << WEFT_DUMP_IR | 1u << WEFT_DUMP_PLAN | 1u << WEFT_DUMP_LLVM | 1u << WEFT_DUMP_ASM;
    unsigned chosen = o->show ? o->show : all;
    int status = 0;
    if (o->json) {
        char *json = NULL;
        weft_status st = weft_explain(r->n, r->at, &json);
        if (st) return cmd_fail_status(st, weft_graph_error(p->graph));
        size_t n = strlen(json);
        printf("%s%s", json, n && json[n - 1] == '\n' ? "" : "\n");
        weft_text_free(ctx, json);
        return 0;
    }
    if (!o->show) status = show_steps(o, p, r);
    for (size_t i = 0; i < COUNT_OF(stages) && !status; i++)
        if (chosen >> stages[i].kind & 1) status = show_stage(o, ctx, p, r, i);
    return status;
}

int cmd_explain(struct options *o) {
    const bool compile = o->html && o->backend == WEFT_BACKEND_AUTO; // what is measured
    weft_ctx *ctx = open_context(o, compile ? WEFT_BACKEND_JIT : o->backend);
    if (!ctx) return EXIT_FAULT;
    struct trace trace = {.at = NULL};
    struct cmd_names names = {&o->inputs, .assume = true, .shapes = true};
    struct parser p = {
        .text = o->expr, .graph = weft_graph_new(ctx), .names = {cmd_find, cmd_list, &names}};
    if (o->html) p.trace = trace_built, p.trace_ud = &trace;
    struct results r = {.at = NULL};
    int status = EXIT_BAD;
    if (!p.graph)
        status = cmd_fail_status(WEFT_ENOMEM, "no memory for a graph");
    else if (cmd_parse(&p, &r))
        status = o->html ? explain_html(o, ctx, &trace, &r) : show(o, ctx, &p, &r);
    free(r.at);
    parser_free(&p);
    trace_free(&trace);
    weft_graph_free(p.graph);
    weft_ctx_free(ctx);
    return status;
}
