#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""pip install ./bindings/python against an installed weft, offline, in a folder of its own; then the module computes from
there with machine code. Arguments: the build folder; --wheel: the wheel that builds the library itself (minutes).
Skips without pip, setuptools or wheel."""
import importlib.util
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(sys.argv[1])
WORK = os.path.join(BUILD, "pip-test")
TRY = """
import weft
a = weft.array([1.0, 4.0, 9.0])
assert weft.__file__.startswith(FOLDER), weft.__file__
assert memoryview(weft.sqrt(a * a).eval()).tolist() == [1.0, 4.0, 9.0]
assert memoryview(weft.evaluate('x + 1', {'x': a.eval()})).tolist() == [2.0, 5.0, 10.0]
maps = open('/proc/self/maps').read()
assert FOLDER in maps and 'libweft-jit' in maps, 'no machine code'
"""


def run(*command, **env):
    p = subprocess.run(command, env={**os.environ, **env}, cwd=WORK, text=True, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=900)
    if p.returncode:
        print(" ".join(command), p.stdout[-3000:], sep="\n")
    return p.returncode == 0


def main():
    missing = [m for m in ("pip", "setuptools", "wheel") if importlib.util.find_spec(m) is None]
    if missing:
        print(f"skipped: python3-{missing[0]} is not installed\n0 passed, 0 failed, 1 skipped")
        return
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    prefix, to = os.path.join(WORK, "prefix"), os.path.join(WORK, "site")
    source = os.path.join(WORK, "source")  # a copy: what setuptools writes beside its input stays out of the tree
    for part in ("bindings/python", "src/cmd", "include"):
        shutil.copytree(os.path.join(ROOT, part), os.path.join(source, part), ignore=shutil.ignore_patterns("build", "*.egg-info"))
    shutil.copy(os.path.join(ROOT, "CMakeLists.txt"), source)
    wheel = "--wheel" in sys.argv
    env = {"WEFT_PIP": "build" if wheel else "installed", "WEFT_BACKEND": "jit", "WEFT_CACHE": "off"}
    where = ROOT if wheel else source
    steps = [[sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index", "--target", to,
              os.path.join(where, "bindings", "python")],
             [sys.executable, "-c", f"FOLDER = {to!r}\n" + TRY]]
    if not wheel:
        steps.insert(0, ["cmake", "--install", BUILD, "--prefix", prefix])
    passed = 0
    for step in steps:
        good = run(*step, PYTHONPATH=to, **env)
        if step[0] == "cmake":
            env.update(PKG_CONFIG_PATH=pc(prefix))
        passed += good
        if not good:
            break
    print(f"{passed} passed, {len(steps) - passed} failed")


def pc(prefix):
    return next((folder for folder, _, files in os.walk(prefix) if "weft.pc" in files), "")


main()
