// SPDX-License-Identifier: MIT
// weft save: an expression becomes a file, its arrays inputs by their names. weft eval --graph: such a file,
// from anybody, is loaded (which is where it is doubted), its inputs are bound by name to arrays of the types and
// extents it was saved for, and its results go where those of an expression go.
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

int cmd_save(struct options *o) {
    struct results results = {.n = 0};
    if (o->nout != 1) return cmd_fail("save: one -o FILE should follow");
    weft_ctx *ctx = open_context(o, WEFT_BACKEND_INTERP);
    if (!ctx) return EXIT_FAULT;
    struct cmd_names names = {.inputs = &o->inputs, .assume = true, .shapes = true, .open = true};
    struct parser p = {.text = o->expr, .graph = weft_graph_new(ctx), .names = {cmd_find, cmd_list, &names}};
    int status = EXIT_BAD;
    if (!p.graph) {
        status = cmd_fail_status(WEFT_ENOMEM, "no memory for a graph");
    } else if (cmd_parse(&p, &results)) {
        const weft_status st = weft_graph_save_file(results.n, results.at, o->out[0]);
        status = st ? cmd_fail_status(st, weft_graph_error(p.graph)) : 0;
    }
    free(results.at);
    parser_free(&p);
    weft_graph_free(p.graph);
    weft_ctx_free(ctx);
    return status;
}

// ---- a loaded graph -----------------------------------------------------------------------------------
struct loaded {
    weft_ctx *ctx;
    weft_graph *graph, *numbers; // numbers: of the command line, as arrays
    weft_program *program;
    weft_expr **root;
    weft_array *in, *out;
    bool *own; // in[i] is weft's memory
    struct npy_out *files;
    int nin, nout, ready;
};

static bool same_form(const weft_array *a, const weft_array *b) {
    return a->dtype == b->dtype && a->rank == b->rank &&
           (!a->rank || !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims));
}

static int bind_input(struct loaded *l, struct options *o, int i) {
    const char *name = weft_graph_input_name(l->graph, i);
    const weft_array want = weft_graph_input_array(l->graph, i);
    struct input *in = input_find(&o->inputs, name, strlen(name));
    if (!in) return cmd_fail("%s: the graph needs this input", name);
    if (in->kind == INPUT_ARRAY) {
        l->in[i] = in->data.array;
    } else {
        weft_expr *x = weft_cast(input_leaf(l->numbers, in, false), want.dtype);
        const weft_status st = x ? weft_eval_new(x, &l->in[i], NULL) : weft_graph_status(l->numbers);
        if (st) return cmd_fail_status(st, weft_graph_error(l->numbers));
        l->own[i] = true;
    }
    return same_form(&l->in[i], &want) ? 0 : cmd_fail("%s: not of the type and extents that the graph was saved for", name);
}

static int load(struct loaded *l, struct options *o) {
    int n = 0;
    weft_status st = weft_graph_load_file(l->graph, o->graph, 0, NULL, &n);
    weft_graph_reset(l->graph);
    if (n > 0) {
        l->root = cmd_alloc((size_t)n * sizeof *l->root);
        st = weft_graph_load_file(l->graph, o->graph, n, l->root, &l->nout);
    } else if (st) { // the sentence went with the reset
        st = weft_graph_load_file(l->graph, o->graph, 0, NULL, NULL);
    }
    if (!st && l->nout != n) return cmd_fail("%s: it changes", o->graph);
    if (!st) st = weft_compile(l->nout, l->root, &l->program);
    if (st) return cmd_fail_status(st, weft_graph_error(l->graph));
    const size_t nin = (size_t)(l->nin = weft_graph_inputs(l->graph)) + 1;
    l->in = cmd_alloc(nin * sizeof *l->in);
    l->own = cmd_alloc(nin);
    memset(l->own, 0, nin);
    for (int i = 0; i < l->nin; i++) {
        const int status = bind_input(l, o, i);
        if (status) return status;
    }
    return 0;
}

static int make_outputs(struct loaded *l, const struct options *o) {
    if (o->nout && o->nout != l->nout) return cmd_fail("-o is given %d times, the graph has %d results", o->nout, l->nout);
    l->out = cmd_alloc((size_t)l->nout * sizeof *l->out);
    l->files = cmd_alloc((size_t)l->nout * sizeof *l->files);
    for (; l->ready < l->nout; l->ready++) {
        const weft_expr *x = l->root[l->ready];
        weft_array *a = &l->out[l->ready];
        *a = weft_dense(weft_expr_dtype(x), NULL, weft_expr_rank(x), weft_expr_dims(x));
        if (o->nout) {
            if (!npy_create(o->out[l->ready], a->dtype, a->rank, a->dims, &l->files[l->ready])) return EXIT_BAD;
            *a = l->files[l->ready].array;
            continue;
        }
        const size_t bytes = (size_t)weft_array_count(a) * weft_dtype_size(a->dtype);
        if (!(a->data = malloc(bytes + 1))) return cmd_fail("no memory for a result of %zu bytes", bytes);
    }
    return 0;
}

static int run(struct loaded *l, const struct options *o) {
    char err[512];
    const weft_status st = weft_run(l->program, NULL, l->in, l->out, err, sizeof err);
    if (st) return cmd_fail_status(st, err);
    for (int i = 0; i < l->nout; i++) {
        if (!o->nout) (o->raw ? print_raw : print_array)(stdout, &l->out[i]);
        else if (!npy_commit(&l->files[i])) return EXIT_BAD;
    }
    return !o->nout && (fflush(stdout) || ferror(stdout)) ? cmd_fail("the output could not be written") : 0;
}

static void release(struct loaded *l, const struct options *o) {
    for (int i = 0; i < l->ready; i++) {
        if (o->nout) npy_abandon(&l->files[i]);
        else free(l->out[i].data);
    }
    for (int i = 0; i < l->nin; i++)
        if (l->own[i]) weft_array_free(l->ctx, &l->in[i]);
    free(l->root);
    free(l->in);
    free(l->own);
    free(l->out);
    free(l->files);
    weft_program_free(l->program);
    weft_graph_free(l->numbers);
    weft_graph_free(l->graph);
    weft_ctx_free(l->ctx);
}

int cmd_eval_graph(struct options *o) {
    struct loaded l = {.ctx = open_context(o, o->backend)};
    if (!l.ctx) return EXIT_FAULT;
    l.graph = weft_graph_new(l.ctx);
    l.numbers = weft_graph_new(l.ctx);
    int status = l.graph && l.numbers ? load(&l, o) : cmd_fail_status(WEFT_ENOMEM, "no memory for a graph");
    if (!status) status = make_outputs(&l, o);
    if (!status) status = run(&l, o);
    release(&l, o);
    return status;
}
