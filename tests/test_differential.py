#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""NumPy as the judge: random operations over random types, shapes, layouts and special values, through the C API.

usage: test_differential.py LIBRARY [CASES [SEED]]

After all pairs the clock may end it early: WEFT_TEST_SECONDS, 200 when nothing is said and CASES is not given.

Each case takes one operation, types for its operands (any pair), shapes of rank 0 to 6 that broadcast (empty
ones too), memory in any order (reversed, transposed, strided, repeated) and an output in any order, and one way of
evaluating (interpreter or machine code, 1 to 3 threads, fused or not). Every pair of types comes before any comes
twice. Each row of the library's operation table needs a judge here, or the name of the test that has one. Integers,
comparisons and exactly rounded operations are compared by bits, functions by their ULP bound against extended precision.
What NumPy refuses must be refused and nothing else. Where weft differs on purpose, the difference is a named row of
docs/differences.md, and its function in judges.py says what must come out instead; a row that no case has met is a
failure too.
"""
import os
import re
import sys
import time

try:
    import numpy as np
except ImportError:
    print("skipped: python3-numpy is not installed")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

import judges
import test_numpy as ref
from judges import ARITY, COMPLEX, EXACT, FUNCTIONS, FUNCTIONS2, REAL, REDUCTIONS, differs, met, only_infinity_left
from weft_ctypes import Lib, WeftError


# ---- operands ---------------------------------------------------------------------------------------------------
class Maker:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def shapes(self, n):
        """n shapes that broadcast, often equal."""
        rank = int(self.rng.choice([0, 1, 1, 2, 2, 3, 4, 5, 6]))
        whole = [int(v) for v in self.rng.choice([0, 1, 2, 3, 4, 5, 7, 9, 17, 33], rank, p=[.02, .13, .2, .2, .15, .1, .08, .06, .04, .02])]
        if rank == 1:
            whole = [int(self.rng.choice([0, 1, 2, 3, 7, 8, 16, 31, 64, 65, 130, 300]))]
        out = []
        for _ in range(n):
            s = list(whole)
            if self.rng.random() < 0.35:
                s = [1 if self.rng.random() < 0.4 else v for v in s][int(self.rng.integers(0, rank + 1)):]
            out.append(tuple(s))
        return out

    def values(self, t, n):
        t = np.dtype(t)
        if t.kind == "c":
            part = "f4" if t == "c8" else "f8"
            return (self.values(part, n) + 1j * self.values(part, n)).astype(t)
        if t.kind == "b":
            return self.rng.integers(0, 2, n).astype(t)
        name = {"f2": "f32", "f4": "f32", "f8": "f64"}.get(t.str[1:], t.kind + str(t.itemsize * 8))
        special, random = ref.specials(name), ref.randoms(name, n, self.rng)
        if t == np.uint64:
            special = np.append(special, np.array([1 << 63, (1 << 63) + 1], "u8"))
        v = np.where(self.rng.random(n) < 0.5, self.rng.choice(special, n), random)
        return v.astype(t)

    def array(self, t, shape):
        """Values in memory of some order; now and then one axis repeats the same memory."""
        kind = self.pick(["dense", "dense", "reversed", "transposed", "strided", "repeated"])
        n = int(np.prod(shape, dtype=np.int64))
        if kind == "repeated" and shape:
            axis = int(self.rng.integers(len(shape)))
            one = shape[:axis] + (1,) + shape[axis + 1:]
            return np.broadcast_to(self.array(t, one), shape)
        a = self.values(t, n).reshape(shape)
        return self.laid(a, kind)

    def laid(self, a, kind):
        if not a.ndim or kind == "dense":
            return a
        axis = int(self.rng.integers(a.ndim))
        if kind == "reversed":
            return np.flip(np.ascontiguousarray(np.flip(a, axis)), axis)
        if kind == "transposed":
            perm = self.rng.permutation(a.ndim)
            return np.ascontiguousarray(a.transpose(perm)).transpose(np.argsort(perm))
        wide = np.zeros(a.shape[:axis] + (3 * a.shape[axis] + 1,) + a.shape[axis + 1:], a.dtype)
        view = wide[(slice(None),) * axis + (slice(1, None, 3),)]
        view[...] = a
        return view

    def output(self, t, shape):
        """An output in some order inside memory whose gaps must stay: (view, whole)."""
        whole = np.asarray(np.full(tuple(2 * n + 1 for n in shape), 77).astype(t))
        view = whole[tuple(slice(1, None, 2) for _ in shape)] if shape else whole
        for axis in range(len(shape)):
            if self.rng.random() < 0.3:
                view = np.flip(view, axis)
        return view, whole


# ---- the judge --------------------------------------------------------------------------------------------------
class Judge:
    def __init__(self, path, seed):
        self.make = Maker(seed)
        self.libs = [Lib(path, backend, 3) for backend in (1, 1, 1, 2)]  # machine code for every fourth case
        self.passed = self.failed = 0
        self.queue = {}

    def types(self, name, n):
        """Types of n operands, each combination once in random order before any comes again; of three, the pairs
        of the last two (where's condition is any)."""
        left = self.queue.setdefault(name, [])
        if not left:
            pairs = [(a,) for a in REAL] if n == 1 else [(a, b) for a in REAL for b in REAL]
            left.extend(pairs[i] for i in self.make.rng.permutation(len(pairs)))
        return [self.make.pick(REAL) for _ in range(n - 2)] + list(left.pop())

    def verdict(self, ok, what, detail):
        if ok:
            self.passed += 1
            return
        self.failed += 1
        if self.failed < 40:
            print(f"FAILED: {what}: {detail}", flush=True)

    def run(self, what, build, want, bound=None):
        """Compares; bound: ULP against want, which is in extended precision, with the type as bound[1]."""
        make = self.make
        lib = make.pick(self.libs)
        lib.reset()
        x = build(lib)
        if want is None:
            self.verdict(x is None, what, "NumPy refuses this, weft does not")
            return
        if x is None:
            self.verdict(False, what, f"refused: {lib.error()}")
            return
        dtype = bound[1] if bound else want.dtype
        shape, t = lib.shape(x)
        if shape != want.shape or t != dtype:
            self.verdict(False, what, f"{t}{shape} instead of {dtype}{want.shape}")
            return
        out, whole = make.output(t, shape)
        try:
            lib.eval(x, out=out, threads=int(make.rng.integers(1, 4)), unfused=make.rng.random() < 0.2)
        except WeftError as error:
            self.verdict(False, what, error)
            return
        self.compare(what, out, want, bound)
        if whole.size > out.size:
            out[...] = np.full((), 77).astype(t)
            self.verdict((whole == whole.dtype.type(77)).all(), what, "the gaps of the output were written")

    def compare(self, what, out, want, bound):
        if bound:
            err = ulp(out, want)
            worst = float(np.max(err, initial=0))
            self.verdict(worst <= bound[0] + ref.SLACK, what, f"{worst} ULP where {bound[0]} is the bound")
            return
        if out.dtype.kind in "fc":
            ok, detail = same_floats(out, want)
        else:
            ok, detail = np.array_equal(out, want), "values differ"
        self.verdict(ok, what, detail)

    # ---- one case ---------------------------------------------------------------------------------------------
    def elementwise(self, name):
        make = self.make
        n = ARITY.get(name, 2)
        types, shapes = self.types(name, n), make.shapes(n)
        xs = [make.array(t, s) for t, s in zip(types, shapes)]
        what = f"{name} {types} {shapes}"
        try:
            want = EXACT[name](*xs)
        except (TypeError, ValueError):
            want = None
        if name == "pow" and want is None:  # of floats: by ULP
            t = np.result_type(*xs)
            self.run(what, lambda lib: lib.call(name, *map(lib.leaf, xs)), precise(np.power, xs, t), (bound_of(.65, 1, t), t))
            return
        self.run(what, lambda lib: lib.call(name, *map(lib.leaf, xs)), None if want is None else np.asarray(want))

    def function(self, name):
        make = self.make
        two = name in FUNCTIONS2
        f, b64, b32 = (FUNCTIONS2 if two else FUNCTIONS)[name]
        n = 2 if two else 1
        types, shapes = self.types(name, n), make.shapes(n)
        xs = [make.array(t, s) for t, s in zip(types, shapes)]
        t = np.result_type(*xs)
        if t.kind in "iub":
            if name == "pow":
                return
            t = np.dtype("f8")
        if name in ("sin", "cos", "tan"):  # beyond what extended precision reduces, MPFR judges
            xs = [np.where(np.abs(x.astype("f8")) > 1e4, np.ones((), x.dtype), x) for x in xs]
        exact = precise(f, xs, t)
        if name in judges.SKIP_NAN:  # there the operands are such that the reference knows
            nothing = np.isnan(exact) & ~(np.isnan(xs[0].astype("f8")) | np.isnan(xs[1].astype("f8")))
            if nothing.any():
                return
        self.run(f"{name} {types} {shapes}", lambda lib: lib.call(name, *map(lib.leaf, xs)), exact, (bound_of(b64, b32, t), t))

    def cast(self):
        make = self.make
        (a, b), shape = self.types("cast", 2), make.shapes(1)[0]
        x = make.array(a, shape)
        if np.dtype(a).kind == "f" and np.dtype(b).kind in "iu":
            want = ref.cast_reference(x.astype("f4" if a == "f2" else a), ref_name(b))
            with np.errstate(all="ignore"):
                if not np.array_equal(want, x.astype(b)):
                    differs("casts saturate")
        else:
            want = x.astype(b)
        self.run(f"cast {a} to {b} {shape}", lambda lib: lib.call("cast", lib.leaf(x), code(b)), want)

    def reduction(self, name):
        make = self.make
        (t,), shape = self.types(name, 1), make.shapes(1)[0]
        x = make.array(t, shape)
        if x.dtype.kind == "f" and name in ("sum", "prod", "mean", "var", "std"):
            x = make.laid(make.rng.uniform(0.5, 1.5, shape).astype(t), "transposed")
        if name in ("var", "std") and x.dtype.itemsize == 8 and x.dtype.kind in "iu":
            x = x % 1000  # as f64 without rounding, which the spread would magnify
        arg = name.startswith("arg")
        axes = None if make.rng.random() < 0.3 or not shape else sorted(make.rng.permutation(len(shape))[: 1 if arg else int(make.rng.integers(1, len(shape) + 1))].tolist())
        keep = bool(make.rng.random() < 0.3)
        axis = None if axes is None else axes[0] if arg else tuple(axes)
        try:
            want = np.asarray(REDUCTIONS[name](x, axis=axis, keepdims=keep))
        except (ValueError, TypeError):
            want = None
        if want is not None and name == "count_nonzero":
            want = want.astype("i8")
        if want is None and name in ("var", "std", "mean"):
            return
        self.reduce(name, x, axes, keep, want)

    def reduce(self, name, x, axes, keep, want):
        def build(lib):
            return lib.call(name, lib.leaf(x), lib.reduce(axes, keep))
        what = f"{name} {x.dtype} {x.shape} axes {axes} keepdims {keep}"
        if want is None or x.dtype.kind != "f" or name in ("min", "max", "any", "all", "count_nonzero", "argmin", "argmax"):
            if want is not None and name in ("mean", "var", "std"):  # of integers: f64
                self.near(what, build, want, x, name)
                return
            if want is not None and name in ("min", "max") and x.dtype.kind == "f":
                want = zero_rule(name, x, axes, keep, want)
            self.run(what, build, want)
            return
        self.near(what, build, want, x, name)

    def near(self, what, build, want, x, name):
        """Float sums against extended precision: by the error their order allows."""
        f = REDUCTIONS[name]
        lib = self.make.pick(self.libs)
        lib.reset()
        e = build(lib)
        if e is None:
            self.verdict(False, what, lib.error())
            return
        shape, t = lib.shape(e)
        got = lib.eval(e, threads=int(self.make.rng.integers(1, 4)))
        exact = f(x.astype(np.longdouble), axis=want_axis(what), keepdims="keepdims True" in what)
        eps = np.finfo(t).eps if t.kind == "f" else 0
        work = 40 if t != np.float16 else 2
        scale = np.abs(exact)
        if name == "mean":  # what cancels counts
            scale = np.mean(np.abs(x.astype(np.longdouble)), axis=want_axis(what), keepdims="keepdims True" in what)
        ok = shape == want.shape and t == want.dtype and np.all(
            (np.abs(got.astype(np.longdouble) - exact) <= work * eps * np.maximum(scale, np.finfo(t).tiny) + 1e-300) | (np.isnan(got) & np.isnan(exact)) | (got == exact.astype(t)))
        self.verdict(ok, what, f"{got.ravel()[:4]} instead of {np.ravel(exact)[:4]}, {t}")

    def parts(self):
        """complex(a, b) of real operands, and parts of what came."""
        make, types = self.make, self.types("complex", 2)
        shapes = make.shapes(2)
        xs = [make.array(t, s) for t, s in zip(types, shapes)]
        part = np.result_type(*xs)
        part = np.dtype("f8" if part.kind != "f" else part if part.itemsize > 2 else "f4")
        for name, want in (("real", xs[0]), ("imag", xs[1])):
            want = np.broadcast_to(want, np.broadcast_shapes(*shapes)).astype(part)
            self.run(f"{name} of complex {types} {shapes}",
                     lambda lib, name=name: lib.call(name, lib.call("complex", *map(lib.leaf, xs))), want)

    def skipping(self):
        """Reductions that skip NaN; of nothing but NaN an arg-reduction is an error."""
        make = self.make
        name = make.pick(["sum", "prod", "min", "max", "mean", "argmin", "argmax"])
        (t,), shape = self.types("nan" + name, 1), tuple(max(n, 1) for n in make.shapes(1)[0])
        x = make.laid(np.asarray(make.values(t, int(np.prod(shape))).reshape(shape)), "reversed")
        if x.dtype.kind == "f" and name not in ("min", "max", "argmin", "argmax"):
            hole = make.rng.random(shape) < 0.2
            x = np.where(hole, np.nan, make.rng.uniform(0.5, 1.5, shape)).astype(t)
        if x.dtype.kind == "f" and name.startswith("arg") and make.rng.random() < 0.2:
            x = make.laid(make.rng.choice([np.nan, -np.inf if name == "argmax" else np.inf], shape).astype(t), "transposed")
        axis = int(make.rng.integers(len(shape))) if shape else None
        axes = None if axis is None else [axis]
        lib = make.pick(self.libs)
        lib.reset()
        what = f"nan{name} {x.dtype} {x.shape} axis {axis}"
        try:
            want = np.asarray(getattr(np, "nan" + name)(x, axis=axis))
            if name.startswith("arg"):
                want = only_infinity_left(name, x, axis, want)
        except ValueError:
            want = None
        e = lib.call(name, lib.leaf(x), lib.reduce(axes, False, 1))
        try:
            got = lib.eval(e, threads=int(make.rng.integers(1, 4)))
        except WeftError as error:
            self.verdict(want is None, what, error)
            return
        if want is None:
            self.verdict(False, what, "NumPy refuses this, weft does not")
            return
        if name in ("min", "max") and x.dtype.kind == "f":
            got, want = np.where(got == 0, got.dtype.type(0), got), np.where(want == 0, want.dtype.type(0), want)
        if x.dtype.kind != "f" or name in ("min", "max", "argmin", "argmax"):
            ok = got.dtype == want.dtype and (same_floats(got, want)[0] if got.dtype.kind == "f" else np.array_equal(got, want))
            if name == "mean" and x.dtype.kind in "iub":
                ok = np.allclose(got, want, rtol=1e-12, atol=1e-12 * float(np.max(np.abs(x.astype("f8")))))
        else:
            ok = got.dtype == want.dtype and np.allclose(got.astype("f8"), getattr(np, "nan" + name)(x.astype("f8"), axis=axis).astype(t).astype("f8"),
                                                         rtol=40 * float(np.finfo(t).eps) if t != "f2" else 2e-3, equal_nan=True)
        self.verdict(bool(ok), what, f"{np.ravel(got)[:4]} instead of {np.ravel(want)[:4]}")

    def complexes(self):
        """Arithmetic of finite complex numbers: sums exactly, products and quotients to a few units of the norm."""
        make = self.make
        name = make.pick(["add", "sub", "mul", "true_divide", "neg", "equal", "not_equal", "abs", "conj", "real", "imag", "square", "angle"])
        n = 2 if name in ("add", "sub", "mul", "true_divide", "equal", "not_equal") else 1
        types = [make.pick(COMPLEX)] + [make.pick(COMPLEX + REAL) for _ in range(n - 1)]
        shapes = make.shapes(n)
        xs = []
        for t, s in zip(types, shapes):
            v = make.rng.uniform(-4, 4, s) + (1j * make.rng.uniform(-4, 4, s) if np.dtype(t).kind == "c" else 0)
            v = np.asarray(np.round(v.real) + 0.5 if np.dtype(t).kind != "c" else v)
            xs.append(make.laid(v.astype(t), make.pick(["dense", "reversed", "transposed", "strided"])))
        numpy = {"sub": "subtract", "mul": "multiply", "neg": "negative", "true_divide": "divide"}.get(name, name)
        want = np.asarray(getattr(np, numpy)(*xs))
        lib = make.pick(self.libs)
        lib.reset()
        what = f"{name} {types} {shapes}"
        try:
            got = lib.eval(lib.call(name, *map(lib.leaf, xs)), threads=int(make.rng.integers(1, 4)))
        except WeftError as error:
            self.verdict(False, what, error)
            return
        if got.dtype != want.dtype or got.shape != want.shape:
            self.verdict(False, what, f"{got.dtype}{got.shape} instead of {want.dtype}{want.shape}")
        elif name in ("mul", "true_divide", "abs", "square", "angle"):
            eps = np.finfo(want.dtype).eps
            with np.errstate(all="ignore"):
                ok = (np.abs(got - want) <= 8 * eps * np.abs(want)) | (got == want) | ~np.isfinite(want)
            self.verdict(ok.all(), what, "too far away")
        else:
            self.verdict(np.array_equal(got, want), what, "values differ")


def want_axis(what):
    text = re.search(r"axes (None|\[.*?\])", what)[1]
    return None if text == "None" else tuple(int(v) for v in re.findall(r"\d+", text))


def zero_rule(name, x, axes, keep, want):
    """-0 < +0 in extremes, too."""
    axis = None if axes is None else tuple(axes)
    zero = (want == 0)
    sign = np.signbit(x) if name == "min" else ~np.signbit(x)
    any_ = np.any(sign & (x == 0), axis=axis, keepdims=keep)
    value = np.where(any_, -0.0 if name == "min" else 0.0, 0.0 if name == "min" else -0.0).astype(want.dtype)
    out = np.where(zero, value, want)
    if (np.signbit(out) != np.signbit(want))[~np.isnan(want)].any():
        differs("order of zeros")
    return out


def precise(f, xs, t):
    typed = [x.astype(t) for x in xs]
    exact = np.asarray(f(*[x.astype(np.longdouble) for x in typed]))
    if f is np.power:  # the C library's powl is wrong for infinite bases and huge even exponents
        exact = np.where(np.isinf(typed[0]), f(*typed), exact)
    return exact


def bound_of(b64, b32, t):
    return b64 if t == np.float64 else b32 if t == np.float32 else 0.51


def ulp(got, exact):
    if got.dtype != np.float16:
        return ref.ulp_error(np.ascontiguousarray(got), exact)
    want = np.asarray(exact, np.float16)  # halves: rounded once from f32, at most one unit in a hundred cases
    g, w = got.astype("f4"), want.astype("f4")
    step = np.spacing(np.where(np.isfinite(want), np.abs(want), np.float16(1))).astype("f4")
    with np.errstate(all="ignore"):
        err = np.abs(g - w) / step
    near = np.abs(np.asarray(exact, np.longdouble) - w.astype(np.longdouble)) > 0.49 * step  # a tie, nearly
    err = np.where(near & (err <= 1), 0, err)
    return np.where((g == w) | (np.isnan(g) & np.isnan(w)), 0, err)


def same_floats(out, want):
    out, want = np.ascontiguousarray(out), np.ascontiguousarray(want)
    u = {2: "u2", 4: "u4", 8: "u8"}[out.dtype.itemsize]
    eq = (out.view(u) == want.view(u)) | (np.isnan(out) & np.isnan(want))
    if eq.all():
        return True, ""
    i = tuple(np.argwhere(~np.atleast_1d(eq))[0])
    return False, f"at {i}: {np.atleast_1d(out)[i]!r} instead of {np.atleast_1d(want)[i]!r}"


def ref_name(t):
    t = np.dtype(t)
    return t.kind + str(8 * t.itemsize)


def code(t):
    from weft_ctypes import CODE
    return CODE[np.dtype(t)]


# ---- the whole ------------------------------------------------------------------------------------------------
def named_differences():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "differences.md")
    with open(path, encoding="utf-8") as f:
        return re.findall(r"^\| \*\*(.+?)\*\* \|", f.read(), re.M)


