# SPDX-License-Identifier: MIT
"""What each operation must give, in NumPy: exactly (EXACT: a function of typed arrays, or TypeError where the operation
must be refused), or within ULP of a reference in extended precision (FUNCTIONS). test_differential.py holds these
tables against the operation table of the library, so that a row without a judge is a failure."""
import ctypes as C
import math
import warnings

import numpy as np

import test_numpy as ref
import test_ops_numpy as ops

warnings.simplefilter("ignore")
np.seterr(all="ignore")
if hasattr(np, "_set_promotion_state"):
    np._set_promotion_state("weak")  # NumPy 2's rules (NEP 50) where NumPy is older
REAL = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
COMPLEX = ["c8", "c16"]
met = {}


def differs(name):
    met[name] = met.get(name, 0) + 1


# ---- what must come out -----------------------------------------------------------------------------------
def is_int(x):
    return x.dtype.kind in "iub"


def floats(f):
    """Float functions: of bool and integers in f64."""
    def g(*xs):
        t = np.result_type(*xs)
        if t.kind in "iub":
            if f(*[np.zeros(1, x.dtype) for x in xs]).dtype != np.float64:
                differs("float functions of integers")
            t = np.dtype("f8")
        return f(*[x.astype(t) for x in xs])
    return g


def only_infinity_left(name, x, axis, want):
    """nanargmax puts -inf for NaN (nanargmin inf) and may find that first: of such runs the first that is no NaN."""
    if x.dtype.kind != "f":
        return want
    worst = -np.inf if name == "argmax" else np.inf
    lost = np.all(np.isnan(x) | (x == worst), axis=axis)
    right = np.where(lost, np.argmax(~np.isnan(x), axis=axis), want)
    if np.any(right != want):
        differs("infinity beside NaN")
    return right


def shifts(f):
    plain = ref.shift(f)

    def g(a, b):
        t = np.result_type(a, b)
        f(np.zeros(1, a.dtype), np.zeros(1, b.dtype))  # the same refusals
        t = np.dtype("i1") if t.kind == "b" else t
        a, b = a.astype(t), b.astype(t)
        if ((b < 0) | (b.astype("f8") >= t.itemsize * 8)).any():
            differs("shift counts")
        return plain(a, b)
    return g


def extremes(f, keep):
    plain = ref.order_zeros(f, keep)

    def g(a, b):
        got, numpy = plain(a, b), f(a, b)
        if got.dtype.kind == "f" and (np.signbit(got) != np.signbit(numpy))[~np.isnan(got)].any():
            differs("order of zeros")
        return got
    return g


def powers(a, b):
    t = np.result_type(a, b)
    if t.kind == "b":
        t = np.dtype("i1")
    if t.kind not in "iu":
        return None
    a, b = a.astype(t), b.astype(t)
    if (b < 0).any():
        differs("negative integer powers")
    return ref.int_power(a, b)


def reciprocals(x):
    t = x.dtype if x.dtype.kind != "b" else np.dtype("i1")
    x = x.astype(t)
    if t.kind in "iu" and (x == 0).any():
        differs("reciprocal of the integer 0")
    return ref.reciprocal(x)


def compares(f):
    def g(a, b):
        if {a.dtype, b.dtype} & {np.dtype("u8")} and "i" in a.dtype.kind + b.dtype.kind:
            out = f(a.astype(object), b.astype(object))
            if (out != f(a, b)).any():
                differs("signed with u64 compares exactly")
            return np.asarray(out, bool)
        return f(a, b)
    return g


def divisors(f):
    def g(a, b):
        if a.dtype == b.dtype == np.bool_:
            differs("gcd and lcm of bool")
            return f(a.astype("u1"), b.astype("u1"))
        return f(a, b)
    return g


def neighbours(a, b):
    if np.result_type(a, b) == np.float16:
        differs("neighbours of halves")
        raise TypeError
    return floats(np.nextafter)(a, b)


