/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The perf.data file that record_steps.c writes. */
#ifndef BR2_TESTS_RECORD_FILE_H
#define BR2_TESTS_RECORD_FILE_H

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define DEPTH_MAX  256
#define RECORD_MAX 65535
#define MISC_USER  2
#define EVENT_FLAGS                                                                                \
    (1u << 5 | 1u << 6 | 1u << 8 | 1u << 9 | 1u << 12 | 1u << 13 | 1u << 18 | 1u << 23 | 1u << 24)

__attribute__((format(printf, 1, 2))) _Noreturn static void fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "record_steps: error: ");
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    exit(1);
}

static void *allocate(void *old, size_t count, size_t size)
{
    void *new = reallocarray(old, count, size);
    if (new == NULL) {
        fail("out of memory");
    }
    return new;
}

/* Bytes that grow. */
struct bytes {
    uint8_t *at;
    size_t size;
    size_t room;
};

static void put(struct bytes *out, const void *bytes, size_t size)
{
    if (size > out->room - out->size) {
        out->room = (out->room + size) * 2;
        out->at = allocate(out->at, out->room, 1);
    }
    memcpy(out->at + out->size, bytes, size);
    out->size += size;
}

static void put_u32(struct bytes *out, uint32_t value)
{
    put(out, &value, sizeof value);
}

static void put_u64(struct bytes *out, uint64_t value)
{
    put(out, &value, sizeof value);
}

/* A text with its NUL, filled up to a multiple of `align`. */
static void put_text(struct bytes *out, const char *text, size_t align)
{
    static const uint8_t zeros[64];
    size_t size = strlen(text) + 1;
    put(out, text, size);
    put(out, zeros, (align - size % align) % align);
}

/* A recording in the making. */
struct recording {
    pid_t pid;
    uint64_t time;
    uint64_t period;
    uint64_t samples;
    struct bytes data, build_ids;
    uint64_t seen[512]; /* starts of the mappings that are in `data` */
    size_t seen_count;
};

/* Records of the data section. */
static size_t begin_record(struct recording *r, uint32_t type, uint16_t misc)
{
    struct perf_event_header header = {.type = type, .misc = misc};
    put(&r->data, &header, sizeof header);
    return r->data.size - sizeof header;
}

static void end_record(struct recording *r, size_t start, bool trailer)
{
    if (trailer) { /* what sample_id_all adds: TID, TIME */
        put_u32(&r->data, (uint32_t)r->pid);
        put_u32(&r->data, (uint32_t)r->pid);
        put_u64(&r->data, r->time);
    }
    size_t size = r->data.size - start;
    if (size > RECORD_MAX) {
        fail("a record of %zu bytes", size);
    }
    uint16_t short_size = (uint16_t)size;
    memcpy(r->data.at + start + offsetof(struct perf_event_header, size), &short_size, 2);
}

static void put_comm(struct recording *r, const char *path)
{
    const char *slash = strrchr(path, '/');
    char name[16]; /* the kernel's TASK_COMM_LEN */
    snprintf(name, sizeof name, "%.15s", slash != NULL ? slash + 1 : path);
    size_t start = begin_record(r, PERF_RECORD_COMM, MISC_USER | PERF_RECORD_MISC_COMM_EXEC);
    put_u32(&r->data, (uint32_t)r->pid);
    put_u32(&r->data, (uint32_t)r->pid);
    put_text(&r->data, name, 8);
    end_record(r, start, true);
}

static void put_exit(struct recording *r)
{
    size_t start = begin_record(r, PERF_RECORD_EXIT, MISC_USER);
    put_u32(&r->data, (uint32_t)r->pid);
    put_u32(&r->data, (uint32_t)getpid());
    put_u32(&r->data, (uint32_t)r->pid);
    put_u32(&r->data, (uint32_t)getpid());
    put_u64(&r->data, r->time);
    end_record(r, start, true);
}

/* A sample without its records, which are put next: end_record(r, start, false). */
static size_t begin_sample(struct recording *r, uint64_t ip, size_t records)
{
    size_t start = begin_record(r, PERF_RECORD_SAMPLE, MISC_USER);
    put_u64(&r->data, ip);
    put_u32(&r->data, (uint32_t)r->pid);
    put_u32(&r->data, (uint32_t)r->pid);
    put_u64(&r->data, r->time);
    put_u64(&r->data, r->period);
    put_u64(&r->data, records);
    r->samples++;
    return start;
}

/* Images: their mappings and build-ids. */
static size_t find_build_id(const uint8_t *bytes, size_t size, const uint8_t **ret)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    Elf64_Nhdr note;
    if (size < sizeof header || memcmp(bytes, ELFMAG, SELFMAG) != 0) {
        return 0;
    }
    memcpy(&header, bytes, sizeof header);
    for (size_t i = 0; i < header.e_phnum; i++) {
        size_t at = header.e_phoff + i * sizeof segment;
        if (at > size || size - at < sizeof segment) {
            break;
        }
        memcpy(&segment, bytes + at, sizeof segment);
        at = segment.p_offset;
        if (segment.p_type != PT_NOTE || at > size || size - at < segment.p_filesz) {
            continue;
        }
        size_t end = at + segment.p_filesz;
        while (end - at >= sizeof note) {
            memcpy(&note, bytes + at, sizeof note);
            size_t name = at + sizeof note;
            size_t desc = name + ((note.n_namesz + 3u) & ~3u);
            if (desc > end || end - desc < note.n_descsz) {
                break;
            }
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
                memcmp(bytes + name, "GNU", 4) == 0 && note.n_descsz <= 20) {
                *ret = bytes + desc;
                return note.n_descsz;
            }
            at = desc + ((note.n_descsz + 3u) & ~3u);
            at = at < end ? at : end;
        }
    }
    return 0;
}

