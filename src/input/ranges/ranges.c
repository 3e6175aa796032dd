/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Counted ranges and branches, as several tools write them (docs/formats.md):
 *     NUMBER           of the lines that follow, hexadecimal but for the counts:
 *     start-end:count      straight runs; `end` is their last instruction
 *     address:count        sampled addresses, of no use here
 *     from->to:count       taken branches
 * llvm-profgen --skip-symbolization writes two such lists, one pair for each "[context]"; the tools
 * of create_llvm_prof (--profiler=text) write three; simpleperf inject writes three for each file,
 * then "// build_id: 0x..." and "// path". Addresses are link-time ones, file offsets or distances
 * from the first code segment; 0, and what no address can be, is outside the file.
 */
#include "base/limits.h"
#include "input/text/text.h"

#define CURE "the file is cut off or was edited: write it again"

enum element {
    ELEMENT_RANGE,
    ELEMENT_ADDRESS,
    ELEMENT_BRANCH,
};

struct counted_line {
    enum element element;
    uint64_t first;
    uint64_t second;
    uint64_t count;
};

static bool take_element(struct br2_span line, struct counted_line *ret)
{
    *ret = (struct counted_line){.element = ELEMENT_ADDRESS};
    if (!br2_span_take_hex(&line, &ret->first)) {
        return false;
    }
    if (br2_span_take(&line, '-')) {
        ret->element = br2_span_take(&line, '>') ? ELEMENT_BRANCH : ELEMENT_RANGE;
        if (!br2_span_take_hex(&line, &ret->second)) {
            return false;
        }
    }
    return br2_span_take(&line, ':') && br2_span_take_decimal(&line, &ret->count) &&
           line.at == line.end;
}

static bool take_number(struct br2_span line, uint64_t *ret)
{
    return br2_span_take_decimal(&line, ret) && line.at == line.end;
}

/* A pass over the text; one of the two sinks is set. */
struct pass {
    struct br2_lines lines;
    br2_task_sink task_sink;
    br2_counted_sink counted_sink;
    void *user;
    struct br2_text_file file; /* the one that the lists are of */
    char *name;                /* owned: what a "// path" line says */
    bool has_lists;            /* something of the file was read */
    bool ended;                /* its name was read: what follows is of the next */
    uint64_t left;             /* lines of the current list still to come */
    uint64_t sum;
};

static int check_list(const struct pass *pass, struct br2pgo_error *err)
{
    return pass->left == 0
               ? 0
               : br2_lines_fail(&pass->lines, "the list before it is shorter than it says", CURE,
                                err);
}

static int end_file(struct pass *pass, struct br2pgo_error *err)
{
    int rc = check_list(pass, err);
    if (rc == 0 && pass->has_lists && pass->task_sink != NULL) {
        pass->file.name = pass->name != NULL ? pass->name : "";
        rc = br2_text_map_file(&pass->file, pass->task_sink, pass->user, err);
    }
    if (rc == 0 && pass->has_lists && ++pass->file.number > BR2_TEXT_FILES_MAX) {
        rc = br2_lines_fail(&pass->lines, "too many files", "split the text", err);
    }
    br2_free(pass->name);
    pass->name = NULL;
    pass->file.build_id = (struct br2_build_id){0};
    pass->has_lists = false;
    pass->ended = false;
    return rc;
}

/* "// build_id: 0x..." or "// path"; they stand behind what they are about. */
static int read_remark(struct pass *pass, struct br2_span line, struct br2pgo_error *err)
{
    int rc = check_list(pass, err);
    br2_span_skip_blanks(&line);
    if (rc != 0 || line.at == line.end) {
        return rc;
    }
    if (br2_span_take_word(&line, "build_id:")) {
        br2_span_skip_blanks(&line);
        br2_span_take_word(&line, "0x");
        br2_span_take_build_id(&line, &pass->file.build_id);
    } else if (pass->task_sink != NULL) {
        br2_free(pass->name);
        pass->name = br2_strndup(line.at, br2_span_left(&line));
        if (pass->name == NULL) {
            return br2_fail_memory(err);
        }
    }
    pass->ended = true;
    return 0;
}

