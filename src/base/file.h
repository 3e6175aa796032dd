/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files: whole ones to read, and outputs that appear complete or not at all. */
#ifndef BR2_BASE_FILE_H
#define BR2_BASE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* A file's bytes, mapped where the file allows it, else read into memory. */
struct br2_file {
    const uint8_t *bytes; /* NULL for an empty file */
    size_t size;
    bool mapped;
};

/* Whether a file that begins with these bytes (up to 64 KiB of them) is worth reading. */
typedef bool (*br2_file_accept)(const uint8_t *bytes, size_t size);

/* Opens `path` for reading as one block of bytes. "-" is not special here. Of a pipe or device that
 * `accept` (may be NULL) turns down, only the beginning is read: it may have no end.
 * Errors: BR2PGO_IO (also for a directory), BR2PGO_NO_MEMORY. */
int br2_file_open(struct br2_file *file, const char *path, br2_file_accept accept,
                  struct br2pgo_error *err);

/* The same for what may be a stream: "-" is standard input. What cannot be mapped is kept in a
 * spool (base/spool.h) in `folder`, NULL: where there is room for temporary files. */
int br2_file_open_stream(struct br2_file *file, const char *path, br2_file_accept accept,
                         const char *folder, struct br2pgo_error *err);

/* Whether `path` names a regular file: for names that a file gives, where a pipe would wait for
 * ever. */
bool br2_file_is_regular(const char *path);
void br2_file_close(struct br2_file *file);

/* What follows the last slash of a path; all of it where there is none. */
const char *br2_base_name(const char *path);

/* The beginning of what a pipe brings, up to `size` - 1 bytes and a NUL; the rest is read too, so
 * that who writes does not wait for a reader. What comes before an error counts. */
void br2_read_beginning(int fd, char *text, size_t size);

/* An output being made: a temporary file beside `path`, renamed over it by commit. */
struct br2_output {
    char *path;      /* owned */
    char *temporary; /* owned; NULL when writing straight to a device, pipe or stdout */
    char *old;       /* owned; another name of the file that was at `path`; NULL: none */
    bool is_new;     /* there was no file at `path` */
    int fd;
};

/* Creates the temporary file. An existing file at `path` is not touched before commit. "-" is
 * standard output; a FIFO or device is written in place. Errors: BR2PGO_IO, BR2PGO_NO_MEMORY. */
int br2_output_open(struct br2_output *out, const char *path, struct br2pgo_error *err);
int br2_output_write(struct br2_output *out, const void *bytes, size_t size,
                     struct br2pgo_error *err);
/* Where an output is, or would be: the same for all its names. False for standard output, folders,
 * devices and pipes, which nothing replaces, and where there is no such folder. */
bool br2_output_place(const char *path, char place[PATH_MAX]);
/* All that can fail for want of space: brings the temporary file to the disk and closes it. Commit
 * does it too; here so that several outputs can be made certain before the first is renamed. */
int br2_output_flush(struct br2_output *out, struct br2pgo_error *err);
/* Flushes, closes and renames into place. On failure the temporary file is gone, the old file
 * stays. */
int br2_output_commit(struct br2_output *out, struct br2pgo_error *err);
/*
 * Commit in steps, for several outputs of which all or none are to appear: keep_old on all, replace
 * on all, put_back on those replaced when one of them failed, abandon on all. keep_old gives the
 * old file a second name; where the file system or the rights do not allow that, put_back can do
 * nothing for it.
 */
void br2_output_keep_old(struct br2_output *out);
int br2_output_replace(struct br2_output *out, struct br2pgo_error *err);
void br2_output_put_back(struct br2_output *out);
/* Gives up: removes the temporary file. Harmless after commit. */
void br2_output_abandon(struct br2_output *out);
/* Keeps what was written so far, as the file `path`.partial, whose name the caller frees. Errors:
 * BR2PGO_IO, BR2PGO_NO_MEMORY; there must be a temporary file. */
int br2_output_keep_part(struct br2_output *out, char **ret, struct br2pgo_error *err);
/* Removes the temporary files of all outputs that are being made (of more than 1024, not all): for
 * a signal's handler that ends the process. */
void br2_output_remove_all(void);

#endif
