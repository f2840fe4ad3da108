// SPDX-License-Identifier: MIT
// Runs a body as machine code and by its meaning on the same guarded memory, and compares every byte.
#ifndef WEFT_TESTS_LLVM_RUN_H
#define WEFT_TESTS_LLVM_RUN_H

#include <stdlib.h>

#include "guard.h"
#include "jit/llvm.h"
#include "jit/map.h"
#include "llvm_body.h"

static size_t run_bytes = 1 << 16; // room for each operand; set before stage_open
static bool link_by_orc;                // not as images; set before engine_at
struct bench { // an engine and its body
    const struct llvm_api *api;
    struct llvm_engine *engine;
    struct llvm_code code;
    struct jit_map map; // of an image
    kern_map *need[64];
};
struct memory { // of one operand
    struct guard g;
    unsigned char *copy; // what it held before
    unsigned char *at;   // first element
    int64_t rstride;
};

static inline struct llvm_engine *engine_at(enum kern_isa isa) {
    char err[256] = "";
    struct llvm_engine *e = weft_jit_module()->open(isa, kern_block_find, err, sizeof err);
    cr_assert(e, "%s", err);
    weft_jit_module()->orc_only(e, link_by_orc);
    return e;
}

static inline void code_make(struct bench *c, struct llvm_engine *e, const struct seg *s, enum kern_isa isa) {
    char err[256] = "";
    c->api = weft_jit_module();
    c->engine = e;
    cr_assert(c->api->compile(e, s, &c->code, err, sizeof err), "%s", err);
    c->map = (struct jit_map){0};
    if (c->code.image) {
        c->code.fn = map_code(&c->map, c->code.image, c->code.image_size, c->code.entry);
        cr_assert(c->code.fn, "no executable memory");
        free(c->code.image);
    }
    for (int i = 0; i < c->code.nneed; i++) {
        const struct llvm_need *n = &c->code.need[i];
        if (n->family == KERN_FAMILY__N) {
            c->need[i] = (kern_map *)(uintptr_t)kern_red_find((enum kern_red)n->red, (weft_dtype)n->dtype,
                                                              (weft_dtype)n->from, isa);
            cr_assert(c->need[i], "no reduction %d", n->red);
            continue;
        }
        const struct kern_row *k =
            kern_find((enum kern_family)c->code.need[i].family, (weft_dtype)c->code.need[i].dtype, isa);
        cr_assert(k, "no kernel of family %d", c->code.need[i].family);
        c->need[i] = c->code.need[i].block ? (kern_map *)k->block->entry : k->fn;
    }
}
static inline void code_drop(struct bench *c) {
    map_free(&c->map);
    c->api->release(c->engine, c->code.handle);
}

// ---- memory --------------------------------------------------------------------------------------------
// Every operand lies against a guard page: before its first row or behind its last, misaligned by skew.
static inline void memory_place(struct memory *m, const struct nest_operand *o, int64_t rows, int64_t cols,
                                int skew, uint64_t *seed) {
    int64_t size = (int64_t)dtype_size((weft_dtype)o->dtype);
    int64_t wide = o->cls == NEST_UNIT ? cols * size : size;
    m->rstride = wide + (int64_t)(next_random(seed) % 3) * 5;
    if (!o->out && next_random(seed) % 6 == 0) m->rstride = 0;
    int64_t whole = (o->late ? 0 : m->rstride * (rows - 1)) + wide;
    cr_assert(whole + 64 <= (int64_t)run_bytes && rows > 0);
    m->at = (skew & 1) ? (unsigned char *)m->g.base + skew : (unsigned char *)guard_end(&m->g, (size_t)(whole + skew));
    memset(m->g.base, 0xa5, run_bytes);
    for (int64_t r = 0; r < (o->late ? 1 : rows); r++)
        for (int64_t k = 0; k < wide; k += size)
            random_element((weft_dtype)o->dtype, (int)(next_random(seed) % 3), seed, m->at + r * m->rstride + k);
}

struct stage { // memory for all operands of a body, allocated once
    struct memory m[BODY_OPERANDS];
    struct guard scratch;
    int n;
};
static inline void stage_open(struct stage *st, int n, size_t scratch) {
    st->n = n;
    for (int i = 0; i < n; i++) {
        st->m[i].g = guard_new(run_bytes);
        st->m[i].copy = malloc(2 * run_bytes);
    }
    st->scratch = guard_new(scratch + 64);
}
static inline void stage_close(struct stage *st) {
    for (int i = 0; i < st->n; i++) {
        guard_free(&st->m[i].g);
        free(st->m[i].copy);
    }
    guard_free(&st->scratch);
}
static inline void *stage_scratch(struct stage *st, size_t bytes) { // its end against the guard page
    return guard_end(&st->scratch, (bytes + 63) & ~(size_t)63);
}

