/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "record/emulate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "record/collect.h"
#include "record/keep.h"
#include "record/launch.h"
#include "record/program.h"

#define STEP_MS 100

/* How long a program that was asked to end may take, and one that was started to come. */
#define GRACE_MS 3000

struct emulation {
    struct br2_record_request request; /* what was not asked for is filled in */
    struct br2_record_result *result;
    struct br2_collector collector;
    struct br2_launch launch;
    char *program; /* owned, as the next three */
    char *emulator;
    char *plugin;
    char *option;
    struct br2_keeping keeping;
    pid_t pid;
    bool ended;
    uint64_t started; /* ms */
    uint64_t stopped; /* ms; 0: not */
    struct br2pgo_error *err;
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int find_program(struct emulation *e)
{
    int rc = br2_program_find(e->request.command[0], &e->program, e->err);
    if (rc != 0) {
        return rc;
    }
    switch (br2_launch_resolve(e->program, &e->launch)) {
    case BR2_LAUNCH_OK:
        break;
    case BR2_LAUNCH_MISSING:
        return br2_fail_io(e->err, "run", e->launch.program, errno);
    default:
        br2_fail(e->err, BR2PGO_UNSUPPORTED, "cannot run '%s' in an emulator: %s",
                 e->launch.program, e->launch.why);
        br2_hint(e->err, "recording in an emulator is for 64-bit programs and scripts");
        return BR2PGO_UNSUPPORTED;
    }
    char *name = br2_format("qemu-%s", e->launch.machine);
    rc = name != NULL ? br2_program_find(name, &e->emulator, NULL) : BR2PGO_NO_MEMORY;
    br2_free(name);
    if (rc == BR2PGO_NO_MEMORY) {
        return br2_fail_memory(e->err);
    }
    if (rc != 0) {
        br2_fail(e->err, BR2PGO_UNSUPPORTED, "the emulator 'qemu-%s' is not on the PATH",
                 e->launch.machine);
        br2_hint(e->err, "on Debian and Ubuntu: apt-get install qemu-user");
        return BR2PGO_UNSUPPORTED;
    }
    return 0;
}

/* Beside this program: where it is installed, or built. */
static int find_plugin(struct emulation *e)
{
    static const char *const folders[] = {BR2PGO_PLUGIN_FOLDER, "../lib/br2pgo"};
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) {
        return br2_fail_io(e->err, "read", "/proc/self/exe", errno);
    }
    self[length] = '\0';
    int folder = (int)(br2_base_name(self) - self);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path = br2_format("%.*s%s/" BR2PGO_PLUGIN_NAME, folder, self, folders[i]);
        if (path == NULL) {
            return br2_fail_memory(e->err);
        }
        if (access(path, R_OK) == 0) {
            e->plugin = path;
            return 0;
        }
        br2_free(path);
    }
    br2_fail(e->err, BR2PGO_UNSUPPORTED,
             "the emulator's plugin '" BR2PGO_PLUGIN_NAME "' is not beside '%s'", self);
    br2_hint(e->err, "install all of br2pgo, or run it where it was built");
    return BR2PGO_UNSUPPORTED;
}

/* In the option, a comma is written twice. */
static void put_escaped(struct br2_buf *buf, const char *text, size_t length)
{
    for (size_t i = 0; i < length && text[i] != '\0'; i++) {
        if (text[i] == ',') {
            br2_buf_u8(buf, ',');
        }
        br2_buf_u8(buf, (uint8_t)text[i]);
    }
}

static int make_option(struct emulation *e)
{
    const struct br2_record_request *request = &e->request;
    struct br2_buf buf = {0};
    br2_buf_str(&buf, "file=");
    put_escaped(&buf, e->plugin, SIZE_MAX);
    br2_buf_printf(&buf,
                   ",socket=%s,period=%" PRIu64 ",depth=%u,exact=%d,cycles=%d,guest=%" PRIu32
                   ",seed=%" PRIu64 ",name=",
                   e->collector.name, request->period, request->depth, request->exact != NULL,
                   request->cycles, (uint32_t)request->seed, request->seed);
    put_escaped(&buf, br2_base_name(e->program), 15); /* the kernel's TASK_COMM_LEN */
    br2_buf_u8(&buf, 0);
    e->option = !buf.failed ? br2_strdup((const char *)buf.bytes) : NULL;
    br2_buf_done(&buf);
    return e->option != NULL ? 0 : br2_fail_memory(e->err);
}

