/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading what is to be compared. */
#include "lib/side.h"

#include <string.h>

#include "base/mem.h"
#include "converters/bolt/bolt.h"
#include "converters/llvm/llvm.h"

static uint32_t fdata_name(struct br2_tally *tally, const struct br2_fdata *fdata, uint32_t name)
{
    size_t length;
    const char *text = br2_strings_get(&fdata->names, name, &length);
    return br2_strings_add(&tally->names->names, text, length);
}

static bool add_record(struct br2_tally *tally, const struct br2_fdata *fdata,
                       const struct br2_fdata_record *record)
{
    static const uint64_t nowhere[2] = {0, 0};
    struct br2_tally_item item = {
        .function = fdata_name(tally, fdata, record->from.name),
        .path = BR2_NO_PATH,
        .first = record->from.offset,
        .second = record->to.offset,
        .count = record->count,
    };
    if (item.function == BR2_NO_STRING) {
        return false;
    }
    if (record->class != BR2_FDATA_SAMPLE) {
        uint32_t to = fdata_name(tally, fdata, record->to.name);
        item.path = to != BR2_NO_STRING ? br2_tally_path(tally->names, BR2_NO_PATH, nowhere, to)
                                        : BR2_NO_PATH;
        if (item.path == BR2_NO_PATH) {
            return false;
        }
    }
    return br2_tally_add_item(tally, &item);
}

int br2_tally_fdata(struct br2_tally *ret, const struct br2_fdata *fdata, struct br2pgo_error *err)
{
    ret->terms = BR2_TALLY_OFFSETS;
    for (size_t i = 0; i < fdata->count; i++) {
        /* What data a function touches says nothing of how often it runs. */
        if (fdata->records[i].class != BR2_FDATA_MEMORY &&
            !add_record(ret, fdata, &fdata->records[i])) {
            return br2_fail_memory(err);
        }
    }
    return br2_tally_finish(ret, err);
}

static int refuse_kind(const char *path, const struct br2_format *format, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_UNSUPPORTED, "'%s' is %s, which has no counts by functions", path,
             format->name);
    br2_hint(err, "it is read as a recording: give the program with --binary");
    return BR2PGO_UNSUPPORTED;
}

static int read_fdata(struct br2_side *side, const struct br2_profile_file *file,
                      struct br2pgo_error *err)
{
    struct br2_fdata fdata = {0};
    int rc = br2_profile_file_fdata(file, &fdata, err);
    rc = rc != 0 ? rc : br2_tally_fdata(&side->tally, &fdata, err);
    br2_fdata_done(&fdata);
    return rc;
}

static int read_edges(struct br2_side *side, const struct br2_profile_file *file,
                      struct br2pgo_error *err)
{
    struct br2_edge_table table = {0};
    int rc = br2_profile_file_edges(file, &table, err);
    rc = rc != 0 ? rc : br2_tally_edges(&side->tally, &table, err);
    br2_edge_table_done(&table);
    return rc;
}

static int read_file(struct br2_side *side, struct br2pgo_error *err)
{
    struct br2_profile_file file = {0};
    int rc = br2_profile_file_open(&file, side->path, err);
    if (rc != 0) {
        return rc;
    }
    side->format = file.format;
    if (file.format->product == BR2_PRODUCT_PROFILE) {
        side->profile = br2_profile_new();
        rc = side->profile != NULL ? br2_profile_file_profile(&file, side->profile, err)
                                   : br2_fail_memory(err);
    } else if (file.format->product == BR2_PRODUCT_EDGES) {
        rc = read_edges(side, &file, err);
    } else if (file.format == &br2_format_fdata) {
        rc = read_fdata(side, &file, err);
    } else {
        rc = refuse_kind(side->path, file.format, err);
    }
    br2_profile_file_close(&file);
    return rc;
}

/* A copy: a conversion keeps its profile. */
static int take_profile(struct br2_side *side, const struct br2pgo_conversion *conversion,
                        struct br2pgo_error *err)
{
    const struct br2_profile *made =
        side->format->gcc_rules ? conversion->gcc_profile : conversion->profile;
    side->profile = br2_profile_new();
    return side->profile != NULL ? br2_profile_merge(side->profile, made, 1, NULL, err)
                                 : br2_fail_memory(err);
}

