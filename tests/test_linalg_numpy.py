#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Linear algebra shapes, decompositions and Fourier transforms against NumPy, through the C API: every result at 1
and 3 threads, fused and unfused, over dense, transposed, reversed and strided operands. Products of small
integers are compared exactly; decompositions by what defines them."""
import ctypes as C
import sys

import numpy as np

from weft_ctypes import Lib, WeftError

passed = failed = 0
rng = np.random.default_rng(20261130)


class Triangle(C.Structure):
    _fields_ = [("size", C.c_size_t), ("upper", C.c_bool), ("transposed", C.c_bool), ("unit", C.c_bool)]


class FftOpts(C.Structure):
    _fields_ = [("size", C.c_size_t), ("axis", C.c_int), ("n", C.c_int64), ("norm", C.c_int)]


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED: {what} {detail}", flush=True)


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


def ints(*shape, t="f8"):
    return rng.integers(-9 if np.dtype(t).kind != "u" else 0, 10, shape).astype(t)


def layouts(a):
    """The same values in other memory."""
    yield a
    if a.ndim:
        yield np.asfortranarray(a)
        yield np.ascontiguousarray(a[::-1])[::-1]
        wide = np.zeros(a.shape[:-1] + (2 * a.shape[-1] + 1,), a.dtype)
        wide[..., 1::2] = a
        yield wide[..., 1::2]


def handles(lib, xs):
    return (C.c_void_p * len(xs))(*[lib.leaf(x) for x in xs])


def expect(lib, what, build, want, close=0.0):
    """build() gives the expression anew for each way of evaluating."""
    want = np.asarray(want)
    for threads in (1, 3):
        for unfused in (False, True):
            lib.reset()
            try:
                got = lib.eval(build(), threads=threads, unfused=unfused)
            except WeftError as error:
                check(f"{what}: {error}", False)
                return
            if close:
                ok = got.shape == want.shape and np.allclose(got, want, rtol=close, atol=close * max(1.0, np.abs(want).max(initial=0)))
            else:
                ok = same(got, want)
            check(f"{what}, {threads} threads, unfused {unfused}", ok, f"\n{got}\n{want}" if want.size < 30 else "")


def refused(lib, what, status, build):
    lib.reset()
    try:
        lib.eval(build())
        check(f"{what} is refused", False)
    except WeftError as error:
        check(f"{what}: {error}", error.status == status and error.text, error)


def axes(v):
    return (C.c_int * max(len(v), 1))(*v)


# ---- products ---------------------------------------------------------------------------------------------
def products(lib):
    for t in ("f8", "f4", "i4", "i8"):
        for sa, sb in (((3,), (3,)), ((2, 3), (3,)), ((2, 3), (4, 3)), ((2, 1, 3), (5, 3)), ((), (2, 3)), ((0,), (0,)), ((2, 0), (3, 0))):
            a, b = ints(*sa, t=t), ints(*sb, t=t)
            for x in layouts(a):
                expect(lib, f"inner {t} {sa} {sb}", lambda: lib.call("inner", lib.leaf(x), lib.leaf(b)),
                       np.inner(a, b) if t[0] == "f" else np.inner(a, b).astype(lib_type(lib, "inner", a, b)))
        a, b = ints(2, 3, t=t), ints(4, t=t)
        expect(lib, f"outer {t}", lambda: lib.call("outer", lib.leaf(a), lib.leaf(b)), np.outer(a, b))
        for sa, sb in (((2, 3), (3, 2)), ((2,), (3, 2)), ((2, 3, 1), (4,)), ((), (2, 2)), ((0, 2), (3, 1))):
            a, b = ints(*sa, t=t), ints(*sb, t=t)
            expect(lib, f"kron {t} {sa} {sb}", lambda: lib.call("kron", lib.leaf(a), lib.leaf(b)), np.kron(a, b))
        a, b = ints(2, 3, 4, 5, t=t), ints(5, 3, 2, t=t)
        for ax in (([3], [0]), ([1, 3], [1, 0]), ([0, 1, 3], [2, 1, 0]), ([-1, -3], [0, 1]), ([], [])):
            for x in layouts(a):
                expect(lib, f"tensordot {t} {ax}",
                       lambda: lib.call("tensordot", lib.leaf(x), lib.leaf(b), len(ax[0]), axes(ax[0]), axes(ax[1])),
                       np.tensordot(a, b, ax))
        a = ints(4, 4, t=t) % 3
        for n in range(9):
            expect(lib, f"matrix_power {t} {n}", lambda: lib.call("matrix_power", lib.leaf(a), C.c_int64(n)), np.linalg.matrix_power(a, n))
        a = ints(3, 4, 5, t=t)
        want = np.trace(a, 1, 0, 2)
        expect(lib, f"trace {t}", lambda: lib.call("trace", lib.leaf(a), C.c_int64(1), 0, 2), want)
    for t in ("f8", "i8"):
        for sa, sb in (((4, 3), (4, 3)), ((4, 3), (3,)), ((4, 2), (4, 2)), ((4, 2), (4, 3)), ((5, 1, 3), (2, 2))):
            a, b = ints(*sa, t=t), ints(*sb, t=t)
            expect(lib, f"cross {t} {sa} {sb}", lambda: lib.call("cross", lib.leaf(a), lib.leaf(b), -1), np.cross(a, b))
        a, b = ints(3, 4, t=t), ints(3, 4, t=t)
        expect(lib, f"cross axis 0 {t}", lambda: lib.call("cross", lib.leaf(a), lib.leaf(b), 0), np.cross(a, b, axis=0))
    a = ints(2, 3)
    refused(lib, "tensordot of other extents", "ESHAPE", lambda: lib.call("tensordot", lib.leaf(a), lib.leaf(a), 1, axes([0]), axes([1])))
    refused(lib, "tensordot with an axis twice", "EINVAL", lambda: lib.call("tensordot", lib.leaf(a), lib.leaf(a), 2, axes([0, 0]), axes([0, 1])))
    refused(lib, "power of no square", "ESHAPE", lambda: lib.call("matrix_power", lib.leaf(a), C.c_int64(2)))
    refused(lib, "cross of longer vectors", "ESHAPE", lambda: lib.call("cross", lib.leaf(ints(5)), lib.leaf(ints(5)), -1))


def lib_type(lib, name, a, b):
    lib.reset()
    return lib.shape(lib.call(name, lib.leaf(a), lib.leaf(b)))[1]


# ---- einsum ------------------------------------------------------------------------------------------------
EINSUMS = [
    ("i,i", (3,), (3,)), ("i,j", (3,), (2,)), ("ij,jk", (2, 3), (3, 4)), ("ij,jk->ki", (2, 3), (3, 4)), ("ii", (4, 4)),
    ("ii->i", (4, 4)), ("ij->ji", (2, 3)), ("ij->", (2, 3)), ("ij->j", (2, 3)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("bi,bi->b", (3, 4), (3, 4)), ("i,ij,j", (3,), (3, 4), (4,)), ("ij,jk,kl,lm->im", (2, 3), (3, 4), (4, 5), (5, 2)),
    ("...ij,...jk->...ik", (5, 1, 2, 3), (4, 3, 2)), ("i...->...", (3, 2, 4)), ("...i,...i", (2, 3, 4), (3, 4)), ("iij,jk->ik", (3, 3, 2), (2, 4)),
    ("ij,ij->ij", (2, 3), (2, 3)), ("ij,kj->ik", (1, 3), (2, 3)), ("ij,jk", (2, 1), (5, 3)), ("Ab,bA->A", (2, 3), (3, 2)), ("bA", (2, 3)),
    ("ijk,jil->kl", (2, 3, 4), (3, 2, 5)), ("a,b,c,d->abcd", (2,), (3,), (1,), (2,)), (" i j , j k -> i k ", (2, 3), (3, 4)),
    ("ij,j,i->", (3, 4), (4,), (3,)), ("i->i", (0,)), ("ij,jk->ik", (2, 0), (0, 3)), ("ab,bc,cd,de,ef,fg,gh,hi,ij->aj", *[(2, 2)] * 9),
    ("iijj->ij", (2, 2, 3, 3)), ("i,i,i->i", (3,), (3,), (3,)), (",ij->ij", (), (2, 3)), ("ijkl,ijkl->", (2, 3, 2, 2), (2, 3, 2, 2)),
]


def einsums(lib):
    for spec, *shapes in EINSUMS:
        for t in ("f8", "i4", "f4"):
            xs = [(ints(*s, t=t) % 4).astype(t) for s in shapes]
            want = np.einsum(spec, *xs)
            expect(lib, f"einsum {spec} {shapes} {t}",
                   lambda: lib.call("einsum", spec.encode(), len(xs), handles(lib, xs)), want)
    for _ in range(60):  # random subscripts
        n = int(rng.integers(1, 4))
        extent = dict(zip("abcdef", rng.integers(1, 4, 6)))
        lists = ["".join(rng.choice(list("abcdef"), int(rng.integers(0, 4)))) for _ in range(n)]
        used = sorted(set("".join(lists)))
        out = "".join(rng.permutation(used)[: int(rng.integers(0, len(used) + 1))])
        spec = ",".join(lists) + "->" + out
        xs = [ints(*[extent[c] for c in names]) for names in lists]
        expect(lib, f"einsum {spec} {extent}", lambda: lib.call("einsum", spec.encode(), n, handles(lib, xs)), np.einsum(spec, *xs))
    a = ints(2, 3)
    for spec, n, status in (("ij,jk", 1, "EINVAL"), ("ij", 2, "EINVAL"), ("ijk", 1, "ESHAPE"), ("ij->ik", 1, "EINVAL"), ("ij->ii", 1, "EINVAL"),
                            ("i1", 1, "EINVAL"), ("ii", 1, "ESHAPE"), ("ij,ij->k", 2, "EINVAL"), ("......", 1, "EINVAL"), ("ij->i->j", 1, "EINVAL"),
                            ("...->", 1, "EINVAL"), ("ij,ji", 2, "ESHAPE")):
        refused(lib, f"einsum {spec} of {n}", status, lambda: lib.call("einsum", spec.encode(), n, handles(lib, [a] * n)))


# ---- decompositions ------------------------------------------------------------------------------------------
def several(lib, name, x, n, *flags):
    """Outputs of a builder that gives them by address, evaluated one by one."""
    out = (C.c_void_p * n)()
    pointers = [C.byref(out, i * C.sizeof(C.c_void_p)) for i in range(n)]
    getattr(lib.dll, "weft_" + name)(C.c_void_p(lib.leaf(x)), *flags, *pointers)
    return [lib.eval(o) if o else lib.eval(None) for o in out]


def decompositions(lib):
    for t, eps in (("f8", 1e-12), ("f4", 2e-5)):
        for n in (1, 2, 5, 33):
            a = rng.standard_normal((n, n)).astype(t)
            spd = (a @ a.T + n * np.eye(n)).astype(t)
            for x in layouts(spd):
                expect(lib, f"cholesky {t} {n}", lambda: lib.call("cholesky", lib.leaf(x), False), np.linalg.cholesky(spd), eps)
            expect(lib, f"cholesky upper {t} {n}", lambda: lib.call("cholesky", lib.leaf(spd), True), np.linalg.cholesky(spd).T, eps)
            for b in (rng.standard_normal(n).astype(t), rng.standard_normal((n, 3)).astype(t)):
                expect(lib, f"solve {t} {n} {b.shape}", lambda: lib.call("solve", lib.leaf(spd), lib.leaf(b)), np.linalg.solve(spd, b), 10 * eps)
                for upper in (False, True):
                    for trans in (False, True):
                        for unit in (False, True):
                            tri = np.triu(spd) if upper else np.tril(spd)
                            full = tri + (np.tril(a, -1) if upper else np.triu(a, 1)) * 7  # what must not be read
                            ref = np.array(tri, "f8")
                            if unit:
                                np.fill_diagonal(ref, 1)
                                ref = ref * 0.01 + np.eye(n) * 0.99
                                full = full * 0.01
                            want = np.linalg.solve(ref.T if trans else ref, b.astype("f8")).astype(t)
                            o = Triangle(C.sizeof(Triangle), upper, trans, unit)
                            expect(lib, f"solve_triangular {t} {n} {upper} {trans} {unit}",
                                   lambda: lib.call("solve_triangular", lib.leaf(full.astype(t)), lib.leaf(b), C.byref(o)), want, 50 * eps)
            expect(lib, f"inv {t} {n}", lambda: lib.call("inv", lib.leaf(spd)), np.linalg.inv(spd), 10 * eps)
            expect(lib, f"det {t} {n}", lambda: lib.call("det", lib.leaf(a)), np.linalg.det(a.astype("f8")).astype(t), 100 * eps)
            lib.reset()
            w, v = several(lib, "eigh", spd, 2)
            check(f"eigh {t} {n}", np.allclose(w, np.linalg.eigvalsh(spd), rtol=10 * eps) and np.allclose(spd @ v, v * w, atol=eps * 100 * n) and np.allclose(v.T @ v, np.eye(n), atol=100 * eps))
            lib.reset()
            s, logd = several(lib, "slogdet", a, 2)
            ws, wl = np.linalg.slogdet(a.astype("f8"))
            check(f"slogdet {t} {n}", s == ws and np.allclose(logd, wl, rtol=100 * eps, atol=100 * eps))
        for m, n in ((1, 1), (5, 3), (3, 5), (40, 7), (7, 40)):
            a, k = rng.standard_normal((m, n)).astype(t), min(m, n)
            for x in layouts(a):
                lib.reset()
                q, r = several(lib, "qr", x, 2)
                check(f"qr {t} {m} {n}", q.shape == (m, k) and r.shape == (k, n) and np.allclose(q @ r, a, atol=100 * eps) and np.allclose(q.T @ q, np.eye(k), atol=100 * eps) and same(r, np.triu(r)))
                for whole in (False, True):
                    lib.reset()
                    u, s, vt = several(lib, "svd", x, 3, C.c_bool(whole))
                    mid = np.zeros((u.shape[1], vt.shape[0]), t)
                    np.fill_diagonal(mid, s)
                    check(f"svd {t} {m} {n} {whole}", u.shape == (m, m if whole else k) and vt.shape == (n if whole else k, n) and
                          np.allclose(s, np.linalg.svd(a, compute_uv=False), rtol=100 * eps, atol=100 * eps) and np.allclose(u @ mid @ vt, a, atol=100 * eps) and np.allclose(u.T @ u, np.eye(u.shape[1]), atol=100 * eps))
    batch, b = rng.standard_normal((4, 1, 3, 3)) + 4 * np.eye(3), rng.standard_normal((2, 3, 2))
    expect(lib, "solve of batches", lambda: lib.call("solve", lib.leaf(batch), lib.leaf(b)), np.linalg.solve(batch, b[None]), 1e-12)
    expect(lib, "det of batches", lambda: lib.call("det", lib.leaf(batch)), np.linalg.det(batch), 1e-12)
    expect(lib, "negative power", lambda: lib.call("matrix_power", lib.leaf(batch), C.c_int64(-2)), np.linalg.matrix_power(batch, -2), 1e-12)
    expect(lib, "det of nothing", lambda: lib.call("det", lib.leaf(np.zeros((2, 0, 0)))), np.ones(2))
    expect(lib, "solve of ints", lambda: lib.call("solve", lib.leaf(np.array([[2, 0], [0, 4]])), lib.leaf(np.array([2, 2]))), np.array([1, 0.5]))
    expect(lib, "singular det", lambda: lib.call("det", lib.leaf(np.zeros((3, 3)))), np.float64(0))
    expect(lib, "result in a chain", lambda: lib.call("add", lib.call("solve", lib.leaf(batch), lib.leaf(b)), lib.leaf(b)), np.linalg.solve(batch, b[None]) + b, 1e-12)
    refused(lib, "singular solve", "EINVAL", lambda: lib.call("solve", lib.leaf(np.zeros((2, 2))), lib.leaf(np.ones(2))))
    refused(lib, "indefinite cholesky", "EINVAL", lambda: lib.call("cholesky", lib.leaf(np.array([[[1., 0], [0, 1]], [[0., 1], [1, 0]]])), False))
    refused(lib, "cholesky of no square", "ESHAPE", lambda: lib.call("cholesky", lib.leaf(ints(2, 3)), False))
    refused(lib, "solve of other sides", "ESHAPE", lambda: lib.call("solve", lib.leaf(np.eye(3)), lib.leaf(np.ones(4))))
    x = np.eye(3) * 2  # into its own memory
    lib.reset()
    lib.eval(lib.call("inv", lib.leaf(x)), out=x)
    check("inv in place", same(x, np.eye(3) / 2))


# ---- transforms -----------------------------------------------------------------------------------------------
def transforms(lib):
    names = ("fft", "ifft", "rfft", "irfft")
    for t, eps in (("f8", 1e-13), ("f4", 1e-5)):
        for shape, axis in (((1,), 0), ((8,), 0), ((7,), -1), ((3, 12), 1), ((12, 3), 0), ((2, 5, 4), 1)):
            real = rng.standard_normal(shape).astype(t)
            both = (real + 1j * rng.standard_normal(shape)).astype("c16" if t == "f8" else "c8")
            for name in names:
                for n in (0, 3, 9, 16):
                    if name == "irfft" and not n and shape[axis] < 2:
                        continue
                    for norm, text in enumerate(("backward", "ortho", "forward")):
                        x = real if name == "rfft" else both
                        want = getattr(np.fft, name)(x, n or None, axis, text)
                        want = want.astype({"f8": {"c": "c16", "f": "f8"}, "f4": {"c": "c8", "f": "f4"}}[t][want.dtype.kind])
                        o = FftOpts(C.sizeof(FftOpts), axis, n, norm)
                        for y in layouts(x):
                            lib.reset()
                            try:
                                got = lib.eval(lib.call(name, lib.leaf(y), C.byref(o)), threads=3)
                                check(f"{name} {t} {shape} {axis} {n} {text}", got.shape == want.shape and got.dtype == want.dtype and
                                      np.allclose(got, want, rtol=0, atol=eps * max(1, np.abs(want).max())), f"\n{got}\n{want}")
                            except WeftError as error:
                                check(f"{name} {t} {shape}: {error}", False)
    big = rng.standard_normal((64, 2048))
    results = []
    for threads in (1, 2, 3):
        lib.reset()
        results.append(lib.eval(lib.call("fft", lib.leaf(big), None), threads=threads))
    check("fft: the same bits at any thread count", same(results[0], results[1]) and same(results[0], results[2]))
    refused(lib, "fft of nothing", "ESHAPE", lambda: lib.call("fft", lib.leaf(np.zeros((3, 0))), None))
    refused(lib, "rfft of complex", "EDTYPE", lambda: lib.call("rfft", lib.leaf(np.zeros(3, "c16")), None))


def available(lib, name):
    """Whether the optional library behind these is there."""
    probe = {"decompositions": lambda: lib.call("cholesky", lib.leaf(np.eye(1)), False),
             "transforms": lambda: lib.call("irfft", lib.leaf(np.ones(2, "c16")), None)}.get(name)
    lib.reset()
    try:
        return not probe or lib.eval(probe()) is not None
    except WeftError as error:
        return error.status != "EUNSUPPORTED"


def main():
    path, what = sys.argv[1], sys.argv[2:] or ["products", "einsums", "decompositions", "transforms"]
    for backend in (1, 2):
        lib = Lib(path, backend, 3)
        for name in what:
            if available(lib, name):
                globals()[name](lib)
            else:
                print(f"skipped: {name}: the library they need is not here")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
