// SPDX-License-Identifier: MIT
// The `weft` command, a user of the public API and of nothing else: what its files share.
#ifndef WEFT_CMD_H
#define WEFT_CMD_H

#include <stdarg.h>
#include <stdio.h>

#include "lang.h"

enum { EXIT_FAULT = 1, EXIT_BAD = 2, EXIT_INTERRUPTED = 130 }; // the machine's fault, the input's fault, Ctrl-C

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
    int number;      // then, once used: its number as an input of the graph
    char how[32];    // and how it would have been generated
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
// what an expression means with these inputs (names.c)
struct cmd_names {
    struct inputs *inputs;
    bool assume, shapes; // unknown names are f64[1000]; leaves without memory
    int nleaf;           // inputs of the graph so far
    bool open;           // arrays are inputs of the graph, whatever they hold
};
names_fn cmd_find;
names_list_fn cmd_list;
// What was written, call by call, before the library folded and shared anything (trace.c).
struct trace_node {
    char label[48], type[64];
    int nin, in[8]; // indices
    bool leaf;
};
struct trace {
    struct trace_node *at;
    int n, cap, nroot, root[16];
};
trace_fn trace_built; // trace_ud: struct trace
void trace_free(struct trace *t);
// parse_program, with what is wrong on stderr and a caret under the place
bool cmd_parse(struct parser *p, struct results *out);
// how: "", "iota" or a number
bool gen_fill(weft_array *a, const char *name, const char *how);

// ---- output and verbs -------------------------------------------------------------------------
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
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
    const char *expr, *graph; // graph: a file, in place of an expression
    struct inputs inputs;
    const char **out; // -o, in order
    int nout;
    bool raw, json, unfused, env, profile, check;
    const char *html;  // explain: write the page there
    int color;         // enum color
    int threads, rounds;
    weft_backend backend;
    weft_isa isa;
    unsigned show; // bits 1 << weft_dump_kind
};
// The leaf of a value; open: arrays are inputs of the graph, whatever they hold.
weft_expr *input_leaf(weft_graph *g, const struct input *in, bool open);

int cmd_eval(struct options *o);
int cmd_eval_graph(struct options *o); // eval --graph
int cmd_save(struct options *o);
int cmd_explain(struct options *o);
int cmd_bench(struct options *o);
int cmd_ops(struct options *o);
int cmd_info(struct options *o);

// A context by the options; NULL after printing why.
weft_ctx *open_bare_context(const struct options *o, weft_backend backend); // without the code cache
weft_ctx *open_context(const struct options *o, weft_backend backend);

#endif
