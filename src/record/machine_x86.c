/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which event of an x86 processor counts taken branches. The codes are those of Intel's event
 * lists (perfmon) and of AMD's processor programming references; raw, because a perf of a
 * distribution may be older than the processor and not know its names. */
#include <string.h>

#include "record/machine_private.h"

#define NEAR_TAKEN         "cpu/event=0xc4,umask=0x20/@"
#define NEAR_TAKEN_PRECISE "cpu/event=0xc4,umask=0x20/p@"
#define CYCLES             "cycles:@"

/* Intel, family 6. A model that is not listed is later than Skylake, where the code has stayed. */
static const struct {
    const char *events[BR2_MACHINE_EVENTS];
    uint8_t models[24]; /* 0 behind the last */
} intel_models[] = {
    /* Core 2 and before: their histories have 4 records. */
    {{CYCLES}, {14, 15, 22, 23, 29}},
    /* Bonnell and Saltwell: BR_INST_TYPE_RETIRED.COND_TAKEN. */
    {{"cpu/event=0x88,umask=0x41/@", CYCLES}, {28, 38, 39, 53, 54}},
    /* Nehalem and Westmere: BR_INST_EXEC.TAKEN. */
    {{"cpu/event=0x88,umask=0x40/@", CYCLES}, {26, 30, 31, 37, 44, 46, 47}},
    /* Sandy Bridge to Broadwell, Skylake to Comet Lake, client and server. */
    {{NEAR_TAKEN_PRECISE, NEAR_TAKEN, CYCLES},
     {42, 45, 58, 60, 61, 62, 63, 69, 70, 71, 78, 79, 85, 86, 94, 102, 142, 158, 165, 166}},
    /* Silvermont, Airmont, Goldmont and Goldmont Plus: BR_INST_RETIRED.ALL_TAKEN_BRANCHES. */
    {{"cpu/event=0xc4,umask=0x80/p@", "cpu/event=0xc4,umask=0x80/@", CYCLES},
     {55, 74, 76, 77, 90, 92, 93, 95, 117, 122}},
    /* Knights Landing and Mill: BR_INST_RETIRED.TAKEN_JCC. */
    {{"cpu/event=0xc4,umask=0xfe/p@", "cpu/event=0xc4,umask=0xfe/@", CYCLES}, {87, 133}},
    /* Tremont, Gracemont, Crestmont and Darkmont without large cores. */
    {{"cpu/event=0xc4,umask=0xc0/@", CYCLES}, {134, 138, 150, 156, 175, 182, 190, 221}},
};
#define INTEL_COUNT (sizeof intel_models / sizeof *intel_models)

static void set_events(struct br2_machine *machine, const char *first, const char *second)
{
    machine->events[0] = first;
    machine->events[1] = second;
    machine->events[2] = NULL;
}

static void choose_intel_event(const struct br2_cpuinfo *cpu, struct br2_machine *machine)
{
    if (cpu->core_branches != 0 && cpu->atom_branches != 0) {
        set_events(machine, "cpu_core/event=0xc4,umask=0x20/@,cpu_atom/event=0xc4,umask=0xc0/@",
                   CYCLES);
        return;
    }
    if (cpu->core_branches != 0) { /* the small cores are switched off */
        set_events(machine, "cpu_core/event=0xc4,umask=0x20/@", CYCLES);
        return;
    }
    set_events(machine, NEAR_TAKEN, CYCLES);
    if (cpu->family != 6 || cpu->model == 0 || cpu->model > UINT8_MAX) {
        return;
    }
    for (size_t i = 0; i < INTEL_COUNT; i++) {
        if (memchr(intel_models[i].models, (int)cpu->model, sizeof intel_models[i].models) !=
            NULL) {
            memcpy(machine->events, intel_models[i].events, sizeof machine->events);
        }
    }
}

/* Why a processor that has branch records does not show them. */
static void lack_x86(const struct br2_cpuinfo *cpu, struct br2_machine *machine, const char *need)
{
    if (cpu->is_virtual) {
        br2_machine_lacks(machine,
                          "this is a virtual machine whose hypervisor does not pass the "
                          "processor's branch records on",
                          "record on the machine itself, or let the hypervisor pass its "
                          "performance counters and branch records to the guest");
    } else if (!cpu->has_device) {
        br2_machine_lacks(machine, "the kernel shows no performance counters of the processor",
                          "see that /sys is mounted, and the kernel has CONFIG_PERF_EVENTS");
    } else {
        br2_machine_lacks(machine, "the kernel offers no branch records of this processor", need);
    }
}

void br2_machine_intel(const struct br2_cpuinfo *cpu, struct br2_machine *machine)
{
    unsigned depth = cpu->branches > cpu->core_branches ? cpu->branches : cpu->core_branches;
    /* Before Linux 4.14 no capability is shown; perf is to find out. */
    bool unknown = cpu->has_device && !cpu->has_caps && !cpu->is_virtual;
    if (depth == 0 && cpu->has_trace) { /* as in guests that get the one and not the other */
        machine->hardware = BR2_HARDWARE_INTEL_PT;
        machine->name = "Intel PT";
        machine->traces = true;
        set_events(machine, "intel_pt//@", NULL);
        return;
    }
    if (depth == 0 && !unknown) {
        lack_x86(cpu, machine, "");
        return;
    }
    machine->hardware = BR2_HARDWARE_LBR;
    machine->name = "Intel LBR";
    machine->depth = depth;
    choose_intel_event(cpu, machine);
}

/* Zen 3 is family 25 (0x19), but for the models of Zen 4. */
static bool is_zen4(const struct br2_cpuinfo *cpu)
{
    return cpu->family > 25 || (cpu->family == 25 && ((cpu->model >= 0x10 && cpu->model <= 0x1f) ||
                                                      (cpu->model >= 0x60 && cpu->model <= 0xaf)));
}

void br2_machine_amd(const struct br2_cpuinfo *cpu, struct br2_machine *machine)
{
    if (cpu->family < 25) {
        br2_machine_lacks(machine, "AMD processors before Zen 3 have no branch records", "");
        return;
    }
    if (cpu->branches == 0) {
        lack_x86(cpu, machine,
                 is_zen4(cpu) ? "Zen 4 and later need Linux 6.1"
                              : "Zen 3 needs Linux 5.19 with CONFIG_PERF_EVENTS_AMD_BRS");
        return;
    }
    /* RETIRED_TAKEN_BRANCH_INSTRUCTIONS; Zen 3 takes its history at this event alone. */
    machine->depth = cpu->branches;
    if (!br2_cpuinfo_flag(cpu->text, "amd_lbr_v2") &&
        (br2_cpuinfo_flag(cpu->text, "brs") || !is_zen4(cpu))) {
        machine->hardware = BR2_HARDWARE_BRS;
        machine->name = "AMD BRS";
        machine->fixed_period = true;
        set_events(machine, "cpu/event=0xc4/@", NULL);
    } else {
        machine->hardware = BR2_HARDWARE_AMD_LBR;
        machine->name = "AMD LBR";
        set_events(machine, "cpu/event=0xc4/@", CYCLES);
    }
}
