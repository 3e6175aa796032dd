/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/compat/compat.h"
#include "cli/compat/peer.h"
#include "cli/suggest.h"

/* More than any tool has options. */
#define OPTIONS_MAX 128
/* What is put before and behind what the options become. */
#define FIXED_WORDS 16

/* One of the files, and the option that named it. */
struct named {
    const char *value;
    const char *by; /* an argument that is no option: itself */
};

struct reading {
    const struct br2_peer *peer;
    int argc;
    char **argv;
    int next;
    const char *values[OPTIONS_MAX]; /* of options whose effect is OWN; NULL: not given */
    struct named recording;
    struct named binary;
    struct named output;
    struct input {
        const char *word; /* the file; of one with a weight, the weight and a comma before it */
        bool weighted;
    } * inputs;
    size_t input_count;
    bool any_weight;
    bool subcommand; /* it was seen */
    const char *format;
    const char *first_format; /* by an option that is more than a format; NULL: none */
    bool verbose;
    bool help;
    bool version;
};

static const char true_word[] = "true";
static const char false_word[] = "false";

/* Whether `word` is one of those in `words`, which '|' splits. */
static bool is_one_of(const char *word, const char *words)
{
    size_t length = strlen(word);
    while (words != NULL) {
        size_t part = strcspn(words, "|");
        if (part == length && memcmp(word, words, part) == 0) {
            return true;
        }
        words = words[part] == '|' ? words + part + 1 : NULL;
    }
    return false;
}

/* true_word or false_word; NULL: `text` is neither. */
static const char *read_boolean(enum br2_peer_spelling spelling, const char *text)
{
    static const char *const words[2][6] = {{"0", "false", "f", "no", "n"},
                                            {"1", "true", "t", "yes", "y"}};
    if (spelling == BR2_PEER_LLVM) {
        return is_one_of(text, "|true|TRUE|True|1")     ? true_word
               : is_one_of(text, "false|FALSE|False|0") ? false_word
                                                        : NULL;
    }
    for (size_t value = 0; value < 2; value++) {
        for (size_t i = 0; words[value][i] != NULL; i++) {
            if (strcasecmp(text, words[value][i]) == 0) {
                return value == 1 ? true_word : false_word;
            }
        }
    }
    return NULL;
}

static bool name_matches(const struct br2_peer *peer, const char *known, const char *name,
                         size_t length)
{
    size_t i = 0;
    for (; i < length && known[i] != '*' && known[i] != '\0'; i++) {
        bool dash = peer->spelling == BR2_PEER_GFLAGS && known[i] == '_' && name[i] == '-';
        if (known[i] != name[i] && !dash) {
            return false;
        }
    }
    return known[i] == '*' || (i == length && known[i] == '\0');
}

/* The option's number; the count of options when there is none of that name. */
static size_t find_option(const struct br2_peer *peer, const char *name, size_t length)
{
    size_t i = 0;
    const struct br2_peer_option *option;
    while ((option = br2_peer_option_at(peer, i)) != NULL &&
           !name_matches(peer, option->name, name, length)) {
        i++;
    }
    return i;
}

static int refuse_unknown(const struct br2_peer *peer, const char *word, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_INVALID, "option '%s' is not one of those taken in place of %s", word,
             peer->name);
    char name[BR2_SUGGEST_WORD_MAX] = "";
    const char *begin = word + strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(begin, "="), begin);
    struct br2_suggestion meant = br2_suggest(name);
    const struct br2_peer_option *option;
    for (size_t i = 0; (option = br2_peer_option_at(peer, i)) != NULL; i++) {
        br2_suggest_consider(&meant, option->name);
    }
    if (meant.nearest != NULL) {
        br2_hint(err, "did you mean '%s%s'?", meant.nearest[1] == '\0' ? "-" : "--", meant.nearest);
    } else {
        br2_hint(err, "those that are: br2pgo --compat %s --help", peer->name);
    }
    return BR2PGO_INVALID;
}

static int refuse_value(const struct br2_peer_option *option, const char *value,
                        struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_INVALID, "option '--%s' does not take '%s'", option->name, value);
    br2_hint(err, "it takes %s", option->value != NULL ? option->value : "true or false");
    return BR2PGO_INVALID;
}

