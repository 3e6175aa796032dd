/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A conversion's life: options, inputs, image, outputs, notes. */
#include "lib/conversion.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/number.h"
#include "lib/all_images.h"
#include "lib/merge_parts.h"

_Static_assert(BR2_CAN_COMPRESS == BR2PGO_CAN_COMPRESS && BR2_CAN_MD5 == BR2PGO_CAN_MD5 &&
                   BR2_CAN_SYMBOL_LIST == BR2PGO_CAN_SYMBOL_LIST &&
                   BR2_CAN_PARTIAL == BR2PGO_CAN_PARTIAL &&
                   BR2_CAN_GCC_VERSION == BR2PGO_CAN_GCC_VERSION &&
                   BR2_CAN_BOLT_VERSION == BR2PGO_CAN_BOLT_VERSION,
               "the public numbers are those of the converters");

const char *br2pgo_version(void)
{
    return BR2PGO_VERSION;
}

void br2pgo_free(void *block)
{
    br2_free(block);
}

void br2pgo_set_max_memory(size_t bytes)
{
    br2_mem_limit(bytes);
}

#define STRING_COUNT 7

/* The strings among the options. */
static void list_strings(struct br2pgo_options *options, const char **ret[STRING_COUNT])
{
    const char **const strings[STRING_COUNT] = {
        &options->event, &options->sysroot, &options->debug_binary, &options->pids,
        &options->comms, &options->cpus,    &options->time,
    };
    memcpy(ret, strings, sizeof strings);
}

/* Makes the strings the library's own; on failure those that could not be copied are NULL. */
static int copy_strings(struct br2pgo_options *options, struct br2pgo_error *err)
{
    const char **strings[STRING_COUNT];
    int rc = 0;
    list_strings(options, strings);
    for (size_t i = 0; i < STRING_COUNT; i++) {
        const char *text = *strings[i];
        *strings[i] = text != NULL && rc == 0 ? br2_strdup(text) : NULL;
        rc = text != NULL && *strings[i] == NULL ? BR2PGO_NO_MEMORY : rc;
    }
    return rc == 0 ? 0 : br2_fail_memory(err);
}

static void free_strings(struct br2pgo_options *options)
{
    const char **strings[STRING_COUNT];
    list_strings(options, strings);
    for (size_t i = 0; i < STRING_COUNT; i++) {
        br2_free((void *)(uintptr_t)*strings[i]);
    }
}

/* There is one version of each structure so far. A later library takes a shorter one of an earlier
 * version, never one of another size, which would end in the middle of a member. */
int br2_check_size(size_t size, size_t known, const char *what, struct br2pgo_error *err)
{
    if (size != known) {
        br2_fail(err, BR2PGO_INVALID, "%s of %zu bytes, this library knows %zu", what, size, known);
        br2_hint(err, "begin with its _INIT, and build with the header of this library");
        return BR2PGO_INVALID;
    }
    return 0;
}

/* The first LLVM with a BOLT in it. */
#define BOLT_FIRST 14

static int check_values(const struct br2pgo_options *options, struct br2pgo_error *err)
{
    if (options->suffixes < BR2PGO_SUFFIXES_AUTO || options->suffixes > BR2PGO_SUFFIXES_NONE) {
        br2_fail(err, BR2PGO_INVALID, "unknown suffix policy %d", options->suffixes);
        br2_hint(err, "it is one of enum br2pgo_suffixes");
        return BR2PGO_INVALID;
    }
    if (options->gcc_version < 0 || options->gcov_version < 0 || options->gcov_version > 3) {
        br2_fail(err, BR2PGO_INVALID, "unknown version of GCC %d or of its profiles %d",
                 options->gcc_version, options->gcov_version);
        br2_hint(err, "0 stands for the one that built the image");
        return BR2PGO_INVALID;
    }
    if (options->bolt_version < BOLT_FIRST && options->bolt_version != 0) {
        br2_fail(err, BR2PGO_INVALID, "there is no BOLT of version %d", options->bolt_version);
        br2_hint(err, "the first is that of LLVM %d; llvm-bolt --version says which it is",
                 BOLT_FIRST);
        return BR2PGO_INVALID;
    }
    if (options->threads < 0 || options->threads > BR2PGO_THREADS_MAX) {
        br2_fail(err, BR2PGO_INVALID, "%d threads", options->threads);
        br2_hint(err, "1 to %d, or 0 for one for each processor", BR2PGO_THREADS_MAX);
        return BR2PGO_INVALID;
    }
    return 0;
}

