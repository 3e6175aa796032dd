/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The line number program (DWARF 5 section 6.2). Read here and not by libdw, which gives one table
 * sorted by address: in it the rows of code that the linker threw away, which start at address 0,
 * mix with those of real code.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "image/debug_private.h"

struct program {
    struct br2_cursor c;
    uint8_t address_size;
    uint8_t min_instruction;
    uint8_t max_operations;
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    uint8_t operands[256]; /* of standard opcodes */
    /* The state machine's registers. */
    uint64_t address;
    uint64_t operation;
    uint64_t file;
    uint64_t line;
    uint64_t discriminator;
    size_t first; /* row of the current sequence */
    bool overrun; /* more opcodes than the section has bytes */
};

static int64_t read_sleb(struct br2_cursor *c)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = br2_cursor_u8(c);
        if (shift < 64) {
            value |= (uint64_t)(byte & 0x7f) << shift;
        }
        shift += 7;
    } while ((byte & 0x80) != 0);
    if (shift < 64 && (byte & 0x40) != 0) {
        value |= ~UINT64_C(0) << shift;
    }
    return (int64_t)value;
}

static uint64_t read_offset(struct br2_cursor *c, bool wide)
{
    return wide ? br2_cursor_u64(c) : br2_cursor_u32(c);
}

/* Reads the header and leaves the cursor on exactly the program. The tables of folders and files in
 * between are skipped. */
static bool read_header(struct program *p, const uint8_t *section, size_t size, uint64_t offset)
{
    struct br2_cursor *c = &p->c;
    *c = br2_cursor_make(section, size, false);
    if (offset >= size) {
        return false;
    }
    br2_cursor_skip(c, (size_t)offset);
    uint64_t length = br2_cursor_u32(c);
    bool wide = length == UINT32_MAX;
    length = wide ? br2_cursor_u64(c) : length;
    if (c->failed || length > br2_cursor_left(c)) {
        return false;
    }
    c->end = c->at + length;
    uint16_t version = br2_cursor_u16(c);
    if (version < 2 || version > 5) {
        return false;
    }
    p->address_size = 8;
    if (version >= 5) {
        p->address_size = br2_cursor_u8(c);
        br2_cursor_u8(c); /* segment selector size */
    }
    uint64_t header_length = read_offset(c, wide);
    if (c->failed || header_length > br2_cursor_left(c)) {
        return false;
    }
    const uint8_t *start = c->at + header_length;
    p->min_instruction = br2_cursor_u8(c);
    p->max_operations = version >= 4 ? br2_cursor_u8(c) : 1;
    br2_cursor_u8(c); /* default is_stmt */
    p->line_base = (int8_t)br2_cursor_u8(c);
    p->line_range = br2_cursor_u8(c);
    p->opcode_base = br2_cursor_u8(c);
    for (unsigned i = 1; i < p->opcode_base; i++) {
        p->operands[i] = br2_cursor_u8(c);
    }
    if (c->failed || c->at > start || p->line_range == 0 || p->opcode_base == 0) {
        return false;
    }
    p->max_operations = p->max_operations != 0 ? p->max_operations : 1;
    c->at = start;
    return true;
}

static void reset(struct program *p, const struct br2_line_table *table)
{
    p->address = 0;
    p->operation = 0;
    p->file = 1;
    p->line = 1;
    p->discriminator = 0;
    p->first = table->row_count;
}

static void advance(struct program *p, uint64_t operations)
{
    uint64_t all = p->operation + operations;
    p->address += p->min_instruction * (all / p->max_operations);
    p->operation = all % p->max_operations;
}

/* Appends the current row to the sequence; one that goes back in the sequence has no meaning. */
static bool add_row(struct program *p, struct br2_line_table *table)
{
    struct br2_line_row row = {p->address, (uint32_t)p->file, (uint32_t)p->line,
                               (uint32_t)p->discriminator};
    p->discriminator = 0;
    if (table->row_count > p->first) {
        struct br2_line_row *last = &table->rows[table->row_count - 1];
        if (row.address == last->address) {
            *last = row;
        }
        if (row.address <= last->address) {
            return true;
        }
    }
    if (!br2_grow(&table->rows, &table->row_capacity, table->row_count, sizeof *table->rows)) {
        return false;
    }
    table->rows[table->row_count++] = row;
    return true;
}

static bool end_sequence(struct program *p, struct br2_line_table *table,
                         const struct br2_image *image)
{
    size_t count = table->row_count - p->first;
    bool good = count > 0 && table->rows[p->first].address < p->address &&
                br2_image_area_at(image, table->rows[p->first].address) != NULL;
    if (good) {
        if (!br2_grow(&table->sequences, &table->sequence_capacity, table->sequence_count,
                      sizeof *table->sequences)) {
            return false;
        }
        table->sequences[table->sequence_count++] =
            (struct br2_line_sequence){table->rows[p->first].address, p->address, p->first, count};
    } else {
        table->row_count = p->first;
    }
    reset(p, table);
    return true;
}

