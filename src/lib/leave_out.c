/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which counted traces are left out, before anybody asks what they mean. */
#include "base/mem.h"
#include "lib/conversion.h"

/* Branch records that a trace stands for. */
static uint64_t records_of(const struct br2_trace *trace)
{
    return trace->run == BR2_RUN_REPEATED ? 2 * trace->count : trace->count;
}

/* Whether a trace of the recording stays. */
typedef bool (*keeps)(const void *user, const struct br2_recording *recording,
                      const struct br2_trace *trace);

/* What a recorder counted of a run alone is no branch record. */
static bool is_lone_run(const struct br2_recording *recording, const struct br2_trace *trace)
{
    uint32_t from = br2_folded_pair(&recording->folded, trace->space).from;
    return from == BR2_DSO_RUN_ONLY || from == BR2_DSO_RUN_RESUMED || from == BR2_DSO_RUN_ANY;
}

/* Makes the table anew of those that stay; adds the records of the others to `*ret_left`. */
static int filter(struct br2_recording *recording, keeps keep, const void *user, uint64_t *ret_left)
{
    struct br2_trace_table *table = &recording->folded.traces;
    struct br2_trace_table kept = {0};
    for (size_t i = 0; i < table->slot_count; i++) {
        const struct br2_trace *trace = &table->slots[i];
        if (trace->count == 0) {
            continue;
        }
        if (!is_lone_run(recording, trace) && !keep(user, recording, trace)) {
            *ret_left += records_of(trace);
        } else if (!br2_trace_table_add(&kept, trace)) {
            br2_trace_table_done(&kept);
            return BR2PGO_NO_MEMORY;
        }
    }
    br2_trace_table_done(table);
    *table = kept;
    return 0;
}

static bool is_kernel(const struct br2_recording *recording, uint32_t dso)
{
    const struct br2_dsos *dsos = br2_recording_dsos(recording);
    return dso == BR2_DSO_KERNEL || (dso < dsos->count && dsos->items[dso].kernel);
}

static bool stays_out_of_kernel(const void *user, const struct br2_recording *recording,
                                const struct br2_trace *trace)
{
    struct br2_image_pair pair = br2_folded_pair(&recording->folded, trace->space);
    (void)user;
    return !is_kernel(recording, pair.from) && !is_kernel(recording, pair.to);
}

/* Branches of all recordings, with the number of records each has. */
struct branches {
    struct br2_strings images; /* what is one image in every recording */
    struct br2_trace_table table;
    uint64_t min;
    uint32_t *numbers; /* of the images of the recording at hand, in `images` */
    size_t count;
};

static bool number_images(struct branches *branches, const struct br2_recording *recording)
{
    const struct br2_dsos *dsos = br2_recording_dsos(recording);
    br2_free(branches->numbers);
    branches->count = dsos->count;
    branches->numbers = br2_calloc(dsos->count, sizeof *branches->numbers);
    for (size_t i = 0; branches->numbers != NULL && i < dsos->count; i++) {
        branches->numbers[i] = br2_image_number(&branches->images, &dsos->items[i]);
        if (branches->numbers[i] == BR2_NO_STRING) {
            return false;
        }
    }
    return branches->numbers != NULL;
}

/* What is no image keeps its number. */
static uint32_t number_of(const struct branches *branches, uint32_t dso)
{
    return dso < branches->count ? branches->numbers[dso] : dso;
}

/* What is the same for a branch in every recording: its two places. */
static struct br2_trace branch_of(const struct branches *branches,
                                  const struct br2_recording *recording,
                                  const struct br2_trace *trace)
{
    struct br2_image_pair pair = br2_folded_pair(&recording->folded, trace->space);
    return (struct br2_trace){
        .from = trace->from,
        .to = trace->to,
        .space = number_of(branches, pair.from),
        .run = number_of(branches, pair.to),
        .count = records_of(trace),
    };
}

static bool add_branches(struct branches *branches, const struct br2_recording *recording)
{
    const struct br2_trace_table *table = &recording->folded.traces;
    bool good = number_images(branches, recording);
    for (size_t i = 0; good && i < table->slot_count; i++) {
        if (table->slots[i].count != 0) {
            struct br2_trace branch = branch_of(branches, recording, &table->slots[i]);
            good = br2_trace_table_add(&branches->table, &branch);
        }
    }
    return good;
}

static bool is_frequent(const void *user, const struct br2_recording *recording,
                        const struct br2_trace *trace)
{
    const struct branches *branches = user;
    struct br2_trace branch = branch_of(branches, recording, trace);
    return br2_trace_table_count(&branches->table, &branch) >= branches->min;
}

int br2_leave_out_kernel(struct br2_recording *recording, struct br2pgo_error *err)
{
    int rc = filter(recording, stays_out_of_kernel, NULL, &recording->kernel_records);
    return rc == 0 ? 0 : br2_fail_memory(err);
}

int br2_leave_out_rare(struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    struct branches branches = {.min = conversion->options.min_count};
    bool good = true;
    for (size_t i = 0; good && i < conversion->recording_count; i++) {
        good = add_branches(&branches, &conversion->recordings[i]);
    }
    for (size_t i = 0; good && i < conversion->recording_count; i++) {
        struct br2_recording *recording = &conversion->recordings[i];
        good = number_images(&branches, recording) &&
               filter(recording, is_frequent, &branches, &recording->rare_records) == 0;
    }
    br2_trace_table_done(&branches.table);
    br2_strings_done(&branches.images);
    br2_free(branches.numbers);
    return good ? 0 : br2_fail_memory(err);
}

int br2_leave_out_check(const struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    uint64_t left = 0;
    uint64_t kernel = 0;
    uint64_t rare = 0;
    for (size_t i = 0; i < conversion->recording_count; i++) {
        left += conversion->recordings[i].folded.traces.used;
        kernel += conversion->recordings[i].kernel_records;
        rare += conversion->recordings[i].rare_records;
    }
    if (left != 0 || kernel + rare == 0) {
        return 0;
    }
    br2_fail(err, BR2PGO_USELESS,
             "no branch record is left: %llu have a side in the kernel (--ignore-kernel), %llu are "
             "of branches seen too rarely (--min-count)",
             (unsigned long long)kernel, (unsigned long long)rare);
    br2_hint(err, "leave out less, or record longer");
    return BR2PGO_USELESS;
}
