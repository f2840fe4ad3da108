#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weft.evaluate beside numexpr and NumPy: the same text, interleaved rounds, the median of each.
usage: python_peer.py MODULE_DIRECTORY [--json REPORT]   appends rows of the suite `python` to a report of weft-bench."""
import json
import statistics
import sys
import time

sys.path.insert(0, sys.argv[1])
import numpy as np

import weft

try:
    import numexpr
except ImportError:
    numexpr = None
TEXTS = {"chain": "sqrt(x*y+x)", "exp": "exp(-x*x)*y+1", "poly": "((0.25*x+0.75)*x-1.5)*x-2", "where": "where(x>y, x, y)*2"}
SIZES = [10, 1000, 100_000, 4_000_000]
rng = np.random.default_rng(1)


def ways(text, env):
    code = compile(text, text, "eval")
    names = {**env, "sqrt": np.sqrt, "exp": np.exp, "where": np.where}
    out = {"weft": lambda: weft.evaluate(text, env), "numpy": lambda: eval(code, names)}
    if numexpr:
        out["numexpr"] = lambda: numexpr.evaluate(text, env)
    return out


def measure(text, n):
    env = {"x": rng.random(n), "y": rng.random(n)}
    all_ways = ways(text, env)
    want = all_ways["numpy"]()
    for name, run in all_ways.items():
        for _ in range(3):
            got = run()
        assert np.allclose(got, want, rtol=1e-13), (text, n, name)
    weft.wait()
    repeat = max(1, 200_000 // (n + 400))
    times = {name: [] for name in all_ways}
    for _ in range(9):
        for name, run in all_ways.items():
            start = time.perf_counter()
            for _ in range(repeat):
                run()
            times[name].append((time.perf_counter() - start) / repeat)
    return times


rows = []
for label, text in TEXTS.items():
    for n in SIZES:
        times = measure(text, n)
        best = {k: statistics.median(v) for k, v in times.items()}
        peers = {k: v for k, v in best.items() if k != "weft"}
        for peer, spent in peers.items():
            rows.append({"suite": "python", "name": f"evaluate {text}", "isa": "best", "dtype": "f64", "n": n,
                         "threads": weft.get_num_threads(), "ns": best["weft"] * 1e9, "peer": peer, "peer_ns": spent * 1e9,
                         "limit": None, "limit_ns": None})
        print(f"{text:28} {n:>8}  weft {best['weft'] * 1e6:10.2f} us" +
              "".join(f"   {k} {v * 1e6:10.2f} us ({v / best['weft']:.2f}x)" for k, v in peers.items()), flush=True)
if "--json" in sys.argv:
    path = sys.argv[sys.argv.index("--json") + 1]
    with open(path) as f:
        report = json.load(f)
    report = [r for r in report if r.get("suite") != "python"] + rows
    with open(path, "w") as f:
        json.dump(report, f, indent=1)
