/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Is this record possible? Each distinct trace is held against the code once. */
#include "flow/flow_private.h"

#define PAGE_MASK UINT64_C(0xfff)

const char *const br2_branch_verdict_names[BR2_BRANCH_VERDICTS] = {
    [BR2_BRANCH_KEPT] = "kept",
    [BR2_BRANCH_ENTERS] = "kept, enters from outside",
    [BR2_BRANCH_OTHER_IMAGE] = "other image",
    [BR2_BRANCH_KERNEL] = "kernel side",
    [BR2_BRANCH_UNMAPPED] = "unmapped",
    [BR2_BRANCH_REPEATED] = "newest logged twice",
    [BR2_BRANCH_NO_CODE] = "in no known function",
    [BR2_BRANCH_NOT_A_BRANCH] = "not a branch",
    [BR2_BRANCH_WRONG_TARGET] = "wrong target",
    [BR2_BRANCH_INTO_INSN] = "into an instruction",
};

const char *const br2_run_verdict_names[BR2_RUN_VERDICTS] = {
    [BR2_RUN_KEPT] = "kept",
    [BR2_RUN_OTHER_IMAGE] = "outside the image",
    [BR2_RUN_BACKWARDS] = "ends before it starts",
    [BR2_RUN_LEAVES] = "leaves its mapping",
    [BR2_RUN_BAD_START] = "after a wrong target",
    [BR2_RUN_NO_CODE] = "in no known function",
    [BR2_RUN_INTO_INSN] = "starts or ends inside an instruction",
    [BR2_RUN_CROSSES] = "crosses into another function",
    [BR2_RUN_NO_TRANSFER] = "does not end in a branch",
    [BR2_RUN_PASSES_JUMP] = "passes an unconditional branch",
};

/* The kernel's code begins with _text. */
static bool kernel_address(const struct br2_segment *segment, uint64_t offset, uint64_t *ret)
{
    if (!br2_is_kernel_address(segment->address)) {
        return false;
    }
    *ret = segment->address + (offset - BR2_KERNEL_TEXT_OFFSET);
    return true;
}

bool br2_file_offset_address(const struct br2_image *image, uint64_t offset, uint64_t *ret)
{
    const struct br2_segment *segments;
    size_t count = br2_image_segments(image, &segments);
    for (size_t i = 0; i < count; i++) {
        const struct br2_segment *segment = &segments[i];
        if (offset >= BR2_KERNEL_TEXT_OFFSET && kernel_address(segment, offset, ret)) {
            return true;
        }
        if (offset >= segment->mapped_offset &&
            offset - segment->mapped_offset < segment->file_size) {
            *ret = offset - segment->mapped_offset + segment->address;
            return true;
        }
    }
    return false;
}

bool br2_folded_address(const struct br2_image *image, enum br2_address_base base, uint64_t folded,
                        uint64_t *ret)
{
    const struct br2_segment *segments;
    switch (base) {
    case BR2_BASE_LINK:
        *ret = folded;
        return true;
    case BR2_BASE_CODE_SEGMENT:
        return br2_image_segments(image, &segments) != 0 &&
               !__builtin_add_overflow(segments[0].address & ~PAGE_MASK, folded, ret);
    case BR2_BASE_FILE_OFFSET:
    case BR2_ADDRESS_BASES:
        break;
    }
    return br2_file_offset_address(image, folded, ret);
}

/* The link-time address of what a folded trace says. */
static bool get_address(const struct br2_flow_builder *builder, uint64_t folded, uint64_t *ret)
{
    return br2_folded_address(builder->image, builder->source->base, folded, ret);
}

bool br2_flow_holds(const struct br2_flow_builder *builder, uint32_t dso, uint64_t folded)
{
    uint64_t address;
    size_t size;
    if (!br2_flow_in_image(builder, dso)) {
        return false;
    }
    return !builder->source->of_file || (get_address(builder, folded, &address) &&
                                         br2_image_code(builder->image, address, &size) != NULL);
}

static bool is_kernel(const struct br2_flow_builder *builder, uint32_t dso)
{
    const struct br2_dsos *dsos = builder->source->dsos;
    return dso == BR2_DSO_KERNEL || (dso < dsos->count && dsos->items[dso].kernel);
}

static bool is_unmapped(uint32_t dso)
{
    return dso == BR2_DSO_UNMAPPED || dso == BR2_DSO_MISSING;
}

