// SPDX-License-Identifier: MIT
// The rules of calls, inside the graph room. A new call is: a WHOLE row of class CALL in ops.def, its rule
// in a file of its own or among its kin, one line in the table of call.c, and its namesake in the list of
// kern.h with the function behind it. Nothing else knows it.
#ifndef WEFT_IR_CALL_H
#define WEFT_IR_CALL_H

#include "graph.h"

// What a rule looks at: operands that exist and are strong, and the attributes as given.
struct ir_ask {
    struct ir_graph *g;
    enum ir_op op;
    const ir_ref *in;
    const int64_t *attr;
    int nattr;
    struct ir_blame who;
};
// The shapes of the outputs. False after ir_fail_at: the operands do not fit.
typedef bool ir_rule_fn(const struct ir_ask *r, struct ir_shape *out);

static inline weft_dtype ir_rule_type(const struct ir_ask *r, int i) {
    return (weft_dtype)ir_at(r->g, r->in[i])->dtype;
}
static inline struct ir_shape ir_rule_shape(const struct ir_ask *r, int i) {
    struct ir_shape s = {.dtype = ir_rule_type(r, i), .rank = ir_at(r->g, r->in[i])->rank};
    if (s.rank) memcpy(s.dims, ir_dims(r->g, r->in[i]), (size_t)s.rank * sizeof *s.dims);
    return s;
}
// call_sort.c, call_index.c
ir_rule_fn ir_rule_sort, ir_rule_search, ir_rule_unique, ir_rule_histogram;
// call_linalg.c
ir_rule_fn ir_rule_cholesky, ir_rule_solve, ir_rule_lu, ir_rule_qr, ir_rule_eigh, ir_rule_svd;
ir_rule_fn ir_rule_fft, ir_rule_rfft, ir_rule_irfft;
ir_rule_fn ir_rule_scan, ir_rule_scatter, ir_rule_compress, ir_rule_unpack_bits;

#define RULE_FAIL(r, status, ...) (ir_fail_at((r)->g, (status), &(r)->who, __VA_ARGS__), false)

#endif
