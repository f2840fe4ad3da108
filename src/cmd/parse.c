// SPDX-License-Identifier: MIT
// Statements and expressions with Python's precedence (Pratt's method: each infix operator has a
// binding power, prefix and postfix fall out). Expressions are built while they are read: there is
// no syntax tree, and an error of the library is reported at the operator or name that caused it.
// Chains of operators are loops; nesting is recursion and has a limit, so that no text overflows
// the stack.
#include "lang.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 1000 };
enum {
    BIND_COMPARE = 10,
    BIND_OR = 20,
    BIND_XOR = 30,
    BIND_AND = 40,
    BIND_SHIFT = 50,
    BIND_ADD = 60,
    BIND_MUL = 70,
    BIND_UNARY = 80,
    BIND_POW = 90
};

typedef weft_expr *binary_fn(weft_expr *, weft_expr *);
static const struct infix {
    int bind;
    binary_fn *build;
} infixes[] = {
    [T_ADD] = {BIND_ADD, weft_add},
    [T_SUB] = {BIND_ADD, weft_sub},
    [T_MUL] = {BIND_MUL, weft_mul},
    [T_DIV] = {BIND_MUL, weft_true_divide},
    [T_FLOORDIV] = {BIND_MUL, weft_floor_divide},
    [T_MOD] = {BIND_MUL, weft_remainder},
    [T_AT] = {BIND_MUL, weft_matmul},
    [T_POW] = {BIND_POW, weft_pow},
    [T_AND] = {BIND_AND, weft_bitwise_and},
    [T_OR] = {BIND_OR, weft_bitwise_or},
    [T_XOR] = {BIND_XOR, weft_bitwise_xor},
    [T_SHL] = {BIND_SHIFT, weft_left_shift},
    [T_SHR] = {BIND_SHIFT, weft_right_shift},
    [T_LT] = {BIND_COMPARE, weft_less},
    [T_LE] = {BIND_COMPARE, weft_less_equal},
    [T_GT] = {BIND_COMPARE, weft_greater},
    [T_GE] = {BIND_COMPARE, weft_greater_equal},
    [T_EQ] = {BIND_COMPARE, weft_equal},
    [T_NE] = {BIND_COMPARE, weft_not_equal},
    [T_ASSIGN] = {0, NULL},
};

// ---- tokens and errors ------------------------------------------------------------------------
bool parse_fail(struct parser *p, size_t at, const char *fmt, ...) {
    if (p->failed) return false;
    p->failed = true;
    p->fail_at = at;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(p->fail, sizeof p->fail, fmt, ap);
    va_end(ap);
    return false;
}

bool next_token(struct parser *p) {
    const char *reason;
    p->tok = lex_next(p->text, &p->at, &reason);
    return p->tok.kind != T_BAD || parse_fail(p, p->tok.at, "%s", reason);
}

bool is_name(const struct parser *p, const char *name) {
    return p->tok.kind == T_NAME && p->tok.len == strlen(name) &&
           memcmp(p->text + p->tok.at, name, p->tok.len) == 0;
}

