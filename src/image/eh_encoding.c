/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "image/eh_encoding.h"

#define LEB_MAX 10 /* bytes of 64 bits */

#define PCREL   0x10
#define APPLIED 0x70 /* how the value is meant; 0 = absolute */

uint64_t br2_eh_uleb(struct br2_cursor *c)
{
    struct br2_cursor limited = *c;
    if (br2_cursor_left(c) > LEB_MAX) {
        limited.end = c->at + LEB_MAX;
    }
    uint64_t value = br2_cursor_uleb(&limited);
    c->at = limited.at;
    c->failed = c->failed || limited.failed;
    return value;
}

uint64_t br2_eh_value(struct br2_cursor *c, uint8_t format)
{
    switch (format) {
    case 0x0: /* absptr */
    case 0x4: /* udata8 */
    case 0xc: /* sdata8 */
        return br2_cursor_u64(c);
    case 0x1: /* uleb128 */
        return br2_eh_uleb(c);
    case 0x2: /* udata2 */
        return br2_cursor_u16(c);
    case 0x3: /* udata4 */
        return br2_cursor_u32(c);
    case 0xa: /* sdata2 */
        return (uint64_t)(int16_t)br2_cursor_u16(c);
    case 0xb: /* sdata4 */
        return (uint64_t)(int32_t)br2_cursor_u32(c);
    default:
        c->failed = true;
        return 0;
    }
}

bool br2_eh_address(struct br2_cursor *c, uint8_t encoding, uint64_t place, uint64_t *ret)
{
    uint8_t applied = encoding & APPLIED;
    if ((encoding & BR2_EH_INDIRECT) != 0 || (applied != 0 && applied != PCREL)) {
        return false;
    }
    *ret = br2_eh_value(c, encoding & BR2_EH_FORMAT) + (applied == PCREL ? place : 0);
    return !c->failed;
}
