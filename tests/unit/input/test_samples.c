/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Samples: every layout, several events, both byte orders, compressed. */
#include "recording.h"

#define STACK                                                                                      \
    " : 0x400100/0x400200/P/-/-/3/COND/SPEC_CORRECT_PATH 0x10/0x20/M/X/A/65535 0/0/-/-/-/0\n"
#define RECORDS " 400100>400200:3100032 10>20:ffffd 0>0:0\n"

static void expect_one(const char *description, const char *expected)
{
    struct recording r;
    open_recording(&r, description);
    tasks_of(&r);
    assert_string_equal(samples_of(&r, 0), expected);
    assert_int_equal(r.info->malformed_records, 0);
    assert_int_equal(r.info->events[0].samples, 1);
    close_recording(&r);
}

static void reads_every_field_before_the_stack(void **state)
{
    (void)state;
    expect_one(
        "event sample=IDENTIFIER,IP,TID,TIME,ADDR,ID,STREAM_ID,CPU,PERIOD,READ,CALLCHAIN,RAW,"
        "BRANCH_STACK read=ENABLED,RUNNING,ID,LOST\n"
        "sample pid=7 tid=8 time=99 ip=0x400100 period=5 callchain=1,2,3 raw=0102030405" STACK,
        "7/8 t99 400100 x5:" RECORDS);
    expect_one("event sample=IP,TID,TIME,READ,RAW,BRANCH_STACK read=GROUP,ID,LOST,ENABLED "
               "period=12\n"
               "sample pid=7 time=99 ip=0x400100 read_nr=3" STACK,
               "7/7 t99 400100 x12:" RECORDS);
}

/* Without a tid nothing says whose addresses these are. */
static void reads_samples_with_little_in_them(void **state)
{
    (void)state;
    expect_one("event sample=BRANCH_STACK period=3\nsample" STACK, "-1/-1 t1 0 x3:" RECORDS);
}

static void checks_the_fields_behind_the_stack(void **state)
{
    (void)state;
    const char *tail = "event sample=IP,BRANCH_STACK,REGS_USER,STACK_USER,WEIGHT,DATA_SRC,"
                       "TRANSACTION,REGS_INTR,PHYS_ADDR,AUX,CGROUP,DATA_PAGE_SIZE,CODE_PAGE_SIZE "
                       "regs_user=0xff00ff regs_intr=0x7\n"
                       "sample ip=1 regs_abi=2 stack=24 aux=16" STACK;
    expect_one(tail, "-1/-1 t1 1 x1000:" RECORDS);
    expect_one("event sample=IP,BRANCH_STACK,REGS_USER,STACK_USER regs_user=0xff\n"
               "sample ip=1" STACK,
               "-1/-1 t1 1 x1000:" RECORDS);
}

static void reads_hw_index_and_counters(void **state)
{
    (void)state;
    expect_one("event sample=IP,BRANCH_STACK branch=ANY,HW_INDEX\nsample" STACK,
               "-1/-1 t1 0 x1000:" RECORDS);
    expect_one("event sample=IP,BRANCH_STACK,WEIGHT branch=ANY,HW_INDEX,COUNTERS\nsample" STACK,
               "-1/-1 t1 0 x1000:" RECORDS);
}

/* perf inject writes branch_sample_type 0 and the hw_idx word. */
static void sees_through_a_wrong_branch_sample_type(void **state)
{
    (void)state;
    expect_one("event sample=IP,BRANCH_STACK branch=ANY,HW_INDEX lie\nsample" STACK,
               "-1/-1 t1 0 x1000:" RECORDS);
    expect_one("event sample=IP,BRANCH_STACK,WEIGHT branch=ANY,HW_INDEX,COUNTERS lie\nsample" STACK,
               "-1/-1 t1 0 x1000:" RECORDS);
}

static void reads_big_endian_files(void **state)
{
    (void)state;
    struct recording r;
    open_recording(&r, "endian big\n"
                       "event cycles:u freq=4000 sample=IP,TID,TIME,CALLCHAIN,RAW,BRANCH_STACK "
                       "precise=2 flags=exclude_kernel\n"
                       "feature hostname z\nfeature arch s390x\nfeature event_desc\n"
                       "sample pid=7 tid=8 time=99 ip=0x400100 callchain=1 raw=0102030405" STACK);
    assert_true(r.info->big_endian);
    assert_string_equal(r.info->arch, "s390x");
    assert_string_equal(r.info->events[0].name, "cycles:u");
    assert_true(r.info->events[0].frequency);
    assert_true(r.info->events[0].exclude_kernel);
    assert_false(r.info->events[0].exclude_user);
    assert_int_equal(r.info->events[0].precise, 2);
    tasks_of(&r);
    assert_string_equal(samples_of(&r, 0), "7/8 t99 400100 x4000:" RECORDS);
    close_recording(&r);
}

