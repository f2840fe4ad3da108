// SPDX-License-Identifier: MIT
// Introduces: all pairs by broadcasting, [n,1] against [1,n], which never exist in memory: one leapfrog step of bodies
// under gravity as a program whose outputs are its inputs. Arguments: bodies, steps.
#include <math.h>
#include <string.h>

#include "check.h"

enum { X, Y, Z, VX, VY, VZ, STATE };

static weft_expr *over_last(weft_expr *x) {
    const int axis = 1;
    return weft_sum(x, &(weft_reduce){.size = sizeof(weft_reduce), .axes = &axis, .naxes = 1});
}

// v += dt a(x), then x += dt v. a_i = sum_j m_j (x_j - x_i) / (|x_j - x_i|^2 + soft^2)^(3/2)
static weft_program *step(weft_graph *g, int64_t n, double dt, double soft) {
    static const char *const names[STATE] = {"x", "y", "z", "vx", "vy", "vz"};
    weft_expr *s[STATE], *d[3], *r2 = weft_float(g, soft * soft);
    for (int i = 0; i < STATE; i++)
        s[i] = weft_input(g, names[i], WEFT_F64, 1, &n);
    weft_expr *m = weft_input(g, "mass", WEFT_F64, 1, &n);
    for (int i = 0; i < 3; i++) {
        d[i] = weft_sub(weft_expand_dims(s[i], 0), weft_expand_dims(s[i], 1)); // [i, j]: from i to j
        r2 = weft_add(r2, weft_mul(d[i], d[i]));
    }
    weft_expr *pull = weft_true_divide(weft_expand_dims(m, 0), weft_mul(r2, weft_sqrt(r2)));
    weft_expr *roots[STATE];
    for (int i = 0; i < 3; i++) {
        roots[VX + i] = weft_add(s[VX + i], weft_mul(over_last(weft_mul(pull, d[i])), weft_float(g, dt)));
        roots[i] = weft_add(s[i], weft_mul(roots[VX + i], weft_float(g, dt)));
    }
    return compiled(g, STATE, roots);
}

static void plain(int64_t n, double *const s[STATE], const double *m, double dt, double soft) {
    for (int64_t i = 0; i < n; i++) {
        double a[3] = {0, 0, 0};
        for (int64_t j = 0; j < n; j++) {
            const double dx = s[X][j] - s[X][i], dy = s[Y][j] - s[Y][i], dz = s[Z][j] - s[Z][i];
            const double r2 = soft * soft + dx * dx + dy * dy + dz * dz, pull = m[j] / (r2 * sqrt(r2));
            a[0] += pull * dx;
            a[1] += pull * dy;
            a[2] += pull * dz;
        }
        for (int k = 0; k < 3; k++)
            s[VX + k][i] += dt * a[k];
    }
    for (int k = 0; k < 3; k++)
        for (int64_t i = 0; i < n; i++)
            s[k][i] += dt * s[VX + k][i];
}

static void run(const weft_program *p, weft_workspace *ws, int64_t n, double *const s[STATE], double *m, int steps) {
    weft_array state[STATE + 1];
    for (int i = 0; i < STATE; i++)
        state[i] = weft_dense(WEFT_F64, s[i], 1, &n);
    state[STATE] = weft_dense(WEFT_F64, m, 1, &n);
    for (int i = 0; i < steps; i++)
        go(p, ws, state, state); // the outputs take the place of the inputs
}

static double energy(int64_t n, double *const s[STATE], const double *m, double soft) {
    double e = 0;
    for (int64_t i = 0; i < n; i++) {
        e += 0.5 * m[i] * (s[VX][i] * s[VX][i] + s[VY][i] * s[VY][i] + s[VZ][i] * s[VZ][i]);
        for (int64_t j = 0; j < i; j++) {
            const double dx = s[X][j] - s[X][i], dy = s[Y][j] - s[Y][i], dz = s[Z][j] - s[Z][i];
            e -= m[i] * m[j] / sqrt(soft * soft + dx * dx + dy * dy + dz * dz);
        }
    }
    return e;
}

