/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tries a recording, whatever its bytes, and checks that what comes of it is one of the outcomes
 * there may be. */
#ifndef BR2_TEST_OUTCOME_H
#define BR2_TEST_OUTCOME_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <br2pgo/br2pgo.h>

#include "tests/unit/lib/fixture.h"

static const char *const outputs[] = {"d.textprof", "d.edges.csv"};

#define EDGES_HEADER "image,function,from,to,kind,count,mispredicted,probability,outcomes\n"

/* Whatever the outcome, it is one of these. */
static inline void check_outcome(int rc, const struct br2pgo_error *error, const char *what)
{
    for (size_t i = 0; i < 2; i++) {
        size_t size = 0;
        char *text = fixture_load(outputs[i], &size);
        unlink(outputs[i]);
        if (rc == 0 && (text == NULL || size <= (i == 1 ? sizeof EDGES_HEADER - 1 : 0))) {
            fail_msg("%s: success without a %s", what, outputs[i]);
        }
        if (rc != 0 && text != NULL) {
            fail_msg("%s: status %d with a %s", what, rc, outputs[i]);
        }
        free(text);
    }
    if (rc != 0 && (rc != error->status || error->message[0] == '\0' || rc == BR2PGO_INTERNAL ||
                    rc == BR2PGO_NO_MEMORY)) {
        fail_msg("%s: status %d: %s", what, rc, error->message);
    }
}

/* Converts and inspects; returns the conversion's status. */
static inline int try(const char *recording, const char *image, const char *what)
{
    struct br2pgo_error error = {0};
    struct br2pgo_conversion *conversion;
    assert_int_equal(br2pgo_open(NULL, &conversion, &error), 0);
    assert_int_equal(br2pgo_add_recording(conversion, recording, &error), 0);
    assert_int_equal(br2pgo_set_image(conversion, image, &error), 0);
    assert_int_equal(br2pgo_add_output(conversion, outputs[0], NULL, &error), 0);
    assert_int_equal(br2pgo_add_output(conversion, outputs[1], NULL, &error), 0);
    int rc = br2pgo_run(conversion, &error);
    rc = rc == 0 ? br2pgo_write(conversion, &error) : rc;
    br2pgo_close(conversion);
    check_outcome(rc, &error, what);
    return rc;
}

static inline void try_inspection(const char *recording, int json, const char *what)
{
    struct br2pgo_error error = {0};
    char *text = NULL;
    int rc = br2pgo_inspect(recording, json, &text, &error);
    if (rc == 0 ? strlen(text) < 20 : text != NULL || error.message[0] == '\0') {
        fail_msg("inspect %s: status %d: %s", what, rc, error.message);
    }
    br2pgo_free(text);
}

/* xorshift64: the same bytes go wrong in every run. */
static inline uint64_t next_random(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random;
}

#endif
