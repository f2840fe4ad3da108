// SPDX-License-Identifier: MIT
// Functions of complex numbers as formulas over real ones, in f64. In: the parts of the argument; out: the parts
// of the value, special values as in C's Annex G. exp, sinh and cosh scale by exp(64) where exp alone would
// overflow; log near the unit circle computes |z|^2 - 1 to twice the precision; sqrt scales; tanh is Kahan's.
#include "pair.h"

#define K(v) ir_cx_k(c, v)
#define ONE(op, a) ir_cx_1(c, IR_##op, a)
#define TWO(op, a, b) ir_cx_2(c, IR_##op, a, b)
#define PICK(cond, a, b) ir_cx_pick(c, cond, a, b)
#define OR(a, b) TWO(logical_or, a, b)
#define AND(a, b) TWO(logical_and, a, b)
#define NOT(a) ONE(logical_not, a)
#define INF __builtin_inf()
static const double shift = 64, large = 700, exp_shift = 6235149080811616882909238708.928469745;
static const double ln2 = 0.693147180559945309417232121458, log2_e = 1.44269504088896340735992468100,
                    log10_e = 0.434294481903251827651128918917;

static ir_ref fma_of(const struct ir_cx *c, ir_ref a, ir_ref b, ir_ref d) {
    return ir_map(c->g, IR_fma, (ir_ref[]){a, b, d});
}
static ir_ref is_zero(const struct ir_cx *c, ir_ref a) { return TWO(equal, a, K(0)); }
static ir_ref not_finite(const struct ir_cx *c, ir_ref a) { return NOT(ONE(isfinite, a)); }
// i z and -i z
static struct ir_pair turn(const struct ir_cx *c, struct ir_pair z) {
    return (struct ir_pair){ONE(neg, z.im), z.re};
}
static struct ir_pair turn_back(const struct ir_cx *c, struct ir_pair z) {
    return (struct ir_pair){z.im, ONE(neg, z.re)};
}
static struct ir_pair times(const struct ir_cx *c, struct ir_pair z, double v) {
    return (struct ir_pair){TWO(mul, z.re, K(v)), TWO(mul, z.im, K(v))};
}

// ---- exp --------------------------------------------------------------------------------------
static struct ir_pair cexp_of(const struct ir_cx *c, struct ir_pair z) {
    ir_ref big = TWO(greater, z.re, K(large)), wild = not_finite(c, z.im);
    ir_ref e = ONE(exp, PICK(big, TWO(sub, z.re, K(shift)), z.re));
    ir_ref more = PICK(big, K(exp_shift), K(1));
    ir_ref re = TWO(mul, TWO(mul, e, ONE(cos, z.im)), more);
    ir_ref im = TWO(mul, TWO(mul, e, ONE(sin, z.im)), more);
    ir_ref down = AND(wild, TWO(equal, z.re, K(-INF)));
    return (struct ir_pair){PICK(AND(wild, ONE(isinf, z.re)), e, re),
                            PICK(OR(is_zero(c, z.im), down), PICK(down, K(0), z.im), im)};
}

static struct ir_pair cexpm1_of(const struct ir_cx *c, struct ir_pair z) {
    ir_ref half = ONE(sin, TWO(mul, z.im, K(0.5)));
    ir_ref re = TWO(sub, TWO(mul, ONE(expm1, z.re), ONE(cos, z.im)), TWO(mul, K(2), ONE(square, half)));
    struct ir_pair e = cexp_of(c, z);
    ir_ref plain = OR(NOT(ONE(isfinite, re)), TWO(greater, z.re, K(large)));
    return (struct ir_pair){PICK(plain, TWO(sub, e.re, K(1)), re), e.im};
}

// ---- log --------------------------------------------------------------------------------------
// log |z| for parts that are not far from 1: log1p(hi^2 - 1 + lo^2) / 2, the argument in two words.
static ir_ref log_near(const struct ir_cx *c, ir_ref hi, ir_ref lo) {
    ir_ref hh = ONE(square, hi), ll = ONE(square, lo);
    ir_ref he = fma_of(c, hi, hi, ONE(neg, hh)), le = fma_of(c, lo, lo, ONE(neg, ll));
    ir_ref d = TWO(sub, hh, K(1)), sum = TWO(add, d, ll), back = TWO(sub, sum, d);
    ir_ref lost = TWO(add, TWO(sub, d, TWO(sub, sum, back)), TWO(sub, ll, back));
    ir_ref all = TWO(add, sum, TWO(add, lost, TWO(add, he, le)));
    return TWO(mul, K(0.5), ONE(log1p, all));
}

