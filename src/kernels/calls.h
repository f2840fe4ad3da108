// SPDX-License-Identifier: MIT
// Calls: operations over whole arrays that one precompiled function does, the second door of this room. A new
// one is a name in KERN_CALLS, its function in src/kernels/call/ and a line in the table of call.c.
#ifndef WEFT_CALLS_H
#define WEFT_CALLS_H

#include "kern.h"

// The namesakes of the CALL rows of ir/ops.def. Inputs and outputs are arrays with strides of any sign; an
// input without elements has data NULL, as has an output that nobody wants. Outputs overlap neither inputs
// nor each other. Dtypes and shapes are the rule's in ir/call*.c: nothing is checked here but values.
#define KERN_CALLS(F)                                                                              \
    F(sort) F(scan) F(search) F(compress) F(unique) F(scatter) F(histogram)                         \
    F(cholesky) F(solve) F(triangular) F(lu) F(qr) F(eigh) F(svd) F(fft) F(rfft) F(irfft) F(unpack_bits)
enum kern_call_op {
#define F(name) KERN_C_##name,
    KERN_CALLS(F)
#undef F
    KERN_CALL__N
};
// runs body(arg, i, worker) once for each i < n and returns when all are done; no two calls with one worker
// number, which is below threads, at once
typedef void kern_call_for(void *ud, int64_t n, void (*body)(void *arg, int64_t i, int worker),
                           void *arg);
struct kern_call {
    enum kern_call_op op;
    enum kern_isa isa;
    int threads; // at most, >= 1
    int nin, nout, nattr;
    const weft_array *in, *out;
    const int64_t *attr;
    void *scratch; // kern_call_scratch bytes, 64-byte aligned
    kern_call_for *run;
    void *ud;
    struct kern_watch watch;
};
// Bytes for these shapes and so many threads (data and scratch are not looked at); -1: too large.
int64_t kern_call_scratch(const struct kern_call *c);
// A status other than WEFT_OK comes with a sentence in err: what was wrong with which value. The outputs
// are unspecified then.
weft_status kern_call_run(const struct kern_call *c, struct base_err *err);

#endif
