/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A pipe-mode stream: 16 bytes of header, then records that say what a file's header would. */
#include "input/perf_data/perf_data.h"

#define PIPE_HEADER_SIZE 16
#define ATTR_MIN         64
#define UPDATE_NAME      2 /* PERF_EVENT_UPDATE__NAME */

/* The attr, and ids in what is left of the record. */
static int add_attr(struct br2_perf *perf, const struct br2_perf_record *record,
                    struct br2pgo_error *err)
{
    if (record->size < ATTR_MIN) {
        return 0;
    }
    size_t size = br2_perf_u32(perf, record->body + 4);
    if (size < ATTR_MIN) {
        size = ATTR_MIN;
    }
    if (size > record->size) {
        return 0;
    }
    size_t number = perf->attr_count;
    int rc = br2_perf_add_attr(perf, record->body, size, err);
    if (rc) {
        return rc;
    }
    return br2_perf_add_ids(perf, record->body + size, (record->size - size) / 8, number, err);
}

/* u64 what, u64 event id, then the new name. */
static int update_event(struct br2_perf *perf, const struct br2_perf_record *record,
                        struct br2pgo_error *err)
{
    size_t attr;
    if (record->size <= 16 || br2_perf_u64(perf, record->body) != UPDATE_NAME ||
        !br2_perf_ids_find(&perf->ids, br2_perf_u64(perf, record->body + 8), &attr)) {
        return 0;
    }
    const char *name = (const char *)record->body + 16;
    size_t length = strnlen(name, record->size - 16u);
    if (length == 0) {
        return 0;
    }
    perf->attrs[attr].name = br2_arena_strndup(&perf->input->arena, name, length);
    return perf->attrs[attr].name ? 0 : br2_fail_memory(err);
}

static int read_header_record(struct br2_perf *perf, const struct br2_perf_record *record,
                              struct br2pgo_error *err)
{
    switch (record->type) {
    case BR2_PERF_HEADER_ATTR:
        return add_attr(perf, record, err);
    case BR2_PERF_EVENT_UPDATE:
        return update_event(perf, record, err);
    case BR2_PERF_BUILD_ID: /* the same bytes as in a table, its header too */
        return br2_perf_read_build_ids(perf, record->body - BR2_PERF_HEADER,
                                       record->size + (size_t)BR2_PERF_HEADER, err);
    case BR2_PERF_HEADER_FEATURE:
        if (record->size < 8) {
            return 0;
        }
        return br2_perf_read_feature(perf, br2_perf_u64(perf, record->body), record->body + 8,
                                     record->size - 8u, err);
    default:
        return 0;
    }
}

int br2_perf_open_pipe(struct br2_perf *perf, struct br2pgo_error *err)
{
    const struct br2_file *file = &perf->input->file;
    perf->data = file->bytes + PIPE_HEADER_SIZE;
    perf->data_end = file->bytes + file->size;
    perf->truncation = BR2_WHOLE;

    struct br2_perf_walk walk;
    struct br2_perf_record record;
    br2_perf_walk_start(&walk, perf, true);
    int more;
    while ((more = br2_perf_walk_next(&walk, &record, err)) > 0) {
        int rc = read_header_record(perf, &record, err);
        if (rc) {
            return rc;
        }
    }
    return more;
}
