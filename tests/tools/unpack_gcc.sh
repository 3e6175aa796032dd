#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Unpacks the GCCs of several Debian suites into a folder of their own, for tests: nothing is
# installed, and the machine's own packages and apt's own state stay as they are.
#
# usage: unpack_gcc.sh FOLDER [VERSION...]
#   VERSION  11 to 16; all of them unless said. Those that are there are left alone.
# Afterwards FOLDER/bin has gcc-N and g++-N. Each comes from the oldest suite that has it,
# and runs with the libraries of that suite, as do the programs that it builds.
# Needs apt, dpkg, binutils and Debian's keys; downloads about 60 MB for each version.
set -euo pipefail

suites=(bookworm trixie sid)
mirror=http://deb.debian.org/debian
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
multiarch=x86_64-linux-gnu

say() {
    echo "unpack_gcc: $*" >&2
}

fail() {
    say "error: $1"
    say "hint: $2"
    exit 1
}

# apt for one suite alone. Signatures are checked with Debian's keys; how the machine reaches the
# archive stays as it is set.
with_apt() {
    local suite=$1 command=$2 state=$folder/$1.apt
    shift 2
    "$command" -q -o Dir::Etc::SourceList="$state/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
        -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::Cache="$state" \
        -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o Acquire::Languages=none \
        -o Acquire::Retries=3 "$@"
}

update() {
    local state=$folder/$1.apt
    mkdir -p "$state/lists/partial" "$state/archives/partial"
    touch "$state/status"
    echo "deb [signed-by=$keyring] $mirror $1 main" >"$state/sources.list"
    say "$1: what is there"
    with_apt "$1" apt-get update >"$state/log" 2>&1 || {
        tail -n 3 "$state/log" >&2
        fail "apt-get update of '$1' failed" "see $state/log"
    }
}

has() {
    with_apt "$1" apt-cache show "g++-$2" 2>/dev/null | grep -xF "Package: g++-$2" >/dev/null
}

download() {
    local suite=$1 state=$folder/$1.apt packages=() version
    shift
    for version in "$@"; do
        packages+=("gcc-$version" "g++-$version")
    done
    say "$suite: downloading ${packages[*]}"
    with_apt "$suite" apt-get install --download-only --no-install-recommends -y "${packages[@]}" \
        >"$state/log" 2>&1 || {
        tail -n 3 "$state/log" >&2
        fail "downloading from '$suite' failed" "see $state/log"
    }
}

# A script in place of each program: its libraries are not those of the machine.
wrap_programs() {
    local root=$1 file headers
    while IFS= read -r file; do
        headers=$(readelf -Wl "$file" 2>/dev/null || true)
        if [[ $headers != *'program interpreter'* ]]; then
            continue
        fi
        mv "$file" "$file.elf"
        cat >"$file" <<END
#!/bin/sh
exec $root/lib64/ld-linux-x86-64.so.2 --library-path $root/usr/lib/$multiarch --argv0 "\$0" $file.elf "\$@"
END
        chmod 755 "$file"
    done < <(find "$root/usr/bin" "$root/usr/lib/gcc" "$root/usr/libexec/gcc" \
        -type f -perm -u+x ! -name '*.elf' 2>/dev/null)
}

unpack() {
    local suite=$1 root=$folder/$1 package
    mkdir -p "$root/usr/lib" "$root/usr/lib64" "$root/usr/bin"
    ln -sfn usr/lib "$root/lib"
    ln -sfn usr/lib64 "$root/lib64"
    for package in "$folder/$suite.apt/archives"/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --no-same-owner \
            --keep-directory-symlink --exclude=./usr/share --exclude=./etc
    done
    wrap_programs "$root"
}

# The compilers with everything that is theirs; gcc looks for as and ld beside its cc1.
offer() {
    local root=$folder/$1 version=$2 name tools
    tools=$(dirname "$(find "$root/usr" -path "*/gcc/$multiarch/$version/cc1")")
    ln -sfn "$root/usr/bin/$multiarch-as" "$tools/as"
    ln -sfn "$root/usr/bin/$multiarch-ld" "$tools/ld"
    mkdir -p "$folder/bin"
    for name in "g++-$version" "gcc-$version"; do # gcc the last: what is there is complete
        cat >"$folder/bin/$name.part" <<END
#!/bin/sh
exec $root/usr/bin/$multiarch-$name --sysroot=$root \\
    -Wl,--dynamic-linker=$root/lib64/ld-linux-x86-64.so.2,-rpath=$root/usr/lib/$multiarch "\$@"
END
        chmod 755 "$folder/bin/$name.part"
        mv "$folder/bin/$name.part" "$folder/bin/$name"
    done
    say "$folder/bin/gcc-$version: $("$folder/bin/gcc-$version" -dumpfullversion), of $suite"
}

# Takes what a suite has of `wanted`, which is left with the rest.
take_from() {
    local suite=$1 version here=() rest=()
    update "$suite"
    for version in "${wanted[@]}"; do
        if has "$suite" "$version"; then here+=("$version"); else rest+=("$version"); fi
    done
    wanted=("${rest[@]}")
    if [ ${#here[@]} != 0 ]; then
        download "$suite" "${here[@]}"
        unpack "$suite"
        for version in "${here[@]}"; do
            offer "$suite" "$version"
        done
    fi
    rm -rf "$folder/$suite.apt"
}

main() {
    local folder wanted=() suite version
    if [ $# = 0 ] || [[ $1 == -* ]]; then
        sed -n 's/^# usage: /usage: /p' "$0" >&2
        exit 2
    fi
    mkdir -p "$1"
    folder=$(cd "$1" && pwd -P)
    shift
    [[ $folder =~ ^[A-Za-z0-9/._+-]+$ ]] ||
        fail "'$folder' has characters that linkers and shells take apart" "choose another folder"
    [ "$(uname -m)" = x86_64 ] || fail "this is $(uname -m)" "this is for x86-64 machines"
    [ -e "$keyring" ] || fail "there is no $keyring" "install debian-archive-keyring"
    [ $# != 0 ] || set -- 11 12 13 14 15 16
    for version in "$@"; do
        [ -x "$folder/bin/gcc-$version" ] || wanted+=("$version")
    done
    for suite in "${suites[@]}"; do
        if [ ${#wanted[@]} != 0 ]; then
            take_from "$suite"
        fi
    done
    [ ${#wanted[@]} = 0 ] || fail "no suite has GCC ${wanted[*]}" "these were tried: ${suites[*]}"
}

main "$@"
