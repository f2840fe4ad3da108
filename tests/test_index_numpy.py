#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Indexing, assembly, order and scans against NumPy: random operations over all types, shapes of rank 0 to 6, views
of every kind, in both tiers, fused and not, with one to three threads, which must all give the same bits. Index
operations run between guard pages with indices far outside, in every mode: a byte touched outside is a crash.
usage: test_index_numpy.py libweft.so [cases] [seed]; ends with "N passed, N failed"."""
import ctypes as C
import mmap
import os
import random
import sys
import warnings

import numpy as np

from weft_ctypes import NAMES, Lib, Padding, Parts, Places, Scatter, WeftError, i64s

warnings.filterwarnings("ignore")
REAL = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]
INT = REAL[1:9]
ALL = [n for n in NAMES if n]
libc = C.CDLL(None)
libc.mmap.restype = C.c_void_p
libc.mmap.argtypes = [C.c_void_p, C.c_size_t, C.c_int, C.c_int, C.c_int, C.c_long]
libc.mprotect.argtypes = [C.c_void_p, C.c_size_t, C.c_int]
libc.munmap.argtypes = [C.c_void_p, C.c_size_t]


class Guarded:
    """A dense copy of an array that ends (or begins) at a page that cannot be touched."""

    def __init__(self, a, at_end):
        page = mmap.PAGESIZE
        room = (a.nbytes + page - 1) // page * page
        self.size, self.base = room + 2 * page, libc.mmap(None, room + 2 * page, 3, 0x22, -1, 0)
        libc.mprotect(self.base, page, 0)
        libc.mprotect(self.base + page + room, page, 0)
        start = self.base + page + (room - a.nbytes if at_end else 0)
        buf = (C.c_char * a.nbytes).from_address(start)
        self.array = np.frombuffer(buf, a.dtype, a.size).reshape(a.shape)
        self.array[...] = a

    def free(self):
        self.array = None
        libc.munmap(self.base, self.size)


class Run:
    def __init__(self, path, seed):
        self.r, self.np = random.Random(seed), np.random.default_rng(seed)
        self.libs = [Lib(path, 1, 3), Lib(path, 2, 3)]
        self.passed = self.failed = 0

    # ---- arrays --------------------------------------------------------------------------------
    def values(self, shape, dtype):
        dt = np.dtype(dtype)
        n = int(np.prod(shape))
        if dt.kind == "b":
            a = self.np.integers(0, 2, n).astype(dt)
        elif dt.kind in "iu":
            few = self.r.random() < 0.5
            info = np.iinfo(dt)
            a = (self.np.integers(0 if dt.kind == "u" else -4, 5, n) if few else
                 self.np.integers(info.min, info.max, n, dtype=dt, endpoint=True)).astype(dt)
        else:
            def part():
                p = self.np.integers(-4, 5, n).astype("f8") if self.r.random() < 0.5 else self.np.normal(size=n)
                special = self.np.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], n)
                return np.where(self.np.random(n) < (0.2 if self.r.random() < 0.5 else 0), special, p)
            a = (part() + 0j if dt.kind == "c" else part()).astype(dt)
            if dt.kind == "c":
                a.imag = part()
        return a.reshape(shape)

    def shape(self, least=0, most=4, big=False):
        rank = self.r.randint(least, self.r.choice([most, most, 6]))
        if big:
            return (self.r.randint(1000, 70000),)
        return tuple(self.r.choice([0, 1, 2, 3, 4, 5, 7]) if self.r.random() < 0.9 else 1 for _ in range(rank))

    def view(self, a):
        """The same values behind strides of another kind."""
        for _ in range(self.r.randint(0, 2)):
            kind, d = self.r.randint(0, 3), self.r.randrange(a.ndim) if a.ndim else 0
            if kind == 0 and a.ndim:
                a = np.flip(np.ascontiguousarray(np.flip(a, d)), d)
            elif kind == 1:
                p = list(range(a.ndim))
                self.r.shuffle(p)
                a = np.ascontiguousarray(a.transpose(p)).transpose(np.argsort(p).astype(int)) if a.ndim else a
            elif kind == 2 and a.ndim:
                wide = np.repeat(a, 2, d)
                a = wide[(slice(None),) * d + (slice(None, None, 2),)]
        return a

    def make(self, shape, dtype):
        return self.view(self.values(shape, dtype))

    def indices(self, shape, n, dtype, wild):
        info = np.iinfo(dtype)
        low, high = (max(info.min, -3 * n - 9), min(info.max, 3 * n + 9)) if wild else (max(info.min, -n), min(info.max, n - 1))
        a = self.np.integers(low, high, shape, dtype=dtype, endpoint=True) if low <= high else np.zeros(shape, dtype)
        if wild and a.size and self.r.random() < 0.5:
            a = a.copy()
            a.flat[self.r.randrange(a.size)] = self.r.choice([info.min, info.max])
        return a

    # ---- judging -------------------------------------------------------------------------------
    @staticmethod
    def same(a, b, close):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if close:
            return np.allclose(a, b, rtol=close, atol=close, equal_nan=True)
        if a.dtype.kind in "fc":
            parts = [(a.real, b.real), (a.imag, b.imag)] if a.dtype.kind == "c" else [(a, b)]
            for p, q in parts:
                if not np.array_equal(p, q, equal_nan=True):
                    return False
                ok = ~np.isnan(p)
                if not np.array_equal(np.signbit(p[ok]), np.signbit(q[ok])):
                    return False
            return True
        return np.array_equal(a, b)

    def tell(self, what, ok, more=""):
        self.passed, self.failed = self.passed + ok, self.failed + (not ok)
        if not ok and self.failed <= 25:
            print("FAILED", what, more, flush=True)

    def check(self, what, build, want, close=0, new=False):
        """build(lib) gives an expression; want() an array, or the status of an error."""
        try:
            right = want()
        except WeftError as e:
            right = e.status
        first = None
        for lib in self.libs:
            for unfused in (False, True):
                for threads in (1, 3) if self.r.random() < 0.3 else (1 + self.r.randrange(3),):
                    lib.reset()
                    try:
                        x = build(lib)
                        got = (lib.eval_new if new else lib.eval)(x, threads=threads, unfused=unfused)
                    except WeftError as e:
                        ok = isinstance(right, str) and e.status == right
                        self.tell(what, ok, f"{e} instead of {right}")
                        continue
                    if isinstance(right, str):
                        self.tell(what, False, f"no {right}")
                        continue
                    ok = self.same(got, np.asarray(right), close)
                    self.tell(what, ok, f"unfused={unfused} threads={threads}\n{got!r}\n{right!r}"[:1500])
                    if first is None:
                        first = got
                    elif close:
                        self.tell(what + " bits", self.same(got, first, 0))

    # ---- operations ----------------------------------------------------------------------------
    def case_take(self):
        r = self.r
        dt, it, mode = r.choice(ALL), r.choice(INT), r.randrange(3)
        a = self.make(self.shape(1, 3), dt)
        axis = r.randrange(-a.ndim, a.ndim)
        n = a.shape[axis]
        wild = mode != 0 or r.random() < 0.2
        along = r.random() < 0.4
        ishape = list(a.shape) if along else self.shape(0, 2)
        if along:
            ishape[axis] = r.randint(0, 6)
        i = self.view(self.indices(tuple(ishape), n, it, wild))

        def want():
            empty = not n and np.prod(i.shape) and all(d for k, d in enumerate(a.shape) if k != axis % a.ndim)
            if empty:
                raise WeftError(3, "")
            j = np.asarray(i.astype("O") if it == "u8" else i.astype("i8"))
            if mode == 0 and i.size and any(d == 0 for k, d in enumerate(a.shape) if k != axis % a.ndim):
                j = np.zeros(i.shape, "i8")
            elif mode == 0:
                if i.size and (n == 0 or (j < -n).any() or (j >= n).any()):
                    raise WeftError(6, "")
            elif n:
                j = np.clip(j, 0, n - 1) if mode == 1 else j % n
            j = np.asarray(j).astype("i8") if n else np.zeros(i.shape, "i8")
            if not n:
                shape = i.shape if along else a.shape[:axis % a.ndim] + i.shape + a.shape[axis % a.ndim + 1:]
                return np.empty(shape, a.dtype)
            return np.take_along_axis(a, j, axis) if along else np.take(a, j, axis)

        chain = a.dtype.kind in "f" and a.dtype.itemsize > 2 and r.random() < 0.5

        def build(w):
            x = w.call("take_along_axis" if along else "take", w.leaf(a), w.leaf(i), axis, mode)
            return w.call("neg", x) if chain else x
        self.check(f"take {dt} {a.shape} {it} {i.shape} axis={axis} mode={mode} along={along}", build,
                   (lambda: -want()) if chain else want)

    def case_scatter(self):
        r = self.r
        dt, it, op, mode = r.choice(ALL), r.choice(INT), r.randrange(4), r.randrange(3)
        if np.dtype(dt).kind == "c":
            op = min(op, 1)
        a = self.make(self.shape(1, 3), dt)
        axis = r.randrange(a.ndim)
        n = a.shape[axis]
        if not a.size:
            return
        along = r.random() < 0.4
        ishape = list(a.shape) if along else self.shape(0, 2)
        if along:
            ishape[axis] = r.randint(0, 6)
        i = self.view(self.indices(tuple(ishape), n, it, mode != 0 or r.random() < 0.1))
        vshape = i.shape if along else a.shape[:axis] + i.shape + a.shape[axis + 1:]
        v = self.make(vshape, dt)

        def want():
            j = i.astype("O") if it == "u8" else i.astype("i8")
            if mode == 0 and i.size and ((j < -n).any() or (j >= n).any()):
                raise WeftError(6, "")
            j = np.asarray(np.clip(j, 0, n - 1) if mode == 1 else j % n).astype("i8") if mode else np.asarray(j).astype("i8")
            out = a.copy()
            place = list(np.indices(out.shape, sparse=True)) if along else [slice(None)] * a.ndim
            if along:
                place = list(np.ogrid[tuple(slice(0, s) for s in i.shape)])
            place[axis] = j
            if op == 0:
                if along:
                    np.put_along_axis(out, j, v, axis)
                else:
                    out[tuple(place)] = v
            else:
                f = [None, np.add, np.minimum, np.maximum][op]
                if op > 1 and out.dtype.kind == "f":
                    f = weft_min if op == 2 else weft_max
                    flat(out, place, v, f, axis, along, j)
                else:
                    f.at(out, tuple(place), v)
            return out
        o = Scatter(C.sizeof(Scatter), axis, op, mode)
        self.check(f"scatter {dt} {a.shape} {it} {i.shape} axis={axis} op={op} mode={mode} along={along}",
                   lambda w: w.call("scatter_along_axis" if along else "scatter", w.leaf(a), w.leaf(i), w.leaf(v),
                                    C.byref(o)), want)

    def case_gather(self):
        """Several index arrays at once: x[:, i, j], x[i, j] = v, np.add.at and the rest, between guard pages."""
        r = self.r
        a = self.make(self.shape(1, 4), r.choice(ALL))
        n, mode = r.randint(1, a.ndim), r.randrange(3)
        axes = r.sample(range(a.ndim), n)
        meet = tuple(r.choice([0, 1, 2, 3, 5]) if r.random() < 0.9 else 400 for _ in range(r.randint(0, 2)))
        pages, at = [], []
        for d in axes:
            shape = meet[r.randint(0, len(meet)):] if r.random() < 0.3 else meet
            shape = tuple(1 if r.random() < 0.2 else s for s in shape)
            i = self.indices(shape, a.shape[d], r.choice(INT), mode != 0 or r.random() < 0.1)
            if i.size and r.random() < 0.5:
                pages.append(Guarded(i, r.random() < 0.5))
                i = pages[-1].array
            at.append(self.view(i))
        empty = any(a.shape[d] == 0 for d in axes)
        place = [slice(None)] * a.ndim
        for d, i in zip(axes, at):
            j, m = i.astype("O"), a.shape[d]
            j = j if mode == 0 or not m else np.clip(j, 0, m - 1) if mode == 1 else j % m
            ok = not i.size or (m and bool(((np.asarray(j) >= -m) & (np.asarray(j) < m)).all()))
            place[d] = np.asarray(j).astype("i8") if ok else None
        shape = np.broadcast_shapes(*[i.shape for i in at])
        rest = [s for d, s in enumerate(a.shape) if d not in axes]
        some = int(np.prod(shape)) * int(np.prod(rest)) > 0
        if empty and not some or 0 in rest:  # nothing is read: indices may go unchecked
            if pages:
                at = i = None
                [p.free() for p in pages]
            return

        def want():
            if empty:
                raise WeftError(3, "")
            if some and any(p is None for p in place):
                raise WeftError(6, "")
            return a[tuple(np.zeros(i.shape, "i8") if p is None else p for p, i in zip(place, order))]
        order = [dict(zip(axes, at)).get(d, np.zeros(0)) for d in range(a.ndim)]
        what = f"gather {a.dtype} {a.shape} axes={axes} {[i.shape for i in at]} {[i.dtype.str for i in at]} mode={mode}"
        if some or not any(p is None for p in place):
            self.check(what, lambda w: w.call("gather", w.leaf(a), w.places(at, axes, mode)), want)
        op = r.randrange(2 if a.dtype.kind == "c" else 4)
        if some and not empty and a.size and all(p is not None for p in place):
            v = self.make(a[tuple(place)].shape, a.dtype)
            if r.random() < 0.3:
                v = self.make(v.shape[r.randint(0, v.ndim):], a.dtype)

            def put():
                out = a.copy()
                if op == 0:
                    # NumPy leaves the order of duplicates open: one by one
                    where = np.arange(a.size).reshape(a.shape)[tuple(place)]
                    for k, e in zip(where.ravel(), np.broadcast_to(v, where.shape).ravel()):
                        out.flat[k] = e
                elif op > 1 and a.dtype.kind == "f":
                    where = np.arange(a.size).reshape(a.shape)[tuple(place)]
                    for k, e in zip(where.ravel(), np.broadcast_to(v, where.shape).ravel()):
                        out.flat[k] = (weft_min if op == 2 else weft_max)(out.flat[k], e)
                else:
                    [None, np.add, np.minimum, np.maximum][op].at(out, tuple(place), v)
                return out
            self.check(f"{what} op={op}", lambda w: w.call("scatter_n", w.leaf(a), w.places(at, axes, mode), w.leaf(v), op),
                       put)
        at = i = order = None
        for p in pages:
            p.free()

    def case_composed(self):
        """What weft/numpy.h makes of operations: sets, signals, weighted means."""
        r, np_ = self.r, self.np
        dt = r.choice(REAL[1:])
        a, b = self.make((r.randint(1, 30),), dt), self.make((r.randint(1, 30),), dt)
        fl = a.dtype.kind == "f"
        x = self.make(self.shape(1, 3), dt)
        axis = r.randrange(-x.ndim, x.ndim)
        self.check(f"isin {x.shape} {b.shape}", lambda w: w.call("isin", w.leaf(x), w.leaf(b)), lambda: np.isin(x, b))
        if x.ndim:
            self.check(f"argwhere {x.shape}", lambda w: w.call("argwhere", w.leaf(x)), lambda: np.argwhere(x), new=True)
        c, d = (np.where(np.isnan(v) | (v == 0), 1, v).astype(dt) if fl else v for v in (a, b))  # zeros of two signs
        for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
            self.check(f"{name} {c!r} {d!r}", lambda w, name=name: w.call(name, w.leaf(c), w.leaf(d)),
                       lambda name=name: getattr(np, name)(c, d), new=True)
        keys = [np_.integers(0, 3, x.shape).astype(r.choice(INT)) for _ in range(r.randint(1, 3))]
        self.check("lexsort", lambda w: w.call("lexsort", len(keys), (C.c_void_p * len(keys))(*[w.leaf(k) for k in keys]), axis),
                   lambda: np.lexsort(keys, axis))
        whole, first = x.astype("u8" if x.dtype.kind == "u" else "i8" if not fl else dt), r.random() < 0.5
        if not fl:
            for name, f, v in (("sum", np.cumsum, 0), ("prod", np.cumprod, 1)):
                def begun(f=f, v=v):
                    y = f(whole, axis)
                    return np.insert(y, 0, v, axis) if first else y
                self.check(f"cumulative_{name} {dt}{x.shape} {axis} {first}",
                           lambda w, name=name: w.call("cumulative_" + name, w.leaf(x), axis, C.c_bool(first)), begun)
        else:
            z = np.where(np.isnan(x), x, np.round(np_.normal(size=x.shape) * 2)).astype(dt)
            self.check(f"nancumsum {x.shape}", lambda w: w.call("nancumsum", w.leaf(z), axis), lambda: np.nancumsum(z, axis))
            self.check(f"nancumprod {x.shape}", lambda w: w.call("nancumprod", w.leaf(z), axis), lambda: np.nancumprod(z, axis),
                       close=1e-5)
        mode = r.randrange(3)
        word, p, q = ["full", "same", "valid"][mode], *(np_.integers(-9, 9, v.shape).astype(dt) for v in (a, b))
        self.check(f"convolve {dt} {p.shape} {q.shape} {word}", lambda w: w.call("convolve", w.leaf(p), w.leaf(q), mode),
                   lambda: np.convolve(p, q, word), close=1e-12 if fl else 0)
        self.check(f"correlate {dt} {p.shape} {q.shape} {word}", lambda w: w.call("correlate", w.leaf(p), w.leaf(q), mode),
                   lambda: np.correlate(p, q, word), close=1e-12 if fl else 0)
        xp, at = np.unique(np_.normal(size=r.randint(1, 9))), np_.normal(size=x.shape)
        fp = np_.normal(size=xp.shape)
        if at.size:
            at.flat[0] = xp[-1] if r.random() < 0.5 or len(xp) == 1 else np.nan  # NumPy loses NaN beside one place
        self.check(f"interp {at.shape} {xp.shape}", lambda w: w.call("interp", w.leaf(at), w.leaf(xp), w.leaf(fp)),
                   lambda: np.interp(at, xp, fp), close=1e-12)
        if x.shape[axis] > 1:
            step = r.choice([1.0, 0.5, 3.0])
            self.check(f"gradient {x.shape} {axis}", lambda w: w.call("gradient", w.leaf(at), C.c_double(step), axis),
                       lambda: np.gradient(at, step, axis=axis), close=1e-12)
        g = np_.normal(size=(r.randint(1, 5), r.randint(2, 40)))
        ws, along = np_.random(g.shape[1]), np_.random(g.shape)
        self.check(f"average {g.shape}", lambda w: w.call("average", w.leaf(g), w.leaf(ws), w.reduce([-1])),
                   lambda: np.average(g, axis=-1, weights=ws), close=1e-12)
        self.check(f"average {g.shape} all", lambda w: w.call("average", w.leaf(g), w.leaf(along), None),
                   lambda: np.average(g, weights=along), close=1e-12)
        self.check(f"cov {g.shape}", lambda w: w.call("cov", w.leaf(g), C.c_double(1)), lambda: np.cov(g), close=1e-12)
        if len(g) > 1:
            self.check(f"corrcoef {g.shape}", lambda w: w.call("corrcoef", w.leaf(g)), lambda: np.corrcoef(g), close=1e-12)

    def case_join(self):
        r = self.r
        shape = self.shape(1, 3)
        axis = r.randrange(-len(shape), len(shape))
        parts = []
        for _ in range(r.randint(1, 4)):
            s = list(shape)
            s[axis] = r.randint(0, 4)
            parts.append(self.make(tuple(s), r.choice(REAL)))
        neg = r.random() < 0.5

        def build(w):
            xs = [w.leaf(p) for p in parts]
            if neg:
                xs = [w.call("add", x, x) for x in xs]
            return w.call("concat", len(xs), (C.c_void_p * len(xs))(*xs), axis)
        self.check(f"concat {[(p.shape, p.dtype.str) for p in parts]} axis={axis}", build,
                   lambda: np.concatenate([p + p if neg else p for p in parts], axis))
        s = [self.make(shape, "f4") for _ in range(3)]
        at = r.randrange(-len(shape) - 1, len(shape) + 1)
        self.check(f"stack {shape} {at}", lambda w: w.call("stack", 3, (C.c_void_p * 3)(*[w.leaf(p) for p in s]), at),
                   lambda: np.stack(s, at))

    def case_shift(self):
        r = self.r
        a = self.make(self.shape(1, 3), r.choice(ALL))
        axis, n = r.randrange(-a.ndim, a.ndim), r.randint(-9, 9)
        self.check(f"roll {a.shape} {n} {axis}", lambda w: w.call("roll", w.leaf(a), C.c_int64(n), axis),
                   lambda: np.roll(a, n, axis))
        k = r.randint(0, 3)
        self.check(f"repeat {a.shape} {k} {axis}", lambda w: w.call("repeat", w.leaf(a), C.c_int64(k), axis),
                   lambda: np.repeat(a, k, axis))
        times = [r.randint(0, 3) for _ in range(r.randint(0, 4))]
        self.check(f"tile {a.shape} {times}", lambda w: w.call("tile", w.leaf(a), len(times), i64s(times)),
                   lambda: np.tile(a, times))
        parts = r.randint(1, 5)
        part = r.randrange(parts)
        self.check(f"split {a.shape} {parts}", lambda w: w.call("split", w.leaf(a), axis, C.c_int64(parts), C.c_int64(part)),
                   lambda: np.array_split(a, parts, axis)[part])
        to = r.randrange(-a.ndim, a.ndim)
        self.check(f"moveaxis {a.shape} {axis} {to}", lambda w: w.call("moveaxis", w.leaf(a), axis, to),
                   lambda: np.moveaxis(a, axis, to))
        if a.shape[axis]:
            size = r.randint(1, a.shape[axis])
            self.check(f"windows {a.shape} {size} {axis}",
                       lambda w: w.call("sliding_windows", w.leaf(a), axis, C.c_int64(size)),
                       lambda: np.lib.stride_tricks.sliding_window_view(a, size, axis))

    def case_pad(self):
        r = self.r
        a = self.make(self.shape(0, 3), r.choice(ALL))
        mode = r.randrange(5)
        if mode and not a.size:
            return
        b, e = [r.randint(0, 9) if r.random() < 0.5 else r.randint(0, 2) for _ in a.shape], [r.randint(0, 3) for _ in a.shape]
        p = Padding(C.sizeof(Padding), i64s(b), i64s(e), mode, None)
        name = ["constant", "edge", "reflect", "symmetric", "wrap"][mode]
        if not a.ndim:
            return
        self.check(f"pad {a.shape} {b} {e} {name}", lambda w: w.call("pad", w.leaf(a), C.byref(p)),
                   lambda: padded(a, b, e, name))

    def case_sort(self):
        r = self.r
        dt = r.choice(ALL)
        a = self.make(self.shape(1, 3, r.random() < 0.15), dt)
        axis = r.randrange(-a.ndim, a.ndim)
        self.check(f"sort {dt} {a.shape} {axis}", lambda w: w.call("sort", w.leaf(a), axis),
                   lambda: np.take_along_axis(a, np.argsort(a, axis, kind="stable"), axis))
        self.check(f"argsort {dt} {a.shape} {axis}", lambda w: w.call("argsort", w.leaf(a), axis),
                   lambda: np.argsort(a, axis, kind="stable"))
        if dt in REAL:
            k, least = r.randint(0, a.shape[axis]), r.random() < 0.5
            b = a if least else np.flip(a, axis)
            s = np.sort(b, axis, kind="stable")
            s = s if least else np.flip(s, axis)
            self.check(f"topk {dt} {a.shape} {k} {least}",
                       lambda w: w.call("topk", w.leaf(a), C.c_int64(k), axis, C.c_bool(least), None),
                       lambda: np.take(np.take_along_axis(b, np.argsort(b, axis, kind="stable"), axis) if least else
                                       np.flip(np.take_along_axis(b, np.argsort(b, axis, kind="stable"), axis), axis),
                                       range(k), axis))

    def case_search(self):
        r = self.r
        dt = r.choice(REAL + ["f2"])
        s = np.sort(self.make((r.randint(0, 20),), dt))
        v, right = self.make(self.shape(0, 3), dt), r.random() < 0.5
        self.check(f"searchsorted {dt} {s.shape} {v.shape} {right}",
                   lambda w: w.call("searchsorted", w.leaf(s), w.leaf(v), C.c_bool(right)),
                   lambda: np.searchsorted(s, v, "right" if right else "left"))
        if dt in REAL and dt != "bool":
            e = np.unique(self.make((r.randint(2, 9),), dt))
            e = e[np.isfinite(e)] if e.dtype.kind == "f" else e
            if len(e) < 2:
                return
            x = self.make(self.shape(0, 3), dt)
            self.check(f"histogram {dt} {x.shape}", lambda w: w.call("histogram", w.leaf(x), w.leaf(e)),
                       lambda: count(x, e))

    def case_select(self):
        r = self.r
        a = self.make(self.shape(1, 3, r.random() < 0.1), r.choice(ALL))
        k = r.randint(1, a.ndim)
        m = self.make(a.shape[:k], "bool")
        self.check(f"select {a.shape} {k}", lambda w: w.call("select", w.leaf(a), w.leaf(m)), lambda: a[m], new=True)
        axis = r.randrange(-a.ndim, a.ndim)
        c = self.make((r.randint(0, a.shape[axis]),), "bool")
        self.check(f"compress {a.shape} {axis} {c.shape}", lambda w: w.call("compress", w.leaf(c), w.leaf(a), axis),
                   lambda: np.compress(c, a, axis), new=True)
        b = self.make(a.shape, r.choice(REAL))
        self.check(f"nonzero {b.shape} {axis}", lambda w: w.call("nonzero", w.leaf(b), axis),
                   lambda: np.nonzero(b)[axis], new=True)
        self.check(f"flatnonzero {b.shape}", lambda w: w.call("flatnonzero", w.leaf(b)), lambda: np.flatnonzero(b), new=True)

        def part(k):
            def build(w):
                p = Parts()
                v = w.call("unique", w.leaf(a), C.byref(p))
                return v if k < 0 or v is None else type(v)([p.index, p.count, p.inverse][k])
            return build

        def want(k):
            s = np.unique(a, return_index=True, return_inverse=True, return_counts=True)
            return [s[1], s[3], s[2].ravel(), s[0]][k]
        if a.dtype.kind != "c" and not (a.dtype.kind == "f" and (a == 0).any() or a.dtype == "f2"):
            for k in (-1, 0, 1, 2):
                self.check(f"unique {a.dtype} {a.shape} {k}", part(k), lambda: want(k), new=True)

    def case_put(self):
        r = self.r
        dt = r.choice(REAL)
        a, v = self.make(self.shape(0, 3), dt), self.make((r.randint(1, 5),), dt)
        m = self.make(a.shape, "bool")

        def masked(f):
            out = a.copy()
            f(out, m, v)
            return out
        self.check(f"putmask {a.shape}", lambda w: w.call("putmask", w.leaf(a), w.leaf(m), w.leaf(v)),
                   lambda: masked(np.putmask))
        self.check(f"place {a.shape}", lambda w: w.call("place", w.leaf(a), w.leaf(m), w.leaf(v)), lambda: masked(np.place))
        if a.size:
            i, mode = self.indices((r.randint(0, 6),), a.size, "i8", False), r.randrange(3)

            def put():
                out = a.copy()
                np.put(out, i, v, ["raise", "clip", "wrap"][mode])
                return out
            self.check(f"put {a.shape} {i}", lambda w: w.call("put", w.leaf(a), w.leaf(i), w.leaf(v), mode), put)
        i = self.make(self.shape(0, 2), r.choice(INT))
        self.check("one_hot", lambda w: w.call("one_hot", w.leaf(i), C.c_int64(5), 9),
                   lambda: (i[..., None] == np.arange(5)).astype("f4"))
        b = self.np.integers(0, 9, r.randint(0, 50)).astype(r.choice(INT))
        wt = self.np.normal(size=b.shape)
        self.check("bincount", lambda w: w.call("bincount", w.leaf(b), None, C.c_int64(9)),
                   lambda: np.bincount(b.astype("i8"), minlength=9))
        self.check("bincount weights", lambda w: w.call("bincount", w.leaf(b), w.leaf(wt), C.c_int64(9)),
                   lambda: np.bincount(b.astype("i8"), wt, 9).astype("f8"))

    def case_quantile(self):
        r = self.r
        dt = r.choice(["i4", "u1", "bool", "f4", "f8"])
        a = self.make(self.shape(1, 3), dt)
        axes = None if r.random() < 0.3 else tuple(r.sample(range(a.ndim), r.randint(1, a.ndim)))
        if a.dtype.kind == "f":
            a = np.where(np.isinf(a), 1, a).astype(dt)
        run = a.size if axes is None else int(np.prod([a.shape[d] for d in axes]))
        if not run or not a.size:  # NumPy cannot reshape an empty array there
            return
        keep, skip, m = r.random() < 0.5, r.random() < 0.3, r.randrange(9)
        q = r.choice([0, 1, 0.5, 0.25, r.random()])
        alpha = {5: 0.5, 6: 0, 7: 1 / 3, 8: 3 / 8}.get(m)
        valid = run if not skip or a.dtype.kind != "f" else 0
        if alpha is not None and not 0 <= valid * q + alpha + q * (1 - 2 * alpha) - 1 <= valid - 1:
            m = 0  # NumPy 1.24 reads past the ends there
        name = ["linear", "lower", "higher", "midpoint", "nearest", "hazen", "weibull", "median_unbiased", "normal_unbiased"][m]
        out = "f8" if a.dtype.kind != "f" else dt
        f = np.nanquantile if skip else np.quantile
        self.check(f"quantile {dt} {a.shape} {axes} {q} {name} skip={skip}",
                   lambda w: w.call("quantile", w.leaf(a), C.c_double(q), m, w.reduce(axes, keep, 1 if skip else 0)),
                   lambda: np.asarray(f(a.astype("f8"), q, axis=axes, keepdims=keep, method=name)).astype(out),
                   close=1e-12 if out == "f8" else 1e-5)
        g = np.nanmedian if skip else np.median
        self.check(f"median {dt} {a.shape} {axes}", lambda w: w.call("median", w.leaf(a), w.reduce(axes, keep, 1 if skip else 0)),
                   lambda: np.asarray(g(a.astype("f8"), axis=axes, keepdims=keep)).astype(out), close=1e-12 if out == "f8" else 1e-5)

    def case_scan(self):
        r = self.r
        dt = r.choice(REAL + ["f2"])
        a = self.make(self.shape(1, 3, r.random() < 0.2), dt)
        axis = r.randrange(-a.ndim, a.ndim)
        kind = r.choice(["cumsum", "cumprod", "cummax", "cummin"])

        def want():
            if kind in ("cummax", "cummin"):
                b = a.astype("f4") if dt == "f2" else a
                return (np.maximum if kind == "cummax" else np.minimum).accumulate(b, axis)
            t = "f4" if dt == "f2" else dt if a.dtype.kind == "f" else "u8" if a.dtype.kind == "u" else "i8"
            wide = "f8" if a.dtype.kind == "f" else t
            return getattr(np, kind)(a, axis, dtype=wide).astype(t)
        fl = np.dtype(dt).kind == "f"
        if fl and kind == "cumprod" and a.size > 100:
            return
        if kind in ("cummax", "cummin") and fl:
            a = a + 0.0  # NumPy keeps the first of two zeros
            a = a.astype(dt)
        self.check(f"{kind} {dt} {a.shape} {axis}", lambda w: w.call(kind, w.leaf(a), axis), want,
                   close=0 if not fl or kind in ("cummax", "cummin") else 1e-4 if dt != "f8" else 1e-9)

    def case_guard(self):
        """Wild indices between guard pages; results that alias their operands."""
        r = self.r
        a = self.values((r.randint(1, 40), r.randint(1, 5)), r.choice(ALL))
        i = self.indices((r.randint(1, 700),), len(a), r.choice(INT), True)
        mode, end = r.randrange(3), r.random() < 0.5
        pages = [Guarded(x, end) for x in (a, i)]
        x, k = (p.array for p in pages)
        o = Scatter(C.sizeof(Scatter), 0, r.randrange(2), mode)
        for w in self.libs:
            for name in ("take", "scatter", "alias"):
                w.reset()
                e = w.call("take", w.leaf(x), w.leaf(k), 0, mode)
                if name == "scatter":
                    e = w.call("scatter", w.leaf(x), w.leaf(k), e, C.byref(o))
                out = None
                if name == "alias":
                    if len(i) < len(a) or mode == 0:
                        continue
                    e = w.call("take", w.leaf(x), w.leaf(k[:len(a)]), 0, mode)
                    out = x
                try:
                    got = w.eval(e, out)
                except WeftError as err:
                    self.tell("guard", mode == 0 and err.status == "EINDEX", str(err))
                    continue
                if name != "alias" and mode:
                    continue
                if name == "alias":
                    j = np.clip(i[:len(a)].astype("O"), 0, len(a) - 1) if mode == 1 else i[:len(a)].astype("O") % len(a)
                    self.tell("alias", self.same(got, a[np.asarray(j).astype("i8")], 0), f"{a.dtype} {mode}")
                    x[...] = a
        got = x = k = out = None
        for w in self.libs:
            w.reset()
        for p in pages:
            p.free()


# ---- plans -------------------------------------------------------------------------------------
def goldens(run):
    """Passes and whole plans of what should fuse, against tests/golden (WEFT_GOLDEN=write writes them anew)."""
    w = run.libs[0]
    w.reset()
    x, t = w.leaf(np.zeros((100, 64))), w.leaf(np.zeros(1000))
    y, i = w.leaf(np.zeros((28, 64))), w.leaf(np.zeros(500, "i4"))
    two, one = w.call("float", w.g, C.c_double(2)), w.call("float", w.g, C.c_double(1))
    p = Padding(C.sizeof(Padding), i64s([1, 2]), i64s([1, 2]), 2, None)
    parts = (C.c_void_p * 2)(w.call("mul", x, two), w.call("exp", y))
    plans = {
        "take_in_chain": (1, w.call("add", w.call("mul", w.call("take", t, i, 0, 0), two), one)),
        "window_mean": (1, w.call("mean", w.call("sliding_windows", t, 0, C.c_int64(16)), w.reduce([-1]))),
        "concat": (2, w.call("concat", 2, parts, 0)),
        "pad": (None, w.call("pad", x, C.byref(p))),
        "roll": (2, w.call("roll", t, C.c_int64(7), 0)),
        "sorted_sum": (2, w.call("sum", w.call("square", w.call("sort", t, 0)), w.reduce([0]))),
    }
    for name, (passes, e) in plans.items():
        text = w.plan(e)
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden", name + ".txt")
        if os.environ.get("WEFT_GOLDEN") == "write":
            open(path, "w").write(text)
        run.tell("plan " + name, open(path).read() == text, "the plan is now\n" + text)
        if passes:
            run.tell("passes " + name, text.startswith(f"passes={passes} "), text)


def padded(a, before, after, mode):
    """numpy.pad; beyond one turn the array goes on for ever, as NumPy does from 2.0 on."""
    if mode in ("constant", "edge"):
        return np.pad(a, list(zip(before, after)), mode)
    for axis, (b, e) in enumerate(zip(before, after)):
        n = a.shape[axis]
        turn = {"wrap": np.arange(n), "symmetric": np.r_[0:n, n - 1:-1:-1],
                "reflect": np.r_[0:n, n - 2:0:-1] if n > 1 else np.arange(1)}[mode]
        a = np.take(a, turn[np.arange(-b, n + e) % len(turn)], axis)
    return a


def weft_min(x, y):
    return x if x != x else y if y != y else (x if np.signbit(x) else y) if x == y else min(x, y)


def weft_max(x, y):
    return x if x != x else y if y != y else (y if np.signbit(x) else x) if x == y else max(x, y)


def flat(out, place, v, f, axis, along, j):
    """f in index order, element by element."""
    if along:
        for at in np.ndindex(j.shape):
            to = at[:axis] + (j[at],) + at[axis + 1:]
            out[to] = f(out[to], v[at])
        return
    for k in np.ndindex(j.shape):
        for rest in np.ndindex(out.shape[:axis] + out.shape[axis + 1:]):
            to = rest[:axis] + (j[k],) + rest[axis:]
            out[to] = f(out[to], v[rest[:axis] + k + rest[axis:]])


def count(x, e):
    x = x[np.isfinite(x)] if x.dtype.kind == "f" else x
    at = np.searchsorted(e, x, "right") - 1
    at = np.where(x == e[-1], len(e) - 2, at)
    return np.array([np.sum(at == i) for i in range(len(e) - 1)], "i8")


def main():
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 1500
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    print(f"seed {seed}")
    run = Run(sys.argv[1], seed)
    kinds = [getattr(run, n) for n in sorted(dir(run)) if n.startswith("case_")]
    goldens(run)
    long = np.ones(1 << 25, "f4")
    for threads in (1, 2, 3):
        run.libs[1].reset()
        got = run.libs[1].eval(run.libs[1].call("cumsum", run.libs[1].leaf(long), 0), threads=threads)
        run.tell("cumsum of 2^25 ones", got[-1] == 1 << 25 and np.array_equal(got, np.cumsum(long, dtype="f8").astype("f4")))
    for i in range(cases):
        kinds[i % len(kinds)]()
    print(f"{run.passed} passed, {run.failed} failed")
    return run.failed > 0


if __name__ == "__main__":
    sys.exit(main())
