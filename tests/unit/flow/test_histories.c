/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* loops.c, histories.c, paths.c: what whole histories say of loops and ways. */
#include "flow_case.h"

#include "base/mem.h"
#include "flow/histories.h"

#define CYC(n) ((uint64_t)(n) << 4)
#define M      BR2_RECORD_MISPREDICTED

/*
 *   _start 401000 call f; 401005 call n; 40100a hlt
 *   f      401010 nop; 401011 call g; 401016 dec; 401018 jne 401011; 40101a ret
 *   g      401020 je 401023; 401022 ret; 401023 jmp *rax
 *   n      401030 xor; 401032 mov; 401037 dec; 401039 jne 401037; 40103b dec; 40103d jne 401032;
 *          40103f ret
 *   two    401040 test; 401042 je 401046; 401044 inc; 401046 dec; 401048 jne 401044; 40104a ret
 */
#define PROGRAM                                                                                      \
    ".globl _start\n.type _start, @function\n_start: call f\ncall n\nhlt\n.size _start, .-_start\n"  \
    ".org 0x10, 0x90\n.type f, @function\nf: nop\n1: call g\ndec %edx\njne 1b\nret\n.size f, .-f\n"  \
    ".org 0x20, 0x90\n.type g, @function\ng: je 6f\nret\n6: jmp *%rax\n.size g, .-g\n"               \
    ".org 0x30, 0x90\n.type n, @function\nn: xor %eax, %eax\n2: mov $3, %ecx\n3: dec %ecx\njne 3b\n" \
    "dec %edx\njne 2b\nret\n.size n, .-n\n"                                                          \
    ".org 0x40, 0x90\n.type two, @function\ntwo: test %eax, %eax\nje 5f\n4: inc %ecx\n5: dec %edx\n" \
    "jne 4b\nret\n.size two, .-two\n"

struct history_case {
    struct flow_case fc;
    struct br2_histories histories;
};

/* Counts the histories and, once there is a graph, follows them. */
static void follow(struct history_case *hc, const struct br2_branch_record *records, size_t count)
{
    const struct br2_flow_graph *graph = hc->fc.graph;
    struct br2_step steps[64] = {0};
    for (size_t i = 0; i < count; i++) {
        bool outside = records[i].from >= FC_OTHER && records[i].to >= FC_OTHER;
        uint64_t from = records[i].from < FC_OTHER ? records[i].from : 0;
        uint64_t to = records[i].to < FC_OTHER ? records[i].to : 0;
        steps[i].edge = outside ? BR2_NO_EDGE : br2_flow_edge_number(graph, from, to);
        steps[i].cycles = br2_record_cycles(records[i].flags);
        steps[i].mispredicted = (records[i].flags & M) != 0;
        uint64_t start = i != 0 ? records[i - 1].to : 0;
        steps[i].joined =
            i != 0 && (start >= FC_OTHER ? from == 0 : br2_flow_has_run(graph, start, from));
    }
    struct br2_follower *follower = br2_follower_new(graph, &hc->histories);
    assert_true(br2_history_follow(follower, steps, count, 1));
    br2_follower_free(follower);
}

static void begin(struct history_case *hc, const struct br2_branch_record *records, size_t count)
{
    *hc = (struct history_case){0};
    fc_open(&hc->fc, PROGRAM, FC_TEXT);
    fc_history(&hc->fc, records, count);
    fc_build(&hc->fc);
    assert_int_equal(br2_histories_begin(hc->fc.graph, &hc->histories, NULL), 0);
}

static void end(struct history_case *hc)
{
    br2_histories_done(&hc->histories);
    fc_close(&hc->fc);
}

static uint32_t loop_at(const struct history_case *hc, uint64_t header)
{
    for (uint32_t i = 0; i < hc->histories.loops.count; i++) {
        if (hc->histories.loops.loops[i].header == header) {
            return i;
        }
    }
    return BR2_NO_LOOP;
}

static uint64_t visits(const struct history_case *hc, uint64_t header, uint64_t trips,
                       enum br2_trips kind)
{
    struct br2_trace wanted = {.from = loop_at(hc, header), .to = trips, .run = kind};
    return br2_trace_table_count(&hc->histories.trips, &wanted);
}

static uint64_t iterations(const struct history_case *hc, uint64_t header, uint64_t cycles)
{
    struct br2_trace wanted = {.from = loop_at(hc, header), .to = cycles};
    return br2_trace_table_count(&hc->histories.iterations, &wanted);
}

/* How often the way from `start` to `end` with so many taken branches was taken. */
static uint64_t ways(const struct history_case *hc, uint64_t start, uint64_t end, uint32_t taken)
{
    uint64_t count = 0;
    for (size_t i = 0; i < hc->histories.paths.ways.count; i++) {
        struct br2_path path;
        br2_paths_get(&hc->histories.paths, i, &path);
        bool same = path.start == start && path.end == end && path.count == taken;
        count += same ? hc->histories.paths.counts[i] : 0;
    }
    return count;
}

