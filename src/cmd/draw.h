// SPDX-License-Identifier: MIT
// Pictures of graphs: what is drawn, where it is put (layout.c), and the page it goes to (svg.c, html.c, code.c).
#ifndef WEFT_CMD_DRAW_H
#define WEFT_CMD_DRAW_H

#include "cmd.h"

enum { BOX_IN = 8 };
struct box {
    const char *label, *type;
    const char *kind;  // a class of the page's style: leaf, elementwise, reduction, ...
    const char *title; // shown when pointed at; NULL: nothing
    bool memory;       // its value goes through memory
    int id;            // data-n of the page; 0: none
    int group;         // the step that computes it; -1: none
    int nin, in[BOX_IN];
    // filled by layout_make
    int row;
    double x, y, w;    // centre, middle, width
};
struct group { // a step: a frame around its boxes
    char title[96];
    double x, y, w, h; // upper left corner; w 0: nothing in it
};
struct drawing {
    int n, ngroup;
    struct box *box; // operands before users
    struct group *group;
    double width, height;
};
enum { BOX_HEIGHT = 38, ROW_HEIGHT = 70, DRAW_MOST = 400 };
void layout_make(struct drawing *d);

// ---- page (html.c): text with what HTML reserves replaced
void put_html(FILE *f, const char *s);
void put_html_n(FILE *f, const char *s, size_t n);
void svg_graph(FILE *f, const struct drawing *d, const char *name);
void svg_memory(FILE *f, const weft_report *r);
void html_code(FILE *f, const weft_report *r); // code.c: operations, IR and assembly side by side
extern const char html_style[], html_script[]; // style.c
void bytes_text(int64_t bytes, char *buf, size_t size); // "1.5 MB"
void type_cut(const char *type, char *buf, size_t size);

// ---- measure.c: the expression run here, and what this machine can move
struct measured {
    struct profile profile;
    bool ran;
    char why[96];                // it did not run, or ""
    double read_gbs, write_gbs;  // reached by reading and by storing 64 MiB with all threads
};
void measure(struct options *o, weft_ctx *ctx, const struct results *r, struct measured *m);

// ---- term.c: colours and small pictures for a terminal
struct term {
    bool color, utf8;
};
struct term term_of(const struct options *o);
void term_title(const struct term *t, const char *title);
void term_text(const struct term *t, weft_dump_kind kind, const char *text);
void term_steps(const struct term *t, const weft_report *r);

int explain_html(struct options *o, weft_ctx *ctx, const struct trace *trace, const struct results *r);

#endif
