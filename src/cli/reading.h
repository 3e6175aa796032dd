/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What commands that read recordings have in common: which ones, how they are read, what is said of
 * it. */
#ifndef BR2_CLI_READING_H
#define BR2_CLI_READING_H

#include "cli/options.h"
#include "cli/progress.h"

/* Readies the line of progress ... */
void br2_reading_begin(struct br2_progress_line *line, const struct br2_arguments *arguments);
/* ... and makes the options of reading: they show their progress in it. */
struct br2pgo_options br2_reading_options(const struct br2_arguments *arguments,
                                          struct br2_progress_line *line);
/* Adds recordings and image. */
int br2_reading_add(struct br2pgo_conversion *conversion, const struct br2_arguments *arguments,
                    struct br2pgo_error *err);
/* Just before they are read: of a recording that comes through a pipe, the first interrupt is for
 * the recorder. */
void br2_reading_spare(const struct br2_arguments *arguments);

/* On standard error: what was found worth saying, where it is wanted; what was lost. */
void br2_print_notes(const struct br2pgo_conversion *conversion,
                     const struct br2_arguments *arguments);
void br2_print_funnel(const struct br2pgo_conversion *conversion);

#endif
