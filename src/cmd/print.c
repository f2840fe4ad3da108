// SPDX-License-Identifier: MIT
// Arrays as NumPy prints them: one format for all elements shown (the fewest digits that tell them
// apart, at most eight after the point; exponents when the range is wide), lines of 75 columns, and
// "..." for the middle of more than 1000 elements. Also the raw form: one value a line, exact.
#include "cmd.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 75, EDGE = 3, MANY = 1000, DIGITS = 8 };

struct style { // how every element is written
    const weft_array *a;
    bool real, exponent, cut; // cut: show the edges only
    int left, right;          // columns before the point and behind it; integers: left
    int frac, exp_digits;     // of exponent forms
    bool plus;                // a + where there is no -
    const struct style *imag; // of complex arrays: a and the rest are about the real parts, this is for the others
};
struct seen {           // what the elements shown have in common
    double least, most; // of the magnitudes that are not 0
    bool any, infinite_neg, infinite, nan;
};

static bool is_real(const weft_array *a) { return real_type(a->dtype); }

static double real_at(const weft_array *a, const unsigned char *p) { return real_get(a->dtype, p); }

static int int_text(const weft_array *a, const unsigned char *p, char *buf, size_t size) {
    int64_t s = 0;
    uint64_t u = 0;
    switch (a->dtype) {
    case WEFT_BOOL: return snprintf(buf, size, "%s", *p ? "True" : "False");
    case WEFT_I8: s = *(const int8_t *)p; break;
    case WEFT_I16: s = *(const int16_t *)(const void *)p; break;
    case WEFT_I32: s = *(const int32_t *)(const void *)p; break;
    case WEFT_I64: s = *(const int64_t *)(const void *)p; break;
    case WEFT_U8: u = *p; return snprintf(buf, size, "%" PRIu64, u);
    case WEFT_U16:
        u = *(const uint16_t *)(const void *)p;
        return snprintf(buf, size, "%" PRIu64, u);
    case WEFT_U32:
        u = *(const uint32_t *)(const void *)p;
        return snprintf(buf, size, "%" PRIu64, u);
    default: u = *(const uint64_t *)(const void *)p; return snprintf(buf, size, "%" PRIu64, u);
    }
    return snprintf(buf, size, "%" PRId64, s);
}

// ---- shortest digits --------------------------------------------------------------------------
struct digits {
    char text[24]; // significant digits without a point
    int n, exp;    // value = d.ddd * 10^exp
};

// The fewest significant digits that read back as v, in v's own type.
static struct digits shortest(double v, weft_dtype type) {
    struct digits d;
    char buf[40];
    int n = 1, most = type == WEFT_F64 ? 17 : 9;
    for (; n <= most; n++) {
        snprintf(buf, sizeof buf, "%.*e", n - 1, fabs(v));
        double back = type == WEFT_F32 ? (double)strtof(buf, NULL) : real_round(type, strtod(buf, NULL));
        if (back == fabs(v)) break;
    }
    char *e = strchr(buf, 'e');
    d.exp = atoi(e + 1);
    d.n = 0;
    for (char *p = buf; p < e; p++)
        if (*p != '.') d.text[d.n++] = *p;
    while (d.n > 1 && d.text[d.n - 1] == '0')
        d.n--;
    d.text[d.n] = 0;
    return d;
}

// d.ddde+xx, at most DIGITS after the point, trailing zeros gone
static void scientific(double v, weft_dtype type, char *buf, size_t size, int *frac, int *exp_digits) {
    struct digits d = shortest(v, type);
    int f = d.n - 1;
    snprintf(buf, size, "%.*e", f < DIGITS ? f : DIGITS, v);
    char *e = strchr(buf, 'e');
    if (f > DIGITS) {
        f = DIGITS;
        while (f > 0 && e[f - DIGITS - 1] == '0')
            f--;
    }
    *frac = f;
    *exp_digits = (int)strlen(e + 2);
}