static int refuse_meaning(const char *word, const char *reason, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_UNSUPPORTED, "'%s' is not supported: %s", word, reason);
    br2_hint(err, "leave it out, or use the tool itself");
    return BR2PGO_UNSUPPORTED;
}

static int name_file(struct named *file, const char *what, const char *value, const char *by,
                     struct br2pgo_error *err)
{
    if (file->value != NULL && file->by != by && strcmp(file->value, value) != 0) {
        br2_fail(err, BR2PGO_INVALID, "two %s are given: '%s' and '%s'", what, file->value, value);
        br2_hint(err, "give one");
        return BR2PGO_INVALID;
    }
    *file = (struct named){.value = value, .by = by};
    return 0;
}

static int take_format(struct reading *reading, const struct br2_peer_option *option,
                       const char *value, struct br2pgo_error *err)
{
    if (option->value == NULL) {
        reading->first_format = value == true_word ? option->to : NULL;
        return 0;
    }
    const struct br2_peer_format *format = reading->peer->formats;
    while (format->word != NULL && strcmp(format->word, value) != 0) {
        format++;
    }
    if (format->word == NULL) {
        return refuse_value(option, value, err);
    }
    if (format->format == NULL) {
        return refuse_meaning(value, format->reason, err);
    }
    reading->format = format->format;
    return 0;
}

static void add_input(struct reading *reading, const char *word, bool weighted)
{
    reading->inputs[reading->input_count++] = (struct input){word, weighted};
    reading->any_weight = reading->any_weight || weighted;
}

/* "WEIGHT,FILE" */
static int take_weighted(struct reading *reading, const struct br2_peer_option *option,
                         const char *value, struct br2pgo_error *err)
{
    const char *comma = strchr(value, ',');
    if (comma == NULL || comma == value || comma[1] == '\0') {
        return refuse_value(option, value, err);
    }
    if (comma[1] == '-') {
        return refuse_meaning(value, "the file's name begins with a dash", err);
    }
    add_input(reading, value, true);
    return 0;
}

/* `word` is the option as it was given. */
static int take_option(struct reading *reading, size_t index, const char *value, const char *word,
                       struct br2pgo_error *err)
{
    const struct br2_peer_option *option = br2_peer_option_at(reading->peer, index);
    switch (option->effect) {
    case BR2_PEER_ONLY:
        return is_one_of(value, option->to) ? 0 : refuse_meaning(word, option->text, err);
    case BR2_PEER_RECORDING:
        if (reading->peer->command != NULL) {
            return refuse_meaning(word, "what is read are profiles, the arguments", err);
        }
        return name_file(&reading->recording, "recordings", value, option->name, err);
    case BR2_PEER_BINARY:
        return name_file(&reading->binary, "binaries", value, option->name, err);
    case BR2_PEER_INPUT:
        return take_weighted(reading, option, value, err);
    case BR2_PEER_OUTPUT:
        return name_file(&reading->output, "outputs", value, option->name, err);
    case BR2_PEER_FORMAT:
        return take_format(reading, option, value, err);
    case BR2_PEER_OWN:
        reading->values[index] = value;
        return 0;
    case BR2_PEER_VERBOSE:
        reading->verbose = strcmp(value, "0") != 0;
        return 0;
    case BR2_PEER_HELP:
        reading->help = true;
        return 0;
    case BR2_PEER_VERSION:
        reading->version = true;
        return 0;
    case BR2_PEER_SILENT:
        return 0;
    }
    return 0;
}

/* "--noNAME" of gflags: the option's number; the count of options when it is none. */
static size_t find_negated(const struct br2_peer *peer, const char *name, size_t length)
{
    size_t none = find_option(peer, "", 0);
    if (peer->spelling != BR2_PEER_GFLAGS || length < 3 || memcmp(name, "no", 2) != 0 ||
        name[length] != '\0') {
        return none;
    }
    size_t index = find_option(peer, name + 2, length - 2);
    const struct br2_peer_option *option = br2_peer_option_at(peer, index);
    return option != NULL && option->value == NULL ? index : none;
}

