/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What AUXTRACE_INFO says of the processors' trace units. */
#ifndef BR2_TRACE_ETM_INFO_H
#define BR2_TRACE_ETM_INFO_H

#include "trace/trace.h"

#define BR2_ETM_IDS 0x80u /* trace-ids are below; 0 and those from 0x70 on are reserved */

/* A processor's trace unit, as it was programmed. */
struct br2_etm_unit {
    int32_t cpu;
    bool ete;
    uint8_t id; /* trace-id; 0: none is known */
    uint32_t configr;
    uint32_t idr0, idr1, idr2, idr8;
    uint32_t devarch; /* ETE */
};

struct br2_etm_info {
    struct br2_etm_unit *units; /* owned */
    size_t count;
};

/* Reads what the recording says. Units of another kind are left out, and so is what is behind an
 * entry that cannot be. Free with br2_etm_info_done. BR2PGO_NO_MEMORY. */
int br2_etm_info_read(const struct br2_trace_job *job, struct br2_etm_info *ret,
                      struct br2pgo_error *err);
void br2_etm_info_done(struct br2_etm_info *info);

/* The unit of a processor; NULL: there is none. */
const struct br2_etm_unit *br2_etm_info_find(const struct br2_etm_info *info, int32_t cpu);

#endif
