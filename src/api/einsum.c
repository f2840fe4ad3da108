// SPDX-License-Identifier: MIT
// einsum: subscripts and operands in, a chain of pairwise contractions out. Labels become small numbers
// (letters, then the axes an ellipsis stands for); an operand is a term, an expression with a label per axis.
// First each term is put in order alone: repeated labels become diagonals, labels that nothing else needs are
// summed. Then pairs are contracted until one term is left: along the cheapest path, found by trying all for
// few operands (dynamic programming over subsets, as in Pfeifer, Haegeman, Verstraete, 2014) and greedily
// beyond. A pair with labels to sum is a matrix product over [batch, left, summed] and [batch, summed,
// right], or, where one of left and right is nothing, a multiplication whose sum fuses with it; without, a
// broadcast multiplication.
#include <ctype.h>
#include <stdio.h>

#include "api.h"

enum { OPERANDS = 32, LETTERS = 52, LABELS = LETTERS + WEFT_MAX_RANK, EXHAUSTIVE = 8 };
__extension__ typedef unsigned __int128 labels;

struct term {
    weft_expr *x;
    int rank;
    unsigned char label[WEFT_MAX_RANK];
};
struct einsum {
    weft_graph *g;
    const char *spec;
    int n;
    struct term term[OPERANDS];
    int64_t extent[LABELS]; // -1: not met
    int nout;
    unsigned char out[WEFT_MAX_RANK];
    int ellipsis; // most axes one stands for
};

static labels bit(int label) { return (labels)1 << label; }
static labels set_of(const struct term *t) {
    labels s = 0;
    for (int i = 0; i < t->rank; i++)
        s |= bit(t->label[i]);
    return s;
}

static bool refuse(struct einsum *e, weft_status s, const char *what) {
    char text[200];
    snprintf(text, sizeof text, "einsum '%.80s': %s", e->spec, what);
    graph_fail(e->g, s, text);
    return false;
}

// ---- reading the subscripts -----------------------------------------------------------------------
static int letter(char c) { return c >= 'a' ? c - 'a' : 26 + (c - 'A'); }

// One side's labels up to a comma, an arrow or the end. dots: where its ellipsis stands, or -1.
struct list {
    int n, dots;
    unsigned char label[LABELS];
};
static bool read_list(struct einsum *e, const char **at, struct list *l) {
    l->n = 0;
    l->dots = -1;
    for (; **at && **at != ',' && strncmp(*at, "->", 2) != 0; ++*at) {
        if (**at == ' ') continue;
        if (!strncmp(*at, "...", 3)) {
            if (l->dots >= 0) return refuse(e, WEFT_EINVAL, "two ellipses in one operand");
            l->dots = l->n;
            *at += 2;
        } else if (!isalpha((unsigned char)**at)) {
            return refuse(e, WEFT_EINVAL, "labels are letters");
        } else if (l->n == WEFT_MAX_RANK) {
            return refuse(e, WEFT_EINVAL, "too many labels");
        } else {
            l->label[l->n++] = (unsigned char)letter(**at);
        }
    }
    return true;
}

// Axis i of the k that an ellipsis stands for: the last ones of all ellipses are the same label.
static int dotted(const struct einsum *e, int i, int k) { return LETTERS + e->ellipsis - k + i; }

static bool meet_extent(struct einsum *e, int label, int64_t n) {
    int64_t *x = &e->extent[label];
    if (*x < 0 || *x == 1) *x = n;
    if (n == 1 || n == *x) return true;
    char text[100];
    snprintf(text, sizeof text, "a label is %lld and %lld", (long long)*x, (long long)n);
    return refuse(e, WEFT_ESHAPE, text);
}

