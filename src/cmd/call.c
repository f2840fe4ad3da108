// SPDX-License-Identifier: MIT
// Calls: one reader of arguments for all functions, and the names looked up in the tables of the
// call_* files. A method is the function with the array before the dot as its first argument.
#include "call.h"

#include <string.h>

static const char *const keywords[K__N] = {
#define K(id, name) #name,
    CALL_KEYWORDS(K)
#undef K
};
static const struct rows *const tables[] = {&call_maps, &call_reductions, &call_views,
                                           &call_indexing, &call_linalg, &call_creations,
                                           &call_compositions, &call_more};

// ---- what arguments are read as ---------------------------------------------------------------
bool call_has(const struct call *c, enum keyword k) {
    return c->have >> k & 1;
}
bool call_given(const struct call *c, enum keyword k) {
    return call_has(c, k) && c->kw[k].kind != V_NONE;
}
weft_expr *call_expr(struct parser *p, struct call *c, int i) {
    return value_expr(p, &c->arg[i]);
}
bool call_built(struct parser *p, struct call *c, weft_expr *x, struct value *out) {
    return value_built(p, c->who->at, x, out);
}
bool call_several(struct parser *p, struct call *c, struct value *out, int n, weft_expr *const *x) {
    struct value v = {.kind = V_MANY, .at = out->at};
    for (int i = 0; i < n; i++) {
        if (!x[i]) return call_built(p, c, NULL, out);
        v.many.item[i] = x[i];
    }
    v.many.nitem = n;
    *out = v;
    return true;
}

bool call_dtype(struct parser *p, const struct value *v, weft_dtype *t) {
    if (v->kind != V_DTYPE) return parse_fail(p, v->at, "a type should be here, such as f32");
    *t = v->dtype;
    return true;
}
bool call_number(struct parser *p, const struct value *v, double *out) {
    if (v->kind == V_INT)
        *out = v->negative ? -(double)v->u : (double)v->u;
    else if (v->kind == V_FLOAT)
        *out = v->f;
    else
        return parse_fail(p, v->at, "a number should be here");
    return true;
}
bool call_truth(struct parser *p, const struct value *v, bool *t) {
    if (v->kind != V_BOOL) return parse_fail(p, v->at, "True or False should be here");
    *t = v->truth;
    return true;
}

bool call_axes(struct parser *p, const struct value *v, weft_reduce *r, int axes[WEFT_MAX_RANK]) {
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

int call_list(struct parser *p, struct call *c, int64_t *dims) {
    const struct value *one = call_has(c, K_SHAPE) ? &c->kw[K_SHAPE]
                              : c->n == 2          ? &c->arg[1]
                                                   : NULL;
    if (one && one->kind == V_TUPLE) {
        memcpy(dims, one->tuple->item, (size_t)one->tuple->n * sizeof *dims);
        return one->tuple->n;
    }
    if (call_has(c, K_SHAPE)) return value_int(p, one, "an extent", dims) ? 1 : -1;
    for (int i = 1; i < c->n; i++)
        if (!value_int(p, &c->arg[i], "an extent", &dims[i - 1])) return -1;
    return c->n - 1;
}

bool call_axis(struct parser *p, struct call *c, int i, enum keyword k, int *out) {
    if (c->n > i) return value_index(p, &c->arg[i], "an axis", out);
    return !call_given(c, k) || value_index(p, &c->kw[k], "an axis", out);
}

// ---- names ------------------------------------------------------------------------------------
static bool same_name(const char *row, const char *name, size_t len) {
    return strlen(row) == len && memcmp(row, name, len) == 0;
}
static const struct row *row_at(size_t i) {
    for (size_t t = 0; t < COUNT_OF(tables); i -= tables[t++]->n)
        if (i < tables[t]->n) return &tables[t]->at[i];
    return NULL;
}
const struct row *call_row(const char *name, size_t len) {
    for (size_t t = 0; t < COUNT_OF(tables); t++)
        for (size_t i = 0; i < tables[t]->n; i++)
            if (same_name(tables[t]->at[i].name, name, len)) return &tables[t]->at[i];
    return NULL;
}
bool is_function(const char *name, size_t len) {
    return call_row(name, len) != NULL;
}
const char *function_at(size_t i) {
    const struct row *r = row_at(i);
    return r ? r->name : NULL;
}

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
    const char *known;
    for (size_t i = 0; (known = function_at(i)); i++) {
        int d = distance(name, len, known);
        if (d >= best) continue;
        best = d;
        snprintf(buf, size, "; did you mean '%s'?", known);
    }
}

