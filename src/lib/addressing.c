/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Texts of counts hold addresses of a file, and tools differ in what they write: link-time
 * addresses, file offsets, or distances from where the code is loaded. One reading fits the code,
 * the others lead to instructions that are no branches: the code decides.
 */
#include "base/mem.h"
#include "lib/conversion.h"

/* Share of the branches and runs that must be possible before a reading of the addresses is taken
 * to be the right one. Wrong readings fit in less than 1 of 20. */
#define FITTING_MIN 0.5

/* Branches and runs of the recording that lie in the image, when its addresses are read so. */
struct fitting {
    double fit;        /* the code allows them */
    double contradict; /* it does not */
};

static int count_fitting(const struct br2pgo_conversion *conversion,
                         const struct br2_recording *recording, enum br2_address_base base,
                         struct fitting *ret, struct br2pgo_error *err)
{
    struct br2_flow_source source = {
        .folded = &recording->folded,
        .dsos = br2_recording_dsos(recording),
        .is_image = recording->is_image,
        .base = base,
        .of_file = true,
    };
    struct br2_flow_graph *graph = NULL;
    struct br2_flow_evidence evidence = {&source, 1, false};
    int rc = br2_flow_graph_build(conversion->image, &evidence, &graph, err);
    if (rc != 0) {
        return rc;
    }
    ret->fit = (double)graph->branches[BR2_BRANCH_KEPT] + (double)graph->run_verdicts[BR2_RUN_KEPT];
    ret->contradict = 0;
    for (size_t i = BR2_BRANCH_NO_CODE; i < BR2_BRANCH_VERDICTS; i++) {
        ret->contradict += (double)graph->branches[i];
    }
    for (size_t i = BR2_RUN_BAD_START; i < BR2_RUN_VERDICTS; i++) {
        ret->contradict += (double)graph->run_verdicts[i];
    }
    br2_flow_graph_free(graph);
    return 0;
}

static int refuse_addresses(const struct br2pgo_conversion *conversion,
                            const struct br2_recording *recording, struct br2pgo_error *err)
{
    br2_fail(
        err, BR2PGO_USELESS,
        "the addresses in '%s' fit the code of '%s' neither as link-time addresses, nor as file "
        "offsets, nor as distances from its first code segment",
        recording->path, conversion->image_path);
    if (recording->counted) {
        br2_hint(err, "give the very file that was recorded with --binary");
    } else {
        br2_hint(err, "where the program was loaded is not in the text: print it with perf script "
                      "--show-mmap-events --show-task-events; or it is another build: give the "
                      "file that was recorded with --binary");
    }
    return BR2PGO_USELESS;
}

static const char *describe_base(enum br2_address_base base)
{
    switch (base) {
    case BR2_BASE_FILE_OFFSET:
        return "file offsets";
    case BR2_BASE_CODE_SEGMENT:
        return "distances from the first code segment";
    case BR2_BASE_LINK:
    case BR2_ADDRESS_BASES:
        break;
    }
    return "link-time addresses";
}

static int settle(struct br2pgo_conversion *conversion, struct br2_recording *recording,
                  struct br2pgo_error *err)
{
    static const enum br2_address_base order[] = {BR2_BASE_LINK, BR2_BASE_FILE_OFFSET,
                                                  BR2_BASE_CODE_SEGMENT};
    double best = 0;
    recording->base = BR2_BASE_LINK;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct fitting fitting;
        int rc = count_fitting(conversion, recording, order[i], &fitting, err);
        if (rc != 0) {
            return rc;
        }
        bool fits = fitting.fit > FITTING_MIN * (fitting.fit + fitting.contradict);
        if (fits && fitting.fit > best) {
            best = fitting.fit;
            recording->base = order[i];
        }
    }
    if (best == 0) {
        return refuse_addresses(conversion, recording, err);
    }
    br2_note(conversion, BR2PGO_NOTE_DETAIL, "'%s': its addresses are %s of '%s'", recording->path,
             describe_base(recording->base), conversion->image_path);
    return 0;
}

int br2_settle_addressing(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < conversion->recording_count; i++) {
        struct br2_recording *recording = &conversion->recordings[i];
        if (recording->of_file && br2_recording_contributes(recording)) {
            rc = settle(conversion, recording, err);
        }
    }
    return rc;
}
