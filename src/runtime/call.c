// SPDX-License-Identifier: MIT
// A call step. In: the arrays as the plan placed them and the addresses of a run; out: the function
// of kernels/call.h run over them, or its status. Arrays are put together on the stack, scratch is
// the memory that steps share, threads are the run's: nothing is allocated and nothing is decided.
#include "../kernels/calls.h"
#include "walk.h"

enum { ARRAYS_MAX = 8 };

static void describe(const struct nest_array *from, const struct rt_run *run, weft_array *to) {
    to->dtype = (weft_dtype)from->o.dtype;
    to->rank = from->rank;
    to->data = NULL;
    for (int d = 0; d < from->rank; d++) {
        to->dims[d] = from->dim[d];
        to->strides[d] = from->o.stride[d];
    }
    if (from->absent || !run) return;
    to->data = (void *)((uintptr_t)rt_operand_base(run, from->o.buffer, from->o.buf) +
                        (uintptr_t)from->o.offset);
}

static struct kern_call prepare(const struct nest_call *c, const struct rt_run *run,
                                weft_array *array) {
    for (int i = 0; i < c->nin + c->nout; i++)
        describe(&c->array[i], run, &array[i]);
    return (struct kern_call){.op = (enum kern_call_op)c->op,
                              .nin = c->nin,
                              .nout = c->nout,
                              .nattr = c->nattr,
                              .in = array,
                              .out = array + c->nin,
                              .attr = c->attr};
}

int64_t rt_call_bytes(const struct nest_call *c, const struct rt_env *env, int threads) {
    weft_array array[ARRAYS_MAX];
    struct kern_call k = prepare(c, NULL, array);
    k.isa = env->isa;
    k.threads = threads;
    const int64_t bytes = kern_call_scratch(&k);
    return bytes > BASE_MAX_BYTES ? -1 : bytes;
}

// Calls in chunks, so that a run that is told to stop need not pass over what is left one by one.
enum { CHUNKS = 1024 };
struct lender {
    const struct rt_run *run;
    void (*body)(void *arg, int64_t i, int worker);
    void *arg;
    int64_t n, chunks, cycles; // cycles: of one call, roughly
};
static void lend_chunk(void *arg, int64_t chunk, int worker) {
    const struct lender *l = arg;
    const int64_t each = l->n / l->chunks, more = l->n % l->chunks;
    int64_t i = chunk * each + MIN_OF(chunk, more);
    const int64_t end = i + each + (chunk < more);
    for (; i < end && !rt_tick(l->run, l->cycles); i++)
        l->body(l->arg, i, worker);
}
static void lend(void *ud, int64_t n, void (*body)(void *arg, int64_t i, int worker), void *arg) {
    const struct rt_run *run = ud;
    struct lender l = {run, body, arg, n, MIN_OF(n, CHUNKS), 0};
    if (run->bind->control && n) l.cycles = (int64_t)run->bind->control->step / n;
    rt_parallel(run->env, run->threads, l.chunks, lend_chunk, &l);
}

weft_status rt_call_run(const struct rt_run *run, const struct nest_call *c) {
    weft_array array[ARRAYS_MAX];
    struct kern_call k = prepare(c, run, array);
    k.isa = run->env->isa;
    k.threads = run->threads;
    k.scratch = run->shared;
    k.run = lend;
    k.ud = (void *)(uintptr_t)run;
    k.watch = rt_watch(run);
    return kern_call_run(&k, run->bind->err);
}
