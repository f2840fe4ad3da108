#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""./dev fuzz [numpy|plan|all] [SECONDS [SEED]]: long random runs with printed seeds. numpy: every operation
against NumPy, through the C API and through the command in turns; plan: random graphs, planned three ways, against a naive evaluator.
Ends with a line that counts; exit status 1 at the first failure, whose seed is in the output."""
import os
import subprocess
import sys
import time


def round_of(kind, build, here, seed):
    if kind == "numpy" and seed % 2:
        return [sys.executable, os.path.join(here, "test_differential.py"), os.path.join(build, "libweft.so"), "60000", str(seed)], {}
    if kind == "numpy":
        return [sys.executable, os.path.join(here, "test_numpy.py"), os.path.join(build, "weft"), "1", str(seed)], {}
    return [os.path.join(build, "tests", "test_fuse_random")], {"FUSE_SEED": str(seed * 20000), "FUSE_SEEDS": "20000"}


def main():
    build, here = os.path.abspath(sys.argv[1]), os.path.dirname(os.path.abspath(__file__))
    what = sys.argv[2] if len(sys.argv) > 2 else "all"
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 600
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else int(time.time()) % 100000
    kinds = ["numpy", "plan"] if what == "all" else [what]
    if any(k not in ("numpy", "plan") for k in kinds):
        print(__doc__)
        return 2
    end, rounds = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        kind = kinds[rounds % len(kinds)]
        command, env = round_of(kind, build, here, seed + rounds)
        p = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True)
        rounds += 1
        print(f"{kind} seed {seed + rounds - 1}: {(p.stdout + p.stderr).strip().splitlines()[-1]}", flush=True)
        if p.returncode:
            print(p.stdout[-4000:] + p.stderr[-4000:])
            print(f"{rounds} rounds, 1 failed")
            return 1
    print(f"{rounds} rounds, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
