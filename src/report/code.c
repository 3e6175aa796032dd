/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The flow graph of functions: blocks, edges between them, instructions with counts. */
#include "report/report_private.h"

#define USUAL_FUNCTIONS 20

enum {
    B_FUNCTION,
    B_BLOCK,
    B_START,
    B_END,
    B_BYTES,
    B_INSNS,
    B_COUNT,
    B_SHARE,
    B_FILE,
    B_LINE,
    B_NAME,
    B_COLUMNS
};

static const struct br2_report_column block_columns[B_COLUMNS] = {
    [B_FUNCTION] = {"function_address", NULL, BR2_VALUE_ADDRESS, true},
    [B_BLOCK] = {"block", NULL, BR2_VALUE_COUNT, false},
    [B_START] = {"start", NULL, BR2_VALUE_ADDRESS, false},
    [B_END] = {"end", NULL, BR2_VALUE_ADDRESS, true},
    [B_BYTES] = {"size", "bytes", BR2_VALUE_COUNT, false},
    [B_INSNS] = {"instructions", NULL, BR2_VALUE_COUNT, false},
    [B_COUNT] = {"count", "executions", BR2_VALUE_COUNT, false},
    [B_SHARE] = {"share", "of instructions", BR2_VALUE_SHARE, false},
    [B_FILE] = {"file", NULL, BR2_VALUE_FILE, false},
    [B_LINE] = {"line", NULL, BR2_VALUE_LINE, false},
    [B_NAME] = {"function", NULL, BR2_VALUE_TEXT, false},
};

static const struct br2_report_shape block_shape = {
    .name = "blocks",
    .section = "code",
    .title = "Basic blocks of the hottest functions",
    .note = "Calls do not end a block. The end is the address behind the last instruction.",
    .columns = block_columns,
    .column_count = B_COLUMNS,
    .detail = true,
};

enum {
    E_FUNCTION,
    E_FROM,
    E_TO,
    E_KIND,
    E_COUNT,
    E_SHARE,
    E_MISPREDICTED,
    E_FROM_ADDRESS,
    E_TO_ADDRESS,
    E_NAME,
    E_COLUMNS
};

static const struct br2_report_column edge_columns[E_COLUMNS] = {
    [E_FUNCTION] = {"function_address", NULL, BR2_VALUE_ADDRESS, true},
    [E_FROM] = {"from_block", NULL, BR2_VALUE_COUNT, false},
    [E_TO] = {"to_block", NULL, BR2_VALUE_COUNT, false},
    [E_KIND] = {"kind", NULL, BR2_VALUE_TEXT, false},
    [E_COUNT] = {"count", "executions", BR2_VALUE_COUNT, false},
    [E_SHARE] = {"probability", NULL, BR2_VALUE_SHARE, false},
    [E_MISPREDICTED] = {"mispredicted", "records", BR2_VALUE_COUNT, false},
    [E_FROM_ADDRESS] = {"from", NULL, BR2_VALUE_ADDRESS, false},
    [E_TO_ADDRESS] = {"to", NULL, BR2_VALUE_ADDRESS, false},
    [E_NAME] = {"function", NULL, BR2_VALUE_TEXT, false},
};

static const struct br2_report_shape edge_shape = {
    .name = "block_edges",
    .section = "code",
    .title = "Edges between these blocks",
    .columns = edge_columns,
    .column_count = E_COLUMNS,
    .detail = true,
};

enum {
    N_FUNCTION,
    N_BLOCK,
    N_ADDRESS,
    N_SIZE,
    N_COUNT,
    N_TEXT,
    N_FILE,
    N_LINE,
    N_INLINED,
    N_NAME,
    N_COLUMNS
};

static const struct br2_report_column insn_columns[N_COLUMNS] = {
    [N_FUNCTION] = {"function_address", NULL, BR2_VALUE_ADDRESS, true},
    [N_BLOCK] = {"block", NULL, BR2_VALUE_COUNT, false},
    [N_ADDRESS] = {"address", NULL, BR2_VALUE_ADDRESS, false},
    [N_SIZE] = {"size", "bytes", BR2_VALUE_COUNT, true},
    [N_COUNT] = {"count", "executions", BR2_VALUE_COUNT, false},
    [N_TEXT] = {"text", NULL, BR2_VALUE_TEXT, false},
    [N_FILE] = {"file", NULL, BR2_VALUE_FILE, false},
    [N_LINE] = {"line", NULL, BR2_VALUE_LINE, false},
    [N_INLINED] = {"inlined", NULL, BR2_VALUE_TEXT, false},
    [N_NAME] = {"function", NULL, BR2_VALUE_TEXT, true},
};

