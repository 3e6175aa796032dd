/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BR2_RECORD_ELF_NOTE_H
#define BR2_RECORD_ELF_NOTE_H

#include <stdbool.h>

#include "base/build_id.h"

/* The build-id in the notes of a 64-bit little-endian ELF file; false: it has none, or is no such
 * file. */
bool br2_note_build_id(const char *path, struct br2_build_id *ret);

#endif