// Two bodies of mass 1/2 at distance 1 circle each other in 2 pi: after one turn they are where they were.
static void two_bodies(weft_ctx *ctx) {
    enum { TURN = 20000 };
    double x[] = {-0.5, 0.5}, y[2] = {0}, z[2] = {0}, vx[2] = {0}, vy[] = {-0.5, 0.5}, vz[2] = {0}, m[] = {0.5, 0.5};
    double *s[STATE] = {x, y, z, vx, vy, vz};
    weft_graph *g = weft_graph_new(ctx);
    weft_program *p = step(g, 2, 2 * 3.14159265358979323846 / TURN, 1e-6);
    run(p, NULL, 2, s, m, TURN);
    printf("after one turn: (%.6f, %.6f)\n", x[1], y[1]);
    expect(fabs(x[1] - 0.5) < 1e-3 && fabs(y[1]) < 1e-3, "a circle that closes");
    weft_program_free(p);
    weft_graph_free(g);
}

int main(int argc, char **argv) {
    const int64_t n = argc > 1 ? atoll(argv[1]) : 512;
    const int steps = argc > 2 ? atoi(argv[2]) : 20;
    expect(n > 1 && steps > 0, "bodies and steps");
    const double dt = 1e-3, soft = 0.05;
    const size_t size = (size_t)n * STATE;
    double *memory = malloc((2 * size + (size_t)n) * sizeof *memory), *s[STATE], *c[STATE], *m = memory + 2 * size;
    expect(memory != NULL, "memory");
    weft_ctx *ctx = compiling();
    two_bodies(ctx);
    weft_graph *g = weft_graph_new(ctx);
    const weft_array start = weft_dense(WEFT_F64, memory, 2, (const int64_t[]){STATE, n});
    must(weft_eval(weft_random_normal(g, (weft_stream){.key = 1, .offset = 0}, WEFT_F64, 2, start.dims), &start, NULL), g);
    weft_graph_reset(g);
    memcpy(memory + size, memory, size * sizeof *memory);
    for (int64_t i = 0; i < STATE; i++) {
        s[i] = memory + i * n;
        c[i] = memory + (int64_t)size + i * n;
    }
    for (int64_t i = 0; i < n; i++)
        m[i] = 1.0 / (double)n;
    weft_program *p = step(g, n, dt, soft);
    weft_workspace *ws = NULL;
    must(weft_workspace_new(ctx, &ws), NULL);
    const double before = energy(n, s, m, soft);
    run(p, ws, n, s, m, steps);
    for (int i = 0; i < steps; i++)
        plain(n, c, m, dt, soft);
    double worst = 0, momentum = 0, first = 0;
    for (size_t i = 0; i < size; i++)
        worst = fmax(worst, fabs(memory[i] - memory[size + i]));
    const double after = energy(n, s, m, soft);
    for (int64_t i = 0; i < n; i++) {
        momentum += m[i] * s[VX][i];
        first += m[i] * c[VX][i];
    }
    double with_weft, with_c;
    LEAST_TIME(&with_weft, 3, run(p, ws, n, s, m, 1));
    LEAST_TIME(&with_c, 3, plain(n, c, m, dt, soft));
    speed("one step", with_weft, with_c);
    printf("%lld bodies, %d steps: energy %.9f, then %.9f; %.1e from the plain loop; workspace %zu bytes\n", (long long)n, steps, before,
           after, worst, weft_program_workspace_size(p));
    expect(worst < 1e-9, "the plain loop's orbits");
    expect(fabs(after - before) < 1e-3 * fabs(before), "energy is kept");
    expect(fabs(momentum - first) < 1e-12, "momentum is kept");
    weft_workspace_free(ws);
    weft_program_free(p);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    free(memory);
    return 0;
}
