#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs into a scratch prefix and builds a small program against what was installed: with
# pkg-config, shared and static, and with CMake's find_package. Then moves the prefix and does it
# again: nothing installed may know where it was.
set -euo pipefail

if [ -n "${SANITIZE-}" ]; then
    echo "skipped: a sanitized library needs a sanitized program"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
source=$SOURCE_DIR/tests/data/consumer
version=$(sed -n 's/^#define BR2PGO_VERSION "\(.*\)"/\1/p' "$BUILD_DIR/include/br2pgo/version.h")

fail() {
    echo "install_consumer: $*"
    exit 1
}

# what, command...: runs it; its output is the version.
expect_version() {
    local what=$1 got
    shift
    got=$("$@") || fail "$what: exit $?"
    [ "$got" = "$version" ] || fail "$what: says '$got', not '$version'"
    echo "$what: $got"
}

# prefix: everything a user would do with what is installed there.
use() {
    local prefix=$1 lib flags needed
    lib=$(dirname "$(find "$prefix" -name libbr2pgo.a)")
    export PKG_CONFIG_PATH=$lib/pkgconfig
    rm -rf "$scratch/use"
    mkdir "$scratch/use"
    cd "$scratch/use"

    # shellcheck disable=SC2046
    cc -std=c11 -Wall -Wextra -Werror -o shared "$source/main.c" $(pkg-config --cflags --libs br2pgo)
    expect_version "pkg-config, shared" env LD_LIBRARY_PATH="$lib" ./shared
    needed=$(readelf -d shared)
    grep -q 'NEEDED.*libbr2pgo.so.0' <<<"$needed" || fail "shared: libbr2pgo.so.0 is not needed"

    # -lbr2pgo alone would take the shared library, which is beside it.
    flags=$(pkg-config --static --cflags --libs br2pgo | sed 's/-lbr2pgo\b/-l:libbr2pgo.a/')
    # shellcheck disable=SC2086
    cc -std=c11 -Wall -Wextra -Werror -o static "$source/main.c" $flags
    expect_version "pkg-config --static" ./static
    needed=$(readelf -d static)
    grep -q 'NEEDED.*libbr2pgo' <<<"$needed" && fail "static: needs the shared library"

    "$CMAKE" -G Ninja -S "$source" -B cmake -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1 ||
        { cat cmake.log; fail "find_package"; }
    "$CMAKE" --build cmake >cmake.log 2>&1 || { cat cmake.log; fail "build with find_package"; }
    expect_version "find_package, shared" cmake/consumer
    expect_version "find_package, static" cmake/consumer-static
}

"$CMAKE" --install "$BUILD_DIR" --prefix "$scratch/first" >/dev/null
for file in bin/br2pgo share/man/man1/br2pgo.1 include/br2pgo/br2pgo.h include/br2pgo/version.h \
    share/bash-completion/completions/br2pgo share/zsh/site-functions/_br2pgo \
    share/fish/vendor_completions.d/br2pgo.fish; do
    [ -e "$scratch/first/$file" ] || fail "$file is not installed"
done
exports=$(nm -D --defined-only "$(find "$scratch/first" -name 'libbr2pgo.so')" | awk '{print $3}')
odd=$(grep -v -e '^br2pgo_' -e '^BR2PGO_0$' <<<"${exports//@@*/}" | head -3 || true)
[ -z "$odd" ] || fail "libbr2pgo.so exports $odd"
grep -q '^br2pgo_' <<<"$exports" || fail "libbr2pgo.so exports nothing"
use "$scratch/first"
mv "$scratch/first" "$scratch/second"
use "$scratch/second"
if grep -rlF -e "$scratch/first" -e "$SOURCE_DIR/" "$scratch/second"; then
    fail "these installed files name the place where they were made"
fi
"$scratch/second/bin/br2pgo" --version >/dev/null || fail "the installed program does not run"

# Links by other tools' names, only where they are asked for.
[ ! -e "$scratch/second/libexec" ] || fail "links are installed without being asked for"
"$CMAKE" --install "$BUILD_DIR" --prefix "$scratch/second" --component compat_links >/dev/null
for name in llvm-profgen perf2bolt create_llvm_prof create_gcov; do
    help=$("$scratch/second/libexec/br2pgo/$name" --help)
    grep -qx "br2pgo in place of $name" <<<"$help" ||
        fail "libexec/br2pgo/$name does not take that tool's place"
done
