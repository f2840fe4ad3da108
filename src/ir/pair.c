// SPDX-License-Identifier: MIT
// Complex numbers as pairs of real nodes: entering, leaving, arithmetic. Nothing complex is ever stored or
// computed by later rooms, so fusion, both tiers, reductions and views hold for complex numbers because they
// hold for real ones. A real operand stays real (C's Annex G.5): it has no imaginary part that could meet an
// infinity. Products and quotients of two complex numbers that come out NaN in both parts are made again as
// Annex G asks, when an operand is an infinity or a finite product overflowed.
#include "pair.h"

static weft_dtype type_of(const struct ir_graph *g, ir_ref r) {
    return (weft_dtype)ir_at(g, r)->dtype;
}

// ---- words ------------------------------------------------------------------------------------
ir_ref ir_cx_k(const struct ir_cx *c, double v) {
    return ir_constant_of(c->g, c->t, ir_convert_bits(WEFT_F64, ir_double_bits(v), c->t), IR_STRONG);
}
ir_ref ir_cx_1(const struct ir_cx *c, enum ir_op op, ir_ref a) { return ir_map(c->g, op, &a); }
ir_ref ir_cx_2(const struct ir_cx *c, enum ir_op op, ir_ref a, ir_ref b) {
    return ir_map(c->g, op, (ir_ref[]){a, b});
}
ir_ref ir_cx_pick(const struct ir_cx *c, ir_ref cond, ir_ref a, ir_ref b) {
    return ir_map(c->g, IR_where, (ir_ref[]){cond, a, b});
}
#define K(v) ir_cx_k(c, v)
#define ONE(op, a) ir_cx_1(c, IR_##op, a)
#define TWO(op, a, b) ir_cx_2(c, IR_##op, a, b)
#define PICK(cond, a, b) ir_cx_pick(c, cond, a, b)
#define OR(a, b) TWO(logical_or, a, b)
#define AND(a, b) TWO(logical_and, a, b)

// ---- pairs and nodes --------------------------------------------------------------------------
static ir_ref join(struct ir_graph *g, struct ir_pair p, enum ir_weak weak) {
    if (!p.re || !p.im) return IR_NONE;
    return ir_put_map(g, IR_complex, dtype_complex_of(type_of(g, p.re)), weak, (ir_ref[]){p.re, p.im});
}
ir_ref ir_pair_join(struct ir_graph *g, struct ir_pair p) { return join(g, p, IR_STRONG); }

// A part in the shape of both: repeated where shapes are settled, chosen where they may change.
static ir_ref whole(struct ir_graph *g, ir_ref x, ir_ref part, ir_ref other) {
    if (!(ir_at(g, x)->flags & IR_DYN)) return ir_broadcast_to(g, part, ir_at(g, x)->rank, ir_dims(g, x));
    return ir_map(g, IR_where, (ir_ref[]){ir_constant_of(g, WEFT_BOOL, 1, IR_STRONG), part, other});
}

struct ir_pair ir_pair_whole(struct ir_graph *g, ir_ref x) {
    const struct ir_node *n = ir_at(g, x);
    ir_ref re = n->in[0], im = n->in[1];
    return (struct ir_pair){whole(g, x, re, im), whole(g, x, im, re)};
}

struct ir_pair ir_pair_take(struct ir_graph *g, ir_ref x, weft_dtype t) {
    if (!x) return (struct ir_pair){IR_NONE, IR_NONE};
    if (!ir_is_complex(g, x))
        return (struct ir_pair){ir_cast(g, x, t), ir_constant_of(g, t, 0, IR_STRONG)};
    const struct ir_node *n = ir_at(g, x);
    ir_ref im = n->in[1];
    ir_ref re = ir_cast(g, n->in[0], t);
    return (struct ir_pair){re, ir_cast(g, im, t)};
}

ir_ref ir_imaginary(struct ir_graph *g, double v) {
    struct ir_pair p = {ir_constant_of(g, WEFT_F64, 0, IR_WEAK_FLOAT),
                        ir_constant_of(g, WEFT_F64, ir_double_bits(v), IR_WEAK_FLOAT)};
    return join(g, p, IR_WEAK_COMPLEX);
}

