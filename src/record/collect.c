/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "record/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/read_at.h"

#define BODY_MAX (sizeof(struct br2_edge_slots))

/* Of a process that is stopped in the middle of a message. */
#define PATIENCE_S 10

static int fail_errno(struct br2pgo_error *err, const char *what)
{
    int errnum = errno;
    br2_fail(err, BR2PGO_IO, "cannot %s: %s", what, strerrordesc_np(errnum));
    if (errnum == EMFILE) {
        br2_hint(err, "each process that runs takes two open files: raise 'ulimit -n'");
    }
    return BR2PGO_IO;
}

static int watch(const struct br2_collector *c, int fd, uint64_t run)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = run};
    return epoll_ctl(c->events, EPOLL_CTL_ADD, fd, &event);
}

/* Two descriptors for each process. */
static void raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int br2_collector_open(struct br2_collector *c, const char *output, bool exact,
                       struct br2pgo_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    uint64_t number = 0;
    *c = (struct br2_collector){.socket = -1, .events = -1, .exact = exact};
    c->streams.fd = -1;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
        return fail_errno(err, "get a random number");
    }
    snprintf(c->name, sizeof c->name, "br2pgo-%d-%016" PRIx64, (int)getpid(), number);
    memcpy(address.sun_path + 1, c->name, strlen(c->name));
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(c->name));
    raise_limit();
    c->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    c->events = epoll_create1(EPOLL_CLOEXEC);
    if (c->socket < 0 || c->events < 0 ||
        bind(c->socket, (const struct sockaddr *)&address, size) != 0 ||
        listen(c->socket, SOMAXCONN) != 0 || watch(c, c->socket, 0) != 0) {
        return fail_errno(err, "listen to recorded programs");
    }
    return br2_streams_open(&c->streams, output, err);
}

static void close_live(struct br2_live *live)
{
    if (live->process >= 0) {
        close(live->process);
    }
    close(live->memory);
}

void br2_collector_done(struct br2_collector *c)
{
    for (size_t i = 0; i < c->count; i++) {
        close_live(&c->live[i]);
    }
    br2_free(c->live);
    br2_exact_edges_done(&c->edges);
    br2_streams_done(&c->streams);
    if (c->socket >= 0) {
        close(c->socket);
    }
    if (c->events >= 0) {
        close(c->events);
    }
    *c = (struct br2_collector){.socket = -1, .events = -1, .streams = {.fd = -1}};
}

void br2_collector_signal(const struct br2_collector *c, int number, bool spare_group)
{
    for (size_t i = 0; i < c->count; i++) {
        if (!spare_group || getpgid(c->live[i].pid) != getpgrp()) {
            syscall(SYS_pidfd_send_signal, c->live[i].process, number, NULL, 0);
        }
    }
}

static const struct br2_area *map_area(int memory, struct br2pgo_error *err)
{
    const struct br2_area *area = br2_area_map(memory, PROT_READ);
    if (area == NULL) {
        fail_errno(err, "read what a program left behind");
        return NULL;
    }
    return area;
}

static void unmap_area(const struct br2_area *area)
{
    munmap((void *)(uintptr_t)area, sizeof *area);
}

static int take_stream(struct br2_collector *c, uint64_t run, uint64_t serial,
                       const struct br2_stream_buffer *stream, struct br2pgo_error *err)
{
    uint32_t size = __atomic_load_n(&stream->size, __ATOMIC_ACQUIRE);
    struct br2_stream_part part = {.run = run,
                                   .serial = serial,
                                   .sent = __atomic_load_n(&stream->sent, __ATOMIC_ACQUIRE),
                                   .bytes = stream->bytes,
                                   .size = size < BR2_AREA_STREAM ? size : BR2_AREA_STREAM};
    return br2_streams_append(&c->streams, &part, err);
}

/* A thread that is, or was, when its process ended. `kept` lives on in the next program. */
static int take_thread(struct br2_collector *c, uint64_t run, const struct br2_area *area,
                       uint32_t slot, uint64_t kept, struct br2pgo_error *err)
{
    const struct br2_thread *thread = &area->threads[slot];
    uint64_t serial = __atomic_load_n(&thread->serial, __ATOMIC_ACQUIRE);
    if (serial == 0) {
        return 0;
    }
    int rc = take_stream(c, run, serial, &area->streams[slot], err);
    if (rc == 0 && serial != kept) {
        uint64_t now = thread->clock + thread->insns;
        uint64_t floor = area->header.time_floor;
        rc = br2_streams_end(&c->streams, run, serial, now > floor ? now : floor, err);
    }
    if (rc == 0 && c->exact) {
        rc = br2_exact_edges_add_thread(&c->edges, area, slot, err);
    }
    c->totals.instructions += thread->insns;
    c->totals.taken += thread->taken + thread->scheduled - thread->until;
    c->totals.mispredicted += thread->missed;
    return rc;
}

