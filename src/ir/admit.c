// SPDX-License-Identifier: MIT
// What may become a node when it comes from a file: the types, the number and the range of attributes that
// the emitters settle before they put a node, and that later rooms rely on without looking. Whatever an
// emitter checks itself (shapes, broadcasting, sizes) is left to it. Anything not listed is refused: a new
// operation cannot be loaded before its row here is written, and a test asks for it.
#include <math.h>

#include "pair.h"

struct ask {
    const struct ir_graph *g;
    const struct ir_again *n;
};
static weft_dtype type_in(const struct ask *q, int i) {
    return (weft_dtype)ir_at(q->g, q->n->in[i])->dtype;
}
static int rank_in(const struct ask *q, int i) {
    return ir_at(q->g, q->n->in[i])->rank;
}
static bool below(int64_t v, int64_t end) {
    return v >= 0 && v < end;
}

// ---- leaves -----------------------------------------------------------------------------------
static bool weak_fits(enum ir_weak weak, weft_dtype t) {
    return weak == IR_STRONG || ((t == WEFT_BOOL || t == WEFT_I64 || t == WEFT_U64 || t == WEFT_F64 || t == WEFT_C128) &&
                                 weak == ir_weak_kind(t));
}

static const char *admit_constant(const struct ask *q) {
    const uint64_t bits = (uint64_t)q->n->attr[0];
    const size_t size = dtype_size(q->n->dtype);
    if (dtype_is_complex(q->n->dtype)) return "a constant is of a real type";
    if (!weak_fits(q->n->weak, q->n->dtype)) return "a literal of the wrong type";
    if (size < 8 && bits >> (8 * size)) return "a value wider than its type";
    return q->n->dtype == WEFT_BOOL && bits > 1 ? "a bool that is not 0 or 1" : NULL;
}

static const char *admit_leaf(const struct ask *q) {
    const struct ir_again *n = q->n;
    double ddof;
    if (n->op == IR_constant) return n->nattr == 1 ? admit_constant(q) : "a constant has one value";
    if (n->op == IR_iota) {
        if (n->nattr != 1 + n->rank || !below(n->attr[0], n->rank)) return "no such axis";
        return dtype_is_computed(n->dtype) && n->dtype != WEFT_BOOL ? NULL : "no indices of this type";
    }
    if (n->op != IR_extent) return "not an operation of a graph file";
    if (n->nattr != 2 || n->dtype != WEFT_F64) return "not an extent";
    memcpy(&ddof, &n->attr[1], sizeof ddof);
    if (!isfinite(ddof)) return "ddof is not finite";
    const uint64_t mask = (uint64_t)n->attr[0];
    return mask && mask >> rank_in(q, 0) == 0 ? NULL : "no such axes";
}

// ---- elementwise ------------------------------------------------------------------------------
enum { FLT = 1, INT = 2, BOOLEAN = 4 };
// The classes of types for which ops.def has a meaning.
static unsigned meanings(enum ir_op op) {
    static const char *const text[IR_OP__N][3] = {
#define MAP(name, arity, rule, kernel, flt, integer, boolean, doc) [IR_##name] = {#flt, #integer, #boolean},
#include "ops.def"
    };
    unsigned known = 0;
    for (int i = 0; i < 3; i++)
        if (text[op][i] && strcmp(text[op][i], "NA") != 0) known |= 1u << i;
    return known;
}
static unsigned class_of(weft_dtype t) {
    return t == WEFT_BOOL ? BOOLEAN : dtype_is_float(t) ? FLT : INT;
}

// Halves come from f32 and f64 and go to f32 only, bits being what one rounding gives.
static const char *admit_cast(weft_dtype from, weft_dtype to) {
    if (from == to || dtype_is_complex(from) || dtype_is_complex(to)) return "no such cast";
    if (dtype_is_half(from)) return to == WEFT_F32 ? NULL : "a half becomes f32 first";
    if (!dtype_is_half(to) || from == WEFT_F32 || from == WEFT_F64) return NULL;
    return "only floating point becomes a half";
}

static const char *admit_map(const struct ask *q) {
    const struct ir_again *n = q->n;
    const int rule = ir_ops[n->op].rule, first = n->op == IR_where;
    const weft_dtype t = type_in(q, first);
    if (n->nattr) return "has no attributes";
    for (int i = 0; i < ir_ops[n->op].arity; i++)
        if (n->weak && rank_in(q, i)) return "a literal has no axes";
    if (!weak_fits(n->weak, n->dtype)) return "a literal of the wrong type";
    if (n->op == IR_cast) return admit_cast(t, n->dtype);
    if (first && type_in(q, 0) != WEFT_BOOL) return "the condition is not bool";
    for (int i = first; i < ir_ops[n->op].arity; i++)
        if (type_in(q, i) != t) return "operands of different types";
    if (!dtype_is_computed(t) || !(meanings(n->op) & class_of(t))) return "not defined for this type";
    if (rule == RULE_WORD && t != WEFT_U64) return "only for u64";
    const bool truth = rule == RULE_COMPARE || rule == RULE_LOGIC || rule == RULE_PRED;
    return n->dtype == (truth ? WEFT_BOOL : t) ? NULL : "a result of the wrong type";
}

