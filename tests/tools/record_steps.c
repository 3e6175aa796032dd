/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Records a program's taken branches without branch hardware, by single-stepping it, which owes
 * nothing to the emulator that br2pgo record runs programs in, and judges its counts:
 *   record_steps [--period N] [--depth N] [--truth FILE] -o perf.data PROGRAM [ARGUMENT...]
 * and writes a perf.data file as `perf record -j any,u -c N` would: every N taken branches (give or
 * take an eighth, the same in every run) a sample with the last 32 (--depth) of them. --truth
 * writes all edges within the program with their exact counts, as br2pgo -o x.edges.csv names them.
 *
 * A block of instructions is single-stepped once; from then on a breakpoint at the branch that ends
 * it lets it run at full speed, and plain branches are done in its stead. x86-64 only, some 30 000
 * to 100 000 branches a second. The dynamic loader is not recorded; a program that starts threads
 * or processes is refused. Whether a branch was mispredicted is what a two-bit counter per branch,
 * and the last target for an indirect one, would have said. To build it alone:
 *   cc -std=c17 -D_GNU_SOURCE -O2 record_steps.c
 * Exit: the program's status; 1 when it could not be recorded.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record_code.h"
#include "record_file.h"

#define DEPTH_MAX 256

/* Slots of the tables; a power of two, at most half of them are used. */
#define SLOTS (1u << 18)

struct edge {
    uint64_t from;
    uint64_t to;
    uint64_t count; /* 0: a free slot */
    uint64_t missed;
    enum kind kind;
};

/* What is being recorded. */
struct recorder {
    struct recording file;
    pid_t pid;
    int memory; /* /proc/PID/mem */
    char program[4096];
    uint64_t bias; /* run-time minus link-time addresses of the program */
    uint64_t low, high;
    size_t depth;
    uint64_t steps, branches;
    uint64_t next_sample;
    uint64_t random;
    struct perf_branch_entry ring[DEPTH_MAX];
    size_t newest, filled;
    uint64_t pc;
    uint64_t block;       /* where the block that is being stepped began; 0: in none */
    uint32_t block_steps; /* its instructions so far */
    int signal;           /* to deliver */
    bool ended;
    int status; /* as waitpid gave it */
    struct insn insns[SLOTS];
    size_t insn_count;
    struct edge edges[SLOTS];
    size_t edge_count;
};

/* The number at `*text` and the sign behind it are passed over. */
static uint64_t take_number(char **text, int base)
{
    uint64_t value = strtoull(*text, text, base);
    *text += **text != '\0';
    return value;
}

/* A line of /proc/PID/maps: start-end rights offset major:minor inode path. */
static void take_mapping(struct recorder *r, char *line)
{
    struct mapping m;
    line[strcspn(line, "\n")] = '\0';
    m.start = take_number(&line, 16);
    m.end = take_number(&line, 16);
    bool executable = strcspn(line, " ") == 4 && line[2] == 'x';
    line += strcspn(line, " ");
    m.offset = take_number(&line, 16);
    m.major = (unsigned)take_number(&line, 16);
    m.minor = (unsigned)take_number(&line, 16);
    m.inode = take_number(&line, 10);
    m.path = line + strspn(line, " ");
    if (strcmp(m.path, r->program) == 0) {
        r->low = m.start < r->low ? m.start : r->low;
        r->high = m.end > r->high ? m.end : r->high;
    }
    if (executable && m.path[0] != '\0' && strcmp(m.path, "[vsyscall]") != 0) {
        put_mapping(&r->file, &m);
    }
}

/* Records the executable mappings that are not yet recorded. */
static void read_mappings(struct recorder *r)
{
    char path[64];
    char *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)r->pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && getline(&line, &room, file) > 0) {
        take_mapping(r, line);
    }
    free(line);
    if (file != NULL) {
        (void)fclose(file);
    }
}

