#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compiled code in GDB and perf: a breakpoint by its name, a backtrace from inside an assembly kernel through
compiled code to main, time attributed by name through the map and through jitdump. What is not installed, or may
not be used here, is skipped with a line that says why."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

WEFT = os.path.abspath(sys.argv[1])
passed = failed = skipped = 0


def check(ok, what, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAIL {what}\n{detail}")


def skip(what):
    global skipped
    skipped += 1
    print(f"skipped: {what}")


def run(*argv, **env):
    p = subprocess.run(argv, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
                       env={**os.environ, "DEBUGINFOD_URLS": "", **env})
    return p.returncode, p.stdout, p.stderr


def has_llvm():
    return "machine code" in run(WEFT, "info")[1]


def in_gdb(*commands):
    batch = ["-batch", "-nx", "-ex", "set pagination off", "-ex", "set breakpoint pending on"]
    for c in commands:
        batch += ["-ex", c]
    args = ["eval", "--backend", "jit", "--threads", "1", "sum(exp(x*y)+x, axis=0)", "x=f64[1000,10]", "y=f64[1000,10]"]
    code, out, err = run("gdb", "-q", *batch, "--args", WEFT, *args, WEFT_PERF="gdb")
    return out + err


def test_gdb():
    if not shutil.which("gdb"):
        return skip("gdb is not installed")
    text = in_gdb("break weft_mul_exp_add_sum", "run", "bt", "info symbol $pc")
    if "ptrace" in text and "not permitted" in text:
        return skip("gdb may not trace here")
    check(re.search(r"#0 .* in weft_mul_exp_add_sum \(\)", text), "a breakpoint by the name of compiled code", text)
    check(re.search(r"#\d+ .* main \(", text), "a backtrace from its first instruction to main", text)
    # inside: after its prologue, where the stack is not what it was at the entry
    text = in_gdb("break weft_mul_exp_add_sum", "run", "stepi 60", "bt", "finish")
    check(re.search(r"#1 .*run_single|#\d+ .* main \(", text), "a backtrace from inside", text)
    isa = re.search(r"isa +(\w+)", run(WEFT, "info")[1]).group(1)
    if isa not in ("avx2", "avx512"):
        return skip(f"no assembly kernels for {isa}")
    text = in_gdb(f"break kern_exp_f64_{isa}_block_code", "run", "stepi 30", "bt")
    frames = re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(\w+)", text, re.M)
    check(frames[:2] == [f"kern_exp_f64_{isa}_block_code", "weft_mul_exp_add_sum"] and frames[-1] == "main",
          "assembly kernel, compiled code, library, main in one backtrace", text)


def perf_may_record(folder):
    data = os.path.join(folder, "probe")
    code, out, err = run("perf", "record", "-e", "cpu-clock", "-o", data, "true")
    return code == 0 and os.path.exists(data)


def test_perf():
    if not shutil.which("perf"):
        return skip("perf is not installed")
    with tempfile.TemporaryDirectory() as folder:
        if not perf_may_record(folder):
            return skip("perf may not record here")
        work = [WEFT, "bench", "sqrt(x*y+x)", "x=f64[20000]", "y=f64[20000]", "--rounds", "2", "--threads", "1"]
        data, more = os.path.join(folder, "data"), os.path.join(folder, "injected")
        before = set(glob.glob("/tmp/perf-*.map") + glob.glob("/tmp/jit-*.dump"))
        run("perf", "record", "-e", "cpu-clock", "-o", data, *work, WEFT_PERF="map", WEFT_BACKEND="jit")
        code, out, err = run("perf", "report", "-i", data, "--stdio", "--sort", "sym")
        share = re.search(r"(\d+\.\d+)%.*weft_mul_add_sqrt", out)
        check(share and float(share.group(1)) > 3, "perf report by the map", out[:2000] + err)
        run("perf", "record", "-k", "mono", "-e", "cpu-clock", "-o", data, *work, WEFT_PERF="jitdump", WEFT_BACKEND="jit")
        code, out, err = run("perf", "inject", "--jit", "-i", data, "-o", more)
        if code or not os.path.exists(more):
            skip("this perf has no inject --jit")
        else:
            code, out, err = run("perf", "report", "-i", more, "--stdio", "--sort", "sym")
            share = re.search(r"(\d+\.\d+)%.*weft_mul_add_sqrt", out)
            check(share and float(share.group(1)) > 3, "perf report by jitdump", out[:2000] + err)
        mine = set(glob.glob("/tmp/perf-*.map") + glob.glob("/tmp/jit-*.dump")) - before
        for path in mine:
            number = re.search(r"\d+", path).group()
            if path.endswith(".map") and "weft_" not in open(path).read():
                continue
            for side in [path] + glob.glob(f"/tmp/jitted-{number}-*.so"):
                os.unlink(side)


if has_llvm():
    test_gdb()
    test_perf()
else:
    skip("no LLVM, no compiled code")
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed > 0)
