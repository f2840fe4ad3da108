/* SPDX-License-Identifier: MIT
 *
 * weft: lazy array expressions, fused into single passes and compiled for the machine at hand.
 *
 *     weft_ctx *ctx = NULL;
 *     weft_ctx_new(&ctx, NULL);                             a context: threads, caches, allocator, log
 *     weft_graph *g = weft_graph_new(ctx);                  a graph: owns its expressions and its first error
 *     weft_array xa = weft_dense(WEFT_F64, xs, 1, &n);      a value that refers to your memory
 *     weft_array out = weft_dense(WEFT_F64, os, 1, &n);
 *     weft_expr *x = weft_from(g, &xa);                     no copy
 *     weft_expr *f = weft_sqrt(weft_add(weft_mul(x, x), x));  no work yet
 *     if (weft_eval(f, &out, NULL)) puts(weft_graph_error(g));
 *     weft_graph_free(g);
 *     weft_ctx_free(ctx);
 *
 * Conventions that hold for every function here:
 *   - Shapes are counts of elements, strides are BYTES; both are int64_t. Rank is 0 to WEFT_MAX_RANK.
 *   - A builder that is given NULL returns NULL and records nothing more, so builders nest without
 *     checks. The graph keeps the first error, with the operation, the types and the axis.
 *   - Every failure is a weft_status; nothing is printed, no signal handler is installed, the process
 *     is never ended, and the floating-point environment and errno are as they were after each call.
 *   - Every *_free accepts NULL.
 *   - Threads: a weft_ctx may be used by many threads at once. A weft_graph is used by one thread at a
 *     time. A weft_program is immutable and may be run by many threads at once, each with a workspace
 *     of its own. A weft_workspace is used by one thread at a time.
 */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(WEFT_STATIC) || !defined(__GNUC__)
#define WEFT_API
#else
#define WEFT_API __attribute__((visibility("default")))
#endif

#define WEFT_MAX_RANK 32

/* ---- vocabulary ------------------------------------------------------------------------------- */

/* Element types. bool is one byte, 0 or 1 when weft writes it and "not 0" when weft reads it. */
typedef enum weft_dtype {
    WEFT_BOOL,
    WEFT_I8,
    WEFT_I16,
    WEFT_I32,
    WEFT_I64,
    WEFT_U8,
    WEFT_U16,
    WEFT_U32,
    WEFT_U64,
    WEFT_F32,
    WEFT_F64,
    WEFT_F16,  /* IEEE binary16; stored, computed in f32 and rounded once per operation */
    WEFT_BF16, /* the upper half of an f32; likewise */
    WEFT_C64,  /* pairs of f32: real part, imaginary part */
    WEFT_C128, /* pairs of f64 */
    WEFT_DTYPE__N
} weft_dtype;

typedef enum weft_status {
    WEFT_OK,
    WEFT_ENOMEM,       /* the allocator refused */
    WEFT_EINVAL,       /* an argument is not of the documented form */
    WEFT_ESHAPE,       /* shapes do not fit together, or a size overflows */
    WEFT_EDTYPE,       /* the operation is not defined for these types, or a literal does not fit */
    WEFT_EALIAS,       /* an output overlaps itself or another output */
    WEFT_EINDEX,       /* an index is out of range; found when the values are, at evaluation */
    WEFT_ENAN,         /* a reduction in WEFT_NAN_RAISE mode met a NaN */
    WEFT_ELIMIT,       /* a limit of the context was reached */
    WEFT_EUNSUPPORTED, /* not available in this build or on this machine */
    WEFT_ESYS,         /* the operating system refused (threads, files) */
    WEFT_ECANCELED,    /* the evaluation was told to stop (weft/control.h) */
    WEFT_ECHECK,       /* checked mode found what the sentence says (weft/control.h) */
    WEFT_STATUS__N
} weft_status;

/* A short constant text such as "shape mismatch"; never NULL. */
WEFT_API const char *weft_status_text(weft_status s);
/* "f64", "bool", ...; "?" for a value outside the enumeration. */
WEFT_API const char *weft_dtype_name(weft_dtype t);
/* Bytes of one element: 1, 2, 4, 8 or 16; 0 for a value outside the enumeration. */
WEFT_API size_t weft_dtype_size(weft_dtype t);
/* The type two operands meet in, by NumPy 2's promotion table (i64 with u64 is f64, f32 with i32 is
 * f64, f32 with i16 is f32, f16 with i16 is f32, c64 with f64 is c128, ...). bf16 behaves to integers as
 * f16 does and meets f16 in f32, as in ml_dtypes. Outside the enumeration: WEFT_DTYPE__N. */
WEFT_API weft_dtype weft_result_type(weft_dtype a, weft_dtype b);
/* What a conversion may do, from strict to free, as NumPy's casting argument. */
typedef enum weft_casting {
    WEFT_CAST_NO,        /* nothing: the types are the same */
    WEFT_CAST_EQUIV,     /* the same here, since weft has no byte orders */
    WEFT_CAST_SAFE,      /* the types meet in the target: NumPy's safe, so i64 to f64 counts */
    WEFT_CAST_SAME_KIND, /* safe, or within bool, unsigned, signed, floating, complex or upwards */
    WEFT_CAST_UNSAFE     /* anything */
} weft_casting;
/* numpy.can_cast; weft_cast itself converts anything. */
WEFT_API bool weft_can_cast(weft_dtype from, weft_dtype to, weft_casting casting);
/* The version of the library, "MAJOR.MINOR.PATCH". */
WEFT_API const char *weft_version(void);

/* An array: memory you own, described. Plain data, copied freely, never freed by weft unless it came
 * from weft_eval_new. Strides are in bytes and may be negative or 0; data need not be aligned. */
typedef struct weft_array {
    weft_dtype dtype;
    int rank;
    void *data;
    int64_t dims[WEFT_MAX_RANK];
    int64_t strides[WEFT_MAX_RANK];
} weft_array;

/* A C-contiguous (row-major) array over data. dims has rank entries; rank 0 is one element. */
WEFT_API weft_array weft_dense(weft_dtype t, void *data, int rank, const int64_t *dims);
/* As weft_dense with strides of your own, in bytes. */
WEFT_API weft_array weft_strided(weft_dtype t, void *data, int rank, const int64_t *dims,
                                 const int64_t *strides);
/* Number of elements, or -1 when the shape is not valid (negative extent, overflow, bad rank). */
WEFT_API int64_t weft_array_count(const weft_array *a);

/* ---- contexts --------------------------------------------------------------------------------- */

typedef struct weft_ctx weft_ctx;
typedef struct weft_graph weft_graph;
typedef struct weft_expr weft_expr;
typedef struct weft_program weft_program;
typedef struct weft_workspace weft_workspace;

/* The one allocator hook, in Lua's shape: ptr NULL allocates size bytes (16-byte aligned), size 0
 * frees ptr of old_size bytes, otherwise ptr of old_size is resized. NULL for a non-zero size means
 * "no memory": the call under way returns WEFT_ENOMEM and everything stays usable. Called from any
 * thread that uses the context. */
typedef void *weft_alloc_fn(void *ud, void *ptr, size_t old_size, size_t size);

