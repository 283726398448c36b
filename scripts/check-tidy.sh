#!/bin/bash
# clang-tidy 14 with the checks of .clang-tidy on all C files of libraries, program and experiments.
# Needs a configured build for the flags: build/test, or the one that is named.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/test}
[ -e "$build/compile_commands.json" ] || cmake --preset test >/dev/null
mapfile -t files < <(find src app papers -name '*.c' | sort)
# The vector kernels are compiled three times from the same source; the portable one stands for all.
mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -v 'avx')
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 16 clang-tidy-14 -p "$build" --quiet \
    2> >(grep -v 'warnings\? generated' >&2) || {
    echo "check-tidy: see above; .clang-tidy has the list of checks" >&2
    exit 1
}
echo "check-tidy: ${#files[@]} files hold the checks of .clang-tidy"
