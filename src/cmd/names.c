// SPDX-License-Identifier: MIT
// The command's side of the language: names are inputs of the command line, and an error is printed with the part of
// the text around it and a caret below.
#include "cmd.h"

#include <string.h>

enum { WINDOW = 100 };

weft_expr *input_leaf(weft_graph *g, const struct input *in, bool open) {
    const weft_array *a = &in->data.array;
    switch (in->kind) {
    case INPUT_INT: return weft_int(g, in->i);
    case INPUT_UINT: return weft_uint(g, in->u);
    case INPUT_FLOAT: return weft_float(g, in->f);
    case INPUT_BOOL: return weft_truth(g, in->i != 0);
    default: break;
    }
    return in->shape_only || open ? weft_input(g, in->name, a->dtype, a->rank, a->dims) : weft_from(g, a);
}

int cmd_find(struct parser *p, const struct token *t, bool last, struct value *out) {
    struct cmd_names *n = p->names.ud;
    const char *s = p->text + t->at;
    struct input *in = last ? NULL : input_find(n->inputs, s, t->len);
    if (last && n->assume) in = input_assume(n->inputs, s, t->len, n->shapes);
    if (!in) return 0;
    in->used = true;
    if (in->shape_only) in->number = n->nleaf++;
    if (!value_built(p, t->at, input_leaf(p->graph, in, n->open), out)) return -1;
    parse_trace(p, in->name, strlen(in->name), NULL, 0, out);
    return 1;
}

void cmd_list(struct parser *p, char *buf, size_t size) {
    const struct cmd_names *n = p->names.ud;
    size_t at = 0;
    for (int i = 0; i < n->inputs->n && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "", n->inputs->at[i].name);
}

// The part of the text around the place, and a caret under it.
static void show_place(const struct parser *p, size_t at) {
    size_t len = strlen(p->text), from = at > WINDOW / 2 ? at - WINDOW / 2 : 0;
    size_t to = len - from > WINDOW ? from + WINDOW : len;
    char line[WINDOW + 1];
    for (size_t i = from; i < to; i++) { // one column a character, whatever it is
        unsigned char c = (unsigned char)p->text[i];
        line[i - from] = c < 32 || c == 127 ? ' ' : (char)c;
    }
    line[to - from] = 0;
    fprintf(stderr, "  %s%s%s\n  %*s^\n", from ? "..." : "", line, to < len ? "..." : "",
            (int)(at - from + (from ? 3 : 0)), "");
}

bool cmd_parse(struct parser *p, struct results *out) {
    if (parse_program(p, out)) return true;
    fprintf(stderr, "weft: column %zu: %s\n", p->fail_at + 1, p->fail);
    show_place(p, p->fail_at);
    return false;
}
