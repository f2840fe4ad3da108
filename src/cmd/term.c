// SPDX-License-Identifier: MIT
// What `weft explain` shows in a terminal: the stages' texts with colour, and the steps as small pictures. Colour is
// for terminals, or when asked for by --color=always; NO_COLOR (no-color.org) and --color=never turn it off. Without
// a UTF-8 locale the pictures are made of ASCII.
#include "draw.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define GREEN "\033[32m"
#define CYAN "\033[36m"
#define YELLOW "\033[33m"
#define OFF "\033[0m"

struct term term_of(const struct options *o) {
    const char *no = getenv("NO_COLOR"), *kind = getenv("TERM"), *lang = getenv("LC_ALL");
    if (!lang || !*lang) lang = getenv("LC_CTYPE");
    if (!lang || !*lang) lang = getenv("LANG");
    struct term t = {false, lang && (strstr(lang, "UTF-8") || strstr(lang, "utf8") || strstr(lang, "UTF8"))};
    if (o->color == COLOR_ALWAYS) t.color = true;
    if (o->color == COLOR_AUTO)
        t.color = isatty(STDOUT_FILENO) && !(no && *no) && !(kind && strcmp(kind, "dumb") == 0);
    return t;
}

static const char *on(const struct term *t, const char *code) { return t->color ? code : ""; }

void term_title(const struct term *t, const char *title) {
    printf("%s-- %s%s\n", on(t, BOLD), title, on(t, OFF));
}

// ---- texts --------------------------------------------------------------------------------------------------
// The number of characters at s that one colour is for, and which; 1 and none for anything else.
static size_t coloured(const char *s, const char *end, bool begin, weft_dump_kind kind, const char **code) {
    size_t n = 1;
    *code = NULL;
    if (*s == '%' && s + 1 < end && (isdigit((unsigned char)s[1]) || (s[1] == 'n' && kind == WEFT_DUMP_LLVM))) {
        while (s + n < end && (isalnum((unsigned char)s[n]) || s[n] == '.' || s[n] == '_'))
            n++;
        *code = CYAN;
    } else if (begin && kind == WEFT_DUMP_PLAN && strncmp(s, "step ", 5) == 0) {
        n = strcspn(s, ":");
        *code = YELLOW;
    } else if (*s == ';' && kind != WEFT_DUMP_DOT) { // comments of IR; reasons of a plan
        n = (size_t)(end - s);
        *code = kind == WEFT_DUMP_PLAN ? YELLOW : DIM;
    } else if (*s == '#' && kind == WEFT_DUMP_ASM) {
        n = (size_t)(end - s);
        *code = GREEN;
    } else if (strncmp(s, " = ", 3) == 0 && kind == WEFT_DUMP_IR) { // the operation follows
        n = 3 + strcspn(s + 3, " \n");
        *code = GREEN;
    } else if (strncmp(s, " : ", 3) == 0 && kind == WEFT_DUMP_IR) {
        n = (size_t)(end - s);
        *code = DIM;
    }
    return n;
}

void term_text(const struct term *t, weft_dump_kind kind, const char *text) {
    if (!t->color) {
        fputs(text, stdout);
        return;
    }
    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        for (const char *s = line; s < end;) {
            const char *code;
            const size_t n = coloured(s, end, s == line, kind, &code);
            printf("%s%.*s%s", code ? code : "", (int)n, s, code ? OFF : "");
            s += n;
        }
        if (*end) putchar('\n');
    }
}

// ---- steps --------------------------------------------------------------------------------------------------
struct lines { // the parts of a frame
    const char *down, *along, *corner[4], *arrow;
};
static const struct lines drawn = {"\xe2\x94\x82", "\xe2\x94\x80", {"\xe2\x95\xad", "\xe2\x95\xae", "\xe2\x95\xb0", "\xe2\x95\xaf"}, "\xe2\x86\x92"};
static const struct lines ascii = {"|", "-", {"+", "+", "+", "+"}, "->"};
enum { WIDE = 72 };

