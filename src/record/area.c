/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "record/area.h"

#include <sys/mman.h>

#define ALIGNMENT _Alignof(struct br2_area)

struct br2_area *br2_area_map(int file, int protection)
{
    /* The system aligns to its pages, which may be smaller than the area asks for. */
    size_t size = sizeof(struct br2_area);
    uint8_t *room =
        mmap(NULL, size + ALIGNMENT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) {
        return NULL;
    }
    size_t before = -(uintptr_t)room % ALIGNMENT;
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *area = mmap(room + before, size, protection, flags | MAP_FIXED | MAP_NORESERVE, file, 0);
    if (area == MAP_FAILED) {
        munmap(room, size + ALIGNMENT);
        return NULL;
    }
    if (before != 0) {
        munmap(room, before);
    }
    munmap(room + before + size, ALIGNMENT - before);
    return area;
}
