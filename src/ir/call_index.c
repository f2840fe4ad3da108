// SPDX-License-Identifier: MIT
// Rules of the calls that move elements: scans, scatter, compress, bits.
#include "call.h"

static bool check_axis(const struct ir_ask *r, int64_t axis, int rank) {
    return (axis >= 0 && axis < rank) ||
           RULE_FAIL(r, WEFT_EINVAL, "axis %lld is out of range", (long long)axis);
}

// [axis, distance of the reduction from IR_R_sum]: the operand's type and shape
bool ir_rule_scan(const struct ir_ask *r, struct ir_shape *out) {
    out[0] = ir_rule_shape(r, 0);
    return check_axis(r, r->attr[0], out[0].rank);
}

// [axis, weft_scatter_op, weft_index_mode, along]: x; values have the shape of what would be taken
bool ir_rule_scatter(const struct ir_ask *r, struct ir_shape *out) {
    const struct ir_shape index = ir_rule_shape(r, 1), values = ir_rule_shape(r, 2);
    out[0] = ir_rule_shape(r, 0);
    const int rank = out[0].rank, axis = (int)r->attr[0];
    if (!check_axis(r, r->attr[0], rank)) return false;
    if (dtype_is_complex(out[0].dtype) && r->attr[1] > WEFT_SCATTER_ADD)
        return RULE_FAIL(r, WEFT_EDTYPE, "complex numbers have no order");
    if (values.dtype != out[0].dtype) return RULE_FAIL(r, WEFT_EDTYPE, "types differ");
    bool fits = values.rank == (r->attr[3] ? rank : rank + index.rank - 1), empty = false;
    for (int i = 0, k = 0; fits && !r->attr[3] && i < rank; i++) {
        if (i != axis) fits = values.dims[k++] == out[0].dims[i];
        for (int j = 0; i == axis && fits && j < index.rank; j++)
            fits = values.dims[k++] == index.dims[j];
    }
    for (int i = 0; fits && r->attr[3] && i < rank; i++)
        fits = values.dims[i] == index.dims[i] && (i == axis || values.dims[i] == out[0].dims[i]);
    if (!fits) return RULE_FAIL(r, WEFT_ESHAPE, "values do not have the shape of the places");
    for (int i = 0; i < values.rank; i++)
        empty |= !values.dims[i];
    return empty || out[0].dims[axis] ||
           RULE_FAIL(r, WEFT_ESHAPE, "axis %d is empty: there is no place", axis);
}

// [axis]: the slices, filled up with 0, and how many
bool ir_rule_compress(const struct ir_ask *r, struct ir_shape *out) {
    const struct ir_shape mask = ir_rule_shape(r, 0);
    out[0] = ir_rule_shape(r, 1);
    if (!check_axis(r, r->attr[0], out[0].rank)) return false;
    if (mask.rank != 1 || mask.dims[0] > out[0].dims[r->attr[0]])
        return RULE_FAIL(r, WEFT_ESHAPE, "a mask has one axis, no longer than axis %lld",
                         (long long)r->attr[0]);
    out[0].dims[r->attr[0]] = mask.dims[0]; // a short mask leaves the rest out
    out[1] = (struct ir_shape){.dtype = WEFT_I64};
    return true;
}

// [first bit, how many]
bool ir_rule_unpack_bits(const struct ir_ask *r, struct ir_shape *out) {
    const struct ir_shape x = ir_rule_shape(r, 0);
    const int64_t skip = r->attr[0], count = r->attr[1];
    if (x.rank != 1 || x.dtype != WEFT_U8) return RULE_FAIL(r, WEFT_EDTYPE, "bits are those of a 1-d array of u8");
    if (skip < 0 || count < 0 || (count && (skip >= INT64_MAX - count || (skip + count - 1) / 8 >= x.dims[0])))
        return RULE_FAIL(r, WEFT_ESHAPE, "%lld bits from %lld on are not in %lld bytes", (long long)count, (long long)skip,
                         (long long)x.dims[0]);
    *out = (struct ir_shape){.dtype = WEFT_BOOL, .rank = 1, .dims = {count}};
    return true;
}