static const struct br2_report_shape insn_shape = {
    .name = "instructions",
    .section = "code",
    .title = "Their instructions",
    .columns = insn_columns,
    .column_count = N_COLUMNS,
    .detail = true,
};

/* A function and its blocks. */
struct listing {
    struct br2_report_maker *maker;
    struct br2_report_table *table;
    struct br2_decoder *decoder;
    const struct br2_flow_function *function;
    struct br2_report_value name;
    struct br2_blocks blocks;
};

static size_t end_of(const struct listing *listing, size_t block)
{
    return block + 1 < listing->blocks.count ? listing->blocks.starts[block + 1]
                                             : listing->function->code.count;
}

static int add_block(const struct listing *listing, size_t block, struct br2pgo_error *err)
{
    const struct br2_flow_function *function = listing->function;
    size_t first = listing->blocks.starts[block];
    size_t end = end_of(listing, block);
    const struct br2_insn *last = &function->code.insns[end - 1];
    uint64_t executed = 0;
    for (size_t i = first; i < end; i++) {
        executed += function->counts[i];
    }
    struct br2_report_place place;
    uint64_t start = function->code.insns[first].address;
    int rc = br2_report_place(listing->maker, start, &place, err);
    struct br2_report_value *row = br2_report_row(listing->maker, listing->table, 0);
    row[B_FUNCTION] = br2_value_count(function->range->start);
    row[B_BLOCK] = br2_value_count(block);
    row[B_START] = br2_value_count(start);
    row[B_END] = br2_value_count(last->address + last->size);
    row[B_BYTES] = br2_value_count(last->address + last->size - start);
    row[B_INSNS] = br2_value_count(end - first);
    row[B_COUNT] = br2_value_count(br2_report_block_count(function, &listing->blocks, block));
    row[B_SHARE] = br2_value_share(executed, listing->maker->all_executed);
    row[B_FILE] = place.file;
    row[B_LINE] = place.line;
    row[B_NAME] = listing->name;
    return rc;
}

static int add_blocks(const struct listing *listing, struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < listing->blocks.count; i++) {
        rc = add_block(listing, i, err);
    }
    return rc;
}

static struct br2_report_value *add_edge(const struct listing *listing, size_t block, uint64_t to,
                                         enum br2_edge_kind kind, uint64_t count)
{
    const struct br2_flow_function *function = listing->function;
    size_t target = br2_code_find(&function->code, to);
    struct br2_report_value *row = br2_report_row(listing->maker, listing->table, 0);
    row[E_FUNCTION] = br2_value_count(function->range->start);
    row[E_FROM] = br2_value_count(block);
    if (target != SIZE_MAX) {
        row[E_TO] = br2_value_count(listing->blocks.block_of[target]);
    }
    row[E_KIND] = br2_value_text(br2_edge_kind_names[kind]);
    row[E_COUNT] = br2_value_count(count);
    row[E_FROM_ADDRESS] =
        br2_value_count(br2_block_last(&listing->blocks, &function->code, block)->address);
    row[E_TO_ADDRESS] = br2_value_count(to);
    row[E_NAME] = listing->name;
    return row;
}

