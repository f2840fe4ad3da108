// SPDX-License-Identifier: MIT
// Views and assembly: for each element of the result, which element of which operand it is (or a
// fill). Follows NumPy's definitions, index by index.
#include "fuzz.h"

static int64_t wrap(int64_t i, int64_t n) {
    i %= n;
    return i < 0 ? i + n : i;
}
static int axis_of(int64_t axis, int rank) {
    return (int)(axis < 0 ? axis + rank : axis);
}

// Python's slice of an axis of extent n
struct bounds {
    int64_t first, step, count;
};
static struct bounds resolve(int64_t n, int64_t start, int64_t stop, int64_t step) {
    __int128 lo = step > 0 ? 0 : -1, hi = step > 0 ? n : n - 1, a, b;
    a = start == WEFT_NONE ? (step > 0 ? lo : hi) : start < 0 ? (__int128)start + n : start;
    b = stop == WEFT_NONE ? (step > 0 ? hi : lo) : stop < 0 ? (__int128)stop + n : stop;
    a = a < lo ? lo : a > hi ? hi : a;
    b = b < lo ? lo : b > hi ? hi : b;
    __int128 count = step > 0 ? (b - a + step - 1) / step : (a - b - step - 1) / -(__int128)step;
    return (struct bounds){(int64_t)a, step, count > 0 ? (int64_t)count : 0};
}

// ---- shapes
// ---------------------------------------------------------------------------------------------
static void drop_axis(struct shape *s, int axis) {
    for (int k = axis; k + 1 < s->rank; k++)
        s->dims[k] = s->dims[k + 1];
    s->rank--;
}
static void insert_axis(struct shape *s, int axis, int64_t n) {
    for (int k = s->rank; k > axis; k--)
        s->dims[k] = s->dims[k - 1];
    s->dims[axis] = n;
    s->rank++;
}
static int64_t part_length(int64_t n, int64_t parts, int64_t k) {
    return n / parts + (k < n % parts);
}
static int64_t diagonal_length(const int64_t *d, const int64_t *p) {
    int64_t rows = d[p[1]], cols = d[p[2]], n = p[0] >= 0 ? cols - p[0] : rows + p[0],
            least = rows < cols ? rows : cols;
    return n < 0 ? 0 : n < least ? n : least;
}
static void reshaped(struct shape *s, const int64_t *p, int64_t count) {
    int hole = -1;
    int64_t known = 1;
    s->rank = (int)p[0];
    for (int k = 0; k < s->rank; k++) {
        s->dims[k] = p[1 + k];
        if (p[1 + k] < 0)
            hole = k;
        else
            known *= p[1 + k];
    }
    if (hole >= 0) s->dims[hole] = known ? count / known : 0;
}

static struct shape shape_of(const struct node *n, const struct tensor *x) {
    struct shape s = x[0].s, in = s;
    const int64_t *p = n->p;
    int a0 = axis_of(p[0], in.rank), a1 = axis_of(p[1], in.rank);
    switch (n->kind) {
    case K_reshape: reshaped(&s, p, x[0].n); break;
    case K_ravel: s.rank = 1, s.dims[0] = x[0].n; break;
    case K_transpose:
        for (int k = 0; k < s.rank; k++)
            s.dims[k] = in.dims[p[1 + k]];
        break;
    case K_slice: s.dims[a0] = resolve(in.dims[a0], p[1], p[2], p[3]).count; break;
    case K_index:
    case K_squeeze: drop_axis(&s, a0); break;
    case K_expand_dims: insert_axis(&s, (int)(p[0] < 0 ? p[0] + in.rank + 1 : p[0]), 1); break;
    case K_broadcast_to: s.rank = (int)p[0], memcpy(s.dims, p + 1, (size_t)p[0] * sizeof *p); break;
    case K_diagonal:
        drop_axis(&s, (int)(p[1] > p[2] ? p[1] : p[2]));
        drop_axis(&s, (int)(p[1] > p[2] ? p[2] : p[1]));
        insert_axis(&s, s.rank, diagonal_length(in.dims, p));
        break;
    case K_windows: s.dims[a0] -= p[1] - 1, insert_axis(&s, s.rank, p[1]); break;
    case K_moveaxis: drop_axis(&s, a0), insert_axis(&s, a1, in.dims[a0]); break;
    case K_split: s.dims[a0] = part_length(in.dims[a0], p[1], p[2]); break;
    case K_tile:
        while (s.rank < p[0])
            insert_axis(&s, 0, 1);
        for (int k = 0; k < p[0]; k++)
            s.dims[s.rank - (int)p[0] + k] *= p[1 + k];
        break;
    case K_repeat: s.dims[a1] *= p[0]; break;
    case K_pad:
        for (int k = 0; k < s.rank; k++)
            s.dims[k] += p[0] + p[1];
        break;
    case K_concat: s.dims[a0] += x[1].s.dims[a0]; break;
    case K_stack: insert_axis(&s, (int)(p[0] < 0 ? p[0] + in.rank + 1 : p[0]), 2); break;
    default: break;
    }
    return s;
}