// Labels of an operand's axes, once it is known how long the longest ellipsis is.
static bool label_term(struct einsum *e, struct term *t, const struct list *l) {
    const int stand = t->rank - l->n;
    int n = 0;
    if (stand < 0 || (stand > 0 && l->dots < 0))
        return refuse(e, WEFT_ESHAPE, "an operand has another number of axes than labels");
    for (int i = 0; i <= l->n; i++) {
        for (int k = 0; i == l->dots && k < stand; k++)
            t->label[n++] = (unsigned char)dotted(e, k, stand);
        if (i < l->n) t->label[n++] = l->label[i];
    }
    for (int i = 0; i < n; i++)
        if (!meet_extent(e, t->label[i], weft_expr_dims(t->x)[i])) return false;
    return true;
}

// Without an arrow: the ellipsis, then the labels that occur once, in alphabetical order (capitals first).
static bool implied_output(struct einsum *e) {
    int count[LABELS] = {0};
    for (int i = 0; i < e->n; i++)
        for (int k = 0; k < e->term[i].rank; k++)
            count[e->term[i].label[k]]++;
    for (int k = 0; k < e->ellipsis; k++)
        e->out[e->nout++] = (unsigned char)dotted(e, k, e->ellipsis);
    for (int k = 0; k < LETTERS; k++) {
        const int label = (k + 26) % LETTERS;
        if (count[label] != 1) continue;
        if (e->nout == WEFT_MAX_RANK) return refuse(e, WEFT_ESHAPE, "too many axes");
        e->out[e->nout++] = (unsigned char)label;
    }
    return true;
}

static bool named_output(struct einsum *e, const char *at) {
    struct list l;
    labels seen = 0;
    if (!read_list(e, &at, &l)) return false;
    if (*at) return refuse(e, WEFT_EINVAL, "the output is one list of labels");
    if (l.n + (l.dots >= 0 ? e->ellipsis : 0) > WEFT_MAX_RANK) return refuse(e, WEFT_ESHAPE, "too many axes");
    for (int i = 0; i <= l.n; i++) {
        for (int k = 0; i == l.dots && k < e->ellipsis; k++)
            e->out[e->nout++] = (unsigned char)dotted(e, k, e->ellipsis);
        if (i == l.n) break;
        if (seen & bit(l.label[i])) return refuse(e, WEFT_EINVAL, "an output label is named twice");
        if (e->extent[l.label[i]] < 0) return refuse(e, WEFT_EINVAL, "an output label is in no operand");
        seen |= bit(l.label[i]);
        e->out[e->nout++] = l.label[i];
    }
    return l.dots >= 0 || !e->ellipsis || refuse(e, WEFT_EINVAL, "the output has no ellipsis for those of the operands");
}

static bool read_spec(struct einsum *e, weft_expr *const *x, int n) {
    struct list l[OPERANDS];
    const char *at = e->spec;
    for (int i = 0; i < n; i++) {
        if (!read_list(e, &at, &l[i])) return false;
        if (i + 1 < n && *at++ != ',') return refuse(e, WEFT_EINVAL, "fewer lists of labels than operands");
        e->term[i] = (struct term){.x = x[i], .rank = weft_expr_rank(x[i])};
        if (l[i].dots >= 0) e->ellipsis = MAX_OF(e->ellipsis, e->term[i].rank - l[i].n);
    }
    if (*at == ',') return refuse(e, WEFT_EINVAL, "more lists of labels than operands");
    for (int i = 0; i < LABELS; i++)
        e->extent[i] = -1;
    for (e->n = 0; e->n < n; e->n++)
        if (!label_term(e, &e->term[e->n], &l[e->n])) return false;
    if (!*at) return implied_output(e);
    return named_output(e, at + 2);
}

// ---- one term ---------------------------------------------------------------------------------------
static int place(const struct term *t, int label) {
    for (int i = 0; i < t->rank; i++)
        if (t->label[i] == label) return i;
    return -1;
}

static void drop(struct term *t, int axis) {
    t->rank--;
    memmove(&t->label[axis], &t->label[axis + 1], (size_t)(t->rank - axis));
}

