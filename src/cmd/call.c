// SPDX-License-Identifier: MIT
// Calls: a table of names (weft's and NumPy's) with what each takes, and one reader of arguments
// for all. A method is the function with the array before the dot as its first argument.
#include "cmd.h"

#include <string.h>

enum { MAX_ARGS = WEFT_MAX_RANK + 2 };
enum keyword {
    K_AXIS,
    K_KEEPDIMS,
    K_DTYPE,
    K_DDOF,
    K_NAN,
    K_OFFSET,
    K_AXIS1,
    K_AXIS2,
    K_SHAPE,
    K__N
};
static const char *const keywords[K__N] = {"axis",   "keepdims", "dtype", "ddof", "nan",
                                           "offset", "axis1",    "axis2", "shape"};
#define KW(k) (1u << K_##k)

struct call;
typedef bool call_fn(struct parser *p, struct call *c, struct value *out);
struct row {
    const char *name;
    call_fn *run;
    int least, most;   // positional arguments
    unsigned keywords; // bits
    union {
        weft_expr *(*one)(weft_expr *);
        weft_expr *(*two)(weft_expr *, weft_expr *);
        weft_expr *(*three)(weft_expr *, weft_expr *, weft_expr *);
        weft_expr *(*reduce)(weft_expr *, const weft_reduce *);
    };
    weft_nan nan;
};
struct call {
    const struct row *row;
    const struct callee *who;
    int n;
    unsigned have;
    struct value arg[MAX_ARGS], kw[K__N];
};

static bool has(const struct call *c, enum keyword k) { return c->have >> k & 1; }
static bool given(const struct call *c, enum keyword k) {
    return has(c, k) && c->kw[k].kind != V_NONE;
}
static weft_expr *expr(struct parser *p, struct call *c, int i) {
    return value_expr(p, &c->arg[i]);
}
static bool built(struct parser *p, struct call *c, weft_expr *x, struct value *out) {
    return value_built(p, c->who->at, x, out);
}
static bool want_dtype(struct parser *p, const struct value *v, weft_dtype *t) {
    if (v->kind != V_DTYPE) return parse_fail(p, v->at, "a type should be here, such as f32");
    *t = v->dtype;
    return true;
}
static bool want_truth(struct parser *p, const struct value *v, bool *t) {
    if (v->kind != V_BOOL) return parse_fail(p, v->at, "True or False should be here");
    *t = v->truth;
    return true;
}

// ---- elementwise ------------------------------------------------------------------------------
static bool run_map(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x[3] = {NULL, NULL, NULL};
    weft_dtype t = WEFT_F64;
    if (given(c, K_DTYPE) && !want_dtype(p, &c->kw[K_DTYPE], &t)) return false;
    for (int i = 0; i < c->n; i++) {
        x[i] = expr(p, c, i);
        if (x[i] && given(c, K_DTYPE)) x[i] = weft_cast(x[i], t);
        if (!x[i]) return false;
    }
    weft_expr *y = c->n == 1   ? c->row->one(x[0])
                   : c->n == 2 ? c->row->two(x[0], x[1])
                               : c->row->three(x[0], x[1], x[2]);
    return built(p, c, y, out);
}

static bool run_clip(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x = expr(p, c, 0);
    for (int i = 1; x && i < c->n; i++) {
        if (c->arg[i].kind == V_NONE) continue;
        weft_expr *bound = expr(p, c, i);
        if (!bound) return false;
        x = i == 1 ? weft_maximum(x, bound) : weft_minimum(x, bound);
    }
    return built(p, c, x, out);
}

static bool run_cast(struct parser *p, struct call *c, struct value *out) {
    const struct value *v = has(c, K_DTYPE) ? &c->kw[K_DTYPE] : &c->arg[1];
    weft_dtype t = WEFT_F64;
    if (c->n == 1 && !has(c, K_DTYPE))
        return parse_fail(p, c->who->at, "%s wants a type, as in cast(x, f32)", c->row->name);
    weft_expr *x = expr(p, c, 0);
    return x && want_dtype(p, v, &t) && built(p, c, weft_cast(x, t), out);
}

// ---- reductions -------------------------------------------------------------------------------
static bool read_axes(struct parser *p, const struct value *v, weft_reduce *r,
                      int axes[WEFT_MAX_RANK]) {
    if (v->kind == V_NONE) return true;
    r->axes = axes;
    if (v->kind != V_TUPLE) {
        r->naxes = 1;
        return value_index(p, v, "an axis", &axes[0]);
    }
    r->naxes = v->tuple->n;
    for (int i = 0; i < r->naxes; i++) {
        if (v->tuple->item[i] < -1000 || v->tuple->item[i] > 1000)
            return parse_fail(p, v->at, "an axis is out of range");
        axes[i] = (int)v->tuple->item[i];
    }
    return true;
}

