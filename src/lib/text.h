/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BR2_LIB_TEXT_H
#define BR2_LIB_TEXT_H

#include "base/buf.h"
#include "base/err.h"

/* Ends a function that made text: on success (`rc` 0) hands the buffer's bytes over as a string
 * for br2pgo_free, else frees them. Returns `rc`, or BR2PGO_NO_MEMORY. */
int br2_take_text(int rc, struct br2_buf *buf, char **ret, struct br2pgo_error *err);

/* Replaces control characters but the ends of lines: a name from a file may hold anything, and the
 * text is for a terminal. */
void br2_printable_lines(struct br2_buf *buf);

#endif
