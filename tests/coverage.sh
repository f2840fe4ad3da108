#!/bin/sh
# SPDX-License-Identifier: MIT
# coverage.sh [PATTERN]: builds with gcov into build/coverage, runs the tests (whose names match) and reports
# lines and branches of src/ with gcovr. Assembly and generated code have no counters; kernels and strips are compiled
# once per instruction set and count together.
set -e
cd "$(dirname "$0")/.."
command -v gcovr >/dev/null 2>&1 || { echo "gcovr is not installed (apt-get install gcovr)" >&2; exit 1; }
mkdir -p build/coverage
cmake -S . -B build/coverage -G Ninja -DCMAKE_BUILD_TYPE=Debug -DWEFT_BENCH=OFF \
    -DCMAKE_C_FLAGS="--coverage -O1 -fprofile-update=atomic" -DCMAKE_EXE_LINKER_FLAGS=--coverage \
    -DCMAKE_SHARED_LINKER_FLAGS=--coverage -DCMAKE_MODULE_LINKER_FLAGS=--coverage >build/coverage/log
cmake --build build/coverage -j "$(nproc)" >>build/coverage/log
find build/coverage -name '*.gcda' -delete
/usr/bin/python3 tests/run.py build/coverage "$@" || echo "(some tests failed: what they would have run is missing below)"
gcovr --root . --filter 'src/' --object-directory build/coverage --exclude-unreachable-branches \
    --exclude-throw-branches --merge-mode-functions=separate --sort-uncovered --txt build/coverage/lines.txt \
    --json-summary build/coverage/summary.json --html-details build/coverage/index.html build/coverage
tail -n 60 build/coverage/lines.txt
/usr/bin/python3 - build/coverage/summary.json <<'TXT'
import json, sys
s = json.load(open(sys.argv[1]))
print(f"lines {s['line_percent']} %, branches {s['branch_percent']} % of src/; pages in build/coverage/index.html")
TXT
