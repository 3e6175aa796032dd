/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "record/machine.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "record/machine_private.h"

#define DEVICES "/sys/bus/event_source/devices"

/* Files of /proc and /sys say it in their first line, or are lists of lines. */
static char *read_text(const char *root, const char *path)
{
    char *full = br2_format("%s%s", root, path);
    FILE *file = full != NULL ? fopen(full, "re") : NULL;
    br2_free(full);
    if (file == NULL) {
        return NULL;
    }
    /* The first processor's entry is below 8 KiB; all entries of a large machine are megabytes. */
    size_t capacity = 16384;
    char *text = br2_alloc(capacity);
    if (text != NULL) {
        size_t size = fread(text, 1, capacity - 1, file);
        text[size] = '\0';
    }
    (void)fclose(file);
    return text;
}

static bool exists(const char *root, const char *path)
{
    struct stat st;
    char *full = br2_format("%s%s", root, path);
    bool there = full != NULL && stat(full, &st) == 0;
    br2_free(full);
    return there;
}

static int read_number(const char *root, const char *path, int otherwise)
{
    char *text = read_text(root, path);
    char *end = text;
    long number = text != NULL ? strtol(text, &end, 10) : 0;
    bool is_number = end != text && number > INT_MIN && number < INT_MAX;
    br2_free(text);
    return is_number ? (int)number : otherwise;
}

/* Branch records that a device of the kernel's offers; 0: it has no such thing. */
static unsigned device_branches(const char *root, const char *device)
{
    char path[512];
    snprintf(path, sizeof path, DEVICES "/%s/caps/branches", device);
    int count = read_number(root, path, 0);
    return count > 0 ? (unsigned)count : 0;
}

static bool has_device(const char *root, const char *device, const char *below)
{
    char path[512];
    snprintf(path, sizeof path, DEVICES "/%s%s", device, below);
    return exists(root, path);
}

const char *br2_cpuinfo_value(const char *cpuinfo, const char *key, char *ret, size_t size)
{
    size_t length = strlen(key);
    for (const char *line = cpuinfo; line != NULL;) {
        const char *end = strchr(line, '\n');
        size_t width = end != NULL ? (size_t)(end - line) : strlen(line);
        const char *colon = memchr(line, ':', width);
        if (colon != NULL && strncmp(line, key, length) == 0 &&
            strspn(line + length, " \t") == (size_t)(colon - line) - length) {
            const char *value = colon + 1 + strspn(colon + 1, " \t");
            size_t rest = value < line + width ? (size_t)(line + width - value) : 0;
            snprintf(ret, size, "%.*s", (int)(rest < size ? rest : size - 1), value);
            return ret;
        }
        line = end != NULL ? end + 1 : NULL;
    }
    return NULL;
}

bool br2_cpuinfo_flag(const char *cpuinfo, const char *flag)
{
    char flags[8192];
    const char *at = br2_cpuinfo_value(cpuinfo, "flags", flags, sizeof flags);
    size_t length = strlen(flag);
    while (at != NULL && *at != '\0') {
        size_t word = strcspn(at, " ");
        if (word == length && strncmp(at, flag, length) == 0) {
            return true;
        }
        at += word + strspn(at + word, " ");
    }
    return false;
}

void br2_machine_lacks(struct br2_machine *machine, const char *reason, const char *hint)
{
    machine->hardware = BR2_HARDWARE_NONE;
    snprintf(machine->reason, sizeof machine->reason, "%s", reason);
    snprintf(machine->hint, sizeof machine->hint, "%s", hint);
}

/* Of Arm's processors the device has a name of its own: armv8_pmuv3_0, armv9_cortex_x925, ... */
static unsigned find_arm_branches(const char *root)
{
    char *path = br2_format("%s" DEVICES, root);
    DIR *folder = path != NULL ? opendir(path) : NULL;
    br2_free(path);
    if (folder == NULL) {
        return 0;
    }
    unsigned most = 0;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        unsigned count = entry->d_name[0] != '.' ? device_branches(root, entry->d_name) : 0;
        most = count > most ? count : most;
    }
    (void)closedir(folder);
    return most;
}

