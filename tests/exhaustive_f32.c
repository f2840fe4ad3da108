// SPDX-License-Identifier: MIT
// All 2^32 arguments of the unary f32 kernels: exhaustive_f32 [-jN] [family ...], default every
// family.
//
// The reference is the f64 kernel of the family, which test_math holds to at most one ULP of a
// double: that shifts an error measured in ULP of a float by at most 2^-29. The worst argument
// found is then judged by MPFR. Each slice of arguments is also run on the next lower instruction
// set (not on base, whose software FMA would take hours) and must give the same bits. Prints one
// line a family; exit status 1 if one exceeds its row in kernels.def.
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mathref.h"

enum { SLICE = 4096, THREADS_MAX = 256 };

struct job {
    const struct kern_row *row, *ref, *second; // second: another instruction set, or NULL
    _Atomic uint64_t next;                     // the first argument nobody has taken
};
struct found {
    struct job *job;
    double ulp;
    uint32_t bits, differing; // the worst argument; results that differ between instruction sets
};

// |got - want| in ULP of a float at want
static double distance(float got, double want) {
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0.0 : HUGE_VAL;
    if (!signbit(got) != !signbit(want)) return HUGE_VAL;
    uint64_t u;
    memcpy(&u, &want, sizeof u);
    int e = (int)(u >> 52 & 0x7ff) - 1023;
    e = MIN_OF(MAX_OF(e, -126), 127);
    const double top = 0x1p128;
    const double g = isinf(got) ? copysign(top, (double)got) : (double)got;
    const double w = fabs(want) > top ? copysign(top, want) : want;
    if (isinf(got) && fabs(want) < top * (1.0 - 0x1p-25)) return HUGE_VAL; // rounds to a number
    const uint64_t scale = (uint64_t)(1023 + 23 - e) << 52;
    double up;
    memcpy(&up, &scale, sizeof up);
    return fabs(g - w) * up;
}

// Whether the distance is at most ulp, by a few operations; false when that takes a closer look.
static inline bool within(float got, double want, double ulp) {
    const double g = (double)got, least = 0x1p-126;
    uint64_t u, w, scale;
    memcpy(&w, &want, sizeof w);
    memcpy(&u, &least, sizeof u);
    scale = ((uint64_t)(2 * 1023 + 23) << 52) - MAX_OF(w & 0x7ff0000000000000u, u);
    double up;
    memcpy(&up, &scale, sizeof up);
    if (fabs(g - want) * up <= ulp && !signbit(got) == !signbit(want)) return true;
    return isnan(got) && isnan(want);
}

static void run_slice(struct found *f, uint32_t first) {
    _Alignas(64) static _Thread_local float x[SLICE], y[SLICE], z[SLICE];
    _Alignas(64) static _Thread_local double wide[SLICE], want[SLICE];
    for (uint32_t i = 0; i < SLICE; i++) {
        const uint32_t bits = first + i;
        memcpy(&x[i], &bits, sizeof bits);
        wide[i] = (double)x[i];
    }
    f->job->row->fn(y, x, NULL, SLICE);
    f->job->ref->fn(want, wide, NULL, SLICE);
    for (uint32_t i = 0; i < SLICE; i++) {
        if (within(y[i], want[i], f->ulp)) continue;
        const double d = distance(y[i], want[i]);
        if (d > f->ulp) f->ulp = d, f->bits = first + i;
    }
    if (!f->job->second) return;
    f->job->second->fn(z, x, NULL, SLICE);
    if (!memcmp(y, z, sizeof y)) return;
    for (uint32_t i = 0; i < SLICE; i++)
        if (memcmp(&y[i], &z[i], sizeof y[i]) != 0 && !(isnan(y[i]) && isnan(z[i]))) f->differing++;
}

static void *work(void *arg) {
    struct found *f = arg;
    uint64_t first;
    while ((first = atomic_fetch_add(&f->job->next, SLICE)) <= UINT32_MAX)
        run_slice(f, (uint32_t)first);
    return NULL;
}

// Whether the family keeps to its row.
static bool examine(const struct kern_row *row, int threads) {
    const enum kern_isa isa = row->isa;
    struct job job = {.row = row, .ref = kern_find(row->family, WEFT_F64, isa)};
    if (isa > KERN_AVX2) job.second = kern_find(row->family, WEFT_F32, KERN_AVX2);
    if (!job.ref) {
        printf("%-10s no f64 kernel to compare with\n", mathref_name(row->family));
        return false;
    }
    struct found found[THREADS_MAX] = {0}, worst = {0};
    pthread_t ids[THREADS_MAX];
    int started = 0;
    for (int i = 0; i < threads; i++)
        found[i].job = &job;
    while (started + 1 < threads && !pthread_create(&ids[started], NULL, work, &found[started]))
        started++;
    work(&found[started]);
    for (int i = 0; i <= started; i++) {
        if (i < started) pthread_join(ids[i], NULL);
        worst.differing += found[i].differing;
        if (found[i].ulp > worst.ulp) worst.ulp = found[i].ulp, worst.bits = found[i].bits;
    }
    float x, y;
    memcpy(&x, &worst.bits, sizeof x);
    row->fn(&y, &x, NULL, 1);
    const double exact = mathref_ulp(row->family, WEFT_F32, (double)x, 0.0, (double)y);
    const bool good = MAX_OF(exact, worst.ulp) <= row->ulp && !worst.differing;
    printf("%-10s %.6f ULP (allowed %.3f) at %a, %.9g%s\n", mathref_name(row->family), exact,
           row->ulp, (double)x, (double)x, good ? "" : "  FAILED");
    if (worst.differing) printf("%-10s %u results differ on avx2\n", "", worst.differing);
    if (isinf(worst.ulp) && !isinf(exact)) printf("%-10s the two kernels disagree there\n", "");
    fflush(stdout);
    return good;
}

static bool wanted(const char *name, int argc, char **argv, int first) {
    for (int i = first; i < argc; i++)
        if (!strcmp(name, argv[i])) return true;
    return first == argc;
}

int main(int argc, char **argv) {
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    int first = 1, failed = 0, done = 0;
    if (argc > 1 && !strncmp(argv[1], "-j", 2)) threads = strtol(argv[1] + 2, NULL, 10), first = 2;
    threads = MIN_OF(MAX_OF(threads, 1), THREADS_MAX);
    for (int f = 0; f < KERN_FAMILY__N; f++) {
        const enum kern_family family = (enum kern_family)f;
        const struct kern_row *row = kern_find(family, WEFT_F32, kern_isa_detect());
        if (!row || !mathref_has(family) || mathref_binary(family)) continue;
        if (!wanted(mathref_name(family), argc, argv, first)) continue;
        failed += !examine(row, (int)threads);
        done++;
    }
    mathref_free();
    printf("%d families, %d failed\n", done, failed);
    return failed || !done;
}
