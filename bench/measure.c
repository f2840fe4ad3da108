// SPDX-License-Identifier: MIT
// Rounds: every contender once per round, each turn long enough to be read off the clock, medians
// over the rounds. How often a contender repeats within a turn is found from a short trial, so that
// fast and slow ones weigh the same in time. Memory for operands also comes from here: touched
// before the clock runs.
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#include "bench.h"

double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

void bench_need(bool ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "weft-bench: %s\n", what);
    exit(1);
}

void *bench_buffer(size_t bytes) {
    const size_t page = bytes >= (size_t)1 << 21 ? (size_t)1 << 21 : 4096;
    const size_t whole = (bytes + page) & ~(page - 1);
    void *p = aligned_alloc(page, whole);
    bench_need(p != NULL, "no memory for the operands");
    if (page > 4096) madvise(p, whole, MADV_HUGEPAGE);
    memset(p, 0, whole);
    return p;
}

void bench_free(void *p, size_t bytes) {
    (void)bytes;
    free(p);
}

void bench_row_begin(struct row *r, const struct bench *b, const char *suite, const char *name,
                     weft_dtype t, int64_t n) {
    *r = (struct row){.suite = suite,
                      .isa = kern_isa_name(b->isa),
                      .dtype = weft_dtype_name(t),
                      .n = n,
                      .threads = b->threads,
                      .elements = (double)n};
    snprintf(r->name, sizeof r->name, "%s", name);
}

void bench_add(struct row *r, enum bench_role role, const char *name, bench_fn *run, void *ud) {
    bench_need(r->contenders < BENCH_CONTENDERS, "too many contenders in a row");
    r->contender[r->contenders++] =
        (struct contender){.name = name, .role = role, .run = run, .ud = ud};
}

bool bench_wanted(const struct bench *b, const struct row *r) {
    return !b->filter || strstr(r->name, b->filter);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Executions in a turn: doubled until a turn lasts a quarter of the sample, then scaled.
static int64_t find_times(const struct bench *b, const struct contender *c) {
    int64_t times = 1;
    for (;;) {
        const double ns = c->run(c->ud, times);
        if (ns < 0) return 0;
        if (ns >= b->sample_ns / 4 || times > ((int64_t)1 << 30)) {
            const double more = b->sample_ns / (ns / (double)times + 1e-3);
            return more < 1 ? 1 : (int64_t)more;
        }
        times *= 2;
    }
}

void bench_measure(struct bench *b, struct row *r) {
    static double sample[BENCH_CONTENDERS][BENCH_ROUNDS_MAX];
    int64_t times[BENCH_CONTENDERS];
    if (!bench_wanted(b, r)) return;
    for (int i = 0; i < r->contenders; i++)
        times[i] = find_times(b, &r->contender[i]);
    for (int round = 0; round < b->rounds; round++)
        for (int i = 0; i < r->contenders; i++) {
            struct contender *c = &r->contender[i];
            if (times[i]) sample[i][round] = c->run(c->ud, times[i]) / (double)times[i];
        }
    for (int i = 0; i < r->contenders; i++) {
        struct contender *c = &r->contender[i];
        qsort(sample[i], (size_t)b->rounds, sizeof(double), ascending);
        c->ns = times[i] ? sample[i][b->rounds / 2] * (c->scale > 0 ? c->scale : 1) : (double)NAN;
    }
    report_row(b, r);
}
