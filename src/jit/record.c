// SPDX-License-Identifier: MIT
// In: bytes from a file or a host's storage. Out: a described record, or words that say why not. The structure is
// judged before the checksum and both before anyone maps anything: sizes add up to exactly what is there,
// every enumeration is in range, padding is zero, the entry lies in the code. There are no relocations to
// apply: code and constants refer to each other by distance. A checksum finds damage, not malice; who may
// write the bytes is the business of those who keep them (disk.c).
#define XXH_INLINE_ALL
#include "record.h"

#include <xxhash.h>

static const char magic[8] = {'W', 'E', 'F', 'T', 'C', 'O', 'D', 'E'};

static size_t code_at(size_t key_size, size_t nneed) {
    size_t at = sizeof(struct record_head) + key_size + nneed * sizeof(struct record_need);
    return (at + RECORD_ALIGN - 1) & ~(size_t)(RECORD_ALIGN - 1);
}

// Over the head with an empty checksum, then over the rest.
static XXH128_hash_t checksum(const struct record_head *head, const unsigned char *rest, size_t size) {
    struct record_head h = *head;
    memset(h.check, 0, sizeof h.check);
    XXH128_hash_t seed = XXH3_128bits(&h, sizeof h);
    return XXH3_128bits_withSeed(rest, size, seed.low64 ^ seed.high64);
}

static const char *head_fault(const struct record_head *h, size_t size) {
    if (memcmp(h->magic, magic, sizeof magic) != 0) return "it is not a record";
    if (h->version != RECORD_VERSION || h->head_size != sizeof *h) return "it is of another version";
    if (h->size != size) return "its size is not the one it names";
    if (h->key_size > RECORD_KEY_MAX || h->code_size > RECORD_CODE_MAX || h->scratch > RECORD_SCRATCH_MAX)
        return "a part is too large";
    if (h->nneed > COUNT_OF(((struct record *)0)->need)) return "it needs too many kernels";
    if (h->code_size == 0 || h->entry >= h->code_size) return "its entry lies outside the code";
    if (code_at(h->key_size, h->nneed) + h->code_size != size) return "its parts do not add up";
    return NULL;
}

static bool need_fits(const struct record_need *n) {
    if (n->family > KERN_FAMILY__N || n->dtype >= WEFT_DTYPE__N || n->block > 1) return false;
    if (n->red >= KERN_RED__N || n->from >= WEFT_DTYPE__N) return false;
    return !n->zero[0] && !n->zero[1] && !n->zero[2];
}

static const char *needs_fault(const unsigned char *at, struct record *out) {
    for (int i = 0; i < out->nneed; i++) {
        struct record_need n;
        memcpy(&n, at + (size_t)i * sizeof n, sizeof n);
        if (!need_fits(&n)) return "it needs a kernel that cannot be";
        out->need[i] = (struct llvm_need){n.family, n.dtype, n.block, n.red, n.from};
    }
    return NULL;
}

const char *record_parse(const void *bytes, size_t size, struct record *out) {
    const unsigned char *p = bytes;
    struct record_head h;
    if (size < sizeof h) return "it is too short";
    memcpy(&h, p, sizeof h);
    const char *fault = head_fault(&h, size);
    if (fault) return fault;
    *out = (struct record){.key = p + sizeof h, .key_size = h.key_size, .code_size = h.code_size,
                           .entry = h.entry, .scratch = h.scratch, .nneed = (int)h.nneed};
    const size_t code = code_at(h.key_size, h.nneed);
    const unsigned char *needs = p + sizeof h + h.key_size;
    out->code = p + code;
    if ((fault = needs_fault(needs, out))) return fault;
    for (const unsigned char *pad = needs + h.nneed * sizeof(struct record_need); pad < out->code; pad++)
        if (*pad) return "its padding is not empty";
    XXH128_hash_t sum = checksum(&h, p + sizeof h, size - sizeof h);
    return sum.low64 == h.check[0] && sum.high64 == h.check[1] ? NULL : "its checksum does not fit";
}

void record_seal(void *bytes, size_t size) {
    struct record_head h;
    if (size < sizeof h) return;
    memcpy(&h, bytes, sizeof h);
    XXH128_hash_t sum = checksum(&h, (unsigned char *)bytes + sizeof h, size - sizeof h);
    h.check[0] = sum.low64;
    h.check[1] = sum.high64;
    memcpy(bytes, &h, sizeof h);
}

unsigned char *record_make(const struct record *r, const struct base_alloc *a, size_t *size) {
    const size_t code = code_at(r->key_size, (size_t)r->nneed), whole = code + r->code_size;
    struct record_head h = {.version = RECORD_VERSION, .head_size = sizeof h, .size = whole,
                            .key_size = (uint32_t)r->key_size, .nneed = (uint32_t)r->nneed,
                            .code_size = (uint32_t)r->code_size, .entry = (uint32_t)r->entry,
                            .scratch = r->scratch};
    memcpy(h.magic, magic, sizeof magic);
    if (r->key_size > RECORD_KEY_MAX || r->code_size > RECORD_CODE_MAX || head_fault(&h, whole)) return NULL;
    unsigned char *p = base_get_zero(a, whole), *at = p + sizeof h;
    if (!p) return NULL;
    memcpy(p, &h, sizeof h);
    memcpy(at, r->key, r->key_size);
    at += r->key_size;
    for (int i = 0; i < r->nneed; i++, at += sizeof(struct record_need)) {
        const struct llvm_need *n = &r->need[i];
        struct record_need out = {n->family, n->dtype, n->block, n->red, n->from, {0}};
        memcpy(at, &out, sizeof out);
    }
    memcpy(p + code, r->code, r->code_size);
    record_seal(p, whole);
    *size = whole;
    return p;
}