static bool extended(struct program *p, struct br2_line_table *table, const struct br2_image *image)
{
    struct br2_cursor *c = &p->c;
    uint64_t length = br2_cursor_uleb(c);
    if (c->failed || length == 0 || length > br2_cursor_left(c)) {
        c->failed = c->failed || length > br2_cursor_left(c);
        return true;
    }
    const uint8_t *next = c->at + length;
    switch (br2_cursor_u8(c)) {
    case DW_LNE_end_sequence:
        if (!end_sequence(p, table, image)) {
            return false;
        }
        break;
    case DW_LNE_set_address:
        if (length == 9) {
            p->address = br2_cursor_u64(c);
        } else if (length == 5) {
            p->address = br2_cursor_u32(c);
        }
        p->operation = 0;
        break;
    case DW_LNE_set_discriminator:
        p->discriminator = br2_cursor_uleb(c);
        break;
    default:
        break;
    }
    c->at = next;
    return true;
}

static bool standard(struct program *p, struct br2_line_table *table, uint8_t opcode)
{
    struct br2_cursor *c = &p->c;
    switch (opcode) {
    case DW_LNS_copy:
        return add_row(p, table);
    case DW_LNS_advance_pc:
        advance(p, br2_cursor_uleb(c));
        return true;
    case DW_LNS_advance_line:
        p->line += (uint64_t)read_sleb(c);
        return true;
    case DW_LNS_set_file:
        p->file = br2_cursor_uleb(c);
        return true;
    case DW_LNS_const_add_pc:
        advance(p, (255U - p->opcode_base) / p->line_range);
        return true;
    case DW_LNS_fixed_advance_pc:
        p->address += br2_cursor_u16(c);
        p->operation = 0;
        return true;
    default: /* no register that matters here, or unknown: the header says how many operands */
        for (unsigned i = 0; i < p->operands[opcode]; i++) {
            read_sleb(c);
        }
        return true;
    }
}

static bool special(struct program *p, struct br2_line_table *table, uint8_t opcode)
{
    unsigned adjusted = (unsigned)opcode - p->opcode_base;
    advance(p, adjusted / p->line_range);
    p->line += (uint64_t)(int64_t)(p->line_base + (int)(adjusted % p->line_range));
    return add_row(p, table);
}

/* False when memory runs out. */
static bool run(struct program *p, struct br2_line_table *table, const struct br2_image *image,
                size_t *steps)
{
    reset(p, table);
    while (br2_cursor_left(&p->c) > 0) {
        if (*steps == 0) {
            p->overrun = true;
            return true;
        }
        --*steps;
        uint8_t opcode = br2_cursor_u8(&p->c);
        bool good;
        if (opcode >= p->opcode_base) {
            good = special(p, table, opcode);
        } else if (opcode == 0) {
            good = extended(p, table, image);
        } else {
            good = standard(p, table, opcode);
        }
        if (!good) {
            return false;
        }
    }
    table->row_count = p->first; /* a sequence without an end */
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct br2_line_sequence *x = a;
    const struct br2_line_sequence *y = b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    return (x->first > y->first) - (x->first < y->first);
}

/* Where folded code has several sequences, the first one counts. */
static void make_disjoint(struct br2_line_table *table)
{
    if (table->sequence_count == 0) {
        return;
    }
    qsort(table->sequences, table->sequence_count, sizeof *table->sequences, by_start);
    size_t kept = 0;
    for (size_t i = 0; i < table->sequence_count; i++) {
        struct br2_line_sequence sequence = table->sequences[i];
        if (kept > 0 && sequence.start < table->sequences[kept - 1].end) {
            sequence.start = table->sequences[kept - 1].end;
        }
        if (sequence.start < sequence.end) {
            table->sequences[kept++] = sequence;
        }
    }
    table->sequence_count = kept;
}

int br2_line_table_read(struct br2_line_table *table, const struct br2_image *image,
                        struct br2_line_section *section, uint64_t offset, struct br2pgo_error *err)
{
    struct program p = {0};
    size_t steps = section->steps;
    bool broken = section->bytes == NULL || !read_header(&p, section->bytes, section->size, offset);
    if (!broken && !run(&p, table, image, &steps)) {
        br2_line_table_done(table);
        return br2_fail_memory(err);
    }
    section->steps = steps;
    if (broken || p.overrun) {
        br2_line_table_done(table);
        return br2_fail(err, BR2PGO_CORRUPT, "'%s': broken line table at offset 0x%llx",
                        image->path, (unsigned long long)offset);
    }
    make_disjoint(table);
    if (table->sequence_count == 0) {
        br2_line_table_done(table);
    }
    return 0;
}

void br2_line_table_done(struct br2_line_table *table)
{
    br2_free(table->rows);
    br2_free(table->sequences);
    *table = (struct br2_line_table){0};
}

size_t br2_line_table_sequence(const struct br2_line_table *table, uint64_t address)
{
    size_t low = 0;
    size_t high = table->sequence_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->sequences[middle].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
