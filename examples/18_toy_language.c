// SPDX-License-Identifier: MIT
// Introduces: weft below an interpreter. A toy language of vectors: letters are variables, every line is `v = expression`
// or `? expression`; numbers, + - * /, parentheses, i(n) counts from 0, r(x) is the root, s(x) the sum. Assignments do no
// work: they keep a lazy expression, and `?` computes all that it needs as one graph. Argument: a file of lines.
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "check.h"

struct toy {
    weft_graph *g;
    weft_expr *variable[26];
    const char *at;
    const char *wrong; // the first thing that is
};

static weft_expr *sum_of_terms(struct toy *t);

static char next(struct toy *t) {
    while (*t->at == ' ')
        t->at++;
    return *t->at;
}
static void need(struct toy *t, char c, const char *wrong) {
    if (next(t) == c)
        t->at++;
    else if (!t->wrong)
        t->wrong = wrong;
}

static weft_expr *function(struct toy *t, char name) {
    need(t, '(', "'(' should be here");
    weft_expr *x = NULL;
    if (name == 'i') {
        char *end;
        const int64_t n = strtoll(t->at, &end, 10);
        t->at = end;
        x = weft_cast(weft_iota(t->g, WEFT_I64, 1, &n, 0), WEFT_F64);
    } else {
        x = sum_of_terms(t);
        x = name == 'r' ? weft_sqrt(x) : weft_sum(x, NULL);
    }
    need(t, ')', "')' should be here");
    return x;
}

static weft_expr *value(struct toy *t) {
    const char c = next(t);
    char *end;
    if (isdigit((unsigned char)c)) {
        const double v = strtod(t->at, &end);
        t->at = end;
        return weft_float(t->g, v);
    }
    t->at += c != 0;
    if (c == '-') return weft_neg(value(t));
    if (c == '(') {
        weft_expr *x = sum_of_terms(t);
        need(t, ')', "')' should be here");
        return x;
    }
    if (strchr("irs", c) && c && next(t) == '(') return function(t, c);
    if (islower((unsigned char)c) && t->variable[c - 'a']) return t->variable[c - 'a'];
    if (!t->wrong) t->wrong = "a value should be here";
    return NULL;
}

static weft_expr *product(struct toy *t) {
    weft_expr *x = value(t);
    for (char c; (c = next(t)) == '*' || c == '/';) {
        t->at++;
        weft_expr *y = value(t);
        x = c == '*' ? weft_mul(x, y) : weft_true_divide(x, y);
    }
    return x;
}

static weft_expr *sum_of_terms(struct toy *t) {
    weft_expr *x = product(t);
    for (char c; (c = next(t)) == '+' || c == '-';) {
        t->at++;
        weft_expr *y = product(t);
        x = c == '+' ? weft_add(x, y) : weft_sub(x, y);
    }
    return x;
}

// The first element and the number of elements of what `?` computes.
static bool show(struct toy *t, weft_ctx *ctx, weft_expr *x, double *first) {
    weft_array a;
    must(weft_eval_new(x, &a, NULL), t->g);
    const int64_t n = weft_array_count(&a);
    *first = n ? ((double *)a.data)[0] : NAN;
    for (int64_t i = 0; i < n && i < 8; i++)
        printf("%s%.10g", i ? " " : "", ((double *)a.data)[i]);
    printf("%s\n", n > 8 ? " ..." : "");
    weft_array_free(ctx, &a);
    return true;
}

// One line; false: it is not of the language. *answer is what a `?` showed.
static bool line(struct toy *t, weft_ctx *ctx, const char *text, double *answer) {
    t->at = text;
    t->wrong = NULL;
    const char c = next(t);
    if (!c || c == '\n') return true;
    t->at++;
    const bool ask = c == '?';
    if (!ask && !islower((unsigned char)c)) return false;
    if (!ask) need(t, '=', "'=' should be here");
    weft_expr *x = sum_of_terms(t);
    if (next(t) && *t->at != '\n' && !t->wrong) t->wrong = "an operator should be here";
    if (t->wrong || !x) {
        fprintf(stderr, "%s: %s\n", text, t->wrong ? t->wrong : weft_graph_error(t->g));
        return false;
    }
    if (ask) return show(t, ctx, x, answer);
    t->variable[c - 'a'] = x;
    return true;
}

static double program(weft_ctx *ctx, const char *const *lines) {
    struct toy t = {.g = weft_graph_new(ctx)};
    double answer = NAN;
    for (; *lines; lines++)
        expect(line(&t, ctx, *lines, &answer), "a line of the language");
    weft_graph_free(t.g);
    return answer;
}

static double plain(int64_t n) { // the last program below, by hand
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const double x = (double)i / 1000, y = sqrt(x * x + 1);
        sum += (y - x) * (y + x) + y / (x + 1);
    }
    return sum;
}

static void file(weft_ctx *ctx, const char *path) {
    FILE *f = fopen(path, "r");
    expect(f != NULL, "a file of lines");
    struct toy t = {.g = weft_graph_new(ctx)};
    char text[1000];
    double answer;
    while (fgets(text, sizeof text, f))
        line(&t, ctx, text, &answer);
    weft_graph_free(t.g);
    fclose(f);
}

int main(int argc, char **argv) {
    weft_ctx *ctx = compiling();
    if (argc > 1) {
        file(ctx, argv[1]);
        weft_ctx_free(ctx);
        return 0;
    }
    expect(program(ctx, (const char *const[]){"x = i(5)", "? x * x - 2 * (x + 1)", NULL}) == -2, "the first of -2 -3 -2 1 6");
    expect(program(ctx, (const char *const[]){"n = i(101)", "? s(n)", NULL}) == 5050, "what Gauss added");
    expect(program(ctx, (const char *const[]){"m = s(i(10)) / 10", "d = i(10) - m", "? r(s(d*d)/10)", NULL}) == sqrt(8.25), "a deviation");
    struct toy bad = {.g = weft_graph_new(ctx)};
    expect(!line(&bad, ctx, "x = 1 +", &(double){0}) && !line(&bad, ctx, "? y", &(double){0}), "errors are found");
    weft_graph_free(bad.g);
    static const char *const lines[] = {"x = i(1000000) / 1000", "y = r(x*x + 1)", "? s((y - x) * (y + x) + y / (x + 1))", NULL};
    double fast, slow, a = 0, b = 0;
    a = program(ctx, lines);
    LEAST_TIME(&fast, 3, a = program(ctx, lines));
    LEAST_TIME(&slow, 3, b = plain(1000000));
    speed("a million of the language, parsing included", fast, slow);
    expect(fabs(a - b) < 1e-9 * b, "the plain loop's sum");
    weft_ctx_free(ctx);
    return 0;
}
