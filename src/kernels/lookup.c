// SPDX-License-Identifier: MIT
// Bytes through a table of at most 256. In: indices and a table; out: the entries, 0 beyond the table.
//
// The kernels take the table as differences of neighbouring rows of 16 (x86_64/lookup.inc), which are made here
// on the stack in a few instructions, or, where an instruction permutes 128 bytes, the table itself; they take blocks of
// 64 bytes, and the rest goes through a buffer of one block. Below a few blocks the plain loop is as fast.
#include "kern.h"

#define BYTE(isa, symbol, vbmi) extern kern_lookup_blocks symbol;
#include "kernels.def"

static const struct kern_byte_row rows[] = {
#define BYTE(isa, symbol, vbmi) {KERN_##isa, #symbol, symbol, vbmi},
#include "kernels.def"
    {KERN_ISA__N, NULL, NULL, false}, // the end
};

const struct kern_byte_row *kern_byte_rows(size_t *n) {
    *n = COUNT_OF(rows) - 1;
    return rows;
}

void kern_lookup_base(uint8_t *out, const uint8_t *index, size_t n, const uint8_t *table, size_t entries) {
    for (size_t i = 0; i < n; i++)
        out[i] = index[i] < entries ? table[index[i]] : 0;
}

enum { BLOCK = 64, FEW = 128 };

static void make_steps(uint8_t steps[256], const uint8_t all[256]) {
    memcpy(steps, all, 16);
    memcpy(steps + 128, all + 128, 16);
    for (size_t half = 0; half < 256; half += 128)
        for (size_t i = 16; i < 128; i++)
            steps[half + i] = all[half + i] ^ all[half + i - 16];
}

bool kern_byte_runs(const struct kern_byte_row *r, enum kern_isa isa) {
#ifdef __x86_64__
    if (r->vbmi && !__builtin_cpu_supports("avx512vbmi")) return false; // a look at what libgcc found at start
#endif
    return r->isa <= isa;
}

void kern_lookup_by(const struct kern_byte_row *r, uint8_t *out, const uint8_t *index, size_t n, const uint8_t *table,
                    size_t entries) {
    _Alignas(64) uint8_t all[256] = {0}, steps[256], room[BLOCK] = {0};
    const size_t whole = n / BLOCK * BLOCK, rest = n - whole;
    if (entries) memcpy(all, table, entries);
    if (!r->vbmi) make_steps(steps, all);
    const uint8_t *form = r->vbmi ? all : steps;
    if (whole) r->fn(out, index, whole / BLOCK, form);
    if (!rest) return;
    memcpy(room, index + whole, rest);
    r->fn(room, room, 1, form);
    memcpy(out + whole, room, rest);
}

void kern_lookup(enum kern_isa isa, uint8_t *out, const uint8_t *index, size_t n, const uint8_t *table,
                 size_t entries) {
    const struct kern_byte_row *best = rows;
    while (best->fn && !kern_byte_runs(best, isa))
        best++;
    if (!best->fn || n < FEW)
        kern_lookup_base(out, index, n, table, entries);
    else
        kern_lookup_by(best, out, index, n, table, entries);
}