struct shape {
    int64_t rows, cols, first;
    int skew;
    int alias_in, alias_out; // operands made the same memory, or -1
};

// memory of st: random, then by meaning (kept in the copies), then as it was
static inline void stage_fill(struct stage *st, const struct seg *s, const struct shape *sh, void **ptr,
                              int64_t *rstride, uint64_t *seed) {
    for (int i = 0; i < s->noperand; i++) {
        memory_place(&st->m[i], &s->operand[i], sh->rows, sh->cols, sh->skew, seed);
        ptr[i] = st->m[i].at;
        rstride[i] = st->m[i].rstride;
    }
    if (sh->alias_in >= 0) {
        ptr[sh->alias_in] = ptr[sh->alias_out];
        rstride[sh->alias_in] = rstride[sh->alias_out];
    }
}

static inline void run_reference(struct stage *st, const struct seg *s, const struct tile *t) {
    for (int i = 0; i < s->noperand; i++)
        memcpy(st->m[i].copy + run_bytes, st->m[i].g.base, run_bytes);
    ref_tile(s, t);
    for (int i = 0; i < s->noperand; i++) {
        memcpy(st->m[i].copy, st->m[i].g.base, run_bytes);
        memcpy(st->m[i].g.base, st->m[i].copy + run_bytes, run_bytes);
    }
}

// Is byte k of operand i part of an element whose values agree?
static inline bool elements_agree(const struct memory *m, const struct nest_operand *o, const struct shape *sh,
                                  int64_t *at) {
    int64_t size = (int64_t)dtype_size((weft_dtype)o->dtype), n = o->cls == NEST_UNIT ? sh->cols : 1;
    int64_t start = m->at - m->g.base;
    for (int64_t r = 0; r < (o->late ? 1 : sh->rows); r++)
        for (int64_t c = 0; c < n; c++) {
            int64_t k = start + r * m->rstride + c * size;
            if (!same_element((weft_dtype)o->dtype, m->g.base + k, m->copy + k)) {
                *at = r * n + c;
                return false;
            }
            memcpy(m->g.base + k, m->copy + k, (size_t)size);
        }
    *at = -1; // outside of the elements
    return memcmp(m->g.base, m->copy, run_bytes) == 0;
}

static inline void compare(struct stage *st, const struct seg *s, const struct shape *sh, const char *what) {
    for (int i = 0; i < s->noperand; i++) {
        int64_t at;
        const struct memory *m = &st->m[i];
        uint64_t got = 0, want = 0;
        if (elements_agree(m, &s->operand[i], sh, &at)) continue;
        if (at >= 0) {
            int64_t n = s->operand[i].cls == NEST_UNIT ? sh->cols : 1;
            size_t size = dtype_size((weft_dtype)s->operand[i].dtype);
            int64_t k = m->at - m->g.base + at / n * m->rstride + at % n * (int64_t)size;
            memcpy(&got, m->g.base + k, size);
            memcpy(&want, m->copy + k, size);
        }
        cr_assert(false, "%s: rows %ld cols %ld skew %d: operand %d (%s) element %ld: %016lx, not %016lx", what,
                  (long)sh->rows, (long)sh->cols, sh->skew, i, dtype_name((weft_dtype)s->operand[i].dtype),
                  (long)at, (unsigned long)got, (unsigned long)want);
    }
}

static inline void run_both(struct bench *c, struct stage *st, const struct seg *s, const struct shape *sh,
                            const char *what, uint64_t *seed) {
    void *ptr[BODY_OPERANDS];
    int64_t rstride[BODY_OPERANDS];
    stage_fill(st, s, sh, ptr, rstride, seed);
    struct tile t = {.ptr = ptr, .rstride = rstride, .cols = sh->cols, .rows = sh->rows, .first = sh->first,
                     .scratch = stage_scratch(st, c->code.scratch)};
    run_reference(st, s, &t);
    c->code.fn((const void *)c->need, &t);
    compare(st, s, sh, what);
}

#endif