static int take_conversion(struct br2_side *side, const struct br2pgo_conversion *conversion,
                           struct br2pgo_error *err)
{
    if (!conversion->complete || conversion->target_count == 0) {
        br2_fail(err, BR2PGO_INVALID, "the conversion has made nothing to compare");
        br2_hint(err, "add an output, and call br2pgo_run");
        return BR2PGO_INVALID;
    }
    side->path = conversion->recordings[0].path;
    side->format = conversion->targets[0].format;
    if (side->format->product == BR2_PRODUCT_PROFILE) {
        return take_profile(side, conversion, err);
    }
    if (side->format->product == BR2_PRODUCT_EDGES) {
        return br2_tally_edges(&side->tally, &conversion->edges, err);
    }
    if (side->format != &br2_format_fdata) {
        return refuse_kind(side->path, side->format, err);
    }
    struct br2_fdata fdata = {0};
    int rc = br2_fdata_build(&fdata, &conversion->block_flow, err);
    rc = rc != 0 ? rc : br2_tally_fdata(&side->tally, &fdata, err);
    br2_fdata_done(&fdata);
    return rc;
}

static int open_side(struct br2_side *side, const struct br2pgo_source *source,
                     struct br2_tally_names *names, struct br2pgo_error *err)
{
    if (source == NULL || (source->profile == NULL) == (source->conversion == NULL)) {
        br2_fail(err, BR2PGO_INVALID, "a source is a profile or a conversion");
        br2_hint(err, "set one of the two members");
        return BR2PGO_INVALID;
    }
    side->tally.names = names;
    side->path = source->profile;
    int rc = source->profile != NULL ? read_file(side, err)
                                     : take_conversion(side, source->conversion, err);
    side->md5_names = rc == 0 && side->profile != NULL && side->profile->md5_names;
    return rc;
}

static int tally_profile(struct br2_side *side, struct br2pgo_error *err)
{
    return side->profile != NULL ? br2_tally_profile(&side->tally, side->profile, err) : 0;
}

int br2_side_open(struct br2_side *ret, const struct br2pgo_source *source,
                  struct br2_tally_names *names, struct br2pgo_error *err)
{
    int rc = open_side(ret, source, names, err);
    return rc != 0 ? rc : tally_profile(ret, err);
}

static int check_kinds(const struct br2_side sides[2], struct br2pgo_error *err)
{
    const struct br2_format *base = sides[0].format;
    const struct br2_format *test = sides[1].format;
    if (base->product != test->product) {
        br2_fail(err, BR2PGO_INVALID, "'%s' (%s) and '%s' (%s) count different things",
                 sides[0].path, base->name, sides[1].path, test->name);
        br2_hint(err, "compare profiles of one kind: make both from the recordings");
        return BR2PGO_INVALID;
    }
    if (base->gcc_rules != test->gcc_rules) {
        br2_fail(err, BR2PGO_INVALID, "'%s' is by the rules of %s, '%s' by those of %s",
                 sides[0].path, br2_format_rules(base), sides[1].path, br2_format_rules(test));
        br2_hint(err, "each counts lines and names in its own way: make both from the recordings");
        return BR2PGO_INVALID;
    }
    return 0;
}

static int hash_names(struct br2_side *side, struct br2pgo_error *err)
{
    struct br2_profile *hashed = br2_profile_new();
    int rc =
        hashed != NULL ? br2_llvm_hash_names(hashed, side->profile, err) : br2_fail_memory(err);
    if (rc != 0) {
        br2_profile_free(hashed);
        return rc;
    }
    br2_profile_free(side->profile);
    side->profile = hashed;
    return 0;
}

int br2_sides_open(struct br2_side ret[2], const struct br2pgo_source *base,
                   const struct br2pgo_source *test, struct br2_tally_names *names,
                   struct br2pgo_error *err)
{
    int rc = open_side(&ret[0], base, names, err);
    rc = rc != 0 ? rc : open_side(&ret[1], test, names, err);
    rc = rc != 0 ? rc : check_kinds(ret, err);
    for (size_t i = 0; rc == 0 && i < 2; i++) {
        if (ret[i].profile != NULL && !ret[i].md5_names && ret[1 - i].md5_names) {
            rc = hash_names(&ret[i], err);
        }
        rc = rc != 0 ? rc : tally_profile(&ret[i], err);
    }
    return rc;
}

void br2_side_done(struct br2_side *side)
{
    br2_profile_free(side->profile);
    br2_tally_done(&side->tally);
}
