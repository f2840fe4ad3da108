#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The Debian packages: built from a copy of the tree, asked by lintian, unpacked together and used, then installed with
dpkg and purged where root can lay overlays over the system. Long (it compiles everything again), so behind
`./dev test package`. Argument: a folder to work in."""
import glob
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PACKAGES = ("libweft1", "libweft-jit1", "libweft-dev", "weft")
# without machine code of earlier processes: it would run without the module
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("WEFT_", "LD_", "PKG_CONFIG", "CMAKE_"))} | {"WEFT_CACHE": "off"}
tally = {"passed": 0, "failed": 0}


def check(ok, what):
    tally["passed" if ok else "failed"] += 1
    if not ok:
        print("FAIL:", what)


def run(*command, **kw):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, **kw)


def copy(work):
    """What git knows, as it is now."""
    tree = os.path.join(work, "weft-0.1.0")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
        shutil.copy2(os.path.join(ROOT, name), os.path.join(tree, name))
    return tree


def use(root):
    """A program against the unpacked packages."""
    lib = os.path.dirname(glob.glob(os.path.join(root, "usr/lib/*/libweft.so.1"))[0])
    program = os.path.join(root, "consumer")
    p = run("cc", "-O2", "-ffp-contract=off", "-I", os.path.join(root, "usr/include"),
            os.path.join(ROOT, "tests/consumer/consumer.c"), "-o", program, "-L", lib, "-lweft", "-lm")
    check(p.returncode == 0, p.stdout[-2000:])
    p = run(program, "jit", env=CLEAN | {"LD_LIBRARY_PATH": lib})
    check(p.returncode == 0, f"the consumer: {p.stdout}")
    p = run(os.path.join(root, "usr/bin/weft"), "eval", "x+1", "x=2", env=CLEAN | {"LD_LIBRARY_PATH": lib})
    check(p.stdout.strip() == "3", f"weft eval: {p.stdout}")
    for file in glob.glob(os.path.join(root, "usr/lib/*/**"), recursive=True) + glob.glob(os.path.join(root, "usr/bin/*")):
        if os.path.isfile(file) and not file.endswith((".cmake", ".pc")):
            check(ROOT.encode() not in open(file, "rb").read(), f"{file} names the folder of the source")
        if os.path.isfile(file) and open(file, "rb").read(4) == b"\x7fELF":
            check("RPATH" not in run("objdump", "-p", file).stdout and "RUNPATH" not in run("objdump", "-p", file).stdout,
                  f"{file} has a run path")


# ---- installed ----------------------------------------------------------------------------------------
# In a mount namespace whose /usr, /etc and /var are overlays in memory: dpkg works on the real system, and with the
# namespace everything that it did is gone.
OVERLAY = """set -e
mkdir -p "$1" && mount -t tmpfs weft "$1"
for d in usr etc var; do
    mkdir -p "$1/$d/upper" "$1/$d/work"
    mount -t overlay overlay -o "lowerdir=/$d,upperdir=$1/$d/upper,workdir=$1/$d/work" "/$d"
