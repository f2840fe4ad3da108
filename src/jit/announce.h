// SPDX-License-Identifier: MIT
// Machine code made known to tools: /tmp/perf-PID.map, a jitdump file, GDB's JIT interface. Inside src/jit only.
#ifndef WEFT_JIT_ANNOUNCE_H
#define WEFT_JIT_ANNOUNCE_H

#include "../base.h"

struct announce_code {
    const void *fn;     // the entry, where it is executed
    const char *name;   // what it is to be called
    const void *object; // the ELF object it came from; read during the call only
    size_t size;
};
struct announced;
// what: bits of enum weft_names. NULL when nothing must be taken back later (or nothing could be done).
struct announced *announce_code(unsigned what, const struct announce_code *c);
void announce_gone(struct announced *a); // before the code is unmapped

#endif
