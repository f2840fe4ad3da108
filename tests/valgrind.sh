#!/bin/sh
# SPDX-License-Identifier: MIT
# valgrind.sh BUILD [PATTERN]: the examples under valgrind's memcheck, interpreted and compiled. valgrind knows no
# AVX-512, so the cap is AVX2; generated code is written while valgrind runs, so it looks for changes everywhere.
# Leaks count when they are definite. Ends with "N passed, N failed".
build=$1 pattern=${2:-.}
command -v valgrind >/dev/null 2>&1 || { echo "valgrind is not installed (apt-get install valgrind)" >&2; exit 1; }
here=$(dirname "$0")
passed=0 failed=0
for program in "$build"/examples/*; do
    [ -x "$program" ] && [ -f "$program" ] || continue
    echo "$program" | grep -q "$pattern" || continue
    for backend in interp jit; do
        log=$(mktemp)
        if WEFT_ISA=avx2 WEFT_BACKEND=$backend valgrind -q --error-exitcode=9 --leak-check=full \
            --errors-for-leak-kinds=definite --smc-check=all-non-file --suppressions="$here/valgrind.supp" \
            "$program" >"$log" 2>&1; then
            passed=$((passed + 1))
            echo "ok   $(basename "$program") $backend"
        else
            failed=$((failed + 1))
            echo "FAIL $(basename "$program") $backend"
            grep -v '^$' "$log" | tail -n 30 | sed 's/^/    /'
        fi
        rm -f "$log"
    done
done
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]
