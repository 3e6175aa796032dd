/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* blocks.c: where blocks begin. */
#include "block_case.h"

#include "base/mem.h"
#include "flow/blocks.h"

static struct br2_code decode(struct flow_case *fc, uint64_t start, uint64_t end)
{
    struct br2_decoder *decoder;
    struct br2_code code;
    assert_int_equal(br2_decoder_new(BR2_MACHINE_X86_64, &decoder, NULL), 0);
    assert_int_equal(br2_code_decode(decoder, fc->image, start, end, &code, NULL), 0);
    br2_decoder_free(decoder);
    return code;
}

static void check(const struct br2_code *code, const struct br2_addresses *targets,
                  const struct br2_addresses *entries, const uint64_t *starts, size_t count)
{
    struct br2_blocks blocks;
    assert_int_equal(br2_blocks_find(code, targets, entries, &blocks, NULL), 0);
    assert_int_equal(blocks.count, count);
    for (size_t i = 0; i < count; i++) {
        size_t first = blocks.starts[i];
        size_t end = i + 1 < count ? blocks.starts[i + 1] : code->count;
        assert_int_equal(code->insns[first].address, starts[i]);
        assert_ptr_equal(br2_block_last(&blocks, code, i), &code->insns[end - 1]);
        for (size_t k = first; k < end; k++) {
            assert_int_equal(blocks.block_of[k], i);
        }
    }
    br2_blocks_done(&blocks);
}

/* A jump belongs to the block of the branch before it, unless one of the two leaves the function; a
 * call ends no block, but its target inside the function begins one. */
static void test_direct(void **state)
{
    (void)state;
    static const uint64_t starts[] = {0x401000, 0x401007, 0x401008, 0x40100d,
                                      0x401011, 0x401013, 0x401015, 0x40101a};
    struct br2_addresses none = {0};
    struct flow_case fc;
    fc_open(&fc, BC_PROGRAM, BC_TEXT);
    struct br2_code code = decode(&fc, BC_TEXT, BC_TEXT + 0x1c);
    check(&code, &none, &none, starts, 8);
    br2_code_done(&code);
    fc_close(&fc);
}

/* A jump joins a branch only if both stay in the function. */
static void test_joining(void **state)
{
    (void)state;
    static const struct {
        uint64_t branch;
        uint64_t jump;
        size_t blocks;
    } cases[] = {{1, 1, 3}, {1, 99, 4}, {99, 1, 4}, {99, 99, 3}};
    struct br2_addresses none = {0};
    for (size_t i = 0; i < 4; i++) {
        struct br2_insn insns[] = {
            {.address = 0, .size = 1, .kind = BR2_INSN_PLAIN},
            {.address = 1, .size = 1, .kind = BR2_INSN_PLAIN},
            {.address = 2, .size = 1, .kind = BR2_INSN_COND, .target = cases[i].branch},
            {.address = 3, .size = 1, .kind = BR2_INSN_JUMP, .target = cases[i].jump},
            {.address = 4, .size = 1, .kind = BR2_INSN_RETURN},
        };
        struct br2_code code = {.start = 0, .end = 5, .insns = insns, .count = 5};
        struct br2_blocks blocks;
        assert_int_equal(br2_blocks_find(&code, &none, &none, &blocks, NULL), 0);
        assert_int_equal(blocks.count, cases[i].blocks);
        br2_blocks_done(&blocks);
    }
}

/* Targets of tables and entries are taken where an instruction begins, and no others. */
static void test_given(void **state)
{
    (void)state;
    static const uint64_t starts[] = {0x401030, 0x401040, 0x401042, 0x401043,
                                      0x401047, 0x401049, 0x40104a};
    uint64_t target[] = {0x400000, 0x401038, 0x401042, 0x500000};
    uint64_t entry[] = {0x401049};
    struct br2_addresses targets = {.items = target, .count = 4};
    struct br2_addresses entries = {.items = entry, .count = 1};
    struct flow_case fc;
    fc_open(&fc, BC_PROGRAM, BC_TEXT);
    struct br2_code code = decode(&fc, BC_TEXT + 0x30, BC_TEXT + 0x4c);
    check(&code, &targets, &entries, starts, 7);
    br2_code_done(&code);
    fc_close(&fc);
}

static void test_nothing(void **state)
{
    (void)state;
    struct br2_code code = {.start = 1, .end = 1};
    struct br2_addresses none = {0};
    check(&code, &none, &none, NULL, 0);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct br2_addresses none = {0};
    struct br2_blocks blocks;
    struct flow_case fc;
    fc_open(&fc, BC_PROGRAM, BC_TEXT);
    struct br2_code code = decode(&fc, BC_TEXT, BC_TEXT + 0x1c);
    for (size_t nth = 1; nth <= 2; nth++) {
        br2_mem_fail_at(nth);
        assert_int_equal(br2_blocks_find(&code, &none, &none, &blocks, NULL), BR2PGO_NO_MEMORY);
        br2_mem_fail_at(0);
    }
    br2_code_done(&code);
    fc_close(&fc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct),         cmocka_unit_test(test_joining),
        cmocka_unit_test(test_given),          cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