static const char several[] =
    "event cycles sample=IDENTIFIER,IP,TID,TIME,BRANCH_STACK ids=10,11\n"
    "event instructions sample=IDENTIFIER,IP,TID,TIME ids=20\n"
    "event branches sample=IDENTIFIER,IP,TID,TIME,CALLCHAIN,BRANCH_STACK ids=30,31\n"
    "sample event=0 id=11 ip=1 : 1/2/P/-/-/0\n"
    "sample event=1 ip=2\n"
    "sample event=2 id=31 ip=3 callchain=4,5 : 3/4/P/-/-/0\n"
    "sample event=0 id=99 ip=4 : 5/6/P/-/-/0\n"
    "sample event=0 id=0 ip=5 : 7/8/P/-/-/0\n";

static void gives_samples_to_their_events(void **state)
{
    (void)state;
    struct recording r;
    open_recording(&r, several);
    tasks_of(&r);
    assert_int_equal(r.info->samples, 5);
    assert_int_equal(r.info->unknown_event_samples, 1);
    assert_int_equal(r.info->events[0].samples, 2);
    assert_int_equal(r.info->events[1].samples, 1);
    assert_int_equal(r.info->events[2].samples, 1);
    assert_string_equal(samples_of(&r, 0), "1/1 t1 1 x1000: 1>2:2\n1/1 t5 5 x1000: 7>8:2\n");
    assert_string_equal(samples_of(&r, 1), "");
    assert_string_equal(samples_of(&r, 2), "1/1 t3 3 x1000: 3>4:2\n");
    /* All in one pass: in the order of the file, each with its own layout. */
    assert_string_equal(samples_of_set(&r, 7),
                        "1/1 t1 1 x1000: 1>2:2\n1/1 t3 3 x1000: 3>4:2\n1/1 t5 5 x1000: 7>8:2\n");
    close_recording(&r);
}

static int add_events(void *user, const struct br2_sample *sample, struct br2pgo_error *err)
{
    (void)err;
    char *at = user;
    at[strlen(at)] = (char)('0' + sample->event);
    return 0;
}

static void says_which_event_a_sample_is_of(void **state)
{
    (void)state;
    struct recording r;
    char events[8] = "";
    open_recording(&r, several);
    tasks_of(&r);
    const bool wanted[] = {true, true, true};
    assert_int_equal(br2_input_read_samples(r.input, wanted, add_events, events, NULL), 0);
    assert_string_equal(events, "020");
    close_recording(&r);
}

/* Malformed samples are known per event; another event's reading does not forget them. */
static void counts_malformed_samples_by_event(void **state)
{
    (void)state;
    struct recording r;
    open_recording(&r, "event a sample=IDENTIFIER,CALLCHAIN,BRANCH_STACK ids=10\n"
                       "event b sample=IDENTIFIER,CALLCHAIN,BRANCH_STACK ids=20\n"
                       "sample event=0 id=10 nr=9 : 1/2/P/-/-/0\n"
                       "sample event=1 id=20 nr=9 : 1/2/P/-/-/0\n"
                       "sample event=1 id=20 nr=8 : 1/2/P/-/-/0\n");
    tasks_of(&r);
    samples_of(&r, 1);
    assert_int_equal(r.info->events[0].malformed_samples, 0);
    assert_int_equal(r.info->events[1].malformed_samples, 2);
    samples_of(&r, 0);
    assert_int_equal(r.info->events[0].malformed_samples, 1);
    assert_int_equal(r.info->malformed_records, 3);
    samples_of_set(&r, 3);
    assert_int_equal(r.info->malformed_records, 3);
    close_recording(&r);
}

/* Which event a sample has must be guessed when there is no id and layouts differ: it is not. */
static void does_not_guess_events(void **state)
{
    (void)state;
    struct recording r;
    open_recording(&r, "event sample=IP,BRANCH_STACK\nevent sample=IP,TID,BRANCH_STACK\n"
                       "sample ip=1 : 1/2/P/-/-/0\n");
    tasks_of(&r);
    assert_int_equal(r.info->unknown_event_samples, 1);
    assert_string_equal(samples_of(&r, 0), "");
    close_recording(&r);

    open_recording(&r, "event sample=IP,BRANCH_STACK\nevent sample=IP,BRANCH_STACK\n"
                       "sample event=1 ip=1 : 1/2/P/-/-/0\n");
    tasks_of(&r);
    assert_string_equal(samples_of(&r, 0), "-1/-1 t1 1 x1000: 1>2:2\n");
    close_recording(&r);
}

/* Read twice, to see that nothing is counted twice. */
static void counts_malformed_samples(void **state)
{
    (void)state;
    struct recording r;
    open_recording(&r, "event sample=IP,CALLCHAIN,BRANCH_STACK\n"
                       "sample ip=1 nr=0x1000000000000001 : 1/2/P/-/-/0\n"
                       "sample ip=2 nr=3 : 1/2/P/-/-/0\n"
                       "record type=9 body=00\n"
                       "record type=9 body=0100000000000000ffffffffffffffff\n"
                       "sample ip=3 :\n"
                       "sample ip=4 : 3/4/P/-/-/0\n");
    tasks_of(&r);
    assert_string_equal(samples_of(&r, 0), "-1/-1 t6 4 x1000: 3>4:2\n");
    assert_string_equal(samples_of(&r, 0), "-1/-1 t6 4 x1000: 3>4:2\n");
    assert_int_equal(r.info->malformed_records, 4);
    assert_int_equal(r.info->samples, 6);
    close_recording(&r);
}

