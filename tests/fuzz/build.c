// SPDX-License-Identifier: MIT
// A case as weft's expressions, through the public header alone, and as text of the command. In:
// the description; out: one expression per node, in order, so that a node's operands exist before
// it.
#include "fuzz.h"

static double real_of_bits(int64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

// ---- elementwise operations of ops.def
// -----------------------------------------------------------
typedef weft_expr *build1(weft_expr *);
typedef weft_expr *build2(weft_expr *, weft_expr *);
typedef weft_expr *build3(weft_expr *, weft_expr *, weft_expr *);
struct map_fn {
    build1 *f1;
    build2 *f2;
    build3 *f3;
};
#define FN_1(name) {weft_##name, NULL, NULL},
#define FN_2(name) {NULL, weft_##name, NULL},
#define FN_3(name) {NULL, NULL, weft_##name},
#define FN_(name, arity) FN_##arity(name)
#define weft_cast weft_sqrt // has a kind of its own; its row is not used
static const struct map_fn map_fns[] = {
#define MAP(name, arity, ...) FN_(name, arity)
#include "ir/ops.def"
};
#undef weft_cast
#define HEAVY 1
#define LIGHT 0
#define IS_KERN(x) (sizeof #x == 5 && #x[0] == 'K')
#define IS_NA(x) (sizeof #x == 3 && #x[0] == 'N')
const struct map_row map_rows[] = {
#define MAP(name, arity, rule, kernel, flt, integer, boolean, doc)                                 \
    {#name, arity, rule, kernel && IS_KERN(flt), IS_NA(flt), IS_NA(integer), IS_NA(boolean)},
#include "ir/ops.def"
};

static const struct {
    const char *name, *text;
    int arity;
} rows[] = {
#define K(name, operands, text) {#name, text, operands},
#include "kinds.def"
};
int kind_arity(int kind) {
    return is_map(kind) ? map_of(kind)->arity : rows[kind].arity;
}
const char *kind_name(int kind) {
    return is_map(kind) ? map_of(kind)->name : rows[kind].name;
}

// ---- the others
// ------------------------------------------------------------------------------------
typedef weft_expr *reducer(weft_expr *, const weft_reduce *);
static reducer *const reducers[] = {
    weft_sum,           weft_prod, weft_mean, weft_var,    weft_std,    weft_any,       weft_all,
    weft_count_nonzero, weft_min,  weft_max,  weft_argmin, weft_argmax, weft_logsumexp, weft_ptp};

static weft_expr *reduce(const struct node *n, weft_expr *x) {
    int axes[RANK];
    weft_reduce r = {.size = sizeof r,
                     .nan = (weft_nan)n->p[0],
                     .keepdims = n->p[1] != 0,
                     .ddof = real_of_bits(n->p[2]),
                     .compensated = n->p[3] != 0};
    for (int k = 0; k < n->p[4]; k++)
        axes[k] = (int)n->p[5 + k];
    if (n->p[4] >= 0) r.axes = axes, r.naxes = (int)n->p[4];
    return reducers[n->kind - K_sum](x, &r);
}

static weft_expr *quantile(const struct node *n, weft_expr *x) {
    int axis = (int)n->p[0];
    weft_reduce r = {.size = sizeof r, .axes = &axis, .naxes = 1};
    if (n->kind == K_median) return weft_median(x, &r);
    return weft_quantile(x, real_of_bits(n->p[1]), (weft_quantile_method)n->p[2], &r);
}

static weft_expr *norm(const struct node *n, weft_expr *x) {
    int axis = (int)n->p[1];
    weft_reduce r = {.size = sizeof r, .axes = &axis, .naxes = 1};
    return weft_norm(x, real_of_bits(n->p[0]), &r);
}

static weft_expr *composite(const struct node *n, weft_expr *const *x) {
    weft_expr *part = NULL;
    double f0 = real_of_bits(n->p[0]), f1 = real_of_bits(n->p[1]);
    switch (n->kind) {
    case K_clip: return weft_clip(x[0], x[1], x[2]);
    case K_relu: return weft_relu(x[0]);
    case K_leaky_relu: return weft_leaky_relu(x[0], f0);
    case K_rint: return weft_rint(x[0]);
    case K_fmod: return weft_fmod(x[0], x[1]);
    case K_ldexp: return weft_ldexp(x[0], x[1]);
    case K_lerp: return weft_lerp(x[0], x[1], x[2]);
    case K_heaviside: return weft_heaviside(x[0], x[1]);
    case K_isclose: return weft_isclose(x[0], x[1], f0, f1, n->p[2] != 0);
    case K_nan_to_num: return weft_nan_to_num(x[0], f0, f1, real_of_bits(n->p[2]));
    case K_bitwise_count: return weft_bitwise_count(x[0]);
    case K_add_overflows: return weft_add_overflows(x[0], x[1]);
    case K_sub_overflows: return weft_sub_overflows(x[0], x[1]);
    case K_mul_overflows: return weft_mul_overflows(x[0], x[1]);
    case K_add_carry: return weft_add_carry(x[0], x[1], x[2], &part);
    case K_carry_out: weft_add_carry(x[0], x[1], x[2], &part); return part;
    case K_log_sigmoid: return weft_log_sigmoid(x[0]);
    case K_deg2rad: return weft_deg2rad(x[0]);
    case K_divmod_rest: weft_divmod(x[0], x[1], &part); return part;
    case K_complex: return weft_complex(x[0], x[1]);
    case K_real: return weft_real(x[0]);
    case K_imag: return weft_imag(x[0]);
    case K_conj: return weft_conj(x[0]);
    default: return weft_angle(x[0]);
    }
}

static weft_expr *padded(const struct node *n, weft_expr *x) {
    int64_t before[RANK], after[RANK];
    for (int k = 0; k < RANK; k++)
        before[k] = n->p[0], after[k] = n->p[1];
    return weft_pad(
        x, &(weft_padding){sizeof(weft_padding), before, after, (weft_pad_mode)n->p[2], NULL});
}
static weft_expr *transposed(const struct node *n, weft_expr *x) {
    int perm[RANK];
    for (int k = 0; k < n->p[0]; k++)
        perm[k] = (int)n->p[1 + k];
    return weft_transpose(x, perm);
}

static weft_expr *view(const struct node *n, weft_expr *const *x) {
    const int64_t *p = n->p;
    weft_expr *pair[2] = {x[0], x[1]};
    switch (n->kind) {
    case K_reshape: return weft_reshape(x[0], (int)p[0], p + 1);
    case K_ravel: return weft_ravel(x[0]);
    case K_transpose: return transposed(n, x[0]);
    case K_slice: return weft_slice(x[0], (int)p[0], p[1], p[2], p[3]);
    case K_index: return weft_index(x[0], (int)p[0], p[1]);
    case K_flip: return weft_flip(x[0], (int)p[0]);
    case K_squeeze: return weft_squeeze(x[0], (int)p[0]);
    case K_expand_dims: return weft_expand_dims(x[0], (int)p[0]);
    case K_broadcast_to: return weft_broadcast_to(x[0], (int)p[0], p + 1);
    case K_diagonal: return weft_diagonal(x[0], p[0], (int)p[1], (int)p[2]);
    case K_windows: return weft_sliding_windows(x[0], (int)p[0], p[1]);
    case K_moveaxis: return weft_moveaxis(x[0], (int)p[0], (int)p[1]);
    case K_split: return weft_split(x[0], (int)p[0], p[1], p[2]);
    case K_tril: return weft_tril(x[0], p[0]);
    case K_triu: return weft_triu(x[0], p[0]);
    case K_roll: return weft_roll(x[0], p[0], (int)p[1]);
    case K_tile: return weft_tile(x[0], (int)p[0], p + 1);
    case K_repeat: return weft_repeat(x[0], p[0], (int)p[1]);
    case K_pad: return padded(n, x[0]);
    case K_concat: return weft_concat(2, pair, (int)p[0]);
    case K_stack: return weft_stack(2, pair, (int)p[0]);
    default: return weft_diff(x[0], (int)p[0], (int)p[1]);
    }
}

static weft_expr *creation(const struct node *n, weft_graph *g) {
    const int64_t *p = n->p;
    weft_dtype t = (weft_dtype)p[0];
    weft_stream s = {(uint64_t)p[1], (uint64_t)p[2]};
    switch (n->kind) {
    case K_iota: return weft_iota(g, t, (int)p[2], p + 3, (int)p[1]);
    case K_eye: return weft_eye(g, t, p[1], p[2], p[3]);
    case K_random_bits: return weft_random_bits(g, s, t, (int)p[3], p + 4);
    case K_random_uniform: return weft_random_uniform(g, s, t, (int)p[3], p + 4);
    case K_random_normal: return weft_random_normal(g, s, t, (int)p[3], p + 4);
    default: return weft_random_integers(g, s, (weft_bounds){p[3], p[4]}, t, (int)p[5], p + 6);
    }
}

static weft_expr *placed(const struct node *n, weft_expr *const *x) {
    const int64_t *p = n->p;
    weft_scatter_opts o = {sizeof o, (int)p[0], (weft_scatter_op)p[2], (weft_index_mode)p[1]};
    switch (n->kind) {
    case K_take: return weft_take(x[0], x[1], (int)p[0], (weft_index_mode)p[1]);
    case K_take_along_axis:
        return weft_take_along_axis(x[0], x[1], (int)p[0], (weft_index_mode)p[1]);
    case K_scatter: return weft_scatter(x[0], x[1], x[2], &o);
    case K_put_along_axis: return weft_scatter_along_axis(x[0], x[1], x[2], &o);
    case K_put: return weft_put(x[0], x[1], x[2], (weft_index_mode)p[0]);
    case K_putmask: return weft_putmask(x[0], x[1], x[2]);
    case K_place: return weft_place(x[0], x[1], x[2]);
    case K_compress: return weft_compress(x[1], x[0], (int)p[0]);
    case K_flatnonzero: return weft_flatnonzero(x[0]);
    case K_unique: return weft_unique(x[0], NULL);
    case K_sort: return weft_sort(x[0], (int)p[0]);
    case K_argsort: return weft_argsort(x[0], (int)p[0]);
    case K_topk: return weft_topk(x[0], p[0], (int)p[1], false, NULL);
    case K_searchsorted: return weft_searchsorted(x[0], x[1], p[0] != 0);
    case K_digitize: return weft_digitize(x[0], x[1], p[0] != 0);
    case K_histogram: return weft_histogram(x[0], x[1]);
    case K_bincount: return weft_bincount(x[0], NULL, p[0]);
    default: return weft_one_hot(x[0], p[1], (weft_dtype)p[0]);
    }
}

static weft_expr *library(const struct node *n, weft_expr *const *x) {
    weft_expr *a = NULL, *b = NULL, *c = NULL;
    switch (n->kind) {
    case K_cholesky: return weft_cholesky(x[0], false);
    case K_solve: return weft_solve(x[0], x[1]);
    case K_qr_r: weft_qr(x[0], &a, &b); return b;
    case K_eigvals: weft_eigh(x[0], &a, &b); return a;
    case K_singular: weft_svd(x[0], false, &a, &b, &c); return b;
    case K_fft: return weft_fft(x[0], NULL);
    default: return weft_rfft(x[0], NULL);
    }
}

static weft_expr *scan_or_product(const struct node *n, weft_expr *const *x) {
    switch (n->kind) {
    case K_matmul: return weft_matmul(x[0], x[1]);
    case K_dot: return weft_dot(x[0], x[1]);
    case K_inner: return weft_inner(x[0], x[1]);
    case K_outer: return weft_outer(x[0], x[1]);
    case K_tensordot: {
        int a[RANK], b[RANK], count = (int)n->p[0], rank = weft_expr_rank(x[0]);
        for (int k = 0; k < count; k++)
            a[k] = rank - count + k, b[k] = k;
        return weft_tensordot(x[0], x[1], count, a, b);
    }
    case K_cumsum: return weft_cumsum(x[0], (int)n->p[0]);
    case K_cumprod: return weft_cumprod(x[0], (int)n->p[0]);
    case K_cummax: return weft_cummax(x[0], (int)n->p[0]);
    default: return weft_cummin(x[0], (int)n->p[0]);
    }
}

// x: the node's operands
weft_expr *build_node(const struct node *n, weft_graph *g, weft_expr *const *x) {
    if (is_map(n->kind)) {
        const struct map_fn *f = &map_fns[n->kind - MAP_FIRST];
        return f->f1 ? f->f1(x[0]) : f->f2 ? f->f2(x[0], x[1]) : f->f3(x[0], x[1], x[2]);
    }
    switch (n->kind) {
    case K_integer: return weft_int(g, n->p[0]);
    case K_number: return weft_float(g, real_of_bits(n->p[0]));
    case K_cast: return weft_cast(x[0], (weft_dtype)n->p[0]);
    case K_softmax: return weft_softmax(x[0], (int)n->p[0]);
    case K_log_softmax: return weft_log_softmax(x[0], (int)n->p[0]);
    case K_norm: return norm(n, x[0]);
    case K_median:
    case K_quantile: return quantile(n, x[0]);
    default: break;
    }
    if (n->kind <= K_angle) return composite(n, x);
    if (n->kind <= K_diff) return view(n, x);
    if (n->kind <= K_random_integers) return creation(n, g);
    if (n->kind <= K_ptp) return reduce(n, x[0]);
    if (n->kind <= K_cummin) return scan_or_product(n, x);
    return n->kind <= K_one_hot ? placed(n, x) : library(n, x);
}

static weft_expr *leaf(struct built *b, const struct fcase *c, int i, const weft_array *array,
                       bool program) {
    const struct shape *s = &c->leaf[i].s;
    if (!program || i % 5 == 4) return weft_from(b->g, array);
    char name[16];
    snprintf(name, sizeof name, "x%d", i);
    b->input_leaf[b->ninput++] = i;
    return weft_input(b->g, name, s->t, s->rank, s->dims);
}

bool build_case(const struct fcase *c, const weft_array *arrays, bool program, struct built *b) {
    b->ninput = 0;
    for (int i = 0; i < c->nnode; i++) {
        const struct node *n = &c->node[i];
        weft_expr *x[3] = {NULL, NULL, NULL};
        for (int k = 0; k < kind_arity(n->kind); k++)
            x[k] = b->x[n->in[k]];
        b->x[i] = n->kind == K_leaf ? leaf(b, c, (int)n->p[0], &arrays[n->p[0]], program)
                                    : build_node(n, b->g, x);
        if (!b->x[i]) return false;
    }
    return true;
}

// ---- text
// --------------------------------------------------------------------------------------------
static void put_name(const struct fcase *c, int i, FILE *f) {
    const struct node *n = &c->node[i];
    if (n->kind == K_leaf)
        fprintf(f, "x%d", (int)n->p[0]);
    else if (n->kind == K_integer)
        fprintf(f, "%lld", (long long)n->p[0]);
    else if (n->kind == K_number)
        fprintf(f, "%.17g%s", real_of_bits(n->p[0]),
                real_of_bits(n->p[0]) == floor(real_of_bits(n->p[0])) ? ".0" : "");
    else
        fprintf(f, "t%d", i);
}
static void put_list(const int64_t *p, FILE *f) {
    for (int k = 0; k < p[0]; k++)
        fprintf(f, "%s%lld", k ? ", " : "", (long long)p[1 + k]);
}
static void put_number(double d, FILE *f) {
    if (isinf(d))
        fprintf(f, "%sinf", d < 0 ? "-" : "");
    else if (isnan(d))
        fprintf(f, "nan");
    else
        fprintf(f, "%.17g%s", d, d == floor(d) && fabs(d) < 1e15 ? ".0" : "");
}
static void put_parameter(const struct fcase *c, const struct node *n, const char **at, FILE *f) {
    static const char *const modes[] = {"raise", "clip", "wrap"},
                             *const pads[] = {"constant", "edge", "reflect", "symmetric", "wrap"},
                             *const methods[] = {"linear",   "lower",           "higher",
                                                 "midpoint", "nearest",         "hazen",
                                                 "weibull",  "median_unbiased", "normal_unbiased"};
    char what = **at;
    int k = *++*at - '0';
    switch (what) {
    case '$': put_name(c, n->in[k], f); break;
    case '#': fprintf(f, "%lld", (long long)n->p[k]); break;
    case '@': put_list(n->p + k, f); break;
    case 't': fputs(weft_dtype_name((weft_dtype)n->p[k]), f); break;
    case 'f': put_number(real_of_bits(n->p[k]), f); break;
    case 'b': fputs(n->p[k] ? "True" : "False", f); break;
    case 'e': fputs(n->p[k] ? "right" : "left", f); break;
    case 'i': fputs(modes[n->p[k]], f); break;
    case 'p': fputs(pads[n->p[k]], f); break;
    default: fputs(methods[n->p[k]], f);
    }
}
static void put_format(const struct fcase *c, const struct node *n, FILE *f) {
    for (const char *at = rows[n->kind].text; *at; at++) {
        bool digit = at[1] >= '0' && at[1] <= '9',
             word = at > rows[n->kind].text && at[-1] >= 'a' && at[-1] <= 'z';
        if (!word && digit && strchr("$#@tfbeipq", *at))
            put_parameter(c, n, &at, f);
        else if (*at == ' ' && at[1] == '@' && n->p[at[2] - '0'] == 0)
            at += 2; // an empty list behind an operand
        else if (*at == ',' && at[1] == ' ' && at[2] == '@' && n->p[at[3] - '0'] == 0)
            at += 3;
        else
            fputc(*at, f);
        // a tuple of one
        if (at[0] >= '0' && at[0] <= '9' && at[1] == ')' && at > rows[n->kind].text + 2 &&
            at[-1] == '@' && at[-2] == '(' && n->p[at[0] - '0'] == 1)
            fputc(',', f);
    }
}
static void put_slice(const struct fcase *c, const struct node *n, FILE *f) {
    put_name(c, n->in[0], f);
    int axis = (int)n->p[0] < 0 ? (int)n->p[0] + c->shape[n->in[0]].rank : (int)n->p[0];
    fputc('[', f);
    for (int k = 0; k < axis; k++)
        fputs(":, ", f);
    if (n->kind == K_index) {
        fprintf(f, "%lld]", (long long)n->p[1]);
        return;
    }
    for (int k = 1; k <= 3; k++) {
        if (n->p[k] != WEFT_NONE) fprintf(f, "%lld", (long long)n->p[k]);
        fputc(k < 3 ? ':' : ']', f);
    }
}
static void put_reduce(const struct fcase *c, const struct node *n, FILE *f) {
    static const char *const nans[] = {"propagate", "skip", "raise"};
    bool spread = n->kind == K_var || n->kind == K_std;
    fprintf(f, "%s(", kind_name(n->kind));
    put_name(c, n->in[0], f);
    if (n->p[4] >= 0) {
        fputs(", axis=(", f);
        put_list(n->p + 4, f);
        fputs(n->p[4] == 1 ? ",)" : ")", f);
    }
    if (n->p[1]) fputs(", keepdims=True", f);
    if (n->p[0]) fprintf(f, ", nan=%s", nans[n->p[0]]);
    if (n->p[3]) fputs(", compensated=True", f);
    if (spread) fprintf(f, ", ddof=%g", real_of_bits(n->p[2]));
    fputc(')', f);
}
static void put_node(const struct fcase *c, int i, FILE *f) {
    static const char *const scatters[] = {"", "_add", "_min", "_max"}, *const modes[] = {"raise",
                                                                                          "clip",
                                                                                          "wrap"};
    const struct node *n = &c->node[i];
    fprintf(f, "t%d = ", i);
    if (n->kind == K_slice || n->kind == K_index) {
        put_slice(c, n, f);
    } else if (n->kind >= K_sum && n->kind <= K_ptp) {
        put_reduce(c, n, f);
    } else if (is_map(n->kind) || n->kind == K_scatter) {
        fprintf(f, "%s%s(", kind_name(n->kind), n->kind == K_scatter ? scatters[n->p[2]] : "");
        for (int k = 0; k < kind_arity(n->kind); k++) {
            if (k) fputs(", ", f);
            put_name(c, n->in[k], f);
        }
        if (n->kind == K_scatter) fprintf(f, ", axis=%d, mode=%s", (int)n->p[0], modes[n->p[1]]);
        fputc(')', f);
    } else {
        put_format(c, n, f);
    }
    fputs("; ", f);
}

void text_case(const struct fcase *c, FILE *f) {
    for (int i = 0; i < c->nnode; i++)
        if (c->node[i].kind > K_number) put_node(c, i, f);
    for (int i = 0; i < c->nroot; i++) {
        if (i) fputs(", ", f);
        put_name(c, c->root[i].node, f);
    }
}
