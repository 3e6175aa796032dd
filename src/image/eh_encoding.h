/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Numbers as exception tables hold them (Linux Standard Base, "DWARF Exception Header Encoding").
 */
#ifndef BR2_IMAGE_EH_ENCODING_H
#define BR2_IMAGE_EH_ENCODING_H

#include "base/cursor.h"

#define BR2_EH_OMIT     0xff /* there is no value */
#define BR2_EH_FORMAT   0x0f
#define BR2_EH_INDIRECT 0x80

/* An unsigned LEB128 number, not padded beyond what it may need. */
uint64_t br2_eh_uleb(struct br2_cursor *c);

/* A number in one of the formats, sign extended. */
uint64_t br2_eh_value(struct br2_cursor *c, uint8_t format);

/* An address that is absolute or relative to `place`, its own address; false where it is neither,
 * or cut off. */
bool br2_eh_address(struct br2_cursor *c, uint8_t encoding, uint64_t place, uint64_t *ret);

#endif
