#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the Debian or Ubuntu packages that br2pgo needs. The only list of them.
#
# usage: install-packages.sh build|run|test [--list]
#   build  to build and install br2pgo
#   run    that, and what the quickstart uses: a compiler that takes profiles, and its tools
#   test   that, and what the tests use
# Does nothing, and needs neither root nor the network, when the required ones are there. Optional
# ones come along with the others where the distribution has them.
set -euo pipefail

build=(gcc g++ binutils cmake ninja-build pkg-config libelf-dev libdw-dev libzstd-dev zlib1g-dev liblzma-dev
    libmd-dev libjansson-dev libiberty-dev libopencsd-dev LLVM-DEV)
# The decoder of Intel PT is to be had for x86 only.
case $(uname -m) in
x86_64 | i?86) build+=(libipt-dev) ;;
esac
run=(clang-19 llvm-19 python3 qemu-user)
run_optional=(linux-perf lld-19)
check=(libcmocka-dev)
check_optional=(clang-format-14 clang-tidy-14 mandoc valgrind libclang-rt-19-dev bolt-19
    bolt-22 chromium autofdo gcc-11 g++-11 meson make cargo rustc zsh fish
    dwz gfortran musl-tools gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-riscv64-linux-gnu
    libc6-dev-riscv64-cross libdebuginfod1)

say() {
    echo "install-packages: $*" >&2
}

installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

available() {
    apt-cache show --no-all-versions "$1" >/dev/null 2>&1
}

# Any LLVM from 14 on does: one that is installed, else the first that can be.
llvm_package() {
    local test version
    for test in installed available; do
        for version in 19 22 21 20 18 17 16 15 14; do
            if $test "llvm-$version-dev"; then
                echo "llvm-$version-dev"
                return
            fi
        done
    done
    echo llvm-19-dev
}

# Sets `missing` to those of the arguments that are not installed.
find_missing() {
    local name
    missing=()
    for name in "$@"; do
        [ "$name" != LLVM-DEV ] || name=$(llvm_package)
        installed "$name" || missing+=("$name")
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        say "error: installing packages needs root, and there is no sudo"
        say "hint: as root: apt-get install $*"
        exit 1
    fi
}

choose() {
    case ${1-} in
    build) required=("${build[@]}") optional=() ;;
    run) required=("${build[@]}" "${run[@]}") optional=("${run_optional[@]}") ;;
    test)
        required=("${build[@]}" "${run[@]}" "${check[@]}")
        optional=("${run_optional[@]}" "${check_optional[@]}")
        ;;
    *)
        say "usage: install-packages.sh build|run|test [--list]"
        exit 2
        ;;
    esac
}

main() {
    local required optional missing chosen name
    choose "$@"
    if [ "${2-}" = --list ]; then
        printf '%s\n' "${required[@]}" "${optional[@]}"
        return
    fi
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "not Debian or Ubuntu: going on with what is there; needed: ${required[*]}"
        return
    fi
    find_missing "${required[@]}"
    if [ ${#missing[@]} = 0 ]; then
        find_missing "${optional[@]}"
        say "all required packages are there${missing[*]:+; optional, not there: ${missing[*]}}"
        return
    fi
    as_root apt-get -qq update || say "warning: apt-get update failed; trying with what apt knows"
    find_missing "${required[@]}"
    chosen=("${missing[@]}")
    find_missing "${optional[@]}"
    for name in "${missing[@]}"; do
        if available "$name"; then chosen+=("$name"); else say "not to be had here: $name"; fi
    done
    say "installing ${chosen[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${chosen[@]}" >/dev/null
}

main "$@"
