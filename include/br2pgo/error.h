/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How every br2pgo function reports failure: an error is a value, filled where it happened. */
#ifndef BR2PGO_ERROR_H
#define BR2PGO_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers are part of the ABI: never renumber. */
enum br2pgo_status {
    BR2PGO_OK = 0,
    BR2PGO_NO_MEMORY = -1,   /* the system's, or what br2pgo_set_max_memory allows */
    BR2PGO_IO = -2,          /* the system refused: open, read, write, rename */
    BR2PGO_INVALID = -3,     /* the caller's argument or option makes no sense */
    BR2PGO_CORRUPT = -4,     /* a file contradicts its own format */
    BR2PGO_UNSUPPORTED = -5, /* a valid file of a kind that is not handled */
    BR2PGO_USELESS = -6,     /* ran, but there is no useful profile in it */
    BR2PGO_AMBIGUOUS = -7,   /* a choice only the caller can make is missing */
    BR2PGO_CANCELLED = -8,   /* the progress callback asked to stop */
    BR2PGO_LIMIT = -9,       /* a declared limit was reached */
    BR2PGO_INTERNAL = -10,   /* a fault in br2pgo itself */
};

/*
 * Filled by the function that fails and by nobody else; untouched on success.
 * `message` says what is wrong and where, `hint` what to do about it (may be empty).
 * Both are single lines, UTF-8 as far as the names in them are.
 */
struct br2pgo_error {
    int status; /* enum br2pgo_status */
    char message[1536];
    char hint[1024];
};

#ifdef __cplusplus
}
#endif

#endif