/* The program's environment without what would change the emulator, and that. */
static int split_environment(char **all, char ***ret_private, char ***ret_rest)
{
    size_t count = 0;
    size_t moved = 0;
    size_t kept = 0;
    while (all[count] != NULL) {
        count++;
    }
    *ret_private = br2_calloc(count + 1, sizeof **ret_private);
    *ret_rest = br2_calloc(count + 2, sizeof **ret_rest);
    if (*ret_private == NULL || *ret_rest == NULL) {
        return BR2PGO_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        if (br2_launch_is_private(all[i])) {
            (*ret_private)[moved++] = all[i];
        } else {
            (*ret_rest)[kept++] = all[i];
        }
    }
    static char own[] = BR2_LAUNCH_VARIABLE;
    (*ret_rest)[kept] = own;
    return 0;
}

/* Starts it; `pipe_end` brings the reason when it cannot be. */
static int spawn(struct emulation *e, const char **words, char **environment)
{
    int ends[2];
    int reason = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return br2_fail_io(e->err, "run", e->emulator, errno);
    }
    e->pid = fork();
    if (e->pid == 0) {
        /* QEMU 8 and later have the system choose where the program's mappings lie. */
        personality((unsigned long)personality(0xffffffff) | ADDR_NO_RANDOMIZE);
        /* Nobody is left to stop it when this process is killed. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execve(e->emulator, (char *const *)(uintptr_t)words, environment);
        reason = errno;
        (void)!write(ends[1], &reason, sizeof reason);
        _Exit(127);
    }
    int forked = errno;
    close(ends[1]);
    ssize_t got = 0;
    do {
        got = e->pid > 0 ? read(ends[0], &reason, sizeof reason) : 0;
    } while (got < 0 && errno == EINTR);
    close(ends[0]);
    if (e->pid < 0 || got > 0) {
        return br2_fail_io(e->err, "run", e->emulator, e->pid < 0 ? forked : reason);
    }
    e->started = now_ms();
    return 0;
}

static int start(struct emulation *e)
{
    char **private = NULL;
    char **rest = NULL;
    char seed[24];
    size_t count = 0;
    size_t variables = 0;
    int rc = split_environment(environ, &private, &rest);
    while (e->request.command[count] != NULL) {
        count++;
    }
    while (rc == 0 && private[variables] != NULL) {
        variables++;
    }
    const char **words = br2_calloc(br2_launch_room(count, variables), sizeof *words);
    if (rc != 0 || words == NULL) {
        rc = br2_fail_memory(e->err);
    } else {
        snprintf(seed, sizeof seed, "%" PRIu32, (uint32_t)e->request.seed);
        struct br2_launch_call call = {.emulator = e->emulator,
                                       .plugin = e->option,
                                       .seed = seed,
                                       .arguments = e->request.command,
                                       .variables = private};
        br2_launch_arguments(&e->launch, &call, words);
        rc = spawn(e, words, rest);
    }
    br2_free(words);
    br2_free(private);
    br2_free(rest);
    return rc;
}

static void look_after_program(struct emulation *e)
{
    int status;
    if (e->ended || waitpid(e->pid, &status, WNOHANG) != e->pid) {
        return;
    }
    e->ended = true;
    e->result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    e->result->exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void ask_to_end(struct emulation *e)
{
    const struct br2_stop *stop = e->request.stop;
    bool asked = stop != NULL && stop->requests != 0;
    e->stopped = now_ms();
    e->result->was_stopped = !e->ended || e->collector.count != 0;
    br2_collector_signal(&e->collector, asked ? stop->signal : SIGTERM,
                         asked && stop->of_terminal != 0);
}

/* Asked to stop, or the time or the disk's room is over: asks the programs to end, then makes them.
 * Who pressed Ctrl-C can do it again, and decides how long they may take. */
static void look_at_clock(struct emulation *e)
{
    const struct br2_record_request *request = &e->request;
    uint64_t now = now_ms();
    int requests = request->stop != NULL ? request->stop->requests : 0;
    bool over = request->duration_ms != 0 && now - e->started >= request->duration_ms;
    bool patient = requests != 0 && request->stop->signal == SIGINT;
    if (e->stopped == 0 && (requests != 0 || over || e->collector.streams.full != 0)) {
        ask_to_end(e);
    } else if (e->stopped != 0 && (requests > 1 || (!patient && now - e->stopped >= GRACE_MS))) {
        br2_collector_signal(&e->collector, SIGKILL, false);
        if (!e->ended) {
            kill(e->pid, SIGKILL);
        }
    }
}

static int run(struct emulation *e)
{
    struct br2_collector *c = &e->collector;
    uint64_t quiet = 0;
    int rc = 0;
    for (;;) {
        rc = br2_collector_step(c, STEP_MS, e->err);
        look_after_program(e);
        look_at_clock(e);
        if (rc != 0) {
            break;
        }
        if (!e->ended || c->count != 0) {
            quiet = 0;
            continue;
        }
        /* A process that was just started, by one that ended at once, is still to come. */
        quiet = quiet != 0 ? quiet : now_ms();
        if (c->forks <= c->forked || now_ms() - quiet >= GRACE_MS) {
            break;
        }
    }
    if (rc != 0 && !e->ended) {
        br2_collector_signal(c, SIGKILL, false);
        kill(e->pid, SIGKILL);
        waitpid(e->pid, NULL, 0);
    }
    return rc != 0 ? rc : br2_collector_finish(c, e->err);
}

/* Whether the emulator's help lists the option: many are built without it. */
static bool takes_plugins(const char *emulator)
{
    int ends[2];
    char text[16384];
    size_t size = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return true;
    }
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl(emulator, emulator, "-help", (char *)NULL);
        _Exit(127);
    }
    close(ends[1]);
    while (size < sizeof text - 1) {
        ssize_t got = read(ends[0], text + size, sizeof text - 1 - size);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            break;
        }
        size += got > 0 ? (size_t)got : 0;
    }
    close(ends[0]);
    if (pid > 0) {
        waitpid(pid, NULL, 0);
    }
    text[size] = '\0';
    return strstr(text, "-plugin ") != NULL;
}

