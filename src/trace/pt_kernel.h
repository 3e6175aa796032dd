/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A trace without its kernel part. */
#ifndef BR2_TRACE_PT_KERNEL_H
#define BR2_TRACE_PT_KERNEL_H

#include <intel-pt.h>

#include "base/file.h"
#include "trace/streams.h"

/*
 * Copies the packets of a piece, to a file without a name (base/spool.h), but for what the kernel
 * did: as if only user mode had been traced. There is no code of the kernel that ran, and a decoder
 * that comes to where there is no code can only go on at the next PSB. Errors: BR2PGO_IO,
 * BR2PGO_NO_MEMORY.
 */
int br2_pt_leave_out_kernel(const struct pt_config *config, const struct br2_trace_piece *piece,
                            struct br2_file *ret, struct br2pgo_error *err);

#endif
