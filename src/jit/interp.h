// SPDX-License-Identifier: MIT
// The interpreter's form of a body: sections as lists of acts over places. A place is an address
// that the run keeps in a table: a strip of scratch, one element of scratch (a cell), or where an
// operand now stands.
#ifndef WEFT_JIT_INTERP_H
#define WEFT_JIT_INTERP_H

#include "jit.h"
#include "strips/strip.h"

enum act_kind {
    ACT_STRIP,  // strip(out, a, b, c, n)
    ACT_KERNEL, // kernel(out, a, b, n)
    ACT_COPY,   // n elements from a to out
    ACT_FIRST,  // one element from a to out
    ACT_PUT,    // the same, a store of a ROW section
    ACT_REDUCE  // n elements at a into reduction red
};
struct act {
    union {
        strip_fn *strip;
        kern_map *kernel;
    } fn;
    uint32_t out, a, b, c; // places
    uint8_t kind, size;    // size of an element, for copies
    uint16_t red;
};
// A cell repeated along a strip when a row begins, unless the strip holds that value already.
struct spread {
    uint32_t cell, strip; // places
    uint32_t number;      // which of the form's spread strips
    uint8_t size;
};
// An operand that a section touches.
struct stream {
    uint32_t operand;
    uint8_t step; // bytes from column to column: its element size, 0 for one element a row
};
struct part {
    uint8_t kind;             // enum seg_kind
    bool row_values;          // FIN: reads values of the ROW section
    bool runs;                // ELEM: only reductions of operands as they are, each with its kernel
    uint32_t head, body, end; // acts [head, body) on one element when a row begins, [body, end)
    uint32_t spread_begin, spread_end;
    uint32_t stream_begin, stream_end;
    uint16_t red_begin, red_end;
};
struct reduction {
    uint8_t kind, dtype;
    bool arg;
    const struct kern_red_row *run; // of a section of runs: takes the operand's own elements
    int lanes;             // INNER
    uint32_t result;       // place: a cell (INNER) or a strip (OUTER)
    size_t stack, indices; // in scratch: the counter, whose first state becomes the total
};

// Places are numbered: operands, cells, strips, spread strips, results. Parts of scratch, in bytes.
struct interp_form {
    size_t bytes, scratch;
    enum nest_mode mode;
    uint32_t width; // elements of a strip
    size_t strip_bytes;
    uint32_t noperand, ncell, nstrip, nspread, nred, npart;
    size_t cells, spread_state, strips;
    struct act *act;
    struct spread *spread;
    struct stream *stream;
    struct part *part;
    struct reduction *red;
};
// What a spread strip holds.
struct spread_state {
    uint64_t bits;
    bool filled;
};
enum { INTERP_CELL = 8 };

#endif
