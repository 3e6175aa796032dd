/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where the separate debug file of an image is: the build-id folder, then .gnu_debuglink
 * (GDB manual, "Debugging Information in Separate Files"). */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "image/image_private.h"

#define DEBUG_ROOT "/usr/lib/debug"

struct link {
    char *name; /* owned; NULL: there is none */
    uint32_t crc;
};

/* The CRC-32 of the GDB manual, which is that of zlib. */
static uint32_t crc32_of(const uint8_t *bytes, size_t size)
{
    uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++) {
            value = (value & 1) != 0 ? value >> 1 ^ UINT32_C(0xedb88320) : value >> 1;
        }
        table[i] = value;
    }
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc = table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
    }
    return ~crc;
}

static bool read_link(const struct br2_image *image, struct link *ret)
{
    *ret = (struct link){0};
    size_t size;
    const uint8_t *bytes =
        br2_elf_section_bytes(br2_elf_section(&image->elf, ".gnu_debuglink"), &size);
    if (bytes == NULL) {
        return true;
    }
    struct br2_cursor c = br2_cursor_make(bytes, size, false);
    size_t length;
    const char *name = br2_cursor_string(&c, &length);
    br2_cursor_skip(&c, (4 - br2_cursor_offset(&c) % 4) % 4);
    uint32_t crc = br2_cursor_u32(&c);
    /* The name is that of a file, not a way out of the folders searched. */
    if (c.failed || length == 0 || strchr(name, '/') != NULL || strcmp(name, "..") == 0) {
        return true;
    }
    ret->name = br2_strdup(name);
    ret->crc = crc;
    return ret->name != NULL;
}

/* Whether the file at `path` is the image's debug file. Without build-ids, the checksum decides. */
static bool matches(const struct br2_image *image, const char *path, const struct link *link)
{
    struct br2_elf elf;
    bool good = false;
    bool same_layout;
    if (br2_elf_open(&elf, path, BR2_ELF_HEADERS, NULL) == 0 && br2_elf_has_debug_info(&elf)) {
        struct br2_build_id id;
        br2_elf_build_id(&elf, &id);
        if (id.size != 0 && image->build_id.size != 0) {
            good = br2_build_id_equal(&id, &image->build_id);
        } else {
            good = link != NULL && crc32_of(elf.bytes, elf.size) == link->crc;
        }
        good =
            good && br2_elf_same_layout(&image->elf, &elf, &same_layout, NULL) == 0 && same_layout;
    }
    br2_elf_close(&elf);
    return good;
}

/* Takes `path` (NULL: out of memory, then there is nothing to try); keeps it when it is the one. */
static bool try(const struct br2_image *image, char *path, const struct link *link)
{
    if (path != NULL && br2_file_is_regular(path) && matches(image, path, link)) {
        br2_free(image->lookup->path);
        image->lookup->path = path;
        return true;
    }
    br2_free(path);
    return false;
}

static bool try_build_id(const struct br2_image *image, const char *sysroot)
{
    const struct br2_build_id *id = &image->build_id;
    char hex[2 * BR2_BUILD_ID_MAX + 1];
    if (id->size < 2) {
        return false;
    }
    br2_build_id_text(id, hex);
    return try(image, br2_format("%s" DEBUG_ROOT "/.build-id/%.2s/%s.debug", sysroot, hex, hex + 2),
               NULL);
}

/* The folder of the image as seen from inside `sysroot`. */
static const char *folder_inside(const char *folder, const char *real_root)
{
    size_t length = real_root != NULL ? strlen(real_root) : 0;
    bool below = length > 1 && strncmp(folder, real_root, length) == 0 &&
                 (folder[length] == '/' || folder[length] == '\0');
    return below ? folder + length : folder;
}

static bool try_link(const struct br2_image *image, const char *sysroot, const struct link *link)
{
    /* realpath allocates with malloc, so free() it is. */
    char *real = realpath(image->path, NULL);
    char *slash = real != NULL ? strrchr(real, '/') : NULL;
    if (slash == NULL) {
        free(real);
        return false;
    }
    *slash = '\0';
    char *root = sysroot[0] != '\0' ? realpath(sysroot, NULL) : NULL;
    bool found =
        try(image, br2_format("%s/%s", real, link->name), link) ||
        try(image, br2_format("%s/.debug/%s", real, link->name), link) ||
        try(image,
            br2_format("%s" DEBUG_ROOT "%s/%s", sysroot, folder_inside(real, root), link->name),
            link);
    free(root);
    free(real);
    return found;
}

const char *br2_image_debug_file(const struct br2_image *image, const char *sysroot)
{
    if (br2_elf_has_debug_info(&image->elf)) {
        return NULL;
    }
    const char *root = sysroot != NULL ? sysroot : "";
    if (try_build_id(image, root)) {
        return image->lookup->path;
    }
    struct link link;
    bool found = read_link(image, &link) && link.name != NULL && try_link(image, root, &link);
    br2_free(link.name);
    return found ? image->lookup->path : NULL;
}
