// SPDX-License-Identifier: MIT
// Records of the code cache: what is made is parsed again; every byte changed, every length cut, every field out of
// its range is refused, with a right checksum too; nothing outside the bytes is read (they end at a guard page).
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "guard.h"
#include "jit/record.h"

static const unsigned char key[] = "a key of some bytes";
static unsigned char code[200];

static unsigned char *sample(size_t *size) {
    struct record r = {.key = key, .key_size = sizeof key, .code = code, .code_size = sizeof code, .entry = 16,
                       .scratch = 4096, .nneed = 2};
    for (size_t i = 0; i < sizeof code; i++)
        code[i] = (unsigned char)(i * 7 + 1);
    r.need[0] = (struct llvm_need){.family = 3, .dtype = WEFT_F64, .block = true};
    r.need[1] = (struct llvm_need){.family = KERN_FAMILY__N, .dtype = WEFT_F64, .red = KERN_SUM, .from = WEFT_F32};
    unsigned char *p = record_make(&r, &base_malloc, size);
    cr_assert(p);
    return p;
}

// Parses a copy that ends where the readable memory ends.
static const char *parse_guarded(struct guard *g, const unsigned char *bytes, size_t size) {
    static struct record r;
    unsigned char *at = (unsigned char *)guard_end(g, size);
    memcpy(at, bytes, size);
    return record_parse(at, size, &r);
}

Test(record, what_is_made_is_parsed) {
    size_t size;
    unsigned char *p = sample(&size);
    struct record r;
    cr_assert_null(record_parse(p, size, &r));
    cr_assert(r.key_size == sizeof key && !memcmp(r.key, key, sizeof key));
    cr_assert(r.code_size == sizeof code && !memcmp(r.code, code, sizeof code) && (r.code - p) % RECORD_ALIGN == 0);
    cr_assert(r.entry == 16 && r.scratch == 4096 && r.nneed == 2);
    cr_assert(r.need[0].family == 3 && r.need[0].block && !r.need[1].block && r.need[1].family == KERN_FAMILY__N);
    cr_assert(r.need[1].red == KERN_SUM && r.need[1].from == WEFT_F32);
    free(p);
}

Test(record, every_flipped_bit_and_every_length_is_refused) {
    struct guard g = guard_new(1 << 14);
    size_t size;
    unsigned char *p = sample(&size);
    cr_assert_null(parse_guarded(&g, p, size));
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++) {
            p[i] ^= (unsigned char)(1 << bit);
            cr_expect(parse_guarded(&g, p, size), "byte %zu, bit %d", i, bit);
            p[i] ^= (unsigned char)(1 << bit);
        }
    for (size_t n = 0; n < size; n++)
        cr_expect(parse_guarded(&g, p, n), "cut to %zu", n);
    unsigned char *longer = calloc(1, size + 64);
    memcpy(longer, p, size);
    for (size_t n = size + 1; n <= size + 64; n++)
        cr_expect(parse_guarded(&g, longer, n), "%zu bytes", n);
    free(longer);
    free(p);
}

// A liar that knows the checksum: every value of every byte in front of the code, sealed anew.
Test(record, lies_with_a_right_checksum_stay_inside) {
    struct guard g = guard_new(1 << 14);
    size_t size;
    unsigned char *p = sample(&size);
    static struct record r;
    for (size_t i = 0; i < size - sizeof code; i++)
        for (int v = 0; v < 256; v++) {
            const unsigned char was = p[i];
            unsigned char *at = (unsigned char *)guard_end(&g, size);
            p[i] = (unsigned char)v;
            memcpy(at, p, size);
            record_seal(at, size);
            if (!record_parse(at, size, &r)) {
                bool inside = r.code >= at && r.code + r.code_size == at + size && r.entry < r.code_size &&
                              r.key + r.key_size <= r.code && r.scratch <= RECORD_SCRATCH_MAX;
                for (int k = 0; k < r.nneed; k++)
                    inside &= r.need[k].family <= KERN_FAMILY__N && r.need[k].dtype < WEFT_DTYPE__N &&
                              r.need[k].red < KERN_RED__N && r.need[k].from < WEFT_DTYPE__N;
                cr_expect(inside, "byte %zu = %d", i, v);
            }
            p[i] = was;
        }
    free(p);
}

struct lie {
    const char *what, *word;
    size_t at, bytes;
    uint64_t value;
};
#define FIELD(f) offsetof(struct record_head, f), sizeof(((struct record_head *)0)->f)

Test(record, fields_out_of_range) {
    static const struct lie lies[] = {
        {"version", "version", FIELD(version), RECORD_VERSION + 1},
        {"head", "version", FIELD(head_size), sizeof(struct record_head) + 8},
        {"size", "size", FIELD(size), UINT64_MAX},
        {"key", "large", FIELD(key_size), UINT32_MAX},
        {"code", "large", FIELD(code_size), UINT32_MAX},
        {"needs", "kernels", FIELD(nneed), 65},
        {"needs", "kernels", FIELD(nneed), UINT32_MAX},
        {"entry", "entry", FIELD(entry), sizeof code},
        {"empty", "entry", FIELD(code_size), 0},
        {"scratch", "large", FIELD(scratch), (uint64_t)1 << 40},
        {"parts", "add up", FIELD(key_size), 4000},
    };
    size_t size;
    unsigned char *p = sample(&size), *q = malloc(size);
    struct record r;
    for (size_t i = 0; i < COUNT_OF(lies); i++) {
        memcpy(q, p, size);
        memcpy(q + lies[i].at, &lies[i].value, lies[i].bytes);
        record_seal(q, size);
        const char *why = record_parse(q, size, &r);
        cr_expect(why && strstr(why, lies[i].word), "%s: %s", lies[i].what, why ? why : "accepted");
    }
    free(p), free(q);
}

Test(record, too_large_is_not_made) {
    struct record r = {.key = key, .key_size = sizeof key, .code = code, .code_size = RECORD_CODE_MAX + 1u};
    size_t size;
    cr_assert_null(record_make(&r, &base_malloc, &size));
    r.code_size = sizeof code, r.key_size = RECORD_KEY_MAX + 1u;
    cr_assert_null(record_make(&r, &base_malloc, &size));
    r.key_size = sizeof key, r.entry = sizeof code;
    cr_assert_null(record_make(&r, &base_malloc, &size));
}
