// SPDX-License-Identifier: MIT
// Shared by the emitters of this folder: one tile function being made, and the small words its parts are
// built from. A "span" is a range of columns of one section; a "block" is a few vectors of a span.
#ifndef WEFT_JIT_LLVM_GEN_H
#define WEFT_JIT_LLVM_GEN_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "../../ir/ir.h"
#include "../llvm.h"

// ---- what an instruction set offers ------------------------------------------------------------------
struct gen_target {
    int vector;    // bytes of a vector register
    int registers; // vector registers
    bool masks;    // masked loads and stores for lanes of every size
    bool masks32;  // at least for lanes of 4 and 8 bytes
    bool round;    // instructions for floor, ceil, trunc, round
    bool fma;
    bool minmax;   // instructions with the meaning of minimum and maximum
    bool half;     // instructions that convert f16 to f32 and back
};

// ---- the function under construction -------------------------------------------------------------------
enum {
    GEN_PARTS = 16,   // most vectors of one value in a block
    GEN_STRIP = 256,  // columns that heavy operations handle at once; divides KERN_RED_RUN
    GEN_PANEL = 512,  // most columns whose outer reductions run together
    GEN_PIECE = 16 * KERN_RED_RUN, // columns that several reductions of a section take in turn
    GEN_PIECE_STATES = 6 * 512,    // bytes of the counter of one piece
    GEN_LEVELS = 62   // of the binary counter: more leaves than 2^63 elements make
};
struct gen_red {
    int op; // its SEG_REDUCE
    enum kern_red kind;
    weft_dtype type; // of the values combined
    bool arg;
    int lanes;            // INNER: lanes of the tree; OUTER: columns of a panel
    size_t index, bytes;  // of one state: offset of the i64 indices, size
    size_t acc, stack;    // offsets in scratch
    LLVMValueRef value_at, index_at; // INNER: the accumulator; OUTER in FIN: the panel's results
    LLVMValueRef slot;    // INNER: where the folded result goes
    LLVMValueRef push, flush, fold; // functions of the module, NULL until needed
};
struct gen {
    const struct seg *s;
    enum kern_isa isa;
    llvm_block_fn *block;
    struct gen_target t;
    struct llvm_code *out; // need[], scratch
    struct base_arena arena;
    char *err;
    size_t err_size;
    bool failed;
    bool unwind; // functions carry unwinding tables

    LLVMContextRef ctx;
    LLVMModuleRef mod;
    LLVMBuilderRef b;
    LLVMValueRef fn;
    LLVMMetadataRef scope; // dumps with node numbers (label.c); else NULL
    LLVMTypeRef i1, i8, i32, i64, ptr;
    LLVMBasicBlockRef entry; // allocas go to its start
    LLVMValueRef pad;        // alloca: one padded vector for partial loads and stores
    LLVMValueRef one[3];     // allocas: out, a and b of a kernel called for a single value

    LLVMValueRef needs, cols, rows, first, mode, state, scratch;
    LLVMValueRef stream;          // i1: stores may pass the caches by; NULL: this body has no such stores
    LLVMValueRef *addr, *rstride; // per operand: of the tile
    LLVMValueRef *base;           // per operand: of the row
    LLVMValueRef *row;            // per instruction: its scalar, once computed in this row
    LLVMValueRef *splat;          // per instruction: that scalar in all lanes, in this span
    LLVMValueRef *val;            // per instruction x GEN_PARTS: vectors of the block
    int nred, panel;
    struct gen_red *red;
    int *red_of;                  // per instruction: its reduction

    // the section being emitted (heavy.c)
    int lanes;               // elements of a vector, by the widest type of the section
    int nstage;              // loops over a strip; kernels are called between them
    int16_t *level;          // per instruction: stage that computes it; kernels: the one after the call
    int16_t *slot;           // per instruction: strip that carries it, or -1
    int direct;              // instruction whose kernel writes its output's memory, or -1
    LLVMValueRef strip_from; // column of the strip's first element
    LLVMValueRef span_from;  // OUTER: first column of the panel (INNER: NULL)
    LLVMValueRef index;      // index in the reduced run of the span's row (OUTER) or of column 0 (INNER)
    int nslot;               // most strips of any section
    size_t run_stack;        // for calls of several reductions in turn (runs.c)
    size_t scratch_used;
};

// A sentence, once; emission goes on with harmless values or stops early.
void gen_fail(struct gen *g, const char *fmt, ...) PRINTF_LIKE(2, 3);
// Everything the emitters take for granted about a body; false with a sentence.
bool gen_check(struct gen *g);
// Emits the tile function `name` into g->mod. false: see err.
bool gen_tile(struct gen *g, const char *name);

