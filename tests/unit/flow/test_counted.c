/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* counted.c: what a recorder counted, and samples that occurred several times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "flow/counted.h"

/* One image, mapped at 0x1000 to 0x2000 with file offset 0. */
struct fixture {
    struct br2_spaces *spaces;
    uint32_t view;
    struct br2_folded folded;
    struct br2_count_stats stats;
    struct br2_counted_into into;
};

static void set_up(struct fixture *f)
{
    *f = (struct fixture){.spaces = br2_spaces_new()};
    struct br2_task_event event = {
        .kind = BR2_TASK_MMAP, .pid = 7, .address = 0x1000, .length = 0x1000, .name = "/a"};
    assert_int_equal(br2_spaces_add(f->spaces, &event, NULL), 0);
    assert_int_equal(br2_spaces_finish(f->spaces, NULL), 0);
    f->view = br2_spaces_view(f->spaces, 7, 0);
    f->into =
        (struct br2_counted_into){.folded = &f->folded, .spaces = f->spaces, .stats = &f->stats};
}

static void tear_down(struct fixture *f)
{
    br2_live_traces_done(&f->into.scratch);
    br2_folded_done(&f->folded);
    br2_spaces_free(f->spaces);
}

struct wanted {
    uint64_t from, to;
    uint32_t run, dso;
    uint64_t count, mispredicted;
};

static void check(const struct fixture *f, const struct wanted *wanted, size_t count)
{
    const struct br2_trace_table *table = &f->folded.traces;
    assert_int_equal(table->used, count);
    for (size_t k = 0; k < count; k++) {
        const struct wanted *w = &wanted[k];
        bool found = false;
        for (size_t i = 0; i < table->slot_count; i++) {
            const struct br2_trace *t = &table->slots[i];
            found = found || (t->count == w->count && t->from == w->from && t->to == w->to &&
                              t->run == w->run && t->mispredicted == w->mispredicted &&
                              br2_folded_pair(&f->folded, t->space).from == w->dso);
        }
        if (!found) {
            fail_msg("number %zu is not there", k);
        }
    }
}

static void test_counted(void **state)
{
    (void)state;
    struct fixture f;
    const struct br2_counted counted[] = {
        {.has_branch = true,
         .from = 0x1010,
         .to = 0x1020,
         .count = 3,
         .mispredicted = 1,
         .predicted = true},
        {.has_branch = true, .from = 0x1010, .to = 0x1020, .count = 4},
        {.has_branch = true,
         .has_run = true,
         .from = 0x1010,
         .to = 0x1020,
         .end = 0x102f,
         .count = 5},
        {.has_run = true,
         .from = 0x1099,
         .to = 0x1020,
         .end = 0x102f,
         .count = 6,
         .mispredicted = 6},
        {.has_run = true, .resumed = true, .to = 0x1020, .end = 0x102f, .count = 7},
        {.has_run = true, .to = 0x1020, .end = 0x101f, .count = 8},
    };
    static const struct wanted wanted[] = {
        {0x10, 0x20, BR2_RUN_NONE, 0, 7, 1},
        {0x10, 0x20, 0x10, 0, 5, 0},
        {0, 0x20, 0x10, BR2_DSO_RUN_ONLY, 6, 0},
        {0, 0x20, 0x10, BR2_DSO_RUN_RESUMED, 7, 0},
        {0, 0x20, BR2_RUN_IMPOSSIBLE, BR2_DSO_RUN_ONLY, 8, 0},
    };
    set_up(&f);
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        assert_true(br2_count_counted(&f.into, &counted[i], f.view));
    }
    check(&f, wanted, sizeof wanted / sizeof *wanted);
    assert_int_equal(f.stats.records, 12);
    assert_int_equal(f.stats.predictions, 3);
    assert_int_equal(f.stats.lone_runs, 21);
    tear_down(&f);
}

/* Histories that come several times: all is so many times as much. */
static void test_repeats(void **state)
{
    (void)state;
    struct fixture f;
    static const struct br2_branch_record records[] = {
        {0x1020, 0x1010, BR2_RECORD_MISPREDICTED},
        {0x1020, 0x1010, BR2_RECORD_MISPREDICTED},
        {0x1030, 0x1011, (uint64_t)BR2_SPEC_WRONG_PATH << 24},
        {0x1040, 0x1018, BR2_RECORD_PREDICTED},
        {0, 0, 0},
        {0x1050, 0x1011, 0},
    };
    static const struct wanted wanted[] = {
        {0x20, 0x10, BR2_RUN_REPEATED, 0, 15, 30},
        {0x40, 0x18, 9, 0, 15, 0},
    };
    struct br2_sample sample = {.records = (const uint8_t *)records, .count = 6, .repeats = 9};
    set_up(&f);
    sample.time = 50;
    assert_true(br2_count_repeats(&f.into, &sample, f.view));
    sample.time = 40;
    sample.repeats = 4;
    assert_true(br2_count_repeats(&f.into, &sample, f.view));
    check(&f, wanted, 2);
    const struct br2_count_stats stats = {.samples = 15,
                                          .first_time = 40,
                                          .records = 90,
                                          .depth = 6,
                                          .wrong_path = 15,
                                          .empty = 15,
                                          .stale = 15,
                                          .repeated = 15,
                                          .predictions = 45};
    assert_memory_equal(&f.stats, &stats, sizeof stats);
    tear_down(&f);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct fixture f;
    static const struct br2_branch_record record = {0x1020, 0x1010, 0};
    struct br2_sample sample = {.records = (const uint8_t *)&record, .count = 1, .repeats = 1};
    struct br2_counted counted = {.has_branch = true, .from = 0x1010, .to = 0x1020, .count = 3};
    set_up(&f);
    for (size_t nth = 1; nth <= 3; nth++) {
        br2_mem_fail_at(nth);
        bool repeats = br2_count_repeats(&f.into, &sample, f.view);
        br2_mem_fail_at(1);
        bool once = br2_count_counted(&f.into, &counted, f.view);
        br2_mem_fail_at(0);
        assert_false(repeats);
        assert_false(once);
        assert_int_equal(f.stats.samples, 0);
    }
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counted),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
