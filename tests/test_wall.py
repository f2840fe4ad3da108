#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The include wall: each room may include only what docs/architecture.md's table says, the C API of LLVM
stays behind jit/llvm.h, every source carries its licence line, and the public header is C99 and C++ by
itself. Ends with "N passed, N failed"."""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
# room -> rooms whose door it may include ("weft" is the public vocabulary)
ALLOWED = {
    "base": {"weft"},
    "nest": {"base"},
    "half": set(),
    "kernels": {"base", "half"},
    "ir": {"base"},
    "runtime": {"base", "half", "nest", "kernels"},
    "fuse": {"base", "nest", "ir"},
    "jit": {"base", "half", "nest", "kernels", "ir", "runtime", "fuse"},
    "jit/llvm": {"base", "nest", "kernels", "ir", "jit"},
    "api": {"base", "nest", "kernels", "ir", "runtime", "fuse", "jit"},
    "cmd": {"weft"},
}
# what one room may see of another: its door, and the tables
DOORS = {
    "base": {"base.h"}, "half": {"half.h"}, "nest": {"nest.h"}, "kernels": {"kern.h", "calls.h", "kernels.def"},
    "ir": {"ir.h", "ops.def", "scalar.h"}, "runtime": {"runtime.h"}, "fuse": {"plan.h"},
    "jit": {"jit.h", "llvm.h"},
}


def room_of(path):
    parts = os.path.relpath(path, os.path.join(ROOT, "src")).split(os.sep)
    if len(parts) == 1:
        return os.path.splitext(parts[0])[0]
    return "jit/llvm" if parts[:2] == ["jit", "llvm"] else parts[0]


def check(path):
    room, text = room_of(path), open(path).read()
    problems = [] if "SPDX-License-Identifier: MIT" in text[:200] else ["no SPDX line"]
    for inc in re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', text, re.M):
        if inc.startswith("llvm-c/") and room != "jit/llvm":
            problems.append(f"includes {inc}")
        if inc.startswith("weft/"):
            continue
        target = os.path.normpath(os.path.join(os.path.dirname(path), inc))
        if not os.path.exists(target):
            continue  # a system header
        if not target.startswith(os.path.join(os.path.normpath(ROOT), "src") + os.sep):
            problems.append(f"includes {inc} from outside src")
            continue
        other = room_of(target)
        if other == room or (room == "jit/llvm" and other == "jit" and os.path.basename(inc) == "llvm.h"):
            continue
        if other not in ALLOWED[room]:
            problems.append(f"room {room} may not include {inc} of room {other}")
        elif os.path.basename(inc) not in DOORS.get(other, set()):
            problems.append(f"{inc} is not a door of room {other}")
    return problems


def public_header(compiler, *standard):
    """The public header alone, all warnings as errors; None when there is no such compiler."""
    if not shutil.which(compiler):
        print(f"skipped: the header under {' '.join(standard)}: there is no {compiler}")
        return None
    p = subprocess.run([compiler, *standard, "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-I",
                        os.path.join(ROOT, "include"), "-"], input="#include <weft/weft.h>\n", text=True, capture_output=True)
    print(p.stderr, end="")
    return p.returncode == 0


def main():
    passed = failed = skipped = 0
    for compiler, *standard in (("c++", "-xc++", "-std=c++11"), ("c++", "-xc++", "-std=c++17"), ("cc", "-xc", "-std=c99")):
        ok = public_header(compiler, *standard)
        passed, failed, skipped = passed + (ok is True), failed + (ok is False), skipped + (ok is None)
    for folder, _, files in os.walk(os.path.normpath(os.path.join(ROOT, "src"))):
        for name in sorted(files):
            if not name.endswith((".c", ".h", ".S", ".def", ".inc")):
                continue
            problems = check(os.path.join(folder, name))
            for p in problems:
                print(f"{os.path.relpath(os.path.join(folder, name), ROOT)}: {p}")
            passed, failed = passed + (not problems), failed + bool(problems)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or passed < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
