/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What perf's words mean when it does not record, and what to do about it. */
#ifndef BR2_RECORD_PERF_REFUSAL_H
#define BR2_RECORD_PERF_REFUSAL_H

#include "record/machine.h"
#include "record/record.h"

/* Fills `err` for what perf `said`. Returns BR2PGO_UNSUPPORTED where the event or its branch
 * records are what is missing, BR2PGO_IO for anything else. */
int br2_perf_refusal(const char *said, const struct br2_machine *machine,
                     const struct br2_record_request *request, struct br2pgo_error *err);

/* There is no perf to run; returns BR2PGO_IO. */
int br2_perf_missing(struct br2pgo_error *err);

#endif
