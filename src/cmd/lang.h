// SPDX-License-Identifier: MIT
// The language of expressions, one grammar and one table of functions for the command and for the Python module: text
// or calls in, expressions of the public API out. Prints nothing and ends nothing; an error is a sentence and a place.
#ifndef WEFT_CMD_LANG_H
#define WEFT_CMD_LANG_H

#include <stdarg.h>
#include <stdio.h>

#include "weft/weft.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

// ---- the language (lex.c, parse.c, value.c, call*.c, subscript.c) ------------------------------
enum token_kind {
    T_END,
    T_NAME,
    T_INT,
    T_FLOAT,
    T_IMAGINARY,
    T_BAD,
    T_ADD,
    T_SUB,
    T_MUL,
    T_DIV,
    T_FLOORDIV,
    T_MOD,
    T_POW,
    T_AT,
    T_AND,
    T_OR,
    T_XOR,
    T_NOT,
    T_SHL,
    T_SHR,
    T_LT,
    T_LE,
    T_GT,
    T_GE,
    T_EQ,
    T_NE,
    T_LPAR,
    T_RPAR,
    T_LBRACKET,
    T_RBRACKET,
    T_COMMA,
    T_COLON,
    T_SEMI,
    T_DOT,
    T_ELLIPSIS,
    T_TEXT, // between quotes, which are part of it
    T_ASSIGN
};
struct token {
    enum token_kind kind;
    size_t at, len;
    uint64_t u;
    double f;
};
// The token at or after *at; T_BAD with a reason for what is none.
struct token lex_next(const char *s, size_t *at, const char **reason);

enum value_kind { V_EXPR, V_INT, V_FLOAT, V_IMAGINARY, V_BOOL, V_NONE, V_DTYPE, V_TUPLE, V_ELLIPSIS, V_TEXT, V_MANY };
struct value {
    enum value_kind kind;
    size_t at;     // where it begins in the text
    int node;      // what the trace made of it; 0: nothing
    bool negative; // INT
    union {
        weft_expr *expr;
        uint64_t u; // INT: magnitude
        double f; // FLOAT, IMAGINARY
        bool truth;
        weft_dtype dtype;
        struct tuple *tuple;
        size_t len;   // TEXT: what is between its quotes begins at at + 1
        struct {      // MANY: what a function gives that has several results
            weft_expr *item[3];
            int nitem;
        } many;
    };
};
struct tuple {
    struct tuple *next; // all tuples of a parse
    int n;
    int64_t item[WEFT_MAX_RANK + 1];
};
struct variable {
    char *name;
    struct value value;
};
// Where names come from that the text does not define. find: 1 with *out filled, 0 for a name it does not know, -1
// after parse_fail. It is asked twice: before constants and types, and last, when nothing else knows the name. What it
// found is a variable of the text from then on.
struct parser;
typedef int names_fn(struct parser *p, const struct token *t, bool last, struct value *out);
typedef void names_list_fn(struct parser *p, char *buf, size_t size); // "a, b", for a message
struct names {
    names_fn *find;
    names_list_fn *list;
    void *ud;
};
// Hears of every value that is built: by what (len characters of label, as written), and from which values. What it
// returns, more than 0, becomes the value's node. label NULL: out is a result. In a parser NULL: nobody listens.
typedef int trace_fn(struct parser *p, const char *label, size_t len, const struct value *from, int n,
                     const struct value *out);
struct parser {
    const char *text;
    size_t at;
    struct token tok;
    weft_graph *graph;
    struct names names;
    trace_fn *trace;
    void *trace_ud;
    bool failed;
    size_t fail_at; // the first error: its place in the text, and the sentence
    char fail[700];
    int depth;
    struct variable *var;
    int nvar, cap;
    struct tuple *tuples;
};
struct results {
    weft_expr **at;
    int n;
};
// Statements to expressions. false: fail and fail_at say what is wrong and where.
bool parse_program(struct parser *p, struct results *out);
void parser_free(struct parser *p);

// Keeps the first sentence and its place; false.
bool parse_fail(struct parser *p, size_t at, const char *fmt, ...) PRINTF_LIKE(3, 4);
static inline void parse_trace(struct parser *p, const char *label, size_t len, const struct value *from, int n,
                               struct value *out) {
    if (p->trace) out->node = p->trace(p, label, len, from, n, out);
}
bool parse_expr(struct parser *p, int least, struct value *out);
bool next_token(struct parser *p);
bool expect(struct parser *p, enum token_kind k, const char *what);
bool is_name(const struct parser *p, const char *name);
bool tuple_new(struct parser *p, struct tuple **out);
bool dtype_by_name(const char *s, size_t len, weft_dtype *out);

// Values to what is wanted, with an error at their place.
weft_expr *value_expr(struct parser *p, const struct value *v);
bool value_int(struct parser *p, const struct value *v, const char *what, int64_t *out);
bool value_index(struct parser *p, const struct value *v, const char *what, int *out);
// The result of a builder at a place: false when it is NULL.
bool value_built(struct parser *p, size_t at, weft_expr *x, struct value *out);
bool value_number(const struct token *t, struct value *out);

// name(...) or self.name(...), the parser stands after "("
struct callee {
    const char *name;
    size_t len, at;
    const struct value *self; // NULL: a plain call
};
bool parse_call(struct parser *p, const struct callee *c, struct value *out);
bool is_function(const char *name, size_t len);
const char *function_at(size_t i); // NULL past the end
// x[...], the parser stands after "["
bool parse_subscript(struct parser *p, struct value *x);
// One item of a subscript; two per axis are enough.
enum { MAX_ITEMS = 2 * WEFT_MAX_RANK };
enum item_kind { ITEM_INDEX, ITEM_SLICE, ITEM_NEW, ITEM_REST, ITEM_TAKE, ITEM_MASK };
struct item {
    enum item_kind kind;
    size_t at;
    int64_t start, stop, step; // INDEX: start
    weft_expr *array;          // TAKE, MASK
};
// x under n items from left to right
bool subscript_apply(struct parser *p, const struct item *items, int n, weft_expr **x);
void suggest_function(const char *name, size_t len, char *buf, size_t size);

#endif