// ---- arguments --------------------------------------------------------------------------------
static bool unknown_keyword(struct parser *p, const struct call *c, const struct token *t) {
    char list[300] = "";
    size_t at = 0;
    for (int k = 0; k < K__N; k++)
        if (c->row->keywords >> k & 1 && at < sizeof list)
            at +=
                (size_t)snprintf(list + at, sizeof list - at, "%s%s", at ? ", " : "", keywords[k]);
    return parse_fail(p, t->at, "%s has no argument '%.*s'; %s%s", c->row->name, (int)t->len,
                      p->text + t->at, at ? "it has " : "it takes none by name", list);
}

// Arguments whose values are words, in the order of the library's enums. pad has modes of its own.
const char *const *call_words(const struct row *r, enum keyword k) {
    static const char *const nan[] = {"propagate", "skip", "raise", NULL};
    static const char *const mode[] = {"raise", "clip", "wrap", NULL};
    static const char *const pad[] = {"constant", "edge", "reflect", "symmetric", "wrap", NULL};
    static const char *const side[] = {"left", "right", NULL};
    static const char *const method[] = {
        "linear", "lower",           "higher",          "midpoint", "nearest", "hazen",
        "weibull", "median_unbiased", "normal_unbiased", NULL};
    static const char *const norm[] = {"backward", "ortho", "forward", NULL};
    switch (k) {
    case K_NORM: return norm;
    case K_NAN: return nan;
    case K_MODE: return same_name(r->name, "pad", 3) ? pad : mode;
    case K_SIDE: return side;
    case K_METHOD: return method;
    default: return NULL;
    }
}

static bool read_word(struct parser *p, int k, const char *const *words, struct value *out) {
    char list[160] = "";
    size_t at = 0;
    for (unsigned i = 0; words[i]; i++) {
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "", words[i]);
        if (!is_name(p, words[i])) continue;
        *out = (struct value){.kind = V_INT, .at = p->tok.at, .u = i};
        return next_token(p);
    }
    return parse_fail(p, p->tok.at, "%s is one of %s", keywords[k], list);
}

enum keyword call_keyword(const struct row *r, const char *name, size_t len) {
    int k = 0;
    while (k < K__N && !(r->keywords >> k & 1 && same_name(keywords[k], name, len)))
        k++;
    return (enum keyword)k;
}

static bool read_keyword(struct parser *p, struct call *c, const struct token *name) {
    const enum keyword k = call_keyword(c->row, p->text + name->at, name->len);
    if (k == K__N) return unknown_keyword(p, c, name);
    if (call_has(c, k))
        return parse_fail(p, name->at, "'%s' is given twice", keywords[k]);
    c->have |= (uint64_t)1 << k;
    if (!next_token(p)) return false;
    const char *const *words = call_words(c->row, k);
    return words ? read_word(p, (int)k, words, &c->kw[k]) : parse_expr(p, 0, &c->kw[k]);
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
    if (c->n == CALL_ARGS) return parse_fail(p, first.at, "too many arguments");
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

bool call_run(struct parser *p, struct call *c, struct value *out) {
    return check_count(p, c) && c->row->run(p, c, out);
}

bool parse_call(struct parser *p, const struct callee *who, struct value *out) {
    static const struct row convert = {"cast", call_cast, 1, 1, 0, {.one = NULL}, 0};
    struct call c = {.who = who};
    weft_dtype t = WEFT_F64;
    char hint[80];
    c.row = call_row(who->name, who->len);
    bool is_type = !c.row && !who->self && dtype_by_name(who->name, who->len, &t);
    if (is_type) c.row = &convert;
    if (!c.row) {
        suggest_function(who->name, who->len, hint, sizeof hint);
        return parse_fail(p, who->at, "unknown %s '%.*s'%s", who->self ? "method" : "function",
                          (int)who->len, who->name, hint);
    }
    if (who->self) c.arg[c.n++] = *who->self;
    if (!read_arguments(p, &c)) return false;
    if (is_type) {
        c.have |= KW(DTYPE);
        c.kw[K_DTYPE] = (struct value){.kind = V_DTYPE, .at = who->at, .dtype = t};
    }
    out->at = who->self ? who->self->at : who->at;
    if (!call_run(p, &c, out)) return false;
    parse_trace(p, who->name, who->len, c.arg, c.n, out);
    return true;
}