int br2pgo_open(const struct br2pgo_options *options, struct br2pgo_conversion **ret,
                struct br2pgo_error *err)
{
    struct br2pgo_options taken = BR2PGO_OPTIONS_INIT;
    *ret = NULL;
    if (options != NULL) {
        int rc = br2_check_size(options->size, sizeof taken, "struct br2pgo_options", err);
        if (rc != 0) {
            return rc;
        }
        taken = *options;
    }
    int rc = check_values(&taken, err);
    if (rc != 0) {
        return rc;
    }
    struct br2pgo_conversion *conversion = br2_calloc(1, sizeof *conversion);
    if (conversion == NULL) {
        return br2_fail_memory(err);
    }
    conversion->options = taken;
    conversion->weight = BR2_WEIGHT_ONE;
    rc = copy_strings(&conversion->options, err);
    rc = rc != 0 ? rc : br2_selection_parse(&conversion->options, &conversion->selection, err);
    if (rc != 0) {
        br2pgo_close(conversion);
        return rc;
    }
    *ret = conversion;
    return 0;
}

static void target_done(struct br2_target *target)
{
    br2_free(target->path);
    br2_buf_done(&target->bytes);
    br2_output_abandon(&target->file);
}

void br2pgo_close(struct br2pgo_conversion *conversion)
{
    if (conversion == NULL) {
        return;
    }
    br2_image_parts_done(conversion);
    for (size_t i = 0; !conversion->borrows_recordings && i < conversion->recording_count; i++) {
        br2_recording_done(&conversion->recordings[i]);
    }
    for (size_t i = 0; i < conversion->target_count; i++) {
        target_done(&conversion->targets[i]);
    }
    for (size_t i = 0; i < conversion->note_count; i++) {
        br2_free(conversion->notes[i].text);
    }
    br2_forget_image(conversion);
    br2_wanted_report_done(&conversion->wanted);
    if (!conversion->borrows_recordings) {
        br2_free(conversion->recordings);
    }
    br2_free(conversion->targets);
    br2_free(conversion->notes);
    br2_free(conversion->funnel);
    br2_free(conversion->image_path);
    free_strings(&conversion->options);
    br2_free(conversion);
}

int br2_check_not_run(const struct br2pgo_conversion *conversion, struct br2pgo_error *err)
{
    if (conversion->has_run) {
        br2_fail(err, BR2PGO_INVALID, "the conversion has run: nothing can be added to it");
        br2_hint(err, "add everything before br2pgo_run, or open another conversion");
        return BR2PGO_INVALID;
    }
    return 0;
}

int br2pgo_add_recording(struct br2pgo_conversion *conversion, const char *path,
                         struct br2pgo_error *err)
{
    int rc = br2_check_not_run(conversion, err);
    if (rc != 0) {
        return rc;
    }
    for (size_t i = 0; strcmp(path, "-") == 0 && i < conversion->recording_count; i++) {
        if (strcmp(conversion->recordings[i].path, path) == 0) {
            br2_fail(err, BR2PGO_INVALID, "standard input is named twice");
            br2_hint(err, "it can be read once: give the other recording as a file");
            return BR2PGO_INVALID;
        }
    }
    if (!br2_grow(&conversion->recordings, &conversion->recording_capacity,
                  conversion->recording_count, sizeof *conversion->recordings)) {
        return br2_fail_memory(err);
    }
    char *copy = br2_strdup(path);
    if (copy == NULL) {
        return br2_fail_memory(err);
    }
    conversion->recordings[conversion->recording_count++] =
        (struct br2_recording){.path = copy, .weight = conversion->weight, .factor = 1};
    return 0;
}

