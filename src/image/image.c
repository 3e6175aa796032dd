/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Opening an image: segments, executable areas, code bytes. */
#include "image/image.h"

#include <stdlib.h>
#include <string.h>

#include "image/image_private.h"

static int by_address(const void *a, const void *b)
{
    const struct br2_segment *x = a;
    const struct br2_segment *y = b;
    if (x->address != y->address) {
        return x->address < y->address ? -1 : 1;
    }
    return (x->file_offset > y->file_offset) - (x->file_offset < y->file_offset);
}

static int add_segment(struct br2_image *image, size_t *capacity, const struct br2_segment *segment,
                       struct br2pgo_error *err)
{
    if (segment->file_offset > image->elf.size ||
        segment->file_size > image->elf.size - segment->file_offset) {
        br2_fail(
            err, BR2PGO_CORRUPT,
            "'%s': code at file offset 0x%llx, %llu bytes long, ends after the file's %zu bytes",
            image->path, (unsigned long long)segment->file_offset,
            (unsigned long long)segment->file_size, image->elf.size);
        br2_hint(err, "the file is incomplete: copy or build it again");
        return BR2PGO_CORRUPT;
    }
    if (segment->memory_size > UINT64_MAX - segment->address ||
        segment->file_size > segment->memory_size) {
        return br2_fail(err, BR2PGO_CORRUPT, "'%s': a code segment has an impossible size",
                        image->path);
    }
    if (!br2_grow(&image->segments, capacity, image->segment_count, sizeof *image->segments)) {
        return br2_fail_memory(err);
    }
    image->segments[image->segment_count++] = *segment;
    return 0;
}

static int segments_of_program(struct br2_image *image, struct br2pgo_error *err)
{
    size_t count = 0;
    size_t capacity = 0;
    if (elf_getphdrnum(image->elf.elf, &count) != 0) {
        return br2_fail(err, BR2PGO_CORRUPT, "'%s': cannot read the program headers: %s",
                        image->path, elf_errmsg(-1));
    }
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(image->elf.elf, (int)i, &header) == NULL) {
            return br2_fail(err, BR2PGO_CORRUPT, "'%s': cannot read program header %zu: %s",
                            image->path, i, elf_errmsg(-1));
        }
        if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0 || header.p_filesz == 0) {
            continue;
        }
        struct br2_segment segment = {
            .file_offset = header.p_offset,
            .file_size = header.p_filesz,
            .address = header.p_vaddr,
            .memory_size = header.p_memsz,
            .mapped_offset = header.p_offset,
        };
        int status = add_segment(image, &capacity, &segment, err);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
    uint64_t rest = alignment != 0 ? value % alignment : 0;
    return rest != 0 && value <= UINT64_MAX - alignment ? value + (alignment - rest) : value;
}

static bool is_text(const struct br2_elf_section *section)
{
    return (section->flags & SHF_ALLOC) != 0 && (section->flags & SHF_EXECINSTR) != 0 &&
           section->type != SHT_NOBITS && section->size > 0;
}

/* The kernel's module loader (layout_sections in kernel/module/main.c) puts a module's code first,
 * in the order of its sections; .init ones go elsewhere and are gone once it is loaded. On AArch64
 * the loader fills .plt (module_frob_arch_sections): how far what follows it is moved is not known.
 */