static enum br2_branch_verdict judge_outside(const struct br2_flow_builder *builder,
                                             struct br2_image_pair pair)
{
    if (is_kernel(builder, pair.from) || is_kernel(builder, pair.to)) {
        return BR2_BRANCH_KERNEL;
    }
    return is_unmapped(pair.from) && is_unmapped(pair.to) ? BR2_BRANCH_UNMAPPED
                                                          : BR2_BRANCH_OTHER_IMAGE;
}

static bool edge_kind_of(enum br2_insn_kind insn, enum br2_edge_kind *ret)
{
    switch (insn) {
    case BR2_INSN_COND:
        *ret = BR2_EDGE_COND;
        return true;
    case BR2_INSN_JUMP:
        *ret = BR2_EDGE_JUMP;
        return true;
    case BR2_INSN_CALL:
        *ret = BR2_EDGE_CALL;
        return true;
    case BR2_INSN_INDIRECT_CALL:
        *ret = BR2_EDGE_INDIRECT_CALL;
        return true;
    case BR2_INSN_INDIRECT_JUMP:
        *ret = BR2_EDGE_INDIRECT_JUMP;
        return true;
    case BR2_INSN_RETURN:
        *ret = BR2_EDGE_RETURN;
        return true;
    case BR2_INSN_PLAIN:
    case BR2_INSN_SYSCALL:
    case BR2_INSN_STOP:
    case BR2_INSN_INVALID:
        break;
    }
    return false;
}

/*
 * The conditional branch behind a compare, when there is one: AMD reports a fused compare and
 * branch at the compare (PPR, LbrExtV2), and only newer kernels correct it.
 */
static bool snap_to_fused_branch(const struct br2_flow_graph *graph, struct br2_spot *spot)
{
    const struct br2_code *code = &graph->functions[spot->function].code;
    if (code->insns[spot->insn].compares != 0 && spot->insn + 1 < code->count &&
        code->insns[spot->insn + 1].kind == BR2_INSN_COND) {
        spot->insn++;
        return true;
    }
    return false;
}

/* Judges the source; fills in its instruction and the kind of edge. */
static int judge_source(struct br2_flow_builder *builder, uint64_t offset,
                        struct br2_judged_branch *branch, struct br2pgo_error *err)
{
    uint64_t address;
    if (!get_address(builder, offset, &address)) {
        branch->verdict = BR2_BRANCH_NO_CODE;
        return 0;
    }
    struct br2_spot spot;
    int rc = br2_flow_find(builder, address, &spot, err);
    if (rc != 0) {
        return rc;
    }
    if (spot.function == BR2_NO_FUNCTION) {
        branch->verdict = BR2_BRANCH_NO_CODE;
        return 0;
    }
    if (spot.insn == SIZE_MAX) {
        branch->verdict = BR2_BRANCH_NOT_A_BRANCH;
        return 0;
    }
    const struct br2_insn *insn = br2_spot_insn(builder->graph, spot);
    if (!edge_kind_of(insn->kind, &branch->kind)) {
        if (!snap_to_fused_branch(builder->graph, &spot)) {
            branch->verdict = BR2_BRANCH_NOT_A_BRANCH;
            return 0;
        }
        branch->kind = BR2_EDGE_COND;
    }
    branch->source = spot;
    branch->from = br2_spot_insn(builder->graph, spot)->address;
    return 0;
}

/* Judges the target of a branch whose source is sound or outside. */
static int judge_target(struct br2_flow_builder *builder, uint64_t offset,
                        struct br2_judged_branch *branch, struct br2pgo_error *err)
{
    uint64_t address;
    if (!get_address(builder, offset, &address)) {
        branch->verdict = BR2_BRANCH_INTO_INSN;
        return 0;
    }
    struct br2_spot spot;
    int rc = br2_flow_find(builder, address, &spot, err);
    if (rc != 0) {
        return rc;
    }
    if (spot.function == BR2_NO_FUNCTION || spot.insn == SIZE_MAX) {
        branch->verdict = BR2_BRANCH_INTO_INSN;
        return 0;
    }
    branch->to = address;
    if (branch->verdict == BR2_BRANCH_ENTERS) {
        const struct br2_flow_function *function = &builder->graph->functions[spot.function];
        bool calls = address == function->range->start && !branch->resumes;
        branch->kind = calls ? BR2_EDGE_CALL : BR2_EDGE_RETURN;
    }
    return 0;
}

static bool goes_elsewhere(const struct br2_flow_graph *graph,
                           const struct br2_judged_branch *branch, bool to_in_image)
{
    uint64_t target = br2_spot_insn(graph, branch->source)->target;
    bool direct = branch->kind == BR2_EDGE_COND || branch->kind == BR2_EDGE_JUMP ||
                  branch->kind == BR2_EDGE_CALL;
    /* A module's branch to another module has no target of its own: the loader fills it in. */
    return direct && target != 0 && (!to_in_image || branch->to != target);
}