int br2pgo_set_weight(struct br2pgo_conversion *conversion, const char *weight,
                      struct br2pgo_error *err)
{
    uint64_t value = 0;
    int rc = br2_check_not_run(conversion, err);
    rc = rc != 0 ? rc : br2_weight_read(weight, &value, err);
    if (rc == 0) {
        conversion->weight = value;
    }
    return rc;
}

int br2pgo_set_image(struct br2pgo_conversion *conversion, const char *path,
                     struct br2pgo_error *err)
{
    int rc = br2_check_not_run(conversion, err);
    if (rc != 0) {
        return rc;
    }
    char *copy = br2_strdup(path);
    if (copy == NULL) {
        return br2_fail_memory(err);
    }
    br2_free(conversion->image_path);
    conversion->image_path = copy;
    return 0;
}

/* The names of all formats, for a hint. */
static void list_formats(char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; br2_formats[i] != NULL; i++) {
        const char *suffix = br2_formats[i]->suffixes[0];
        int length = snprintf(text + used, size - used, "%s%s%s%s%s", i != 0 ? ", " : "",
                              br2_formats[i]->name, suffix != NULL ? " (" : "",
                              suffix != NULL ? suffix : "", suffix != NULL ? ")" : "");
        if (length < 0 || (size_t)length >= size - used) {
            return;
        }
        used += (size_t)length;
    }
}

static int choose_format(const char *path, const char *name, const struct br2_format **ret,
                         struct br2pgo_error *err)
{
    char list[512];
    *ret = name != NULL ? br2_format_by_name(name) : br2_format_by_suffix(path);
    if (*ret != NULL) {
        return 0;
    }
    if (name != NULL) {
        br2_fail(err, BR2PGO_INVALID, "unknown format '%s'", name);
    } else {
        br2_fail(err, BR2PGO_INVALID, "cannot tell the format of '%s' from its name", path);
    }
    list_formats(list, sizeof list);
    br2_hint(err, "the formats are %s", list);
    return BR2PGO_INVALID;
}

/* A ".afdo" file is for the compiler that built the image, unless its format is named. */
bool br2_is_by_producer(const char *path, const char *name)
{
    size_t length = strlen(path);
    return name == NULL && length >= 5 && strcmp(path + length - 5, ".afdo") == 0;
}

