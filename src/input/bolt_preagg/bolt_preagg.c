/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Pre-aggregated addresses, as they are made for llvm-bolt and perf2bolt with --pa
 * (bolt/docs/profiles.md). One line for each thing that was counted, addresses hexadecimal:
 *     B from to count mispredicted        a branch
 *     F start end count                   a straight run
 *     f start end count                   the same behind a branch from elsewhere
 *     r start end count                   the same behind a return from elsewhere
 *     T from start end count              a branch and the run behind it
 *     R from start end count              the same; the branch is a return
 *     S address count, E event            plain samples, and the event of what follows: of no use
 * An address is a link-time one, or the distance from where the file is loaded, which is the same
 * but for a program with a base of its own; "build-id:" before it names the file, "X:" another one.
 * In place of an address, -1 says that there is none, in `from` of T and R also -2 and -3: the run
 * began behind a branch, or a return, from elsewhere. T and R have no place for mispredictions:
 * those of their branches may be in lines B that count fewer branches than that, or none.
 */
#include "base/limits.h"
#include "base/strings.h"
#include "input/text/text.h"

#define NOTHING         UINT64_MAX       /* -1 */
#define FROM_ELSEWHERE  (UINT64_MAX - 1) /* -2 */
#define BACK_FROM_THERE (UINT64_MAX - 2) /* -3 */

#define CURE                                                                                       \
    "every line is 'B from to count mispredicted', 'F start end count' or 'T from start end count'"

struct location {
    bool outside;
    struct br2_build_id build_id; /* none: of the file the text is of */
    uint64_t address;
};

struct counted_line {
    char kind;
    struct location places[3];
    uint64_t count;
    uint64_t mispredicted;
    bool predicted;
};

/* A blank, and an address with what may stand before it. */
static bool take_location(struct br2_span *line, struct location *ret)
{
    *ret = (struct location){0};
    if (!br2_span_take(line, ' ')) {
        return false;
    }
    br2_span_skip_blanks(line);
    if (br2_span_take_word(line, "X:")) {
        ret->outside = true;
    } else {
        struct br2_span id = *line;
        if (br2_span_take_build_id(&id, &ret->build_id) && br2_span_take(&id, ':')) {
            *line = id;
        } else {
            ret->build_id = (struct br2_build_id){0};
        }
    }
    return br2_span_take_hex(line, &ret->address);
}

static bool take_count(struct br2_span *line, uint64_t *ret)
{
    if (!br2_span_take(line, ' ')) {
        return false;
    }
    br2_span_skip_blanks(line);
    return br2_span_take_decimal(line, ret);
}

static unsigned places_of(char kind)
{
    switch (kind) {
    case 'T':
    case 'R':
        return 3;
    case 'B':
    case 'F':
    case 'f':
    case 'r':
        return 2;
    case 'S':
        return 1;
    default:
        return 0;
    }
}

static bool take_line(struct br2_span line, struct counted_line *ret)
{
    *ret = (struct counted_line){0};
    ret->kind = *line.at++;
    if (ret->kind == 'E') {
        return br2_span_is(&line, ' ');
    }
    unsigned places = places_of(ret->kind);
    for (unsigned i = 0; i < places; i++) {
        if (!take_location(&line, &ret->places[i])) {
            return false;
        }
    }
    if (places == 0 || !take_count(&line, &ret->count)) {
        return false;
    }
    bool may_say = ret->kind == 'B' || ret->kind == 'T' || ret->kind == 'R';
    ret->predicted = may_say && take_count(&line, &ret->mispredicted);
    return line.at == line.end && (ret->kind != 'B' || ret->predicted);
}

/* What the first pass finds out for the second. */
struct state {
    bool apart; /* mispredictions of traces are in lines B */
};

