// SPDX-License-Identifier: MIT
// weft eval --profile: what the library says of every step, kept and printed as a table on stderr when all is
// done, so that printing costs the steps nothing. Runs that repeat a step keep its fastest time.
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

void profile_hear(void *ud, const weft_profile_step *s, size_t size) {
    struct profile *p = ud;
    (void)size;
    if (s->step >= p->cap) {
        int cap = s->steps > s->step ? s->steps : s->step + 1;
        struct profile_row *grown = cmd_alloc((size_t)cap * sizeof *grown);
        memset(grown, 0, (size_t)cap * sizeof *grown);
        if (p->n) memcpy(grown, p->at, (size_t)p->n * sizeof *grown);
        free(p->at);
        p->at = grown;
        p->cap = cap;
    }
    struct profile_row *r = &p->at[s->step];
    if (s->step >= p->n) p->n = s->step + 1;
    if (r->s.name && r->s.ns <= s->ns) return;
    r->s = *s;
    snprintf(r->name, sizeof r->name, "%s", s->name);
    r->s.name = r->name;
}

void profile_free(struct profile *p) {
    free(p->at);
    *p = (struct profile){.at = NULL};
}

static void put_total(FILE *f, const struct profile *p) {
    uint64_t ns = 0;
    int64_t bytes = 0;
    for (int i = 0; i < p->n; i++) {
        ns += p->at[i].s.ns;
        bytes += p->at[i].s.bytes_read + p->at[i].s.bytes_written;
    }
    fprintf(f, "     %-7s %10.3f ms %8.2f GB/s\n", "all", (double)ns * 1e-6, ns ? (double)bytes / (double)ns : 0.0);
}

void profile_print(FILE *f, const struct profile *p) {
    fprintf(f, "step kind          time       moved         read      written  thr  tier          operations\n");
    for (int i = 0; i < p->n; i++) {
        const weft_profile_step *s = &p->at[i].s;
        double rate = s->ns ? (double)(s->bytes_read + s->bytes_written) / (double)s->ns : 0;
        fprintf(f, "%4d %-7s %10.3f ms %8.2f GB/s %12lld %12lld %4d  %-12s  %s\n", i, s->kind,
                (double)s->ns * 1e-6, rate, (long long)s->bytes_read, (long long)s->bytes_written, s->threads,
                weft_tier_text(s->tier), p->at[i].name);
    }
    if (p->n > 1) put_total(f, p);
}