int br2_check_capabilities(const struct br2_format *format,
                           const struct br2pgo_output_options *options, struct br2pgo_error *err)
{
    const struct {
        int wanted;
        unsigned capability;
        const char *what;
    } checks[] = {
        {options->compress, BR2_CAN_COMPRESS, "compressed sections"},
        {options->md5, BR2_CAN_MD5, "MD5 names"},
        {options->partial, BR2_CAN_PARTIAL, "a partial mark"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (checks[i].wanted && (format->capabilities & checks[i].capability) == 0) {
            br2_fail(err, BR2PGO_INVALID, "format '%s' has no place for %s", format->name,
                     checks[i].what);
            br2_hint(err, "use -f llvm-extbinary");
            return BR2PGO_INVALID;
        }
    }
    return 0;
}

static int check_duplicate(const struct br2pgo_conversion *conversion, const char *path,
                           struct br2pgo_error *err)
{
    /* Of all images, %x may tell two patterns apart that look the same. */
    bool pattern = conversion->options.all_images != 0;
    for (size_t i = 0; !pattern && i < conversion->target_count; i++) {
        if (strcmp(conversion->targets[i].path, path) == 0) {
            return br2_refuse_twice(path, err);
        }
    }
    return 0;
}

int br2pgo_add_output(struct br2pgo_conversion *conversion, const char *path,
                      const struct br2pgo_output_options *options, struct br2pgo_error *err)
{
    struct br2pgo_output_options taken = BR2PGO_OUTPUT_OPTIONS_INIT;
    int rc = br2_check_not_run(conversion, err);
    if (rc == 0 && options != NULL) {
        rc = br2_check_size(options->size, sizeof taken, "struct br2pgo_output_options", err);
        if (rc == 0) {
            taken = *options;
        }
    }
    struct br2_target target = {.file = {.fd = -1}};
    rc = rc != 0 ? rc : choose_format(path, taken.format, &target.format, err);
    rc = rc != 0 ? rc : br2_check_capabilities(target.format, &taken, err);
    rc = rc != 0 ? rc : check_duplicate(conversion, path, err);
    if (rc != 0) {
        return rc;
    }
    target.by_producer = br2_is_by_producer(path, taken.format);
    target.options = (struct br2_write_options){
        .compress = taken.compress != 0,
        .md5 = taken.md5 != 0,
        .partial = taken.partial != 0,
        .symbol_list = conversion->options.symbol_list != 0 &&
                       (target.format->capabilities & BR2_CAN_SYMBOL_LIST) != 0,
    };
    if ((target.format->capabilities & BR2_CAN_BOLT_VERSION) != 0) {
        target.options.bolt_version = conversion->options.bolt_version;
    }
    target.path = br2_strdup(path);
    if (target.path == NULL || !br2_grow(&conversion->targets, &conversion->target_capacity,
                                         conversion->target_count, sizeof *conversion->targets)) {
        br2_free(target.path);
        return br2_fail_memory(err);
    }
    conversion->targets[conversion->target_count++] = target;
    return 0;
}

void br2_note(struct br2pgo_conversion *conversion, enum br2pgo_note_kind kind, const char *format,
              ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    br2_make_printable(text, strlen(text));
    char *copy = br2_strdup(text);
    if (copy == NULL || !br2_grow(&conversion->notes, &conversion->note_capacity,
                                  conversion->note_count, sizeof *conversion->notes)) {
        br2_free(copy);
        return;
    }
    conversion->notes[conversion->note_count++] = (struct br2_note){.text = copy, .kind = kind};
}

const char *br2pgo_note(const struct br2pgo_conversion *conversion, size_t index, int *ret_kind)
{
    if (index >= conversion->note_count) {
        return NULL;
    }
    if (ret_kind != NULL) {
        *ret_kind = (int)conversion->notes[index].kind;
    }
    return conversion->notes[index].text;
}

const char *br2pgo_image_path(const struct br2pgo_conversion *conversion)
{
    return conversion->image != NULL ? br2_image_path(conversion->image) : NULL;
}

int br2_progress(const struct br2pgo_conversion *conversion, const char *phase, uint64_t done,
                 uint64_t total, struct br2pgo_error *err)
{
    if (conversion->options.progress == NULL ||
        conversion->options.progress(conversion->options.progress_user, phase, done, total) == 0) {
        return 0;
    }
    return br2_fail(err, BR2PGO_CANCELLED, "stopped while %s", phase);
}

static struct br2pgo_format describe_format(const struct br2_format *format)
{
    return (struct br2pgo_format){
        .name = format->name,
        .description = format->description,
        .suffix = format->suffixes[0],
        .binary = format->binary,
        .can = format->capabilities,
    };
}

int br2pgo_format_info(size_t index, struct br2pgo_format *ret)
{
    for (size_t i = 0; br2_formats[i] != NULL; i++) {
        if (i == index) {
            *ret = describe_format(br2_formats[i]);
            return 0;
        }
    }
    return BR2PGO_INVALID;
}

int br2pgo_format_of(const char *path, const char *name, struct br2pgo_format *ret,
                     struct br2pgo_error *err)
{
    const struct br2_format *format;
    int rc = choose_format(path, name, &format, err);
    if (rc == 0) {
        *ret = describe_format(format);
        ret->can |= br2_is_by_producer(path, name) ? BR2_CAN_GCC_VERSION : 0;
    }
    return rc;
}

const char *br2pgo_output_format(const struct br2pgo_conversion *conversion, size_t index)
{
    return index < conversion->target_count ? conversion->targets[index].format->name : NULL;
}
