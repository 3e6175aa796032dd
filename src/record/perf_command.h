/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The perf record that a request amounts to. */
#ifndef BR2_RECORD_PERF_COMMAND_H
#define BR2_RECORD_PERF_COMMAND_H

#include <stddef.h>

#include "base/buf.h"
#include "base/mem.h"
#include "record/machine.h"
#include "record/record.h"

/* Events from one sample to the next: a tenth of a millisecond or more of a busy core, so that the
 * recording costs little and a second of it is a megabyte or two; prime, so that it does not fall
 * into step with a loop. */
#define BR2_RECORD_HARDWARE_PERIOD 500009u

/* Zero-initialise, then use. */
struct br2_perf_command {
    char **words; /* NULL at the end; in the arena, or the request's */
    size_t count;
    struct br2_arena arena;
};

/* Makes the command for the `event`th of the machine's events, writing to `output`. The program
 * and the duration are the request's. BR2PGO_NO_MEMORY. */
int br2_perf_command_make(struct br2_perf_command *command, const struct br2_machine *machine,
                          size_t event, const struct br2_record_request *request,
                          struct br2pgo_error *err);
/* The same for trying whether perf can do it: records next to nothing, and keeps nothing. */
int br2_perf_command_make_trial(struct br2_perf_command *command, const struct br2_machine *machine,
                                size_t event, const struct br2_record_request *request,
                                struct br2pgo_error *err);
void br2_perf_command_done(struct br2_perf_command *command);

/* Appends a word as a shell takes it; failures stick to `text`. */
void br2_quote_word(struct br2_buf *text, const char *word);

/* The command as a line for a shell, to be freed with br2_free; NULL: out of memory. */
char *br2_perf_command_text(const struct br2_perf_command *command);

#endif
