// SPDX-License-Identifier: MIT
// Linear algebra by LAPACK over the last two axes, one matrix of the batch at a time: packed column-major into
// this worker's scratch, decomposed there, unpacked into the outputs. Matrices are independent, so the batch is
// shared among threads and the result does not depend on how many there are; what one matrix gives
// is LAPACK's.
//
//   cholesky   A = L L^T, lower triangle read (attribute 1: upper, A = U^T U)          xPOTRF
//   solve      A X = B by LU with partial pivoting                                     xGETRF, xGETRS
//   triangular A X = B, attributes: upper, transposed, unit diagonal                   xTRTRS
//   lu         packed L and U, i64 row exchanges (0-based)                             xGETRF
//   qr         Q (m x k) and R (k x n), k = min(m, n)                                  xGEQRF, xORGQR
//   eigh       eigenvalues in rising order and vectors, lower triangle read            xSYEVD
//   svd        U, singular values in falling order, V^T; attribute: whole U and V^T    xGESDD
#include <stdatomic.h>

#include "lapack.h"

enum { BLOCK = 64 }; // columns LAPACK works on at once, for the size of its work arrays

struct matrix {
    int64_t rows, cols, rs, cs; // strides in bytes
};
struct job {
    const struct kern_call *c;
    const struct lapack *f;
    size_t size;          // of an element
    int m, n, k;          // of the first operand; k = min(m, n)
    int64_t worker_bytes;
    _Atomic int64_t bad;  // the least item that failed, or INT64_MAX
};

static struct matrix last_two(const weft_array *a) {
    const int r = a->rank;
    return (struct matrix){a->dims[r - 2], a->dims[r - 1], a->strides[r - 2], a->strides[r - 1]};
}

// The address of matrix (or vector, tail = 1) number i of a batch.
static char *item(const weft_array *a, int tail, int64_t i) {
    int64_t at = 0;
    for (int d = a->rank - tail - 1; d >= 0; d--) {
        at += i % a->dims[d] * a->strides[d];
        i /= a->dims[d];
    }
    return call_at(a->data, at);
}

static void load(const struct job *j, const weft_array *a, int64_t i, void *to) {
    const struct matrix x = last_two(a);
    const char *from = item(a, 2, i);
    for (int64_t c = 0; c < x.cols; c++)
        call_pack((char *)to + (size_t)(c * x.rows) * j->size, call_at(from, c * x.cs), x.rs, j->size, x.rows);
}

static void store(const struct job *j, const weft_array *a, int64_t i, const void *from, int ld) {
    if (!a->data) return;
    const struct matrix x = last_two(a);
    char *to = item(a, 2, i);
    for (int64_t c = 0; c < x.cols; c++)
        call_unpack(call_at(to, c * x.cs), x.rs, (const char *)from + (size_t)(c * ld) * j->size, j->size, x.rows);
}

static void store_vector(const struct job *j, const weft_array *a, int64_t i, const void *from) {
    if (a->data) call_unpack(item(a, 1, i), a->strides[a->rank - 1], from, j->size, a->dims[a->rank - 1]);
}

// The other triangle of a column-major matrix to 0: keep_lower leaves row >= column.
static void clear_triangle(const struct job *j, void *a, int rows, int cols, bool keep_lower) {
    for (int c = 0; c < cols; c++) {
        const int from = keep_lower ? 0 : c + 1, to = keep_lower ? MIN_OF(c, rows) : rows;
        if (to > from) memset((char *)a + ((size_t)c * (size_t)rows + (size_t)from) * j->size, 0, (size_t)(to - from) * j->size);
    }
}

// ---- room: consecutive pieces of a worker's scratch -------------------------------------------------------
struct room {
    char *at;
};
static void *piece(struct room *r, int64_t bytes) {
    void *p = r->at;
    r->at += call_round(bytes);
    return p;
}

// Elements of LAPACK's work array and integers beside it.
static int64_t work_elements(const struct job *j) {
    const int64_t m = j->m, n = j->n, k = j->k;
    switch (j->c->op) {
    case KERN_C_qr: return MAX_OF(1, n) * BLOCK;
    case KERN_C_eigh: return 1 + 6 * n + 2 * n * n + n * BLOCK;
    case KERN_C_svd: return 4 * k * k + 7 * k + MAX_OF(m, n) * (BLOCK + 2);
    default: return 0;
    }
}
static int64_t work_ints(const struct job *j) {
    switch (j->c->op) {
    case KERN_C_eigh: return 3 + 5 * (int64_t)j->n;
    case KERN_C_svd: return 8 * (int64_t)j->k;
    default: return MAX_OF(j->m, 1);
    }
}

static int64_t bytes_for_worker(const struct job *j) {
    const int64_t s = (int64_t)j->size, m = j->m, n = j->n, side = MAX_OF(m, n);
    const bool second = j->c->nin > 1;
    int64_t bytes = call_round(m * n * s) + call_round(work_elements(j) * s) + call_round(work_ints(j) * 4);
    if (second) bytes += call_round(last_two(&j->c->in[1]).rows * last_two(&j->c->in[1]).cols * s);
    if (j->c->op == KERN_C_svd) bytes += 2 * call_round(side * side * s);
    return bytes + 2 * call_round((side + 1) * s); // tau, eigenvalues or singular values
}

