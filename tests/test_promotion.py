#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What more than two types meet in, against numpy.result_type: all triples, random longer lists, and every operation
that takes several operands as equals (concat, stack, einsum, clip, fma, where), whose results must have that type and
the values NumPy gives.
usage: test_promotion.py libweft.so [seed]; ends with "N passed, N failed"."""
import ctypes as C
import itertools
import random
import sys
import warnings

import numpy as np

from weft_ctypes import CODE, NAMES, Lib

if hasattr(np, "_set_promotion_state"):
    np._set_promotion_state("weak")
warnings.simplefilter("ignore")
TYPES = [n for n in NAMES if n]
BF16 = NAMES.index(None)
tally = [0, 0]


def tell(ok, what):
    tally[not ok] += 1
    if not ok and tally[1] < 20:
        print("FAILED", what, flush=True)


def lists(lib, rng):
    f = lib.dll.weft_result_type_n

    def meet(codes):
        return f(len(codes), (C.c_int * len(codes))(*codes))
    longer = [[rng.choice(TYPES) for _ in range(rng.randint(1, 12))] for _ in range(20000)]
    for types in [*itertools.product(TYPES, repeat=3), *longer]:
        got, want = meet([CODE[np.dtype(t)] for t in types]), np.result_type(*map(np.dtype, types))
        tell(got == CODE[want], f"{types}: {NAMES[got]} instead of {want}")
    for codes in itertools.product(range(len(NAMES)), repeat=3):  # bf16, which NumPy does not know: any order is one
        if BF16 in codes:
            tell(len({meet(p) for p in itertools.permutations(codes)}) == 1, f"{codes} depend on their order")
    f16 = CODE[np.dtype("f2")]
    for codes in itertools.product(range(len(NAMES)), repeat=2):  # bf16 is to integers and wider floats what f16 is
        if f16 not in codes and BF16 not in codes:
            want = meet([f16, *codes])
            tell(meet([BF16, *codes]) == (BF16 if want == f16 else want), f"bf16 with {codes}")
    tell(meet([0, 99]) == len(NAMES) and f(0, None) == len(NAMES), "what is no type is refused")


def operations(libs, rng):
    def arrays(types):
        return [np.array([1, 0, 3]).astype(t) for t in types]

    def many(lib, xs):
        return len(xs), (C.c_void_p * len(xs))(*map(lib.leaf, xs))

    def joined(name):
        def f(lib, xs):
            n, p = many(lib, xs)
            return lib.call(name, n, p, 0)
        return f

    def einsum(lib, xs):
        n, p = many(lib, xs)
        return lib.call("einsum", b",".join([b"i"] * n) + b"->i", n, p)
    cases = [(joined("concat"), lambda xs: np.concatenate(xs), 5), (joined("stack"), lambda xs: np.stack(xs), 5),
             (einsum, lambda xs: np.prod([x.astype("c16") for x in xs], 0), 3)]
    for build, numpy, most in cases:
        for _ in range(600):
            types = [rng.choice(TYPES) for _ in range(rng.randint(3, most))]
            xs, lib = arrays(types), rng.choice(libs)
            want = numpy(xs).astype(np.result_type(*map(np.dtype, types)))
            lib.reset()
            got = lib.eval(build(lib, xs))
            tell(got.dtype == want.dtype and np.array_equal(got, want), f"{types}: {got.dtype} instead of {want.dtype}")
    real = [t for t in TYPES if np.dtype(t).kind != "c"]
    for types in itertools.product(real, repeat=3):
        xs, lib = arrays(types), rng.choice(libs)
        t = np.result_type(*map(np.dtype, types))
        lib.reset()
        got = lib.call("clip", *map(lib.leaf, xs))
        tell(lib.shape(got)[1] == t, f"clip {types}: {lib.shape(got)[1]} instead of {t}")
        fused = lib.call("fma", *map(lib.leaf, xs))
        t = t if t.kind == "f" else np.dtype("f8")
        tell(lib.shape(fused)[1] == t, f"fma {types}: {lib.shape(fused)[1]} instead of {t}")


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rng = random.Random(seed)
    libs = [Lib(sys.argv[1], 1, 2)]
    lists(libs[0], rng)
    operations(libs, rng)
    print(f"{tally[0]} passed, {tally[1]} failed")
    return tally[1] != 0


if __name__ == "__main__":
    sys.exit(main())
