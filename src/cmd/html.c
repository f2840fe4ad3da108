// SPDX-License-Identifier: MIT
// weft explain --html: one page that needs nothing else. In: the expression as written (trace), its report and what
// was measured here; out: graphs before and after, steps with their times against what this machine can move, why
// each value goes through memory, the workspace from step to step, the code.
#include "draw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct page {
    FILE *f;
    struct options *o;
    const struct trace *trace;
    const weft_report *report;
    const struct measured *m;
};

void put_html_n(FILE *f, const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const char c = s[i];
        if (c == '<')
            fputs("&lt;", f);
        else if (c == '>')
            fputs("&gt;", f);
        else if (c == '&')
            fputs("&amp;", f);
        else if (c == '"')
            fputs("&quot;", f);
        else if (c == '\n' || c == '\t' || (unsigned char)c >= 32)
            fputc(c, f);
    }
}
void put_html(FILE *f, const char *s) { put_html_n(f, s, strlen(s)); }

void bytes_text(int64_t bytes, char *buf, size_t size) {
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
    double v = (double)bytes;
    int u = 0;
    while (v >= 1000 && u < 4)
        v /= 1000, u++;
    snprintf(buf, size, u && v < 100 ? "%.1f %s" : "%.0f %s", v, unit[u]);
}

void type_cut(const char *type, char *buf, size_t size) {
    const size_t n = strlen(type), most = size < 30 ? size : 30;
    if (n < most)
        memcpy(buf, type, n + 1);
    else
        snprintf(buf, size, "%.*s...", (int)most - 4, type);
}

static const char *bytes_of(int64_t bytes) {
    static char buf[4][32];
    static int k;
    k = (k + 1) % 4;
    bytes_text(bytes, buf[k], sizeof buf[k]);
    return buf[k];
}

// ---- the two graphs -----------------------------------------------------------------------------------------
static void draw_before(const struct page *p) {
    const struct trace *t = p->trace;
    struct drawing d = {.n = t->n};
    if (t->n > DRAW_MOST) {
        fprintf(p->f, "<p class=\"soft\">%d calls: too many for a picture.</p>\n", t->n);
        return;
    }
    d.box = cmd_alloc((size_t)t->n * sizeof *d.box);
    for (int i = 0; i < t->n; i++) {
        const struct trace_node *n = &t->at[i];
        d.box[i] = (struct box){.label = n->label, .type = n->type, .kind = n->leaf ? "leaf" : "call-as-written",
                                .group = -1, .nin = n->nin};
        memcpy(d.box[i].in, n->in, (size_t)n->nin * sizeof *n->in);
    }
    layout_make(&d);
    svg_graph(p->f, &d, "before");
    free(d.box);
}

struct texts { // what boxes of the graph after refer to
    char label[64], type[40], title[400];
};

static const weft_report_made *made_of(const weft_report *r, int node) {
    for (int i = 0; i < r->nstep; i++)
        for (int k = 0; k < r->step[i].nmade; k++)
            if (r->step[i].made[k].node == node) return &r->step[i].made[k];
    return NULL;
}

static void set_box(const weft_report *r, int i, struct texts *t, struct box *b) {
    const weft_report_node *n = &r->node[i];
    const weft_report_made *m = made_of(r, i);
    const char *detail = n->detail + (*n->detail == ' ');
    const char *quote = strcmp(n->op, "input") == 0 ? strchr(detail, '"') : NULL;
    if (quote)
        snprintf(t->label, sizeof t->label, "n%d %.*s", i + 1, (int)strcspn(quote + 1, "\""), quote + 1);
    else if (strcmp(n->op, "constant") == 0)
        snprintf(t->label, sizeof t->label, "n%d %.*s", i + 1, (int)strcspn(detail, " "), detail);
    else
        snprintf(t->label, sizeof t->label, "n%d %s", i + 1, n->op);
    type_cut(n->type, t->type, sizeof t->type);
    snprintf(t->title, sizeof t->title, "%s%s : %s%s%s", n->op, n->detail, n->type, m ? "\nin memory: " : "",
             m ? m->because : "");
    *b = (struct box){.label = t->label, .type = t->type, .title = t->title, .kind = n->kind, .id = i + 1,
                      .memory = m != NULL, .group = n->step, .nin = n->nin};
    memcpy(b->in, n->in, (size_t)n->nin * sizeof *n->in);
}

