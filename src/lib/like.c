/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/like.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/mem.h"

/* What matching asks of an image's mappings: see mappings_fit in match.c. */
struct shape {
    uint64_t dso;
    uint64_t file_offset;
    uint64_t length;
};

struct shapes {
    struct shape *items;
    size_t count;
    size_t capacity;
    bool failed;
};

static void add_shape(void *user, const struct br2_mapping *mapping)
{
    struct shapes *shapes = user;
    if (!br2_grow(&shapes->items, &shapes->capacity, shapes->count, sizeof *shapes->items)) {
        shapes->failed = true;
        return;
    }
    shapes->items[shapes->count++] = (struct shape){
        .dso = mapping->dso,
        .file_offset = mapping->file_offset,
        .length = mapping->end - mapping->start,
    };
}

static int compare_shapes(const void *left, const void *right)
{
    const struct shape *a = left;
    const struct shape *b = right;
    int order = br2_compare_u64(a->dso, b->dso);
    order = order != 0 ? order : br2_compare_u64(a->file_offset, b->file_offset);
    return order != 0 ? order : br2_compare_u64(a->length, b->length);
}

static void put_shapes(struct br2_buf *name, const struct br2_spaces *spaces)
{
    struct shapes shapes = {0};
    br2_spaces_each_mapping(spaces, BR2_NO_DSO, add_shape, &shapes);
    name->failed = name->failed || shapes.failed;
    if (shapes.count != 0) {
        qsort(shapes.items, shapes.count, sizeof *shapes.items, compare_shapes);
    }
    for (size_t i = 0; i < shapes.count; i++) {
        if (i == 0 || compare_shapes(&shapes.items[i], &shapes.items[i - 1]) != 0) {
            br2_buf_put(name, &shapes.items[i], sizeof shapes.items[i]);
        }
    }
    br2_free(shapes.items);
}

static void put_dso(struct br2_buf *name, const struct br2_dso *dso)
{
    br2_buf_str(name, dso->path);
    br2_buf_u8(name, '\0');
    br2_buf_u8(name, (uint8_t)(dso->kernel | dso->deleted << 1 | dso->file << 2));
    br2_buf_u8(name, dso->build_id.size);
    br2_buf_put(name, dso->build_id.bytes, dso->build_id.size);
    br2_buf_le32(name, dso->device_major);
    br2_buf_le32(name, dso->device_minor);
    br2_buf_le64(name, dso->inode);
    br2_buf_le64(name, dso->inode_generation);
}

/* Everything that the steps behind counting ask of a recording's images. All of them, not only
 * those with traces: an image that fits better makes another no match. */
static void put_kind(struct br2_buf *name, const struct br2_recording *recording)
{
    const struct br2_dsos *dsos = br2_spaces_dsos(recording->spaces);
    br2_buf_le64(name, recording->weight);
    br2_buf_le64(name, dsos->count);
    for (size_t i = 0; i < dsos->count; i++) {
        put_dso(name, &dsos->items[i]);
    }
    put_shapes(name, recording->spaces);
}

/* The first of the recording's kind, itself where there is none before; NULL: no memory. */
static struct br2_recording *find_first(struct br2_kinds *kinds, struct br2_recording *recording)
{
    struct br2_buf name = {0};
    uint32_t number = BR2_NO_STRING;
    put_kind(&name, recording);
    if (!name.failed &&
        br2_grow(&kinds->first, &kinds->capacity, kinds->count, sizeof(struct br2_recording *))) {
        number = br2_strings_add(&kinds->names, (const char *)name.bytes, name.size);
    }
    br2_buf_done(&name);
    if (number == BR2_NO_STRING) {
        return NULL;
    }
    if (number == kinds->count) {
        kinds->first[kinds->count++] = recording;
    }
    return kinds->first[number];
}

/* Times of a function's first execution count from each recording's first sample. Makes them count
 * from that of another; false, and nothing is changed, where that cannot be told in its times. */
static bool shift_times(struct br2_recording *recording, br2_time first)
{
    struct br2_trace_table *table = &recording->folded.traces;
    br2_time own = recording->stats.first_time;
    bool fits = (own == 0) == (first == 0); /* 0: unknown */
    for (size_t i = 0; fits && i < table->slot_count; i++) {
        br2_time seen = table->slots[i].count != 0 ? table->slots[i].first_seen : 0;
        fits = seen == 0 || (seen >= own && seen - own <= UINT64_MAX - first);
    }
    for (size_t i = 0; fits && i < table->slot_count; i++) {
        if (table->slots[i].count != 0 && table->slots[i].first_seen != 0) {
            table->slots[i].first_seen += first - own;
        }
    }
    return fits;
}

/* Keeps of the recording what is said of it. */
static void close_recording(struct br2_recording *recording)
{
    br2_folded_done(&recording->folded);
    br2_spaces_free(recording->spaces);
    br2_input_close(recording->input);
    br2_free(recording->is_image);
    br2_comms_done(&recording->chosen.comms);
    recording->folded = (struct br2_folded){0};
    recording->spaces = NULL;
    recording->input = NULL;
}

int br2_kinds_take(struct br2_kinds *kinds, const struct br2pgo_conversion *conversion,
                   struct br2_recording *recording, struct br2pgo_error *err)
{
    if (conversion->recording_count == 1 || conversion->wanted.any ||
        conversion->options.min_count > 1 || recording->counted || recording->of_file ||
        recording->stats.samples == 0) {
        return 0;
    }
    struct br2_recording *first = find_first(kinds, recording);
    if (first == NULL) {
        return br2_fail_memory(err);
    }
    if (first == recording || !shift_times(recording, first->stats.first_time)) {
        return 0;
    }
    if (!br2_folded_add(&first->folded, &recording->folded)) {
        return br2_fail_memory(err);
    }
    close_recording(recording);
    recording->first_alike = first;
    recording->is_image = first->is_image;
    return 0;
}

void br2_kinds_done(struct br2_kinds *kinds)
{
    br2_strings_done(&kinds->names);
    br2_free(kinds->first);
    *kinds = (struct br2_kinds){0};
}
