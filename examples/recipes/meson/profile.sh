#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# usage: profile.sh BR2PGO PROFILE OPTION...: run by meson, which says where source and build lie.
set -eu
br2pgo=$1 profile=$2 train=$MESON_BUILD_ROOT/train
shift 2
rm -rf "$train"
meson setup -Dtrain=true "$@" "$train" "$MESON_SOURCE_ROOT"
meson compile -C "$train" words
"$br2pgo" record -o "$train/perf.data" -- "$train/words" 1000 >"$train/words.log"
"$br2pgo" "$train/perf.data" -b "$train/words" -o "$profile"
# The first profile is noticed when the build is set up again.
touch "$MESON_SOURCE_ROOT/meson.build"