def keep_float(f):
    """Roundings leave integers and bool what they are."""
    def g(x):
        if x.dtype.kind not in "iub":
            return f(x)
        if f(np.zeros(1, x.dtype)).dtype != x.dtype:
            differs("roundings of integers")
        return x
    return g


def integer_division(f):
    def g(a, b):
        t = np.result_type(a, b)
        t = np.dtype("i1") if t.kind == "b" else t
        return f(a.astype(t), b.astype(t))
    return g


def signs(x):
    return np.sign(x)


EXACT = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "true_divide": floats(np.true_divide),
    "floor_divide": integer_division(np.floor_divide), "remainder": integer_division(np.remainder), "pow": powers,
    "minimum": extremes(np.minimum, "min"), "maximum": extremes(np.maximum, "max"),
    "fmin": extremes(np.fmin, "min"), "fmax": extremes(np.fmax, "max"), "copysign": floats(np.copysign),
    "equal": compares(np.equal), "not_equal": compares(np.not_equal), "less": compares(np.less),
    "less_equal": compares(np.less_equal), "greater": compares(np.greater), "greater_equal": compares(np.greater_equal),
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
    "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
    "left_shift": shifts(np.left_shift), "right_shift": shifts(np.right_shift),
    "neg": np.negative, "abs": np.abs, "sign": signs, "square": np.square, "sqrt": floats(np.sqrt),
    "reciprocal": reciprocals, "floor": keep_float(np.floor), "ceil": keep_float(np.ceil), "trunc": keep_float(np.trunc),
    "round": keep_float(np.rint), "logical_not": np.logical_not, "bitwise_not": np.invert,
    "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
    "signbit": lambda x: np.signbit(x) if x.dtype.kind == "f" else x < 0,
    "where": lambda c, a, b: np.where(c != 0, a, b),
    "gcd": divisors(np.gcd), "lcm": divisors(np.lcm), "nextafter": neighbours, "heaviside": floats(np.heaviside), "fmod": integer_division(np.fmod),
    "positive": np.positive, "rint": floats(np.rint),
}
ARITY = {n: 1 for n in ("neg", "abs", "sign", "square", "sqrt", "reciprocal", "floor", "ceil", "trunc", "round", "logical_not",
                        "bitwise_not", "isnan", "isinf", "isfinite", "signbit", "positive", "rint")}
ARITY["where"] = 3
REDUCTIONS = {"sum": np.sum, "prod": np.prod, "min": np.min, "max": np.max, "any": np.any, "all": np.all, "mean": np.mean,
              "var": np.var, "std": np.std, "count_nonzero": np.count_nonzero, "argmin": np.argmin, "argmax": np.argmax}


# ---- integers, one by one, in Python's own -------------------------------------------------------------------
def whole(f, needs="iu"):
    """f(a list a operand, type) -> list; bool is taken as u8, floats are refused."""
    def g(*xs):
        t = np.result_type(*xs)
        if t.kind not in "iub":
            raise TypeError
        t = np.dtype("u1") if t.kind == "b" else t
        typed = np.broadcast_arrays(*[x.astype(t) for x in xs])
        values = f(*[[int(v) for v in x.ravel()] for x in typed], t)
        return ops.wrapped(values, t).reshape(typed[0].shape)
    return g


def bits(t):
    return 8 * t.itemsize


def unsigned(v, t):
    return v % 2 ** bits(t)


def zeros_above(a, t):
    return [bits(t) - unsigned(v, t).bit_length() for v in a]


def zeros_below(a, t):
    return [(u & -u).bit_length() - 1 if u else bits(t) for u in (unsigned(v, t) for v in a)]


def turned(sign):
    return lambda a, b, t: [ops.rotate(unsigned(p, t), sign * q, bits(t)) for p, q in zip(a, b)]


