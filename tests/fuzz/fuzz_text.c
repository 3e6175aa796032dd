/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any text as a recording: its first byte chooses a beginning that is recognised, so that what
 * follows is read as text of that kind. */
#include <string.h>

#include "base/buf.h"
#include "reading.h"

#define MAPPED                                                                                     \
    "a 7 1.5: PERF_RECORD_MMAP2 7/7: [0x400000(0x2000) @ 0 08:01 77 0]: r-xp /opt/a\n"             \
    "a 7/8 [001] 1.6: 5003 cycles:u: 401010 f+0x1 (/opt/a) 0x401000/0x401010/P/-/-/1//-\n"

static const char *const beginnings[] = {
    /* perf script, with mappings, without, without pids, aggregated */
    MAPPED,
    "a 7 1.5: PERF_RECORD_COMM exec: a:7/7\na 7 1.5: PERF_RECORD_FORK(8:8):(7:7)\n",
    "0x401000(/opt/a+0x1000)/0x401010(/opt/a)/M/X/A/9/COND/SPEC_WRONG_PATH ",
    "PERF_RECORD_MMAP 7/7: [0x400000(0x2000) @ 0 <51ac>]: x /opt/a\n 401010 0x401000/0x401010\n",
    "3\n\t401010\n 51ac:0x401000/51ac:0x401010\n",
    /* counted */
    "1\n401000-401010:7\n1\n401010->401000:7\n",
    "[main]\n1\n1000-1010:7\n// build_id: 0x51ac\n// /opt/a\n",
    "B 401000 401010 7 1\nF 401010 401020 7\n",
    "E cycles\nT 51ac:1 X:2 ffffffffffffffff 7\nR 0 1 2 3\nS 1 2\n",
    "",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    size_t kinds = sizeof beginnings / sizeof *beginnings;
    const char *beginning = beginnings[size != 0 ? data[0] % kinds : 0];
    size_t length = strlen(beginning);
    struct br2_buf text = {0};
    br2_buf_put(&text, beginning, length);
    if (size > 1) {
        br2_buf_put(&text, data + 1, size - 1);
    }
    int fd = fuzz_file(text.size != 0 ? text.bytes : (const uint8_t *)"", text.size, path);
    br2_buf_done(&text);
    fuzz_read(path);
    close(fd);
    return 0;
}
