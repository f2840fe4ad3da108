// SPDX-License-Identifier: MIT
// Introduces: a formula of 30 operations with two results as one pass: Black-Scholes prices of a million options
// (Black and Scholes 1973), call and put, at random strikes and times; the number of options can be given.
#include <math.h>

#include "check.h"

struct book {
    int64_t n;
    double *spot, *strike, *years, *call, *put, *call2, *put2;
};

// Phi(x), the normal distribution, by erfc
static weft_expr *normal(weft_expr *x, weft_graph *g) {
    return weft_mul(weft_float(g, 0.5), weft_erfc(weft_mul(x, weft_float(g, -0.70710678118654752440))));
}

static weft_program *pricing(weft_graph *g, int64_t n, double rate, double sigma) {
    weft_expr *s = weft_input(g, "spot", WEFT_F64, 1, &n), *k = weft_input(g, "strike", WEFT_F64, 1, &n);
    weft_expr *t = weft_input(g, "years", WEFT_F64, 1, &n), *r = weft_float(g, rate);
    weft_expr *spread = weft_mul(weft_float(g, sigma), weft_sqrt(t));
    weft_expr *drift = weft_mul(weft_float(g, rate + sigma * sigma / 2), t);
    weft_expr *d1 = weft_true_divide(weft_add(weft_log(weft_true_divide(s, k)), drift), spread);
    weft_expr *d2 = weft_sub(d1, spread);
    weft_expr *paid = weft_mul(k, weft_exp(weft_neg(weft_mul(r, t))));
    weft_expr *call = weft_sub(weft_mul(s, normal(d1, g)), weft_mul(paid, normal(d2, g)));
    weft_expr *put = weft_sub(weft_mul(paid, normal(weft_neg(d2), g)), weft_mul(s, normal(weft_neg(d1), g)));
    return compiled(g, 2, (weft_expr *[]){call, put});
}

static void plain(struct book *b, double rate, double sigma) {
    for (int64_t i = 0; i < b->n; i++) {
        const double t = b->years[i], spread = sigma * sqrt(t);
        const double d1 = (log(b->spot[i] / b->strike[i]) + (rate + sigma * sigma / 2) * t) / spread, d2 = d1 - spread;
        const double paid = b->strike[i] * exp(-rate * t), h = 0.70710678118654752440;
        b->call2[i] = b->spot[i] * 0.5 * erfc(-d1 * h) - paid * 0.5 * erfc(-d2 * h);
        b->put2[i] = paid * 0.5 * erfc(d2 * h) - b->spot[i] * 0.5 * erfc(d1 * h);
    }
}

static void random_book(weft_ctx *ctx, struct book *b) {
    weft_graph *g = weft_graph_new(ctx);
    double *const into[] = {b->spot, b->strike, b->years};
    const double low[] = {80, 70, 0.1}, width[] = {40, 60, 1.9};
    for (uint64_t k = 0; k < 3; k++) {
        weft_expr *u = weft_random_uniform(g, (weft_stream){.key = k + 1, .offset = 0}, WEFT_F64, 1, &b->n);
        weft_array out = weft_dense(WEFT_F64, into[k], 1, &b->n);
        must(weft_eval(weft_add(weft_mul(u, weft_float(g, width[k])), weft_float(g, low[k])), &out, NULL), g);
    }
    weft_graph_free(g);
    b->spot[0] = b->strike[0] = 100; // the textbook's option: 10.4506 and 5.5735
    b->years[0] = 1;
}

int main(int argc, char **argv) {
    struct book b = {.n = argc > 1 ? atoll(argv[1]) : 1000000};
    expect(b.n > 0, "a number of options");
    double *memory = malloc((size_t)b.n * 7 * sizeof *memory);
    expect(memory != NULL, "memory");
    double **const parts[] = {&b.spot, &b.strike, &b.years, &b.call, &b.put, &b.call2, &b.put2};
    for (int64_t i = 0; i < 7; i++)
        *parts[i] = memory + i * b.n;
    weft_ctx *ctx = compiling();
    random_book(ctx, &b);
    weft_graph *g = weft_graph_new(ctx);
    weft_program *p = pricing(g, b.n, 0.05, 0.2);
    const weft_array in[] = {weft_dense(WEFT_F64, b.spot, 1, &b.n), weft_dense(WEFT_F64, b.strike, 1, &b.n),
                             weft_dense(WEFT_F64, b.years, 1, &b.n)};
    const weft_array out[] = {weft_dense(WEFT_F64, b.call, 1, &b.n), weft_dense(WEFT_F64, b.put, 1, &b.n)};
    go(p, NULL, in, out);
    double with_weft, with_c;
    LEAST_TIME(&with_weft, 5, go(p, NULL, in, out));
    LEAST_TIME(&with_c, 2, plain(&b, 0.05, 0.2));
    double worst = 0;
    for (int64_t i = 0; i < b.n; i++) {
        worst = fmax(worst, fabs(b.call[i] - b.call2[i]));
        worst = fmax(worst, fabs(b.put[i] - b.put2[i]));
        // who holds the call and owes the put holds the share less the strike, discounted
        const double parity = b.call[i] - b.put[i] - (b.spot[i] - b.strike[i] * exp(-0.05 * b.years[i]));
        expect(fabs(parity) < 1e-11, "put-call parity");
    }
    speed("options", with_weft, with_c);
    printf("call %.12f, put %.12f; the farthest from the plain loop: %.1e\n", b.call[0], b.put[0], worst);
    expect(fabs(b.call[0] - 10.450583572185565) < 1e-12 && fabs(b.put[0] - 5.573526022256971) < 1e-12, "the textbook's prices");
    expect(worst < 1e-11, "the plain loop's prices");
    weft_program_free(p);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    free(memory);
    return 0;
}