// ---- one matrix each ------------------------------------------------------------------------------------
typedef int one_fn(const struct job *j, int64_t i, struct room *r);

static int one_cholesky(const struct job *j, int64_t i, struct room *r) {
    const bool upper = j->c->attr[0];
    int info = 0;
    void *a = piece(r, (int64_t)j->m * j->n * (int64_t)j->size);
    load(j, &j->c->in[0], i, a);
    j->f->potrf(upper ? "U" : "L", &j->n, a, &j->m, &info, 1);
    clear_triangle(j, a, j->m, j->n, !upper);
    store(j, &j->c->out[0], i, a, j->m);
    return info;
}

static int one_solve(const struct job *j, int64_t i, struct room *r) {
    const struct matrix b = last_two(&j->c->in[1]);
    const int cols = (int)b.cols;
    int info = 0, *pivot = piece(r, work_ints(j) * 4);
    void *a = piece(r, (int64_t)j->m * j->n * (int64_t)j->size), *x = piece(r, b.rows * b.cols * (int64_t)j->size);
    load(j, &j->c->in[0], i, a);
    load(j, &j->c->in[1], i, x);
    j->f->getrf(&j->m, &j->n, a, &j->m, pivot, &info);
    if (!info) j->f->getrs("N", &j->n, &cols, a, &j->m, pivot, x, &j->m, &info, 1);
    store(j, &j->c->out[0], i, x, j->m);
    return info;
}

static int one_triangular(const struct job *j, int64_t i, struct room *r) {
    const int64_t *flag = j->c->attr;
    const struct matrix b = last_two(&j->c->in[1]);
    const int cols = (int)b.cols;
    int info = 0;
    void *a = piece(r, (int64_t)j->m * j->n * (int64_t)j->size), *x = piece(r, b.rows * b.cols * (int64_t)j->size);
    load(j, &j->c->in[0], i, a);
    load(j, &j->c->in[1], i, x);
    j->f->trtrs(flag[0] ? "U" : "L", flag[1] ? "T" : "N", flag[2] ? "U" : "N", &j->n, &cols, a, &j->m, x, &j->m,
                &info, 1, 1, 1);
    store(j, &j->c->out[0], i, x, j->m);
    return info;
}

static int one_lu(const struct job *j, int64_t i, struct room *r) {
    int info = 0, *pivot = piece(r, work_ints(j) * 4);
    void *a = piece(r, (int64_t)j->m * j->n * (int64_t)j->size);
    const weft_array *out = &j->c->out[1];
    load(j, &j->c->in[0], i, a);
    j->f->getrf(&j->m, &j->n, a, &j->m, pivot, &info);
    store(j, &j->c->out[0], i, a, j->m);
    for (int k = 0; out->data && k < j->k; k++) {
        const int64_t row = pivot[k] - 1;
        memcpy(call_at(item(out, 1, i), k * out->strides[out->rank - 1]), &row, sizeof row);
    }
    return MIN_OF(info, 0); // a zero on the diagonal is an answer
}

static int one_qr(const struct job *j, int64_t i, struct room *r) {
    const int64_t size = (int64_t)j->size;
    const int lwork = (int)work_elements(j);
    int info = 0;
    void *a = piece(r, (int64_t)j->m * j->n * size), *work = piece(r, work_elements(j) * size);
    void *tau = piece(r, (j->k + 1) * size);
    load(j, &j->c->in[0], i, a);
    j->f->geqrf(&j->m, &j->n, a, &j->m, tau, work, &lwork, &info);
    const weft_array *q = &j->c->out[0], *rr = &j->c->out[1];
    if (rr->data) { // the upper triangle, zeros below
        const struct matrix x = last_two(rr);
        static const char zero[8] = {0};
        for (int64_t c = 0; c < x.cols; c++) {
            const int64_t full = MIN_OF(c + 1, x.rows);
            char *to = call_at(item(rr, 2, i), c * x.cs);
            call_unpack(to, x.rs, (const char *)a + (size_t)(c * j->m) * j->size, j->size, full);
            for (int64_t k = full; k < x.rows; k++)
                memcpy(call_at(to, k * x.rs), zero, j->size);
        }
    }
    if (!info && q->data) {
        j->f->orgqr(&j->m, &j->k, &j->k, a, &j->m, tau, work, &lwork, &info);
        store(j, q, i, a, j->m);
    }
    return info;
}

static int one_eigh(const struct job *j, int64_t i, struct room *r) {
    const int64_t size = (int64_t)j->size;
    const int lwork = (int)work_elements(j), liwork = (int)work_ints(j);
    int info = 0, *iwork = piece(r, work_ints(j) * 4);
    void *a = piece(r, (int64_t)j->m * j->n * size), *work = piece(r, work_elements(j) * size);
    void *w = piece(r, (j->n + 1) * size);
    load(j, &j->c->in[0], i, a);
    j->f->syevd(j->c->out[1].data ? "V" : "N", "L", &j->n, a, &j->m, w, work, &lwork, iwork, &liwork, &info, 1, 1);
    store_vector(j, &j->c->out[0], i, w);
    store(j, &j->c->out[1], i, a, j->m);
    return info;
}

