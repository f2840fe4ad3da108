// SPDX-License-Identifier: MIT
// c64 and c128 through the public header, in both tiers, fused and unfused: arithmetic against the same real
// steps and, for special values, against what the C compiler's Annex G arithmetic gives; functions against the
// C library in long double; views, overlap, reductions, products, programs.
#include <complex.h>

#include "cases.h"

#ifndef CMPLX // glibc knows it from gcc alone
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#define CMPLXF(re, im) __builtin_complex((float)(re), (float)(im))
#endif

static weft_ctx *tiers[2];
static void begin(void) {
    tiers[0] = new_ctx(WEFT_BACKEND_INTERP, 2);
    tiers[1] = new_ctx(WEFT_BACKEND_JIT, 2);
}
static void end(void) {
    weft_stats s;
    weft_ctx_stats(tiers[1], &s, sizeof s);
    if (s.llvm_major) cr_expect_eq(s.runs_interp, 0);
    weft_ctx_free(tiers[0]);
    weft_ctx_free(tiers[1]);
}
TestSuite(cplx, .init = begin, .fini = end, .timeout = PATIENCE * 300);

typedef double complex cd;
static cd make(double re, double im) { return CMPLX(re, im); }
static bool same(double a, double b) { return !memcmp(&a, &b, sizeof a) || (isnan(a) && isnan(b)); }
static bool same_c(cd a, cd b) { return same(creal(a), creal(b)) && same(cimag(a), cimag(b)); }
static weft_array carray(cd *p, int64_t n) { return weft_dense(WEFT_C128, p, 1, &n); }

// ---- special values ---------------------------------------------------------------------------------------
static const double parts[] = {0.0, -0.0, 1.0, -2.5, INFINITY, -INFINITY, NAN, 1e308, -1e-308, 3.0, 0.75};
enum { NP = sizeof parts / sizeof *parts, NZ = NP * NP, NZZ = NZ * NZ };
static cd za[NZZ], zb[NZZ], zr[NZZ];
static void fill_pairs(void) {
    for (int i = 0; i < NZZ; i++) {
        int a = i / NZ, b = i % NZ;
        za[i] = make(parts[a / NP], parts[a % NP]);
        zb[i] = make(parts[b / NP], parts[b % NP]);
    }
}
static bool infinite(cd z) { return isinf(creal(z)) || isinf(cimag(z)); }
static bool plain(cd z) { return isfinite(creal(z)) && isfinite(cimag(z)); }
static double ulps(double got, double want, double scale) {
    if (same(got, want) || got == want) return 0;
    double u = scale == 0 || !isfinite(scale) ? 5e-324 : nextafter(fabs(scale), INFINITY) - fabs(scale);
    return fabs(got - want) / u;
}

Test(cplx, products_and_quotients_as_annex_g) {
    fill_pairs();
    weft_array a = carray(za, NZZ), b = carray(zb, NZZ);
    EACH_TIER(g) {
        weft_expr *x = weft_from(g, &a), *y = weft_from(g, &b);
        eval_into("mul", g, weft_mul(x, y), zr);
        for (int i = 0; i < NZZ; i++) {
            cd want = za[i] * zb[i];
            cr_assert(same_c(zr[i], want), "(%g,%g)*(%g,%g): %g,%g not %g,%g", creal(za[i]), cimag(za[i]), creal(zb[i]),
                      cimag(zb[i]), creal(zr[i]), cimag(zr[i]), creal(want), cimag(want));
        }
        eval_into("div", g, weft_true_divide(x, y), zr);
        for (int i = 0; i < NZZ; i++) {
            cd want = za[i] / zb[i];
            bool tame = plain(za[i]) && plain(zb[i]) && zb[i] != 0;
            bool settled = (infinite(za[i]) && plain(zb[i])) || (plain(za[i]) && infinite(zb[i])) || zb[i] == 0;
            // where everything is finite the two scale differently: compared below, with a bound
            if (tame && fabs(creal(zb[i])) < 1e100 && fabs(cimag(zb[i])) < 1e100 && fabs(creal(za[i])) < 1e100 &&
                fabs(cimag(za[i])) < 1e100 && cabs(zb[i]) > 1e-100) {
                double scale = fmax(fabs(creal(want)), fabs(cimag(want)));
                cr_assert(ulps(creal(zr[i]), creal(want), scale) <= 4 && ulps(cimag(zr[i]), cimag(want), scale) <= 4,
                          "(%g,%g)/(%g,%g)", creal(za[i]), cimag(za[i]), creal(zb[i]), cimag(zb[i]));
            } else if (settled) { // what Annex G says: infinite, zero or NaN
                bool inf = isinf(creal(want)) || isinf(cimag(want));
                bool got = isinf(creal(zr[i])) || isinf(cimag(zr[i]));
                bool zero = want == 0, nan = isnan(creal(want)) && isnan(cimag(want));
                cr_assert(inf == got && zero == (zr[i] == 0) && (!nan || (isnan(creal(zr[i])) && isnan(cimag(zr[i])))),
                          "(%g,%g)/(%g,%g): %g,%g not %g,%g", creal(za[i]), cimag(za[i]), creal(zb[i]), cimag(zb[i]),
                          creal(zr[i]), cimag(zr[i]), creal(want), cimag(want));
            }
        }
    }
}

