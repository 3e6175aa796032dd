/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BR2_LIB_ANNOTATE_H
#define BR2_LIB_ANNOTATE_H

#include <br2pgo/br2pgo.h>

#include "base/buf.h"
#include "profile/tally.h"

/* Prints a tally's counts beside the source lines that the image's debug information says they are
 * of. BR2PGO_USELESS where it says that of none; errors of opening the image. */
int br2_annotate(const struct br2_tally *tally, const struct br2pgo_show_options *options,
                 struct br2_buf *out, struct br2pgo_error *err);

#endif
