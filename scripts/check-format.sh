#!/bin/bash
# Check (or with --fix restore) the formatting of all C files with clang-format 14.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(--dry-run --Werror)
if [ "${1:-}" = --fix ]; then mode=(-i); fi
# Other versions of clang-format break lines differently, so only 14 is asked.
find include src app tests bench \( -name '*.c' -o -name '*.h' \) -print0 |
    xargs -0 clang-format-14 "${mode[@]}"
