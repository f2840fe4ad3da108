#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Differential test of the composed and less common operations, of creation and of random numbers, through the
weft command against NumPy, Python's integers and extended precision.

usage: test_ops_numpy.py WEFT [ROUNDS [SEED]]

Exact operations by bits; transcendental ones by the bounds of docs/numerics.md. Ends with "N passed, N failed".
"""
import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_numpy import FLOATS, INTS, TYPES, Count, Weft, np, pairs, randoms, same, specials, to_float, ulp_error

BITS = {t: TYPES[t]().itemsize * 8 for t in TYPES}


def run(w, c, label, jobs, **arrays):
    """Evaluates the expressions of jobs (name, expression, reference) at once and compares by bits."""
    res = w.eval([e for _, e, _ in jobs], **arrays)
    if isinstance(res, str):
        c.check(label, False, res)
        return
    for (name, _, want), got in zip(jobs, res):
        c.check(f"{name} {label}", *same(got, np.asarray(want)))


# ---- integers -------------------------------------------------------------------------------------------
def ints(x):
    return [int(v) for v in x]


def unsigned(x):
    return [int(v) % 2 ** BITS_OF[x.dtype] for v in x]


BITS_OF = {np.dtype(TYPES[t]): BITS[t] for t in TYPES}


def wrapped(values, dt):
    bits = BITS_OF[np.dtype(dt)]
    u = [v % 2 ** bits for v in values]
    return np.array([v - 2 ** bits if np.dtype(dt).kind == "i" and v >= 2 ** (bits - 1) else v for v in u], dt)


def outside(values, dt):
    ii = np.iinfo(dt)
    return np.array([not ii.min <= v <= ii.max for v in values])


def rotate(x, n, bits):
    n %= bits
    return (x << n | x >> (bits - n)) % 2 ** bits


def test_integers(w, c, rng, n):
    for t in INTS:
        dt, bits = TYPES[t], BITS[t]
        x, y = pairs(t, t, rng, n)
        a, b, u = ints(x), ints(y), unsigned(x)
        z = np.concatenate([specials(t), randoms(t, n, rng)])
        v, mag = unsigned(z), [abs(int(k)) % 2 ** bits for k in z]
        product = [p * q for p, q in zip(a, b)]
        one = np.array([(p + q) % 3 == 1 for p, q in zip(a, b)])
        jobs = [
            ("mul_hi", "mul_hi(x, y)", wrapped([p >> bits for p in product], dt)),
            ("rotate_left", "rotate_left(x, y)", wrapped([rotate(p, q, bits) for p, q in zip(u, b)], dt)),
            ("rotate_right", "rotate_right(x, y)", wrapped([rotate(p, -q, bits) for p, q in zip(u, b)], dt)),
            ("gcd", "gcd(x, y)", wrapped([math.gcd(p, q) for p, q in zip(a, b)], dt)),
            ("lcm", "lcm(x, y)", wrapped([p * q // math.gcd(p, q) if p and q else 0 for p, q in
                                          ((abs(p), abs(q)) for p, q in zip(a, b))], dt)),
            ("add_overflows", "add_overflows(x, y)", outside([p + q for p, q in zip(a, b)], dt)),
            ("sub_overflows", "sub_overflows(x, y)", outside([p - q for p, q in zip(a, b)], dt)),
            ("mul_overflows", "mul_overflows(x, y)", outside(product, dt)),
            ("fmod", "fmod(x, y)", np.where(y == 0, 0, np.fmod(x, np.where(y == 0, 1, y))).astype(dt)),
            ("heaviside", "heaviside(x, y)", np.heaviside(to_float(x), to_float(y))),
            ("float_power", "float_power(x, 2)", to_float(x) * to_float(x)),
        ]
        if dt().dtype.kind == "u":
            sums = [p + q + int(k) for p, q, k in zip(a, b, one)]
            jobs += [("add_carry", "add_carry(x, y, k)", wrapped(sums, dt)),
                     ("carry_out", "carry_out(x, y, k)", outside(sums, dt))]
        run(w, c, t, jobs, x=x, y=y, k=one)
        run(w, c, t, [
            ("popcount", "popcount(x)", np.array([bin(k).count("1") for k in v], dt)),
            ("bitwise_count", "bitwise_count(x)", np.array([bin(k).count("1") for k in mag], np.uint8)),
            ("leading_zeros", "leading_zeros(x)", np.array([bits - k.bit_length() for k in v], dt)),
            ("trailing_zeros", "trailing_zeros(x)", np.array([(k & -k).bit_length() - 1 if k else bits for k in v], dt)),
            ("byte_swap", "byte_swap(x)", z.byteswap()),
            ("positive", "positive(x)", z), ("relu", "relu(x)", np.maximum(z, 0)),
            ("rint", "rint(x)", z.astype(np.float64)), ("nan_to_num", "nan_to_num(x)", z),
            ("isposinf", "isposinf(x)", np.zeros(len(z), bool)),
        ], x=z)
    for e, what in [("positive(x)", "bool"), ("mul_hi(x, 2.5)", "integers"), ("popcount(x * 0.5)", "integers"),
                    ("add_carry(i32(1), 2, True)", "unsigned"), ("ldexp(2.0, 1.5)", "integers"), ("random_word(1.5, 2)", "integers")]:
        got = w.eval(e, x=np.array([True]))
        c.check(f"{e} is refused", isinstance(got, str) and what in got, str(got))


# ---- floating point -------------------------------------------------------------------------------------
def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def sinc(x):
    r = x - np.rint(x)
    s = np.where(r == 0, np.longdouble(1), np.sin(np.longdouble(np.pi) * r + np.longdouble(1.2246467991473532e-16) * r)
                 / (np.longdouble(np.pi) * np.where(r == 0, 1, r)))
    sign = np.where(np.mod(np.rint(x), 2) == 0, 1, -1)
    return np.where(np.isinf(x), np.nan, np.where(np.rint(x) == 0, s, np.where(r == 0, 0, sign * s * r / np.where(x == 0, 1, x))))


ULP = {  # name: (expression, reference in extended precision, bound f64, bound f32)
    "softplus": ("softplus(x)", softplus, .7, .75), "silu": ("silu(x)", lambda x: np.where(x == -np.inf, -0.0, x / (1 + np.exp(-x))), 1, 1),
    "log_sigmoid": ("log_sigmoid(x)", lambda x: -softplus(-x), .7, .75),
    "logaddexp": ("logaddexp(x, y)", None, 1, .51), "logaddexp2": ("logaddexp2(x, y)", None, 1, .51),
    "sinc": ("sinc(x)", sinc, 1, .51), "deg2rad": ("deg2rad(x)", lambda x: x * (np.longdouble(np.pi) + np.longdouble(1.2246467991473532e-16)) / 180, 1.5, 1.5),
    "rad2deg": ("rad2deg(x)", lambda x: x * 180 / (np.longdouble(np.pi) + np.longdouble(1.2246467991473532e-16)), 1.5, 1.5),
}


def test_floats(w, c, rng, n):
    for t in FLOATS:
        dt = TYPES[t]
        x, y = pairs(t, t, rng, n)
        m, e = np.frexp(x)
        k = rng.integers(-2200, 2200, len(x)).astype(np.int32)
        with np.errstate(all="ignore"):
            scaled = np.ldexp(x, k)
            big = np.finfo(dt).max
            run(w, c, t, [
                ("nextafter", "nextafter(x, y)", np.nextafter(x, y)), ("ldexp", "ldexp(x, k)", scaled),
                ("frexp mantissa", "frexp_mantissa(x)", m), ("frexp exponent", "frexp_exponent(x)", np.where(np.isfinite(x), e, 0).astype(np.int32)),
                ("fmod", "fmod(x, y)", np.fmod(x, y)), ("heaviside", "heaviside(x, y)", np.heaviside(x, y)),
                ("isclose", "isclose(x, y)", np.isclose(x, y)), ("isclose itself", "isclose(x, x * 1.000001, equal_nan=True)", np.isclose(x, x * dt(1.000001), equal_nan=True)),
                ("isclose tolerances", "isclose(x, y, 0.5, 2.0)", np.isclose(x, y, dt(0.5), dt(2.0))),
                ("nan_to_num", "nan_to_num(x)", np.nan_to_num(x)),
                ("nan_to_num to", "nan_to_num(x, nan=1.5, posinf=7, neginf=-2)", np.nan_to_num(x, nan=1.5, posinf=7, neginf=-2)),
                ("nan_to_num limits", "nan_to_num(x / 0)", np.nan_to_num(x / dt(0))),
                ("rint", "rint(x)", np.rint(x)), ("positive", "positive(x)", x),
                ("isposinf", "isposinf(x)", np.isposinf(x)), ("isneginf", "isneginf(x)", np.isneginf(x)),
                ("relu", "relu(x)", np.where(x == 0, dt(0), np.maximum(x, dt(0)))),
                ("leaky_relu", "leaky_relu(x, 0.25)", np.where(x > 0, x, x * dt(0.25))),
            ], x=x, y=y, k=k)
            c.check(f"largest {t}", np.nan_to_num(dt(np.inf)) == big)
            ok = np.isfinite(x) & np.isfinite(y)
            run(w, c, t, [("lerp at 1", "lerp(x, y, 1) + 0.0", y[ok] + dt(0)), ("lerp at 0", "lerp(x, y, 0) + 0.0", x[ok] + dt(0))], x=x[ok], y=y[ok])
            lx, ly = x.astype(np.longdouble), y.astype(np.longdouble)
            m = np.maximum(lx, ly)
            near = np.where(lx == ly, 0, np.abs(lx - ly))
            refs = {"logaddexp": np.where(np.isinf(m), m, m + np.log1p(np.exp(-near))),
                    "logaddexp2": np.where(np.isinf(m), m, m + np.log1p(np.exp2(-near)) / np.log(np.longdouble(2)))}
            for name, (expr, ref, b64, b32) in ULP.items():
                got = w.eval(expr, x=x, y=y) if "y" in expr else w.eval(expr, x=x)
                err = ulp_error(got, refs[name] if ref is None else ref(lx))
                if ref is None:  # where the terms cancel the bound is absolute
                    err = np.where((m < 0) & (m > -2), 0, err)
                i = int(np.argmax(err))
                c.check(f"{name} {t}", err[i] <= (b64 if t == "f64" else b32) + .01, f"{err[i]:.3f} ULP at {x[i]!r}, {y[i]!r}: {got[i]!r}")
        z = np.concatenate([np.array([0.5, 1, 2, 3, 10, 100, 171, 1e-5, -0.5, -1.5, -3.7, -170.5, 1e100]), rng.uniform(-30, 60, n)]).astype(dt)
        for name, f in (("lgamma", math.lgamma), ("tgamma", math.gamma), ("erfc", math.erfc)):
            want = []
            for v in z:
                try:
                    want.append(f(float(v)))
                except OverflowError:
                    want.append(np.inf)
            got = w.eval(f"{name}(x)", x=z)
            tol = 1e-14 if t == "f64" else 2e-7
            good = np.isclose(got.astype(np.float64), np.array(want, dt).astype(np.float64), rtol=tol * 4, atol=tol if name == "lgamma" else 0)
            c.check(f"{name} {t}", bool(good.all()), f"{z[~good][:3]} {got[~good][:3]}")
        p = np.concatenate([rng.uniform(0, 1, n), 10.0 ** rng.uniform(-30, -1, n)]).astype(dt)
        back = w.eval("erfc(-ndtri(x) / sqrt(2.0)) / 2", x=p.astype(np.float64))
        c.check(f"ndtri {t}", bool(np.allclose(back, p.astype(np.float64), rtol=1e-12, atol=0)), "does not invert")


# ---- creation -------------------------------------------------------------------------------------------
def test_creation(w, c):
    dummy = np.zeros(1)
    square = np.arange(20.0).reshape(4, 5)
    jobs = [
        ("zeros((2, 3))", np.zeros((2, 3))), ("ones(4, i32)", np.ones(4, np.int32)), ("ones((2, 2), dtype=bool)", np.ones((2, 2), bool)),
        ("full((2, 3), 7)", np.full((2, 3), 7)), ("full(3, 2.5, dtype=f32)", np.full(3, 2.5, np.float32)), ("zeros(0)", np.zeros(0)),
        ("eye(3)", np.eye(3)), ("eye(3, 5, 1)", np.eye(3, 5, 1)), ("eye(4, 3, k=-2, dtype=i8)", np.eye(4, 3, -2, np.int8)),
        ("arange(7)", np.arange(7)), ("arange(3, 20, 4)", np.arange(3, 20, 4)), ("arange(5, -5, -3)", np.arange(5, -5, -3)),
        ("arange(0.5, 3.0, 0.1)", np.arange(0.5, 3.0, 0.1)), ("arange(1.0, 0.0)", np.arange(1.0, 0.0)), ("arange(5, dtype=f32)", np.arange(5, dtype=np.float32)),
        ("linspace(0, 1, 11)", np.linspace(0, 1, 11)), ("linspace(2.0, -3.3, 7)", np.linspace(2.0, -3.3, 7)), ("linspace(1, 5)", np.linspace(1, 5)),
        ("linspace(0, 10, 5, endpoint=False)", np.linspace(0, 10, 5, endpoint=False)), ("linspace(3, 3, 4)", np.linspace(3, 3, 4)),
        ("linspace(1, 2, 1)", np.linspace(1, 2, 1)), ("linspace(0, 9, 4, dtype=i64)", np.linspace(0, 9, 4, dtype=np.int64)), ("linspace(1, 2, 0)", np.linspace(1, 2, 0)),
        ("tril(x)", np.tril(square)), ("tril(x, -1)", np.tril(square, -1)), ("triu(x, 2)", np.triu(square, 2)), ("triu(x * 2 + 1, k=-1)", np.triu(square * 2 + 1, -1)),
    ]
    run(w, c, "creation", [(e, e, v) for e, v in jobs], x=square)
    holes = np.array([[1 + 2j, np.nan - 3j, np.inf + 0j], [-0.0 - np.inf * 1j, 4j, complex(np.nan, np.inf)]])
    for t in (np.complex64, np.complex128):
        z = holes.astype(t)
        whole = np.nan_to_num(z)
        run(w, c, f"complex {np.dtype(t).name}", [("nan_to_num", "nan_to_num(x)", whole), (
            "nan_to_num to", "nan_to_num(x, nan=1.5, posinf=7, neginf=-2)", np.nan_to_num(z, nan=1.5, posinf=7, neginf=-2))], x=z)
        run(w, c, f"complex {np.dtype(t).name}", [("triu", "triu(x)", np.triu(whole)), ("tril", "tril(x, -1)", np.tril(whole, -1))], x=whole)
    for e, v in [("logspace(0, 3, 7)", np.logspace(0, 3, 7)), ("logspace(1, 2, 4, base=2)", np.logspace(1, 2, 4, base=2)),
                 ("geomspace(1, 1000, 4)", np.geomspace(1, 1000, 4)), ("geomspace(-2, -512, 9)", np.geomspace(-2, -512, 9))]:
        got = w.eval(e, x=dummy)
        c.check(e, not isinstance(got, str) and np.allclose(got, v, rtol=1e-15, atol=0), f"{got} {v}")
    for e in ("arange(0, 1, 0)", "geomspace(0, 1, 3)", "linspace(0, 1, -1)", "tril(x[0])", "random((2, 3), 1, dtype=i32)", "integers(5, 5, 3)",
              "integers(0, 300, 3, dtype=u8)", "random_bits(3, 1, dtype=f32)", "arange(0.5, 3.0, 1.0, dtype=i32)"):
        c.check(f"{e} is refused", isinstance(w.eval(e, x=square), str))


def test_more(w, c, rng):
    """Names that are put together in the command."""
    x, y = rng.standard_normal((3, 4)), rng.standard_normal((3, 4))
    u, v = rng.standard_normal(4), rng.standard_normal(4)
    run(w, c, "more", [(e, e, want) for e, want in [
        ("zeros_like(x)", np.zeros_like(x)), ("ones_like(x, dtype=i32)", np.ones_like(x, dtype=np.int32)), ("full_like(x, 2.5)", np.full_like(x, 2.5)),
        ("empty_like(x) * 0", np.zeros_like(x)), ("empty(3) * 0", np.zeros(3)), ("identity(3)", np.identity(3)), ("matrix_transpose(x)", x.T),
        ("fliplr(x)", np.fliplr(x)), ("flipud(x)", np.flipud(x)), ("rot90(x)", np.rot90(x)), ("vstack(x, u, y)", np.vstack([x, u, y])),
        ("vstack(u, v)", np.vstack([u, v])), ("hstack(x, y)", np.hstack([x, y])), ("hstack(u, v)", np.hstack([u, v])), ("dstack(x, y)", np.dstack([x, y])),
        ("dstack(u, v)", np.dstack([u, v])), ("column_stack(u, v)", np.column_stack([u, v])), ("column_stack(x.T, u)", np.column_stack([x.T, u])),
        ("meshgrid(u, x[0, :2])[0]", np.meshgrid(u, x[0, :2])[0]), ("meshgrid(u, x[0, :2])[1]", np.meshgrid(u, x[0, :2])[1]),
        ("array_equal(x, x)", np.array(True)), ("array_equal(x, y)", np.array(False)), ("array_equal(x, u)", np.array(False)),
        ("isin(x, x[1])", np.isin(x, x[1])), ("fftshift(x)", np.fft.fftshift(x)), ("ifftshift(x)", np.fft.ifftshift(x)),
        ("fftfreq(7, 0.25)", np.fft.fftfreq(7, 0.25)), ("fftfreq(8)", np.fft.fftfreq(8)), ("rfftfreq(9, 2)", np.fft.rfftfreq(9, 2)), ("rfftfreq(8)", np.fft.rfftfreq(8)),
    ]], x=x, y=y, u=u, v=v)
    got = w.eval(["vecdot(x, y)", "matrix_norm(x)"], x=x, y=y)
    c.check("vecdot, matrix_norm", not isinstance(got, str) and np.allclose(got[0], (x * y).sum(-1)) and np.isclose(got[1], np.linalg.norm(x)), str(got)[:90])
    low = np.outer(u, v) + np.outer(v, u)
    got = w.eval(["pinv(x)", "matrix_rank(y)", "matrix_rank(x)"], x=x, y=low)
    c.check("pinv, matrix_rank", "LAPACK" in got if isinstance(got, str) else
            np.allclose(got[0], np.linalg.pinv(x)) and got[1] == 2 and got[2] == 3, str(got)[:90])


# ---- made of reductions ---------------------------------------------------------------------------------
def test_reductions(w, c, rng):
    x = rng.standard_normal((5, 6, 7)) * 30
    x[0, 0, 0], x[1, 2, 3] = 800, -900
    e = lambda a: np.exp(x - x.max(axis=a, keepdims=True))
    for a in (0, 1, 2, -1):
        for name, want in [("softmax", e(a) / e(a).sum(axis=a, keepdims=True)),
                           ("log_softmax", x - x.max(axis=a, keepdims=True) - np.log(e(a).sum(axis=a, keepdims=True))),
                           ("logsumexp", x.max(axis=a) + np.log(e(a).sum(axis=a))), ("ptp", np.ptp(x, axis=a)),
                           ("diff", np.diff(x, axis=a)), ("trapezoid", np.trapz(x, axis=a))]:
            got = w.eval(f"{name}(x, axis={a})", x=x)
            c.check(f"{name} axis {a}", not isinstance(got, str) and got.shape == want.shape and np.allclose(got, want, rtol=1e-13, atol=1e-12 if name in ("trapezoid", "log_softmax") else 0), f"{str(got)[:80]}")
        for o in (0, 1, 2, 3, 0.5, -1):
            got = w.eval(f"norm(x, {o}, {a})", x=x)
            want = np.linalg.norm(x, o, a)
            c.check(f"norm {o} axis {a}", not isinstance(got, str) and np.allclose(got, want, rtol=1e-13), f"{str(got)[:80]}")
    got = w.eval(["norm(x)", "logsumexp(x)", "ptp(x, axis=(0, 2), keepdims=True)"], x=x)
    c.check("over all", not isinstance(got, str) and np.isclose(got[0], np.linalg.norm(x)) and np.isclose(got[1], 800) and
            got[2].shape == (1, 6, 1), str(got)[:100])
    inf = np.array([[np.inf, 1.0], [-np.inf, -np.inf], [np.nan, 1], [-np.inf, 2]])
    got = w.eval("logsumexp(x, axis=1)", x=inf)
    c.check("logsumexp of infinities", *same(got, np.array([np.inf, -np.inf, np.nan, 2.0])))
    b = rng.integers(0, 2, (3, 9)).astype(bool)
    i = rng.integers(-100, 100, (4, 9)).astype(np.int16)
    run(w, c, "diff", [("bool", "diff(x)", np.diff(b))], x=b)
    run(w, c, "diff", [("3", "diff(x, 3)", np.diff(i, 3)), ("2 axis 0", "diff(x, 2, axis=0)", np.diff(i, 2, axis=0)),
                       ("20", "diff(x, 20)", np.diff(i, 20)), ("count", "count(x)", np.int64(np.count_nonzero(i)))], x=i)
    at = np.sort(rng.uniform(0, 5, 7))
    got = w.eval("trapezoid(y, x, axis=2)", y=x, x=at)
    c.check("trapezoid over x", not isinstance(got, str) and np.allclose(got, np.trapz(x, at, axis=2), rtol=1e-12, atol=1e-12), str(got)[:80])
    got = w.eval("trapezoid(y, x[:5], axis=0)", y=x, x=at)
    c.check("trapezoid over x, axis 0", not isinstance(got, str) and np.allclose(got, np.trapz(x, at[:5], axis=0), rtol=1e-12, atol=1e-11), str(got)[:80])


# ---- names of a few builders ------------------------------------------------------------------------------
def test_names(w, c, rng):
    x, y = rng.integers(-9, 9, (3, 4)), rng.integers(-9, 9, (3, 4))
    a, b, m = rng.normal(size=5), rng.normal(size=5), rng.normal(size=(4, 3))
    arrays = {"x": x, "y": y, "a": a, "b": b, "m": m}
    run(w, c, "of a few builders", [
        ("zeros_like", "zeros_like(m)", np.zeros_like(m)), ("ones_like", "ones_like(x, dtype=f32)", np.ones_like(x, np.float32)),
        ("full_like", "full_like(x, 7)", np.full_like(x, 7)), ("matrix_transpose", "matrix_transpose(m)", m.T),
        ("fliplr", "fliplr(m)", np.fliplr(m)), ("flipud", "flipud(m)", np.flipud(m)), ("rot90", "rot90(m)", np.rot90(m)),
        ("vstack vectors", "vstack(a, b)", np.vstack((a, b))), ("vstack", "vstack(x, y)", np.vstack((x, y))),
        ("hstack vectors", "hstack(a, b)", np.hstack((a, b))), ("hstack", "hstack(x, y)", np.hstack((x, y))),
        ("dstack vectors", "dstack(a, b)", np.dstack((a, b))), ("dstack", "dstack(x, y)", np.dstack((x, y))),
        ("column_stack", "column_stack(a, b, b)", np.column_stack((a, b, b))),
        ("meshgrid 0", "meshgrid(a, b[:3])[0]", np.meshgrid(a, b[:3])[0]), ("meshgrid 1", "meshgrid(a, b[:3])[1]", np.meshgrid(a, b[:3])[1]),
        ("array_equal", "array_equal(x, x)", True), ("array_equal not", "array_equal(x, y)", False),
        ("array_equal shape", "array_equal(x, x[:2])", False), ("isin", "isin(x, y[0])", np.isin(x, y[0])),
        ("vecdot", "vecdot(x, y)", (x * y).sum(-1)), ("matrix_rank", "matrix_rank(m)", np.linalg.matrix_rank(m)),
        ("matrix_rank lower", "matrix_rank(outer(a, b))", np.linalg.matrix_rank(np.outer(a, b))),
        ("fftshift", "fftshift(x)", np.fft.fftshift(x)), ("ifftshift", "ifftshift(x)", np.fft.ifftshift(x)),
        ("fftshift odd", "fftshift(a)", np.fft.fftshift(a)), ("ifftshift odd", "ifftshift(a)", np.fft.ifftshift(a)),
        ("fftfreq", "fftfreq(5, 0.5)", np.fft.fftfreq(5, .5)), ("fftfreq even", "fftfreq(8)", np.fft.fftfreq(8)),
        ("rfftfreq", "rfftfreq(7)", np.fft.rfftfreq(7)), ("allclose", "allclose(a, a + 1e-9)", True),
        ("allclose not", "allclose(a, a + 1e-3)", False), ("allclose atol", "allclose(a, a + 1e-3, atol=0.01)", True)], **arrays)
    got = w.eval(["pinv(m)", "matrix_norm(m)", "vector_norm(m, axis=1)", "vector_norm(a, ord=1)"], **arrays)
    c.check("pinv and norms", not isinstance(got, str), str(got)[:80])
    if isinstance(got, str):
        return
    for name, v, want in zip(("pinv", "matrix_norm", "vector_norm", "vector_norm ord=1"), got,
                             (np.linalg.pinv(m), np.linalg.norm(m), np.linalg.norm(m, axis=1), np.abs(a).sum())):
        c.check(name, v.shape == np.shape(want) and np.allclose(v, want, rtol=1e-12, atol=1e-13), str(v))


def test_norm_range(w, c, rng):
    """The Euclidean norm at every magnitude, beside math.hypot, which cannot leave the range on the way. Where all numbers are
    ordinary the bits are those of sqrt(sum(x * x))."""
    def norm(v):
        return w.eval(["vector_norm(v)"], v=v)[0]
    scales = [0, 5e-324, 1e-310, 1e-300, 1e-200, 2.0 ** -511, 1e-150, 1, 1e100, 2.0 ** 486, 1e160, 1e200, 1e300, 1.7e308, np.inf, np.nan]
    for i, s in enumerate(scales):
        for t in scales[i:]:
            for n in (1, 2, 7, 600):
                v = rng.standard_normal(n)
                if np.isfinite(s) and np.isfinite(t):
                    v = np.clip(v, -1, 1)
                with np.errstate(all="ignore"):
                    v *= np.where(rng.random(n) < 0.5, s, t)
                got, want = norm(v), math.hypot(*v) if not np.isnan(v).any() else np.nan
                near = got == want or np.isnan(want) and np.isnan(got) or abs(got - want) <= max(4e-15 * want, 5e-324)
                c.check(f"norm of {n} between {s} and {t}", bool(near), f"{got!r}, not {want!r}")
    v = rng.standard_normal(3001)
    c.check("norm of ordinary numbers", norm(v) == w.eval(["sqrt(sum(v * v))"], v=v)[0], "other bits than sqrt(sum(v * v))")
    for t, s in ((np.float32, 1e30), (np.float32, 1e-42), (np.float16, 300), (np.float16, 1e-7)):
        v = (rng.standard_normal(50) * s).astype(t)
        want = t(math.hypot(*v.astype(float)))
        c.check(f"norm of {t.__name__} by {s}", norm(v) == want, f"{norm(v)!r}, not {want!r}")


# ---- random numbers -------------------------------------------------------------------------------------
def philox(index, key):
    """32-bit word index of the stream of key, in Python's integers."""
    k0, k1, c = key & 0xffffffff, key >> 32, [index // 4 & 0xffffffff, index // 4 >> 32, 0, 0]
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k0, q & 0xffffffff, (p >> 32) ^ c[3] ^ k1, p & 0xffffffff]
        k0, k1 = (k0 + 0x9E3779B9) & 0xffffffff, (k1 + 0xBB67AE85) & 0xffffffff
    return c[index % 4]