static const char *admit_pair(const struct ask *q) {
    const weft_dtype t = type_in(q, 0);
    if (q->n->op != IR_complex || q->n->nattr) return "not an operation of a graph file";
    if (!weak_fits(q->n->weak, q->n->dtype)) return "a literal of the wrong type";
    if ((t != WEFT_F32 && t != WEFT_F64) || type_in(q, 1) != t) return "parts of the wrong type";
    return q->n->dtype == dtype_complex_of(t) ? NULL : "a result of the wrong type";
}

// ---- reductions, views ------------------------------------------------------------------------
static const char *admit_reduce(const struct ask *q) {
    const struct ir_again *n = q->n;
    const weft_dtype t = type_in(q, 0);
    if (n->nattr != 2 || n->attr[0] < 0 || n->attr[1] <= n->attr[0] || n->attr[1] > rank_in(q, 0))
        return "no such run of axes";
    if (!dtype_is_computed(t)) return "not defined for this type";
    switch (n->op) {
    case IR_R_sum:
    case IR_R_prod: return t == WEFT_F32 || dtype_size(t) == 8 ? NULL : "accumulates in a narrow type";
    case IR_R_any:
    case IR_R_all: return t == WEFT_BOOL ? NULL : "only for bool";
    case IR_R_nanmin:
    case IR_R_nanmax:
    case IR_R_nanargmin:
    case IR_R_nanargmax: return dtype_is_float(t) ? NULL : "only for floating point";
    default: return NULL;
    }
}

static bool reason_known(int64_t why) {
    return why == IR_FAILED || (why >= IR_NAN_MET && why <= IR_NAN_MET + IR_ARGMAX) ||
           (why >= IR_ALL_NAN && why <= IR_ALL_NAN + IR_ARGMAX);
}

static const char *admit_view(const struct ask *q) {
    static const char *const count = "the wrong number of attributes", *const axis = "no such axis";
    const struct ir_again *n = q->n;
    const int64_t *a = n->attr;
    const int rank = rank_in(q, 0);
    switch (n->op) {
    case IR_reshape:
    case IR_broadcast_to:
        return n->nattr > 0 && below(a[0], WEFT_MAX_RANK + 1) && a[0] == n->nattr - 1 ? NULL : count;
    case IR_transpose:
        for (int i = 0; i < n->nattr; i++)
            if (!below(a[i], rank)) return axis;
        return n->nattr == rank ? NULL : count;
    case IR_slice: return n->nattr != 4 ? count : below(a[0], rank) ? NULL : axis;
    case IR_expand_dims: return n->nattr != 1 ? count : below(a[0], rank + 1) ? NULL : axis;
    case IR_squeeze:
    case IR_trim: return n->nattr != 1 ? count : below(a[0], rank) ? NULL : axis;
    case IR_diagonal: return n->nattr != 3 ? count : below(a[1], rank) && below(a[2], rank) ? NULL : axis;
    case IR_windows: return n->nattr != 2 ? count : below(a[0], rank) ? NULL : axis;
    case IR_fixed: return n->nattr == 1 + rank ? NULL : count;
    case IR_guard:
        if (n->nattr != 1 || !reason_known(a[0])) return "no such reason";
        return type_in(q, 1) == WEFT_BOOL ? NULL : "the check is not bool";
    default: return "not an operation of a graph file";
    }
}

// ---- whole arrays -----------------------------------------------------------------------------
static const char *admit_scan(const struct ask *q) {
    const weft_dtype t = type_in(q, 0);
    const int64_t op = q->n->attr[1] + IR_R_sum;
    if (!dtype_is_computed(t)) return "not defined for this type";
    if (op == IR_R_sum || op == IR_R_prod)
        return t == WEFT_F32 || dtype_size(t) == 8 ? NULL : "accumulates in a narrow type";
    if (op == IR_R_any || op == IR_R_all) return t == WEFT_BOOL ? NULL : "only for bool";
    return (op == IR_R_min || op == IR_R_max) && t != WEFT_BOOL ? NULL : "no such scan";
}

