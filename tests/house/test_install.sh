#!/bin/bash
# Install the build into a fresh prefix and use it as a stranger would: a C program outside the
# tree compiled through pkg-config (as C and as C++) and through find_package(talus), then run.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

fail()
{
    echo "FAIL $*" >&2
    exit 1
}

cmake --install "$TALUS_BUILD" --prefix "$prefix" >"$work/install.log"
cp -r "$TALUS_SOURCE/tests/consumer" "$work/consumer"
cd "$work/consumer"

# What must be there, and nothing of the inside.
library=$(find "$prefix" -name libtalus.so)
[ -n "$library" ] || fail "no libtalus.so in the prefix"
libdir=$(dirname "$library")
[ -x "$prefix/bin/talus" ] || fail "no program in $prefix/bin"
[ "$("$prefix/bin/talus" --version | wc -l)" -ge 1 ] || fail "the program does not say its version"
files()
{
    (cd "$1" && find . -type f | sort)
}
[ "$(files "$TALUS_SOURCE/include")" = "$(files "$prefix/include")" ] ||
    fail "the installed headers are not the public headers"
[ "$(files "$TALUS_SOURCE/scenes")" = "$(files "$prefix/share/talus/scenes")" ] ||
    fail "the installed scenes are not the ready-made scenes"
for file in man/man1/talus.1 bash-completion/completions/talus zsh/site-functions/_talus \
    fish/vendor_completions.d/talus.fish talus/scene.json; do
    [ -s "$prefix/share/$file" ] || fail "no share/$file in the prefix"
done
version=$(sed -n 's/#define TALUS_VERSION_\(MAJOR\|MINOR\) //p' "$prefix/include/talus/base.h" | paste -sd.)
for name in talus talus_workshop; do
    readelf -d "$libdir/lib$name.so" | grep -q "SONAME.*\[lib$name\.so\.$version\]" ||
        fail "lib$name.so is not called lib$name.so.$version for those who link it"
done
foreign=$(nm -D --defined-only "$library" | awk '$2 ~ /[TDBR]/ && $3 !~ /^(talus_|__)/ { print $3 }')
[ -z "$foreign" ] || fail "the library exports names that are not its own: $foreign"

# Through pkg-config.
export PKG_CONFIG_PATH=$libdir/pkgconfig
flags="-Wall -Wextra -Werror $TALUS_CFLAGS"
$CC -std=c17 $flags drop.c $(pkg-config --cflags --libs talus) -lm -o drop_c
LD_LIBRARY_PATH=$libdir ./drop_c
$CC -x c++ -std=c++17 $flags drop.c -x none $(pkg-config --cflags --libs talus) -lm -o drop_cxx
LD_LIBRARY_PATH=$libdir ./drop_cxx

# Through the CMake package. Its build knows where the library is, so no LD_LIBRARY_PATH.
cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC" \
    -DCMAKE_C_FLAGS="$TALUS_CFLAGS" >cmake.log || { cat cmake.log; fail "find_package(talus)"; }
cmake --build build >cmake.log || { cat cmake.log; fail "the CMake consumer does not build"; }
build/drop
echo "ok   installed, compiled against and run: pkg-config (C, C++), CMake package"
