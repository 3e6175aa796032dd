/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's raw binary sample profile: magic, version, summary, names, function records to the end. */
#include <string.h>

#include "converters/llvm/internal.h"

static bool probe(const uint8_t *bytes, size_t size)
{
    /* The formats LLVM gave up also come here, to be refused by name. */
    return br2_llvm_has_magic(bytes, size) &&
           memcmp(bytes, br2_llvm_magic_extbinary, BR2_LLVM_MAGIC_SIZE) != 0;
}

static int write_records(const struct br2_profile *profile, const struct br2_llvm_names *names,
                         struct br2_buf *out, struct br2pgo_error *err)
{
    struct br2_llvm_writer writer = {.profile = profile, .names = names, .out = out};
    const struct br2_function_profile **order = br2_llvm_function_order(profile);
    bool written = order != NULL;
    for (size_t i = 0; written && i < profile->function_count; i++) {
        written = br2_llvm_write_function(&writer, order[i]);
    }
    br2_free(writer.scratch.items);
    br2_free(order);
    return written && !out->failed ? BR2PGO_OK : br2_fail_memory(err);
}

static int write_profile(const struct br2_profile *profile, const struct br2_write_options *options,
                         struct br2_buf *out, struct br2pgo_error *err)
{
    (void)options; /* this format has none */
    if (profile->has_checksums) {
        br2_fail(err, BR2PGO_UNSUPPORTED, "llvm-binary cannot hold pseudo-probe checksums");
        br2_hint(err, "write llvm-extbinary or llvm-text");
        return BR2PGO_UNSUPPORTED;
    }
    if (profile->md5_names) {
        br2_fail(err, BR2PGO_UNSUPPORTED, "llvm-binary cannot hold MD5 hashes instead of names");
        br2_hint(err, "write llvm-extbinary");
        return BR2PGO_UNSUPPORTED;
    }
    br2_buf_put(out, br2_llvm_magic_binary, BR2_LLVM_MAGIC_SIZE);
    br2_buf_uleb(out, BR2_LLVM_VERSION);
    struct br2_llvm_names names;
    int status = br2_llvm_names_init(&names, profile, err);
    if (!status) {
        status = br2_llvm_write_summary(profile, out, err);
    }
    if (!status) {
        status = br2_llvm_names_write(&names, out, err);
    }
    if (!status) {
        status = write_records(profile, &names, out, err);
    }
    br2_llvm_names_done(&names);
    return status;
}

static int read_profile(const uint8_t *bytes, size_t size, struct br2_profile *profile,
                        struct br2pgo_error *err)
{
    struct br2_llvm_reader reader = {.profile = profile, .where = "the file"};
    reader.cursor = br2_cursor_make(bytes, size, false);
    int status = br2_llvm_read_magic(&reader, br2_llvm_magic_binary, err);
    if (!status) {
        status = br2_llvm_read_summary(&reader, err);
    }
    if (!status) {
        status = br2_llvm_read_names(&reader, err);
    }
    while (!status && br2_cursor_left(&reader.cursor) > 0) {
        uint32_t name = 0;
        status = br2_llvm_read_function(&reader, &name, err);
    }
    br2_llvm_reader_done(&reader);
    return status ? status : br2_profile_finish(profile, err);
}

const struct br2_format br2_format_llvm_binary = {
    .name = "llvm-binary",
    .suffixes = {".binprof"},
    .description = "LLVM sample profile, raw binary (clang -fprofile-sample-use)",
    .product = BR2_PRODUCT_PROFILE,
    .binary = true,
    .probe = probe,
    .write_profile = write_profile,
    .read_profile = read_profile,
};
