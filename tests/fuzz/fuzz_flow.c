/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as the code of a program, and as branch records in it: the first byte says how many are
 * code, then come records of three bytes, source and target. No record and no run is lost or made
 * up, and no sum exceeds what came in. */
#include <elf.h>
#include <string.h>

#include "base/mem.h"
#include "flow/edge_table.h"
#include "flow/flow_graph.h"
#include "fuzz.h"

#define TEXT    UINT64_C(0x401000)
#define CODE    256
#define RECORDS 64 /* in a history */

enum {
    AT_CODE = 0x1000,
    AT_SYMBOLS = AT_CODE + CODE,
    AT_NAMES = AT_SYMBOLS + 72
};

struct program {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    Elf64_Shdr sections[4];
    uint8_t padding[AT_CODE - sizeof(Elf64_Ehdr) - sizeof(Elf64_Phdr) - 4 * sizeof(Elf64_Shdr)];
    uint8_t code[CODE];
    Elf64_Sym symbols[3];
    char names[16];
};
_Static_assert(offsetof(struct program, names) == AT_NAMES, "the file is laid out as it says");

/* Two functions, of what code there is. */
static void make_program(struct program *program, const uint8_t *code, size_t size)
{
    static const char names[16] = "\0f\0g\0.text\0.sym";
    *program = (struct program){
        .header = {.e_type = ET_EXEC,
                   .e_machine = EM_X86_64,
                   .e_version = EV_CURRENT,
                   .e_entry = TEXT,
                   .e_phoff = sizeof(Elf64_Ehdr),
                   .e_shoff = offsetof(struct program, sections),
                   .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 1,
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = 4,
                   .e_shstrndx = 3},
        .segment = {.p_type = PT_LOAD,
                    .p_flags = PF_R | PF_X,
                    .p_offset = AT_CODE,
                    .p_vaddr = TEXT,
                    .p_filesz = CODE,
                    .p_memsz = CODE,
                    .p_align = 0x1000},
        .sections = {{0},
                     {.sh_name = 5,
                      .sh_type = SHT_PROGBITS,
                      .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                      .sh_addr = TEXT,
                      .sh_offset = AT_CODE,
                      .sh_size = CODE},
                     {.sh_name = 11,
                      .sh_type = SHT_SYMTAB,
                      .sh_offset = AT_SYMBOLS,
                      .sh_size = 72,
                      .sh_link = 3,
                      .sh_info = 1,
                      .sh_entsize = 24},
                     {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = AT_NAMES, .sh_size = 16}},
        .symbols = {{0},
                    {.st_name = 1,
                     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                     .st_shndx = 1,
                     .st_value = TEXT,
                     .st_size = size / 2},
                    {.st_name = 3,
                     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                     .st_shndx = 1,
                     .st_value = TEXT + size / 2,
                     .st_size = size - size / 2}},
    };
    memcpy(program->header.e_ident, ELFMAG, SELFMAG);
    program->header.e_ident[EI_CLASS] = ELFCLASS64;
    program->header.e_ident[EI_DATA] = ELFDATA2LSB;
    program->header.e_ident[EI_VERSION] = EV_CURRENT;
    memcpy(program->code, code, size);
    memcpy(program->names, names, sizeof names);
}

static struct br2_spaces *make_spaces(void)
{
    struct br2_spaces *spaces = br2_spaces_new();
    struct br2_task_event event = {
        .kind = BR2_TASK_MMAP,
        .pid = 7,
        .address = TEXT,
        .length = 0x1000,
        .file_offset = AT_CODE,
        .name = "/f",
    };
    if (br2_spaces_add(spaces, &event, NULL) != 0 || br2_spaces_finish(spaces, NULL) != 0) {
        __builtin_trap();
    }
    return spaces;
}

/* Three bytes: a bit above the second and third says that a side is outside. */
static struct br2_branch_record record_of(const uint8_t *bytes)
{
    return (struct br2_branch_record){
        .from = (bytes[2] & 0xf0) == 0xf0 ? (uint64_t)bytes[2] & 1 : TEXT + bytes[0],
        .to = (bytes[2] & 0xf) == 0xf ? 0x7000 : TEXT + bytes[1],
        .flags = bytes[2] & 1 ? BR2_RECORD_MISPREDICTED : BR2_RECORD_PREDICTED,
    };
}