// ddd.ddd, at most DIGITS after the point, the point stays: the columns before and behind it
static void positional(double v, weft_dtype type, char *buf, size_t size, int *left, int *right) {
    struct digits d = shortest(v, type);
    int f = v == 0 ? 0 : d.n - 1 - d.exp;
    if (f < 0) f = 0;
    if (f <= DIGITS && d.exp >= d.n) { // digits that do not matter are zeros
        int n = snprintf(buf, size, "%s%s", signbit(v) ? "-" : "", d.text);
        for (int i = d.n; i <= d.exp && n + 2 < (int)size; i++)
            buf[n++] = '0';
        buf[n] = 0;
    } else {
        snprintf(buf, size, "%.*f", f < DIGITS ? f : DIGITS, v);
    }
    char *point = strchr(buf, '.');
    if (!point) {
        point = buf + strlen(buf);
        strcpy(point, ".");
    }
    char *end = point + strlen(point);
    while (end - 1 > point && end[-1] == '0')
        *--end = 0;
    *left = (int)(point - buf);
    *right = (int)(end - point - 1);
}

// ---- elements shown, in order -----------------------------------------------------------------
typedef void visit_fn(void *ud, const unsigned char *p);
static void visit(const struct style *s, int axis, const unsigned char *p, visit_fn *fn, void *ud) {
    const weft_array *a = s->a;
    if (axis == a->rank) {
        fn(ud, p);
        return;
    }
    bool cut = s->cut && a->dims[axis] > 2 * EDGE;
    for (int64_t i = 0; i < a->dims[axis]; i++) {
        if (cut && i == EDGE) i = a->dims[axis] - EDGE;
        visit(s, axis + 1, p + i * a->strides[axis], fn, ud);
    }
}

struct look {
    struct style *s;
    struct seen seen;
};
static void look_range(void *ud, const unsigned char *p) {
    struct look *l = ud;
    double v = real_at(l->s->a, p);
    l->seen.nan |= isnan(v);
    l->seen.infinite |= isinf(v);
    l->seen.infinite_neg |= isinf(v) && v < 0;
    if (!isfinite(v) || v == 0) return;
    l->seen.least = l->seen.any ? fmin(l->seen.least, fabs(v)) : fabs(v);
    l->seen.most = l->seen.any ? fmax(l->seen.most, fabs(v)) : fabs(v);
    l->seen.any = true;
}
static void widen(int *a, int b) {
    if (b > *a) *a = b;
}
static void look_width(void *ud, const unsigned char *p) {
    struct style *s = ((struct look *)ud)->s;
    char buf[64];
    int left, right, frac, digits;
    if (!s->real) {
        widen(&s->left, int_text(s->a, p, buf, sizeof buf));
        return;
    }
    double v = real_at(s->a, p);
    if (!isfinite(v)) return;
    weft_dtype type = s->a->dtype;
    if (s->exponent) {
        scientific(v, type, buf, sizeof buf, &frac, &digits);
        widen(&s->frac, frac);
        widen(&s->exp_digits, digits);
        widen(&s->left, 1 + (s->plus || signbit(v)));
    } else {
        positional(v, type, buf, sizeof buf, &left, &right);
        widen(&s->left, left + (s->plus && !signbit(v)));
        widen(&s->right, right);
    }
}

static struct style choose_style(const weft_array *a, bool plus) {
    struct style s = {.a = a, .real = is_real(a), .plus = plus, .cut = weft_array_count(a) > MANY};
    struct look l = {.s = &s};
    if (s.real) {
        visit(&s, 0, a->data, look_range, &l);
        // the quotient is taken in the array's own type
        double span = real_round(a->dtype, l.seen.most / l.seen.least);
        s.exponent = l.seen.any && (l.seen.most >= 1e8 || l.seen.least < 1e-4 || span > 1000);
    }
    visit(&s, 0, a->data, look_width, &l);
    if (a->dtype == WEFT_BOOL && a->rank) s.left = 5;
    if (!s.real) return s;
    if (s.exponent) s.right = s.frac + 2 + s.exp_digits;
    int room = s.right + 1; // a NaN uses the columns of the point and what is behind it, too
    if (l.seen.nan) widen(&s.left, 3 - room);
    if (l.seen.infinite || l.seen.nan) widen(&s.left, 3 + (plus || l.seen.infinite_neg) - room);
    return s;
}

// ---- one element ------------------------------------------------------------------------------
// `text` to the right in a field of `width` characters, cut where `buf` ends.
static void flush_right(char *buf, size_t size, int width, const char *text) {
    size_t n = strlen(text), lead = width > 0 && (size_t)width > n ? (size_t)width - n : 0;
    if (lead > size - 1) lead = size - 1;
    if (n > size - 1 - lead) n = size - 1 - lead;
    memset(buf, ' ', lead);
    memcpy(buf + lead, text, n);
    buf[lead + n] = 0;
}

