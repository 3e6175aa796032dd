/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"

void br2_spool_begin(struct br2_spool *spool, const char *folder)
{
    *spool = (struct br2_spool){.folder = folder, .fd = -1};
}

/* For file systems that have no files without a name: one whose name is taken away at once. */
static int make_and_unlink(const char *folder)
{
    char *path = br2_format("%s/.br2pgo-XXXXXX", folder);
    if (path == NULL) {
        errno = ENOMEM;
        return -1;
    }
    int fd = mkostemp(path, O_CLOEXEC);
    int errnum = errno;
    if (fd >= 0) {
        unlink(path);
    }
    br2_free(path);
    errno = errnum;
    return fd;
}

static int open_in(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    bool unknown = fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL);
    return unknown ? make_and_unlink(folder) : fd;
}

static int fail_write(int errnum, struct br2pgo_error *err)
{
    char reason[128];
    br2_fail(err, BR2PGO_IO, "cannot keep what is read from a stream: %s",
             strerror_r(errnum, reason, sizeof reason));
    br2_hint(err, "it is read twice and kept on the disk meanwhile: set TMPDIR to a folder with "
                  "room for it, or give a file that is neither piped nor compressed");
    return BR2PGO_IO;
}

static int open_file(struct br2_spool *spool, struct br2pgo_error *err)
{
    const char *const folders[] = {spool->folder, secure_getenv("TMPDIR"), "/var/tmp", "/tmp"};
    int errnum = ENOENT;
    for (size_t i = 0; spool->fd < 0 && i < sizeof folders / sizeof *folders; i++) {
        if (folders[i] != NULL && folders[i][0] != '\0') {
            spool->fd = open_in(folders[i]);
            errnum = errno;
        }
    }
    return spool->fd >= 0 ? 0 : fail_write(errnum, err);
}

static int write_file(const struct br2_spool *spool, const uint8_t *bytes, size_t size,
                      struct br2pgo_error *err)
{
    while (size != 0) {
        ssize_t put = write(spool->fd, bytes, size);
        if (put < 0 && errno != EINTR) {
            return fail_write(errno, err);
        }
        if (put > 0) {
            bytes += put;
            size -= (size_t)put;
        }
    }
    return 0;
}

/* Moves what is in memory to a file. */
static int spill(struct br2_spool *spool, struct br2pgo_error *err)
{
    int rc = open_file(spool, err);
    if (rc == 0) {
        rc = write_file(spool, spool->bytes, (size_t)spool->size, err);
    }
    if (rc == 0) {
        br2_free(spool->bytes);
        spool->bytes = NULL;
    }
    return rc;
}

static int keep(struct br2_spool *spool, const void *bytes, size_t size, struct br2pgo_error *err)
{
    size_t used = (size_t)spool->size;
    while (spool->capacity - used < size) {
        size_t wanted = spool->capacity != 0 ? spool->capacity * 2 : 65536;
        uint8_t *grown = br2_realloc_array(spool->bytes, wanted, 1);
        if (grown == NULL) {
            return br2_fail_memory(err);
        }
        spool->bytes = grown;
        spool->capacity = wanted;
    }
    memcpy(spool->bytes + used, bytes, size);
    return 0;
}

int br2_spool_write(struct br2_spool *spool, const void *bytes, size_t size,
                    struct br2pgo_error *err)
{
    int rc = 0;
    if (size == 0) {
        return 0;
    }
    if (spool->fd < 0 && size <= BR2_SPOOL_MEMORY - (size_t)spool->size) {
        rc = keep(spool, bytes, size, err);
    } else {
        rc = spool->fd < 0 ? spill(spool, err) : 0;
        rc = rc == 0 ? write_file(spool, bytes, size, err) : rc;
    }
    spool->size += rc == 0 ? size : 0;
    return rc;
}

int br2_spool_finish(struct br2_spool *spool, struct br2_file *ret, struct br2pgo_error *err)
{
    *ret = (struct br2_file){.bytes = spool->bytes, .size = (size_t)spool->size};
    if (spool->fd >= 0) {
        if (spool->size > SIZE_MAX) {
            return br2_fail(err, BR2PGO_LIMIT, "a stream larger than this machine's addresses");
        }
        void *bytes = mmap(NULL, (size_t)spool->size, PROT_READ, MAP_PRIVATE, spool->fd, 0);
        if (bytes == MAP_FAILED) {
            return fail_write(errno, err);
        }
        ret->bytes = bytes;
        ret->mapped = true;
    }
    spool->bytes = NULL;
    br2_spool_done(spool);
    return 0;
}

void br2_spool_done(struct br2_spool *spool)
{
    br2_free(spool->bytes);
    spool->bytes = NULL;
    if (spool->fd >= 0) {
        close(spool->fd);
        spool->fd = -1;
    }
}
