/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Running perf: once to see whether it can, then for the recording. */
#ifndef BR2_RECORD_PERF_RUN_H
#define BR2_RECORD_PERF_RUN_H

#include "record/perf_command.h"

/* Finds the first of the machine's events that perf can sample with branch records, by recording
 * next to nothing; its number to `ret_event`. Errors: BR2PGO_UNSUPPORTED: there is none, and the
 * machine is as good as without branch hardware; BR2PGO_IO: perf is missing or refuses for a reason
 * that `err` names, with the cure; BR2PGO_CANCELLED: asked to stop. */
int br2_perf_try(const struct br2_machine *machine, const struct br2_record_request *request,
                 size_t *ret_event, struct br2pgo_error *err);

/* Runs the command to its end, with this process's input and outputs. A request to stop is passed
 * on to perf, which ends the program and keeps what was recorded. Errors: BR2PGO_IO: it could not
 * be started. */
int br2_perf_run(const struct br2_perf_command *command, const struct br2_record_request *request,
                 struct br2_record_result *ret, struct br2pgo_error *err);

#endif
