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
