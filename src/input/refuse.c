/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a file seems to be that is no recording, so that the message can help. */
#include <stdbool.h>
#include <string.h>

#include "input/input_private.h"

struct signature {
    const char *bytes;
    size_t size;
    const char *what;
    const char *hint;
};

static const struct signature signatures[] = {
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

static bool contains(const char *text, size_t size, const char *word)
{
    return memmem(text, size, word, strlen(word)) != NULL;
}

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

/* One stack element as perf script prints it has "/0x", and then "/P/", "/M/" or "/-/". */
static bool is_perf_script(const char *text, size_t size)
{
    if (contains(text, size, "PERF_RECORD_")) {
        return true;
    }
    return contains(text, size, "/0x") &&
           (contains(text, size, "/P/") || contains(text, size, "/M/") ||
            contains(text, size, "/-/"));
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
        return refuse(path, "the text output of 'perf script'",
                      "give the perf.data file itself, it is read directly", err);
    }
    return refuse(path, "a text file", "give a file written by 'perf record -b'", err);
}

int br2_input_refuse_directory(const char *path, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_UNSUPPORTED,
             "'%s' is a directory, and no recording: it has no file 'data'", path);
    br2_hint(err, "give a file written by 'perf record -b', or the directory that 'perf record "
                  "--threads' writes");
    return BR2PGO_UNSUPPORTED;
}
