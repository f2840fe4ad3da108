#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""weft-bench: every suite gives rows with every field, compare tells faster from slower, hostile files are refused."""
import json
import os
import subprocess
import sys
import tempfile

FIELDS = {"suite", "name", "isa", "dtype", "n", "threads", "ns", "peer", "peer_ns", "limit", "limit_ns"}
passed = failed = 0


def check(what, ok):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED: {what}")


def run(*arguments):
    return subprocess.run([tool, *arguments], capture_output=True, text=True, timeout=300)


def rows_of(folder, suite, *more):
    path = os.path.join(folder, f"{suite}.json")
    r = run("--quick", "--rounds", "1", "--threads", "1", "--suite", suite, "--json", path, *more)
    check(f"{suite}: exit status {r.returncode} {r.stderr}", r.returncode == 0)
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def suites(folder):
    for suite, filter_ in (("math", "exp2"), ("gemm", "A*x"), ("reduce", "sum axis"), ("chain", "x+row"), ("call", "weft_run"),
                           ("start", "nothing"), ("compile", "numba"), ("memory", "std")):
        rows = rows_of(folder, suite, "--filter", filter_)
        check(f"{suite}: has rows", rows)
        for r in rows:
            if "value" in r:
                check(f"{suite}: {r}", r["value"] >= 0 and r["unit"])
            else:
                check(f"{suite}: fields of {r}", FIELDS <= set(r) and r["ns"] > 0 and r["suite"] == suite)


def compare(folder):
    row = {"suite": "s", "isa": "avx2", "dtype": "f64", "threads": 1, "peer": "p", "peer_ns": 100.0, "limit": None, "limit_ns": None}
    old = [dict(row, name=f"r{i}", n=i, ns=50.0 + 0.1 * (i % 3)) for i in range(20)]
    new = [dict(r) for r in old]
    new[3]["ns"] *= 2
    new[7]["ns"] /= 2
    paths = [os.path.join(folder, n) for n in ("old.json", "new.json", "bad.json")]
    for path, data in zip(paths, (old, new, {"not": "a list"})):
        with open(path, "w", encoding="utf-8") as f:
            json.dump(data, f)
    r = run("compare", paths[0], paths[1])
    lines = r.stdout.splitlines()
    check(f"compare: status {r.returncode}", r.returncode == 1)
    check(f"compare: {lines}", any(x.startswith("slower 2.00x") and "r3" in x for x in lines) and any(x.startswith("faster 2.00x") and "r7" in x for x in lines))
    check("compare: no other row is named", len(lines) == 3)
    check("compare: nothing changed", run("compare", paths[0], paths[0]).returncode == 0)
    for bad in (paths[2], os.path.join(folder, "none.json")):
        r = run("compare", paths[0], bad)
        check(f"compare: {bad} is refused in a sentence", r.returncode == 2 and r.stderr.count("\n") == 1)


tool = sys.argv[1]
with tempfile.TemporaryDirectory() as where:
    suites(where)
    compare(where)
    check("an unknown suite is refused", run("--suite", "none").returncode == 2)
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
