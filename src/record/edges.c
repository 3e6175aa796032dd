/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "record/edges.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"

#define FREE UINT32_MAX

void br2_exact_edges_done(struct br2_exact_edges *edges)
{
    br2_strings_done(&edges->images);
    br2_free(edges->edges);
    *edges = (struct br2_exact_edges){0};
}

static size_t slot_of(const struct br2_exact_edges *edges, const struct br2_exact_edge *edge)
{
    const struct br2_hash_key *key = br2_hash_key();
    uint64_t hash = edge->from * key->words[0] ^ edge->to * key->words[1] ^
                    ((uint64_t)edge->image << 8 | edge->kind) * key->words[2];
    hash = (hash ^ hash >> 32) * key->words[3];
    size_t at = (size_t)(hash >> 24) & (edges->capacity - 1);
    for (;;) {
        const struct br2_exact_edge *other = &edges->edges[at];
        if (other->kind == FREE || (other->from == edge->from && other->to == edge->to &&
                                    other->image == edge->image && other->kind == edge->kind)) {
            return at;
        }
        at = (at + 1) & (edges->capacity - 1);
    }
}

static bool grow(struct br2_exact_edges *edges)
{
    struct br2_exact_edges larger = {.capacity = edges->capacity != 0 ? edges->capacity * 2 : 1024};
    larger.edges = br2_realloc_array(NULL, larger.capacity, sizeof *larger.edges);
    if (larger.edges == NULL) {
        return false;
    }
    for (size_t i = 0; i < larger.capacity; i++) {
        larger.edges[i].kind = FREE;
    }
    for (size_t i = 0; i < edges->capacity; i++) {
        if (edges->edges[i].kind != FREE) {
            larger.edges[slot_of(&larger, &edges->edges[i])] = edges->edges[i];
        }
    }
    br2_free(edges->edges);
    edges->edges = larger.edges;
    edges->capacity = larger.capacity;
    return true;
}

static bool add_edge(struct br2_exact_edges *edges, const struct br2_exact_edge *edge)
{
    if (edges->count >= edges->capacity / 2 && !grow(edges)) {
        return false;
    }
    struct br2_exact_edge *slot = &edges->edges[slot_of(edges, edge)];
    if (slot->kind == FREE) {
        *slot = *edge;
        edges->count++;
    } else {
        slot->count += edge->count;
        slot->missed += edge->missed;
    }
    return true;
}

/* A file of the area and an address in it, link-time. */
struct place {
    const char *image; /* NULL: in no file */
    uint64_t address;
};

static uint32_t file_count(const struct br2_area *area)
{
    uint32_t count = area->header.file_count;
    return count < BR2_AREA_FILES ? count : BR2_AREA_FILES;
}

static struct place place_in(const struct br2_area *area, uint32_t file, uint64_t address)
{
    struct place place = {NULL, 0};
    if (file == 0 || file >= file_count(area)) {
        return place;
    }
    const struct br2_area_file *f = &area->files[file];
    if (address >= f->start && address < f->end && memchr(f->path, '\0', sizeof f->path) != NULL) {
        place.image = f->path;
        place.address = address - f->bias;
    }
    return place;
}

/* Where a branch of a block of `file` leads; the latest file that lay there is taken. */
static struct place find_place(const struct br2_area *area, uint32_t file, uint64_t address)
{
    struct place place = place_in(area, file, address);
    for (uint32_t i = file_count(area); place.image == NULL && i > 1; i--) {
        place = place_in(area, i - 1, address);
    }
    return place;
}

/* An edge within an image; one that leads from one to another is an edge of both. */
static bool add_outcome(struct br2_exact_edges *edges, const struct br2_area *area,
                        const struct br2_block *block, struct br2_exact_edge edge)
{
    struct place from = place_in(area, block->file, block->last);
    struct place to = find_place(area, block->file, edge.to);
    bool same = from.image != NULL && to.image != NULL && strcmp(from.image, to.image) == 0;
    const struct place *ends[2] = {&from, &to};
    for (size_t i = 0; i < (same ? 1 : 2); i++) {
        if (ends[i]->image == NULL) {
            continue;
        }
        edge.image = br2_strings_add(&edges->images, ends[i]->image, strlen(ends[i]->image));
        edge.from = same || i == 0 ? from.address : 0;
        edge.to = same || i == 1 ? to.address : 0;
        if (edge.image == BR2_NO_STRING || !add_edge(edges, &edge)) {
            return false;
        }
    }
    return true;
}

