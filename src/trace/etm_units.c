/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/etm_units.h"

#include "base/mem.h"

void br2_etm_units_begin(struct br2_etm_units *units, const struct br2_trace_job *job,
                         struct br2_trace_stats *stats)
{
    *units = (struct br2_etm_units){.job = job, .stats = stats, .pid = -1, .tid = -1};
}

void br2_etm_units_done(struct br2_etm_units *units)
{
    for (size_t i = 0; i < BR2_ETM_IDS; i++) {
        if (units->cores[i] != NULL && units->cores[i]->begun) {
            br2_trace_walk_done(&units->cores[i]->walk);
        }
        br2_free(units->cores[i]);
    }
}

int br2_etm_units_core(struct br2_etm_units *units, uint8_t id, struct br2_etm_core **ret,
                       struct br2pgo_error *err)
{
    struct br2_etm_core **slot = &units->cores[id % BR2_ETM_IDS];
    *ret = *slot;
    if (*slot != NULL) {
        return 0;
    }
    struct br2_etm_core *core = br2_calloc(1, sizeof *core);
    if (core == NULL) {
        return br2_fail_memory(err);
    }
    *ret = *slot = core;
    core->begun = true;
    int rc = br2_trace_walk_begin(&core->walk, units->job, BR2_MACHINE_AARCH64, units->stats, err);
    return rc != 0 ? rc : br2_etm_units_thread(units, core, 0, err);
}

int br2_etm_units_thread(struct br2_etm_units *units, struct br2_etm_core *core, int32_t tid,
                         struct br2pgo_error *err)
{
    int32_t pid = units->pid;
    if (units->of_thread || tid <= 0) {
        tid = units->tid;
    } else {
        pid = br2_trace_process_of(units->job->streams, tid);
    }
    core->known = pid >= 0;
    uint32_t view =
        core->known ? br2_spaces_view(units->job->spaces, pid, units->time) : BR2_VIEW_UNKNOWN;
    units->clock += units->clock < units->time ? 1 : 0;
    return br2_trace_walk_thread(&core->walk, tid, view, units->clock, err);
}

int br2_etm_units_lose(struct br2_etm_units *units, enum br2_trace_loss loss,
                       struct br2pgo_error *err)
{
    int rc = 0;
    units->stats->losses[loss]++;
    for (size_t i = 0; rc == 0 && i < BR2_ETM_IDS; i++) {
        rc = units->cores[i] != NULL ? br2_trace_walk_lose(&units->cores[i]->walk, err) : 0;
    }
    return rc;
}

int br2_etm_units_part(struct br2_etm_units *units, struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < BR2_ETM_IDS; i++) {
        struct br2_etm_core *core = units->cores[i];
        if (core != NULL && !core->walk.stopped) {
            rc = br2_trace_walk_lose(&core->walk, err);
        }
    }
    return rc;
}

int br2_etm_units_end(struct br2_etm_units *units, struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < BR2_ETM_IDS; i++) {
        rc = units->cores[i] != NULL ? br2_trace_walk_end(&units->cores[i]->walk, err) : 0;
    }
    return rc;
}
