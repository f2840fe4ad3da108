#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The binary interface against tests/golden/abi.txt: what is exported and under which version, the layout of public
structs, the values of enumerators, the text of prototypes.

    test_abi.py BUILD            compares
    test_abi.py BUILD --write    takes what is there as the interface, after an addition that is wanted

What was removed or moved breaks programs that exist: that needs another WEFT_ABI (CMakeLists.txt), not a new list."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
GOLDEN = os.path.join(ROOT, "tests", "golden", "abi.txt")
tally = {"passed": 0, "failed": 0, "skipped": 0}


def check(ok, what):
    tally["passed" if ok else "failed"] += 1
    if not ok:
        print("FAIL:", what)
    return ok


def names(*command):
    """(name, version) of every defined symbol that nm prints."""
    text = subprocess.run(["nm", "--defined-only", *command], check=True, capture_output=True, text=True).stdout
    found = [line.split()[-1] for line in text.splitlines() if len(line.split()) == 3]
    return sorted(n for n in found if not re.fullmatch(r"WEFT_\d+\.\d+", n))


def header_text():
    """The public headers without comments and preprocessor lines."""
    text = ""
    for path in sorted(glob.glob(os.path.join(ROOT, "include", "weft", "*.h"))):
        text += re.sub(r"/\*.*?\*/|//[^\n]*", " ", open(path).read(), flags=re.S) + "\n"
    return re.sub(r"^\s*#.*(\\\n.*)*$", "", text, flags=re.M)


def prototypes(text):
    found = re.findall(r"WEFT_API\s+([^;{}]*?\bweft_\w+\s*\([^;]*?\))\s*;", text)
    return {re.search(r"\b(weft_\w+)\s*\(", f).group(1): re.sub(r"\s+", " ", f) for f in found}


def members(body):
    """Names of the members of a struct without nested braces."""
    for declaration in filter(None, (d.strip() for d in body.split(";"))):
        pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", declaration)
        if pointer:
            yield pointer.group(1)
            continue
        for part in declaration.split(","):
            yield re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", part.strip()).group(1)


def layout(text):
    """Lines about structs and enumerators, from a program that asks the compiler."""
    lines = ["#include <stddef.h>", "#include <stdio.h>", "#include <weft/weft.h>", "int main(void) {"]
    for name, body in re.findall(r"typedef\s+struct\s+(weft_\w+)\s*\{([^{}]*)\}\s*\w+\s*;", text):
        lines.append(f'printf("struct {name} %zu:", sizeof({name}));')
        lines += [f'printf(" {m}@%zu", offsetof({name}, {m}));' for m in members(body)] + ['puts("");']
    for name, body in re.findall(r"typedef\s+enum\s+(weft_\w+)\s*\{([^{}]*)\}", text):
        lines.append(f'printf("enum {name}:");')
        for e in filter(None, (e.split("=")[0].strip() for e in body.split(","))):
            if not e.endswith("__N"):
                lines.append(f'printf(" {e}=%d", (int){e});')
        lines.append('puts("");')
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "abi.c"), os.path.join(folder, "abi")
        open(source, "w").write("\n".join(lines) + "\nreturn 0; }\n")
        subprocess.run(["cc", "-I", os.path.join(ROOT, "include"), source, "-o", program], check=True)
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


def interface(build):
    text = header_text()
    declared = prototypes(text)
    exported = [n.partition("@@") for n in names("-D", os.path.join(build, "libweft.so"))]
    lines = [f"{version} {declared.get(name, name + ' (not declared)')}" for name, _, version in exported]
    return sorted(lines) + sorted(layout(text)), {n for n, _, _ in exported}, set(declared)


def grown(old, new):
    """May the line old have become new? Enumerators may be added at the end, members to structs that state their size."""
    a, b = old.split(), new.split()
    if a[0] == "struct" and a[3] != "size@0" and a[1] != "weft_stats":
        return False
    tail = a[3:] if a[0] == "struct" else a[2:]
    return a[:2] == b[:2] and (b[3:] if b[0] == "struct" else b[2:])[: len(tail)] == tail


def compare(now):
    golden = open(GOLDEN).read().splitlines()
    by_name = {" ".join(line.split()[:2]): line for line in now if line.split()[0] in ("struct", "enum")}
    for line in golden:
        if line in now:
            check(True, "")
            continue
        other = by_name.get(" ".join(line.split()[:2]))
        if other and grown(line, other):
            check(False, f"grew: {other}\n      if that is wanted: tests/test_abi.py BUILD --write")
        else:
            check(False, f"gone or changed, which breaks programs: {line}" + (f"\n      now: {other}" if other else ""))
    old_names = {" ".join(line.split()[:2]) for line in golden}
    for line in now:
        if line not in golden and " ".join(line.split()[:2]) not in old_names or line.startswith("WEFT_") and line not in golden:
            check(False, f"new: {line}\n      if that is wanted: tests/test_abi.py BUILD --write")


def neighbours(build, exported):
    """The archive has the same names, the module one."""
    extra = set(names("-g", os.path.join(build, "archive", "libweft.a"))) ^ exported
    check(not extra, f"global in the archive or in the library only: {sorted(extra)}")
    for module in glob.glob(os.path.join(build, "libweft-jit.so.*")):
        check(names("-D", module) == ["weft_jit_module"], f"{module} exports {names('-D', module)}")


def same_interface(library, other):
    """What differs between two libraries, "" for nothing; None without libabigail."""
    mine, theirs = set(names("-D", library)), set(names("-D", other))
    if mine != theirs:
        return f"exports: {sorted(mine ^ theirs)}"
    if not shutil.which("abidiff"):
        return None
    headers = os.path.join(ROOT, "include")
    p = subprocess.run(["abidiff", "--headers-dir1", headers, "--headers-dir2", headers, library, other],
                       capture_output=True, text=True)
    return p.stdout[-2000:] + p.stderr[-500:] if p.returncode else ""


def main():
    build = os.path.abspath(sys.argv[1])
    now, exported, declared = interface(build)
    if "--write" in sys.argv:
        open(GOLDEN, "w").write("\n".join(now) + "\n")
        print(f"{len(now)} lines in {os.path.relpath(GOLDEN)}")
        return 0
    check(not exported - declared, f"exported but in no header: {sorted(exported - declared)}")
    check(not declared - exported, f"in a header but not exported: {sorted(declared - exported)}")
    compare(now)
    neighbours(build, exported)
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**tally))
    return 1 if tally["failed"] or tally["passed"] < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
