#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""./dev fuzz [graph|numpy|plan|all] [--seconds N] [--seed N]: long random runs with printed seeds. graph: random graphs
evaluated by a naive evaluator, the interpreter and machine code, 1 to 3 threads, every instruction set; numpy:
every operation against NumPy, through the C API and through the command in turns; plan: random graphs, planned
three ways, against a naive evaluator of plans. Ends with a line that counts; exit status 1 at the first failure.
./dev fuzz parser|npy|cache|api|graphfile [--seconds N]: libFuzzer targets (clang).
SECONDS and SEED may also follow bare."""
import argparse
import os
import re
import subprocess
import sys
import time

KINDS = ("graph", "numpy", "plan")


def round_of(kind, build, here, seed, seconds):
    if kind == "graph":
        return [os.path.join(build, "tests", "fuzz_graph"), "--seconds", str(seconds), "--seed", str(seed)], {}
    if kind == "numpy" and seed % 2:
        return [sys.executable, os.path.join(here, "test_differential.py"), os.path.join(build, "libweft.so"), "60000", str(seed)], {}
    if kind == "numpy":
        return [sys.executable, os.path.join(here, "test_numpy.py"), os.path.join(build, "weft"), "1", str(seed)], {}
    return [os.path.join(build, "tests", "test_fuse_random")], {"FUSE_SEED": str(seed * 20000), "FUSE_SEEDS": "20000"}


def arguments(argv):
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("what", nargs="?", default="all", choices=KINDS + ("all",))
    p.add_argument("bare", nargs="*", type=float)
    p.add_argument("--seconds", type=float)
    p.add_argument("--seed", type=int)
    a = p.parse_args(argv)
    seconds = a.seconds if a.seconds is not None else a.bare[0] if a.bare else 600
    seed = a.seed if a.seed is not None else int(a.bare[1]) if len(a.bare) > 1 else int(time.time()) % 100000
    return a.what, seconds, seed


def main():
    build, here = os.path.abspath(sys.argv[1]), os.path.dirname(os.path.abspath(__file__))
    what, seconds, seed = arguments(sys.argv[2:])
    kinds = KINDS if what == "all" else (what,)
    if what == "graph":
        return subprocess.call(round_of("graph", build, here, seed, seconds)[0])
    end, rounds, graphs = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        kind = kinds[rounds % len(kinds)]
        at = (seed + rounds) * (10**6 if kind == "graph" else 1)
        command, env = round_of(kind, build, here, at, min(60, seconds))
        p = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True)
        rounds += 1
        last = (p.stdout + p.stderr).strip().splitlines()[-1]
        graphs += int(re.match(r"(\d+) graphs", last)[1]) if kind == "graph" and re.match(r"\d+ graphs", last) else 0
        print(f"{kind} seed {at}: {last}", flush=True)
        if p.returncode:
            print(p.stdout[-4000:] + p.stderr[-4000:])
            print(f"{rounds} rounds, 1 failed")
            return 1
    print(f"{rounds} rounds, {graphs} random graphs among them, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
