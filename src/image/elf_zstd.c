/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Debug sections compressed with zstd, which libelf knows only since elfutils 0.189: they are
 * decompressed here and put in place of what the file holds. zlib is left to libelf.
 */
#include <zstd.h>

#include "image/elf_file.h"

/* Not in older elf.h. */
#define COMPRESSION_ZSTD 2
/* As for zlib in libelf: more than compilers' output ever shrinks. */
#define MAX_RATIO 1032

/* Decompresses `raw` behind its header; NULL when that fails or memory runs out (`*ret_memory`). */
static void *decompress(struct br2_elf *elf, const Elf_Data *raw, uint64_t size, bool *ret_memory)
{
    size_t skip = sizeof(Elf64_Chdr);
    uint64_t room = elf->size < UINT64_MAX / MAX_RATIO ? MAX_RATIO * elf->size : UINT64_MAX;
    if (raw->d_size <= skip || size == 0 || size / MAX_RATIO > raw->d_size ||
        size > room - elf->decompressed) {
        return NULL;
    }
    void *bytes = br2_alloc(size);
    if (bytes == NULL ||
        !br2_grow(&elf->buffers, &elf->buffer_capacity, elf->buffer_count, sizeof(void *))) {
        br2_free(bytes);
        *ret_memory = true;
        return NULL;
    }
    size_t got =
        ZSTD_decompress(bytes, size, (const uint8_t *)raw->d_buf + skip, raw->d_size - skip);
    if (ZSTD_isError(got) || got != size) {
        br2_free(bytes);
        return NULL;
    }
    elf->buffers[elf->buffer_count++] = bytes;
    elf->decompressed += size;
    return bytes;
}

static int decompress_section(struct br2_elf *elf, struct br2_elf_section *section,
                              struct br2pgo_error *err)
{
    GElf_Chdr compression;
    GElf_Shdr header;
    if ((section->flags & SHF_COMPRESSED) == 0 ||
        gelf_getchdr(section->scn, &compression) == NULL ||
        compression.ch_type != COMPRESSION_ZSTD || gelf_getshdr(section->scn, &header) == NULL) {
        return 0;
    }
    const Elf_Data *raw = elf_rawdata(section->scn, NULL);
    Elf_Data *data = elf_getdata(section->scn, NULL);
    bool no_memory = false;
    void *bytes =
        raw != NULL && data != NULL ? decompress(elf, raw, compression.ch_size, &no_memory) : NULL;
    if (no_memory) {
        return br2_fail_memory(err);
    }
    header.sh_flags &= ~(uint64_t)SHF_COMPRESSED;
    header.sh_size = compression.ch_size;
    if (bytes == NULL || gelf_update_shdr(section->scn, &header) == 0) {
        return 0; /* stays compressed: the reader says that it cannot be read */
    }
    data->d_buf = bytes;
    data->d_size = compression.ch_size;
    data->d_type = ELF_T_BYTE;
    section->size = header.sh_size;
    section->flags = header.sh_flags;
    return 0;
}

int br2_elf_decompress(struct br2_elf *elf, struct br2pgo_error *err)
{
    int status = 0;
    for (size_t i = 1; i < elf->section_count && status == 0; i++) {
        status = decompress_section(elf, &elf->sections[i], err);
    }
    return status;
}