// An extent of 1 beside a longer one of the same label says nothing: the axis goes.
static void drop_ones(const struct einsum *e, struct term *t) {
    for (int i = t->rank - 1; i >= 0; i--) {
        const int label = t->label[i];
        if (weft_expr_dims(t->x)[i] != 1 || e->extent[label] == 1) continue;
        t->x = weft_squeeze(t->x, i);
        drop(t, i);
    }
}

// The axis that has the label of axis i again, or -1.
static int twin_of(const struct term *t, int i) {
    for (int k = t->rank - 1; k > i; k--)
        if (t->label[k] == t->label[i]) return k;
    return -1;
}

static bool take_diagonals(struct einsum *e, struct term *t) {
    for (int i = 0; i < t->rank; i++) {
        const int k = twin_of(t, i);
        if (k < 0) continue;
        const unsigned char label = t->label[i];
        if (weft_expr_dims(t->x)[i] != weft_expr_dims(t->x)[k])
            return refuse(e, WEFT_ESHAPE, "a label repeated in one operand has two extents");
        t->x = weft_diagonal(t->x, 0, i, k); // the diagonal becomes the last axis
        if (!t->x) return false;
        drop(t, k), drop(t, i);
        t->label[t->rank++] = label;
        i = -1; // places have moved
    }
    return true;
}

// Sums as einsum does: in the type of the operands.
static weft_expr *sum_axes(weft_expr *x, const int *axes, int n) {
    if (!x || !n) return x;
    const weft_dtype t = weft_expr_dtype(x);
    const weft_reduce r = {.size = sizeof r, .axes = axes, .naxes = n};
    return t == WEFT_BOOL ? weft_any(x, &r) : weft_cast(weft_sum(x, &r), t);
}

static void sum_unneeded(struct term *t, labels needed) {
    int axes[WEFT_MAX_RANK], n = 0, kept = 0;
    for (int i = 0; i < t->rank; i++) {
        if (needed & bit(t->label[i]))
            t->label[kept++] = t->label[i];
        else
            axes[n++] = i;
    }
    t->x = sum_axes(t->x, axes, n);
    t->rank = kept;
}

// The term's axes in the order of these labels; those it has not become extents of 1.
static weft_expr *arranged(const struct term *t, const unsigned char *order, int n) {
    int perm[WEFT_MAX_RANK], k = 0;
    for (int i = 0; i < n; i++)
        if (place(t, order[i]) >= 0) perm[k++] = place(t, order[i]);
    weft_expr *x = k ? weft_transpose(t->x, perm) : t->x;
    for (int i = 0; i < n; i++)
        if (place(t, order[i]) < 0) x = weft_expand_dims(x, i);
    return x;
}

// ---- two terms -----------------------------------------------------------------------------------------
// Labels of a pair by what becomes of them.
struct groups {
    unsigned char batch[LABELS], left[LABELS], right[LABELS], sum[LABELS];
    int nbatch, nleft, nright, nsum;
};

static struct groups group(const struct term *a, const struct term *b, labels needed) {
    struct groups s = {.nbatch = 0};
    for (int i = 0; i < a->rank; i++) {
        const unsigned char l = a->label[i];
        if (place(b, l) < 0)
            s.left[s.nleft++] = l;
        else if (needed & bit(l))
            s.batch[s.nbatch++] = l;
        else
            s.sum[s.nsum++] = l;
    }
    for (int i = 0; i < b->rank; i++)
        if (place(a, b->label[i]) < 0) s.right[s.nright++] = b->label[i];
    return s;
}

static int append(unsigned char *to, int n, const unsigned char *from, int m) {
    memcpy(to + n, from, (size_t)m);
    return n + m;
}

static int64_t extents(const struct einsum *e, const unsigned char *l, int n) {
    int64_t p = 1;
    for (int i = 0; i < n; i++)
        p *= e->extent[l[i]];
    return p;
}

