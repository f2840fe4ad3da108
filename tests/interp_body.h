// SPDX-License-Identifier: MIT
// Bodies built by hand, and their run by the interpreter with scratch that ends at a guard page.
#ifndef WEFT_TESTS_INTERP_BODY_H
#define WEFT_TESTS_INTERP_BODY_H

#include "interp_model.h"
#include "jit/jit.h"

enum { CANARY = 0x5c };

static inline enum kern_isa best_isa(void) {
    return kern_isa_detect();
}

// ---- bodies under construction
// ------------------------------------------------------------------------------
struct body {
    struct seg_op op[SEG_MAX_OPS];
    struct seg_section section[SEG_MAX_SECTIONS];
    struct nest_operand operand[256];
    struct seg s;
};
static inline void body_init(struct body *b, enum nest_mode mode) {
    b->s = (struct seg){.mode = mode, .section = b->section, .op = b->op, .operand = b->operand};
}
static inline void body_section(struct body *b, enum seg_kind kind) {
    b->section[b->s.nsection++] =
        (struct seg_section){(uint8_t)kind, 0, (uint16_t)b->s.nop, (uint16_t)b->s.nop};
}
static inline uint16_t body_operand(struct body *b, weft_dtype t, enum nest_class cls, bool out) {
    b->operand[b->s.noperand] =
        (struct nest_operand){.dtype = (uint8_t)t, .cls = (uint8_t)cls, .out = out};
    return (uint16_t)b->s.noperand++;
}
static inline uint16_t body_op(struct body *b, int op, weft_dtype in, weft_dtype res, uint16_t x,
                               uint16_t y, uint16_t z) {
    b->op[b->s.nop] = (struct seg_op){(uint8_t)op, (uint8_t)res, (uint8_t)in, 0, {x, y, z}};
    b->s.nreduce += op == SEG_REDUCE;
    b->section[b->s.nsection - 1].end = (uint16_t)(b->s.nop + 1);
    return (uint16_t)b->s.nop++;
}
static inline uint16_t body_load(struct body *b, uint16_t operand) {
    const weft_dtype t = (weft_dtype)b->operand[operand].dtype;
    return body_op(b, SEG_LOAD, t, t, operand, 0, 0);
}
static inline void body_store(struct body *b, uint16_t v, uint16_t operand) {
    const weft_dtype t = (weft_dtype)b->operand[operand].dtype;
    body_op(b, SEG_STORE, t, t, v, operand, 0);
}
static inline uint16_t body_reduce(struct body *b, enum kern_red r, weft_dtype t, uint16_t v) {
    return body_op(b, SEG_REDUCE, t, kern_red_is_arg(r) ? WEFT_I64 : t, v, (uint16_t)r, 0);
}

struct form {
    struct interp_form *f;
    struct guard scratch;
    size_t size;
};
static inline struct form form_make(const struct seg *s, enum kern_isa isa) {
    struct form f = {0};
    f.f = interp_make(s, isa, &base_malloc, &f.size);
    cr_assert(f.f);
    f.size = (f.size + 63) / 64 * 64;
    f.scratch = guard_new(f.size);
    return f;
}
static inline void form_run(const struct form *f, struct tile *t) {
    t->scratch =
        guard_end(&f->scratch, f->size); // 64-byte aligned, and ends where nothing may be touched
    memset(t->scratch, 0xa5, f->size);
    interp_tile(f->f, t);
}
static inline void form_free(struct form *f) {
    interp_free(f->f, &base_malloc);
    guard_free(&f->scratch);
}

#endif
