#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs every test that ctest knows in a build folder and ends with one line: N passed, N failed.

A Criterion program counts as many tests as it says; a script ends with a line "N passed, N failed"
(", N skipped" may follow) of its own; one labelled plain (an example) is one test, its exit status
the verdict; one labelled alone gets the machine to itself. A program that crashes, hangs or says nothing counts as a failure.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time

LIMIT = 900  # seconds for one program; many more under a sanitizer


def listed(build, pattern):
    out = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True,
                         capture_output=True, text=True).stdout
    tests = []
    for t in json.loads(out)["tests"]:
        env = {}
        labels = []
        cwd = build
        for p in t.get("properties", []):
            if p["name"] == "ENVIRONMENT":
                env.update(e.split("=", 1) for e in p["value"])
            if p["name"] == "WORKING_DIRECTORY":
                cwd = p["value"]
            if p["name"] == "LABELS":
                labels = p["value"]
        if "command" in t and (not pattern or re.search(pattern, t["name"])):
            tests.append((t["name"], t["command"], env, cwd, labels))
    return tests


def counts(text):
    synth = re.findall(r"Synthesis: Tested: (\d+) \| Passing: (\d+) \| Failing: (\d+) \| Crashing: (\d+)", text)
    skipped = len(re.findall(r"^\[SKIP\]|\[SKIP\]", text, re.M))
    if synth:
        _, passing, failing, crashing = map(int, synth[-1])
        return passing, failing + crashing, skipped
    line = re.findall(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", text, re.M)
    if line:
        return int(line[-1][0]), int(line[-1][1]), int(line[-1][2] or 0)
    return None


def run(test):
    limit = LIMIT * (8 if SANITIZED else 1)
    name, command, env, cwd, labels = test
    start = time.monotonic()
    try:
        p = subprocess.run(command, cwd=cwd, env={**os.environ, **env, **preloaded(command)}, timeout=limit,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        text, code = p.stdout.decode(errors="replace"), p.returncode
    except subprocess.TimeoutExpired as e:
        text, code = (e.stdout or b"").decode(errors="replace") + "\ntimed out", 1
    c = counts(text)
    if c is None:
        c = (1, 0, 0) if code == 0 and "plain" in labels else (0, 1, 0)
    elif code != 0 and c[1] == 0:
        c = (c[0], 1, c[2])
    return name, c, code, text, time.monotonic() - start


SANITIZED = ""


def sanitized(build):
    """The sanitizers that this build folder uses, and what they need to hear; LLVM and Python have none."""
    with open(os.path.join(build, "CMakeCache.txt")) as f:
        found = re.search(r"^WEFT_SANITIZE:\w+=(.*)", f.read(), re.M)
    names = found[1] if found else ""
    if "thread" in names:
        os.environ.setdefault("TSAN_OPTIONS", "die_after_fork=0:ignore_noninstrumented_modules=1")
    if names:
        os.environ.setdefault("ASAN_OPTIONS", "detect_stack_use_after_return=0")
    return names


def preloaded(command):
    """A library with a sanitizer inside Python: its runtime comes first. Python's own leaks are not ours."""
    name = "libtsan.so" if "thread" in SANITIZED else "libasan.so" if "address" in SANITIZED else None
    if not name or not any(a.endswith("libweft.so") for a in command):
        return {}
    path = subprocess.run(["gcc", "-print-file-name=" + name], capture_output=True, text=True).stdout.strip()
    return {"LD_PRELOAD": path, "ASAN_OPTIONS": "detect_leaks=0"}


def main():
    global SANITIZED
    build = os.path.abspath(sys.argv[1])
    tests = listed(build, sys.argv[2] if len(sys.argv) > 2 else "")
    SANITIZED = sanitized(build)
    passed = failed = skipped = 0
    together = [t for t in tests if "alone" not in t[4]]
    alone = [t for t in tests if "alone" in t[4]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        results = pool.map(run, together)
        for batch in (results, map(run, alone)):
            for name, (ok, bad, skip), code, text, seconds in batch:
                passed, failed, skipped = passed + ok, failed + bad, skipped + skip
                print(f"{'ok  ' if bad == 0 else 'FAIL'} {name:24} {ok:5} passed {bad:3} failed"
                      f"{f' {skip} skipped' if skip else ''}  {seconds:6.1f} s", flush=True)
                if bad:
                    print("\n".join("    " + line for line in text.splitlines()[-60:]), flush=True)
                for line in sorted(set(re.findall(r"skipped: .*", text))):
                    print("     " + line, flush=True)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