static uint32_t kind_of(uint8_t kind)
{
    switch (kind) {
    case BR2_BLOCK_COND:
        return BR2_EXACT_COND;
    case BR2_BLOCK_JUMP:
        return BR2_EXACT_JUMP;
    case BR2_BLOCK_CALL:
        return BR2_EXACT_CALL;
    case BR2_BLOCK_INDIRECT_CALL:
        return BR2_EXACT_INDIRECT_CALL;
    case BR2_BLOCK_INDIRECT_JUMP:
        return BR2_EXACT_INDIRECT_JUMP;
    case BR2_BLOCK_RETURN:
        return BR2_EXACT_RETURN;
    default:
        return FREE;
    }
}

static bool add_block(struct br2_exact_edges *edges, const struct br2_area *area,
                      const struct br2_block *block, const struct br2_block_counts *counts)
{
    struct br2_exact_edge edge = {
        .to = block->kind >= BR2_BLOCK_INDIRECT_CALL ? counts->state : block->target,
        .kind = kind_of(block->kind),
        .count = counts->taken,
        .missed = counts->missed,
    };
    if (edge.kind == FREE || counts->taken + counts->passed == 0) {
        return true;
    }
    /* Of a conditional branch both outcomes get a row, also one that never was. */
    if ((block->kind == BR2_BLOCK_COND || counts->taken != 0) &&
        !add_outcome(edges, area, block, edge)) {
        return false;
    }
    if (block->kind != BR2_BLOCK_COND) {
        return true;
    }
    edge.to = block->next;
    edge.kind = BR2_EXACT_FALLTHROUGH;
    edge.count = counts->passed;
    edge.missed = 0;
    return add_outcome(edges, area, block, edge);
}

static uint32_t block_count(const struct br2_area *area)
{
    uint32_t count = area->header.block_count;
    return count < BR2_AREA_BLOCKS ? count : BR2_AREA_BLOCKS;
}

int br2_exact_edges_add(struct br2_exact_edges *edges, const struct br2_area *area,
                        const struct br2_indirect_edge *added, size_t count,
                        struct br2pgo_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (added[i].block == 0 || added[i].block >= block_count(area)) {
            continue;
        }
        const struct br2_block *block = &area->blocks[added[i].block];
        struct br2_exact_edge edge = {.to = added[i].to,
                                      .kind = kind_of(block->kind),
                                      .count = added[i].taken,
                                      .missed = added[i].missed};
        if (edge.kind != FREE && !add_outcome(edges, area, block, edge)) {
            return br2_fail_memory(err);
        }
    }
    return 0;
}

int br2_exact_edges_add_thread(struct br2_exact_edges *edges, const struct br2_area *area,
                               uint32_t thread, struct br2pgo_error *err)
{
    uint32_t count = block_count(area);
    for (uint32_t i = 1; i < count; i++) {
        if (!add_block(edges, area, &area->blocks[i], &area->counts[thread][i])) {
            return br2_fail_memory(err);
        }
    }
    const struct br2_edge_slots *slots = &area->edges[thread];
    size_t capacity = slots->capacity < BR2_AREA_EDGES ? slots->capacity : BR2_AREA_EDGES;
    return br2_exact_edges_add(edges, area, slots->slots, capacity, err);
}

struct sorting {
    struct br2_exact_edge edge;
    const char *image;
};

static int compare(const void *a, const void *b)
{
    const struct sorting *x = a;
    const struct sorting *y = b;
    int names = strcmp(br2_base_name(x->image), br2_base_name(y->image));
    names = names != 0 ? names : strcmp(x->image, y->image);
    if (names != 0) {
        return names;
    }
    const uint64_t one[3] = {x->edge.from, x->edge.kind, x->edge.to};
    const uint64_t other[3] = {y->edge.from, y->edge.kind, y->edge.to};
    for (size_t i = 0; i < 3; i++) {
        if (one[i] != other[i]) {
            return one[i] < other[i] ? -1 : 1;
        }
    }
    return 0;
}