/* What left a block: taken branches within the function, and the way to the block behind it. */
static void add_edges_of(const struct listing *listing, size_t block)
{
    const struct br2_flow_function *function = listing->function;
    const struct br2_flow_graph *graph = listing->maker->graph;
    size_t last = end_of(listing, block) - 1;
    const struct br2_insn *insn = &function->code.insns[last];
    uint64_t passed = function->counts[last] - function->ends[last];
    size_t count;
    size_t first = br2_flow_edges_from(graph, insn->address, &count);
    uint64_t taken = 0;
    for (size_t i = first; i < first + count; i++) {
        taken += graph->edges[i].count;
    }
    double probability =
        taken + passed != 0 ? br2_taken_probability(taken, function->ends[last], passed) : 0;
    bool inner = insn->kind != BR2_INSN_CALL && insn->kind != BR2_INSN_INDIRECT_CALL &&
                 insn->kind != BR2_INSN_RETURN;
    for (size_t i = first; inner && i < first + count; i++) {
        const struct br2_flow_edge *edge = &graph->edges[i];
        if (edge->to < function->code.start || edge->to >= function->code.end) {
            continue;
        }
        struct br2_report_value *row = add_edge(listing, block, edge->to, edge->kind, edge->count);
        row[E_SHARE] =
            br2_value_number(probability * ((double)edge->count / (double)(taken + !taken)));
        if (graph->predictions_known) {
            row[E_MISPREDICTED] = br2_value_count(edge->mispredicted);
        }
    }
    if (passed != 0 && block + 1 < listing->blocks.count) {
        uint64_t next = function->code.insns[last + 1].address;
        struct br2_report_value *row = add_edge(listing, block, next, BR2_EDGE_FALLTHROUGH, passed);
        row[E_SHARE] = br2_value_number(1 - probability);
    }
}

static int add_edges(const struct listing *listing, struct br2pgo_error *err)
{
    (void)err;
    for (size_t i = 0; i < listing->blocks.count; i++) {
        add_edges_of(listing, i);
    }
    return 0;
}

static int add_insn(const struct listing *listing, size_t index, struct br2pgo_error *err)
{
    const struct br2_flow_function *function = listing->function;
    const struct br2_insn *insn = &function->code.insns[index];
    struct br2_report_place place;
    int rc = br2_report_place(listing->maker, insn->address, &place, err);
    char text[160];
    br2_insn_text(listing->decoder, listing->maker->graph->image, insn, text, sizeof text);
    struct br2_report_value *row = br2_report_row(listing->maker, listing->table, 0);
    row[N_FUNCTION] = br2_value_count(function->range->start);
    row[N_BLOCK] = br2_value_count(listing->blocks.block_of[index]);
    row[N_ADDRESS] = br2_value_count(insn->address);
    row[N_SIZE] = br2_value_count(insn->size);
    row[N_COUNT] = br2_value_count(function->counts[index]);
    row[N_TEXT] = br2_value_copy(listing->maker, text);
    row[N_FILE] = place.file;
    row[N_LINE] = place.line;
    row[N_INLINED] = place.inlined;
    row[N_NAME] = listing->name;
    return rc;
}

static int add_insns(const struct listing *listing, struct br2pgo_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < listing->function->code.count; i++) {
        rc = add_insn(listing, i, err);
    }
    return rc;
}

/* One table, of all functions. */
static int add_table(struct listing *listing, const struct br2_report_shape *shape,
                     const uint32_t *functions, size_t count,
                     int (*add)(const struct listing *, struct br2pgo_error *),
                     struct br2pgo_error *err)
{
    struct br2_report_maker *maker = listing->maker;
    listing->table = br2_report_begin(maker, shape);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        listing->function = &maker->graph->functions[functions[i]];
        listing->name = br2_value_text(maker->names[functions[i]]);
        rc = br2_flow_blocks(maker->graph, functions[i], &listing->blocks, err);
        rc = rc != 0 ? rc : add(listing, err);
        br2_blocks_done(&listing->blocks);
    }
    return rc;
}

int br2_report_code(struct br2_report_maker *maker, struct br2pgo_error *err)
{
    struct listing listing = {.maker = maker};
    size_t count;
    uint32_t *functions = br2_report_hottest(maker, USUAL_FUNCTIONS, &count);
    if (functions == NULL) {
        return br2_fail_memory(err);
    }
    int rc = br2_decoder_new(br2_image_machine(maker->graph->image), &listing.decoder, err);
    rc = rc != 0 ? rc : add_table(&listing, &block_shape, functions, count, add_blocks, err);
    rc = rc != 0 ? rc : add_table(&listing, &edge_shape, functions, count, add_edges, err);
    rc = rc != 0 ? rc : add_table(&listing, &insn_shape, functions, count, add_insns, err);
    br2_decoder_free(listing.decoder);
    br2_free(functions);
    return rc;
}