def philox(words):
    """Words of the stream, 32 bits each, as u64; the same refusals as the operation."""
    def g(a, b):
        if np.result_type(a, b).kind not in "iub":
            raise TypeError
        a, b = np.broadcast_arrays(a.astype("u8"), b.astype("u8"))
        return np.array([words(int(i), int(k)) for i, k in zip(a.ravel(), b.ravel())], "u8").reshape(a.shape)
    return g


def half_word(i, key):
    return ops.philox(i, key)


libm = C.CDLL("libm.so.6")
libm.fma.restype, libm.fma.argtypes = C.c_double, [C.c_double] * 3
libm.fmaf.restype, libm.fmaf.argtypes = C.c_float, [C.c_float] * 3


def fused(a, b, c):
    """The C library's, which is exactly rounded; halves by way of f32."""
    t = np.result_type(a, b, c)
    t = np.dtype("f8") if t.kind in "iub" else t
    wide = t if t.itemsize > 2 else np.dtype("f4")
    xs = np.broadcast_arrays(*[x.astype(t).astype(wide) for x in (a, b, c)])
    f = libm.fma if wide.itemsize == 8 else libm.fmaf
    return np.array([f(*v) for v in zip(*[x.ravel().tolist() for x in xs])], wide).reshape(xs[0].shape).astype(t)


def scaled(a, b):
    """a * 2**b of whole numbers b; others are cut, and what is no number is none."""
    n = np.where(np.isfinite(b), np.clip(np.trunc(b), -30000, 30000), 0).astype("i4")
    r = np.ldexp(a.astype("f4") if a.dtype == np.float16 else a, n).astype(a.dtype)
    return r


def mantissas(x):
    return np.frexp(x)[0]


def powers_of_two(x):
    m, e = np.frexp(x)
    return np.where(np.isfinite(x), e, 0).astype(x.dtype)


EXACT.update({
    "fma": fused, "rotate_left": whole(turned(1)), "rotate_right": whole(turned(-1)),
    "mul_hi": whole(lambda a, b, t: [p * q >> bits(t) for p, q in zip(a, b)]),
    "popcount": whole(lambda a, t: [bin(unsigned(v, t)).count("1") for v in a]),
    "leading_zeros": whole(zeros_above), "trailing_zeros": whole(zeros_below),
    "byte_swap": whole(lambda a, t: [int.from_bytes(unsigned(v, t).to_bytes(t.itemsize, "little"), "big") for v in a]),
    "random_half": philox(half_word), "frexp_mantissa": floats(mantissas), "frexp_power": floats(powers_of_two),
    "isposinf": np.isposinf, "isneginf": np.isneginf,
})
ARITY["fma"] = 3
for name in ("popcount", "leading_zeros", "trailing_zeros", "byte_swap", "frexp_mantissa", "frexp_power", "isposinf", "isneginf"):
    ARITY[name] = 1


# ---- functions ------------------------------------------------------------------------------------------------
def by_libm(name):
    """The C library's long double function, whose values Python rounds to f64: half a unit more for f64."""
    f = getattr(libm, name)
    f.restype, f.argtypes = C.c_longdouble, [C.c_longdouble]

    def g(x):
        return np.array([f(v) for v in np.ravel(x).tolist()], np.longdouble).reshape(np.shape(x))
    return g


PI = np.longdouble(np.pi) + np.longdouble(1.2246467991473532e-16)


def gelu_tanh(x):
    u = np.sqrt(2 / PI) * (x + np.longdouble("0.044715") * x * x * x)
    s = np.where(u >= 0, 1 / (1 + np.exp(-2 * u)), np.exp(2 * u) / (1 + np.exp(2 * u)))
    return np.where(x == -np.inf, np.longdouble(-0.0), x * s)


def log_sum(exp, log1p):
    def g(x, y):
        m = np.maximum(x, y)
        near = np.where(x == y, 0, np.abs(x - y))
        r = np.where(np.isinf(m), m, m + log1p(exp(-near)))
        return np.where((m < 0) & (m > -2), np.nan, r)  # where the terms cancel: see SKIP_NAN
    return g


