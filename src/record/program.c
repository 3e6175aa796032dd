/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "record/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

/* 0, or why it cannot be run. */
static int check_file(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        return errno;
    }
    if (S_ISDIR(st.st_mode)) {
        return EISDIR;
    }
    return access(path, X_OK) == 0 ? 0 : errno;
}

/* Looks in each folder of the PATH. NULL: not found, `*ret_errnum` says why. */
static char *search_path(const char *name, int *ret_errnum)
{
    const char *at = getenv("PATH");
    at = at != NULL ? at : "/bin:/usr/bin"; /* as the C library does */
    *ret_errnum = ENOENT;
    for (;;) {
        size_t length = strcspn(at, ":");
        char *path = length != 0 ? br2_format("%.*s/%s", (int)length, at, name) : br2_strdup(name);
        if (path == NULL) {
            *ret_errnum = ENOMEM;
            return NULL;
        }
        int errnum = check_file(path);
        if (errnum == 0) {
            return path;
        }
        if (errnum == EACCES) {
            *ret_errnum = errnum;
        }
        br2_free(path);
        if (at[length] == '\0') {
            return NULL;
        }
        at += length + 1;
    }
}

static int refuse(const char *name, int errnum, struct br2pgo_error *err)
{
    br2_fail_io(err, "run", name, errnum);
    if (errnum == ENOENT && strchr(name, '/') == NULL && br2_file_is_regular(name)) {
        br2_hint(err, "not on the PATH; did you mean './%s'?", name);
    } else if (errnum == EACCES) {
        br2_hint(err, "make it executable: chmod +x, or give a script to its interpreter");
    } else if (errnum == ENOENT) {
        br2_hint(err, "name the program as for a shell; options of br2pgo go before it");
    }
    return BR2PGO_IO;
}

/* Bytes 0 to 4 of an ELF file: the magic number and the class. */
static bool is_32_bit(const char *path)
{
    unsigned char bytes[5] = {0};
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        return false; /* may be run all the same */
    }
    size_t got = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    return got == sizeof bytes && memcmp(bytes, "\177ELF\1", sizeof bytes) == 0;
}

int br2_program_find(const char *name, char **ret, struct br2pgo_error *err)
{
    int errnum;
    char *path = NULL;
    if (name[0] == '\0' || strchr(name, '/') != NULL) {
        errnum = name[0] != '\0' ? check_file(name) : ENOENT;
        path = errnum == 0 ? br2_strdup(name) : NULL;
    } else {
        path = search_path(name, &errnum);
    }
    if (path == NULL && (errnum == 0 || errnum == ENOMEM)) {
        return br2_fail_memory(err);
    }
    if (path == NULL) {
        return refuse(name, errnum, err);
    }
    if (is_32_bit(path)) {
        br2_fail(err, BR2PGO_UNSUPPORTED, "'%s' is a 32-bit program", path);
        br2_hint(err, "br2pgo makes profiles of 64-bit programs only: build it as one");
        br2_free(path);
        return BR2PGO_UNSUPPORTED;
    }
    *ret = path;
    return 0;
}