typedef enum weft_log_level { WEFT_LOG_INFO, WEFT_LOG_WARN } weft_log_level;
/* One line without a newline. Called from any thread, possibly a helper. Default: no log. */
typedef void weft_log_fn(void *ud, weft_log_level level, const char *line);

/* A host's own threads. parallel_for calls body(arg, i) once for each i in 0..n-1, on any threads,
 * and returns when all are done. threads is the number it can run at once. */
typedef struct weft_executor {
    void *ud;
    int threads;
    void (*parallel_for)(void *ud, int64_t n, void (*body)(void *arg, int64_t i), void *arg);
} weft_executor;

typedef enum weft_backend {
    WEFT_BACKEND_AUTO,   /* interpret at once, compile in the background when that pays */
    WEFT_BACKEND_INTERP, /* never load LLVM */
    WEFT_BACKEND_JIT     /* compile before running; falls back to the interpreter when it cannot */
} weft_backend;

typedef enum weft_isa {
    WEFT_ISA_BEST,   /* everything this machine has */
    WEFT_ISA_SCALAR, /* the C recipes and the baseline of the architecture */
    WEFT_ISA_AVX2,   /* x86-64 with AVX2 and FMA */
    WEFT_ISA_AVX512, /* x86-64 with AVX-512 F, BW, DQ, VL */
    WEFT_ISA_NEON    /* aarch64 */
} weft_isa;

#ifndef WEFT_TYPES_ONLY /* weft's own rooms that need the vocabulary and no function */

typedef struct weft_code_store weft_code_store; /* a host's storage of machine code, weft/cache.h */

/* Zero means "default" for every field but size, which must be sizeof(weft_ctx_opts), this version's or an
 * earlier one's. Environment variables (WEFT_THREADS, WEFT_ISA, WEFT_BACKEND, WEFT_CACHE, ...) fill fields
 * left at their default, unless ignore_env is set. */
typedef struct weft_ctx_opts {
    size_t size;
    weft_alloc_fn *alloc;
    void *alloc_ud;
    weft_log_fn *log;
    void *log_ud;
    const weft_executor *executor; /* copied; default: an own pool, started on first need */
    int threads;                   /* 0: the CPUs this process may use; 1: no helper threads */
    weft_isa isa;                  /* a cap, not a wish */
    weft_backend backend;
    size_t code_cache_bytes; /* machine code and plans kept per context; default 64 MiB */
    bool ignore_env;
    /* machine code kept between processes (weft/cache.h): a directory, NULL for the default one (none
     * when ignore_env is set), "" for none; its bound in bytes, default 64 MiB; or a storage of the host's */
    const char *code_dir;
    size_t code_dir_bytes;
    const weft_code_store *code_store; /* copied */
    /* budgets, see weft/control.h; 0: none */
    size_t workspace_bytes;   /* of all workspaces of the context together */
    uint32_t graph_nodes;     /* of one graph */
    uint32_t compile_ms;      /* spent in the machine-code compiler, all in all */
    /* tuning: results do not depend on it */
    uint32_t parallel_ns;     /* work of one thread, as weft estimates it, that several share; 0: measured at first need,
                               * by some hand-overs to the own pool (a host's executor: a usual figure) */
    int64_t stream_bytes;     /* elementwise steps that touch more bytes store past the caches; 0: the size of the last
                               * cache, at most 32 MiB; -1: none does */
} weft_ctx_opts;

/* Makes a context. WEFT_ENOMEM, WEFT_EINVAL. *out is NULL on failure. */
WEFT_API weft_status weft_ctx_new(weft_ctx **out, const weft_ctx_opts *opts);
/* Frees a context after all its graphs, programs and workspaces; joins its helper threads. */
WEFT_API void weft_ctx_free(weft_ctx *ctx);

typedef struct weft_stats {
    uint64_t compiles;       /* machine-code compilations finished */
    uint64_t compile_ns;     /* time spent in them */
    uint64_t code_hits;      /* steps whose code was found */
    uint64_t code_misses;
    uint64_t code_evictions; /* code freed to stay within the bound */
    uint64_t code_bytes;     /* machine code held now */
    uint64_t plans;          /* graphs planned */
    uint64_t plan_hits;      /* evaluations whose plan was found */
    uint64_t runs_jit;       /* steps executed as machine code */
    uint64_t runs_interp;    /* steps executed by the interpreter */
    uint64_t allocs;         /* calls of the allocator that asked for memory */
    uint64_t alloc_bytes;    /* bytes held now through the allocator */
    int threads;             /* threads an evaluation may use */
    weft_isa isa;            /* what is in use */
    int llvm_major;          /* 0: LLVM not loaded (yet) */
    uint64_t disk_hits;      /* steps whose machine code came from the code cache, without LLVM */
    uint64_t disk_misses;    /* steps looked for there in vain */
    uint64_t disk_refused;   /* of these: what was found was damaged, foreign or could not be mapped */
    uint64_t disk_writes;    /* steps whose code was put there */
    uint64_t disk_bytes;     /* machine code read from there */
    uint64_t compile_refusals; /* bodies that stay interpreted because compile_ms is spent */
    uint64_t compile_ir_ns;  /* of compile_ns: LLVM IR built and verified; */
    uint64_t compile_emit_ns; /* machine code generated from it; the rest is placing it */
} weft_stats;

/* Fills *out (its size is given so that the struct can grow). Counters are since the context began. */
WEFT_API void weft_ctx_stats(weft_ctx *ctx, weft_stats *out, size_t size);
/* Waits until no compilation is pending. */
WEFT_API void weft_ctx_wait(weft_ctx *ctx);

/* ---- graphs and leaves ------------------------------------------------------------------------ */

/* NULL only when there is no memory. */
WEFT_API weft_graph *weft_graph_new(weft_ctx *ctx);
/* Forgets all expressions and the error, keeps the memory for the next graph. */
WEFT_API void weft_graph_reset(weft_graph *g);
WEFT_API void weft_graph_free(weft_graph *g);
/* The first error since new or reset, such as "mul: f64[3,4] and f64[5]: axis 1 is 4 and 5"; ""
 * when there is none. The text lives until the graph is reset or freed. */
WEFT_API const char *weft_graph_error(const weft_graph *g);
WEFT_API weft_status weft_graph_status(const weft_graph *g);

/* A leaf that refers to a->data, which must stay valid until the expressions that use it have been
 * evaluated. Values are read at evaluation, not now. */
WEFT_API weft_expr *weft_from(weft_graph *g, const weft_array *a);
/* A leaf bound when a program runs; name is copied and used in messages. Inputs are numbered in the
 * order of their creation. dims are the shape planned for; weft_run also takes other extents of the
 * same rank when the graph is valid for them. */
WEFT_API weft_expr *weft_input(weft_graph *g, const char *name, weft_dtype t, int rank,
                               const int64_t *dims);
/* Weak literals: 0-d, they take the type of what they meet (x_f32 * 2.0 is f32). A float literal
 * meeting an integer array makes f64; an integer literal that does not fit is WEFT_EDTYPE. Alone they
 * are f64, i64 and bool. */
WEFT_API weft_expr *weft_float(weft_graph *g, double v);
WEFT_API weft_expr *weft_int(weft_graph *g, int64_t v);
WEFT_API weft_expr *weft_uint(weft_graph *g, uint64_t v);
WEFT_API weft_expr *weft_truth(weft_graph *g, bool v);
/* v times the imaginary unit: a complex literal, c64 with what c64 can hold (f32, halves), c128 with
 * the rest; alone it is c128. Other complex literals are sums: weft_add(weft_float(g, 1), ...). */
