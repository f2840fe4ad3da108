// SPDX-License-Identifier: MIT
// Looks for the greatest error of the kernels that exhaustive_f32 cannot run through, f64 and f32 of
// two operands: hunt_math [seconds [seed [family ...]]], default 60 seconds in all.
//
// Half of the operands are random (mathpick), half are the worst ones found so far, moved by a
// little: errors are greatest in narrow places of the argument, where a rounding meets the edge of
// a table or of an interval. Prints a line a family; exit status 1 when one exceeds its row in
// kernels.def.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "guard.h"
#include "mathpick.h"
#include "mathref.h"

enum { BATCH = 256, KEPT = 16 };
struct find {
    double ulp, a, b;
};
struct hunt {
    const struct kern_row *row;
    struct find best[KEPT]; // in no order
    uint64_t state, tried;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// v moved by up to 2^-k of itself, k from 2 to 52
static double near(double v, uint64_t *state) {
    const int k = 2 + (int)(next_random(state) % 51);
    const double u = (double)(int64_t)next_random(state) * 0x1p-63;
    return v + v * ldexp(u, -k);
}

static void keep(struct hunt *h, struct find f) {
    struct find *least = h->best;
    for (int i = 1; i < KEPT; i++)
        if (h->best[i].ulp < least->ulp) least = &h->best[i];
    if (f.ulp > least->ulp) *least = f;
}

// the kernel over operands held as doubles
static void run(const struct kern_row *r, double *out, double *a, double *b) {
    static _Alignas(64) float x[BATCH], y[BATCH], z[BATCH];
    if (r->dtype == WEFT_F64) {
        r->fn(out, a, b, BATCH);
        return;
    }
    for (size_t i = 0; i < BATCH; i++)
        a[i] = (double)(x[i] = (float)a[i]), b[i] = (double)(y[i] = (float)b[i]);
    r->fn(z, x, y, BATCH);
    for (size_t i = 0; i < BATCH; i++)
        out[i] = (double)z[i];
}

static void round_of(struct hunt *h) {
    static _Alignas(64) double a[BATCH], b[BATCH], out[BATCH];
    const struct kern_row *r = h->row;
    for (size_t i = 0; i < BATCH; i++) {
        mathpick(r, i, &h->state, &a[i], &b[i]);
        const struct find *f = &h->best[next_random(&h->state) % KEPT];
        if (i % 2 == 0 || f->ulp == 0.0) continue;
        a[i] = near(f->a, &h->state);
        b[i] = next_random(&h->state) % 2 ? f->b : near(f->b, &h->state);
    }
    run(r, out, a, b);
    for (size_t i = 0; i < BATCH; i++)
        keep(h, (struct find){mathref_ulp(r->family, r->dtype, a[i], b[i], out[i]), a[i], b[i]});
    h->tried += BATCH;
}

static bool wanted(const struct kern_row *r, char **names, int n) {
    bool yes = n == 0;
    for (int i = 0; i < n; i++)
        yes |= !strcmp(names[i], mathref_name(r->family));
    const bool mine = r->dtype == WEFT_F64 || (r->dtype == WEFT_F32 && mathref_binary(r->family));
    return yes && mine && mathref_has(r->family) &&
           r == kern_find(r->family, r->dtype, kern_isa_detect());
}

static bool report(const struct hunt *h) {
    const struct find *w = h->best;
    for (int i = 1; i < KEPT; i++)
        if (h->best[i].ulp > w->ulp) w = &h->best[i];
    const bool good = w->ulp <= h->row->ulp;
    printf("%-14s %s %.4f ULP of %g at %a", mathref_name(h->row->family), h->row->dtype == WEFT_F64 ? "f64" : "f32", w->ulp, h->row->ulp, w->a);
    if (mathref_binary(h->row->family)) printf(", %a", w->b);
    printf("  (%llu arguments)%s\n", (unsigned long long)h->tried, good ? "" : "  EXCEEDED");
    return good;
}

int main(int argc, char **argv) {
    const double seconds = argc > 1 ? atof(argv[1]) : 60.0;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL) | 1;
    size_t n, count = 0;
    const struct kern_row *rows = kern_rows(&n);
    for (size_t i = 0; i < n; i++)
        count += wanted(&rows[i], argv + 3, MAX_OF(argc - 3, 0));
    int bad = 0;
    for (size_t i = 0; i < n; i++) {
        if (!wanted(&rows[i], argv + 3, MAX_OF(argc - 3, 0))) continue;
        struct hunt h = {.row = &rows[i], .state = seed};
        const double end = now() + seconds / (double)count;
        do
            round_of(&h);
        while (now() < end);
        bad += !report(&h);
        fflush(stdout);
    }
    mathref_free();
    printf("%zu functions, seed %llu, %d beyond their bounds\n", count, (unsigned long long)seed,
           bad);
    return count == 0 || bad != 0;
}