ir_ref ir_pair_part(struct ir_graph *g, ir_ref x, int which) {
    if (!x || !ir_is_complex(g, x)) return x;
    struct ir_pair p = ir_pair_whole(g, x);
    return which ? p.im : p.re;
}

ir_ref ir_pair_root(struct ir_graph *g, ir_ref x, int which) {
    if (!ir_is_complex(g, x)) return x;
    return ir_broadcast_to(g, ir_at(g, x)->in[which], ir_at(g, x)->rank, ir_dims(g, x));
}

ir_ref ir_pair_cast(struct ir_graph *g, ir_ref x, weft_dtype t) {
    if (dtype_is_complex(t)) return ir_pair_join(g, ir_pair_take(g, x, dtype_real_of(t)));
    const struct ir_node *n = ir_at(g, x);
    if (t != WEFT_BOOL) return ir_cast(g, ir_pair_part(g, x, 0), t);
    ir_ref im = n->in[1], re = ir_cast(g, n->in[0], t);
    return ir_map(g, IR_logical_or, (ir_ref[]){re, ir_cast(g, im, t)});
}

// ---- products and quotients -------------------------------------------------------------------
// Annex G's way back from NaN: an infinite number becomes its direction (infinities 1, the rest 0),
// a NaN 0, signs kept.
static ir_ref direction(const struct ir_cx *c, ir_ref v, ir_ref infinite) {
    ir_ref rest = PICK(OR(infinite, ONE(isnan, v)), K(0), v);
    return TWO(copysign, PICK(ONE(isinf, v), K(1), rest), v);
}
static struct ir_pair directions(const struct ir_cx *c, struct ir_pair z, ir_ref infinite) {
    return (struct ir_pair){direction(c, z.re, infinite), direction(c, z.im, infinite)};
}
static ir_ref is_infinite(const struct ir_cx *c, struct ir_pair z) {
    return OR(ONE(isinf, z.re), ONE(isinf, z.im));
}
static ir_ref both_nan(const struct ir_cx *c, struct ir_pair z) {
    return AND(ONE(isnan, z.re), ONE(isnan, z.im));
}
static struct ir_pair pick_pair(const struct ir_cx *c, ir_ref cond, struct ir_pair a, struct ir_pair b) {
    return (struct ir_pair){PICK(cond, a.re, b.re), PICK(cond, a.im, b.im)};
}
static struct ir_pair scaled(const struct ir_cx *c, struct ir_pair z, double v) {
    return (struct ir_pair){TWO(mul, K(v), z.re), TWO(mul, K(v), z.im)};
}

struct ir_pair ir_cx_mul(const struct ir_cx *c, struct ir_pair a, struct ir_pair b) {
    ir_ref p[4] = {TWO(mul, a.re, b.re), TWO(mul, a.im, b.im), TWO(mul, a.re, b.im), TWO(mul, a.im, b.re)};
    struct ir_pair r = {TWO(sub, p[0], p[1]), TWO(add, p[2], p[3])};
    ir_ref ia = is_infinite(c, a), ib = is_infinite(c, b);
    ir_ref over = OR(OR(ONE(isinf, p[0]), ONE(isinf, p[1])), OR(ONE(isinf, p[2]), ONE(isinf, p[3])));
    ir_ref again = AND(both_nan(c, r), OR(over, OR(ia, ib)));
    a = directions(c, a, ia);
    b = directions(c, b, ib);
    struct ir_pair d = {TWO(sub, TWO(mul, a.re, b.re), TWO(mul, a.im, b.im)),
                        TWO(add, TWO(mul, a.re, b.im), TWO(mul, a.im, b.re))};
    return pick_pair(c, again, scaled(c, d, __builtin_inf()), r);
}

