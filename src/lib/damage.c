/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is said of a recording that is not whole. */
#include "lib/conversion.h"

/* A count that is worth a warning when it is not 0. */
static void note_count(struct br2pgo_conversion *conversion, const struct br2_recording *recording,
                       uint64_t count, const char *what)
{
    if (count != 0) {
        br2_note(conversion, BR2PGO_NOTE_WARNING, "'%s': %llu %s", recording->path,
                 (unsigned long long)count, what);
    }
}

static void note_truncation(struct br2pgo_conversion *conversion,
                            const struct br2_recording *recording)
{
    const struct br2_recording_info *info = br2_input_info(recording->input);
    const char *path = recording->path;
    const char *slash = info->damaged_part != NULL ? "/" : "";
    const char *part = info->damaged_part != NULL ? info->damaged_part : "";
    unsigned long long lost = info->bytes_lost;
    switch (info->truncation) {
    case BR2_WHOLE:
        break;
    case BR2_UNCLOSED:
        br2_note(conversion, BR2PGO_NOTE_WARNING,
                 "'%s' was not closed by its recorder: read to the last whole record, %llu bytes "
                 "after it",
                 path, lost);
        break;
    case BR2_TRUNCATED:
        br2_note(conversion, BR2PGO_NOTE_WARNING,
                 "'%s%s%s' is cut short: read to the last whole record, %llu bytes are missing or "
                 "unusable",
                 path, slash, part, lost);
        break;
    case BR2_BROKEN:
        br2_note(conversion, BR2PGO_NOTE_WARNING,
                 "'%s%s%s' has an impossible record at %llu bytes into its data: the %llu bytes "
                 "from there on were not read",
                 path, slash, part, (unsigned long long)info->damaged_at, lost);
        break;
    }
}

void br2_note_damage(struct br2pgo_conversion *conversion, const struct br2_recording *recording)
{
    const struct br2_recording_info *info = br2_input_info(recording->input);
    note_truncation(conversion, recording);
    note_count(conversion, recording, info->parts_missing,
               "of its files are missing (data.0, data.1, ...)");
    if (info->lost_records != 0) {
        br2_note(conversion, BR2PGO_NOTE_WARNING, "'%s': the recorder lost %llu records",
                 recording->path, (unsigned long long)info->lost_records);
    }
    note_count(conversion, recording, info->malformed_records,
               info->text ? "lines of mappings or processes are damaged, left out"
                          : "records contradict their own size, left out");
    note_count(conversion, recording, info->mixed_mappings,
               "mappings lie where another process has another file, and samples do not say of "
               "which process they are: print their pid (perf script -F pid,...)");
    note_count(conversion, recording, info->unknown_event_samples,
               "samples are of no event in its header, left out");
}

/* Samples are looked into when they are counted. */
void br2_note_malformed(struct br2pgo_conversion *conversion, struct br2_recording *recording)
{
    const struct br2_recording_info *info = br2_input_info(recording->input);
    for (size_t i = 0; i < info->event_count; i++) {
        recording->malformed_samples += info->events[i].malformed_samples;
    }
    note_count(conversion, recording, recording->malformed_samples,
               info->text ? "samples are damaged, left out"
                          : "samples contradict their own size, left out");
}