/* A call in a loop, and what it calls, is part of one time round. */
static void test_call_in_loop(void **state)
{
    (void)state;
    static const struct br2_branch_record records[] = {
        {0x401000, 0x401010, CYC(3)}, {0x401011, 0x401020, CYC(1)}, {0x401022, 0x401016, CYC(2)},
        {0x401018, 0x401011, CYC(4)}, {0x401011, 0x401020, CYC(1)}, {0x401022, 0x401016, CYC(20)},
        {0x401018, 0x401011, CYC(4)}, {0x401011, 0x401020, CYC(1)}, {0x401022, 0x401016, CYC(2)},
        {0x40101a, 0x401005, CYC(6)},
    };
    struct history_case hc;
    begin(&hc, records, 10);
    follow(&hc, records, 10);
    assert_int_equal(hc.histories.loops.count, 1);
    assert_int_equal(hc.histories.loops.loops[0].back, 0x401018);
    assert_int_equal(hc.histories.loops.loops[0].taken, 2);
    assert_int_equal(visits(&hc, 0x401011, 3, BR2_TRIPS_COMPLETE), 1);
    assert_int_equal(hc.histories.trips.used, 1);
    assert_int_equal(iterations(&hc, 0x401011, 25), 1); /* 1 + 20 + 4 */
    assert_int_equal(hc.histories.iterations.used, 1);
    assert_int_equal(ways(&hc, 0x401010, 0x401018, 0), 1);
    assert_int_equal(ways(&hc, 0x401011, 0x401018, 0), 1);
    assert_int_equal(ways(&hc, 0x401011, 0x40101a, 0), 1);
    assert_int_equal(ways(&hc, 0x401020, 0x401022, 0), 3);
    assert_int_equal(hc.histories.paths.all, 6);
    end(&hc);
}

/* A history sees a part of a visit only, at its beginning and at its end. */
static void test_cut(void **state)
{
    (void)state;
    static const struct br2_branch_record records[] = {
        {0x401018, 0x401011, 0}, {0x401011, 0x401020, 0}, {0x401022, 0x401016, 0},
        {0x40101a, 0x401005, M}, {0x401005, 0x401030, 0}, {0x401039, 0x401037, 0},
    };
    struct history_case hc;
    begin(&hc, records, 6);
    follow(&hc, records, 6);
    assert_int_equal(visits(&hc, 0x401011, 2, BR2_TRIPS_ENTERED), 1);
    assert_int_equal(visits(&hc, 0x401037, 2, BR2_TRIPS_CUT), 1);
    assert_int_equal(hc.histories.trips.used, 2);
    /* It left by falling through; the return that followed is of no loop. */
    assert_int_equal(hc.histories.visits[loop_at(&hc, 0x401011)].exits, 0);
    assert_int_equal(ways(&hc, 0x401011, 0x40101a, 0), 1);
    assert_int_equal(ways(&hc, 0x401030, 0x401039, 0), 1);
    assert_int_equal(hc.histories.paths.all, 3);
    end(&hc);
}

static void test_nested(void **state)
{
    (void)state;
    static const struct br2_branch_record records[] = {
        {0x401005, 0x401030, 0}, {0x401039, 0x401037, 0}, {0x40103d, 0x401032, 0},
        {0x401039, 0x401037, 0}, {0x401039, 0x401037, 0}, {0x40103f, 0x40100a, 0},
    };
    struct history_case hc;
    begin(&hc, records, 6);
    follow(&hc, records, 6);
    uint32_t inner = loop_at(&hc, 0x401037);
    uint32_t outer = loop_at(&hc, 0x401032);
    assert_int_equal(hc.histories.loops.loops[inner].parent, outer);
    assert_int_equal(hc.histories.loops.loops[outer].parent, BR2_NO_LOOP);
    assert_int_equal(hc.histories.loops.loops[outer].blocks, 3);
    assert_int_equal(visits(&hc, 0x401037, 2, BR2_TRIPS_COMPLETE), 1);
    assert_int_equal(visits(&hc, 0x401037, 3, BR2_TRIPS_COMPLETE), 1);
    assert_int_equal(visits(&hc, 0x401032, 2, BR2_TRIPS_COMPLETE), 1);
    assert_int_equal(hc.histories.trips.used, 3);
    end(&hc);
}

/* Code that is entered in the middle has no header: going back in it makes no loop, but ends a way.
 */