static int refuse_emulator(struct emulation *e)
{
    if (!takes_plugins(e->emulator)) {
        br2_fail(e->err, BR2PGO_UNSUPPORTED, "the emulator '%s' takes no plugins", e->emulator);
        br2_hint(e->err, "use a qemu-user that was built with them, like Debian 12's; its option "
                         "-help lists -plugin");
        return BR2PGO_UNSUPPORTED;
    }
    br2_fail(e->err, BR2PGO_IO, "'%s' did not start in the emulator '%s'", e->program, e->emulator);
    br2_hint(e->err, "see what the emulator says above; '%s %s' shows whether it runs there",
             e->emulator, e->launch.program);
    return BR2PGO_IO;
}

static int check_result(struct emulation *e)
{
    const struct br2_collector *c = &e->collector;
    if (c->streams.count == 0) {
        return refuse_emulator(e);
    }
    if (c->streams.samples == 0 && c->streams.full == 0 && e->request.exact == NULL &&
        e->request.totals == NULL) {
        br2_fail(e->err, BR2PGO_USELESS,
                 "no sample: the program took %" PRIu64
                 " branches, a sample is taken every %" PRIu64,
                 c->totals.taken, e->request.period);
        br2_hint(e->err, "give a shorter --period, or the program more to do");
        return BR2PGO_USELESS;
    }
    return 0;
}

static int record(struct emulation *e)
{
    int rc = find_program(e);
    rc = rc != 0 ? rc : find_plugin(e);
    rc = rc != 0 ? rc
                 : br2_collector_open(&e->collector, e->request.output, e->request.exact != NULL,
                                      e->err);
    e->keeping = (struct br2_keeping){
        .request = &e->request, .machine = e->launch.machine, .collector = &e->collector};
    rc = rc != 0 ? rc : br2_keeping_open(&e->keeping, e->err);
    rc = rc != 0 ? rc : make_option(e);
    rc = rc != 0 ? rc : start(e);
    rc = rc != 0 ? rc : run(e);
    e->collector.totals.samples = e->collector.streams.samples;
    e->collector.totals.branches = e->collector.streams.branches;
    if (e->collector.forks > e->collector.forked) {
        e->collector.totals.lost_processes += e->collector.forks - e->collector.forked;
    }
    rc = rc != 0 ? rc : check_result(e);
    return rc != 0 ? rc : br2_keeping_write(&e->keeping, e->err);
}

int br2_record_emulated(const struct br2_record_request *request, struct br2_record_result *ret,
                        struct br2_emulation *ret_emulation, struct br2pgo_error *err)
{
    *ret = (struct br2_record_result){0};
    *ret_emulation = (struct br2_emulation){0};
    struct emulation *e = br2_calloc(1, sizeof *e);
    if (e == NULL) {
        return br2_fail_memory(err);
    }
    e->request = *request;
    if (request->period == 0) {
        e->request.period = BR2_RECORD_EMULATED_PERIOD;
    }
    if (request->depth == 0) {
        e->request.depth = BR2_RECORD_DEPTH_DEFAULT;
    }
    e->result = ret;
    e->err = err;
    e->collector = (struct br2_collector){.socket = -1, .events = -1, .streams = {.fd = -1}};
    int rc = record(e);
    br2_keeping_done(&e->keeping);
    *ret_emulation = e->collector.totals;
    br2_collector_done(&e->collector);
    br2_free(e->program);
    br2_free(e->emulator);
    br2_free(e->plugin);
    br2_free(e->option);
    br2_free(e);
    return rc;
}