// Views are no work: they are drawn in the step of whoever reads them when that is one.
static void pull_views(const weft_report *r, struct drawing *d) {
    for (int i = d->n - 1; i >= 0; i--) {
        int step = -1;
        if (d->box[i].group >= 0 || !d->box[i].nin || made_of(r, i)) continue;
        for (int u = i + 1; u < d->n; u++)
            for (int k = 0; k < d->box[u].nin; k++)
                if (d->box[u].in[k] == i) step = step == -1 || step == d->box[u].group ? d->box[u].group : -2;
        // not above what it reads
        for (int k = 0; k < d->box[i].nin; k++)
            if (d->box[d->box[i].in[k]].group > step) step = -2;
        if (step >= 0) d->box[i].group = step;
    }
}

static void draw_after(const struct page *p) {
    const weft_report *r = p->report;
    struct drawing d = {.n = r->nnode, .ngroup = r->nstep};
    if (r->nnode > DRAW_MOST) {
        fprintf(p->f, "<p class=\"soft\">%d nodes: too many for a picture.</p>\n", r->nnode);
        return;
    }
    struct texts *t = cmd_alloc((size_t)r->nnode * sizeof *t);
    d.box = cmd_alloc((size_t)r->nnode * sizeof *d.box);
    d.group = cmd_alloc((size_t)r->nstep * sizeof *d.group);
    memset(d.group, 0, (size_t)r->nstep * sizeof *d.group);
    for (int i = 0; i < r->nnode; i++)
        set_box(r, i, &t[i], &d.box[i]);
    for (int i = 0; i < r->nstep; i++)
        snprintf(d.group[i].title, sizeof d.group[i].title, "step %d \xc2\xb7 %s \xc2\xb7 %.50s", i, r->step[i].kind,
                 r->step[i].space);
    pull_views(r, &d);
    layout_make(&d);
    svg_graph(p->f, &d, "after");
    free(d.group);
    free(d.box);
    free(t);
}

// ---- tables -------------------------------------------------------------------------------------------------
static void put_list(FILE *f, const char *const *list, int n) {
    for (int i = 0; i < n && i < 8; i++) {
        if (i) fputs(", ", f);
        put_html_n(f, list[i], strcspn(list[i], " "));
    }
    if (n > 8) fprintf(f, ", %d more", n - 8);
}

// Time of a step as measured, and the least it could take if memory were all that counts.
static void put_time(const struct page *p, int i) {
    const weft_report_step *s = &p->report->step[i];
    const struct measured *m = p->m;
    if (!m->ran || i >= m->profile.n || m->read_gbs <= 0 || m->write_gbs <= 0) {
        fprintf(p->f, "<td class=\"n\">-</td><td class=\"n\">-</td><td>-</td>");
        return;
    }
    const weft_profile_step *h = &m->profile.at[i].s;
    const double least = (double)s->bytes_read / m->read_gbs + (double)s->bytes_written / m->write_gbs;
    const double share = h->ns ? 100 * least / (double)h->ns : 0;
    const double rate = h->ns ? (double)(s->bytes_read + s->bytes_written) / (double)h->ns : 0;
    fprintf(p->f, "<td class=\"n\">%.3f ms<br><span class=\"soft\">%s, %d thread%s</span></td><td class=\"n\">%.1f GB/s</td>",
            (double)h->ns * 1e-6, weft_tier_text(h->tier), h->threads, h->threads == 1 ? "" : "s", rate);
    fprintf(p->f, "<td>%.3f ms, %.0f %%%s<div class=\"meter\"><i style=\"width:%.0f%%\"></i></div></td>", least * 1e-6, share,
            share > 100 ? " (in cache)" : "", share > 100 ? 100 : share);
}

