// SPDX-License-Identifier: MIT
// What the command's files take from its main.c, without its main: messages go nowhere, so that a
// fuzzer spends its time in what it tests.
#include "cmd/cmd.h"

#include <stdlib.h>

int cmd_fail(const char *fmt, ...) {
    char text[1000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap); // the arguments are read all the same
    va_end(ap);
    return EXIT_BAD;
}
int cmd_fail_status(weft_status s, const char *what) {
    return cmd_fail("%s", what && *what ? what : weft_status_text(s));
}
void *cmd_alloc(size_t size) {
    void *p = malloc(size ? size : 1);
    if (!p) exit(EXIT_FAULT);
    return p;
}
weft_ctx *open_context(const struct options *o, weft_backend backend) {
    weft_ctx *ctx = NULL;
    (void)o;
    weft_ctx_new(&ctx, &(weft_ctx_opts){.size = sizeof(weft_ctx_opts),
                                        .backend = backend,
                                        .threads = 1,
                                        .ignore_env = true});
    return ctx;
}
weft_ctx *open_bare_context(const struct options *o, weft_backend backend) {
    return open_context(o, backend);
}
