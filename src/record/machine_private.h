/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Between machine.c, which reads, and machine_x86.c, which knows the processors. */
#ifndef BR2_RECORD_MACHINE_PRIVATE_H
#define BR2_RECORD_MACHINE_PRIVATE_H

#include <stddef.h>

#include "record/machine.h"

/* What /proc/cpuinfo and the kernel's event devices say of an x86 processor. */
struct br2_cpuinfo {
    const char *text;
    const char *vendor;
    unsigned family;
    unsigned model;
    bool is_virtual;
    bool has_trace;         /* Intel PT */
    bool has_device;        /* the kernel counts events of the processor */
    bool has_caps;          /* and says what it can do: Linux 4.14 and later */
    unsigned branches;      /* records in a history; 0: none. Of cores of one kind, */
    unsigned core_branches; /* or of the large ones */
    unsigned atom_branches; /* and the small ones */
};

/* The first value of a key; NULL: there is none. Cut where it does not fit. */
const char *br2_cpuinfo_value(const char *cpuinfo, const char *key, char *ret, size_t size);
/* Whether the first processor has a flag. */
bool br2_cpuinfo_flag(const char *cpuinfo, const char *flag);

void br2_machine_intel(const struct br2_cpuinfo *cpu, struct br2_machine *machine);
void br2_machine_amd(const struct br2_cpuinfo *cpu, struct br2_machine *machine);

#endif