// ---- types and constants (word.c) ------------------------------------------------------------------------
// lanes 0: a scalar. Values of bool are i1, memory of bool is i8.
LLVMTypeRef gen_type(struct gen *g, weft_dtype t, int lanes);
LLVMTypeRef gen_vec(LLVMTypeRef t, int lanes);
LLVMTypeRef gen_int_like(struct gen *g, weft_dtype t, int lanes); // integers as wide as t
LLVMValueRef gen_all(LLVMValueRef constant, int lanes);
LLVMValueRef gen_int(struct gen *g, weft_dtype t, int lanes, int64_t v);
LLVMValueRef gen_flt(struct gen *g, weft_dtype t, int lanes, double v);
LLVMValueRef gen_i64(struct gen *g, int64_t v);
LLVMValueRef gen_splat(struct gen *g, LLVMValueRef scalar, int lanes);
LLVMValueRef gen_count(struct gen *g, LLVMTypeRef t, int lanes); // 0, 1, 2, ...
LLVMValueRef gen_call(struct gen *g, const char *intrinsic, LLVMTypeRef over, LLVMValueRef *args, int n);
int64_t gen_int_min(weft_dtype t);
int64_t gen_int_max(weft_dtype t); // as bits: u64's is -1

// ---- control flow (word.c) ---------------------------------------------------------------------------------
// for (iv = from; iv < to; iv += step). Code between head and body runs only when there is an iteration;
// so does code between next and end. Phis of the caller's own go between body and count.
struct gen_loop {
    LLVMBasicBlockRef pre, body, exit;
    LLVMValueRef counter, iv, to;
};
void gen_loop_head(struct gen *g, struct gen_loop *l, LLVMValueRef from, LLVMValueRef to);
void gen_loop_body(struct gen *g, struct gen_loop *l, LLVMValueRef from);
LLVMValueRef gen_loop_count(struct gen *g, struct gen_loop *l); // iv
void gen_loop_next(struct gen *g, struct gen_loop *l, int64_t step);
void gen_loop_end(struct gen *g, struct gen_loop *l);
LLVMBasicBlockRef gen_block_new(struct gen *g, const char *name);
void gen_at(struct gen *g, LLVMBasicBlockRef b);
LLVMValueRef gen_alloca(struct gen *g, LLVMTypeRef t, unsigned align);
struct gen_saved {
    LLVMValueRef fn;
    LLVMBasicBlockRef at, entry;
    LLVMMetadataRef here;
};
LLVMValueRef gen_helper_begin(struct gen *g, const char *name, int nptr, int nint, struct gen_saved *s);
void gen_helper_end(struct gen *g, struct gen_saved *s);

// ---- memory (memory.c) ---------------------------------------------------------------------------------------
struct gen_tail {      // the lanes of a vector that exist; NULL stands for all of them
    LLVMValueRef rem;  // i64, 1..lanes, or 0 in parts beyond the end of a block
    LLVMValueRef mask; // i1 x lanes
};
void gen_tail_make(struct gen *g, struct gen_tail *t, LLVMValueRef left, int lanes);
LLVMValueRef gen_byte_at(struct gen *g, LLVMValueRef p, LLVMValueRef bytes);
LLVMValueRef gen_elem_at(struct gen *g, LLVMValueRef p, weft_dtype t, LLVMValueRef i);
LLVMValueRef gen_load(struct gen *g, LLVMValueRef p, weft_dtype t, int lanes, const struct gen_tail *m);
void gen_store(struct gen *g, LLVMValueRef v, LLVMValueRef p, weft_dtype t, int lanes,
               const struct gen_tail *m);
// Past the caches: a whole vector at an address that is a multiple of its size, which gen_streams allows.
bool gen_streams(weft_dtype t, int lanes);
void gen_store_past(struct gen *g, LLVMValueRef v, LLVMValueRef p, weft_dtype t, int lanes);
void gen_copy(struct gen *g, LLVMValueRef to, LLVMValueRef from, LLVMValueRef bytes);
LLVMValueRef gen_scratch(struct gen *g, size_t offset); // its address
size_t gen_scratch_take(struct gen *g, size_t bytes);   // 64-byte aligned offset

// ---- operations (ops.c) ----------------------------------------------------------------------------------------
LLVMValueRef gen_op(struct gen *g, const struct seg_op *op, int lanes, LLVMValueRef *args);
LLVMValueRef gen_op2(struct gen *g, enum ir_op op, weft_dtype t, int lanes, LLVMValueRef a, LLVMValueRef b);
bool gen_op_known(const struct gen *g, const struct seg_op *op);  // can be emitted, here or as a kernel
bool gen_op_heavy(const struct seg_op *op);      // a kernel computes it
enum kern_family gen_op_family(uint8_t op);
int gen_arity(const struct seg_op *op);          // values among arg[]

// f16, bf16 (as i16) to f32; f32, f64 to them (half.c)
bool gen_half_castable(weft_dtype in, weft_dtype out);
LLVMValueRef gen_half_cast(struct gen *g, weft_dtype in, weft_dtype out, int lanes, LLVMValueRef x);

