#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The kernel table of docs/kernels.md is the registry's. usage: test_readme.py KERNEL_TABLE [--write]"""
import os
import re
import subprocess
import sys

readme = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "kernels.md")
table = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout
with open(readme, encoding="utf-8") as f:
    text = f.read()
want = re.sub(r"(<!-- kernels -->\n).*?(<!-- /kernels -->)", lambda m: m[1] + table + m[2], text, flags=re.S)
if "--write" in sys.argv:
    with open(readme, "w", encoding="utf-8") as f:
        f.write(want)
ok = "<!-- kernels -->" in text and (want == text or "--write" in sys.argv)
if not ok:
    print("FAILED: the table in docs/kernels.md is not the registry's; tests/test_readme.py KERNEL_TABLE --write writes it")
print(f"{int(ok)} passed, {int(not ok)} failed")
sys.exit(not ok)
