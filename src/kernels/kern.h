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

// ---- long work that can be stopped ----------------------------------------------------------------
// tick is asked on any thread between parts of well below a millisecond; cycles: roughly the work since.
// true: leave soon, whatever is half done; the outputs are unspecified then. NULL tick: never.
struct kern_watch {
    bool (*tick)(void *ud, int64_t cycles);
    void *ud;
};
static inline bool kern_tick(const struct kern_watch *w, int64_t cycles) {
    return w->tick && w->tick(w->ud, cycles);
}

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
    F(floor_divide) F(remainder)                                                                   \
    F(logaddexp) F(logaddexp2) F(lgamma) F(tgamma) F(sinc) F(ndtri)                                \
    F(nextafter) F(scale_by_power) F(frexp_mantissa) F(frexp_power)                                \
    F(gcd) F(lcm) F(random_word) F(random_half) F(random_below)
enum kern_family {
#define F(name) KERN_F_##name,
    KERN_FAMILIES(F)
#undef F
    KERN_FAMILY__N
};

// A block kernel computes a few vectors that are in registers already, for generated code. Operands come in
// the first registers of the level (AVX-512: zmm, AVX2: ymm): 0 .. vectors-1, a second one in vectors ..
// 2 vectors - 1; the result is left in 0 .. vectors-1. entry is called like a function, at any stack
// alignment, without a red zone below it; it changes the vector registers below `registers`, k0-k7 (AVX-512), rax,
// rcx, r11 and the flags, and nothing else.
struct kern_block {
    void (*entry)(void); // not a C function
    int32_t vectors, operands, registers, reserved;
};

struct kern_row {
    enum kern_family family;
    weft_dtype dtype;      // of operands and result
    enum kern_isa isa;     // the least level it runs on
    const char *symbol;
    kern_map *fn;
    double ulp;            // measured maximum error, 0.5 = correctly rounded, 0 = exact (integers)
    const struct kern_block *block; // of assembly rows: the same for values in registers; else NULL
};
// All rows of kernels.def; within a family and dtype assembly before the C recipe, best instruction set first.
const struct kern_row *kern_rows(size_t *n);
// The best row at or below isa, or NULL when the family has no kernel for dtype.
const struct kern_row *kern_find(enum kern_family f, weft_dtype t, enum kern_isa isa);
// Its block kernel when that is for isa itself, or NULL.
const struct kern_block *kern_block_find(enum kern_family f, weft_dtype t, enum kern_isa isa);

// ---- parts of pairs -----------------------------------------------------------------------------------------
// to[i] = from[2i], and to[2i] = from[i], for i < n elements of 4 or 8 bytes at any alignment. What lies between
// the elements is neither read nor written; to and from do not overlap.
void kern_pick(size_t size, void *to, const void *from, int64_t n);
void kern_spread(size_t size, void *to, const void *from, int64_t n);

// ---- matrix product -------------------------------------------------------------------------------------
// C[m,n] = A[m,k] B[k,n] for every dtype; strides in bytes, any sign, any alignment, 0 allowed for A and
// B. C is written, never read, and must not overlap A, B or itself. k = 0 gives zeros.
// The order of accumulation depends on k, and on whether C has one row or column, alone. Floats: k is cut
// at multiples of KERN_GEMM_KC; a block is one FMA chain fma(a[k], b[k], sum) in increasing k that starts
// from +0; block sums are added in order. When m or n is 1: k is cut at multiples of KERN_GEMV_KC; in a
// block, lane l of L (8 of f64, 16 of f32) is such a chain over k = l, l + L, ...; lanes fold by halves
// (l and l + L/2, ...); block sums are added in order. So 0 * NaN is NaN, a zero result is +0 unless
// rounding made it -0, and any partition of C into matrices, any layout, thread count and instruction set
// gives the same bits. Integers wrap; bool: or of and.
#define KERN_GEMM_KC 256
#define KERN_GEMV_KC 2048
// A finished part of C, in rows and columns of C as the caller sees it; body: which of the calls of a
// kern_gemm_for finished it, 0 on one thread. No two parts of one body are given at once.
struct kern_gemm_part { int64_t batch, row, rows, col, cols, body; };
struct kern_gemm {
    weft_dtype dtype;
    enum kern_isa isa;
    int64_t m, n, k;
    const void *a, *b;
    int64_t a_rs, a_cs, b_rs, b_cs; // byte strides of rows and columns
    void *c;
    int64_t c_rs, c_cs;
    void *scratch;                  // kern_gemm_scratch(g, threads) bytes, 64-byte aligned
    int64_t batch;                  // number of products, 0 as 1, a_bs, b_bs and c_bs bytes apart
    int64_t a_bs, b_bs, c_bs;
    // Called once for each part of C when its values are final and still in cache, by the thread that
    // finished it; parts are disjoint and cover C. For epilogues that work in place. May be NULL.
    void (*done)(void *ud, const struct kern_gemm_part *part);
    void *done_ud;
    struct kern_watch watch;
};
// runs body(arg, i) once for each i < n, on any threads in any order, and returns when all are done
typedef void kern_gemm_for(void *ud, int64_t n, void (*body)(void *arg, int64_t i), void *arg);

