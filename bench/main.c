// SPDX-License-Identifier: MIT
// weft-bench: measures weft beside its peers and the limits of the machine, all in one run.
#include <argp.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>

#include "bench.h"

static const struct {
    const char *name;
    suite_fn *run;
    bool both; // once with one thread and once with all
} suites[] = {
    {"math", suite_math, false},       {"gemm", suite_gemm, true},
    {"reduce", suite_reduce, true},    {"chain", suite_chain, true},
    {"call", suite_call, false},       {"compile", suite_compile, false},
    {"start", suite_start, false},     {"memory", suite_memory, false},
    {"threads", suite_threads, false},
};

static struct {
    struct bench bench;
    const char *suite, *json;
    int threads;
} set = {.bench = {.rounds = 15, .sample_ns = 1e6, .python = "/usr/bin/python3"}, .suite = "all"};

static const struct argp_option options[] = {
    {"suite", 's', "NAME", 0,
     "math, gemm, reduce, chain, call, compile, start, memory, threads or all", 0},
    {"json", 'j', "FILE", 0, "write the rows as a list of objects", 0},
    {"isa", 'i', "NAME", 0, "scalar, avx2 or avx512 (default: the best here)", 0},
    {"threads", 't', "N", 0,
     "threads (default: one for call-like suites, one and all for the others)", 0},
    {"rounds", 'r', "N", 0, "interleaved rounds, medians are over these (default 15)", 0},
    {"filter", 'f', "TEXT", 0, "only rows whose name contains TEXT", 0},
    {"quick", 'q', NULL, 0, "few sizes, short turns: a look, not a figure", 0},
    {"python", 'p', "FILE", 0, "the Python that has NumPy (default /usr/bin/python3)", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    struct bench *b = &set.bench;
    switch (key) {
    case 's': set.suite = arg; return 0;
    case 'j': set.json = arg; return 0;
    case 'i':
        if (!strcmp(arg, "scalar"))
            b->cap = WEFT_ISA_SCALAR;
        else if (!strcmp(arg, "avx2"))
            b->cap = WEFT_ISA_AVX2;
        else if (!strcmp(arg, "avx512"))
            b->cap = WEFT_ISA_AVX512;
        else
            argp_error(state, "--isa %s: scalar, avx2 or avx512", arg);
        return 0;
    case 't':
        set.threads = atoi(arg);
        if (set.threads < 1 || set.threads > 64) argp_error(state, "--threads %s: 1 to 64", arg);
        return 0;
    case 'r':
        b->rounds = atoi(arg);
        if (b->rounds < 1 || b->rounds > BENCH_ROUNDS_MAX)
            argp_error(state, "--rounds %s: 1 to 101", arg);
        return 0;
    case 'f': b->filter = arg; return 0;
    case 'q': b->quick = true; return 0;
    case 'p': b->python = arg; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int cpus(void) {
    cpu_set_t s;
    return sched_getaffinity(0, sizeof s, &s) ? 1 : MIN_OF(CPU_COUNT(&s), 64);
}

static bool run_suite(const char *name) {
    struct bench *b = &set.bench;
    bool any = false;
    for (size_t i = 0; i < COUNT_OF(suites); i++) {
        if (strcmp(name, "all") != 0 && strcmp(name, suites[i].name) != 0) continue;
        any = true;
        b->threads = set.threads ? set.threads : 1;
        suites[i].run(b);
        if (set.threads || !suites[i].both || b->max_threads == 1) continue;
        b->threads = b->max_threads;
        suites[i].run(b);
    }
    return any;
}

int main(int argc, char **argv) {
    static const struct argp argp = {
        options,
        parse,
        NULL,
        "Measures weft beside its peers and the limits of the machine.\v"
        "weft-bench compare OLD.json NEW.json prints what changed beyond noise.\n"
        "A peer's figure is its time over weft's: above 1, weft is faster.\n"
        "[name P%] is the share of that limit which weft reaches.",
        NULL,
        NULL,
        NULL};
    if (argc > 1 && !strcmp(argv[1], "compare")) return compare_main(argc - 2, argv + 2);
    if (argc == 4 && !strcmp(argv[1], "start-child")) return start_child(argv[2], argv[3]);
    // idle workers of a peer must not burn the next contender's cores
    setenv("OPENBLAS_THREAD_TIMEOUT", "20", 0);
    setenv("GOMP_SPINCOUNT", "100000", 0);
    setenv("OPENBLAS_NUM_THREADS", "1", 0); // NumPy's own products are asked for one by one
    if (argp_parse(&argp, argc, argv, 0, NULL, NULL)) return 2;
    struct bench *b = &set.bench;
    b->isa = kern_isa_capped(b->cap);
    b->max_threads = cpus();
    if (b->quick) b->rounds = MIN_OF(b->rounds, 5), b->sample_ns = 2e5;
    b->cycle_ns = limit_cycle_ns();
    report_open(b);
    printf("%s, %d CPUs, %.2f GHz under load, %d rounds\n", kern_isa_name(b->isa), b->max_threads,
           1 / b->cycle_ns, b->rounds);
    bool ok = run_suite(set.suite);
    numpy_stop();
    if (!ok) {
        fprintf(stderr, "weft-bench: no suite is named %s\n", set.suite);
        return 2;
    }
    if (set.json && !report_write(b, set.json)) {
        fprintf(stderr, "weft-bench: %s cannot be written\n", set.json);
        return 1;
    }
    return 0;
}
