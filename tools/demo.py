#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The demonstration behind ./dev demo: writes two .npy files of 4 Mi f64, evaluates sqrt(x*y+x) through
the weft command, checks every value against Python's own arithmetic, shows the plan, and compares fused,
unfused, interpreted, a hand-written loop and NumPy (where it is installed)."""
import array
import json
import math
import os
import random
import struct
import subprocess
import sys
import time

EXPR = "sqrt(x*y+x)"
N = 1 << 22


def write_npy(path, values):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(values)},), }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        values.tofile(f)


def read_npy(path):
    with open(path, "rb") as f:
        assert f.read(8) == b"\x93NUMPY\x01\x00", "not a .npy file of version 1"
        f.read(struct.unpack("<H", f.read(2))[0])
        values = array.array("d")
        values.frombytes(f.read())
        return values


def run(*command):
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"{' '.join(command)}\n{p.stderr}")
    return p.stdout


def numpy_ns(x_path, y_path, rounds=9):
    try:
        import numpy as np
    except ImportError:
        return None, None, ""
    x, y = np.load(x_path), np.load(y_path)
    out, t = np.empty_like(x), np.empty_like(x)

    def least(f):  # as weft bench and bench/hand give it
        f()
        times = []
        for _ in range(rounds):
            start = time.perf_counter_ns()
            f()
            times.append(time.perf_counter_ns() - start)
        return min(times)

    def into():
        np.multiply(x, y, out=t)
        np.add(t, x, out=t)
        np.sqrt(t, out=out)

    return least(lambda: np.sqrt(x * y + x)), least(into), np.__version__


def main():
    build = os.path.abspath(sys.argv[1])
    weft = os.path.join(build, "weft")
    data = os.path.join(build, "demo")
    os.makedirs(data, exist_ok=True)
    x_path, y_path, o_path = (os.path.join(data, f"{v}.npy") for v in "xyo")
    rng = random.Random(1)
    x = array.array("d", (rng.random() for _ in range(N)))
    y = array.array("d", (rng.random() * 10 for _ in range(N)))
    write_npy(x_path, x)
    write_npy(y_path, y)
    print(f"two arrays of {N} f64 ({N * 8 >> 20} MiB each) in {os.path.relpath(data)}\n")

    command = [weft, "eval", EXPR, f"x={x_path}", f"y={y_path}", "-o", o_path]
    print(f"$ weft eval '{EXPR}' x=x.npy y=y.npy -o o.npy")
    start = time.monotonic()
    run(*command)
    print(f"done in {time.monotonic() - start:.3f} s, files and process start included")
    got = read_npy(o_path)
    bad = sum(1 for a, b, c in zip(x, y, got) if math.sqrt(a * b + a) != c)
    print(f"checked against Python's arithmetic: {len(got)} values, {bad} differ\n")
    if bad or len(got) != N:
        sys.exit(1)

    print(f"$ weft explain '{EXPR}' x=x.npy y=y.npy --plan")
    print(run(weft, "explain", EXPR, f"x={x_path}", f"y={y_path}", "--plan"))
    plan = json.loads(run(weft, "explain", "--json", EXPR, f"x={x_path}", f"y={y_path}"))
    threads = len(os.sched_getaffinity(0))
    b = json.loads(run(weft, "bench", EXPR, f"x={x_path}", f"y={y_path}", "--json", "--threads", str(threads)))
    hand = json.loads(run(os.path.join(build, "bench", "hand"), str(N), str(threads)))
    rows = [(f"weft fused, {plan['passes']} pass", b["fused_ns"]),
            ("weft unfused, 3 passes", b["unfused_ns"]),
            ("weft interpreted", b["interpreted_ns"]),
            (f"hand-written loop ({hand['isa']})", hand["ns"])]
    plain, into, version = numpy_ns(x_path, y_path)
    if plain:
        rows += [(f"NumPy {version}", plain), (f"NumPy {version}, out=", into)]
    print(f"{EXPR}, {N} f64, {threads} thread(s)          ms   GB/s of 3 streams   against fused")
    for name, ns in rows:
        print(f"  {name:36} {ns / 1e6:8.2f} {3 * 8 * N / ns:10.1f} {ns / b['fused_ns']:19.2f}x")
    print(f"  compiling took {b['compile_ns'] / 1e6:.1f} ms, once for every size")


if __name__ == "__main__":
    main()
