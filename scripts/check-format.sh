#!/bin/bash
# Show what clang-format 14 would change in the C files and fail if it is anything; --fix does it.
set -euo pipefail
cd "$(dirname "$0")/.."
# Other versions of clang-format break lines differently, so only 14 is asked.
mapfile -t files < <(find include src papers app tests bench fuzz -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' | sort)
if [ "${1:-}" = --fix ]; then exec clang-format-14 -i "${files[@]}"; fi
bad=0
for file in "${files[@]}"; do
    clang-format-14 "$file" | diff -u --label "$file" --label "$file formatted" "$file" - || bad=1
done
if [ $bad = 1 ]; then
    echo "check-format: the files above are not formatted; make format does it" >&2
    exit 1
fi
echo "check-format: ${#files[@]} files are as clang-format wants them"
