// SPDX-License-Identifier: MIT
// Pictures as SVG inside the page, coloured by its style: a graph with its steps as frames, and the workspace from
// step to step. Plain shapes and text, nothing that is fetched.
#include "draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- the graph ----------------------------------------------------------------------------------------------
static void put_edge(FILE *f, const struct drawing *d, const struct box *from, const struct box *to) {
    const double y0 = from->y + BOX_HEIGHT / 2.0, y1 = to->y - BOX_HEIGHT / 2.0;
    const double bend = fmax(18, fmin(60, (y1 - y0) / 2));
    const bool memory = from->memory && from->group != to->group && d->ngroup;
    if (y1 - y0 > ROW_HEIGHT && !memory) { // past the boxes between: out to the side and back
        const double side = to->x >= from->x ? 1 : -1, x0 = from->x + side * from->w * 0.36;
        const double x1 = to->x + side * to->w * 0.36, out = side * fmin(90, 34 + (y1 - y0) / 9);
        const double far = side > 0 ? fmax(x0, x1) + out : fmin(x0, x1) + out;
        fprintf(f, "<path class=\"edge long\" d=\"M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f\"/>\n", x0, y0, far,
                y0 + bend, far, y1 - bend, x1, y1 - 1);
        return;
    }
    fprintf(f, "<path class=\"edge%s\" d=\"M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f\"/>\n", memory ? " memory" : "",
            from->x, y0, from->x, y0 + bend, to->x, y1 - bend, to->x, y1 - 1);
}

static void put_box(FILE *f, const struct box *b) {
    fprintf(f, "<g class=\"box %s%s\"", b->kind, b->memory ? " stored" : "");
    if (b->id) fprintf(f, " data-n=\"%d\"", b->id);
    fprintf(f, "><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"%d\"/>", b->x - b->w / 2,
            b->y - BOX_HEIGHT / 2.0, b->w, BOX_HEIGHT, strcmp(b->kind, "leaf") ? 9 : 2);
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\">", b->x, b->y - 2);
    put_html(f, b->label);
    fprintf(f, "</text><text class=\"type\" x=\"%.1f\" y=\"%.1f\">", b->x, b->y + 13);
    put_html(f, b->type);
    fprintf(f, "</text>");
    if (b->title) {
        fprintf(f, "<title>");
        put_html(f, b->title);
        fprintf(f, "</title>");
    }
    fprintf(f, "</g>\n");
}

void svg_graph(FILE *f, const struct drawing *d, const char *name) {
    fprintf(f, "<svg class=\"graph\" role=\"img\" aria-label=\"%s\" width=\"%.0f\" height=\"%.0f\" "
               "viewBox=\"0 0 %.0f %.0f\">\n",
            name, d->width, d->height, d->width, d->height);
    fprintf(f, "<defs><marker id=\"%s-tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" "
               "markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"tip\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n"
               "<g style=\"--tip:url(#%s-tip)\">\n",
            name, name);
    for (int g = 0; g < d->ngroup; g++) {
        const struct group *s = &d->group[g];
        if (s->w <= 0) continue;
        fprintf(f, "<g class=\"step\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"12\"/></g>\n", s->x,
                s->y, s->w, s->h);
    }
    for (int i = 0; i < d->n; i++)
        for (int k = 0; k < d->box[i].nin; k++)
            put_edge(f, d, &d->box[d->box[i].in[k]], &d->box[i]);
    for (int g = 0; g < d->ngroup; g++) { // over the edges
        const struct group *s = &d->group[g];
        if (s->w <= 0) continue;
        fprintf(f, "<g class=\"step\"><text x=\"%.1f\" y=\"%.1f\">", s->x + 14, s->y + 18);
        put_html(f, s->title);
        fprintf(f, "</text></g>\n");
    }
    for (int i = 0; i < d->n; i++)
        put_box(f, &d->box[i]);
    fprintf(f, "</g></svg>\n");
}

// ---- the workspace ------------------------------------------------------------------------------------------
enum { LEFT = 92, TOP = 14, TALL = 220, STEP_WIDTH = 120 };

static void put_temp(FILE *f, const weft_report *r, int i, double scale) {
    const weft_report_temp *t = &r->temp[i];
    const double x = LEFT + t->first_step * STEP_WIDTH + 3, w = (t->last_step - t->first_step + 1) * STEP_WIDTH - 6;
    const double h = fmax(3, (double)t->bytes * scale), y = TOP + TALL - (double)t->offset * scale - h;
    char size[32];
    bytes_text(t->bytes, size, sizeof size);
    const char *op = t->node >= 0 ? r->node[t->node].op : "";
    fprintf(f, "<g class=\"temp\" data-n=\"%d\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"4\"/>",
            t->node + 1, x, y, w, h);
    if (h >= 16)
        fprintf(f, "<text x=\"%.1f\" y=\"%.1f\">n%d %s \xc2\xb7 %s</text>", x + w / 2, y + h / 2 + 4, t->node + 1, op, size);
    fprintf(f, "<title>temp%d, n%d %s: %s at %lld, steps %d to %d</title></g>\n", i, t->node + 1, op, size,
            (long long)t->offset, t->first_step, t->last_step);
}

void svg_memory(FILE *f, const weft_report *r) {
    const double scale = TALL / (double)r->workspace_bytes, right = LEFT + r->nstep * STEP_WIDTH;
    char size[32];
    fprintf(f, "<svg class=\"memory\" role=\"img\" aria-label=\"workspace\" width=\"%.0f\" height=\"%d\" "
               "viewBox=\"0 0 %.0f %d\">\n",
            right + 20, TOP + TALL + 34, right + 20, TOP + TALL + 34);
    for (int i = 0; i <= 4; i++) {
        bytes_text(r->workspace_bytes * i / 4, size, sizeof size);
        fprintf(f, "<path class=\"grid\" d=\"M%d %.1fH%.0f\"/><text class=\"axis\" x=\"%d\" y=\"%.1f\">%s</text>\n", LEFT,
                TOP + TALL - TALL * i / 4.0, right, LEFT - 8, TOP + TALL - TALL * i / 4.0 + 4, size);
    }
    for (int i = 0; i < r->nstep; i++)
        fprintf(f, "<text class=\"axis middle\" x=\"%d\" y=\"%d\">step %d</text>\n", LEFT + i * STEP_WIDTH + STEP_WIDTH / 2,
                TOP + TALL + 20, i);
    for (int i = 0; i < r->ntemp; i++)
        put_temp(f, r, i, scale);
    fprintf(f, "</svg>\n");
}
