# SPDX-License-Identifier: MIT
"""The library through ctypes, as tests see it: NumPy arrays in, NumPy arrays out, one graph per Lib. Arrays are
passed with their strides; an output may be given strides of its own."""
import ctypes as C

import numpy as np

NAMES = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "f2", None, "c8", "c16"]
CODE = {np.dtype(n): i for i, n in enumerate(NAMES) if n}
NONE = -(1 << 63)
STATUS = ["OK", "ENOMEM", "EINVAL", "ESHAPE", "EDTYPE", "EALIAS", "EINDEX", "ENAN", "ELIMIT", "EUNSUPPORTED", "ESYS"]


class Array(C.Structure):
    _fields_ = [("dtype", C.c_int), ("rank", C.c_int), ("data", C.c_void_p),
                ("dims", C.c_int64 * 32), ("strides", C.c_int64 * 32)]


class Reduce(C.Structure):
    _fields_ = [("size", C.c_size_t), ("axes", C.POINTER(C.c_int)), ("naxes", C.c_int),
                ("keepdims", C.c_bool), ("nan", C.c_int), ("ddof", C.c_double), ("compensated", C.c_bool)]


class Scatter(C.Structure):
    _fields_ = [("size", C.c_size_t), ("axis", C.c_int), ("op", C.c_int), ("mode", C.c_int)]


class Places(C.Structure):
    _fields_ = [("size", C.c_size_t), ("n", C.c_int), ("index", C.POINTER(C.c_void_p)), ("axes", C.POINTER(C.c_int)),
                ("mode", C.c_int)]


class Padding(C.Structure):
    _fields_ = [("size", C.c_size_t), ("before", C.POINTER(C.c_int64)), ("after", C.POINTER(C.c_int64)),
                ("mode", C.c_int), ("value", C.c_void_p)]


class Parts(C.Structure):
    _fields_ = [("index", C.c_void_p), ("count", C.c_void_p), ("inverse", C.c_void_p)]


class CtxOpts(C.Structure):
    _fields_ = [("size", C.c_size_t), ("alloc", C.c_void_p), ("alloc_ud", C.c_void_p), ("log", C.c_void_p),
                ("log_ud", C.c_void_p), ("executor", C.c_void_p), ("threads", C.c_int), ("isa", C.c_int),
                ("backend", C.c_int), ("code_cache_bytes", C.c_size_t), ("ignore_env", C.c_bool)]


class EvalOpts(C.Structure):
    _fields_ = [("size", C.c_size_t), ("workspace", C.c_void_p), ("threads", C.c_int), ("unfused", C.c_bool)]


class OpInfo(C.Structure):
    _fields_ = [("name", C.c_char_p), ("arity", C.c_int), ("kind", C.c_char_p), ("doc", C.c_char_p)]


def describe(a):
    d = Array(CODE[a.dtype], a.ndim, a.ctypes.data)
    for i in range(a.ndim):
        d.dims[i], d.strides[i] = a.shape[i], a.strides[i]
    return d


class WeftError(Exception):
    def __init__(self, status, text):
        super().__init__(f"{STATUS[status]}: {text}")
        self.status, self.text = STATUS[status], text


def i64s(v):
    return (C.c_int64 * max(len(v), 1))(*v)


class Lib:
    """backend: 1 interpreter, 2 machine code."""

    def __init__(self, path, backend=1, threads=1):
        self.dll = C.CDLL(path)
        self.ctx = C.c_void_p()
        o = CtxOpts(size=C.sizeof(CtxOpts), threads=threads, backend=backend)
        assert self.dll.weft_ctx_new(C.byref(self.ctx), C.byref(o)) == 0
        self.dll.weft_graph_new.restype = C.c_void_p
        self.dll.weft_graph_error.restype = C.c_char_p
        self.g = C.c_void_p(self.dll.weft_graph_new(self.ctx))
        self.keep = []

    def reset(self):
        self.dll.weft_graph_reset(self.g)
        self.keep = []

    def leaf(self, a):
        a = np.asanyarray(a)
        d = describe(a)
        self.keep += [a, d]
        return self.call("from", self.g, C.byref(d))

    def call(self, name, *args):
        """weft_name(args): expressions are ints or None (NULL in gives NULL out)."""
        f = getattr(self.dll, "weft_" + name)
        f.restype = C.c_void_p
        out = [C.c_void_p(a) if isinstance(a, X) or a is None else a for a in args]
        r = f(*out)
        return None if r is None else X(r)

    def reduce(self, axes=None, keepdims=False, nan=0):
        r = Reduce(size=C.sizeof(Reduce), keepdims=keepdims, nan=nan)
        if axes is not None:
            r.axes, r.naxes = (C.c_int * max(len(axes), 1))(*axes), len(axes)
        self.keep.append(r)
        return C.byref(r)

    def places(self, at, axes, mode):
        leaves = (C.c_void_p * len(at))(*[self.leaf(i) for i in at])
        p = Places(C.sizeof(Places), len(at), leaves, (C.c_int * len(at))(*axes), mode)
        self.keep += [leaves, p]
        return C.byref(p)

    def error(self):
        return self.dll.weft_graph_error(self.g).decode()

    def fail(self, status):
        raise WeftError(status, self.error())

    def shape(self, x):
        f = self.dll.weft_expr_dims
        f.restype = C.POINTER(C.c_int64)
        n = self.dll.weft_expr_rank(C.c_void_p(x))
        p = f(C.c_void_p(x))
        return tuple(p[i] for i in range(n)), np.dtype(NAMES[self.dll.weft_expr_dtype(C.c_void_p(x))])

    def eval(self, x, out=None, threads=0, unfused=False):
        if x is None:
            self.fail(self.dll.weft_graph_status(self.g))
        if out is None:
            shape, dtype = self.shape(x)
            out = np.empty(shape, dtype)
        o = EvalOpts(C.sizeof(EvalOpts), None, threads, unfused)
        d = describe(out)
        s = self.dll.weft_eval(C.c_void_p(x), C.byref(d), C.byref(o))
        if s:
            self.fail(s)
        return out

    def eval_new(self, x, threads=0, unfused=False):
        """The actual extent of results that depend on values."""
        if x is None:
            self.fail(self.dll.weft_graph_status(self.g))
        d = Array()
        o = EvalOpts(C.sizeof(EvalOpts), None, threads, unfused)
        s = self.dll.weft_eval_new(C.c_void_p(x), C.byref(d), C.byref(o))
        if s:
            self.fail(s)
        shape = [d.dims[i] for i in range(d.rank)]
        dt = np.dtype(NAMES[d.dtype])
        n = int(np.prod(shape)) * dt.itemsize
        out = np.frombuffer(C.string_at(d.data, n), dt).reshape(shape) if n else np.empty(shape, dt)
        self.dll.weft_array_free(self.ctx, C.byref(d))
        return out

    def table(self):
        """Names of the operation table."""
        f = self.dll.weft_op_at
        f.restype = C.POINTER(OpInfo)
        names = []
        while f(len(names)):
            names.append(f(len(names)).contents.name.decode())
        return names

    def plan(self, x):
        text = C.c_char_p()
        a = (C.c_void_p * 1)(x)
        assert self.dll.weft_dump(1, a, 2, 0, C.byref(text)) == 0
        return text.value.decode()


class X(int):
    """An expression handle."""
