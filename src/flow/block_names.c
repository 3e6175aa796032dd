/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The names of a block flow's functions: those of the symbol table, of stubs what they lead to. */
#include <string.h>

#include "base/mem.h"
#include "flow/block_private.h"

struct naming {
    const struct br2_flow_graph *graph;
    struct br2_block_flow *flow;
    const struct br2_symbol_names *symbols;
    struct br2_code_section section; /* of the last stub without a name */
};

/* The text that a PLT stub's range has behind the name of what it leads to; NULL: no stub with a
 * name. */
static const char *end_of_stub_name(const struct br2_code_range *range)
{
    size_t length = strlen(range->name);
    bool named = length > 4 && strcmp(range->name + length - 4, "@plt") == 0;
    return range->plt && named ? range->name + length - 4 : NULL;
}

static int name_function(struct naming *naming, size_t index, struct br2pgo_error *err)
{
    const struct br2_code_range *range = naming->graph->functions[index].range;
    const struct br2_symbol_name *symbol = br2_symbol_names_at(naming->symbols, range->start);
    struct br2_block_function *function = &naming->flow->functions[index];
    const char *name = "";
    size_t length = 0;
    function->start = range->start;
    if (symbol != NULL) {
        name = symbol->name;
        length = strlen(name);
        function->local = symbol->local;
    } else if (range->plt && end_of_stub_name(range) != NULL) {
        name = range->name;
        length = (size_t)(end_of_stub_name(range) - name);
        function->plt = true;
    } else if (range->plt) {
        /* Stubs of one section follow each other: mostly it is the last one's. */
        struct br2_code_section *section = &naming->section;
        function->section = (range->start >= section->start && range->start < section->end) ||
                            br2_image_section_at(naming->graph->image, range->start, section);
        function->start = function->section ? section->start : range->start;
        name = function->section ? section->name : "";
        length = strlen(name);
    }
    function->name = br2_strings_add(&naming->flow->names, name, length);
    function->file = br2_strings_add(&naming->flow->names, "", 0);
    bool ok = function->name != BR2_NO_STRING && function->file != BR2_NO_STRING;
    return ok ? 0 : br2_fail_memory(err);
}

int br2_block_flow_name(struct br2_block_flow *flow, const struct br2_flow_graph *graph,
                        const struct br2_symbol_names *symbols, struct br2pgo_error *err)
{
    struct naming naming = {.graph = graph, .flow = flow, .symbols = symbols};
    flow->functions = br2_calloc(graph->function_count, sizeof *flow->functions);
    if (flow->functions == NULL) {
        return br2_fail_memory(err);
    }
    flow->function_count = graph->function_count;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < graph->function_count; i++) {
        rc = name_function(&naming, i, err);
    }
    return rc;
}
