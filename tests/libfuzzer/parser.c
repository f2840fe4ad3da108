// SPDX-License-Identifier: MIT
// The expression parser of the command: any text, a few names of every kind, builders and all. What
// parses and is small is evaluated as well.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static weft_ctx *ctx;
static struct inputs inputs;

static void open_once(void) {
    static const char *const given[] = {"x=f64[3,4]", "y=f32[4]",   "i=i32[3]:iota", "b=bool[3,4]",
                                        "c=c128[2]",  "z=f64[0,3]", "n=7",           "h=f16[]"};
    if (ctx) return;
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    weft_ctx_opts o = {
        .size = sizeof o, .threads = 1, .backend = WEFT_BACKEND_INTERP, .ignore_env = true};
    if (weft_ctx_new(&ctx, &o)) abort();
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (!input_add(&inputs, given[i], false)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    open_once();
    if (size > 4096) return 0;
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    struct cmd_names names = {.inputs = &inputs};
    struct parser p = {.text = text, .graph = weft_graph_new(ctx), .names = {cmd_find, cmd_list, &names}};
    struct results r = {NULL, 0};
    if (parse_program(&p, &r)) {
        for (int k = 0; k < r.n; k++) {
            weft_array a = weft_dense(weft_expr_dtype(r.at[k]), NULL, weft_expr_rank(r.at[k]),
                                      weft_expr_dims(r.at[k]));
            int64_t n = weft_array_count(&a);
            char *dump = NULL;
            if (n >= 0 && n < 1000 && !weft_dump(1, &r.at[k], WEFT_DUMP_IR, WEFT_ISA_BEST, &dump) &&
                strlen(dump) < 4000 && !strstr(dump, "00")) { // no large extents on the way
                weft_array out;
                if (!weft_eval_new(r.at[k], &out, NULL)) weft_array_free(ctx, &out);
            }
            weft_text_free(ctx, dump);
        }
    }
    free(r.at);
    parser_free(&p);
    weft_graph_free(p.graph);
    free(text);
    return 0;
}