static size_t slot_of(uint64_t from, uint64_t to)
{
    uint64_t hash = (from ^ to << 20 ^ to >> 11) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(hash >> 32) & (SLOTS - 1);
}

static struct insn *insn_at(struct recorder *r, uint64_t address)
{
    size_t at = slot_of(address, 0);
    while (r->insns[at].address != address && r->insns[at].address != 0) {
        at = (at + 1) & (SLOTS - 1);
    }
    struct insn *insn = &r->insns[at];
    if (insn->address == 0) {
        if (++r->insn_count > SLOTS / 2) {
            fail("the program is too large");
        }
        uint8_t bytes[24] = {0};
        if (pread(r->memory, bytes, sizeof bytes - 1, (off_t)address) <= 0) {
            bytes[0] = 0; /* the program will find out itself */
        }
        insn->address = address;
        decode(insn, bytes);
    }
    return insn;
}

static void count_edge(struct recorder *r, uint64_t from, uint64_t to, enum kind kind, bool missed)
{
    size_t at = slot_of(from, to);
    while (r->edges[at].count != 0 && (r->edges[at].from != from || r->edges[at].to != to)) {
        at = (at + 1) & (SLOTS - 1);
    }
    struct edge *edge = &r->edges[at];
    if (edge->count == 0) {
        if (++r->edge_count > SLOTS / 2) {
            fail("the program is too large");
        }
        *edge = (struct edge){.from = from, .to = to, .kind = kind};
    }
    edge->count++;
    edge->missed += missed;
}

static void schedule(struct recorder *r)
{
    r->random = r->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t spread = r->file.period / 8;
    r->next_sample += r->file.period - spread + (r->random >> 33) % (2 * spread + 1);
}

static void put_sample(struct recorder *r, uint64_t ip)
{
    size_t start = begin_sample(&r->file, ip, r->filled);
    for (size_t i = 0; i < r->filled; i++) {
        put(&r->file.data, &r->ring[(r->newest + r->depth - i) % r->depth], sizeof *r->ring);
    }
    end_record(&r->file, start, false);
}

static void take_branch(struct recorder *r, const struct insn *branch, uint64_t to, bool missed)
{
    r->newest = (r->newest + 1) % r->depth;
    r->filled += r->filled < r->depth;
    r->ring[r->newest] = (struct perf_branch_entry){
        .from = branch->address, .to = to, .mispred = missed, .predicted = !missed};
    if (++r->branches >= r->next_sample) {
        put_sample(r, to);
        schedule(r);
    }
}

static void branch_done(struct recorder *r, struct insn *branch, uint64_t to)
{
    bool taken = branch->kind != COND || to != branch->address + branch->length;
    bool missed = mispredicted(branch, to, taken);
    count_edge(r, branch->address, to, taken ? branch->kind : FALLTHROUGH, missed && taken);
    if (taken) {
        take_branch(r, branch, to, missed);
    }
}

static void count_steps(struct recorder *r, uint32_t steps)
{
    r->steps += steps;
    r->file.time += steps;
}

/* The program: started, brought to its entry, stepped to its end. */
static void start_program(struct recorder *r, char **argv)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one); /* both on one CPU: the hand-over is much faster */
    sched_setaffinity(0, sizeof one, &one);
    r->pid = fork();
    if (r->pid == 0) {
        personality(ADDR_NO_RANDOMIZE);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execvp(argv[0], argv);
        _exit(127);
    }
    int status;
    if (r->pid < 0 || waitpid(r->pid, &status, 0) != r->pid || !WIFSTOPPED(status)) {
        fail("cannot run '%s' under ptrace", argv[0]);
    }
    ptrace(PTRACE_SETOPTIONS, r->pid, NULL,
           PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
               PTRACE_O_TRACEVFORK);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)r->pid);
    ssize_t length = readlink(path, r->program, sizeof r->program - 1);
    snprintf(path, sizeof path, "/proc/%d/mem", (int)r->pid);
    r->memory = open(path, O_RDWR | O_CLOEXEC);
    if (length <= 0 || r->memory < 0) {
        fail("cannot look into the program: %m");
    }
    r->program[length] = '\0';
}

