/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/spool.h"

/* Bytes that are enough to tell what a file is. */
#define HEAD_BYTES 65536

static ssize_t read_retrying(int fd, void *bytes, size_t size)
{
    ssize_t got;
    do {
        got = read(fd, bytes, size);
    } while (got < 0 && errno == EINTR);
    return got;
}

void br2_read_beginning(int fd, char *text, size_t size)
{
    char rest[512];
    size_t used = 0;
    ssize_t got;
    do {
        bool full = used == size - 1;
        got = read_retrying(fd, full ? rest : text + used, full ? sizeof rest : size - 1 - used);
        used += got > 0 && !full ? (size_t)got : 0;
    } while (got > 0);
    text[used] = '\0';
}

/* Where a file is opened from, and how. */
struct opening {
    const char *path;
    br2_file_accept accept;
    const char *folder; /* for the spool */
};

static int read_into(struct br2_spool *spool, int fd, const struct opening *opening,
                     struct br2pgo_error *err)
{
    uint8_t *head = br2_alloc(HEAD_BYTES);
    if (head == NULL) {
        return br2_fail_memory(err);
    }
    size_t used = 0; /* of `head`, not written yet */
    bool judged = opening->accept == NULL;
    int rc = 0;
    for (bool ended = false; rc == 0 && !ended;) {
        ssize_t got = read_retrying(fd, head + used, HEAD_BYTES - used);
        if (got < 0) {
            rc = br2_fail_io(err, "read", opening->path, errno);
            break;
        }
        used += (size_t)got;
        ended = got == 0;
        if (!judged && (ended || used == HEAD_BYTES)) {
            judged = true;
            ended = ended || !opening->accept(head, used);
        }
        if (ended || used == HEAD_BYTES) {
            rc = br2_spool_write(spool, head, used, err);
            used = 0;
        }
    }
    br2_free(head);
    return rc;
}

/* For what cannot be mapped: pipes, /proc files. What is not accepted by its first bytes is not
 * read further: it may have no end. */
static int read_all(struct br2_file *file, int fd, const struct opening *opening,
                    struct br2pgo_error *err)
{
    struct br2_spool spool;
    br2_spool_begin(&spool, opening->folder);
    int rc = read_into(&spool, fd, opening, err);
    rc = rc == 0 ? br2_spool_finish(&spool, file, err) : rc;
    br2_spool_done(&spool);
    if (rc != 0) {
        *file = (struct br2_file){0};
    }
    return rc;
}

static int map_all(struct br2_file *file, int fd, off_t size, const struct opening *opening,
                   struct br2pgo_error *err)
{
    if ((uintmax_t)size > SIZE_MAX) {
        return br2_fail(err, BR2PGO_LIMIT, "'%s' is too large for this machine's address space",
                        opening->path);
    }
    void *bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        return read_all(file, fd, opening, err);
    }
    file->bytes = bytes;
    file->size = (size_t)size;
    file->mapped = true;
    return 0;
}

static int read_opened(struct br2_file *file, int fd, const struct opening *opening,
                       struct br2pgo_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return br2_fail_io(err, "examine", opening->path, errno);
    }
    if (S_ISDIR(st.st_mode)) {
        return br2_fail_io(err, "read", opening->path, EISDIR);
    }
    /* Somebody may have read the beginning of standard input. */
    if (S_ISREG(st.st_mode) && st.st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0) {
        return map_all(file, fd, st.st_size, opening, err);
    }
    return read_all(file, fd, opening, err);
}

int br2_file_open(struct br2_file *file, const char *path, br2_file_accept accept,
                  struct br2pgo_error *err)
{
    *file = (struct br2_file){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return br2_fail_io(err, "open", path, errno);
    }
    struct opening opening = {.path = path, .accept = accept};
    int rc = read_opened(file, fd, &opening, err);
    close(fd);
    return rc;
}

int br2_file_open_stream(struct br2_file *file, const char *path, br2_file_accept accept,
                         const char *folder, struct br2pgo_error *err)
{
    *file = (struct br2_file){0};
    bool standard_input = strcmp(path, "-") == 0;
    int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return br2_fail_io(err, "open", path, errno);
    }
    struct opening opening = {.path = path, .accept = accept, .folder = folder};
    int rc = read_opened(file, fd, &opening, err);
    if (!standard_input) {
        close(fd);
    }
    return rc;
}

void br2_file_close(struct br2_file *file)
{
    if (file->mapped) {
        munmap((void *)(uintptr_t)file->bytes, file->size);
    } else {
        br2_free((void *)(uintptr_t)file->bytes);
    }
    *file = (struct br2_file){0};
}

