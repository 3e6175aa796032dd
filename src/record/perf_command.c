/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "record/perf_command.h"

#include <stdio.h>
#include <string.h>

/* Options of ours, and a few more. */
#define OPTION_WORDS 32

/* A word that is missing in the end makes the command end early: `failed` is looked at first. */
struct writer {
    struct br2_perf_command *command;
    bool failed;
};

static void add(struct writer *writer, const char *word)
{
    struct br2_perf_command *command = writer->command;
    char *copy = br2_arena_strndup(&command->arena, word, strlen(word));
    writer->failed = writer->failed || copy == NULL;
    command->words[command->count++] = copy;
}

static void add_number(struct writer *writer, const char *option, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    add(writer, option);
    add(writer, text);
}

/* Seconds as sleep and timeout take them. */
static void add_seconds(struct writer *writer, uint64_t duration_ms)
{
    char text[48];
    snprintf(text, sizeof text, "%llu.%03u", (unsigned long long)(duration_ms / 1000),
             (unsigned)(duration_ms % 1000));
    size_t length = strlen(text);
    while (text[length - 1] == '0') {
        text[--length] = '\0';
    }
    if (text[length - 1] == '.') {
        text[length - 1] = '\0';
    }
    add(writer, text);
}

/* The event with modifiers in place of every '@'. */
static void add_event(struct writer *writer, const char *event, bool kernel)
{
    char text[256];
    size_t used = 0;
    for (const char *at = event; *at != '\0' && used + 3 < sizeof text; at++) {
        if (*at != '@') {
            text[used++] = *at;
            continue;
        }
        text[used++] = 'u';
        if (kernel) {
            text[used++] = 'k';
        }
    }
    text[used] = '\0';
    add(writer, "-e");
    add(writer, text);
}

/* The branch records of one event in so many. */
static void add_sampling(struct writer *writer, const struct br2_record_request *request)
{
    add(writer, "-b");
    if (request->frequency != 0) {
        add_number(writer, "-F", request->frequency);
    } else {
        add_number(writer, "-c",
                   request->period != 0 ? request->period : BR2_RECORD_HARDWARE_PERIOD);
    }
}

/* perf record and its options, to the output. -N: copies of the images in ~/.debug are not needed;
 * --buildid-all: records lie in images in which no sample was taken. */
static void add_perf(struct writer *writer, const struct br2_machine *machine, size_t event,
                     const struct br2_record_request *request, const char *output)
{
    add(writer, "perf");
    add(writer, "record");
    add_event(writer, machine->events[event], request->kernel);
    if (!machine->traces) {
        add_sampling(writer, request);
    }
    add(writer, "-N");
    add(writer, "--buildid-all");
    if (request->all_cpus) {
        add(writer, "-a");
    }
    if (request->processes != NULL) {
        add(writer, "-p");
        add(writer, request->processes);
    }
    add(writer, "-o");
    add(writer, output);
}

static bool begin(struct writer *writer, struct br2_perf_command *command, char **program)
{
    size_t count = OPTION_WORDS;
    for (char **word = program; word != NULL && *word != NULL; word++) {
        count++;
    }
    *command = (struct br2_perf_command){0};
    command->words = br2_calloc(count, sizeof *command->words);
    *writer = (struct writer){.command = command};
    return command->words != NULL;
}

int br2_perf_command_make(struct br2_perf_command *command, const struct br2_machine *machine,
                          size_t event, const struct br2_record_request *request,
                          struct br2pgo_error *err)
{
    struct writer writer;
    if (!begin(&writer, command, request->command)) {
        return br2_fail_memory(err);
    }
    bool timed = request->duration_ms != 0;
    if (timed && request->command != NULL) {
        /* --foreground: the program keeps the terminal, and perf alone gets the signal. */
        add(&writer, "timeout");
        add(&writer, "--foreground");
        add_seconds(&writer, request->duration_ms);
    }
    add_perf(&writer, machine, event, request, request->output);
    if (request->command != NULL) {
        add(&writer, "--");
        for (char **word = request->command; *word != NULL; word++) {
            add(&writer, *word);
        }
    } else if (timed) {
        add(&writer, "--");
        add(&writer, "sleep");
        add_seconds(&writer, request->duration_ms);
    }
    return writer.failed ? br2_fail_memory(err) : 0;
}

int br2_perf_command_make_trial(struct br2_perf_command *command, const struct br2_machine *machine,
                                size_t event, const struct br2_record_request *request,
                                struct br2pgo_error *err)
{
    struct writer writer;
    if (!begin(&writer, command, NULL)) {
        return br2_fail_memory(err);
    }
    add_perf(&writer, machine, event, request, "/dev/null");
    add(&writer, "--");
    add(&writer, "true");
    return writer.failed ? br2_fail_memory(err) : 0;
}

void br2_perf_command_done(struct br2_perf_command *command)
{
    br2_free(command->words);
    br2_arena_done(&command->arena);
    *command = (struct br2_perf_command){0};
}

static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./,:=+@%";
    return word[0] != '\0' && word[strspn(word, plain)] == '\0';
}

void br2_quote_word(struct br2_buf *text, const char *word)
{
    if (is_plain(word)) {
        br2_buf_str(text, word);
        return;
    }
    br2_buf_u8(text, '\'');
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            br2_buf_str(text, "'\\''");
        } else {
            br2_buf_u8(text, (uint8_t)*word);
        }
    }
    br2_buf_u8(text, '\'');
}

char *br2_perf_command_text(const struct br2_perf_command *command)
{
    struct br2_buf text = {0};
    for (size_t i = 0; i < command->count; i++) {
        br2_buf_str(&text, i != 0 ? " " : "");
        br2_quote_word(&text, command->words[i]);
    }
    br2_buf_u8(&text, '\0');
    if (text.failed) {
        br2_buf_done(&text);
        return NULL;
    }
    return (char *)text.bytes; /* the caller's now */
}
