/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/json.h"

#include <jansson.h>
#include <string.h>

json_t *br2_json_string(const char *text)
{
    if (text == NULL) {
        return json_null();
    }
    json_t *string = json_string(text);
    if (string != NULL) {
        return string;
    }
    struct br2_buf utf8 = {0};
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        if (*at >= 0x80) {
            br2_buf_u8(&utf8, (uint8_t)(0xc0 | *at >> 6));
            br2_buf_u8(&utf8, (uint8_t)(0x80 | (*at & 0x3f)));
        } else {
            br2_buf_u8(&utf8, *at);
        }
    }
    br2_buf_u8(&utf8, '\0');
    string = utf8.failed ? NULL : json_string((const char *)utf8.bytes);
    br2_buf_done(&utf8);
    return string;
}

json_t *br2_json_count(uint64_t count)
{
    /* jansson's integers are signed; no recording comes near 2^63. */
    return json_integer((json_int_t)(count <= INT64_MAX ? count : INT64_MAX));
}

json_t *br2_json_share(uint64_t part, uint64_t whole)
{
    return json_real(whole != 0 ? (double)part / (double)whole : 0);
}

static int append(const char *text, size_t size, void *user)
{
    struct br2_buf *out = user;
    br2_buf_put(out, text, size);
    return out->failed ? -1 : 0;
}

json_t *br2_json_whole(json_t *value, size_t members)
{
    size_t count = json_is_array(value) ? json_array_size(value) : json_object_size(value);
    if (count == members) {
        return value;
    }
    json_decref(value);
    return NULL;
}

int br2_json_write(json_t *object, size_t members, struct br2_buf *out, struct br2pgo_error *err)
{
    int rc = -1;
    object = br2_json_whole(object, members);
    if (object != NULL) {
        rc = json_dump_callback(object, append, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        br2_buf_u8(out, '\n');
    }
    json_decref(object);
    return rc == 0 && !out->failed ? 0 : br2_fail_memory(err);
}
