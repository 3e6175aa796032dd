/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the program itself writes beside the library's outputs. */
#ifndef BR2_CLI_TEXT_FILE_H
#define BR2_CLI_TEXT_FILE_H

#include <br2pgo/br2pgo.h>

/* Writes `text` to `path`, "-" for standard output: whole, or an old file stays as it is.
 * BR2PGO_IO. */
int br2_write_text(const char *path, const char *text, struct br2pgo_error *err);
/* The same where signals are not held: holds them meanwhile, so that an interruption leaves no
 * temporary file. */
int br2_write_text_holding(const char *path, const char *text, struct br2pgo_error *err);

#endif