// What Annex G has instead of a quotient that is NaN in both parts.
static struct ir_pair mend_quotient(const struct ir_cx *c, struct ir_pair a, struct ir_pair b,
                                    struct ir_pair r) {
    ir_ref bad = both_nan(c, r), ia = is_infinite(c, a), ib = is_infinite(c, b);
    ir_ref zero = AND(TWO(equal, b.re, K(0)), TWO(equal, b.im, K(0)));
    ir_ref infinity = TWO(copysign, K(__builtin_inf()), b.re);
    struct ir_pair by_zero = {TWO(mul, infinity, a.re), TWO(mul, infinity, a.im)};
    ir_ref fa = AND(ONE(isfinite, a.re), ONE(isfinite, a.im));
    ir_ref fb = AND(ONE(isfinite, b.re), ONE(isfinite, b.im));
    // over an infinity only signs of a count: a quarter of it keeps the sums finite
    struct ir_pair da = pick_pair(c, ia, directions(c, a, ia), scaled(c, a, 0.25));
    struct ir_pair db = pick_pair(c, ib, directions(c, b, ib), b);
    struct ir_pair d = {TWO(add, TWO(mul, da.re, db.re), TWO(mul, da.im, db.im)),
                        TWO(sub, TWO(mul, da.im, db.re), TWO(mul, da.re, db.im))};
    struct ir_pair out = pick_pair(c, AND(ib, fa), scaled(c, d, 0), r);
    out = pick_pair(c, AND(ia, fb), scaled(c, d, __builtin_inf()), out);
    out = pick_pair(c, zero, by_zero, out);
    return pick_pair(c, bad, out, r);
}

// Smith's quotient, step for step as NumPy writes it: the larger part of the divisor goes first.
struct ir_pair ir_cx_div(const struct ir_cx *c, struct ir_pair a, struct ir_pair b) {
    ir_ref swap = TWO(less, ONE(abs, b.re), ONE(abs, b.im));
    ir_ref big = PICK(swap, b.im, b.re), small = PICK(swap, b.re, b.im);
    ir_ref first = PICK(swap, a.im, a.re), second = PICK(swap, a.re, a.im);
    ir_ref ratio = TWO(true_divide, small, big);
    ir_ref scale = TWO(true_divide, K(1), TWO(add, big, TWO(mul, small, ratio)));
    // re: (first + second ratio); im: +-(second - first ratio)
    ir_ref re = TWO(add, first, TWO(mul, second, ratio)), across = TWO(mul, first, ratio);
    ir_ref im = PICK(swap, TWO(sub, across, second), TWO(sub, second, across));
    struct ir_pair r = {TWO(mul, re, scale), TWO(mul, im, scale)};
    return mend_quotient(c, a, b, r);
}

// ---- arithmetic -------------------------------------------------------------------------------
struct operands {
    struct ir_pair a, b;
    bool ra, rb; // real
};

// x + 0 for a literal x, so that 1 + 2j is a literal, too.
static ir_ref add_literals(struct ir_graph *g, ir_ref a, ir_ref b) {
    if (ir_is_constant(g, a) && ir_is_constant(g, b) && ir_at(g, a)->weak && ir_at(g, b)->weak) {
        if (ir_constant_bits(g, b) == 0 && ir_constant_bits(g, a) << 1) return a;
        if (ir_constant_bits(g, a) == 0) return b;
    }
    return ir_map(g, IR_add, (ir_ref[]){a, b});
}

static struct ir_pair add(const struct ir_cx *c, const struct operands *o) {
    struct ir_pair a = o->a, b = o->b;
    return (struct ir_pair){add_literals(c->g, a.re, b.re),
                            o->ra ? b.im : o->rb ? a.im : TWO(add, a.im, b.im)};
}
static struct ir_pair sub(const struct ir_cx *c, const struct operands *o) {
    struct ir_pair a = o->a, b = o->b;
    return (struct ir_pair){TWO(sub, a.re, b.re),
                            o->ra ? ONE(neg, b.im) : o->rb ? a.im : TWO(sub, a.im, b.im)};
}
static struct ir_pair mul(const struct ir_cx *c, const struct operands *o) {
    if (o->ra) return (struct ir_pair){TWO(mul, o->a.re, o->b.re), TWO(mul, o->a.re, o->b.im)};
    if (o->rb) return (struct ir_pair){TWO(mul, o->a.re, o->b.re), TWO(mul, o->a.im, o->b.re)};
    return ir_cx_mul(c, o->a, o->b);
}
static struct ir_pair quotient(const struct ir_cx *c, const struct operands *o) {
    if (o->rb)
        return (struct ir_pair){TWO(true_divide, o->a.re, o->b.re), TWO(true_divide, o->a.im, o->b.re)};
    return ir_cx_div(c, o->a, o->b);
}

