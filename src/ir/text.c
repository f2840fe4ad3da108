// SPDX-License-Identifier: MIT
// How nodes appear in sentences: "f64[3,4]", "literal 300", and the first error with its operation
// and the types it met. Texts are cut, never overrun; a shape too long for its buffer ends in
// "...".
#include "graph.h"

#include <stdio.h>

// Appends to a bounded text; at is where it ends so far.
static void put_text(char *buf, size_t size, size_t *at, const char *fmt, ...) PRINTF_LIKE(4, 5);
static void put_text(char *buf, size_t size, size_t *at, const char *fmt, ...) {
    if (*at >= size) return;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(buf + *at, size - *at, fmt, ap);
    va_end(ap);
    *at = n < 0 || (size_t)n >= size - *at ? size : *at + (size_t)n;
}

static void mark_cut(char *buf, size_t size, size_t at) {
    if (at >= size && size >= 4) memcpy(buf + size - 4, "...", 4);
}

void ir_dims_text(weft_dtype t, int rank, const int64_t *dims, char *buf, size_t size) {
    size_t at = 0;
    put_text(buf, size, &at, "%s", dtype_name(t));
    for (int i = 0; i < rank; i++)
        put_text(buf, size, &at, "%c%lld", i ? ',' : '[', (long long)dims[i]);
    if (rank) put_text(buf, size, &at, "]");
    mark_cut(buf, size, at);
}

void ir_value_text(weft_dtype t, uint64_t bits, char *buf, size_t size) {
    double d;
    float f;
    memcpy(&d, &bits, sizeof d);
    memcpy(&f, &bits, sizeof f);
    if (t == WEFT_BOOL)
        snprintf(buf, size, "%s", bits ? "True" : "False");
    else if (t == WEFT_F64)
        snprintf(buf, size, "%.17g", d);
    else if (t == WEFT_F32)
        snprintf(buf, size, "%.9g", (double)f);
    else if (dtype_is_half(t))
        ir_value_text(WEFT_F32, ir_convert_bits(t, bits, WEFT_F32), buf, size);
    else if (dtype_is_signed(t))
        snprintf(buf, size, "%lld", (long long)ir_int_value(t, bits));
    else
        snprintf(buf, size, "%llu", (unsigned long long)ir_int_value(t, bits));
}

void ir_type_text(const struct ir_graph *g, ir_ref r, char *buf, size_t size) {
    const struct ir_node *n = ir_at(g, r);
    if (n->op != IR_constant || !n->weak) {
        ir_dims_text((weft_dtype)n->dtype, n->rank, ir_dims(g, r), buf, size);
        return;
    }
    char value[40];
    ir_value_text((weft_dtype)n->dtype, ir_constant_bits(g, r), value, sizeof value);
    snprintf(buf, size, "literal %s", value);
}

ir_ref ir_fail(struct ir_graph *g, weft_status s, const char *fmt, ...) {
    if (g->err.status) return IR_NONE;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(g->err.text, sizeof g->err.text, fmt, ap);
    va_end(ap);
    g->err.status = s;
    return IR_NONE;
}

ir_ref ir_fail_at(struct ir_graph *g, weft_status s, const struct ir_blame *who, const char *fmt,
                  ...) {
    if (g->err.status) return IR_NONE;
    char *buf = g->err.text, type[120];
    size_t size = sizeof g->err.text, at = 0;
    put_text(buf, size, &at, "%s: ", who->name);
    for (int i = 0; i < who->n; i++) {
        ir_type_text(g, who->in[i], type, sizeof type);
        put_text(buf, size, &at, "%s%s", i ? " and " : "", type);
    }
    if (who->n) put_text(buf, size, &at, ": ");
    char detail[240];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(detail, sizeof detail, fmt, ap);
    va_end(ap);
    put_text(buf, size, &at, "%s", detail);
    g->err.status = s;
    return IR_NONE;
}
