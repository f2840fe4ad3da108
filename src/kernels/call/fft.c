// SPDX-License-Identifier: MIT
// Discrete Fourier transforms by FFTW along one axis, real and imaginary parts in arrays of their own:
//
//   fft    re, im to re, im;  attributes: axis, backward       (unscaled)
//   rfft   x to re, im of n/2 + 1;  attributes: axis
//   irfft  re, im of n/2 + 1 to n real ones;  attributes: axis, n   (unscaled; what the symmetry of a real
//          signal makes superfluous in im is not read)
//
// A line is packed into this worker's scratch, transformed there and unpacked. One plan serves all lines; it is
// chosen by estimate, not by timing, so the same machine gives the same bits. The library CMake found
// (WEFT_FFTW and WEFT_FFTWF, its sonames) is opened when it is first needed.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "call.h"

struct iodim {
    ptrdiff_t n, is, os;
};
typedef void *plan_split(int rank, const struct iodim *dims, int many, const struct iodim *more, void *ri, void *ii,
                         void *ro, void *io, unsigned flags);
typedef void *plan_r2c(int rank, const struct iodim *dims, int many, const struct iodim *more, void *in, void *ro,
                       void *io, unsigned flags);
typedef void *plan_c2r(int rank, const struct iodim *dims, int many, const struct iodim *more, void *ri, void *ii,
                       void *out, unsigned flags);
typedef void execute_split(void *plan, void *ri, void *ii, void *ro, void *io);
typedef void execute_three(void *plan, void *a, void *b, void *c);
typedef void destroy_plan(void *plan);
enum { FFTW_UNALIGNED_BIT = 1 << 1, FFTW_ESTIMATE_BIT = 1 << 6 };

#define FFTW_NAMES(F)                                                                              \
    F(plan_split, plan_guru64_split_dft)                                                           \
    F(plan_r2c, plan_guru64_split_dft_r2c)                                                         \
    F(plan_c2r, plan_guru64_split_dft_c2r)                                                         \
    F(execute_split, execute_split_dft)                                                            \
    F(execute_three, execute_split_dft_r2c)                                                        \
    F(execute_three, execute_split_dft_c2r)                                                        \
    F(destroy_plan, destroy_plan)
