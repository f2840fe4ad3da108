#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python module against NumPy: evaluate() and lazy arrays, memory in and out, errors, threads, leaks.
usage: test_python.py DIRECTORY   (where weft.abi3.so is)"""
import gc
import os
import signal
import sys
import threading
import time
import traceback
import warnings

try:
    import numpy as np
except ImportError:
    print("skipped: python3-numpy is not installed\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)
sys.path.insert(0, sys.argv[1])
import weft

warnings.simplefilter("ignore")
np.seterr(all="ignore")
RNG = np.random.default_rng(7)
passed = failed = 0


def check(ok, what):
    global passed, failed
    passed += bool(ok)
    failed += not ok
    if not ok:
        print("FAILED:", what)


def same(got, want, what, ulps=8):
    got, want = np.asarray(got), np.asarray(want)
    ok = got.shape == want.shape and got.dtype == want.dtype
    if ok and want.dtype.kind in "fc":
        eps = np.finfo(want.dtype).eps
        ok = np.allclose(got, want, rtol=ulps * eps, atol=ulps * eps, equal_nan=True)
    elif ok:
        ok = np.array_equal(got, want)
    check(ok, f"{what}: {got.dtype}{got.shape} {got.ravel()[:4]} / {want.dtype}{want.shape} {want.ravel()[:4]}")


def raises(kinds, call, what, text=""):
    try:
        call()
    except Exception as e:
        good = all(isinstance(e, k) for k in kinds) and text in str(e)
        check(good, f"{what}: {type(e).__mro__} {e}")
        return e
    check(False, f"{what}: nothing was raised")


GLOBAL = np.arange(4.0)


def test_evaluate():
    x, y = RNG.random(1000), RNG.random(1000)
    check(np.array_equal(weft.evaluate("sqrt(x*y+x)"), np.sqrt(x * y + x)), "the frame's names, NumPy's bits")
    check(type(weft.evaluate("x+y")) is np.ndarray, "a NumPy array where NumPy is in use")
    same(weft.evaluate("GLOBAL*2"), GLOBAL * 2, "a global")
    same(weft.evaluate("x+y", {"x": x, "y": x}), x + x, "local_dict")
    same(weft.evaluate("x+y", {"x": x}, {"y": x}), x + x, "global_dict")
    n, scale = 3, 2.5
    x32 = x.astype(np.float32)
    same(weft.evaluate("x32*scale+n"), x32 * np.float32(scale) + np.float32(n), "Python's numbers are weak")
    same(weft.evaluate("x32*s", {"x32": x32, "s": np.float64(2.5)}), x32.astype(float) * 2.5, "NumPy's are not")
    for scale in range(20):
        same(weft.evaluate("x*scale"), x * scale, f"a number that changes: {scale}")
    a, b = np.arange(12).reshape(3, 4), np.arange(3)[:, None]
    same(weft.evaluate("where(a % 2 == 0, a // 2, b - a)"), np.where(a % 2 == 0, a // 2, b - a), "integers, broadcast")
    same(weft.evaluate("sum(a, axis=1, keepdims=True) / n"), a.sum(axis=1, keepdims=True) / n, "a reduction")
    same(weft.evaluate("a[::-1, 1:n] + a[0, n]"), a[::-1, 1:n] + a[0, n], "subscripts with numbers of the frame")
    same(weft.evaluate("(a & 3) << 1 ^ ~a"), (a & 3) << 1 ^ ~a, "bits")
    same(weft.evaluate("pi*a + e"), np.pi * a + np.e, "constants")
    c = x[:50] + 1j * y[:50]
    same(weft.evaluate("c*(1+2j)/c.conj()"), c * (1 + 2j) / c.conj(), "complex", 64)
    s, d = weft.evaluate("a+b, a-b")
    same(s, a + b, "the first of two")
    same(d, a - b, "the second")
    same(weft.evaluate("t = a*2; t + t"), a * 4, "assignments")
    same(weft.evaluate("a[:0] + 1"), a[:0] + 1, "nothing at all")
    same(weft.evaluate("x0 + 1", {"x0": np.array(2.0)}), np.array(3.0), "rank 0")
    same(weft.evaluate("l + 1", {"l": [1, 2, 3]}), np.array([2, 3, 4]), "a list")
    same(weft.evaluate("v + 1", {"v": x[::-3]}), x[::-3] + 1, "a strided operand")
    sin = np.sin  # a name of the frame that is a function everywhere else
    same(weft.evaluate("sin(x)"), np.sin(x), "functions keep their names")
    same(weft.re_evaluate(), np.sin(x), "again")
    x = x + 1
    same(weft.re_evaluate(), np.sin(x), "again with the frame's new array")
    same(weft.re_evaluate({"x": y}), np.sin(y), "again with a dict")


def test_evaluate_arguments():
    x = np.arange(6.0).reshape(2, 3)
    out = np.empty((2, 3))
    check(weft.evaluate("x+1", out=out) is out and np.array_equal(out, x + 1), "out")
    check(weft.evaluate("out+x", out=out) is out and np.array_equal(out, x + x + 1), "out is an operand too")
    view = np.zeros((3, 4))[:, 1:3]
    weft.evaluate("x+1", out=view.T)
    same(view.T, x + 1, "out with strides")
    o1, o2 = np.empty((2, 3)), np.empty((2, 3))
    weft.evaluate("x+1, x*2", out=(o1, o2))
    same(o2, x * 2, "two outputs")
    small = np.empty((2, 3), np.float32)
    raises([TypeError], lambda: weft.evaluate("x+1", {"x": x}, out=small), "safe: f64 into f32", "float32")
    weft.evaluate("x+1", out=small, casting="same_kind")
    same(small, (x + 1).astype(np.float32), "same_kind: f64 into f32")
    whole = np.empty((2, 3), np.int16)
    raises([TypeError], lambda: weft.evaluate("x+1", {"x": x}, out=whole, casting="same_kind"), "same_kind: f64 into i16")
    weft.evaluate("x+1", out=whole, casting="unsafe")
    same(whole, (x + 1).astype(np.int16), "unsafe")
    raises([ValueError], lambda: weft.evaluate("x+1", {"x": x}, out=np.empty(3)), "the wrong shape", "(2, 3)")
    locked = np.empty((2, 3))
    locked.flags.writeable = False
    raises([ValueError], lambda: weft.evaluate("x+1", {"x": x}, out=locked), "a read-only out")
    f = np.asfortranarray(x)
    for order in "CFAK":
        got = weft.evaluate("f*2", order=order)
        want = np.multiply(f, 2, order=order)
        check(got.strides == want.strides and np.array_equal(got, want), f"order={order} of a Fortran array")
        got = weft.evaluate("x*2", order=order)
        check(got.strides == np.multiply(x, 2, order=order).strides, f"order={order} of a C array")
    raises([ValueError], lambda: weft.evaluate("x", {"x": x}, order="Q"), "order='Q'")
    raises([ValueError], lambda: weft.evaluate("x", {"x": x}, casting="never"), "casting='never'")
    raises([TypeError], lambda: weft.evaluate("x", {"x": x}, colour=1), "an argument it has not")
    raises([ValueError], lambda: weft.evaluate(3), "no string")
    same(weft.evaluate("x/2", optimization="aggressive", truediv="auto", sanitize=True), x / 2, "numexpr's other arguments")


def test_errors():
    x = np.arange(3.0)
    raises([weft.Error, KeyError], lambda: weft.evaluate("x+nobody"), "an unknown name", "nobody")
    raises([weft.Error, ValueError], lambda: weft.evaluate("x+", {"x": x}), "half an expression", "column")
    raises([weft.Error, ValueError], lambda: weft.evaluate(""), "nothing to read")
    e = raises([weft.Error, ValueError], lambda: weft.array(x) + [1, 2], "shapes that do not fit", "axis 0")
    check(e.status == weft.ShapeError.status > 0, "its status")
    raises([weft.Error, TypeError], lambda: ~weft.array(x), "an operation that is not defined")
    raises([weft.Error, IndexError], lambda: weft.array(x)[weft.array([5])].eval(), "an index outside", "5")
    raises([TypeError], lambda: weft.array(object()), "no array")
    raises([TypeError], lambda: weft.array(np.array(["a"])), "texts")
    raises([TypeError], lambda: weft.array(x.astype(">f8")), "a foreign byte order")
    raises([ValueError], lambda: weft.array([[1, 2], [3]]), "a ragged list")
    raises([ValueError], lambda: bool(weft.array(x)), "the truth of three numbers")
    raises([AttributeError], lambda: weft.array(x).nothing, "no attribute")
    raises([TypeError], lambda: weft.array(x) + "text", "array and text")
    raises([weft.Error], lambda: weft.sum(weft.array(x), axes=3), "an unknown keyword", "axes")
    raises([weft.Error], lambda: weft.sqrt(), "too few arguments")
    raises([TypeError], lambda: weft.Array(), "the type is no constructor")
    raises([TypeError], lambda: hash(weft.array(x)), "not hashable, as in NumPy")
    deep = "(" * 3000 + "x" + ")" * 3000
    raises([weft.Error], lambda: weft.evaluate(deep, {"x": x}), "too deep")


def test_lazy():
    a, b = RNG.random((4, 5)) + 0.5, RNG.random((4, 5)) + 0.5
    x, y = weft.array(a), weft.array(b)
    for op in ["+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!="]:
        for left, right in [("x", "y"), ("x", "2"), ("3", "y"), ("x", "b"), ("a", "y")]:
            env = dict(x=x, y=y, a=a, b=b)
            text = f"({left}) {op} ({right})"
            got = eval(text, env)
            check(isinstance(got, weft.Array) and got.lazy, f"{text} is lazy")
            same(got, eval(text, dict(x=a, y=b, a=a, b=b)), text)
    i, j = np.arange(20).reshape(4, 5), np.arange(5) + 1
    for op in ["&", "|", "^", "<<", ">>", "//", "%"]:
        same(eval(f"i {op} j", dict(i=weft.array(i), j=j)), eval(f"i {op} j", dict(i=i, j=j)), f"integers {op}")
    same(-x, -a, "neg")
    same(+x, a, "pos")
    same(abs(-x), a, "abs")
    same(~weft.array(i), ~i, "invert")
    q, r = divmod(weft.array(i), 3)
    same(q, i // 3, "divmod")
    same(r, i % 3, "divmod")
    same(x @ y.T, a @ b.T, "matmul")
    same(weft.array(i) @ i.T, i @ i.T, "matmul with NumPy on the right")
    for key in ["1", "-1", "1:3", "::-1", "::2, 1:-1", "..., 0", "None, 2", "1, ..., None", ":, ::-2", "[0, 2]", "a[:, 0] > 0.9",
                "..., [1, 1, 0]", "a > 1", "(1, 2)", "np.array([3, -1])", "10:2:-3", "-100:100"]:
        want = eval(f"a[{key}]")
        same(eval(f"x[{key}]"), want, f"x[{key}]")
    same(x[a > 1].mean(), a[a > 1].mean(), "the mean of what a mask selects")
    for name in ["sum", "prod", "min", "max", "mean", "std", "var", "argmax", "argmin", "any", "all"]:
        for kw in [{}, {"axis": 0}, {"axis": -1, "keepdims": True}]:
            same(getattr(x, name)(**kw), np.asarray(getattr(np, name)(a, **kw)), f"{name} {kw}", 64)
    same(x.sum(axis=(0, 1)), np.asarray(a.sum()), "two axes", 64)
    same(weft.var(x, ddof=1), np.asarray(a.var(ddof=1)), "ddof", 64)
    same(weft.concat([x, b], axis=1), np.concatenate([a, b], axis=1), "a list of arrays")
    same(weft.where(x > y, x, 0), np.where(a > b, a, 0), "where")
    same(weft.einsum("ij,kj->ik", x, y), np.einsum("ij,kj->ik", a, b), "einsum", 64)
    same(weft.cast(x, "f32"), a.astype(np.float32), "a type by name")
    same(x.astype(np.float32), a.astype(np.float32), "NumPy's type")
    same(x.astype(np.dtype("int16")), a.astype(np.int16), "NumPy's dtype")
    same(weft.array(a, dtype=weft.f32), a.astype(np.float32), "array with a type")
    same(weft.reshape(x, (5, 4)), a.reshape(5, 4), "reshape")
    same(x.transpose(), a.T, "a method for every function")
    same(weft.arange(5) * x, np.arange(5) * a, "creation")
    same(weft.sqrt(2.0) * weft.array(a.astype(np.float32)), np.float64(2) ** 0.5 * a.astype(np.float32).astype(float), "a computed number is no literal")
    values, counts = np.unique(i % 7, return_counts=True)
    u = weft.unique(weft.array(i) % 7)
    same(u[0] if isinstance(u, tuple) else u, values, "unique")
    total = sum(weft.array(a))
    same(total, sum(a), "iteration")
    check(len(x) == 4 and x.shape == (4, 5) and x.ndim == 2 and x.size == 20 and x.nbytes == 160, "attributes")
    check(x.dtype == "float64" and (x > 1).dtype == "bool" and np.dtype(x.dtype) == a.dtype, "dtype")
    check(float(x.sum()) == float(np.asarray(x.sum())) and int(weft.array(3)) == 3 and [10, 20][weft.array(1)] == 20, "numbers")
    check("lazy: add" in repr(x + y) and repr(weft.array([1, 2])) == "weft.array([1, 2], dtype='int64')", "repr")
    check("passes=1" in (x * y + x).explain() and "passes" in (x + y).explain("json"), "explain")
    check((x * 2).tolist() == (a * 2).tolist() and weft.array([1 + 2j]).tolist() == [1 + 2j], "tolist")
    out = np.empty((4, 5))
    check((x + y).eval(out=out) is out and np.array_equal(out, a + b), "eval(out=)")
    z = x + y
    check(z.eval() is z and not z.lazy, "eval() keeps its numbers")
    big = weft.array(a)
    for _ in range(20000):
        big = big + 1
    same(big, a + 20000, "a chain of 20 000 operations", 1 << 16)
    d = weft.array([1.0])
    for _ in range(300000):
        d = d + 1
    del d, big


def test_functions():
    """Every elementwise operation of the library's table is a function here, and NumPy's of the same name agree."""
    known = [n for n, arity, kind, doc in weft.operations() if kind == "elementwise"]
    missing = [n for n in known if not hasattr(weft, n)]
    check(len(known) > 60, "the table")
    check(not missing, f"operations without a function: {missing}")
    a, b = RNG.random(100) * 0.9 + 0.05, RNG.random(100) * 0.9 + 0.05
    for n, arity, kind, doc in weft.operations():
        f = getattr(np, n, None)
        if kind != "elementwise" or not isinstance(f, np.ufunc) or f.nin != arity or "d" * arity not in "".join(t.split("->")[0] + " " for t in f.types).split():
            continue
        args = [a, b][:arity]
        same(getattr(weft, n)(*args), f(*args), n, 16)


def test_memory():
    for t in ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d", "F", "D"]:
        v = (RNG.random((3, 4)) * 100).astype(t)
        x = weft.array(v)
        back = np.asarray(x)
        check(back.ctypes.data == v.ctypes.data and back.strides == v.strides, f"{t}: there and back without a copy")
        same(weft.array(v[::-1, ::2]), v[::-1, ::2], f"{t}: strides")
        if t == "?":
            continue  # NumPy 1.24 has no bool in DLPack
        d = np.from_dlpack(x)
        check(d.ctypes.data == v.ctypes.data and np.array_equal(d, v), f"{t}: DLPack out without a copy")
        w = weft.from_dlpack(v)
        check(np.asarray(w).ctypes.data == v.ctypes.data, f"{t}: DLPack in without a copy")
    v = np.arange(3.0)
    x = weft.array(v)
    v[0] = 7
    same(x + 1, v + 1, "memory is referred to, not copied")
    import array
    same(weft.array(array.array("f", [1, 2])) * 2, np.array([2, 4], np.float32), "array.array")
    same(weft.array(b"abc") + 1, np.frombuffer(b"abc", np.uint8) + 1, "bytes")
    check(memoryview(weft.array(b"abc")).readonly, "read-only stays so")
    raises([ValueError], lambda: (weft.array(b"abc")).eval(out=weft.array(b"abc")), "not written")
    m = memoryview(weft.array([[1.0, 2], [3, 4]]).T)
    check(m.format == "d" and m.shape == (2, 2) and m.tolist() == [[1.0, 3], [2, 4]], "memoryview")
    check(x.__dlpack_device__() == (1, 0), "device")
    for version in [(1, 0), (1, 1), (2, 0)]:
        check("dltensor_versioned" in repr(x.__dlpack__(max_version=version)), f"max_version={version}")
    check('"dltensor"' in repr(x.__dlpack__()) and '"dltensor"' in repr(x.__dlpack__(max_version=(0, 8))), "legacy capsules")
    again = weft.from_dlpack(weft.array(v))  # versioned both ways
    check(np.asarray(again).ctypes.data == v.ctypes.data, "DLPack 1.x there and back")
    copy = weft.from_dlpack(type("P", (), {"__dlpack__": lambda s, **k: weft.array(v).__dlpack__(copy=True)})())
    check(np.asarray(copy).ctypes.data != v.ctypes.data and np.array_equal(copy, v), "copy=True")
    raises([BufferError], lambda: x.__dlpack__(dl_device=(2, 0)), "another device")
    raises([BufferError], lambda: x.__dlpack__(stream=3), "a stream")
    raises([weft.Error], lambda: weft.array(b"abc").__dlpack__(), "a legacy capsule cannot say read-only")
    half = weft.array(v).astype("bfloat16")
    raises([BufferError], lambda: memoryview(half), "bfloat16 has no format", "bfloat16")
    check(half.tolist() == v.tolist(), "bfloat16 as numbers")
    y = weft.array(np.arange(5.0)) + 1  # the operand has no other owner
    gc.collect()
    same(y, np.arange(5.0) + 1, "operands stay alive")
    z = np.asarray(weft.array([1.0, 2.0]) * 2)
    gc.collect()
    same(z, np.array([2.0, 4.0]), "results stay alive")


def rss():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


def test_leaks():
    a = np.ones((100, 100))

    def work(i):
        weft.evaluate("a*i+a", {"a": a, "i": i % 40})
        s = (weft.array(a) * i).sum(axis=0)
        np.asarray(s)
        np.from_dlpack(s)
        weft.from_dlpack(a)
        s.__dlpack__()
        s[::2].explain()
        for bad in ["a+", "a+b", "a+a[0,:5]"]:
            try:
                weft.evaluate(bad, {"a": a})
            except weft.Error:
                pass
        try:
            weft.array(a) + [1, 2]
        except ValueError:
            pass

    for i in range(200):
        work(i)
    gc.collect()
    refs, memory = sys.getrefcount(a), rss()
    import tracemalloc
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for i in range(600):
        work(i)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    check(abs(sys.getrefcount(a) - refs) <= 2, f"references: {refs} and {sys.getrefcount(a)}")
    check(grown < 100_000, f"{grown} bytes of Python's memory stayed")
    check(rss() - memory < 24 << 20, f"the process grew by {(rss() - memory) >> 20} MiB")


def test_threads():
    wrong = []

    def work(seed):
        try:
            rng = np.random.default_rng(seed)
            for k in range(60):
                a = rng.random(500 + k % 3)
                if not np.array_equal(weft.evaluate("sqrt(a*a+seed)"), np.sqrt(a * a + seed)):
                    wrong.append("evaluate")
                if not np.array_equal(shared + seed, common + 1 + seed):
                    wrong.append("lazy")
                weft.array(a)[weft.array(a) > 0.5].eval()
        except BaseException as e:
            wrong.append(e)

    common = RNG.random(1000)
    shared = weft.array(common) + 1
    threads = [threading.Thread(target=work, args=(s,)) for s in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(not wrong, f"from six threads: {wrong[:3]}")
    # The GIL is released: another thread counts while a long evaluation runs.
    a = RNG.random(4_000_000)
    count, stop = [0], threading.Event()

    def ticker():
        while not stop.is_set():
            count[0] += 1
            stop.wait(0.0005)

    t = threading.Thread(target=ticker)
    t.start()
    start = count[0]
    weft.evaluate("sum(lgamma(exp(sin(a))+1))")
    ticks = count[0] - start
    stop.set()
    t.join()
    check(ticks >= 3, f"{ticks} ticks of another thread during an evaluation")
    before = weft.set_num_threads(1)
    check(weft.get_num_threads() == 1, "one thread")
    one = weft.evaluate("sum(a*a)")
    weft.set_num_threads(max(before, 2))
    check(one == weft.evaluate("sum(a*a)"), "the same bits with more threads")
    weft.set_num_threads(before)


LONG = "sum(lgamma(exp(sin(a))+1)" + "".join(f"+lgamma(exp(sin(a*{k}))+1)" for k in range(2, 5)) + ")"


def stopped(run, kind, after=0.02, kick=None):
    """Seconds from the kick (default: Ctrl-C of this process) to the exception of run(), or None without one."""
    at = []

    def kicker():
        at.append(time.perf_counter())
        (kick or (lambda: os.kill(os.getpid(), signal.SIGINT)))()

    t = threading.Timer(after, kicker)
    t.start()
    try:
        run()
        return None
    except kind:
        return time.perf_counter() - at[0]
    finally:
        t.join()


def test_interrupts():
    a = np.resize(RNG.random(1 << 16), 1 << 24)
    lazy, names = weft.array(a), {"a": a}
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores it
    weft.evaluate(LONG, {"a": a[:1000]})
    weft.wait()
    start = time.perf_counter()
    whole = weft.evaluate(LONG)
    length = time.perf_counter() - start
    out = np.empty(len(a))
    chain = sum((weft.lgamma(weft.exp(weft.sin(lazy * k)) + 1) for k in range(1, 5)), lazy)
    for what, run in {"evaluate": lambda: weft.evaluate(LONG, names), "eval": lambda: (chain + 1).eval(),
                      "eval(out=)": lambda: chain.eval(out=out)}.items():
        took = stopped(run, KeyboardInterrupt)
        check(took is not None and took < max(0.1, length / 3), f"{what}: Ctrl-C took {took} s of {length} s")
    took = stopped(lambda: weft.evaluate(LONG, names), weft.Cancelled, kick=weft.cancel)
    check(took is not None and took < max(0.1, length / 3), f"cancel took {took} s of {length} s")
    check(weft.evaluate(LONG) == whole, "the same bits after stops")
    # A handler that does not raise runs during the evaluation and does not stop it.
    heard = []
    signal.signal(signal.SIGALRM, lambda *_: heard.append(time.perf_counter()))
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    check(weft.evaluate(LONG) == whole, "a handler that returns changes nothing")
    check(heard and heard[0] < time.perf_counter() - length / 10, "a handler ran meanwhile")


for name, test in [(n, f) for n, f in list(globals().items()) if n.startswith("test_")]:
    try:
        test()
    except Exception:
        traceback.print_exc()
        check(False, f"{name} ended early")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
