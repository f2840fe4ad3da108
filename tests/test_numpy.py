#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Differential test: every operation and dtype through the weft command against NumPy.

usage: test_numpy.py WEFT [ROUNDS [SEED]]

Integers, comparisons and exactly rounded operations are compared by bits; transcendental functions by the
ULP bound of docs/numerics.md against NumPy in extended precision; float reductions by their error bound
against exact sums. Deliberate differences are in the table DIFFERENT, which docs/numerics.md shows.
Ends with "N passed, N failed".
"""
import math
import os
import re
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
except ImportError:
    print("skipped: python3-numpy is not installed")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

warnings.simplefilter("ignore")
np.seterr(all="ignore")
TYPES = {"bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8,
         "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "f32": np.float32, "f64": np.float64}
INTS = [t for t in TYPES if t[0] in "iu"]
FLOATS = ["f32", "f64"]
# names of deliberate differences (docs/numerics.md): each has a reference of its own below
DIFFERENT = {"float functions of integers give f64", "maximum and minimum order zeros",
             "casts saturate", "bad shift counts give 0 or -1", "negative integer exponents give 0"}


def specials(t):
    dt = TYPES[t]
    if t == "bool":
        return np.array([0, 1], dt)
    if t in FLOATS:
        fi = np.finfo(dt)
        return np.array([0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 2, 3, -3, 7, 10, 0.1, -7.25, np.nan, np.inf, -np.inf,
                         fi.max, -fi.max, fi.tiny, fi.tiny / 8, -fi.tiny / 8, 1e10, -1e10, 1e-10, 88.5, 300, -129, 1e20,
                         3e9, 2147483648.0, 0.9999999], dt)
    ii = np.iinfo(dt)
    vals = [0, 1, 2, 3, 5, 7, 8, 15, 31, 32, 33, 63, 64, 100, 127, ii.max, ii.max - 1, ii.min, ii.min + 1]
    vals += [-1, -2, -3, -7, -128] if ii.min else [128, 200, 255]
    return np.array([v for v in vals if ii.min <= v <= ii.max], dt)


def randoms(t, n, rng):
    dt = TYPES[t]
    if t == "bool":
        return rng.integers(0, 2, n).astype(dt)
    if t in FLOATS:
        mant = rng.standard_normal(n)
        top = 30 if t == "f32" else 300
        scale = np.where(rng.random(n) < 0.7, rng.uniform(-2, 3, n), rng.uniform(-top, top, n))
        return (mant * 10.0 ** scale).astype(dt)
    ii = np.iinfo(dt)
    wide = rng.integers(ii.min, ii.max, n, dtype=dt, endpoint=True)
    small = rng.integers(max(ii.min, -20), 21, n).astype(dt)
    return np.where(rng.random(n) < 0.5, wide, small)


def pairs(ta, tb, rng, n):
    a, b = specials(ta), specials(tb)
    x = np.concatenate([np.repeat(a, len(b)), randoms(ta, n, rng)])
    y = np.concatenate([np.tile(b, len(a)), randoms(tb, n, rng)])
    return x, y


# ---- running ------------------------------------------------------------------------------------------
class Weft:
    def __init__(self, path):
        self.path = path
        self.dir = tempfile.TemporaryDirectory()

    def eval(self, expr, **arrays):
        """One array per result of expr, or an error text."""
        names = []
        for k, v in arrays.items():
            p = os.path.join(self.dir.name, k + ".npy")
            np.save(p, v)
            names.append(f"{k}={p}")
        exprs = expr if isinstance(expr, list) else [expr]
        outs = [os.path.join(self.dir.name, f"out{i}.npy") for i in range(len(exprs))]
        flags = [a for o in outs for a in ("-o", o)]
        p = subprocess.run([self.path, "eval", ", ".join(exprs), *names, *flags], capture_output=True, text=True)
        if p.returncode:
            return p.stderr.strip() or f"exit status {p.returncode}"
        res = [np.load(o) for o in outs]
        return res if isinstance(expr, list) else res[0]


def ulp_error(got, exact):
    """Error of got in ULP of its own type against a more precise array."""
    dt = got.dtype
    e = np.asarray(exact, np.longdouble)
    rounded = e.astype(dt)
    same = (got == rounded) | (np.isnan(got) & np.isnan(e))
    mag = np.maximum(np.abs(rounded), np.finfo(dt).tiny)
    mag = np.where(np.isfinite(mag), mag, np.finfo(dt).max)
    ulp = np.spacing(mag).astype(np.longdouble)
    err = np.abs(got.astype(np.longdouble) - e) / ulp
    err = np.where(same & ~np.isfinite(err), 0, err)
    bad = np.isnan(got) != np.isnan(e)
    return np.where(bad, np.inf, np.where(np.isnan(e), 0, err))


class Count:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, ok, detail=""):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {name}: {detail}")


def same(got, want):
    if got.dtype != want.dtype or got.shape != want.shape:
        return False, f"{got.dtype}{got.shape} instead of {want.dtype}{want.shape}"
    if got.dtype.kind == "f":
        u = {4: np.uint32, 8: np.uint64}[got.dtype.itemsize]
        got, want = np.ascontiguousarray(got), np.ascontiguousarray(want)
        eq = (got.view(u) == want.view(u)) | (np.isnan(got) & np.isnan(want))
    else:
        eq = got == want
    if eq.all():
        return True, ""
    i = tuple(np.argwhere(~np.atleast_1d(eq))[0])
    return False, f"at {i}: got {np.atleast_1d(got)[i]!r}, expected {np.atleast_1d(want)[i]!r} ({(~eq).sum()} differ)"


# ---- references -------------------------------------------------------------------------------------------
def to_float(x):
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def floaty(f):
    return lambda *xs: f(*[to_float(x) for x in xs])


def order_zeros(f, keep):
    def g(a, b):
        r = f(a, b)
        if r.dtype.kind != "f":
            return r
        zeros = (a == 0) & (b == 0)
        neg = (np.signbit(a) | np.signbit(b)) if keep == "min" else (np.signbit(a) & np.signbit(b))
        return np.where(zeros, np.where(neg, r.dtype.type(-0.0), r.dtype.type(0.0)), r)
    return g


def shift(f):
    def g(a, b):
        bits = a.dtype.itemsize * 8
        bad = (b < 0) | (b.astype(np.float64) >= bits)
        r = f(a, np.where(bad, np.zeros_like(b), b))
        fill = np.zeros_like(a) if f is np.left_shift else np.where(a < 0, a.dtype.type(-1) if a.dtype.kind == "i" else 0, 0).astype(a.dtype)
        return np.where(bad, fill, r)
    return g


def int_power(a, b):
    if a.dtype.kind == "f":
        return None
    neg = b < 0
    r = np.power(a, np.where(neg, np.zeros_like(b), b))
    odd = (b & 1).astype(bool)
    special = np.where(a == 1, 1, np.where(a == -1, np.where(odd, -1, 1), 0)).astype(a.dtype) if a.dtype.kind == "i" else r
    return np.where(neg, special, r)


def cast_reference(x, t):
    dt = np.dtype(TYPES[t])
    if x.dtype.kind == "f" and dt.kind in "iu":
        ii = np.iinfo(dt)
        y = np.trunc(np.where(np.isnan(x), 0, x).astype(np.longdouble))
        lo, hi = y <= ii.min, y >= ii.max
        y = np.where(lo | hi, 0, y)
        return np.where(lo, dt.type(ii.min), np.where(hi, dt.type(ii.max), y.astype(dt)))
    return x.astype(dt)


def reciprocal(x):
    if x.dtype.kind == "f":
        return 1 / x
    return np.where((x == 1) | ((x == -1) if x.dtype.kind == "i" else False), x, 0).astype(x.dtype)


BINARY = {  # name: (reference, types)
    "add": (np.add, list(TYPES)), "sub": (np.subtract, INTS + FLOATS), "mul": (np.multiply, list(TYPES)),
    "true_divide": (floaty(np.true_divide), INTS + FLOATS), "floor_divide": (np.floor_divide, INTS + FLOATS),
    "remainder": (np.remainder, INTS + FLOATS), "copysign": (floaty(np.copysign), INTS + FLOATS),
    "minimum": (order_zeros(np.minimum, "min"), list(TYPES)), "maximum": (order_zeros(np.maximum, "max"), list(TYPES)),
    "fmin": (order_zeros(np.fmin, "min"), list(TYPES)), "fmax": (order_zeros(np.fmax, "max"), list(TYPES)),
    "equal": (np.equal, list(TYPES)), "not_equal": (np.not_equal, list(TYPES)), "less": (np.less, list(TYPES)),
    "less_equal": (np.less_equal, list(TYPES)), "greater": (np.greater, list(TYPES)),
    "greater_equal": (np.greater_equal, list(TYPES)), "logical_and": (np.logical_and, list(TYPES)),
    "logical_or": (np.logical_or, list(TYPES)), "logical_xor": (np.logical_xor, list(TYPES)),
    "bitwise_and": (np.bitwise_and, ["bool"] + INTS), "bitwise_or": (np.bitwise_or, ["bool"] + INTS),
    "bitwise_xor": (np.bitwise_xor, ["bool"] + INTS), "left_shift": (shift(np.left_shift), INTS),
    "right_shift": (shift(np.right_shift), INTS), "pow": (int_power, INTS),
}
UNARY = {
    "neg": (np.negative, INTS + FLOATS), "abs": (np.abs, list(TYPES)), "sign": (np.sign, INTS + FLOATS),
    "square": (np.square, INTS + FLOATS), "sqrt": (floaty(np.sqrt), INTS + FLOATS),
    "reciprocal": (reciprocal, INTS + FLOATS),
    "floor": (np.floor, FLOATS), "ceil": (np.ceil, FLOATS), "trunc": (np.trunc, FLOATS), "round": (np.rint, FLOATS),
    "logical_not": (np.logical_not, list(TYPES)), "bitwise_not": (np.invert, ["bool"] + INTS),
    "isnan": (np.isnan, INTS + FLOATS), "isinf": (np.isinf, INTS + FLOATS), "isfinite": (np.isfinite, INTS + FLOATS),
    "signbit": (np.signbit, FLOATS),
}
# name: (extended-precision reference, bound f64, bound f32)
FUNCTIONS = {
    "exp": (np.exp, .56, .6), "exp2": (np.exp2, .6, .6), "expm1": (np.expm1, .6, .6), "log": (np.log, .53, .6),
    "log2": (np.log2, .6, .6), "log10": (np.log10, .6, .6), "log1p": (np.log1p, .6, .6), "sin": (np.sin, .55, .6),
    "cos": (np.cos, .55, .6), "tan": (np.tan, .6, .6), "asin": (np.arcsin, 1, 1), "acos": (np.arccos, 1, 1),
    "atan": (np.arctan, 1, 1), "sinh": (np.sinh, 1, 1), "cosh": (np.cosh, 1, 1), "tanh": (np.tanh, .75, 1),
    "asinh": (np.arcsinh, 1, 1), "acosh": (np.arccosh, 1, 1), "atanh": (np.arctanh, 1, 1), "cbrt": (np.cbrt, 1, 1),
    "sigmoid": (lambda x: np.where(x >= 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x))), 1, 1),
}
FUNCTIONS2 = {"hypot": (np.hypot, 1, 1), "atan2": (np.arctan2, 1, 1), "pow": (np.power, .65, 1)}
SLACK = 0.01  # error of the reference itself


def test_elementwise(w, c, rng, n):
    for t in TYPES:
        x, y = pairs(t, t, rng, n)
        jobs = [(k, f) for k, (f, ts) in BINARY.items() if t in ts]
        res = w.eval([f"{k}(x, y)" for k, _ in jobs], x=x, y=y)
        if isinstance(res, str):
            c.check(f"binary {t}", False, res)
        else:
            for (k, f), got in zip(jobs, res):
                c.check(f"{k} {t}", *same(got, f(x, y)))
        z = np.concatenate([specials(t), randoms(t, n, rng)])
        jobs = [(k, f) for k, (f, ts) in UNARY.items() if t in ts]
        res = w.eval([f"{k}(x)" for k, _ in jobs], x=z)
        if isinstance(res, str):
            c.check(f"unary {t}", False, res)
        else:
            for (k, f), got in zip(jobs, res):
                c.check(f"{k} {t}", *same(got, f(z)))
        res = w.eval([f"cast(x, {u})" for u in TYPES], x=z)
        if isinstance(res, str):
            c.check(f"cast {t}", False, res)
        else:
            for u, got in zip(TYPES, res):
                c.check(f"cast {t} to {u}", *same(got, cast_reference(z, u)))


def test_mixed(w, c, rng):
    exact = {"i64": "u64", "u64": "i64"}
    for ta in TYPES:
        for tb in TYPES:
            if ta == tb:
                continue
            x, y = pairs(ta, tb, rng, 50)
            exprs = ["x + y", "x * y", "maximum(x, y)"]
            res = w.eval(exprs + ["x < y", "x == y"], x=x, y=y)
            if isinstance(res, str):
                c.check(f"{ta} with {tb}", False, res)
                continue
            rt = np.promote_types(x.dtype, y.dtype)
            a, b = x.astype(rt), y.astype(rt)
            refs = [a + b, a * b, BINARY["maximum"][0](a, b)]
            if exact.get(ta) == tb:
                lt = np.array([int(p) < int(q) for p, q in zip(x, y)])
                eq = np.array([int(p) == int(q) for p, q in zip(x, y)])
            else:
                lt, eq = a < b, a == b
            for name, got, want in zip(exprs + ["x < y", "x == y"], res, refs + [lt, eq]):
                c.check(f"{name}, {ta} with {tb}", *same(got, want))


def test_functions(w, c, rng, n):
    for t, k in (("f64", 0), ("f32", 1)):
        dt = TYPES[t]
        wide = np.concatenate([specials(t), randoms(t, n, rng), rng.uniform(-1, 1, n).astype(dt),
                               rng.uniform(-100, 100, n).astype(dt)])
        res = w.eval([f"{name}(x)" for name in FUNCTIONS], x=wide)
        if isinstance(res, str):
            c.check(f"functions {t}", False, res)
            continue
        for (name, spec), got in zip(FUNCTIONS.items(), res):
            exact = spec[0](wide.astype(np.longdouble))
            e = ulp_error(got, exact)
            i = int(np.argmax(e))
            c.check(f"{name} {t}", e[i] <= spec[1 + k] + SLACK, f"{e[i]:.3f} ULP at {wide[i]!r}: {got[i]!r}")
        x, y = pairs(t, t, rng, n)
        res = w.eval([f"{name}(x, y)" for name in FUNCTIONS2], x=x, y=y)
        if isinstance(res, str):
            c.check(f"functions of two {t}", False, res)
            continue
        for (name, spec), got in zip(FUNCTIONS2.items(), res):
            e = ulp_error(got, spec[0](x.astype(np.longdouble), y.astype(np.longdouble)))
            i = int(np.argmax(e))
            c.check(f"{name} {t}", e[i] <= spec[1 + k] + SLACK, f"{e[i]:.3f} ULP at {x[i]!r}, {y[i]!r}: {got[i]!r}")
        erf = w.eval("erf(x)", x=wide)
        want = np.array([math.erf(float(v)) for v in wide])
        c.check(f"erf {t}", not isinstance(erf, str) and
                np.allclose(erf, want.astype(dt), rtol=4 * np.finfo(dt).eps, atol=0, equal_nan=True), str(erf)[:100])
    for t in ["bool"] + INTS:
        z = specials(t)
        res = w.eval(["exp(x)", "sin(x)", "x / x" if t != "bool" else "sqrt(x)"], x=z)
        c.check(f"float functions of {t}", not isinstance(res, str) and all(r.dtype == np.float64 for r in res), str(res)[:100])


SHAPES = [(7,), (1,), (5, 6), (2, 3, 4), (1, 5), (3, 1, 4), (4, 3, 2, 5), (2, 1, 3, 1, 2, 2), (40, 50), (1100, 3), (3, 2100)]
VIEWS = {"dense": lambda a: a, "transposed": lambda a: a.T, "reversed": lambda a: a[::-1], "F": np.asfortranarray}


def axes_of(shape, rng):
    r = len(shape)
    out = [None] + [(a,) for a in range(-r, r)]
    out += [tuple(sorted(rng.choice(r, 2, replace=False).tolist())) for _ in range(3)] if r > 1 else []
    return out


def test_reductions(w, c, rng):
    for shape in SHAPES:
        for t in ("f64", "f32", "i32", "u8", "bool"):
            base = rng.integers(-9, 10, shape).astype(TYPES[t]) if t != "u8" else rng.integers(0, 250, shape).astype(np.uint8)
            view = list(VIEWS)[int(rng.integers(len(VIEWS)))]
            x = VIEWS[view](base)
            for axis in axes_of(x.shape, rng):
                keep = bool(rng.integers(2))
                arg = f"axis={axis if axis is None or len(axis) > 1 else axis[0]}, keepdims={keep}"
                names = ["sum", "max", "min", "mean", "any", "all", "count_nonzero"]
                if t in FLOATS:
                    names += ["var", "std"]
                if axis is None or len(axis) == 1:
                    names += ["argmax", "argmin"]
                res = w.eval([f"{k}(x, {arg})" for k in names], x=x)
                label = f"{t}{list(x.shape)} {view} {arg}"
                if isinstance(res, str):
                    c.check(label, False, res)
                    continue
                for k, got in zip(names, res):
                    check_reduction(c, f"{k} {label}", k, got, x, axis, keep)


def check_reduction(c, label, k, got, x, axis, keep):
    kw = {"axis": axis if axis is None or len(axis) > 1 else axis[0], "keepdims": keep}
    if k in ("mean", "var", "std"):
        want = getattr(np, k)(x, dtype=np.float64, **kw)
        ok = got.shape == np.shape(want) and np.allclose(got, want, rtol=1e-6 if x.dtype == np.float32 else 1e-13, atol=1e-13)
        wanted = np.float32 if x.dtype == np.float32 else np.float64
        c.check(label, ok and got.dtype == wanted, f"{got!r:.80} against {want!r:.80}")
        return
    if k == "count_nonzero":
        want = np.asarray(np.count_nonzero(x, axis=kw["axis"], keepdims=keep), np.int64)
    elif k == "sum" and x.dtype.kind in "biu":
        want = np.asarray(np.sum(x, dtype=np.uint64 if x.dtype.kind == "u" else np.int64, **kw))
    else:
        want = np.asarray(getattr(np, k)(x, **kw))
    c.check(label, *same(got, want))


def test_float_sums(w, c, rng):
    for n in (1, 3, 100, 1023, 1024, 1025, 5000, 40000):
        for t, u in (("f64", 2.0 ** -53), ("f32", 2.0 ** -24)):
            x = (rng.standard_normal(n) * 10.0 ** rng.uniform(-3, 3, n)).astype(TYPES[t])
            got = w.eval("sum(x)", x=x)
            exact = math.fsum(map(float, x))
            h = (12 if t == "f64" else 9) + math.ceil(math.log2(max(n, 256) / 256))  # docs/numerics.md
            bound = 1.001 * h * u * math.fsum(map(abs, map(float, x)))
            c.check(f"sum {t}[{n}]", not isinstance(got, str) and abs(float(got) - exact) <= bound, f"{got} against {exact}")
            y = np.tile(x[:, None], (1, 3)).astype(x.dtype)
            got = w.eval("sum(x, axis=0)", x=y)
            bound = 1.001 * (3 + math.ceil(math.log2(max(n, 4) / 4))) * u * math.fsum(map(abs, map(float, x)))
            c.check(f"sum {t}[{n},3] axis 0", not isinstance(got, str) and np.all(np.abs(got - exact) <= bound), f"{got}")


def test_nan_modes(w, c):
    x = np.array([[1, np.nan, 3], [np.nan, np.nan, np.nan], [4, 5, -6]])
    for k in ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanstd", "nanvar"):
        for axis in (0, 1):
            got = w.eval(f"{k}(x, axis={axis})", x=x)
            want = getattr(np, k)(x, axis=axis)
            c.check(f"{k} axis {axis}", not isinstance(got, str) and np.allclose(got, want, equal_nan=True, rtol=1e-15), f"{got} {want}")
    got = w.eval("nanargmax(x[::2], axis=1)", x=x)
    c.check("nanargmax", not isinstance(got, str) and list(got) == [2, 1], str(got))
    c.check("nanargmax of all NaN fails", isinstance(w.eval("nanargmax(x, axis=1)", x=x), str))


def test_views(w, c, rng):
    x = rng.integers(-100, 100, (4, 6, 5)).astype(np.float64)
    v = rng.integers(-100, 100, (5,)).astype(np.float64)
    for e, want in [
        ("x.T", x.T), ("x[1:-1, ::2]", x[1:-1, ::2]), ("x[::-1, :, 0]", x[::-1, :, 0]), ("x[-1]", x[-1]), ("x[..., 1]", x[..., 1]),
        ("reshape(x, 24, 5)", x.reshape(24, 5)), ("x.reshape(-1)", x.reshape(-1)), ("ravel(x.T) * 2", x.T.ravel() * 2),
        ("reshape(x[:, ::2], 12, -1) + v", x[:, ::2].reshape(12, -1) + v), ("transpose(x, 1, 0, 2)", x.transpose(1, 0, 2)),
        ("swap_axes(x, 0, 2) - 1", x.swapaxes(0, 2) - 1), ("flip(x, 1) + x", np.flip(x, 1) + x), ("diagonal(x, 1, 0, 2)", np.diagonal(x, 1, 0, 2)),
        ("expand_dims(v, 0)", v[None]), ("squeeze(expand_dims(v, 0), 0)", v), ("broadcast_to(v, 4, 5)", np.broadcast_to(v, (4, 5))),
        ("x[10:2:-1]", x[10:2:-1]), ("x[5:]", x[5:]), ("x[-3:100:2, 1:1]", x[-3:100:2, 1:1]),
        ("sum(x[::-1].T, axis=1)", x[::-1].T.sum(axis=1)), ("reshape(x + 1, 6, 20).T", (x + 1).reshape(6, 20).T),
        ("x - mean(x, axis=(0, 2), keepdims=True)", x - x.mean(axis=(0, 2), keepdims=True)),
    ]:
        got = w.eval(e, x=x, v=v) if "v" in e else w.eval(e, x=x)
        ok, why = (False, got) if isinstance(got, str) else same(got, np.asarray(want)) if "mean" not in e else (np.allclose(got, want), "")
        c.check(e, ok, why)
    # index arrays, several at once and beside other items
    g = {"x": rng.normal(size=(4, 5, 3, 6)), "i": rng.integers(-4, 4, (2, 3)), "j": rng.integers(-3, 3, 3), "k": rng.integers(0, 5, (2, 1))}
    g.update(m=g["x"][0, :, :, 0] > 0, n=g["x"][:, 0, 0, 0] > -9, o=g["x"][0, :, 0, 0] > 0)
    for e in ("x[i,k]", "x[i,:,j]", "x[:,k,j]", "x[0,:,j]", "x[0,k]", "x[i,None,k]", "x[...,j,i]", "x[1,...,j]", "x[:,k,::-1,i]",
              "x[i,k,j]", "x[i,k,j,2]", "x[i,k,j,i]", "x[0,m]", "x[:,m,1]", "x[n,:,0]", "x[n,0]", "x[:,2,1,i]", "x[0,m,1]", "x[:,m]",
              "x[:,m,::2]", "x[2,1,::2,j]", "x[:,1,:,j]", "x[None,i,k]", "x[1,None,j]", "x[i,...,k,:,:]", "x[:,o]", "x[:,o,1]", "x[::-1,None,o]"):
        got = w.eval(e, **{v: g[v] for v in re.findall(r"\b[x-zi-o]\b", e)})
        c.check(e, *((False, got) if isinstance(got, str) else same(got, eval(e, dict(g)))))
    for dtype in ("<f8", ">f8", "<f4", ">i2", "<u8", "|b1", "|i1"):
        for order in "CF":
            a = np.array(rng.integers(0, 2 if dtype == "|b1" else 100, (3, 4)), dtype=dtype, order=order)
            got = w.eval("x[::-1]", x=a)
            c.check(f".npy {dtype} {order}", *((False, got) if isinstance(got, str) else same(got, a[::-1].astype(a.dtype.newbyteorder("=")))))
    for a in (np.float64(3), np.zeros((0, 3)), np.zeros((2, 0))):
        got = w.eval("x + 1", x=a)
        c.check(f"shape {np.shape(a)}", *((False, got) if isinstance(got, str) else same(got, np.asarray(a) + 1)))


def test_matmul(w, c, rng):
    for t in TYPES:
        for sa, sb in [((3, 4), (4, 5)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 2)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)),
                       ((0, 4), (4, 3)), ((3, 0), (0, 2)), ((65, 33), (33, 70))]:
            a, b = rng.integers(0, 5, sa).astype(TYPES[t]), rng.integers(0, 5, sb).astype(TYPES[t])
            got = w.eval("x @ y", x=a, y=b)
            c.check(f"matmul {t}{sa}{sb}", *((False, got) if isinstance(got, str) else same(got, np.asarray(a @ b))))
    a, b = rng.integers(-5, 5, (6, 7)), rng.integers(-5, 5, (7, 8))
    a, b = a.astype(np.float64), b.astype(np.float64)
    for e, want in [("x.T @ y[:6]", a.T @ b[:6]), ("x[::-1, ::-1] @ y", a[::-1, ::-1] @ b), ("dot(x, y)", a @ b), ("maximum(x @ y + 1, 0)", np.maximum(a @ b + 1, 0))]:
        got = w.eval(e, x=a, y=b)
        c.check(e, *((False, got) if isinstance(got, str) else same(got, want)))


def main():
    w = Weft(os.path.abspath(sys.argv[1]))
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    c = Count()
    for r in range(rounds):
        rng = np.random.default_rng(seed + r)
        print(f"seed {seed + r}", flush=True)
        test_elementwise(w, c, rng, 400)
        test_mixed(w, c, rng)
        test_functions(w, c, rng, 2000)
        test_reductions(w, c, rng)
        test_float_sums(w, c, rng)
        test_nan_modes(w, c)
        test_views(w, c, rng)
        test_matmul(w, c, rng)
    print(f"{c.passed} passed, {c.failed} failed")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
