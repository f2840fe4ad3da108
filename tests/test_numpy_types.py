#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Differential test of f16, c64 and c128 through the weft command against NumPy.

usage: test_numpy_types.py WEFT [SEED]

f16: exactly rounded operations, comparisons and casts by bits. Complex: sums, quotients and parts by bits, products and
functions by a bound relative to the modulus; specials are left to test_complex.c, since NumPy does not follow Annex G.
Ends with "N passed, N failed".
"""
import os
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
WEFT = os.path.abspath(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
passed = failed = 0


def check(name, ok, detail=""):
    global passed, failed
    passed += bool(ok)
    failed += not ok
    if not ok:
        print(f"FAIL {name}: {detail}")


def run(tmp, exprs, arrays):
    """The results of several expressions over one set of inputs."""
    args = [WEFT, "eval", ", ".join(exprs)]
    for name, a in arrays.items():
        np.save(f"{tmp}/{name}.npy", a)
        args.append(f"{name}={tmp}/{name}.npy")
    outs = [f"{tmp}/o{i}.npy" for i in range(len(exprs))]
    for o in outs:
        args += ["-o", o]
    p = subprocess.run(args, capture_output=True, text=True, timeout=120)
    if p.returncode:
        check(args[2], False, p.stderr)
        return [None] * len(exprs)
    return [np.load(o) for o in outs]


def same_bits(a, b):
    if a is None or a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind == "c":
        return same_bits(a.real, b.real) and same_bits(a.imag, b.imag)
    if a.dtype.kind == "f":
        return bool(np.all((a == b) & (np.signbit(a) == np.signbit(b)) | (np.isnan(a) & np.isnan(b))))
    return bool(np.all(a == b))


def compare(tmp, cases, arrays, equal, label):
    """cases: weft's text -> NumPy's result."""
    for (e, want), got in zip(cases.items(), run(tmp, list(cases), arrays)):
        want = np.asarray(want)
        detail = "no result" if got is None else f"{got.dtype}{got.shape} {want.dtype}{want.shape}"
        check(f"{label} {e}", got is not None and equal(got, want), detail)


def test_half(tmp, rng):
    bits = rng.integers(0, 65536, 4000, dtype=np.uint16)
    special = np.array([0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x3c00, 0x3800], np.uint16)
    pair = np.array(np.meshgrid(special, special)).reshape(2, -1)
    x, y = np.concatenate([bits, pair[0]]).view(np.float16), np.concatenate([bits[::-1], pair[1]]).view(np.float16)
    both = {"x": x, "y": y}
    compare(tmp, {"x + y": x + y, "x - y": x - y, "x * y": x * y, "x / y": x / y, "x * 2.5": x * np.float16(2.5), "x + 7": x + np.float16(7),
                  "-x": -x, "abs(x)": np.abs(x), "x < y": x < y, "x == y": x == y, "x != y": x != y, "x >= 1": x >= 1}, both, same_bits, "f16")
    compare(tmp, {"sqrt(x)": np.sqrt(x), "floor(x)": np.floor(x), "ceil(x)": np.ceil(x), "trunc(x)": np.trunc(x), "rint(x)": np.rint(x),
                  "isnan(x)": np.isnan(x), "isinf(x)": np.isinf(x), "signbit(x)": np.signbit(x), "copysign(x, y)": np.copysign(x, y),
                  "where(x < y, x, y)": np.where(x < y, x, y), "x.max()": np.max(x), "argmin(x)": np.argmin(x), "x[::-3]": x[::-3]},
            both, same_bits, "f16")
    finite = x[np.isfinite(x)]
    compare(tmp, {"x.max()": finite.max(), "x.min()": finite.min(), "argmax(x)": np.argmax(finite), "count_nonzero(x)": np.count_nonzero(finite),
                  "x.astype(f32)": finite.astype(np.float32), "x.astype(f64)": finite.astype(np.float64), "x.astype(i64)": finite.astype(np.int64),
                  "x.astype(bool)": finite.astype(bool)}, {"x": finite}, same_bits, "f16 finite")
    for t in ("f4", "f8", "i1", "u1", "i2", "i4", "i8", "u8", "?"):
        v = (rng.standard_normal(3000) * 10.0 ** rng.uniform(-9, 6, 3000)).astype(t) if t[0] == "f" else rng.integers(0, 100, 3000).astype(t)
        want = v + x[:3000] if t != "?" else v.astype(np.float16) + x[:3000]
        compare(tmp, {"v.astype(f16)": v.astype(np.float16), "v + x": want}, {"v": v, "x": x[:3000]}, same_bits, f"f16 with {t}")


def near(bound):
    def equal(a, b):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        eps = np.finfo(b.dtype).eps
        return bool(np.all(np.abs(a - b) <= bound * eps * np.abs(b) + np.finfo(b.dtype).tiny))
    return equal


def test_complex(tmp, rng, t):
    draw = lambda: (rng.standard_normal(3000) * 10.0 ** rng.uniform(-2, 2, 3000)).astype(t().real.dtype)
    x, y = np.empty(3000, t), np.empty(3000, t)
    x.real, x.imag, y.real, y.imag = draw(), draw(), draw(), draw()
    r = y.real.copy()
    both = {"x": x, "y": y, "r": r}
    compare(tmp, {"x + y": x + y, "x - y": x - y, "x / y": x / y, "-x": -x, "conj(x)": np.conj(x), "x.real()": x.real, "imag(x)": x.imag,
                  "x == y": x == y, "x != x": x != x, "where(r > 0, x, y)": np.where(r > 0, x, y), "x[::-2]": x[::-2],
                  "x.reshape(30, 100).T": x.reshape(30, 100).T, "complex(r, r)": r + np.array(1j, t) * r}, both, same_bits, t.__name__)
    compare(tmp, {"x * y": x * y, "r * x": r * x, "x / r": x / r, "x ** 3": x ** 3, "x + 2j": x + t(2j), "reciprocal(x)": 1 / x,
                  "abs(x)": np.abs(x), "angle(x)": np.angle(x), "log(x)": np.log(x), "sqrt(x)": np.sqrt(x), "tanh(x)": np.tanh(x)},
            both, near(16), t.__name__)
    small = {"x": x / np.abs(x).astype(x.real.dtype), "y": y / np.abs(y).astype(x.real.dtype)}
    sx, sy = small["x"], small["y"]
    compare(tmp, {"exp(x)": np.exp(sx), "sin(x)": np.sin(sx), "cos(x)": np.cos(sx), "sinh(x)": np.sinh(sx), "cosh(x)": np.cosh(sx),
                  "tan(x)": np.tan(sx), "x ** y": sx ** sy, "log10(x) * 0 + log1p(x)": np.log1p(sx), "expm1(x)": np.expm1(sx)}, small, near(64), t.__name__)
    a, b = np.round(x[:60].reshape(6, 10)), np.round(y[:70].reshape(10, 7))
    compare(tmp, {"a @ b": a @ b, "sum(a, axis=0)": a.sum(0), "mean(a, axis=1)": a.mean(1), "var(a)": a.var(), "std(a, axis=1)": a.std(1),
                  "prod(a[:, :4], axis=1)": a[:, :4].prod(1), "dot(a[0], a[1])": np.dot(a[0], a[1])}, {"a": a, "b": b}, near(200), t.__name__)


def main():
    rng = np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory() as tmp:
        test_half(tmp, rng)
        test_complex(tmp, rng, np.complex64)
        test_complex(tmp, rng, np.complex128)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
