/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Recording with branch hardware: perf does it, the file is judged before it is put in place. */
#ifndef BR2_CLI_RECORD_HARDWARE_H
#define BR2_CLI_RECORD_HARDWARE_H

#include "cli/options.h"
#include "record/machine.h"
#include "record/perf_run.h"

/* Records with the `event`th of the machine's events, or prints the command that would. Errors:
 * BR2PGO_IO: perf did not come to its end (what it recorded until then is kept beside the output);
 * BR2PGO_USELESS: it took no sample; those of the output. An old output is replaced by a whole
 * recording only. */
int br2_record_hardware(const struct br2_arguments *arguments, const struct br2_machine *machine,
                        size_t event, const struct br2_record_request *request,
                        struct br2_record_result *ret, struct br2pgo_error *err);

#endif