WEFT_API weft_expr *weft_imaginary(weft_graph *g, double v);
/* A 0-d constant of a given (strong) type; value points at one element and is copied. */
WEFT_API weft_expr *weft_scalar(weft_graph *g, weft_dtype t, const void *value);
/* The logical index along axis, as dtype t, in the given shape: iota(i64,[2,3],1) is 0 1 2 / 0 1 2. */
WEFT_API weft_expr *weft_iota(weft_graph *g, weft_dtype t, int rank, const int64_t *dims, int axis);


/* ---- creation: expressions over iota and literals, made inside the pass that uses them ----------- */

WEFT_API weft_expr *weft_full(weft_graph *g, weft_dtype t, const void *value, int rank,
                              const int64_t *dims); /* value points at one element */
WEFT_API weft_expr *weft_zeros(weft_graph *g, weft_dtype t, int rank, const int64_t *dims);
WEFT_API weft_expr *weft_ones(weft_graph *g, weft_dtype t, int rank, const int64_t *dims);
/* [rows, cols], ones where column = row + k. */
WEFT_API weft_expr *weft_eye(weft_graph *g, weft_dtype t, int64_t rows, int64_t cols, int64_t k);
/* start + i step below stop (above, for a negative step). Integer types: whole numbers. */
WEFT_API weft_expr *weft_arange(weft_graph *g, weft_dtype t, double start, double stop, double step);
/* n numbers from start to stop; endpoint: the last is stop. The bits of NumPy in f64; other types are
 * rounded from it (integers down). */
typedef struct weft_space {
    double start, stop;
    int64_t n;
    bool endpoint;
} weft_space;
WEFT_API weft_expr *weft_linspace(weft_graph *g, weft_dtype t, weft_space s);
WEFT_API weft_expr *weft_logspace(weft_graph *g, weft_dtype t, weft_space s, double base);
WEFT_API weft_expr *weft_geomspace(weft_graph *g, weft_dtype t, weft_space s);
/* x on and below (above) diagonal k of its last two axes, 0 elsewhere. */
WEFT_API weft_expr *weft_tril(weft_expr *x, int64_t k);
WEFT_API weft_expr *weft_triu(weft_expr *x, int64_t k);

/* ---- random numbers -------------------------------------------------------------------------------
 * Element i (row-major) of an array is a function of key and offset + i alone: Philox4x32-10 (Salmon,
 * Moraes, Dror, Shaw, SC 2011) with the counter (offset + i) / w and word (offset + i) % w of its block,
 * w = 2 words of 64 bits for 8-byte types and integers(), 4 of 32 bits for others. So a stream is the
 * same at any thread count, in any pieces (advance offset) and in both tiers. */
typedef struct weft_stream {
    uint64_t key, offset;
} weft_stream;
WEFT_API weft_expr *weft_random_bits(weft_graph *g, weft_stream s, weft_dtype t, int rank,
                                     const int64_t *dims); /* bool and integers */
/* [0, 1): the upper 53 (f32: 24, f16: 11, bf16: 8) bits over 2^53 (2^24, ...). */
WEFT_API weft_expr *weft_random_uniform(weft_graph *g, weft_stream s, weft_dtype t, int rank,
                                        const int64_t *dims);
/* Mean 0, variance 1: the inverse distribution function (ndtri) of 63 (31) bits, the last bit as sign;
 * tails reach 9.1 (6.3) standard deviations. */
WEFT_API weft_expr *weft_random_normal(weft_graph *g, weft_stream s, weft_dtype t, int rank,
                                       const int64_t *dims);
/* low <= value < high without bias: Lemire's multiplication; an element that is rejected draws again from
 * Philox under its own bits, so that elements stay independent of each other. */
typedef struct weft_bounds {
    int64_t low, high;
} weft_bounds;
WEFT_API weft_expr *weft_random_integers(weft_graph *g, weft_stream s, weft_bounds b, weft_dtype t,
                                         int rank, const int64_t *dims);
/* The numbers 0 .. n-1 in random order, as i64 [n]: the places that sort the first n words of 64 bits of the
 * stream (two equal words, one chance in 2^64 a pair, keep their order). take(x, this, axis) shuffles x. */
WEFT_API weft_expr *weft_random_permutation(weft_graph *g, weft_stream s, int64_t n);
/* What these are made of, for positions and keys of any kind; integers are taken as u64, results are
 * u64: words of 64 and 32 bits, and the number below b that 64 random bits a choose. */
WEFT_API weft_expr *weft_random_word(weft_expr *at, weft_expr *key);
WEFT_API weft_expr *weft_random_half(weft_expr *at, weft_expr *key);
WEFT_API weft_expr *weft_random_below(weft_expr *a, weft_expr *b);

/* What an expression is. rank/dims of NULL: 0 and NULL. A literal reports its stand-alone type. */
WEFT_API weft_dtype weft_expr_dtype(const weft_expr *x);
WEFT_API int weft_expr_rank(const weft_expr *x);
WEFT_API const int64_t *weft_expr_dims(const weft_expr *x);

/* ---- elementwise ------------------------------------------------------------------------------
 * Operands broadcast and promote as in NumPy 2. Integer arithmetic wraps. Nothing traps. The full
 * rules, with special values and error bounds, are in docs/numerics.md. "float result" means: bool
 * and integers are taken to f64 (i8, u8, i16, u16, bool to f64 as well), f32 stays f32. */

