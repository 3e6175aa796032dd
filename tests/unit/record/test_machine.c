/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* machine.c and machine_x86.c: what /proc and /sys of many machines mean for perf. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/machine.h"
#include "record/perf_command.h"

#define DEVICES  "sys/bus/event_source/devices/"
#define PARANOID "proc/sys/kernel/perf_event_paranoid"

#define INTEL(family, model, flags)                                                                \
    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: " #family "\nmodel\t\t: " #model     \
    "\nmodel name\t: Intel\nflags\t\t: fpu vme " flags "\n\nprocessor\t: 1\n"
#define AMD(family, model, flags)                                                                  \
    "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: " #family "\nmodel\t\t: " #model     \
    "\nmodel name\t: AMD\nflags\t\t: fpu vme " flags "\n\nprocessor\t: 1\n"
#define ARM(part)                                                                                  \
    "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n"           \
    "CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: " part "\n"

struct file {
    const char *path;
    const char *text; /* NULL: a folder */
};

struct machine {
    const char *name;
    const char *cpuinfo;
    struct file files[4];
    enum br2_branch_hardware hardware;
    unsigned depth;
    /* The events as perf is to try them; where there is no hardware, a part of the reason. */
    const char *events[BR2_MACHINE_EVENTS];
};

/* The models are those of Intel's and AMD's documentation; the capabilities as Linux 6 shows. */
static const struct machine machines[] = {
    {"Nehalem",
     INTEL(6, 26, ""),
     {{DEVICES "cpu/caps/branches", "16\n"}},
     BR2_HARDWARE_LBR,
     16,
     {"cpu/event=0x88,umask=0x40/u", "cycles:u"}},
    {"Sandy Bridge before Linux 4.14",
     INTEL(6, 42, "avx"),
     {{DEVICES "cpu", NULL}},
     BR2_HARDWARE_LBR,
     0,
     {"cpu/event=0xc4,umask=0x20/pu", "cpu/event=0xc4,umask=0x20/u", "cycles:u"}},
    {"Skylake client",
     INTEL(6, 94, ""),
     {{DEVICES "cpu/caps/branches", "32\n"}},
     BR2_HARDWARE_LBR,
     32,
     {"cpu/event=0xc4,umask=0x20/pu", "cpu/event=0xc4,umask=0x20/u", "cycles:u"}},
    {"Skylake server",
     INTEL(6, 85, ""),
     {{DEVICES "cpu/caps/branches", "32\n"}},
     BR2_HARDWARE_LBR,
     32,
     {"cpu/event=0xc4,umask=0x20/pu", "cpu/event=0xc4,umask=0x20/u", "cycles:u"}},
    {"Goldmont",
     INTEL(6, 92, ""),
     {{DEVICES "cpu/caps/branches", "32\n"}},
     BR2_HARDWARE_LBR,
     32,
     {"cpu/event=0xc4,umask=0x80/pu", "cpu/event=0xc4,umask=0x80/u", "cycles:u"}},
    {"Ice Lake",
     INTEL(6, 126, ""),
     {{DEVICES "cpu/caps/branches", "32\n"}},
     BR2_HARDWARE_LBR,
     32,
     {"cpu/event=0xc4,umask=0x20/u", "cycles:u"}},
    {"Sapphire Rapids",
     INTEL(6, 143, "arch_lbr"),
     {{DEVICES "cpu/caps/branches", "32\n"}},
     BR2_HARDWARE_LBR,
     32,
     {"cpu/event=0xc4,umask=0x20/u", "cycles:u"}},
    {"Alder Lake, both kinds of core",
     INTEL(6, 151, "arch_lbr"),
     {{DEVICES "cpu_core/caps/branches", "32\n"}, {DEVICES "cpu_atom/caps/branches", "32\n"}},
     BR2_HARDWARE_LBR,
     32,
     {"cpu_core/event=0xc4,umask=0x20/u,cpu_atom/event=0xc4,umask=0xc0/u", "cycles:u"}},
    {"Alder Lake-N, small cores only",
     INTEL(6, 190, "arch_lbr"),
     {{DEVICES "cpu/caps/branches", "32\n"}},
     BR2_HARDWARE_LBR,
     32,
     {"cpu/event=0xc4,umask=0xc0/u", "cycles:u"}},
    {"an Intel of another family",
     INTEL(19, 1, "arch_lbr"),
     {{DEVICES "cpu/caps/branches", "32\n"}},
     BR2_HARDWARE_LBR,
     32,
     {"cpu/event=0xc4,umask=0x20/u", "cycles:u"}},
    {"Skylake server as a guest",
     INTEL(6, 85, "hypervisor"),
     {{DEVICES "cpu/caps/pmu_name", "x"}},
     BR2_HARDWARE_NONE,
     0,
     {"virtual machine"}},
    {"Ice Lake as a guest with a trace",
     INTEL(6, 106, "hypervisor"),
     {{DEVICES "cpu/caps/pmu_name", "x"}, {DEVICES "intel_pt/type", "8\n"}},
     BR2_HARDWARE_INTEL_PT,
     0,
     {"intel_pt//u"}},
    {"Skylake server with both",
     INTEL(6, 85, ""),
     {{DEVICES "cpu/caps/branches", "32\n"}, {DEVICES "intel_pt/type", "8\n"}},
     BR2_HARDWARE_LBR,
     32,
     {"cpu/event=0xc4,umask=0x20/pu", "cpu/event=0xc4,umask=0x20/u", "cycles:u"}},
    {"old kernel as a guest",
     INTEL(6, 85, "hypervisor"),
     {{DEVICES "cpu", NULL}},
     BR2_HARDWARE_NONE,
     0,
     {"virtual machine"}},
    {"Ice Lake as a guest with branch records",
     INTEL(6, 106, "hypervisor"),
     {{DEVICES "cpu/caps/branches", "32\n"}},
     BR2_HARDWARE_LBR,
     32,
     {"cpu/event=0xc4,umask=0x20/u", "cycles:u"}},
    {"no /sys",
     INTEL(6, 85, ""),
     {{NULL, NULL}},
     BR2_HARDWARE_NONE,
     0,
     {"no performance counters"}},
    {"Zen 2",
     AMD(23, 49, ""),
     {{DEVICES "cpu/caps", NULL}},
     BR2_HARDWARE_NONE,
     0,
     {"before Zen 3"}},
    {"Zen 3",
     AMD(25, 1, "brs perfctr_core"),
     {{DEVICES "cpu/caps/branches", "16\n"}},
     BR2_HARDWARE_BRS,
     16,
     {"cpu/event=0xc4/u"}},
    {"Zen 3 with a kernel that lacks it",
     AMD(25, 33, "brs"),
     {{DEVICES "cpu/caps", NULL}},
     BR2_HARDWARE_NONE,
     0,
     {"kernel offers no branch records"}},
    {"Zen 4",
     AMD(25, 17, "amd_lbr_v2"),
     {{DEVICES "cpu/caps/branches", "16\n"}},
     BR2_HARDWARE_AMD_LBR,
     16,
     {"cpu/event=0xc4/u", "cycles:u"}},
    {"Zen 5",
     AMD(26, 2, "amd_lbr_v2"),
     {{DEVICES "cpu/caps/branches", "16\n"}},
     BR2_HARDWARE_AMD_LBR,
     16,
     {"cpu/event=0xc4/u", "cycles:u"}},
    {"Zen 5 as a guest",
     AMD(26, 2, "hypervisor"),
     {{DEVICES "software", NULL}},
     BR2_HARDWARE_NONE,
     0,
     {"virtual machine"}},
    {"Neoverse with SPE",
     ARM("0xd40"),
     {{DEVICES "armv8_pmuv3_0/caps/slots", "0x8\n"}, {DEVICES "arm_spe_0/type", "10\n"}},
     BR2_HARDWARE_NONE,
     0,
     {"SPE"}},
    {"Arm with BRBE",
     ARM("0xd84"),
     {{DEVICES "armv9_neoverse_v3/caps/branches", "64\n"}, {DEVICES "arm_spe_0/type", "10\n"}},
     BR2_HARDWARE_BRBE,
     64,
     {"br_retired:u", "cycles:u"}},
    {"Arm whose kernel knows BRBE but not the processor",
     ARM("0xd40"),
     {{DEVICES "armv8_pmuv3_0/caps/branches", "0\n"}},
     BR2_HARDWARE_NONE,
     0,
     {"BRBE of Armv9.2"}},
    {"Arm with CoreSight",
     ARM("0xd0b"),
     {{DEVICES "armv8_pmuv3/type", "8\n"}, {DEVICES "cs_etm/type", "9\n"}},
     BR2_HARDWARE_ARM_ETM,
     0,
     {"cs_etm//u"}},
    {"POWER",
     "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 2300MHz\n",
     {{DEVICES "cpu/type", "4\n"}},
     BR2_HARDWARE_NONE,
     0,
     {"POWER"}},
    {"RISC-V",
     "processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\n",
     {{DEVICES "cpu/type", "4\n"}},
     BR2_HARDWARE_NONE,
     0,
     {"RISC-V"}},
    {"s390",
     "vendor_id       : IBM/S390\n# processors    : 2\n",
     {{DEVICES "cpum_cf/type", "8\n"}},
     BR2_HARDWARE_NONE,
     0,
     {"no branch records are known"}},
    {"a processor nobody knows",
     "processor\t: 0\n",
     {{NULL, NULL}},
     BR2_HARDWARE_NONE,
     0,
     {"no branch records are known"}},
};

