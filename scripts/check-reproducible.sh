#!/bin/bash
# Two builds of the same revision, one after the other and in folders of other names, have the same bytes:
# program, libraries, Python module, page. Takes two whole builds.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for copy in first second-with-a-longer-name; do
    git clone -q . "$work/$copy"
    if [ -d viewer/node_modules ]; then cp -r viewer/node_modules "$work/$copy/viewer/"; fi
    (cd "$work/$copy" && CCACHE_DISABLE=1 cmake --preset release >/dev/null && CCACHE_DISABLE=1 cmake --build --preset release >/dev/null)
done
cd "$work"
different=0
while read -r file; do
    cmp "first/$file" "second-with-a-longer-name/$file" || different=1
done < <(cd first && find build/release -maxdepth 3 \( -name talus -o -name 'libtalus*.so.*.*.*' -o -name '_talus*.so' -o -name viewer.html \) -type f)
[ $different = 0 ] || { echo "check-reproducible: the builds differ" >&2; exit 1; }
echo "check-reproducible: two builds have the same bytes"
