// SPDX-License-Identifier: MIT
// Rows to people and to files. On the terminal a row is one line: time, cycles an element or a
// rate, then each peer with its ratio (above 1: weft is faster) and each limit with the share of it
// that weft reaches. In the file a row is one object per peer, so that every object has the same
// fields.
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "bench.h"

static void print_time(double ns) {
    if (ns < 1e4)
        printf("%8.1f ns", ns);
    else if (ns < 1e7)
        printf("%8.2f us", ns / 1e3);
    else
        printf("%8.2f ms", ns / 1e6);
}

static void print_row(const struct bench *b, const struct row *r) {
    const double ns = r->contender[0].ns;
    printf("%-8s %-28s %-4s %9lld %dt %-6s", r->suite, r->name, r->dtype, (long long)r->n,
           r->threads, r->isa);
    print_time(ns);
    if (r->flop > 0)
        printf(" %7.1f GF/s", r->flop / ns);
    else if (r->elements > 0)
        printf(" %6.3f ns/el %6.2f cyc", ns / r->elements, ns / r->elements / b->cycle_ns);
    for (int i = 1; i < r->contenders; i++) {
        const struct contender *c = &r->contender[i];
        if (isnan(c->ns)) continue;
        if (c->role == BENCH_LIMIT)
            printf("  [%s %.0f%%]", c->name, 100 * c->ns / ns);
        else
            printf("  %s %.2fx", c->name, c->ns / ns);
    }
    printf("\n");
    fflush(stdout);
}

static json_t *number(double v) {
    return isnan(v) || isinf(v) ? json_null() : json_real(v);
}

static json_t *base_object(const struct bench *b, const struct row *r) {
    json_t *o = json_object();
    json_object_set_new(o, "suite", json_string(r->suite));
    json_object_set_new(o, "name", json_string(r->name));
    json_object_set_new(o, "isa", json_string(r->isa));
    json_object_set_new(o, "dtype", json_string(r->dtype));
    json_object_set_new(o, "n", json_integer(r->n));
    json_object_set_new(o, "threads", json_integer(r->threads));
    json_object_set_new(o, "ns", number(r->contender[0].ns));
    if (r->flop > 0) json_object_set_new(o, "flop", json_real(r->flop));
    json_object_set_new(o, "cycle_ns", json_real(b->cycle_ns));
    return o;
}

// The binding limit: the slowest of those given.
static const struct contender *limit_of(const struct row *r) {
    const struct contender *best = NULL;
    for (int i = 1; i < r->contenders; i++) {
        const struct contender *c = &r->contender[i];
        if (c->role == BENCH_LIMIT && !isnan(c->ns) && (!best || c->ns > best->ns)) best = c;
    }
    return best;
}

static void add_object(struct bench *b, const struct row *r, const struct contender *peer) {
    json_t *o = base_object(b, r);
    const struct contender *limit = limit_of(r);
    json_object_set_new(o, "peer", peer ? json_string(peer->name) : json_null());
    json_object_set_new(o, "peer_ns", peer ? number(peer->ns) : json_null());
    json_object_set_new(o, "limit", limit ? json_string(limit->name) : json_null());
    json_object_set_new(o, "limit_ns", limit ? number(limit->ns) : json_null());
    json_array_append_new(b->json, o);
}

void report_row(struct bench *b, const struct row *r) {
    if (isnan(r->contender[0].ns)) {
        printf("%-8s %-28s %-4s %9lld  not available here\n", r->suite, r->name, r->dtype,
               (long long)r->n);
        return;
    }
    print_row(b, r);
    int peers = 0;
    for (int i = 1; i < r->contenders; i++) {
        if (r->contender[i].role != BENCH_PEER || isnan(r->contender[i].ns)) continue;
        add_object(b, r, &r->contender[i]);
        peers++;
    }
    if (!peers) add_object(b, r, NULL);
}

// A figure that is not a time: bytes, counts.
void report_figure(struct bench *b, const char *suite, const char *name, double value,
                   const char *unit) {
    printf("%-8s %-40s %14.0f %s\n", suite, name, value, unit);
    fflush(stdout);
    json_t *o =
        json_pack("{ss ss ss sf}", "suite", suite, "name", name, "unit", unit, "value", value);
    json_array_append_new(b->json, o);
}

void report_open(struct bench *b) {
    b->json = json_array();
    bench_need(b->json != NULL, "no memory");
}

bool report_write(struct bench *b, const char *path) {
    return json_dump_file(b->json, path, JSON_INDENT(1) | JSON_REAL_PRECISION(8)) == 0;
}
