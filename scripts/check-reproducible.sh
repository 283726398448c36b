#!/bin/bash
# Two builds of the same revision have the same bytes: program, libraries, Python module, page. Both are made in
# the same folder, one after the other, since the program knows where its scenes are. Takes two whole builds.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for number in 1 2; do
    rm -rf "$work/talus"
    git clone -q . "$work/talus"
    if [ -d viewer/node_modules ]; then cp -r viewer/node_modules "$work/talus/viewer/"; fi
    (cd "$work/talus" && export CCACHE_DISABLE=1 && cmake --preset release >/dev/null && cmake --build --preset release >/dev/null)
    (cd "$work/talus/build/release" && find . -maxdepth 3 -type f \
        \( -name talus -o -name 'libtalus*.so.*.*.*' -o -name '_talus*.so' -o -name viewer.html \) -exec sha256sum {} + | sort -k 2) >"$work/sums-$number"
done
cat "$work/sums-1"
diff "$work/sums-1" "$work/sums-2" || { echo "check-reproducible: the builds differ" >&2; exit 1; }
echo "check-reproducible: two builds have the same bytes"