// How many threads the product is worth, 1 .. max; then scratch bytes for that many (0 when too large to
// express); then the product itself. Nothing is allocated; threads must be what scratch was sized for.
int kern_gemm_threads(const struct kern_gemm *g, int max);
size_t kern_gemm_scratch(const struct kern_gemm *g, int threads);
void kern_gemm_run(const struct kern_gemm *g);                 // on this thread, scratch for 1
void kern_gemm_parallel(const struct kern_gemm *g, int threads, kern_gemm_for *run, void *ud);

// ---- reductions -----------------------------------------------------------------------------------------
// The fixed tree (docs/numerics.md). Elements of the reduced run are numbered e = 0..N-1 in logical
// row-major order.
// Inner (the run includes the last axis): leaves of KERN_RED_RUN elements; in a leaf, lane l of L (L = 32 for
// 8-byte accumulators, 64 for narrower ones) combines its elements e = l, l+L, l+2L, ... in order,
// starting from the identity; leaves are combined lane by lane as a binary counter does (leaf t is
// pushed; while the lowest bits of t are 1 the stacked older vector is combined: older OP newer); at the
// end what is left on the stack is combined from the newest to the oldest (older OP newer); then lanes
// fold: for w = L/2, L/4, ..., 1: lane l = lane l OP lane l+w.
// Outer: the same with one lane per column and leaves of KERN_RED_ROWS elements.
// Since full subtrees are aligned, any split of a run at multiples of a power-of-two number of leaves
// gives partial vectors which, combined by kern_red_push/flush in order, give the same bits.
enum kern_red {
    KERN_SUM, KERN_PROD, KERN_MIN, KERN_MAX, KERN_FMIN, KERN_FMAX, KERN_ANY, KERN_ALL,
    KERN_ARGMIN, KERN_ARGMAX, KERN_NANARGMIN, KERN_NANARGMAX, KERN_RED__N
};
// Short leaves keep f32 sums close: a lane adds 4 (f32) or 8 (f64) elements in a row, a column 4.
enum { KERN_RED_RUN = 256, KERN_RED_ROWS = 4 };
static inline int kern_red_lanes(weft_dtype t) { return dtype_size(t) == 8 ? 32 : 64; }
static inline bool kern_red_is_arg(enum kern_red r) { return r >= KERN_ARGMIN; }
// Identities: sum -0.0 / 0, prod 1, min/max +inf/-inf or the type's extremes, FMIN/FMAX NaN, any 0, all 1;
// arg: value "none" with index INT64_MAX (an index of INT64_MAX marks an empty lane).
// Arg lanes are L values and L i64 indices, L = 32 for every dtype; combining is order-free (propagating:
// the NaN with the smallest index, else the best value with the smallest index).
// Bytes of the state of n lanes: values (padded to 64 bytes) then indices.
size_t kern_red_state(enum kern_red r, weft_dtype t, int64_t n);
void kern_red_identity(enum kern_red r, weft_dtype t, void *state, int64_t n);
// older[i] = older[i] OP newer[i]
void kern_red_combine(enum kern_red r, weft_dtype t, void *older, const void *newer, int64_t n);
// inner: accumulate one leaf (count <= KERN_RED_RUN elements, first = index of the first) into L lanes
// that hold the identity. A leaf may also come in pieces, each but the last a multiple of 64 elements.
void kern_red_leaf(enum kern_red r, weft_dtype t, void *lanes, const void *x, int64_t count,
                   int64_t first);
