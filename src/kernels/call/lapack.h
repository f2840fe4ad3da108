// SPDX-License-Identifier: MIT
// LAPACK as these kernels call it: one matrix at a time, column-major and dense, in the caller's memory. The
// library that CMake found is opened when it is first needed, with its symbols kept from the host.
#ifndef WEFT_KERN_LAPACK_H
#define WEFT_KERN_LAPACK_H

#include "call.h"

// Fortran's calling convention: everything by address, lengths of characters by value at the end.
typedef void lapack_potrf(const char *uplo, const int *n, void *a, const int *lda, int *info, size_t);
typedef void lapack_getrf(const int *m, const int *n, void *a, const int *lda, int *pivot, int *info);
typedef void lapack_getrs(const char *trans, const int *n, const int *cols, const void *a, const int *lda,
                          const int *pivot, void *b, const int *ldb, int *info, size_t);
typedef void lapack_trtrs(const char *uplo, const char *trans, const char *diag, const int *n, const int *cols,
                          const void *a, const int *lda, void *b, const int *ldb, int *info, size_t, size_t, size_t);
typedef void lapack_geqrf(const int *m, const int *n, void *a, const int *lda, void *tau, void *work,
                          const int *lwork, int *info);
typedef void lapack_orgqr(const int *m, const int *n, const int *k, void *a, const int *lda, const void *tau,
                          void *work, const int *lwork, int *info);
typedef void lapack_syevd(const char *job, const char *uplo, const int *n, void *a, const int *lda, void *w,
                          void *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t, size_t);
typedef void lapack_gesdd(const char *job, const int *m, const int *n, void *a, const int *lda, void *s, void *u,
                          const int *ldu, void *vt, const int *ldvt, void *work, const int *lwork, int *iwork,
                          int *info, size_t);
#define LAPACK_NAMES(F) F(potrf) F(getrf) F(getrs) F(trtrs) F(geqrf) F(orgqr) F(syevd) F(gesdd)
struct lapack {
#define F(name) lapack_##name *name;
    LAPACK_NAMES(F)
#undef F
};
// The functions for t (f32 or f64), or NULL with a sentence in err.
const struct lapack *lapack_for(weft_dtype t, struct base_err *err);

#endif
