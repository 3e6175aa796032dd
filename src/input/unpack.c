/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "input/unpack.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

static const struct method {
    const char *name;
    const char *magic;
    size_t magic_size;
    int (*unpack)(struct br2_unpacking *unpacking, struct br2pgo_error *err);
} methods[] = {
    {"gzip", "\x1f\x8b", 2, br2_unpack_gzip},
    {"xz",
     "\xfd"
     "7zXZ",
     6, br2_unpack_xz}, /* with the NUL behind it */
    {"zstd", "\x28\xb5\x2f\xfd", 4, br2_unpack_zstd},
};

static const struct method *method_of(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const struct method *method = &methods[i];
        if (size >= method->magic_size && memcmp(bytes, method->magic, method->magic_size) == 0) {
            return method;
        }
    }
    return NULL;
}

const char *br2_packed_by(const uint8_t *bytes, size_t size)
{
    const struct method *method = method_of(bytes, size);
    return method ? method->name : NULL;
}

int br2_unpack_put(struct br2_unpacking *unpacking, size_t size, struct br2pgo_error *err)
{
    uint64_t limit = BR2_GROWTH_SPARE + BR2_GROWTH_MAX * unpacking->size;
    if (unpacking->spool.size + size > limit) {
        br2_fail(err, BR2PGO_LIMIT, "it unpacks to more than %u times its size",
                 (unsigned)BR2_GROWTH_MAX);
        br2_hint(err, "if it is a recording all the same, unpack it first");
        return BR2PGO_LIMIT;
    }
    return br2_spool_write(&unpacking->spool, unpacking->buffer, size, err);
}

int br2_unpack_damaged(struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_CORRUPT, "its compressed data is damaged");
    br2_hint(err, "copy or compress it again");
    return BR2PGO_CORRUPT;
}

int br2_unpack_cut(struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_CORRUPT, "its compressed data ends too early");
    br2_hint(err, "the file is cut off: copy it again; what is there can be unpacked by hand");
    return BR2PGO_CORRUPT;
}

int br2_unpack(struct br2_file *file, const char *folder, struct br2pgo_error *err)
{
    const struct method *method = method_of(file->bytes, file->size);
    if (!method) {
        return 0;
    }
    struct br2_unpacking *unpacking = br2_alloc(sizeof *unpacking);
    if (!unpacking) {
        return br2_fail_memory(err);
    }
    unpacking->bytes = file->bytes;
    unpacking->size = file->size;
    br2_spool_begin(&unpacking->spool, folder);
    int rc = method->unpack(unpacking, err);
    if (!rc) {
        struct br2_file unpacked;
        rc = br2_spool_finish(&unpacking->spool, &unpacked, err);
        if (!rc) {
            br2_file_close(file);
            *file = unpacked;
        }
    }
    br2_spool_done(&unpacking->spool);
    br2_free(unpacking);
    return rc;
}
