/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Converts a profile: convert_profile [options] IN FORMAT OUT
 * IN is recognised by its content. Options: --md5 --compress --partial --fs --symbol-list FILE
 * --gcov-version N --no-check (do not read the output back). Exit 1 with a message on failure.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "converters/converter.h"

struct arguments {
    struct br2_write_options options;
    bool fs;
    bool check;
    const char *symbol_list;
    const char *in;
    const char *format;
    const char *out;
};

static bool parse(int argc, char **argv, struct arguments *ret)
{
    const char *names[3] = {NULL};
    size_t count = 0;
    ret->check = true;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--md5") == 0) {
            ret->options.md5 = true;
        } else if (strcmp(argv[i], "--compress") == 0) {
            ret->options.compress = true;
        } else if (strcmp(argv[i], "--partial") == 0) {
            ret->options.partial = true;
        } else if (strcmp(argv[i], "--fs") == 0) {
            ret->fs = true;
        } else if (strcmp(argv[i], "--no-check") == 0) {
            ret->check = false;
        } else if (strcmp(argv[i], "--gcov-version") == 0 && i + 1 < argc) {
            ret->options.gcov_version = (unsigned)strtoul(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--symbol-list") == 0 && i + 1 < argc) {
            ret->symbol_list = argv[++i];
        } else if (argv[i][0] == '-' || count == 3) {
            return false;
        } else {
            names[count++] = argv[i];
        }
    }
    ret->in = names[0];
    ret->format = names[1];
    ret->out = names[2];
    return count == 3;
}

static int read_symbol_list(const char *path, struct br2_profile *profile, struct br2pgo_error *err)
{
    struct br2_file file;
    int status = br2_file_open(&file, path, NULL, err);
    if (status) {
        return status;
    }
    const char *at = (const char *)file.bytes, *end = at + file.size;
    while (!status && file.size > 0 && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) {
            stop = end;
        }
        if (stop > at &&
            br2_strings_add(&profile->symbol_list, at, (size_t)(stop - at)) == BR2_NO_STRING) {
            status = br2_fail_memory(err);
        }
        at = stop + (stop < end);
    }
    profile->has_symbol_list = true;
    br2_file_close(&file);
    return status;
}

static int read_profile(const struct arguments *arguments, struct br2_profile *profile,
                        struct br2pgo_error *err)
{
    struct br2_file file;
    int status = br2_file_open(&file, arguments->in, NULL, err);
    if (status) {
        return status;
    }
    const struct br2_format *format = br2_format_by_content(file.bytes, file.size);
    if (!format || format->product != BR2_PRODUCT_PROFILE) {
        status = br2_fail(err, BR2PGO_UNSUPPORTED, "not a profile of a known format");
    } else {
        status = format->read_profile(file.bytes, file.size, profile, err);
    }
    if (status) {
        br2_prefix(err, "%s", arguments->in);
    }
    br2_file_close(&file);
    return status;
}

static int convert(struct arguments *arguments, struct br2_profile *profile, struct br2_buf *out,
                   struct br2pgo_error *err)
{
    const struct br2_format *format = br2_format_by_name(arguments->format);
    if (!format || format->product != BR2_PRODUCT_PROFILE) {
        return br2_fail(err, BR2PGO_INVALID, "no profile format '%s'", arguments->format);
    }
    int status = read_profile(arguments, profile, err);
    if (!status && arguments->symbol_list) {
        status = read_symbol_list(arguments->symbol_list, profile, err);
    }
    if (status) {
        return status;
    }
    profile->fs_discriminators |= arguments->fs;
    arguments->options.symbol_list = profile->has_symbol_list;
    return arguments->check
               ? br2_format_encode_profile(format, profile, &arguments->options, out, err)
               : format->write_profile(profile, &arguments->options, out, err);
}

static int write_file(const char *path, const struct br2_buf *bytes, struct br2pgo_error *err)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        return br2_fail_io(err, "create", path, errno);
    }
    size_t written = bytes->size > 0 ? fwrite(bytes->bytes, 1, bytes->size, file) : 0;
    if (fclose(file) != 0 || written != bytes->size) {
        return br2_fail_io(err, "write", path, errno);
    }
    return BR2PGO_OK;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {0};
    struct br2pgo_error err = {0};
    struct br2_buf out = {0};
    if (!parse(argc, argv, &arguments)) {
        fprintf(stderr, "usage: convert_profile [options] IN FORMAT OUT\n");
        return 2;
    }
    struct br2_profile *profile = br2_profile_new();
    int status = profile ? convert(&arguments, profile, &out, &err) : br2_fail_memory(&err);
    if (!status) {
        status = write_file(arguments.out, &out, &err);
    }
    if (status) {
        fprintf(stderr, "%s\n%s%s", err.message, err.hint, err.hint[0] ? "\n" : "");
    }
    br2_buf_done(&out);
    br2_profile_free(profile);
    return status ? 1 : 0;
}