static int one_svd(const struct job *j, int64_t i, struct room *r) {
    const int64_t size = (int64_t)j->size, side = MAX_OF(j->m, j->n);
    const bool whole = j->c->attr[0], vectors = j->c->out[0].data || j->c->out[2].data;
    const int lwork = (int)work_elements(j), ldvt = whole ? j->n : MAX_OF(j->k, 1);
    int info = 0, *iwork = piece(r, work_ints(j) * 4);
    void *a = piece(r, (int64_t)j->m * j->n * size), *work = piece(r, work_elements(j) * size);
    void *u = piece(r, side * side * size), *vt = piece(r, side * side * size), *s = piece(r, (j->k + 1) * size);
    load(j, &j->c->in[0], i, a);
    j->f->gesdd(!vectors ? "N" : whole ? "A" : "S", &j->m, &j->n, a, &j->m, s, u, &j->m, vt, &ldvt, work, &lwork,
                iwork, &info, 1);
    store(j, &j->c->out[0], i, u, j->m);
    store_vector(j, &j->c->out[1], i, s);
    store(j, &j->c->out[2], i, vt, ldvt);
    return info;
}

// ---- the batch --------------------------------------------------------------------------------------------
static one_fn *function_of(enum kern_call_op op) {
    switch (op) {
    case KERN_C_cholesky: return one_cholesky;
    case KERN_C_solve: return one_solve;
    case KERN_C_triangular: return one_triangular;
    case KERN_C_lu: return one_lu;
    case KERN_C_qr: return one_qr;
    case KERN_C_eigh: return one_eigh;
    default: return one_svd;
    }
}

static struct job job_of(const struct kern_call *c) {
    const weft_array *a = &c->in[0];
    struct job j = {.c = c, .size = dtype_size(a->dtype), .bad = INT64_MAX};
    j.m = (int)MIN_OF(a->dims[a->rank - 2], INT32_MAX);
    j.n = (int)MIN_OF(a->dims[a->rank - 1], INT32_MAX);
    j.k = MIN_OF(j.m, j.n);
    return j;
}

static int64_t batch_of(const struct kern_call *c) {
    int64_t n = 1;
    for (int d = 0; d < c->in[0].rank - 2; d++)
        n *= c->in[0].dims[d];
    return n;
}

// LAPACK counts in int: sides whose squares and work arrays it cannot number are refused.
static bool too_large(const struct kern_call *c) {
    enum { SIDE = 16384 };
    for (int i = 0; i < c->nin; i++)
        for (int d = c->in[i].rank - 2; d < c->in[i].rank; d++)
            if (c->in[i].dims[d] > SIDE) return true;
    return false;
}

int64_t call_linalg_scratch(const struct kern_call *c) {
    const struct job j = job_of(c);
    if (too_large(c)) return 0; // the run says so
    return bytes_for_worker(&j) * MIN_OF(MAX_OF(batch_of(c), 1), (int64_t)c->threads);
}

static void run_item(void *arg, int64_t i, int worker) {
    struct job *j = arg;
    struct room r = {(char *)j->c->scratch + j->worker_bytes * worker};
    if (!function_of(j->c->op)(j, i, &r)) return;
    int64_t least = atomic_load(&j->bad);
    while (i < least && !atomic_compare_exchange_weak(&j->bad, &least, i)) {}
}

static const char *reason(enum kern_call_op op) {
    switch (op) {
    case KERN_C_cholesky: return "cholesky: the matrix is not positive definite";
    case KERN_C_solve: return "solve: the matrix is singular";
    case KERN_C_triangular: return "solve_triangular: the matrix is singular";
    case KERN_C_eigh: return "eigh: the eigenvalues did not converge";
    case KERN_C_svd: return "svd: the singular values did not converge";
    default: return "LAPACK refused an argument";
    }
}

weft_status call_linalg(const struct kern_call *c, struct base_err *err) {
    struct job j = job_of(c);
    const int64_t n = batch_of(c);
    j.f = lapack_for(c->in[0].dtype, err);
    if (!j.f) return WEFT_EUNSUPPORTED;
    if (too_large(c)) return err_set(err, WEFT_ELIMIT, "linear algebra: a side is longer than 16384");
    if (n == 0 || j.k == 0) return WEFT_OK; // the outputs have no elements
    j.worker_bytes = bytes_for_worker(&j);
    c->run(c->ud, n, run_item, &j);
    const int64_t bad = atomic_load(&j.bad);
    if (bad == INT64_MAX) return WEFT_OK;
    if (n == 1) return err_set(err, WEFT_EINVAL, "%s", reason(c->op));
    return err_set(err, WEFT_EINVAL, "%s (number %lld of the batch)", reason(c->op), (long long)bad);
}
