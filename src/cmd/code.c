// SPDX-License-Identifier: MIT
// The code of the page: for each step its operations, the LLVM IR and the assembly beside each other. Lines that
// belong to an operation carry its number, so that pointing at one shows the others. In the IR the number is in the
// names of values ("%n12.mul.a"), in the assembly in the comments before its instructions ("# n12.mul").
#include "draw.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// "n12." at s: 12; else 0.
static int number_at(const char *s, const char *end) {
    if (s >= end || *s != 'n' || !isdigit((unsigned char)s[1])) return 0;
    char *after;
    const long n = strtol(s + 1, &after, 10);
    return after < end && *after == '.' ? (int)n : 0;
}

// Of a line of IR: what it defines; else, for stores and calls, the first value it uses.
static int number_in_ir(const char *s, const char *end) {
    for (; s < end; s++) {
        const int n = *s == '%' ? number_at(s + 1, end) : 0;
        if (n) return n;
    }
    return 0;
}

static void put_line(FILE *f, const char *s, const char *end, int n) {
    if (n)
        fprintf(f, "<span class=\"o\" data-n=\"%d\">", n);
    else
        fprintf(f, "<span>");
    put_html_n(f, s, (size_t)(end - s));
    fprintf(f, "%s</span>", end == s ? " " : "");
}

static const char *line_end(const char *s) { return s + strcspn(s, "\n"); }

static void put_ir(FILE *f, const char *text) {
    const char *from = strstr(text, "\ndefine");
    for (const char *s = from ? from + 1 : text, *end; *s; s = *end ? end + 1 : end) {
        end = line_end(s);
        if (strncmp(s, "attributes #", 12) == 0) continue;
        put_line(f, s, end, number_in_ir(s, end));
    }
}

static void put_assembly(FILE *f, const char *text) {
    int now = 0;
    for (const char *s = text, *end; *s; s = *end ? end + 1 : end) {
        end = line_end(s);
        if (strncmp(s, "\t# ", 3) == 0) now = number_at(s + 3, end);
        const bool label = *s != '\t' && *s;
        put_line(f, s, end, label ? 0 : now);
    }
}

static void put_operations(FILE *f, const weft_report *r, const weft_report_step *s) {
    for (int i = 0; i < s->nnode; i++) {
        const weft_report_node *n = &r->node[s->node[i]];
        char type[40];
        type_cut(n->type, type, sizeof type);
        fprintf(f, "<span class=\"o\" data-n=\"%d\">n%d %s ", s->node[i] + 1, s->node[i] + 1, n->op);
        for (int k = 0; k < n->nin; k++)
            fprintf(f, "%sn%d", k ? ", " : "", n->in[k] + 1);
        fprintf(f, " : ");
        put_html(f, type);
        fprintf(f, "</span>");
    }
}

void html_code(FILE *f, const weft_report *r) {
    bool any = false;
    for (int i = 0; i < r->nstep; i++) {
        const weft_report_step *s = &r->step[i];
        if (!s->llvm) continue;
        fprintf(f, "<details%s><summary>step %d \xc2\xb7 %s \xc2\xb7 ", any ? "" : " open", i, s->kind);
        put_html(f, s->name);
        fprintf(f, "</summary><div class=\"code\"><div class=\"card\"><h3>operations</h3><pre>");
        put_operations(f, r, s);
        fprintf(f, "</pre></div><div class=\"card\"><h3>LLVM IR</h3><pre>");
        put_ir(f, s->llvm);
        fprintf(f, "</pre></div><div class=\"card\"><h3>assembly</h3><pre>");
        put_assembly(f, s->assembly ? s->assembly : "");
        fprintf(f, "</pre></div></div></details>\n");
        any = true;
    }
    if (any) return;
    fprintf(f, "<p>Nothing of this plan is compiled: its steps are precompiled kernels%s", *r->code_error ? ", or: " : ".");
    put_html(f, r->code_error);
    fprintf(f, "</p>\n");
}