Test(cplx, sums_and_real_operands) {
    static double r[NZZ];
    static bool t[NZZ];
    fill_pairs();
    for (int i = 0; i < NZZ; i++)
        r[i] = cimag(zb[i]);
    weft_array a = carray(za, NZZ), b = carray(zb, NZZ), ra = vec(r, NZZ);
    EACH_TIER(g) {
        weft_expr *x = weft_from(g, &a), *y = weft_from(g, &b), *s = weft_from(g, &ra);
        struct {
            weft_expr *e;
            int what;
        } cases[] = {{weft_add(x, y), 0}, {weft_sub(x, y), 1}, {weft_mul(x, s), 2}, {weft_mul(s, x), 2},
                     {weft_true_divide(x, s), 3}, {weft_add(s, x), 4}, {weft_sub(s, x), 5}, {weft_sub(x, s), 6},
                     {weft_neg(x), 7}, {weft_conj(x), 8}};
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            eval_into("op", g, cases[k].e, zr);
            for (int i = 0; i < NZZ; i++) {
                double ar = creal(za[i]), ai = cimag(za[i]), br = creal(zb[i]), bi = cimag(zb[i]), v = r[i];
                cd want[] = {make(ar + br, ai + bi), make(ar - br, ai - bi), make(ar * v, ai * v), make(ar / v, ai / v),
                             make(v + ar, ai), make(v - ar, -ai), make(ar - v, ai), make(-ar, -ai), make(ar, -ai)};
                cr_assert(same_c(zr[i], want[cases[k].what]), "case %zu: (%g,%g) (%g,%g)", k, ar, ai, br, bi);
            }
        }
        struct {
            weft_expr *e;
            int what;
        } tests[] = {{weft_equal(x, y), 0}, {weft_not_equal(x, y), 1}, {weft_isnan(x), 2}, {weft_isinf(x), 3},
                     {weft_isfinite(x), 4}, {weft_logical_not(x), 5}, {weft_cast(x, WEFT_BOOL), 6}};
        for (size_t k = 0; k < sizeof tests / sizeof *tests; k++) {
            eval_into("test", g, tests[k].e, t);
            for (int i = 0; i < NZZ; i++) {
                cd z = za[i], w = zb[i];
                bool nz = creal(z) != 0 || cimag(z) != 0;
                bool want[] = {creal(z) == creal(w) && cimag(z) == cimag(w), creal(z) != creal(w) || cimag(z) != cimag(w),
                               isnan(creal(z)) || isnan(cimag(z)), isinf(creal(z)) || isinf(cimag(z)), plain(z), !nz, nz};
                cr_assert_eq(t[i], want[tests[k].what], "test %zu at %d", k, i);
            }
        }
    }
}

// ---- functions ----------------------------------------------------------------------------------------------
typedef long double complex cl;
static const struct function {
    const char *name;
    weft_expr *(*fn)(weft_expr *);
    cl (*ref)(cl);
    cd (*lib)(cd);
    double ulp; // of the modulus' size, for c128
} functions[] = {{"exp", weft_exp, cexpl, cexp, 2.5},    {"log", weft_log, clogl, clog, 2.5},
                 {"sqrt", weft_sqrt, csqrtl, csqrt, 2.5}, {"sinh", weft_sinh, csinhl, csinh, 3},
                 {"cosh", weft_cosh, ccoshl, ccosh, 3},   {"tanh", weft_tanh, ctanhl, ctanh, 5},
                 {"sin", weft_sin, csinl, csin, 3},       {"cos", weft_cos, ccosl, ccos, 3},
                 {"tan", weft_tan, ctanl, ctan, 5}};
enum { NF = sizeof functions / sizeof *functions };

