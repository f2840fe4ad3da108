// SPDX-License-Identifier: MIT
// One body's machine code as bytes: what a code cache keeps. Parsing is a pure function over (bytes, size).
#ifndef WEFT_JIT_RECORD_H
#define WEFT_JIT_RECORD_H

#include "llvm.h"

// Numbers are in the byte order of the machine (which the key names). The order of the parts:
//   struct record_head, key bytes, struct record_need x nneed, zeros to a multiple of 64, code.
enum {
    RECORD_VERSION = 2,
    RECORD_ALIGN = 64,
    RECORD_KEY_MAX = 1 << 20,
    RECORD_CODE_MAX = 16 << 20,
    RECORD_SCRATCH_MAX = 1 << 28,
    RECORD_MAX = sizeof(uint64_t) * 1024 + RECORD_KEY_MAX + RECORD_CODE_MAX // no record is larger
};
struct record_head {
    char magic[8];
    uint32_t version, head_size;
    uint64_t size;             // of the whole record
    uint32_t key_size, nneed;
    uint32_t code_size, entry; // entry: offset of the tile function in the code
    uint64_t scratch;          // bytes of tile.scratch
    uint64_t check[2];         // XXH3 of everything, with zeros here
};
struct record_need { uint8_t family, dtype, block, red, from, zero[3]; };

struct record {
    const unsigned char *key, *code; // key points into the record parsed
    size_t key_size, code_size, entry, scratch;
    int nneed;
    struct llvm_need need[COUNT_OF(((struct llvm_code *)0)->need)];
};
// NULL: the bytes are a whole record, *out describes them. Else what is wrong with them, a few words. Reads
// nothing outside bytes; everything later code relies on has been checked, the checksum included.
const char *record_parse(const void *bytes, size_t size, struct record *out);
// The bytes of r, to be freed with base_put; NULL: no memory, or r does not fit the limits.
unsigned char *record_make(const struct record *r, const struct base_alloc *a, size_t *size);
void record_seal(void *bytes, size_t size); // sets the checksum; for record_make and for tests

#endif