/* A pass over the text; one of the two sinks is set. */
struct pass {
    struct state *state;
    struct br2_lines lines;
    br2_task_sink task_sink;
    br2_counted_sink counted_sink;
    void *user;
    struct br2_strings build_ids; /* of the files numbered from 1 */
    bool unnamed;                 /* some address has no build-id */
    uint64_t sum;
    uint64_t skipped;
};

/* The place's address in the space where all files lie side by side. */
static int locate(struct pass *pass, const struct location *place, uint64_t *ret,
                  struct br2pgo_error *err)
{
    uint32_t file = 0;
    *ret = br2_file_place(0, place->outside ? 0 : place->address);
    if (place->build_id.size != 0) {
        uint32_t number = br2_strings_add(&pass->build_ids, (const char *)place->build_id.bytes,
                                          place->build_id.size);
        if (number == BR2_NO_STRING) {
            return br2_fail_memory(err);
        }
        if (number >= BR2_TEXT_FILES_MAX) {
            return br2_lines_fail(&pass->lines, "too many build-ids", "split the text", err);
        }
        file = number + 1;
        *ret = br2_file_place(file, place->address);
    }
    pass->unnamed = pass->unnamed || (file == 0 && !place->outside && place->address != 0);
    return 0;
}

static int give_pair(struct pass *pass, const struct counted_line *line, struct br2pgo_error *err)
{
    uint64_t first = 0;
    uint64_t second = 0;
    int rc = locate(pass, &line->places[0], &first, err);
    rc = rc != 0 ? rc : locate(pass, &line->places[1], &second, err);
    if (rc != 0 || pass->counted_sink == NULL) {
        return rc;
    }
    struct br2_counted counted = {.count = line->count};
    if (line->kind == 'B') {
        counted.has_branch = true;
        counted.predicted = true;
        counted.from = first;
        counted.to = second;
        counted.mispredicted = line->mispredicted;
    } else {
        counted.has_run = true;
        counted.resumed = line->kind != 'F';
        counted.to = first;
        counted.end = second;
    }
    return pass->counted_sink(pass->user, &counted, err);
}

/* The branch, so that its mispredictions find it, and the run. */
static int give_apart(struct pass *pass, const struct counted_line *line,
                      const struct br2_counted *counted, struct br2pgo_error *err)
{
    struct br2_counted branch = *counted;
    struct br2_counted run = *counted;
    branch.has_run = false;
    branch.predicted = true;
    run.has_branch = false;
    run.resumed = line->kind == 'R' || line->places[0].outside || line->places[0].address == 0;
    int rc = pass->counted_sink(pass->user, &branch, err);
    return rc != 0 || !run.has_run ? rc : pass->counted_sink(pass->user, &run, err);
}

static int give_trace(struct pass *pass, const struct counted_line *line, struct br2pgo_error *err)
{
    uint64_t from = line->places[0].address;
    uint64_t end = line->places[2].address;
    struct br2_counted counted = {
        .has_branch = from < BACK_FROM_THERE,
        .has_run = end != NOTHING,
        .resumed = from == FROM_ELSEWHERE || from == BACK_FROM_THERE,
        .predicted = line->predicted,
        .count = line->count,
        .mispredicted = line->mispredicted,
    };
    if (!counted.has_branch && !counted.has_run) {
        return br2_lines_fail(&pass->lines, "neither a branch nor a run", CURE, err);
    }
    int rc = locate(pass, &line->places[1], &counted.to, err);
    if (rc == 0 && counted.has_branch) {
        rc = locate(pass, &line->places[0], &counted.from, err);
    }
    if (rc == 0 && counted.has_run) {
        rc = locate(pass, &line->places[2], &counted.end, err);
    }
    if (rc != 0 || pass->counted_sink == NULL) {
        return rc;
    }
    return pass->state->apart && counted.has_branch ? give_apart(pass, line, &counted, err)
                                                    : pass->counted_sink(pass->user, &counted, err);
}

