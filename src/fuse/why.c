// SPDX-License-Identifier: MIT
// Why a value goes through memory: the short words of the plan dump and the sentences behind them, once.
#include "plan.h"

static const struct {
    const char *word, *sentence;
} reasons[] = {
    {"root", "It is a result: the caller wants it in memory."},
    {"guard", "A flag in memory tells afterwards whether a NaN was met."},
    {"unfused", "Every operation was asked to be a pass of its own."},
    {"reduction read over another space",
     "Its readers run over another space: all of the reduction must be there before the first of them starts."},
    {"read by matmul", "A matrix product reads it many times, block by block, so it must be an array."},
    {"matmul", "A matrix product is a step of its own; what follows reads its result from memory."},
    {"another root of a matmul", "The product is wanted in a second place, which is a copy."},
    {"call", "A function over whole arrays is a step of its own; what follows reads its result from memory."},
    {"another root of a call", "The call's result is wanted in a second place, which is a copy."},
    {"read by a call", "A function over whole arrays reads it, so it must be an array."},
    {"join", "Parts stored one behind the other."},
    {"another root of a join", "The joined array is wanted in a second place, which is a copy."},
    {"a part of a join", "It is stored straight into its stretch of the joined array."},
    {"read through an index", "An index array picks its elements, so it must be an array."},
    {"no strides for this reshape", "Its reader walks it in an order that no strides express."},
    {"read by several steps or through several views",
     "Several steps or views read it: one store and loads cost less than computing it again for each."},
    {"the reader's body is full",
     "Its reader's loop already holds as many operations or arrays as one body may: the chain is cut here."},
    {"else repeated by broadcasting",
     "It is broadcast where it is read: inside that loop it would be computed again and again."},
};

const char *fuse_why_text(const char *why) {
    for (size_t i = 0; why && i < COUNT_OF(reasons); i++)
        if (strcmp(reasons[i].word, why) == 0) return reasons[i].sentence;
    return "";
}