static void put_steps(const struct page *p) {
    const weft_report *r = p->report;
    fprintf(p->f, "<h2>Steps</h2><table class=\"steps\"><tr><th>step</th><th>operations</th><th>loops over</th><th>reads</th>"
                  "<th>writes</th><th class=\"n\">time</th><th class=\"n\">moved</th><th>at the limit</th></tr>\n");
    for (int i = 0; i < r->nstep; i++) {
        const weft_report_step *s = &r->step[i];
        fprintf(p->f, "<tr><td class=\"short\">%d %s</td><td class=\"op\">", i, s->kind);
        put_html(p->f, s->name);
        fprintf(p->f, "</td><td>");
        put_html(p->f, s->space);
        fprintf(p->f, "</td><td>%s<br><span class=\"soft\">", bytes_of(s->bytes_read));
        put_list(p->f, s->read, s->nread);
        fprintf(p->f, "</span></td><td>%s<br><span class=\"soft\">", bytes_of(s->bytes_written));
        put_list(p->f, s->write, s->nwrite);
        fprintf(p->f, "</span></td>");
        put_time(p, i);
        fprintf(p->f, "</tr>\n");
    }
    fprintf(p->f, "</table>\n");
    if (p->m->ran)
        fprintf(p->f, "<p class=\"legend\">Fastest of five runs on this machine. The limit: reading 64 MiB ran at %.1f GB/s, "
                      "storing at %.1f GB/s, in the same minute with the same threads; a step that does nothing but move its "
                      "bytes would take the time in the last column.</p>\n",
                p->m->read_gbs, p->m->write_gbs);
    else
        fprintf(p->f, "<p class=\"legend\">Not run: %s.</p>\n", p->m->why);
}

static void put_boundaries(const struct page *p) {
    const weft_report *r = p->report;
    fprintf(p->f, "<h2>Why values go through memory</h2><table class=\"why\"><tr><th>value</th><th>type</th><th>made by</th>"
                  "<th>read by</th><th>why</th></tr>\n");
    for (int i = 0; i < r->nstep; i++)
        for (int k = 0; k < r->step[i].nmade; k++) {
            const weft_report_made *m = &r->step[i].made[k];
            char type[40], readers[64] = "";
            type_cut(r->node[m->node].type, type, sizeof type);
            size_t at = 0;
            for (int t = 0; t < r->ntemp; t++) {
                char name[24];
                snprintf(name, sizeof name, "temp%d ", t);
                for (int s = 0; s < r->nstep && r->temp[t].node == m->node; s++)
                    for (int q = 0; q < r->step[s].nread && at < sizeof readers; q++)
                        if (strncmp(r->step[s].read[q], name, strlen(name)) == 0)
                            at += (size_t)snprintf(readers + at, sizeof readers - at, "%sstep %d", at ? ", " : "", s);
            }
            fprintf(p->f, "<tr data-n=\"%d\"><td class=\"op\">n%d %s</td><td class=\"op\">%s</td><td>step %d</td><td>%s</td><td>",
                    m->node + 1, m->node + 1, r->node[m->node].op, type, i, *readers ? readers : "the caller");
            put_html(p->f, *m->because ? m->because : m->why);
            fprintf(p->f, "</td></tr>\n");
        }
    fprintf(p->f, "</table>\n");
}

// ---- the page -----------------------------------------------------------------------------------------------
static void put_head(const struct page *p) {
    FILE *f = p->f;
    fprintf(f, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
               "<meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\">"
               "<title>weft: ");
    put_html(f, p->o->expr);
    fprintf(f, "</title><style>\n%s</style></head><body><main>\n<h1>", html_style);
    put_html(f, p->o->expr);
    fprintf(f, "</h1><p class=\"soft\">");
    for (int i = 0, n = 0; i < p->o->inputs.n; i++) {
        const struct input *x = &p->o->inputs.at[i];
        char type[64] = "number";
        if (!x->used) continue;
        const weft_array *a = &x->data.array;
        if (x->kind == INPUT_ARRAY) {
            size_t at = (size_t)snprintf(type, sizeof type, "%s", weft_dtype_name(a->dtype));
            for (int k = 0; k < a->rank && at < sizeof type; k++)
                at += (size_t)snprintf(type + at, sizeof type - at, "%c%lld%s", k ? ',' : '[', (long long)a->dims[k],
                                       k + 1 == a->rank ? "]" : "");
        }
        fprintf(f, "%s%s : %s", n++ ? " &nbsp; " : "", x->name, type);
    }
    fprintf(f, "</p>\n");
}

