/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * For clang-tidy only: its analyzer sees one file at a time and would take every failure returned
 * by base/err.h for a possible success, with the results not set. This tells it what they return.
 */
#ifndef BR2_CHECK_TIDY_MODEL_H
#define BR2_CHECK_TIDY_MODEL_H

#include "base/err.h"

#define br2_fail(err, status, ...)           (br2_fail(err, status, __VA_ARGS__), (status))
#define br2_fail_io(err, verb, path, errnum) (br2_fail_io(err, verb, path, errnum), BR2PGO_IO)
#define br2_fail_memory(err)                 (br2_fail_memory(err), BR2PGO_NO_MEMORY)

#endif
