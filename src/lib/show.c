/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A finished profile as text. */
#include <br2pgo/br2pgo.h>

#include "base/mem.h"
#include "converters/bolt/bolt.h"
#include "converters/gcc/gcc.h"
#include "converters/llvm/llvm.h"
#include "lib/profile_file.h"
#include "lib/text.h"

static int show_profile(const struct br2_profile_file *file, const struct br2_format *format,
                        struct br2_buf *out, struct br2pgo_error *err)
{
    static const struct br2_write_options options = {.to_look_at = true};
    struct br2_profile *profile = br2_profile_new();
    int rc = profile != NULL ? br2_profile_file_profile(file, profile, err) : br2_fail_memory(err);
    if (file->format->gcc_rules) {
        unsigned version = br2_gcov_version(file->file.bytes, file->file.size);
        br2_buf_printf(out, "# gcov %s%.0u: by the rules of GCC, not for clang\n",
                       version != 0 ? "version " : "of a version that no GCC reads", version);
    }
    if (rc == 0 && profile->md5_names) { /* text that no reader takes for what it is */
        rc = format->write_profile(profile, &options, out, err);
    } else if (rc == 0) {
        rc = br2_format_encode_profile(format, profile, NULL, out, err);
    }
    br2_profile_free(profile);
    return rc;
}

static int show_edges(const struct br2_profile_file *file, const struct br2_format *format,
                      struct br2_buf *out, struct br2pgo_error *err)
{
    struct br2_edge_table table = {0};
    int rc = br2_profile_file_edges(file, &table, err);
    rc = rc != 0 ? rc : br2_format_encode_edges(format, &table, out, err);
    br2_edge_table_done(&table);
    return rc;
}

static int show_fdata(const struct br2_profile_file *file, struct br2_buf *out,
                      struct br2pgo_error *err)
{
    struct br2_fdata fdata = {0};
    int rc = br2_profile_file_fdata(file, &fdata, err);
    rc = rc != 0 ? rc : br2_encode_fdata(&fdata, out, err);
    br2_fdata_done(&fdata);
    return rc;
}

/* The text format that was asked for, or the one for what is in the file. */
static int choose_format(const struct br2_profile_file *file, const char *name,
                         const struct br2_format **ret, struct br2pgo_error *err)
{
    if (name == NULL) {
        *ret = file->format->product == BR2_PRODUCT_PROFILE ? &br2_format_llvm_text : file->format;
        return 0;
    }
    struct br2pgo_format info;
    int rc = br2pgo_format_of(file->path, name, &info, err);
    if (rc != 0) {
        return rc;
    }
    *ret = br2_format_by_name(info.name);
    bool same = *ret == file->format;
    if ((*ret)->product != file->format->product ||
        ((*ret)->product == BR2_PRODUCT_FLOW && !same)) {
        br2_fail(err, BR2PGO_INVALID, "'%s' is %s, which cannot be shown as %s", file->path,
                 file->format->name, name);
        br2_hint(err, "leave -f out for the usual text");
        return BR2PGO_INVALID;
    }
    if ((*ret)->binary) {
        br2_fail(err, BR2PGO_INVALID, "%s is no text", name);
        br2_hint(err, "to write it: br2pgo merge '%s' -f %s -o FILE", file->path, name);
        return BR2PGO_INVALID;
    }
    return 0;
}

static int show(const struct br2_profile_file *file, const char *name, struct br2_buf *out,
                struct br2pgo_error *err)
{
    const struct br2_format *format = NULL;
    int rc = choose_format(file, name, &format, err);
    if (rc != 0) {
        return rc;
    }
    switch (format->product) {
    case BR2_PRODUCT_PROFILE:
        return show_profile(file, format, out, err);
    case BR2_PRODUCT_EDGES:
        return show_edges(file, format, out, err);
    case BR2_PRODUCT_RANGES:
    case BR2_PRODUCT_FLOW:
        if (format == &br2_format_fdata) {
            return show_fdata(file, out, err);
        }
        br2_fail(err, BR2PGO_UNSUPPORTED, "'%s' is %s, which is text already", file->path,
                 format->name);
        br2_hint(err, "look at it as it is");
        return BR2PGO_UNSUPPORTED;
    }
    return br2_fail(err, BR2PGO_INTERNAL, "unknown product");
}

int br2pgo_show(const char *path, const char *format, char **ret, struct br2pgo_error *err)
{
    *ret = NULL;
    struct br2_profile_file file = {0};
    struct br2_buf out = {0};
    int rc = br2_profile_file_open(&file, path, err);
    if (rc != 0) {
        return rc;
    }
    rc = show(&file, format, &out, err);
    br2_profile_file_close(&file);
    return br2_take_text(rc, &out, ret, err);
}