def test_random(w, c, rng):
    d = np.zeros(1)
    for key, offset in ((0, 0), (12345, 3), (2 ** 64 - 1, 10 ** 12 + 1), (int(rng.integers(2 ** 63)), int(rng.integers(2 ** 40)))):
        want = np.array([philox(offset + i, key) for i in range(203)], np.uint32)
        got = w.eval(f"random_bits((7, 29), {key}, {offset}, dtype=u32)", x=d)
        c.check(f"32-bit words of {key} from {offset}", *same(got, want.reshape(7, 29)))
        want = np.array([philox(2 * (offset + i), key) | philox(2 * (offset + i) + 1, key) << 32 for i in range(131)], np.uint64)
        got = w.eval(f"random_bits(131, {key}, offset={offset})", x=d)
        c.check(f"64-bit words of {key} from {offset}", *same(got, want))
        at = rng.integers(0, 1000, 50).astype(np.uint64)
        keys = rng.integers(0, 3, 50).astype(np.uint64)
        got = w.eval("random_half(x, y)", x=at, y=keys)
        c.check("words in any order", *same(got, np.array([philox(int(i), int(k)) for i, k in zip(at, keys)], np.uint64)))
    n = 200000
    u, f, z, zf, i = w.eval([f"random({n}, 5)", f"random({n}, 5, dtype=f32)", f"normal({n}, 6)", f"normal({n}, 6, dtype=f32)", f"integers(-10, 17, {n}, 7)"], x=d)
    for name, v in (("f64", u), ("f32", f)):
        counts = np.histogram(v, 100, (0, 1))[0]
        chi = ((counts - n / 100) ** 2 / (n / 100)).sum()
        c.check(f"uniform {name}", v.min() >= 0 and v.max() < 1 and 50 < chi < 170, f"chi square {chi}")
    for name, v in (("f64", z), ("f32", zf)):
        edges = np.array([-np.inf, -3, -2, -1, -.5, 0, .5, 1, 2, 3, np.inf])
        p = np.diff([.5 * math.erfc(-e / math.sqrt(2)) for e in edges])
        chi = ((np.histogram(v, edges)[0] - n * p) ** 2 / (n * p)).sum()
        c.check(f"normal {name}", abs(v.mean()) < .01 and abs(v.std() - 1) < .01 and chi < 30, f"{v.mean()} {v.std()} {chi}")
    counts = np.bincount(i + 10, minlength=27)
    chi = ((counts - n / 27) ** 2 / (n / 27)).sum()
    c.check("integers", len(counts) == 27 and 8 < chi < 60, f"chi square {chi}")
    c.check("uniform by definition", bool((u == (w.eval(f"random_bits({n}, 5)", x=d) >> 11) * 2.0 ** -53).all()))
    # three quarters of 2^63: without rejection the lowest third of the range would be twice as likely
    v = w.eval(f"integers(0, {3 << 61}, {n}, 9)", x=d)
    low = (v < (1 << 61)).mean()
    c.check("no bias in wide ranges", abs(low - 1 / 3) < .005, f"{low}")
    whole, a, b = w.eval(["normal((100, 100), 3)", "normal((40, 100), 3)", "normal((60, 100), 3, 4000)"], x=d)
    c.check("streams continue at an offset", *same(np.concatenate([a, b]), whole))
    mixed = [f"normal({n}, 1) * 2 + random({n}, 2)", f"integers(0, 1000, {n}, 3)"]
    first = w.eval(mixed, x=d)
    for name, value in (("WEFT_THREADS", "1"), ("WEFT_THREADS", "3"), ("WEFT_ISA", "scalar"), ("WEFT_BACKEND", "interp")):
        os.environ[name] = value
        c.check(f"the same stream with {name}={value}", all(same(p, q)[0] for p, q in zip(w.eval(mixed, x=d), first)))
        del os.environ[name]


def main():
    w = Weft(os.path.abspath(sys.argv[1]))
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    c = Count()
    for r in range(rounds):
        rng = np.random.default_rng(seed + r)
        print(f"seed {seed + r}", flush=True)
        test_integers(w, c, rng, 300)
        test_floats(w, c, rng, 1000)
        test_creation(w, c)
        test_more(w, c, rng)
        test_reductions(w, c, rng)
        test_names(w, c, rng)
        test_norm_range(w, c, rng)
        test_random(w, c, rng)
    print(f"{c.passed} passed, {c.failed} failed")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
