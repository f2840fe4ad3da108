// SPDX-License-Identifier: MIT
// Template: integer leaves. The including file defines elem (unsigned: the bits of a wrapping
// product and sum do not depend on the sign) and OPS. Vectors are the compiler's generic ones.
#include "gemm.h"

#if defined(KERN_VARIANT_avx512)
#define VECTOR_BYTES 64
#elif defined(KERN_VARIANT_avx2)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
typedef elem vec __attribute__((vector_size(VECTOR_BYTES)));
#define LANES ((int)(VECTOR_BYTES / sizeof(elem)))
#define MR 4
#define NV 2
#define DIRECT 0
static inline vec v_zero(void) {
    return (vec){0};
}
static inline vec v_load(const unsigned char *p) {
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline vec v_load_part(const unsigned char *p, int n) {
    vec v = {0};
    memcpy(&v, p, (size_t)n * sizeof(elem));
    return v;
}
static inline void v_store(unsigned char *p, vec v) {
    memcpy(p, &v, sizeof v);
}
static inline void v_store_part(unsigned char *p, vec v, int n) {
    memcpy(p, &v, (size_t)n * sizeof(elem));
}
