#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""./dev test mutants: plants faults, one at a time, in a scratch copy of the tree, builds what the named tests
need and runs them: each fault must make one of its tests fail. A text that is no longer found is a failure of this
script, so that it follows the code. Ends with "N passed, N failed"; a survivor counts as failed."""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)

# what is wrong, file, text, replacement, tests of which one must fail
MUTANTS = [
    ("wrong tail mask: one lane too many", "src/jit/llvm/memory.c",
     "LLVMIntULT, gen_count(g, e, lanes)", "LLVMIntULE, gen_count(g, e, lanes)", ["fuzz_graph"]),
    ("swapped operands of a subtraction", "src/jit/llvm/ops.c",
     "LLVMBuildFSub(l->b, l->x, l->y, \"\")", "LLVMBuildFSub(l->b, l->y, l->x, \"\")", ["test_cases"]),
    ("missing NaN check in fmin and fmax", "src/jit/llvm/ops.c",
     "    r = select_of(l, fcmp(l, LLVMRealUNO, l->y, l->y), l->x, r);\n", "", ["test_cases"]),
    ("last chunk left out", "src/runtime/cut.c",
     "w->nchunk = ceil_div(w->units, w->unit_step)", "w->nchunk = MAX_OF(1, w->units / w->unit_step)", ["test_runtime"]),
    ("stale plan: strides of outputs not in the key", "src/api/eval.c",
     "sizeof(int64_t) * (size_t)q->outs[i].rank);", "0);", ["test_api"]),
    ("lost lock: two threads may take one chunk", "src/runtime/pool.c",
     "int64_t i = atomic_fetch_add_explicit(&r->next, 1, memory_order_relaxed);",
     "int64_t i = atomic_load_explicit(&r->next, memory_order_relaxed);\n"
     "            atomic_store_explicit(&r->next, i + 1, memory_order_relaxed);", ["test_runtime"]),
    ("wrong promotion of integers of one width", "src/ir/types.c",
     "if (na > nb) return a;", "if (na >= nb) return a;", ["test_ir"]),
    ("wrong sign of a slice's stride", "src/ir/view_map.c",
     "set(m, i, i, i == axis ? a[3] : 1);", "set(m, i, i, i == axis ? -a[3] : 1);", ["test_ir_views"]),
    ("missing bounds check of negative indices", "src/runtime/gather.c",
     "const bool in = (uint64_t)v < (uint64_t)extent;", "const bool in = v < extent;", ["index_numpy"]),
    ("wrong rounding: halves away from zero", "src/jit/llvm/ops.c",
     "\"llvm.roundeven\"", "\"llvm.round\"", ["test_cases"]),
    ("overlap of output and input not seen", "src/runtime/bind.c",
     "if (rt_arrays_overlap(&o, &a)) return true;", "(void)o, (void)a;", ["test_api"]),
    ("code in use may be dropped", "src/jit/code.c",
     "        if (e->refs) continue;\n", "", ["test_engine"]),
]
TARGET_OF = {"index_numpy": "weft"}


def copy_tree(scratch):
    """Tracked files and new ones, by content, so that what did not change is not built again."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in names.stdout.splitlines():
        to, source = os.path.join(scratch, name), os.path.join(ROOT, name)
        if not os.path.exists(source):
            continue
        data = open(source, "rb").read()
        if os.path.exists(to) and open(to, "rb").read() == data:
            continue
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copy(source, to)


def build(scratch, targets):
    folder = os.path.join(scratch, "build", "m")
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        subprocess.run(["cmake", "-S", scratch, "-B", folder, "-G", "Ninja", "-DWEFT_DEV=ON", "-DWEFT_BENCH=OFF", "-DWEFT_EXAMPLES=OFF"] + launcher,
                       check=True, capture_output=True)
    p = subprocess.run(["ninja", "-C", folder, "weft", "weft_jit"] + targets, capture_output=True, text=True)
    if p.returncode:
        raise SystemExit("the scratch copy does not build:\n" + p.stdout[-2000:] + p.stderr[-2000:])
    return folder


def fails(folder, test):
    command = [os.path.join(folder, "tests", test)]
    if test == "fuzz_graph":
        command += ["--graphs", "400", "--seconds", "200", "--seed", "1"]
    if test == "index_numpy":
        command = [sys.executable, os.path.join(HERE, "test_index_numpy.py"), os.path.join(folder, "libweft.so")]
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, timeout=600).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def caught_by(scratch, mutant):
    what, name, text, instead, tests = mutant
    path = os.path.join(scratch, name)
    original = open(path).read()
    if text not in original:
        raise SystemExit(f"mutants.py: '{text}' is no longer in {name}: bring '{what}' up to date\n0 passed, 1 failed")
    try:
        open(path, "w").write(original.replace(text, instead, 1))
        folder = build(scratch, [TARGET_OF.get(t, t) for t in tests])
        return next((t for t in tests if fails(folder, t)), None)
    finally:
        open(path, "w").write(original)


def main():
    scratch = os.path.join(ROOT, "build", "mutants")
    wanted = [m for m in MUTANTS if len(sys.argv) < 2 or sys.argv[1] in m[0]]
    copy_tree(scratch)
    tests = sorted({t for m in wanted for t in m[4]})
    folder = build(scratch, [TARGET_OF.get(t, t) for t in tests])
    survivors = 0
    for t in tests:
        if fails(folder, t):
            raise SystemExit(f"{t} fails without any fault\n0 passed, 1 failed")
    for m in wanted:
        by = caught_by(scratch, m)
        survivors += by is None
        print(f"{'ok  ' if by else 'FAIL'} {m[0]}: {'caught by ' + by if by else 'SURVIVED'}", flush=True)
    build(scratch, [])  # leaves the scratch copy without a fault
    print(f"{len(wanted) - survivors} passed, {survivors} failed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
