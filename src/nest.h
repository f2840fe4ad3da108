// SPDX-License-Identifier: MIT
// The words that fuse, jit and runtime share about one fused pass: its iteration nest, its operands and
// its body. Plain data, no pointers, so that the body's bytes are the key of its machine code.
#ifndef WEFT_NEST_H
#define WEFT_NEST_H

#include "base.h"

// ---- the nest --------------------------------------------------------------------------------------
// A pass iterates over outer dims x rows x columns. Generated code (or the interpreter) handles one
// two-dimensional tile of rows x columns; the runtime walks the rest, packs what is not unit stride along
// columns into scratch, and shares the tiles among threads.
//   NEST_MAP    no reduction. One row dim, one column dim (both may have extent 1).
//   NEST_INNER  the columns are the reduced run (one or more dims, flattened in row-major order, which is
//               the logical order of the reduction); rows and outer dims are kept. Rows are independent.
//   NEST_OUTER  the rows are the reduced run (one or more dims, flattened likewise); columns are kept.
enum nest_mode { NEST_MAP, NEST_INNER, NEST_OUTER };

enum nest_buffer {
    NEST_LEAF,   // buf = canonical leaf number (weft_from and inputs alike, in order of first use)
    NEST_OUT,    // buf = root number
    NEST_TEMP,   // buf = temporary number of the plan
    NEST_CONST,  // buf = canonical constant number: one element
    NEST_IOTA,   // no memory: the value is offset + sum(stride * index), made while packing
    NEST_ROWTMP, // INNER only: one row of scratch per thread, carries values between sections
    NEST_GUARD   // buf = guard number: one bool; true afterwards means WEFT_ENAN. Output only
};
enum nest_class {
    NEST_UNIT,  // the tile has a vector along columns (directly or packed)
    NEST_SCALAR // the same for all columns: one element a row
};

enum { NEST_DIMS = WEFT_MAX_RANK + 2, NEST_LEAF_RUN = 256 };

struct nest_operand {
    uint8_t dtype, cls, buffer;
    bool out;
    // OUTER: the operand is read or written after the rows are done (one vector per tile, no row dim).
    bool late;
    uint32_t buf;
    int64_t offset;             // bytes from the start of the buffer (IOTA: value)
    int64_t stride[NEST_DIMS];  // bytes per step along each nest dim (IOTA: value per step)
    // A gathered operand: element = offset + strides + gstride * index, where operand index - 1 of the
    // nest has the index, an integer that mode brings into 0..gextent-1. Packing does it.
    bool aux;                   // read by the runtime only, for the operand that names it; code never does
    uint8_t gmode;              // weft_index_mode
    uint16_t index;             // 0: not gathered
    int64_t gstride, gextent;
};

// A gathered operand for the sentence that names an index out of range: its index array as the user
// knows it, in logical order.
struct nest_gather {
    uint16_t operand;
    int axis, rank;             // of the array read; of the index array, -1: its elements have no address
    const char *name;           // of the operation, static
    int64_t dim[WEFT_MAX_RANK];
    int64_t offset, stride[WEFT_MAX_RANK];
};

struct nest {
    enum nest_mode mode;
    int ndim, nouter, nrow, ncol; // dims are: outer..., row..., column...; nrow, ncol >= 1
    int64_t dim[NEST_DIMS];
    int noperand;
    struct nest_operand *operand; // in the owner's arena; inputs first, then outputs
    int ngather;
    const struct nest_gather *gather; // in order of their operands
};

// ---- a call: one precompiled function over whole arrays ----------------------------------------------
struct nest_array {
    struct nest_operand o; // stride[d] of axis d
    int rank;
    bool absent;           // an output that nobody wants, or an array without elements
    int64_t dim[WEFT_MAX_RANK];
};
struct nest_call {
    int op;                // in a plan an ir_op, in a program an enum kern_call_op
    int nin, nout, nattr;
    const struct nest_array *array; // inputs, then outputs
    const int64_t *attr;
};

// ---- the body ----------------------------------------------------------------------------------------
// Straight-line code in sections. A value is named by the index of its instruction.
//   SEG_ROW   once per row, scalars. Reads SCALAR operands, constants and the results of reductions of
//             earlier ELEM sections (INNER). Its values are visible in every later section of the row.
//   SEG_ELEM  once per element (vectors along columns). Its values are visible in this section only.
//             Loads UNIT operands, stores UNIT outputs, feeds reductions.
//   SEG_FIN   OUTER only: after all rows, vectors along columns; reads reduction results, late operands.
// MAP:   [ROW] ELEM             OUTER: [ROW] ELEM FIN             INNER: [ROW] (ELEM ROW)+ and may end
// with an ELEM section (normalisations). Several ELEM sections: the runtime always gives whole rows.
enum seg_kind { SEG_ROW, SEG_ELEM, SEG_FIN };
// Operation codes are those of ir_op for elementwise operations, and these.
enum {
    SEG_LOAD = 240,  // arg[0] = operand
    SEG_STORE = 241, // arg[0] = value, arg[1] = operand
    SEG_REDUCE = 242 // arg[0] = value, arg[1] = enum kern_red; the value is the reduced one (INNER: from
                     // the next ROW section on; OUTER: in FIN). dtype is the result's (i64 for arg-)
};
struct seg_op {
    uint8_t op;
    uint8_t dtype;   // of the result (STORE: of the stored value)
    uint8_t in_type; // of the operands (where: of the last two; cast: the source type)
    uint8_t zero;    // 0, so that bytes compare
    uint16_t arg[3]; // values, or operands for LOAD and STORE; unused: 0
};
struct seg_section {
    uint8_t kind, zero;
    uint16_t begin, end; // instructions [begin, end)
};
enum { SEG_MAX_OPS = 4096, SEG_MAX_SECTIONS = 64 };

struct seg {
    enum nest_mode mode;
    int nsection, nop, noperand, nreduce;
    const struct seg_section *section;
    const struct seg_op *op;
    const struct nest_operand *operand; // dtype, cls, out and late matter to code; nothing else does
    const uint32_t *node; // of each instruction, for dumps, or NULL: no part of what the body means
};

// ---- one tile of work, the only interface between the runtime and code of either tier --------------------
enum tile_mode {
    TILE_FULL,    // everything: reductions start, finish and are stored
    TILE_PARTIAL, // one ELEM section: reductions leave their lanes (INNER) or columns (OUTER) in state
    TILE_FINISH   // reductions are read from state; ROW (or FIN) sections and their stores run
};
struct tile {
    void *const *ptr;       // per operand: address of its first element in the tile
    const int64_t *rstride; // per operand: bytes from row to row (late operands: ignored)
    int64_t cols, rows;
    int64_t first;          // index of the tile's first element in the reduced run (arg-reductions).
                            // A multiple of NEST_LEAF_RUN (INNER) or of KERN_RED_ROWS (OUTER)
    enum tile_mode mode;
    // MAP: not 0: what is stored will not be wanted soon, so code may store past the caches. Every output that is a
    // vector along columns is on a line then (64 bytes) in each row. The runtime orders such stores.
    uint32_t stream;
    // PARTIAL and FINISH, per reduction: INNER: KERN_RED lanes for the one row of the tile;
    // OUTER: cols elements. Arg-reductions: values, then (64-byte aligned) i64 indices.
    void *const *state;
    void *scratch;          // this thread's, at least the size the code asked for, 64-byte aligned
};
// code: what the tier needs (the interpreter's own form; ignored by machine code)
typedef void tile_fn(const void *code, const struct tile *t);

#endif
