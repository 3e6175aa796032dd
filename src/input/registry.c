/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The kinds of input there are, and the calls that go to the right one. */
#include "input/input.h"

#include <sys/stat.h>

#include "input/input_private.h"

static const struct br2_input_format *const formats[] = {
    &br2_perf_data_format,
};

static const struct br2_input_format *recognise(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i]->probe(bytes, size)) {
            return formats[i];
        }
    }
    return NULL;
}

static bool is_recording(const uint8_t *bytes, size_t size)
{
    return recognise(bytes, size) != NULL;
}

static int open_file(struct br2_input *input, struct br2pgo_error *err)
{
    struct stat status;
    if (stat(input->path, &status) == 0 && S_ISDIR(status.st_mode)) {
        return br2_input_refuse_directory(input->path, err);
    }

    int rc = br2_file_open(&input->file, input->path, is_recording, err);
    if (rc) {
        return rc;
    }
    const struct br2_input_format *format = recognise(input->file.bytes, input->file.size);
    if (!format) {
        return br2_input_refuse_file(input->path, input->file.bytes, input->file.size, err);
    }
    input->format = format;
    rc = format->open(input, err);
    if (rc && rc != BR2PGO_NO_MEMORY) {
        br2_prefix(err, "'%s'", input->path);
    }
    return rc;
}

int br2_input_open(const char *path, struct br2_input **ret, struct br2pgo_error *err)
{
    struct br2_input *input = br2_calloc(1, sizeof *input);
    if (!input) {
        return br2_fail_memory(err);
    }
    int rc = 0;
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

int br2_input_read_samples(struct br2_input *input, const bool *wanted, br2_sample_sink sink,
                           void *user, struct br2pgo_error *err)
{
    int rc = begin_pass(input, err);
    return rc ? rc : input->format->read_samples(input, wanted, sink, user, err);
}

void br2_input_progress(const struct br2_input *input, uint64_t *ret_done, uint64_t *ret_total)
{
    *ret_done = input->done;
    *ret_total = input->total;
}
