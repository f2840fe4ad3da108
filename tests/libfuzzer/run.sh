#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh TARGET [--seconds N] [--seed N]: builds the libFuzzer target with clang and runs it from the seeds in
# tests/libfuzzer/seeds/TARGET; what it learns stays in build/fuzz/corpus. Exit status 0 when nothing was found.
set -eu
cd "$(dirname "$0")/../.."
target=$1
shift
seconds=60 seed=0
while [ $# -gt 1 ]; do
    case $1 in
    --seconds) seconds=$2 ;;
    --seed) seed=$2 ;;
    *) echo "usage: ./dev fuzz $target [--seconds N] [--seed N]" >&2; exit 2 ;;
    esac
    shift 2
done
[ -e "tests/libfuzzer/$target.c" ] || { echo "there is no target $target" >&2; exit 2; }
for clang in clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14; do
    command -v $clang >/dev/null 2>&1 && break
done
command -v $clang >/dev/null 2>&1 || { echo "libFuzzer needs clang (apt-get install clang)" >&2; exit 1; }
launcher=
command -v ccache >/dev/null 2>&1 && launcher=-DCMAKE_C_COMPILER_LAUNCHER=ccache
mkdir -p "build/fuzz/corpus/$target"
log=build/fuzz/build.log
if ! { cmake -S . -B build/fuzz -G Ninja -DWEFT_FUZZ=ON -DWEFT_JIT=off -DCMAKE_C_COMPILER=$clang $launcher &&
    cmake --build build/fuzz --target "fuzz_$target"; } >$log 2>&1; then
    grep -A5 error $log | head -n 20 >&2
    echo "the build failed; its whole output is in $log" >&2
    exit 1
fi
seeds=tests/libfuzzer/seeds/$target
[ -d "$seeds" ] || seeds=
dict=tests/libfuzzer/$target.dict
[ -e "$dict" ] || dict=
exec "build/fuzz/fuzz/fuzz_$target" -max_total_time="$seconds" -seed="$seed" -timeout=20 -rss_limit_mb=2048 \
    ${dict:+-dict=$dict} -artifact_prefix=build/fuzz/ -print_final_stats=1 "build/fuzz/corpus/$target" $seeds