static void examine_arm(const char *root, struct br2_machine *machine)
{
    machine->depth = find_arm_branches(root);
    if (machine->depth != 0) {
        machine->hardware = BR2_HARDWARE_BRBE;
        machine->name = "Arm BRBE";
        machine->events[0] = "br_retired:@";
        machine->events[1] = "cycles:@";
    } else if (has_device(root, "cs_etm", "")) {
        machine->hardware = BR2_HARDWARE_ARM_ETM;
        machine->name = "Arm ETM";
        machine->traces = true;
        machine->events[0] = "cs_etm//@";
    } else if (has_device(root, "arm_spe_0", "")) {
        br2_machine_lacks(machine,
                          "this Arm machine has SPE, which samples single branches, not the "
                          "histories that br2pgo reads, and no BRBE",
                          "");
    } else {
        br2_machine_lacks(machine,
                          "this Arm machine has no branch records: they need BRBE of Armv9.2 and "
                          "Linux 6.17",
                          "");
    }
}

static void examine_x86(const struct br2_cpuinfo *cpu, struct br2_machine *machine)
{
    if (strcmp(cpu->vendor, "GenuineIntel") == 0) {
        br2_machine_intel(cpu, machine);
    } else if (strcmp(cpu->vendor, "AuthenticAMD") == 0) {
        br2_machine_amd(cpu, machine);
    } else {
        br2_machine_lacks(machine, "this x86 processor has no branch records that perf knows", "");
    }
}

static unsigned cpuinfo_number(const char *cpuinfo, const char *key)
{
    char value[32];
    return br2_cpuinfo_value(cpuinfo, key, value, sizeof value) != NULL
               ? (unsigned)strtoul(value, NULL, 10)
               : 0;
}

static void examine(const char *root, const char *cpuinfo, struct br2_machine *machine)
{
    char value[128];
    struct br2_cpuinfo cpu = {
        .text = cpuinfo,
        .family = cpuinfo_number(cpuinfo, "cpu family"),
        .model = cpuinfo_number(cpuinfo, "model"),
        .is_virtual = br2_cpuinfo_flag(cpuinfo, "hypervisor"),
        .has_trace = has_device(root, "intel_pt", "/type"),
        .has_device = has_device(root, "cpu", "") || has_device(root, "cpu_core", ""),
        .has_caps = has_device(root, "cpu", "/caps") || has_device(root, "cpu_core", "/caps"),
        .branches = device_branches(root, "cpu"),
        .core_branches = device_branches(root, "cpu_core"),
        .atom_branches = device_branches(root, "cpu_atom"),
    };
    if (br2_cpuinfo_value(cpuinfo, "CPU implementer", value, sizeof value) != NULL) {
        examine_arm(root, machine);
    } else if (br2_cpuinfo_value(cpuinfo, "cpu", value, sizeof value) != NULL &&
               strncmp(value, "POWER", 5) == 0) {
        br2_machine_lacks(machine,
                          "perf records this POWER processor's branches (BHRB), but br2pgo does "
                          "not decode POWER code",
                          "");
    } else if (br2_cpuinfo_value(cpuinfo, "isa", value, sizeof value) != NULL) {
        br2_machine_lacks(machine, "Linux has no driver for branch records of RISC-V processors",
                          "");
    } else if (br2_cpuinfo_value(cpuinfo, "vendor_id", value, sizeof value) != NULL &&
               cpu.family != 0) {
        cpu.vendor = value;
        examine_x86(&cpu, machine);
    } else {
        br2_machine_lacks(machine, "no branch records are known of this kind of processor", "");
    }
}

int br2_machine_examine(const char *root, struct br2_machine *ret, struct br2pgo_error *err)
{
    *ret = (struct br2_machine){0};
    ret->paranoid = read_number(root, "/proc/sys/kernel/perf_event_paranoid", INT_MIN);
    char *cpuinfo = read_text(root, "/proc/cpuinfo");
    if (cpuinfo == NULL) {
        if (exists(root, "/proc/cpuinfo")) {
            return br2_fail_memory(err);
        }
        br2_machine_lacks(ret, "what processor this is cannot be read: there is no /proc/cpuinfo",
                          "mount /proc and /sys");
        return 0;
    }
    examine(root, cpuinfo, ret);
    br2_free(cpuinfo);
    return 0;
}