static struct term multiply(const struct groups *s, const struct term *a, const struct term *b) {
    struct term t = {NULL, 0, {0}};
    unsigned char order[4 * LABELS];
    int n = append(order, 0, s->batch, s->nbatch), axes[WEFT_MAX_RANK];
    n = append(order, n, s->left, s->nleft);
    n = append(order, n, s->right, s->nright);
    t.rank = n;
    memcpy(t.label, order, (size_t)n);
    n = append(order, n, s->sum, s->nsum);
    for (int i = 0; i < s->nsum; i++)
        axes[i] = t.rank + i;
    t.x = sum_axes(weft_mul(arranged(a, order, n), arranged(b, order, n)), axes, s->nsum);
    return t;
}

static struct term matrix_product(const struct einsum *e, const struct groups *s, const struct term *a,
                                  const struct term *b) {
    struct term t = {NULL, 0, {0}};
    unsigned char la[2 * LABELS], lb[2 * LABELS];
    int64_t da[WEFT_MAX_RANK], db[WEFT_MAX_RANK], dims[WEFT_MAX_RANK];
    const int nb = s->nbatch;
    for (int i = 0; i < nb; i++)
        da[i] = db[i] = e->extent[s->batch[i]];
    int na = append(la, append(la, append(la, 0, s->batch, nb), s->left, s->nleft), s->sum, s->nsum);
    int nr = append(lb, append(lb, append(lb, 0, s->batch, nb), s->sum, s->nsum), s->right, s->nright);
    da[nb] = extents(e, s->left, s->nleft), da[nb + 1] = extents(e, s->sum, s->nsum);
    db[nb] = da[nb + 1], db[nb + 1] = extents(e, s->right, s->nright);
    weft_expr *p = weft_matmul(weft_reshape(arranged(a, la, na), nb + 2, da),
                               weft_reshape(arranged(b, lb, nr), nb + 2, db));
    t.rank = append(t.label, append(t.label, append(t.label, 0, s->batch, nb), s->left, s->nleft), s->right,
                    s->nright);
    for (int i = 0; i < t.rank; i++)
        dims[i] = e->extent[t.label[i]];
    t.x = weft_reshape(p, t.rank, dims);
    return t;
}

static bool contract(struct einsum *e, struct term *a, const struct term *b, labels needed) {
    const struct groups s = group(a, b, needed);
    if (s.nbatch + s.nleft + s.nright + s.nsum > WEFT_MAX_RANK || s.nbatch + 2 > WEFT_MAX_RANK)
        return refuse(e, WEFT_ESHAPE, "an intermediate has too many axes");
    const bool product = s.nsum && s.nleft && s.nright;
    *a = product ? matrix_product(e, &s, a, b) : multiply(&s, a, b);
    return a->x != NULL;
}

// ---- the path -----------------------------------------------------------------------------------------
static labels output_set(const struct einsum *e) {
    labels s = 0;
    for (int i = 0; i < e->nout; i++)
        s |= bit(e->out[i]);
    return s;
}

static double cost_of(const struct einsum *e, labels l) {
    double c = 1;
    for (int i = 0; i < LABELS; i++)
        if (l & bit(i)) c *= (double)e->extent[i];
    return c;
}

// Labels left after the operands of mask have been contracted.
static labels kept_by(const struct einsum *e, unsigned mask) {
    labels in = 0, other = output_set(e);
    for (int i = 0; i < e->n; i++)
        *(mask >> i & 1 ? &in : &other) |= set_of(&e->term[i]);
    return in & other;
}

// The cheapest split of every subset; best[mask] is one side of it.
static void find_splits(const struct einsum *e, unsigned *best) {
    double cost[1 << EXHAUSTIVE];
    for (unsigned mask = 1; mask < 1u << e->n; mask++) {
        cost[mask] = (mask & (mask - 1)) ? -1 : 0;
        for (unsigned part = (mask - 1) & mask; part; part = (part - 1) & mask) {
            const unsigned rest = mask ^ part;
            if (part < rest) continue;
            const double c = cost[part] + cost[rest] + cost_of(e, kept_by(e, part) | kept_by(e, rest));
            if (cost[mask] >= 0 && c >= cost[mask]) continue;
            cost[mask] = c;
            best[mask] = part;
        }
    }
}