/* One entry of the build-id feature: struct perf_record_header_build_id of tools/lib/perf. */
static void put_build_id(struct recording *r, const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_size <= 0) {
        return;
    }
    size_t size = (size_t)status.st_size;
    uint8_t *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED) {
        return;
    }
    const uint8_t *id = NULL;
    uint8_t field[24] = {0};
    field[20] = (uint8_t)find_build_id(bytes, size, &id);
    if (field[20] != 0) {
        memcpy(field, id, field[20]);
        size_t text = (strlen(path) + 1 + 63) / 64 * 64;
        struct perf_event_header header = {
            .misc = 1 << 15 | MISC_USER, /* PERF_RECORD_MISC_BUILD_ID_SIZE */
            .size = (uint16_t)(sizeof header + 4 + sizeof field + text),
        };
        put(&r->build_ids, &header, sizeof header);
        put_u32(&r->build_ids, UINT32_MAX);
        put(&r->build_ids, field, sizeof field);
        put_text(&r->build_ids, path, 64);
    }
    munmap(bytes, size);
}

struct mapping {
    uint64_t start, end, offset, inode;
    unsigned major, minor;
    const char *path;
};

static void put_mapping(struct recording *r, const struct mapping *m)
{
    for (size_t i = 0; i < r->seen_count; i++) {
        if (r->seen[i] == m->start) {
            return;
        }
    }
    if (r->seen_count == sizeof r->seen / sizeof *r->seen) {
        fail("the program maps too many files");
    }
    r->seen[r->seen_count++] = m->start;
    size_t start = begin_record(r, PERF_RECORD_MMAP2, MISC_USER);
    put_u32(&r->data, (uint32_t)r->pid);
    put_u32(&r->data, (uint32_t)r->pid);
    put_u64(&r->data, m->start);
    put_u64(&r->data, m->end - m->start);
    put_u64(&r->data, m->offset);
    put_u32(&r->data, m->major);
    put_u32(&r->data, m->minor);
    put_u64(&r->data, m->inode);
    put_u64(&r->data, 0);
    put_u32(&r->data, PROT_READ | PROT_EXEC);
    put_u32(&r->data, MAP_PRIVATE);
    put_text(&r->data, m->path, 8);
    end_record(r, start, true);
    put_build_id(r, m->path);
}

/* The file. */
static void put_header_text(struct bytes *out, const char *text)
{
    put_u32(out, (uint32_t)(strlen(text) / 64 + 1) * 64);
    put_text(out, text, 64);
}

static void put_attr(struct bytes *out, uint64_t period)
{
    struct perf_event_attr attr = {0};
    const uint64_t flags = EVENT_FLAGS;
    attr.type = PERF_TYPE_HARDWARE;
    attr.size = PERF_ATTR_SIZE_VER5;
    attr.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
    attr.sample_period = period;
    attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
                       PERF_SAMPLE_BRANCH_STACK;
    attr.branch_sample_type =
        PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_NO_CYCLES;
    memcpy((uint8_t *)&attr + 40, &flags, sizeof flags);
    put(out, &attr, PERF_ATTR_SIZE_VER5);
    put_u64(out, 0); /* ids: none */
    put_u64(out, 0);
}

static void put_file_header(struct bytes *out, uint64_t data_size, const unsigned bits[5])
{
    const uint64_t attr_size = PERF_ATTR_SIZE_VER5 + 16;
    const uint64_t header[12] = {104, attr_size, 104, attr_size, 104 + attr_size, data_size};
    put(out, "PERFILE2", 8);
    put(out, header, sizeof header);
    for (size_t i = 0; i < 5; i++) {
        out->at[72 + bits[i] / 8] |= (uint8_t)(1u << bits[i] % 8);
    }
}

/* What stands behind the data: a table of sections, then they. */
static void put_sections(struct bytes *out, const struct bytes sections[5])
{
    uint64_t at = out->size + 5 * 16;
    for (size_t i = 0; i < 5; i++) {
        put_u64(out, at);
        put_u64(out, sections[i].size);
        at += sections[i].size;
    }
    for (size_t i = 0; i < 5; i++) {
        put(out, sections[i].size != 0 ? (const void *)sections[i].at : "", sections[i].size);
    }
}

/* Writes the file; frees what it is made of. */
static void write_recording(struct recording *r, const char *path, char **argv)
{
    struct bytes sections[5] = {r->build_ids};
    const unsigned bits[5] = {2, 6, 8, 11, 15}; /* build-ids, arch, CPU, command, branch stacks */
    put_header_text(&sections[1], "x86_64");
    put_header_text(&sections[2], "single-stepped by record_steps");
    uint32_t count = 0;
    while (argv[count] != NULL) {
        count++;
    }
    put_u32(&sections[3], count);
    for (uint32_t i = 0; i < count; i++) {
        put_header_text(&sections[3], argv[i]);
    }

    struct bytes out = {0};
    put_file_header(&out, r->data.size, bits);
    put_attr(&out, r->period);
    put(&out, r->data.at, r->data.size);
    put_sections(&out, sections);
    FILE *file = fopen(path, "wbe");
    if (file == NULL || fwrite(out.at, 1, out.size, file) != out.size || fclose(file) != 0) {
        fail("cannot write '%s': %m", path);
    }
    for (size_t i = 0; i < 5; i++) {
        free(sections[i].at);
    }
    free(r->data.at);
    free(out.at);
}

#endif
