// SPDX-License-Identifier: MIT
// Operands that find the errors of elementary functions: any bits, the ranges where a function does
// something, and for functions of two operands pairs whose result is an ordinary number or depends
// on both.
#include <math.h>
#include <string.h>

#include "guard.h"
#include "mathpick.h"

static double unit(uint64_t *state) {
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

// One operand: any bits, the range where exponentials live, near 1, near 0, all magnitudes, near 0.
double mathpick_one(weft_dtype t, uint64_t *state) {
    const uint64_t kind = next_random(state) % 8, r = next_random(state);
    const double u = 2.0 * unit(state) - 1.0;
    double v;
    float f;
    if (kind < 2) {
        const uint32_t low = (uint32_t)r;
        memcpy(&v, &r, sizeof v);
        memcpy(&f, &low, sizeof f);
        return t == WEFT_F64 ? v : (double)f;
    }
    if (kind == 2) {
        v = u * (t == WEFT_F64 ? 750.0 : 110.0);
    } else if (kind == 3) {
        v = u * 24.0;
    } else if (kind == 4) {
        v = 1.0 + ldexp(u, -(int)(r % 24));
    } else if (kind == 5) {
        v = ldexp(1.0 + unit(state), (int)(r % 60) - 40) * (u < 0 ? -1.0 : 1.0);
    } else {
        v = ldexp(u, 3 - (int)(r % 16));
    }
    return t == WEFT_F64 ? v : (double)(float)v;
}

// For pow most results are to be ordinary numbers: y is drawn from what x allows.
static double pick_power(weft_dtype t, double x, uint64_t *state) {
    const double l = log(fabs(x)), u = 2.0 * unit(state) - 1.0;
    double y = u * (t == WEFT_F64 ? 750.0 : 110.0) / l;
    if (next_random(state) % 4 == 0 || !isfinite(y)) y = rint(u * 40.0);
    return t == WEFT_F64 ? y : (double)(float)y;
}

// One term next to 0, so that the logarithm of the sum is all that the other one leaves; or the two
// cancel.
static double pick_addend(weft_dtype t, double *a, uint64_t *state) {
    const double u = unit(state), deep = t == WEFT_F64 ? 1080.0 : 160.0;
    if (next_random(state) % 4 == 0) {
        *a = -u * 2.0;
        return log(-expm1(*a)) * (next_random(state) % 2 ? 1.0 : 1.0 / log(2.0));
    }
    *a = ldexp(unit(state) - 0.5, -(int)(next_random(state) % (uint64_t)deep));
    return -u * (next_random(state) % 2 ? deep : 40.0);
}

void mathpick(const struct kern_row *r, size_t i, uint64_t *state, double *a, double *b) {
    const weft_dtype t = r->dtype;
    *a = mathpick_one(t, state);
    *b = mathpick_one(t, state);
    switch ((int)r->family) {
    case KERN_F_pow:
        if (i % 4) *b = pick_power(t, *a, state);
        break;
    case KERN_F_atan2:
    case KERN_F_hypot:
        if (i % 2) *b = ldexp(*a, (int)(next_random(state) % 9) - 4) * unit(state);
        break;
    case KERN_F_logaddexp:
    case KERN_F_logaddexp2:
        if (i % 2) *b = pick_addend(t, a, state);
        break;
    default: break;
    }
}