# name: (reference, f64 bound, f32 bound) as test_numpy.FUNCTIONS
FUNCTIONS = {**ref.FUNCTIONS,
             "erf": (by_libm("erfl"), 1.31, .6), "erfc": (by_libm("erfcl"), 1.51, .6), "lgamma": (by_libm("lgammal"), 1.51, .6),
             "tgamma": (by_libm("tgammal"), 1.51, .6), "softplus": (ops.softplus, .7, .75), "silu": (ops.ULP["silu"][1], 1, 1),
             "gelu_tanh": (gelu_tanh, 1, 1), "sinc": (ops.sinc, 1, .51)}
FUNCTIONS2 = {**ref.FUNCTIONS2, "logaddexp": (log_sum(np.exp, np.log1p), 1, .51),
              "logaddexp2": (log_sum(np.exp2, lambda v: np.log1p(v) / np.log(np.longdouble(2))), 1, .51)}
# an undefined reference says nothing
SKIP_NAN = {"logaddexp", "logaddexp2"}
# Rows of the operation table that another test judges: the file, and the text with which it does.
ELSEWHERE = {
    "gelu_erf": ("mathref.c", "ref_gelu_erf"), "ndtri": ("test_ops_numpy.py", "ndtri("), "random_word": ("test_ops_numpy.py", "64-bit words"),
    "random_below": ("test_ops_numpy.py", "no bias in wide ranges"), "scale_by_power": ("test_ops_numpy.py", "ldexp("),
    "input": ("test_engine.c", "weft_input("), "constant": ("test_ir.c", "ir_constant"), "iota": ("test_ops_numpy.py", "arange("),
    "extent": ("test_ir.c", "extent"), "reshape": ("test_numpy.py", "reshape("), "transpose": ("test_numpy.py", "transpose("),
    "slice": ("test_numpy.py", "x[10:2:-1]"), "expand_dims": ("test_numpy.py", "expand_dims("), "squeeze": ("test_numpy.py", "squeeze("),
    "broadcast_to": ("test_numpy.py", "broadcast_to("), "diagonal": ("test_numpy.py", "diagonal("), "windows": ("test_index_numpy.py", "sliding_window"),
    "fixed": ("test_index_numpy.py", "split"), "trim": ("test_index_numpy.py", "eval_new"), "guard": ("golden/guard.txt", "guard"),
    "matmul": ("test_numpy.py", "def test_matmul"), "take": ("test_index_numpy.py", '"take"'), "take_along_axis": ("test_index_numpy.py", "take_along_axis"),
    "join": ("test_index_numpy.py", '"concat"'), "result": ("test_linalg_numpy.py", "svd"), "sort": ("test_index_numpy.py", '"sort"'),
    "search": ("test_index_numpy.py", "searchsorted"), "unique": ("test_index_numpy.py", "unique"), "histogram": ("test_index_numpy.py", "histogram"),
    "scan": ("test_index_numpy.py", "cumsum"), "scatter": ("test_index_numpy.py", "scatter"), "compress": ("test_index_numpy.py", "compress"),
    "unpack_bits": ("test_exchange_numpy.py", "numpy.unpackbits"),
    "cholesky": ("test_linalg_numpy.py", "cholesky"), "solve": ("test_linalg_numpy.py", "solve"), "triangular": ("test_linalg_numpy.py", "triangular"),
    "lu": ("test_linalg_numpy.py", "det"), "qr": ("test_linalg_numpy.py", "qr"), "eigh": ("test_linalg_numpy.py", "eigh"), "svd": ("test_linalg_numpy.py", "svd"),
    "fft": ("test_linalg_numpy.py", "fft"), "rfft": ("test_linalg_numpy.py", "rfft"), "irfft": ("test_linalg_numpy.py", "irfft"),
}
