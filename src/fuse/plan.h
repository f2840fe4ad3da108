// SPDX-License-Identifier: MIT
// The plan: which nodes are computed together, in which order, in which bytes. Made for one set of shapes
// and strides; knows no address, no thread, no instruction set. Lives in one arena and dies at once.
#ifndef WEFT_PLAN_H
#define WEFT_PLAN_H

#include "../ir/ir.h"
#include "../nest.h"

enum fuse_kind { FUSE_LOOP, FUSE_MATMUL, FUSE_CALL };

// A batch of products. Operands like those of a nest: batch dims, then (rows, columns).
struct fuse_matmul {
    weft_dtype dtype;
    int nbatch;
    int64_t batch[WEFT_MAX_RANK];
    int64_t m, n, k;
    struct nest_operand a, b, c; // stride[0..nbatch) batch strides, then row stride, column stride
    bool turned; // rows of the nest that follows are columns of the product
};

struct fuse_step {
    enum fuse_kind kind;
    // LOOP; MATMUL: a map over the product's batch axes (all together its outer dims, in order), rows and
    // columns, computed on each part of the product when it is final: then nest.noperand is not 0. It
    // reads the product where matmul.c puts it, and may store its last output there.
    struct nest nest;
    struct seg seg;
    struct fuse_matmul matmul;   // MATMUL
    struct nest_call call;       // CALL
    int64_t bytes_read, bytes_written; // of memory operands, each counted once
    const char *why;             // why this step ends here, for the dump ("root", "read by matmul", ...)
    ir_ref *made;                // the nodes it materialises
    const char **made_why;       // why each goes through memory, in the words of the dump
    ir_ref whole;                // MATMUL, CALL: the product, the call
    int nmade;
    int level;
};

struct fuse_temp {
    int64_t bytes, offset;       // offset in the workspace, 64-byte aligned
    int first_step, last_step;   // lifetime
    ir_ref node;
};

struct fuse_plan {
    struct base_arena arena;
    int nstep;
    struct fuse_step *step;      // in order of execution
    int ntemp;
    struct fuse_temp *temp;
    int nleaf, nconst, nroot, nguard;
    ir_ref *leaf, *constant;     // canonical order (that of ir_key)
    const char **guard_text;
    int64_t workspace_bytes;     // exact: high-water mark of the temporaries
    int64_t bytes_read, bytes_written;
    int passes;                  // number of steps that touch memory
};

struct fuse_opts {
    bool unfused;                // every operation its own step
    // strides in bytes of leaf arrays are those of ir_leaf; of inputs: in_strides[input] or NULL (dense)
    const int64_t *const *in_strides;
    const weft_array *outs;      // the outputs' strides (data ignored), or NULL: dense
    size_t row_bytes;            // longest row kept between sections of one pass (0: default, 256 KiB)
};

// Plans the roots. On failure *out is NULL and err has the reason.
weft_status fuse_plan_make(const struct ir_graph *g, int n, const ir_ref *roots,
                           const struct fuse_opts *opts, const struct base_alloc *alloc,
                           struct base_err *err, struct fuse_plan **out);
void fuse_plan_free(struct fuse_plan *p);
// The sentence behind a reason of the dump; "" when it has none.
const char *fuse_why_text(const char *why);
// The extents of a step's loops for people.
void fuse_space_text(const struct fuse_step *s, struct base_vec *out);
void fuse_plan_dump(const struct ir_graph *g, const struct fuse_plan *p, struct base_vec *out);
void fuse_plan_json(const struct ir_graph *g, const struct fuse_plan *p, struct base_vec *out);
bool fuse_plan_check(const struct ir_graph *g, const struct fuse_plan *p, struct base_err *err);

#endif
