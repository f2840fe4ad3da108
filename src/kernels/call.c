// SPDX-License-Identifier: MIT
// The table of calls. In: an operation over whole arrays; out: its function run, its scratch counted. Every
// function is in src/kernels/call/, one file a family; the list of names is KERN_CALLS in kern.h.
#include "call/call.h"

struct row {
    call_run *run;
    call_scratch *scratch; // NULL: none
};
static const struct row *find(enum kern_call_op op) {
    static const struct row table[KERN_CALL__N] = {
        [KERN_C_sort] = {call_sort, call_sort_scratch},
        [KERN_C_scan] = {call_scan, call_scan_scratch},
        [KERN_C_search] = {call_search, call_search_scratch},
        [KERN_C_compress] = {call_compress, call_compress_scratch},
        [KERN_C_unique] = {call_unique, NULL},
        [KERN_C_scatter] = {call_scatter, call_scatter_scratch},
        [KERN_C_histogram] = {call_histogram, call_histogram_scratch},
        [KERN_C_cholesky] = {call_linalg, call_linalg_scratch},
        [KERN_C_solve] = {call_linalg, call_linalg_scratch},
        [KERN_C_triangular] = {call_linalg, call_linalg_scratch},
        [KERN_C_lu] = {call_linalg, call_linalg_scratch},
        [KERN_C_qr] = {call_linalg, call_linalg_scratch},
        [KERN_C_eigh] = {call_linalg, call_linalg_scratch},
        [KERN_C_svd] = {call_linalg, call_linalg_scratch},
        [KERN_C_fft] = {call_fft, call_fft_scratch},
        [KERN_C_rfft] = {call_fft, call_fft_scratch},
        [KERN_C_irfft] = {call_fft, call_fft_scratch},
        [KERN_C_unpack_bits] = {call_unpack_bits, NULL},
    };
    return &table[op];
}

int64_t kern_call_scratch(const struct kern_call *c) {
    const struct row *r = find(c->op);
    return r->scratch ? r->scratch(c) : 0;
}

weft_status kern_call_run(const struct kern_call *c, struct base_err *err) {
    return find(c->op)->run(c, err);
}
