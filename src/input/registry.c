/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The kinds of input there are, and the calls that go to the right one. */
#include "input/input.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/input_private.h"
#include "input/unpack.h"

static const struct br2_input_format *const formats[] = {
    &br2_perf_data_format,
    &br2_perf_script_format,
    &br2_ranges_format,
    &br2_bolt_preagg_input_format,
};

static const struct br2_input_format *recognise(const uint8_t *bytes, size_t size)
{
    /* Nobody is asked about nothing, which has no address. */
    for (size_t i = 0; size > 0 && i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i]->probe(bytes, size)) {
            return formats[i];
        }
    }
    return NULL;
}

/* Whether a stream that begins so is to be read to its end. */
static bool is_readable(const uint8_t *bytes, size_t size)
{
    return recognise(bytes, size) != NULL || br2_packed_by(bytes, size) != NULL;
}

static int unpack(struct br2_input *input, struct br2pgo_error *err)
{
    int rc = br2_unpack(&input->file, input->spool_folder, err);
    if (rc && rc != BR2PGO_NO_MEMORY) {
        br2_prefix(err, "'%s'", input->path);
    }
    return rc;
}

/* The container's name says what it is in. */
static int tell_packing(struct br2_input *input, const char *packing, struct br2pgo_error *err)
{
    if (!packing || !input->info.container) {
        return 0;
    }
    char *text = br2_format("%s, packed by %s", input->info.container, packing);
    input->info.container = text ? br2_arena_strndup(&input->arena, text, strlen(text)) : NULL;
    br2_free(text);
    return input->info.container ? 0 : br2_fail_memory(err);
}

/* Sets where the file is that a directory of one, or several, has; NULL: it is the path itself. */
static int look_into_directory(struct br2_input *input, char **ret, struct br2pgo_error *err)
{
    struct stat status;
    *ret = NULL;
    if (stat(input->path, &status) != 0 || !S_ISDIR(status.st_mode)) {
        return 0;
    }
    char *file = br2_format("%s/data", input->path);
    input->parts_folder = br2_strdup(input->path);
    if (!file || !input->parts_folder) {
        br2_free(file);
        return br2_fail_memory(err);
    }
    if (!br2_file_is_regular(file)) {
        br2_free(file);
        return br2_input_refuse_directory(input->path, err);
    }
    *ret = file;
    return 0;
}

static int refuse_terminal(struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_INVALID, "'-' is standard input, and that is a terminal");
    br2_hint(err, "give a file, or a stream: perf record -b -o - PROGRAM | br2pgo - ...");
    return BR2PGO_INVALID;
}

static int read_file(struct br2_input *input, struct br2pgo_error *err)
{
    if (strcmp(input->path, "-") == 0 && isatty(STDIN_FILENO)) {
        return refuse_terminal(err);
    }
    char *file;
    int rc = look_into_directory(input, &file, err);
    if (!rc) {
        rc = br2_file_open_stream(&input->file, file ? file : input->path, is_readable,
                                  input->spool_folder, err);
    }
    br2_free(file);
    return rc;
}

static int open_file(struct br2_input *input, struct br2pgo_error *err)
{
    int rc = read_file(input, err);
    const char *packing = rc ? NULL : br2_packed_by(input->file.bytes, input->file.size);
    if (packing) {
        rc = unpack(input, err);
    }
    if (rc) {
        return rc;
    }
    const struct br2_input_format *format = recognise(input->file.bytes, input->file.size);
    if (!format) {
        return br2_input_refuse_file(input->path, input->file.bytes, input->file.size, err);
    }
    if (input->parts_folder && format != &br2_perf_data_format) {
        return br2_input_refuse_directory(input->path, err);
    }
    input->format = format;
    rc = format->open(input, err);
    if (rc && rc != BR2PGO_NO_MEMORY) {
        br2_prefix(err, "'%s'", input->path);
    }
    return rc ? rc : tell_packing(input, packing, err);
}

int br2_input_open(const char *path, struct br2_input **ret, struct br2pgo_error *err)
{
    return br2_input_open_spooling(path, NULL, ret, err);
}

int br2_input_open_spooling(const char *path, const char *folder, struct br2_input **ret,
                            struct br2pgo_error *err)
{
    struct br2_input *input = br2_calloc(1, sizeof *input);
    if (!input) {
        return br2_fail_memory(err);
    }
    int rc = 0;
    input->spool_folder = folder;
    input->path = br2_strdup(path);
    if (!input->path) {
        rc = br2_fail_memory(err);
    } else {
        rc = open_file(input, err);
    }
    if (rc) {
        br2_input_close(input);
        return rc;
    }
    input->spool_folder = NULL;
    *ret = input;
    return 0;
}

void br2_input_close(struct br2_input *input)
{
    if (!input) {
        return;
    }
    if (input->format) {
        input->format->close(input);
    }
    br2_file_close(&input->file);
    br2_arena_done(&input->arena);
    br2_free(input->path);
    br2_free(input->parts_folder);
    br2_free(input);
}

const struct br2_recording_info *br2_input_info(const struct br2_input *input)
{
    return &input->info;
}

void br2_input_set_tick(struct br2_input *input, br2_input_tick tick, void *user)
{
    input->tick = tick;
    input->tick_user = user;
}

static int begin_pass(struct br2_input *input, struct br2pgo_error *err)
{
    input->done = 0;
    return input->tick ? input->tick(input->tick_user, err) : 0;
}

int br2_input_read_tasks(struct br2_input *input, br2_task_sink sink, void *user,
                         struct br2pgo_error *err)
{
    int rc = begin_pass(input, err);
    return rc ? rc : input->format->read_tasks(input, sink, user, err);
}

int br2_input_read_tasks_early(struct br2_input *input, br2_task_sink sink, void *user,
                               struct br2_early_samples *early, struct br2pgo_error *err)
{
    early->all = false;
    input->early = early;
    int rc = br2_input_read_tasks(input, sink, user, err);
    input->early = NULL;
    return rc;
}

int br2_input_read_samples(struct br2_input *input, const bool *wanted, br2_sample_sink sink,
                           void *user, struct br2pgo_error *err)
{
    int rc = begin_pass(input, err);
    return rc ? rc : input->format->read_samples(input, wanted, sink, user, err);
}

int br2_input_read_counted(struct br2_input *input, br2_counted_sink sink, void *user,
                           struct br2pgo_error *err)
{
    int rc = begin_pass(input, err);
    return rc ? rc : input->format->read_counted(input, sink, user, err);
}

int br2_input_read_trace(struct br2_input *input, br2_trace_sink sink, void *user,
                         struct br2pgo_error *err)
{
    int rc = begin_pass(input, err);
    return rc || !input->format->read_trace ? rc
                                            : input->format->read_trace(input, sink, user, err);
}

void br2_input_progress(const struct br2_input *input, uint64_t *ret_done, uint64_t *ret_total)
{
    *ret_done = input->done;
    *ret_total = input->total;
}
