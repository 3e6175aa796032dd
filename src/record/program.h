/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The program to record, before it is started. */
#ifndef BR2_RECORD_PROGRAM_H
#define BR2_RECORD_PROGRAM_H

#include "base/err.h"

/* The file that a program's name stands for, as execvp finds it, to be freed with br2_free. Errors:
 * BR2PGO_IO: there is none that may be run; BR2PGO_UNSUPPORTED: it is of a kind of which br2pgo
 * makes no profile, so that recording it were in vain; BR2PGO_NO_MEMORY. */
int br2_program_find(const char *name, char **ret, struct br2pgo_error *err);

#endif
