#!/bin/bash
# Compile every public header alone, as C17 and as C++17, pedantically. Fails on the first warning.
set -euo pipefail
cd "$(dirname "$0")/.."
CC=${CC:-gcc}
CXX=${CXX:-g++}
flags="-pedantic -Wall -Wextra -Werror -Iinclude -fsyntax-only"
for header in include/talus/*.h; do
    # The header comes through an #include so that it is not itself the main file, which may
    # draw warnings of its own, and twice, so that its guard is tested too.
    name=${header#include/}
    unit="#include <$name>"$'\n'"#include <$name>"
    $CC -std=c17 $flags -x c - <<<"$unit"
    $CXX -std=c++17 $flags -x c++ - <<<"$unit"
done
echo "check-headers: every public header compiles alone as C17 and C++17"