static void write_exponent(const struct style *s, double v, char *buf, size_t size) {
    char own[64], number[80];
    snprintf(own, sizeof own, s->plus ? "%+.*e" : "%.*e", s->frac, v);
    char *e = strchr(own, 'e');
    *e = 0;
    snprintf(number, sizeof number, "%s%se%c%0*d", own, s->frac ? "" : ".", e[1], s->exp_digits,
             atoi(e + 2));
    flush_right(buf, size, s->left + 1 + s->frac + 2 + s->exp_digits, number);
}

static void write_number(const struct style *s, const unsigned char *p, char *buf, size_t size) {
    char text[400];
    int left, right;
    if (!s->real) {
        int_text(s->a, p, text, sizeof text);
        flush_right(buf, size, s->left, text);
        return;
    }
    double v = real_at(s->a, p);
    if (!isfinite(v)) {
        flush_right(buf, size, s->left + s->right + 1,
                    isnan(v)  ? (s->plus ? "+nan" : "nan")
                    : v < 0   ? "-inf"
                    : s->plus ? "+inf"
                              : "inf");
    } else if (s->exponent) {
        write_exponent(s, v, buf, size);
    } else {
        positional(v, s->a->dtype, text, sizeof text, &left, &right);
        if (s->plus && !signbit(v)) {
            memmove(text + 1, text, strlen(text) + 1);
            text[0] = '+';
            left++;
        }
        size_t n = strlen(text), lead = (size_t)(s->left - left),
               all = (size_t)(s->left + 1 + s->right);
        memset(buf, ' ', all);
        memcpy(buf + lead, text, n);
        buf[all] = 0;
    }
}

static void write_element(const struct style *s, const unsigned char *p, char *buf, size_t size) {
    write_number(s, p, buf, size);
    if (!s->imag) return;
    char im[200];
    write_number(s->imag, p + weft_dtype_size(s->a->dtype), im, sizeof im);
    size_t kept = strlen(im);
    while (kept > 0 && im[kept - 1] == ' ')
        kept--;
    size_t n = strlen(buf);
    snprintf(buf + n, size - n, "%.*sj%s", (int)kept, im, im + kept);
}

