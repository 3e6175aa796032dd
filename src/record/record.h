/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is to be recorded and what came of it: between the command and the ways of recording. */
#ifndef BR2_RECORD_RECORD_H
#define BR2_RECORD_RECORD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Branch records in a sample under emulation. */
#define BR2_RECORD_DEPTH_MIN 8u
#define BR2_RECORD_DEPTH_MAX 64u

#define BR2_RECORD_DEPTH_DEFAULT 32u

/* Taken branches between samples under emulation, which is slow: small, so that a run of a tenth of
 * a second gives samples; prime, so that it does not fall into step with a loop. */
#define BR2_RECORD_EMULATED_PERIOD 5003u

/* What interruptions ask of a recording; a signal's handler writes it. */
struct br2_stop {
    volatile sig_atomic_t requests;    /* 1: the program is to end; from 2 on: to be killed */
    volatile sig_atomic_t signal;      /* of the first request; 0: none yet */
    volatile sig_atomic_t of_terminal; /* which sends it to all programs in the foreground */
    /* Set by who records: killed when nothing is waited for any more; 0: none. */
    volatile sig_atomic_t child;
};

/* The name of the function of a file at a link-time address, valid until the next call; "" for
 * none. Calls for one file come one after the other. */
typedef const char *(*br2_function_name)(void *user, const char *image, uint64_t address);

/* 0, NULL and false stand for what was not asked for. Strings and arrays are the caller's. Of a
 * request to emulate, depth and period are filled in. */
struct br2_record_request {
    char **command;     /* program and arguments, NULL at the end; NULL: no program is started */
    const char *output; /* the recording; appears complete or not at all */
    unsigned depth;     /* branch records in a sample; for emulation */
    bool cycles;        /* records have cycles, one for an instruction; for emulation */
    uint64_t period;    /* taken branches from one sample to the next */
    uint64_t frequency; /* samples a second in place of a period; for hardware */
    uint64_t seed;      /* of the jitter of the period; for emulation */
    const char *exact;  /* file for an exact edge table; for emulation */
    br2_function_name function_name; /* for the exact edge table; NULL: it names none */
    void *function_user;
    const char *totals;    /* file for what was executed in all, as JSON; for emulation */
    const char *processes; /* process ids to join, "12,34"; for hardware */
    uint64_t duration_ms;  /* end the recording after so long */
    bool all_cpus;         /* every process; for hardware */
    bool kernel;           /* the kernel's branches too; for hardware */
    bool verbose;
    bool quiet;
    struct br2_stop *stop; /* NULL: nobody asks; what was recorded is kept */
};

/* How the recorded program ended. */
struct br2_record_result {
    int exit_status;  /* of the program; of one that a signal ended, 128 and the signal */
    int signal;       /* that ended it; 0: it exited */
    bool was_stopped; /* by `stop` or `duration_ms`, with the program still running */
};

#endif
