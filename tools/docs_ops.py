# SPDX-License-Identifier: MIT
"""The operation reference: a section for each row of ops.def, as the built command knows it. Types, special values and
examples are not written down but asked of the library: each type is tried, each example is run."""
import ctypes as C
import json
import os
import re
import subprocess

TYPES = ["bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "f16", "bf16", "c64", "c128"]
SPECIAL = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, -1.0]
PAIRS = [(float("nan"), 1.0), (1.0, float("nan")), (1.0, 0.0), (-1.0, 0.0), (0.0, 0.0), (float("inf"), float("inf")),
         (float("inf"), -1.0), (-0.0, 0.0)]
ROUNDED = {"add", "sub", "mul", "true_divide", "sqrt", "reciprocal", "square", "fma"}
# What elementwise operations are shown on when x=0.5, 1, 2.5 is no good.
INTS = "x=i32[4]:iota"
SHOWN = {
    "from": "x", "input": "x", "constant": "x*0+2.5", "iota": "arange(4)", "extent": "mean(x)", "cast": "i32(x*3)",
    "reshape": "reshape(x, (2, 2))", "transpose": "reshape(x, (2, 2)).T", "slice": "x[1:]", "expand_dims": "x[:, None]",
    "squeeze": "squeeze(x[None])", "broadcast_to": "broadcast_to(x, (2, 4))", "diagonal": "diagonal(reshape(x, (2, 2)))",
    "windows": "sliding_window_view(x, 2)", "guard": "max(x, nan=raise)", "matmul": "reshape(x, (2, 2)) @ reshape(x, (2, 2))",
    "take": "x[n[::-1]]", "take_along_axis": "take_along_axis(x, n[::-1], 0)", "join": "concatenate(x, x)", "sort": "sort(-x)",
    "search": "searchsorted(x, x*0.5)", "unique": "unique(n//2)", "histogram": "histogram(x, x)", "scan": "cumsum(x)",
    "scatter": "put(x, n[:2], x[2:])", "compress": "x[x > 0.5]", "cholesky": "cholesky(m)", "solve": "solve(m, x[:2])",
    "triangular": "solve_triangular(m, x[:2], lower=True)", "lu": "det(m)", "qr": "qr(m)", "eigh": "eigvalsh(m)",
    "svd": "svd(m)[1]", "fft": "fft(x)", "rfft": "rfft(x)", "irfft": "irfft(rfft(x))", "result": "eigh(m)[1]",
    "where": "where(x > 0.5, x, -x)", "fma": "fma(x, x, x)", "popcount": "popcount(n)", "trim": "x[x > 0.5]",
    "fixed": "flip(x)", "pow": "x**2", "less": "x < 0.5", "bitwise_and": "n & 1",
}
SETUP = "x = arange(4)/2 + 0.25; n = arange(4); m = reshape(array4, (2, 2)); "


class Library:
    """Builders by name, types of expressions, values of small ones."""

    def __init__(self, build):
        self.l = C.CDLL(os.path.join(build, "libweft.so"))
        self.l.weft_graph_new.restype = C.c_void_p
        self.l.weft_input.restype = self.l.weft_scalar.restype = C.c_void_p
        self.l.weft_dtype_name.restype = C.c_char_p
        self.ctx = C.c_void_p()
        self.l.weft_ctx_new(C.byref(self.ctx), None)
        self.g = C.c_void_p(self.l.weft_graph_new(self.ctx))

    def reset(self):
        self.l.weft_graph_reset(self.g)

    def builder(self, name):
        try:
            f = getattr(self.l, "weft_" + name)
        except AttributeError:
            return None
        f.restype = C.c_void_p
        return f

    def result(self, f, arity, t):
        """The type that the operation gives for arrays of type t, or None."""
        self.reset()
        dims = (C.c_int64 * 1)(2)
        args = [C.c_void_p(self.l.weft_input(self.g, b"abc"[i:i + 1], t, 1, dims)) for i in range(arity)]
        e = f(*args)
        return TYPES[self.l.weft_expr_dtype(C.c_void_p(e))] if e else None

    def value(self, f, args):
        """The f64 (or bool) value for f64 numbers, as text."""
        self.reset()
        leaves = [C.c_void_p(self.l.weft_scalar(self.g, 10, C.byref(C.c_double(a)))) for a in args]
        e = f(*leaves)
        if not e:
            return None
        kind = TYPES[self.l.weft_expr_dtype(C.c_void_p(e))]
        cell = {"f64": C.c_double, "bool": C.c_bool, "i32": C.c_int32}.get(kind)
        if not cell:
            return None
        got = cell()
        view = Array(TYPES.index(kind), 0, C.cast(C.byref(got), C.c_void_p))
        if self.l.weft_eval(C.c_void_p(e), C.byref(view), None):
            return None
        return number(got.value)