static bool read_ddof(struct parser *p, const struct value *v, double *ddof) {
    if (v->kind == V_INT)
        *ddof = v->negative ? -(double)v->u : (double)v->u;
    else if (v->kind == V_FLOAT)
        *ddof = v->f;
    else
        return parse_fail(p, v->at, "ddof must be a number");
    return true;
}

static bool run_reduce(struct parser *p, struct call *c, struct value *out) {
    weft_reduce r = {.size = sizeof r, .nan = c->row->nan};
    int axes[WEFT_MAX_RANK];
    weft_dtype t = WEFT_F64;
    if (c->n == 2 && has(c, K_AXIS))
        return parse_fail(p, c->kw[K_AXIS].at, "the axis is given twice");
    const struct value *axis = c->n == 2 ? &c->arg[1] : has(c, K_AXIS) ? &c->kw[K_AXIS] : NULL;
    weft_expr *x = expr(p, c, 0);
    if (!x || (axis && !read_axes(p, axis, &r, axes))) return false;
    if (has(c, K_KEEPDIMS) && !want_truth(p, &c->kw[K_KEEPDIMS], &r.keepdims)) return false;
    if (has(c, K_DDOF) && !read_ddof(p, &c->kw[K_DDOF], &r.ddof)) return false;
    if (has(c, K_NAN)) r.nan = (weft_nan)c->kw[K_NAN].u;
    if (!given(c, K_DTYPE)) return built(p, c, c->row->reduce(x, &r), out);
    if (!want_dtype(p, &c->kw[K_DTYPE], &t)) return false;
    return built(p, c, weft_cast(c->row->reduce(weft_cast(x, t), &r), t), out);
}

// ---- views ------------------------------------------------------------------------------------
// The arguments from the second on, or one tuple, or shape=, as integers; -1 after an error.
static int read_list(struct parser *p, struct call *c, int64_t *dims) {
    const struct value *one = has(c, K_SHAPE) ? &c->kw[K_SHAPE] : c->n == 2 ? &c->arg[1] : NULL;
    if (one && one->kind == V_TUPLE) {
        memcpy(dims, one->tuple->item, (size_t)one->tuple->n * sizeof *dims);
        return one->tuple->n;
    }
    if (has(c, K_SHAPE)) return value_int(p, one, "an extent", dims) ? 1 : -1;
    for (int i = 1; i < c->n; i++)
        if (!value_int(p, &c->arg[i], "an extent", &dims[i - 1])) return -1;
    return c->n - 1;
}

static bool run_shape(struct parser *p, struct call *c, struct value *out) {
    int64_t dims[MAX_ARGS];
    weft_expr *x = expr(p, c, 0);
    int rank = x ? read_list(p, c, dims) : -1;
    if (rank < 0) return false;
    bool repeat = strcmp(c->row->name, "broadcast_to") == 0;
    return built(p, c, repeat ? weft_broadcast_to(x, rank, dims) : weft_reshape(x, rank, dims),
                 out);
}

static bool run_transpose(struct parser *p, struct call *c, struct value *out) {
    int64_t list[MAX_ARGS];
    int perm[MAX_ARGS];
    weft_expr *x = expr(p, c, 0);
    int n = x ? read_list(p, c, list) : -1;
    if (n < 0) return false;
    bool all = n == 0 || (c->n == 2 && c->arg[1].kind == V_NONE);
    if (!all && n != weft_expr_rank(x))
        return parse_fail(p, c->who->at, "transpose names %d axes of %d", n, weft_expr_rank(x));
    for (int i = 0; i < n; i++)
        perm[i] = list[i] < -1000 || list[i] > 1000 ? 1000 : (int)list[i];
    return built(p, c, weft_transpose(x, all ? NULL : perm), out);
}

static bool read_index(struct parser *p, struct call *c, int i, enum keyword k, int *out) {
    if (c->n > i) return value_index(p, &c->arg[i], "an axis", out);
    return !given(c, k) || value_index(p, &c->kw[k], "an axis", out);
}

static bool run_swap(struct parser *p, struct call *c, struct value *out) {
    int a, b;
    weft_expr *x = expr(p, c, 0);
    return x && value_index(p, &c->arg[1], "an axis", &a) &&
           value_index(p, &c->arg[2], "an axis", &b) && built(p, c, weft_swap_axes(x, a, b), out);
}

