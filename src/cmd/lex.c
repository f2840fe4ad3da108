// SPDX-License-Identifier: MIT
// Text to tokens, one at a time, with their places. Numbers are Python's: 10, 0x1f, 1_000, 2.5,
// 1e-3, .5.
#include "lang.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    enum token_kind kind;
} marks[] = {
    // longer ones first
    {"...", T_ELLIPSIS}, {"//", T_FLOORDIV}, {"**", T_POW}, {"<<", T_SHL},     {">>", T_SHR},
    {"<=", T_LE},        {">=", T_GE},       {"==", T_EQ},  {"!=", T_NE},      {"+", T_ADD},
    {"-", T_SUB},        {"*", T_MUL},       {"/", T_DIV},  {"%", T_MOD},      {"@", T_AT},
    {"&", T_AND},        {"|", T_OR},        {"^", T_XOR},  {"~", T_NOT},      {"<", T_LT},
    {">", T_GT},         {"(", T_LPAR},      {")", T_RPAR}, {"[", T_LBRACKET}, {"]", T_RBRACKET},
    {",", T_COMMA},      {":", T_COLON},     {";", T_SEMI}, {".", T_DOT},      {"=", T_ASSIGN},
};

static bool name_char(char c) { return isalnum((unsigned char)c) || c == '_'; }
static bool digit(char c) { return c >= '0' && c <= '9'; }

// Copies a number without its underscores; false when it is longer than any sensible one.
static bool copy_number(const char *s, size_t len, char *buf, size_t size) {
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '_') continue;
        if (n + 1 >= size) return false;
        buf[n++] = s[i];
    }
    buf[n] = 0;
    return true;
}

static size_t span_digits(const char *s, size_t i) {
    while (digit(s[i]) || (s[i] == '_' && digit(s[i + 1])))
        i++;
    return i;
}

static void read_integer(const char *s, struct token *t, const char **reason) {
    char buf[80], *end;
    bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    errno = 0;
    bool fits = copy_number(s, t->len, buf, sizeof buf);
    t->u = fits ? strtoull(buf, &end, hex ? 16 : 10) : 0;
    t->kind = T_INT;
    if (fits && errno == 0 && *end == 0) return;
    *reason = !fits || errno ? "this integer needs more than 64 bits" : "not a number";
    t->kind = T_BAD;
}

static void read_number(const char *s, struct token *t, const char **reason) {
    size_t n = 0;
    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        n = 2;
        while (isxdigit((unsigned char)s[n]) || s[n] == '_')
            n++;
        t->len = n;
        read_integer(s, t, reason);
    } else {
        bool real = false;
        n = span_digits(s, 0);
        if (s[n] == '.' && !(s[n + 1] == '.' || isalpha((unsigned char)s[n + 1]))) {
            real = true;
            n = span_digits(s, n + 1);
        }
        if (s[n] == 'e' || s[n] == 'E') {
            size_t sign = s[n + 1] == '+' || s[n + 1] == '-';
            if (digit(s[n + 1 + sign])) {
                real = true;
                n = span_digits(s, n + 1 + sign);
            }
        }
        t->len = n;
        char buf[400];
        bool imaginary = (s[n] == 'j' || s[n] == 'J') && !name_char(s[n + 1]);
        if (!real && !imaginary) {
            read_integer(s, t, reason);
        } else if (copy_number(s, n, buf, sizeof buf)) {
            t->kind = imaginary ? T_IMAGINARY : T_FLOAT;
            t->f = strtod(buf, NULL);
            t->len = n += imaginary;
        } else {
            t->kind = T_BAD;
            *reason = "this number is too long";
        }
    }
    if (t->kind != T_BAD && name_char(s[n])) {
        t->kind = T_BAD;
        *reason = "a name cannot begin with a digit";
    }
}

struct token lex_next(const char *s, size_t *at, const char **reason) {
    while (isspace((unsigned char)s[*at]))
        ++*at;
    struct token t = {.kind = T_BAD, .at = *at, .len = 1};
    const char *p = s + *at;
    *reason = "this character means nothing here";
    if (*p == 0) {
        t.kind = T_END;
        t.len = 0;
    } else if (digit(*p) || (*p == '.' && digit(p[1]))) {
        read_number(p, &t, reason);
    } else if (name_char(*p)) {
        while (name_char(p[t.len]))
            t.len++;
        t.kind = T_NAME;
    } else if (*p == '\'' || *p == '"') {
        const char *end = strchr(p + 1, *p);
        *reason = "the text that begins here has no end";
        if (end) {
            t.kind = T_TEXT;
            t.len = (size_t)(end - p) + 1;
        }
    } else {
        for (size_t i = 0; i < COUNT_OF(marks); i++) {
            size_t n = strlen(marks[i].text);
            if (strncmp(p, marks[i].text, n) != 0) continue;
            t.kind = marks[i].kind;
            t.len = n;
            break;
        }
    }
    *at += t.len;
    return t;
}