static ir_ref log_abs(const struct ir_cx *c, struct ir_pair z) {
    ir_ref ax = ONE(abs, z.re), ay = ONE(abs, z.im);
    ir_ref hi = TWO(maximum, ax, ay), lo = TWO(minimum, ax, ay);
    ir_ref usual = AND(TWO(greater, hi, K(0)), TWO(less, hi, K(INF)));
    ir_ref ratio = PICK(usual, TWO(true_divide, lo, hi), K(0));
    ir_ref far = TWO(add, ONE(log, hi), TWO(mul, K(0.5), ONE(log1p, ONE(square, ratio))));
    ir_ref near = AND(TWO(greater_equal, hi, K(0.5)), TWO(less_equal, hi, K(2)));
    ir_ref r = PICK(near, log_near(c, hi, lo), far);
    return PICK(OR(ONE(isinf, z.re), ONE(isinf, z.im)), K(INF), r);
}

static struct ir_pair clog_of(const struct ir_cx *c, struct ir_pair z) {
    return (struct ir_pair){log_abs(c, z), TWO(atan2, z.im, z.re)};
}

// |1+z|^2 - 1 = x (2 + x) + y^2 for small z
static struct ir_pair clog1p_of(const struct ir_cx *c, struct ir_pair z) {
    ir_ref one = TWO(add, z.re, K(1));
    struct ir_pair whole = clog_of(c, (struct ir_pair){one, z.im});
    ir_ref size = TWO(maximum, ONE(abs, z.re), ONE(abs, z.im));
    ir_ref s = TWO(add, TWO(mul, z.re, TWO(add, K(2), z.re)), ONE(square, z.im));
    ir_ref small = TWO(less, size, K(0.25));
    return (struct ir_pair){PICK(small, TWO(mul, K(0.5), ONE(log1p, s)), whole.re), whole.im};
}

// ---- sqrt -------------------------------------------------------------------------------------
static struct ir_pair csqrt_of(const struct ir_cx *c, struct ir_pair z) {
    ir_ref size = TWO(maximum, ONE(abs, z.re), ONE(abs, z.im));
    ir_ref big = TWO(greater, size, K(0x1p1020)), small = TWO(less, size, K(0x1p-960));
    ir_ref by = PICK(big, K(0x1p-4), PICK(small, K(0x1p108), K(1)));
    ir_ref back = PICK(big, K(4), PICK(small, K(0x1p-54), K(1)));
    ir_ref x = TWO(mul, z.re, by), y = TWO(mul, z.im, by);
    ir_ref t = ONE(sqrt, TWO(mul, K(0.5), TWO(add, ONE(abs, x), TWO(hypot, x, y))));
    ir_ref other = TWO(true_divide, ONE(abs, y), TWO(mul, K(2), t));
    other = PICK(is_zero(c, t), K(0), other);
    ir_ref right = TWO(greater_equal, z.re, K(0)), up = ONE(isinf, z.im);
    ir_ref re = TWO(mul, PICK(right, t, other), back);
    ir_ref im = TWO(copysign, TWO(mul, PICK(right, other, t), back), z.im);
    return (struct ir_pair){PICK(up, K(INF), re), PICK(up, z.im, im)};
}

// ---- hyperbolic and circular --------------------------------------------------------------------
// cosh x, sinh x and what is still to be multiplied
struct hyper {
    ir_ref ch, sh, more;
};
static struct hyper hyper_of(const struct ir_cx *c, ir_ref x) {
    ir_ref ax = ONE(abs, x), big = TWO(greater, ax, K(large));
    ir_ref e = TWO(mul, K(0.5), ONE(exp, TWO(sub, ax, K(shift))));
    return (struct hyper){PICK(big, e, ONE(cosh, x)), PICK(big, TWO(copysign, e, x), ONE(sinh, x)),
                          PICK(big, K(exp_shift), K(1))};
}

static struct ir_pair ccosh_of(const struct ir_cx *c, struct ir_pair z) {
    struct hyper h = hyper_of(c, z.re);
    ir_ref wild = not_finite(c, z.im);
    ir_ref re = TWO(mul, TWO(mul, h.ch, ONE(cos, z.im)), h.more);
    ir_ref im = TWO(mul, TWO(mul, h.sh, ONE(sin, z.im)), h.more);
    re = PICK(AND(wild, ONE(isinf, z.re)), K(INF), re);
    im = PICK(AND(wild, is_zero(c, z.re)), z.re, im);
    return (struct ir_pair){re, PICK(is_zero(c, z.im), TWO(mul, z.im, TWO(copysign, K(1), z.re)), im)};
}

