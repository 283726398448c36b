#!/bin/bash
# The include graph of the tree is in order, and the script that says so sees each kind of mistake.
set -euo pipefail
"$TALUS_SOURCE/scripts/check-includes.py"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Add one line to one file of a fresh copy; the script must fail and name the reason.
expect_complaint()
{
    local file=$1 line=$2 reason=$3
    rm -rf "$work"/*
    cp -r "$TALUS_SOURCE"/{scripts,include,src,app} "$work"
    mkdir -p "$work/$(dirname "$file")"
    echo "$line" >>"$work/$file"
    if "$work/scripts/check-includes.py" >"$work/out" 2>&1 || ! grep -q "$reason" "$work/out"; then
        echo "FAIL '$line' in $file should have been called out as '$reason'; the script said:"
        cat "$work/out"
        exit 1
    fi
    echo "ok   $file with '$line': $reason"
}

expect_complaint src/engine/base/rng.h '#include "world/world.h"' "later room 'world'"
expect_complaint src/engine/base/hash.h '#include "base/hash.h"' "circle: "
expect_complaint src/engine/base/hash.h '#include "base/nowhere.h"' "is not found"
expect_complaint src/engine/attic/old.h '#include <math.h>' "room 'attic' is not in the list"
expect_complaint include/talus/base.h '#include <omp.h>' "a public header may not include omp.h"
expect_complaint include/talus/base.h '#include "base/rng.h"' "a public header may not include"
