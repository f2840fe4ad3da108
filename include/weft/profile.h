/* SPDX-License-Identifier: MIT
 *
 * weft/profile.h: where the time of an evaluation goes, step by step, as data. Included by weft.h.
 *
 *     static void show(void *ud, const weft_profile_step *s, size_t size) {
 *         printf("%s %s: %.3f ms, %.1f GB/s\n", s->kind, s->name, s->ns * 1e-6,
 *                (double)(s->bytes_read + s->bytes_written) / (double)s->ns);
 *     }
 *     weft_set_profile(ctx, show, NULL);
 *
 * A step is one pass over memory, one matrix product or one call of a whole-array function: what the plan
 * dump lists. While no function is set an evaluation does one load and one comparison more.
 */
#ifndef WEFT_PROFILE_H
#define WEFT_PROFILE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Who computed a step. */
typedef enum weft_tier {
    WEFT_TIER_INTERP, /* the interpreter */
    WEFT_TIER_JIT,    /* machine code compiled for it */
    WEFT_TIER_KERNEL  /* a precompiled kernel: matrix products, sorting and other calls */
} weft_tier;

/* One step that has run. Texts are valid as long as the program or graph that was evaluated. */
typedef struct weft_profile_step {
    const char *name; /* its operations, "mul add sqrt"; long ones are cut and end in a count */
    const char *kind; /* "map", "inner", "outer" (reductions along columns, along rows), "matmul", "call" */
    int step, steps;  /* its number in the run, from 0, and how many there are */
    uint64_t ns;      /* from its begin to its end, monotonic clock */
    int64_t bytes_read, bytes_written; /* of its operands in memory, each array once, as planned */
    weft_tier tier;   /* when it began; code that appears meanwhile is taken up between tiles */
    int threads;      /* threads it was shared among at most */
    weft_isa isa;     /* instruction set in use */
} weft_profile_step;

/* size is sizeof(weft_profile_step) of the library: fields may be added at its end. Called on the thread that
 * evaluates, after each step, while the evaluation waits; it must not evaluate with the same context, or
 * change its profile. Several threads that evaluate call it at the same time. */
typedef void weft_profile_fn(void *ud, const weft_profile_step *s, size_t size);

/* Sets the function that hears of every step of every evaluation of ctx (NULL: none). To be called while
 * nothing is evaluated in ctx. WEFT_EINVAL when ctx is NULL. */
WEFT_API weft_status weft_set_profile(weft_ctx *ctx, weft_profile_fn *fn, void *ud);
/* "interpreter", "machine code", "kernel"; never NULL. */
WEFT_API const char *weft_tier_text(weft_tier t);

/* To whom compiled code tells its name ("weft_mul_add_sqrt") and how to unwind it. */
typedef enum weft_names {
    WEFT_NAMES_PERF_MAP = 1, /* lines in /tmp/perf-PID.map: perf record; perf report */
    WEFT_NAMES_JITDUMP = 2,  /* /tmp/jit-PID.dump: perf record -k mono; perf inject --jit; perf annotate */
    WEFT_NAMES_GDB = 4       /* GDB's JIT interface: breakpoints, backtraces through the code */
} weft_names;
/* Sets it (any of the bits, 0: none, the default) for code that ctx compiles from now on; the environment
 * variable WEFT_PERF=map,jitdump,gdb does it from the beginning. Such code carries unwinding tables and is
 * compiled anew in every process. WEFT_EINVAL: ctx is NULL or a bit is unknown. */
WEFT_API weft_status weft_set_code_names(weft_ctx *ctx, unsigned names);

#ifdef __cplusplus
}
#endif
#endif
