/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* JSON values as br2pgo writes them: counts stay integers, text is always valid UTF-8. */
#ifndef BR2_REPORT_JSON_H
#define BR2_REPORT_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct json_t; /* jansson's */

/* Null for NULL. Bytes that are not UTF-8 (a path may hold any) are read as Latin-1. */
struct json_t *br2_json_string(const char *text);
struct json_t *br2_json_count(uint64_t count);
/* part / whole, 0 where whole is 0. */
struct json_t *br2_json_share(uint64_t part, uint64_t whole);

/* `value`, an array or object that must have so many members or elements; when memory ran out while
 * it was made it has fewer: then it is released, and NULL returned, which the object it was to go
 * into will lack in turn. */
struct json_t *br2_json_whole(struct json_t *value, size_t members);

/* Appends `object` and a newline, and releases it. BR2PGO_NO_MEMORY, also when the object is
 * short of its `members` because memory ran out while it was made. */
int br2_json_write(struct json_t *object, size_t members, struct br2_buf *out,
                   struct br2pgo_error *err);

#endif
