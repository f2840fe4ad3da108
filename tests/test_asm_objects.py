#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every assembly source of src/kernels, assembled as a hardened build does (-fcf-protection) and looked at with readelf: a stack that is
not executable, unwinding tables for every function, endbr64 at every entry, the CET mark, a row of kernels.def for every entry. And the headers: the greatest
errors known, with their inputs, are those of docs/exhaustive.md.

usage: test_asm_objects.py [CC] [--write]    (--write puts the errors into the headers)
Ends with "N passed, N failed".
"""
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
X86 = os.path.join(ROOT, "src", "kernels", "x86_64")
failures, checks = [], 0


def check(ok, what):
    global checks
    checks += 1
    if not ok:
        failures.append(what)


def readelf(obj, *options):
    return subprocess.run(["readelf", "-W", *options, obj], capture_output=True, text=True, check=True).stdout


# ---- objects
def assemble(cc, source, level, folder):
    out = os.path.join(folder, f"{os.path.basename(source)}.{level}.o")
    flags = [f"-DVM_ISA={level}", f"-DVM_AVX512={int(level == 'avx512')}"] if level else []
    subprocess.run([cc, "-c", "-fPIC", "-fcf-protection", *flags, source, "-o", out], check=True)
    return os.path.basename(out)[:-2], out


def functions(obj):
    rows = re.findall(r"^ *\d+: ([0-9a-f]+) +(\d+) FUNC +\w+ +\w+ +(\d+) (\S+)$", readelf(obj, "-s"), re.M)
    return [(name, int(section), int(at, 16), int(size)) for at, size, section, name in rows]


def in_the_registry(name, obj):
    """Every entry that C can see is a row of kernels.def, which test_guards runs between pages that cannot be touched, a matrix tile,
    or the way that all block kernels share to the recipe."""
    with open(os.path.join(ROOT, "src", "kernels", "kernels.def"), encoding="utf-8") as f:
        table = f.read()
    rows = set(re.findall(r"\bkern_\w+", table))
    rows |= {f"kern_{f}_{t}_{isa}_{how}" for f, t in re.findall(r"^ASSEMBLY\((\w+), (\w+),", table, re.M)
             for isa in ("avx2", "avx512") for how in ("asm", "block_code")}
    for function in re.findall(r"FUNC +GLOBAL +\w+ +\d+ (\S+)$", readelf(obj, "-s"), re.M):
        check(function in rows or name.startswith(("gemm_", "rescue.")), f"{name}: {function} is no row of kernels.def")


def section(obj, number):
    row = re.search(rf"^ *\[ *{number}\] \S+ +PROGBITS +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", readelf(obj, "-S"), re.M)
    with open(obj, "rb") as f:
        f.seek(int(row[1], 16))
        return f.read(int(row[2], 16))


def look_at(name, obj):
    stack = re.search(r"\.note\.GNU-stack +PROGBITS(.*)", readelf(obj, "-S"))
    check(stack and "X" not in stack[1].split()[3:4], f"{name}: .note.GNU-stack says a stack that is not executable")
    notes = readelf(obj, "-n")
    check("IBT" in notes and "SHSTK" in notes, f"{name}: no CET mark")
    frames = sorted((int(a, 16), int(b, 16)) for a, b in re.findall(r"pc=([0-9a-f]+)\.\.([0-9a-f]+)", readelf(obj, "--debug-dump=frames")))
    found = functions(obj)
    check(found, f"{name}: no function")
    in_the_registry(name, obj)
    for function, number, at, size in found:
        check((at, at + size) in frames, f"{name}: {function} has no unwinding table of its size")
        check(section(obj, number)[at:at + 4] == b"\xf3\x0f\x1e\xfa", f"{name}: {function} does not begin with endbr64")


# ---- headers
def known_errors():
    errors, dtype = {}, None
    with open(os.path.join(ROOT, "docs", "exhaustive.md"), encoding="utf-8") as f:
        for line in f:
            if line.startswith("#"):
                dtype = "f32" if "f32" in line else "f64"
            row = re.match(r"\| (\w+) \| ([\d.]+) \| ([^|]+?) \|( AVX)?", line)
            if row:
                errors[row[1], dtype] = (float(row[2]), row[3], bool(row[4]))
    return errors


def made_by(text):
    """(family, dtype) of the functions of a source, in order; T is the type of hyper.inc's includer."""
    wide = [(m.start(), m[1], "f32") for m in re.finditer(r"^ *VM_FUNCTION_WIDE (\w+),", text, re.M)]
    plain = [(m.start(), m[1], m[2]) for m in re.finditer(r"^ *VM_FUNCTION (\w+), (\w+),", text, re.M)]
    return [(f, t) for _, f, t in sorted(wide + plain)]


def error_lines(functions_, errors):
    parts = [f"{f} {errors[f, t][0]:.4f} at {errors[f, t][1]}" for f, t in functions_]
    swept = all(errors[f, t][2] for f, t in functions_)
    words = ("in ULP" + (" (all arguments)" if swept else "") + ": " + "; ".join(parts)).split(" ")
    lines, line = [], "// Error     "
    for word in words:
        if len(line) + 1 + len(word) > 118:
            lines.append(line)
            line = "//           "
        line += " " + word
    return "\n".join(lines + [line]) + "\n"


def headers(write):
    errors = known_errors()
    with open(os.path.join(X86, "math", "hyper.inc"), encoding="utf-8") as f:
        hyper = f.read()
    for path in sorted(glob.glob(os.path.join(X86, "math", "*.S"))):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        dtype = path[-5:-2]
        found = [(f, t if t != "T" else dtype) for f, t in made_by(text + (hyper if '"hyper.inc"' in text else ""))]
        if not found:
            continue
        want = re.sub(r"^// Error .*\n(?://  .*\n)*", lambda _: error_lines(found, errors), text, count=1, flags=re.M)
        if write and want != text:
            with open(path, "w", encoding="utf-8") as f:
                f.write(want)
        check(write or want == text, f"{os.path.basename(path)}: its line Error is not that of docs/exhaustive.md (--write)")


def main():
    words = [a for a in sys.argv[1:] if not a.startswith("-")]
    headers("--write" in sys.argv)
    if "--write" not in sys.argv:
        plain = [(s, None) for s in glob.glob(os.path.join(X86, "*.S"))]
        both = [(s, level) for s in glob.glob(os.path.join(X86, "math", "*.S")) for level in ("avx2", "avx512")]
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(assemble, words[0] if words else "cc", *job, folder) for job in plain + both]
            for job in jobs:
                look_at(*job.result())
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"{checks - len(failures)} passed, {len(failures)} failed")
    return 1 if failures or not checks else 0


if __name__ == "__main__":
    sys.exit(main())
