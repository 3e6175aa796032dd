/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Recordings whose branches are in an instruction trace. */
#ifndef BR2_LIB_TRACE_H
#define BR2_LIB_TRACE_H

#include "lib/conversion.h"

/* Whether a recording has a trace, and one that this build decodes. */
bool br2_trace_is_decoded(const struct br2_recording_info *info);

/* Whether a recording's branches are to be had from its trace: it has one that this build decodes,
 * and no branch records. */
bool br2_trace_is_used(const struct br2_recording_info *info);

/* Decodes the trace and counts it, into `stats` and the recording's traces, with up to so many
 * threads. Errors: BR2PGO_USELESS where nothing could be decoded, or most contradicts the code;
 * BR2PGO_IO, BR2PGO_NO_MEMORY. */
int br2_count_trace(struct br2pgo_conversion *conversion, struct br2_recording *recording,
                    unsigned threads, struct br2_count_stats *stats, struct br2pgo_error *err);

#endif
