/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "image/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "image/elf_file.h"

/* The interface of elfutils/debuginfod.h, since elfutils 0.178. */
typedef int (*find_function)(void *client, const unsigned char *id, int size, char **ret_path);
struct library {
    void *handle;
    void *(*begin)(void);
    void (*end)(void *client);
    find_function find_debuginfo;
    find_function find_executable;
};

bool br2_debuginfod_wanted(void)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the library changes no environment */
    const char *urls = getenv("DEBUGINFOD_URLS");
    return urls != NULL && urls[strspn(urls, " ")] != '\0';
}

/* `*(void **)&f`: the way that dlsym's manual page gives to make a function of an object pointer.
 */
static bool load(struct library *library)
{
    *library = (struct library){.handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL)};
    if (library->handle == NULL) {
        return false;
    }
    *(void **)&library->begin = dlsym(library->handle, "debuginfod_begin");
    *(void **)&library->end = dlsym(library->handle, "debuginfod_end");
    *(void **)&library->find_debuginfo = dlsym(library->handle, "debuginfod_find_debuginfo");
    *(void **)&library->find_executable = dlsym(library->handle, "debuginfod_find_executable");
    return library->begin != NULL && library->end != NULL && library->find_debuginfo != NULL &&
           library->find_executable != NULL;
}

/* Takes the answer of the client, a descriptor or an error number, and its path (from malloc). */
static int take_answer(int answer, char *path, const char *what, char **ret_path,
                       struct br2pgo_error *err)
{
    char reason[128];
    if (answer == -ENOENT) {
        return br2_fail(err, BR2PGO_IO, "the servers of DEBUGINFOD_URLS have no %s", what);
    }
    if (answer < 0) {
        return br2_fail(err, BR2PGO_IO, "the servers of DEBUGINFOD_URLS do not give the %s: %s",
                        what, strerror_r(-answer, reason, sizeof reason));
    }
    close(answer);
    *ret_path = path != NULL ? br2_strdup(path) : NULL;
    return *ret_path != NULL ? 0 : br2_fail_memory(err);
}

static int check_build_id(const char *path, const struct br2_build_id *wanted,
                          struct br2pgo_error *err)
{
    struct br2_elf elf;
    struct br2_build_id id;
    int status = br2_elf_open(&elf, path, BR2_ELF_HEADERS, err);
    if (status == 0) {
        br2_elf_build_id(&elf, &id);
        if (!br2_build_id_equal(&id, wanted)) {
            status =
                br2_fail(err, BR2PGO_IO,
                         "'%s', which debuginfod gave, is not of the build-id asked for", path);
        }
    }
    br2_elf_close(&elf);
    return status == 0 || status == BR2PGO_NO_MEMORY ? status : BR2PGO_IO;
}

int br2_debuginfod_fetch(const struct br2_build_id *id, enum br2_debuginfod_kind kind,
                         char **ret_path, struct br2pgo_error *err)
{
    struct library library;
    char what[2 * BR2_BUILD_ID_MAX + 64];
    char hex[2 * BR2_BUILD_ID_MAX + 1];
    bool debug = kind == BR2_DEBUGINFOD_DEBUG;
    snprintf(what, sizeof what, "%s of build-id %s", debug ? "debug information" : "program",
             br2_build_id_text(id, hex));
    void *client = load(&library) ? library.begin() : NULL;
    int status;
    if (client == NULL) {
        status =
            br2_fail(err, BR2PGO_IO,
                     "DEBUGINFOD_URLS is set, but libdebuginfod.so.1 is not there, or does not "
                     "work: not asked for the %s",
                     what);
    } else {
        char *path = NULL;
        find_function find = debug ? library.find_debuginfo : library.find_executable;
        int answer = find(client, id->bytes, id->size, &path);
        status = take_answer(answer, path, what, ret_path, err);
        free(path);
        library.end(client);
    }
    if (status == 0) {
        status = check_build_id(*ret_path, id, err);
        if (status != 0) {
            br2_free(*ret_path);
            *ret_path = NULL;
        }
    }
    /* Never closed: curl, which it brings, does not like being loaded again. */
    return status;
}
