#!/bin/bash
# No file of the repository refers to files outside it: nothing but what a clone has is needed to
# read it. Fails with the lines that do.
set -euo pipefail
cd "$(dirname "$0")/.."
if git grep -nIE '\.\./shared|shared/(spec|papers|fclib|hooks)|/work/|\bissue #?[0-9]|/root/|/home/[a-z]' -- . \
    ':!scripts/check-outside.sh' ':!viewer/package-lock.json'; then
    echo "check-outside: the lines above name files outside this repository" >&2
    exit 1
fi
echo "check-outside: no file refers to files outside the repository"
