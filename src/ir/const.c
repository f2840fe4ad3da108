// SPDX-License-Identifier: MIT
// The values of constants. Conversions are done on the bits, in integers, so that a constant folded
// here has the bits that machine code would compute even if the caller has set another rounding
// mode or flush-to-zero. A number on the way is mant * 2^exp with a sign, an infinity or a NaN.
#include "pair.h"

struct number {
    bool negative, infinite, nan;
    uint64_t mant;
    int exp;
};
// prec counts the hidden bit; least is the exponent of the smallest subnormal
struct format {
    int prec, least, bits;
};
static const struct format formats[] = {
    [WEFT_F32] = {24, -149, 32}, [WEFT_F64] = {53, -1074, 64},
    [WEFT_F16] = {11, -24, 16},  [WEFT_BF16] = {8, -133, 16}};

static uint64_t bytes_to_bits(const void *p, size_t n) {
    uint64_t bits = 0;
    memcpy(&bits, p, n);
    return bits;
}

ir_wide ir_int_value(weft_dtype t, uint64_t bits) {
    switch (t) {
    case WEFT_I8: return (int8_t)(uint8_t)bits;
    case WEFT_I16: return (int16_t)(uint16_t)bits;
    case WEFT_I32: return (int32_t)(uint32_t)bits;
    case WEFT_I64: return (int64_t)bits;
    default: return (ir_wide)bits;
    }
}

bool ir_int_fits(ir_wide v, weft_dtype t) {
    int bits = (int)dtype_size(t) * 8;
    if (dtype_is_unsigned(t)) return v >= 0 && (bits == 64 ? v <= UINT64_MAX : v >> bits == 0);
    ir_wide half = (ir_wide)1 << (bits - 1);
    return v >= -half && v < half;
}

// ---- numbers out of bits ----------------------------------------------------------------------
static struct number read_float(const struct format *f, uint64_t bits) {
    int frac = f->prec - 1;
    uint64_t mant = bits & (((uint64_t)1 << frac) - 1);
    int top = (1 << (f->bits - f->prec)) - 1, e = (int)(bits >> frac) & top;
    struct number n = {.negative = bits >> (f->bits - 1) & 1};
    if (e == top) {
        n.nan = mant != 0;
        n.infinite = mant == 0;
    } else {
        n.mant = e ? mant | (uint64_t)1 << frac : mant;
        n.exp = f->least + (e ? e - 1 : 0);
    }
    return n;
}

static struct number read_number(weft_dtype t, uint64_t bits) {
    if (dtype_is_float(t)) return read_float(&formats[t], bits);
    ir_wide v = ir_int_value(t, bits);
    return (struct number){.negative = v < 0, .mant = (uint64_t)(v < 0 ? -v : v)};
}

// ---- and back ---------------------------------------------------------------------------------
// mant / 2^shift to the nearest integer, ties to even; shift > 0
static uint64_t shift_round(uint64_t mant, int shift) {
    if (shift > 64) return 0;
    uint64_t half = (uint64_t)1 << (shift - 1), whole = shift == 64 ? 0 : mant >> shift;
    uint64_t rest = shift == 64 ? mant : mant & ((half << 1) - 1);
    return whole + (rest > half || (rest == half && (whole & 1)));
}

static uint64_t write_float(const struct format *f, const struct number *n) {
    int frac = f->prec - 1;
    uint64_t sign = (uint64_t)n->negative << (f->bits - 1);
    uint64_t infinity = ((uint64_t)1 << (f->bits - 1)) - ((uint64_t)1 << frac);
    if (n->nan) return infinity | (uint64_t)1 << (frac - 1);
    if (n->infinite) return sign | infinity;
    if (n->mant == 0) return sign;
    int lead = 63 - __builtin_clzll(n->mant) + n->exp; // of the leading bit
    int quantum = MAX_OF(lead - frac, f->least);       // of the result's last bit
    int shift = quantum - n->exp;
    uint64_t m = shift > 0 ? shift_round(n->mant, shift) : n->mant << -shift;
    // the hidden bit, and a carry out of the mantissa, add one to the exponent: just what is wanted
    uint64_t bits = ((uint64_t)(quantum - f->least) << frac) + m;
    return sign | MIN_OF(bits, infinity);
}