static uint64_t entry_address(const struct recorder *r)
{
    char path[64];
    Elf64_auxv_t value;
    uint64_t entry = 0;
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)r->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && read(fd, &value, sizeof value) == (ssize_t)sizeof value) {
        entry = value.a_type == AT_ENTRY ? value.a_un.a_val : entry;
    }
    close(fd);
    return entry;
}

/* Lets the dynamic loader run up to the program's entry. */
static uint64_t run_to_entry(struct recorder *r)
{
    Elf64_Ehdr header;
    int fd = open(r->program, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, &header, sizeof header) != (ssize_t)sizeof header ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) {
        fail("'%s' is not an x86-64 program", r->program);
    }
    close(fd);
    uint64_t entry = entry_address(r);
    r->bias = entry - header.e_entry;
    struct user_regs_struct regs;
    ptrace(PTRACE_GETREGS, r->pid, NULL, &regs);
    if (regs.rip == entry) {
        return entry;
    }
    uint8_t old;
    const uint8_t stop = 0xcc;
    int status;
    if (pread(r->memory, &old, 1, (off_t)entry) != 1 ||
        pwrite(r->memory, &stop, 1, (off_t)entry) != 1 ||
        ptrace(PTRACE_CONT, r->pid, NULL, NULL) != 0 || waitpid(r->pid, &status, 0) != r->pid ||
        !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP ||
        pwrite(r->memory, &old, 1, (off_t)entry) != 1) {
        fail("'%s' does not come to its entry", r->program);
    }
    ptrace(PTRACE_GETREGS, r->pid, NULL, &regs);
    regs.rip = entry;
    ptrace(PTRACE_SETREGS, r->pid, NULL, &regs);
    return entry;
}

static void set_breakpoint(struct recorder *r, struct insn *insn, bool on)
{
    const uint8_t byte = on ? 0xcc : insn->first;
    if (insn->patched != on && pwrite(r->memory, &byte, 1, (off_t)insn->address) == 1) {
        insn->patched = on;
    }
}

/* Lets the program run on: PTRACE_CONT or PTRACE_SINGLESTEP. False when it did not come to the stop
 * it was to come to: it ended, or has a signal to take. */
static bool resume(struct recorder *r, int request)
{
    if (ptrace((enum __ptrace_request)request, r->pid, NULL, (void *)(intptr_t)r->signal) != 0 ||
        waitpid(r->pid, &r->status, 0) != r->pid) {
        fail("lost the program: %m");
    }
    r->signal = 0;
    r->ended = !WIFSTOPPED(r->status);
    if (r->ended) {
        return false;
    }
    if (r->status >> 16 != 0) {
        fail("'%s' starts threads or other programs", r->program);
    }
    r->signal = WSTOPSIG(r->status) == SIGTRAP ? 0 : WSTOPSIG(r->status);
    return r->signal == 0;
}

static uint64_t program_counter(const struct recorder *r)
{
    return (uint64_t)ptrace(PTRACE_PEEKUSER, r->pid, offsetof(struct user_regs_struct, rip), NULL);
}

static void set_program_counter(const struct recorder *r, uint64_t address)
{
    ptrace(PTRACE_POKEUSER, r->pid, offsetof(struct user_regs_struct, rip), address);
}

/* Does what the processor would at a simple branch. */
static void follow(struct recorder *r, struct insn *branch)
{
    struct user_regs_struct regs;
    ptrace(PTRACE_GETREGS, r->pid, NULL, &regs);
    uint64_t next = branch->address + branch->length;
    uint64_t to = next + (uint64_t)(int64_t)branch->displacement;
    switch (branch->kind) {
    case COND:
        to = condition_holds(branch->condition, regs.eflags) ? to : next;
        break;
    case CALL:
        regs.rsp -= 8;
        ptrace(PTRACE_POKEDATA, r->pid, regs.rsp, next);
        break;
    case RETURN:
        to = (uint64_t)ptrace(PTRACE_PEEKDATA, r->pid, regs.rsp, NULL);
        regs.rsp += 8;
        break;
    default:
        break;
    }
    regs.rip = to;
    ptrace(PTRACE_SETREGS, r->pid, NULL, &regs);
    r->pc = to;
    branch_done(r, branch, to);
}