static void put_along(const struct lines *l, int n) {
    for (int i = 0; i < n; i++)
        fputs(l->along, stdout);
}

static int join(char *buf, size_t size, const char *const *list, int n) {
    size_t at = 0;
    buf[0] = 0;
    for (int i = 0; i < n && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%.*s", i ? ", " : "", (int)strcspn(list[i], " "), list[i]);
    return (int)strlen(buf);
}

static void put_row(const struct term *t, const struct lines *l, const char *text, const char *code) {
    const int n = (int)strlen(text), shown = n > WIDE - 2 ? WIDE - 2 : n;
    printf("  %s%s%s %s%.*s%s%*s %s%s%s\n", on(t, CYAN), l->down, on(t, OFF), on(t, code), shown, text, on(t, OFF),
           WIDE - 2 - shown, "", on(t, CYAN), l->down, on(t, OFF));
}

static void put_step(const struct term *t, const struct lines *l, const weft_report *r, int i) {
    const weft_report_step *s = &r->step[i];
    char head[128], text[400], in[160], out[120], read[32], written[32];
    const int n = snprintf(head, sizeof head, " step %d: %s, %.50s ", i, s->kind, s->space);
    printf("  %s%s", on(t, CYAN), l->corner[0]);
    put_along(l, 1);
    printf("%s%s%s%s%s", on(t, OFF), on(t, BOLD), head, on(t, OFF), on(t, CYAN));
    put_along(l, WIDE - 1 - n);
    printf("%s%s\n", l->corner[1], on(t, OFF));
    join(in, sizeof in, s->read, s->nread);
    join(out, sizeof out, s->write, s->nwrite);
    put_row(t, l, s->name, GREEN);
    bytes_text(s->bytes_read, read, sizeof read);
    bytes_text(s->bytes_written, written, sizeof written);
    snprintf(text, sizeof text, "reads %s (%s), writes %s (%s)", *in ? in : "nothing", read, *out ? out : "nothing", written);
    put_row(t, l, text, "");
    printf("  %s%s", on(t, CYAN), l->corner[2]);
    put_along(l, WIDE);
    printf("%s%s\n", l->corner[3], on(t, OFF));
    for (int k = 0; k < s->nmade; k++) {
        const weft_report_made *m = &s->made[k];
        printf("    %s %s%%%d %s%s : %s%s%s\n", l->arrow, on(t, CYAN), m->node + 1, r->node[m->node].op, on(t, OFF),
               on(t, YELLOW), *m->because ? m->because : m->why, on(t, OFF));
    }
}

// One line a temporary: where it lies in the workspace, and from which step to which.
static void put_workspace(const struct term *t, const weft_report *r) {
    const char *full = t->utf8 ? "\xe2\x96\x88" : "#", *none = t->utf8 ? "\xc2\xb7" : ".";
    char size[32];
    bytes_text(r->workspace_bytes, size, sizeof size);
    printf("  workspace %s, by step:\n", size);
    for (int i = 0; i < r->ntemp && i < 16; i++) {
        const weft_report_temp *p = &r->temp[i];
        bytes_text(p->bytes, size, sizeof size);
        printf("    %s", on(t, CYAN));
        for (int s = 0; s < r->nstep && s < 48; s++)
            fputs(s >= p->first_step && s <= p->last_step ? full : none, stdout);
        printf("%s  temp%d %s at %lld\n", on(t, OFF), i, size, (long long)p->offset);
    }
}

void term_steps(const struct term *t, const weft_report *r) {
    const struct lines *l = t->utf8 ? &drawn : &ascii;
    for (int i = 0; i < r->nstep && i < 32; i++)
        put_step(t, l, r, i);
    if (r->nstep > 32) printf("  ... %d more steps\n", r->nstep - 32);
    if (r->ntemp) put_workspace(t, r);
}