static void take_totals(struct br2_collector *c, const struct br2_area_header *header)
{
    struct br2_emulation *totals = &c->totals;
    totals->instructions += header->ended_insns;
    totals->taken += header->ended_taken;
    totals->mispredicted += header->ended_missed;
    /* A thread that runs another program is still one. */
    totals->threads += header->serials - (header->origin == BR2_ORIGIN_EXEC && header->serials > 0);
    totals->lost_blocks += header->lost_blocks;
    totals->lost_threads += header->lost_threads;
    if (header->lost_processes != 0 && totals->lost_program[0] == '\0') {
        memcpy(totals->lost_program, header->lost_program, sizeof totals->lost_program - 1);
    }
    totals->lost_processes += header->lost_processes;
    c->forks += header->forks;
}

/* All that a program left. */
static int take_area(struct br2_collector *c, uint64_t run, const struct br2_area *area,
                     uint64_t kept, struct br2pgo_error *err)
{
    uint32_t count = area->header.threads_used;
    int rc = take_stream(c, run, BR2_STREAM_OF_PROCESS, &area->events, err);
    for (uint32_t i = 0; rc == 0 && i < count && i < BR2_AREA_THREADS; i++) {
        rc = take_thread(c, run, area, i, kept, err);
    }
    if (rc == 0 && c->exact) {
        rc = br2_exact_edges_add_thread(&c->edges, area, BR2_AREA_THREADS, err);
    }
    take_totals(c, &area->header);
    return rc;
}

/* The process at `index` of the table ended, or runs another program. */
static int end_live(struct br2_collector *c, size_t index, uint64_t kept, struct br2pgo_error *err)
{
    struct br2_live live = c->live[index];
    const struct br2_area *area = map_area(live.memory, err);
    int rc = BR2PGO_IO;
    if (area != NULL) {
        rc = take_area(c, live.run, area, kept, err);
        unmap_area(area);
    }
    close_live(&live);
    c->live[index] = c->live[--c->count];
    return rc;
}

static size_t find_live(const struct br2_collector *c, uint64_t run)
{
    size_t i = 0;
    while (i < c->count && c->live[i].run != run) {
        i++;
    }
    return i;
}

/* Whether the file is an area, and stays as long as one. */
static bool is_area(int memory)
{
    struct stat status;
    int seals = fcntl(memory, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(memory, &status) == 0 &&
           status.st_size == (off_t)sizeof(struct br2_area);
}

/* Takes over `memory`. */
static int add_live(struct br2_collector *c, pid_t pid, int memory, uint64_t *ret_run,
                    struct br2pgo_error *err)
{
    struct br2_area_header *header = br2_alloc(sizeof *header);
    struct br2_live live = {.pid = pid, .memory = memory};
    int rc = header == NULL ? br2_fail_memory(err) : 0;
    if (rc == 0 && br2_read_at(memory, header, sizeof *header, 0) != (ssize_t)sizeof *header) {
        rc = fail_errno(err, "read what a program hands over");
    }
    if (rc == 0) {
        rc = br2_streams_add_run(&c->streams, header, &live.run, err);
    }
    if (rc == 0 && !br2_grow(&c->live, &c->capacity, c->count, sizeof *c->live)) {
        rc = br2_fail_memory(err);
    }
    if (rc == 0 && header->origin == BR2_ORIGIN_EXEC) {
        size_t old = find_live(c, header->parent);
        rc = old < c->count ? end_live(c, old, header->parent_thread, err) : 0;
    }
    c->forked += rc == 0 && header->origin == BR2_ORIGIN_FORK;
    c->totals.processes += rc == 0 && header->origin != BR2_ORIGIN_EXEC;
    br2_free(header);
    if (rc != 0) {
        close(memory);
        return rc;
    }
    *ret_run = live.run;
    live.process = (int)syscall(SYS_pidfd_open, pid, 0);
    bool is_gone = live.process < 0 && errno == ESRCH;
    if (!is_gone && (live.process < 0 || watch(c, live.process, live.run) != 0)) {
        rc = fail_errno(err, "watch a recorded process");
    }
    c->live[c->count++] = live;
    return is_gone ? end_live(c, c->count - 1, 0, err) : rc;
}

/* The message's head, and the file with it. */
static bool receive_head(int fd, struct br2_message *message, int *ret_file)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {.iov_base = message, .iov_len = sizeof *message};
    struct msghdr head = {.msg_iov = &part,
                          .msg_iovlen = 1,
                          .msg_control = control.room,
                          .msg_controllen = sizeof control.room};
    ssize_t size = recvmsg(fd, &head, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    *ret_file = -1;
    for (struct cmsghdr *at = size > 0 ? CMSG_FIRSTHDR(&head) : NULL; at != NULL;
         at = CMSG_NXTHDR(&head, at)) {
        if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_RIGHTS &&
            at->cmsg_len == CMSG_LEN(sizeof(int))) {
            memcpy(ret_file, CMSG_DATA(at), sizeof(int));
        }
    }
    return size == (ssize_t)sizeof *message && message->magic == BR2_AREA_MAGIC &&
           message->size <= BODY_MAX;
}