/* Any other branch, and system calls. */
static void step_branch(struct recorder *r, struct insn *branch)
{
    bool patched = branch->patched;
    set_breakpoint(r, branch, false);
    set_program_counter(r, branch->address);
    bool done = resume(r, PTRACE_SINGLESTEP);
    if (r->ended) {
        return;
    }
    set_breakpoint(r, branch, patched);
    r->pc = program_counter(r);
    if (!done) {
        return;
    }
    if (branch->kind != SYSCALL) {
        branch_done(r, branch, r->pc);
        return;
    }
    if (r->pc != branch->address + branch->length) {
        r->filled = 0; /* back from a signal handler */
    }
    if (ptrace(PTRACE_PEEKUSER, r->pid, offsetof(struct user_regs_struct, orig_rax), NULL) ==
        SYS_mmap) {
        read_mappings(r);
    }
}

/* One instruction that is no branch; where a block's end comes into sight, it is noted. */
static void step_plain(struct recorder *r)
{
    if (r->block == 0) {
        r->block = r->pc;
        r->block_steps = 0;
    }
    if (!resume(r, PTRACE_SINGLESTEP)) {
        r->pc = r->ended ? 0 : program_counter(r);
        return;
    }
    count_steps(r, 1);
    r->block_steps++;
    r->pc = program_counter(r);
    struct insn *next = insn_at(r, r->pc);
    uint64_t end = next->kind != OTHER ? r->pc : next->end;
    if (end != 0) {
        struct insn *start = insn_at(r, r->block);
        struct insn *branch = insn_at(r, end);
        set_breakpoint(r, branch, true);
        start->end = branch->patched ? end : 0;
        start->steps = r->block_steps + (next->kind != OTHER ? 0 : next->steps);
        r->block = 0;
    }
}

static void run_block(struct recorder *r, const struct insn *start)
{
    r->block = 0;
    if (!resume(r, PTRACE_CONT)) {
        r->pc = r->ended ? 0 : program_counter(r);
        return;
    }
    r->pc = program_counter(r) - 1;
    if (r->pc != start->end) {
        fail("the block at 0x%" PRIx64 " ended at 0x%" PRIx64 ", not 0x%" PRIx64, start->address,
             r->pc, start->end);
    }
    count_steps(r, start->steps);
}

/* Gives the program its signal: it goes on in a handler, to which no branch led, or where it was.
 */
static void deliver_signal(struct recorder *r)
{
    struct insn *insn = insn_at(r, r->pc);
    bool patched = insn->patched;
    set_breakpoint(r, insn, false);
    resume(r, PTRACE_SINGLESTEP);
    if (!r->ended) {
        set_breakpoint(r, insn, patched);
        r->pc = program_counter(r);
    }
    r->filled = 0;
    r->block = 0;
}

static void run_program(struct recorder *r)
{
    r->pc = run_to_entry(r);
    read_mappings(r);
    while (!r->ended) {
        struct insn *insn = insn_at(r, r->pc);
        if (r->signal != 0) {
            deliver_signal(r);
        } else if (insn->kind != OTHER) {
            r->block = 0;
            count_steps(r, 1);
            if (insn->simple) {
                follow(r, insn);
            } else {
                step_branch(r, insn);
            }
        } else if (insn->end != 0) {
            run_block(r, insn);
        } else {
            step_plain(r);
        }
    }
}

/* The truth. */
static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a;
    const struct edge *y = b;
    if (x->from != y->from) {
        return x->from < y->from ? -1 : 1;
    }
    return (x->to > y->to) - (x->to < y->to);
}