/* The temporary files that are there, for br2_output_remove_all, which may come at any time. */
#define TEMPORARIES 1024
static const char *temporaries[TEMPORARIES];

/* Puts `to` where `from` is. */
static void exchange_temporary(const char *from, const char *to)
{
    for (size_t i = 0; i < TEMPORARIES; i++) {
        const char *expected = from;
        if (__atomic_compare_exchange_n(&temporaries[i], &expected, to, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
            return;
        }
    }
}

void br2_output_remove_all(void)
{
    for (size_t i = 0; i < TEMPORARIES; i++) {
        const char *name = __atomic_load_n(&temporaries[i], __ATOMIC_SEQ_CST);
        if (name != NULL) {
            unlink(name);
        }
    }
}

/* The temporary file is gone, or has another name. */
static void forget_temporary(struct br2_output *out)
{
    if (out->temporary != NULL) {
        exchange_temporary(out->temporary, NULL);
    }
    br2_free(out->temporary);
    out->temporary = NULL;
}

static void output_clear(struct br2_output *out)
{
    forget_temporary(out);
    br2_free(out->path);
    br2_free(out->old);
    *out = (struct br2_output){.fd = -1};
}

const char *br2_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

bool br2_file_is_regular(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* A new file in the output's folder, with the permissions any new file gets. Its name does not grow
 * with the output's, which may be as long as a name can be. */
static int create_beside(struct br2_output *out)
{
    const char *slash = strrchr(out->path, '/');
    int folder = slash != NULL ? (int)(slash + 1 - out->path) : 0;
    for (unsigned attempt = 0;; attempt++) {
        char *name =
            br2_format("%.*s.br2pgo-%ld-%u.tmp", folder, out->path, (long)getpid(), attempt);
        if (name == NULL) {
            return ENOMEM;
        }
        out->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (out->fd >= 0) {
            out->temporary = name;
            exchange_temporary(NULL, name);
            return 0;
        }
        int errnum = errno;
        br2_free(name);
        if (errnum != EEXIST || attempt == 1000) {
            return errnum;
        }
    }
}

/* `old` is the file that will be replaced, or NULL: its permissions are kept, but not that it runs
 * as its owner. */
static int open_temporary(struct br2_output *out, const struct stat *old, struct br2pgo_error *err)
{
    int errnum = create_beside(out);
    if (errnum == ENOMEM) {
        return br2_fail_memory(err);
    }
    if (errnum != 0) {
        br2_fail_io(err, "create", out->path, errnum);
        if (errnum == ENOENT || errnum == EACCES || errnum == EROFS || errnum == ENOTDIR) {
            br2_hint(err, "an output is first written beside its final place: its folder must "
                          "exist and be writable");
        }
        return BR2PGO_IO;
    }
    if (old != NULL && fchmod(out->fd, old->st_mode & 0777) != 0) {
        return br2_fail_io(err, "set permissions of", out->path, errno);
    }
    return 0;
}

static int open_target(struct br2_output *out, struct br2pgo_error *err)
{
    if (strcmp(out->path, "-") == 0) {
        out->fd = STDOUT_FILENO;
        return 0;
    }
    struct stat st;
    if (stat(out->path, &st) != 0) {
        if (lstat(out->path, &st) == 0) {
            br2_fail(err, BR2PGO_IO, "cannot write '%s': it is a link to nothing", out->path);
            br2_hint(err, "remove the link, or make what it points to");
            return BR2PGO_IO;
        }
        out->is_new = true;
        return open_temporary(out, NULL, err);
    }
    if (S_ISDIR(st.st_mode)) {
        br2_fail_io(err, "write", out->path, EISDIR);
        br2_hint(err, "give the name of a file in it");
        return BR2PGO_IO;
    }
    if (S_ISREG(st.st_mode)) {
        /* Replace what a link points to, not the link. */
        char place[PATH_MAX];
        if (realpath(out->path, place) == NULL) {
            return br2_fail_io(err, "resolve", out->path, errno);
        }
        char *real = br2_strdup(place);
        if (real == NULL) {
            return br2_fail_memory(err);
        }
        br2_free(out->path);
        out->path = real;
        return open_temporary(out, &st, err);
    }
    out->fd = open(out->path, O_WRONLY | O_CLOEXEC);
    return out->fd >= 0 ? 0 : br2_fail_io(err, "open", out->path, errno);
}

bool br2_output_place(const char *path, char place[PATH_MAX])
{
    struct stat st;
    if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode))) {
        return false;
    }
    if (realpath(path, place) != NULL) {
        return true;
    }
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    int length = slash != NULL ? (int)(slash + 1 - path) : 1;
    int size = snprintf(folder, sizeof folder, "%.*s", length, slash != NULL ? path : ".");
    if (size < 0 || size >= PATH_MAX || realpath(folder, place) == NULL) {
        return false;
    }
    size_t used = strcmp(place, "/") != 0 ? strlen(place) : 0;
    size = snprintf(place + used, PATH_MAX - used, "/%s", name);
    return size >= 0 && (size_t)size < PATH_MAX - used;
}

