/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Branch stacks: records newest first, blanks between them. One is
 *     0xFROM/0xTO[/PREDICTION/TX/ABORT/CYCLES[/TYPE[/SPEC]]]
 * where either address may have "(file)", or "(file+0xoffset)", behind it, or "build-id:" before
 * it. PREDICTION is P, M or -, and N behind it for a branch that was not taken; TX is X or -, ABORT
 * is A or -. perf 4 to 5.17 prints four fields behind the addresses, 5.18 to 6.1 five, later ones
 * six. Aggregated stacks may have none.
 */
#include "base/limits.h"
#include "input/perf_script/perf_script.h"

#define IN_TX      UINT64_C(4)
#define CYCLES_MAX 0xffff
#define RECORD     24

/* One side of a record. */
struct side {
    uint64_t address;
    struct br2_span file; /* behind it; empty where there is none */
    struct br2_build_id build_id;
    bool has_offset; /* `address` is the offset in the file */
};

/* Whether a record goes on behind a parenthesis, or the next one begins, or the line ends. */
static bool goes_on(const char *at, const char *end)
{
    struct br2_span rest = {.at = at, .end = end};
    if (br2_span_take(&rest, '/')) {
        return br2_span_begins(&rest, "0x") || br2_span_is(&rest, 'P') || br2_span_is(&rest, 'M') ||
               br2_span_is(&rest, '-');
    }
    br2_span_skip_blanks(&rest);
    return rest.at == rest.end || (rest.at > at && br2_span_begins(&rest, "0x"));
}

/* A file's name in parentheses may hold blanks, slashes and parentheses. */
static bool take_file(struct br2_span *at, struct side *ret)
{
    const char *start = at->at;
    for (const char *close = start; close < at->end; close++) {
        if (*close != ')' || !goes_on(close + 1, at->end)) {
            continue;
        }
        ret->file = (struct br2_span){.at = start, .end = close};
        at->at = close + 1;
        const char *plus = memrchr(start, '+', (size_t)(close - start));
        if (plus != NULL && close - plus > 3 && plus[1] == '0' && plus[2] == 'x') {
            struct br2_span offset = {.at = plus + 1, .end = close};
            uint64_t value;
            if (br2_span_take_hex(&offset, &value) && offset.at == offset.end) {
                ret->file.end = plus;
                ret->address = value;
                ret->has_offset = true;
            }
        }
        return true;
    }
    return false;
}

static bool take_side(struct br2_span *at, struct side *ret)
{
    ret->file = (struct br2_span){0};
    ret->build_id.size = 0;
    ret->has_offset = false;
    if (!br2_span_begins(at, "0x")) {
        if (!br2_span_take_build_id(at, &ret->build_id) || !br2_span_take(at, ':')) {
            return false;
        }
    }
    return br2_span_begins(at, "0x") && br2_span_take_hex(at, &ret->address) &&
           (!br2_span_take(at, '(') || take_file(at, ret));
}

static uint64_t spec_of(struct br2_span field)
{
    if (br2_span_begins(&field, "SPEC_WRONG_PATH")) {
        return (uint64_t)BR2_SPEC_WRONG_PATH << 24;
    }
    if (br2_span_begins(&field, "NON_SPEC_CORRECT_PATH")) {
        return UINT64_C(2) << 24;
    }
    return br2_span_begins(&field, "SPEC_CORRECT_PATH") ? UINT64_C(3) << 24 : 0;
}

static uint64_t prediction_of(struct br2_span field)
{
    uint64_t flags = 0;
    if (br2_span_take(&field, 'M')) {
        flags = BR2_RECORD_MISPREDICTED;
    } else if (br2_span_take(&field, 'P')) {
        flags = BR2_RECORD_PREDICTED;
    } else {
        br2_span_take(&field, '-');
    }
    return br2_span_is(&field, 'N') ? flags | BR2_RECORD_NOT_TAKEN : flags;
}

static uint64_t cycles_of(struct br2_span field)
{
    uint64_t cycles;
    if (!br2_span_take_decimal(&field, &cycles)) {
        return 0;
    }
    return (cycles < CYCLES_MAX ? cycles : CYCLES_MAX) << 4;
}