static bool binary(const struct ir_cx *c, enum ir_op op, const struct operands *o, struct ir_pair *out) {
    switch (op) {
    case IR_add: *out = add(c, o); return true;
    case IR_sub: *out = sub(c, o); return true;
    case IR_mul: *out = mul(c, o); return true;
    case IR_true_divide: *out = quotient(c, o); return true;
    default: return false;
    }
}

// A small integer as exponent, known now: as products, as NumPy does it.
static bool small_power(const struct ir_graph *g, ir_ref w, int *n) {
    ir_ref re = w;
    if (ir_is_complex(g, w)) {
        ir_ref im = ir_at(g, w)->in[1];
        re = ir_at(g, w)->in[0];
        if (!ir_is_constant(g, im) || ir_constant_bits(g, im) << 1) return false;
    }
    if (!ir_is_constant(g, re)) return false;
    uint64_t bits = ir_convert_bits(type_of(g, re), ir_constant_bits(g, re), WEFT_F64);
    double v;
    memcpy(&v, &bits, sizeof v);
    if (!(v >= -99 && v <= 99) || v != (int)v) return false;
    *n = (int)v;
    return true;
}

static struct ir_pair power(const struct ir_cx *c, struct ir_pair z, int n) {
    struct ir_pair r = {PICK(ir_constant_of(c->g, WEFT_BOOL, 1, IR_STRONG), K(1), z.re), K(0)};
    bool any = false;
    for (int k = n < 0 ? -n : n; k; k >>= 1) {
        if (k & 1) r = any ? ir_cx_mul(c, r, z) : z;
        any |= k & 1;
        if (k > 1) z = ir_cx_mul(c, z, z);
    }
    return n < 0 ? ir_cx_div(c, (struct ir_pair){K(1), K(0)}, r) : r;
}

// Functions are made in f64, which for c64 leaves about one rounding in all.
static ir_ref in_f64(struct ir_graph *g, const struct ir_pair_call *call) {
    const struct ir_cx c = {g, WEFT_F64};
    struct ir_pair z = ir_pair_take(g, call->in[0], WEFT_F64), r;
    weft_dtype t = dtype_real_of(call->type);
    if (call->op == IR_pow)
        r = ir_cx_pow(&c, z, ir_pair_take(g, call->in[1], WEFT_F64));
    else if (!ir_cx_function(&c, call->op, z, &r))
        return ir_fail_at(g, WEFT_EDTYPE,
                          &(struct ir_blame){ir_ops[call->op].name, ir_ops[call->op].arity, call->in},
                          "not defined for %s", dtype_name(call->type));
    return join(g, (struct ir_pair){ir_cast(g, r.re, t), ir_cast(g, r.im, t)}, call->weak);
}

// ---- operations with a real result --------------------------------------------------------------
static ir_ref compare(const struct ir_cx *c, enum ir_op op, const struct operands *o) {
    ir_ref re = ir_cx_2(c, op, o->a.re, o->b.re), im = ir_cx_2(c, op, o->a.im, o->b.im);
    return op == IR_equal ? AND(re, im) : OR(re, im);
}

static bool real_result(const struct ir_cx *c, enum ir_op op, const struct operands *o, ir_ref *out) {
    struct ir_pair z = o->a;
    switch (op) {
    case IR_equal:
    case IR_not_equal: *out = compare(c, op, o); return true;
    case IR_abs: *out = TWO(hypot, z.re, z.im); return true;
    case IR_isnan:
    case IR_isinf: *out = OR(ir_cx_1(c, op, z.re), ir_cx_1(c, op, z.im)); return true;
    case IR_isfinite: *out = AND(ONE(isfinite, z.re), ONE(isfinite, z.im)); return true;
    default: return false;
    }
}

static bool unary(const struct ir_cx *c, enum ir_op op, struct ir_pair z, struct ir_pair *out) {
    switch (op) {
    case IR_neg:
    case IR_round: *out = (struct ir_pair){ir_cx_1(c, op, z.re), ir_cx_1(c, op, z.im)}; return true;
    case IR_conj: *out = (struct ir_pair){z.re, ONE(neg, z.im)}; return true;
    case IR_square: *out = ir_cx_mul(c, z, z); return true;
    case IR_reciprocal: *out = ir_cx_div(c, (struct ir_pair){K(1), K(0)}, z); return true;
    default: return false;
    }
}