static uint64_t next(uint64_t *s) {
    *s += 0x9e3779b97f4a7c15u;
    uint64_t z = (*s ^ *s >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static double uniform(uint64_t *s) { return (double)(next(s) >> 11) * 0x1p-53; }

// A special value: NaN, infinity or zero as the C library has it; the sign of a zero or infinity where it is said.
static bool same_class(double got, double want) {
    if (isnan(want)) return isnan(got);
    if (isinf(want)) return isinf(got);
    if (want == 0) return got == 0;
    return isfinite(got) && fabs(got - want) <= 1e-14 * fabs(want) + 5e-324;
}

Test(cplx, special_values_of_functions) {
    static const double v[] = {0.0, -0.0, 1.0, -2.0, INFINITY, -INFINITY, NAN, 0.5, -0.3};
    enum { N = 81 };
    cd z[N], r[N];
    for (int i = 0; i < N; i++)
        z[i] = make(v[i / 9], v[i % 9]);
    weft_array a = carray(z, N);
    EACH_TIER(g) for (int f = 0; f < NF; f++) {
        eval_into(functions[f].name, g, functions[f].fn(weft_from(g, &a)), r);
        for (int i = 0; i < N; i++) {
            cd want = functions[f].lib(z[i]);
            cr_expect(same_class(creal(r[i]), creal(want)) && same_class(cimag(r[i]), cimag(want)),
                      "%s(%g, %g): %g, %g not %g, %g", functions[f].name, creal(z[i]), cimag(z[i]), creal(r[i]), cimag(r[i]),
                      creal(want), cimag(want));
            if (!isnan(creal(want)) && plain(z[i]))
                cr_expect(!signbit(creal(r[i])) == !signbit(creal(want)) && !signbit(cimag(r[i])) == !signbit(cimag(want)),
                          "%s(%g, %g): signs of %g, %g not %g, %g", functions[f].name, creal(z[i]), cimag(z[i]), creal(r[i]),
                          cimag(r[i]), creal(want), cimag(want));
        }
    }
}

// Every combination of zeros, ones, infinities and NaN as parts: abs, angle,
// exp, log and sqrt are of the C library's class with its signs, but where Annex G leaves them open.
Test(cplx, annex_g_part_by_part) {
    static const double v[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN};
    enum { NV = sizeof v / sizeof *v, N = NV * NV };
    cd z[N], r[N];
    double m[N], angle[N];
    for (int i = 0; i < N; i++)
        z[i] = make(v[i / NV], v[i % NV]);
    weft_array a = carray(z, N);
    cd (*const lib[])(cd) = {cexp, clog, csqrt};
    EACH_TIER(g) {
        weft_expr *x = weft_from(g, &a), *made[] = {weft_exp(x), weft_log(x), weft_sqrt(x)};
        for (int f = 0; f < 3; f++) {
            eval_into("function", g, made[f], r);
            for (int i = 0; i < N; i++) {
                cd want = lib[f](z[i]);
                const bool free = f == 0 && isinf(creal(z[i])) && !isfinite(cimag(z[i])); // Annex G leaves the signs open
                const double got[2] = {creal(r[i]), cimag(r[i])}, is[2] = {creal(want), cimag(want)};
                for (int k = 0; k < 2; k++)
                    cr_expect(same_class(got[k], is[k]) && (free || isnan(is[k]) || !signbit(got[k]) == !signbit(is[k])),
                              "function %d of (%g, %g), part %d: %g not %g", f, creal(z[i]), cimag(z[i]), k, got[k], is[k]);
            }
        }
        eval_into("abs", g, weft_abs(x), m);
        eval_into("angle", g, weft_angle(x), angle);
        for (int i = 0; i < N; i++) {
            cr_expect(same_class(m[i], cabs(z[i])), "abs(%g, %g): %g", creal(z[i]), cimag(z[i]), m[i]);
            cr_expect(same_class(angle[i], carg(z[i])) && (isnan(angle[i]) || !signbit(angle[i]) == !signbit(carg(z[i]))),
                      "angle(%g, %g): %g", creal(z[i]), cimag(z[i]), angle[i]);
        }
    }
}

// pow of all pairs of those: the C library's cpow but where the base or the exponent is 0 (docs/numerics.md).
Test(cplx, powers_part_by_part) {
    static const double v[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN};
    enum { NV = sizeof v / sizeof *v, N = NV * NV };
    static cd z[N * N], w[N * N], r[N * N];
    for (int i = 0; i < N * N; i++) {
        int a = i / N, b = i % N;
        z[i] = make(v[a / NV], v[a % NV]), w[i] = make(v[b / NV], v[b % NV]);
    }
    weft_array a = carray(z, N * N), b = carray(w, N * N);
    EACH_TIER(g) {
        eval_into("pow", g, weft_pow(weft_from(g, &a), weft_from(g, &b)), r);
        for (int i = 0; i < N * N; i++) {
            const cd c = w[i];
            cd want = cpow(z[i], c);
            if (c == 0) want = 1;
            if (z[i] == 0 && c != 0) want = creal(c) > 0 ? 0 : make(NAN, NAN);
            double near = 1e-13 * (1 + cabs(want));
            bool same = plain(want) ? plain(r[i]) && cabs(r[i] - want) <= near
                                    : same_class(creal(r[i]), creal(want)) && same_class(cimag(r[i]), cimag(want));
            cr_expect(same, "(%g, %g) ** (%g, %g): %g, %g not %g, %g", creal(z[i]), cimag(z[i]), creal(w[i]), cimag(w[i]),
                      creal(r[i]), cimag(r[i]), creal(want), cimag(want));
        }
    }
}

Test(cplx, functions_are_accurate) {
    enum { N = 20000 };
    static cd z[N], r[N];
    static float complex zf[N], rf[N];
    uint64_t seed = 17;
    for (int i = 0; i < N; i++) {
        double scale = ldexp(1, (int)(next(&seed) % 12) - 7);
        z[i] = make((uniform(&seed) * 2 - 1) * scale, (uniform(&seed) * 2 - 1) * scale);
        if (i % 4 == 0) { // near the unit circle, where log cancels
            double angle = uniform(&seed) * 6.3, eps = ldexp(uniform(&seed), -(int)(next(&seed) % 40));
            z[i] = make(cos(angle) * (1 + eps), sin(angle) * (1 + eps));
        }
        zf[i] = CMPLXF((float)creal(z[i]), (float)cimag(z[i]));
    }
    weft_array a = carray(z, N), af = weft_dense(WEFT_C64, zf, 1, DIMS(N));
    EACH_TIER(g) for (int f = 0; f < NF; f++) {
        double worst = 0;
        eval_into(functions[f].name, g, functions[f].fn(weft_from(g, &a)), r);
        eval_into(functions[f].name, g, functions[f].fn(weft_from(g, &af)), rf);
        for (int i = 0; i < N; i++) {
            cl want = functions[f].ref((cl)z[i]), wantf = functions[f].ref((cl)zf[i]);
            double size = fmax(fabs((double)creall(want)), fabs((double)cimagl(want)));
            worst = fmax(worst, ulps(creal(r[i]), (double)creall(want), size));
            worst = fmax(worst, ulps(cimag(r[i]), (double)cimagl(want), size));
            float wr = (float)creall(wantf), wi = (float)cimagl(wantf), unit = 1.0001f;
            cr_assert(fabsf(crealf(rf[i]) - wr) <= unit * (nextafterf(fabsf(wr), INFINITY) - fabsf(wr)) &&
                          fabsf(cimagf(rf[i]) - wi) <= unit * (nextafterf(fabsf(wi), INFINITY) - fabsf(wi)),
                      "%s of c64 (%a, %a): %a, %a not %a, %a", functions[f].name, (double)crealf(zf[i]),
                      (double)cimagf(zf[i]), (double)crealf(rf[i]), (double)cimagf(rf[i]), (double)wr, (double)wi);
        }
        cr_expect(worst <= functions[f].ulp, "%s: %.2f ulp", functions[f].name, worst);
    }
}

Test(cplx, log_near_one_and_large_arguments) {
    cd z[] = {make(0.8, 0.6), make(1 + 1e-15, 1e-9), make(0.6, 0.8000000001), make(1e308, 1e308), make(5e-324, 5e-324),
              make(1e-200, 1e-250), make(710, 1), make(720, 1.5707963267948966), make(1e300, -1e-300)};
    enum { N = sizeof z / sizeof *z };
    cd l[N], s[N], e[N];
    weft_array a = carray(z, N);
    EACH_TIER(g) {
        eval_into("log", g, weft_log(weft_from(g, &a)), l);
        eval_into("sqrt", g, weft_sqrt(weft_from(g, &a)), s);
        eval_into("exp", g, weft_exp(weft_from(g, &a)), e);
        for (int i = 0; i < N; i++) {
            cl wl = clogl((cl)z[i]), ws = csqrtl((cl)z[i]), we = cexpl((cl)z[i]);
            cr_expect(ulps(creal(l[i]), (double)creall(wl), (double)creall(wl)) <= 3, "log %d: %a not %a", i, creal(l[i]),
                      (double)creall(wl));
            cr_expect(ulps(creal(s[i]), (double)creall(ws), (double)creall(ws)) <= 3 &&
                          ulps(cimag(s[i]), (double)cimagl(ws), (double)cimagl(ws)) <= 3,
                      "sqrt %d: %g %g", i, creal(s[i]), cimag(s[i]));
            if (i != 3 && i != 8)
                cr_expect(ulps(creal(e[i]), (double)creall(we), (double)creall(we)) <= 3 &&
                              ulps(cimag(e[i]), (double)cimagl(we), (double)cimagl(we)) <= 3,
                          "exp %d: %g %g", i, creal(e[i]), cimag(e[i]));
        }
    }
}

Test(cplx, powers) {
    cd z[] = {make(1, 2), make(-0.5, 0.25), make(0, 0), make(3, 0), make(0, -1)};
    cd w[] = {make(0.5, 1), make(2, 0), make(1, 1), make(-1.5, 0.25), make(3, 0)}, r[5];
    weft_array a = carray(z, 5), b = carray(w, 5);
    EACH_TIER(g) {
        weft_expr *x = weft_from(g, &a), *y = weft_from(g, &b);
        eval_into("pow", g, weft_pow(x, y), r);
        for (int i = 0; i < 5; i++) {
            cl want = z[i] == 0 ? 0 : cpowl((cl)z[i], (cl)w[i]);
            cr_expect(cabsl((cl)r[i] - want) <= 1e-15L * (1 + cabsl(want)), "pow %d", i);
        }
        for (int n = -3; n <= 5; n++) {
            eval_into("pow", g, weft_pow(x, weft_int(g, n)), r);
            for (int i = 0; i < 5; i++) {
                if (n <= 0 && z[i] == 0) continue;
                cl want = 1;
                for (int k = 0; k < (n < 0 ? -n : n); k++)
                    want = n < 0 ? want / (cl)z[i] : want * (cl)z[i];
                cr_expect(cabsl((cl)r[i] - want) <= 2e-15L * cabsl(want), "pow %d of %d", n, i);
            }
        }
        double m[5], ang[5];
        eval_into("abs", g, weft_abs(x), m);
        eval_into("angle", g, weft_angle(x), ang);
        for (int i = 0; i < 5; i++)
            cr_expect(fabs(m[i] - cabs(z[i])) <= 1e-15 * m[i] && fabs(ang[i] - carg(z[i])) <= 5e-16);
    }
}

// ---- views, overlap, layout --------------------------------------------------------------------------------
Test(cplx, views_strides_in_place) {
    enum { R = 33, C = 47 };
    static float complex m[R][C], out[C][R];
    for (int tier = 0; tier < 2; tier++)
        for (int unfused = 0; unfused < 2; unfused++) {
            weft_graph *g = weft_graph_new(tiers[tier]);
            weft_eval_opts opts = {.size = sizeof opts, .unfused = unfused};
            for (int i = 0; i < R; i++)
                for (int k = 0; k < C; k++)
                    m[i][k] = CMPLXF((float)(i - k), (float)(i * k % 7) - 3);
            weft_array a = weft_dense(WEFT_C64, m, 2, DIMS(R, C)), o = weft_dense(WEFT_C64, out, 2, DIMS(C, R));
            weft_expr *x = weft_transpose(weft_from(g, &a), NULL), *f = weft_flip(x, 1);
            weft_expr *e = weft_add(weft_mul(x, weft_conj(f)), weft_imaginary(g, 2));
            cr_assert_eq(weft_expr_dtype(e), WEFT_C64);
            must(g, weft_eval(e, &o, &opts));
            for (int i = 0; i < R; i++)
                for (int k = 0; k < C; k++)
                    cr_assert(out[k][i] == m[i][k] * conjf(m[R - 1 - i][k]) + 2 * I, "%d %d", i, k);
            weft_array over = weft_strided(WEFT_C64, m, 2, DIMS(C, R), DIMS(8, 8 * C));
            must(g, weft_eval(e, &over, &opts)); // over its own input, which it reads backwards, too
            for (int i = 0; i < R; i++)
                for (int k = 0; k < C; k++)
                    cr_assert(m[i][k] == out[k][i]);
            float re[3], im[3]; // slices, parts, reshape, diagonal, broadcasting
            weft_expr *d = weft_slice(weft_diagonal(weft_from(g, &a), 1, 0, 1), 0, 2, 5, 1);
            eval_into("re", g, weft_real(d), re);
            eval_into("im", g, weft_imag(d), im);
            for (int i = 0; i < 3; i++)
                cr_expect(re[i] == crealf(m[i + 2][i + 3]) && im[i] == cimagf(m[i + 2][i + 3]));
            float complex joined[2][3];
            weft_array ra = weft_dense(WEFT_F32, re, 1, DIMS(3));
            weft_expr *j = weft_complex(weft_from(g, &ra), weft_float(g, 1.5));
            cr_assert_eq(weft_expr_dtype(j), WEFT_C64);
            eval_into("joined", g, weft_broadcast_to(j, 2, DIMS(2, 3)), joined);
            for (int i = 0; i < 3; i++)
                cr_expect(crealf(joined[1][i]) == re[i] && cimagf(joined[1][i]) == 1.5f);
            weft_graph_free(g);
        }
}

Test(cplx, outputs_that_overlap_are_refused) {
    EACH_TIER(g) {
        cd z[4] = {1, 2, 3, 4}, out[4];
        weft_array a = carray(z, 4), half = weft_strided(WEFT_C128, out, 1, DIMS(3), DIMS(8));
        weft_expr *x = weft_from(g, &a);
        cr_expect_eq(weft_eval(weft_slice(x, 0, 0, 3, 1), &half, NULL), WEFT_EALIAS);
        weft_array lo = carray(out, 2), hi = carray(out + 1, 2);
        weft_expr *s = weft_slice(x, 0, 0, 2, 1);
        cr_expect_eq(weft_eval_n(2, (weft_expr *[]){s, s}, (weft_array[]){lo, hi}, NULL), WEFT_EALIAS);
        weft_array real = vec((double *)out, 4);
        cr_expect_eq(weft_eval(x, &real, NULL), WEFT_EDTYPE);
        must(g, weft_eval_n(3, (weft_expr *[]){s, weft_imag(x), weft_conj(s)},
                            (weft_array[]){lo, vec((double[4]){0}, 4), carray(out + 2, 2)}, NULL));
        cr_expect(out[0] == 1 && out[1] == 2 && out[2] == 1 && out[3] == 2);
    }
}

// ---- reductions and products ---------------------------------------------------------------------------------
Test(cplx, reductions) {
    enum { R = 70, C = 301 };
    static cd z[R][C], col[C], row[R];
    static double re[R][C], im[R][C], pr[C], pi[C], v[R], v1[R], v2[R];
    uint64_t seed = 23;
    for (int i = 0; i < R; i++)
        for (int k = 0; k < C; k++) {
            re[i][k] = uniform(&seed) - 0.5, im[i][k] = uniform(&seed) - 0.25;
            z[i][k] = make(re[i][k], im[i][k]);
        }
    weft_array a = weft_dense(WEFT_C128, z, 2, DIMS(R, C)), b = weft_dense(WEFT_F64, re, 2, DIMS(R, C)),
               c = weft_dense(WEFT_F64, im, 2, DIMS(R, C));
    EACH_TIER(g) {
        weft_expr *x = weft_from(g, &a), *p = weft_from(g, &b), *q = weft_from(g, &c);
        int axis = 0;
        weft_reduce down = along(&axis, false);
        weft_expr *(*const red[])(weft_expr *, const weft_reduce *) = {weft_sum, weft_mean};
        for (int r = 0; r < 2; r++) {
            eval_into("z", g, red[r](x, &down), col);
            eval_into("re", g, red[r](p, &down), pr);
            eval_into("im", g, red[r](q, &down), pi);
            for (int k = 0; k < C; k++)
                cr_assert(same(creal(col[k]), pr[k]) && same(cimag(col[k]), pi[k]));
        }
        int last = 1;
        weft_reduce across = along(&last, false);
        eval_into("var", g, weft_var(x, &across), v);
        eval_into("var", g, weft_var(p, &across), v1);
        eval_into("var", g, weft_var(q, &across), v2);
        for (int i = 0; i < R; i++)
            cr_assert(same(v[i], v1[i] + v2[i]));
        eval_into("prod", g, weft_prod(weft_slice(x, 1, 0, 7, 1), &across), row);
        for (int i = 0; i < R; i++) { // (0 3)(1 4)(2 5) 6 as documented
            cd w = (z[i][0] * z[i][3]) * (z[i][1] * z[i][4]) * ((z[i][6]) * (z[i][2] * z[i][5]));
            cr_assert(cabs(row[i] - w) <= 1e-15 * cabs(w));
        }
        cd all, none;
        int64_t count;
        eval_into("sum", g, weft_sum(x, NULL), &all);
        cr_expect(cabs(all) > 1);
        eval_into("count", g, weft_count_nonzero(x, NULL), &count);
        cr_expect_eq(count, R * C);
        eval_into("empty", g, weft_prod(weft_slice(x, 0, 0, 0, 1), NULL), &none);
        cr_expect(none == 1);
        cr_expect(!weft_max(x, NULL) && weft_graph_status(g) == WEFT_EDTYPE);
    }
}

Test(cplx, nan_modes) {
    EACH_TIER(g) {
        cd z[3] = {make(1, 2), make(NAN, 3), make(4, NAN)}, r;
        weft_array a = carray(z, 3);
        weft_expr *x = weft_from(g, &a);
        weft_reduce skip = {.size = sizeof skip, .nan = WEFT_NAN_SKIP}, raise = {.size = sizeof raise, .nan = WEFT_NAN_RAISE};
        eval_into("nansum", g, weft_sum(x, &skip), &r);
        cr_expect(r == make(1, 2));
        eval_into("nanmean", g, weft_mean(x, &skip), &r);
        cr_expect(r == make(1, 2));
        eval_into("nanprod", g, weft_prod(x, &skip), &r);
        cr_expect(r == make(1, 2));
        weft_array o = weft_dense(WEFT_C128, &r, 0, NULL);
        cr_expect_eq(weft_eval(weft_sum(x, &raise), &o, NULL), WEFT_ENAN);
    }
}

Test(cplx, matrix_products) {
    enum { B = 2, M = 5, K = 9, N = 4 };
    static float complex a[B][M][K], b[K][N], c[B][M][N];
    static float r[K][N];
    for (int i = 0; i < B * M * K; i++)
        (&a[0][0][0])[i] = CMPLXF((float)(i % 11 - 5), (float)(i % 7 - 3));
    for (int i = 0; i < K * N; i++) {
        (&b[0][0])[i] = CMPLXF((float)(i % 5 - 2), (float)(i % 3 - 1));
        (&r[0][0])[i] = (float)(i % 5 - 2);
    }
    weft_array aa = weft_dense(WEFT_C64, a, 3, DIMS(B, M, K)), ba = weft_dense(WEFT_C64, b, 2, DIMS(K, N)),
               ra = weft_dense(WEFT_F32, r, 2, DIMS(K, N));
    EACH_TIER(g) for (int real = 0; real < 2; real++) {
        weft_expr *x = weft_from(g, &aa), *y = weft_from(g, real ? &ra : &ba);
        eval_into("matmul", g, weft_matmul(x, y), c);
        for (int i = 0; i < B * M * N; i++) {
            float complex want = 0;
            for (int k = 0; k < K; k++)
                want += (&a[0][0][0])[i / N * K + k] * (real ? r[k][i % N] : b[k][i % N]);
            cr_assert(want == (&c[0][0][0])[i], "%d", i);
        }
        float complex dot;
        weft_array va = weft_dense(WEFT_C64, a, 1, DIMS(K));
        eval_into("dot", g, weft_dot(weft_conj(weft_from(g, &va)), weft_from(g, &va)), &dot);
        float want = 0;
        for (int k = 0; k < K; k++)
            want += crealf(a[0][0][k] * conjf(a[0][0][k]));
        cr_expect(dot == want);
    }
}

// ---- types, programs -------------------------------------------------------------------------------------------
Test(cplx, types_and_literals) {
    weft_graph *g = weft_graph_new(tiers[0]);
    static const struct {
        weft_dtype with, literal; // and what an imaginary literal makes of it
    } meet[] = {{WEFT_F32, WEFT_C64}, {WEFT_F16, WEFT_C64}, {WEFT_BF16, WEFT_C64}, {WEFT_F64, WEFT_C128},
                {WEFT_I8, WEFT_C128}, {WEFT_BOOL, WEFT_C128}, {WEFT_C64, WEFT_C64}, {WEFT_C128, WEFT_C128}};
    for (size_t i = 0; i < sizeof meet / sizeof *meet; i++) {
        char data[16] = {0};
        weft_array a = weft_dense(meet[i].with, data, 1, DIMS(1));
        weft_expr *x = weft_from(g, &a);
        cr_expect_eq(weft_expr_dtype(weft_mul(x, weft_imaginary(g, 1))), meet[i].literal);
        cr_expect_eq(weft_expr_dtype(weft_add(weft_add(weft_float(g, 1), weft_imaginary(g, 1)), x)), meet[i].literal);
    }
    static const weft_dtype kinds[] = {WEFT_BOOL, WEFT_I8, WEFT_U16, WEFT_I32, WEFT_U64, WEFT_F32, WEFT_F64, WEFT_F16, WEFT_C64};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char data[16] = {0};
        float complex z = 0;
        weft_array a = weft_dense(kinds[i], data, 1, DIMS(1)), b = weft_dense(WEFT_C64, &z, 1, DIMS(1));
        weft_expr *x = weft_add(weft_from(g, &a), weft_from(g, &b));
        cr_expect_eq(weft_expr_dtype(x), weft_result_type(kinds[i], WEFT_C64), "%s", weft_dtype_name(kinds[i]));
        cr_expect_eq(weft_expr_dtype(weft_where(weft_from(g, &a), x, weft_int(g, 1))), weft_expr_dtype(x));
    }
    cd z = make(-3.75, 300), back;
    weft_expr *s = weft_scalar(g, WEFT_C128, &z);
    signed char i8;
    double d;
    uint16_t h;
    eval_into("i8", g, weft_cast(s, WEFT_I8), &i8);
    eval_into("f64", g, weft_cast(s, WEFT_F64), &d);
    eval_into("f16", g, weft_cast(s, WEFT_F16), &h);
    eval_into("c128", g, weft_cast(weft_cast(s, WEFT_C64), WEFT_C128), &back);
    cr_expect(i8 == -3 && d == -3.75 && h == 0xc380 && back == z);
    weft_expr *(*const refused[])(weft_expr *, weft_expr *) = {weft_less, weft_maximum, weft_floor_divide, weft_remainder,
                                                               weft_atan2, weft_hypot, weft_bitwise_and};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        weft_graph_reset(g);
        s = weft_scalar(g, WEFT_C128, &z);
        cr_expect(!refused[i](s, s) && weft_graph_status(g) == WEFT_EDTYPE, "%zu", i);
    }
    weft_graph_free(g);
}

