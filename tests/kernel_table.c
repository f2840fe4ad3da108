// SPDX-License-Identifier: MIT
// The README's table of kernels, out of the registry: one line a family, for each float type the bound of its
// error in ULP and where an assembly body runs. tests/test_readme.py holds the README to it.
#include <stdio.h>
#include <string.h>

#include "kernels/kern.h"

static const char *const names[] = {
#define F(name) #name,
    KERN_FAMILIES(F)
#undef F
};

static void print_type(enum kern_family f, weft_dtype t) {
    size_t n;
    const struct kern_row *rows = kern_rows(&n), *first = NULL;
    bool wide = false, narrow = false;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].family != f || rows[i].dtype != t) continue;
        if (!first) first = &rows[i];
        if (rows[i].block) *(rows[i].isa == KERN_AVX512 ? &wide : &narrow) = true;
    }
    if (!first)
        printf(" |  |  ");
    else
        printf(" | %g | %s", first->ulp, wide && narrow ? "AVX-512, AVX2" : wide ? "AVX-512" : narrow ? "AVX2" : "C");
}

int main(void) {
    printf("| function | f64 ULP | f64 by | f32 ULP | f32 by |\n|---|---|---|---|---|\n");
    for (int f = 0; f < KERN_FAMILY__N; f++) {
        if (!kern_find((enum kern_family)f, WEFT_F64, KERN_BASE) && !kern_find((enum kern_family)f, WEFT_F32, KERN_BASE)) continue;
        printf("| %s", names[f]);
        print_type((enum kern_family)f, WEFT_F64);
        print_type((enum kern_family)f, WEFT_F32);
        printf(" |\n");
    }
    return 0;
}