struct fftw {
#define F(type, name) type *name;
    FFTW_NAMES(F)
#undef F
    bool tried, ready;
    char why[160];
};
static struct {
    pthread_mutex_t lock; // FFTW plans under one lock; execution needs none
    struct fftw f32, f64;
} lib = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void open_library(struct fftw *f, const char *file, const char *prefix) {
    char name[64];
    f->tried = true;
    void *h = file ? dlopen(file, CALL_OPEN_FLAGS) : NULL;
    if (!h) {
        snprintf(f->why, sizeof f->why, file ? "%s cannot be opened" : "built without FFTW (libfftw3-dev)", file);
        return;
    }
#define F(type, fn)                                                                                \
    {                                                                                              \
        snprintf(name, sizeof name, "%s_" #fn, prefix);                                            \
        void *sym = dlsym(h, name);                                                                \
        if (!sym) {                                                                                \
            snprintf(f->why, sizeof f->why, "%s has no %s", file, name);                           \
            return;                                                                                \
        }                                                                                          \
        memcpy(&f->fn, &sym, sizeof f->fn);                                                        \
    }
    FFTW_NAMES(F)
#undef F
    f->ready = true;
}

#ifndef WEFT_FFTW
#define WEFT_FFTW NULL
#endif
#ifndef WEFT_FFTWF
#define WEFT_FFTWF NULL
#endif
// Under the lock.
static const struct fftw *fftw_for(weft_dtype t, struct base_err *err) {
    struct fftw *f = t == WEFT_F32 ? &lib.f32 : &lib.f64;
    if (!f->tried) {
        if (t == WEFT_F32)
            open_library(f, WEFT_FFTWF, "fftwf");
        else
            open_library(f, WEFT_FFTW, "fftw");
    }
    if (!f->ready) err_set(err, WEFT_EUNSUPPORTED, "Fourier transforms are not available: %s", f->why);
    return f->ready ? f : NULL;
}

// ---- lines ----------------------------------------------------------------------------------------------
struct job {
    const struct kern_call *c;
    const struct fftw *f;
    void *plan;
    size_t size;
    int axis;
    int64_t n, half;   // length of the transform, n/2 + 1
    int64_t part, worker_bytes; // bytes of one array of a line; of a worker's four
};

static int64_t extent_of(const weft_array *a, int axis) { return a->dims[axis]; }

static struct job job_of(const struct kern_call *c) {
    struct job j = {.c = c, .size = dtype_size(c->in[0].dtype), .axis = (int)c->attr[0]};
    j.n = c->op == KERN_C_irfft ? c->attr[1] : extent_of(&c->in[0], j.axis);
    j.half = j.n / 2 + 1;
    j.part = call_round(j.n * (int64_t)j.size + (int64_t)j.size);
    j.worker_bytes = 4 * j.part;
    return j;
}

static void *part_of(const struct job *j, int worker, int k) {
    return (char *)j->c->scratch + j->worker_bytes * worker + j->part * k;
}

static void load(const struct job *j, int in, int64_t line, void *to) {
    const weft_array *a = &j->c->in[in];
    call_pack(to, call_line(a, j->axis, line), a->strides[j->axis], j->size, a->dims[j->axis]);
}
static void store(const struct job *j, int out, int64_t line, const void *from) {
    const weft_array *a = &j->c->out[out];
    if (a->data) call_unpack(call_line(a, j->axis, line), a->strides[j->axis], from, j->size, a->dims[j->axis]);
}

// Backward is forward with the parts exchanged, of the input and of the output.
static bool is_backward(const struct kern_call *c) { return c->op == KERN_C_fft && c->attr[1]; }

static void one_line(void *arg, int64_t line, int worker) {
    const struct job *j = arg;
    void *p[4];
    for (int k = 0; k < 4; k++)
        p[k] = part_of(j, worker, k);
    load(j, 0, line, p[0]);
    if (j->c->nin > 1) load(j, 1, line, p[1]);
    if (j->c->op == KERN_C_fft) {
        const bool back = is_backward(j->c);
        j->f->execute_split_dft(j->plan, p[back], p[!back], p[2 + back], p[2 + !back]);
        store(j, 0, line, p[2]);
        store(j, 1, line, p[3]);
    } else if (j->c->op == KERN_C_rfft) {
        j->f->execute_split_dft_r2c(j->plan, p[0], p[2], p[3]);
        store(j, 0, line, p[2]);
        store(j, 1, line, p[3]);
    } else {
        memset(p[1], 0, j->size); // a real signal's constant part is real,
        if (j->n % 2 == 0) memset((char *)p[1] + (size_t)(j->half - 1) * j->size, 0, j->size); // so is the fastest
        j->f->execute_split_dft_c2r(j->plan, p[0], p[1], p[2]);
        store(j, 0, line, p[2]);
    }
}

static void *make_plan(const struct job *j) {
    const struct iodim d = {j->n, 1, 1};
    const unsigned flags = FFTW_ESTIMATE_BIT | FFTW_UNALIGNED_BIT;
    const bool back = is_backward(j->c);
    void *p[4];
    for (int k = 0; k < 4; k++)
        p[k] = part_of(j, 0, k);
    switch (j->c->op) {
    case KERN_C_fft: // the parts as far apart as they will be, which FFTW may build on
        return j->f->plan_guru64_split_dft(1, &d, 0, NULL, p[back], p[!back], p[2 + back], p[2 + !back], flags);
    case KERN_C_rfft: return j->f->plan_guru64_split_dft_r2c(1, &d, 0, NULL, p[0], p[2], p[3], flags);
    default: return j->f->plan_guru64_split_dft_c2r(1, &d, 0, NULL, p[0], p[1], p[2], flags);
    }
}

int64_t call_fft_scratch(const struct kern_call *c) {
    int64_t bytes;
    const struct job j = job_of(c);
    return __builtin_mul_overflow(j.worker_bytes, c->threads, &bytes) ? -1 : bytes;
}

weft_status call_fft(const struct kern_call *c, struct base_err *err) {
    struct job j = job_of(c);
    const int64_t lines = call_lines(&c->in[0], j.axis);
    if (lines == 0) return WEFT_OK;
    pthread_mutex_lock(&lib.lock);
    j.f = fftw_for(c->in[0].dtype, err);
    j.plan = j.f ? make_plan(&j) : NULL;
    pthread_mutex_unlock(&lib.lock);
    if (!j.f) return WEFT_EUNSUPPORTED;
    if (!j.plan) return err_set(err, WEFT_EUNSUPPORTED, "FFTW has no plan for a length of %lld", (long long)j.n);
    if (call_threads(c, (double)lines * (double)j.n) > 1)
        c->run(c->ud, lines, one_line, &j);
    else
        for (int64_t i = 0; i < lines && !kern_tick(&c->watch, 16 * j.n); i++)
            one_line(&j, i, 0);
    pthread_mutex_lock(&lib.lock);
    j.f->destroy_plan(j.plan);
    pthread_mutex_unlock(&lib.lock);
    return WEFT_OK;
}