// the same in one step: identity, then the leaf or its first piece
void kern_red_begin(enum kern_red r, weft_dtype t, void *lanes, const void *x, int64_t count,
                    int64_t first);
// outer: accumulate one row of n columns, index e of the run, into n lanes
void kern_red_row(enum kern_red r, weft_dtype t, void *state, const void *x, int64_t n, int64_t e);
// the same in one step: identity, then the row
void kern_red_begin_row(enum kern_red r, weft_dtype t, void *state, const void *x, int64_t n,
                        int64_t e);
// Fold L lanes to one result at out (element of t, or i64 for arg-reductions; empty: -1).
void kern_red_fold(enum kern_red r, weft_dtype t, const void *lanes, void *out);
// outer arg-reductions: state of n columns to n i64 results
void kern_red_columns(enum kern_red r, weft_dtype t, const void *state, void *out, int64_t n);
// The binary counter over partial states of n lanes: push number index (0, 1, 2, ...; the order matters);
// flush leaves the total in total, which may be stack. stack has room for 64 states.
void kern_red_push(enum kern_red r, weft_dtype t, void *stack, const void *state, int64_t n,
                   uint64_t index);
// Pushing without a copy: where to make state number index, and the carries once it is there.
void *kern_red_slot(enum kern_red r, weft_dtype t, void *stack, int64_t n, uint64_t index);
void kern_red_carry(enum kern_red r, weft_dtype t, void *stack, int64_t n, uint64_t index);
void kern_red_flush(enum kern_red r, weft_dtype t, void *stack, void *total, int64_t n,
                    uint64_t count);

// Runs of unit stride at once: the state that begin/leaf, carry and flush over
// all leaves would leave, or for KERN_ARG* and other reductions of any order one that folds to the same.
// from: dtype of the elements; sums of narrow integers and bool widen to i64, f32 to f64, as a cast
// before the reduction would.
typedef void kern_red_units(void *state, const void *x, size_t units);
struct kern_red_row;
// n >= 0 elements at x, any alignment; lanes: kern_red_state bytes of L lanes. stack: room for 64 states;
// lanes may be its first. first: index of x's first element (arg-reductions).
typedef void kern_red_run_fn(const struct kern_red_row *row, void *lanes, const void *x, int64_t n,
                             int64_t first, void *stack);
kern_red_run_fn kern_red_run;
enum kern_red_how {
    KERN_RED_TREE, // units are whole leaves; state is the counter's stack, filled as pushing would
    KERN_RED_FLAT, // units are 512 bytes; state is one vector of lanes
    KERN_RED_BEST, // the same for the extreme that an arg-reduction looks for
    KERN_RED_STEPS // no kernel: begin, leaf, carry
};
// The outer tree of n columns over rows >= 0 rows, rs bytes apart, any alignment and sign: kern_red_state bytes
// of n columns at total, which may be the first of stack, room for 64. Not for arg-reductions; elements are of
// the row's dtype.
typedef void kern_red_outer_fn(const struct kern_red_row *row, void *total, const void *x, int64_t rs,
                               int64_t rows, int64_t n, void *stack);
kern_red_outer_fn kern_red_outer;
struct kern_red_row {
    kern_red_run_fn *run;         // kern_red_run and kern_red_outer; first, for machine code
    kern_red_outer_fn *outer;
    enum kern_red red;
    weft_dtype dtype, from;
    enum kern_red_how how;
    enum kern_isa isa;
    const char *symbol;
    kern_red_units *fn;
};
// All rows of kernels.def; the best for isa, never NULL where kern_red_runs.
const struct kern_red_row *kern_red_rows(size_t *n);
static inline bool kern_red_runs(enum kern_red r, weft_dtype t, weft_dtype from) {
    const bool known = t == WEFT_F32 || t == WEFT_F64 || t == WEFT_BOOL || dtype_is_int(t);
    if (t == from) return known && (t == WEFT_BOOL || (r != KERN_ANY && r != KERN_ALL));
    if (r != KERN_SUM) return false;
    return t == WEFT_F64   ? from == WEFT_F32
           : t == WEFT_I64 ? from == WEFT_BOOL || (dtype_is_int(from) && dtype_size(from) < 8)
                           : t == WEFT_U64 && dtype_is_unsigned(from) && dtype_size(from) < 8;
}
const struct kern_red_row *kern_red_find(enum kern_red r, weft_dtype t, weft_dtype from, enum kern_isa isa);