Test(cplx, programs_take_complex_inputs_of_other_extents) {
    EACH_TIER(g) {
        weft_expr *s = weft_input(g, "s", WEFT_F64, 0, NULL), *z = weft_input(g, "z", WEFT_C128, 2, DIMS(3, 4)),
                  *w = weft_input(g, "w", WEFT_C128, 1, DIMS(4));
        weft_expr *y = weft_add(weft_mul(z, w), s), *v = weft_slice(weft_transpose(y, NULL), 0, 1, WEFT_NONE, 1);
        weft_program *p;
        must(g, weft_compile(3, (weft_expr *[]){v, weft_abs(z), weft_conj(w)}, &p));
        cr_expect(weft_program_inputs(p) == 3 && weft_program_outputs(p) == 3);
        for (int n = 2; n < 8; n++) {
            cd zs[8][8], ws[8], vs[8][8], cs[8];
            double as[8][8], sv = 0.5;
            for (int i = 0; i < 64; i++)
                zs[i / 8][i % 8] = make(i, 1 - i), ws[i % 8] = make(i % 8, 2);
            weft_array in[3] = {weft_dense(WEFT_F64, &sv, 0, NULL), weft_strided(WEFT_C128, zs, 2, DIMS(n + 1, n), DIMS(128, 16)),
                                weft_dense(WEFT_C128, ws, 1, DIMS(n))};
            weft_array out[3] = {weft_strided(WEFT_C128, vs, 2, DIMS(n - 1, n + 1), DIMS(128, 16)),
                                 weft_strided(WEFT_F64, as, 2, DIMS(n + 1, n), DIMS(64, 8)),
                                 weft_dense(WEFT_C128, cs, 1, DIMS(n))};
            char err[200];
            if (n == 7) continue; // 8 rows of 7 would do; extents above stay inside the arrays
            cr_assert_eq(weft_run(p, NULL, in, out, err, sizeof err), WEFT_OK, "%s", err);
            for (int i = 0; i < n + 1; i++)
                for (int k = 1; k < n; k++)
                    cr_assert(vs[k - 1][i] == zs[i][k] * ws[k] + sv && fabs(as[i][k] - cabs(zs[i][k])) <= 1e-15 * as[i][k]);
            for (int k = 0; k < n; k++)
                cr_assert(cs[k] == conj(ws[k]));
            in[2].dtype = WEFT_C64;
            cr_expect_eq(weft_run(p, NULL, in, out, err, sizeof err), WEFT_EDTYPE);
            cr_expect(strstr(err, "(w)") != NULL, "%s", err);
        }
        weft_program_free(p);
    }
}
