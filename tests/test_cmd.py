#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The weft command: how it prints (against NumPy's str), what it says to bad input, .npy files good and
hostile, files that appear whole or not at all, the keys of its JSON.

usage: test_cmd.py WEFT [SEED]

Ends with "N passed, N failed".
"""
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings

try:
    import numpy as np
except ImportError:
    print("skipped: python3-numpy is not installed")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

warnings.simplefilter("ignore")
WEFT = os.path.abspath(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
passed = failed = 0


def check(name, ok, detail=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {name}: {detail}")


def weft(*args, data=None):
    p = subprocess.run([WEFT, *args], capture_output=True, input=data, timeout=120)
    return p.returncode, p.stdout.decode(), p.stderr.decode(errors="replace")


# ---- printing -------------------------------------------------------------------------------------------
def arrays(rng):
    for v in [2.5, 1e16, 1e15, 123456789012345678.0, 1e-4, 1e-5, 0.1, -0.0, np.nan, np.inf, -np.inf, 1 / 3, 1e300, 5e-324, 100.0]:
        yield from (np.array(v), np.array(v, np.float32), np.array([v]), np.array([v, -2.5, 3], np.float32))
    for t in "?bhilBHIL":
        for n in (1, 30, 1001):
            yield rng.integers(0, 2 if t == "?" else 100, n).astype(t)
        if t != "?":
            yield rng.integers(np.iinfo(t).min, np.iinfo(t).max, 40, dtype=t, endpoint=True)
        yield np.ones((3, 4), t)
    yield from (np.arange(10000), np.arange(10000.).reshape(100, 100), np.arange(24).reshape(2, 3, 4), np.zeros((0, 3)),
                np.arange(4000.).reshape(2, 20, 2, 50), np.zeros((1, 1, 1)), np.arange(3000).reshape(1000, 3), np.arange(7007.).reshape(7, 1001) / 7)
    for k in range(60):
        shape = tuple(rng.integers(1, 12, int(rng.integers(1, 4)))) if k % 2 else (int(rng.integers(1, 60)),)
        x = rng.standard_normal(shape)
        x = [x * 10.0 ** rng.integers(-10, 10, shape), np.round(x, int(rng.integers(0, 5))), x * 10.0 ** rng.integers(-3, 8),
             np.where(rng.random(shape) < .2, np.nan, x), np.where(rng.random(shape) < .2, -np.inf, np.abs(x) * 1e3),
             10.0 ** rng.integers(-300, 300, shape) * np.sign(x)][k % 6]
        yield x.astype(np.float32 if k % 5 == 0 else np.float64)
    for k in range(40):
        shape = (int(rng.integers(1, 30)),) if k % 3 else tuple(rng.integers(1, 6, 2))
        x = [rng.standard_normal(shape), np.round(rng.standard_normal(shape) * 100), rng.standard_normal(shape) * 1e-3,
             np.where(rng.random(shape) < .3, np.nan, rng.random(shape)), np.where(rng.random(shape) < .3, -np.inf, rng.random(shape))][k % 5]
        y = np.round(rng.standard_normal(shape), 2) if k % 2 else x[::-1] * 10.0 ** rng.integers(-6, 6, shape)
        z = np.empty(shape, complex)
        z.real, z.imag = x, y
        yield from (x.astype(np.float16), z.astype(np.complex64), z)
    yield from (np.array(v) for v in [1 + 2j, -0.5j, complex(0, 3), complex(-0.0, 1), complex(np.nan, -np.inf), 1e20 + 1e-7j, np.float16(0.1), np.complex64(0.1 + 2j)])


def test_printing(tmp):
    path = os.path.join(tmp, "p.npy")
    for i, a in enumerate(arrays(np.random.default_rng(SEED))):
        np.save(path, a)
        code, out, err = weft("eval", "x", f"x={path}")
        check(f"print {i} {a.dtype}{a.shape}", code == 0 and out == str(a) + "\n", f"{err}\n{out}instead of\n{a}")
    code, out, _ = weft("eval", "x", "x=f64[4]:0.1", "--raw")
    check("raw", out == "0x1.999999999999ap-4\n" * 4, out)
    code, out, _ = weft("eval", "x == 2, x.astype(u8)", "x=i32[3]:iota", "--raw")
    check("raw integers", out == "0\n0\n1\n0\n1\n2\n", out)


# ---- sentences --------------------------------------------------------------------------------------------
BAD = [  # arguments of eval, a part of the sentence
    (["x+zz", "x=f64[3]"], "column 3: unknown name 'zz'"), (["sine(x)", "x=1"], "did you mean 'sin'?"),
    (["x*y", "x=f64[3,4]", "y=f64[5]"], "column 2: mul: f64[3,4] and f64[5]: axis 1 is 4 and 5"),
    (["x < y < 3", "x=1", "y=2"], "do not chain"), (["x and x", "x=1"], "use &"), (["x +", "x=1"], "the expression ends"),
    (["(x", "x=1"], "')'"), (["x)", "x=1"], "column 2"), (["x $ 1", "x=1"], "column 3"), (["3x", "x=1"], "digit"), ([""], "empty"),
    (["x[y, y]", "x=f64[2,2]", "y=bool[2]"], "an array beside a mask; use nonzero"),
    (["x[i]", "x=f64[2]", "i=i64[3]:iota"], "index 2 at [2] is out of range for axis 0 of extent 2"), (["x[0:2:0]", "x=f64[2]"], "the step is 0"), (["x[1,2]", "x=f64[2]"], "2 indices for 1 axes"),
    (["x[5]", "x=f64[2]"], "5 is out of range"), (["sum(x, axis=1)", "x=f64[2]"], "axis 1 is out of range"),
    (["sum(x, axes=1)", "x=f64[2]"], "has no argument 'axes'"), (["add(x)", "x=1"], "add takes 2 arguments, not 1"),
    (["x.shape", "x=f64[2]"], "no attribute 'shape'"), (["sum", "x=1"], "parentheses"), (["x; x", "x=1"], "column 4"),
    (["x + 300", "x=i8[2]"], "does not fit i8"), (["x ** -1", "x=i32[2]"], "negative power"), (["99999999999999999999"], "64 bits"),
    (["max(x)", "x=f64[0]"], "axis 0 is empty"), (["sum(x, nan=raise)", "x=f64[3]:nan"], "NaN"), (["nanargmax(x)", "x=f64[3]:nan"], "all NaN"),
    (["x", "x=f64[3,a]"], "not a number"), (["x", "x=f64[99999999999,99999999999]"], "too large"), (["x", "x=i8[3]:300"], "300"),
    (["x", "x=none.npy"], "none.npy: No such file"), (["x", "x=/"], "Is a directory"), (["x", "x"], "form name="), (["x", "x=1", "x=2"], "twice"),
    (["x", "x=1", "--foo"], "--foo"), (["x", "x=1", "--threads", "0"], "--threads"), (["x", "x=1", "-o", "/none/a.npy"], "/none/a.npy: No such file"),
    (["x", "x=1", "-o", "a", "-o", "b"], "given 2 times"), (["x, x", "x=1", "-o", "a", "-o", "a"], "two results"), (["x", "x=1", "-o", "/dev/full"], "No space"),
    (["(" * 10000 + "1" + ")" * 10000], "nested deeper"), (["-" * 10000 + "1", ], "nested deeper"), (["sin(" * 10000 + "1" + ")" * 10000], "nested deeper"),
]


def test_sentences(tmp):
    os.chdir(tmp)
    for args, part in BAD:
        before = sorted(os.listdir(tmp))
        code, out, err = weft("eval", *(["--"] if args[0].startswith("--") else []), *args)
        first = err.split("\n")[0]
        label = args[0][:30]
        check(f"{label}: status", code == 2, f"{code} {err[:200]}")
        check(f"{label}: sentence", first.startswith("weft: ") and part in first and not out, f"{first[:200]!r} has no {part!r}")
        check(f"{label}: no file", sorted(os.listdir(tmp)) == before, str(os.listdir(tmp)))
    code, out, _ = weft("eval", "x" + "+x" * 10000, "x=f64[2]:1")
    check("a chain of 10000 operators", code == 0 and out == "[10001. 10001.]\n", out)


# ---- files ----------------------------------------------------------------------------------------------------
def npy(a, version=None):
    b = io.BytesIO()
    np.lib.format.write_array(b, a, version=version)
    return b.getvalue()


def header(text, data=b""):
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


HOSTILE = [
    b"", b"\x93NUMPY", b"\x93NUMPY\x02\x00\xff\xff\xff\xff", b"\x93NUMPY\x01\x00\xff\xff{", b"\x93NUMPY\x09\x00\x00\x00", header(b"{"), header(b"{'descr"),
    header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999), }"),
    header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }"), header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551617,), }"),
    header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", b"8 bytes."), header(b"{'descr': '<m8', 'fortran_order': False, 'shape': (1,), }", b"aa"),
    header(b"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", b"8 bytes."), header(b"{'descr': '<f8', 'shape': (1,), }", b"8 bytes."),
    header(b"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", b"8 bytes."),
    header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (" + b"1," * 40 + b")}", b"8 bytes."), header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), } x", b"8 bytes."),
]


def test_files(tmp):
    path, out_path = os.path.join(tmp, "f.npy"), os.path.join(tmp, "o.npy")
    for i, raw in enumerate(HOSTILE):
        with open(path, "wb") as f:
            f.write(raw)
        code, out, err = weft("eval", "x", f"x={path}", "-o", out_path)
        check(f"hostile {i}", code == 2 and err.startswith(f"weft: {path}: ") and err.count("\n") == 1, f"{code} {err}")
        check(f"hostile {i}: no output", not os.path.exists(out_path))
    rng = random.Random(SEED)
    seeds = [npy(np.arange(6.).reshape(2, 3), (1, 0)), npy(np.arange(6, dtype=">i4"), (2, 0)), npy(np.asfortranarray(np.ones((2, 3, 2), np.float32)), (3, 0))]
    for i in range(150):
        s = bytearray(rng.choice(seeds))
        for _ in range(rng.randint(1, 5)):
            k = rng.randrange(min(len(s), 140)) if s else 0
            s[k:k + rng.randint(0, 3)] = bytes(rng.choice(b"(){}',:0123456789L<>|fiu \x00\xff") for _ in range(rng.randint(0, 4)))
        with open(path, "wb") as f:
            f.write(s)
        code, out, err = weft("eval", "x", f"x={path}")
        check(f"mangled {i}", code in (0, 2) and (code == 0 or err.startswith("weft: ")), f"{code} {err[:200]} {bytes(s)!r}")
    for version in ((1, 0), (2, 0), (3, 0)):
        for dtype in ("<f8", ">f8", ">f4", ">i2", "<u8", "|b1"):
            a = np.array(np.arange(12).reshape(3, 4) % 5, dtype, order="F")
            code, out, err = weft("eval", "x[::-1].T", "x=/dev/stdin", "-o", out_path, data=npy(a, version))
            got = np.load(out_path) if code == 0 else None
            check(f"{dtype} version {version} by a pipe", code == 0 and np.array_equal(got, a[::-1].T) and got.dtype == a.dtype.newbyteorder("="), err)
    np.save(path, np.arange(6.))
    for text in (f"cat {path} /dev/zero | {WEFT} eval x --raw x=/dev/stdin", f"{WEFT} eval x --raw x=/dev/zero"):
        p = subprocess.run(["sh", "-c", text], capture_output=True, timeout=60) # a stream without an end
        check("a stream without an end", (p.returncode, p.stdout[:7]) in ((0, b"0x0p+0\n"), (2, b"")), str(p))
    code, _, err = weft("eval", "x[::-1] * 2", f"x={path}", "-o", path)
    check("a file into itself", code == 0 and list(np.load(path)) == [10, 8, 6, 4, 2, 0], err)
    os.chmod(path, 0o640)
    weft("eval", "x + 1", f"x={path}", "-o", path)
    check("the mode stays", os.stat(path).st_mode & 0o777 == 0o640)
    check("nothing beside the results", sorted(os.listdir(tmp)) == ["f.npy", "o.npy", "p.npy"], str(os.listdir(tmp)))
    p = subprocess.run([WEFT, "eval", "x", f"x={path}", "-o", "-"], capture_output=True)
    check("to the standard output", np.array_equal(np.load(io.BytesIO(p.stdout)), np.load(path)))


# ---- the other verbs --------------------------------------------------------------------------------------------
def test_verbs():
    code, out, err = weft("explain", "--json", "sqrt(x*y + x)")
    j = json.loads(out)
    check("explain keys", {"passes", "bytes_read", "bytes_written", "workspace_bytes", "steps"} <= set(j), out)
    check("explain is one pass", j["passes"] == 1 and j["bytes_read"] == 16000 and j["bytes_written"] == 8000, out)
    code, out, err = weft("explain", "sum(x, axis=0)", "x=f32[10,20]", "--ir")
    check("explain --ir", code == 0 and "sum %1 axes[0] : f32[20]" in out and "-- " not in out, out)
    code, out, err = weft("bench", "--json", "sqrt(x*y + x)", "--rounds", "1")
    check("bench keys", code == 0 and {"fused_ns", "unfused_ns", "interpreted_ns", "compile_ns"} <= set(json.loads(out)), out + err)
    for text, want in [("x[x>2]", "[3. 4.]"), ("x[i]", "[0. 1. 2.]"), ("take(x, i+4, mode=clip)", "[4. 4. 4.]"),
                       ("concatenate(x, i)", "[0. 1. 2. 3. 4. 0. 1. 2.]"), ("roll(x, 2)", "[3. 4. 0. 1. 2.]"),
                       ("pad(x, (1, 2), mode=reflect)", "[1. 0. 1. 2. 3. 4. 3. 2.]"), ("median(x)", "2.0"),
                       ("sort(-x)", "[-4. -3. -2. -1. -0.]"), ("cumsum(x)", "[ 0.  1.  3.  6. 10.]"),
                       ("flatnonzero(x > 1)", "[2 3 4]"), ("searchsorted(x, 2.5)", "3"), ("unique(x // 2)", "[0. 1. 2.]"),
                       ("histogram(x, 2, 0, 4)", "[2 3]"), ("scatter_add(x, i*0, i)", "[3. 1. 2. 3. 4.]")]:
        code, out, err = weft("eval", text, "x=f64[5]:iota", "i=i64[3]:iota")
        check(text, code == 0 and out.strip() == want, out + err)
    for text, want in [("divmod(7, -2)", "-4\n-1"), ("divmod(x, 2)[1]", "[0. 1. 0. 1. 0.]"), ("frexp(12.0)", "0.75\n4"),
                       ("modf(-2.5)", "-0.5\n-2.0"), ("modf(-inf)", "-0.0\n-inf"), ("sort(permutation(6, seed=3))", "[0 1 2 3 4 5]"),
                       ("sort(permutation(x, seed=9))", "[0. 1. 2. 3. 4.]"), ("all(permutation(1000) == permutation(1000))", "True"),
                       ("any(permutation(1000, seed=1) != permutation(1000))", "True")]:
        code, out, err = weft("eval", text, "x=f64[5]:iota")
        check(text, code == 0 and out.strip() == want, out + err)
    code, out, _ = weft("ops", "--json")
    ops = {o["name"] for o in json.loads(out)}
    check("ops", {"add", "exp", "sum", "matmul", "reshape", "where"} <= ops, out)
    callable_ops = ops - {"from", "input", "constant", "extent", "guard", "slice", "nop",
                          "fixed", "trim", "windows", "join", "result", "scan", "search", "lu", "triangular"}
    for name in sorted(callable_ops):  # every operation can be called by its name
        code, _, err = weft("eval", name, "x=1")
        check(f"{name} is known", "wants parentheses" in err, err)
    code, out, _ = weft("info")
    check("info", code == 0 and out.startswith("weft ") and "threads" in out, out)
    if "machine code" in out:
        with tempfile.TemporaryDirectory() as folder:
            own = {**os.environ, "WEFT_CACHE": os.path.join(folder, "code")}
            for want in ("1 written", "1 found"):
                p = subprocess.run([WEFT, "info"], capture_output=True, text=True, env=own)
                check(f"info says what the code cache did: {want}", p.returncode == 0 and want in p.stdout, p.stdout)
    code, out, _ = weft("info", "--env")
    check("info --env", code == 0 and "WEFT_THREADS" in out, out)
    for args in (["--help"], ["eval", "--help"], ["--version"]):
        code, out, _ = weft(*args)
        check(" ".join(args), code == 0 and "weft" in out)
    for expr, want in (("-x", "-2\n"), ("--3*x", "6\n"), ("- x**2", "-4\n")):
        code, out, err = weft("eval", expr, "x=2")
        check(f"an expression that begins with a sign: {expr}", code == 0 and out == want, out + err)
    p = subprocess.run([WEFT, "eval", "sum(x)", "x=f64[9]"], capture_output=True, text=True, env={**os.environ, "WEFT_DUMP": "plan"})
    check("WEFT_DUMP is shown", p.returncode == 0 and "passes=1" in p.stderr and "passes" not in p.stdout, p.stderr)
    a, b = weft("eval", "x", "x=f64[5]")[1], weft("eval", "x", "x=f64[5]")[1]
    check("generated inputs are always the same", a == b and "nan" not in a, a + b)


# ---- saved graphs -------------------------------------------------------------------------------------------
def test_graphs(tmp):
    path, out = os.path.join(tmp, "g.weft"), os.path.join(tmp, "o.npy")
    text, given = "sqrt(x*y + x), sort(x)", ["x=f64[6]", "y=f64[6]"]
    code, _, err = weft("save", text, *given, "-o", path)
    check("save", code == 0, err)
    check("a saved graph gives the same", weft("eval", "--graph", path, "--raw", *given) == weft("eval", text, "--raw", *given))
    code, _, err = weft("eval", "--graph", path, *given, "-o", out, "-o", out + "2")
    check("a saved graph into files", code == 0 and np.load(out).shape == (6,), err)
    for args, want in [(["x=f64[6]"], "y: the graph needs this input"), (["x=f64[6]", "y=f64[7]"], "y: not of the type"),
                       (["x=f64[6]", "y=2"], "y: not of the type")]:
        code, _, err = weft("eval", "--graph", path, *args)
        check(f"a saved graph with {args}", code == 2 and want in err, err)
    weft("save", "a*s", "s=f32[]", "-o", path)
    code, text, err = weft("eval", "--graph", path, "a=f64[1000]:iota", "s=2")
    check("a number for an input without axes", code == 0 and "1998" in text, text + err)
    data = open(path, "rb").read()
    open(path, "wb").write(data[:-1])
    code, _, err = weft("eval", "--graph", path)
    check("a damaged graph is refused", code == 2 and "graph file" in err, err)
    for args in (["eval", "--graph", path + "none"], ["save", "x", "-o", os.path.join(tmp, "none", "g")]):
        code, _, err = weft(*args)
        check(" ".join(args[:2]), code == 1 and "No such file" in err, err)
    check("save without a file", weft("save", "x")[0] == 2)


# ---- checked mode, Ctrl-C -----------------------------------------------------------------------------------
def test_control(tmp):
    out_path = os.path.join(tmp, "checked.npy")
    code, out, err = weft("eval", "--check", "x*x", "x=i32[3]:60000", "-o", out_path)
    check("a fault", (code, err) == (2, "weft: mul: integer overflow at [0] of i32[3]\n"), f"{code} {err}")
    check("a fault leaves no file", not os.path.exists(out_path) and not out, out)
    code, out, err = weft("eval", "--check", "x*x", "x=i32[3]:40000")
    check("no fault", (code, out) == (0, "[1600000000 1600000000 1600000000]\n"), f"{code} {out} {err}")
    before = sorted(os.listdir(tmp))
    p = subprocess.Popen([WEFT, "eval", "sum(exp(sin(x) + y*y)**0.3, axis=1)", "x=f32[1000000,1]", "y=f32[1,100000]",
                          "-o", out_path],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         # shells start background jobs with the signal ignored, which the command respects
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(0.4)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=60)
    check("Ctrl-C: status", p.returncode == 130, f"{p.returncode} {err[:200]}")
    check("Ctrl-C: sentence", (out, err) == (b"", b"weft: interrupted\n"), f"{out[:100]} {err[:200]}")
    check("Ctrl-C: no file", sorted(os.listdir(tmp)) == before, str(os.listdir(tmp)))


def main():
    with tempfile.TemporaryDirectory() as tmp:
        test_printing(tmp)
        test_sentences(tmp)
        test_files(tmp)
        test_verbs()
        test_graphs(tmp)
        test_control(tmp)
        os.chdir("/")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
