/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Opening, recognising and reading finished profiles. */
#include "lib/profile_file.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "converters/gcc/gcc.h"

static bool is_recognised(const uint8_t *bytes, size_t size)
{
    return br2_format_by_content(bytes, size) != NULL;
}

static bool begins_with(const struct br2_file *file, const char *magic)
{
    size_t length = strlen(magic);
    return file->size >= length && memcmp(file->bytes, magic, length) == 0;
}

static int refuse_content(const struct br2_profile_file *file, struct br2pgo_error *err)
{
    if (file->file.size == 0) {
        br2_fail(err, BR2PGO_UNSUPPORTED, "'%s' is empty", file->path);
        br2_hint(err, "what should have written it has failed");
    } else if (begins_with(&file->file, "PERFILE2") || begins_with(&file->file, "2ELIFREP")) {
        br2_fail(err, BR2PGO_UNSUPPORTED, "'%s' is a recording, not a profile", file->path);
        br2_hint(err,
                 "look into it with br2pgo inspect, or make a profile: br2pgo '%s' -o app.prof",
                 file->path);
    } else {
        br2_fail(err, BR2PGO_UNSUPPORTED, "'%s' is no profile of a known format", file->path);
        br2_hint(err, "known are the formats that br2pgo writes: see br2pgo --help");
    }
    return BR2PGO_UNSUPPORTED;
}

/* No text has a zero byte; a file that was cut off by a crash may be zeros from there on. */
static int check_text(const struct br2_profile_file *file, struct br2pgo_error *err)
{
    const uint8_t *zero =
        file->format->binary ? NULL : memchr(file->file.bytes, '\0', file->file.size);
    if (zero == NULL) {
        return 0;
    }
    br2_fail(err, BR2PGO_CORRUPT, "'%s' (%s) is damaged at byte %zu: there are zeros in the text",
             file->path, file->format->name, (size_t)(zero - file->file.bytes));
    br2_hint(err, "make it again from the recording");
    return BR2PGO_CORRUPT;
}

int br2_profile_file_open(struct br2_profile_file *ret, const char *path, struct br2pgo_error *err)
{
    ret->path = path;
    int rc = br2_file_open(&ret->file, path, is_recognised, err);
    if (rc != 0) {
        return rc;
    }
    if (ret->file.size != 0) {
        size_t size = ret->file.size < BR2_PROBE_BYTES ? ret->file.size : BR2_PROBE_BYTES;
        ret->format = br2_format_by_content(ret->file.bytes, size);
    }
    rc = ret->format == NULL ? refuse_content(ret, err) : check_text(ret, err);
    if (rc != 0) {
        br2_profile_file_close(ret);
    }
    return rc;
}

void br2_profile_file_close(struct br2_profile_file *file)
{
    br2_file_close(&file->file);
    file->file = (struct br2_file){0};
}

static int refuse_nothing(const struct br2_profile_file *file, const char *what,
                          struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_USELESS, "'%s' (%s) holds no %s", file->path, file->format->name, what);
    if (file->format->gcc_rules) {
        br2_hint(err, "create_gcov 0.19 writes such a file for a program with DWARF 5: build it "
                      "with -gdwarf-4, or make the profile with br2pgo");
    } else {
        br2_hint(err, "make it again from the recording");
    }
    return BR2PGO_USELESS;
}

/* Says which file it is that `err` tells the damage of, and what to do where the reader does not.
 */
static int refuse_damaged(const struct br2_profile_file *file, int status, struct br2pgo_error *err)
{
    br2_prefix(err, "'%s'", file->path);
    if (status == BR2PGO_CORRUPT && err != NULL && err->hint[0] == '\0') {
        br2_hint(err, "make it again from the recording: it was cut short or changed");
    }
    return status;
}

int br2_profile_file_profile(const struct br2_profile_file *file, struct br2_profile *ret,
                             struct br2pgo_error *err)
{
    int rc = file->format->read_profile(file->file.bytes, file->file.size, ret, err);
    if (rc != 0) {
        return refuse_damaged(file, rc, err);
    }
    return ret->function_count != 0 ? 0 : refuse_nothing(file, "function", err);
}

int br2_profile_file_edges(const struct br2_profile_file *file, struct br2_edge_table *ret,
                           struct br2pgo_error *err)
{
    int rc = file->format->read_edges(file->file.bytes, file->file.size, ret, err);
    if (rc != 0) {
        return refuse_damaged(file, rc, err);
    }
    br2_edge_table_sort(ret);
    bool counted = false;
    for (size_t i = 0; i < ret->count; i++) {
        counted |= ret->edges[i].count != 0;
    }
    return counted ? 0 : refuse_nothing(file, ret->count != 0 ? "count but 0" : "edge", err);
}

int br2_profile_file_fdata(const struct br2_profile_file *file, struct br2_fdata *ret,
                           struct br2pgo_error *err)
{
    int rc = br2_fdata_read(ret, file->file.bytes, file->file.size, err);
    rc = rc != 0 ? rc : br2_fdata_sort(ret, err);
    if (rc != 0) {
        return refuse_damaged(file, rc, err);
    }
    return ret->count != 0 ? 0 : refuse_nothing(file, "record", err);
}

int br2_encode_fdata(const struct br2_fdata *fdata, struct br2_buf *out, struct br2pgo_error *err)
{
    br2_fdata_write(fdata, out);
    if (out->failed) {
        return br2_fail_memory(err);
    }
    char text[128];
    struct br2_fdata read = {0};
    int rc = br2_fdata_read(&read, out->bytes, out->size, err);
    if (rc != BR2PGO_NO_MEMORY &&
        (rc != 0 || br2_fdata_difference(fdata, &read, text, sizeof text))) {
        rc = br2_fail(err, BR2PGO_INTERNAL, "the fdata output does not say what went into it: %s",
                      rc != 0 ? "it cannot be read back" : text);
        br2_hint(err, "please report this as a fault in br2pgo; nothing was written");
    }
    br2_fdata_done(&read);
    return rc;
}