// flip and squeeze: one axis, or all that can be
static bool run_axis(struct parser *p, struct call *c, struct value *out) {
    weft_expr *x = expr(p, c, 0);
    bool flip = c->row->name[0] == 'f', all = c->n == 1 && !given(c, K_AXIS);
    int axis = 0;
    if (!x || (!all && !read_index(p, c, 1, K_AXIS, &axis))) return false;
    if (!all) return built(p, c, flip ? weft_flip(x, axis) : weft_squeeze(x, axis), out);
    for (int i = weft_expr_rank(x) - 1; x && i >= 0; i--) {
        if (flip)
            x = weft_flip(x, i);
        else if (weft_expr_dims(x)[i] == 1)
            x = weft_squeeze(x, i);
    }
    return built(p, c, x, out);
}

static bool run_expand(struct parser *p, struct call *c, struct value *out) {
    int axis = 0;
    weft_expr *x = expr(p, c, 0);
    if (c->n == 1 && !given(c, K_AXIS))
        return parse_fail(p, c->who->at, "expand_dims wants an axis");
    return x && read_index(p, c, 1, K_AXIS, &axis) && built(p, c, weft_expand_dims(x, axis), out);
}

static bool run_diagonal(struct parser *p, struct call *c, struct value *out) {
    int offset = 0, axis1 = 0, axis2 = 1;
    weft_expr *x = expr(p, c, 0);
    return x && read_index(p, c, 1, K_OFFSET, &offset) && read_index(p, c, 2, K_AXIS1, &axis1) &&
           read_index(p, c, 3, K_AXIS2, &axis2) &&
           built(p, c, weft_diagonal(x, offset, axis1, axis2), out);
}

// iota(i64, (2, 3), 1)
static bool run_iota(struct parser *p, struct call *c, struct value *out) {
    weft_dtype t = WEFT_F64;
    int axis = 0;
    int64_t n = 0, *dims = &n;
    int rank = 1;
    if (!want_dtype(p, &c->arg[0], &t)) return false;
    if (c->arg[1].kind == V_TUPLE) {
        dims = c->arg[1].tuple->item;
        rank = c->arg[1].tuple->n;
    } else if (!value_int(p, &c->arg[1], "an extent", &n)) {
        return false;
    }
    return read_index(p, c, 2, K_AXIS, &axis) &&
           built(p, c, weft_iota(p->graph, t, rank, dims, axis), out);
}