static ir_ref choose(struct ir_graph *g, const struct ir_pair_call *call) {
    weft_dtype t = dtype_real_of(call->type);
    const struct ir_cx c = {g, t};
    ir_ref cond = ir_cast(g, call->in[0], WEFT_BOOL);
    struct ir_pair a = ir_pair_take(g, call->in[1], t), b = ir_pair_take(g, call->in[2], t);
    return join(g, pick_pair(&c, cond, a, b), call->weak);
}

static ir_ref of_real(struct ir_graph *g, const struct ir_pair_call *call);

ir_ref ir_pair_map(struct ir_graph *g, const struct ir_pair_call *call) {
    if (!dtype_is_complex(call->type)) return of_real(g, call);
    if (call->op == IR_where) return choose(g, call);
    if (call->op == IR_real || call->op == IR_imag) return ir_pair_part(g, call->in[0], call->op == IR_imag);
    weft_dtype t = dtype_real_of(call->type);
    const struct ir_cx c = {g, t};
    bool two = ir_ops[call->op].arity > 1;
    struct operands o = {.a = ir_pair_take(g, call->in[0], t)};
    o.ra = !ir_is_complex(g, call->in[0]);
    if (two) {
        o.b = ir_pair_take(g, call->in[1], t);
        o.rb = !ir_is_complex(g, call->in[1]);
    }
    ir_ref real;
    struct ir_pair r;
    int n;
    if (call->op == IR_angle) return ir_cx_2(&c, IR_atan2, o.a.im, o.a.re);
    if (real_result(&c, call->op, &o, &real)) return real;
    if (two ? binary(&c, call->op, &o, &r) : unary(&c, call->op, o.a, &r)) return join(g, r, call->weak);
    if (call->op == IR_pow && small_power(g, call->in[1], &n)) return join(g, power(&c, o.a, n), call->weak);
    return in_f64(g, call);
}

// ---- the operations about complex numbers, of real operands ---------------------------------------
static ir_ref of_real(struct ir_graph *g, const struct ir_pair_call *call) {
    ir_ref x = call->in[0];
    weft_dtype t = type_of(g, x);
    ir_ref zero = ir_constant_of(g, t, 0, IR_STRONG), yes = ir_constant_of(g, WEFT_BOOL, 1, IR_STRONG);
    switch (call->op) {
    case IR_real:
    case IR_conj: return x;
    case IR_imag: return ir_map(g, IR_where, (ir_ref[]){yes, zero, x});
    case IR_angle: return ir_map(g, IR_atan2, (ir_ref[]){zero, x});
    default: { // complex: the parts meet in f32 or f64
        weft_dtype part = dtype_real_of(dtype_complex_of(call->type));
        return join(g, (struct ir_pair){ir_cast(g, x, part), ir_cast(g, call->in[1], part)}, IR_STRONG);
    }
    }
}

// ---- matrix products ------------------------------------------------------------------------------
// Four real products, each with its own chain; a real operand needs two.
ir_ref ir_pair_matmul(struct ir_graph *g, ir_ref a, ir_ref b) {
    weft_dtype t = dtype_real_of(ir_promote(type_of(g, a), type_of(g, b)));
    struct ir_pair p = {a, IR_NONE}, q = {b, IR_NONE};
    if (ir_is_complex(g, a)) p = ir_pair_whole(g, a);
    if (ir_is_complex(g, b)) q = ir_pair_whole(g, b);
    p.re = ir_cast(g, p.re, t);
    q.re = ir_cast(g, q.re, t);
    if (p.im) p.im = ir_cast(g, p.im, t);
    if (q.im) q.im = ir_cast(g, q.im, t);
    struct ir_pair r = {ir_matmul(g, p.re, q.re), IR_NONE};
    ir_ref left = p.im ? ir_matmul(g, p.im, q.re) : IR_NONE, right = q.im ? ir_matmul(g, p.re, q.im) : IR_NONE;
    r.im = !left ? right : !right ? left : ir_map(g, IR_add, (ir_ref[]){right, left});
    if (left && right) r.re = ir_map(g, IR_sub, (ir_ref[]){r.re, ir_matmul(g, p.im, q.im)});
    return ir_pair_join(g, r);
}
