/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "record/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

/* Room that is reserved at once. */
#define RESERVED_AHEAD (1u << 20)

/* What the name of the file that is gone at once begins with. */
static char *streams_folder(const char *output)
{
    if (strcmp(output, "-") == 0) {
        const char *folder = getenv("TMPDIR");
        return br2_format("%s/", folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    }
    return br2_strndup(output, (size_t)(br2_base_name(output) - output));
}

int br2_streams_open(struct br2_streams *streams, const char *output, struct br2pgo_error *err)
{
    *streams = (struct br2_streams){.fd = -1, .output = -1};
    char *folder = streams_folder(output);
    char *name = folder != NULL ? br2_format("%s.br2pgo-XXXXXX", folder) : NULL;
    int rc = 0;
    if (name == NULL) {
        rc = br2_fail_memory(err);
    } else {
        streams->fd = mkostemp(name, O_CLOEXEC);
        if (streams->fd < 0 || unlink(name) != 0) {
            rc = br2_fail_io(err, "create", name, errno);
            br2_hint(err,
                     "what is recorded is first kept in the output's folder: it must exist and "
                     "be writable");
        }
    }
    br2_free(folder);
    br2_free(name);
    return rc;
}

void br2_streams_done(struct br2_streams *streams)
{
    for (size_t i = 0; i < streams->count; i++) {
        for (size_t k = 0; k < streams->runs[i].count; k++) {
            br2_free(streams->runs[i].streams[k].chunks);
        }
        br2_free(streams->runs[i].streams);
    }
    br2_free(streams->runs);
    if (streams->bytes != NULL) {
        munmap((void *)(uintptr_t)streams->bytes, streams->size);
    }
    if (streams->fd >= 0) {
        close(streams->fd);
    }
    *streams = (struct br2_streams){.fd = -1, .output = -1};
}

int br2_streams_add_run(struct br2_streams *streams, const struct br2_area_header *header,
                        uint64_t *ret, struct br2pgo_error *err)
{
    if (!br2_grow(&streams->runs, &streams->capacity, streams->count, sizeof *streams->runs)) {
        return br2_fail_memory(err);
    }
    struct br2_run *run = &streams->runs[streams->count];
    *run = (struct br2_run){
        .parent = header->parent,
        .parent_thread = header->parent_thread,
        .ordinal = header->ordinal,
        .start = header->start,
        .origin = header->origin == BR2_ORIGIN_FORK || header->origin == BR2_ORIGIN_EXEC
                      ? (enum br2_area_origin)header->origin
                      : BR2_ORIGIN_START,
    };
    memcpy(run->name, header->name, sizeof run->name - 1);
    *ret = ++streams->count;
    return 0;
}

/* The latest first: it is the likeliest. */
static struct br2_stream *find_stream(struct br2_run *run, uint64_t serial)
{
    for (size_t i = run->count; i > 0; i--) {
        if (run->streams[i - 1].serial == serial) {
            return &run->streams[i - 1];
        }
    }
    if (!br2_grow(&run->streams, &run->capacity, run->count, sizeof *run->streams)) {
        return NULL;
    }
    struct br2_stream *stream = &run->streams[run->count++];
    *stream = (struct br2_stream){.serial = serial};
    return stream;
}

static size_t least_size(uint32_t type)
{
    switch (type) {
    case BR2_STREAM_START:
        return sizeof(struct br2_stream_start);
    case BR2_STREAM_NAME:
        return 16;
    case BR2_STREAM_SAMPLE:
        return sizeof(uint64_t);
    case BR2_STREAM_MAPPING:
        return sizeof(struct br2_stream_mapping) + 8;
    default:
        return 0;
    }
}

static bool is_good_record(const struct br2_stream_head *head, const uint8_t *body)
{
    size_t size = head->size - sizeof *head;
    if (head->type > BR2_STREAM_MAPPING || size < least_size(head->type)) {
        return false;
    }
    if (head->type == BR2_STREAM_MAPPING) {
        return size <= BR2_AREA_PATH + 64 && body[size - 1] == '\0';
    }
    if (head->type == BR2_STREAM_NAME) {
        return body[15] == '\0';
    }
    return head->type != BR2_STREAM_SAMPLE ||
           ((size - sizeof(uint64_t)) % sizeof(struct br2_branch_record) == 0 &&
            size <= sizeof(uint64_t) + BR2_RING * sizeof(struct br2_branch_record));
}

/* What some records are about to add. */
struct addition {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t needed; /* in the recording, at most */
    uint64_t samples;
    uint64_t branches;
};

/* The most that perf_writer.c makes of a record: heads, identifiers, a mapping's build-id. */
static uint64_t recorded_size(const struct br2_stream_head *head)
{
    return head->type == BR2_STREAM_MAPPING ? 2 * (uint64_t)head->size + 192 : head->size + 40;
}

/* Reads the records over, before they are kept. */
static bool take_notes(struct br2_stream *stream, struct addition *added)
{
    const uint8_t *bytes = added->bytes;
    uint64_t size = added->size;
    while (size != 0) {
        struct br2_stream_head head;
        if (size < sizeof head) {
            return false;
        }
        memcpy(&head, bytes, sizeof head);
        if (head.size < sizeof head || head.size > size || head.size % 8 != 0 ||
            !is_good_record(&head, bytes + sizeof head)) {
            return false;
        }
        if (head.type == BR2_STREAM_START) {
            memcpy(&stream->start, bytes + sizeof head, sizeof stream->start);
        } else if (head.type == BR2_STREAM_END) {
            stream->ended = true;
        } else if (head.type == BR2_STREAM_SAMPLE) {
            added->samples++;
            added->branches += (head.size - sizeof head) / sizeof(struct br2_branch_record);
        }
        added->needed += recorded_size(&head);
        bytes += head.size;
        size -= head.size;
    }
    return true;
}

/* Returns an errno. */
static int reserve(struct br2_streams *streams, uint64_t size)
{
    uint64_t wanted = streams->needed + size;
    if (streams->output >= 0 && wanted > streams->reserved) {
        /* Not byte by byte, as long as there is more room than that. */
        uint64_t room = wanted + RESERVED_AHEAD;
        int errnum = fallocate(streams->output, 0, 0, (off_t)room) == 0 ? 0 : errno;
        if (errnum == ENOSPC || errnum == EFBIG || errnum == EDQUOT) {
            room = wanted;
            errnum = fallocate(streams->output, 0, 0, (off_t)room) == 0 ? 0 : errno;
        }
        if (errnum == ENOSPC || errnum == EFBIG || errnum == EDQUOT) {
            return errnum;
        }
        streams->reserved = room;
        if (errnum != 0) {
            streams->output = -1; /* not on this file system */
        }
    }
    streams->needed = wanted;
    return 0;
}

int br2_streams_reserve(struct br2_streams *streams, int output, uint64_t size,
                        struct br2pgo_error *err)
{
    streams->output = output;
    int errnum = reserve(streams, size);
    if (errnum != 0) {
        br2_fail(err, BR2PGO_IO, "no room for a recording: %s", strerrordesc_np(errnum));
        br2_hint(err, "make room in the output's folder, or name another with --output");
        return BR2PGO_IO;
    }
    return 0;
}

/* Returns an errno; the file is then as before. */
static int write_all(struct br2_streams *streams, const uint8_t *bytes, uint64_t size)
{
    uint64_t at = streams->size;
    while (size != 0) {
        ssize_t put = pwrite(streams->fd, bytes, size, (off_t)at);
        if (put < 0 && errno != EINTR) {
            return errno;
        }
        if (put > 0) {
            at += (uint64_t)put;
            bytes += put;
            size -= (uint64_t)put;
        }
    }
    streams->size = at;
    return 0;
}

static int keep(struct br2_streams *streams, struct br2_stream *stream,
                const struct addition *added, struct br2pgo_error *err)
{
    if (!br2_grow(&stream->chunks, &stream->capacity, stream->count, sizeof *stream->chunks)) {
        return br2_fail_memory(err);
    }
    uint64_t offset = streams->size;
    streams->full = reserve(streams, added->needed);
    if (streams->full == 0) {
        streams->full = write_all(streams, added->bytes, added->size);
    }
    if (streams->full == 0) {
        stream->chunks[stream->count++] =
            (struct br2_stream_chunk){.offset = offset, .size = added->size};
        streams->samples += added->samples;
        streams->branches += added->branches;
    }
    return 0;
}

int br2_streams_append(struct br2_streams *streams, const struct br2_stream_part *part,
                       struct br2pgo_error *err)
{
    struct addition added = {.bytes = part->bytes, .size = part->size};
    if (part->run == 0 || part->run > streams->count) {
        return br2_fail(err, BR2PGO_CORRUPT, "the emulator's plugin sent what belongs nowhere");
    }
    struct br2_stream *stream = find_stream(&streams->runs[part->run - 1], part->serial);
    if (stream == NULL) {
        return br2_fail_memory(err);
    }
    if (part->sent < stream->sent || part->size == 0 || streams->full != 0) {
        return 0;
    }
    if (!take_notes(stream, &added)) {
        return br2_fail(err, BR2PGO_CORRUPT, "the emulator's plugin sent what are no records");
    }
    stream->sent = part->sent + 1;
    return keep(streams, stream, &added, err);
}

int br2_streams_end(struct br2_streams *streams, uint64_t run, uint64_t serial, uint64_t time,
                    struct br2pgo_error *err)
{
    struct br2_stream_head head = {.type = BR2_STREAM_END, .size = sizeof head, .time = time};
    struct addition added = {
        .bytes = (const uint8_t *)&head, .size = sizeof head, .needed = recorded_size(&head)};
    if (run == 0 || run > streams->count) {
        return 0;
    }
    struct br2_stream *stream = find_stream(&streams->runs[run - 1], serial);
    if (stream == NULL) {
        return br2_fail_memory(err);
    }
    if (stream->ended || streams->full != 0) {
        return 0;
    }
    stream->ended = true;
    return keep(streams, stream, &added, err);
}

int br2_streams_map(struct br2_streams *streams, struct br2pgo_error *err)
{
    if (streams->size == 0) {
        return 0;
    }
    void *bytes = mmap(NULL, streams->size, PROT_READ, MAP_PRIVATE, streams->fd, 0);
    if (bytes == MAP_FAILED) {
        return br2_fail_memory(err);
    }
    streams->bytes = bytes;
    return 0;
}