def judged():
    """Names that main deals out."""
    mine = {*EXACT, *FUNCTIONS, *FUNCTIONS2, *REDUCTIONS, "cast", "complex", "real", "imag", "conj", "angle", "from"}
    return mine | {"nanmin", "nanmax", "nanargmin", "nanargmax"}


def check_table(judge, lib):
    """Every row of the operation table has a judge."""
    here, mine, rows = os.path.dirname(os.path.abspath(__file__)), judged(), lib.table()
    judge.verdict(len(rows) > 100, "the operation table", f"has {len(rows)} rows")
    for name in rows:
        if name in mine:
            continue
        where = judges.ELSEWHERE.get(name)
        judge.verdict(where is not None, f"operation '{name}'", "has no judge: add one to judges.py")
        if where:
            with open(os.path.join(here, where[0]), encoding="utf-8") as f:
                judge.verdict(where[1] in f.read(), f"operation '{name}'", f"{where[0]} does not contain {where[1]}")


def main():
    given = len(sys.argv) > 2
    cases = int(sys.argv[2]) if given else 30000
    seconds = float(os.environ.get("WEFT_TEST_SECONDS", 1e9 if given else 200))
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(os.environ.get("WEFT_SEED", time.time_ns() % 10**9))
    print(f"seed {seed}, {cases} cases", flush=True)
    judge, begin = Judge(sys.argv[1], seed), time.monotonic()
    check_table(judge, judge.libs[0])
    arity = {n: ARITY.get(n, 2) for n in EXACT} | {n: 1 for n in FUNCTIONS} | {n: 2 for n in FUNCTIONS2}
    kinds = {n: (lambda n=n: judge.elementwise(n)) for n in EXACT} | {n: (lambda n=n: judge.function(n)) for n in [*FUNCTIONS, *FUNCTIONS2] if n != "pow"}
    work = [w for n, w in kinds.items() for _ in range(12 if arity[n] == 1 else 144)]  # every pair of types once
    work += [lambda n=n: judge.reduction(n) for n in REDUCTIONS for _ in range(24)]
    work += [judge.cast] * 144 + [judge.parts] * 144 + [judge.skipping] * 200 + [judge.complexes] * 500
    need = len(work)
    done = 0
    while done < cases and not (done >= need and time.monotonic() - begin > seconds):
        if done % need == 0:
            order = judge.make.rng.permutation(need)
        work[order[done % need]]()
        done += 1
    if done < cases:
        print(f"ended by the clock after {done} cases, each pair of types {done // need} times or more")
    names = named_differences()
    for name in met:
        judge.verdict(name in names, f"difference '{name}'", "is not in docs/differences.md")
    if done >= need:
        for name in names:
            judge.verdict(name in met, f"difference '{name}'", "was met by no case: is it still one?")
    print(f"{judge.passed} passed, {judge.failed} failed")
    return judge.failed != 0


if __name__ == "__main__":
    sys.exit(main())