int br2_judge_branch(struct br2_flow_builder *builder, const struct br2_trace *trace,
                     struct br2_judged_branch *ret, struct br2pgo_error *err)
{
    struct br2_image_pair pair = br2_folded_pair(builder->source->folded, trace->space);
    bool from_in = br2_flow_holds(builder, pair.from, trace->from);
    bool to_in = br2_flow_holds(builder, pair.to, trace->to);
    *ret = (struct br2_judged_branch){
        .verdict = BR2_BRANCH_KEPT,
        .source = {.function = BR2_NO_FUNCTION, .insn = SIZE_MAX},
        .resumes = is_kernel(builder, pair.from) || pair.from == BR2_DSO_MISSING,
    };
    if (!from_in && !to_in) {
        ret->verdict = judge_outside(builder, pair);
        return 0;
    }
    if (from_in && !to_in && is_kernel(builder, pair.to) && !is_kernel(builder, pair.from)) {
        ret->verdict = BR2_BRANCH_KERNEL;
        return 0;
    }
    if (from_in && pair.to == BR2_DSO_MISSING) {
        ret->verdict = BR2_BRANCH_UNMAPPED;
        return 0;
    }
    int rc = 0;
    if (from_in) {
        rc = judge_source(builder, trace->from, ret, err);
    } else {
        ret->verdict = BR2_BRANCH_ENTERS;
    }
    if (rc != 0 || (ret->verdict != BR2_BRANCH_KEPT && ret->verdict != BR2_BRANCH_ENTERS)) {
        return rc;
    }
    if (to_in) {
        rc = judge_target(builder, trace->to, ret, err);
    }
    if (rc == 0 && from_in && goes_elsewhere(builder->graph, ret, to_in)) {
        ret->verdict = BR2_BRANCH_WRONG_TARGET;
    }
    return rc;
}

/* Whether straight-line execution gets from one instruction to the other. One indirect jump on the
 * way is reported in `*ret_passes`. */
static bool is_straight(const struct br2_flow_function *function, size_t first, size_t last,
                        const struct br2_insn **ret_passes)
{
    *ret_passes = NULL;
    size_t stop = function->stops[first];
    if (stop >= last) {
        return true;
    }
    if (function->code.insns[stop].kind != BR2_INSN_INDIRECT_JUMP ||
        function->stops[stop + 1] < last) {
        return false;
    }
    *ret_passes = &function->code.insns[stop];
    return true;
}

static enum br2_run_verdict judge_ends(const struct br2_flow_graph *graph, struct br2_spot first,
                                       struct br2_spot *last, const struct br2_insn **ret_passes)
{
    if (first.function == BR2_NO_FUNCTION || last->function == BR2_NO_FUNCTION) {
        return BR2_RUN_NO_CODE;
    }
    if (first.insn == SIZE_MAX || last->insn == SIZE_MAX) {
        return BR2_RUN_INTO_INSN;
    }
    if (first.function != last->function) {
        return BR2_RUN_CROSSES;
    }
    enum br2_edge_kind kind;
    enum br2_insn_kind insn = br2_spot_insn(graph, *last)->kind;
    if (!edge_kind_of(insn, &kind) && insn != BR2_INSN_SYSCALL && insn != BR2_INSN_STOP &&
        !snap_to_fused_branch(graph, last)) {
        return BR2_RUN_NO_TRANSFER;
    }
    return is_straight(&graph->functions[first.function], first.insn, last->insn, ret_passes)
               ? BR2_RUN_KEPT
               : BR2_RUN_PASSES_JUMP;
}

int br2_judge_run(struct br2_flow_builder *builder, uint64_t start_offset, uint64_t length,
                  struct br2_judged_run *ret, struct br2pgo_error *err)
{
    uint64_t start, end;
    *ret = (struct br2_judged_run){.verdict = BR2_RUN_NO_CODE};
    if (!get_address(builder, start_offset, &start) ||
        !get_address(builder, start_offset + length, &end)) {
        return 0;
    }
    struct br2_spot first, last;
    int rc = br2_flow_find(builder, start, &first, err);
    if (rc == 0) {
        rc = br2_flow_find(builder, end, &last, err);
    }
    if (rc != 0) {
        return rc;
    }
    ret->verdict = judge_ends(builder->graph, first, &last, &ret->passes);
    if (ret->verdict == BR2_RUN_KEPT) {
        ret->start = br2_spot_insn(builder->graph, first)->address;
        ret->end = br2_spot_insn(builder->graph, last)->address;
    }
    return 0;
}