/* A word that begins with a dash, behind which reading->next stands. */
static int read_option(struct reading *reading, const char *word, struct br2pgo_error *err)
{
    const struct br2_peer *peer = reading->peer;
    const char *name = word + (word[1] == '-' ? 2 : 1);
    size_t length = strcspn(name, "=");
    const char *joined = name[length] == '=' ? name + length + 1 : NULL;
    size_t index = find_option(peer, name, length);
    const struct br2_peer_option *option = br2_peer_option_at(peer, index);
    if (option == NULL) {
        index = find_negated(peer, name, length);
        return br2_peer_option_at(peer, index) == NULL
                   ? refuse_unknown(peer, word, err)
                   : take_option(reading, index, false_word, word, err);
    }
    if (option->effect == BR2_PEER_ONLY && option->to == NULL) {
        return refuse_meaning(word, option->text, err);
    }
    if (option->value == NULL) {
        const char *value = joined != NULL ? read_boolean(peer->spelling, joined) : true_word;
        return value != NULL ? take_option(reading, index, value, word, err)
                             : refuse_value(option, joined, err);
    }
    if (joined == NULL && reading->next < reading->argc) {
        joined = reading->argv[reading->next++];
    }
    if (joined == NULL || joined[0] == '\0') {
        br2_fail(err, BR2PGO_INVALID, "option '%s' needs a value", word);
        br2_hint(err, "it takes %s", option->value);
        return BR2PGO_INVALID;
    }
    return take_option(reading, index, joined, word, err);
}

/* The subcommand, or one of the inputs. */
static int read_input(struct reading *reading, const char *word, struct br2pgo_error *err)
{
    const struct br2_peer *peer = reading->peer;
    if (peer->subcommand != NULL && !reading->subcommand) {
        reading->subcommand = true;
        return strcmp(word, peer->subcommand) == 0 ? 0 : refuse_meaning(word, peer->others, err);
    }
    add_input(reading, word, false);
    return 0;
}

static int read_argument(struct reading *reading, const char *word, struct br2pgo_error *err)
{
    if (reading->peer->spelling == BR2_PEER_LLVM && word[0] == '@') {
        return refuse_meaning(word, "options are not read from files", err);
    }
    if (reading->peer->command != NULL) {
        return read_input(reading, word, err);
    }
    if (!reading->peer->binary_stands_alone) {
        br2_fail(err, BR2PGO_INVALID, "%s takes no argument '%s'", reading->peer->name, word);
        br2_hint(err, "usage: %s %s", reading->peer->name, reading->peer->usage);
        return BR2PGO_INVALID;
    }
    return name_file(&reading->binary, "binaries", word, word, err);
}

static int read_words(struct reading *reading, struct br2pgo_error *err)
{
    int rc = 0;
    bool options_end = false;
    while (rc == 0 && reading->next < reading->argc && !reading->help && !reading->version) {
        const char *word = reading->argv[reading->next++];
        if (!options_end && strcmp(word, "--") == 0) {
            options_end = true;
        } else if (!options_end && word[0] == '-' && word[1] != '\0') {
            rc = read_option(reading, word, err);
        } else {
            rc = read_argument(reading, word, err);
        }
    }
    return rc;
}

/* What the tool cannot do without either. */
static int check_whole(struct reading *reading, struct br2pgo_error *err)
{
    const struct br2_peer *peer = reading->peer;
    const struct {
        struct named *file;
        const char *usual;
        const char *name;
    } files[] = {
        {&reading->recording, peer->recording, "recording"},
        {&reading->binary, peer->binary, "binary"},
        {&reading->output, peer->output, "output"},
    };
    if (peer->command != NULL && reading->input_count == 0) {
        br2_fail(err, BR2PGO_INVALID, "no profile given");
        br2_hint(err, "usage: %s %s", peer->name, peer->usage);
        return BR2PGO_INVALID;
    }
    for (size_t i = peer->command != NULL ? 2 : 0; i < sizeof files / sizeof *files; i++) {
        if (files[i].file->value == NULL) {
            files[i].file->value = files[i].usual;
        }
        if (files[i].file->value == NULL) {
            br2_fail(err, BR2PGO_INVALID, "no %s given", files[i].name);
            br2_hint(err, "usage: %s %s", peer->name, peer->usage);
            return BR2PGO_INVALID;
        }
    }
    return 0;
}

