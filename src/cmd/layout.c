// SPDX-License-Identifier: MIT
// Where boxes go. In: boxes with operands before users, some of them in groups (the steps of a plan); out: rows,
// places, frames. Layered: a box lies below its operands, steps lie one below the other in order of execution, what
// belongs to no step (leaves, views) in rows above the first step that uses it. In a row boxes are sorted by the
// mean place of their operands (Sugiyama, Tagawa and Toda's barycentre), one sweep, which suffices for graphs that
// people read.
#include "draw.h"

#include <stdlib.h>
#include <string.h>

enum { CHAR_WIDTH = 8, GAP = 22, FRAME = 16, HEAD = 26, EDGE = 24 };

static int text_width(const char *s) { return (int)strlen(s) * CHAR_WIDTH; }

static void set_width(struct box *b) {
    const int label = text_width(b->label) + 28, type = text_width(b->type) * 7 / 8 + 20;
    b->w = label > type ? label : type;
    if (b->w < 64) b->w = 64;
}

// Blocks of rows from top to bottom: before step 0, step 0, before step 1, ...; outside[i] is the step above which a
// box without a step goes.
static void set_blocks(const struct drawing *d, int *block) {
    for (int i = 0; i < d->n; i++)
        block[i] = d->box[i].group >= 0 ? 2 * d->box[i].group + 1 : 2 * d->ngroup;
    for (int i = d->n - 1; i >= 0; i--)
        for (int k = 0; k < d->box[i].nin; k++) {
            const int o = d->box[i].in[k];
            const int above = block[i] & ~1; // the rows outside a step, just above it
            if (d->box[o].group < 0 && above < block[o]) block[o] = above;
        }
    // what is made of a step's result cannot lie above it
    for (int i = 0; i < d->n; i++)
        for (int k = 0; k < d->box[i].nin; k++) {
            const int from = block[d->box[i].in[k]];
            if (d->box[i].group < 0 && from > block[i]) block[i] = (from + 1) & ~1;
        }
}

static int rows_in(struct drawing *d, const int *block, int which) {
    int rows = 0;
    for (int i = 0; i < d->n; i++) {
        struct box *b = &d->box[i];
        if (block[i] != which) continue;
        b->row = 0;
        for (int k = 0; k < b->nin; k++)
            if (block[b->in[k]] == which && d->box[b->in[k]].row >= b->row) b->row = d->box[b->in[k]].row + 1;
        if (b->row >= rows) rows = b->row + 1;
    }
    // leaves go down to their users
    for (int i = d->n - 1; i >= 0; i--) {
        int least = rows;
        if (block[i] != which || d->box[i].nin) continue;
        for (int u = i + 1; u < d->n; u++)
            for (int k = 0; block[u] == which && k < d->box[u].nin; k++)
                if (d->box[u].in[k] == i && d->box[u].row < least) least = d->box[u].row;
        if (least < rows && least > 0) d->box[i].row = least - 1;
        if (least == rows) d->box[i].row = rows - 1;
    }
    return rows;
}

struct entry {
    int box;
    double key;
};
static int by_key(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key ? 1 : x->box - y->box;
}

static double wanted(const struct drawing *d, int i, double fallback) {
    const struct box *b = &d->box[i];
    double sum = 0;
    for (int k = 0; k < b->nin; k++)
        sum += d->box[b->in[k]].x;
    return b->nin ? sum / b->nin : fallback;
}

// Side by side around the mean of what they want, sorted by it.
static void place_row(struct drawing *d, struct entry *e, int n, double y) {
    double width = -GAP, want = 0;
    for (int i = 0; i < n; i++)
        e[i].key = wanted(d, e[i].box, (double)i * 100);
    if (n > 1) qsort(e, (size_t)n, sizeof *e, by_key);
    int counted = 0;
    for (int i = 0; i < n; i++) {
        width += d->box[e[i].box].w + GAP;
        if (d->box[e[i].box].nin) want += e[i].key, counted++;
    }
    double x = (counted ? want / counted : 0) - width / 2;
    for (int i = 0; i < n; i++) {
        struct box *b = &d->box[e[i].box];
        b->x = x + b->w / 2;
        b->y = y;
        x += b->w + GAP;
    }
}

static void frame(struct drawing *d, int g, double y, double bottom) {
    double left = 1e9, right = -1e9;
    for (int i = 0; i < d->n; i++) {
        const struct box *b = &d->box[i];
        if (b->group != g) continue;
        if (b->x - b->w / 2 < left) left = b->x - b->w / 2;
        if (b->x + b->w / 2 > right) right = b->x + b->w / 2;
    }
    const double title = text_width(d->group[g].title) * 0.86 + 2 * FRAME;
    const double middle = (left + right) / 2;
    double half = (right - left) / 2 + FRAME;
    if (half < title / 2) half = title / 2;
    d->group[g].x = middle - half;
    d->group[g].w = 2 * half;
    d->group[g].y = y;
    d->group[g].h = bottom - y;
}

static double place_block(struct drawing *d, const int *block, int which, double y, struct entry *e) {
    const int rows = rows_in(d, block, which);
    const bool step = which & 1;
    if (!rows) return y;
    const double top = y;
    if (step) y += HEAD;
    for (int r = 0; r < rows; r++, y += ROW_HEIGHT) {
        int n = 0;
        for (int i = 0; i < d->n; i++)
            if (block[i] == which && d->box[i].row == r) e[n++].box = i;
        place_row(d, e, n, y + BOX_HEIGHT / 2.0 + 4);
    }
    if (!step) return y;
    frame(d, which / 2, top, y - ROW_HEIGHT + BOX_HEIGHT + 16);
    return y + 14;
}

// Everything to the right of and below the origin.
static void shift(struct drawing *d) {
    double left = 1e9, right = -1e9;
    for (int i = 0; i < d->n; i++) {
        const struct box *b = &d->box[i];
        if (b->x - b->w / 2 < left) left = b->x - b->w / 2;
        if (b->x + b->w / 2 > right) right = b->x + b->w / 2;
    }
    for (int g = 0; g < d->ngroup; g++) {
        if (d->group[g].w <= 0) continue;
        if (d->group[g].x < left) left = d->group[g].x;
        if (d->group[g].x + d->group[g].w > right) right = d->group[g].x + d->group[g].w;
    }
    for (int i = 0; i < d->n; i++)
        d->box[i].x += EDGE + 15 - left;
    for (int g = 0; g < d->ngroup; g++)
        d->group[g].x += EDGE + 15 - left;
    d->width = right - left + 2 * EDGE + 30;
}

void layout_make(struct drawing *d) {
    int *block = cmd_alloc((size_t)d->n * sizeof *block);
    struct entry *e = cmd_alloc((size_t)d->n * sizeof *e);
    double y = EDGE / 2.0;
    for (int i = 0; i < d->n; i++)
        set_width(&d->box[i]);
    set_blocks(d, block);
    for (int b = 0; b <= 2 * d->ngroup; b++)
        y = place_block(d, block, b, y, e);
    shift(d);
    d->height = y + 6;
    free(block);
    free(e);
}
