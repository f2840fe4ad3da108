// SPDX-License-Identifier: MIT
// Reductions in calls: axis, keepdims, dtype, ddof and nan become the options of a reduction. The
// nan... names are the plain ones with another default of nan.
#include "call.h"

static bool run_reduce(struct parser *p, struct call *c, struct value *out) {
    weft_reduce r = {.size = sizeof r, .nan = c->row->nan};
    int axes[WEFT_MAX_RANK];
    weft_dtype t = WEFT_F64;
    if (c->n == 2 && call_has(c, K_AXIS))
        return parse_fail(p, c->kw[K_AXIS].at, "the axis is given twice");
    const struct value *axis = c->n == 2 ? &c->arg[1] : call_has(c, K_AXIS) ? &c->kw[K_AXIS] : NULL;
    weft_expr *x = call_expr(p, c, 0);
    if (!x || (axis && !call_axes(p, axis, &r, axes))) return false;
    if (call_has(c, K_KEEPDIMS) && !call_truth(p, &c->kw[K_KEEPDIMS], &r.keepdims)) return false;
    if (call_has(c, K_COMPENSATED) && !call_truth(p, &c->kw[K_COMPENSATED], &r.compensated)) return false;
    if (call_has(c, K_DDOF) && !call_number(p, &c->kw[K_DDOF], &r.ddof)) return false;
    if (call_has(c, K_NAN)) r.nan = (weft_nan)c->kw[K_NAN].u;
    if (!call_given(c, K_DTYPE)) return call_built(p, c, c->row->reduce(x, &r), out);
    if (!call_dtype(p, &c->kw[K_DTYPE], &t)) return false;
    return call_built(p, c, weft_cast(c->row->reduce(weft_cast(x, t), &r), t), out);
}

#define REDUCED (KW(AXIS) | KW(KEEPDIMS) | KW(DTYPE) | KW(NAN))
#define REDUCE(name, fn)                                                                           \
    { #name, run_reduce, 1, 2, REDUCED, {.reduce = weft_##fn }, WEFT_NAN_PROPAGATE }
#define SPREAD(name, fn)                                                                           \
    { #name, run_reduce, 1, 2, REDUCED | KW(DDOF), {.reduce = weft_##fn }, WEFT_NAN_PROPAGATE }
#define NAN_REDUCE(name, fn)                                                                       \
    { "nan" #name, run_reduce, 1, 2, REDUCED | KW(DDOF), {.reduce = weft_##fn}, WEFT_NAN_SKIP }

// ---- names ------------------------------------------------------------------------------------
static const struct row rows[] = {
    {"sum", run_reduce, 1, 2, REDUCED | KW(COMPENSATED), {.reduce = weft_sum}, WEFT_NAN_PROPAGATE},
    REDUCE(prod, prod),
    REDUCE(product, prod),
    REDUCE(min, min),
    REDUCE(amin, min),
    REDUCE(max, max),
    REDUCE(amax, max),
    REDUCE(mean, mean),
    SPREAD(var, var),
    SPREAD(std, std),
    REDUCE(any, any),
    REDUCE(all, all),
    REDUCE(count_nonzero, count_nonzero),
    REDUCE(logsumexp, logsumexp),
    REDUCE(ptp, ptp),
    REDUCE(count, count_nonzero),
    REDUCE(argmin, argmin),
    REDUCE(argmax, argmax),
    NAN_REDUCE(sum, sum),
    NAN_REDUCE(prod, prod),
    NAN_REDUCE(min, min),
    NAN_REDUCE(max, max),
    NAN_REDUCE(mean, mean),
    NAN_REDUCE(var, var),
    NAN_REDUCE(std, std),
    NAN_REDUCE(argmin, argmin),
    NAN_REDUCE(argmax, argmax),
};
const struct rows call_reductions = {rows, COUNT_OF(rows)};
