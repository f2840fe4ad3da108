// SPDX-License-Identifier: MIT
// What stands after the expression: name=file.npy, name=dtype[extents]:how, name=number. Errors
// name the argument and what of it is wrong.
#include "cmd.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct input *grow(struct inputs *in, const char *name, size_t len) {
    if (in->n == in->cap) {
        in->cap = in->cap ? in->cap * 2 : 8;
        struct input *at = cmd_alloc((size_t)in->cap * sizeof *at);
        if (in->n) memcpy(at, in->at, (size_t)in->n * sizeof *at);
        free(in->at);
        in->at = at;
    }
    struct input *x = &in->at[in->n++];
    *x = (struct input){.name = cmd_alloc(len + 1)};
    memcpy(x->name, name, len);
    x->name[len] = 0;
    return x;
}

struct input *input_find(struct inputs *in, const char *name, size_t len) {
    for (int i = 0; i < in->n; i++)
        if (strlen(in->at[i].name) == len && memcmp(in->at[i].name, name, len) == 0)
            return &in->at[i];
    return NULL;
}

void inputs_free(struct inputs *in) {
    for (int i = 0; i < in->n; i++) {
        free(in->at[i].name);
        npy_free(&in->at[i].data);
    }
    free(in->at);
    *in = (struct inputs){.at = NULL};
}

// ---- numbers ----------------------------------------------------------------------------------
static bool read_scalar(struct input *x, const char *s) {
    char *end;
    if (strcmp(s, "True") == 0 || strcmp(s, "False") == 0) {
        x->kind = INPUT_BOOL;
        x->i = *s == 'T';
        return true;
    }
    bool word = strcmp(s, "inf") == 0 || strcmp(s, "-inf") == 0 || strcmp(s, "nan") == 0;
    const char *digits = s + (*s == '-' || *s == '+');
    if (!word && !isdigit((unsigned char)*digits) && *digits != '.') return false;
    if (!word && isdigit((unsigned char)*digits)) {
        errno = 0;
        int base = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 16 : 10;
        x->i = strtoll(s, &end, base);
        x->kind = INPUT_INT;
        if (*end == 0 && errno == 0) return true;
        errno = 0;
        x->u = strtoull(digits, &end, base);
        x->kind = INPUT_UINT;
        if (*end == 0 && errno == 0 && *s != '-') return true;
    }
    x->f = strtod(s, &end);
    x->kind = INPUT_FLOAT;
    return *end == 0 && end != s;
}

// ---- dtype[extents]:how -----------------------------------------------------------------------
// The number of bytes of the type's name when the text has this form, else 0.
static size_t generated(const char *s, weft_dtype *t) {
    size_t n = strcspn(s, "[");
    return s[n] == '[' && dtype_by_name(s, n, t) ? n : 0;
}

static bool read_dims(const char *arg, const char **at, int64_t *dims, int *rank) {
    const char *s = *at;
    char *end;
    for (*rank = 0; *s != ']'; ++*rank) {
        if (*rank == WEFT_MAX_RANK)
            return cmd_fail("%s: more than %d axes", arg, WEFT_MAX_RANK), false;
        errno = 0;
        dims[*rank] = strtoll(s, &end, 10);
        if (end == s || !isdigit((unsigned char)*s) || errno || (*end != ',' && *end != ']'))
            return cmd_fail("%s: an extent is not a number at '%s'", arg, s), false;
        s = *end == ',' ? end + 1 : end;
    }
    *at = s + 1;
    return true;
}

static bool read_generated(struct input *x, const char *arg, const char *s, bool shapes) {
    weft_dtype t = WEFT_F64;
    int64_t dims[WEFT_MAX_RANK];
    int rank;
    s += generated(s, &t) + 1;
    if (!read_dims(arg, &s, dims, &rank)) return false;
    if (*s && *s != ':') return cmd_fail("%s: ':' should follow ']', not '%s'", arg, s), false;
    const char *how = *s == ':' ? s + 1 : "";
    x->data.array = weft_dense(t, NULL, rank, dims);
    int64_t count = weft_array_count(&x->data.array);
    x->shape_only = shapes;
    if (count < 0) return cmd_fail("%s: the shape is too large", arg), false;
    snprintf(x->how, sizeof x->how, "%s", how);
    if (shapes) return true;
    x->data.bytes = (size_t)count * weft_dtype_size(t);
    x->data.memory = aligned_alloc(64, (x->data.bytes + 64) & ~(size_t)63);
    if (!x->data.memory) return cmd_fail("%s: no memory for %zu bytes", arg, x->data.bytes), false;
    x->data.array.data = x->data.memory;
    return gen_fill(&x->data.array, x->name, how) ||
           (cmd_fail("%s: '%s' is not iota or a number that fits", arg, how), false);
}

static bool valid_name(const char *s, size_t len) {
    if (len == 0 || isdigit((unsigned char)*s)) return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)s[i]) && s[i] != '_') return false;
    return true;
}

bool input_add(struct inputs *in, const char *text, bool shapes) {
    const char *eq = strchr(text, '=');
    size_t len = eq ? (size_t)(eq - text) : 0;
    weft_dtype t;
    if (!eq || !valid_name(text, len))
        return cmd_fail("'%s' is not of the form name=file.npy, name=f64[10] or name=2.5", text),
               false;
    if (input_find(in, text, len)) return cmd_fail("%s: this name is given twice", text), false;
    struct input *x = grow(in, text, len);
    if (generated(eq + 1, &t)) return read_generated(x, text, eq + 1, shapes);
    if (read_scalar(x, eq + 1)) return true;
    x->kind = INPUT_ARRAY;
    if (!eq[1]) return cmd_fail("%s: a value should follow '='", text), false;
    return npy_read(eq + 1, &x->data);
}

struct input *input_assume(struct inputs *in, const char *name, size_t len, bool shapes) {
    struct input *x = grow(in, name, len);
    read_generated(x, x->name, "f64[1000]", shapes);
    return x;
}
