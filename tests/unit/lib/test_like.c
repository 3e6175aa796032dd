/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Recordings of one kind are counted together, those of others are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "lib/conversion.h"

#define MMAP "mmap2 pid=7 addr=0x400000 len=0x2000 off=0 maj=8 min=1 ino="
#define APP  " buildid=" FIXTURE_BUILD_ID " name=/opt/app\n"

/* work() is seen 5 after the first sample in the one, 2 in the other, at other addresses. */
#define EARLY                                                                                      \
    FIXTURE_EVENT "comm pid=7 exec name=app\n" MMAP "77" APP                                       \
                  "sample pid=7 time=1000 : 0x401005/0x401000/P/-/-/1\n"                           \
                  "sample pid=7 time=1005 : " FIXTURE_HISTORY
#define LATE                                                                                       \
    FIXTURE_EVENT "comm pid=9 exec name=app\n"                                                     \
                  "mmap2 pid=9 addr=0x7f0000400000 len=0x2000 off=0 maj=8 min=1 ino=77" APP        \
                  "sample pid=9 time=5000 : 0x7f0000401005/0x7f0000401000/P/-/-/1\n"               \
                  "sample pid=9 time=5002 : 0x7f0000401000/0x7f0000401010/P/-/-/1\n"

static struct br2pgo_error error;

static struct br2pgo_conversion *convert(const char *const *texts, const char *const *weights,
                                         size_t count, const struct br2pgo_options *options)
{
    struct br2pgo_conversion *conversion;
    assert_int_equal(br2pgo_open(options, &conversion, &error), 0);
    for (size_t i = 0; i < count; i++) {
        char path[32];
        snprintf(path, sizeof path, "%zu.data", i);
        fixture_recording(path, texts[i]);
        assert_int_equal(br2pgo_set_weight(conversion, weights[i], &error), 0);
        assert_int_equal(br2pgo_add_recording(conversion, path, &error), 0);
    }
    assert_int_equal(br2pgo_set_image(conversion, "app", &error), 0);
    assert_int_equal(br2pgo_add_output(conversion, "a.edges.csv", NULL, &error), 0);
    if (br2pgo_run(conversion, &error) != 0) {
        fail_msg("%s", error.message);
    }
    return conversion;
}

static uint64_t calls(const struct br2pgo_conversion *conversion)
{
    const struct br2_flow_graph *graph = conversion->graph;
    for (size_t i = 0; i < graph->edge_count; i++) {
        if (graph->edges[i].from == 0x401000) {
            return graph->edges[i].count;
        }
    }
    return 0;
}

static uint64_t first_seen(const struct br2pgo_conversion *conversion, uint64_t address)
{
    uint32_t number = br2_flow_graph_function(conversion->graph, address);
    assert_int_not_equal(number, BR2_NO_FUNCTION);
    return conversion->graph->functions[number].first_seen;
}

static void test_alike(void **state)
{
    (void)state;
    const char *texts[] = {EARLY, LATE, EARLY};
    const char *weights[] = {"3", "3", "3"};
    struct br2pgo_conversion *conversion = convert(texts, weights, 3, NULL);
    const struct br2_recording *recordings = conversion->recordings;
    assert_null(recordings[0].first_alike);
    assert_ptr_equal(recordings[1].first_alike, &recordings[0]);
    assert_ptr_equal(recordings[2].first_alike, &recordings[0]);
    assert_null(recordings[1].input);
    assert_null(recordings[1].spaces);
    assert_int_equal(recordings[1].folded.traces.slot_count, 0);
    assert_int_equal(recordings[1].stats.samples, 2);
    assert_int_equal(recordings[1].samples, 2);
    assert_int_equal(recordings[1].sources[0], 2);
    assert_int_equal(recordings[0].sources[0], 7);
    assert_int_equal(calls(conversion), 5);
    assert_int_equal(first_seen(conversion, 0x401000), 1);
    assert_int_equal(first_seen(conversion, 0x401010), 3);
    br2pgo_close(conversion);
}

static void test_other_weight(void **state)
{
    (void)state;
    const char *texts[] = {EARLY, LATE, LATE, EARLY};
    const char *weights[] = {"1", "10", "1", "10"};
    struct br2pgo_conversion *conversion = convert(texts, weights, 4, NULL);
    const struct br2_recording *recordings = conversion->recordings;
    assert_null(recordings[1].first_alike);
    assert_ptr_equal(recordings[2].first_alike, &recordings[0]);
    assert_ptr_equal(recordings[3].first_alike, &recordings[1]);
    assert_int_equal(calls(conversion), 2 + 10 + 1 + 20);
    assert_int_equal(recordings[3].sources[0], 70);
    assert_int_equal(first_seen(conversion, 0x401010), 3);
    br2pgo_close(conversion);
}

static void test_other_images(void **state)
{
    (void)state;
    const char *texts[] = {EARLY,
                           FIXTURE_EVENT "comm pid=7 exec name=app\n" MMAP
                                         "78 buildid=" FIXTURE_BUILD_ID " name=/srv/app\n"
                                         "sample pid=7 : " FIXTURE_HISTORY,
                           FIXTURE_EVENT "comm pid=7 exec name=app\n" MMAP "77" APP
                                         "mmap2 pid=7 addr=0x900000 len=0x1000 off=0 name=/opt/b\n"
                                         "sample pid=7 : " FIXTURE_HISTORY,
                           FIXTURE_EVENT "comm pid=7 exec name=app\n"
                                         "mmap2 pid=7 addr=0x400000 len=0x3000 off=0 maj=8 min=1 "
                                         "ino=77" APP "sample pid=7 : " FIXTURE_HISTORY};
    const char *weights[] = {"1", "1", "1", "1"};
    struct br2pgo_conversion *conversion = convert(texts, weights, 4, NULL);
    for (size_t i = 0; i < 4; i++) {
        assert_null(conversion->recordings[i].first_alike);
    }
    assert_int_equal(calls(conversion), 8);
    br2pgo_close(conversion);
}

/* Counts by recording are needed where rare branches are left out. */
static void test_rare(void **state)
{
    (void)state;
    const char *texts[] = {EARLY, LATE};
    const char *weights[] = {"1", "1"};
    struct br2pgo_options options = BR2PGO_OPTIONS_INIT;
    options.min_count = 3;
    struct br2pgo_conversion *conversion = convert(texts, weights, 2, &options);
    assert_null(conversion->recordings[1].first_alike);
    assert_int_equal(calls(conversion), 3);
    br2pgo_close(conversion);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_other_weight),
        cmocka_unit_test(test_other_images),
        cmocka_unit_test(test_rare),
    };
    fixture_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fixture_end();
    return failed;
}
