// SPDX-License-Identifier: MIT
// The leaf room: strips of numbers in, strips of numbers out. Precompiled kernels, each with a C recipe
// as its specification, chosen once per context for the instruction set in use. Knows no graph, no plan.
#ifndef WEFT_KERN_H
#define WEFT_KERN_H

#include "../base.h"

// ---- the machine ------------------------------------------------------------------------------------
enum kern_isa {
    KERN_BASE,   // what the architecture guarantees (x86-64: SSE2; aarch64: NEON with FMA)
    KERN_AVX2,   // x86-64-v3: AVX2, FMA, BMI2, F16C
    KERN_AVX512, // x86-64-v4: AVX-512 F BW DQ VL CD
    KERN_ISA__N
};
enum kern_isa kern_isa_detect(void);              // CPUID and XGETBV (the OS must save the state)
enum kern_isa kern_isa_capped(weft_isa cap);      // detect, then cap
const char *kern_isa_name(enum kern_isa isa);     // "base", "avx2", "avx512"
struct kern_cache { size_t l1d, l2, l3; };        // bytes; sane defaults when unknown
struct kern_cache kern_cache_sizes(void);

// ---- elementwise kernels ------------------------------------------------------------------------------
// out[i] = f(a[i], b[i]) for i < n, all unit stride, any alignment, n may be 0. out may equal a or b
// exactly; it must not overlap them otherwise. Unary kernels ignore b.
typedef void kern_map(void *out, const void *a, const void *b, size_t n);

// Families, named as the operations are. The order here is the order of the enum.
#define KERN_FAMILIES(F)                                                                           \
    F(exp) F(exp2) F(expm1) F(log) F(log2) F(log10) F(log1p)                                       \
    F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) F(atan2)                                          \
    F(sinh) F(cosh) F(tanh) F(asinh) F(acosh) F(atanh)                                             \
    F(pow) F(hypot) F(cbrt) F(sigmoid) F(erf) F(erfc)                                              \
    F(gelu_erf) F(gelu_tanh) F(silu) F(softplus)                                                   \
    F(floor_divide) F(remainder)
enum kern_family {
#define F(name) KERN_F_##name,
    KERN_FAMILIES(F)
#undef F
    KERN_FAMILY__N
};

struct kern_row {
    enum kern_family family;
    weft_dtype dtype;      // of operands and result
    enum kern_isa isa;     // the least level it runs on
    const char *symbol;
    kern_map *fn;
    double ulp;            // measured maximum error, 0.5 = correctly rounded, 0 = exact (integers)
};
// All rows of kernels.def, best instruction set first within a family and dtype.
const struct kern_row *kern_rows(size_t *n);
// The best row at or below isa, or NULL when the family has no kernel for dtype.
const struct kern_row *kern_find(enum kern_family f, weft_dtype t, enum kern_isa isa);

// ---- matrix product -------------------------------------------------------------------------------------
// C[m,n] = A[m,k] B[k,n]; strides in bytes, any sign, 0 allowed for A and B. C is written, never read.
// The order of accumulation depends on k alone: blocks of KERN_GEMM_KC, one FMA chain each (integers:
// wrapping), blocks added in order; so any partition of C into calls gives the same bits.
#define KERN_GEMM_KC 256
struct kern_gemm {
    weft_dtype dtype;
    enum kern_isa isa;
    int64_t m, n, k;
    const void *a, *b;
    int64_t a_rs, a_cs, b_rs, b_cs; // byte strides of rows and columns
    void *c;
    int64_t c_rs, c_cs;
    void *scratch;                  // kern_gemm_scratch bytes, 64-byte aligned
};
size_t kern_gemm_scratch(const struct kern_gemm *g);
void kern_gemm_run(const struct kern_gemm *g);

#endif