static struct ir_pair csinh_of(const struct ir_cx *c, struct ir_pair z) {
    struct hyper h = hyper_of(c, z.re);
    ir_ref wild = not_finite(c, z.im);
    ir_ref re = TWO(mul, TWO(mul, h.sh, ONE(cos, z.im)), h.more);
    ir_ref im = TWO(mul, TWO(mul, h.ch, ONE(sin, z.im)), h.more);
    re = PICK(AND(wild, OR(is_zero(c, z.re), ONE(isinf, z.re))), z.re, re);
    return (struct ir_pair){re, PICK(is_zero(c, z.im), z.im, im)};
}

static struct ir_pair ctanh_of(const struct ir_cx *c, struct ir_pair z) {
    ir_ref ax = ONE(abs, z.re), big = TWO(greater, ax, K(22)), wild = not_finite(c, z.im);
    ir_ref t = ONE(tan, z.im), beta = TWO(add, K(1), ONE(square, t));
    ir_ref s = ONE(sinh, PICK(big, K(0), z.re)), rho = ONE(sqrt, TWO(add, K(1), ONE(square, s)));
    ir_ref under = TWO(add, K(1), TWO(mul, beta, ONE(square, s)));
    ir_ref re = TWO(true_divide, TWO(mul, TWO(mul, beta, rho), s), under);
    ir_ref im = TWO(true_divide, t, under);
    ir_ref turns = TWO(mul, K(4), TWO(mul, ONE(sin, z.im), ONE(cos, z.im)));
    ir_ref tail = TWO(mul, turns, ONE(exp, TWO(mul, K(-2), ax)));
    re = PICK(big, TWO(copysign, K(1), z.re), re);
    im = PICK(big, PICK(AND(wild, ONE(isinf, z.re)), K(0), tail), im);
    re = PICK(AND(wild, is_zero(c, z.re)), z.re, re);
    return (struct ir_pair){re, PICK(is_zero(c, z.im), z.im, im)};
}

// z / |z|, 0 for 0
static struct ir_pair sign_of(const struct ir_cx *c, struct ir_pair z) {
    ir_ref r = TWO(hypot, z.re, z.im), none = is_zero(c, r);
    return (struct ir_pair){PICK(none, K(0), TWO(true_divide, z.re, r)),
                            PICK(none, K(0), TWO(true_divide, z.im, r))};
}

bool ir_cx_function(const struct ir_cx *c, enum ir_op op, struct ir_pair z, struct ir_pair *out) {
    switch (op) {
    case IR_exp: *out = cexp_of(c, z); return true;
    case IR_exp2: *out = cexp_of(c, times(c, z, ln2)); return true;
    case IR_expm1: *out = cexpm1_of(c, z); return true;
    case IR_log: *out = clog_of(c, z); return true;
    case IR_log2: *out = times(c, clog_of(c, z), log2_e); return true;
    case IR_log10: *out = times(c, clog_of(c, z), log10_e); return true;
    case IR_log1p: *out = clog1p_of(c, z); return true;
    case IR_sqrt: *out = csqrt_of(c, z); return true;
    case IR_sinh: *out = csinh_of(c, z); return true;
    case IR_cosh: *out = ccosh_of(c, z); return true;
    case IR_tanh: *out = ctanh_of(c, z); return true;
    case IR_sin: *out = turn_back(c, csinh_of(c, turn(c, z))); return true;
    case IR_cos: *out = ccosh_of(c, turn(c, z)); return true;
    case IR_tan: *out = turn_back(c, ctanh_of(c, turn(c, z))); return true;
    case IR_sign: *out = sign_of(c, z); return true;
    default: return false;
    }
}

// exp(w log z), the product Annex G's; 1 for w = 0; 0 to a power of positive real part is 0, else NaN.
struct ir_pair ir_cx_pow(const struct ir_cx *c, struct ir_pair z, struct ir_pair w) {
    struct ir_pair e = cexp_of(c, ir_cx_mul(c, w, clog_of(c, z)));
    ir_ref none = AND(is_zero(c, w.re), is_zero(c, w.im)), base = AND(is_zero(c, z.re), is_zero(c, z.im));
    ir_ref nil = PICK(TWO(greater, w.re, K(0)), K(0), K(__builtin_nan("")));
    return (struct ir_pair){PICK(none, K(1), PICK(base, nil, e.re)), PICK(none, K(0), PICK(base, nil, e.im))};
}
