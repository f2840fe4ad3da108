// SPDX-License-Identifier: MIT
// Plan in, Program out: attaches code to every step. Two tiers behind tile_fn: an interpreter over strips
// that is always there, and machine code from the LLVM module, loaded on first need. Keeps the code cache.
#ifndef WEFT_JIT_H
#define WEFT_JIT_H

#include "../fuse/plan.h"
#include "../runtime/runtime.h"

struct jit;
struct jit_opts {
    weft_backend backend;
    size_t cache_bytes;
    // machine code between processes: the host's storage (get NULL: none), else a directory (NULL: none)
    weft_code_store code_store;
    const char *code_dir; // read by jit_new only
    size_t disk_bytes;
    uint64_t compile_ns; // at most, all in all; 0: no limit
};
struct jit *jit_new(struct rt_env *env, const struct jit_opts *opts); // NULL: no memory
void jit_free(struct jit *j);
void jit_set_names(struct jit *j, unsigned names); // bits of enum weft_names, for code compiled from now on

// Builds the program; its code is looked up or created in the cache. Frees nothing of the plan.
weft_status jit_program_make(struct jit *j, const struct fuse_plan *plan, const struct ir_graph *g,
                             struct base_err *err, struct rt_program **out);
void jit_program_free(struct jit *j, struct rt_program *p);
// Before a run: decides by the cost rule which steps to compile now, later or never. WEFT_ECANCELED: a wait
// was ended by what stops the evaluation of bind (its begun and control, all that is looked at).
weft_status jit_program_prepare(struct jit *j, struct rt_program *p, const struct rt_bind *bind);
// Compiles all steps and waits, unless the backend is the interpreter. WEFT_ECANCELED likewise.
weft_status jit_program_compile(struct jit *j, struct rt_program *p, const struct rt_bind *bind);
// The same, and all code is in the cache of machine code afterwards. WEFT_EUNSUPPORTED with a sentence.
weft_status jit_program_keep(struct jit *j, struct rt_program *p, struct base_err *err);
void jit_wait(struct jit *j); // until nothing is being compiled
void jit_stats(struct jit *j, weft_stats *out);
// LLVM IR or assembly of every step of the plan that has a body; number: of each node, for the names of values.
weft_status jit_dump(struct jit *j, const struct fuse_plan *plan, const uint32_t *number, weft_dump_kind kind,
                     weft_isa isa, struct base_vec *out, struct base_err *err);
// Of one such step.
struct jit_look {
    weft_dump_kind kind;
    weft_isa isa;
    const uint32_t *number;
};
weft_status jit_dump_step(struct jit *j, const struct fuse_step *s, const struct jit_look *how, struct base_vec *out,
                          struct base_err *err);

// The operations of a body, "mul add sqrt" (with any separator); "copy" when there is none. Cut to a few.
enum { JIT_NAME = 160 };
void jit_seg_name(const struct seg *s, char separator, char *buf, size_t size);
void jit_step_name(const struct fuse_step *s, char *buf, size_t size); // the same of a step of any kind
const char *jit_op_name(const struct seg_op *op);

// ---- the interpreter tier (interp*.c) -------------------------------------------------------------------
// The interpreter's form of a body: a copy in one block, kernels resolved for isa. NULL: no memory.
struct interp_form;
struct interp_form *interp_make(const struct seg *s, enum kern_isa isa, const struct base_alloc *a,
                                size_t *scratch);
void interp_free(struct interp_form *f, const struct base_alloc *a);
tile_fn interp_tile; // code = struct interp_form

#endif
