/* SPDX-License-Identifier: MIT
 *
 * weft/report.h: what becomes of a graph, as data: nodes, the steps that compute them, why values go through
 * memory, where they lie, the code. What weft_dump prints, for tools that draw. Included by weft.h.
 */
#ifndef WEFT_REPORT_H
#define WEFT_REPORT_H

#ifdef __cplusplus
extern "C" {
#endif

/* A node of the canonical graph. Operands come before their users; node i is %(i+1) of weft_dump. */
typedef struct weft_report_node {
    const char *op, *kind; /* as in weft_op_at */
    const char *type;      /* "f64[3,4]" */
    const char *detail;    /* its attributes as the dump writes them: axes, a constant's value; or "" */
    int nin, in[3];        /* operands, as indices */
    int step;              /* the first step that computes it; -1: none does (leaves, views, joins) */
} weft_report_node;

/* A value that a step leaves in memory. */
typedef struct weft_report_made {
    int node;
    const char *why;     /* a few words, those of the plan dump: "read by matmul" */
    const char *because; /* the same as a sentence */
} weft_report_made;

typedef struct weft_report_step {
    const char *kind;  /* "map", "inner", "outer", "matmul", "call" */
    const char *name;  /* its operations, "mul add sqrt" */
    const char *space; /* extents of its loops, "1000 rows, 10 columns" */
    int nnode, nmade, nread, nwrite;
    const int *node;   /* the nodes it computes */
    const weft_report_made *made;
    const char *const *read, *const *write; /* its operands in memory: "x f64", "temp0 f64" */
    int64_t bytes_read, bytes_written;
    const char *llvm, *assembly; /* of its body, values named "n12.mul" after node 12 - 1; NULL: precompiled, or
                                    no LLVM here */
} weft_report_step;

/* A temporary in the workspace: alive from the begin of one step to the end of another. */
typedef struct weft_report_temp {
    int node, first_step, last_step;
    int64_t bytes, offset;
} weft_report_temp;

typedef struct weft_report {
    int nnode, nroot, nstep, ntemp;
    const weft_report_node *node;
    const int *root; /* complex results are two: real and imaginary part */
    const weft_report_step *step;
    const weft_report_temp *temp;
    int passes;
    int64_t bytes_read, bytes_written, workspace_bytes;
    const char *code_error; /* why there is no code, or "" */
} weft_report;

/* Plans the roots as weft_eval would into dense outputs; runs nothing. code: with LLVM IR and assembly for isa.
 * The report is read-only, belongs to ctx's memory, and outlives the graph. WEFT_ENOMEM, or what planning says. */
WEFT_API weft_status weft_report_new(int n, weft_expr *const *roots, bool code, weft_isa isa,
                                     weft_report **out);
WEFT_API void weft_report_free(weft_report *r);

#ifdef __cplusplus
}
#endif
#endif