// Python's words that cannot be given a meaning for arrays.
static bool reserved(struct parser *p) {
    static const struct {
        const char *word, *use;
    } rows[] = {{"and", "&"}, {"or", "|"},  {"not", "~ or logical_not()"}, {"if", "where()"},
                {"in", "=="}, {"is", "=="}, {"lambda", "an assignment"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (is_name(p, rows[i].word))
            return !parse_fail(p, p->tok.at, "'%s' does not work on arrays; use %s", rows[i].word,
                               rows[i].use);
    return false;
}

static bool unexpected(struct parser *p, const char *what) {
    const struct token *t = &p->tok;
    if (reserved(p)) return false;
    if (t->kind == T_END)
        return parse_fail(p, t->at, "the expression ends where %s should be", what);
    return parse_fail(p, t->at, "'%.*s' where %s should be", (int)t->len, p->text + t->at, what);
}

bool expect(struct parser *p, enum token_kind k, const char *what) {
    return p->tok.kind == k ? next_token(p) : unexpected(p, what);
}

// ---- names ------------------------------------------------------------------------------------
static struct variable *find_variable(struct parser *p, const char *name, size_t len) {
    for (int i = p->nvar - 1; i >= 0; i--)
        if (strlen(p->var[i].name) == len && memcmp(p->var[i].name, name, len) == 0)
            return &p->var[i];
    return NULL;
}

static bool set_variable(struct parser *p, const char *name, size_t len, const struct value *v) {
    struct variable *old = find_variable(p, name, len);
    if (!old) {
        if (p->nvar == p->cap) {
            const int cap = p->cap ? p->cap * 2 : 8;
            struct variable *grown = realloc(p->var, (size_t)cap * sizeof *grown);
            if (!grown) return parse_fail(p, v->at, "no memory");
            p->var = grown;
            p->cap = cap;
        }
        char *copy = malloc(len + 1);
        if (!copy) return parse_fail(p, v->at, "no memory");
        memcpy(copy, name, len);
        copy[len] = 0;
        old = &p->var[p->nvar++];
        old->name = copy;
    }
    old->value = *v;
    return true;
}

// 1, 0 or -1 as names_fn
static int find_name(struct parser *p, const struct token *t, bool last, struct value *out) {
    if (!p->names.find) return 0;
    const int found = p->names.find(p, t, last, out);
    if (found <= 0) return found;
    out->at = t->at;
    return set_variable(p, p->text + t->at, t->len, out) ? 1 : -1; // once in the graph
}

static bool constant(const char *s, size_t len, struct value *out) {
    static const struct {
        const char *name;
        double v;
    } numbers[] = {{"pi", 3.14159265358979323846},
                   {"e", 2.71828182845904523536},
                   {"inf", INFINITY},
                   {"nan", NAN}};
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        if (strlen(numbers[i].name) != len || memcmp(numbers[i].name, s, len) != 0) continue;
        out->kind = V_FLOAT;
        out->f = numbers[i].v;
        return true;
    }
    bool yes = len == 4 && memcmp(s, "True", 4) == 0;
    if (yes || (len == 5 && memcmp(s, "False", 5) == 0)) {
        out->kind = V_BOOL;
        out->truth = yes;
        return true;
    }
    if ((len == 4 && memcmp(s, "None", 4) == 0) || (len == 7 && memcmp(s, "newaxis", 7) == 0)) {
        out->kind = V_NONE;
        return true;
    }
    return false;
}

static bool unknown_name(struct parser *p, const struct token *t) {
    const char *s = p->text + t->at;
    char known[200] = "";
    if (is_function(s, t->len))
        return parse_fail(p, t->at, "'%.*s' is a function: it wants parentheses", (int)t->len, s);
    if (p->names.list) p->names.list(p, known, sizeof known);
    if (!p->names.list) return parse_fail(p, t->at, "unknown name '%.*s'", (int)t->len, s);
    return parse_fail(p, t->at, "unknown name '%.*s'; %s%s", (int)t->len, s,
                      known[0] ? "the inputs are: " : "no inputs were given, as in x=a.npy or x=f64[10]",
                      known);
}

static bool parse_name(struct parser *p, struct value *out) {
    if (reserved(p)) return false;
    struct token t = p->tok;
    if (is_name(p, "np") && p->text[p->at] == '.' && !find_variable(p, "np", 2)) {
        if (!next_token(p) || !next_token(p)) return false;
        if (p->tok.kind != T_NAME) return unexpected(p, "a name");
        t = p->tok;
    }
    const char *s = p->text + t.at;
    if (!next_token(p)) return false;
    *out = (struct value){.at = t.at};
    struct variable *v = find_variable(p, s, t.len);
    if (v) {
        *out = v->value;
        out->at = t.at;
        return true;
    }
    if (p->tok.kind == T_LPAR)
        return next_token(p) && parse_call(p, &(struct callee){s, t.len, t.at, NULL}, out);
    int found = find_name(p, &t, false, out);
    if (found) return found > 0;
    if (constant(s, t.len, out)) return true;
    if (dtype_by_name(s, t.len, &out->dtype)) {
        out->kind = V_DTYPE;
        return true;
    }
    found = is_function(s, t.len) ? 0 : find_name(p, &t, true, out);
    return found ? found > 0 : unknown_name(p, &t);
}

// ---- expressions ------------------------------------------------------------------------------
// After "(": a value in parentheses, or a tuple of integers for axes and extents.
static bool parse_group(struct parser *p, struct value *out) {
    size_t at = p->tok.at;
    struct tuple *t = NULL;
    if (!next_token(p)) return false;
    if (p->tok.kind == T_RPAR && !tuple_new(p, &t)) return false;
    while (p->tok.kind != T_RPAR) {
        if (!parse_expr(p, 0, out)) return false;
        if (p->tok.kind == T_COMMA && !t && !tuple_new(p, &t)) return false;
        if (!t) break;
        if (t->n >= WEFT_MAX_RANK)
            return parse_fail(p, out->at, "more than %d in a tuple", WEFT_MAX_RANK);
        if (!value_int(p, out, "what a tuple holds", &t->item[t->n])) return false;
        t->n++;
        if (p->tok.kind != T_COMMA) break;
        if (!next_token(p)) return false;
    }
    if (!expect(p, T_RPAR, "')'")) return false;
    if (t) *out = (struct value){.kind = V_TUPLE, .tuple = t};
    out->at = at;
    return true;
}

static bool negate(struct parser *p, size_t at, struct value *v) {
    if (v->kind == V_FLOAT) {
        v->f = -v->f;
    } else if (v->kind == V_INT && v->u <= (uint64_t)1 << 63) {
        v->negative = !v->negative && v->u;
    } else {
        const struct value from = *v;
        weft_expr *x = value_expr(p, v);
        if (!x || !value_built(p, at, weft_neg(x), v)) return false;
        parse_trace(p, "-", 1, &from, 1, v);
    }
    return true;
}

static bool parse_prefix(struct parser *p, struct value *out) {
    struct token t = p->tok;
    struct value from;
    weft_expr *x;
    switch (t.kind) {
    case T_INT:
    case T_FLOAT:
    case T_IMAGINARY: return next_token(p) && value_number(&t, out);
    case T_NAME: return parse_name(p, out);
    case T_LPAR: return parse_group(p, out);
    case T_TEXT: *out = (struct value){.kind = V_TEXT, .at = t.at, .len = t.len - 2}; return next_token(p);
    case T_ELLIPSIS: *out = (struct value){.kind = V_ELLIPSIS, .at = t.at}; return next_token(p);
    case T_ADD: return next_token(p) && parse_expr(p, BIND_UNARY, out);
    case T_SUB: return next_token(p) && parse_expr(p, BIND_UNARY, out) && negate(p, t.at, out);
    case T_NOT:
        if (!next_token(p) || !parse_expr(p, BIND_UNARY, out)) return false;
        from = *out;
        x = value_expr(p, out);
        if (!x || !value_built(p, t.at, weft_bitwise_not(x), out)) return false;
        parse_trace(p, "~", 1, &from, 1, out);
        return true;
    default: return unexpected(p, "a value");
    }
}

// x.T, x.name(...)
static bool parse_attribute(struct parser *p, struct value *out) {
    if (!next_token(p)) return false;
    if (p->tok.kind != T_NAME) return unexpected(p, "the name of a method");
    struct token t = p->tok;
    const char *s = p->text + t.at;
    if (!next_token(p)) return false;
    if (t.len == 1 && *s == 'T') {
        const struct value from = *out;
        weft_expr *x = value_expr(p, out);
        if (!x || !value_built(p, t.at, weft_transpose(x, NULL), out)) return false;
        parse_trace(p, ".T", 2, &from, 1, out);
        return true;
    }
    if (p->tok.kind != T_LPAR)
        return parse_fail(p, t.at, "no attribute '%.*s'; there is .T, and methods such as .sum()",
                          (int)t.len, s);
    struct value self = *out;
    return next_token(p) && parse_call(p, &(struct callee){s, t.len, t.at, &self}, out);
}

static bool parse_postfix(struct parser *p, struct value *out) {
    while (p->tok.kind == T_DOT || p->tok.kind == T_LBRACKET) {
        const struct value from = *out;
        const size_t at = p->tok.at;
        const bool dot = p->tok.kind == T_DOT;
        bool ok = dot ? parse_attribute(p, out) : next_token(p) && parse_subscript(p, out);
        if (!ok) return false;
        if (!dot) parse_trace(p, p->text + at, p->tok.at - at, &from, 1, out);
    }
    return true;
}

static bool parse_infix(struct parser *p, struct value *out) {
    struct token op = p->tok;
    const struct infix *in = &infixes[op.kind];
    struct value right;
    // ** binds tighter than a sign before it and looser than a sign after it, and from the right
    int least = op.kind == T_POW ? BIND_UNARY : in->bind + 1;
    if (!next_token(p) || !parse_expr(p, least, &right)) return false;
    weft_expr *a = value_expr(p, out), *b = a ? value_expr(p, &right) : NULL;
    const struct value from[2] = {*out, right};
    if (!b || !value_built(p, op.at, in->build(a, b), out)) return false;
    parse_trace(p, p->text + op.at, op.len, from, 2, out);
    if (in->bind == BIND_COMPARE && p->tok.kind >= T_LT && p->tok.kind <= T_NE)
        return parse_fail(p, p->tok.at,
                          "comparisons of arrays do not chain; write (a < b) & (b < c)");
    return true;
}

bool parse_expr(struct parser *p, int least, struct value *out) {
    if (p->depth >= MAX_NESTING)
        return parse_fail(p, p->tok.at,
                          "nested deeper than %d levels; assign parts to names with ';'",
                          MAX_NESTING);
    p->depth++;
    bool ok = parse_prefix(p, out) && parse_postfix(p, out);
    while (ok && p->tok.kind < COUNT_OF(infixes) && infixes[p->tok.kind].build &&
           infixes[p->tok.kind].bind >= least)
        ok = parse_infix(p, out);
    p->depth--;
    return ok;
}

// ---- statements -------------------------------------------------------------------------------
static bool add_result(struct parser *p, const struct value *v, struct results *out) {
    for (int i = 0; v->kind == V_MANY && i < v->many.nitem; i++) {
        const struct value one = {.kind = V_EXPR, .at = v->at, .expr = v->many.item[i]};
        if (!add_result(p, &one, out)) return false;
    }
    if (v->kind == V_MANY) return true;
    weft_expr *x = value_expr(p, v);
    if (!x) return false;
    weft_expr **grown = realloc(out->at, (size_t)(out->n + 1) * sizeof(weft_expr *));
    if (!grown) return parse_fail(p, v->at, "no memory");
    out->at = grown;
    out->at[out->n++] = x;
    if (p->trace) p->trace(p, NULL, 0, NULL, 0, v);
    return true;
}

// name = value; *assigned tells whether it was one
static bool parse_assignment(struct parser *p, struct value *v, bool *assigned) {
    size_t back = p->at;
    struct token name = p->tok;
    *assigned = false;
    if (name.kind != T_NAME || !next_token(p)) return !p->failed;
    if (p->tok.kind != T_ASSIGN) {
        p->at = back;
        p->tok = name;
        return true;
    }
    *assigned = true;
    if (!next_token(p) || !parse_expr(p, 0, v)) return false;
    return set_variable(p, p->text + name.at, name.len, v);
}

bool parse_program(struct parser *p, struct results *out) {
    struct value v = {.kind = V_NONE};
    bool assigned;
    if (!next_token(p)) return false;
    if (p->tok.kind == T_END) return parse_fail(p, 0, "the expression is empty");
    while (p->tok.kind != T_END) {
        if (out->n)
            return parse_fail(p, p->tok.at,
                              "a result before the last statement; assign it to a name");
        if (!parse_assignment(p, &v, &assigned)) return false;
        size_t begin = p->tok.at;
        while (!assigned) {
            if (!parse_expr(p, 0, &v) || !add_result(p, &v, out)) return false;
            if (p->tok.kind != T_COMMA) break;
            if (!next_token(p)) return false;
            if (p->tok.kind == T_END) break;
        }
        if (p->tok.kind == T_ASSIGN) return parse_fail(p, begin, "only a name can be assigned to");
        if (p->tok.kind != T_END && !expect(p, T_SEMI, "an operator, ',' or ';'")) return false;
    }
    return out->n || add_result(p, &v, out);
}

void parser_free(struct parser *p) {
    for (int i = 0; i < p->nvar; i++)
        free(p->var[i].name);
    free(p->var);
    for (struct tuple *t = p->tuples; t;) {
        struct tuple *next = t->next;
        free(t);
        t = next;
    }
}
