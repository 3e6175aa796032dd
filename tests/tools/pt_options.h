/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The options of pt_encode.c, which says what they mean. */
#ifndef BR2_TESTS_PT_OPTIONS_H
#define BR2_TESTS_PT_OPTIONS_H

#include "pt_packets.h"

#define TIME_SHIFT 10u
#define TIME_MULT  512u /* half a nanosecond for a cycle */
#define TIME_ZERO  5000u

struct options {
    struct stream_options packets;
    unsigned cpus;
    size_t slice;
    bool no_switch;
    size_t interrupt;
    size_t overflow_at, overflow_length;
    uint64_t hole_at, hole_size;
    const char *run;
    const char *folder;
};

static uint64_t number_of(const char *text, char **end)
{
    uint64_t number = strtoull(text, end, 0);
    if (*end == text) {
        fail("'%s' is no number", text);
    }
    return number;
}

static void read_pair(const char *text, uint64_t *ret_first, uint64_t *ret_second)
{
    char *end;
    *ret_first = number_of(text, &end);
    if (*end != ',') {
        fail("'%s': two numbers are wanted", text);
    }
    *ret_second = number_of(end + 1, &end);
}

static bool read_flag(struct options *options, const char *word)
{
    const struct {
        const char *word;
        bool *value;
    } flags[] = {
        {"--no-switch", &options->no_switch},
        {"--no-retcomp", &options->packets.no_return_compression},
        {"--long-tnt", &options->packets.long_tnt},
        {"--mtc", &options->packets.mtc},
        {"--cycles", &options->packets.cycles},
        {"--kernel", &options->packets.kernel},
        {"--kernel-overflow", &options->packets.kernel_overflow},
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (strcmp(word, flags[i].word) == 0) {
            *flags[i].value = true;
            return true;
        }
    }
    return false;
}

static void read_value(struct options *options, const char *word, const char *value)
{
    char *end;
    if (strcmp(word, "--overflow") == 0) {
        read_pair(value, &options->overflow_at, &options->overflow_length);
    } else if (strcmp(word, "--hole") == 0) {
        read_pair(value, &options->hole_at, &options->hole_size);
    } else if (strcmp(word, "--cpus") == 0) {
        options->cpus = (unsigned)number_of(value, &end);
    } else if (strcmp(word, "--slice") == 0) {
        options->slice = number_of(value, &end);
    } else if (strcmp(word, "--interrupt") == 0) {
        options->interrupt = number_of(value, &end);
    } else if (strcmp(word, "--psb") == 0) {
        options->packets.psb_bytes = number_of(value, &end);
    } else {
        fail("unknown option %s", word);
    }
}

/* All options, then two words. */
static void read_options(struct options *options, int argc, char **argv)
{
    int at = 1;
    *options = (struct options){.slice = 100, .packets.psb_bytes = 2048};
    while (at < argc && strncmp(argv[at], "--", 2) == 0) {
        const char *word = argv[at++];
        if (!read_flag(options, word)) {
            if (at == argc) {
                fail("%s needs a value", word);
            }
            read_value(options, word, argv[at++]);
        }
    }
    if (argc - at != 2) {
        fail("usage: pt_encode [OPTION...] RUN.data FOLDER > DESCRIPTION");
    }
    options->run = argv[at];
    options->folder = argv[at + 1];
}

/* What the recording says of its event and trace. */
static void print_head(const struct options *options)
{
    printf("event intel_pt//u type=8 config=%d period=1 sample=IP,TID,TIME,CPU,IDENTIFIER "
           "flags=%s%s\nfeature arch x86_64\nfeature cpuid GenuineIntel,6,158,10\n"
           "feature event_desc\n",
           1 << 10 | (options->packets.no_return_compression ? 1 << 11 : 0) | 1 << 13 |
               (options->packets.mtc ? 1 << 9 | MTC_FREQUENCY << 14 : 0) |
               (options->packets.cycles ? 1 << 1 : 0),
           options->packets.kernel ? "exclude_hv" : "exclude_kernel",
           options->cpus != 0 ? ",context_switch" : "");
    printf(
        "auxtrace_info type=1 priv=8,%u,%u,%u,1,0x400,0x800,%d,0,%d,0x200,0x3c000,%d,%d,0x2,%d,0\n",
        TIME_SHIFT, TIME_MULT, TIME_ZERO, options->no_switch || options->cpus == 0 ? 0 : 2,
        options->cpus != 0, CRYSTAL_EBX, CRYSTAL_EAX, CORE_RATIO);
}

#endif
