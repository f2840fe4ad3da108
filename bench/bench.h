// SPDX-License-Identifier: MIT
// weft-bench: rows of contenders, each timed in turn in every round of one run, so that whatever
// else the machine does hits all of them alike. A row's figures are medians over the rounds.
//
//     suite_*.c   what is measured: they fill struct row and call bench_measure
//     measure.c   rounds, repeats, medians          limits.c   loops at the limits of the machine
//     numpy.c     the child process that times NumPy, numexpr and numba in the same rounds
//     report.c    tables and JSON                   compare.c  two JSON files beside each other
#ifndef WEFT_BENCH_H
#define WEFT_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kern.h"
#include "weft/weft.h"

enum { BENCH_CONTENDERS = 12, BENCH_ROUNDS_MAX = 101 };

// Runs the work `times` times and returns the nanoseconds it all took, or a negative number when it
// cannot be run (the contender is then left out).
typedef double bench_fn(void *ud, int64_t times);

enum bench_role {
    BENCH_WEFT, // contender 0: what the row is about
    BENCH_PEER, // another library, or another way through weft
    BENCH_LIMIT // what the machine allows
};
struct contender {
    const char *name;
    enum bench_role role;
    bench_fn *run;
    void *ud;
    double scale; // figures are multiplied by this (0 is 1): a limit of another count of operations
    double ns;    // result: median of one execution; NaN when it could not run
};
struct row {
    const char *suite;
    char name[80];
    const char *isa;
    const char *dtype; // "f64", ...
    int64_t n;         // elements (or what the suite counts)
    int threads;
    double flop;     // of one execution, for rates; 0: none
    double elements; // per execution, for ns and cycles an element; 0: none
    int contenders;
    struct contender contender[BENCH_CONTENDERS];
};

struct bench {
    weft_isa cap;      // --isa
    enum kern_isa isa; // what that means here
    int threads, max_threads;
    int rounds;
    double sample_ns;   // a contender's turn lasts at least this long
    const char *filter; // only rows whose name contains it
    bool quick;
    double cycle_ns;    // of a core under load, measured at start
    void *json;         // rows so far, for --json
    const char *python; // of the child process
};

void bench_row_begin(struct row *r, const struct bench *b, const char *suite, const char *name,
                     weft_dtype t, int64_t n);
void bench_add(struct row *r, enum bench_role role, const char *name, bench_fn *run, void *ud);
bool bench_wanted(const struct bench *b, const struct row *r);
// Times all contenders in interleaved rounds, then prints and records the row.
void bench_measure(struct bench *b, struct row *r);
double bench_now(void); // nanoseconds
// 64-byte aligned, touched; large ones on huge pages where the system gives them. Exits without
// memory.
void *bench_buffer(size_t bytes);
void bench_free(void *p, size_t bytes);
void bench_need(bool ok, const char *what); // ends the program with a sentence when !ok

// ---- limits of the machine --------------------------------------------------------------------
struct limit_arrays {
    const struct bench *b;
    const void *x, *y;
    void *out;
    size_t bytes; // of each array
    int threads;
};
bench_fn limit_copy;     // x to out, in cache
bench_fn limit_load;     // x, read only
bench_fn limit_load2;    // x and y
bench_fn limit_stream;   // x and y read, out written past the caches
bench_fn limit_sqrt_f64; // hardware square root of x into out
bench_fn limit_sqrt_f32;
bench_fn limit_hand_chain; // sqrt(x*y+x), f64, written by hand
double limit_cycle_ns(void);
double limit_fma_rate(enum kern_isa isa, bool single); // flop per ns of one core

// ---- threads of the benchmark itself: run body(arg, i), i < n, one thread each
// ------------------------
void team_run(void *ud, int64_t n, void (*body)(void *arg, int64_t i), void *arg);

// ---- NumPy, numexpr and numba in a child
// -----------------------------------------------------------------
struct numpy_job {
    int id; // 0: cannot be had
};
// engine: "numpy", "numexpr", "numba"; statement: what is timed, over arrays made by setup.
bool numpy_job(struct bench *b, struct numpy_job *j, const char *engine, const char *setup,
               const char *statement, int threads);
bench_fn numpy_time; // ud: struct numpy_job
double numpy_value(struct numpy_job *j,
                   const char *name); // a number the job's statement left; NaN: none
void numpy_stop(void);

// ---- output -----------------------------------------------------------------------------------
void report_row(struct bench *b, const struct row *r);
void report_figure(struct bench *b, const char *suite, const char *name, double value,
                   const char *unit);
void report_open(struct bench *b);
bool report_write(struct bench *b, const char *path);
int compare_main(int argc, char **argv);
int start_child(const char *backend, const char *folder);

typedef void suite_fn(struct bench *b);
suite_fn suite_math, suite_gemm, suite_reduce, suite_chain, suite_call, suite_compile, suite_start,
    suite_memory, suite_threads;

#endif
