// SPDX-License-Identifier: MIT
// Elements of floating point types as doubles and back. f16 and bf16 are read and written here by what their bits
// mean; rounding to them is to nearest even, by way of the exponent.
#include "cmd.h"

#include <math.h>
#include <string.h>

struct format {
    int digits, least, bias; // bits of the significand, exponent of the least value's last bit
};
static struct format format_of(weft_dtype t) {
    return t == WEFT_F16 ? (struct format){11, -24, 15} : (struct format){8, -133, 127};
}

bool real_type(weft_dtype t) { return t >= WEFT_F32 && t <= WEFT_BF16; }
bool complex_type(weft_dtype t) { return t == WEFT_C64 || t == WEFT_C128; }
weft_dtype part_type(weft_dtype t) { return t == WEFT_C64 ? WEFT_F32 : t == WEFT_C128 ? WEFT_F64 : t; }

weft_array part_of(const weft_array *a, int which) {
    weft_array part = *a;
    part.dtype = part_type(a->dtype);
    if (which) part.data = (char *)a->data + weft_dtype_size(part.dtype);
    return part;
}

double real_round(weft_dtype t, double v) {
    if (t == WEFT_F32) return (double)(float)v;
    if (t == WEFT_F64 || !isfinite(v) || v == 0) return v;
    const struct format f = format_of(t);
    int e;
    frexp(v, &e); // |v| < 2^e
    int unit = e - f.digits < f.least ? f.least : e - f.digits;
    double r = ldexp(rint(ldexp(v, -unit)), unit);
    return fabs(r) >= ldexp(1, f.bias + 1) ? copysign(INFINITY, v) : r;
}

double real_get(weft_dtype t, const void *p) {
    double d;
    float s;
    uint16_t h;
    if (t == WEFT_F64) return memcpy(&d, p, sizeof d), d;
    if (t == WEFT_F32) return memcpy(&s, p, sizeof s), (double)s;
    const struct format f = format_of(t);
    memcpy(&h, p, sizeof h);
    int frac = f.digits - 1, e = (h & 0x7fff) >> frac, m = h & ((1 << frac) - 1);
    if (e == 2 * f.bias + 1)
        d = m ? NAN : INFINITY;
    else
        d = ldexp(e ? m + (1 << frac) : m, f.least + (e ? e - 1 : 0));
    return h & 0x8000 ? -d : d;
}

void real_put(weft_dtype t, void *p, double v) {
    if (t == WEFT_F64) memcpy(p, &v, sizeof v);
    if (t == WEFT_F32) memcpy(p, &(float){(float)v}, sizeof(float));
    if (t == WEFT_F64 || t == WEFT_F32) return;
    const struct format f = format_of(t);
    double r = fabs(real_round(t, v));
    int frac = f.digits - 1, e = 0, top = 2 * f.bias + 1;
    unsigned bits = (unsigned)(top << frac);
    if (isnan(v)) {
        bits |= 1u << (frac - 1);
    } else if (isfinite(r)) {
        frexp(r, &e);
        int unit = r == 0 || e - f.digits < f.least ? f.least : e - f.digits;
        bits = (unsigned)ldexp(r, -unit) + ((unsigned)(unit - f.least) << frac);
    }
    memcpy(p, &(uint16_t){(uint16_t)(bits | (signbit(v) ? 0x8000u : 0))}, sizeof(uint16_t));
}