// A single number, as Python writes it.
static void write_real(const weft_array *a, char *buf, size_t size) {
    if (!is_real(a)) {
        int_text(a, a->data, buf, size);
        return;
    }
    double v = real_at(a, a->data);
    if (!isfinite(v)) {
        snprintf(buf, size, "%s", isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
        return;
    }
    struct digits d = shortest(v, a->dtype);
    const char *sign = signbit(v) ? "-" : "";
    if (v != 0 && (fabs(v) < 1e-4 || fabs(v) >= 1e16)) {
        snprintf(buf, size, "%s%c%s%se%c%02d", sign, d.text[0], d.n > 1 ? "." : "", d.text + 1,
                 d.exp < 0 ? '-' : '+', abs(d.exp));
    } else if (d.exp < 0) {
        snprintf(buf, size, "%s0.%.*s%s", sign, -d.exp - 1, "0000", d.text);
    } else {
        int n = snprintf(buf, size, "%s", sign);
        for (int i = 0; i <= d.exp || i < d.n; i++) {
            if (i == d.exp + 1) buf[n++] = '.';
            buf[n++] = i < d.n ? d.text[i] : '0';
        }
        snprintf(buf + n, size - (size_t)n, "%s", d.exp + 1 >= d.n ? ".0" : "");
    }
}

static void write_scalar(const weft_array *a, char *buf, size_t size) {
    if (!complex_type(a->dtype)) {
        write_real(a, buf, size);
        return;
    }
    weft_array part[2] = {part_of(a, 0), part_of(a, 1)};
    char text[2][100];
    for (int i = 0; i < 2; i++) {
        write_real(&part[i], text[i], sizeof text[i]);
        size_t n = strlen(text[i]);
        if (n > 2 && strcmp(text[i] + n - 2, ".0") == 0) text[i][n - 2] = 0;
    }
    double re = real_at(&part[0], part[0].data);
    bool alone = re == 0 && !signbit(re);
    bool sign = text[1][0] == '-';
    if (alone)
        snprintf(buf, size, "%sj", text[1]);
    else
        snprintf(buf, size, "(%s%s%sj)", text[0], sign ? "" : "+", text[1]);
}

// ---- rows and brackets ------------------------------------------------------------------------
struct writer {
    FILE *f;
    const struct style *s;
    int column, blanks; // blanks at the end of the last word, written when the line goes on
};

static void indent(struct writer *w, int n) {
    fprintf(w->f, "%*s", n, "");
    w->column = n;
    w->blanks = 0;
}

// A word of a row; the line is broken before it when it would be too long and is not empty yet.
static void put_word(struct writer *w, const char *word, int hang, int width, bool first) {
    int n = (int)strlen(word), kept = n;
    while (kept > 0 && word[kept - 1] == ' ')
        kept--;
    if (w->column + !first + n > width && w->column > hang) {
        fputc('\n', w->f);
        indent(w, hang);
    } else if (!first) {
        fprintf(w->f, "%*s", w->blanks + 1, "");
        w->column++;
    }
    fprintf(w->f, "%.*s", kept, word);
    w->blanks = n - kept;
    w->column += n;
}

static void write_row(struct writer *w, const unsigned char *p, int hang) {
    const weft_array *a = w->s->a;
    int axis = a->rank - 1, width = LINE - (a->rank - 1) - 1;
    bool cut = w->s->cut && a->dims[axis] > 2 * EDGE;
    char word[400];
    for (int64_t i = 0; i < a->dims[axis]; i++) {
        if (cut && i == EDGE) {
            put_word(w, "...", hang, width, false);
            i = a->dims[axis] - EDGE;
        }
        write_element(w->s, p + i * a->strides[axis], word, sizeof word);
        put_word(w, word, hang, width, i == 0);
    }
}

static void write_axis(struct writer *w, const unsigned char *p, int axis) {
    const weft_array *a = w->s->a;
    int hang = axis + 1, gap = a->rank - 1 - axis;
    fputc('[', w->f);
    w->column = hang;
    if (axis == a->rank - 1) {
        write_row(w, p, hang);
        fprintf(w->f, "%*s]", w->blanks, "");
        w->blanks = 0;
        return;
    }
    bool cut = w->s->cut && a->dims[axis] > 2 * EDGE;
    for (int64_t i = 0; i < a->dims[axis]; i++) {
        for (int k = 0; i && k < gap; k++)
            fputc('\n', w->f);
        if (i) indent(w, hang);
        if (cut && i == EDGE) {
            fputs("...", w->f);
            for (int k = 0; k < gap; k++)
                fputc('\n', w->f);
            indent(w, hang);
            i = a->dims[axis] - EDGE;
        }
        write_axis(w, p + i * a->strides[axis], axis + 1);
    }
    fputc(']', w->f);
}

void print_array(FILE *f, const weft_array *a) {
    char text[400];
    if (weft_array_count(a) == 0) {
        fputs("[]\n", f);
        return;
    }
    if (a->rank == 0) {
        write_scalar(a, text, sizeof text);
        fprintf(f, "%s\n", text);
        return;
    }
    bool pairs = complex_type(a->dtype);
    weft_array re = pairs ? part_of(a, 0) : *a, im = pairs ? part_of(a, 1) : *a;
    struct style s = choose_style(&re, false), imag;
    if (pairs) {
        imag = choose_style(&im, true);
        s.imag = &imag;
    }
    struct writer w = {f, &s, 0, 0};
    write_axis(&w, a->data, 0);
    fputc('\n', f);
}

struct raw {
    FILE *f;
    const weft_array *a;
};
static void raw_real(FILE *f, double v, char end) {
    if (isnan(v))
        fprintf(f, "nan%c", end);
    else
        fprintf(f, "%a%c", v, end);
}
static void raw_element(void *ud, const unsigned char *p) {
    struct raw *r = ud;
    char text[40];
    weft_dtype part = part_type(r->a->dtype);
    if (complex_type(r->a->dtype)) {
        raw_real(r->f, real_get(part, p), ' ');
        raw_real(r->f, real_get(part, p + weft_dtype_size(part)), '\n');
    } else if (is_real(r->a)) {
        raw_real(r->f, real_at(r->a, p), '\n');
    } else if (r->a->dtype == WEFT_BOOL) {
        fprintf(r->f, "%d\n", *p != 0);
    } else {
        int_text(r->a, p, text, sizeof text);
        fprintf(r->f, "%s\n", text);
    }
}

void print_raw(FILE *f, const weft_array *a) {
    struct style s = {.a = a};
    struct raw r = {f, a};
    if (weft_array_count(a) > 0) visit(&s, 0, a->data, raw_element, &r);
}