static void write_edge(FILE *file, const struct recorder *r, const struct edge *edge,
                       uint64_t total)
{
    const char *slash = strrchr(r->program, '/');
    fprintf(file, "%s,,0x%" PRIx64 ",0x%" PRIx64 ",%s,%" PRIu64 ",%" PRIu64 ",",
            slash != NULL ? slash + 1 : r->program, edge->from - r->bias, edge->to - r->bias,
            kind_names[edge->kind], edge->count, edge->missed);
    bool shared = edge->kind == COND || edge->kind == FALLTHROUGH || edge->kind == ICALL ||
                  edge->kind == IJUMP;
    if (shared) {
        fprintf(file, "%.6f", (double)edge->count / (double)total);
    }
    fprintf(file, "\n");
}

static bool in_program(const struct recorder *r, uint64_t address)
{
    return address >= r->low && address < r->high;
}

static void write_truth(struct recorder *r, const char *path)
{
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        fail("cannot write '%s': %m", path);
    }
    struct edge *edges = r->edges;
    size_t count = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        if (edges[i].count != 0) {
            edges[count++] = edges[i];
        }
    }
    qsort(edges, count, sizeof *edges, compare_edges);
    fprintf(file, "image,function,from,to,kind,count,mispredicted,probability\n");
    for (size_t i = 0, end; i < count; i = end) {
        uint64_t total = 0;
        for (end = i; end < count && edges[end].from == edges[i].from; end++) {
            total += edges[end].count;
        }
        for (size_t k = i; k < end; k++) {
            if (in_program(r, edges[k].from) && in_program(r, edges[k].to)) {
                write_edge(file, r, &edges[k], total);
            }
        }
    }
    if (fclose(file) != 0) {
        fail("cannot write '%s': %m", path);
    }
}

struct arguments {
    const char *output;
    const char *truth;
    char **program;
    uint64_t period;
    size_t depth;
};

static bool parse(struct arguments *ret, char **argv)
{
    *ret = (struct arguments){.period = 211, .depth = 32};
    for (argv++; argv[0] != NULL && argv[0][0] == '-' && argv[1] != NULL; argv += 2) {
        if (strcmp(argv[0], "-o") == 0) {
            ret->output = argv[1];
        } else if (strcmp(argv[0], "--truth") == 0) {
            ret->truth = argv[1];
        } else if (strcmp(argv[0], "--period") == 0) {
            ret->period = strtoull(argv[1], NULL, 10);
        } else if (strcmp(argv[0], "--depth") == 0) {
            ret->depth = strtoull(argv[1], NULL, 10);
        } else {
            break;
        }
    }
    ret->program = argv;
    return argv[0] != NULL && argv[0][0] != '-' && ret->output != NULL && ret->period != 0 &&
           ret->depth != 0 && ret->depth <= DEPTH_MAX;
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    (void)argc;
    if (!parse(&arguments, argv)) {
        fail("usage: record_steps [--period N] [--depth N] [--truth FILE] -o FILE PROGRAM "
             "[ARGUMENT...]");
    }
    static struct recorder r;
    r.file.period = arguments.period;
    r.depth = arguments.depth;
    r.low = UINT64_MAX;
    r.next_sample = r.file.period;
    start_program(&r, arguments.program);
    r.file.pid = r.pid;
    r.file.time = UINT64_C(1000000000);
    put_comm(&r.file, r.program);
    run_program(&r);
    put_exit(&r.file);
    write_recording(&r.file, arguments.output, arguments.program);
    if (arguments.truth != NULL) {
        write_truth(&r, arguments.truth);
    }
    fprintf(stderr,
            "record_steps: %" PRIu64 " instructions, %" PRIu64 " taken branches, %" PRIu64
            " samples\n",
            r.steps, r.branches, r.file.samples);
    return WIFEXITED(r.status) ? WEXITSTATUS(r.status) : 128 + WTERMSIG(r.status);
}
