#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""./dev bench: fused, unfused, interpreted, a hand-written loop and NumPy beside each other, per size, in
interleaved rounds of one run; a round gives the least of its repeats, the table the median of the rounds.
Then the matrix product beside its peers, where they are installed."""
import json
import os
import statistics
import subprocess
import sys
import time

CHAIN = "sqrt(x*y+x)"
SIZES = [1 << 10, 1 << 14, 1 << 18, 1 << 22]
ROUNDS = 5


def out(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def numpy_ns(n):
    try:
        import numpy as np
    except ImportError:
        return None
    x, y, t, o = (np.linspace(0, 1, n) for _ in range(4))
    loops, best = max(1, 1000000 // n), float("inf")
    for _ in range(5):  # the least, as the others give it
        start = time.perf_counter_ns()
        for _ in range(loops):
            np.multiply(x, y, out=t)
            np.add(t, x, out=t)
            np.sqrt(t, out=o)
        best = min(best, (time.perf_counter_ns() - start) / loops)
    return best


def chain(build, threads):
    print(f"{CHAIN}, f64, {threads} thread(s), us (median of {ROUNDS} interleaved rounds)")
    print(f"{'elements':>10} {'fused':>10} {'unfused':>10} {'interp':>10} {'by hand':>10} {'NumPy out=':>10} "
          f"{'hand/fused':>10} {'NumPy/fused':>11}")
    for n in SIZES:
        rows = []
        for _ in range(ROUNDS):
            b = json.loads(out(f"{build}/weft", "bench", CHAIN, f"x=f64[{n}]", f"y=f64[{n}]", "--json", "--threads", str(threads)))
            hand = json.loads(out(f"{build}/bench/hand", str(n), str(threads)))
            rows.append((b["fused_ns"], b["unfused_ns"], b["interpreted_ns"], hand["ns"], numpy_ns(n) or float("nan")))
        m = [statistics.median(c) / 1e3 for c in zip(*rows)]
        print(f"{n:>10} " + " ".join(f"{v:>10.2f}" for v in m) + f" {m[3] / m[0]:>9.2f}x {m[4] / m[0]:>10.2f}x", flush=True)
    print()


def main():
    build = os.path.abspath(sys.argv[1])
    threads = len(os.sched_getaffinity(0))
    for t in sorted({1, threads}):
        chain(build, t)
    gemm = f"{build}/bench/bench_gemm"
    if os.path.exists(gemm):
        subprocess.run([gemm, *sys.argv[2:]], check=False)


if __name__ == "__main__":
    main()
