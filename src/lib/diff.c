/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two profiles compared. */
#include "base/mem.h"
#include "converters/bolt/bolt.h"
#include "lib/side.h"
#include "lib/text.h"
#include "report/overlap_report.h"

struct diff {
    struct br2_side sides[2];
    struct br2_tally_names names;
    struct br2_overlap overlap;
};

static int compare(struct diff *diff, const struct br2pgo_diff_options *options,
                   struct br2_buf *out, struct br2pgo_error *err)
{
    int rc = br2_overlap_compute(&diff->overlap, &diff->sides[0].tally, &diff->sides[1].tally, err);
    if (rc != 0) {
        return rc;
    }
    struct br2_overlap_report report = {
        .overlap = &diff->overlap,
        .base_path = diff->sides[0].path,
        .test_path = diff->sides[1].path,
        .base_format = diff->sides[0].format->name,
        .test_format = diff->sides[1].format->name,
        .function = options->function,
        .top = options->top != 0 ? options->top : SIZE_MAX,
    };
    return options->json != 0 ? br2_overlap_json(&report, out, err)
                              : br2_overlap_text(&report, out, err);
}

int br2pgo_diff(const struct br2pgo_source *base, const struct br2pgo_source *test,
                const struct br2pgo_diff_options *options, char **ret, struct br2pgo_error *err)
{
    struct br2pgo_diff_options taken = BR2PGO_DIFF_OPTIONS_INIT;
    struct diff diff = {0};
    struct br2_buf out = {0};
    *ret = NULL;
    if (options != NULL) {
        int rc = br2_check_size(options->size, sizeof *options, "struct br2pgo_diff_options", err);
        if (rc != 0) {
            return rc;
        }
        taken = *options;
    }
    int rc = br2_sides_open(diff.sides, base, test, &diff.names, err);
    rc = rc != 0 ? rc : compare(&diff, &taken, &out, err);
    br2_overlap_done(&diff.overlap);
    br2_side_done(&diff.sides[0]);
    br2_side_done(&diff.sides[1]);
    br2_tally_names_done(&diff.names);
    if (taken.json == 0) {
        br2_printable_lines(&out);
    }
    return br2_take_text(rc, &out, ret, err);
}

int br2pgo_profile_format(const char *path, struct br2pgo_format *ret, struct br2pgo_error *err)
{
    struct br2_profile_file file = {0};
    int rc = br2_profile_file_open(&file, path, err);
    if (rc != 0) {
        return rc;
    }
    const struct br2_format *format = file.format;
    bool finished = format->product == BR2_PRODUCT_PROFILE ||
                    format->product == BR2_PRODUCT_EDGES || format == &br2_format_fdata;
    if (finished) {
        rc = br2pgo_format_of(path, format->name, ret, err);
    } else {
        rc = br2_fail(err, BR2PGO_UNSUPPORTED, "'%s' is %s, which is read as a recording", path,
                      format->name);
    }
    br2_profile_file_close(&file);
    return rc;
}
