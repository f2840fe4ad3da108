// SPDX-License-Identifier: MIT
// Byte look-up against the scalar loop: every index, every table size, all lengths and misalignments, in place,
// between guard pages.
#include "guard.h"
#include "kernels/kern.h"

static uint8_t want[10000], table[256];

static void check(enum kern_isa isa, struct guard *g, struct guard *t, size_t n, size_t entries) {
    uint8_t *index = guard_end(g, n), *few = guard_end(t, entries), out[10000];
    uint64_t seed = n * 257 + entries;
    for (size_t i = 0; i < entries; i++)
        few[i] = (uint8_t)next_random(&seed);
    for (size_t i = 0; i < n; i++)
        index[i] = (uint8_t)next_random(&seed);
    kern_lookup_base(want, index, n, few, entries);
    for (size_t i = 0; i < n; i++)
        cr_assert(want[i] == (index[i] < entries ? few[index[i]] : 0));
    memset(out, 0xee, sizeof out);
    kern_lookup(isa, out, index, n, few, entries);
    cr_assert(memcmp(out, want, n) == 0 && out[n] == 0xee, "%s n %zu entries %zu", kern_isa_name(isa), n, entries);
    kern_lookup(isa, index, index, n, few, entries);
    cr_assert(memcmp(index, want, n) == 0, "in place: %s n %zu entries %zu", kern_isa_name(isa), n, entries);
}

Test(lookup, every_length_and_table_between_guards) {
    struct guard g = guard_new(12000), t = guard_new(256);
    for (int isa = 0; isa <= (int)kern_isa_detect(); isa++) {
        for (size_t n = 0; n <= 400; n++)
            check((enum kern_isa)isa, &g, &t, n, (n * 37) % 257);
        for (size_t entries = 0; entries <= 256; entries++)
            check((enum kern_isa)isa, &g, &t, 700 + entries % 64, entries);
        for (size_t n = 511; n < 9000; n = n * 2 + 1)
            for (size_t d = 0; d < 3; d++)
                check((enum kern_isa)isa, &g, &t, n + d, 256);
    }
    guard_free(&g);
    guard_free(&t);
}

// Rows that kern_lookup would not choose here, too.
Test(lookup, every_row) {
    size_t rows;
    const struct kern_byte_row *r = kern_byte_rows(&rows);
    struct guard g = guard_new(12000), t = guard_new(256);
    for (size_t i = 0; i < rows; i++)
        for (size_t n = 0; n <= 4097 && kern_byte_runs(&r[i], kern_isa_detect()); n += n < 300 ? 1 : 257) {
            const size_t entries = n * 37 % 257;
            uint8_t *index = guard_end(&g, n), *few = guard_end(&t, entries), out[5000];
            uint64_t seed = n + i;
            for (size_t k = 0; k < entries; k++)
                few[k] = (uint8_t)next_random(&seed);
            for (size_t k = 0; k < n; k++)
                index[k] = (uint8_t)next_random(&seed);
            kern_lookup_base(want, index, n, few, entries);
            memset(out, 0xee, sizeof out);
            kern_lookup_by(&r[i], out, index, n, few, entries);
            cr_assert(memcmp(out, want, n) == 0 && out[n] == 0xee, "%s: n %zu, entries %zu", r[i].symbol, n, entries);
            kern_lookup_by(&r[i], index, index, n, few, entries);
            cr_assert(memcmp(index, want, n) == 0, "%s in place: n %zu, entries %zu", r[i].symbol, n, entries);
        }
    guard_free(&g);
    guard_free(&t);
}

Test(lookup, every_index_at_every_place) {
    static uint8_t index[64 * 3 + 64], out[64 * 3 + 64];
    for (size_t i = 0; i < 256; i++)
        table[i] = (uint8_t)(i * 167 + 13);
    for (int isa = 0; isa <= (int)kern_isa_detect(); isa++)
        for (size_t off = 0; off < 64; off++)
            for (int v = 0; v < 256; v++) {
                for (size_t i = 0; i < 192; i++)
                    index[off + i] = (uint8_t)((size_t)v + i * (i % 3));
                kern_lookup((enum kern_isa)isa, out + off / 2, index + off, 192, table, 256);
                for (size_t i = 0; i < 192; i++)
                    cr_assert(out[off / 2 + i] == table[index[off + i]]);
            }
}

Test(lookup, rows_are_sorted) {
    size_t n;
    const struct kern_byte_row *r = kern_byte_rows(&n);
    for (size_t i = 1; i < n; i++)
        cr_assert(r[i].isa < r[i - 1].isa || (r[i].isa == r[i - 1].isa && r[i - 1].vbmi && !r[i].vbmi));
#ifdef __x86_64__
    cr_assert(n >= 3);
#endif
}
