#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""take of bytes at indices of one byte, which goes through tables: every extent around the widths of an index, every
mode, lines around the lengths where the way changes, tables and indices in any order; every single value outside is
named by the sentence of the error, wherever it stands.
usage: test_byte_take.py libweft.so; ends with "N passed, N failed"."""
import sys

import numpy as np

from weft_ctypes import Lib, WeftError

tally = [0, 0]


def tell(ok, what):
    tally[not ok] += 1
    if not ok and tally[1] < 20:
        print("FAILED", what, flush=True)


def wanted(x, i, mode):
    """NumPy's take in Python's integers; None where `raise` refuses."""
    n, v = len(x), i.astype("i8")
    if mode == 0:
        if ((v < -n) | (v >= n)).any():
            return None
        v = np.where(v < 0, v + n, v)
    return x[np.clip(v, 0, n - 1) if mode == 1 else v % n]


def take(lib, x, i, mode):
    lib.reset()
    return lib.eval(lib.call("take", lib.leaf(x), lib.leaf(i), 0, mode), threads=2)


def check(lib, x, i, mode, what):
    want = wanted(x, i, mode)
    try:
        got = take(lib, x, i, mode)
        tell(want is not None and np.array_equal(got, want), what)
    except WeftError as e:
        first = next(k for k, v in enumerate(i.tolist()) if not -len(x) <= v < len(x))
        tell(want is None and f"index {i[first]} at [{first}]" in e.text, f"{what}: {e}")


def main():
    rng = np.random.default_rng(1)
    libs = [Lib(sys.argv[1], 1, 2), Lib(sys.argv[1], 2, 2)]
    for n in (1, 2, 5, 16, 100, 127, 128, 129, 200, 255, 256, 257, 1000):
        for t in ("bool", "i1", "u1"):
            x = rng.integers(0, 2 if t == "bool" else 127, n).astype(t)
            for it in ("i1", "u1"):
                info = np.iinfo(it)
                for mode in (0, 1, 2):
                    lib, m = libs[int(rng.integers(2))], int(rng.choice([255, 256, 257, 320, 1000, 5000, 20000]))
                    i = rng.integers(info.min, info.max, m, it, endpoint=True)
                    check(lib, x, i, mode, f"{t}[{n}] {it}[{m}] mode {mode}")
                    i = rng.integers(max(info.min, -n), min(info.max, n - 1), m, it, endpoint=True)
                    check(lib, x[::-1], i, mode, f"reversed {t}[{n}] {it}[{m}] mode {mode}")
                    i[int(rng.integers(m))] = rng.integers(info.min, info.max, endpoint=True)  # one that may be outside
                    check(lib, x, i, mode, f"one of {it}[{m}] in {t}[{n}] mode {mode}")
    x, i = rng.integers(0, 255, (40, 7)).astype("u1"), rng.integers(0, 40, 600).astype("u1")
    for axis, source in ((0, x), (1, x.T)):  # rows, and columns where the table is strided
        for lib in libs:
            lib.reset()
            got = lib.eval(lib.call("take", lib.leaf(source), lib.leaf(i), axis, 0))
            tell(np.array_equal(got, np.take(source, i, axis)), f"axis {axis}")
    for lib in libs:  # inside a chain
        lib.reset()
        e = lib.call("add", lib.call("take", lib.leaf(x[:, 3]), lib.leaf(i), 0, 0), lib.leaf(i))
        tell(np.array_equal(lib.eval(e), x[i, 3] + i), "chain")
    print(f"{tally[0]} passed, {tally[1]} failed")
    return tally[1] != 0


if __name__ == "__main__":
    sys.exit(main())
