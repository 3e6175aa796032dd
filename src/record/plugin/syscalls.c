/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* System calls that start or end threads and processes, change what lies where, or lead elsewhere.
 */
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record/plugin/plugin.h"

struct numbers {
    int clone, fork, vfork, execve, execveat, exit, mmap, munmap, mremap;
    int sigaction, sigreturn, prctl;
};

/* The kernel's arch/x86/entry/syscalls/syscall_64.tbl; include/uapi/asm-generic/unistd.h, which
 * AArch64 and RISC-V share: those have clone alone. */
static const struct numbers x86_numbers = {56, 57, 58, 59, 322, 60, 9, 11, 25, 13, 15, 157};
static const struct numbers generic_numbers = {220, -1,  -1,  221, 281, 93,
                                               222, 215, 216, 134, 139, 167};

/* The system call that this thread is in. */
static _Thread_local struct {
    struct br2_thread *thread;
    uint64_t a1, a2, a3, a4;
    bool began; /* the thread that it starts */
    /* As it was when it went to start a process: the new one shares memory with the old one's
     * thread, which may have gone on before the new one comes to look. */
    struct br2_thread starting;
} current;

struct br2_thread *br2_thread_self(void)
{
    return current.thread;
}

static const struct numbers *numbers(void)
{
    return br2_plugin.machine == BR2_MACHINE_X86 ? &x86_numbers : &generic_numbers;
}

bool br2_read_memory(uint64_t address, void *to, size_t size)
{
    struct iovec here = {.iov_base = to, .iov_len = size};
    struct iovec there = {.iov_base = (void *)(uintptr_t)(address + br2_plugin.guest_base),
                          .iov_len = size};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size;
}

bool br2_read_string(uint64_t address, char *to, size_t size)
{
    size_t done = 0;
    while (done < size) {
        /* Not across a page, behind which there may be nothing. */
        size_t part = 4096 - ((address + done) & 4095);
        part = part < size - done ? part : size - done;
        if (!br2_read_memory(address + done, to + done, part)) {
            return false;
        }
        if (memchr(to + done, '\0', part) != NULL) {
            return true;
        }
        done += part;
    }
    return false;
}

/* Called by the thread that starts the new one (QEMU 7.2), or by the new one itself (QEMU 9). One
 * that nobody says he started is taken for a child of the program's first thread. */
void br2_at_vcpu(qemu_plugin_id_t id, unsigned int vcpu)
{
    static struct br2_thread *first;
    (void)id;
    if (vcpu >= BR2_VCPUS) {
        br2_plugin.area->header.lost_threads++;
        return;
    }
    if (first == NULL) {
        first = br2_plugin.threads[vcpu] = br2_plugin.first;
        return;
    }
    struct br2_thread *thread =
        current.thread != NULL ? br2_thread_new(current.thread) : br2_newcomer_take();
    current.began = current.thread != NULL;
    thread = thread != NULL || current.began ? thread : br2_thread_new(first);
    br2_plugin.threads[vcpu] = thread != NULL ? thread : br2_thread_spare();
}

/* As the emulator does: vfork is fork. */
static bool starts_process(const struct numbers *n, int64_t number, uint64_t flags)
{
    if (number == n->clone) {
        return (flags & CLONE_VM) == 0 || (flags & CLONE_VFORK) != 0;
    }
    return number == n->fork || number == n->vfork;
}

static void put_name(struct br2_thread *thread, const char *name)
{
    char text[16] = {0};
    memcpy(text, name, strnlen(name, sizeof text - 1));
    struct br2_stream_head head = {
        .type = BR2_STREAM_NAME, .size = sizeof head + sizeof text, .time = br2_thread_now(thread)};
    if (thread->serial != 0) {
        br2_stream_put(thread->stream, thread->serial, &head, text);
    }
}

static void name_thread(struct br2_thread *thread, uint64_t address)
{
    char name[17];
    memset(name, 0, sizeof name);
    if (br2_read_string(address, name, sizeof name - 1) || name[0] != '\0') {
        put_name(thread, name);
    }
}

static void note_handler(uint64_t action)
{
    uint64_t handler;
    if (action != 0 && br2_read_memory(action, &handler, sizeof handler) && handler > 1) {
        br2_add_handler(handler);
    }
}

/* NOLINTNEXTLINE(readability-function-size): as many parameters as the emulator gives */
void br2_at_syscall(qemu_plugin_id_t id, unsigned int vcpu, int64_t number, uint64_t a1,
                    uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7,
                    uint64_t a8)
{
    const struct numbers *n = numbers();
    struct br2_thread *thread = br2_plugin.threads[vcpu];
    (void)id, (void)a5, (void)a6, (void)a7, (void)a8;
    current.thread = thread;
    current.a1 = a1;
    current.a2 = a2;
    current.a3 = a3;
    current.a4 = a4;
    current.began = false;
    if (starts_process(n, number, a1)) {
        current.starting = *thread;
    } else if (number == n->execve) {
        br2_exec(thread, a1, a2, a3);
    } else if (number == n->execveat) {
        struct br2_execveat call = {.path = a2, .arguments = a3, .environment = a4};
        br2_execveat(thread, (int)a1, &call);
    } else if (number == n->sigaction) {
        note_handler(a2);
    } else if (number == n->sigreturn) {
        thread->before = thread->interrupted_count != 0
                             ? thread->interrupted[--thread->interrupted_count % BR2_SIGNAL_STACK]
                             : br2_no_block();
    } else if (number == n->prctl && a1 == PR_SET_NAME) {
        name_thread(thread, a2);
    } else if (number == n->exit && thread->serial != 0) {
        br2_thread_end(thread);
    }
}

static void forked(unsigned int vcpu)
{
    br2_threads_unlock_forked();
    br2_mapping_forked();
    br2_newcomers_forget();
    struct br2_thread *child = br2_area_fork(&current.starting);
    memset(br2_plugin.threads, 0, sizeof br2_plugin.threads);
    br2_plugin.threads[vcpu] = child != NULL ? child : br2_thread_spare();
    current.thread = br2_plugin.threads[vcpu];
}

static void mapped(const struct br2_thread *thread, uint64_t address)
{
    br2_mapping_forget(address, current.a2);
    if ((current.a3 & PROT_EXEC) != 0 && (current.a4 & MAP_ANONYMOUS) == 0) {
        br2_mapping_file(address, br2_thread_now(thread));
    }
}

void br2_at_syscall_return(qemu_plugin_id_t id, unsigned int vcpu, int64_t number, int64_t result)
{
    const struct numbers *n = numbers();
    struct br2_thread *thread = br2_plugin.threads[vcpu];
    (void)id;
    if (result < 0 && result >= -4095) {
        return;
    }
    if (starts_process(n, number, current.a1)) {
        if (result == 0) {
            forked(vcpu);
        } else {
            thread->children++;
            __atomic_add_fetch(&br2_plugin.area->header.forks, 1, __ATOMIC_RELAXED);
        }
    } else if (number == n->clone && !current.began) {
        struct br2_thread *child = br2_thread_new(thread);
        br2_newcomer_leave((int)result, child != NULL ? child : br2_thread_spare());
    } else if (number == n->mmap) {
        mapped(thread, (uint64_t)result);
    } else if (number == n->munmap) {
        br2_mapping_forget(current.a1, current.a2);
    } else if (number == n->mremap) {
        br2_mapping_forget(current.a1, current.a2);
        br2_mapping_forget((uint64_t)result, current.a3);
    }
}