static void put_name(struct br2_buf *buf, const char *name)
{
    if (strpbrk(name, ",\"\r\n") == NULL) {
        br2_buf_str(buf, name);
        return;
    }
    br2_buf_u8(buf, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"') {
            br2_buf_u8(buf, '"');
        }
        br2_buf_u8(buf, (uint8_t)*name);
    }
    br2_buf_u8(buf, '"');
}

static void put_row(struct br2_buf *buf, const struct sorting *row, const char *function,
                    uint64_t outcomes)
{
    static const char *const names[] = {"cond",  "jump",   "call",       "icall",
                                        "ijump", "return", "fallthrough"};
    const struct br2_exact_edge *edge = &row->edge;
    put_name(buf, br2_base_name(row->image));
    br2_buf_u8(buf, ',');
    put_name(buf, function);
    br2_buf_u8(buf, ',');
    if (edge->from != 0) {
        br2_buf_printf(buf, "0x%" PRIx64, edge->from);
    }
    br2_buf_u8(buf, ',');
    if (edge->to != 0) {
        br2_buf_printf(buf, "0x%" PRIx64, edge->to);
    }
    br2_buf_printf(buf, ",%s,%" PRIu64 ",", names[edge->kind], edge->count);
    if (edge->kind != BR2_EXACT_FALLTHROUGH) {
        br2_buf_printf(buf, "%" PRIu64, edge->missed);
    }
    br2_buf_u8(buf, ',');
    if (edge->from != 0) {
        br2_buf_probability(buf, (double)edge->count / (double)outcomes);
        br2_buf_printf(buf, ",%" PRIu64, outcomes);
    } else {
        br2_buf_u8(buf, ',');
    }
    br2_buf_u8(buf, '\n');
}

/* The rows in their order; the caller frees them. */
static struct sorting *sort_rows(const struct br2_exact_edges *edges)
{
    size_t count = 0;
    struct sorting *rows = br2_calloc(edges->count + 1, sizeof *rows);
    for (size_t i = 0; rows != NULL && i < edges->capacity; i++) {
        if (edges->edges[i].kind != FREE) {
            rows[count].edge = edges->edges[i];
            rows[count++].image = br2_strings_get(&edges->images, edges->edges[i].image, NULL);
        }
    }
    if (rows != NULL) {
        qsort(rows, count, sizeof *rows, compare);
    }
    return rows;
}

/* The rows of all outcomes of the branch that row `i` is of; returns the first behind them. */
static size_t put_branch(struct br2_buf *buf, const struct sorting *rows, size_t count, size_t i,
                         const char *function)
{
    uint64_t outcomes = 0;
    size_t end = i;
    for (; end < count && rows[end].edge.from == rows[i].edge.from &&
           rows[end].image == rows[i].image;
         end++) {
        outcomes += rows[end].edge.count;
    }
    for (; i < end; i++) {
        put_row(buf, &rows[i], function, outcomes);
    }
    return end;
}

int br2_exact_edges_write(const struct br2_exact_edges *edges, br2_function_name name, void *user,
                          struct br2_output *out, struct br2pgo_error *err)
{
    struct br2_buf buf = {0};
    struct sorting *rows = sort_rows(edges);
    int rc = rows != NULL ? 0 : br2_fail_memory(err);
    br2_buf_str(&buf, "image,function,from,to,kind,count,mispredicted,probability,outcomes\n");
    for (size_t i = 0; rc == 0 && i < edges->count;) {
        bool inside = rows[i].edge.from != 0 && name != NULL;
        const char *function = inside ? name(user, rows[i].image, rows[i].edge.from) : "";
        i = put_branch(&buf, rows, edges->count, i, function);
        if (buf.size >= 1u << 18 || buf.failed) {
            rc =
                buf.failed ? br2_fail_memory(err) : br2_output_write(out, buf.bytes, buf.size, err);
            buf.size = 0;
        }
    }
    if (rc == 0) {
        rc = buf.failed ? br2_fail_memory(err) : br2_output_write(out, buf.bytes, buf.size, err);
    }
    br2_free(rows);
    br2_buf_done(&buf);
    return rc;
}
