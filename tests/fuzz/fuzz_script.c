/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* perf script's text, put together of what it is made of: each byte is a piece of a line, those
 * above the last piece stand for themselves. */
#include <string.h>

#include "base/buf.h"
#include "reading.h"

static const char *const pieces[] = {
    "\n",
    " ",
    "\t",
    "app 7 ",
    "app 7/8 ",
    "[001] ",
    "1.000005: ",
    "1000 ",
    "cycles:u: ",
    "branches: ",
    "401010 ",
    "work+0x10 ",
    "(/opt/app) ",
    "0x401000/0x401010/P/-/-/1 ",
    "0x401019/0x401010/M/-/-/7//- ",
    "0x401019/0x401010/PN/X/A/0/COND/SPEC_WRONG_PATH ",
    "0x401000(/opt/app+0x1000)/0x401010(/opt/app+0x1010)/P/-/-/0 ",
    "51ac:0x401000/51ac:0x401010 ",
    "0x0/0x0/-/-/-/0 ",
    "0xffffffff81000000/0x401010/P/-/-/1 ",
    "PERF_RECORD_MMAP2 7/7: [0x400000(0x2000) @ 0 08:01 77 0]: r-xp /opt/app",
    "PERF_RECORD_MMAP2 7/7: [0x400000(0x2000) @ 0x1000 <51ac>]: r-xp /opt/app",
    "PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x1000) @ 0]: x [kernel.kallsyms]_text",
    "PERF_RECORD_COMM exec: app:7/7",
    "PERF_RECORD_FORK(8:8):(7:7)",
    "PERF_RECORD_EXIT(8:8):(7:7)",
    "PERF_RECORD_LOST lost 3",
    "3",
    "/opt/app",
    "0x",
    "401017",
    "/",
    "(",
    ")",
};
#define PIECES (sizeof pieces / sizeof *pieces)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct br2_buf text = {0};
    for (size_t i = 0; i < size; i++) {
        if (data[i] < PIECES) {
            br2_buf_put(&text, pieces[data[i]], strlen(pieces[data[i]]));
        } else {
            br2_buf_put(&text, &data[i], 1);
        }
    }
    int fd = fuzz_file(text.size != 0 ? text.bytes : (const uint8_t *)"", text.size, path);
    br2_buf_done(&text);
    fuzz_read(path);
    close(fd);
    return 0;
}
