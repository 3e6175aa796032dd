/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "record/keep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "record/perf_writer.h"

/* What a recording needs beside its events and its command: headers, a table of sections. */
#define FIXED_SIZE 2048u

enum {
    RECORDING,
    EXACT,
    TOTALS
};

static const char *output_path(const struct br2_keeping *k, size_t which)
{
    const struct br2_record_request *request = k->request;
    const char *const paths[BR2_KEEPING_OUTPUTS] = {request->output, request->exact,
                                                    request->totals};
    return paths[which];
}

static int reserve(struct br2_keeping *k, struct br2pgo_error *err)
{
    uint64_t size = FIXED_SIZE;
    for (char **word = k->request->command; *word != NULL; word++) {
        size += strlen(*word) + 68; /* in a text of 64, 128, ... bytes */
    }
    const struct br2_output *out = &k->outputs[RECORDING];
    return br2_streams_reserve(&k->collector->streams, out->temporary != NULL ? out->fd : -1, size,
                               err);
}

int br2_keeping_open(struct br2_keeping *k, struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < BR2_KEEPING_OUTPUTS; i++) {
        if (output_path(k, i) != NULL) {
            rc = br2_output_open(&k->outputs[i], output_path(k, i), err);
            k->opened[i] = rc == 0;
        }
    }
    return rc != 0 ? rc : reserve(k, err);
}

void br2_keeping_done(struct br2_keeping *k)
{
    for (size_t i = 0; i < BR2_KEEPING_OUTPUTS; i++) {
        if (k->opened[i]) {
            br2_output_abandon(&k->outputs[i]);
        }
    }
}

static int write_totals(const struct br2_emulation *t, struct br2_output *out,
                        struct br2pgo_error *err)
{
    struct br2_buf buf = {0};
    br2_buf_printf(&buf,
                   "{\n  \"instructions\": %" PRIu64 ",\n  \"taken_branches\": %" PRIu64
                   ",\n  \"mispredicted_branches\": %" PRIu64 ",\n  \"samples\": %" PRIu64
                   ",\n  \"processes\": %" PRIu64 ",\n  \"threads\": %" PRIu64
                   ",\n  \"complete\": %s\n}\n",
                   t->instructions, t->taken, t->mispredicted, t->samples, t->processes, t->threads,
                   t->lost_blocks + t->lost_threads + t->lost_processes == 0 ? "true" : "false");
    int rc = buf.failed ? br2_fail_memory(err) : br2_output_write(out, buf.bytes, buf.size, err);
    br2_buf_done(&buf);
    return rc;
}

static int write_recording(const struct br2_keeping *k, struct br2_output *out,
                           struct br2pgo_error *err)
{
    struct br2_perf_file file = {.command = k->request->command,
                                 .machine = k->machine,
                                 .period = k->request->period,
                                 .cycles = k->request->cycles};
    int rc = br2_perf_write(&file, &k->collector->streams, out, err);
    off_t end = rc == 0 && out->temporary != NULL ? lseek(out->fd, 0, SEEK_CUR) : -1;
    /* More was reserved than is needed. */
    if (end >= 0 && ftruncate(out->fd, end) != 0) {
        rc = br2_fail_io(err, "write", out->path, errno);
    }
    return rc != 0 ? rc : br2_output_flush(out, err);
}

/* The exact counts and the totals. */
static int write_others(struct br2_keeping *k, struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = EXACT; rc == 0 && i < BR2_KEEPING_OUTPUTS; i++) {
        struct br2_output *out = &k->outputs[i];
        if (!k->opened[i]) {
            continue;
        }
        rc = i == EXACT ? br2_exact_edges_write(&k->collector->edges, k->request->function_name,
                                                k->request->function_user, out, err)
                        : write_totals(&k->collector->totals, out, err);
        rc = rc != 0 ? rc : br2_output_flush(out, err);
    }
    return rc;
}

/* It is not where it was to be: puts it among the temporary files, and says so beside what was
 * wrong. */
static int rescue(const struct br2_keeping *k, int rc, struct br2pgo_error *err)
{
    const char *folder = getenv("TMPDIR");
    const char *output = k->request->output;
    struct br2_output out;
    char *path =
        br2_format("%s/%s-%ld", folder != NULL && folder[0] != '\0' ? folder : "/tmp",
                   strcmp(output, "-") != 0 ? br2_base_name(output) : "perf.data", (long)getpid());
    if (path == NULL) {
        return rc;
    }
    if (br2_output_open(&out, path, NULL) == 0) {
        int saved = write_recording(k, &out, NULL);
        saved = saved != 0 ? saved : br2_output_commit(&out, NULL);
        br2_output_abandon(&out);
        if (saved == 0) {
            br2_hint(err, "the recording is in '%s', with %" PRIu64 " samples", path,
                     k->collector->streams.samples);
        }
    }
    br2_free(path);
    return rc;
}

/* The recording ended for want of room: it gets a name that says so. */
static int keep_part(struct br2_keeping *k, struct br2pgo_error *err)
{
    struct br2_output *out = &k->outputs[RECORDING];
    const struct br2_streams *streams = &k->collector->streams;
    char *part = NULL;
    if (streams->samples != 0 && out->temporary != NULL &&
        br2_output_keep_part(out, &part, err) != 0) {
        return rescue(k, BR2PGO_IO, err);
    }
    br2_fail(err, BR2PGO_IO, "no room for more of the recording: %s",
             strerrordesc_np(streams->full));
    if (part != NULL) {
        br2_hint(err,
                 "the %" PRIu64 " samples until then are in '%s', which br2pgo reads; make room, "
                 "or give a longer --period",
                 streams->samples, part);
    } else {
        br2_hint(err, "%" PRIu64 " samples were written; make room, or give a longer --period",
                 streams->samples);
    }
    br2_free(part);
    return BR2PGO_IO;
}

/* Puts all in place; the recording also when the others cannot be written. */
static int put_in_place(struct br2_keeping *k, int others, struct br2pgo_error *err)
{
    struct br2pgo_error own = {0};
    if (br2_output_commit(&k->outputs[RECORDING], &own) != 0) {
        *err = own;
        return rescue(k, BR2PGO_IO, err);
    }
    if (others != 0) {
        br2_hint(err, "the recording is in '%s', whole", k->request->output);
    }
    for (size_t i = EXACT; others == 0 && i < BR2_KEEPING_OUTPUTS; i++) {
        others = k->opened[i] ? br2_output_commit(&k->outputs[i], err) : 0;
    }
    return others;
}

int br2_keeping_write(struct br2_keeping *k, struct br2pgo_error *err)
{
    struct br2_streams *streams = &k->collector->streams;
    int rc = br2_streams_map(streams, err);
    rc = rc != 0 ? rc : br2_tasks_number(streams, err);
    if (rc != 0) {
        return rc;
    }
    rc = write_recording(k, &k->outputs[RECORDING], err);
    if (rc != 0) {
        return rescue(k, rc, err);
    }
    return streams->full != 0 ? keep_part(k, err) : put_in_place(k, write_others(k, err), err);
}