static int take_edges(struct br2_collector *c, const struct br2_message *message,
                      const uint8_t *body, struct br2pgo_error *err)
{
    size_t index = find_live(c, message->area);
    const struct br2_area *area = index < c->count ? map_area(c->live[index].memory, err) : NULL;
    if (area == NULL) {
        return index < c->count ? BR2PGO_IO : 0;
    }
    int rc = br2_exact_edges_add(&c->edges, area, (const void *)body,
                                 message->size / sizeof(struct br2_indirect_edge), err);
    unmap_area(area);
    return rc;
}

static int take_message(struct br2_collector *c, const struct br2_message *message,
                        const uint8_t *body, struct br2pgo_error *err)
{
    struct br2_stream_part part = {.run = message->area,
                                   .serial = message->serial,
                                   .sent = message->sent,
                                   .bytes = body,
                                   .size = message->size};
    switch (message->type) {
    case BR2_MESSAGE_STREAM:
        return br2_streams_append(&c->streams, &part, err);
    case BR2_MESSAGE_EDGES:
        return take_edges(c, message, body, err);
    default:
        return 0;
    }
}

/* Reads the message and answers. What is no message, or of somebody else, is no error. */
static int serve(struct br2_collector *c, int fd, pid_t pid, struct br2pgo_error *err)
{
    struct br2_message message;
    int file;
    uint64_t answer = 1;
    int rc = 0;
    if (!receive_head(fd, &message, &file)) {
        if (file >= 0) {
            close(file);
        }
        return 0;
    }
    if (file >= 0 && (message.type != BR2_MESSAGE_AREA || !is_area(file))) {
        close(file);
        return 0;
    }
    if (message.type == BR2_MESSAGE_AREA) {
        rc = file >= 0 ? add_live(c, pid, file, &answer, err) : 0;
    } else {
        uint8_t *body = br2_alloc(message.size + 1);
        if (body == NULL) {
            return br2_fail_memory(err);
        }
        if (recv(fd, body, message.size, MSG_WAITALL) == (ssize_t)message.size) {
            rc = take_message(c, &message, body, err);
        }
        br2_free(body);
    }
    if (rc == 0) {
        send(fd, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    return rc;
}

static int accept_one(struct br2_collector *c, struct br2pgo_error *err)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    struct timeval patience = {.tv_sec = PATIENCE_S};
    int fd = accept4(c->socket, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) {
        return errno == EMFILE || errno == ENFILE ? fail_errno(err, "listen to recorded programs")
                                                  : 0;
    }
    int rc = 0;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
        (peer.uid == getuid() || getuid() == 0) &&
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0) {
        rc = serve(c, fd, peer.pid, err);
    }
    close(fd);
    return rc;
}

int br2_collector_step(struct br2_collector *c, int timeout_ms, struct br2pgo_error *err)
{
    struct epoll_event events[16];
    int count = epoll_wait(c->events, events, 16, timeout_ms);
    int rc = 0;
    if (count < 0) {
        return errno == EINTR ? 0 : fail_errno(err, "wait for recorded programs");
    }
    /* Who ended last: what it sent before is taken first. */
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; rc == 0 && i < count; i++) {
            uint64_t run = events[i].data.u64;
            if (pass == 0 && run == 0) {
                rc = accept_one(c, err);
            } else if (pass == 1 && run != 0) {
                size_t index = find_live(c, run);
                rc = index < c->count ? end_live(c, index, 0, err) : 0;
            }
        }
    }
    return rc;
}

int br2_collector_finish(struct br2_collector *c, struct br2pgo_error *err)
{
    int rc = 0;
    while (rc == 0 && c->count != 0) {
        rc = end_live(c, 0, 0, err);
    }
    return rc;
}