/* Makes the folders of a path. */
static void make_folders(char *path)
{
    for (char *at = strchr(path + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(path, 0777);
        *at = '/';
    }
}

static void make_file(const char *root, const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", root, path);
    make_folders(full);
    if (text == NULL) {
        assert_int_equal(mkdir(full, 0777), 0);
        return;
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void make_root(char *root, size_t size, const struct machine *machine)
{
    snprintf(root, size, "%s/br2pgo-machine-XXXXXX", P_tmpdir);
    assert_non_null(mkdtemp(root));
    if (machine == NULL) {
        return;
    }
    make_file(root, "proc/cpuinfo", machine->cpuinfo);
    for (size_t i = 0; i < 4 && machine->files[i].path != NULL; i++) {
        make_file(root, machine->files[i].path, machine->files[i].text);
    }
}

/* Removes a file, and the folders it leaves empty. */
static void remove_file(const char *root, const char *path)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", root, path);
    do {
        (void)remove(full);
        *strrchr(full, '/') = '\0';
    } while (strlen(full) > strlen(root));
}

/* Fails when the test left anything else behind. */
static void remove_root(const char *root, const struct machine *machine)
{
    remove_file(root, "proc/cpuinfo");
    remove_file(root, PARANOID);
    remove_file(root, DEVICES "cpu/caps/branches");
    for (size_t i = 0; machine != NULL && i < 4 && machine->files[i].path != NULL; i++) {
        remove_file(root, machine->files[i].path);
    }
    assert_int_equal(rmdir(root), 0);
}

/* The events with their modifiers, as they stand in the command. */
static void check_events(const struct machine *machine, const struct br2_machine *got)
{
    static char app[] = "./app";
    char *program[] = {app, NULL};
    struct br2_record_request request = {.command = program, .output = "perf.data"};
    for (size_t i = 0; i < BR2_MACHINE_EVENTS; i++) {
        const char *wanted = machine->events[i];
        if (wanted == NULL) {
            assert_null(got->events[i]);
            return;
        }
        struct br2_perf_command command;
        assert_int_equal(br2_perf_command_make(&command, got, i, &request, NULL), 0);
        char *text = br2_perf_command_text(&command);
        char line[512];
        snprintf(line, sizeof line, "perf record -e %s%s -N --buildid-all -o perf.data -- ./app",
                 wanted, got->traces ? "" : " -b -c 500009");
        assert_string_equal(text, line);
        br2_free(text);
        br2_perf_command_done(&command);
    }
}

static void test_machines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const struct machine *machine = &machines[i];
        char root[256];
        make_root(root, sizeof root, machine);
        struct br2_machine got;
        assert_int_equal(br2_machine_examine(root, &got, NULL), 0);
        remove_root(root, machine);
        print_message("%s: %s\n", machine->name, got.name != NULL ? got.name : got.reason);
        assert_int_equal(got.hardware, machine->hardware);
        if (machine->hardware == BR2_HARDWARE_NONE) {
            assert_non_null(strstr(got.reason, machine->events[0]));
            assert_null(got.events[0]);
            assert_null(got.name);
            continue;
        }
        assert_string_equal(got.reason, "");
        assert_int_equal(got.depth, machine->depth);
        assert_int_equal(got.fixed_period, machine->hardware == BR2_HARDWARE_BRS);
        check_events(machine, &got);
    }
}