static const char *admit_scatter(const struct ask *q) {
    const int64_t *a = q->n->attr;
    if (!dtype_is_int(type_in(q, 1))) return "an index is an integer";
    if (!below(a[1], WEFT_SCATTER_MAX + 1) || !below(a[2], WEFT_INDEX_WRAP + 1) || !below(a[3], 2))
        return "no such mode";
    return !a[3] || rank_in(q, 1) == rank_in(q, 0) ? NULL : "the ranks differ";
}

// The places are read as indices without a look: they must be what that very sort gives.
static const char *admit_unique(const struct ask *q) {
    const struct ir_node *places = ir_at(q->g, q->n->in[1]);
    if (ir_at(q->g, q->n->in[0])->op != IR_sort || places->op != IR_result) return "its operands are no sort's";
    return places->in[0] == q->n->in[0] && ir_attr(q->g, q->n->in[1])[0] == 1 ? NULL : "its operands are no sort's";
}

static int attributes_of_call(enum ir_op op) {
    switch (op) {
    case IR_solve:
    case IR_lu:
    case IR_qr:
    case IR_eigh:
    case IR_unique:
    case IR_histogram: return 0;
    case IR_sort:
    case IR_search:
    case IR_compress:
    case IR_cholesky:
    case IR_svd:
    case IR_rfft: return 1;
    case IR_scan:
    case IR_fft:
    case IR_irfft:
    case IR_unpack_bits: return 2;
    case IR_triangular: return 3;
    case IR_scatter: return 4;
    default: return -1;
    }
}

static const char *admit_call(const struct ask *q) {
    const struct ir_again *n = q->n;
    const int want = attributes_of_call(n->op);
    if (want < 0) return "not an operation of a graph file";
    if (n->nattr != want) return "the wrong number of attributes";
    for (int i = 0; i < ir_ops[n->op].arity; i++)
        if (dtype_is_complex(type_in(q, i))) return "not defined for this type";
    switch (n->op) {
    case IR_scan: return admit_scan(q);
    case IR_scatter: return admit_scatter(q);
    case IR_unique: return admit_unique(q);
    case IR_compress: return type_in(q, 0) == WEFT_BOOL ? NULL : "the mask is not bool";
    case IR_search:
    case IR_cholesky:
    case IR_svd: return below(n->attr[0], 2) ? NULL : "no such mode";
    case IR_fft: return below(n->attr[1], 2) ? NULL : "no such mode";
    case IR_triangular:
        return below(n->attr[0], 2) && below(n->attr[1], 2) && below(n->attr[2], 2) ? NULL : "no such mode";
    default: return NULL;
    }
}

static const char *admit_gather(const struct ask *q) {
    const int64_t *a = q->n->attr;
    if (q->n->nattr != 2 || !below(a[0], rank_in(q, 0))) return "no such axis";
    return below(a[1], WEFT_INDEX_WRAP + 1) ? NULL : "no such mode";
}

static const char *admit_matmul(const struct ask *q) {
    if (rank_in(q, 0) < 2 || rank_in(q, 1) < 2) return "operands are matrices";
    if (q->n->nattr || type_in(q, 0) != type_in(q, 1)) return "operands of different types";
    return dtype_is_computed(type_in(q, 0)) ? NULL : "not defined for this type";
}

static const char *admit_result(const struct ask *q) {
    const enum ir_op call = (enum ir_op)ir_at(q->g, q->n->in[0])->op;
    if (ir_ops[call].cls != IR_CALL || q->n->nattr != 1) return "no output of a call";
    return q->n->attr[0] > 0 && q->n->attr[0] < ir_call_outputs(call) ? NULL : "no output of a call";
}

const char *ir_admit(const struct ir_graph *g, const struct ir_again *n) {
    const struct ask q = {g, n};
    const int arity = n->op == IR_extent ? 1 : ir_ops[n->op].arity; // a leaf but for its shape
    for (int i = 0; i < 3; i++)
        if ((n->in[i] != IR_NONE) != (i < arity)) return "the wrong number of operands";
    switch (ir_ops[n->op].cls) {
    case IR_LEAF: return admit_leaf(&q);
    case IR_MAP: return admit_map(&q);
    case IR_PAIR: return admit_pair(&q);
    case IR_REDUCE: return admit_reduce(&q);
    case IR_VIEW: return admit_view(&q);
    case IR_CONTRACT: return admit_matmul(&q);
    case IR_GATHER: return admit_gather(&q);
    case IR_JOIN: return q.n->nattr == 1 && below(n->attr[0], rank_in(&q, 0)) ? NULL : "no such axis";
    case IR_RESULT: return admit_result(&q);
    default: return admit_call(&q);
    }
}
