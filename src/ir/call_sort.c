// SPDX-License-Identifier: MIT
// Rules of the calls that order elements.
#include "call.h"

// [axis]: values, places
bool ir_rule_sort(const struct ir_ask *r, struct ir_shape *out) {
    out[0] = out[1] = ir_rule_shape(r, 0);
    out[1].dtype = WEFT_I64;
    if (r->attr[0] >= 0 && r->attr[0] < out[0].rank) return true;
    return RULE_FAIL(r, WEFT_EINVAL, "axis %lld is out of range", (long long)r->attr[0]);
}

// [right]: i64 places in the shape of the second operand
bool ir_rule_search(const struct ir_ask *r, struct ir_shape *out) {
    if (ir_at(r->g, r->in[0])->rank != 1)
        return RULE_FAIL(r, WEFT_ESHAPE, "the sorted array has one axis");
    out[0] = ir_rule_shape(r, 1);
    out[0].dtype = WEFT_I64;
    return ir_rule_type(r, 0) == ir_rule_type(r, 1) || RULE_FAIL(r, WEFT_EDTYPE, "types differ");
}

// Values, how many, the place of the first of each, how many of each; and the inverse.
bool ir_rule_unique(const struct ir_ask *r, struct ir_shape *out) {
    const struct ir_shape x = ir_rule_shape(r, 0);
    if (x.rank != 1) return RULE_FAIL(r, WEFT_ESHAPE, "the sorted array has one axis");
    for (int i = 0; i < 5; i++) {
        out[i] = x;
        if (i) out[i].dtype = WEFT_I64;
    }
    out[1].rank = 0;
    return true;
}

// i64 counts
bool ir_rule_histogram(const struct ir_ask *r, struct ir_shape *out) {
    out[0] = ir_rule_shape(r, 1);
    if (out[0].rank != 1 || out[0].dims[0] < 2)
        return RULE_FAIL(r, WEFT_ESHAPE, "edges are a 1-d array of two or more");
    if (ir_rule_type(r, 0) != ir_rule_type(r, 1)) return RULE_FAIL(r, WEFT_EDTYPE, "types differ");
    out[0].dtype = WEFT_I64;
    out[0].dims[0]--;
    return true;
}