static int give(struct pass *pass, const struct counted_line *line, struct br2pgo_error *err)
{
    if (line->count == 0 || line->element == ELEMENT_ADDRESS) {
        return 0;
    }
    int rc = br2_lines_add(&pass->lines, &pass->sum, line->count, 1, err);
    if (rc != 0 || pass->counted_sink == NULL) {
        return rc;
    }
    uint64_t first = br2_file_place(pass->file.number, line->first);
    uint64_t second = br2_file_place(pass->file.number, line->second);
    struct br2_counted counted = {.count = line->count};
    if (line->element == ELEMENT_BRANCH) {
        counted.has_branch = true;
        counted.from = first;
        counted.to = second;
    } else {
        counted.has_run = true;
        counted.any_origin = true;
        counted.to = first;
        counted.end = second;
    }
    return pass->counted_sink(pass->user, &counted, err);
}

static int read_line(struct pass *pass, struct br2_span line, struct br2pgo_error *err)
{
    struct counted_line element;
    uint64_t number;
    br2_span_skip_blanks(&line);
    if (line.at == line.end) {
        return 0;
    }
    if (br2_span_take_word(&line, "//")) {
        return read_remark(pass, line, err);
    }
    if (pass->ended) {
        int rc = end_file(pass, err);
        if (rc != 0) {
            return rc;
        }
    }
    pass->has_lists = true;
    if (br2_span_is(&line, '[')) {
        return check_list(pass, err);
    }
    if (take_number(line, &number)) {
        int rc = check_list(pass, err);
        pass->left = number;
        return rc;
    }
    if (!take_element(line, &element)) {
        return br2_lines_fail(&pass->lines, "neither a range, a branch nor a number of lines", CURE,
                              err);
    }
    if (pass->left == 0) {
        return br2_lines_fail(&pass->lines, "the list is longer than it says", CURE, err);
    }
    pass->left--;
    return give(pass, &element, err);
}

static int read_all(struct pass *pass, struct br2_input *input, struct br2pgo_error *err)
{
    struct br2_span line;
    int more;
    int rc = 0;
    br2_lines_start(&pass->lines, input);
    while (rc == 0 && (more = br2_lines_next(&pass->lines, &line, err)) != 0) {
        rc = more < 0 ? more : read_line(pass, line, err);
    }
    if (rc == 0) {
        rc = end_file(pass, err);
    }
    br2_free(pass->name);
    input->info.records = pass->lines.number;
    input->info.bytes_read = input->file.size;
    return rc;
}

static int read_tasks(struct br2_input *input, br2_task_sink sink, void *user,
                      struct br2pgo_error *err)
{
    struct pass pass = {.task_sink = sink, .user = user};
    return read_all(&pass, input, err);
}

static int read_counted(struct br2_input *input, br2_counted_sink sink, void *user,
                        struct br2pgo_error *err)
{
    struct pass pass = {.counted_sink = sink, .user = user};
    return read_all(&pass, input, err);
}

/* A number of lines, or a context, then a line that is counted, or another number. */
static bool probe(const uint8_t *bytes, size_t size)
{
    struct br2_span rest = {.at = (const char *)bytes, .end = (const char *)bytes + size};
    struct counted_line element;
    uint64_t number;
    bool announced = false;
    struct br2_span line;
    for (unsigned i = 0; i < 8 && br2_span_take_line(&rest, &line); i++) {
        br2_span_skip_blanks(&line);
        if (line.at == line.end || br2_span_is(&line, '[') || br2_span_begins(&line, "//")) {
            continue;
        }
        if (announced) {
            return take_number(line, &number) || take_element(line, &element);
        }
        announced = take_number(line, &number);
        if (!announced) {
            return false;
        }
    }
    return false;
}

static int open_ranges(struct br2_input *input, struct br2pgo_error *err)
{
    (void)err;
    input->info.container = "text (counted ranges and branches)";
    input->info.text = true;
    input->info.counted = true;
    input->info.addressing = BR2_ADDRESSES_OF_FILE;
    input->total = input->file.size;
    return 0;
}

static void close_ranges(struct br2_input *input)
{
    (void)input;
}

const struct br2_input_format br2_ranges_format = {
    .name = "ranges",
    .probe = probe,
    .open = open_ranges,
    .read_tasks = read_tasks,
    .read_counted = read_counted,
    .close = close_ranges,
};