static int segments_of_module(struct br2_image *image, struct br2pgo_error *err)
{
    size_t capacity = 0;
    uint64_t loaded = 0;
    bool moved = false;
    for (size_t i = 1; i < image->elf.section_count; i++) {
        const struct br2_elf_section *section = &image->elf.sections[i];
        if (image->machine == BR2_MACHINE_AARCH64 && strcmp(section->name, ".plt") == 0) {
            moved = true;
            continue;
        }
        if (!is_text(section)) {
            continue;
        }
        bool stays = !moved && strncmp(section->name, ".init", 5) != 0;
        uint64_t start = align_up(loaded, section->alignment);
        struct br2_segment segment = {
            .file_offset = section->offset,
            .file_size = section->size,
            .address = section->address,
            .memory_size = section->size,
            .mapped_offset = stays ? start : UINT64_MAX,
        };
        loaded = stays ? start + section->size : loaded;
        int status = add_segment(image, &capacity, &segment, err);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

static int no_code(const struct br2_image *image, struct br2pgo_error *err)
{
    br2_fail(err, BR2PGO_UNSUPPORTED, "'%s' has no executable code", image->path);
    if (br2_elf_is_debug_file(&image->elf)) {
        br2_hint(err, "it is a separate debug file: give the program itself as the image");
    } else {
        br2_hint(err, "give the program, shared library or kernel module that was running");
    }
    return BR2PGO_UNSUPPORTED;
}

static int read_segments(struct br2_image *image, struct br2pgo_error *err)
{
    if (br2_elf_is_debug_file(&image->elf)) {
        return no_code(image, err);
    }
    int status = image->elf.header.e_type == ET_REL ? segments_of_module(image, err)
                                                    : segments_of_program(image, err);
    if (status == 0 && image->segment_count == 0) {
        status = no_code(image, err);
    }
    if (status == 0) {
        qsort(image->segments, image->segment_count, sizeof *image->segments, by_address);
    }
    return status;
}

/* The segment that has the byte at `address`, or NULL. They do not overlap in any file that a
 * loader takes; in others the last that starts at or before the address counts. */
static const struct br2_segment *segment_at(const struct br2_image *image, uint64_t address)
{
    size_t low = 0;
    size_t high = image->segment_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->segments[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const struct br2_segment *segment = low > 0 ? &image->segments[low - 1] : NULL;
    bool inside = segment != NULL && address - segment->address < segment->file_size;
    return inside ? segment : NULL;
}

/* Cuts an area where the bytes of the segment that it starts in end; false: it starts in none. */
static bool clip_to_segment(const struct br2_image *image, struct br2_text_area *area)
{
    const struct br2_segment *segment = segment_at(image, area->start);
    if (segment == NULL) {
        return false;
    }
    uint64_t end = segment->address + segment->file_size;
    area->end = area->end < end ? area->end : end;
    return area->end > area->start;
}

static int by_start(const void *a, const void *b)
{
    const struct br2_text_area *x = a;
    const struct br2_text_area *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static void sort_areas(struct br2_image *image)
{
    if (image->area_count == 0) {
        return;
    }
    qsort(image->areas, image->area_count, sizeof *image->areas, by_start);
    size_t kept = 0;
    for (size_t i = 0; i < image->area_count; i++) {
        struct br2_text_area area = image->areas[i];
        if (kept > 0 && area.start < image->areas[kept - 1].end) {
            area.start = image->areas[kept - 1].end;
        }
        if (area.start < area.end) {
            image->areas[kept++] = area;
        }
    }
    image->area_count = kept;
}

static int read_areas(struct br2_image *image, struct br2pgo_error *err)
{
    image->areas =
        br2_calloc(image->elf.section_count + image->segment_count, sizeof *image->areas);
    if (image->areas == NULL) {
        return br2_fail_memory(err);
    }
    for (size_t i = 1; i < image->elf.section_count; i++) {
        const struct br2_elf_section *section = &image->elf.sections[i];
        if (is_text(section) && section->size <= UINT64_MAX - section->address) {
            struct br2_text_area area = {
                .start = section->address,
                .end = section->address + section->size,
                .name = section->name,
            };
            if (clip_to_segment(image, &area)) {
                image->areas[image->area_count++] = area;
            }
        }
    }
    if (image->area_count == 0) {
        for (size_t i = 0; i < image->segment_count; i++) {
            const struct br2_segment *segment = &image->segments[i];
            image->areas[image->area_count++] = (struct br2_text_area){
                .start = segment->address,
                .end = segment->address + segment->file_size,
            };
        }
    }
    sort_areas(image);
    return 0;
}

static int read_machine(struct br2_image *image, struct br2pgo_error *err)
{
    switch (image->elf.header.e_machine) {
    case EM_X86_64:
        image->machine = BR2_MACHINE_X86_64;
        return 0;
    case EM_AARCH64:
        image->machine = BR2_MACHINE_AARCH64;
        return 0;
    case EM_RISCV: /* of 64 bits: br2_elf_open takes no others */
        image->machine = BR2_MACHINE_RISCV64;
        return 0;
    default:
        br2_fail(err, BR2PGO_UNSUPPORTED, "'%s' is code of another machine (ELF machine %u)",
                 image->path, image->elf.header.e_machine);
        br2_hint(err,
                 "only code of x86-64, little-endian AArch64 and 64-bit RISC-V can be decoded");
        return BR2PGO_UNSUPPORTED;
    }
}

static int open_image(struct br2_image *image, const char *path, struct br2pgo_error *err)
{
    image->path = br2_strdup(path);
    image->lookup = br2_calloc(1, sizeof *image->lookup);
    if (image->path == NULL || image->lookup == NULL) {
        return br2_fail_memory(err);
    }
    int status = br2_elf_open(&image->elf, path, BR2_ELF_CODE, err);
    if (status != 0) {
        return status;
    }
    br2_elf_build_id(&image->elf, &image->build_id);
    status = read_machine(image, err);
    if (status == 0) {
        status = read_segments(image, err);
    }
    if (status == 0) {
        status = read_areas(image, err);
    }
    if (status == 0) {
        status = br2_image_read_ranges(image, err);
    }
    return status;
}

int br2_image_open(const char *path, struct br2_image **ret, struct br2pgo_error *err)
{
    *ret = NULL;
    struct br2_image *image = br2_calloc(1, sizeof *image);
    if (image == NULL) {
        return br2_fail_memory(err);
    }
    int status = open_image(image, path, err);
    if (status != 0) {
        br2_image_close(image);
        return status;
    }
    *ret = image;
    return 0;
}

void br2_image_close(struct br2_image *image)
{
    if (image == NULL) {
        return;
    }
    br2_elf_close(&image->elf);
    br2_free(image->segments);
    br2_free(image->areas);
    br2_free(image->ranges);
    br2_arena_done(&image->names);
    if (image->lookup != NULL) {
        br2_free(image->lookup->path);
        br2_elf_names_done(&image->lookup->names);
    }
    br2_free(image->lookup);
    br2_free(image->path);
    br2_free(image);
}

const char *br2_image_path(const struct br2_image *image)
{
    return image->path;
}

const struct br2_build_id *br2_image_build_id(const struct br2_image *image)
{
    return &image->build_id;
}

enum br2_machine br2_image_machine(const struct br2_image *image)
{
    return image->machine;
}

bool br2_image_has_symbol(const struct br2_image *image, const char *name)
{
    struct br2_elf_names *names = &image->lookup->names;
    if (!names->ready && br2_elf_names_read(&image->elf, names, NULL) != 0) {
        return br2_elf_has_symbol(&image->elf, name); /* takes no memory, but longer */
    }
    return br2_elf_names_have(names, name);
}

bool br2_image_has_section(const struct br2_image *image, const char *name)
{
    return br2_elf_section(&image->elf, name) != NULL;
}

bool br2_image_section_at(const struct br2_image *image, uint64_t address,
                          struct br2_code_section *ret)
{
    const struct br2_text_area *area = br2_image_area_at(image, address);
    if (area == NULL || area->name == NULL) {
        return false;
    }
    *ret = (struct br2_code_section){.name = area->name, .start = area->start, .end = area->end};
    return true;
}

size_t br2_image_segments(const struct br2_image *image, const struct br2_segment **ret)
{
    *ret = image->segments;
    return image->segment_count;
}

bool br2_image_is_address(const struct br2_image *image, uint64_t number)
{
    GElf_Ehdr file;
    size_t count;
    if (gelf_getehdr(image->elf.elf, &file) == NULL || file.e_type != ET_EXEC ||
        elf_getphdrnum(image->elf.elf, &count) != 0) {
        return false;
    }
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(image->elf.elf, (int)i, &header) != NULL && header.p_type == PT_LOAD &&
            number >= header.p_vaddr && number - header.p_vaddr < header.p_memsz) {
            return true;
        }
    }
    return false;
}

const uint8_t *br2_image_code(const struct br2_image *image, uint64_t address, size_t *ret_size)
{
    *ret_size = 0;
    const struct br2_segment *segment = segment_at(image, address);
    if (segment == NULL) {
        return NULL;
    }
    uint64_t offset = address - segment->address;
    *ret_size = (size_t)(segment->file_size - offset);
    return image->elf.bytes + segment->file_offset + offset;
}

const struct br2_text_area *br2_image_area_at(const struct br2_image *image, uint64_t address)
{
    size_t low = 0;
    size_t high = image->area_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->areas[middle].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool inside = low < image->area_count && image->areas[low].start <= address;
    return inside ? &image->areas[low] : NULL;
}

bool br2_image_is_unresolved(const struct br2_image *image, uint64_t start, uint64_t end)
{
    size_t low = 0;
    size_t high = image->elf.unresolved_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->elf.unresolved[middle] < start) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < image->elf.unresolved_count && image->elf.unresolved[low] < end;
}