// ---- scans ----------------------------------------------------------------------------------------------
// Inclusive scans: out[i] = x[0] OP x[1] OP ... OP x[i] in an order that depends on i alone. Blocks of
// KERN_SCAN_RUN elements, rows of KERN_SCAN_ROW in them. A row is scanned by doubling (step s = 1, 2, 4, 8: element
// i combines with i - s of its row, older first), rows are chained in order, so a block has its own scan
// and its total. Totals of blocks are counted in binary as leaves of reductions are; what stands on the
// stack, combined from the oldest to the newest, goes in front of the block's scan. So long f32 sums do not
// stall, and pieces of whole blocks give the same bits on any threads.
// For KERN_SUM .. KERN_ALL and every dtype that has the reduction; the result has the same dtype.
enum { KERN_SCAN_RUN = 256, KERN_SCAN_ROW = 16 };
struct kern_scan {
    enum kern_red r;
    weft_dtype t;
    uint64_t blocks;              // whole blocks so far
    uint64_t level[64], upto[64]; // per bit of blocks: the total there; all older ones and it
};
void kern_scan_begin(struct kern_scan *s, enum kern_red r, weft_dtype t);
// Scans the next n elements; n is a multiple of KERN_SCAN_RUN in all calls but the last. out may be x; it must not
// overlap x otherwise. Any alignment.
void kern_scan_next(struct kern_scan *s, void *out, const void *x, int64_t n);
// The same without output: only the state moves on. n is a multiple of KERN_SCAN_RUN.
void kern_scan_skip(struct kern_scan *s, const void *x, int64_t n);
// Moves s on by the blocks that part has seen from its own beginning. For threads: pieces of the same power
// of two of blocks, each skipped into a state of its own; joined in order, they give the states from
// which the pieces are scanned.
void kern_scan_join(struct kern_scan *s, const struct kern_scan *part);

// Along rows: n columns at once, rows e = 0, 1, 2, ... in turn. Rows of a block of KERN_SCAN_ROWS are chained in
// order; blocks as above. state: kern_scan_row_state bytes for up to so many rows, 64-byte aligned,
// no beginning needed. out may be x.
enum { KERN_SCAN_ROWS = 64 };
size_t kern_scan_row_state(weft_dtype t, int64_t n, int64_t rows);
void kern_scan_row(enum kern_red r, weft_dtype t, void *state, void *out, const void *x, int64_t n,
                   int64_t e);

// ---- bytes ----------------------------------------------------------------------------------------------
// out[i] = index[i] < entries ? table[index[i]] : 0 for i < n; entries 0..256, nothing beyond them is read. out may
// be index; it must not overlap it otherwise, nor the table. Any alignment.
typedef void kern_lookup_fn(uint8_t *out, const uint8_t *index, size_t n, const uint8_t *table, size_t entries);
kern_lookup_fn kern_lookup_base; // the scalar loop, as oracle
void kern_lookup(enum kern_isa isa, uint8_t *out, const uint8_t *index, size_t n, const uint8_t *table,
                 size_t entries);
// The kernels behind it: whole blocks of 64 bytes, see x86_64/lookup.inc.
typedef void kern_lookup_blocks(uint8_t *out, const uint8_t *index, size_t blocks, const uint8_t *steps);
// vbmi: needs that extension beside its level, and takes the table as it is
struct kern_byte_row { enum kern_isa isa; const char *symbol; kern_lookup_blocks *fn; bool vbmi; };
const struct kern_byte_row *kern_byte_rows(size_t *n); // all of kernels.def, best first
bool kern_byte_runs(const struct kern_byte_row *r, enum kern_isa isa); // whether r may be used at isa, here
void kern_lookup_by(const struct kern_byte_row *r, uint8_t *out, const uint8_t *index, size_t n, const uint8_t *table,
                    size_t entries);

#endif