// ---- where an element comes from
// ------------------------------------------------------------------------------
static int64_t padded(int64_t i, int64_t n, int mode) { // -1: the constant
    if (i >= 0 && i < n) return i;
    switch (mode) {
    case WEFT_PAD_CONSTANT: return -1;
    case WEFT_PAD_EDGE: return i < 0 ? 0 : n - 1;
    case WEFT_PAD_WRAP: return wrap(i, n);
    case WEFT_PAD_REFLECT:
        if (n == 1) return 0;
        i = wrap(i, 2 * (n - 1));
        return i < n ? i : 2 * (n - 1) - i;
    default: i = wrap(i, 2 * n); return i < n ? i : 2 * n - 1 - i;
    }
}
// at: index in the result, becomes that in the operand. false: a fill of zero.
static bool from_pad(const struct node *n, const struct shape *in, int64_t *at) {
    for (int k = 0; k < in->rank; k++)
        if ((at[k] = padded(at[k] - n->p[0], in->dims[k], (int)n->p[2])) < 0) return false;
    return true;
}
static void take_out(int64_t *at, int rank, int axis) { // of an index of that rank
    for (int k = axis; k + 1 < rank; k++)
        at[k] = at[k + 1];
}
static void put_in(int64_t *at, int rank, int axis, int64_t i) {
    for (int k = rank; k > axis; k--)
        at[k] = at[k - 1];
    at[axis] = i;
}
static void from_diagonal(const int64_t *p, int rank, int64_t *at) { // rank: of the operand
    int64_t l = at[rank - 2], lo = p[1] < p[2] ? p[1] : p[2], hi = p[1] < p[2] ? p[2] : p[1];
    int64_t row = l + (p[0] < 0 ? -p[0] : 0), col = l + (p[0] > 0 ? p[0] : 0);
    put_in(at, rank - 2, (int)lo, p[1] < p[2] ? row : col);
    put_in(at, rank - 1, (int)hi, p[1] < p[2] ? col : row);
}

static bool map_index(const struct node *n, const struct shape *out, const struct shape *in,
                      int64_t *at) {
    const int64_t *p = n->p;
    int a0 = axis_of(p[0], in->rank), a1 = axis_of(p[1], in->rank), r = in->rank;
    int64_t save[RANK + 2];
    memcpy(save, at, sizeof save);
    switch (n->kind) {
    case K_transpose:
        for (int k = 0; k < r; k++)
            at[p[1 + k]] = save[k];
        return true;
    case K_slice:
        at[a0] = resolve(in->dims[a0], p[1], p[2], p[3]).first + at[a0] * p[3];
        return true;
    case K_index: put_in(at, r - 1, a0, wrap(p[1], in->dims[a0])); return true;
    case K_flip: at[a0] = in->dims[a0] - 1 - at[a0]; return true;
    case K_squeeze: put_in(at, r - 1, a0, 0); return true;
    case K_expand_dims: take_out(at, r + 1, (int)(p[0] < 0 ? p[0] + r + 1 : p[0])); return true;
    case K_broadcast_to:
    case K_tile:
        for (int k = 0; k < r; k++)
            at[k] = in->dims[k] == 1 ? 0 : save[k + out->rank - r] % in->dims[k];
        return true;
    case K_diagonal: from_diagonal(p, r, at); return true;
    case K_windows: at[a0] += at[r]; return true;
    case K_moveaxis: take_out(at, r, a1), put_in(at, r - 1, a0, save[a1]); return true;
    case K_split:
        for (int64_t k = 0; k < p[2]; k++)
            at[a0] += part_length(in->dims[a0], p[1], k);
        return true;
    case K_tril: return at[r - 1] <= at[r - 2] + p[0];
    case K_triu: return at[r - 1] >= at[r - 2] + p[0];
    case K_roll: at[a1] = wrap(at[a1] - p[0] % in->dims[a1], in->dims[a1]); return true;
    case K_repeat: at[a1] /= p[0]; return true;
    case K_pad: return from_pad(n, in, at);
    default: return true;
    }
}

struct tensor naive_view(const struct node *n, const struct tensor *x) {
    struct shape s = shape_of(n, x);
    bool two = n->kind == K_concat || n->kind == K_stack;
    weft_dtype t = two ? promote(x[0].s.t, x[1].s.t) : x[0].s.t;
    struct tensor r = tensor_new(t, s.rank, s.dims);
    int64_t at[RANK + 2];
    for (int64_t i = 0; i < r.n; i++) {
        const struct tensor *from = &x[0];
        struct num v = {0, 0, 0};
        int64_t l = i;
        bool some = true;
        memset(at, 0, sizeof at);
        unravel(i, &s, at);
        if (two) {
            int axis = (int)(n->p[0] < 0 ? n->p[0] + s.rank : n->p[0]);
            int64_t first = n->kind == K_stack ? 1 : x[0].s.dims[axis];
            if (at[axis] >= first) from = &x[1], at[axis] -= first;
            if (n->kind == K_stack) take_out(at, s.rank, axis);
            l = ravel_at(at, &from->s);
        } else if (n->kind != K_reshape && n->kind != K_ravel) {
            some = map_index(n, &s, &x[0].s, at);
            l = some ? ravel_at(at, &x[0].s) : 0;
        }
        if (some) v = num_cast(t, from->s.t, num_at(from, l));
        num_store(t, r.data + (size_t)i * weft_dtype_size(t), v);
    }
    return r;
}
