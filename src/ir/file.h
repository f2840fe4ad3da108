// SPDX-License-Identifier: MIT
// The words that saving and loading share; docs/graph-format.md says what they mean.
#ifndef WEFT_IR_FILE_H
#define WEFT_IR_FILE_H

#include "pair.h"

#define IR_FILE_MAGIC "\x89weft-g\n"
enum {
    IR_FILE_VERSION = 1,
    IR_FILE_NODE = 12, // bytes of a node without its operands and attributes
    IR_FILE_INPUT = 4, // of an input without its name and extents
    IR_FILE_AT_SIZE = 16, IR_FILE_AT_COUNTS = 24,
    IR_FILE_STRINGS_MAX = 4096, IR_FILE_NAME_MAX = 65535
};

// Names of expressions that were built from extents; messages speak of them and nothing else does.
const char *ir_fixed_name(const char *name, size_t size);

#endif