// ---- reductions (reduce.c) ---------------------------------------------------------------------------------------
struct gen_acc {
    LLVMValueRef value, index; // index: arg-reductions only
};
void gen_red_plan(struct gen *g);                // sizes and places; once per function
struct gen_acc gen_red_identity(struct gen *g, const struct gen_red *r, int lanes);
struct gen_acc gen_red_load(struct gen *g, const struct gen_red *r, LLVMValueRef at, int lanes);
void gen_red_save(struct gen *g, const struct gen_red *r, struct gen_acc a, LLVMValueRef at, int lanes);
// acc OP x for the lanes of tail; index = of x's first lane (INNER: lanes follow; OUTER: the same for all)
struct gen_acc gen_red_step(struct gen *g, const struct gen_red *r, int lanes, struct gen_acc acc,
                            LLVMValueRef x, LLVMValueRef index, const struct gen_tail *m);
void gen_red_clear(struct gen *g, struct gen_red *r, LLVMValueRef n); // n lanes of acc = identity
void gen_red_push(struct gen *g, struct gen_red *r, LLVMValueRef n, LLVMValueRef number);
void gen_red_flush(struct gen *g, struct gen_red *r, LLVMValueRef n, LLVMValueRef count);
void gen_red_fold(struct gen *g, struct gen_red *r, LLVMValueRef values, LLVMValueRef indices);

// ---- sections (body.c, heavy.c, emit.c) -----------------------------------------------------------------------------
void gen_row_section(struct gen *g, const struct seg_section *sec, LLVMValueRef store_if);
void gen_span(struct gen *g, const struct seg_section *sec, LLVMValueRef from, LLVMValueRef to);
void gen_stage(struct gen *g, const struct seg_section *sec, int stage, LLVMValueRef from, LLVMValueRef to);
bool gen_is_scalar(const struct gen *g, const struct seg_section *sec, int value);
bool gen_is_load(const struct gen *g, const struct seg_section *sec, int value); // UNIT, of this section
LLVMValueRef gen_strip_at(struct gen *g, int value, LLVMValueRef col);
void gen_stage_plan(struct gen *g, const struct seg_section *sec);
void gen_kernel(struct gen *g, const struct seg_op *op, LLVMValueRef out, LLVMValueRef a, LLVMValueRef b,
                LLVMValueRef n);
LLVMValueRef gen_kernel_address(struct gen *g, const struct seg_op *op, bool block);

// ---- block kernels (block.c) ---------------------------------------------------------------------------------------
const struct kern_block *gen_block_of(const struct gen *g, const struct seg_op *op); // NULL: none here
bool gen_on_strips(const struct gen *g, const struct seg_op *op); // heavy, and without a block kernel
int gen_block_parts(const struct gen *g, const struct seg_op *op); // that one call computes; 0: no block
// in[operand][part], which it may change, to out[part]; tail: NULL or one for each part
void gen_block(struct gen *g, const struct seg_op *op, LLVMValueRef in[2][GEN_PARTS], int parts,
               const struct gen_tail *tail, LLVMValueRef *out);
llvm_block_fn *llvm_engine_block(const struct llvm_engine *e);

int gen_need(struct gen *g, struct llvm_need want); // its place in the table
// runs.c: the section reduces operands of unit stride and does nothing else; n elements of one of its
// reductions from column col on into the accumulator; stack: in scratch, for the counter
bool gen_only_reduces(struct gen *g, const struct seg_section *sec);
bool gen_only_reduces_columns(const struct gen *g);
void gen_columns_call(struct gen *g, const struct gen_red *r, LLVMValueRef n);
void gen_run_call(struct gen *g, const struct gen_red *r, LLVMValueRef col, LLVMValueRef n, size_t stack);

// ---- whose instructions these are (label.c); nothing happens but in dumps ----------------------------------
void gen_label_begin(struct gen *g);                            // the tile function is there
LLVMMetadataRef gen_here(struct gen *g, int i);                 // what is built now belongs to instruction i;
void gen_there(struct gen *g, LLVMMetadataRef at);              // back to what gen_here gave, NULL: nobody
LLVMValueRef gen_label(struct gen *g, int i, int part, LLVMValueRef v); // names v; returns it
void gen_label_ir(const struct gen *g, char *text);             // printed IR without locations
char *gen_label_assembly(const struct gen *g, const char *text, size_t size); // malloc'ed; NULL: no memory

// ---- targets and modules (target.c, module.c) --------------------------------------------------------------
struct gen_target gen_target_of(enum kern_isa isa);
void gen_attributes(struct gen *g, LLVMValueRef fn);
// For the host's architecture at a level of it. NULL with a sentence.
LLVMTargetMachineRef llvm_machine(enum kern_isa isa, char *err, size_t err_size);
// A verified module that holds the tile function `name`. true: dispose of it with llvm_module_free.
bool llvm_module_make(struct gen *g, LLVMTargetMachineRef tm, const char *name);
void llvm_module_free(struct gen *g);
LLVMMemoryBufferRef llvm_module_code(struct gen *g, LLVMTargetMachineRef tm, bool text); // NULL: see err
// image.c: an object as position-independent bytes: image, image_size, entry of out. false: it cannot be that.
bool llvm_image_make(const void *object, size_t size, struct llvm_code *out);
bool llvm_dump(struct llvm_engine *e, const struct seg *s, enum llvm_dump_kind kind, enum kern_isa isa,
               char **text, char *err, size_t err_size);

#endif