static uint64_t count_all(struct br2_counting *counting, struct br2_spaces *spaces,
                          const uint8_t *data, size_t size)
{
    uint64_t records = 0;
    while (size >= 3) {
        uint8_t bytes[RECORDS * sizeof(struct br2_branch_record)];
        size_t count = 0;
        for (; size >= 3 && count < RECORDS; count++, data += 3, size -= 3) {
            struct br2_branch_record record = record_of(data);
            memcpy(bytes + count * sizeof record, &record, sizeof record);
        }
        struct br2_sample sample = {.pid = 7, .time = 1, .records = bytes, .count = count};
        if (!br2_count_sample(counting, &sample, br2_spaces_view(spaces, 7, 1))) {
            __builtin_trap();
        }
        records += count;
    }
    return records;
}

static uint64_t sum_of(const uint64_t *items, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += items[i];
    }
    return sum;
}

static void check_graph(const struct br2_flow_graph *graph, const struct br2_count_stats *stats)
{
    uint64_t counted = stats->records - stats->empty - stats->stale;
    uint64_t edges = 0;
    uint64_t runs = 0;
    for (size_t i = 0; i < graph->edge_count; i++) {
        edges += graph->edges[i].count;
    }
    for (size_t i = 0; i < graph->run_count; i++) {
        runs += graph->runs[i].count;
    }
    fuzz_require(sum_of(graph->branches, BR2_BRANCH_VERDICTS) == counted,
                 "every record has one verdict");
    fuzz_require(edges == graph->branches[BR2_BRANCH_KEPT] + graph->branches[BR2_BRANCH_ENTERS],
                 "edges add up to the records kept");
    fuzz_require(runs == graph->run_verdicts[BR2_RUN_KEPT], "runs add up to those kept");
    fuzz_require(runs <= counted && sum_of(graph->run_verdicts, BR2_RUN_VERDICTS) <= counted,
                 "there are no more runs than records");
    for (size_t i = 0; i < graph->function_count; i++) {
        const struct br2_flow_function *function = &graph->functions[i];
        for (size_t k = 0; k < function->code.count; k++) {
            fuzz_require(function->counts[k] <= runs && function->ends[k] <= function->counts[k],
                         "nothing ran more often than there are runs");
        }
        fuzz_require(function->entered <= edges, "nor was anything entered more often");
    }
}

static void check_edges(const struct br2_flow_graph *graph)
{
    struct br2_edge_table table = {0};
    if (br2_flow_graph_edges(graph, "f", &table, NULL) == 0) {
        for (size_t i = 0; i < table.count; i++) {
            const struct br2_edge *edge = &table.edges[i];
            fuzz_require(!edge->probability_known ||
                             (edge->probability >= 0 && edge->probability <= 1),
                         "a probability is one");
            fuzz_require(edge->mispredicted <= edge->count, "of its records some are mispredicted");
        }
    }
    br2_edge_table_done(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct program program;
    struct br2_image *image;
    char path[64];
    if (size < 2 || size - 1 < data[0]) {
        return 0;
    }
    make_program(&program, data + 1, data[0]);
    int fd = fuzz_file((const uint8_t *)&program, sizeof program, path);
    if (br2_image_open(path, &image, NULL) != 0) {
        __builtin_trap();
    }
    struct br2_spaces *spaces = make_spaces();
    struct br2_live_traces traces = {0};
    struct br2_counting counting = {.traces = &traces};
    struct br2_folded folded = {0};
    struct br2_flow_graph *graph;
    uint64_t records = count_all(&counting, spaces, data + 1 + data[0], size - 1 - data[0]);
    fuzz_require(counting.stats.records == records, "every record is counted");
    static const bool is_image[1] = {true};
    struct br2_flow_source source = {
        .folded = &folded, .dsos = br2_spaces_dsos(spaces), .is_image = is_image, .first_time = 1};
    struct br2_flow_evidence evidence = {&source, 1, true};
    if (br2_fold(&folded, spaces, &counting, NULL) == 0 &&
        br2_flow_graph_build(image, &evidence, &graph, NULL) == 0) {
        check_graph(graph, &counting.stats);
        check_edges(graph);
        br2_flow_graph_free(graph);
    }
    br2_folded_done(&folded);
    br2_live_traces_done(&traces);
    br2_spaces_free(spaces);
    br2_image_close(image);
    close(fd);
    return 0;
}
