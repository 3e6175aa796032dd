/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The commands, and how they speak. */
#ifndef BR2_CLI_COMMANDS_H
#define BR2_CLI_COMMANDS_H

#include "cli/options.h"

/* The process's exit status for a library status. */
int br2_exit_status(int status);

/* "br2pgo: error: ..." and "br2pgo: hint: ..." on standard error. */
void br2_print_error(const struct br2pgo_error *err);

/* Each returns an enum br2pgo_status, with `err` filled. */
int br2_convert(const struct br2_arguments *arguments, struct br2pgo_error *err);
int br2_inspect(const struct br2_arguments *arguments, struct br2pgo_error *err);
int br2_show(const struct br2_arguments *arguments, struct br2pgo_error *err);
int br2_merge(const struct br2_arguments *arguments, struct br2pgo_error *err);
int br2_report(const struct br2_arguments *arguments, struct br2pgo_error *err);
int br2_diff(const struct br2_arguments *arguments, struct br2pgo_error *err);
/* Where a limit is missed, 3 goes to `ret_exit`. */
int br2_check(const struct br2_arguments *arguments, int *ret_exit, struct br2pgo_error *err);
/* Of a recording made, the program's exit status goes to `ret_exit`. */
int br2_record(const struct br2_arguments *arguments, int *ret_exit, struct br2pgo_error *err);

#endif