// ---- the table --------------------------------------------------------------------------------
#define ONE(name, fn)                                                                              \
    { #name, run_map, 1, 1, KW(DTYPE), {.one = weft_##fn }, 0 }
#define TWO(name, fn)                                                                              \
    { #name, run_map, 2, 2, KW(DTYPE), {.two = weft_##fn }, 0 }
#define THREE(name, fn)                                                                            \
    { #name, run_map, 3, 3, KW(DTYPE), {.three = weft_##fn }, 0 }
#define REDUCED (KW(AXIS) | KW(KEEPDIMS) | KW(DTYPE) | KW(NAN))
#define REDUCE(name, fn)                                                                           \
    { #name, run_reduce, 1, 2, REDUCED, {.reduce = weft_##fn }, WEFT_NAN_PROPAGATE }
#define SPREAD(name, fn)                                                                           \
    { #name, run_reduce, 1, 2, REDUCED | KW(DDOF), {.reduce = weft_##fn }, WEFT_NAN_PROPAGATE }
#define NAN_REDUCE(name, fn)                                                                       \
    { "nan" #name, run_reduce, 1, 2, REDUCED | KW(DDOF), {.reduce = weft_##fn}, WEFT_NAN_SKIP }
#define VIEW(name, run, least, most, kws)                                                          \
    { #name, run, least, most, kws, {.one = NULL }, 0 }

static const struct row rows[] = {
    TWO(add, add),
    TWO(sub, sub),
    TWO(subtract, sub),
    TWO(mul, mul),
    TWO(multiply, mul),
    TWO(true_divide, true_divide),
    TWO(divide, true_divide),
    TWO(div, true_divide),
    TWO(floor_divide, floor_divide),
    TWO(remainder, remainder),
    TWO(mod, remainder),
    TWO(pow, pow),
    TWO(power, pow),
    TWO(hypot, hypot),
    TWO(atan2, atan2),
    TWO(arctan2, atan2),
    TWO(copysign, copysign),
    TWO(minimum, minimum),
    TWO(maximum, maximum),
    TWO(fmin, fmin),
    TWO(fmax, fmax),
    THREE(fma, fma),
    THREE(where, where),
    VIEW(clip, run_clip, 2, 3, 0),
    ONE(neg, neg),
    ONE(negative, neg),
    ONE(abs, abs),
    ONE(absolute, abs),
    ONE(fabs, abs),
    ONE(sign, sign),
    ONE(square, square),
    ONE(sqrt, sqrt),
    ONE(reciprocal, reciprocal),
    ONE(floor, floor),
    ONE(ceil, ceil),
    ONE(trunc, trunc),
    ONE(fix, trunc),
    ONE(round, round),
    ONE(rint, round),
    ONE(around, round),
    ONE(exp, exp),
    ONE(exp2, exp2),
    ONE(expm1, expm1),
    ONE(log, log),
    ONE(log2, log2),
    ONE(log10, log10),
    ONE(log1p, log1p),
    ONE(sin, sin),
    ONE(cos, cos),
    ONE(tan, tan),
    ONE(asin, asin),
    ONE(arcsin, asin),
    ONE(acos, acos),
    ONE(arccos, acos),
    ONE(atan, atan),
    ONE(arctan, atan),
    ONE(sinh, sinh),
    ONE(cosh, cosh),
    ONE(tanh, tanh),
    ONE(asinh, asinh),
    ONE(arcsinh, asinh),
    ONE(acosh, acosh),
    ONE(arccosh, acosh),
    ONE(atanh, atanh),
    ONE(arctanh, atanh),
    ONE(cbrt, cbrt),
    ONE(sigmoid, sigmoid),
    ONE(erf, erf),
    TWO(equal, equal),
    TWO(not_equal, not_equal),
    TWO(less, less),
    TWO(less_equal, less_equal),
    TWO(greater, greater),
    TWO(greater_equal, greater_equal),
    TWO(logical_and, logical_and),
    TWO(logical_or, logical_or),
    TWO(logical_xor, logical_xor),
    ONE(logical_not, logical_not),
    TWO(bitwise_and, bitwise_and),
    TWO(bitwise_or, bitwise_or),
    TWO(bitwise_xor, bitwise_xor),
    ONE(bitwise_not, bitwise_not),
    ONE(invert, bitwise_not),
    TWO(left_shift, left_shift),
    TWO(right_shift, right_shift),
    ONE(isnan, isnan),
    ONE(isinf, isinf),
    ONE(isfinite, isfinite),
    ONE(signbit, signbit),
    VIEW(cast, run_cast, 1, 2, KW(DTYPE)),
    VIEW(astype, run_cast, 1, 2, KW(DTYPE)),
    REDUCE(sum, sum),
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
    TWO(matmul, matmul),
    TWO(dot, dot),
    VIEW(reshape, run_shape, 1, MAX_ARGS, KW(SHAPE)),
    VIEW(broadcast_to, run_shape, 1, MAX_ARGS, KW(SHAPE)),
    ONE(ravel, ravel),
    ONE(flatten, ravel),
    VIEW(transpose, run_transpose, 1, MAX_ARGS, 0),
    VIEW(permute, run_transpose, 2, MAX_ARGS, 0),
    VIEW(permute_dims, run_transpose, 2, MAX_ARGS, 0),
    VIEW(swap_axes, run_swap, 3, 3, 0),
    VIEW(swapaxes, run_swap, 3, 3, 0),
    VIEW(flip, run_axis, 1, 2, KW(AXIS)),
    VIEW(squeeze, run_axis, 1, 2, KW(AXIS)),
    VIEW(expand_dims, run_expand, 1, 2, KW(AXIS)),
    VIEW(diagonal, run_diagonal, 1, 4, KW(OFFSET) | KW(AXIS1) | KW(AXIS2)),
    VIEW(iota, run_iota, 2, 3, KW(AXIS)),
};

static bool same_name(const char *row, const char *name, size_t len) {
    return strlen(row) == len && memcmp(row, name, len) == 0;
}
static const struct row *find_row(const char *name, size_t len) {
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (same_name(rows[i].name, name, len)) return &rows[i];
    return NULL;
}
bool is_function(const char *name, size_t len) { return find_row(name, len) != NULL; }
const char *function_at(size_t i) { return i < COUNT_OF(rows) ? rows[i].name : NULL; }

// ---- spelling ---------------------------------------------------------------------------------
// Edits from one word to another, for words of up to 30 letters.
static int distance(const char *a, size_t la, const char *b) {
    int row[32];
    size_t lb = strlen(b);
    if (la > 30 || lb > 30) return 99;
    for (size_t j = 0; j <= lb; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= la; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= lb; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]), drop = row[j] + 1, put = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = change < drop ? change : drop;
            if (put < row[j]) row[j] = put;
        }
    }
    return row[lb];
}

void suggest_function(const char *name, size_t len, char *buf, size_t size) {
    int best = len < 4 ? 2 : 3;
    buf[0] = 0;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int d = distance(name, len, rows[i].name);
        if (d >= best) continue;
        best = d;
        snprintf(buf, size, "; did you mean '%s'?", rows[i].name);
    }
}

// ---- arguments --------------------------------------------------------------------------------
static bool unknown_keyword(struct parser *p, const struct call *c, const struct token *t) {
    char list[200] = "";
    size_t at = 0;
    for (int k = 0; k < K__N; k++)
        if (c->row->keywords >> k & 1)
            at +=
                (size_t)snprintf(list + at, sizeof list - at, "%s%s", at ? ", " : "", keywords[k]);
    return parse_fail(p, t->at, "%s has no argument '%.*s'; %s%s", c->row->name, (int)t->len,
                      p->text + t->at, at ? "it has " : "it takes none by name", list);
}

// nan=skip is the one argument whose value is a word
static bool read_nan_mode(struct parser *p, struct value *out) {
    static const char *const modes[] = {"propagate", "skip", "raise"};
    for (unsigned i = 0; i < COUNT_OF(modes); i++) {
        if (!is_name(p, modes[i])) continue;
        *out = (struct value){.kind = V_INT, .at = p->tok.at, .u = i};
        return next_token(p);
    }
    return parse_fail(p, p->tok.at, "nan is one of propagate, skip, raise");
}

static bool read_keyword(struct parser *p, struct call *c, const struct token *name) {
    int k = 0;
    while (k < K__N &&
           !(c->row->keywords >> k & 1 && same_name(keywords[k], p->text + name->at, name->len)))
        k++;
    if (k == K__N) return unknown_keyword(p, c, name);
    if (has(c, (enum keyword)k)) return parse_fail(p, name->at, "'%s' is given twice", keywords[k]);
    c->have |= 1u << k;
    if (!next_token(p)) return false;
    return k == K_NAN ? read_nan_mode(p, &c->kw[k]) : parse_expr(p, 0, &c->kw[k]);
}

static bool read_argument(struct parser *p, struct call *c) {
    struct token first = p->tok;
    size_t back = p->at;
    if (first.kind == T_NAME) {
        if (!next_token(p)) return false;
        if (p->tok.kind == T_ASSIGN) return read_keyword(p, c, &first);
        p->tok = first;
        p->at = back;
    }
    if (c->have) return parse_fail(p, first.at, "an argument by place after one by name");
    if (c->n == MAX_ARGS) return parse_fail(p, first.at, "too many arguments");
    return parse_expr(p, 0, &c->arg[c->n++]);
}

static bool read_arguments(struct parser *p, struct call *c) {
    while (p->tok.kind != T_RPAR) {
        if (!read_argument(p, c)) return false;
        if (p->tok.kind != T_COMMA) break;
        if (!next_token(p)) return false;
    }
    return expect(p, T_RPAR, "',' or ')'");
}

static bool check_count(struct parser *p, const struct call *c) {
    const struct row *r = c->row;
    if (c->n >= r->least && c->n <= r->most) return true;
    int self = c->who->self != NULL;
    if (r->least == r->most)
        return parse_fail(p, c->who->at, "%s takes %d argument%s, not %d", r->name, r->least - self,
                          r->least - self == 1 ? "" : "s", c->n - self);
    return parse_fail(p, c->who->at, "%s takes %d to %d arguments, not %d", r->name,
                      r->least - self, r->most - self, c->n - self);
}

bool parse_call(struct parser *p, const struct callee *who, struct value *out) {
    static const struct row convert = {"cast", run_cast, 1, 1, 0, {.one = NULL}, 0};
    struct call c = {.who = who};
    weft_dtype t = WEFT_F64;
    char hint[80];
    c.row = find_row(who->name, who->len);
    bool is_type = !c.row && !who->self && dtype_by_name(who->name, who->len, &t);
    if (is_type) c.row = &convert;
    if (!c.row) {
        suggest_function(who->name, who->len, hint, sizeof hint);
        return parse_fail(p, who->at, "unknown %s '%.*s'%s", who->self ? "method" : "function",
                          (int)who->len, who->name, hint);
    }
    if (who->self) c.arg[c.n++] = *who->self;
    if (!read_arguments(p, &c) || !check_count(p, &c)) return false;
    if (is_type) {
        c.have |= KW(DTYPE);
        c.kw[K_DTYPE] = (struct value){.kind = V_DTYPE, .at = who->at, .dtype = t};
    }
    out->at = who->self ? who->self->at : who->at;
    return c.row->run(p, &c, out);
}
