/* SPDX-License-Identifier: MIT
 *
 * weft/numpy.h: more of what NumPy's users reach for. Included by weft.h.
 *
 *     weft_expr *at[2] = {rows, columns};
 *     weft_places p = {.size = sizeof p, .n = 2, .index = at};
 *     weft_expr *y = weft_gather(x, &p);                      x[rows, columns]
 *     weft_expr *z = weft_scatter_n(x, &p, v, WEFT_SCATTER_ADD);  np.add.at(x, (rows, columns), v)
 *
 * All of these are made of the operations of weft.h while the graph is built: they are as lazy, and what of them
 * fuses is said beside each.
 */
#ifndef WEFT_NUMPY_H
#define WEFT_NUMPY_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- several index arrays at once ----------------------------------------------------------------- */

/* Places in an array: index[k], an integer array, along axes[k] (NULL: axes 0 .. n-1; negative ones count from the
 * end; each axis once). The index arrays broadcast against each other; n is 1 to the rank. size must be
 * sizeof(weft_places). */
typedef struct weft_places {
    size_t size;
    int n;
    weft_expr *const *index;
    const int *axes;
    weft_index_mode mode;
} weft_places;
/* NumPy's x[i, j] and x[:, i, j]: the element of x at each place. The axes that the index arrays have in common
 * stand where the indexed axes were when those are neighbours, else in front, as in NumPy. The row-major places are
 * computed in one pass; x is read by the pass that uses the result, and copied beforehand only when it is no
 * row-major array. In WEFT_INDEX_RAISE mode the sentence names the index, its place in its array and the axis. x
 * keeps the extents it was built with: a program refuses others. */
WEFT_API weft_expr *weft_gather(weft_expr *x, const weft_places *at);
/* A copy of x in which values (cast to x's type, broadcast to the shape of weft_gather's result) have been put or
 * combined there, in index order: row-major over the common shape of the index arrays, whatever the number of
 * threads. NumPy's x[i, j] = v, np.add.at(x, (i, j), v), ... */
WEFT_API weft_expr *weft_scatter_n(weft_expr *x, const weft_places *at, weft_expr *values, weft_scatter_op op);

/* ---- scans ------------------------------------------------------------------------------------------ */

/* The array API's cumulative_sum and cumulative_prod: with initial, the result begins with a 0 (1) and is one longer. */
WEFT_API weft_expr *weft_cumulative_sum(weft_expr *x, int axis, bool initial);
WEFT_API weft_expr *weft_cumulative_prod(weft_expr *x, int axis, bool initial);
/* NaN counts as 0 (1). */
WEFT_API weft_expr *weft_nancumsum(weft_expr *x, int axis);
WEFT_API weft_expr *weft_nancumprod(weft_expr *x, int axis);

/* ---- sets of 1-d arrays ------------------------------------------------------------------------------ */

/* Whether each element of x is one of set's; NaN is in no set. Small sets are compared with in the pass that uses the
 * result; others are sorted once and searched. */
WEFT_API weft_expr *weft_isin(weft_expr *x, weft_expr *set);
/* Distinct elements in rising order, of one or the other, of both, of a alone, of exactly one. Real types; their
 * extents depend on values, see weft_count_of. NaN is in no set but its own: it is not found in the other. */
WEFT_API weft_expr *weft_union1d(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_intersect1d(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_setdiff1d(weft_expr *a, weft_expr *b);
WEFT_API weft_expr *weft_setxor1d(weft_expr *a, weft_expr *b);
/* Indices, i64 [count, rank], of the elements that are not 0; x has rank 1 or more. */
WEFT_API weft_expr *weft_argwhere(weft_expr *x);
/* Places, i64, that sort n >= 1 arrays of one shape along axis together, the last of them first of all; stable. */
WEFT_API weft_expr *weft_lexsort(int n, weft_expr *const *keys, int axis);

/* ---- signals and statistics ----------------------------------------------------------------------------- */

typedef enum weft_overlap {
    WEFT_OVERLAP_FULL,  /* wherever the two meet: n + m - 1 */
    WEFT_OVERLAP_SAME,  /* as many as the longer has */
    WEFT_OVERLAP_VALID  /* where the shorter lies whole within the longer */
} weft_overlap;
/* Of 1-d arrays, in the type they meet in: windows of one times the other, summed, n * m operations in one pass. */
WEFT_API weft_expr *weft_convolve(weft_expr *a, weft_expr *v, weft_overlap mode);
WEFT_API weft_expr *weft_correlate(weft_expr *a, weft_expr *v, weft_overlap mode); /* conj(v), not turned round */
/* The line through the points (xp, fp), xp rising, at x; before and behind them the first and last of fp. f64. */
WEFT_API weft_expr *weft_interp(weft_expr *x, weft_expr *xp, weft_expr *fp);
/* Differences of neighbours on both sides over 2 dx; at the ends, of one side over dx. 2 elements or more. */
WEFT_API weft_expr *weft_gradient(weft_expr *x, double dx, int axis);
/* sum(x w) / sum(w) in the float type x and weights meet in; weights has x's shape, or is 1-d along r's one axis. */
WEFT_API weft_expr *weft_average(weft_expr *x, weft_expr *weights, const weft_reduce *r);
/* Covariance and correlation of the rows of x, a matrix (a vector is one row): [rows, rows], over columns - ddof. */
WEFT_API weft_expr *weft_cov(weft_expr *x, double ddof);
WEFT_API weft_expr *weft_corrcoef(weft_expr *x);

#ifdef __cplusplus
}
#endif
#endif
