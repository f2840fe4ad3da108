#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The Debian packages: built from a copy of the tree, asked by lintian, unpacked together and used. Long (it compiles
everything again), so behind `./dev test package`. Argument: a folder to work in."""
import glob
import os
import shutil
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PACKAGES = ("libweft1", "libweft-jit1", "libweft-dev", "weft")
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
    # no machine code of earlier processes: it would run without the module
    env = {**os.environ, "LD_LIBRARY_PATH": lib, "WEFT_CACHE": "off"}
    p = run(program, "jit", env=env)
    check(p.returncode == 0, f"the consumer: {p.stdout}")
    p = run(os.path.join(root, "usr/bin/weft"), "eval", "x+1", "x=2", env=env)
    check(p.stdout.strip() == "3", f"weft eval: {p.stdout}")
    for file in glob.glob(os.path.join(root, "usr/lib/*/**"), recursive=True) + glob.glob(os.path.join(root, "usr/bin/*")):
        if os.path.isfile(file) and not file.endswith((".cmake", ".pc")):
            check(ROOT.encode() not in open(file, "rb").read(), f"{file} names the folder of the source")


def main():
    missing = [t for t in ("dpkg-buildpackage", "dh", "lintian", "git") if not shutil.which(t)]
    if missing:
        print(f"SKIP: no {', '.join(missing)} (apt-get install dpkg-dev debhelper lintian git)")
        return 0
    work = os.path.abspath(sys.argv[1])
    shutil.rmtree(work, ignore_errors=True)
    tree = copy(work)
    p = run("dpkg-buildpackage", "-us", "-uc", "-b", cwd=tree)
    check(p.returncode == 0, "dpkg-buildpackage:\n" + p.stdout[-4000:])
    if p.returncode:
        return 1
    changes = glob.glob(os.path.join(work, "*.changes"))[0]
    p = run("lintian", "--fail-on", "error,warning", "--suppress-tags", "initial-upload-closes-no-bugs", changes, cwd=work)
    check(p.returncode == 0 and "W:" not in p.stdout and "E:" not in p.stdout, f"lintian:\n{p.stdout}")
    root = os.path.join(work, "root")
    for package in PACKAGES:
        file = glob.glob(os.path.join(work, package + "_*.deb"))
        check(len(file) == 1, f"{package} was not built")
        needs = run("dpkg-deb", "-f", file[0], "Depends").stdout
        check(("llvm" in needs) == (package == "libweft-jit1"), f"{package} depends on {needs}")
        run("dpkg-deb", "-x", file[0], root)
    use(root)
    print("{passed} passed, {failed} failed".format(**tally))
    return 1 if tally["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
