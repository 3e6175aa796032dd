/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Recording without branch hardware: the program, and all it starts, run in QEMU's user-mode
 * emulator, whose plugin (record/plugin) keeps what hardware would. The same program with the same
 * input and seed gives the same bytes.
 */
#ifndef BR2_RECORD_EMULATE_H
#define BR2_RECORD_EMULATE_H

#include "record/record.h"

/* What was executed, in all processes. */
struct br2_emulation {
    uint64_t instructions;
    uint64_t taken;        /* branches */
    uint64_t mispredicted; /* branches, taken or not, by the predictor of plugin/hot.c */
    uint64_t samples;
    uint64_t branches; /* records in them */
    uint64_t processes;
    uint64_t threads;
    /* What is missing in all that. */
    uint64_t lost_blocks;
    uint64_t lost_threads;
    uint64_t lost_processes;
    char lost_program[256]; /* the first of those, and why */
};

/* Runs the program to its end and writes the recording, and what else was asked for. Errors:
 * BR2PGO_IO, BR2PGO_NO_MEMORY, BR2PGO_UNSUPPORTED: there is no emulator for the program;
 * BR2PGO_USELESS: it ended before the first sample, and neither exact counts nor totals were asked
 * for; no file is written then. `ret` and `ret_emulation` are filled in as far as the program ran.
 */
int br2_record_emulated(const struct br2_record_request *request, struct br2_record_result *ret,
                        struct br2_emulation *ret_emulation, struct br2pgo_error *err);

#endif
