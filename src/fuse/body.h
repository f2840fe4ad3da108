// SPDX-License-Identifier: MIT
// What body.c (levels and sections) hands to emit.c (instructions). Inside src/fuse only.
#ifndef WEFT_FUSE_BODY_H
#define WEFT_FUSE_BODY_H

#include "work.h"

// A value of the cluster. Sections are numbered: MAP 0 ROW, 1 ELEM; OUTER 0 ROW, 1 ELEM, 2 FIN;
// INNER 2p ROW, 2p+1 ELEM of phase p.
struct item {
    uint32_t value;
    ir_ref node;
    uint8_t kind; // enum value_kind
    bool row;     // the same for all columns
    bool carried; // between sections, in a row of scratch: this one
    int rowtmp;
    int16_t cost;  // light operations to compute it again
    int phase;     // the first in which it is known
    int access;    // V_DIRECT, V_LOAD
    int arg[3];    // items, -1
    uint64_t axes; // of F that it depends on
    uint64_t need; // sections that use it
};
struct body {
    struct fuse_work *w;
    uint32_t cluster;
    struct fuse_axes axes;
    struct item *item;
    int nitem, nsec, nrowtmp;
    struct fuse_access *access;
    int naccess, nstore; // stores come last
};
static inline bool item_is_load(const struct item *i) {
    return i->kind == V_DIRECT || i->kind == V_LOAD || i->kind == V_TAKE;
}
static inline int lowest(uint64_t set) {
    return __builtin_ctzll(set);
}
// The section in which the item is computed when section s uses it.
int body_section(const struct body *b, const struct item *i, int s);
int store_section(const struct body *b, const struct fuse_access *a, const struct item *i);
int item_of(const struct body *b, uint32_t value); // of a value that value_final gave
bool emit_body(struct body *b, struct fuse_step *s);

#endif
