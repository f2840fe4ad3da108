// SPDX-License-Identifier: MIT
// weft eval: inputs, expression, results. Files are computed into in place and appear only when
// every result is complete; without -o the results are printed.
#include "cmd.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

// Ctrl-C stops the evaluation, whenever it comes; a second one ends the program as ever.
static weft_token interrupted;
static void on_interrupt(int s) {
    (void)s;
    weft_token_cancel(&interrupted);
}
static void catch_interrupts(void) {
    struct sigaction a = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    struct sigaction old;
    if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(SIGINT, &a, NULL);
}
static int verdict(weft_status st, const char *what) {
    if (weft_token_cancelled(&interrupted)) {
        cmd_fail("interrupted");
        return EXIT_INTERRUPTED;
    }
    return st ? cmd_fail_status(st, what) : 0;
}

struct job {
    weft_ctx *ctx;
    struct parser parser;
    struct cmd_names names;
    struct results results;
    struct profile profile;
    struct npy_out *files; // one per result with -o
    weft_array *outs;
    int ready; // files created
};

static int compute(struct job *j, const struct options *o) {
    weft_eval_opts opts = {.size = sizeof opts, .threads = o->threads, .unfused = o->unfused, .token = &interrupted};
    struct progress *p = progress_start("evaluating");
    weft_status st = weft_eval_n(j->results.n, j->results.at, j->outs, &opts);
    progress_stop(p);
    return verdict(st, weft_graph_error(j->parser.graph));
}

// Results whose extent depends on values come one by one, as large as they are.
static bool any_counted(const struct job *j) {
    for (int i = 0; i < j->results.n; i++)
        if (weft_count_of(j->results.at[i])) return true;
    return false;
}

static int to_arrays(struct job *j, const struct options *o) {
    weft_eval_opts opts = {.size = sizeof opts, .threads = o->threads, .unfused = o->unfused, .token = &interrupted};
    struct progress *p = progress_start("evaluating");
    weft_status st = WEFT_OK;
    for (int i = 0; i < j->results.n; i++)
        j->outs[i].data = NULL;
    for (int i = 0; i < j->results.n && !st; i++)
        st = weft_eval_new(j->results.at[i], &j->outs[i], &opts);
    progress_stop(p);
    return verdict(st, weft_graph_error(j->parser.graph));
}

static int counted(struct job *j, const struct options *o) {
    int status = to_arrays(j, o);
    for (int i = 0; i < j->results.n && !status; i++) {
        const weft_array *a = &j->outs[i];
        if (!o->nout) {
            (o->raw ? print_raw : print_array)(stdout, a);
            continue;
        }
        if (!npy_create(o->out[i], a->dtype, a->rank, a->dims, &j->files[i])) status = EXIT_BAD;
        if (status) break;
        j->ready = i + 1;
        const size_t bytes = (size_t)weft_array_count(a) * weft_dtype_size(a->dtype);
        if (bytes) memcpy(j->files[i].array.data, a->data, bytes);
    }
    for (int i = 0; i < j->results.n && !status && o->nout; i++)
        if (!npy_commit(&j->files[i])) status = EXIT_BAD;
    for (int i = 0; i < j->results.n; i++)
        weft_array_free(j->ctx, &j->outs[i]);
    if (!status && (fflush(stdout) || ferror(stdout)))
        status = cmd_fail("the output could not be written");
    return status;
}

static int to_files(struct job *j, const struct options *o) {
    int n = j->results.n;
    if (n != o->nout)
        return cmd_fail("-o is given %d time%s, the expression has %d result%s", o->nout,
                        o->nout == 1 ? "" : "s", n, n == 1 ? "" : "s");
    for (int i = 1; i < n; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(o->out[i], o->out[k]) == 0) return cmd_fail("%s: given for two results", o->out[i]);
    if (any_counted(j)) return counted(j, o);
    for (int i = 0; i < n; i++) {
        const weft_expr *x = j->results.at[i];
        if (!npy_create(o->out[i], weft_expr_dtype(x), weft_expr_rank(x), weft_expr_dims(x),
                        &j->files[i]))
            return EXIT_BAD;
        j->outs[i] = j->files[i].array;
        j->ready = i + 1;
    }
    int status = compute(j, o);
    for (int i = 0; i < n && !status; i++)
        if (!npy_commit(&j->files[i])) status = EXIT_BAD;
    return status;
}

static int to_terminal(struct job *j, const struct options *o) {
    int n = j->results.n, status = 0;
    if (any_counted(j)) return counted(j, o);
    for (int i = 0; i < n; i++) {
        const weft_expr *x = j->results.at[i];
        j->outs[i] = weft_dense(weft_expr_dtype(x), NULL, weft_expr_rank(x), weft_expr_dims(x));
        size_t bytes = (size_t)weft_array_count(&j->outs[i]) * weft_dtype_size(j->outs[i].dtype);
        j->outs[i].data = aligned_alloc(64, (bytes + 64) & ~(size_t)63);
        if (!j->outs[i].data) status = cmd_fail("no memory for a result of %zu bytes", bytes);
    }
    if (!status) status = compute(j, o);
    for (int i = 0; i < n && !status; i++)
        (o->raw ? print_raw : print_array)(stdout, &j->outs[i]);
    for (int i = 0; i < n; i++)
        free(j->outs[i].data);
    if (!status && (fflush(stdout) || ferror(stdout)))
        status = cmd_fail("the output could not be written");
    return status;
}

int cmd_eval(struct options *o) {
    if (o->graph) return cmd_eval_graph(o);
    struct job j = {.ctx = open_context(o, o->backend)};
    if (!j.ctx) return EXIT_FAULT;
    int status = EXIT_BAD;
    j.names.inputs = &o->inputs;
    j.parser = (struct parser){
        .text = o->expr, .graph = weft_graph_new(j.ctx), .names = {cmd_find, cmd_list, &j.names}};
    catch_interrupts();
    if (j.parser.graph) weft_graph_check(j.parser.graph, o->check);
    if (!j.parser.graph) {
        status = cmd_fail_status(WEFT_ENOMEM, "no memory for a graph");
    } else if (cmd_parse(&j.parser, &j.results)) {
        size_t n = (size_t)j.results.n;
        j.files = cmd_alloc(n * sizeof *j.files);
        j.outs = cmd_alloc(n * sizeof *j.outs);
        for (size_t i = 0; i < n; i++)
            j.files[i] = (struct npy_out){.fd = -1};
        if (o->profile) weft_set_profile(j.ctx, profile_hear, &j.profile);
        status = o->nout ? to_files(&j, o) : to_terminal(&j, o);
        for (int i = 0; i < j.ready; i++)
            npy_abandon(&j.files[i]);
        if (o->profile && !status) profile_print(stderr, &j.profile);
    }
    profile_free(&j.profile);
    free(j.files);
    free(j.outs);
    free(j.results.at);
    parser_free(&j.parser);
    weft_graph_free(j.parser.graph);
    weft_ctx_free(j.ctx);
    return status;
}
