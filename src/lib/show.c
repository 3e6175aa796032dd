/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A finished profile as text. */
#include <br2pgo/br2pgo.h>

#include <string.h>

#include "base/mem.h"
#include "converters/bolt/bolt.h"
#include "converters/gcc/gcc.h"
#include "converters/llvm/llvm.h"
#include "lib/annotate.h"
#include "lib/side.h"
#include "lib/text.h"
#include "report/tally_report.h"

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

/* Marks the functions of the name, or those with the most counts: BR2PGO_USELESS where there is
 * none. */
static int choose_functions(const struct br2_tally *tally,
                            const struct br2pgo_show_options *options, bool *keep,
                            struct br2pgo_error *err)
{
    const struct br2_tally_function **ranking = br2_tally_ranking(tally);
    if (ranking == NULL) {
        return br2_fail_memory(err);
    }
    size_t left = options->top != 0 ? options->top : SIZE_MAX;
    size_t found = 0;
    for (size_t i = 0; i < tally->function_count && found < left; i++) {
        const char *name = br2_tally_name(tally, ranking[i]->name);
        if (options->function == NULL || br2_tally_is_named(name, options->function)) {
            keep[ranking[i] - tally->functions] = true;
            found++;
        }
    }
    br2_free(ranking);
    if (found == 0) {
        br2_fail(err, BR2PGO_USELESS, "there is no function '%s' in the profile",
                 options->function != NULL ? options->function : "");
        br2_hint(err, "names are those of symbols: --top 10 shows some");
        return BR2PGO_USELESS;
    }
    return 0;
}

static bool is_kept(const struct br2_tally *tally, const struct br2_strings *names, uint32_t name)
{
    size_t length;
    const char *text = br2_strings_get(names, name, &length);
    uint32_t number = br2_strings_find(&tally->names->names, text, length);
    return number != BR2_NO_STRING && br2_tally_find(tally, number) != NULL;
}

/* The chosen functions of a source profile as text. */
static int show_kept_profile(const struct br2_side *side, struct br2_buf *out,
                             struct br2pgo_error *err)
{
    static const struct br2_write_options write = {.to_look_at = true};
    bool *keep = br2_calloc(side->profile->function_count + 1, sizeof *keep);
    if (keep == NULL) {
        return br2_fail_memory(err);
    }
    for (size_t i = 0; i < side->profile->function_count; i++) {
        keep[i] = is_kept(&side->tally, &side->profile->names, side->profile->functions[i]->name);
    }
    br2_profile_keep(side->profile, keep);
    br2_free(keep);
    return br2_format_llvm_text.write_profile(side->profile, &write, out, err);
}

/* Of what has no functions' records to leave out: one line for each place. */
static void show_kept_places(const struct br2_tally *tally, struct br2_buf *out)
{
    for (size_t i = 0; i < tally->function_count; i++) {
        const struct br2_tally_function *function = &tally->functions[i];
        br2_buf_printf(out, "%s: %llu\n", br2_tally_name(tally, function->name),
                       (unsigned long long)function->sum);
        for (size_t k = 0; k < function->item_count; k++) {
            const struct br2_tally_item *item = &tally->items[function->first + k];
            br2_buf_str(out, " ");
            br2_tally_print_place(tally, item, out);
            br2_buf_printf(out, ": %llu\n", (unsigned long long)item->count);
        }
    }
}

static int show_part(struct br2_side *side, const struct br2pgo_show_options *options,
                     struct br2_buf *out, struct br2pgo_error *err)
{
    bool *keep = br2_calloc(side->tally.function_count + 1, sizeof *keep);
    int rc =
        keep != NULL ? choose_functions(&side->tally, options, keep, err) : br2_fail_memory(err);
    if (rc == 0) {
        br2_tally_keep(&side->tally, keep);
    }
    br2_free(keep);
    if (rc != 0) {
        return rc;
    }
    if (options->json != 0) {
        return br2_tally_json(&side->tally, side->path, side->format->name, out, err);
    }
    if (options->annotate != NULL) {
        rc = br2_annotate(&side->tally, options, out, err);
    } else if (side->profile != NULL) {
        rc = show_kept_profile(side, out, err);
    } else {
        show_kept_places(&side->tally, out);
    }
    br2_printable_lines(out);
    return rc;
}

int br2pgo_show_with(const char *path, const struct br2pgo_show_options *options, char **ret,
                     struct br2pgo_error *err)
{
    struct br2_side side = {0};
    struct br2_tally_names names = {0};
    struct br2_buf out = {0};
    *ret = NULL;
    if (options == NULL) {
        return br2pgo_show(path, NULL, ret, err);
    }
    int rc = br2_check_size(options->size, sizeof *options, "struct br2pgo_show_options", err);
    bool part = options->function != NULL || options->top != 0 || options->json != 0 ||
                options->annotate != NULL;
    if (rc != 0) {
        return rc;
    }
    if (!part) {
        return br2pgo_show(path, options->format, ret, err);
    }
    if (options->format != NULL || (options->json != 0 && options->annotate != NULL)) {
        br2_fail(err, BR2PGO_INVALID, "%s",
                 options->format != NULL ? "a part of a profile is shown in its own terms"
                                         : "source lines are not shown as JSON");
        br2_hint(err, "leave %s out", options->format != NULL ? "the format" : "one of the two");
        return BR2PGO_INVALID;
    }
    const struct br2pgo_source source = {.profile = path};
    rc = br2_side_open(&side, &source, &names, err);
    rc = rc != 0 ? rc : show_part(&side, options, &out, err);
    br2_side_done(&side);
    br2_tally_names_done(&names);
    return br2_take_text(rc, &out, ret, err);
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