static int read_line(struct pass *pass, struct br2_span span, struct br2pgo_error *err)
{
    struct counted_line line;
    br2_span_skip_blanks(&span);
    if (span.at == span.end) {
        return 0;
    }
    if (!take_line(span, &line)) {
        return br2_lines_fail(&pass->lines, "not a line of pre-aggregated addresses", CURE, err);
    }
    if (line.kind == 'E' || line.kind == 'S' || (line.count | line.mispredicted) == 0) {
        pass->skipped += line.kind == 'S';
        return 0;
    }
    pass->state->apart = pass->state->apart || line.mispredicted > line.count;
    int rc = br2_lines_add(&pass->lines, &pass->sum, line.count, 1, err);
    rc = rc != 0 ? rc : br2_lines_add(&pass->lines, &pass->sum, line.mispredicted, 1, err);
    if (rc != 0) {
        return rc;
    }
    bool trace = line.kind == 'T' || line.kind == 'R';
    return trace ? give_trace(pass, &line, err) : give_pair(pass, &line, err);
}

/* Tells of the mappings of all files that came up. */
static int map_files(const struct pass *pass, struct br2pgo_error *err)
{
    struct br2_text_file file = {.name = ""};
    int rc = 0;
    if (pass->unnamed) {
        rc = br2_text_map_file(&file, pass->task_sink, pass->user, err);
    }
    for (size_t i = 0; rc == 0 && i < pass->build_ids.count; i++) {
        size_t size;
        const char *bytes = br2_strings_get(&pass->build_ids, (uint32_t)i, &size);
        file.number = (uint32_t)i + 1;
        file.build_id.size = (uint8_t)size;
        memcpy(file.build_id.bytes, bytes, size);
        rc = br2_text_map_file(&file, pass->task_sink, pass->user, err);
    }
    return rc;
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
    if (rc == 0 && pass->task_sink != NULL) {
        rc = map_files(pass, err);
    }
    br2_strings_done(&pass->build_ids);
    input->info.records = pass->lines.number;
    input->info.unknown_records = pass->skipped;
    input->info.bytes_read = input->file.size;
    return rc;
}

static int read_tasks(struct br2_input *input, br2_task_sink sink, void *user,
                      struct br2pgo_error *err)
{
    struct pass pass = {.state = input->state, .task_sink = sink, .user = user};
    return read_all(&pass, input, err);
}

static int read_counted(struct br2_input *input, br2_counted_sink sink, void *user,
                        struct br2pgo_error *err)
{
    struct pass pass = {.state = input->state, .counted_sink = sink, .user = user};
    return read_all(&pass, input, err);
}

/* The first line that is not of an event. */
static bool probe(const uint8_t *bytes, size_t size)
{
    struct br2_span rest = {.at = (const char *)bytes, .end = (const char *)bytes + size};
    struct br2_span line;
    struct counted_line counted;
    for (unsigned i = 0; i < 8 && br2_span_take_line(&rest, &line); i++) {
        br2_span_skip_blanks(&line);
        if (line.at != line.end) {
            bool taken = take_line(line, &counted);
            if (!taken || counted.kind != 'E') {
                return taken;
            }
        }
    }
    return false;
}

static int open_preagg(struct br2_input *input, struct br2pgo_error *err)
{
    input->state = br2_calloc(1, sizeof(struct state));
    if (input->state == NULL) {
        return br2_fail_memory(err);
    }
    input->info.container = "text (pre-aggregated for llvm-bolt)";
    input->info.text = true;
    input->info.counted = true;
    input->info.addressing = BR2_ADDRESSES_OF_FILE;
    input->total = input->file.size;
    return 0;
}

static void close_preagg(struct br2_input *input)
{
    br2_free(input->state);
}

const struct br2_input_format br2_bolt_preagg_input_format = {
    .name = "bolt-preagg",
    .probe = probe,
    .open = open_preagg,
    .read_tasks = read_tasks,
    .read_counted = read_counted,
    .close = close_preagg,
};
