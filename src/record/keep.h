/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writing what was recorded in the emulator: the recording, exact counts, totals. What was recorded
 * is not lost for want of room: the recording ends in time, or it goes to another place. */
#ifndef BR2_RECORD_KEEP_H
#define BR2_RECORD_KEEP_H

#include "base/file.h"
#include "record/collect.h"
#include "record/record.h"

#define BR2_KEEPING_OUTPUTS 3

/* Zero-initialise, fill in the first three, then open. */
struct br2_keeping {
    const struct br2_record_request *request;
    const char *machine; /* as in the emulator's name */
    struct br2_collector *collector;
    struct br2_output outputs[BR2_KEEPING_OUTPUTS];
    bool opened[BR2_KEEPING_OUTPUTS];
};

/* Before the program runs, which may take hours: makes the outputs, and room for a small recording.
 * Errors: BR2PGO_IO, BR2PGO_NO_MEMORY. */
int br2_keeping_open(struct br2_keeping *k, struct br2pgo_error *err);

/* Writes all, and puts it in place. Errors: BR2PGO_IO: there was no room for all, or it could not
 * be put in place; `err` says where the recording is. BR2PGO_NO_MEMORY. */
int br2_keeping_write(struct br2_keeping *k, struct br2pgo_error *err);

/* Removes what was not put in place. */
void br2_keeping_done(struct br2_keeping *k);

#endif
