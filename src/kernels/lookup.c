// SPDX-License-Identifier: MIT
// Bytes through a table of at most 256. In: indices and a table; out: the entries, 0 beyond the table.
//
// The kernels take the table as differences of neighbouring rows of 16 (x86_64/lookup.inc), which are made here
// on the stack in a few instructions; they take blocks of 64 bytes, and the rest goes through a buffer of one
// block. Below a few blocks the plain loop is as fast as making the differences.
#include "kern.h"

#define BYTE(isa, symbol) extern kern_lookup_blocks symbol;
#include "kernels.def"

static const struct kern_byte_row rows[] = {
#define BYTE(isa, symbol) {KERN_##isa, #symbol, symbol},
#include "kernels.def"
    {KERN_ISA__N, NULL, NULL}, // the end
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

static void make_steps(uint8_t steps[256], const uint8_t *table, size_t entries) {
    uint8_t all[256] = {0};
    memcpy(all, table, entries);
    memcpy(steps, all, sizeof all);
    for (size_t i = 16; i < 256; i++)
        if (i < 128 || i >= 144) steps[i] = all[i] ^ all[i - 16];
}

void kern_lookup(enum kern_isa isa, uint8_t *out, const uint8_t *index, size_t n, const uint8_t *table,
                 size_t entries) {
    const struct kern_byte_row *best = rows;
    while (best->fn && best->isa > isa)
        best++;
    if (!best->fn || n < FEW || !entries) {
        kern_lookup_base(out, index, n, table, entries);
        return;
    }
    _Alignas(64) uint8_t steps[256], room[BLOCK] = {0};
    make_steps(steps, table, entries);
    const size_t whole = n / BLOCK * BLOCK, rest = n - whole;
    best->fn(out, index, whole / BLOCK, steps);
    if (!rest) return;
    memcpy(room, index + whole, rest);
    best->fn(room, room, 1, steps);
    memcpy(out + whole, room, rest);
}
