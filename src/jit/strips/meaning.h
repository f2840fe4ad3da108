// SPDX-License-Identifier: MIT
// How the files that expand ops.def over a type tell meanings from their absence.
#ifndef WEFT_JIT_STRIPS_MEANING_H
#define WEFT_JIT_STRIPS_MEANING_H

#include "../../ir/scalar.h"
#include "strip.h"

// The tables ask for every meaning on every type, so some comparisons are constant.
#pragma GCC diagnostic ignored "-Wtype-limits"

struct absent {
    int nothing;
};
static const struct absent absent_meaning;
#define NA absent_meaning
#define KERN absent_meaning
#define CAST absent_meaning
#define VALUE(e) _Generic((e), struct absent : 0, default : (e))
#define PRESENT(e) _Generic((e), struct absent : 0, default : 1)

#endif
