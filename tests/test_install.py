#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""weft as something that other programs depend on: installs the build into a folder under it, moves that folder, and
uses it from there as a new user would: a C and a C++ program by pkg-config and by CMake, shared and static, the commands,
their manuals and completions; then the forms of WEFT_JIT. Argument: the build folder."""
import glob
import os
import re
import shutil
import subprocess
import sys

import test_abi

ROOT = test_abi.ROOT
BUILD = os.path.abspath(sys.argv[1])
WORK = os.path.join(BUILD, "install-test")
TREE = os.path.join(WORK, "moved")
CONSUMER = os.path.join(ROOT, "tests", "consumer")
tally = {"passed": 0, "failed": 0, "skipped": 0}
# Without machine code kept by earlier processes: it runs without LLVM, so that a missing module would not show.
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("WEFT_", "LD_", "PKG_CONFIG", "CMAKE_"))} | {"WEFT_CACHE": "off"}


def check(ok, what):
    tally["passed" if ok else "failed"] += 1
    if not ok:
        print("FAIL:", what)
    return ok


def skip(why):
    tally["skipped"] += 1
    print("skipped:", why)


def run(*command, cwd=WORK, **env):
    return subprocess.run(command, cwd=cwd, env={**CLEAN, **env}, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=300)


def works(*command, **kw):
    p = run(*command, **kw)
    check(p.returncode == 0, f"{' '.join(command)}: {p.returncode}\n{p.stdout[-3000:]}")
    return p.stdout


def libdir():
    return os.path.dirname(glob.glob(os.path.join(TREE, "**", "libweft.so.1"), recursive=True)[0])


def has_module():
    return bool(glob.glob(os.path.join(libdir(), "weft", "libweft-jit.so.1")))


def cache(name):
    return re.search(rf"^{name}:\w+=(.*)$", open(os.path.join(BUILD, "CMakeCache.txt")).read(), re.M).group(1)


# ---- the tree -----------------------------------------------------------------------------------------
def install():
    """Through a staging folder, then moved: nothing may rely on the place it was configured or installed for."""
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    works("cmake", "--install", BUILD, "--prefix", "/nowhere/weft", DESTDIR=os.path.join(WORK, "stage"))
    os.rename(os.path.join(WORK, "stage", "nowhere", "weft"), TREE)
    have = {os.path.relpath(os.path.join(f, n), TREE) for f, _, names in os.walk(TREE) for n in names}
    lib = os.path.relpath(libdir(), TREE)
    for name in ("include/weft/weft.h", f"{lib}/libweft.so", f"{lib}/libweft.a", f"{lib}/pkgconfig/weft.pc",
                 f"{lib}/cmake/weft/weft-config.cmake", "bin/weft", "share/man/man1/weft.1", "share/man/man3/weft.3",
                 "share/bash-completion/completions/weft", "share/zsh/site-functions/_weft",
                 "share/fish/vendor_completions.d/weft.fish"):
        check(name in have, f"{name} was not installed")
    headers = {os.path.basename(h) for h in glob.glob(os.path.join(ROOT, "include", "weft", "*.h"))}
    check({n for n in have if n.startswith("include/")} == {f"include/weft/{h}" for h in headers}, "not the public headers")
    soname = works("objdump", "-p", os.path.join(libdir(), "libweft.so.1"))
    check("SONAME               libweft.so.1\n" in soname, "SONAME is not libweft.so.1")
    for name in sorted(have):  # no text may name the place where it was built
        if name.startswith(("share/", "include/")) or name.endswith((".pc", ".cmake")):
            text = open(os.path.join(TREE, name)).read()
            check(ROOT not in text and BUILD not in text and "/nowhere" not in text, f"{name} names a folder of the build")


def headers():
    """Every standard that a user may compile with, warnings as errors."""
    include = os.path.join(TREE, "include")
    source = '#include <weft/weft.h>\nint f(void);\nint f(void) { return weft_version() == 0; }\n'
    for language, compiler, standards in (("c", "cc", ("c99", "c11", "c17", "c2x")), ("c++", "c++", ("c++11", "c++17", "c++20"))):
        for standard in standards:
            p = subprocess.run([compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                                "-fsyntax-only", "-I", include, "-"], input=source, text=True, capture_output=True)
            check(p.returncode == 0, f"weft.h as {standard}:\n{p.stderr[-1500:]}")


# ---- programs -----------------------------------------------------------------------------------------
def tier_of(program, tier, **env):
    out = works(program, tier, **env)
    return check(out.startswith("weft "), f"{program} said {out!r}")


def linked(program):
    return works("ldd", program, LD_LIBRARY_PATH=libdir())


def by_pkg_config(tier):
    pc = {"PKG_CONFIG_PATH": os.path.join(libdir(), "pkgconfig")}
    version = works("pkg-config", "--modversion", "weft", **pc).strip()
    check(works(os.path.join(TREE, "bin", "weft"), "--version").strip() == f"weft {version}", "versions differ")
    folder = os.path.join(WORK, "make")
    os.makedirs(folder)
    works("make", "-s", "-f", os.path.join(CONSUMER, "Makefile"), cwd=folder, **pc)
    for name in ("make_c", "make_cxx"):
        tier_of(os.path.join(folder, name), tier, LD_LIBRARY_PATH=libdir())
    check("libweft.so.1" in linked(os.path.join(folder, "make_c")), "make_c is not linked to libweft.so.1")
    return os.path.join(folder, "make_static")


def by_cmake(tier):
    folder = os.path.join(WORK, "cmake")
    works("cmake", "-S", CONSUMER, "-B", folder, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={TREE}")
    works("cmake", "--build", folder)
    for name in ("cmake_c", "cmake_cxx"):  # CMake gives them a run path
        tier_of(os.path.join(folder, name), tier)
    return os.path.join(folder, "cmake_static")


def static(program, tier):
    """One file that needs neither libweft nor LLVM; machine code where it finds the module."""
    need = linked(program)
    check("libweft" not in need and "LLVM" not in need, f"{program} needs {need}")
    tier_of(program, "interp" if cache("WEFT_JIT") != "static" else "jit")
    if not has_module():
        return
    module = os.path.join(libdir(), "weft", "libweft-jit.so.1")
    tier_of(program, tier, WEFT_JIT_MODULE=module)
    tier_of(program, tier, LD_LIBRARY_PATH=os.path.dirname(module))
    inside = shutil.copy(program, os.path.join(TREE, "bin", "consumer"))
    tier_of(inside, tier)
    os.remove(inside)


def without_module():
    """The package with the module may be left out: the same numbers, interpreted."""
    module = os.path.join(libdir(), "weft", "libweft-jit.so.1")
    os.rename(module, module + ".away")
    tier_of(os.path.join(WORK, "cmake", "cmake_c"), "interp")
    os.rename(module + ".away", module)


# ---- commands -----------------------------------------------------------------------------------------
def commands(tier):
    weft = os.path.join(TREE, "bin", "weft")
    out = works(weft, "eval", "sqrt(x*y+x)", "x=4", "y=3")
    check(float(out) == 4, f"weft eval gave {out!r}")
    check(("machine code" in works(weft, "info")) == (tier == "jit"), "weft info names other tiers")
    bench = os.path.join(TREE, "bin", "weft-bench")
    if os.path.exists(bench):
        out = works(bench, "--suite", "call", "--quick", "--filter", "nothing has this name")
        check("CPUs" in out, f"weft-bench said {out!r}")
        check(os.path.exists(os.path.join(TREE, "share", "weft", "numpy_peer.py")), "weft-bench has no script for its peers")


def manuals():
    tools = [t for t in ("man", "groff") if shutil.which(t)]
    if not tools:
        return skip("manual pages (apt-get install man-db groff-base)")
    for page in sorted(glob.glob(os.path.join(TREE, "share", "man", "man*", "*"))):
        for tool in tools:
            command = ["man", "--warnings", "-l", page] if tool == "man" else ["groff", "-ww", "-man", "-Tutf8", page]
            p = subprocess.run(command, env={**CLEAN, "LC_ALL": "C.UTF-8", "MANWIDTH": "100"}, capture_output=True, text=True)
            check(p.returncode == 0 and not p.stderr and "weft" in p.stdout, f"{tool} {page}: {p.stderr[-800:]}")
    weft = os.path.join(TREE, "bin", "weft")
    for name, command in (("weft", weft), ("weft-bench", weft + "-bench")):
        if not os.path.exists(command):
            continue
        page = open(os.path.join(TREE, "share", "man", "man1", name + ".1")).read().replace("\\-", "-")
        text = works(command, "--help")
        for option in sorted(set(re.findall(r"--[a-z][a-z-]*", text)) | set(re.findall(r"weft ([a-z]+) ", text) if name == "weft" else [])):
            check(option in page, f"{name}.1 says nothing of {option}")


BASH = r"""
source "$1"
words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; _weft; echo " ${COMPREPLY[*]} "; }
words weft ex; words weft eval x --unf; words weft eval 'sqrt(x) + arcta'; words weft eval x --isa a
words weft sa; words weft eval --che; words weft eval --graph kept
COMP_WORDS=(weft eval x x = f1) COMP_CWORD=5 COMP_LINE='weft eval x x=f1' COMP_POINT=16; _weft; echo " ${COMPREPLY[*]} "
"""
# the functions of zsh's completion system that are used, reduced to what they decide
ZSH = r"""
compdef() { : }
compadd() {
    local -a o; local a
    while (($#)); do case $1 in -a) shift; o=(${(P)1}) ;; -S) shift ;; -q) ;; *) o+=($1) ;; esac; shift; done
    print -rn -- " "; for a in $o; do [[ $a == ${PREFIX}* ]] && print -rn -- "$a "; done
}
compset() { [[ $PREFIX == ${~2}* ]] || return 1; PREFIX=${PREFIX##${~2}} }
_files() { [[ $1 == -g ]] && compadd ${~2}(N) }
source "$1"
words() { words=("$@"); CURRENT=$#; PREFIX=$words[-1]; _weft; print }
words weft ex; words weft eval x --unf; words weft eval 'sqrt(x) + arcta'; words weft eval x --isa a
words weft sa; words weft eval --che; words weft eval --graph kept; words weft eval x x=f1
"""
FISH = r"""
source $argv[1]
for line in "weft ex" "weft eval x --unf" "weft eval 'sqrt(x) + arcta" "weft eval x --isa a" "weft sa" "weft eval --che" \
        "weft eval --graph kept" "weft eval x x=f1"
    echo " "(complete -C $line | string replace -r '\t.*' '' | string join ' ')" "
end
"""


def completions():
    share = os.path.join(TREE, "share")
    for shell, file, script in (("bash", "bash-completion/completions/weft", BASH), ("zsh", "zsh/site-functions/_weft", ZSH),
                                ("fish", "fish/vendor_completions.d/weft.fish", FISH)):
        if not shutil.which(shell):
            skip(f"completion for {shell} (apt-get install {shell})")
            continue
        option = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
        path = os.path.join(WORK, "complete." + shell)
        open(path, "w").write(script)
        open(os.path.join(WORK, "kept.weft"), "w").close()
        out = works(shell, *option, path, os.path.join(share, file), PATH=os.path.join(TREE, "bin") + ":" + os.environ["PATH"])
        lines = out.splitlines() + [""] * 8
        check("explain " in lines[0] and "eval" not in lines[0], f"{shell}, verbs: {lines[0]!r}")
        check("--unfused " in lines[1] and "--json" not in lines[1], f"{shell}, options: {lines[1]!r}")
        check("arctan2" in lines[2] and "sinh" not in lines[2], f"{shell}, operations: {lines[2]!r}")
        check(sorted(lines[3].split()) == ["avx2", "avx512"], f"{shell}, instruction sets: {lines[3]!r}")
        check("save " in lines[4] and "eval" not in lines[4], f"{shell}, save: {lines[4]!r}")
        check("--check " in lines[5], f"{shell}, --check: {lines[5]!r}")
        check("kept.weft" in lines[6] and "sqrt" not in lines[6], f"{shell}, saved graphs: {lines[6]!r}")
        check("f16" in lines[7] and "f32" not in lines[7], f"{shell}, values: {lines[7]!r}")


# ---- forms of WEFT_JIT --------------------------------------------------------------------------------
def form(name, tier):
    """A program linked to libweft.so.1, given the library of another form."""
    p = run("cmake", "--build", BUILD, "--target", f"weft_form_{name}")
    if "unknown target" in p.stdout:
        return skip(f"WEFT_JIT={name}: there is no LLVM")
    check(p.returncode == 0, f"building WEFT_JIT={name}:\n{p.stdout[-1500:]}")
    folder = os.path.join(BUILD, "forms", name)
    tier_of(os.path.join(WORK, "make", "make_c"), tier, LD_LIBRARY_PATH=folder)
    need = works("ldd", os.path.join(folder, "libweft.so"))
    if name == "static" and "libLLVM" in need:
        skip("LLVM's archives: one of the libraries they link is missing (apt-get install libzstd-dev)")
    else:
        check("LLVM" not in need, f"WEFT_JIT={name} needs {need}")
    if name == "off":
        differs = test_abi.same_interface(os.path.join(BUILD, "libweft.so"), os.path.join(folder, "libweft.so"))
        skip("libabigail (apt-get install abigail-tools)") if differs is None else check(not differs, differs)
    else:
        exported = set(test_abi.names("-D", os.path.join(folder, "libweft.so")))
        check(exported == set(test_abi.names("-D", os.path.join(BUILD, "libweft.so"))), "WEFT_JIT=static exports other names")


def configure_without_llvm():
    """WEFT_JIT=off must not look for LLVM; an unknown form is an error that says which there are."""
    for value, good in (("off", True), ("maybe", False)):
        folder = os.path.join(WORK, "configure-" + value)
        p = run("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", f"-DWEFT_JIT={value}", "-DWEFT_TESTS=OFF", "-DWEFT_BENCH=OFF",
                "-DWEFT_EXAMPLES=OFF")
        check((p.returncode == 0) == good, f"WEFT_JIT={value}: {p.stdout[-800:]}")
        if good:
            check("LLVM_CONFIG" not in open(os.path.join(folder, "CMakeCache.txt")).read(), "WEFT_JIT=off looked for LLVM")
        else:
            check("module, static or off" in p.stdout, p.stdout[-800:])


def main():
    install()
    tier = "jit" if has_module() or cache("WEFT_JIT") == "static" else "interp"
    headers()
    programs = [by_pkg_config(tier), by_cmake(tier)]
    for program in programs:
        static(program, tier)
    if has_module():
        without_module()
    commands(tier)
    manuals()
    completions()
    form("off", "interp")
    form("static", "jit")
    configure_without_llvm()
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**tally))
    return 1 if tally["failed"] or tally["passed"] < 60 else 0


if __name__ == "__main__":
    sys.exit(main())
