// SPDX-License-Identifier: MIT
// The figures of docs/exhaustive.md: every kernel with a bound has a line, and its input shows the error that stands
// there, now, below the bound of kernels.def. So a recipe that changes takes its line along.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mathref.h"

struct witness {
    char family[32];
    double ulp, a, b;
    weft_dtype dtype;
    bool two;
};
enum { MOST = 256 };
static struct witness lines[MOST];
static int nlines;

// | name | ulp | input[, input] | ... under a heading that names the type
static void read_lines(void) {
    FILE *f = fopen(EXHAUSTIVE_MD, "r");
    char line[512];
    weft_dtype t = WEFT_F64;
    cr_assert(f, "%s", EXHAUSTIVE_MD);
    while (fgets(line, sizeof line, f)) {
        struct witness w = {.dtype = t};
        char *end;
        if (line[0] == '#') t = strstr(line, "f32") ? WEFT_F32 : WEFT_F64;
        if (sscanf(line, "| %31[a-z0-9_] | %lf | ", w.family, &w.ulp) != 2) continue;
        const char *p = strchr(strchr(line + 2, '|') + 1, '|') + 1;
        w.a = strtod(p, &end);
        w.two = *end == ',';
        if (w.two) w.b = strtod(end + 1, NULL);
        cr_assert(nlines < MOST);
        lines[nlines++] = w;
    }
    fclose(f);
    cr_assert(nlines > 60);
}

static double error_of(const struct kern_row *r, const struct witness *w) {
    double a = w->a, b = w->b, out;
    float fa = (float)a, fb = (float)b, fout;
    const bool wide = r->dtype == WEFT_F64;
    r->fn(wide ? (void *)&out : (void *)&fout, wide ? (void *)&a : (void *)&fa, wide ? (void *)&b : (void *)&fb, 1);
    cr_assert(wide || ((double)fa == a && (double)fb == b), "%s: not floats", r->symbol);
    return mathref_ulp(r->family, r->dtype, a, b, wide ? out : (double)fout);
}

Test(witness, every_kernel) {
    size_t n;
    const struct kern_row *rows = kern_rows(&n);
    read_lines();
    for (size_t i = 0; i < n; i++) {
        const struct kern_row *r = &rows[i];
        const bool real = r->dtype == WEFT_F64 || r->dtype == WEFT_F32;
        if (!real || !mathref_has(r->family) || r->isa > kern_isa_detect() || r->ulp == 0) continue;
        int found = 0;
        for (int k = 0; k < nlines; k++) {
            const struct witness *w = &lines[k];
            if (strcmp(w->family, mathref_name(r->family)) != 0 || w->dtype != r->dtype) continue;
            const double ulp = error_of(r, w);
            cr_expect(w->two == mathref_binary(r->family), "%s", r->symbol);
            cr_expect(fabs(ulp - w->ulp) <= 0.0000501, "%s: %.6f ULP at %a, %a, not %g", r->symbol, ulp, w->a, w->b, w->ulp);
            cr_expect(w->ulp <= r->ulp, "%s: %g ULP, allowed %g", r->symbol, w->ulp, r->ulp);
            found++;
        }
        cr_expect(found == 1, "%s: %d lines in docs/exhaustive.md", r->symbol, found);
    }
    mathref_free();
}
