#!/bin/bash
# Install the build into a fresh prefix and use it as a stranger would: a C program outside the
# tree compiled through pkg-config (as C and as C++) and through find_package(talus), then run. One
# needs the engine alone and must link nothing of the workshop; the other runs a scene.
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
for each in "$libdir"/libtalus.so "$libdir"/libtalus_workshop.so; do
    foreign=$(nm -D --defined-only "$each" | awk '$2 ~ /[TDBR]/ && $3 !~ /^(talus_|__)/ { print $3 }')
    [ -z "$foreign" ] || fail "$each exports names that are not its own: $foreign"
    [[ $(objdump -p "$each" | awk '/SONAME/ { print $2 }') =~ \.so\.(0\.)?[0-9]+$ ]] ||
        fail "$each has no version in its soname"
done

# An empty path would make the loader take libraries from the folder in which the program is called.
for each in "$TALUS_BUILD/talus" "$TALUS_BUILD"/libtalus*.so "$TALUS_BUILD"/python/talus/*.so \
    "$prefix/bin/talus" "$libdir"/libtalus*.so $(find "$prefix" -name '_talus*.so'); do
    [ -e "$each" ] || continue
    paths=$(objdump -p "$each" | awk '/R(UN)?PATH/ { print $2 }')
    [[ ":$paths:" != *::* || -z "$paths" ]] || fail "$each looks for libraries in an empty path: $paths"
done

# Hardened (cmake/Flags.cmake), but with a sanitizer, which sees more.
if [ -z "$TALUS_CFLAGS" ]; then
    for each in "$prefix/bin/talus" "$libdir"/libtalus.so "$libdir"/libtalus_workshop.so; do
        facts=$(readelf -hldW "$each")
        grep -q 'Type: *DYN' <<<"$facts" || fail "$each is not position-independent"
        grep -q 'GNU_RELRO' <<<"$facts" || fail "$each has relocations that can be written to"
        grep -Eq 'BIND_NOW|FLAGS_1.*NOW' <<<"$facts" || fail "$each binds functions when they are called"
        grep -Eq 'GNU_STACK.* RW ' <<<"$facts" || fail "$each has a stack that can be executed"
        needs=$(nm -D --undefined-only "$each")
        grep -q '__stack_chk_fail' <<<"$needs" || fail "$each has no stack protector"
        # -O0, as for coverage, does without the checks of the C library.
        [[ $(grep CMAKE_BUILD_TYPE:STRING "$TALUS_BUILD/CMakeCache.txt") == *Debug ]] ||
            grep -q '__snprintf_chk' <<<"$needs" || fail "$each calls the C library unchecked"
    done
fi

# Through pkg-config.
export PKG_CONFIG_PATH=$libdir/pkgconfig
flags="-Wall -Wextra -Werror $TALUS_CFLAGS"
$CC -std=c17 $flags drop.c $(pkg-config --cflags --libs talus) -lm -o drop_c
LD_LIBRARY_PATH=$libdir ./drop_c
$CC -x c++ -std=c++17 $flags drop.c -x none $(pkg-config --cflags --libs talus) -lm -o drop_cxx
LD_LIBRARY_PATH=$libdir ./drop_cxx
$CC -std=c17 $flags scene.c $(pkg-config --cflags --libs talus-workshop) -o scene
LD_LIBRARY_PATH=$libdir ./scene

# A world alone links the engine alone.
linked()
{
    LD_LIBRARY_PATH=$libdir ldd "$1" | awk '{ print $1 }'
}
workshop="yaml|hdf5|libz\\.|cairo|talus_workshop"
linked drop_c | grep -q '^libtalus\.so' || fail "drop_c is not linked with libtalus"
if linked drop_c | grep -E "$workshop"; then fail "a program that makes a world links the above"; fi
linked scene | grep -q '^libtalus_workshop\.so' || fail "scene is not linked with libtalus_workshop"
echo "ok   a program with a world links $(linked drop_c | wc -l) libraries, one with a scene $(linked scene | wc -l)"

# Through the CMake package. Its build knows where the library is, so no LD_LIBRARY_PATH.
cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC" \
    -DCMAKE_C_FLAGS="$TALUS_CFLAGS" >cmake.log || { cat cmake.log; fail "find_package(talus)"; }
cmake --build build >cmake.log || { cat cmake.log; fail "the CMake consumer does not build"; }
build/drop
build/scene
echo "ok   installed, compiled against and run: pkg-config (C, C++), CMake package"
