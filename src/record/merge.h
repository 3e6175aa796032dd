/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All threads' records in the order of time; of the same time, in an order that depends on nothing
 * else than the programs. */
#ifndef BR2_RECORD_MERGE_H
#define BR2_RECORD_MERGE_H

#include "record/stream.h"

struct br2_merge_record {
    const struct br2_run *run;
    const struct br2_stream *stream; /* whose tid is set; of the process's records too */
    struct br2_stream_head head;
    const uint8_t *body; /* behind the head; aligned to 8 bytes */
};

/* Called for each record; what is not 0 ends the walk. */
typedef int (*br2_merge_call)(void *user, const struct br2_merge_record *record);

/* Walks over a mapped streams whose threads have their numbers. Returns what `call` returned.
 * Errors: BR2PGO_NO_MEMORY. */
int br2_merge_walk(const struct br2_streams *streams, br2_merge_call call, void *user,
                   struct br2pgo_error *err);

#endif