WEFT_API weft_expr *weft_add(weft_expr *a, weft_expr *b); /* bool: or */
WEFT_API weft_expr *weft_sub(weft_expr *a, weft_expr *b); /* bool: WEFT_EDTYPE */
WEFT_API weft_expr *weft_mul(weft_expr *a, weft_expr *b); /* bool: and */
WEFT_API weft_expr *weft_true_divide(weft_expr *a, weft_expr *b);  /* float result */
WEFT_API weft_expr *weft_floor_divide(weft_expr *a, weft_expr *b); /* x//0 is 0 for integers */
WEFT_API weft_expr *weft_remainder(weft_expr *a, weft_expr *b);    /* sign of the divisor */
WEFT_API weft_expr *weft_pow(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_hypot(weft_expr *a, weft_expr *b);    /* float result */
WEFT_API weft_expr *weft_atan2(weft_expr *y, weft_expr *x);    /* float result */
WEFT_API weft_expr *weft_copysign(weft_expr *a, weft_expr *b); /* float result */
WEFT_API weft_expr *weft_minimum(weft_expr *a, weft_expr *b);  /* NaN propagates, -0 < +0 */
WEFT_API weft_expr *weft_maximum(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_fmin(weft_expr *a, weft_expr *b); /* NaN is skipped */
WEFT_API weft_expr *weft_fmax(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_clip(weft_expr *x, weft_expr *lo, weft_expr *hi);
WEFT_API weft_expr *weft_fma(weft_expr *a, weft_expr *b, weft_expr *c); /* a*b+c rounded once */
WEFT_API weft_expr *weft_where(weft_expr *cond, weft_expr *a, weft_expr *b); /* cond != 0 ? a : b */

WEFT_API weft_expr *weft_neg(weft_expr *x);
WEFT_API weft_expr *weft_abs(weft_expr *x);
WEFT_API weft_expr *weft_sign(weft_expr *x);
WEFT_API weft_expr *weft_square(weft_expr *x);
WEFT_API weft_expr *weft_sqrt(weft_expr *x);
WEFT_API weft_expr *weft_reciprocal(weft_expr *x); /* integers: truncated, 1/0 is 0 */
WEFT_API weft_expr *weft_floor(weft_expr *x);
WEFT_API weft_expr *weft_ceil(weft_expr *x);
WEFT_API weft_expr *weft_trunc(weft_expr *x);
WEFT_API weft_expr *weft_round(weft_expr *x); /* half to even */

WEFT_API weft_expr *weft_exp(weft_expr *x);
WEFT_API weft_expr *weft_exp2(weft_expr *x);
WEFT_API weft_expr *weft_expm1(weft_expr *x);
WEFT_API weft_expr *weft_log(weft_expr *x);
WEFT_API weft_expr *weft_log2(weft_expr *x);
WEFT_API weft_expr *weft_log10(weft_expr *x);
WEFT_API weft_expr *weft_log1p(weft_expr *x);
WEFT_API weft_expr *weft_sin(weft_expr *x);
WEFT_API weft_expr *weft_cos(weft_expr *x);
WEFT_API weft_expr *weft_tan(weft_expr *x);
WEFT_API weft_expr *weft_asin(weft_expr *x);
WEFT_API weft_expr *weft_acos(weft_expr *x);
WEFT_API weft_expr *weft_atan(weft_expr *x);
WEFT_API weft_expr *weft_sinh(weft_expr *x);
WEFT_API weft_expr *weft_cosh(weft_expr *x);
WEFT_API weft_expr *weft_tanh(weft_expr *x);
WEFT_API weft_expr *weft_asinh(weft_expr *x);
WEFT_API weft_expr *weft_acosh(weft_expr *x);
WEFT_API weft_expr *weft_atanh(weft_expr *x);
WEFT_API weft_expr *weft_cbrt(weft_expr *x);
WEFT_API weft_expr *weft_sigmoid(weft_expr *x); /* 1 / (1 + exp(-x)) */
WEFT_API weft_expr *weft_erf(weft_expr *x);
WEFT_API weft_expr *weft_erfc(weft_expr *x);
WEFT_API weft_expr *weft_silu(weft_expr *x);        /* x sigmoid(x) */
WEFT_API weft_expr *weft_softplus(weft_expr *x);    /* log(1 + exp(x)) */
WEFT_API weft_expr *weft_log_sigmoid(weft_expr *x); /* -softplus(-x) */
WEFT_API weft_expr *weft_gelu_erf(weft_expr *x);    /* x Phi(x), Phi the normal distribution */
WEFT_API weft_expr *weft_gelu_tanh(weft_expr *x);   /* its tanh approximation */
WEFT_API weft_expr *weft_relu(weft_expr *x);        /* maximum(x, 0) */
WEFT_API weft_expr *weft_leaky_relu(weft_expr *x, double slope); /* x > 0 ? x : slope x */
WEFT_API weft_expr *weft_logaddexp(weft_expr *a, weft_expr *b);  /* log(exp(a) + exp(b)) */
WEFT_API weft_expr *weft_logaddexp2(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_lgamma(weft_expr *x); /* log |gamma(x)| */
WEFT_API weft_expr *weft_tgamma(weft_expr *x); /* NaN at the negative whole numbers */
WEFT_API weft_expr *weft_sinc(weft_expr *x);   /* sin(pi x) / (pi x), NumPy's */
WEFT_API weft_expr *weft_ndtri(weft_expr *p);  /* the x with Phi(x) = p */
WEFT_API weft_expr *weft_deg2rad(weft_expr *x);
WEFT_API weft_expr *weft_rad2deg(weft_expr *x);
WEFT_API weft_expr *weft_positive(weft_expr *x); /* x; bool: WEFT_EDTYPE */
WEFT_API weft_expr *weft_rint(weft_expr *x);     /* round with a float result */
WEFT_API weft_expr *weft_nextafter(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_ldexp(weft_expr *x, weft_expr *n); /* x 2^n, n integers; x's type */
/* x = m 2^e, 1/2 <= |m| < 1; 0, inf and NaN are their own m, with e = 0. e is i32, or in
 * frexp_power a number of x's type. */
WEFT_API weft_expr *weft_frexp_mantissa(weft_expr *x);
WEFT_API weft_expr *weft_frexp_exponent(weft_expr *x);
WEFT_API weft_expr *weft_frexp_power(weft_expr *x);
WEFT_API weft_expr *weft_scale_by_power(weft_expr *x, weft_expr *n); /* ldexp with n of x's type */
WEFT_API weft_expr *weft_heaviside(weft_expr *x, weft_expr *at_zero);
WEFT_API weft_expr *weft_lerp(weft_expr *a, weft_expr *b, weft_expr *t); /* a at 0, b at 1, exactly */
WEFT_API weft_expr *weft_fmod(weft_expr *a, weft_expr *b);        /* C's: sign of a; x%0 is 0 */
WEFT_API weft_expr *weft_float_power(weft_expr *a, weft_expr *b); /* in f64 */
/* |a - b| <= absolute + relative |b|, infinities when equal; two NaN if equal_nan. */
WEFT_API weft_expr *weft_isclose(weft_expr *a, weft_expr *b, double relative, double absolute,
                                 bool equal_nan);
/* Other numbers in place of NaN, inf and -inf; INFINITY and -INFINITY there stand for the largest
 * and least finite number of the type. Integers stay. */
WEFT_API weft_expr *weft_nan_to_num(weft_expr *x, double nan, double inf, double minus_inf);
/* Both in one pass; the quotient is returned, *rest is the remainder. */
WEFT_API weft_expr *weft_divmod(weft_expr *a, weft_expr *b, weft_expr **rest);

WEFT_API weft_expr *weft_equal(weft_expr *a, weft_expr *b); /* comparisons give bool */
WEFT_API weft_expr *weft_not_equal(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_less(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_less_equal(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_greater(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_greater_equal(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_logical_and(weft_expr *a, weft_expr *b); /* of "!= 0"; gives bool */
WEFT_API weft_expr *weft_logical_or(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_logical_xor(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_logical_not(weft_expr *x);
WEFT_API weft_expr *weft_bitwise_and(weft_expr *a, weft_expr *b); /* bool and integers */
WEFT_API weft_expr *weft_bitwise_or(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_bitwise_xor(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_bitwise_not(weft_expr *x);              /* bool: logical not */
WEFT_API weft_expr *weft_left_shift(weft_expr *a, weft_expr *b); /* bad counts give 0 */
WEFT_API weft_expr *weft_right_shift(weft_expr *a, weft_expr *b); /* bad counts: 0, or -1 for a < 0 */
WEFT_API weft_expr *weft_rotate_left(weft_expr *a, weft_expr *b); /* counts modulo the width */
WEFT_API weft_expr *weft_rotate_right(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_mul_hi(weft_expr *a, weft_expr *b); /* high half of the double-width product */
WEFT_API weft_expr *weft_popcount(weft_expr *x);      /* ones in two's complement; x's type */
WEFT_API weft_expr *weft_bitwise_count(weft_expr *x); /* ones of |x|, NumPy's; u8 */
WEFT_API weft_expr *weft_leading_zeros(weft_expr *x); /* of 0 the width */
WEFT_API weft_expr *weft_trailing_zeros(weft_expr *x);
WEFT_API weft_expr *weft_byte_swap(weft_expr *x);
WEFT_API weft_expr *weft_gcd(weft_expr *a, weft_expr *b); /* of absolute values; gcd(0, 0) is 0 */
WEFT_API weft_expr *weft_lcm(weft_expr *a, weft_expr *b); /* wraps */
/* Whether the exact result does not fit the type in which integers a and b meet; bool. */
WEFT_API weft_expr *weft_add_overflows(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_sub_overflows(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_mul_overflows(weft_expr *a, weft_expr *b);
/* a + b + (carry != 0) of unsigned integers; *carry_out is the bool that goes on to the next digit. */
WEFT_API weft_expr *weft_add_carry(weft_expr *a, weft_expr *b, weft_expr *carry,
                                   weft_expr **carry_out);
WEFT_API weft_expr *weft_isposinf(weft_expr *x);
WEFT_API weft_expr *weft_isneginf(weft_expr *x);
WEFT_API weft_expr *weft_isnan(weft_expr *x);
WEFT_API weft_expr *weft_isinf(weft_expr *x);
WEFT_API weft_expr *weft_isfinite(weft_expr *x);
WEFT_API weft_expr *weft_signbit(weft_expr *x);

/* Conversion. Float to integer truncates and saturates, NaN gives 0; to bool is "!= 0". Complex to real
 * takes the real part (to bool: either part is not 0). Into halves the value is rounded once. */
WEFT_API weft_expr *weft_cast(weft_expr *x, weft_dtype t);

/* ---- complex numbers --------------------------------------------------------------------------
 * c64 and c128 are pairs (real part, imaginary part) in memory, and two real expressions inside:
 * everything fuses, reduces and reproduces as real expressions do. Comparisons but == and !=, and
 * operations that need an order, are WEFT_EDTYPE. Real operands are taken to complex with +0. Special
 * values follow C's Annex G; docs/numerics.md says which and how exact. */

/* re + im i of two real expressions: c128, or c64 when neither needs more than f32. */
WEFT_API weft_expr *weft_complex(weft_expr *re, weft_expr *im);
/* The parts, as f32 or f64. Of real x: x itself, and zeros of its type. */
WEFT_API weft_expr *weft_real(weft_expr *x);
WEFT_API weft_expr *weft_imag(weft_expr *x);
WEFT_API weft_expr *weft_conj(weft_expr *x);
/* atan2(imag, real), in -pi..pi. Real x: as float, 0 or pi (or NaN). */
WEFT_API weft_expr *weft_angle(weft_expr *x);

/* ---- reductions ------------------------------------------------------------------------------- */

typedef enum weft_nan {
    WEFT_NAN_PROPAGATE,
    WEFT_NAN_SKIP, /* nansum, nanmax, ...: all-NaN gives 0 for sums, 1 for products, NaN otherwise */
    WEFT_NAN_RAISE /* evaluation returns WEFT_ENAN */
} weft_nan;

/* size must be sizeof(weft_reduce). axes NULL: all axes. Negative axes count from the end; a repeated
 * axis is WEFT_EINVAL. A NULL weft_reduce is {all axes, no keepdims, propagate}. */
typedef struct weft_reduce {
    size_t size;
    const int *axes;
    int naxes;
    bool keepdims;
    weft_nan nan;
    double ddof; /* var and std: divide by n - ddof */
    /* sum and mean of floats: as if summed exactly and rounded once, nearly always to the last bit. Costs a
     * second sweep. Elsewhere without effect. (Error-free extraction: Rump, Ogita, Oishi, Accurate
     * floating-point summation, 2008.) */
    bool compensated;
} weft_reduce;

WEFT_API weft_expr *weft_sum(weft_expr *x, const weft_reduce *r);  /* bool, integers: i64 or u64 */
WEFT_API weft_expr *weft_prod(weft_expr *x, const weft_reduce *r);
WEFT_API weft_expr *weft_min(weft_expr *x, const weft_reduce *r);  /* empty: WEFT_ESHAPE */
WEFT_API weft_expr *weft_max(weft_expr *x, const weft_reduce *r);
WEFT_API weft_expr *weft_mean(weft_expr *x, const weft_reduce *r); /* f32 accumulates in f64 */
WEFT_API weft_expr *weft_var(weft_expr *x, const weft_reduce *r);  /* two passes, never negative */
WEFT_API weft_expr *weft_std(weft_expr *x, const weft_reduce *r);
WEFT_API weft_expr *weft_any(weft_expr *x, const weft_reduce *r);
WEFT_API weft_expr *weft_all(weft_expr *x, const weft_reduce *r);
WEFT_API weft_expr *weft_count_nonzero(weft_expr *x, const weft_reduce *r); /* i64 */
/* i64 logical index (over all axes: the row-major one): the first NaN, else the first of ties. One
 * axis or all. NAN_SKIP of an all-NaN slice is WEFT_ENAN at evaluation. */
WEFT_API weft_expr *weft_argmin(weft_expr *x, const weft_reduce *r);
WEFT_API weft_expr *weft_argmax(weft_expr *x, const weft_reduce *r);

/* Made of reductions; one pass over rows along the last axis. Floats; integers as f64. */
WEFT_API weft_expr *weft_softmax(weft_expr *x, int axis);
WEFT_API weft_expr *weft_log_softmax(weft_expr *x, int axis);
WEFT_API weft_expr *weft_logsumexp(weft_expr *x, const weft_reduce *r);
WEFT_API weft_expr *weft_ptp(weft_expr *x, const weft_reduce *r); /* max - min */
/* (sum |x|^order)^(1/order); INFINITY: max |x|; -INFINITY: min |x|; 0: how many are not 0. */
WEFT_API weft_expr *weft_norm(weft_expr *x, double order, const weft_reduce *r);
/* x[i+1] - x[i] along axis, n times; bool: whether they differ. */
WEFT_API weft_expr *weft_diff(weft_expr *x, int n, int axis);
/* The trapezoid rule along axis. x: the places (1-d or broadcasting with y), or NULL: dx apart. */
WEFT_API weft_expr *weft_trapezoid(weft_expr *y, weft_expr *x, double dx, int axis);

/* NumPy's matmul: 1-d operands are vectors, leading axes broadcast. Any strides. */
WEFT_API weft_expr *weft_matmul(weft_expr *a, weft_expr *b);
/* NumPy's dot: 1-d with 1-d is the inner product, 0-d multiplies, 2-d is matmul; for higher ranks the
 * sum runs over the last axis of a and the second to last of b. */
WEFT_API weft_expr *weft_dot(weft_expr *a, weft_expr *b);

/* ---- linear algebra ------------------------------------------------------------------------------
 * Products of any rank are views around matmul or a fused multiplication and sum, in its order and with its
 * error. What needs LAPACK or FFTW (optional when weft is built) is one step of the plan; without the library its
 * evaluation is WEFT_EUNSUPPORTED with a sentence. These take f32 and f64; f16 and bf16 are taken to f32, bool and
 * integers to f64; leading axes are a batch. Their results are the library's: the same bits at any thread count
 * of weft, but not from one library to another. */

WEFT_API weft_expr *weft_inner(weft_expr *a, weft_expr *b); /* over the last axes */
WEFT_API weft_expr *weft_outer(weft_expr *a, weft_expr *b); /* of the ravelled operands */
WEFT_API weft_expr *weft_vdot(weft_expr *a, weft_expr *b);  /* sum of conj(a) b, ravelled */
WEFT_API weft_expr *weft_kron(weft_expr *a, weft_expr *b);
/* Vectors of 2 or 3 elements along axis (which the result has there, unless both have 2: then it goes). */
WEFT_API weft_expr *weft_cross(weft_expr *a, weft_expr *b, int axis);
/* Sums over n pairs of axes; the result has the other axes of a, then those of b. n = 0: outer product. */
WEFT_API weft_expr *weft_tensordot(weft_expr *a, weft_expr *b, int n, const int *axes_a, const int *axes_b);
/* NumPy's subscripts ("bij,bjk->bik", ellipses, implied output) over n operands, at most 32. Contracted pair
 * by pair along the cheapest path for up to 8 operands, greedily beyond; in the type the operands meet in. */
WEFT_API weft_expr *weft_einsum(const char *subscripts, int n, weft_expr *const *x);
/* x multiplied by itself n times; 0: the identity; negative: powers of the inverse. */
WEFT_API weft_expr *weft_matrix_power(weft_expr *x, int64_t n);
WEFT_API weft_expr *weft_trace(weft_expr *x, int64_t offset, int axis1, int axis2);

/* a x = b by LU with partial pivoting (LAPACK xGETRF, xGETRS). b: a vector of rank 1, or [batch..., n, cols];
 * batches broadcast. A singular a is WEFT_EINVAL at evaluation. */
WEFT_API weft_expr *weft_solve(weft_expr *a, weft_expr *b);
/* size must be sizeof(weft_triangle). NULL: lower, not transposed. The other triangle is not read. */
typedef struct weft_triangle {
    size_t size;
    bool upper, transposed, unit_diagonal;
} weft_triangle;
WEFT_API weft_expr *weft_solve_triangular(weft_expr *a, weft_expr *b, const weft_triangle *t);
WEFT_API weft_expr *weft_inv(weft_expr *x);
WEFT_API weft_expr *weft_det(weft_expr *x); /* by LU; singular: 0 */
/* Sign (0 when singular) and logarithm of the absolute value of the determinant. Either may be NULL. */
WEFT_API void weft_slogdet(weft_expr *x, weft_expr **sign, weft_expr **logdet);
/* L with x = L L^T (upper: U with x = U^T U), reading that triangle of x; WEFT_EINVAL at evaluation when x is
 * not positive definite. xPOTRF. */
WEFT_API weft_expr *weft_cholesky(weft_expr *x, bool upper);
/* Reduced: q [m, k], r [k, n], k = min(m, n). xGEQRF, xORGQR. An output that is NULL is not asked for. */
WEFT_API void weft_qr(weft_expr *x, weft_expr **q, weft_expr **r);
/* Of a symmetric x (its lower triangle is read): eigenvalues in rising order, vectors as columns. xSYEVD. */
WEFT_API void weft_eigh(weft_expr *x, weft_expr **values, weft_expr **vectors);
/* x = u diag(s) vt, s in falling order; whole: u [m, m] and vt [n, n], else k columns and rows. xGESDD. */
WEFT_API void weft_svd(weft_expr *x, bool whole, weft_expr **u, weft_expr **s, weft_expr **vt);

typedef enum weft_fft_norm {
    WEFT_FFT_BACKWARD, /* the inverse is divided by n */
    WEFT_FFT_ORTHO,    /* both by sqrt(n) */
    WEFT_FFT_FORWARD   /* the forward transform is divided by n */
} weft_fft_norm;
/* size must be sizeof(weft_fft_opts). n: elements to transform (0: as many as there are; irfft: twice the
 * coefficients less 2): longer axes are cut, shorter ones followed by zeros. NULL: the last axis, all of it. */
typedef struct weft_fft_opts {
    size_t size;
    int axis;
    int64_t n;
    weft_fft_norm norm;
} weft_fft_opts;
/* NumPy's transforms, by FFTW: complex to complex, real to the n/2+1 coefficients that matter, and back. */
WEFT_API weft_expr *weft_fft(weft_expr *x, const weft_fft_opts *o);
WEFT_API weft_expr *weft_ifft(weft_expr *x, const weft_fft_opts *o);
WEFT_API weft_expr *weft_rfft(weft_expr *x, const weft_fft_opts *o);
WEFT_API weft_expr *weft_irfft(weft_expr *x, const weft_fft_opts *o);

/* ---- views: nothing is copied unless no strides can express the result -------------------------- */

#define WEFT_NONE INT64_MIN /* a slice bound left out */

WEFT_API weft_expr *weft_reshape(weft_expr *x, int rank, const int64_t *dims); /* one dim may be -1 */
WEFT_API weft_expr *weft_ravel(weft_expr *x);
WEFT_API weft_expr *weft_transpose(weft_expr *x, const int *perm); /* NULL: reversed axes */
WEFT_API weft_expr *weft_swap_axes(weft_expr *x, int a, int b);
/* Python's x[start:stop:step] along axis; bounds clamp, WEFT_NONE leaves one out, step is not 0. */
WEFT_API weft_expr *weft_slice(weft_expr *x, int axis, int64_t start, int64_t stop, int64_t step);
/* x[i] along axis, which disappears. i outside the axis is WEFT_ESHAPE. */
WEFT_API weft_expr *weft_index(weft_expr *x, int axis, int64_t i);
WEFT_API weft_expr *weft_flip(weft_expr *x, int axis);
WEFT_API weft_expr *weft_squeeze(weft_expr *x, int axis);     /* the axis must have extent 1 */
WEFT_API weft_expr *weft_expand_dims(weft_expr *x, int axis); /* position in the result */
WEFT_API weft_expr *weft_broadcast_to(weft_expr *x, int rank, const int64_t *dims);
/* NumPy's diagonal: axis1 and axis2 go, their diagonal becomes the last axis. */
WEFT_API weft_expr *weft_diagonal(weft_expr *x, int64_t offset, int axis1, int axis2);

/* ---- indexing and assembly ------------------------------------------------------------------------ */

/* What an index outside 0..n-1 means. Nothing is read or written outside an array in any mode. */
typedef enum weft_index_mode {
    WEFT_INDEX_RAISE, /* -n..-1 count from the end; others: evaluation returns WEFT_EINDEX, and the
                         sentence names the index and its place; the outputs are unspecified */
    WEFT_INDEX_CLIP,  /* below 0: 0; above: n-1 */
    WEFT_INDEX_WRAP   /* modulo n */
} weft_index_mode;

/* NumPy's take: the axis of x is replaced by the axes of index, an integer array of any rank. Reads x
 * while the pass that uses the result runs: take(x, i) * 2 + 1 is one pass. Indices that the result does
 * not need may go unchecked. */
WEFT_API weft_expr *weft_take(weft_expr *x, weft_expr *index, int axis, weft_index_mode mode);
/* NumPy's take_along_axis: index has the rank of x and broadcasts against it on the other axes. */
WEFT_API weft_expr *weft_take_along_axis(weft_expr *x, weft_expr *index, int axis,
                                         weft_index_mode mode);

typedef enum weft_scatter_op {
    WEFT_SCATTER_SET, /* the last of several with one index stays */
    WEFT_SCATTER_ADD, /* integers wrap; bool: or */
    WEFT_SCATTER_MIN, /* as minimum: NaN propagates, -0 < +0 */
    WEFT_SCATTER_MAX
} weft_scatter_op;
/* How a scatter goes: along axis, in index order (row-major over the index array), whatever the number
 * of threads. size must be sizeof(weft_scatter_opts). */
typedef struct weft_scatter_opts {
    size_t size;
    int axis;
    weft_scatter_op op;
    weft_index_mode mode;
} weft_scatter_opts;
/* A copy of x in which values have been put or combined where take(x, index, axis) would read: values
 * is cast to x's type and broadcasts to that shape. NumPy's x[index] = v, np.add.at, ... */
WEFT_API weft_expr *weft_scatter(weft_expr *x, weft_expr *index, weft_expr *values,
                                 const weft_scatter_opts *opts);
/* The same where take_along_axis would read: NumPy's put_along_axis. */
WEFT_API weft_expr *weft_scatter_along_axis(weft_expr *x, weft_expr *index, weft_expr *values,
                                            const weft_scatter_opts *opts);
/* NumPy's put: x with values, repeated as often as needed, at row-major places. */
WEFT_API weft_expr *weft_put(weft_expr *x, weft_expr *index, weft_expr *values, weft_index_mode mode);
/* NumPy's putmask: where mask holds, element i is values[i % its size]. */
WEFT_API weft_expr *weft_putmask(weft_expr *x, weft_expr *mask, weft_expr *values);
/* NumPy's place, x[mask] = values: the k-th place where mask holds gets values[k % its size]. */
WEFT_API weft_expr *weft_place(weft_expr *x, weft_expr *mask, weft_expr *values);

/* Results whose extent depends on values have the shape of the largest that can be; behind the actual
 * extent they are filled with 0. weft_eval_new returns them with the actual extent. weft_count_of gives
 * that extent as an i64 expression; other expressions, views and elementwise ones included, give NULL
 * and keep the bound. */
WEFT_API weft_expr *weft_count_of(weft_expr *x);
/* The slices of x along axis where mask, a 1-d array of that extent, is not 0: NumPy's compress. */
WEFT_API weft_expr *weft_compress(weft_expr *mask, weft_expr *x, int axis);
/* NumPy's x[mask]: mask has the first extents of x; they become one axis. */
WEFT_API weft_expr *weft_select(weft_expr *x, weft_expr *mask);
/* Row-major places of the elements that are not 0, and their indices along one axis: i64. */
WEFT_API weft_expr *weft_flatnonzero(weft_expr *x);
WEFT_API weft_expr *weft_nonzero(weft_expr *x, int axis);
/* The distinct elements of x in rising order, all NaN as one; and on request (NULL: not wanted), with
 * the same extent, the place of the first of each in x and how many there are, and for each element of
 * x (flattened) the place of its value: i64. */
typedef struct weft_unique_parts {
    weft_expr *index, *count, *inverse;
} weft_unique_parts;
WEFT_API weft_expr *weft_unique(weft_expr *x, weft_unique_parts *parts);

/* Arrays one after the other along an axis, in their common type. Each is computed straight into its
 * place, so a concatenation that is stored costs no pass of its own. n >= 1. */
WEFT_API weft_expr *weft_concat(int n, weft_expr *const *x, int axis);
WEFT_API weft_expr *weft_stack(int n, weft_expr *const *x, int axis); /* along a new axis */
/* Part k of n along axis, as array_split: a view. The first extent % n parts are one longer. */
WEFT_API weft_expr *weft_split(weft_expr *x, int axis, int64_t n, int64_t k);
WEFT_API weft_expr *weft_roll(weft_expr *x, int64_t shift, int axis);
typedef enum weft_pad_mode {
    WEFT_PAD_CONSTANT,
    WEFT_PAD_EDGE,
    WEFT_PAD_REFLECT,   /* the edge is not repeated */
    WEFT_PAD_SYMMETRIC, /* the edge is repeated */
    WEFT_PAD_WRAP
} weft_pad_mode;
/* size must be sizeof(weft_padding). before and after: non-negative, per axis. value: CONSTANT only, 0-d,
 * cast to x's type; NULL: 0. */
typedef struct weft_padding {
    size_t size;
    const int64_t *before, *after;
    weft_pad_mode mode;
    weft_expr *value;
} weft_padding;
WEFT_API weft_expr *weft_pad(weft_expr *x, const weft_padding *p);
WEFT_API weft_expr *weft_tile(weft_expr *x, int n, const int64_t *times); /* NumPy's tile */
WEFT_API weft_expr *weft_repeat(weft_expr *x, int64_t times, int axis);   /* each element */
/* NumPy's sliding_window_view along one axis: a view, the window as the last axis. */
WEFT_API weft_expr *weft_sliding_windows(weft_expr *x, int axis, int64_t size);
WEFT_API weft_expr *weft_moveaxis(weft_expr *x, int from, int to);
/* x[...] == 0 .. depth-1 as a new last axis, 1 and 0 of type t; indices outside give rows of 0. */
WEFT_API weft_expr *weft_one_hot(weft_expr *x, int64_t depth, weft_dtype t);

/* ---- scans ---------------------------------------------------------------------------------------- */

/* Along an axis, in the fixed order of docs/numerics.md: f32 sums do not stall, and neither threads nor
 * layout change a bit. Sums and products of bool and integers are i64 or u64; of halves f32. */
WEFT_API weft_expr *weft_cumsum(weft_expr *x, int axis);
WEFT_API weft_expr *weft_cumprod(weft_expr *x, int axis);
WEFT_API weft_expr *weft_cummax(weft_expr *x, int axis); /* NaN propagates */
WEFT_API weft_expr *weft_cummin(weft_expr *x, int axis);

/* ---- order ---------------------------------------------------------------------------------------- */

/* Rising order along an axis, stable, NaN last, complex numbers by real part first (NumPy with
 * kind="stable"); and the i64 places the elements came from. Radix over keys of the element's width:
 * linear in the extent. */
WEFT_API weft_expr *weft_sort(weft_expr *x, int axis);
WEFT_API weft_expr *weft_argsort(weft_expr *x, int axis);
/* The k greatest (or least) along an axis, in that order, ties by place; places, when not NULL,
 * receives where they are. NaN counts as greatest. */
WEFT_API weft_expr *weft_topk(weft_expr *x, int64_t k, int axis, bool least, weft_expr **places);
/* Places, i64, where the elements of v would go into sorted, a 1-d array in rising order: before equal
 * ones, or behind them (right). Types meet as in a comparison. */
WEFT_API weft_expr *weft_searchsorted(weft_expr *sorted, weft_expr *v, bool right);
/* NumPy's digitize for rising bins. */
WEFT_API weft_expr *weft_digitize(weft_expr *x, weft_expr *bins, bool right);
/* How a quantile between two elements is made; NumPy's methods of these names. */
typedef enum weft_quantile_method {
    WEFT_QUANTILE_LINEAR,
    WEFT_QUANTILE_LOWER,
    WEFT_QUANTILE_HIGHER,
    WEFT_QUANTILE_MIDPOINT,
    WEFT_QUANTILE_NEAREST,
    WEFT_QUANTILE_HAZEN,
    WEFT_QUANTILE_WEIBULL,
    WEFT_QUANTILE_MEDIAN_UNBIASED,
    WEFT_QUANTILE_NORMAL_UNBIASED
} weft_quantile_method;
/* Over axes as reductions: f64 for bool and integers, else x's type. PROPAGATE: NaN where there is one;
 * SKIP: nanmedian. An empty run is NaN. q in [0, 1]. */
WEFT_API weft_expr *weft_median(weft_expr *x, const weft_reduce *r);
WEFT_API weft_expr *weft_quantile(weft_expr *x, double q, weft_quantile_method method,
                                  const weft_reduce *r);
/* Elements of x (flattened) in [edges[i], edges[i+1]), the last bin closed, as NumPy's histogram: i64.
 * edges: 1-d, rising, two or more. */
WEFT_API weft_expr *weft_histogram(weft_expr *x, weft_expr *edges);
/* The f64 edges of n equal bins from lo to hi, as numpy.linspace. */
WEFT_API weft_expr *weft_bin_edges(weft_graph *g, int64_t n, double lo, double hi);
/* How often 0 .. length-1 occur in x (i64), or the sums of their weights in index order (f64) when
 * weights is not NULL. An element outside is WEFT_EINDEX. */
WEFT_API weft_expr *weft_bincount(weft_expr *x, weft_expr *weights, int64_t length);

/* ---- evaluation --------------------------------------------------------------------------------- */

/* Progress of an evaluation; false stops it. See weft/control.h. */
typedef bool weft_progress_fn(void *ud, uint64_t done, uint64_t total);
typedef struct weft_token weft_token; /* weft/control.h */

/* size must be sizeof(weft_eval_opts), this version's or an earlier one's. NULL or zero fields are defaults. */
typedef struct weft_eval_opts {
    size_t size;
    weft_workspace *workspace; /* default: one that the context recycles */
    int threads;               /* 0: as the context; otherwise an upper limit for this call */
    bool unfused;              /* every operation its own pass: for measurement and for debugging */
    weft_token *token;          /* stops this evaluation when it is cancelled */
    weft_progress_fn *progress; /* called now and then on this thread */
    void *progress_ud;
} weft_eval_opts;

/* Computes x into out, whose dtype and shape must be those of x; its strides are free but it must not
 * overlap itself. It may overlap any input in any way: the result is as if the inputs had been copied
 * first. Errors are described by weft_graph_error of x's graph; after WEFT_ENAN the outputs hold
 * unspecified values. */
WEFT_API weft_status weft_eval(weft_expr *x, const weft_array *out, const weft_eval_opts *opts);
/* Several results in as few sweeps as possible. Outputs must not overlap each other. */
WEFT_API weft_status weft_eval_n(int n, weft_expr *const *x, const weft_array *outs,
                                 const weft_eval_opts *opts);
/* As weft_eval, into new C-contiguous memory of the context; free with weft_array_free. A result whose
 * extent depends on values (weft_compress and its kin) comes with its actual extent. */
WEFT_API weft_status weft_eval_new(weft_expr *x, weft_array *out, const weft_eval_opts *opts);
WEFT_API void weft_array_free(weft_ctx *ctx, weft_array *a);

/* ---- compile once, run many times ----------------------------------------------------------------- */

/* Plans and compiles the roots of one graph. The program copies what it needs: the graph may be reset
 * or freed afterwards. Arrays given with weft_from stay referred to by address. */
WEFT_API weft_status weft_compile(int n, weft_expr *const *roots, weft_program **out);
WEFT_API void weft_program_free(weft_program *p);
WEFT_API int weft_program_inputs(const weft_program *p);
WEFT_API int weft_program_outputs(const weft_program *p);
/* What a run with the planned shapes asks of the allocator when it is given a fresh workspace, exactly: the
 * block for temporaries, scratch and partial results, its alignment included (up to 2 MiB for large
 * ones). Outputs that overlap inputs, or each other's memory, may need copies of theirs beside it. */
WEFT_API size_t weft_program_workspace_size(const weft_program *p);
/* Runs with inputs[i] for input i and outs[j] for root j. ws NULL: one that the context recycles.
 * With a workspace that has run these shapes before, nothing is allocated. Extents may differ from
 * the planned ones; a new set of extents is planned once and remembered in the program. err, when not
 * NULL, receives a sentence (or "") in at most err_size bytes. */
WEFT_API weft_status weft_run(const weft_program *p, weft_workspace *ws, const weft_array *inputs,
                              const weft_array *outs, char *err, size_t err_size);

/* Memory for intermediates, kept between runs. */
WEFT_API weft_status weft_workspace_new(weft_ctx *ctx, weft_workspace **out);
/* Makes sure that a run whose program promised up to so many bytes will not allocate. */
WEFT_API weft_status weft_workspace_reserve(weft_workspace *ws, size_t bytes);
WEFT_API size_t weft_workspace_bytes(const weft_workspace *ws); /* held now */
WEFT_API void weft_workspace_free(weft_workspace *ws);

/* ---- look inside ------------------------------------------------------------------------------------ */

typedef enum weft_dump_kind {
    WEFT_DUMP_IR,   /* the canonical graph, one node a line */
    WEFT_DUMP_DOT,  /* the same for graphviz */
    WEFT_DUMP_PLAN, /* steps, passes, bytes, boundaries with their reasons */
    WEFT_DUMP_LLVM, /* the IR of every compiled step */
    WEFT_DUMP_ASM   /* its machine code as assembly, for isa (or the machine's own) */
} weft_dump_kind;

/* A new text; free with weft_text_free. isa matters to LLVM and ASM: any x86-64 level can be asked
 * for on any x86-64 machine. WEFT_EUNSUPPORTED when LLVM cannot be loaded. */
WEFT_API weft_status weft_dump(int n, weft_expr *const *roots, weft_dump_kind kind, weft_isa isa,
                               char **text);
/* JSON: passes, bytes_read, bytes_written, workspace_bytes, steps (each with kind, space, reads,
 * writes, ops, why). */
WEFT_API weft_status weft_explain(int n, weft_expr *const *roots, char **json);
WEFT_API void weft_text_free(weft_ctx *ctx, char *text);

/* One row of the operation table, for i from 0; NULL past the end. */
typedef struct weft_op_info {
    const char *name;
    int arity;
    const char *kind; /* "elementwise", "reduction", "view", ... */
    const char *doc;  /* one line */
} weft_op_info;
WEFT_API const weft_op_info *weft_op_at(int i);

/* One environment variable that contexts read, for i from 0; NULL past the end. */
typedef struct weft_env_info {
    const char *name, *values, *doc;
} weft_env_info;
WEFT_API const weft_env_info *weft_env_at(int i);

#include "weft/control.h"

#endif /* WEFT_TYPES_ONLY */

#ifdef __cplusplus
}
#endif

#ifndef WEFT_TYPES_ONLY /* the rest of the interface, by topic */
#include "profile.h"
#include "exchange.h"
#include "cache.h"
#include "types.h"
#include "numpy.h"
#include "report.h"
#include "graph_file.h"
#endif
#endif
