#!/bin/bash
# Install what is missing on Debian 12: scripts/install-deps.sh [build] [python] [test] [docs] [bench] [coverage] [gpu] [ci]
#   build  what it takes to build and run Talus (default)
#   python what the Python package needs besides
#   test   what the test suite needs besides
#   docs   what the documentation site is built with
#   bench  what the benchmarks need besides: Bullet and Siconos, to compare with
#   coverage  what `make coverage` reads gcc's counts with
#   gpu    what kernels for graphics cards are made with; their driver is not installed
#   ci     what .ci/run needs besides: clang with its sanitizers, clang-format, clang-tidy, ccache
# Says nothing and changes nothing when all is there. docs/dependencies.md has the reasons.
set -euo pipefail

build=(gcc libc6-dev cmake ninja-build pkg-config libyaml-dev libhdf5-dev zlib1g-dev
       libqhull-dev libsuitesparse-dev libcairo2-dev libcminpack-dev libmicrohttpd-dev
       node:nodejs npm:npm)
python=(python3 libpython3-dev python3-cffi python3-setuptools python3-numpy)
# "command:package": the package is installed if there is no such command. (The nodejs of nodesource
# has npm inside, and Debian's npm conflicts with it.)
# "a|b": either will do; the first is installed. Debian's ParaView brings its own vtk module and
# conflicts with python3-vtk9.
test=(g++ libcmocka-dev python3 python3-numpy python3-h5py python3-gsd python3-yaml
    python3-jsonschema man-db groff-base mypy "python3-vtk9|python3-paraview" chromium)
docs=(mkdocs mkdocs-material python3-pymdownx python3-cffi python3-pil libjs-katex fonts-katex)
bench=(g++ libbullet-dev python3-siconos)
ci=(clang-14 libomp-14-dev libclang-rt-14-dev llvm-14 clang-format-14 clang-tidy-14 python3
    ccache)
coverage=(gcovr python3)
gpu=(clang-14)

installed()
{
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing=()
for group in "${@:-build}"; do
    case $group in
    build) wanted=("${build[@]}") ;;
    python) wanted=("${python[@]}") ;;
    test) wanted=("${test[@]}") ;;
    docs) wanted=("${docs[@]}") ;;
    coverage) wanted=("${coverage[@]}") ;;
    bench) wanted=("${bench[@]}") ;;
    gpu) wanted=("${gpu[@]}") ;;
    ci) wanted=("${ci[@]}") ;;
    *)
        echo "install-deps: unknown group '$group'; known are build, python, test, docs, bench, coverage, gpu, ci" >&2
        exit 2
        ;;
    esac
    if ! command -v dpkg-query >/dev/null; then
        echo "install-deps: this is not Debian (no dpkg). Install by hand what corresponds to:" >&2
        echo "  ${wanted[*]}" >&2
        echo "then use cmake directly: cmake --preset release && cmake --build --preset release" >&2
        exit 1
    fi
    for alternatives in "${wanted[@]}"; do
        found=no
        if [[ $alternatives == *:* ]] && command -v "${alternatives%%:*}" >/dev/null; then found=yes; fi
        alternatives=${alternatives#*:}
        for package in ${alternatives//|/ }; do
            if installed "$package"; then found=yes; fi
        done
        if [ $found = no ]; then missing+=("${alternatives%%|*}"); fi
    done
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "install-deps: installing ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "install-deps: not root and no sudo. As root, run:" >&2
        echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}"