static void test_two_entries(void **state)
{
    (void)state;
    static const struct br2_branch_record records[] = {
        {0x401000, 0x401040, 0}, {0x401042, 0x401046, 0}, {0x401048, 0x401044, 0},
        {0x401048, 0x401044, 0}, {0x40104a, 0x401005, 0},
    };
    struct history_case hc = {0};
    fc_open(&hc.fc, PROGRAM, FC_TEXT);
    struct br2_branch_record changed[5];
    memcpy(changed, records, sizeof records);
    changed[0].from = FC_OTHER; /* it is not called directly */
    fc_history(&hc.fc, changed, 5);
    fc_build(&hc.fc);
    assert_int_equal(br2_histories_begin(hc.fc.graph, &hc.histories, NULL), 0);
    follow(&hc, changed, 5);
    assert_int_equal(hc.histories.loops.count, 0);
    assert_int_equal(ways(&hc, 0x401040, 0x401048, 1), 1);
    assert_int_equal(ways(&hc, 0x401044, 0x401048, 0), 1);
    assert_int_equal(ways(&hc, 0x401044, 0x40104a, 0), 1);
    end(&hc);
}

/* What runs in another image in between is no reason to forget where the call came from. */
static void test_outside(void **state)
{
    (void)state;
    static const struct br2_branch_record records[] = {
        {0x401000, 0x401010, 0}, {0x401011, 0x401020, 0},         {0x401020, 0x401023, 0},
        {0x401023, FC_OTHER, 0}, {FC_OTHER + 8, FC_OTHER + 2, 0}, {FC_OTHER + 4, 0x401016, 0},
        {0x401018, 0x401011, M}, {0x401011, 0x401020, 0},         {0x401022, 0x401016, 0},
        {0x40101a, 0x401005, 0},
    };
    struct history_case hc;
    begin(&hc, records, 10);
    follow(&hc, records, 10);
    assert_int_equal(visits(&hc, 0x401011, 2, BR2_TRIPS_COMPLETE), 1);
    assert_int_equal(hc.histories.trips.used, 1);
    assert_int_equal(ways(&hc, 0x401010, 0x401018, 0), 1);
    assert_int_equal(ways(&hc, 0x401020, 0x401023, 1), 1);
    end(&hc);
}

/* A return that does not go behind the call, as one by longjmp: what came before is given up. */
static void test_returns_elsewhere(void **state)
{
    (void)state;
    static const struct br2_branch_record records[] = {
        {0x401000, 0x401010, 0}, {0x401011, 0x401020, 0}, {0x401022, 0x40101a, 0},
        {0x40101a, 0x401005, 0}, {0x401018, 0x401011, 0}, /* so that there is a loop */
    };
    struct history_case hc;
    begin(&hc, records, 5);
    follow(&hc, records, 4);
    assert_int_equal(visits(&hc, 0x401011, 1, BR2_TRIPS_CUT), 1);
    assert_int_equal(hc.histories.trips.used, 1);
    assert_int_equal(ways(&hc, 0x401010, 0x40101a, 0), 0);
    end(&hc);
}

/* Of too many ways the rare ones are forgotten, and by how much the others may be short is said. */
static void test_many_paths(void **state)
{
    (void)state;
    struct br2_paths paths = {.limit = 8};
    struct br2_path path = {.start = 1, .end = 2};
    for (uint32_t i = 0; i < 1000; i++) {
        path.start = 1;
        assert_true(br2_paths_add(&paths, &path, 10));
        path.start = 100 + i;
        assert_true(br2_paths_add(&paths, &path, 1));
        assert_true(paths.ways.count <= 8);
    }
    assert_int_equal(paths.all, 11000);
    br2_paths_get(&paths, 0, &path);
    assert_int_equal(path.start, 1);
    assert_int_equal(paths.counts[0], 10000);
    assert_true(paths.error >= 1000 / 8 && paths.error < 1000);
    br2_paths_done(&paths);
}

static void test_no_memory(void **state)
{
    (void)state;
    static const struct br2_branch_record records[] = {
        {0x401005, 0x401030, 0}, {0x401039, 0x401037, 0}, {0x40103d, 0x401032, 0},
        {0x401039, 0x401037, 0}, {0x401039, 0x401037, 0}, {0x40103f, 0x40100a, 0},
    };
    struct history_case hc;
    begin(&hc, records, 6);
    br2_histories_done(&hc.histories);
    for (size_t nth = 1;; nth++) {
        br2_mem_fail_at(nth);
        int rc = br2_histories_begin(hc.fc.graph, &hc.histories, NULL);
        struct br2_follower *follower =
            rc == 0 ? br2_follower_new(hc.fc.graph, &hc.histories) : NULL;
        struct br2_step steps[6] = {
            {.edge = br2_flow_edge_number(hc.fc.graph, 0x401005, 0x401030)}};
        for (size_t i = 1; i < 6; i++) {
            steps[i].edge = br2_flow_edge_number(hc.fc.graph, records[i].from, records[i].to);
            steps[i].joined = true;
            steps[i].cycles = 3;
        }
        bool done = follower != NULL && br2_history_follow(follower, steps, 6, 1);
        br2_mem_fail_at(0);
        br2_follower_free(follower);
        br2_histories_done(&hc.histories);
        if (done) {
            assert_true(nth > 5);
            break;
        }
    }
    end(&hc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_in_loop),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_two_entries),
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_many_paths),
        cmocka_unit_test(test_returns_elsewhere),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
