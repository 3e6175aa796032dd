/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The decoders there are; the libraries they need are not to be had for every processor. */
#include "trace/trace.h"

#ifdef BR2PGO_HAVE_IPT
extern const struct br2_trace_decoder br2_trace_intel_pt;
#endif

extern const struct br2_trace_decoder br2_trace_arm_etm;

static const struct br2_trace_decoder *const decoders[] = {
#ifdef BR2PGO_HAVE_IPT
    &br2_trace_intel_pt,
#endif
    &br2_trace_arm_etm,
    NULL,
};

const struct br2_trace_decoder *br2_trace_decoder_find(uint32_t type)
{
    for (size_t i = 0; decoders[i] != NULL; i++) {
        if (decoders[i]->type == type) {
            return decoders[i];
        }
    }
    return NULL;
}

const char *const br2_trace_loss_names[BR2_TRACE_LOSSES] = {
    [BR2_TRACE_OVERFLOW] = "overflow in the processor",
    [BR2_TRACE_GAP] = "not recorded",
    [BR2_TRACE_NO_CODE] = "no code there",
    [BR2_TRACE_MISMATCH] = "contradicts the code",
    [BR2_TRACE_CORRUPT] = "no packets",
    [BR2_TRACE_NO_THREAD] = "of no known thread",
};

void br2_trace_stats_add(struct br2_trace_stats *sum, const struct br2_trace_stats *more)
{
    sum->bytes += more->bytes;
    sum->skipped += more->skipped;
    sum->steps += more->steps;
    for (size_t i = 0; i < BR2_TRACE_LOSSES; i++) {
        sum->losses[i] += more->losses[i];
    }
    if (sum->no_code_at == 0) {
        sum->no_code_at = more->no_code_at;
        sum->no_code_view = more->no_code_view;
    }
}
