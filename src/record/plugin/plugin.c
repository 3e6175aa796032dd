/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The plugin is loaded: its arguments. */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "record/plugin/plugin.h"

struct br2_plugin br2_plugin;

/* Found out when the module is loaded, before the emulator looks. */
int qemu_plugin_version = 1;

__attribute__((constructor)) static void choose_version(void)
{
    if (qemu_plugin_read_memory_vaddr != NULL) {
        qemu_plugin_version = 4;
    } else if (qemu_plugin_scoreboard_new != NULL) {
        qemu_plugin_version = 2; /* what knows 3 takes 2 */
    }
}

struct arguments {
    struct br2_area_header header;
    uint64_t seed;
};

static bool take_number(struct arguments *a, const char *name, uint64_t value)
{
    if (strcmp(name, "period") == 0) {
        br2_plugin.period = value;
    } else if (strcmp(name, "depth") == 0) {
        br2_plugin.depth = (uint32_t)value;
    } else if (strcmp(name, "exact") == 0) {
        br2_plugin.exact = value != 0;
    } else if (strcmp(name, "cycles") == 0) {
        br2_plugin.cycles = value != 0;
    } else if (strcmp(name, "guest") == 0) {
        br2_plugin.guest_seed = (uint32_t)value;
    } else if (strcmp(name, "seed") == 0) {
        a->seed = value;
    } else if (strcmp(name, "from") == 0) {
        a->header.parent = value;
        a->header.origin = BR2_ORIGIN_EXEC;
    } else if (strcmp(name, "thread") == 0) {
        a->header.parent_thread = value;
    } else if (strcmp(name, "time") == 0) {
        a->header.start = value;
    } else {
        return false;
    }
    return true;
}

static bool take(struct arguments *a, const char *argument)
{
    char name[16];
    const char *value = strchr(argument, '=');
    if (value == NULL || value - argument >= (ptrdiff_t)sizeof name) {
        return false;
    }
    memcpy(name, argument, (size_t)(value - argument));
    name[value - argument] = '\0';
    value++;
    if (strcmp(name, "socket") == 0) {
        return snprintf(br2_plugin.socket, sizeof br2_plugin.socket, "%s", value) <
               (int)sizeof br2_plugin.socket;
    }
    if (strcmp(name, "name") == 0) {
        snprintf(a->header.name, sizeof a->header.name, "%s", value);
        return true;
    }
    char *end;
    uint64_t number = strtoull(value, &end, 10);
    return *value != '\0' && *end == '\0' && take_number(a, name, number);
}

static bool set_machine(const char *name)
{
    static const char *const names[] = {"x86_64", "aarch64", "riscv64"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            br2_plugin.machine = (enum br2_machine)i;
            return true;
        }
    }
    return false;
}

/* The option's value for a further program: this file, commas doubled, and what does not change. */
static bool make_arguments(void)
{
    Dl_info info;
    char *to = br2_plugin.arguments;
    char *end = to + sizeof br2_plugin.arguments;
    if (dladdr(&br2_plugin, &info) == 0) {
        return false;
    }
    to += snprintf(to, (size_t)(end - to), "file=");
    for (const char *at = info.dli_fname; *at != '\0' && end - to > 2; at++) {
        *to++ = *at;
        if (*at == ',') {
            *to++ = ',';
        }
    }
    int length = snprintf(to, (size_t)(end - to),
                          ",socket=%s,period=%" PRIu64 ",depth=%" PRIu32
                          ",exact=%d,cycles=%d,guest=%" PRIu32,
                          br2_plugin.socket, br2_plugin.period, br2_plugin.depth, br2_plugin.exact,
                          br2_plugin.cycles, br2_plugin.guest_seed);
    return length < end - to;
}

static int fail(const char *why)
{
    static const char start[] = "br2pgo: error: the emulator's plugin cannot record: ";
    (void)!write(STDERR_FILENO, start, sizeof start - 1);
    (void)!write(STDERR_FILENO, why, strlen(why));
    (void)!write(STDERR_FILENO, "\n", 1);
    return 1;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
    struct arguments a = {.header = {.origin = BR2_ORIGIN_START}};
    for (int i = 0; i < argc; i++) {
        if (!take(&a, argv[i])) {
            return fail("it does not know an argument");
        }
    }
    if (br2_plugin.period == 0 || br2_plugin.depth < 1 || br2_plugin.depth > BR2_RECORD_DEPTH_MAX ||
        br2_plugin.socket[0] == '\0' || !make_arguments()) {
        return fail("an argument is missing");
    }
    if (!set_machine(info->target_name)) {
        return fail("it does not know the machine");
    }
    if (!br2_area_make(&a.header)) {
        return fail(
            "it does not reach the recorder, or has no room to share with it (ulimit -v, -f)");
    }
    /* What the program, and who looks for it, takes for its name. */
    prctl(PR_SET_NAME, a.header.name);
    br2_plugin.first = br2_thread_first(a.seed, a.header.start);
    if (br2_plugin.first == NULL) {
        return fail("there is no room");
    }
    qemu_plugin_register_vcpu_init_cb(id, br2_at_vcpu);
    qemu_plugin_register_vcpu_tb_trans_cb(id, br2_at_translation);
    qemu_plugin_register_vcpu_syscall_cb(id, br2_at_syscall);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, br2_at_syscall_return);
    return 0;
}
