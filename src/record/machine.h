/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What branch hardware a machine has, and the events whose samples bring its records. */
#ifndef BR2_RECORD_MACHINE_H
#define BR2_RECORD_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum br2_branch_hardware {
    BR2_HARDWARE_NONE,
    BR2_HARDWARE_LBR,     /* Intel */
    BR2_HARDWARE_BRS,     /* AMD Zen 3 */
    BR2_HARDWARE_AMD_LBR, /* AMD Zen 4 and later */
    BR2_HARDWARE_BRBE,    /* Arm */
    BR2_HARDWARE_INTEL_PT,
    BR2_HARDWARE_ARM_ETM,
};

/* Events to try in turn, as perf takes them, the best first. '@' stands for the modifiers. */
#define BR2_MACHINE_EVENTS 3

struct br2_machine {
    enum br2_branch_hardware hardware;
    const char *name;                       /* of the hardware, "Intel LBR"; NULL: none */
    unsigned depth;                         /* branch records in a history; 0: not known */
    bool fixed_period;                      /* the kernel takes no frequency */
    bool traces;                            /* records every branch, not samples of histories */
    const char *events[BR2_MACHINE_EVENTS]; /* NULL behind the last */
    int paranoid;                           /* kernel.perf_event_paranoid; INT_MIN: not known */
    /* Where there is none: why, and what to do (may be empty). */
    char reason[256];
    char hint[256];
};

/* Looks at /proc and /sys below `root` ("" for the machine's own). What is missing there is taken
 * as hardware that is missing. Errors: BR2PGO_NO_MEMORY. */
int br2_machine_examine(const char *root, struct br2_machine *ret, struct br2pgo_error *err);

/* Takes the machine as one without branch hardware, for this reason. */
void br2_machine_lacks(struct br2_machine *machine, const char *reason, const char *hint);

#endif