class Array(C.Structure):
    _fields_ = [("dtype", C.c_int), ("rank", C.c_int), ("data", C.c_void_p), ("dims", C.c_int64 * 32),
                ("strides", C.c_int64 * 32)]


def number(v):
    if isinstance(v, bool):
        return str(v)
    if v != v:
        return "NaN"
    return f"{v:.6g}"


def types_line(lib, f, arity):
    by = {}
    for i, t in enumerate(TYPES):
        r = lib.result(f, arity, i)
        by.setdefault("refused" if r is None else "same" if r == t else r, []).append(t)
    parts = []
    if "same" in by:
        parts.append(", ".join(by.pop("same")) + " stay")
    refused = by.pop("refused", None)
    parts += [", ".join(v) + " give " + k for k, v in by.items()]
    if refused:
        parts.append("refused: " + ", ".join(refused))
    return "; ".join(parts)


def special_line(lib, f, arity):
    if arity == 1:
        cases = [((a,), lib.value(f, [a])) for a in SPECIAL]
    elif arity == 2:
        cases = [(p, lib.value(f, p)) for p in PAIRS]
    else:
        return ""
    return ", ".join(f"({', '.join(number(a) for a in args)}) = {v}" for args, v in cases if v is not None)


def bounds(build):
    """name: (f64, f32) of kernels, from the registry."""
    program = os.path.join(build, "tests", "kernel_table")
    out = subprocess.run([program], capture_output=True, text=True).stdout
    return {m[0]: (m[1], m[2]) for m in re.findall(r"^\| (\w+) \| ([\d.]+) \|[^|]*\| ([\d.]+) \|", out, re.M)}


def error_line(name, kernels):
    if name in kernels:
        f64, f32 = kernels[name]
        return f"at most {f64} ULP in f64, {f32} in f32" if float(f64) else "exact"
    if name in ROUNDED:
        return "rounded once (0.5 ULP)"
    return "exact" if name not in ("cast",) else "rounded once where the type cannot hold the value"


def example(build, op):
    name = op["name"]
    if name in SHOWN:
        text = SHOWN[name]
    elif op["kind"] == "elementwise":
        text = f"{name}({', '.join(['x', 'x + 1', 'x'][:op['arity']])})"
    elif op["kind"] == "reduction":
        text = f"{name}(x)"
    else:
        return None
    for inputs in (["x=f64[4]", "n=i64[4]:iota"], ["x=i32[4]:iota", "n=i64[4]:iota"], ["x=u32[4]:iota", "n=i64[4]:iota"],
                   ["x=u64[4]:iota", "n=i64[4]:iota"], ["x=bool[4]", "n=i64[4]:iota"]):
        whole = ("m = reshape(x, (2, 2)); m = m @ m.T + eye(2); " if re.search(r"\bm\b", text) else "") + text
        used = [i for i in inputs if re.search(r"\b" + i[0] + r"\b", whole)]
        p = subprocess.run([os.path.join(build, "weft"), "eval", "--backend", "interp", whole, *used], capture_output=True,
                           text=True, timeout=60)
        if p.returncode == 0:
            return f"$ weft eval '{whole}' {' '.join(used)}\n{p.stdout.rstrip()}"
    return None


def section(lib, build, op, kernels):
    name, out = op["name"], []
    out += [f'<a id="{op["name"]}"></a>', "", f"### {name}", "", "`" + op["doc"] + "`", ""]
    f = lib.builder(name) if op["kind"] == "elementwise" else None
    if f and op["arity"] <= 3 and name != "cast":
        out += [f"- types: {types_line(lib, f, op['arity'])}", f"- error: {error_line(name, kernels)}"]
        special = special_line(lib, f, op["arity"])
        if special:
            out.append(f"- special values (f64): {special}")
        out.append("")
    elif op["kind"] == "reduction":
        out += ["- order and error: [the fixed tree](numerics.md); the same bits at any layout and thread count", ""]
    shown = example(build, op)
    if shown:
        out += ["```text", shown, "```", ""]
    return out


def page(build):
    ops = json.loads(subprocess.run([os.path.join(build, "weft"), "ops", "--json"], capture_output=True, text=True,
                                    check=True).stdout)
    lib, kernels = Library(build), bounds(build)
    out = ["# Operations", "", "Every row of the operation table: what builders make and what plans are made of. Generated; types and special "
           "values are those that the library gave when this page was built, examples were run. Bounds and rules: "
           "[the numeric contract](numerics.md).", ""]
    for kind in dict.fromkeys(o["kind"] for o in ops):
        names = [o for o in ops if o["kind"] == kind]
        out += [f"## {kind[0].upper()}{kind[1:]}", "", ", ".join(f"[{o['name']}](#{o['name']})" for o in names), ""]
        for o in names:
            out += section(lib, build, o, kernels)
    return "\n".join(out)