/* Which kernel an AMD processor needs. */
static void test_amd_kernels(void **state)
{
    (void)state;
    static const struct {
        struct machine machine;
        const char *hint;
    } rows[] = {
        {{.cpuinfo = AMD(25, 33, "brs"), .files = {{DEVICES "cpu/caps", NULL}}}, "AMD_BRS"},
        {{.cpuinfo = AMD(25, 80, ""), .files = {{DEVICES "cpu/caps", NULL}}}, "AMD_BRS"},
        {{.cpuinfo = AMD(25, 97, ""), .files = {{DEVICES "cpu/caps", NULL}}}, "Linux 6.1"},
        {{.cpuinfo = AMD(26, 68, ""), .files = {{DEVICES "cpu/caps", NULL}}}, "Linux 6.1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char root[256];
        struct br2_machine got;
        make_root(root, sizeof root, &rows[i].machine);
        assert_int_equal(br2_machine_examine(root, &got, NULL), 0);
        remove_root(root, &rows[i].machine);
        assert_int_equal(got.hardware, BR2_HARDWARE_NONE);
        assert_non_null(strstr(got.hint, rows[i].hint));
    }
}

static void test_paranoid(void **state)
{
    (void)state;
    char root[256];
    struct br2_machine got;
    make_root(root, sizeof root, &machines[0]);
    assert_int_equal(br2_machine_examine(root, &got, NULL), 0);
    assert_int_equal(got.paranoid, INT_MIN);
    make_file(root, PARANOID, "-1\n");
    assert_int_equal(br2_machine_examine(root, &got, NULL), 0);
    assert_int_equal(got.paranoid, -1);
    remove_root(root, &machines[0]);
}

static void test_nothing_there(void **state)
{
    (void)state;
    char root[256];
    struct br2_machine got;
    make_root(root, sizeof root, NULL);
    assert_int_equal(br2_machine_examine(root, &got, NULL), 0);
    assert_int_equal(got.hardware, BR2_HARDWARE_NONE);
    assert_non_null(strstr(got.reason, "/proc/cpuinfo"));
    remove_root(root, NULL);
}

/* Every byte of the files may be anything. */
static void test_nonsense(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "flags",
        ":",
        "vendor_id:GenuineIntel\ncpu family:6\nmodel:99999999999999999999\nflags:",
        "vendor_id : GenuineIntel\ncpu family : 6\nmodel : -1\nflags : ",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char root[256];
        struct br2_machine got;
        make_root(root, sizeof root, NULL);
        make_file(root, "proc/cpuinfo", texts[i]);
        make_file(root, DEVICES "cpu/caps/branches", "-99999999999999999999");
        assert_int_equal(br2_machine_examine(root, &got, NULL), 0);
        assert_int_equal(got.hardware, BR2_HARDWARE_NONE);
        assert_true(got.reason[0] != '\0');
        remove_root(root, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machines), cmocka_unit_test(test_amd_kernels),
        cmocka_unit_test(test_paranoid), cmocka_unit_test(test_nothing_there),
        cmocka_unit_test(test_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