static uint64_t write_int(weft_dtype t, const struct number *n) {
    int bits = (int)dtype_size(t) * 8, s = dtype_is_signed(t);
    uint64_t max = UINT64_MAX >> (64 - bits + s);
    uint64_t limit = n->negative ? (s ? max + 1 : 0) : max; // of the magnitude
    if (n->nan) return 0;
    uint64_t m = n->mant;
    if (n->exp < 0)
        m = n->exp > -64 ? m >> -n->exp : 0;
    else if (n->exp > 0 && m)
        m = n->exp <= __builtin_clzll(m) ? m << n->exp : UINT64_MAX;
    if (n->infinite || m > limit) m = limit;
    return (n->negative ? 0 - m : m) & (UINT64_MAX >> (64 - bits));
}

uint64_t ir_convert_bits(weft_dtype from, uint64_t bits, weft_dtype to) {
    if (from == to) return bits;
    struct number n = read_number(from, bits);
    if (to == WEFT_BOOL) return n.nan || n.infinite || n.mant != 0;
    if (dtype_is_float(to)) return write_float(&formats[to], &n);
    if (dtype_is_float(from)) return write_int(to, &n);
    return (uint64_t)ir_int_value(from, bits) & (UINT64_MAX >> (64 - 8 * dtype_size(to)));
}

uint64_t ir_double_bits(double v) { return bytes_to_bits(&v, sizeof v); }

// ---- nodes ------------------------------------------------------------------------------------
bool ir_is_constant(const struct ir_graph *g, ir_ref r) { return ir_at(g, r)->op == IR_constant; }

ir_ref ir_constant_of(struct ir_graph *g, weft_dtype t, uint64_t bits, enum ir_weak weak) {
    struct ir_draft d;
    ir_draft_begin(&d, IR_constant, t);
    d.weak = weak;
    d.nattr = 1;
    d.attr[0] = (int64_t)bits;
    return ir_put(g, &d);
}

ir_ref ir_constant(struct ir_graph *g, weft_dtype t, const void *value, enum ir_weak weak) {
    if (!ir_dtype_valid(t) || !value)
        return ir_fail(g, WEFT_EINVAL, "constant: %s", value ? "no such dtype" : "no value");
    if (dtype_is_complex(t)) {
        const weft_dtype real = dtype_real_of(t);
        ir_ref re = ir_constant(g, real, value, IR_STRONG);
        ir_ref im = ir_constant(g, real, (const char *)value + dtype_size(real), IR_STRONG);
        return ir_pair_join(g, (struct ir_pair){re, im});
    }
    uint64_t bits = bytes_to_bits(value, dtype_size(t));
    return ir_constant_of(g, t, t == WEFT_BOOL ? bits != 0 : bits, weak);
}

ir_ref ir_strong(struct ir_graph *g, ir_ref x) {
    const struct ir_node *n = ir_at(g, x);
    if (n->weak && n->op == IR_complex) {
        ir_ref im = n->in[1], re = ir_strong(g, n->in[0]);
        return ir_pair_join(g, (struct ir_pair){re, ir_strong(g, im)});
    }
    if (!n->weak || n->op != IR_constant) return x;
    return ir_constant_of(g, (weft_dtype)n->dtype, ir_constant_bits(g, x), IR_STRONG);
}

double ir_extent_value(const struct ir_graph *g, ir_ref r) {
    const int64_t *attr = ir_attr(g, r), *dims = ir_dims(g, ir_at(g, r)->in[0]);
    int64_t count = 1;
    double ddof;
    memcpy(&ddof, &attr[1], sizeof ddof);
    for (int i = 0; i < ir_at(g, ir_at(g, r)->in[0])->rank; i++)
        if ((uint64_t)attr[0] >> i & 1) count *= dims[i];
    double left = (double)count - ddof;
    return left > 0 ? left : 0;
}

uint64_t ir_constant_bits(const struct ir_graph *g, ir_ref r) {
    if (ir_at(g, r)->op == IR_extent) return ir_double_bits(ir_extent_value(g, r));
    return (uint64_t)*ir_attr(g, r);
}
