# SPDX-License-Identifier: MIT
"""DLPack against NumPy's own producer and consumer, and Arrow against pyarrow where it is there: the same memory on
both sides, checked by address, and owners that are told once. Argument: the library."""
import ctypes as C
import gc
import sys

import numpy as np
from weft_ctypes import Array, Lib, X, describe

api = C.pythonapi
api.PyCapsule_New.restype = C.py_object
api.PyCapsule_New.argtypes = [C.c_void_p, C.c_char_p, C.c_void_p]
api.PyCapsule_GetPointer.restype = C.c_void_p
api.PyCapsule_GetPointer.argtypes = [C.py_object, C.c_char_p]
api.PyCapsule_SetName.argtypes = [C.py_object, C.c_char_p]
RELEASE = C.CFUNCTYPE(None, C.c_void_p)
tally = {"passed": 0, "failed": 0}


class Share(C.Structure):
    _fields_ = [("size", C.c_size_t), ("release", RELEASE), ("ud", C.c_void_p), ("free_array", C.c_bool),
                ("read_only", C.c_bool), ("copied", C.c_bool), ("err", C.c_char_p), ("err_size", C.c_size_t)]


class Column(C.Structure):
    _fields_ = [("size", C.c_size_t), ("values", C.POINTER(Array)), ("valid", C.POINTER(Array)), ("name", C.c_char_p),
                ("share", C.POINTER(Share))]


def check(ok, what):
    tally["passed" if ok else "failed"] += 1
    if not ok:
        print("FAIL:", what)


class Producer:
    """What numpy.from_dlpack wants: our tensor in a capsule that is named as the protocol asks."""

    def __init__(self, pointer):
        self.pointer = pointer

    def __dlpack__(self, stream=None):
        self.name = C.create_string_buffer(b"dltensor")
        return api.PyCapsule_New(self.pointer, C.cast(self.name, C.c_char_p), None)

    def __dlpack_device__(self):
        return 1, 0


def arrays():
    rng = np.random.default_rng(7)
    for t in "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split():
        a = rng.integers(0, 100, (6, 8)).astype(t)
        yield from (a, a.T, a[::2, 1:], a[::-1, ::-1], a[:, :0], a[1:2, 2].reshape(()), np.broadcast_to(a[0], (3, 8)))


def from_numpy(lib, a):
    """A NumPy array into a graph: the values, and the reference that NumPy gets back."""
    if not a.flags.writeable:  # NumPy refuses to export what the old form cannot mark
        a = np.lib.stride_tricks.as_strided(a.base if a.base is not None else a, a.shape, a.strides)
    before = sys.getrefcount(a)
    capsule = a.__dlpack__()
    pointer = api.PyCapsule_GetPointer(capsule, b"dltensor")
    data = C.cast(pointer, C.POINTER(C.c_void_p))[0]
    check(data == a.ctypes.data or a.size == 0, f"{a.dtype}{a.shape}: another address")
    f = lib.dll.weft_from_dlpack_legacy
    f.restype = C.c_void_p
    x = f(lib.g, C.c_void_p(pointer))
    check(x is not None, lib.error())
    api.PyCapsule_SetName(capsule, b"used_dltensor")
    del capsule
    check(sys.getrefcount(a) == before + 1, "the array is not held while the graph lives")
    got = lib.eval(X(x))
    check(got.dtype == a.dtype and np.array_equal(got, a), f"{a.dtype}{a.shape} {a.strides}: other values")
    lib.reset()
    check(sys.getrefcount(a) == before, f"{a.dtype}{a.shape}: held {sys.getrefcount(a) - before} times after the reset")


def to_numpy(lib, a):
    done = []
    callback = RELEASE(done.append)
    share = Share(size=C.sizeof(Share), release=callback)
    d, out = describe(a), C.c_void_p()
    check(lib.dll.weft_to_dlpack_legacy(lib.ctx, C.byref(d), C.byref(share), C.byref(out)) == 0, "no tensor")
    b = np.from_dlpack(Producer(out.value))
    check(b.dtype == a.dtype and np.array_equal(a, b), f"{a.dtype}{a.shape} {a.strides}: other values")
    check(b.ctypes.data == a.ctypes.data or a.size == 0, f"{a.dtype}{a.shape}: another address")
    check(not done, "released while NumPy looks")
    del b
    gc.collect()
    check(len(done) == 1, f"released {len(done)} times")


def bits(lib):
    """unpack_bits against numpy.unpackbits: strides of both sides, every first bit, long enough for threads."""
    rng = np.random.default_rng(9)
    for n, step in ((1, 1), (5, 1), (70, 3), (70, -1), (40000, 2)):
        a = rng.integers(0, 256, n * abs(step), dtype=np.uint8)[::step]
        for skip in (0, 1, 7, 8, 13):
            for count in {0, 1, 8 * a.size - 16, 8 * a.size - skip}:
                if count < 0 or skip + count > 8 * a.size:
                    continue
                f = lib.dll.weft_unpack_bits
                f.restype = C.c_void_p
                x = X(f(C.c_void_p(lib.leaf(a)), C.c_int64(skip), C.c_int64(count)))
                want = np.unpackbits(a, bitorder="little")[skip:skip + count].astype(bool)
                out = np.zeros(2 * count, bool)[::2]
                check(np.array_equal(lib.eval(x), want) and np.array_equal(lib.eval(x, out), want), f"bits {n} {step} {skip} {count}")
                lib.reset()
    for skip, count in ((0, 41), (33, 8), (-1, 2), (1, -1), (2**63 - 1, 2), (40, 1)):
        check(f(C.c_void_p(lib.leaf(np.zeros(5, np.uint8))), C.c_int64(skip), C.c_int64(count)) is None, f"{count} bits from {skip}")
        lib.reset()
    check(f(C.c_void_p(lib.leaf(np.zeros(5, np.int8))), C.c_int64(0), C.c_int64(1)) is None, "bits of i8")
    lib.reset()


def arrow(lib):
    try:
        import pyarrow as pa
    except ImportError:
        print("skipped: Arrow against pyarrow, which is not here")
        return 1
    a = pa.array([1.5, None, 2.5, None, 4.0])[1:]
    schema, array = (C.c_char * 72)(), (C.c_char * 80)()
    a._export_to_c(C.addressof(array), C.addressof(schema))
    f = lib.dll.weft_from_arrow
    f.restype = C.c_void_p
    valid = C.c_void_p()
    x = X(f(lib.g, schema, array, C.byref(valid)))
    total = lib.call("sum", lib.call("where", X(valid.value), x, lib.call("float", lib.g, C.c_double(0))), None)
    check(float(lib.eval(total)) == 6.5, "pyarrow in")
    v, m = np.arange(5.0), np.array([1, 0, 1, 1, 0], bool)
    dv, dm = describe(v), describe(m)
    column = Column(C.sizeof(Column), C.pointer(dv), C.pointer(dm), b"x", None)
    check(lib.dll.weft_to_arrow(lib.ctx, C.byref(column), schema, array) == 0, "no column")
    b = pa.Array._import_from_c(C.addressof(array), C.addressof(schema))
    check(b.to_pylist() == [0, None, 2, 3, None] and b.buffers()[1].address == v.ctypes.data, "pyarrow out")
    return 0


def main():
    lib = Lib(sys.argv[1])
    for a in arrays():
        from_numpy(lib, a)
        to_numpy(lib, a)
    bits(lib)
    skipped = arrow(lib)
    print(f"{tally['passed']} passed, {tally['failed']} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if tally["failed"] or tally["passed"] < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