/* What is behind the addresses, up to the next blank. */
static unsigned take_flags(struct br2_span *at, uint64_t *ret)
{
    unsigned fields = 0;
    uint64_t flags = 0;
    while (br2_span_take(at, '/')) {
        struct br2_span field = {.at = at->at};
        while (at->at < at->end && *at->at != '/' && !br2_is_blank(*at->at)) {
            at->at++;
        }
        field.end = at->at;
        switch (fields++) {
        case 0:
            flags = prediction_of(field);
            break;
        case 1:
            flags |= br2_span_is(&field, 'X') ? IN_TX : 0;
            break;
        case 2:
            flags |= br2_span_is(&field, 'A') ? BR2_RECORD_ABORT : 0;
            break;
        case 3:
            flags |= cycles_of(field);
            break;
        default:
            flags |= spec_of(field);
            break;
        }
    }
    *ret = flags;
    return fields;
}

/* Whether a record begins here; it need not be whole. */
static bool is_record(struct br2_span at)
{
    if (!br2_span_begins(&at, "0x")) {
        struct br2_build_id id;
        if (!br2_span_take_build_id(&at, &id) || !br2_span_take_word(&at, ":0x")) {
            return false;
        }
        at.at -= 2;
    }
    struct side from = {0};
    return take_side(&at, &from) && br2_span_take(&at, '/') &&
           (br2_span_begins(&at, "0x") || memmem(at.at, br2_span_left(&at), ":0x", 3) != NULL);
}

const char *br2_script_find_stack(struct br2_span line)
{
    for (br2_span_skip_blanks(&line); line.at < line.end; br2_span_skip_blanks(&line)) {
        if (is_record(line)) {
            return line.at;
        }
        while (line.at < line.end && !br2_is_blank(*line.at)) {
            line.at++;
        }
    }
    return NULL;
}

/* The number of the file that a side names, or 0; BR2_NO_STRING when memory runs out. */
static uint32_t file_number(struct br2_script *script, const struct side *side)
{
    uint32_t number;
    if (side->build_id.size != 0) {
        struct br2_build_id id;
        memset(&id, 0, sizeof id);
        id.size = side->build_id.size;
        memcpy(id.bytes, side->build_id.bytes, id.size);
        number = br2_strings_add(&script->files, (const char *)&id, sizeof id);
    } else {
        number = br2_strings_add(&script->files, side->file.at, br2_span_left(&side->file));
    }
    return number == BR2_NO_STRING || number >= BR2_TEXT_FILES_MAX ? BR2_NO_STRING : number + 1;
}

/* Where no mapping tells what an address is in: the file it names, or the one file there is. What
 * is missing stays missing. */
static bool place_side(struct br2_script *script, struct side *side)
{
    bool named = side->build_id.size != 0 || side->file.at != side->file.end;
    uint32_t file = 0;
    if (side->address == 0) {
        return true;
    }
    if (named && side->build_id.size == 0 && *side->file.at == '[') {
        side->address = br2_file_place(0, 0); /* [unknown], [vdso], the kernel */
        return true;
    }
    if (named) {
        file = file_number(script, side);
    } else {
        script->unnamed = true;
    }
    if (file == BR2_NO_STRING) {
        return false;
    }
    side->address = br2_file_place(file, side->address);
    return true;
}

static bool place_record(struct br2_script *script, struct side *from, struct side *to)
{
    return script->mapped || (place_side(script, from) && place_side(script, to));
}

static bool looks_like_record(struct br2_span at)
{
    struct br2_build_id id;
    return br2_span_begins(&at, "0x") ||
           (br2_span_take_build_id(&at, &id) && br2_span_is(&at, ':'));
}

bool br2_script_read_stack(struct br2_script *script, struct br2_span stack, size_t *ret_count,
                           struct br2pgo_error *err, int *ret_rc)
{
    size_t count = 0;
    unsigned fields = 0;
    *ret_rc = 0;
    for (br2_span_skip_blanks(&stack); stack.at < stack.end; br2_span_skip_blanks(&stack)) {
        struct side from, to;
        uint64_t flags;
        if (count != 0 && !looks_like_record(stack)) {
            break; /* another field, such as brstacksym */
        }
        if (count == BR2_SCRIPT_RECORDS_MAX || !take_side(&stack, &from) ||
            !br2_span_take(&stack, '/') || !take_side(&stack, &to)) {
            return false;
        }
        unsigned more = take_flags(&stack, &flags);
        /* All records of a stack have the same fields: one that has fewer is cut off. */
        if ((stack.at < stack.end && !br2_is_blank(*stack.at)) || (count != 0 && more < fields)) {
            return false;
        }
        fields = more;
        if (!place_record(script, &from, &to)) {
            *ret_rc = br2_fail_memory(err);
            return false;
        }
        const uint64_t record[3] = {from.address, to.address, flags};
        memcpy(script->records + count++ * RECORD, record, sizeof record);
    }
    *ret_count = count;
    return true;
}
