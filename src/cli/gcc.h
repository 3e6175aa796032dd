/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Asking a compiler what it is. */
#ifndef BR2_CLI_GCC_H
#define BR2_CLI_GCC_H

#include <br2pgo/br2pgo.h>

/*
 * Runs `path` (looked for in PATH when it has no slash) and sets gcc_version and gcov_version of
 * `options`. Errors: BR2PGO_IO when it does not run or fails, BR2PGO_INVALID when it is no GCC,
 * BR2PGO_UNSUPPORTED when it reads profiles of an unknown version.
 */
int br2_ask_gcc(const char *path, struct br2pgo_options *options, struct br2pgo_error *err);

#endif
