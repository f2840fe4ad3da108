// SPDX-License-Identifier: MIT
// The `weft` command, a user of the public API and of nothing else: what its files share.
#ifndef WEFT_CMD_H
#define WEFT_CMD_H

#include <stdarg.h>
#include <stdio.h>

#include "weft/weft.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

enum { EXIT_FAULT = 1, EXIT_BAD = 2 }; // the machine's fault, the input's fault

// One sentence on stderr; returns EXIT_BAD.
int cmd_fail(const char *fmt, ...) PRINTF_LIKE(1, 2);
// A status of the library with its sentence; EXIT_BAD or EXIT_FAULT.
int cmd_fail_status(weft_status s, const char *what);
void *cmd_alloc(size_t size); // ends the program when there is no memory

// ---- numbers (number.c) -----------------------------------------------------------------------
bool real_type(weft_dtype t); // floating point, halves included
bool complex_type(weft_dtype t);
weft_dtype part_type(weft_dtype t);                 // f32 of c64, f64 of c128, else t
weft_array part_of(const weft_array *a, int which); // of complex a: 0 the real parts, 1 the imaginary ones
double real_round(weft_dtype t, double v);          // to nearest even
double real_get(weft_dtype t, const void *p);
void real_put(weft_dtype t, void *p, double v);

// ---- .npy files (npy.c, npy_write.c) ----------------------------------------------------------
struct npy {
    weft_array array;
    void *memory; // what to release
    size_t bytes;
    bool mapped;
};
// false after printing why, with the file's name and the place
bool npy_read(const char *path, struct npy *out);
void npy_free(struct npy *n);

// A file that appears under its name only when all of it is there.
struct npy_out {
    weft_array array; // write the elements here
    const char *path;
    int fd;
    char *temporary;     // its name so far; NULL: none
    unsigned char *base; // the mapping or buffer, header first
    size_t bytes;
    bool mapped, stream; // stream: the target is no regular file and is written through
};
bool npy_create(const char *path, weft_dtype t, int rank, const int64_t *dims, struct npy_out *out);
bool npy_commit(struct npy_out *o); // false after printing why
void npy_abandon(struct npy_out *o);

// ---- inputs (input.c, gen.c) ------------------------------------------------------------------
enum input_kind { INPUT_ARRAY, INPUT_INT, INPUT_UINT, INPUT_FLOAT, INPUT_BOOL };
struct input {
    char *name;
    enum input_kind kind;
    struct npy data; // ARRAY
    bool shape_only; // ARRAY without memory: explain looks at the form only
    int64_t i;
    uint64_t u;
    double f;
    bool used;
};
struct inputs {
    struct input *at;
    int n, cap;
};
// "x=a.npy", "x=f64[3,4]:iota", "s=2.5"; shapes: no memory for generated ones
bool input_add(struct inputs *in, const char *text, bool shapes);
struct input *input_find(struct inputs *in, const char *name, size_t len);
// f64[1000], for a name nobody gave
struct input *input_assume(struct inputs *in, const char *name, size_t len, bool shapes);
void inputs_free(struct inputs *in);
bool dtype_by_name(const char *s, size_t len, weft_dtype *out);
// how: "", "iota" or a number
bool gen_fill(weft_array *a, const char *name, const char *how);

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
struct parser {
    const char *text;
    size_t at;
    struct token tok;
    weft_graph *graph;
    struct inputs *inputs;
    bool assume, shapes; // unknown names are f64[1000]; leaves without memory
    bool failed;
    int depth;
    struct variable *var;
    int nvar, cap;
    struct tuple *tuples;
};
struct results {
    weft_expr **at;
    int n;
};
// Statements to expressions; false after printing what is wrong and where.
bool parse_program(struct parser *p, struct results *out);
void parser_free(struct parser *p);

// Prints the sentence and the place once; false.
bool parse_fail(struct parser *p, size_t at, const char *fmt, ...) PRINTF_LIKE(3, 4);
bool parse_expr(struct parser *p, int least, struct value *out);
bool next_token(struct parser *p);
bool expect(struct parser *p, enum token_kind k, const char *what);
bool is_name(const struct parser *p, const char *name);
bool tuple_new(struct parser *p, struct tuple **out);

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
void suggest_function(const char *name, size_t len, char *buf, size_t size);

// ---- output and verbs -------------------------------------------------------------------------
void print_array(FILE *f, const weft_array *a);
void print_raw(FILE *f, const weft_array *a);

// What was heard of each step (profile.c); names are copies.
struct profile_row {
    weft_profile_step s;
    char name[96];
};
struct profile {
    struct profile_row *at;
    int n, cap;
};
weft_profile_fn profile_hear; // ud: struct profile
void profile_print(FILE *f, const struct profile *p);
void profile_free(struct profile *p);

struct progress;
struct progress *progress_start(const char *what); // NULL when stderr is no terminal
void progress_stop(struct progress *p);

struct options {
    const char *expr;
    struct inputs inputs;
    const char **out; // -o, in order
    int nout;
    bool raw, json, unfused, env, profile;
    int threads, rounds;
    weft_backend backend;
    weft_isa isa;
    unsigned show; // bits 1 << weft_dump_kind
};
int cmd_eval(struct options *o);
int cmd_explain(struct options *o);
int cmd_bench(struct options *o);
int cmd_ops(struct options *o);
int cmd_info(struct options *o);

// A context by the options; NULL after printing why.
weft_ctx *open_context(const struct options *o, weft_backend backend);

#endif
