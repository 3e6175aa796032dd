/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The first pass: processes, mappings, times, counts. */
#include "recording.h"

#define TRACKED "event sample=IP,TID,TIME,CPU,BRANCH_STACK\n"

static void expect_tasks(const char *description, const char *expected)
{
    struct recording r;
    open_recording(&r, description);
    assert_string_equal(tasks_of(&r), expected);
    assert_int_equal(r.info->malformed_records, 0);
    close_recording(&r);
}

static void reads_mappings(void **state)
{
    (void)state;
    expect_tasks(
        TRACKED
        "mmap pid=-1 kernel addr=0xffffffff81000000 len=0x2000 off=0x10 name=[kernel]_text\n"
        "mmap pid=7 data addr=0x7000 len=0x1000 name=//anon\n"
        "mmap2 pid=7 addr=0x400000 len=0x1000 off=0x3000 maj=8 min=2 ino=77 gen=3 "
        "name=/bin/ls time=50\n"
        "mmap2 pid=7 addr=0x500000 len=0x1000 buildid=0123456789abcdef name=/bin/b\n"
        "mmap2 pid=7 addr=0x600000 len=0x1000 prot=1 name=/bin/c\n"
        "mmap2 pid=-1 kernel addr=0x700000 len=0x1000 prot=0 name=k\n"
        "mmap2 pid=7 addr=0x800000 len=0x1000 maj=8 min=2 ino=78 noprot name=/bin/d\n",
        "mmap -1 t1 kernel ffffffff81000000+2000@10 0:0/0/0  [kernel]_text\n"
        "mmap 7 t2 data 7000+1000@0 0:0/0/0  //anon\n"
        "mmap 7 t50 400000+1000@3000 8:2/77/3  /bin/ls\n"
        "mmap 7 t51 500000+1000@0 0:0/0/0 0123456789abcdef /bin/b\n"
        "mmap 7 t52 data 600000+1000@0 0:0/0/0  /bin/c\n"
        "mmap -1 t53 kernel 700000+1000@0 0:0/0/0  k\n"
        "mmap 7 t54 800000+1000@0 8:2/78/0  /bin/d\n");
}

static void tells_processes_from_threads(void **state)
{
    (void)state;
    expect_tasks(TRACKED "comm pid=7 exec name=first\n"
                         "comm pid=7 tid=8 name=worker\n"
                         "fork pid=7 ppid=7 tid=9\n"
                         "fork pid=20 ppid=7\n"
                         "fork pid=30 ppid=1 synthesised\n"
                         "comm pid=20 name=second\n"
                         "exit pid=7 tid=9\n"
                         "exit pid=20 time=90\n",
                 "comm 7 t1 exec first\nfork 20 t4 of 7\ncomm 20 t6 second\nexit 20 t90\n");
}

static void reads_big_endian_records(void **state)
{
    (void)state;
    expect_tasks("endian big\n" TRACKED
                 "mmap2 pid=7 addr=0x400000 len=0x1000 off=0x3000 maj=8 min=2 ino=77 gen=3 "
                 "name=/bin/ls time=50\n"
                 "mmap2 pid=7 addr=0x500000 len=0x1000 buildid=0123456789abcdef name=/bin/b\n"
                 "fork pid=20 ppid=7\n",
                 "mmap 7 t50 400000+1000@3000 8:2/77/3  /bin/ls\n"
                 "mmap 7 t51 500000+1000@0 0:0/0/0 0123456789abcdef /bin/b\n"
                 "fork 20 t52 of 7\n");
}

/* Each event has its own trailer; the record says by its id whose it is. */
static void finds_the_trailer_of_the_right_event(void **state)
{
    (void)state;
    expect_tasks("event sample=IDENTIFIER,IP,TID,TIME,BRANCH_STACK\n"
                 "event sample=IDENTIFIER,IP,TID,TIME,CPU,STREAM_ID\n"
                 "comm event=0 pid=1 name=a time=5\ncomm event=1 pid=2 name=b time=6\n",
                 "comm 1 t5 a\ncomm 2 t6 b\n");
}

/* One sort of time for all, or the order of the file for all. */
static void falls_back_to_the_order_of_the_file(void **state)
{
    (void)state;
    struct recording r;
    open_recording(&r, "event sample=IP,TID,TIME,BRANCH_STACK flags=no_sample_id_all\n"
                       "comm pid=7 name=a time=1000\nsample pid=7 time=2000 : 1/2/P/-/-/0\n"
                       "fork pid=8 ppid=7 time=3000\n");
    assert_false(r.info->has_time);
    assert_string_equal(tasks_of(&r), "comm 7 t1 a\nfork 8 t3 of 7\n");
    assert_string_equal(samples_of(&r, 0), "7/7 t2 0 x1000: 1>2:2\n");
    close_recording(&r);

    open_recording(&r, "event sample=ID,IP,TID,BRANCH_STACK\n"
                       "event sample=ID,IP,TID,TIME,BRANCH_STACK\ncomm pid=7 name=a time=1000\n");
    assert_false(r.info->has_time);
    assert_string_equal(tasks_of(&r), "comm 7 t1 a\n");
    close_recording(&r);
}

static void counts_the_rest(void **state)
{
    (void)state;
    struct recording r;
    open_recording(&r, TRACKED "lost 5\nlost_samples 7\nthrottle\nrecord type=17 body=00\n"
                               "record type=68\nrecord type=40 body=0102\nrecord type=32769\n"
                               "auxtrace_info type=3\nauxtrace size=100\ncomm pid=7 name=a\n"
                               "record type=66 body=0500000000000000 size=16\nbytes "
                               "0102030405000000\n"
                               "record type=10 body=00\nrecord type=3 body=0102030405060708090a\n");
    for (int round = 0; round < 2; round++) {
        assert_string_equal(tasks_of(&r), "comm 7 t4 a\n");
        assert_int_equal(r.info->records, 13);
        assert_int_equal(r.info->lost_records, 12);
        assert_int_equal(r.info->throttled, 1);
        assert_int_equal(r.info->unknown_records, 1);
        assert_int_equal(r.info->malformed_records, 2);
        assert_true(r.info->has_trace);
        assert_string_equal(r.info->trace_kind, "CoreSight ETM");
        assert_int_equal(r.info->truncation, BR2_WHOLE);
        assert_int_equal(r.info->bytes_lost, 0);
    }
    close_recording(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_mappings),
        cmocka_unit_test(tells_processes_from_threads),
        cmocka_unit_test(reads_big_endian_records),
        cmocka_unit_test(finds_the_trailer_of_the_right_event),
        cmocka_unit_test(falls_back_to_the_order_of_the_file),
        cmocka_unit_test(counts_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