done
shift
exec "$@"
"""


def overlaid(work, *command, **kw):
    return run("unshare", "--mount", "sh", "-c", OVERLAY, "sh", os.path.join(work, "layer"), *command, **kw)


def works(*command, **kw):
    p = run(*command, **{"env": CLEAN} | kw)
    check(p.returncode == 0, f"{' '.join(command)}: {p.returncode}\n{p.stdout[-2000:]}")
    return p.stdout


def ours():
    found = run("find", "/usr", "/etc", "/var/lib", "-name", "*weft*", "-not", "-path", "/usr/src/*").stdout.split()
    return sorted(f for f in found if not f.startswith(ROOT))


def programs(work):
    """tests/consumer with nothing said of where weft is: pkg-config and CMake know."""
    for name in ("make", "cmake"):
        os.makedirs(os.path.join(work, name))
    source = os.path.join(ROOT, "tests", "consumer")
    works("make", "-s", "-f", os.path.join(source, "Makefile"), cwd=os.path.join(work, "make"))
    works("cmake", "-S", source, "-B", os.path.join(work, "cmake"), "-G", "Ninja")
    works("cmake", "--build", os.path.join(work, "cmake"))
    for way in ("make", "cmake"):
        for kind in ("c", "cxx", "static"):
            program = os.path.join(work, way, f"{way}_{kind}")
            check(works(program, "jit").startswith("weft "), f"{program} says something else")
            need = works("ldd", program)
            check("LLVM" not in need and ("libweft.so.1" in need) == (kind != "static"), f"{program} needs {need}")


def installed(work):
    """In the namespace: what a user of the packages does, and what is left when they are purged."""
    before = ours()
    check(not before, f"weft is installed here already: {before}")
    works("dpkg", "-i", *(glob.glob(os.path.join(work, p + "_*.deb"))[0] for p in PACKAGES), env=CLEAN | {"DEBIAN_FRONTEND": "noninteractive"})
    for package in PACKAGES:
        check(works("dpkg", "--verify", package) == "", f"{package}: files differ")
    programs(os.path.join(work, "installed"))
    check(works("weft", "eval", "sqrt(x*y+x)", "x=4", "y=3").strip() == "4.0", "weft eval")
    check("machine code" in works("weft", "info"), "weft info knows no machine code")
    explained = works("weft", "explain", "--asm", "sqrt(x*y+x)", "x=f64[1000]", "y=f64[1000]", "--isa", "avx2")
    check("vsqrtpd" in explained, f"weft explain --asm: {explained[-500:]}")
    check("CPUs" in works("weft-bench", "--suite", "call", "--quick", "--filter", "nothing has this name"), "weft-bench")
    if shutil.which("man"):
        check("weft" in works("man", "weft") and "weft" in works("man", "3", "weft"), "man weft")
    # without LLVM's package: the same number, interpreted
    works("dpkg", "--remove", "libweft-jit1")
    check("interp" in works(os.path.join(work, "installed", "cmake", "cmake_static"), "interp"), "libweft alone")
    works("dpkg", "--purge", *PACKAGES)
    check(not ours(), f"left behind: {ours()}")


def in_namespace(work):
    if run("unshare", "--mount", "true").returncode or overlaid(work, "true").returncode:
        print("SKIP: dpkg -i (it wants root and an overlay file system, so that this system stays as it is)")
        return
    p = overlaid(work, sys.executable, os.path.abspath(__file__), "--installed", work)
    counted = re.search(r"^(\d+) passed, (\d+) failed$", p.stdout, re.M)
    check(counted is not None and counted[2] == "0", f"installed:\n{p.stdout[-4000:]}")
    if counted:
        tally["passed"] += int(counted[1])


def ends():
    print("{passed} passed, {failed} failed".format(**tally))
    return 1 if tally["failed"] or not tally["passed"] else 0


def main():
    missing = [t for t in ("dpkg-buildpackage", "dh", "lintian", "git") if not shutil.which(t)]
    if missing:
        print(f"SKIP: no {', '.join(missing)} (apt-get install dpkg-dev debhelper lintian git)")
        return 0
    work = os.path.abspath(sys.argv[-1])
    if sys.argv[1] == "--installed":
        installed(work)
        return ends()
    shutil.rmtree(work, ignore_errors=True)
    tree = copy(work)
    p = run("dpkg-buildpackage", "-us", "-uc", cwd=tree)
    check(p.returncode == 0, "dpkg-buildpackage:\n" + p.stdout[-4000:])
    if p.returncode:
        return 1
    check(len(glob.glob(os.path.join(work, "weft_*.dsc"))) == 1, "there is no source package")
    changes = glob.glob(os.path.join(work, "*.changes"))[0]
    # not spelling in binaries: it reads machine code, where "wIcH" was found once
    said = [line for line in run("lintian", "--display-info", "--pedantic", "--suppress-tags", "spelling-error-in-binary",
                                 changes, cwd=work).stdout.splitlines()
            if line and "root privileges" not in line]
    check(not said, "lintian:\n" + "\n".join(said))
    root = os.path.join(work, "root")
    for package in PACKAGES:
        file = glob.glob(os.path.join(work, package + "_*.deb"))
        check(len(file) == 1, f"{package} was not built")
        needs = run("dpkg-deb", "-f", file[0], "Depends").stdout
        check(("llvm" in needs) == (package == "libweft-jit1"), f"{package} depends on {needs}")
        run("dpkg-deb", "-x", file[0], root)
    use(root)
    in_namespace(work)
    return ends()


if __name__ == "__main__":
    sys.exit(main())
