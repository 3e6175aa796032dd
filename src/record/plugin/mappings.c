/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which file lies where. Asked when code is translated, so only code that runs is looked for. */
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/plugin/plugin.h"

#define MAPPINGS 8192u
#define PAGE     UINT64_C(4096)

struct mapping {
    uint64_t start;
    uint64_t end;
    uint64_t offset; /* in the file */
    uint64_t bias;   /* as in struct br2_area_file */
    uint64_t inode;
    uint16_t file;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapping mappings[MAPPINGS];
static uint32_t mapping_count;
/* What lay somewhere before, a ring: the oldest is forgotten. */
static struct mapping gone[256];
static uint32_t gone_count;

void br2_mapping_forked(void)
{
    pthread_mutex_init(&lock, NULL);
}

void br2_mapping_forget(uint64_t start, uint64_t length)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < mapping_count;) {
        struct mapping *m = &mappings[i];
        if (m->start < start + length && start < m->end) {
            if (m->file != 0) {
                gone[gone_count++ % (sizeof gone / sizeof *gone)] = *m;
            }
            *m = mappings[--mapping_count];
        } else {
            i++;
        }
    }
    pthread_mutex_unlock(&lock);
}

/* Reads a line of /proc/self/maps: start-end rights offset major:minor inode path. */
static bool parse_line(char *line, struct mapping *m, const char **ret_path)
{
    line[strcspn(line, "\n")] = '\0';
    char *at = line;
    m->start = strtoull(at, &at, 16);
    m->end = strtoull(at + (*at == '-'), &at, 16);
    at += strspn(at, " ");
    at += strcspn(at, " ");
    m->offset = strtoull(at, &at, 16);
    at += strspn(at, " ");
    at += strcspn(at, " ");
    m->inode = strtoull(at, &at, 10);
    *ret_path = at + strspn(at, " ");
    return m->end > m->start;
}

/* The mapping of `place`, an address of the emulator, and its path. */
static bool find_in_maps(uint64_t place, struct mapping *ret, char *path, size_t size)
{
    FILE *file = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    while (!found && file != NULL && getline(&line, &room, file) > 0) {
        const char *name;
        if (parse_line(line, ret, &name) && place >= ret->start && place < ret->end) {
            found = strlen(name) < size;
            if (found) {
                memcpy(path, name, strlen(name) + 1);
            }
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    free(line);
    return found;
}

/* Narrows `m` to the executable segment of the file that `address` is in: the emulator's mappings
 * are all readable only, so that neighbours are one. */
static void narrow(struct mapping *m, uint64_t address, const char *path)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    uint64_t offset = m->offset + (address - m->start);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    if (pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
        memcmp(header.e_ident, ELFMAG, SELFMAG) == 0) {
        for (unsigned i = 0; i < header.e_phnum; i++) {
            off_t at = (off_t)(header.e_phoff + i * sizeof segment);
            if (pread(fd, &segment, sizeof segment, at) != (ssize_t)sizeof segment) {
                break;
            }
            uint64_t first = segment.p_offset & -PAGE;
            uint64_t end = (segment.p_offset + segment.p_filesz + PAGE - 1) & -PAGE;
            if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && offset >= first &&
                offset < end) {
                m->start = address - (offset - first);
                m->end = m->start + (end - first);
                m->offset = first;
                m->bias = m->start - (segment.p_vaddr - (segment.p_offset - first));
                break;
            }
        }
    }
    close(fd);
}

static uint16_t file_number(const struct mapping *m, const char *path)
{
    struct br2_area *area = br2_plugin.area;
    uint32_t count = area->header.file_count;
    for (uint32_t i = 1; i < count; i++) {
        const struct br2_area_file *file = &area->files[i];
        if (file->start == m->start && file->bias == m->bias && strcmp(file->path, path) == 0) {
            return (uint16_t)i;
        }
    }
    if (count == BR2_AREA_FILES) {
        return 0;
    }
    area->files[count].start = m->start;
    area->files[count].end = m->end;
    area->files[count].bias = m->bias;
    memcpy(area->files[count].path, path, strlen(path) + 1);
    __atomic_store_n(&area->header.file_count, count + 1, __ATOMIC_RELEASE);
    return (uint16_t)count;
}

/* What was there last; NULL: nothing that is known. */
static const struct mapping *last_there(const struct mapping *m)
{
    const uint32_t size = sizeof gone / sizeof *gone;
    uint32_t kept = gone_count < size ? gone_count : size;
    for (uint32_t i = 1; i <= kept; i++) {
        const struct mapping *old = &gone[(gone_count - i) % size];
        if (old->start < m->end && m->start < old->end) {
            return old;
        }
    }
    return NULL;
}

/* What was there before must not be taken for this: all clocks go on to now. */
static uint64_t record_time(const struct mapping *old, uint64_t now)
{
    struct br2_area_header *header = &br2_plugin.area->header;
    if (old == NULL || now <= header->start) {
        return header->start;
    }
    if (now > header->time_floor) {
        __atomic_store_n(&header->time_floor, now, __ATOMIC_RELAXED);
    }
    return now;
}

static void record(const struct mapping *m, const char *path, uint64_t now)
{
    const struct mapping *old = last_there(m);
    if (old != NULL && old->start == m->start && old->offset == m->offset &&
        old->inode == m->inode && old->file == m->file) {
        return; /* it is back */
    }
    struct {
        struct br2_stream_mapping mapping;
        char path[BR2_AREA_PATH];
    } body = {
        .mapping = {.start = m->start, .length = m->end - m->start, .offset = m->offset},
    };
    size_t length = strlen(path) + 1;
    memcpy(body.path, path, length);
    struct br2_stream_head head = {
        .type = BR2_STREAM_MAPPING,
        .size = (uint32_t)(sizeof head + sizeof body.mapping + (length + 7) / 8 * 8),
        .time = record_time(old, now),
    };
    br2_stream_put(&br2_plugin.area->events, BR2_STREAM_OF_PROCESS, &head, &body);
}

static uint16_t look_up(uint64_t address, uint64_t now)
{
    char path[BR2_AREA_PATH];
    struct mapping m = {0};
    if (!find_in_maps(address + br2_plugin.guest_base, &m, path, sizeof path)) {
        return 0;
    }
    m.start -= br2_plugin.guest_base;
    m.end -= br2_plugin.guest_base;
    if (path[0] == '/') {
        m.bias = m.start - m.offset;
        narrow(&m, address, path);
        m.file = file_number(&m, path);
        record(&m, path, now);
    }
    mappings[mapping_count < MAPPINGS ? mapping_count++ : 0] = m;
    return m.file;
}

uint16_t br2_mapping_file(uint64_t address, uint64_t now)
{
    pthread_mutex_lock(&lock);
    uint16_t file = 0;
    uint32_t i = 0;
    while (i < mapping_count && (address < mappings[i].start || address >= mappings[i].end)) {
        i++;
    }
    file = i < mapping_count ? mappings[i].file : look_up(address, now);
    pthread_mutex_unlock(&lock);
    return file;
}
