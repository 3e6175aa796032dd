/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/source.h"

#include <sys/stat.h>

#include "base/err.h"
#include "cli/option_table.h"
#include "cli/reading.h"

/* Only a file can be looked into and then be read. */
bool br2_is_profile(const char *path, struct br2pgo_format *ret)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           br2pgo_profile_format(path, ret, NULL) == 0;
}

int br2_source_read(struct br2_cli_source *ret, const struct br2_arguments *arguments,
                    const char *format, struct br2pgo_error *err)
{
    struct br2_progress_line line;
    br2_reading_begin(&line, arguments);
    struct br2pgo_options options = br2_reading_options(arguments, &line);
    struct br2pgo_output_options output = BR2PGO_OUTPUT_OPTIONS_INIT;
    output.format = format;
    int rc = br2pgo_open(&options, &ret->conversion, err);
    rc = rc != 0 ? rc : br2_reading_add(ret->conversion, arguments, err);
    /* It is never written. */
    rc = rc != 0 ? rc : br2pgo_add_output(ret->conversion, "-", &output, err);
    if (rc == 0) {
        br2_reading_spare(arguments);
        rc = br2pgo_run(ret->conversion, err);
    }
    br2_progress_clear(&line);
    if (ret->conversion != NULL) {
        br2_print_notes(ret->conversion, arguments);
    }
    ret->source = (struct br2pgo_source){.conversion = ret->conversion};
    return rc;
}

void br2_source_done(struct br2_cli_source *source)
{
    br2pgo_close(source->conversion);
    source->conversion = NULL;
}

int br2_refuse_reading_options(const struct br2_arguments *arguments, struct br2pgo_error *err)
{
    const char *name = br2_reading_option_given(arguments);
    if (name != NULL) {
        br2_fail(err, BR2PGO_INVALID, "option '--%s' is for recordings, and none is given", name);
        br2_hint(err, "leave it out: a finished profile is taken as it is");
        return BR2PGO_INVALID;
    }
    return 0;
}