/* Twenty samples and what the recorder wrote around them, in blocks as `form` says. */
static void open_blocks(struct recording *r, const char *form)
{
    char description[512];
    snprintf(description, sizeof description,
             "event sample=IP,TID,TIME,BRANCH_STACK\n"
             "mmap2 pid=7 addr=0x400000 len=0x1000 name=/bin/a\n"
             "%s\nrepeat 20\nsample pid=7 ip=i : i*4/i*8/P/-/-/1 1/2/M/-/-/0\nend\nend\n"
             "sample pid=7 ip=77 : 3/4/P/-/-/1\n",
             form);
    open_recording(r, description);
}

/* Events straddle the compressed records. */
static void reads_compressed_records(void **state)
{
    (void)state;
    static const char *const forms[] = {"compress 100", "compress 1000 v2"};
    struct recording plain;
    open_blocks(&plain, "repeat 1");
    tasks_of(&plain);
    assert_false(plain.info->compressed);
    samples_of(&plain, 0);
    for (size_t form = 0; form < 2; form++) {
        struct recording packed;
        open_blocks(&packed, forms[form]);
        tasks_of(&packed);
        assert_true(packed.info->compressed);
        assert_int_equal(packed.info->truncation, BR2_WHOLE);
        assert_int_equal(packed.info->samples, 21);
        assert_string_equal(samples_of(&packed, 0), (const char *)plain.text.bytes);
        close_recording(&packed);
    }
    close_recording(&plain);
}

/* What a first pass hands out early, told as text, and whether that was all. */
static bool read_early(struct recording *r)
{
    bool wanted[] = {true};
    struct br2_buf tasks = {0};
    struct br2_early_samples early = {.wanted = wanted, .sink = tell_sample, .user = &r->text};
    br2_buf_done(&r->text);
    r->text = (struct br2_buf){0};
    assert_int_equal(br2_input_read_tasks_early(r->input, tell_task, &tasks, &early, NULL), 0);
    br2_buf_u8(&r->text, 0);
    br2_buf_done(&tasks);
    return early.all;
}

/* Compressed samples are all handed out in the first pass, unless others are among them. */
static void hands_out_compressed_samples_early(void **state)
{
    (void)state;
    const char *description = "event sample=IP,TID,TIME,BRANCH_STACK\ncompress 100\n"
                              "repeat 5\nsample pid=7 ip=i : i*4/i*8/P/-/-/1\nend\n"
                              "mmap2 pid=7 addr=0x400000 len=0x1000 name=/bin/a\nend\n";
    struct recording r;
    struct recording twice;
    open_recording(&r, description);
    open_recording(&twice, description);
    tasks_of(&twice);
    samples_of(&twice, 0);
    assert_true(read_early(&r));
    assert_int_equal(r.info->samples, 5);
    assert_string_equal((const char *)r.text.bytes, (const char *)twice.text.bytes);
    close_recording(&twice);
    close_recording(&r);
    open_blocks(&r, "compress 100");
    assert_false(read_early(&r));
    assert_int_equal(r.info->samples, 21);
    assert_non_null(strstr(samples_of(&r, 0), " 3>4:"));
    close_recording(&r);
    open_blocks(&r, "repeat 1");
    assert_false(read_early(&r));
    assert_string_equal((const char *)r.text.bytes, "");
    close_recording(&r);
}

static void stops_at_compressed_rubbish(void **state)
{
    (void)state;
    struct recording r;
    open_recording(&r, "event sample=IP,BRANCH_STACK\nsample ip=1 : 1/2/P/-/-/0\n"
                       "record type=81 body=0102030405060708\nsample ip=2 : 1/2/P/-/-/0\n");
    tasks_of(&r);
    assert_int_equal(r.info->truncation, BR2_BROKEN);
    assert_int_equal(r.info->bytes_read, 48);
    assert_int_equal(r.info->bytes_lost, 16 + 48);
    assert_string_equal(samples_of(&r, 0), "-1/-1 t1 1 x1000: 1>2:2\n");
    close_recording(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_field_before_the_stack),
        cmocka_unit_test(reads_samples_with_little_in_them),
        cmocka_unit_test(checks_the_fields_behind_the_stack),
        cmocka_unit_test(reads_hw_index_and_counters),
        cmocka_unit_test(sees_through_a_wrong_branch_sample_type),
        cmocka_unit_test(reads_big_endian_files),
        cmocka_unit_test(gives_samples_to_their_events),
        cmocka_unit_test(says_which_event_a_sample_is_of),
        cmocka_unit_test(counts_malformed_samples_by_event),
        cmocka_unit_test(does_not_guess_events),
        cmocka_unit_test(counts_malformed_samples),
        cmocka_unit_test(reads_compressed_records),
        cmocka_unit_test(hands_out_compressed_samples_early),
        cmocka_unit_test(stops_at_compressed_rubbish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
