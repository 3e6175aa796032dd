#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A Rust program built with a profile by Cargo:
#   ./profile.sh          makes the profile bins.prof: trains a build without profile, in target/train
#   ./profile.sh build    builds with it
# The options of rustc are those of nightly versions: `cargo +nightly`, or RUSTC_BOOTSTRAP=1 in the environment, which
# makes a released rustc take them at one's own risk. With a released rustc alone, llvm-bolt can have a profile.
set -eu
cd "$(dirname "$0")"
profile=$PWD/bins.prof
lines='-Z debug-info-for-profiling'

build() {
    # A copy with its checksum in its name: with a new profile the flags are others, and all is compiled anew.
    used=$PWD/target/bins-$(cksum <"$profile" | cut -d ' ' -f 1).prof
    mkdir -p target
    cp "$profile" "$used"
    RUSTFLAGS="$lines -Z profile-sample-use=$used" cargo build --release --locked
}

train() {
    RUSTFLAGS="$lines -C link-arg=-Wl,--build-id" cargo build --release --locked --target-dir target/train
    br2pgo record -o target/train/perf.data -- target/train/release/bins >target/train/bins.log
    br2pgo target/train/perf.data -b target/train/release/bins -o "$profile"
}

if [ "${1-}" = build ]; then
    build
else
    train
fi