static void put_tile(FILE *f, const char *what, const char *value) {
    fprintf(f, "<div class=\"tile\"><b>%s</b><span>%s</span></div>", value, what);
}

static void put_tiles(const struct page *p) {
    const weft_report *r = p->report;
    char text[64];
    fprintf(p->f, "<div class=\"tiles\">");
    snprintf(text, sizeof text, "%d", r->passes);
    put_tile(p->f, r->passes == 1 ? "pass over memory" : "passes over memory", text);
    put_tile(p->f, "read", bytes_of(r->bytes_read));
    put_tile(p->f, "written", bytes_of(r->bytes_written));
    put_tile(p->f, "workspace", bytes_of(r->workspace_bytes));
    snprintf(text, sizeof text, "%d \xe2\x86\x92 %d", p->trace->n, r->nnode);
    put_tile(p->f, "calls written \xe2\x86\x92 nodes", text);
    if (p->m->ran) {
        uint64_t ns = 0;
        for (int i = 0; i < p->m->profile.n; i++)
            ns += p->m->profile.at[i].s.ns;
        snprintf(text, sizeof text, "%.3f ms", (double)ns * 1e-6);
        put_tile(p->f, "all steps, here", text);
    }
    fprintf(p->f, "</div>\n");
}

static void put_page(const struct page *p) {
    const weft_report *r = p->report;
    put_head(p);
    put_tiles(p);
    fprintf(p->f, "<div class=\"pair\"><div class=\"card\"><h3>as written</h3>\n");
    draw_before(p);
    fprintf(p->f, "</div><div class=\"card\"><h3>canonical graph and its steps</h3>\n");
    draw_after(p);
    fprintf(p->f, "</div></div>\n<p class=\"legend\">Each dashed frame is one step: one pass over memory, one matrix product or "
                  "one call. <b>Orange</b> goes through memory; everything else stays in registers and cache.</p>\n");
    put_steps(p);
    put_boundaries(p);
    fprintf(p->f, "<h2>Workspace</h2>\n");
    if (r->ntemp && r->workspace_bytes) {
        fprintf(p->f, "<div class=\"card\">\n");
        svg_memory(p->f, r);
        fprintf(p->f, "</div>\n<p class=\"legend\">Temporaries from the step that makes them to the last that reads them; freed "
                      "bytes are used again. %s in all.</p>\n", bytes_of(r->workspace_bytes));
    } else {
        fprintf(p->f, "<p>No temporary: nothing but inputs and results lies in memory.</p>\n");
    }
    fprintf(p->f, "<h2>Code</h2>\n<p class=\"legend\">Point at an operation, here or in the graph, to see its instructions; click "
                  "to bring them into view.</p>\n");
    html_code(p->f, r);
    fprintf(p->f, "<footer>weft %s</footer></main><script>\n%s</script></body></html>\n", weft_version(), html_script);
}

static int write_page(const struct page *q) {
    struct page p = *q;
    const bool console = strcmp(p.o->html, "-") == 0;
    p.f = console ? stdout : fopen(p.o->html, "w");
    if (!p.f) return cmd_fail("%s: %s", p.o->html, strerror(errno));
    put_page(&p);
    bool bad = fflush(p.f) || ferror(p.f);
    if (!console) bad |= fclose(p.f) != 0;
    return bad ? cmd_fail("%s: could not be written", p.o->html) : 0;
}

int explain_html(struct options *o, weft_ctx *ctx, const struct trace *trace, const struct results *r) {
    struct measured m;
    weft_report *report = NULL;
    weft_status st = weft_report_new(r->n, r->at, true, o->isa, &report);
    if (st) return cmd_fail_status(st, NULL);
    measure(o, ctx, r, &m);
    const struct page page = {NULL, o, trace, report, &m};
    const int status = write_page(&page);
    profile_free(&m.profile);
    weft_report_free(report);
    return status;
}
