/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/text_file.h"

#include <string.h>

#include "base/file.h"
#include "cli/signals.h"

int br2_write_text(const char *path, const char *text, struct br2pgo_error *err)
{
    struct br2_output out = {.fd = -1};
    int rc = br2_output_open(&out, path, err);
    rc = rc == 0 ? br2_output_write(&out, text, strlen(text), err) : rc;
    rc = rc == 0 ? br2_output_commit(&out, err) : rc;
    br2_output_abandon(&out);
    return rc;
}

int br2_write_text_holding(const char *path, const char *text, struct br2pgo_error *err)
{
    br2_signals_hold();
    int rc = br2_write_text(path, text, err);
    br2_signals_release();
    return rc;
}
