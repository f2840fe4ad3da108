# SPDX-License-Identifier: MIT
"""pip install ./bindings/python, from the source tree, with no network:  pip install --no-build-isolation ...

With an installed libweft that pkg-config finds, the module alone is compiled (with the language of the command, from
src/cmd) and linked to it. Otherwise CMake builds the library as well and both go into the wheel, side by side.
WEFT_PIP=installed or build decides by hand."""
import glob
import os
import shutil
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
os.chdir(HERE)
VERSION = next(l.split()[2] for l in open(os.path.join(ROOT, "CMakeLists.txt")) if l.startswith("project(weft VERSION"))


def pkg_config(*what):
    try:
        p = subprocess.run(["pkg-config", *what, "weft"], capture_output=True, text=True)
    except OSError:
        return None
    return p.stdout.split() if p.returncode == 0 else None


CHOICE = os.environ.get("WEFT_PIP", "")
FLAGS = pkg_config("--cflags") if CHOICE != "build" else None
if FLAGS is None and CHOICE == "installed":
    raise SystemExit("pkg-config finds no weft")


class Build(build_ext):
    def build_extension(self, ext):
        if FLAGS is not None:
            return super().build_extension(ext)
        folder = os.path.abspath(self.build_temp)
        to = os.path.dirname(os.path.abspath(self.get_ext_fullpath(ext.name)))
        os.makedirs(to, exist_ok=True)
        subprocess.check_call(["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DWEFT_PYTHON=ON",
                               "-DWEFT_TESTS=OFF", "-DWEFT_BENCH=OFF", "-DWEFT_EXAMPLES=OFF", "-DCMAKE_INSTALL_LIBDIR=lib",
                               "-DWEFT_PYTHON_DIR=lib", f"-DCMAKE_INSTALL_PREFIX={folder}/tree"])
        subprocess.check_call(["cmake", "--build", folder, "-j", str(os.cpu_count() or 1)])
        for part in ["python", "runtime", "jit"]:
            subprocess.check_call(["cmake", "--install", folder, "--strip", "--component", part])
        tree = os.path.join(folder, "tree", "lib")
        for name in ["weft.abi3.so", "libweft.so.1"]:
            shutil.copy2(os.path.realpath(os.path.join(tree, name)), os.path.join(to, name))
        jit = os.path.join(tree, "weft")  # LLVM's module, found beside the library
        if os.path.isdir(jit):
            shutil.copytree(jit, os.path.join(to, "weft"), dirs_exist_ok=True)


class Wheel(bdist_wheel):
    def get_tag(self):
        python, abi, platform = super().get_tag()
        return "cp311", "abi3", platform


link = pkg_config("--libs") if FLAGS is not None else []
language = [f for p in ["call*.c", "lex.c", "parse.c", "subscript.c", "value.c"] for f in glob.glob(f"../../src/cmd/{p}")]
directories = [f[2:] for f in link if f.startswith("-L")]
extension = Extension(
    "weft", sorted(glob.glob("*.c")) + sorted(language), include_dirs=["../../src/cmd"], py_limited_api=True,
    define_macros=[("Py_LIMITED_API", "0x030b0000"), ("_GNU_SOURCE", "1")],
    extra_compile_args=(FLAGS or []) + ["-std=gnu17", "-fvisibility=hidden", "-ffp-contract=off", "-fno-math-errno"],
    extra_link_args=link + [f"-Wl,-rpath,{d}" for d in directories])
setup(name="weft", version=VERSION, description="Lazy array expressions, fused into single passes and compiled",
      license="MIT", python_requires=">=3.11", ext_modules=[extension], cmdclass={"build_ext": Build, "bdist_wheel": Wheel})