int br2_output_open(struct br2_output *out, const char *path, struct br2pgo_error *err)
{
    *out = (struct br2_output){.fd = -1};
    out->path = br2_strdup(path);
    int rc = out->path != NULL ? open_target(out, err) : br2_fail_memory(err);
    if (rc != 0) {
        br2_output_abandon(out);
    }
    return rc;
}

int br2_output_write(struct br2_output *out, const void *bytes, size_t size,
                     struct br2pgo_error *err)
{
    const uint8_t *at = bytes;
    while (size != 0) {
        ssize_t put = write(out->fd, at, size);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return br2_fail_io(err, "write", out->path, errno);
        }
        at += put;
        size -= (size_t)put;
    }
    return 0;
}

int br2_output_flush(struct br2_output *out, struct br2pgo_error *err)
{
    int rc = 0;
    if (out->fd < 0) {
        return 0;
    }
    if (out->temporary != NULL && fsync(out->fd) != 0 && errno != EINVAL) {
        rc = br2_fail_io(err, "write", out->path, errno);
    }
    if (out->fd != STDOUT_FILENO && close(out->fd) != 0 && rc == 0) {
        rc = br2_fail_io(err, "write", out->path, errno);
    }
    out->fd = -1;
    return rc;
}

/* Whether a second name of the file could be removed again: not, where it is somebody else's, in a
 * folder like /tmp. */
static bool may_have_link(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        return false;
    }
    if (st.st_uid == geteuid() || geteuid() == 0) {
        return true;
    }
    const char *slash = strrchr(path, '/');
    char *folder = br2_format("%.*s.", slash != NULL ? (int)(slash + 1 - path) : 0, path);
    bool sticky = folder == NULL || stat(folder, &st) != 0 || (st.st_mode & S_ISVTX) != 0;
    br2_free(folder);
    return !sticky;
}

void br2_output_keep_old(struct br2_output *out)
{
    if (out->temporary == NULL || out->is_new || !may_have_link(out->path)) {
        return;
    }
    /* Beside the temporary file, whose name nobody else uses. */
    out->old = br2_format("%s.old", out->temporary);
    if (out->old != NULL && link(out->path, out->old) != 0) {
        br2_free(out->old);
        out->old = NULL;
    }
}

int br2_output_replace(struct br2_output *out, struct br2pgo_error *err)
{
    int rc = br2_output_flush(out, err);
    if (rc == 0 && out->temporary != NULL) {
        if (rename(out->temporary, out->path) != 0) {
            int errnum = errno;
            br2_fail_io(err, "replace", out->path, errnum);
            if (errnum == EPERM || errnum == EACCES) {
                br2_hint(err, "the file is somebody else's in a folder like /tmp, or may not be "
                              "changed by anybody: give the output another name");
            }
            return BR2PGO_IO;
        }
        forget_temporary(out);
    }
    return rc;
}

int br2_output_keep_part(struct br2_output *out, char **ret, struct br2pgo_error *err)
{
    char *part = br2_format("%s.partial", out->path);
    *ret = NULL;
    if (part == NULL) {
        return br2_fail_memory(err);
    }
    if (rename(out->temporary, part) != 0) {
        int rc = br2_fail_io(err, "replace", part, errno);
        br2_free(part);
        return rc;
    }
    forget_temporary(out);
    *ret = part;
    return 0;
}

void br2_output_put_back(struct br2_output *out)
{
    if (out->old != NULL && rename(out->old, out->path) == 0) {
        br2_free(out->old);
        out->old = NULL;
    } else if (out->is_new) {
        unlink(out->path);
    }
}

int br2_output_commit(struct br2_output *out, struct br2pgo_error *err)
{
    int rc = br2_output_replace(out, err);
    br2_output_abandon(out);
    return rc;
}

void br2_output_abandon(struct br2_output *out)
{
    if (out->fd >= 0 && out->fd != STDOUT_FILENO) {
        close(out->fd);
    }
    if (out->temporary != NULL) {
        unlink(out->temporary);
    }
    if (out->old != NULL) {
        unlink(out->old);
    }
    output_clear(out);
}