/* A word for which there is no memory is NULL. */
static void add_word(struct br2_compat *compat, const char *word)
{
    compat->words[compat->count++] = br2_arena_strndup(&compat->arena, word, strlen(word));
}

/* The inputs of a command that takes several. */
static void add_inputs(const struct reading *reading, struct br2_compat *ret)
{
    if (!reading->any_weight) {
        add_word(ret, "--");
    }
    for (size_t i = 0; i < reading->input_count; i++) {
        const struct input *input = &reading->inputs[i];
        size_t length = input->weighted ? strcspn(input->word, ",") : 0;
        if (reading->any_weight) {
            add_word(ret, "--weight");
            ret->words[ret->count++] = input->weighted
                                           ? br2_arena_strndup(&ret->arena, input->word, length)
                                           : br2_arena_strndup(&ret->arena, "1", 1);
        }
        add_word(ret, input->word + length + input->weighted);
    }
}

static void add_words(const struct reading *reading, struct br2_compat *ret)
{
    add_word(ret, "br2pgo");
    if (reading->version) {
        add_word(ret, "--version");
        return;
    }
    if (reading->peer->command != NULL) {
        add_word(ret, reading->peer->command);
    }
    const struct br2_peer_option *option;
    for (size_t i = 0; (option = br2_peer_option_at(reading->peer, i)) != NULL; i++) {
        const char *value = reading->values[i];
        if (value != NULL && value != false_word) {
            add_word(ret, option->to);
        }
        if (value != NULL && option->value != NULL) {
            add_word(ret, value);
        }
    }
    if (reading->verbose) {
        add_word(ret, "--verbose");
    }
    if (reading->binary.value != NULL) {
        add_word(ret, "-b");
        add_word(ret, reading->binary.value);
    }
    const char *format = reading->first_format != NULL ? reading->first_format : reading->format;
    if (format != NULL) {
        add_word(ret, "-f");
        add_word(ret, format);
    }
    add_word(ret, "-o");
    add_word(ret, reading->output.value);
    if (reading->peer->command != NULL) {
        add_inputs(reading, ret);
        return;
    }
    add_word(ret, "--");
    add_word(ret, reading->recording.value);
}

static int write_own(const struct reading *reading, struct br2_compat *ret,
                     struct br2pgo_error *err)
{
    size_t most = 3 * (size_t)reading->argc + FIXED_WORDS;
    ret->words = br2_arena_alloc(&ret->arena, most * sizeof *ret->words);
    if (ret->words == NULL) {
        return br2_fail_memory(err);
    }
    add_words(reading, ret);
    for (size_t i = 0; i < ret->count; i++) {
        if (ret->words[i] == NULL) {
            ret->count = 0;
            return br2_fail_memory(err);
        }
    }
    return 0;
}

int br2_compat_read(int argc, char **argv, struct br2_compat *ret, struct br2pgo_error *err)
{
    struct reading reading = {.argc = argc, .argv = argv};
    int rc = br2_peer_find(argc, argv, &reading.peer, &reading.next, err);
    if (rc != 0 || reading.peer == NULL) {
        return rc;
    }
    ret->peer = reading.peer;
    reading.format = reading.peer->format;
    reading.inputs = br2_arena_alloc(&ret->arena, ((size_t)argc + 1) * sizeof *reading.inputs);
    if (reading.inputs == NULL) {
        return br2_fail_memory(err);
    }
    rc = read_words(&reading, err);
    ret->help = rc == 0 && reading.help;
    if (rc != 0 || reading.help) {
        return rc;
    }
    rc = reading.version ? 0 : check_whole(&reading, err);
    return rc != 0 ? rc : write_own(&reading, ret, err);
}

void br2_compat_done(struct br2_compat *compat)
{
    br2_arena_done(&compat->arena);
    *compat = (struct br2_compat){0};
}