static bool contract_subset(struct einsum *e, const unsigned *best, unsigned mask, struct term *out) {
    if (!(mask & (mask - 1))) { // depth at most EXHAUSTIVE
        *out = e->term[__builtin_ctz(mask)];
        return true;
    }
    struct term b;
    return contract_subset(e, best, best[mask], out) && contract_subset(e, best, mask ^ best[mask], &b) &&
           contract(e, out, &b, kept_by(e, mask));
}

static labels needed_beside(const struct einsum *e, int a, int b) {
    labels s = output_set(e);
    for (int i = 0; i < e->n; i++)
        if (i != a && i != b) s |= set_of(&e->term[i]);
    return s;
}

// Always the pair that makes the smallest result for what it takes away.
static bool contract_greedily(struct einsum *e) {
    while (e->n > 1) {
        int a = 0, b = 1;
        double least = 0;
        for (int i = 0; i < e->n; i++)
            for (int k = i + 1; k < e->n; k++) {
                const labels si = set_of(&e->term[i]), sk = set_of(&e->term[k]);
                const double c = cost_of(e, (si | sk) & needed_beside(e, i, k)) - cost_of(e, si) - cost_of(e, sk);
                if ((i || k > 1) && c >= least) continue;
                a = i, b = k, least = c;
            }
        if (!contract(e, &e->term[a], &e->term[b], needed_beside(e, a, b))) return false;
        e->term[b] = e->term[--e->n];
    }
    return true;
}

static bool contract_all(struct einsum *e) {
    unsigned best[1 << EXHAUSTIVE];
    if (e->n > EXHAUSTIVE) return contract_greedily(e);
    find_splits(e, best);
    struct term out;
    if (!contract_subset(e, best, (1u << e->n) - 1, &out)) return false;
    e->term[0] = out;
    return true;
}

// ---- the whole -------------------------------------------------------------------------------------------
static weft_expr *finish(struct einsum *e) {
    int64_t dims[WEFT_MAX_RANK];
    struct term *t = &e->term[0];
    sum_unneeded(t, output_set(e));
    for (int i = 0; i < e->nout; i++)
        dims[i] = e->extent[e->out[i]];
    return weft_broadcast_to(arranged(t, e->out, e->nout), e->nout, dims);
}

weft_expr *weft_einsum(const char *spec, int n, weft_expr *const *x) {
    if (n < 1 || !x) return NULL;
    for (int i = 0; i < n; i++)
        if (!x[i]) return NULL;
    struct einsum e = {.g = x[0]->g, .spec = spec ? spec : "", .n = 0};
    for (int i = 1; i < n; i++)
        if (x[i]->g != e.g) return graph_fail(e.g, WEFT_EINVAL, "operands belong to different graphs");
    if (n > OPERANDS) return refuse(&e, WEFT_EINVAL, "more than 32 operands"), NULL;
    if (!read_spec(&e, x, n)) return NULL;
    weft_dtype types[OPERANDS];
    for (int i = 0; i < n; i++)
        types[i] = weft_expr_dtype(x[i]);
    const weft_dtype type = weft_result_type_n(n, types);
    for (int i = 0; i < n; i++) {
        struct term *t = &e.term[i];
        t->x = weft_cast(t->x, type);
        if (!t->x || !take_diagonals(&e, t)) return NULL;
        drop_ones(&e, t);
    }
    for (int i = 0; i < n; i++) {
        sum_unneeded(&e.term[i], needed_beside(&e, i, i));
        if (!e.term[i].x) return NULL;
    }
    return contract_all(&e) ? finish(&e) : NULL;
}
