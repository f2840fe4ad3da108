// SPDX-License-Identifier: MIT
// NumPy's matmul and dot as one kind of node: two operands of rank 2 and up, one type, equal batch
// axes. Vectors become matrices for the while, batches are repeated by broadcast_to. dot of higher
// ranks is a batched product after placing axes, so that no shape has to be spelled out and other
// extents of the inputs need nothing but the same nodes.
#include "pair.h"

static int rank_of(const struct ir_graph *g, ir_ref r) { return ir_at(g, r)->rank; }

// The batch axes both share into d->dims; their number or -1 after an error.
static int batch_dims(struct ir_graph *g, const struct ir_blame *who, int64_t *dims) {
    const ir_ref *in = who->in;
    int ra = rank_of(g, in[0]) - 2, rb = rank_of(g, in[1]) - 2, rank = MAX_OF(ra, rb);
    for (int i = 0; i < rank; i++) {
        int64_t ea = i < rank - ra ? 1 : ir_dims(g, in[0])[i - (rank - ra)];
        int64_t eb = i < rank - rb ? 1 : ir_dims(g, in[1])[i - (rank - rb)];
        if (ea != eb && ea != 1 && eb != 1) {
            ir_fail_at(g, WEFT_ESHAPE, who, "batch axis %d is %lld and %lld", i, (long long)ea,
                       (long long)eb);
            return -1;
        }
        dims[i] = ea == 1 ? eb : ea;
    }
    return rank;
}

// x with the given batch axes in front of its own last two.
static ir_ref repeat(struct ir_graph *g, ir_ref x, int batch, const int64_t *dims) {
    int own = rank_of(g, x) - 2;
    if (own == batch && (batch == 0 || !memcmp(ir_dims(g, x), dims, (size_t)batch * sizeof *dims)))
        return x;
    struct ir_draft d = {.op = IR_broadcast_to, .flags = IR_AUTO, .rank = batch + 2, .in = {x}};
    d.dtype = (weft_dtype)ir_at(g, x)->dtype;
    memcpy(d.dims, dims, (size_t)batch * sizeof *dims);
    memcpy(d.dims + batch, ir_dims(g, x) + own, 2 * sizeof *dims);
    return ir_put_broadcast(g, &d);
}

ir_ref ir_put_matmul(struct ir_graph *g, ir_ref a, ir_ref b) {
    if (!a || !b) return IR_NONE;
    ir_ref in[2] = {a, b};
    struct ir_blame who = {"matmul", 2, in};
    const int64_t *da = ir_dims(g, a) + rank_of(g, a) - 2, *db = ir_dims(g, b) + rank_of(g, b) - 2;
    if (da[1] != db[0])
        return ir_fail_at(g, WEFT_ESHAPE, &who, "inner extents are %lld and %lld", (long long)da[1],
                          (long long)db[0]);
    struct ir_draft d = {.op = IR_matmul, .dtype = (weft_dtype)ir_at(g, a)->dtype};
    int batch = batch_dims(g, &who, d.dims);
    if (batch < 0) return IR_NONE;
    d.rank = batch + 2;
    d.dims[batch] = da[0];
    d.dims[batch + 1] = db[1];
    d.in[0] = repeat(g, a, batch, d.dims);
    d.in[1] = repeat(g, b, batch, d.dims);
    return d.in[0] && d.in[1] ? ir_put(g, &d) : IR_NONE;
}

ir_ref ir_matmul(struct ir_graph *g, ir_ref a, ir_ref b) {
    if (!a || !b) return IR_NONE;
    ir_ref in[2] = {a, b};
    struct ir_blame who = {"matmul", 2, in};
    bool va = rank_of(g, a) == 1, vb = rank_of(g, b) == 1;
    if (!rank_of(g, a) || !rank_of(g, b))
        return ir_fail_at(g, WEFT_ESHAPE, &who, "an operand has no axes; use mul");
    int64_t ka = ir_dims(g, a)[rank_of(g, a) - 1], kb = ir_dims(g, b)[vb ? 0 : rank_of(g, b) - 2];
    if (ka != kb)
        return ir_fail_at(g, WEFT_ESHAPE, &who, "inner extents are %lld and %lld", (long long)ka,
                          (long long)kb);
    if (ir_is_complex(g, a) || ir_is_complex(g, b)) return ir_pair_matmul(g, a, b);
    weft_dtype t = ir_promote((weft_dtype)ir_at(g, a)->dtype, (weft_dtype)ir_at(g, b)->dtype);
    weft_dtype computed = dtype_is_half(t) ? WEFT_F32 : t;
    a = ir_cast(g, va ? ir_expand_dims(g, a, 0) : a, computed);
    b = ir_cast(g, vb ? ir_expand_dims(g, b, 1) : b, computed);
    ir_ref c = ir_cast(g, ir_put_matmul(g, a, b), t);
    if (vb) c = ir_squeeze(g, c, -1);
    return va && c ? ir_squeeze(g, c, vb ? -1 : -2) : c;
}

// a [A..., m, k] and b [B..., k, n], both of rank 2 and up: a gets an axis of extent 1 for each of
// B in front of m, so that the batch is A... B...; the product [A..., B..., m, n] has m moved to
// its place.
static ir_ref dot_high(struct ir_graph *g, ir_ref a, ir_ref b) {
    int ra = rank_of(g, a) - 2, rb = rank_of(g, b) - 2, perm[WEFT_MAX_RANK];
    if (ra + rb + 2 > WEFT_MAX_RANK)
        return ir_fail_at(g, WEFT_ESHAPE, &(struct ir_blame){"dot", 2, (ir_ref[]){a, b}},
                          "the result has more than %d axes", WEFT_MAX_RANK);
    for (int i = 0; i < rb; i++)
        a = ir_expand_dims(g, a, ra);
    ir_ref c = ir_matmul(g, a, b);
    for (int i = 0; i < ra + rb + 2; i++)
        perm[i] = i <= ra - 1 || i == ra + rb + 1 ? i : i - 1;
    perm[ra] = ra + rb;
    return ir_transpose(g, c, perm);
}

// A fused sum rather than a product of thin matrices; in the operands' type, as NumPy.
static ir_ref inner_product(struct ir_graph *g, const ir_ref *in) {
    ir_ref p = ir_map(g, IR_mul, in);
    if (!p) return IR_NONE;
    weft_dtype t = (weft_dtype)ir_at(g, p)->dtype;
    return t == WEFT_BOOL ? ir_reduce(g, IR_ANY, p, NULL)
                          : ir_cast(g, ir_reduce(g, IR_SUM, p, NULL), t);
}

ir_ref ir_dot(struct ir_graph *g, ir_ref a, ir_ref b) {
    if (!a || !b) return IR_NONE;
    ir_ref in[2] = {a, b};
    int ra = rank_of(g, a), rb = rank_of(g, b);
    if (ra == 0 || rb == 0) return ir_map(g, IR_mul, in);
    int64_t ka = ir_dims(g, a)[ra - 1], kb = ir_dims(g, b)[rb == 1 ? 0 : rb - 2];
    if (ka != kb)
        return ir_fail_at(g, WEFT_ESHAPE, &(struct ir_blame){"dot", 2, in},
                          "inner extents are %lld and %lld", (long long)ka, (long long)kb);
    if (ra == 1 && rb == 1) return inner_product(g, in);
    return ra > 1 && rb > 2 ? dot_high(g, a, b) : ir_matmul(g, a, b);
}
