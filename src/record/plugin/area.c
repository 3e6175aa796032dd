/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The area of this process, and how the recorder gets it. No descriptor stays open: the program
 * may close, or count on, any of them. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "record/plugin/plugin.h"

static int connect_recorder(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(br2_plugin.socket);
    memcpy(address.sun_path + 1, br2_plugin.socket, length); /* abstract: behind a NUL */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
    int status = -1;
    if (fd >= 0) {
        do {
            status = connect(fd, (const struct sockaddr *)&address, size);
        } while (status != 0 && (errno == EINTR || errno == EAGAIN));
    }
    if (fd >= 0 && status != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* The first bytes, with a descriptor beside them. */
static ssize_t send_file(int fd, const void *bytes, size_t size, int file)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.room = {0}};
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(head), &file, sizeof file);
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

static bool send_all(int fd, const void *bytes, size_t size, int file)
{
    const char *at = bytes;
    while (size != 0) {
        ssize_t done = file >= 0 ? send_file(fd, at, size, file) : send(fd, at, size, MSG_NOSIGNAL);
        if (done < 0 && errno != EINTR) {
            return false;
        }
        if (done > 0) {
            at += done;
            size -= (size_t)done;
            file = -1;
        }
    }
    return true;
}

uint64_t br2_area_send(struct br2_message *message, const void *body, int file)
{
    int error = errno;
    uint64_t answer = 0;
    int fd = connect_recorder();
    message->magic = BR2_AREA_MAGIC;
    if (fd >= 0) {
        if (send_all(fd, message, sizeof *message, file) && send_all(fd, body, message->size, -1)) {
            ssize_t size;
            do {
                size = recv(fd, &answer, sizeof answer, MSG_WAITALL);
            } while (size < 0 && errno == EINTR);
            answer = size == (ssize_t)sizeof answer ? answer : 0;
        }
        close(fd);
    }
    errno = error;
    return answer;
}

/* A new file in memory, mapped; `ret_file` is to be closed. NULL on failure. */
static struct br2_area *map_new(int *ret_file)
{
    int file = memfd_create("br2pgo", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) {
        return NULL;
    }
    struct br2_area *area = NULL;
    if (ftruncate(file, sizeof(struct br2_area)) == 0 &&
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) {
        area = br2_area_map(file, PROT_READ | PROT_WRITE);
    }
    if (area == NULL) {
        close(file);
        return NULL;
    }
    madvise(area, sizeof(struct br2_area), MADV_DONTDUMP);
    *ret_file = file;
    return area;
}

static bool hand_over(struct br2_area *area, int file)
{
    struct br2_message message = {.type = BR2_MESSAGE_AREA};
    area->header.magic = BR2_AREA_MAGIC;
    area->header.number = br2_area_send(&message, NULL, file);
    close(file);
    return area->header.number != 0;
}

bool br2_area_make(const struct br2_area_header *header)
{
    int file;
    struct br2_area *area = map_new(&file);
    if (area == NULL) {
        return false;
    }
    area->header = *header;
    area->header.block_count = 1;
    area->header.file_count = 1;
    br2_plugin.area = area;
    return hand_over(area, file);
}

/* What a forked process keeps: the code and where it lies, not what was counted. */
static void copy_common(struct br2_area *to, const struct br2_area *from)
{
    to->header.block_count = from->header.block_count;
    to->header.file_count = from->header.file_count;
    to->header.time_floor = from->header.time_floor;
    memcpy(to->header.path, from->header.path, sizeof to->header.path);
    memcpy(to->blocks, from->blocks, from->header.block_count * sizeof *from->blocks);
    memcpy(to->files, from->files, from->header.file_count * sizeof *from->files);
}

/* Where there is no recorder, or no memory to share: nobody will read it. */
static struct br2_area *map_private(void)
{
    return br2_area_map(-1, PROT_READ | PROT_WRITE);
}

struct br2_thread *br2_area_fork(const struct br2_thread *parent)
{
    const struct br2_area *old = br2_plugin.area;
    const struct br2_thread kept = *parent;
    int file = -1;
    uint64_t start = br2_thread_now(&kept) + 1;
    struct br2_area *area = map_new(&file);
    area = area != NULL ? area : map_private();
    if (area == NULL) {
        return NULL;
    }
    copy_common(area, old);
    area->header.origin = BR2_ORIGIN_FORK;
    area->header.parent = old->header.number;
    area->header.parent_thread = kept.serial;
    area->header.ordinal = kept.children;
    area->header.start = start;
    /* To where the old one is: translated code holds addresses in it. */
    if (mremap(area, sizeof *area, sizeof *area, MREMAP_MAYMOVE | MREMAP_FIXED, br2_plugin.area) ==
        MAP_FAILED) {
        return NULL;
    }
    if (file >= 0) {
        hand_over(br2_plugin.area, file);
    }
    struct br2_thread *thread = br2_thread_first(br2_child_seed(kept.seed, kept.children), start);
    if (thread == NULL) {
        return NULL;
    }
    thread->before = kept.before;
    memcpy(thread->returns, kept.returns, sizeof kept.returns);
    thread->return_top = kept.return_top;
    memcpy(thread->interrupted, kept.interrupted, sizeof kept.interrupted);
    thread->interrupted_count = kept.interrupted_count;
    return thread;
}
