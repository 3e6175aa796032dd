/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a file seems to be that is no recording, so that the message can help. */
#include <stdbool.h>
#include <string.h>

#include "input/input_private.h"
#include "input/perf_script/perf_script.h"

struct signature {
    const char *bytes;
    size_t size;
    const char *what;
    const char *hint;
};

static const struct signature signatures[] = {
    {"\n\x18simpleperf:EtmBranchList", 26, "simpleperf's list of traced branches",
     "let simpleperf follow them through the program: simpleperf inject --output autofdo -i FILE "
     "--symdir DIRECTORY -o branches.txt"},
    {"\177ELF", 4, "an ELF file (a program or library)",
     "give the recording (perf.data) first and the program with -b"},
    /* These are unpacked, once. */
    {"\x1f\x8b", 2, "gzip-compressed twice", "unpack it first: gzip -dc FILE > perf.data"},
    {"\xfd"
     "7zXZ",
     5, "xz-compressed twice", "unpack it first: xz -dc FILE > perf.data"},
    {"\x28\xb5\x2f\xfd", 4, "zstd-compressed twice", "unpack it first: zstd -dc FILE > perf.data"},
    {"BZh", 3, "bzip2-compressed", "unpack it first: bzip2 -dc FILE > perf.data"},
    {"PK\x03\x04", 4, "a zip archive", "unpack it first"},
    {"!<arch>\n", 8, "an ar archive (a static library)",
     "give the recording (perf.data) first and the program with -b"},
};

/* No byte that text never has. UTF-8 is text; so is an escape sequence. */
static bool is_text(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b) {
            return false;
        }
    }
    return true;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i]) {
            return false;
        }
    }
    return true;
}

/* A line of perf script without a branch stack: "comm pid time: period event: ...". */
static bool is_perf_script(const char *text, size_t size)
{
    struct br2_span rest = {.at = text, .end = text + size};
    struct br2_span line;
    for (unsigned i = 0; i < 16 && br2_span_take_line(&rest, &line); i++) {
        struct br2_script_header header;
        if (br2_script_header(line, &header) && header.has_pid && header.has_time &&
            header.event.at != header.event.end) {
            return true;
        }
    }
    return false;
}

/* Texts that are the end of the road and not its beginning. */
static bool is_profile(const char *text, size_t size)
{
    static const char edges[] = "image,function,from,to,kind,count,";
    struct br2_span line = {.at = text, .end = text + size};
    uint64_t number;
    if (br2_span_begins(&line, edges)) {
        return true;
    }
    /* fdata: "1 function offset 1 function offset mispredicted count"; an LLVM text profile:
     * "function:total:head" */
    struct br2_span first;
    if (!br2_span_take_line(&line, &first)) {
        return false;
    }
    if (br2_span_begins(&first, "1 ") || br2_span_begins(&first, "boltedcollection")) {
        unsigned blanks = 0;
        for (const char *at = first.at; at < first.end; at++) {
            blanks += *at == ' ';
        }
        return blanks == 7 || first.at[0] == 'b';
    }
    const char *colon = memrchr(first.at, ':', br2_span_left(&first));
    struct br2_span head = {.at = colon != NULL ? colon + 1 : first.end, .end = first.end};
    return colon != NULL && memchr(first.at, ':', (size_t)(colon - first.at)) != NULL &&
           br2_span_take_decimal(&head, &number) && head.at == head.end;
}

static int refuse(const char *path, const char *what, const char *hint, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_UNSUPPORTED, "'%s' is not a recording: it seems to be %s", path, what);
    br2_hint(err, "%s", hint);
    return BR2PGO_UNSUPPORTED;
}

int br2_input_refuse_file(const char *path, const uint8_t *bytes, size_t size,
                          struct br2pgo_error *err)
{
    if (size == 0) {
        br2_fail(err, BR2PGO_UNSUPPORTED, "'%s' is empty", path);
        br2_hint(err, "the recorder was stopped before it wrote anything, or had no room: "
                      "record again");
        return BR2PGO_UNSUPPORTED;
    }
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++) {
        const struct signature *s = &signatures[i];
        if (size >= s->size && memcmp(bytes, s->bytes, s->size) == 0) {
            return refuse(path, s->what, s->hint, err);
        }
    }

    size_t looked_at = size < 65536 ? size : 65536;
    const char *text = (const char *)bytes;
    if (is_zero(bytes, looked_at)) {
        return refuse(path, "zero bytes only",
                      "the file was lost when it was written or copied: record or copy it again",
                      err);
    }
    if (!is_text(text, looked_at)) {
        return refuse(path, "a binary file of another kind",
                      "give a file written by 'perf record -b'", err);
    }
    if (is_perf_script(text, looked_at)) {
        return refuse(path, "text of perf script without branch stacks",
                      "give the perf.data file itself, or print them: perf script -F "
                      "comm,pid,tid,time,event,ip,brstack --show-mmap-events --show-task-events",
                      err);
    }
    if (is_profile(text, looked_at)) {
        return refuse(path, "a finished profile",
                      "look at it with br2pgo show, add it up with br2pgo merge", err);
    }
    return refuse(path, "a text file", "give a file written by 'perf record -b'", err);
}

int br2_input_refuse_directory(const char *path, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_UNSUPPORTED,
             "'%s' is a directory, and no recording: it has no file 'data' written by perf", path);
    br2_hint(err, "give a file written by 'perf record -b', or the directory that 'perf record "
                  "--threads' writes");
    return BR2PGO_UNSUPPORTED;
}
